/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL driver with one device and a compiler that does what the text says, once for each
 * "@STAGE:FAULT" in it.
 *
 *   STAGE  build (clBuildProgram of a text), kernel (clCreateKernel), launch (the first enqueue),
 *          binary (clBuildProgram of a binary)
 *   FAULT  abort, segv, hang, exit (with 3), kill, flood (1 MiB on standard error and on standard
 *          output, and goes on), fail (a build log of 2 MiB whose first line is "<kernel>:4:9:
 *          error: fake"), refuse (an error code without a log)
 *
 * Binaries are the text. A text with "@nobinary" has none.
 */
#include <CL/cl_icd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static cl_icd_dispatch table;

/* The loader finds the table at the front of every object. */
struct _cl_platform_id {
  const cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
  const cl_icd_dispatch *dispatch;
};
struct object {
  const cl_icd_dispatch *dispatch;
};
struct _cl_program {
  const cl_icd_dispatch *dispatch;
  char *text;
  int from_binary;
  int failed;
};
struct _cl_kernel {
  const cl_icd_dispatch *dispatch;
  cl_program program;
};

static struct _cl_platform_id the_platform = {&table};
static struct _cl_device_id the_device = {&table};

/* ---- faults ---- */

static int is_asked(const char *text, const char *stage, const char *fault) {
  const size_t stage_length = strlen(stage), fault_length = strlen(fault);
  for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
    if (strncmp(at + 1, stage, stage_length) == 0 && at[1 + stage_length] == ':' &&
        strncmp(at + 2 + stage_length, fault, fault_length) == 0)
      return 1;
  return 0;
}

static void write_all(int file, char *bytes, size_t size) {
  while (size) {
    ssize_t put = write(file, bytes, size);
    if (put <= 0) _exit(9);
    size -= (size_t)put;
    bytes += put;
  }
}

static void flood(void) {
  static char line[1 << 20];
  for (int file = STDOUT_FILENO; file <= STDERR_FILENO; file++) {
    memset(line, '.', sizeof line);
    (void)snprintf(line + sizeof line - 10, 10, "\nthe end\n");
    write_all(file, line, sizeof line - 1);
  }
}

static cl_int misbehave(const char *text, const char *stage) {
  if (is_asked(text, stage, "flood")) flood();
  if (is_asked(text, stage, "abort")) abort();
  if (is_asked(text, stage, "segv")) {
    (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler of its own */
    (void)raise(SIGSEGV);
  }
  if (is_asked(text, stage, "kill")) (void)raise(SIGKILL);
  if (is_asked(text, stage, "exit")) exit(3);
  while (is_asked(text, stage, "hang"))
    (void)pause();
  return is_asked(text, stage, "refuse") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

/* ---- questions ---- */

static cl_int give(const void *value, size_t value_size, size_t size, void *out, size_t *out_size) {
  if (out_size) *out_size = value_size;
  if (out && size < value_size) return CL_INVALID_VALUE;
  if (out) memcpy(out, value, value_size);
  return CL_SUCCESS;
}

static cl_int give_text(const char *text, size_t size, void *out, size_t *out_size) {
  return give(text, strlen(text) + 1, size, out, out_size);
}

/* Named as in the header. */
EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                         cl_platform_info param_name,
                                                         size_t param_value_size, void *param_value,
                                                         size_t *param_value_size_ret) {
  const char *text = "Fake";
  (void)platform;
  if (param_name == CL_PLATFORM_NAME) text = "Fake platform";
  if (param_name == CL_PLATFORM_VERSION) text = "OpenCL 1.2 fake";
  if (param_name == CL_PLATFORM_PROFILE) text = "FULL_PROFILE";
  if (param_name == CL_PLATFORM_EXTENSIONS) text = "cl_khr_icd";
  if (param_name == CL_PLATFORM_ICD_SUFFIX_KHR) text = "FAKE";
  return give_text(text, param_value_size, param_value, param_value_size_ret);
}

static cl_int CL_API_CALL list_devices(cl_platform_id id, cl_device_type type, cl_uint capacity,
                                       cl_device_id *out, cl_uint *out_count) {
  (void)id;
  (void)type;
  if (out_count) *out_count = 1;
  if (out && capacity) *out = &the_device;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL describe_device(cl_device_id id, cl_device_info what, size_t size,
                                          void *out, size_t *out_size) {
  cl_platform_id of = &the_platform;
  (void)id;
  switch (what) {
  case CL_DEVICE_PLATFORM:
    return give(&of, sizeof(cl_platform_id), size, out, out_size);
  case CL_DEVICE_NAME:
    return give_text("Fake device", size, out, out_size);
  case CL_DRIVER_VERSION:
    return give_text("13", size, out, out_size);
  default:
    return CL_INVALID_VALUE;
  }
}

/* ---- objects without a life ---- */

static struct object context = {&table}, queue = {&table}, memory = {&table};

static cl_context CL_API_CALL make_context(const cl_context_properties *properties, cl_uint count,
                                           const cl_device_id *devices,
                                           void(CL_CALLBACK *notify)(const char *, const void *,
                                                                     size_t, void *),
                                           void *data, cl_int *code) {
  (void)properties, (void)count, (void)devices, (void)notify, (void)data;
  *code = CL_SUCCESS;
  return (cl_context)&context;
}

static cl_command_queue CL_API_CALL make_queue(cl_context in, cl_device_id on,
                                               cl_command_queue_properties properties,
                                               cl_int *code) {
  (void)in, (void)on, (void)properties;
  *code = CL_SUCCESS;
  return (cl_command_queue)&queue;
}

static cl_mem CL_API_CALL make_buffer(cl_context in, cl_mem_flags flags, size_t size, void *from,
                                      cl_int *code) {
  (void)in, (void)flags, (void)size, (void)from;
  *code = CL_SUCCESS;
  return (cl_mem)&memory;
}

static cl_int CL_API_CALL release_context(cl_context object) {
  (void)object;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue object) {
  (void)object;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_memory(cl_mem object) {
  (void)object;
  return CL_SUCCESS;
}

/* ---- programs ---- */

static cl_program new_program(const char *text, size_t length, int from_binary, cl_int *code) {
  cl_program program = calloc(1, sizeof *program);
  if (program) program->text = calloc(1, length + 1);
  if (!program || !program->text) {
    free(program);
    *code = CL_OUT_OF_HOST_MEMORY;
    return NULL;
  }
  memcpy(program->text, text, length);
  program->dispatch = &table;
  program->from_binary = from_binary;
  *code = CL_SUCCESS;
  return program;
}

static cl_program CL_API_CALL from_source(cl_context in, cl_uint count, const char **texts,
                                          const size_t *lengths, cl_int *code) {
  (void)in, (void)count;
  return new_program(texts[0], lengths[0], 0, code);
}

static cl_program CL_API_CALL from_binary(cl_context in, cl_uint count, const cl_device_id *on,
                                          const size_t *lengths, const unsigned char **binaries,
                                          cl_int *accepted, cl_int *code) {
  (void)in, (void)count, (void)on;
  *accepted = CL_SUCCESS;
  return new_program((const char *)binaries[0], lengths[0], 1, code);
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *on,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *data) {
  const char *stage = program->from_binary ? "binary" : "build";
  cl_int code = misbehave(program->text, stage);
  (void)count, (void)on, (void)options, (void)notify, (void)data;
  program->failed = is_asked(program->text, stage, "fail");
  return program->failed ? CL_BUILD_PROGRAM_FAILURE : code;
}

static cl_int CL_API_CALL describe_build(cl_program program, cl_device_id on,
                                         cl_program_build_info what, size_t size, void *out,
                                         size_t *out_size) {
  static const char first[] = "<kernel>:4:9: error: fake\n";
  static char log[2 << 20];
  (void)on, (void)what;
  if (!program->failed) return give_text("", size, out, out_size);
  memset(log, 'x', sizeof log - 1);
  memcpy(log, first, sizeof first - 1);
  return give_text(log, size, out, out_size);
}

static cl_int CL_API_CALL describe_program(cl_program program, cl_program_info what, size_t size,
                                           void *out, size_t *out_size) {
  size_t length = strstr(program->text, "@nobinary") ? 0 : strlen(program->text);
  if (what == CL_PROGRAM_BINARY_SIZES) return give(&length, sizeof length, size, out, out_size);
  if (what != CL_PROGRAM_BINARIES) return CL_INVALID_VALUE;
  memcpy(*(unsigned char **)out, program->text, length);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_program(cl_program program) {
  free(program->text);
  free(program);
  return CL_SUCCESS;
}

/* ---- kernels ---- */

static cl_kernel CL_API_CALL make_kernel(cl_program program, const char *name, cl_int *code) {
  cl_kernel kernel = NULL;
  *code = misbehave(program->text, "kernel");
  if (*code == CL_SUCCESS && !strstr(program->text, name)) *code = CL_INVALID_KERNEL_NAME;
  if (*code == CL_SUCCESS) kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  kernel->dispatch = &table;
  kernel->program = program;
  return kernel;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value) {
  (void)kernel, (void)index, (void)size, (void)value;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL launch(cl_command_queue on, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint count, const cl_event *after, cl_event *out) {
  (void)on, (void)dimensions, (void)offset, (void)global, (void)local;
  (void)count, (void)after, (void)out;
  return misbehave(kernel->program->text, "launch");
}

static cl_int CL_API_CALL finish(cl_command_queue on) {
  (void)on;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel) {
  free(kernel);
  return CL_SUCCESS;
}

/* ---- what the loader asks for ---- */

static cl_icd_dispatch table = {
    .clGetPlatformInfo = clGetPlatformInfo,
    .clGetDeviceIDs = list_devices,
    .clGetDeviceInfo = describe_device,
    .clCreateContext = make_context,
    .clReleaseContext = release_context,
    .clCreateCommandQueue = make_queue,
    .clReleaseCommandQueue = release_queue,
    .clCreateBuffer = make_buffer,
    .clReleaseMemObject = release_memory,
    .clCreateProgramWithSource = from_source,
    .clCreateProgramWithBinary = from_binary,
    .clReleaseProgram = release_program,
    .clBuildProgram = build,
    .clGetProgramInfo = describe_program,
    .clGetProgramBuildInfo = describe_build,
    .clCreateKernel = make_kernel,
    .clReleaseKernel = release_kernel,
    .clSetKernelArg = set_argument,
    .clEnqueueNDRangeKernel = launch,
    .clFinish = finish,
};

EXPORT CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                              cl_platform_id *platforms,
                                                              cl_uint *num_platforms) {
  if (num_platforms) *num_platforms = 1;
  if (platforms && num_entries) *platforms = &the_platform;
  return CL_SUCCESS;
}

EXPORT CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *func_name) {
  union {
    cl_int(CL_API_CALL *list)(cl_uint, cl_platform_id *, cl_uint *);
    cl_int(CL_API_CALL *describe)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
    void *address;
  } function = {.address = NULL};
  if (strcmp(func_name, "clIcdGetPlatformIDsKHR") == 0) function.list = clIcdGetPlatformIDsKHR;
  if (strcmp(func_name, "clGetPlatformInfo") == 0) function.describe = clGetPlatformInfo;
  return function.address;
}
