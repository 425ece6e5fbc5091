/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/mem_piece.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/run.h"

/* ---- the program ---- */

program program_open(void) {
  rdl_context_info info;
  program p = {.is_opencl = false};
  CHECK_OK(run_describe(settings.selector, &info));
  p.is_opencl = info.device.native != NULL;
  p.is_cuda = strcmp(info.device.backend, "cuda") == 0;
  if (p.is_opencl) p.own = opencl_open(info.device.native);
  if (p.is_cuda) p.cuda = cuda_open(info.device.selector);
  return p;
}

void program_close(program *p) {
  if (p->is_opencl) opencl_close(&p->own);
  if (p->is_cuda) cuda_close(&p->cuda);
}

rdl_context_options program_options(const program *p) {
  rdl_context_options options = bed_options();
  options.native_context = p->is_cuda ? p->cuda.context : p->own.context;
  options.native_device = p->own.device;
  return options;
}

bed program_bed(const program *p) {
  rdl_context_options options = program_options(p);
  return bed_open_with(MEM_TASKS, &options);
}

void not_opened(const rdl_context_options *options, const char *selector, const char *part) {
  rdl_context *cx = NULL;
  CHECK_STATUS(RDL_INVALID, rdl_context_open_with(selector, options, &cx));
  CHECK(cx == NULL);
  CHECK_CONTAINS(rdl_error_text(), part);
}

static bool is_svm(origin from) {
  return from == SVM_FINE || from == SVM_COARSE;
}

static bool is_cuda(origin from) {
  return from == CUDA_PLAIN || from == CUDA_PART || from == CUDA_MANAGED;
}

size_t origins_of(const program *p, origin *origins) {
  uint64_t svm = p->is_opencl ? opencl_number(&p->own, CL_DEVICE_SVM_) : 0u;
  size_t count = 0;
  origin k;
  for (k = HOST; k < ORIGINS; k++)
    if (k == HOST         ? !p->is_opencl
        : k == SVM_FINE   ? (svm & CL_SVM_FINE_) != 0u
        : k == SVM_COARSE ? (svm & CL_SVM_COARSE_) != 0u
        : is_cuda(k)      ? p->is_cuda
                          : p->is_opencl)
      origins[count++] = k;
  return count;
}

/* A part that begins at the third place where the device lets one begin. */
static void make_part(piece *e) {
  size_t align = opencl_number(&e->owner->own, CL_DEVICE_ALIGN_BITS_) / 8u;
  size_t region[2] = {3u * align, WORDS * sizeof(uint32_t)};
  cl_code code = 0;
  e->whole = cl.clCreateBuffer(e->owner->own.context, CL_MEM_READ_WRITE_,
                               region[0] + region[1] + 4u, NULL, &code);
  CHECK_EQ(0, code);
  e->memory = cl.clCreateSubBuffer(e->whole, CL_MEM_READ_WRITE_, CL_REGION_, region, &code);
  CHECK_EQ(0, code);
}

/* CUDA locks whole pages: such memory has them for itself. */
static uint32_t *new_words(size_t bytes) {
  uint32_t *words = aligned_alloc(4096, (bytes + 4095u) / 4096u * 4096u);
  CHECK(words);
  return words;
}

static void make_cl_mem(piece *e, size_t bytes) {
  uint64_t flags = CL_MEM_READ_WRITE_ | (e->origin == CL_OVER_HOST    ? CL_MEM_USE_HOST_PTR_
                                         : e->origin == CL_ALLOC_HOST ? CL_MEM_ALLOC_HOST_PTR_
                                                                      : 0u);
  cl_code code = 0;
  if (e->origin == CL_OVER_HOST) e->words = new_words(bytes);
  e->memory = cl.clCreateBuffer(e->owner->own.context, flags, bytes, e->words, &code);
  CHECK_EQ(0, code);
}

/* Where a part begins in what CUDA gave. */
#define CUDA_FRONT 300u

