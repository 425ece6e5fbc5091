/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/probe_bench.h"

#include <string.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/opencl/probe_derive.h"
#include "backends/opencl/status.h"

#define NVIDIA 0x10deu /* its PCI vendor id */

rdl_status rdl__bench_open(rdl_cl_bench *bench, const rdl_cl *cl, cl_device_id id,
                           rdl_report *report) {
  cl_int code = CL_SUCCESS;
  rdl_status status;
  memset(bench, 0, sizeof *bench);
  bench->cl = cl;
  bench->id = id;
  bench->report = report;
  status = RDL_CL_MAKE(&bench->why, code, bench->context,
                       cl->clCreateContext(NULL, 1, &id, NULL, NULL, &code));
  if (status == RDL_OK)
    status = RDL_CL_MAKE(&bench->why, code, bench->queue, /* drivers of any version have this one */
                         cl->clCreateCommandQueue(bench->context, id, 0, &code));
  if (status == RDL_OK)
    status = RDL_CL_MAKE(
        &bench->why, code, bench->words,
        cl->clCreateBuffer(bench->context, CL_MEM_READ_WRITE, sizeof bench->host, NULL, &code));
  return status;
}

void rdl__bench_close(rdl_cl_bench *bench) {
  if (bench->words) (void)bench->cl->clReleaseMemObject(bench->words);
  if (bench->queue) (void)bench->cl->clReleaseCommandQueue(bench->queue);
  if (bench->context) (void)bench->cl->clReleaseContext(bench->context);
}

/* ---- kernels ---- */

static const char *text_in(const struct rdl_kernel_text *texts, unsigned count, const char *name) {
  for (unsigned i = 0; i < count; i++)
    if (strcmp(texts[i].name, name) == 0) return (const char *)texts[i].text;
  return NULL;
}

static const char *text_named(const char *name) {
  const char *text = text_in(rdl__probe_texts, rdl__probe_text_count, name);
  return text ? text : text_in(rdl__kernel_texts, rdl__kernel_text_count, name);
}

static rdl_status build(rdl_cl_bench *bench, const char *options, const char **texts, cl_uint count,
                        cl_kernel *out_kernel) {
  const rdl_cl *cl = bench->cl;
  cl_program program = NULL;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      RDL_CL_MAKE(&bench->why, code, program,
                  cl->clCreateProgramWithSource(bench->context, count, texts, NULL, &code));
  if (status != RDL_OK) return status;
  status = RDL_CL(&bench->why, cl->clBuildProgram(program, 1, &bench->id, options, NULL, NULL));
  if (status == RDL_OK)
    status =
        RDL_CL_MAKE(&bench->why, code, *out_kernel, cl->clCreateKernel(program, "probe", &code));
  (void)cl->clReleaseProgram(program); /* the kernel holds it */
  return status;
}

rdl_status rdl__bench_kernel(rdl_cl_bench *bench, const char *options, const char *first,
                             const char *name, cl_kernel *out_kernel) {
  const char *texts[2];
  cl_uint count = 0;
  if (first) texts[count++] = text_named(first);
  texts[count++] = text_named(name);
  if (!texts[0] || !texts[count - 1])
    return rdl__fail(RDL_INTERNAL, &bench->why, "There is no embedded text %s.", name);
  return build(bench, options, texts, count, out_kernel);
}

rdl_status rdl__bench_kernel_of(rdl_cl_bench *bench, const char *options, const char *text,
                                cl_kernel *out_kernel) {
  return build(bench, options, &text, 1, out_kernel);
}

/* ---- launches ---- */

rdl_status rdl__bench_start(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                            cl_event *out_event) {
  const rdl_cl *cl = bench->cl;
  const cl_uint a = launch->a, b = launch->b;
  const size_t global = launch->groups * launch->local;
  rdl_status status = RDL_CL(&bench->why, cl->clSetKernelArg(kernel, 1, sizeof a, &a));
  if (status == RDL_OK) status = RDL_CL(&bench->why, cl->clSetKernelArg(kernel, 2, sizeof b, &b));
  if (status == RDL_OK)
    status = RDL_CL(&bench->why, cl->clEnqueueNDRangeKernel(bench->queue, kernel, 1, NULL, &global,
                                                            &launch->local, 0, NULL, out_event));
  if (status == RDL_OK) status = RDL_CL(&bench->why, cl->clFlush(bench->queue));
  return status;
}

rdl_status rdl__bench_run(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                          size_t count) {
  const rdl_cl *cl = bench->cl;
  const size_t bytes = count * sizeof bench->host[0];
  rdl_status status =
      RDL_CL(&bench->why, cl->clSetKernelArg(kernel, 0, sizeof(cl_mem), &bench->words));
  if (status == RDL_OK)
    status = RDL_CL(&bench->why, cl->clEnqueueWriteBuffer(bench->queue, bench->words, CL_TRUE, 0,
                                                          bytes, bench->host, 0, NULL, NULL));
  if (status == RDL_OK) status = rdl__bench_start(bench, kernel, launch, NULL);
  if (status == RDL_OK)
    status = RDL_CL(&bench->why, cl->clEnqueueReadBuffer(bench->queue, bench->words, CL_TRUE, 0,
                                                         bytes, bench->host, 0, NULL, NULL));
  return status;
}

rdl_status rdl__bench_run_zeroed(rdl_cl_bench *bench, cl_kernel kernel,
                                 const rdl_bench_launch *launch, size_t count) {
  memset(bench->host, 0, count * sizeof bench->host[0]);
  return rdl__bench_run(bench, kernel, launch, count);
}

uint32_t rdl__bench_most_turns(const rdl_cl_bench *bench) {
  uint64_t budget = rdl__report_number(bench->report, "loop_budget", 0);
  return budget ? (uint32_t)(budget - budget / 4) : 0x40000000u;
}

#define WORTH_MEASURING_NS 2000000u
#define WORDS_OF_WAITERS   256u

/* The shortest of a few: on a busy machine one may take long for no reason of its own, and the
 * first one compiles with some drivers. */
static rdl_status time_turns(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                             uint64_t *out_ns) {
  *out_ns = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    uint64_t start = rdl__now_ns(), took;
    rdl_status status = rdl__bench_run_zeroed(bench, kernel, launch, WORDS_OF_WAITERS);
    if (status != RDL_OK) return status;
    took = rdl__now_ns() - start;
    if (took < *out_ns) *out_ns = took;
  }
  return RDL_OK;
}

uint32_t rdl__bench_turns_for(rdl_cl_bench *bench, cl_kernel kernel, rdl_bench_launch launch,
                              uint64_t ns) {
  const uint32_t most = rdl__bench_most_turns(bench);
  uint64_t took = 0;
  double turns;
  for (launch.b = 100; took < WORTH_MEASURING_NS && launch.b <= most / 8; launch.b *= 8)
    if (time_turns(bench, kernel, &launch, &took) != RDL_OK) return 1;
  if (took < WORTH_MEASURING_NS) return most;
  turns = (double)launch.b / 8 * (double)ns / (double)took;
  if (turns < 1) return 1;
  return turns < most ? (uint32_t)turns : most;
}

/* ---- device ---- */

const char *rdl__bench_options(const rdl_cl_bench *bench) {
  const char *options = NULL;
  return rdl__derive_order(bench->report, &options) == RDL_CL_ORDER_NONE ? "-cl-std=CL1.2"
                                                                         : options;
}

int rdl__bench_is_nvidia(const rdl_cl_bench *bench) {
  return rdl__cl_number(bench->cl, bench->id, CL_DEVICE_VENDOR_ID) == NVIDIA;
}
