/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to a kernel: the cache, the driver's compiler in a process of its own, and the program.
 *
 * A text that the cache does not know is first built, and launched once, by the helper (helper.h).
 * Only then it comes near the driver in this process, as a binary or as the same text. What the
 * cache keeps is the binary, or a mark that the text has been built well: the next process builds
 * it without a helper.
 *
 * Binaries of CPU devices are not kept. PoCL has a cache of its own, and compiles for the size of a
 * work-group when a kernel is first launched. A binary that is asked for after the build holds
 * another form that no launch uses, and making it compiles the whole text once more: with PoCL 3.1
 * on two cores a new text then takes 3.3 s to its first launch instead of 2.1 s, and saves 0.1 s of
 * 0.14 s in every later process.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/common/clock.h"
#include "backends/common/compile_log.h"
#include "backends/common/join.h"
#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/helper.h"
#include "backends/opencl/jobs.h"
#include "backends/opencl/status.h"
#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

#define KERNEL   "rdl_launch"
#define SEGMENTS "rdl_segments"

static rdl_cache_key key_of(const rdl_backend_device *device, const rdl_image_text *text) {
  return (rdl_cache_key){.backend = "opencl",
                         .text_hash = text->hash,
                         .options = device->options,
                         .device = device->name,
                         .compiler = device->compiler};
}

/* ---- cache ---- */

/* Stands in the place of a binary: the text has been built well, and there is no binary. */
static const char mark[] = "raddle: built well";

static int is_mark(const void *bytes, size_t size) {
  return size == sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}

static void store(rdl_backend_device *device, const rdl_image_text *text, const void *bytes,
                  size_t size) {
  rdl_cache_key key = key_of(device, text);
  (void)rdl__cache_store(&device->cache, &key, bytes, size, NULL);
}

/* ---- binaries ---- */

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

char *rdl__cl_build_log(const rdl_cl *cl, cl_device_id device, cl_program program) {
  size_t size = 0;
  char *log = NULL;
  if (cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) ==
      CL_SUCCESS)
    log = calloc(1, size + 1);
  if (log) (void)cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  return log;
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
  if (status == RDL_COMPILE) {
    char *log = rdl__cl_build_log(cl, device->id, program);
    (void)rdl__compile_log(log ? log : "", joined, why);
    free(log);
  }
  if (status == RDL_OK)
    *out_program = program;
  else
    (void)cl->clReleaseProgram(program);
  return status;
}

/* ---- image ---- */

static rdl_status make_kernels(rdl_backend_device *device, rdl_backend_image *image,
                               rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      RDL_CL_MAKE(why, code, image->kernel, cl->clCreateKernel(image->program, KERNEL, &code));
  if (status == RDL_OK && device->loop_budget) /* what is no image has only the first */
    image->segments = cl->clCreateKernel(image->program, SEGMENTS, &code);
  return status;
}

static void release_kernels(rdl_backend_device *device, rdl_backend_image *image) {
  if (image->kernel) (void)device->cl->clReleaseKernel(image->kernel);
  if (image->segments) (void)device->cl->clReleaseKernel(image->segments);
  image->kernel = image->segments = NULL;
}

rdl_status rdl__cl_renew_kernel(rdl_backend_device *device, rdl_backend_image *image,
                                rdl_reason *why) {
  release_kernels(device, image);
  return make_kernels(device, image, why);
}

static void forget(rdl_backend_device *device, rdl_backend_image *image) {
  release_kernels(device, image);
  if (image->program) (void)device->cl->clReleaseProgram(image->program);
  memset(image, 0, sizeof *image);
}

static rdl_status from_text(rdl_backend_device *device, const rdl_joined *joined,
                            rdl_backend_image *image, rdl_reason *why) {
  rdl_status status = compile(device, joined, &image->program, why);
  return status == RDL_OK ? make_kernels(device, image, why) : status;
}

static int from_binary(rdl_backend_device *device, const unsigned char *binary, size_t size,
                       rdl_backend_image *image) {
  image->program = program_of(device, binary, size);
  if (image->program && make_kernels(device, image, NULL) == RDL_OK) return 1;
  forget(device, image);
  return 0;
}

/* ---- in a process of its own ---- */

static rdl_status ask_helper(rdl_backend_device *device, const rdl_joined *joined, int wants_binary,
                             rdl_cl_answer *out_answer, rdl_reason *why) {
  const rdl_cl_build_request request = {.options = device->options,
                                        .source = joined->text,
                                        .length = joined->length,
                                        .kernel = KERNEL,
                                        .other = device->loop_budget ? SEGMENTS : "",
                                        .local_size = device->lanes,
                                        .purpose = RDL_LAUNCH_NOTHING,
                                        .wants_binary = (uint64_t)wants_binary};
  rdl_parcel parcel = {.bytes = NULL};
  rdl_cl_identity identity;
  rdl_status status;
  rdl__cl_identify(device->cl, device->id, &identity);
  rdl__cl_build_request_add(&parcel, &request);
  status = rdl__cl_helper_run(&identity, "build", &parcel, 0, device->stop, out_answer, why);
  rdl__parcel_free(&parcel);
  return status;
}

