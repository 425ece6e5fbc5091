/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of Raddle's own that do for a backend what may crash, hang or exit. */
#ifndef RDL_COMMON_HELPER_H
#define RDL_COMMON_HELPER_H

#include <raddle/backend.h>
#include <stdint.h>

#include "backends/common/process.h"

typedef struct rdl_helper {
  const char *name;     /* of the program: "raddle-opencl-helper" */
  const char *variable; /* of the environment, which names its path: "RADDLE_BUILD_HELPER" */
  const char *purpose;  /* how a message on its absence begins: who compiles in it */
} rdl_helper;

#define RDL_HELPER_PATH 4096u

/* Where the helper lies. RDL_UNAVAILABLE: `why` says where it was looked for. */
rdl_status rdl__helper_find(const rdl_helper *helper, char out_path[RDL_HELPER_PATH],
                            rdl_reason *why);

/* How long a compiler may take: what RADDLE_BUILD_TIMEOUT says, else `seconds`. RDL_INVALID when
 * that is no number of seconds. */
rdl_status rdl__helper_limit(uint64_t seconds, uint64_t *out_ns, rdl_reason *why);

/* Adds how the process has ended: "crashed with SIGSEGV". */
void rdl__helper_put_ending(const rdl_process *process, rdl_reason *why);

#endif
