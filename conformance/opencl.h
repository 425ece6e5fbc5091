/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL as a program uses it beside Raddle, for the cases about that. They know of it only what
 * stands here, so that the suite builds without its headers. */
#ifndef RDL_CONFORMANCE_OPENCL_H
#define RDL_CONFORMANCE_OPENCL_H

#include <stddef.h>
#include <stdint.h>

#include "conformance/harness.h"

typedef void *cl_object;
typedef int32_t cl_code;

#define CL_CONTEXT_REFERENCE_COUNT_ 0x1080u
#define CL_DEVICE_ALIGN_BITS_       0x1019u /* MEM_BASE_ADDR_ALIGN */
#define CL_DEVICE_SVM_              0x1053u
#define CL_MEM_REFERENCE_COUNT_     0x1105u
#define CL_MEM_READ_WRITE_          1ull
#define CL_MEM_READ_ONLY_           4ull
#define CL_MEM_USE_HOST_PTR_        8ull
#define CL_MEM_ALLOC_HOST_PTR_      16ull
#define CL_MEM_SVM_FINE_            1024ull
#define CL_SVM_COARSE_              1ull
#define CL_SVM_FINE_                2ull
#define CL_MAP_READ_                1ull
#define CL_MAP_WRITE_               2ull
#define CL_REGION_                  0x1220u

/* X(result, name, parameters) */
#define CL_FUNCTIONS(X)                                                                            \
  X(cl_code, clGetDeviceInfo, (cl_object, uint32_t, size_t, void *, size_t *))                     \
  X(cl_object, clCreateContext,                                                                    \
    (const intptr_t *, uint32_t, const cl_object *, void *, void *, cl_code *))                    \
  X(cl_code, clGetContextInfo, (cl_object, uint32_t, size_t, void *, size_t *))                    \
  X(cl_code, clReleaseContext, (cl_object))                                                        \
  X(cl_object, clCreateCommandQueue, (cl_object, cl_object, uint64_t, cl_code *))                  \
  X(cl_code, clReleaseCommandQueue, (cl_object))                                                   \
  X(cl_object, clCreateProgramWithSource,                                                          \
    (cl_object, uint32_t, const char **, const size_t *, cl_code *))                               \
  X(cl_code, clBuildProgram,                                                                       \
    (cl_object, uint32_t, const cl_object *, const char *, void *, void *))                        \
  X(cl_object, clCreateKernel, (cl_object, const char *, cl_code *))                               \
  X(cl_object, clCreateBuffer, (cl_object, uint64_t, size_t, void *, cl_code *))                   \
  X(cl_object, clCreateSubBuffer, (cl_object, uint64_t, uint32_t, const size_t *, cl_code *))      \
  X(cl_object, clCreateImage2D,                                                                    \
    (cl_object, uint64_t, const uint32_t *, size_t, size_t, size_t, void *, cl_code *))            \
  X(cl_code, clGetMemObjectInfo, (cl_object, uint32_t, size_t, void *, size_t *))                  \
  X(cl_code, clReleaseMemObject, (cl_object))                                                      \
  X(void *, clSVMAlloc, (cl_object, uint64_t, size_t, uint32_t))                                   \
  X(void, clSVMFree, (cl_object, void *))                                                          \
  X(cl_code, clEnqueueSVMMap,                                                                      \
    (cl_object, uint32_t, uint64_t, void *, size_t, uint32_t, const cl_object *, cl_object *))     \
  X(cl_code, clEnqueueSVMUnmap, (cl_object, void *, uint32_t, const cl_object *, cl_object *))     \
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
  X(cl_code, clFinish, (cl_object))

typedef struct opencl_functions {
#define CL_POINTER(result, name, parameters) result(*name) parameters;
  CL_FUNCTIONS(CL_POINTER)
#undef CL_POINTER
} opencl_functions;

/* The functions; after opencl_open. */
extern opencl_functions cl;

/* A program's own objects on a device. */
typedef struct opencl_program {
  cl_object device, context, queue;
} opencl_program;

/* On the device `native` of an rdl_device_info. Fails the case when something is missing. */
opencl_program opencl_open(void *native);
void opencl_close(opencl_program *p);

/* A kernel of one text, built for the program's device. */
cl_object opencl_kernel(const opencl_program *p, const char *text, const char *name);

/* What the driver says of the device; 0 for what it does not know. */
uint64_t opencl_number(const opencl_program *p, uint32_t what);

/* How often an object is held. Drivers give back what a command held some time after it is over:
 * the checks wait for the number. */
uint32_t opencl_memory_references(cl_object buffer);
uint32_t opencl_context_references(cl_object context);
void check_memory_references(cl_object buffer, uint32_t expected);
void check_context_references(cl_object context, uint32_t expected);

#endif
