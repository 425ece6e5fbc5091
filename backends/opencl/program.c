/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to a kernel: the cache, the driver's compiler, and the program's binary.
 *
 * Binaries of CPU devices are not kept. PoCL has a cache of its own, and compiles for the size of a
 * work-group when a kernel is first launched. A binary that is asked for after the build holds
 * another form that no launch uses, and making it compiles the whole text once more: with PoCL 3.1
 * on two cores a new text then takes 3.3 s to its first launch instead of 2.1 s, and saves 0.1 s of
 * 0.14 s in every later process.
 *
 * A driver's compiler may write to standard error ("1 error generated."). That cannot be kept out
 * without taking the stream away from the program's other threads.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/common/clock.h"
#include "backends/common/compile_log.h"
#include "backends/common/join.h"
#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/status.h"

#define PLAIN_OPTIONS "-cl-std=CL3.0"
#define CLOCK_OPTIONS "-cl-std=CL3.0 -DRDL_CLOCK -DRDL_X86"

static rdl_cache_key key_of(const rdl_backend_device *device, const rdl_image_text *text) {
  return (rdl_cache_key){.backend = "opencl",
                         .text_hash = text->hash,
                         .options = device->options,
                         .device = device->name,
                         .compiler = device->compiler};
}

/* ---- binaries ---- */

/* The program's binary, to be freed; NULL when the driver gives none. */
static unsigned char *binary_of(rdl_backend_device *device, cl_program program, size_t *out_size) {
  const rdl_cl *cl = device->cl;
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

static void store_binary(rdl_backend_device *device, const rdl_image_text *text,
                         cl_program program) {
  rdl_cache_key key = key_of(device, text);
  size_t size = 0;
  unsigned char *binary = NULL;
  if (device->keeps_binaries && device->cache.folder[0]) binary = binary_of(device, program, &size);
  if (binary) (void)rdl__cache_store(&device->cache, &key, binary, size, NULL);
  free(binary);
}

/* A program from its binary, or NULL: a driver may refuse what it wrote itself. */
static cl_program program_of(rdl_backend_device *device, const unsigned char *binary, size_t size) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS, accepted = CL_SUCCESS;
  cl_program program = cl->clCreateProgramWithBinary(device->context, 1, &device->id, &size,
                                                     &binary, &accepted, &code);
  if (code != CL_SUCCESS || !program) return NULL;
  if (accepted == CL_SUCCESS &&
      cl->clBuildProgram(program, 1, &device->id, device->options, NULL, NULL) == CL_SUCCESS)
    return program;
  (void)cl->clReleaseProgram(program);
  return NULL;
}

/* ---- text ---- */

static rdl_status explain(rdl_backend_device *device, cl_program program, const rdl_joined *joined,
                          rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  size_t size = 0;
  char *log = NULL;
  if (cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) ==
      CL_SUCCESS)
    log = calloc(1, size + 1);
  if (log)
    (void)cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  (void)rdl__compile_log(log ? log : "", joined, why);
  free(log);
  return RDL_COMPILE;
}

static rdl_status compile(rdl_backend_device *device, const rdl_joined *joined,
                          cl_program *out_program, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  const char *source = joined->text;
  cl_program program = NULL;
  cl_int code = CL_SUCCESS;
  rdl_status status = RDL_CL_MAKE(
      why, code, program,
      cl->clCreateProgramWithSource(device->context, 1, &source, &joined->length, &code));
  if (status != RDL_OK) return status;
  status = RDL_CL(why, cl->clBuildProgram(program, 1, &device->id, device->options, NULL, NULL));
  if (status == RDL_COMPILE) status = explain(device, program, joined, why);
  if (status == RDL_OK)
    *out_program = program;
  else
    (void)cl->clReleaseProgram(program);
  return status;
}

static rdl_status compile_text(rdl_backend_device *device, const rdl_image_text *text,
                               cl_program *out_program, rdl_reason *why) {
  rdl_joined joined;
  rdl_status status = rdl__join(text, &joined, why);
  if (status != RDL_OK) return status;
  status = compile(device, &joined, out_program, why);
  rdl__join_free(&joined);
  return status;
}

