/* SPDX-License-Identifier: Apache-2.0 */
#include "example.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *example_task_file(const char *name) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  char *slash;
  if (length <= 0) return name;
  path[length] = 0;
  slash = strrchr(path, '/');
  if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= sizeof path) return name;
  memcpy(slash + 1, name, strlen(name) + 1);
  return path;
}

static void print_help(const char *program, const char *purpose, const example_option *options,
                       size_t count) {
  printf("usage: %s [option ...]\n\n%s\n\n", program, purpose);
  for (size_t i = 0; i < count; i++) {
    char left[64];
    snprintf(left, sizeof left, "--%s %s", options[i].name,
             options[i].value ? options[i].value : "");
    printf("  %-20s %s", left, options[i].help);
    if (options[i].number && *options[i].number) printf(" (default %u)", *options[i].number);
    if (options[i].text && *options[i].text) printf(" (default %s)", *options[i].text);
    printf("\n");
  }
  printf("  %-20s %s\n", "--help", "this text");
}

static bool read_number(const char *text, const example_option *option) {
  char *end;
  unsigned long value;
  errno = 0;
  value = strtoul(text, &end, 10);
  if (errno || *text < '0' || *text > '9' || *end || value < option->least || value > option->most)
    return false;
  *option->number = (uint32_t)value;
  return true;
}

static const example_option *find_option(const char *argument, const example_option *options,
                                         size_t count) {
  if (strncmp(argument, "--", 2) != 0) return NULL;
  for (size_t i = 0; i < count; i++)
    if (strcmp(argument + 2, options[i].name) == 0) return &options[i];
  return NULL;
}

/* The option at `*at`, which moves on to its value if it takes one. False after saying what is
 * wrong with it. */
static bool take_option(char **argv, int *at, const example_option *options, size_t count) {
  const char *name = argv[*at];
  const example_option *option = find_option(name, options, count);
  const char *value;
  if (option && option->flag) {
    *option->flag = true;
    return true;
  }
  value = argv[++*at];
  if (!option)
    fprintf(stderr, "%s: unknown option %s; --help lists them\n", argv[0], name);
  else if (!value)
    fprintf(stderr, "%s: %s needs a value\n", argv[0], name);
  else if (option->number && !read_number(value, option))
    fprintf(stderr, "%s: %s takes a whole number from %u to %u, not '%s'\n", argv[0], name,
            option->least, option->most, value);
  else {
    if (option->text) *option->text = value;
    return true;
  }
  return false;
}

bool example_options(int argc, char **argv, const char *purpose, const example_option *options,
                     size_t count, int *out_code) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      print_help(argv[0], purpose, options, count);
      *out_code = EXAMPLE_OK;
      return false;
    }
    if (!take_option(argv, &i, options, count)) {
      *out_code = EXAMPLE_USAGE;
      return false;
    }
  }
  return true;
}

rdl_status example_open(const example_place *place, rdl_context **out_context) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  options.workers = place->workers;
  options.mode = place->epoch ? RDL_MODE_EPOCH : RDL_MODE_DEFAULT;
  return rdl_context_open_with(place->device, &options, out_context);
}

int example_fail(const char *program, const rdl_context *context, rdl_status status) {
  bool absent = !context && (status == RDL_UNAVAILABLE || status == RDL_NOT_FOUND);
  fprintf(stderr, "%s: %s: %s\n", program, rdl_status_name(status), rdl_error_text());
  return absent ? EXAMPLE_NO_DEVICE : EXAMPLE_FAILED;
}

double example_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
