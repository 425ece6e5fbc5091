/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: small values that host programs and tasks exchange. They may be copied and stored
 * freely; one that refers to something that no longer exists gives RDL_STALE, one of another
 * context or a made-up one RDL_INVALID. */
#ifndef RDL_HANDLE_H
#define RDL_HANDLE_H

#include <stdint.h>

/* The device code declares the same two structures; see kernels/abi.h. */
#ifndef RDL_HANDLES_DEFINED
#define RDL_HANDLES_DEFINED

/* One running or finished task. All zero is no future. The same bytes on host and device. */
typedef struct rdl_future {
  uint32_t index;
  uint32_t generation;
} rdl_future;

/* One event. All zero is no event. The same bytes on host and device. */
typedef struct rdl_event {
  uint32_t index;
  uint32_t generation;
} rdl_event;

#endif

/* Address of device memory as it is passed in task arguments; byte offsets may be added. RDL_AT
 * turns it into a pointer inside a task. */
typedef uint64_t rdl_ptr;

/* A time limit that never passes. Every time limit is in nanoseconds; 0 only looks. */
#define RDL_FOREVER UINT64_MAX

#endif
