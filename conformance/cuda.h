/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA as a program uses it beside Raddle, for the cases about that. They know of it only what
 * stands here, so that the suite builds without its headers. */
#ifndef RDL_CONFORMANCE_CUDA_H
#define RDL_CONFORMANCE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "conformance/harness.h"

typedef void *cu_object;
typedef uint64_t cu_pointer; /* CUdeviceptr */

#define CU_MANAGED_GLOBAL_ 1u

/* X(name, version of CUDA that declares it so, parameters) */
#define CU_FUNCTIONS(X)                                                                            \
  X(cuInit, 2000, (unsigned))                                                                      \
  X(cuDeviceGet, 2000, (int *, int))                                                               \
  X(cuDevicePrimaryCtxRetain, 7000, (cu_object *, int))                                            \
  X(cuDevicePrimaryCtxRelease, 11000, (int))                                                       \
  X(cuCtxCreate, 3020, (cu_object *, unsigned, int))                                               \
  X(cuCtxDestroy, 4000, (cu_object))                                                               \
  X(cuCtxPushCurrent, 4000, (cu_object))                                                           \
  X(cuCtxPopCurrent, 4000, (cu_object *))                                                          \
  X(cuMemAlloc, 3020, (cu_pointer *, size_t))                                                      \
  X(cuMemAllocManaged, 6000, (cu_pointer *, size_t, unsigned))                                     \
  X(cuMemFree, 3020, (cu_pointer))                                                                 \
  X(cuMemHostAlloc, 2020, (void **, size_t, unsigned))                                             \
  X(cuMemFreeHost, 2000, (void *))                                                                 \
  X(cuMemcpyHtoD, 3020, (cu_pointer, const void *, size_t))                                        \
  X(cuMemcpyDtoH, 3020, (void *, cu_pointer, size_t))                                              \
  X(cuMemsetD32, 3020, (cu_pointer, unsigned, size_t))                                             \
  X(cuStreamSynchronize, 2000, (cu_object))

typedef struct cuda_functions {
#define CU_POINTER(name, version, parameters) int(*name) parameters;
  CU_FUNCTIONS(CU_POINTER)
#undef CU_POINTER
} cuda_functions;

/* The functions; after cuda_open. */
extern cuda_functions cu;

/* What a program has of its own on a device. */
typedef struct cuda_program {
  int device;
  cu_object context;
  bool is_primary; /* the context is the one that the CUDA runtime uses, too */
} cuda_program;

/* On the device that a selector names by its number, "cuda:1". Nothing is current afterwards. Fails
 * the case when something is missing. */
cuda_program cuda_open(const char *selector);
cuda_program cuda_open_primary(const char *selector);
void cuda_close(cuda_program *p);

/* Between these two the program's context is current in this thread. */
void cuda_enter(const cuda_program *p);
void cuda_leave(void);

/* Blocking copies: all is there, and has come, when they return. */
void cuda_write(const cuda_program *p, cu_pointer to, const void *from, size_t bytes);
void cuda_read(const cuda_program *p, void *to, cu_pointer from, size_t bytes);

#endif
