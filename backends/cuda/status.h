/* SPDX-License-Identifier: Apache-2.0 */
/* From the driver's error codes to ours, in one table (api.h). */
#ifndef RDL_CUDA_STATUS_H
#define RDL_CUDA_STATUS_H

#include <raddle/backend.h>

#include "backends/cuda/symbols.h"

/* RDL_OK, or a failure whose reason names the function in `call` (the text of the whole call). A
 * sticky code is stored in `*lost`, which may be NULL. */
rdl_status rdl__cu_check(const rdl_cu *cu, int *lost, rdl_cu_result code, const char *call,
                         rdl_reason *why);

/* RDL_DEVICE_LOST, for a device that a sticky code has ended. */
rdl_status rdl__cu_is_lost(const rdl_cu *cu, rdl_cu_result code, rdl_reason *why);

/* A call that returns its code. */
#define RDL_CU(cu, lost, why, call) rdl__cu_check((cu), (lost), (call), #call, (why))

#endif
