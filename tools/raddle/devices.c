/* SPDX-License-Identifier: Apache-2.0 */
/* raddle devices: a short table of what rdl_devices finds. */
#include <ctype.h>
#include <raddle/raddle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/raddle/command.h"

#define LINE_WIDTH 100

static int help(void) {
  printf("usage: raddle devices\n\n"
         "Lists the devices of this machine, best first: the selector that opens each, whether\n"
         "Raddle can use it, its name and platform, and what it lacks.\n");
  return EXIT_OK;
}

/* A whole word, in any case: see raddle/device.h. */
static bool has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; *at; at++)
    if (strncasecmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]) &&
        (at == text || !isalnum((unsigned char)at[-1])))
      return true;
  return false;
}

/* Does `word`, behind the backend's name, open this device and could open no other? */
static bool tells_apart(const rdl_device_info *infos, size_t count, size_t device,
                        const char *word) {
  for (size_t i = 0; i < count; i++) {
    bool named = has_word(infos[i].platform, word) || has_word(infos[i].name, word);
    if (strcmp(infos[i].backend, infos[device].backend) == 0 && named != (i == device))
      return false;
  }
  return true;
}

static void first_word(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (; isalpha((unsigned char)text[n]) && n + 1 < size; n++)
    out[n] = (char)tolower((unsigned char)text[n]);
  out[n] = '\0';
}

/* Numbers change when a driver comes or goes, so a name is shown where there is one. PoCL's
 * platform calls itself by its long name first. */
static void name_device(const rdl_device_info *infos, size_t count, size_t device, char *out,
                        size_t size) {
  const rdl_device_info *info = &infos[device];
  char word[16];
  bool numbered = strchr(info->selector, ':') != NULL;
  first_word(has_word(info->platform, "pocl") ? "pocl" : info->platform, word, sizeof word);
  if (numbered && word[0] && tells_apart(infos, count, device, word))
    snprintf(out, size, "%s:%s", info->backend, word);
  else
    snprintf(out, size, "%s", info->selector);
}

/* Behind `indent` columns, which the first line has already. */
static void print_text(const char *text, int indent) {
  size_t room = LINE_WIDTH - (size_t)indent;
  while (strlen(text) > room) {
    size_t end = room;
    while (end && text[end] != ' ')
      end--;
    if (!end) end = room;
    printf("%.*s\n%*s", (int)end, text, indent, "");
    text += end + strspn(text + end, " ");
  }
  printf("%s\n", text);
}

static void print_device(const rdl_device_info *info, const char *selector, int width) {
  int indent = printf("%-*s  %-6s  ", width, selector, info->usable ? "yes" : "no");
  print_text(info->name, indent);
  printf("%*s", indent, "");
  print_text(info->platform, indent);
  if (info->usable) return;
  printf("%*slacks ", indent, "");
  print_text(info->missing, indent + (int)strlen("lacks "));
}

static void print_table(const rdl_device_info *infos, size_t count) {
  char selector[sizeof infos->selector];
  int width = (int)strlen("selector");
  for (size_t i = 0; i < count; i++) {
    name_device(infos, count, i, selector, sizeof selector);
    if ((int)strlen(selector) > width) width = (int)strlen(selector);
  }
  printf("%-*s  usable  device\n", width, "selector");
  for (size_t i = 0; i < count; i++) {
    name_device(infos, count, i, selector, sizeof selector);
    print_device(&infos[i], selector, width);
  }
}

int command_devices(int argc, char **argv) {
  size_t count = 0, stored;
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) return help();
  if (argc > 1) return command_misused("devices", "'%s' was not understood", argv[1]);
  if (rdl_devices(NULL, 0, &count)) return command_failed("listing the devices");
  rdl_device_info *infos = calloc(count + 1, sizeof *infos);
  if (!infos) return command_failed("allocating memory");
  stored = count;
  rdl_status status = rdl_devices(infos, stored, &count);
  if (!status) print_table(infos, count < stored ? count : stored);
  free(infos);
  return status ? command_failed("listing the devices") : EXIT_OK;
}