static void make_cuda(piece *e, size_t bytes) {
  size_t front = e->origin == CUDA_PART ? CUDA_FRONT : 0u;
  cuda_enter(&e->owner->cuda);
  if (e->origin == CUDA_MANAGED)
    CHECK_EQ(0, cu.cuMemAllocManaged(&e->at, bytes, CU_MANAGED_GLOBAL_));
  else
    CHECK_EQ(0, cu.cuMemAlloc(&e->at, front + bytes));
  cuda_leave();
  e->at += front;
}

static void free_cuda(const piece *e) {
  cuda_enter(&e->owner->cuda);
  CHECK_EQ(0, cu.cuMemFree(e->at - (e->origin == CUDA_PART ? CUDA_FRONT : 0u)));
  cuda_leave();
}

piece piece_new(const program *p, origin from) {
  piece e = {.owner = p, .origin = from};
  size_t bytes = WORDS * sizeof(uint32_t);
  uint64_t fine = from == SVM_FINE ? CL_MEM_SVM_FINE_ : 0u;
  if (from == HOST)
    e.words = new_words(bytes);
  else if (is_cuda(from))
    make_cuda(&e, bytes);
  else if (is_svm(from))
    CHECK(e.words = cl.clSVMAlloc(p->own.context, CL_MEM_READ_WRITE_ | fine, bytes, 0));
  else if (from == CL_PART)
    make_part(&e);
  else
    make_cl_mem(&e, bytes);
  if (e.memory) e.references = opencl_memory_references(e.memory);
  return e;
}

void piece_free(piece *e) {
  if (e->memory) {
    check_memory_references(e->memory, e->references);
    CHECK_EQ(0, cl.clReleaseMemObject(e->memory));
  }
  if (e->whole) CHECK_EQ(0, cl.clReleaseMemObject(e->whole));
  if (is_cuda(e->origin)) free_cuda(e);
  if (is_svm(e->origin))
    cl.clSVMFree(e->owner->own.context, e->words);
  else
    free(e->words);
}

static void map(const piece *e, uint64_t flags) {
  if (e->origin != SVM_COARSE) return;
  CHECK_EQ(0, cl.clEnqueueSVMMap(e->owner->own.queue, 1, flags, e->words, WORDS * sizeof(uint32_t),
                                 0, NULL, NULL));
}

static void unmap(const piece *e) {
  if (e->origin != SVM_COARSE) return;
  CHECK_EQ(0, cl.clEnqueueSVMUnmap(e->owner->own.queue, e->words, 0, NULL, NULL));
  CHECK_EQ(0, cl.clFinish(e->owner->own.queue));
}

void piece_fill(const piece *e, uint32_t first) {
  uint32_t words[WORDS], k;
  for (k = 0; k < WORDS; k++)
    words[k] = first + k;
  if (e->memory) {
    CHECK_EQ(0, cl.clEnqueueWriteBuffer(e->owner->own.queue, e->memory, 1, 0, sizeof words, words,
                                        0, NULL, NULL));
    return;
  }
  if (e->at) {
    cuda_write(&e->owner->cuda, e->at, words, sizeof words);
    return;
  }
  map(e, CL_MAP_WRITE_);
  memcpy(e->words, words, sizeof words);
  unmap(e);
}

void piece_load(const piece *e, uint32_t words[WORDS]) {
  const size_t bytes = WORDS * sizeof(uint32_t);
  if (e->memory) {
    CHECK_EQ(0, cl.clEnqueueReadBuffer(e->owner->own.queue, e->memory, 1, 0, bytes, words, 0, NULL,
                                       NULL));
    return;
  }
  if (e->at) {
    cuda_read(&e->owner->cuda, words, e->at, bytes);
    return;
  }
  map(e, CL_MAP_READ_);
  memcpy(words, e->words, bytes);
  unmap(e);
}

