/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of devices that share none with the host: a buffer for the device, and for the host a copy
 * of which no page exists before it is touched. Kernels know memory by its address, which is the
 * same in every launch (a probe has seen to that): a kernel stores it once for each buffer.
 *
 * Between two launches a program may have changed thousands of short places. To transfer each by
 * itself takes microseconds, so they travel together and a kernel puts them where they belong.
 *
 * Any thread may want memory or a transfer, and arguments of a kernel are the kernel's: between
 * another thread's argument and its launch nobody may come. Oclgrind moreover runs what is queued
 * in whoever waits, and aborts or hangs when two do, also on contexts of their own.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/status.h"

/* ---- the kernel that serves this file ---- */

#define SUPPORT_WHERE 0u /* stores the address of its argument in its first 8 bytes */
#define SUPPORT_PATCH 1u /* its argument is a patch, see below */

/* Returns for every other purpose, as an image does. */
static const char support_text[] =
    "__kernel void rdl_launch(__global uchar *heap, uint purpose) {\n"
    "  __global uint *words = (__global uint *)heap;\n"
    "  uint piece, k;\n"
    "  if (purpose == 0u) *(__global ulong *)heap = (ulong)heap;\n"
    "  if (purpose != 1u) return;\n"
    "  for (piece = get_group_id(0); piece < words[0]; piece += get_num_groups(0)) {\n"
    "    __global const uint *head = words + 4u + 4u * piece;\n"
    "    __global uint *to = (__global uint *)((ulong)head[0] | (ulong)head[1] << 32);\n"
    "    for (k = 0; k < head[3]; k++)\n"
    "      to[k] = words[head[2] + k];\n"
    "  }\n"
    "}\n"
    /* The same of memory that must stay as it is; see import.c. */
    "__kernel void rdl_locate(__global uchar *memory, __global ulong *place) {\n"
    "  *place = (ulong)memory;\n"
    "}\n";

rdl_status rdl__cl_support_build(rdl_backend_device *device, rdl_reason *why) {
  rdl_text_piece piece = {.name = "support",
                          .text = support_text,
                          .length = sizeof support_text - 1,
                          .first_line = 1,
                          .own = 1};
  rdl_image_text text = {.pieces = &piece, .count = 1, .hash = "support 2"};
  return rdl__cl_build(device, &text, &device->support, why);
}

static rdl_status run_support(rdl_backend_device *device, cl_mem argument, cl_uint purpose,
                              size_t groups, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_kernel kernel = device->support->kernel;
  const size_t one = 1;
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the handle itself is passed */
  rdl_status status = RDL_CL(why, cl->clSetKernelArg(kernel, 0, sizeof argument, &argument));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clSetKernelArg(kernel, 1, sizeof purpose, &purpose));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &groups, &one,
                                                    0, NULL, NULL));
  return status;
}

/* ---- blocks ---- */

/* Sizes of buffers are multiples of this, so that they can be filled with large patterns. */
#define ROUND 128u

rdl_cl_block *rdl__cl_block_of(const void *memory) {
  return (rdl_cl_block *)(void *)((unsigned char *)(uintptr_t)memory - RDL_CL_FRONT);
}

void *rdl__cl_block_map(const rdl_cl_block *block, rdl_reason *why) {
  unsigned char *front = mmap(NULL, block->whole, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (front == MAP_FAILED) {
    (void)rdl__fail(RDL_OUT_OF_MEMORY, why, "The host has no %zu bytes of memory to give.",
                    block->whole - RDL_CL_FRONT);
    return NULL;
  }
  *(rdl_cl_block *)(void *)front = *block;
  return front + RDL_CL_FRONT;
}

void rdl__cl_block_unmap(void *memory) {
  rdl_cl_block *block = rdl__cl_block_of(memory);
  (void)munmap(block, block->whole);
}

static rdl_status make_buffer(rdl_backend_device *device, size_t bytes, cl_mem *out_buffer,
                              rdl_reason *why) {
  static const unsigned char zeros[ROUND];
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      RDL_CL_MAKE(why, code, *out_buffer,
                  cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueFillBuffer(device->queue, *out_buffer, zeros, sizeof zeros, 0,
                                                 bytes, 0, NULL, NULL));
  return status;
}

/* The address stands in the first bytes for a moment, which are zero again afterwards. */
static rdl_status find_address(rdl_backend_device *device, cl_mem buffer, uint64_t *out_address,
                               rdl_reason *why) {
  static const cl_ulong zero;
  const rdl_cl *cl = device->cl;
  cl_ulong address = 0;
  rdl_status status = run_support(device, buffer, SUPPORT_WHERE, 1, why);
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueReadBuffer(device->queue, buffer, CL_TRUE, 0, sizeof address,
                                                 &address, 0, NULL, NULL));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueWriteBuffer(device->queue, buffer, CL_TRUE, 0, sizeof zero,
                                                  &zero, 0, NULL, NULL));
  if (status == RDL_OK && !address)
    status = rdl__fail(RDL_UNSUPPORTED, why, "The device gave no address for a buffer.");
  *out_address = address;
  return status;
}

