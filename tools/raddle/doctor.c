/* SPDX-License-Identifier: Apache-2.0 */
/* raddle doctor: what is wrong with this machine, why it matters and what to do. */
#include "tools/raddle/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

finding *doctor_find(doctor *d, severity s, const char *name) {
  finding *f = &d->findings[d->count < DOCTOR_MOST ? d->count++ : DOCTOR_MOST - 1];
  *f = (finding){.severity = s, .name = name};
  return f;
}

void doctor_say(char *field, size_t size, const char *format, ...) {
  va_list values;
  va_start(values, format);
  (void)vsnprintf(field, size, format, values);
  va_end(values);
}

/* ---- output ---- */

static const char *severity_name(severity s) {
  return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARNING ? "warning" : "info";
}

static void print_finding(const finding *f) {
  int indent = printf("%s: ", severity_name(f->severity));
  command_print_text(f->what, indent);
  printf("  why:  ");
  command_print_text(f->why, 8);
  printf("  do:   ");
  command_print_text(f->cure, 8);
}

static void print_finding_json(const finding *f) {
  printf("{\"severity\": \"%s\", \"name\": \"%s\", \"what\": ", severity_name(f->severity),
         f->name);
  command_print_json(stdout, f->what);
  printf(", \"why\": ");
  command_print_json(stdout, f->why);
  printf(", \"do\": ");
  command_print_json(stdout, f->cure);
  printf("}\n");
}

static severity worst_of(const doctor *d) {
  severity worst = SEVERITY_INFO;
  for (size_t i = 0; i < d->count; i++)
    if (d->findings[i].severity > worst) worst = d->findings[i].severity;
  return worst;
}

/* Errors first. */
static int tell(const doctor *d, bool json) {
  severity worst = worst_of(d);
  if (!json && worst == SEVERITY_INFO) printf("Nothing is wrong.\n");
  for (int s = SEVERITY_ERROR; s >= SEVERITY_INFO; s--)
    for (size_t i = 0; i < d->count; i++) {
      if (d->findings[i].severity != (severity)s) continue;
      if (json)
        print_finding_json(&d->findings[i]);
      else
        print_finding(&d->findings[i]);
    }
  return worst == SEVERITY_ERROR ? EXIT_FAILED : worst == SEVERITY_WARNING ? EXIT_WARNED : EXIT_OK;
}

/* ---- the command ---- */

enum { OPTION_JSON, OPTION_TRY_LIBRARY, OPTION_LIST_PLATFORMS };

static const command_option offered[] = {
    [OPTION_JSON] = {"--json", NULL, "print one object a line, a finding each"},
    [OPTION_TRY_LIBRARY] = {"--try-library", "PATH", NULL}, /* how the doctor calls itself */
    [OPTION_LIST_PLATFORMS] = {"--list-platforms", NULL, NULL},
    {NULL, NULL, NULL},
};

static int examine(bool json) {
  doctor *d = calloc(1, sizeof *d);
  int code;
  if (!d) return command_failed("allocating memory");
  d->root = getenv("RADDLE_DOCTOR_ROOT");
  if (!d->root) d->root = "";
  doctor_look_at_drivers(d);
  doctor_look_at_nodes(d);
  doctor_look_at_devices(d);
  doctor_look_at_compiler(d);
  doctor_look_at_cache(d);
  code = tell(d, json);
  free(d);
  return code;
}

static int run(int argc, char **argv) {
  command_line line = {.command = &command_doctor, .argc = argc, .argv = argv, .at = 1};
  bool json = false;
  for (int option; (option = command_next(&line)) != COMMAND_END;) {
    if (option == COMMAND_WRONG) return EXIT_MISUSED;
    if (option == COMMAND_OPERAND)
      return command_misused("doctor", "'%s' was not understood", line.value);
    if (option == OPTION_TRY_LIBRARY) return doctor_try_library(line.value);
    if (option == OPTION_LIST_PLATFORMS) return doctor_list_platforms();
    json = true;
  }
  return examine(json);
}

const command command_doctor = {
    .name = "doctor",
    .summary = "say what is wrong with this machine and what to do",
    .usage = "doctor [--json]",
    .about =
        "Looks at what Raddle needs of this machine: the OpenCL loader and its drivers, device\n"
        "nodes, devices, a C compiler, the cache. Of each thing that is wrong it says what it\n"
        "is, why it matters and what to do. Devices are probed, which takes some seconds the\n"
        "first time.\n\n"
        "What is wrong with a driver that nobody needs, because another device is used, is\n"
        "information only.\n\n"
        "Ends with 0 when nothing is wrong, 1 when a device or Raddle itself cannot be used,\n"
        "and 3 when there are only warnings.",
    .options = offered,
    .run = run,
};
