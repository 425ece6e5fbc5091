/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 6: a program that uses the same OpenCL device beside a context. It knows of OpenCL only what
 * stands here, so that this builds without its headers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "sch.task.c"

typedef void *cl_object;
typedef int32_t cl_code;

#define CL_PLATFORM_NAME_   0x0902u
#define CL_DEVICE_NAME_     0x102Bu
#define CL_DEVICE_TYPE_ALL_ 0xFFFFFFFFull
#define CL_MEM_READ_WRITE_  1ull

/* X(result, name, parameters) */
#define CL_FUNCTIONS(X)                                                                            \
  X(cl_code, clGetPlatformIDs, (uint32_t, cl_object *, uint32_t *))                                \
  X(cl_code, clGetPlatformInfo, (cl_object, uint32_t, size_t, void *, size_t *))                   \
  X(cl_code, clGetDeviceIDs, (cl_object, uint64_t, uint32_t, cl_object *, uint32_t *))             \
  X(cl_code, clGetDeviceInfo, (cl_object, uint32_t, size_t, void *, size_t *))                     \
  X(cl_object, clCreateContext,                                                                    \
    (const intptr_t *, uint32_t, const cl_object *, void *, void *, cl_code *))                    \
  X(cl_object, clCreateCommandQueue, (cl_object, cl_object, uint64_t, cl_code *))                  \
  X(cl_object, clCreateProgramWithSource,                                                          \
    (cl_object, uint32_t, const char **, const size_t *, cl_code *))                               \
  X(cl_code, clBuildProgram,                                                                       \
    (cl_object, uint32_t, const cl_object *, const char *, void *, void *))                        \
  X(cl_object, clCreateKernel, (cl_object, const char *, cl_code *))                               \
  X(cl_object, clCreateBuffer, (cl_object, uint64_t, size_t, void *, cl_code *))                   \
  X(cl_code, clSetKernelArg, (cl_object, uint32_t, size_t, const void *))                          \
  X(cl_code, clEnqueueNDRangeKernel,                                                               \
    (cl_object, cl_object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,     \
     const cl_object *, cl_object *))                                                              \
  X(cl_code, clEnqueueWriteBuffer,                                                                 \
    (cl_object, cl_object, uint32_t, size_t, size_t, const void *, uint32_t, const cl_object *,    \
     cl_object *))                                                                                 \
  X(cl_code, clEnqueueReadBuffer,                                                                  \
    (cl_object, cl_object, uint32_t, size_t, size_t, void *, uint32_t, const cl_object *,          \
     cl_object *))                                                                                 \
  X(cl_code, clFinish, (cl_object))                                                                \
  X(cl_code, clReleaseMemObject, (cl_object))

#define CL_POINTER(result, name, parameters) static result(*name) parameters;
CL_FUNCTIONS(CL_POINTER)

static void load_opencl(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
#define CL_LOAD(result, name, parameters)                                                          \
  *(void **)&name = dlsym(library, #name);                                                         \
  CHECK(name);
  CL_FUNCTIONS(CL_LOAD)
}

/* The device that the context is on, by its names. */
static cl_object find_device(bed *b) {
  rdl_context_info info = {.size = sizeof info};
  cl_object platforms[16], devices[16];
  uint32_t platform_count = 0, device_count, p, d;
  CHECK_OK(rdl_context_describe(b->cx, &info));
  CHECK_EQ(0, clGetPlatformIDs(16, platforms, &platform_count));
  for (p = 0; p < platform_count && p < 16; p++) {
    device_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL_, 16, devices, &device_count)) continue;
    for (d = 0; d < device_count && d < 16; d++) {
      char name[sizeof info.device.name] = "", platform[sizeof info.device.platform] = "";
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME_, sizeof name - 1, name, NULL);
      clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME_, sizeof platform - 1, platform, NULL);
      if (strcmp(name, info.device.name) == 0 && strstr(info.device.platform, platform))
        return devices[d];
    }
  }
  test_fail(__FILE__, __LINE__, "no OpenCL device is called %s on %s", info.device.name,
            info.device.platform);
}

typedef struct foreign {
  cl_object context, queue, kernel;
} foreign;

static foreign open_foreign(bed *b) {
  const char *text =
      "kernel void add(global uint *words, uint n) { words[get_global_id(0)] += n; }";
  cl_object device, program;
  cl_code code = 0;
  foreign f;
  load_opencl();
  device = find_device(b);
  f.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK_EQ(0, code);
  f.queue = clCreateCommandQueue(f.context, device, 0, &code);
  CHECK_EQ(0, code);
  program = clCreateProgramWithSource(f.context, 1, &text, NULL, &code);
  CHECK_EQ(0, code);
  CHECK_EQ(0, clBuildProgram(program, 0, NULL, "", NULL, NULL));
  f.kernel = clCreateKernel(program, "add", &code);
  CHECK_EQ(0, code);
  return f;
}

enum { WORDS = 4096 };

/* A buffer, a blocking write, a kernel, clFinish, a blocking read, and the buffer's end: four of
 * them may each have to wait for the device. */
static void use_foreign(const foreign *f, uint32_t n) {
  static uint32_t words[WORDS];
  const size_t global = WORDS;
  cl_code code = 0;
  cl_object buffer = clCreateBuffer(f->context, CL_MEM_READ_WRITE_, sizeof words, NULL, &code);
  uint32_t k;
  CHECK_EQ(0, code);
  for (k = 0; k < WORDS; k++)
    words[k] = k;
  CHECK_EQ(0, clEnqueueWriteBuffer(f->queue, buffer, 1, 0, sizeof words, words, 0, NULL, NULL));
  CHECK_EQ(0, clSetKernelArg(f->kernel, 0, sizeof buffer, &buffer));
  CHECK_EQ(0, clSetKernelArg(f->kernel, 1, sizeof n, &n));
  CHECK_EQ(0, clEnqueueNDRangeKernel(f->queue, f->kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK_EQ(0, clFinish(f->queue));
  CHECK_EQ(0, clEnqueueReadBuffer(f->queue, buffer, 1, 0, sizeof words, words, 0, NULL, NULL));
  CHECK_EQ(0, clReleaseMemObject(buffer));
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
    CHECK_BETWEEN(0, now_ns() - begin, 10u * WAITS * quantum + 1000u * MS);
  }
  CHECK_BETWEEN(0, now_ns() - all, 10u * ROUNDS * WAITS * quantum);
  CHECK_EQ(55, RUN(&b, "sch_fib", .n = 10)); /* and the context goes on */
  word_set(&m, 0, 1);
  for (k = 0; k < count; k++)
    CHECK_EQ(5, get(&b, busy[k]));
  bed_close(&b);
}