static rdl_status make_device_side(rdl_backend_device *device, size_t rounded, rdl_cl_block *block,
                                   rdl_reason *why) {
  rdl_status status;
  (void)pthread_mutex_lock(device->apart);
  status = make_buffer(device, rounded, &block->buffer, why);
  if (status == RDL_OK) status = find_address(device, block->buffer, &block->address, why);
  if (status != RDL_OK && block->buffer) (void)device->cl->clReleaseMemObject(block->buffer);
  (void)pthread_mutex_unlock(device->apart);
  return status;
}

rdl_status rdl__cl_apart_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                                  rdl_reason *why) {
  const rdl_cl_block block = {.whole = bytes + RDL_CL_FRONT};
  size_t rounded = bytes ? (bytes + ROUND - 1u) / ROUND * ROUND : ROUND;
  rdl_status status;
  void *memory;
  if (bytes > device->max_allocation || block.whole < bytes)
    return rdl__fail(RDL_OUT_OF_MEMORY, why,
                     "%zu bytes are more than the device gives at once, which is %llu.", bytes,
                     (unsigned long long)device->max_allocation);
  memory = rdl__cl_block_map(&block, why);
  if (!memory) return RDL_OUT_OF_MEMORY;
  status = make_device_side(device, rounded, rdl__cl_block_of(memory), why);
  if (status == RDL_OK)
    *out_memory = memory;
  else
    rdl__cl_block_unmap(memory);
  return status;
}

void rdl__cl_apart_release(rdl_backend_device *device, void *memory) {
  if (!memory) return;
  (void)pthread_mutex_lock(device->apart);
  (void)device->cl->clReleaseMemObject(rdl__cl_block_of(memory)->buffer);
  (void)pthread_mutex_unlock(device->apart);
  rdl__cl_block_unmap(memory);
}

/* ---- transfers ---- */

/* A patch: how many pieces, three words of nothing, four words a piece (its address, where its
 * words begin in the patch, how many they are), then the words. */
#define HEAD_WORDS 4u

/* Few transfers, and long ones, travel by themselves. */
#define FEW         8u
#define LONG_BYTES  2048u
#define MOST_GROUPS 256u

static int fits_patch(const rdl_transfer *t) {
  return t->bytes <= LONG_BYTES && t->bytes % 4u == 0 && t->offset % 4u == 0;
}

/* What is under way uses the caller's memory: it is over before he is told, also of a failure. */
static rdl_status finish(rdl_backend_device *device, rdl_status status, rdl_reason *why) {
  if (status == RDL_OK) return RDL_CL(why, device->cl->clFinish(device->queue));
  (void)device->cl->clFinish(device->queue);
  return status;
}

/* Memory of the program's may be SVM, see import.c. */
static rdl_status write_one(rdl_backend_device *device, const rdl_transfer *t, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  const rdl_cl_block *block = rdl__cl_block_of(t->memory);
  if (block->svm)
    return RDL_CL(why, cl->clEnqueueSVMMemcpy(device->queue, CL_FALSE,
                                              (unsigned char *)block->svm + t->offset, t->host,
                                              t->bytes, 0, NULL, NULL));
  return RDL_CL(why, cl->clEnqueueWriteBuffer(device->queue, block->buffer, CL_FALSE, t->offset,
                                              t->bytes, t->host, 0, NULL, NULL));
}

static rdl_status read_one(rdl_backend_device *device, const rdl_transfer *t, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  const rdl_cl_block *block = rdl__cl_block_of(t->memory);
  if (block->svm)
    return RDL_CL(why, cl->clEnqueueSVMMemcpy(device->queue, CL_FALSE, t->host,
                                              (unsigned char *)block->svm + t->offset, t->bytes, 0,
                                              NULL, NULL));
  return RDL_CL(why, cl->clEnqueueReadBuffer(device->queue, block->buffer, CL_FALSE, t->offset,
                                             t->bytes, t->host, 0, NULL, NULL));
}

