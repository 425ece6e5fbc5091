/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 6: a program that uses the same device beside a context. */
#include "conformance/cuda.h"
#include "conformance/opencl.h"
#include "conformance/run.h"

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

/* OpenCL: a buffer, a blocking write, a kernel, clFinish, a blocking read, and the buffer's end:
 * four of them may each have to wait for the device. */
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

/* CUDA, in the context that its runtime uses: memory, a blocking copy to it, a kernel of the
 * driver's, which fills it, a blocking copy back, and the memory's end. */
static void use_cuda(const cuda_program *p, uint32_t n) {
  static uint32_t words[WORDS];
  cu_pointer at = 0;
  uint32_t k;
  for (k = 0; k < WORDS; k++)
    words[k] = k;
  cuda_enter(p);
  CHECK_EQ(0, cu.cuMemAlloc(&at, sizeof words));
  CHECK_EQ(0, cu.cuMemcpyHtoD(at, words, sizeof words));
  CHECK_EQ(0, cu.cuMemsetD32(at, n, WORDS / 2));
  CHECK_EQ(0, cu.cuMemcpyDtoH(words, at, sizeof words));
  CHECK_EQ(0, cu.cuMemFree(at));
  cuda_leave();
  for (k = 0; k < WORDS; k++)
    CHECK_EQ(k < WORDS / 2 ? n : k, words[k]);
}

typedef struct other {
  foreign opencl;
  cuda_program cuda;
} other;

static void use(const other *o, uint32_t n) {
  if (o->cuda.context)
    use_cuda(&o->cuda, n);
  else
    use_foreign(&o->opencl, n);
}

/* Each waits for a quantum and the longest segment, which is next to nothing here: 8 ms, and what
 * the machine does besides. Twenty rounds are allowed ten times that, and never a second longer
 * than that in one. */
static void check_beside(bed *b, const other *o) {
  enum { ROUNDS = 20, WAITS = 4 };
  const uint64_t quantum = 8u * MS;
  memory m = memory_new(b, 1);
  rdl_future busy[64];
  uint64_t begin, all;
  uint32_t k, count = 2u * b->workers < 64u ? 2u * b->workers : 64u;
  use(o, 1); /* compiles, where there is a kernel */
  for (k = 0; k < count; k++)
    busy[k] = START(b, "sch_busy", .at = m.at);
  all = now_ns();
  for (k = 0; k < ROUNDS; k++) {
    begin = now_ns();
    use(o, k);
    CHECK_BETWEEN(0, now_ns() - begin, 10u * quantum * WAITS + 1000u * MS);
  }
  CHECK_BETWEEN(0, now_ns() - all, 10u * quantum * ROUNDS * WAITS);
  CHECK_EQ(55, RUN(b, "sch_fib", .n = 10)); /* and the context goes on */
  word_set(&m, 0, 1);
  for (k = 0; k < count; k++)
    CHECK_EQ(5, get(b, busy[k]));
}

void SCH_6_kernels(void) {
  bed b = bed_open(TASKS);
  other o = {.opencl = open_foreign(&b)};
  check_beside(&b, &o);
  bed_close(&b);
}

void SCH_6_cuda(void) {
  bed b = bed_open(TASKS);
  other o = {.cuda = cuda_open_primary(run_device.selector)};
  check_beside(&b, &o);
  bed_close(&b);
  cuda_close(&o.cuda);
}
