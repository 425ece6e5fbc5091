/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_build IMAGE [OPTIONS]: compiles the text of an image with the first OpenCL device of this
 * machine and runs rdl_launch once to describe itself. Prints the times, and the tasks as the
 * device reports them. Exits with 77 when there is no OpenCL device. The loader is opened at run
 * time.
 */
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

#define HEAP_SIZE 1048576u
#define INFO_AT   65536u
#define TASKS_AT  131072u

/* X(name): the entry points this program calls. */
#define ENTRY_POINTS(X)                                                                            \
  X(clGetPlatformIDs)                                                                              \
  X(clGetDeviceIDs)                                                                                \
  X(clCreateContext)                                                                               \
  X(clCreateCommandQueueWithProperties)                                                            \
  X(clCreateProgramWithSource)                                                                     \
  X(clBuildProgram)                                                                                \
  X(clGetProgramBuildInfo)                                                                         \
  X(clCreateKernel)                                                                                \
  X(clCreateBuffer)                                                                                \
  X(clSetKernelArg)                                                                                \
  X(clEnqueueNDRangeKernel)                                                                        \
  X(clEnqueueReadBuffer)                                                                           \
  X(clReleaseMemObject)                                                                            \
  X(clReleaseKernel)                                                                               \
  X(clReleaseProgram)                                                                              \
  X(clReleaseCommandQueue)                                                                         \
  X(clReleaseContext)

static struct {
#define ENTRY_POINT_MEMBER(name) __typeof__(&name) name;
  ENTRY_POINTS(ENTRY_POINT_MEMBER)
} cl;

typedef struct session {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem heap;
} session;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ISO C has no conversion from an object's address to a function's; POSIX has the bytes agree. */
static int find_symbol(void *library, const char *name, void *out_function, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(out_function, &symbol, size);
  return symbol != NULL;
}

static int open_loader(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  int found = library != NULL;
#define FIND_ENTRY_POINT(name)                                                                     \
  found = found && find_symbol(library, #name, &cl.name, sizeof cl.name);
  ENTRY_POINTS(FIND_ENTRY_POINT)
  return found;
}

static int open_device(session *s) {
  cl_platform_id platform;
  cl_uint count = 0;
  if (!open_loader() || cl.clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count) return 0;
  return cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &s->device, NULL) == CL_SUCCESS;
}

static char *read_text(const char *path, size_t *out_length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long length = ftell(file);
    rewind(file);
    text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) *out_length = fread(text, 1, (size_t)length, file);
  }
  fclose(file);
  return text;
}

static int fail(const char *what, cl_int code) {
  fprintf(stderr, "%s: OpenCL error %d\n", what, (int)code);
  return 0;
}

static int build(session *s, const char *text, size_t length, const char *options) {
  static char log[65536];
  cl_int code = 0;
  double start = now();
  s->program = cl.clCreateProgramWithSource(s->context, 1, &text, &length, &code);
  if (!s->program) return fail("clCreateProgramWithSource", code);
  code = cl.clBuildProgram(s->program, 1, &s->device, options, NULL, NULL);
  cl.clGetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  if (log[0]) fprintf(stderr, "%s\n", log);
  if (code != CL_SUCCESS) return fail("clBuildProgram", code);
  printf("clBuildProgram: %.2f s\n", now() - start);
  s->kernel = cl.clCreateKernel(s->program, "rdl_launch", &code);
  return s->kernel ? 1 : fail("clCreateKernel", code);
}

/* The first launch is part of the measure: PoCL makes machine code only then. */
static int describe(session *s, unsigned char *heap) {
  cl_uint purpose = RDL_LAUNCH_DESCRIBE;
  size_t one = 1;
  cl_int code = 0;
  double start = now();
  cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  s->heap = cl.clCreateBuffer(s->context, flags, HEAP_SIZE, heap, &code);
  if (!s->heap) return fail("clCreateBuffer", code);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the handle itself is passed */
  code = cl.clSetKernelArg(s->kernel, 0, sizeof s->heap, &s->heap);
  if (!code) code = cl.clSetKernelArg(s->kernel, 1, sizeof purpose, &purpose);
  if (!code)
    code = cl.clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
  if (!code)
    code = cl.clEnqueueReadBuffer(s->queue, s->heap, CL_TRUE, 0, HEAP_SIZE, heap, 0, NULL, NULL);
  if (code) return fail("the launch", code);
  printf("first launch: %.2f s\n", now() - start);
  return 1;
}

static int print_tasks(const unsigned char *heap) {
  rdl_image_info info;
  rdl_task_info task;
  memcpy(&info, heap + INFO_AT, sizeof info);
  if (info.abi_version != RDL_ABI_VERSION || info.control_size != sizeof(rdl_control)) {
    fprintf(stderr, "the device lays the structures out in another way\n");
    return 0;
  }
  for (rdl_u32 i = 0; i < info.tasks; i++) {
    memcpy(&task, heap + TASKS_AT + i * sizeof task, sizeof task);
    printf("task %u: arguments %u, state %u, result %u bytes, %u spawns, %u resume points\n", i,
           task.args_size, task.state_size, task.result_size, task.spawns, task.resume_points);
  }
  return info.tasks > 0;
}

static int work(session *s, const char *path, const char *options) {
  static union {
    unsigned char bytes[HEAP_SIZE];
    rdl_control control;
  } heap;
  size_t length = 0;
  cl_int code = 0;
  s->context = cl.clCreateContext(NULL, 1, &s->device, NULL, NULL, &code);
  if (!s->context) return fail("clCreateContext", code);
  s->queue = cl.clCreateCommandQueueWithProperties(s->context, s->device, NULL, &code);
  if (!s->queue) return fail("clCreateCommandQueueWithProperties", code);
  char *text = read_text(path, &length);
  if (!text) {
    fprintf(stderr, "cannot read %s\n", path);
    return 0;
  }
  heap.control.image_info = INFO_AT;
  heap.control.task_infos = TASKS_AT;
  int good = build(s, text, length, options) && describe(s, heap.bytes) && print_tasks(heap.bytes);
  free(text);
  return good;
}

static void close_session(session *s) {
  if (s->heap) cl.clReleaseMemObject(s->heap);
  if (s->kernel) cl.clReleaseKernel(s->kernel);
  if (s->program) cl.clReleaseProgram(s->program);
  if (s->queue) cl.clReleaseCommandQueue(s->queue);
  if (s->context) cl.clReleaseContext(s->context);
}

int main(int argc, char **argv) {
  session s = {0};
  if (argc < 2) {
    fprintf(stderr, "usage: opencl_build IMAGE [OPTIONS]\n");
    return 2;
  }
  if (!open_device(&s)) {
    printf("no OpenCL device on this machine\n");
    return 77;
  }
  int good = work(&s, argv[1], argc > 2 ? argv[2] : "-cl-std=CL3.0");
  close_session(&s);
  return good ? 0 : 1;
}
