/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/prebuilt.h"

#ifdef CONFORMANCE_PREBUILT

#define TASK_FILE(name) extern const rdl_prebuilt rdl_prebuilt_##name;
#include "conformance_prebuilt.inc"
#undef TASK_FILE

void conformance_use_prebuilt(rdl_context_options *options) {
  static const rdl_prebuilt *const list[] = {
#define TASK_FILE(name) &rdl_prebuilt_##name,
#include "conformance_prebuilt.inc"
#undef TASK_FILE
  };
  options->prebuilt = list;
  options->prebuilt_count = sizeof list / sizeof list[0];
}

#else

void conformance_use_prebuilt(rdl_context_options *options) {
  (void)options;
}

#endif
