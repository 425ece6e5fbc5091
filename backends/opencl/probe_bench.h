/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where probes are run: a context, a queue and a buffer of words. All kernels of probes are called
 * `probe` and take that buffer and two numbers. Used in the process that probes and nowhere else: a
 * driver may crash or hang in any of these calls.
 */
#ifndef RDL_OPENCL_PROBE_BENCH_H
#define RDL_OPENCL_PROBE_BENCH_H

#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/kernel_text.h"
#include "backends/common/report.h"
#include "backends/opencl/device.h"

/* The texts of probes/, embedded. */
extern const struct rdl_kernel_text rdl__probe_texts[];
extern const unsigned rdl__probe_text_count;
extern const char rdl__probe_hash[];

#define RDL_BENCH_WORDS ((size_t)160 * 1024)

typedef struct rdl_cl_bench {
  const rdl_cl *cl;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_mem words;
  uint32_t host[RDL_BENCH_WORDS]; /* what goes into the buffer and comes out of it */
  rdl_report *report;             /* of the probes before; each adds its own rows */
  rdl_reason why;                 /* of what failed last */
} rdl_cl_bench;

/* Whatever the result, to be closed. */
rdl_status rdl__bench_open(rdl_cl_bench *bench, const rdl_cl *cl, cl_device_id id,
                           rdl_report *report);
void rdl__bench_close(rdl_cl_bench *bench);

/* The kernel of an embedded text, behind another (the dialect, say) when that is not NULL; to be
 * released. RDL_COMPILE when the compiler refuses it. */
rdl_status rdl__bench_kernel(rdl_cl_bench *bench, const char *options, const char *first,
                             const char *name, cl_kernel *out_kernel);
/* The same of a text. */
rdl_status rdl__bench_kernel_of(rdl_cl_bench *bench, const char *options, const char *text,
                                cl_kernel *out_kernel);

typedef struct rdl_bench_launch {
  uint32_t a, b; /* the kernel's numbers */
  size_t groups;
  size_t local;
} rdl_bench_launch;

/* Fills the buffer's first `count` words from bench->host, runs the kernel, and reads them back. */
rdl_status rdl__bench_run(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                          size_t count);

/* Zeroes bench->host and does the same. */
rdl_status rdl__bench_run_zeroed(rdl_cl_bench *bench, cl_kernel kernel,
                                 const rdl_bench_launch *launch, size_t count);

/* The first half of it: hands the launch to the driver, with its arguments but the first. */
rdl_status rdl__bench_start(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                            cl_event *out_event);

/* Turns that a kernel may wait: a loop that the driver cuts short would end before its kernel has
 * said what it saw, so a quarter of the budget is left for that. */
uint32_t rdl__bench_most_turns(const rdl_cl_bench *bench);

/* So many turns of the kernel's waiting loop (its second number) take about `ns`, as far as the
 * loop budget lets it; `launch` must be one that waits in vain. At least 1. */
uint32_t rdl__bench_turns_for(rdl_cl_bench *bench, cl_kernel kernel, rdl_bench_launch launch,
                              uint64_t ns);

/* Options that compile the dialect with the strongest order that was not refused. */
const char *rdl__bench_options(const rdl_cl_bench *bench);

/* 1 on a device by NVIDIA. */
int rdl__bench_is_nvidia(const rdl_cl_bench *bench);

#endif
