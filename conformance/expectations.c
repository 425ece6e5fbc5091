/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of platforms, and what the caller insists on. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conformance/run.h"

#define MOST_EXPECTATIONS 128u
#define MOST_DEVICES      64u

static bool has_part(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text; text++)
    if (strncasecmp(text, part, length) == 0) return true;
  return false;
}

/* The file of the platform that the device of this run belongs to. */
static const char *file_of_platform(void) {
  static const char *const known[][2] = {{"pocl", "pocl.txt"},
                                         {"rusticl", "rusticl.txt"},
                                         {"oclgrind", "oclgrind.txt"},
                                         {"nvidia", "nvidia.txt"}};
  size_t k;
  if (strcmp(run_device.backend, "host") == 0) return "host.txt";
  for (k = 0; k < sizeof known / sizeof known[0]; k++)
    if (has_part(run_device.platform, known[k][0])) return known[k][1];
  return "opencl.txt";
}

/* "pattern | unsupported | reason"; false for comments and empty lines. */
static bool parse(char *line, expectation *out) {
  char kind[32];
  int fields;
  if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0') return false;
  fields = sscanf(line, " %63[^ |] | %31[^ |] | %191[^\n]", out->pattern, kind, out->reason);
  out->unsupported = strcmp(kind, "unsupported") == 0;
  if (fields == 3 && (out->unsupported || strcmp(kind, "expected-failure") == 0)) return true;
  fprintf(stderr, "raddle-conformance: bad line in expectations: %s", line);
  exit(2);
}

static size_t load(expectation *list) {
  char name[64], line[512];
  size_t count = 0;
  FILE *file;
  snprintf(name, sizeof name, "expectations/%s", file_of_platform());
  file = fopen(suite_path(name), "r");
  if (!file) return 0;
  while (count < MOST_EXPECTATIONS && fgets(line, sizeof line, file))
    if (parse(line, &list[count])) count++;
  fclose(file);
  return count;
}

const expectation *run_expects(const char *case_name) {
  static expectation list[MOST_EXPECTATIONS];
  static size_t count;
  static bool loaded;
  size_t k;
  if (!loaded) count = load(list);
  loaded = true;
  for (k = 0; k < count; k++)
    if (fnmatch(list[k].pattern, case_name, 0) == 0) return &list[k];
  return NULL;
}

/* ---- RADDLE_REQUIRE ---- */

bool run_requires(const char *selector) {
  const char *list = getenv("RADDLE_REQUIRE");
  size_t length = strcspn(selector, ":");
  while (list && *list) {
    size_t name = strcspn(list, ",");
    if (name == length && strncmp(list, selector, length) == 0) return true;
    list += name + (list[name] == ',');
  }
  return false;
}

static bool usable(const char *backend, size_t length) {
  rdl_device_info *infos = calloc(MOST_DEVICES, sizeof *infos);
  size_t count = 0, k;
  bool found = false;
  if (infos && rdl_devices(infos, MOST_DEVICES, &count)) count = 0;
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  for (k = 0; k < count; k++)
    if (strlen(infos[k].backend) == length && strncmp(infos[k].backend, backend, length) == 0 &&
        infos[k].usable)
      found = true;
  free(infos);
  return found;
}

bool run_has_required_devices(void) {
  const char *list = getenv("RADDLE_REQUIRE");
  bool all = true;
  while (list && *list) {
    size_t name = strcspn(list, ",");
    if (name && !usable(list, name)) {
      printf("RADDLE_REQUIRE wants a device of %.*s, and there is none that can be used\n",
             (int)name, list);
      all = false;
    }
    list += name + (list[name] == ',');
  }
  return all;
}
