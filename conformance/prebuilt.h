/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's task files, compiled ahead: so that a sanitizer sees the tasks and the scheduler. */
#ifndef RDL_CONFORMANCE_PREBUILT_H
#define RDL_CONFORMANCE_PREBUILT_H

#include <raddle/raddle.h>

/* Adds what was compiled ahead, if this build has it; the host backend takes it in place of a
 * compiler's result. */
void conformance_use_prebuilt(rdl_context_options *options);

#endif