void piece_holds(const piece *e, uint32_t first) {
  uint32_t words[WORDS], k;
  piece_load(e, words);
  for (k = 0; k < WORDS; k++)
    if (words[k] != first + k)
      test_fail(__FILE__, __LINE__, "memory of origin %u holds %u in word %u, expected %u",
                (unsigned)e->origin, words[k], k, first + k);
}

/* ---- with Raddle ---- */

rdl_import import_of(const piece *e) {
  rdl_import import = RDL_IMPORT_INIT;
  import.kind = e->origin == HOST    ? RDL_IMPORT_HOST
                : is_svm(e->origin)  ? RDL_IMPORT_SVM
                : is_cuda(e->origin) ? RDL_IMPORT_CUDA_POINTER
                                     : RDL_IMPORT_CL_MEM;
  import.memory = e->memory ? e->memory : e->at ? (void *)(uintptr_t)e->at : e->words;
  import.bytes = e->memory ? 0u : WORDS * sizeof(uint32_t);
  return import;
}

rdl_buffer *import_piece(bed *b, const piece *e) {
  rdl_import import = import_of(e);
  rdl_buffer *buffer = NULL;
  CHECK_OK(rdl_buffer_import(b->cx, &import, &buffer));
  CHECK(buffer);
  CHECK_EQ(WORDS * sizeof(uint32_t), rdl_buffer_size(buffer));
  CHECK(rdl_buffer_address(buffer) != 0u);
  CHECK(rdl_buffer_data(buffer) == NULL);
  return buffer;
}

uint32_t sum_from(uint32_t first) {
  return WORDS * first + WORDS * (WORDS - 1u) / 2u;
}

uint32_t add_to(bed *b, rdl_buffer *buffer, uint32_t n) {
  return RUN(b, "mem_add", .at = rdl_buffer_address(buffer), .n = WORDS, .k = n);
}

/* Word n is 41 + n, before and after. */
static void copy_in_and_out(bed *b, rdl_buffer *buffer) {
  const size_t at = 29u * sizeof(uint32_t);
  const uint32_t none[3] = {0, 0, 0};
  uint32_t three[3];
  CHECK_OK(rdl_buffer_read(buffer, at, three, sizeof three));
  CHECK_EQ(70, three[0]);
  CHECK_EQ(72, three[2]);
  CHECK_OK(rdl_buffer_write(buffer, at, none, sizeof none));
  CHECK_EQ(sum_from(41) - 213u, RUN(b, "mem_sum", .at = rdl_buffer_address(buffer), .n = WORDS));
  CHECK_OK(rdl_buffer_write(buffer, at, three, sizeof three));
  CHECK_STATUS(RDL_INVALID,
               rdl_buffer_read(buffer, rdl_buffer_size(buffer) - 8u, three, sizeof three));
  CHECK_STATUS(RDL_INVALID,
               rdl_buffer_write(buffer, rdl_buffer_size(buffer) - 8u, three, sizeof three));
}

void use_piece(bed *b, const piece *e) {
  rdl_buffer *buffer;
  piece_fill(e, 5);
  buffer = import_piece(b, e);
  CHECK_EQ(sum_from(5), add_to(b, buffer, 10));
  CHECK_OK(rdl_buffer_sync(buffer));
  piece_holds(e, 15);
  piece_fill(e, 40);
  CHECK_EQ(sum_from(40), add_to(b, buffer, 1));
  copy_in_and_out(b, buffer);
  CHECK_EQ(sum_from(41), add_to(b, buffer, 2));
  rdl_buffer_destroy(buffer);
  piece_holds(e, 43);
}

void refused(bed *b, const rdl_import *import, rdl_status expected, const char *part) {
  rdl_stats before = bed_stats(b), after;
  rdl_buffer *buffer = (rdl_buffer *)(uintptr_t)1;
  CHECK_STATUS(expected, rdl_buffer_import(b->cx, import, &buffer));
  CHECK(buffer == NULL);
  CHECK_CONTAINS(rdl_error_text(), part);
  after = bed_stats(b);
  CHECK_EQ(before.segments, after.segments);
}
