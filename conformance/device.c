/* SPDX-License-Identifier: Apache-2.0 */
/* The device of a run: looked for once, before any case, so that a wrong name is not a row of
 * skips.
 */
#include <string.h>

#include "conformance/run.h"

rdl_device_info run_device;
uint32_t run_mode;

/* Errors of any other kind are for the cases to tell. */
static bool no_such_device(rdl_status status) {
  return status == RDL_NOT_FOUND || status == RDL_UNAVAILABLE || status == RDL_UNSUPPORTED ||
         status == RDL_INVALID;
}

rdl_status run_describe(const char *selector, rdl_context_info *out_info) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context *cx = NULL;
  rdl_status status;
  options.slots = options.roots = options.events = 100;
  options.frame_bytes = 1 << 20;
  if (strcmp(selector, settings.selector) == 0) options.lanes = settings.lanes;
  options.loop_turns = settings.loop_turns;
  options.mode = settings.apart   ? RDL_MODE_APART
                 : settings.epoch ? RDL_MODE_EPOCH
                                  : RDL_MODE_DEFAULT;
  *out_info = (rdl_context_info){.size = sizeof *out_info};
  status = rdl_context_open_with(selector, &options, &cx);
  if (!status) status = rdl_context_describe(cx, out_info);
  rdl_context_close(cx);
  return status;
}

int run_find_device(bool skip_absent) {
  rdl_context_info info;
  rdl_status status = run_describe(settings.selector, &info);
  run_device = info.device;
  run_mode = info.mode;
  if (!status) return 0;
  if (!no_such_device(status)) {
    snprintf(run_device.backend, sizeof run_device.backend, "%.*s",
             (int)strcspn(settings.selector, ":"), settings.selector);
    return 0;
  }
  if (skip_absent && status != RDL_INVALID && !run_requires(settings.selector)) {
    printf("skipped: %s\n", rdl_error_text());
    return TEST_SKIPPED;
  }
  fprintf(stderr, "raddle-conformance: --device %s: %s\n", settings.selector, rdl_error_text());
  return 2;
}
