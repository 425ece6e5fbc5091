/* SPDX-License-Identifier: Apache-2.0 */
/* load_tasks DEVICE FILE...: loads each task file into a context of its own. Exit code 1 when one
 * does not compile, 77 when the device is not there. */
#include <raddle/raddle.h>
#include <stdbool.h>
#include <stdio.h>

static rdl_status load(const char *device, const char *path) {
  rdl_context *cx = NULL;
  rdl_module *module = NULL;
  rdl_status status = rdl_context_open(device, &cx);
  if (!status) status = rdl_module_load(cx, path, &module);
  rdl_context_close(cx);
  return status;
}

int main(int argc, char **argv) {
  rdl_context *cx = NULL;
  rdl_status status = argc > 2 ? rdl_context_open(argv[1], &cx) : RDL_INVALID;
  bool absent = status == RDL_NOT_FOUND || status == RDL_UNAVAILABLE;
  rdl_context_close(cx);
  for (int i = 2; i < argc && !status; i++)
    status = load(argv[1], argv[i]);
  if (!status) return 0;
  fprintf(stderr, "%s: %s\n", rdl_status_name(status), rdl_error_text());
  return absent ? 77 : 1;
}
