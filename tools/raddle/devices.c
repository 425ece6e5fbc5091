/* SPDX-License-Identifier: Apache-2.0 */
/* raddle devices: what rdl_devices and rdl_device_capabilities find, as tables or as JSON. */
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

bool command_find_capabilities(const char *selector, uint32_t flags, command_capabilities *out) {
  const size_t room = sizeof out->rows / sizeof out->rows[0];
  rdl_status status = rdl_device_capabilities(selector, flags, out->rows, room, &out->count);
  if (status) out->count = 0;
  if (out->count > room) out->count = room;
  return !status;
}

const char *command_capability(const command_capabilities *c, const char *name) {
  for (size_t i = 0; i < c->count; i++)
    if (strcmp(c->rows[i].name, name) == 0) return c->rows[i].value;
  return "";
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

static int width_of(const rdl_device_info *infos, size_t count) {
  int width = (int)strlen("selector");
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(infos[i].selector) > width) width = (int)strlen(infos[i].selector);
  return width;
}

static void print_table(const rdl_device_info *infos, size_t count) {
  int width = width_of(infos, count);
  printf("%-*s  usable  device\n", width, "selector");
  for (size_t i = 0; i < count; i++)
    print_device(&infos[i], width);
}

static void print_capabilities(const command_capabilities *c) {
  int width = 0;
  for (size_t i = 0; i < c->count; i++)
    if ((int)strlen(c->rows[i].name) > width) width = (int)strlen(c->rows[i].name);
  for (size_t i = 0; i < c->count; i++) {
    const rdl_capability *row = &c->rows[i];
    int indent = printf("  %-*s  %-7s  ", width, row->name, row->probed ? "probed" : "claimed");
    command_print_text(row->value, indent);
  }
}

/* ---- JSON ---- */

static void print_member(const char *name, const char *text) {
  printf("\"%s\": ", name);
  command_print_json(stdout, text);
  printf(", ");
}

static void print_rows(const command_capabilities *c) {
  printf(", \"capabilities\": [");
  for (size_t i = 0; i < c->count; i++) {
    const rdl_capability *row = &c->rows[i];
    printf("%s{", i ? ", " : "");
    print_member("name", row->name);
    print_member("value", row->value);
    printf("\"probed\": %s}", row->probed ? "true" : "false");
  }
  printf("]");
}

/* `c` may be NULL: nobody asked. */
static void print_object(const rdl_device_info *info, const command_capabilities *c) {
  printf("{");
  print_member("selector", info->selector);
  print_member("backend", info->backend);
  print_member("name", info->name);
  print_member("platform", info->platform);
  print_member("driver", info->driver);
  printf("\"compute_units\": %u, \"usable\": %s, \"missing\": ", info->compute_units,
         info->usable ? "true" : "false");
  command_print_json(stdout, info->missing);
  if (c) print_rows(c);
  printf("}\n");
}

/* ---- the command ---- */

enum { OPTION_VERBOSE, OPTION_V, OPTION_JSON, OPTION_REPROBE };

static const command_option offered[] = {
    [OPTION_VERBOSE] =
        {"--verbose", NULL,
         "also what each device can do: each capability with its value, and whether\n"
         "it was probed or is claimed by the driver. Takes some seconds the first time"},
    [OPTION_V] = {"-v", NULL, "the same as --verbose"},
    [OPTION_JSON] = {"--json", NULL, "print one object a line, a device each"},
    [OPTION_REPROBE] =
        {"--reprobe", NULL,
         "the same as --verbose, and probe everything again, whatever the cache holds"},
    {NULL, NULL, NULL},
};

typedef struct wishes {
  bool verbose;
  bool json;
  uint32_t flags;
} wishes;

static int read_options(int argc, char **argv, wishes *w) {
  command_line line = {.command = &command_devices, .argc = argc, .argv = argv, .at = 1};
  for (int option; (option = command_next(&line)) != COMMAND_END;) {
    if (option == COMMAND_WRONG) return EXIT_MISUSED;
    if (option == COMMAND_OPERAND)
      return command_misused("devices", "'%s' was not understood", line.value);
    if (option == OPTION_JSON)
      w->json = true;
    else
      w->verbose = true;
    if (option == OPTION_REPROBE) w->flags = RDL_REPROBE;
  }
  return EXIT_OK;
}

/* A device that does not tell is no reason to keep the others from it. */
static int tell_capabilities(const wishes *w, const rdl_device_info *info, int width,
                             command_capabilities *c) {
  int code = EXIT_OK;
  if (!w->json) print_device(info, width);
  if (!command_find_capabilities(info->selector, w->flags, c))
    code = command_failed("asking for capabilities");
  if (w->json)
    print_object(info, c);
  else
    print_capabilities(c);
  return code;
}

static int tell_all(const wishes *w, const rdl_device_info *infos, size_t count) {
  command_capabilities *c = calloc(1, sizeof *c);
  int code = EXIT_OK;
  if (!c) return command_failed("allocating memory");
  if (!w->json) printf("%-*s  usable  device\n", width_of(infos, count), "selector");
  for (size_t i = 0; i < count; i++)
    if (tell_capabilities(w, &infos[i], width_of(infos, count), c)) code = EXIT_FAILED;
  free(c);
  return code;
}

static int run(int argc, char **argv) {
  wishes w = {0};
  size_t count = 0;
  rdl_device_info *infos;
  int code = read_options(argc, argv, &w);
  if (code) return code;
  infos = command_find_devices(&count);
  if (!infos) return EXIT_FAILED;
  if (w.verbose)
    code = tell_all(&w, infos, count);
  else if (!w.json)
    print_table(infos, count);
  for (size_t i = 0; w.json && !w.verbose && i < count; i++)
    print_object(&infos[i], NULL);
  free(infos);
  return code;
}

const command command_devices = {
    .name = "devices",
    .summary = "list the devices of this machine, what they lack and what they can do",
    .usage = "devices [-v | --verbose] [--json] [--reprobe]",
    .about =
        "Lists the devices of this machine, best first: the selector that opens each, whether\n"
        "Raddle can use it, its name and platform, and what it lacks.",
    .options = offered,
    .run = run,
};
