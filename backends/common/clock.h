/* SPDX-License-Identifier: Apache-2.0 */
/* Time: of the host, and the rate of what rdl_clock() reads on this machine's processor. */
#ifndef RDL_COMMON_CLOCK_H
#define RDL_COMMON_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t rdl__now_ns(void);

/* `timeout_ns` from now; UINT64_MAX when that lies beyond all times. */
uint64_t rdl__deadline_ns(uint64_t timeout_ns);

/* Ticks a second of rdl_clock() in host code: the time stamp counter on x86-64, else nanoseconds.
 * The counter's rate is measured the first time, which takes about 2 ms. Any thread. */
uint64_t rdl__counter_hz(void);

#endif
