/* SPDX-License-Identifier: Apache-2.0 */
/* raddle devices: a short table of what rdl_devices finds. */
#include <raddle/raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/raddle/command.h"

#define LINE_WIDTH 100

static int help(void) {
  printf("usage: raddle devices\n\n"
         "Lists the devices of this machine, best first: the selector that opens each, whether\n"
         "Raddle can use it, its name and platform, and what it lacks.\n");
  return EXIT_OK;
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

static void print_device(const rdl_device_info *info, int width) {
  int indent = printf("%-*s  %-6s  ", width, info->selector, info->usable ? "yes" : "no");
  print_text(info->name, indent);
  printf("%*s", indent, "");
  print_text(info->platform, indent);
  if (info->usable) return;
  printf("%*slacks ", indent, "");
  print_text(info->missing, indent + (int)strlen("lacks "));
}

static void print_table(const rdl_device_info *infos, size_t count) {
  int width = (int)strlen("selector");
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(infos[i].selector) > width) width = (int)strlen(infos[i].selector);
  printf("%-*s  usable  device\n", width, "selector");
  for (size_t i = 0; i < count; i++)
    print_device(&infos[i], width);
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
