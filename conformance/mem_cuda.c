/* SPDX-License-Identifier: Apache-2.0 */
/* MEM 6 on CUDA devices: whose memory it is, in which context, and who sees what when. */
#include <stdlib.h>
#include <string.h>

#include "conformance/mem_piece.h"

/* What is the program's, but not of the context that Raddle works in, or not what it is said to
 * be. */
void MEM_6_cuda_foreign(void) {
  program p = program_open(), other = program_open();
  bed b = program_bed(&p), own = bed_open(MEM_TASKS);
  piece here = piece_new(&p, CUDA_PLAIN), there = piece_new(&other, CUDA_PLAIN);
  uint32_t word = 3;
  rdl_import import = import_of(&there);
  refused(&b, &import, RDL_INVALID, "another CUDA context");
  import = import_of(&here);
  refused(&own, &import, RDL_INVALID, "native_context"); /* the primary one is another one, too */
  import.bytes += 4;
  refused(&b, &import, RDL_INVALID, "4000 bytes, and not 4004");
  import = import_of(&here);
  import.kind = RDL_IMPORT_HOST;
  refused(&b, &import, RDL_INVALID, "RDL_IMPORT_CUDA_POINTER");
  REFUSED(&b, RDL_INVALID, "no CUdeviceptr", .kind = RDL_IMPORT_CUDA_POINTER, .memory = &word,
          .bytes = sizeof word);
  CHECK_EQ(3, word);
  piece_free(&here);
  piece_free(&there);
  bed_close(&b);
  bed_close(&own);
  program_close(&p);
  program_close(&other);
}

/* Memory at an odd place in pages of its own, on the stack, and locked by the program. */
void MEM_6_cuda_host(void) {
  static uint32_t fixed[WORDS];
  program p = program_open();
  bed b = program_bed(&p);
  uint32_t local[WORDS], *heap = aligned_alloc(4096, 8192);
  void *theirs = NULL;
  piece e = {.owner = &p, .origin = HOST};
  CHECK(heap);
  cuda_enter(&p.cuda);
  CHECK_EQ(0, cu.cuMemHostAlloc(&theirs, WORDS * sizeof(uint32_t), 0));
  cuda_leave();
  e.words = fixed;
  use_piece(&b, &e);
  e.words = local;
  use_piece(&b, &e);
  e.words = heap + 101; /* in two pages */
  use_piece(&b, &e);
  e.words = theirs;
  use_piece(&b, &e);
  use_piece(&b, &e);
  cuda_enter(&p.cuda);
  CHECK_EQ(0, cu.cuMemFreeHost(theirs));
  cuda_leave();
  free(heap);
  bed_close(&b);
  program_close(&p);
}

/* CUDA locks a page once: parts of what is imported may be imported, what reaches beyond it not. */
void MEM_6_cuda_pages(void) {
  program p = program_open();
  bed b = program_bed(&p);
  uint32_t *heap = aligned_alloc(4096, 8192);
  piece e = {.owner = &p, .origin = HOST, .words = heap}, part = e;
  rdl_buffer *buffer;
  CHECK(heap);
  memset(heap, 0, 8192);
  buffer = import_piece(&b, &e);
  REFUSED(&b, RDL_UNSUPPORTED, "pages of its own", .kind = RDL_IMPORT_HOST, .memory = heap + WORDS,
          .bytes = 1000);
  part.words = heap + 24;
  use_piece(&b, &part);
  piece_fill(&e, 1);
  CHECK_EQ(sum_from(1), add_to(&b, buffer, 1)); /* the first import still stands */
  rdl_buffer_destroy(buffer);
  piece_holds(&e, 2);
  bed_close(&b);
  free(heap);
  program_close(&p);
}

/* Kernels of the program, which the driver fills memory with, and tasks take turns at one buffer
 * that stays imported. */
void MEM_6_cuda_turns(void) {
  enum { ROUNDS = 30 };
  program p = program_open();
  bed b = program_bed(&p);
  piece e = piece_new(&p, CUDA_PLAIN);
  rdl_buffer *buffer = import_piece(&b, &e);
  uint32_t words[WORDS], expected[WORDS], k, n;
  piece_fill(&e, 0);
  for (n = 0; n < WORDS; n++)
    expected[n] = n;
  for (k = 0; k < ROUNDS; k++) {
    uint32_t sum = 0;
    for (n = 0; n < WORDS; n++) {
      if (n % ROUNDS == k) expected[n] = 1000 * k;
      sum += expected[n];
      expected[n] += k;
    }
    cuda_enter(&p.cuda);
    for (n = k; n < WORDS; n += ROUNDS)
      CHECK_EQ(0, cu.cuMemsetD32(e.at + n * sizeof(uint32_t), 1000 * k, 1));
    CHECK_EQ(0, cu.cuStreamSynchronize(NULL));
    cuda_leave();
    CHECK_EQ(sum, add_to(&b, buffer, k));
    CHECK_OK(rdl_buffer_sync(buffer));
  }
  piece_load(&e, words);
  for (n = 0; n < WORDS; n++)
    CHECK_EQ(expected[n], words[n]);
  rdl_buffer_destroy(buffer);
  piece_free(&e);
  bed_close(&b);
  program_close(&p);
}

/* Opens a context as `options` say, and imports memory of the program's context. */
static void works_in(const program *p, const rdl_context_options *options) {
  bed b = bed_open_with(NULL, options);
  origin origins[ORIGINS];
  size_t count = origins_of(p, origins), k;
  for (k = 0; k < count; k++) {
    piece e = piece_new(p, origins[k]);
    uint32_t words[WORDS], n;
    rdl_buffer *buffer;
    piece_fill(&e, 6);
    buffer = import_piece(&b, &e);
    CHECK_OK(rdl_buffer_read(buffer, 0, words, sizeof words));
    for (n = 0; n < WORDS; n++)
      CHECK_EQ(6 + n, words[n]++);
    CHECK_OK(rdl_buffer_write(buffer, 0, words, sizeof words));
    rdl_buffer_destroy(buffer);
    piece_holds(&e, 7);
    piece_free(&e);
  }
  bed_close(&b);
}

/* A context works in the CUDA context that is given, or that is current; and in that alone with
 * what belongs together. */
void MEM_6_cuda_native(void) {
  program p = program_open();
  rdl_context_options options = bed_options();
  rdl_context *cx = NULL;
  uint32_t word = 0;
  options.native_device = &word;
  not_opened(&options, settings.selector, "given together");
  options.native_context = p.cuda.context;
  not_opened(&options, settings.selector, "native_device");
  options.native_device = NULL;
  not_opened(&options, NULL, "given together");
  CHECK_STATUS(RDL_UNSUPPORTED, rdl_context_open_with("host", &options, &cx));
  works_in(&p, &options);
  options.native_context = NULL;
  cuda_enter(&p.cuda);
  works_in(&p, &options);
  cuda_leave();
  program_close(&p);
}
