/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver, opened at run time: this library starts on machines that have none. */
#ifndef RDL_CUDA_SYMBOLS_H
#define RDL_CUDA_SYMBOLS_H

#include <raddle/backend.h>

#include "backends/cuda/api.h"

typedef struct rdl_cu {
#define RDL_CU_SYMBOL(name, version, needed, parameters) rdl_cu_result(*name) parameters;
#include "backends/cuda/symbols.def"
#undef RDL_CU_SYMBOL
  int version; /* of CUDA that the driver has: 13000 is 13.0 */
} rdl_cu;

/* The driver's functions, looked up once in a process, and the driver initialised. NULL without a
 * driver that works; `why` then says what is missing. Any thread. */
const rdl_cu *rdl__cu_symbols(rdl_reason *why);

#endif
