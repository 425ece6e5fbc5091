/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 6: a program that uses the same OpenCL device beside a context. */
#include "conformance/opencl.h"

#define TASKS "sch.task.c"

typedef struct foreign {
  cl_object context, queue, kernel;
} foreign;

static foreign open_foreign(bed *b) {
  rdl_context_info info = {.size = sizeof info};
  opencl_program p;
  CHECK_OK(rdl_context_describe(b->cx, &info));
  p = opencl_open(info.device.native);
  return (foreign){
      p.context, p.queue,
      opencl_kernel(&p,
                    "kernel void add(global uint *words, uint n) { words[get_global_id(0)] += n; }",
                    "add")};
}

enum { WORDS = 4096 };

/* A buffer, a blocking write, a kernel, clFinish, a blocking read, and the buffer's end: four of
 * them may each have to wait for the device. */
static void use_foreign(const foreign *f, uint32_t n) {
  static uint32_t words[WORDS];
  const size_t global = WORDS;
  cl_code code = 0;
  cl_object buffer = cl.clCreateBuffer(f->context, CL_MEM_READ_WRITE_, sizeof words, NULL, &code);
  uint32_t k;
  CHECK_EQ(0, code);
  for (k = 0; k < WORDS; k++)
    words[k] = k;
  CHECK_EQ(0, cl.clEnqueueWriteBuffer(f->queue, buffer, 1, 0, sizeof words, words, 0, NULL, NULL));
  CHECK_EQ(0, cl.clSetKernelArg(f->kernel, 0, sizeof buffer, &buffer));
  CHECK_EQ(0, cl.clSetKernelArg(f->kernel, 1, sizeof n, &n));
  CHECK_EQ(0,
           cl.clEnqueueNDRangeKernel(f->queue, f->kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK_EQ(0, cl.clFinish(f->queue));
  CHECK_EQ(0, cl.clEnqueueReadBuffer(f->queue, buffer, 1, 0, sizeof words, words, 0, NULL, NULL));
  CHECK_EQ(0, cl.clReleaseMemObject(buffer));
  for (k = 0; k < WORDS; k++)
    CHECK_EQ(k + n, words[k]);
}

/* Each waits for a quantum and the longest segment, which is next to nothing here: 8 ms, and what
 * the machine does besides. Twenty rounds are allowed ten times that, and never a second longer
 * than that in one. */
void SCH_6_kernels(void) {
  enum { ROUNDS = 20, WAITS = 4 };
  const uint64_t quantum = 8u * MS;
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  foreign f = open_foreign(&b);
  rdl_future busy[64];
  uint64_t begin, all;
  uint32_t k, count = 2u * b.workers < 64u ? 2u * b.workers : 64u;
  use_foreign(&f, 1); /* compiles */
  for (k = 0; k < count; k++)
    busy[k] = START(&b, "sch_busy", .at = m.at);
  all = now_ns();
  for (k = 0; k < ROUNDS; k++) {
    begin = now_ns();
    use_foreign(&f, k);
    CHECK_BETWEEN(0, now_ns() - begin, 10u * quantum * WAITS + 1000u * MS);
  }
  CHECK_BETWEEN(0, now_ns() - all, 10u * quantum * ROUNDS * WAITS);
  CHECK_EQ(55, RUN(&b, "sch_fib", .n = 10)); /* and the context goes on */
  word_set(&m, 0, 1);
  for (k = 0; k < count; k++)
    CHECK_EQ(5, get(&b, busy[k]));
  bed_close(&b);
}
