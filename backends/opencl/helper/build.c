/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a text as the library will, up to and including a launch of its kernel at the size of a
 * work-group that it will use: some drivers compile when a kernel is made or first launched. What
 * they keep on disk is then there for the library. The binary that is asked for goes the same way,
 * so that the library is given none that its driver does not take.
 */
#include <stdlib.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/helper/verbs.h"
#include "backends/opencl/jobs.h"
#include "backends/opencl/status.h"

#define HEAP_BYTES 65536u

struct bench {
  const rdl_cl *cl;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem heap;
  rdl_cl_build_request request;
};

static rdl_status set_up(struct bench *bench, rdl_reason *why) {
  static unsigned char zeros[HEAP_BYTES];
  const rdl_cl *cl = bench->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status = RDL_CL_MAKE(why, code, bench->context,
                                  cl->clCreateContext(NULL, 1, &bench->device, NULL, NULL, &code));
  if (status == RDL_OK)
    status = RDL_CL_MAKE(why, code, bench->queue,
                         cl->clCreateCommandQueue(bench->context, bench->device, 0, &code));
  if (status == RDL_OK)
    status =
        RDL_CL_MAKE(why, code, bench->heap,
                    cl->clCreateBuffer(bench->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       sizeof zeros, zeros, &code));
  return status;
}

static rdl_status build(struct bench *bench, cl_program program, rdl_reason *why) {
  const rdl_cl *cl = bench->cl;
  return RDL_CL(why,
                cl->clBuildProgram(program, 1, &bench->device, bench->request.options, NULL, NULL));
}

static rdl_status set_arguments(struct bench *bench, cl_kernel kernel, rdl_reason *why) {
  const rdl_cl *cl = bench->cl;
  const cl_uint purpose = (cl_uint)bench->request.purpose;
  rdl_status status = RDL_CL(why, cl->clSetKernelArg(kernel, 0, sizeof(cl_mem), &bench->heap));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clSetKernelArg(kernel, 1, sizeof purpose, &purpose));
  return status;
}

/* One work-group. */
static rdl_status launch_kernel(struct bench *bench, cl_kernel kernel, rdl_reason *why) {
  const rdl_cl *cl = bench->cl;
  const size_t size = (size_t)bench->request.local_size;
  rdl_status status = set_arguments(bench, kernel, why);
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueNDRangeKernel(bench->queue, kernel, 1, NULL, &size, &size, 0,
                                                    NULL, NULL));
  if (status == RDL_OK) status = RDL_CL(why, cl->clFinish(bench->queue));
  return status;
}

/* Both kernels, or the one that there is. */
static rdl_status launch(struct bench *bench, cl_program program, rdl_reason *why) {
  const rdl_cl *cl = bench->cl;
  cl_kernel kernel = NULL, other = NULL;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      RDL_CL_MAKE(why, code, kernel, cl->clCreateKernel(program, bench->request.kernel, &code));
  if (status == RDL_OK) status = launch_kernel(bench, kernel, why);
  if (status == RDL_OK && bench->request.other[0])
    other = cl->clCreateKernel(program, bench->request.other, &code);
  if (other) status = launch_kernel(bench, other, why);
  if (kernel) (void)cl->clReleaseKernel(kernel);
  if (other) (void)cl->clReleaseKernel(other);
  return status;
}

static void add_log(struct bench *bench, cl_program program, rdl_parcel *answer) {
  char *log = rdl__cl_build_log(bench->cl, bench->device, program);
  rdl__parcel_add_text(answer, log ? log : "");
  free(log);
}

/* The program's binary, to be freed; NULL when the driver gives none. */
static unsigned char *binary_of(struct bench *bench, cl_program program, size_t *out_size) {
  const rdl_cl *cl = bench->cl;
  unsigned char *binary;
  *out_size = 0;
  if (cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *out_size, out_size, NULL) !=
          CL_SUCCESS ||
      !*out_size)
    return NULL;
  binary = malloc(*out_size);
  if (binary && cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) !=
                    CL_SUCCESS) {
    free(binary);
    binary = NULL;
  }
  return binary;
}

/* A driver may refuse what it wrote itself. */
static int is_of_use(struct bench *bench, const unsigned char *binary, size_t size) {
  const rdl_cl *cl = bench->cl;
  cl_int code = CL_SUCCESS, accepted = CL_SUCCESS;
  int works;
  cl_program program = cl->clCreateProgramWithBinary(bench->context, 1, &bench->device, &size,
                                                     &binary, &accepted, &code);
  if (code != CL_SUCCESS || !program) return 0;
  works = accepted == CL_SUCCESS && build(bench, program, NULL) == RDL_OK &&
          launch(bench, program, NULL) == RDL_OK;
  (void)cl->clReleaseProgram(program);
  return works;
}

static void add_binary(struct bench *bench, cl_program program, rdl_parcel *answer) {
  size_t size = 0;
  unsigned char *binary = bench->request.wants_binary ? binary_of(bench, program, &size) : NULL;
  if (binary && is_of_use(bench, binary, size))
    rdl__parcel_add(answer, binary, size);
  else
    rdl__parcel_add_text(answer, "");
  free(binary);
}

static rdl_status try_text(struct bench *bench, rdl_parcel *answer, rdl_reason *why) {
  const rdl_cl *cl = bench->cl;
  const char *source = bench->request.source;
  const size_t length = bench->request.length;
  cl_program program = NULL;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      RDL_CL_MAKE(why, code, program,
                  cl->clCreateProgramWithSource(bench->context, 1, &source, &length, &code));
  if (status != RDL_OK) return status;
  status = build(bench, program, why);
  add_log(bench, program, answer);
  if (status == RDL_OK) status = launch(bench, program, why);
  if (status == RDL_OK) add_binary(bench, program, answer);
  (void)cl->clReleaseProgram(program);
  return status;
}

rdl_status rdl__cl_do_build(const rdl_cl *cl, cl_device_id device, rdl_parcel_reader *request,
                            rdl_parcel *answer, rdl_reason *why) {
  struct bench bench = {.cl = cl, .device = device};
  rdl_status status;
  rdl__cl_build_request_take(request, &bench.request);
  if (request->failed) return RDL_INTERNAL;
  status = set_up(&bench, why);
  if (status != RDL_OK)
    rdl__reason_append(why,
                       " That was in a process of its own, in which the driver shall compile: the "
                       "device has to let in a second process.");
  if (status == RDL_OK) status = try_text(&bench, answer, why);
  if (bench.heap) (void)cl->clReleaseMemObject(bench.heap);
  if (bench.queue) (void)cl->clReleaseCommandQueue(bench.queue);
  if (bench.context) (void)cl->clReleaseContext(bench.context);
  return status;
}
