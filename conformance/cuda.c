/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

cuda_functions cu;

typedef int (*lookup)(const char *, void **, int, uint64_t, int *);

static void load(void) {
  const char *named = getenv("RADDLE_CUDA_DRIVER");
  void *library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  lookup look = NULL;
  int found = 0;
  CHECK(library);
  *(void **)&look = dlsym(library, "cuGetProcAddress_v2");
  CHECK(look);
#define CU_LOAD(name, version, parameters)                                                         \
  (void)look(#name, (void **)&cu.name, version, 1, &found);                                        \
  CHECK(cu.name);
  CU_FUNCTIONS(CU_LOAD)
#undef CU_LOAD
  CHECK_EQ(0, cu.cuInit(0));
}

static cuda_program on_device(const char *selector) {
  const char *number = strchr(selector, ':');
  cuda_program p = {0, NULL, false};
  load();
  CHECK_EQ(0, cu.cuDeviceGet(&p.device, number ? atoi(number + 1) : 0));
  return p;
}

cuda_program cuda_open(const char *selector) {
  cuda_program p = on_device(selector);
  CHECK_EQ(0, cu.cuCtxCreate(&p.context, 0, p.device));
  cuda_leave();
  return p;
}

cuda_program cuda_open_primary(const char *selector) {
  cuda_program p = on_device(selector);
  CHECK_EQ(0, cu.cuDevicePrimaryCtxRetain(&p.context, p.device));
  p.is_primary = true;
  return p;
}

void cuda_close(cuda_program *p) {
  CHECK_EQ(0,
           p->is_primary ? cu.cuDevicePrimaryCtxRelease(p->device) : cu.cuCtxDestroy(p->context));
}

void cuda_enter(const cuda_program *p) {
  CHECK_EQ(0, cu.cuCtxPushCurrent(p->context));
}

void cuda_leave(void) {
  cu_object popped;
  CHECK_EQ(0, cu.cuCtxPopCurrent(&popped));
}

/* A copy from pageable memory may be under way when its call returns. */
void cuda_write(const cuda_program *p, cu_pointer to, const void *from, size_t bytes) {
  cuda_enter(p);
  CHECK_EQ(0, cu.cuMemcpyHtoD(to, from, bytes));
  CHECK_EQ(0, cu.cuStreamSynchronize(NULL));
  cuda_leave();
}

void cuda_read(const cuda_program *p, void *to, cu_pointer from, size_t bytes) {
  cuda_enter(p);
  CHECK_EQ(0, cu.cuMemcpyDtoH(to, from, bytes));
  cuda_leave();
}
