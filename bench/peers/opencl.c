/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void opencl_expect(cl_int code, const char *call) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s gave OpenCL error %d\n", call, code);
  peer_fail("OpenCL");
}

static cl_device_id find_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char name[256] = "";
    cl_device_id device = NULL;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strcmp(name, "Portable Computing Language") != 0) continue;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
      return device;
  }
  peer_skip("PoCL was not found (Debian: pocl-opencl-icd)");
}

static void build(const struct opencl *cl) {
  char sizes[128];
  snprintf(sizes, sizeof sizes, "-D SIDE=%d -D WIDTH=%d -D ROUNDS=%d", PEER_SIDE, PEER_FAN_WIDTH,
           PEER_FAN_ROUNDS);
  if (clBuildProgram(cl->program, 1, &cl->device, sizes, NULL, NULL) == CL_SUCCESS) return;
  char log[8192] = "";
  clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s\n", log);
  peer_fail("the kernels do not compile");
}

struct opencl opencl_open(int workers, const char *source, size_t cell_count) {
  char threads[16];
  snprintf(threads, sizeof threads, "%d", workers);
  setenv("POCL_MAX_PTHREAD_COUNT", threads, 1);

  struct opencl cl = {.device = find_device(), .bytes = cell_count * sizeof(uint32_t)};
  cl_int code = CL_SUCCESS;
  cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
  opencl_expect(code, "clCreateContext");
  cl.program = clCreateProgramWithSource(cl.context, 1, &source, NULL, &code);
  opencl_expect(code, "clCreateProgramWithSource");
  build(&cl);
  cl.queue = opencl_queue(&cl, 0);
  cl.cells = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, cl.bytes, NULL, &code);
  opencl_expect(code, "clCreateBuffer");
  return cl;
}

void opencl_close(struct opencl *cl) {
  clReleaseMemObject(cl->cells);
  clReleaseCommandQueue(cl->queue);
  clReleaseProgram(cl->program);
  clReleaseContext(cl->context);
}

cl_command_queue opencl_queue(const struct opencl *cl, cl_command_queue_properties properties) {
  cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueueWithProperties(cl->context, cl->device, list, &code);
  opencl_expect(code, "clCreateCommandQueueWithProperties");
  return queue;
}

cl_kernel opencl_kernel(const struct opencl *cl, const char *name) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(cl->program, name, &code);
  opencl_expect(code, name);
  return kernel;
}

void opencl_clear(const struct opencl *cl) {
  const cl_uint zero = 0;
  CL_EXPECT(
      clEnqueueFillBuffer(cl->queue, cl->cells, &zero, sizeof zero, 0, cl->bytes, 0, NULL, NULL));
  CL_EXPECT(clFinish(cl->queue));
}

uint32_t *opencl_read(const struct opencl *cl, long count) {
  uint32_t *cells = peer_cells(count);
  CL_EXPECT(clEnqueueReadBuffer(cl->queue, cl->cells, CL_TRUE, 0, (size_t)count * sizeof *cells,
                                cells, 0, NULL, NULL));
  return cells;
}