/* `out_answer` is to be freed in every case; on success its next field is the binary. A driver that
 * crashes over its own binary may take the text all the same. */
static rdl_status try_text(rdl_backend_device *device, const rdl_joined *joined,
                           rdl_cl_answer *out_answer, rdl_reason *why) {
  int wants_binary = device->keeps_binaries && device->cache.folder[0];
  rdl_status status = ask_helper(device, joined, wants_binary, out_answer, why);
  if (status == RDL_COMPILE && wants_binary && !out_answer->body.at && !out_answer->passing) {
    rdl__cl_answer_free(out_answer);
    status = ask_helper(device, joined, 0, out_answer, why);
  }
  if (out_answer->body.at) {
    const char *log = rdl__parcel_take(&out_answer->body, NULL);
    if (status == RDL_COMPILE && *log) status = rdl__compile_log(log, joined, why);
  }
  return status;
}

static rdl_status build_new(rdl_backend_device *device, const rdl_image_text *text,
                            const rdl_joined *joined, rdl_backend_image *image, rdl_reason *why) {
  rdl_cl_answer answer = {.bytes = NULL};
  rdl_status status = try_text(device, joined, &answer, why);
  if (status == RDL_OK) {
    size_t size;
    const void *binary = rdl__parcel_take(&answer.body, &size);
    if (size && from_binary(device, binary, size, image)) {
      store(device, text, binary, size);
    } else {
      store(device, text, mark, sizeof mark);
      status = from_text(device, joined, image, why);
    }
  }
  rdl__cl_answer_free(&answer);
  return status;
}

/* ---- build ---- */

static rdl_status build_joined(rdl_backend_device *device, const rdl_image_text *text,
                               rdl_backend_image *image, int is_known, rdl_reason *why) {
  rdl_joined joined;
  rdl_status status = rdl__join(text, &joined, why);
  if (status != RDL_OK) return status;
  if (is_known)
    status = from_text(device, &joined, image, why);
  else
    status = build_new(device, text, &joined, image, why);
  rdl__join_free(&joined);
  return status;
}

static rdl_status build(rdl_backend_device *device, const rdl_image_text *text,
                        rdl_backend_image *image, rdl_reason *why) {
  rdl_cache_key key = key_of(device, text);
  rdl_cache_entry entry = {.image = NULL};
  int is_known = 0, is_done = 0;
  if (rdl__cache_load(&device->cache, &key, &entry)) {
    is_known = is_mark(entry.image, entry.size);
    if (!is_known) is_done = from_binary(device, entry.image, entry.size, image);
    free(entry.image);
  }
  return is_done ? RDL_OK : build_joined(device, text, image, is_known, why);
}

rdl_status rdl__cl_build(rdl_backend_device *device, const rdl_image_text *text,
                         rdl_backend_image **out_image, rdl_reason *why) {
  rdl_status status;
  rdl_backend_image *image = calloc(1, sizeof *image);
  if (!image) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for an image.");
  status = build(device, text, image, why);
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

/* ---- the processor of a CPU device ---- */

#if defined(__x86_64__)

/* 'y' or 'n', or 0 when there is nobody to ask, or no time. */
static char try_counter(rdl_backend_device *device, const rdl_image_text *text) {
  rdl_cl_answer answer = {.bytes = NULL};
  rdl_joined joined;
  rdl_status status = rdl__join(text, &joined, NULL);
  if (status != RDL_OK) return 0;
  status = try_text(device, &joined, &answer, NULL);
  if (status == RDL_COMPILE && answer.passing) status = RDL_TIMEOUT;
  rdl__cl_answer_free(&answer);
  rdl__join_free(&joined);
  if (status == RDL_OK) return 'y';
  return status == RDL_COMPILE ? 'n' : 0;
}

static int counter_compiles(rdl_backend_device *device) {
  static const char probe[] = "__kernel void rdl_launch(__global ulong *heap, uint purpose)\n"
                              "{\n"
                              "  heap[0] = (ulong)__builtin_readcyclecounter() + purpose;\n"
                              "  __asm__ volatile(\"pause\");\n"
                              "}\n";
  rdl_text_piece piece = {
      .name = "clock", .text = probe, .length = sizeof probe - 1, .first_line = 1};
  rdl_image_text text = {.pieces = &piece, .count = 1, .hash = "clock probe 2"};
  rdl_cache_key key = key_of(device, &text);
  rdl_cache_entry entry;
  char answer;
  if (rdl__cache_load(&device->cache, &key, &entry)) {
    answer = (char)entry.image[0];
    free(entry.image);
    return answer == 'y';
  }
  answer = try_counter(device, &text);
  if (answer) store(device, &text, &answer, sizeof answer);
  return answer == 'y';
}

int rdl__cl_takes_processor(rdl_backend_device *device) {
  return device->is_cpu && counter_compiles(device);
}

#else

int rdl__cl_takes_processor(rdl_backend_device *device) {
  (void)device;
  return 0;
}

#endif