static size_t patch_words(const rdl_transfer *transfers, size_t count, size_t *out_pieces) {
  size_t words = HEAD_WORDS;
  *out_pieces = 0;
  for (size_t k = 0; k < count; k++) {
    if (!fits_patch(&transfers[k])) continue;
    words += HEAD_WORDS + transfers[k].bytes / 4u;
    ++*out_pieces;
  }
  return words;
}

static void pack(uint32_t *patch, const rdl_transfer *transfers, size_t count, size_t pieces) {
  uint32_t *head = patch + HEAD_WORDS;
  uint32_t at = (uint32_t)(HEAD_WORDS + HEAD_WORDS * pieces);
  memset(patch, 0, HEAD_WORDS * sizeof *patch);
  patch[0] = (uint32_t)pieces;
  for (size_t k = 0; k < count; k++) {
    const rdl_transfer *t = &transfers[k];
    uint64_t address;
    if (!fits_patch(t)) continue;
    address = rdl__cl_block_of(t->memory)->address + t->offset;
    head[0] = (uint32_t)address;
    head[1] = (uint32_t)(address >> 32);
    head[2] = at;
    head[3] = (uint32_t)(t->bytes / 4u);
    memcpy(patch + at, t->host, t->bytes);
    at += head[3];
    head += HEAD_WORDS;
  }
}

/* Room for a patch on both sides. */
static rdl_status make_patch(rdl_backend_device *device, size_t words, rdl_reason *why) {
  rdl_cl_patch *patch = &device->patch;
  size_t room = 2u * words;
  rdl_status status;
  if (words <= patch->room) return RDL_OK;
  rdl__cl_patch_free(device);
  patch->words = malloc(room * sizeof *patch->words);
  if (!patch->words)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The host has no memory for %zu changed words.",
                     words);
  status =
      make_buffer(device, (room * sizeof *patch->words / ROUND + 1u) * ROUND, &patch->buffer, why);
  if (status == RDL_OK) patch->room = room;
  return status;
}

void rdl__cl_patch_free(rdl_backend_device *device) {
  if (device->patch.buffer) (void)device->cl->clReleaseMemObject(device->patch.buffer);
  free(device->patch.words);
  memset(&device->patch, 0, sizeof device->patch);
}

static rdl_status send_patch(rdl_backend_device *device, const rdl_transfer *transfers,
                             size_t count, size_t words, size_t pieces, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  rdl_status status = make_patch(device, words, why);
  if (status != RDL_OK) return status;
  pack(device->patch.words, transfers, count, pieces);
  status = RDL_CL(why, cl->clEnqueueWriteBuffer(device->queue, device->patch.buffer, CL_FALSE, 0,
                                                words * sizeof(uint32_t), device->patch.words, 0,
                                                NULL, NULL));
  if (status == RDL_OK)
    status = run_support(device, device->patch.buffer, SUPPORT_PATCH,
                         pieces < MOST_GROUPS ? pieces : MOST_GROUPS, why);
  return status;
}

static rdl_status write_all(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                            rdl_reason *why) {
  size_t pieces = 0, words = patch_words(transfers, count, &pieces);
  int together = pieces > FEW;
  rdl_status status = RDL_OK;
  for (size_t k = 0; k < count && status == RDL_OK; k++)
    if (!together || !fits_patch(&transfers[k])) status = write_one(device, &transfers[k], why);
  if (status == RDL_OK && together)
    status = send_patch(device, transfers, count, words, pieces, why);
  return finish(device, status, why);
}

rdl_status rdl__cl_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                         rdl_reason *why) {
  rdl_status status;
  if (!count) return RDL_OK;
  (void)pthread_mutex_lock(device->apart);
  status = write_all(device, transfers, count, why);
  (void)pthread_mutex_unlock(device->apart);
  return status;
}

static rdl_status read_all(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                           rdl_reason *why) {
  rdl_status status = RDL_OK;
  for (size_t k = 0; k < count && status == RDL_OK; k++)
    status = read_one(device, &transfers[k], why);
  return finish(device, status, why);
}

rdl_status rdl__cl_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                        rdl_reason *why) {
  rdl_status status;
  if (!count) return RDL_OK;
  (void)pthread_mutex_lock(device->apart);
  status = read_all(device, transfers, count, why);
  (void)pthread_mutex_unlock(device->apart);
  return status;
}
