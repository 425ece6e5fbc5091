/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/opencl.h"

#include <dlfcn.h>

opencl_functions cl;

static void load(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
#define CL_LOAD(result, name, parameters)                                                          \
  *(void **)&cl.name = dlsym(library, #name);                                                      \
  CHECK(cl.name);
  CL_FUNCTIONS(CL_LOAD)
#undef CL_LOAD
}

opencl_program opencl_open(void *native) {
  opencl_program p = {.device = native};
  cl_code code = 0;
  CHECK(native);
  load();
  p.context = cl.clCreateContext(NULL, 1, &p.device, NULL, NULL, &code);
  CHECK_EQ(0, code);
  p.queue = cl.clCreateCommandQueue(p.context, p.device, 0, &code);
  CHECK_EQ(0, code);
  return p;
}

void opencl_close(opencl_program *p) {
  CHECK_EQ(0, cl.clReleaseCommandQueue(p->queue));
  CHECK_EQ(0, cl.clReleaseContext(p->context));
}

cl_object opencl_kernel(const opencl_program *p, const char *text, const char *name) {
  cl_code code = 0;
  cl_object program = cl.clCreateProgramWithSource(p->context, 1, &text, NULL, &code), kernel;
  CHECK_EQ(0, code);
  CHECK_EQ(0, cl.clBuildProgram(program, 1, &p->device, "", NULL, NULL));
  kernel = cl.clCreateKernel(program, name, &code);
  CHECK_EQ(0, code);
  return kernel;
}

uint64_t opencl_number(const opencl_program *p, uint32_t what) {
  union {
    uint32_t narrow;
    uint64_t wide;
  } value = {.wide = 0};
  size_t size = 0;
  if (cl.clGetDeviceInfo(p->device, what, sizeof value, &value, &size)) return 0;
  return size == sizeof value.narrow ? value.narrow : value.wide;
}

uint32_t opencl_memory_references(cl_object buffer) {
  uint32_t count = 0;
  CHECK_EQ(0, cl.clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT_, sizeof count, &count, NULL));
  return count;
}

uint32_t opencl_context_references(cl_object context) {
  uint32_t count = 0;
  CHECK_EQ(0,
           cl.clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT_, sizeof count, &count, NULL));
  return count;
}

static void check_references(cl_object object, uint32_t expected,
                             uint32_t (*references)(cl_object object)) {
  uint64_t end = now_ns() + PATIENCE_NS;
  while (references(object) != expected && now_ns() < end)
    sleep_ns(50u * US);
  CHECK_EQ(expected, references(object));
}

void check_memory_references(cl_object buffer, uint32_t expected) {
  check_references(buffer, expected, opencl_memory_references);
}

void check_context_references(cl_object context, uint32_t expected) {
  check_references(context, expected, opencl_context_references);
}
