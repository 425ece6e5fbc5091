/* SPDX-License-Identifier: Apache-2.0 */
/* raddle devices: what rdl_devices finds, as a short table or as JSON. */
#include <stdlib.h>
#include <string.h>

#include "tools/raddle/command.h"

rdl_device_info *command_find_devices(size_t *out_count) {
  size_t stored = 0;
  rdl_device_info *infos = NULL;
  rdl_status status = rdl_devices(NULL, 0, &stored);
  if (!status) {
    infos = calloc(stored + 1, sizeof *infos);
    status = infos ? rdl_devices(infos, stored, out_count) : RDL_OUT_OF_MEMORY;
  }
  if (*out_count > stored) *out_count = stored;
  if (!status) return infos;
  free(infos);
  (void)command_failed("listing the devices");
  return NULL;
}

/* ---- the table ---- */

static void print_device(const rdl_device_info *info, int width) {
  int indent = printf("%-*s  %-6s  ", width, info->selector, info->usable ? "yes" : "no");
  command_print_text(info->name, indent);
  printf("%*s", indent, "");
  command_print_text(info->platform, indent);
  if (info->usable) return;
  printf("%*slacks ", indent, "");
  command_print_text(info->missing, indent + (int)strlen("lacks "));
}

static void print_table(const rdl_device_info *infos, size_t count) {
  int width = (int)strlen("selector");
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(infos[i].selector) > width) width = (int)strlen(infos[i].selector);
  printf("%-*s  usable  device\n", width, "selector");
  for (size_t i = 0; i < count; i++)
    print_device(&infos[i], width);
}

/* ---- JSON ---- */

static void print_member(const char *name, const char *text) {
  printf("\"%s\": ", name);
  command_print_json(stdout, text);
  printf(", ");
}

static void print_object(const rdl_device_info *info) {
  printf("{");
  print_member("selector", info->selector);
  print_member("backend", info->backend);
  print_member("name", info->name);
  print_member("platform", info->platform);
  print_member("driver", info->driver);
  printf("\"compute_units\": %u, \"usable\": %s, \"missing\": ", info->compute_units,
         info->usable ? "true" : "false");
  command_print_json(stdout, info->missing);
  printf("}\n");
}

/* ---- the command ---- */

enum { OPTION_JSON };

static const command_option offered[] = {
    [OPTION_JSON] = {"--json", NULL, "print one object a line, a device each"},
    {NULL, NULL, NULL},
};

static int run(int argc, char **argv) {
  command_line line = {.command = &command_devices, .argc = argc, .argv = argv, .at = 1};
  bool json = false;
  size_t count = 0;
  rdl_device_info *infos;
  for (int option; (option = command_next(&line)) != COMMAND_END;) {
    if (option == COMMAND_WRONG) return EXIT_MISUSED;
    if (option == COMMAND_OPERAND)
      return command_misused("devices", "'%s' was not understood", line.value);
    json = true;
  }
  infos = command_find_devices(&count);
  if (!infos) return EXIT_FAILED;
  if (!json) print_table(infos, count);
  for (size_t i = 0; json && i < count; i++)
    print_object(&infos[i]);
  free(infos);
  return EXIT_OK;
}

const command command_devices = {
    .name = "devices",
    .summary = "list the devices of this machine and what they lack",
    .usage = "devices [--json]",
    .about =
        "Lists the devices of this machine, best first: the selector that opens each, whether\n"
        "Raddle can use it, its name and platform, and what it lacks.",
    .options = offered,
    .run = run,
};
