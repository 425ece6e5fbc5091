/* SPDX-License-Identifier: Apache-2.0 */
/* raddle devices: a short table of what rdl_devices finds. */
#include <raddle/raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/raddle/command.h"

static int help(void) {
  printf("usage: raddle devices\n\n"
         "Lists the devices of this machine, best first: the selector that opens each, its name,\n"
         "its platform, and whether Raddle can use it or what it lacks.\n");
  return EXIT_OK;
}

static int wider(int width, const char *text) {
  int length = (int)strlen(text);
  return length > width ? length : width;
}

static void print_table(const rdl_device_info *infos, size_t count) {
  int selector = wider(0, "selector"), name = wider(0, "name"), platform = wider(0, "platform");
  for (size_t i = 0; i < count; i++) {
    selector = wider(selector, infos[i].selector);
    name = wider(name, infos[i].name);
    platform = wider(platform, infos[i].platform);
  }
  printf("%-*s  %-*s  %-*s  usable\n", selector, "selector", name, "name", platform, "platform");
  for (size_t i = 0; i < count; i++)
    printf("%-*s  %-*s  %-*s  %s%s\n", selector, infos[i].selector, name, infos[i].name, platform,
           infos[i].platform, infos[i].usable ? "yes" : "no: ", infos[i].missing);
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