/* ---- image ---- */

static rdl_status make_kernel(rdl_backend_device *device, cl_program program, cl_kernel *out_kernel,
                              rdl_reason *why) {
  cl_int code = CL_SUCCESS;
  return RDL_CL_MAKE(why, code, *out_kernel,
                     device->cl->clCreateKernel(program, "rdl_launch", &code));
}

static int load_cached(rdl_backend_device *device, const rdl_image_text *text,
                       rdl_backend_image *image) {
  rdl_cache_key key = key_of(device, text);
  rdl_cache_entry entry;
  if (!device->keeps_binaries || !rdl__cache_load(&device->cache, &key, &entry)) return 0;
  image->program = program_of(device, entry.image, entry.size);
  free(entry.image);
  return image->program && make_kernel(device, image->program, &image->kernel, NULL) == RDL_OK;
}

static void forget(rdl_backend_device *device, rdl_backend_image *image) {
  if (image->kernel) (void)device->cl->clReleaseKernel(image->kernel);
  if (image->program) (void)device->cl->clReleaseProgram(image->program);
  memset(image, 0, sizeof *image);
}

static rdl_status build_new(rdl_backend_device *device, const rdl_image_text *text,
                            rdl_backend_image *image, rdl_reason *why) {
  rdl_status status = compile_text(device, text, &image->program, why);
  if (status == RDL_OK) status = make_kernel(device, image->program, &image->kernel, why);
  if (status == RDL_OK) store_binary(device, text, image->program);
  return status;
}

rdl_status rdl__cl_build(rdl_backend_device *device, const rdl_image_text *text,
                         rdl_backend_image **out_image, rdl_reason *why) {
  rdl_status status = RDL_OK;
  rdl_backend_image *image = calloc(1, sizeof *image);
  if (!image) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for an image.");
  if (!load_cached(device, text, image)) {
    forget(device, image);
    status = build_new(device, text, image, why);
  }
  if (status == RDL_OK)
    *out_image = image;
  else
    rdl__cl_discard(device, image);
  return status;
}

void rdl__cl_discard(rdl_backend_device *device, rdl_backend_image *image) {
  if (!image) return;
  forget(device, image);
  free(image);
}

/* ---- clock ---- */

#if defined(__x86_64__)

static int counter_compiles(rdl_backend_device *device) {
  static const char probe[] = "__kernel void rdl_launch(__global ulong *heap, uint purpose)\n"
                              "{\n"
                              "  heap[purpose] = (ulong)__builtin_readcyclecounter();\n"
                              "  __asm__ volatile(\"pause\");\n"
                              "}\n";
  rdl_text_piece piece = {
      .name = "clock", .text = probe, .length = sizeof probe - 1, .first_line = 1};
  rdl_image_text text = {.pieces = &piece, .count = 1, .hash = "clock probe 1"};
  rdl_cache_key key = key_of(device, &text);
  rdl_cache_entry entry;
  rdl_backend_image *image = NULL;
  char answer = 'n';
  if (rdl__cache_load(&device->cache, &key, &entry)) {
    answer = (char)entry.image[0];
    free(entry.image);
    return answer == 'y';
  }
  if (rdl__cl_build(device, &text, &image, NULL) == RDL_OK) answer = 'y';
  rdl__cl_discard(device, image);
  (void)rdl__cache_store(&device->cache, &key, &answer, sizeof answer, NULL);
  return answer == 'y';
}

/* A CPU device runs on this machine's processors, so its counter is the one that the host reads.
 * Whether its compiler takes the two words is tried once; the answer is kept in the cache. */
void rdl__cl_choose_options(rdl_backend_device *device) {
  device->options = CLOCK_OPTIONS;
  if (device->is_cpu && counter_compiles(device))
    device->clock_hz = rdl__counter_hz();
  else
    device->options = PLAIN_OPTIONS;
}

#else

void rdl__cl_choose_options(rdl_backend_device *device) {
  device->options = PLAIN_OPTIONS;
}

#endif
