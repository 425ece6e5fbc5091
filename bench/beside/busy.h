/* SPDX-License-Identifier: Apache-2.0 */
/* A context of Raddle's whose device always has work, for what is measured beside it. */
#ifndef BENCH_BESIDE_BUSY_H
#define BENCH_BESIDE_BUSY_H

#include <raddle/raddle.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct busy busy;

/* Opens the device and gives it work from now on; when it returns, the third launch has begun.
   `quantum_ns` and `workers` are options of the context. rdl_error_text tells what failed. */
rdl_status busy_start(const char *selector, uint64_t quantum_ns, uint32_t workers, busy **out_busy);

/* Launches so far. */
uint64_t busy_launches(const busy *b);

/* Lets what runs end and closes the device. RDL_INTERNAL: a task had a wrong result. Else the first
   thing that went wrong since the start. */
rdl_status busy_stop(busy *b);

#ifdef __cplusplus
}
#endif

#endif
