/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an OpenCL device can do, found by trying. Drivers claim more than they keep, and less than
 * they can: so small kernels are run once, in another process, and what they showed is kept in the
 * cache by device, driver and version of this library.
 *
 * A driver that crashes or hangs in one probe costs the result of that probe. Every field then has
 * the value that promises least, so the structure can be used without looking at anything else.
 */
#ifndef RDL_OPENCL_PROBE_H
#define RDL_OPENCL_PROBE_H

#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/cache.h"
#include "backends/opencl/device.h"

/* How work-groups hand data to each other, strongest first. */
typedef enum rdl_cl_order {
  RDL_CL_ORDER_NONE,  /* all that compiled were seen to fail: the device is refused */
  RDL_CL_ORDER_C11,   /* C11 atomics at device scope */
  RDL_CL_ORDER_PTX,   /* NVIDIA's fence.acq_rel.gpu around the atomics of 1.2 */
  RDL_CL_ORDER_FENCE, /* mem_fence around the atomics of 1.2 */
} rdl_cl_order;

/* By what host and running kernel see each other's stores, both ways. */
typedef enum rdl_cl_shared {
  RDL_CL_SHARED_NONE,   /* not at all: they talk between launches (epoch mode) */
  RDL_CL_SHARED_MAPPED, /* a buffer of CL_MEM_ALLOC_HOST_PTR that stays mapped */
  RDL_CL_SHARED_SVM,    /* fine-grained shared virtual memory: one address on both sides */
} rdl_cl_shared;

/* What rdl_clock() of the dialect reads; the number is the value of RDL_CLOCK. */
typedef enum rdl_cl_clock {
  RDL_CL_CLOCK_NONE,
  RDL_CL_CLOCK_CYCLES, /* __builtin_readcyclecounter() */
  RDL_CL_CLOCK_TIMER,  /* NVIDIA's %globaltimer */
} rdl_cl_clock;

/* What a device address (a pointer, kept as a number) is worth in a later launch. */
typedef enum rdl_cl_address {
  RDL_CL_ADDRESS_NONE,  /* it may differ, or cannot be used */
  RDL_CL_ADDRESS_BOUND, /* the same in all launches; usable where its buffer is an argument */
  RDL_CL_ADDRESS_FREE,  /* the same, and usable where its buffer is no argument */
} rdl_cl_address;

/* Local sizes that were tried: bit k of `lanes` stands for rdl__cl_lanes[k]. */
#define RDL_CL_LANES 5u
extern const uint32_t rdl__cl_lanes[RDL_CL_LANES]; /* 1, 7, 8, 32, 64 */

typedef struct rdl_cl_abilities {
  rdl_cl_order order;
  char options[96];         /* for the compiler: the language and macros that `order` and `clock`
                               stand for; "" when no order is left */
  rdl_cl_shared shared;     /* NONE: epoch mode; also where loops have a budget */
  uint32_t resident_groups; /* work-groups of one work-item that were seen to run at the same time;
                               at least 1 */
  uint32_t resident_groups_32; /* the same of 32 work-items */
  uint32_t loop_budget;   /* turns that all loops of a work-item share in one launch, after which
                             the driver ends them silently; 0 = none found in 200,000 turns */
  uint32_t switch_cases;  /* a flat switch is right up to so many cases; at most 320 are tried */
  uint32_t nesting;       /* the same of nested ifs */
  uint32_t resume_points; /* 1 = segments that begin in the middle of loops do what they say */
  uint32_t atomics32;     /* 1 = add, or, and, min, exchange and compare-exchange were exact */
  uint32_t atomics64;     /* 1 = 64-bit add and compare-exchange were exact */
  rdl_cl_clock clock;     /* NONE: rdl_clock() gives 0 */
  uint64_t clock_hz;      /* ticks a second, measured; 0 without a clock */
  rdl_cl_address addresses;
  uint64_t max_allocation; /* bytes at once: the driver's claim, or less where that failed */
  uint32_t lanes;          /* local sizes at which loops with barriers were right, see above */
  uint32_t same_layout;    /* 1 = structures of 32 and 64-bit members are laid out as on the host */
  uint32_t struct_copies;  /* 1 = a whole structure may be assigned between __global and private
                              memory; 0 = it must go word by word through a union */
  uint32_t word_copies;    /* 1 = that union is right */
} rdl_cl_abilities;

/*
 * The abilities of a device, from the cache, or by probing: that takes seconds, and needs the
 * helper program. `flags`: RDL_REPROBE does not look into the cache.
 *
 * Never fails for what the device cannot do. RDL_UNAVAILABLE: no probe could be run, `why` says
 * what is missing, and `out` promises least. Any thread; blocks.
 */
rdl_status rdl__cl_abilities(const rdl_cl *cl, const rdl_cl_device *device, const char *cache_dir,
                             uint32_t flags, rdl_cl_abilities *out, rdl_reason *why);

/* The same as a table with what the driver claims beside it, for rdl_device_capabilities. */
rdl_status rdl__cl_capabilities(size_t index, const char *cache_dir, uint32_t flags,
                                rdl_capability *out, size_t capacity, size_t *out_count,
                                rdl_reason *why);

#endif
