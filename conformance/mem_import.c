/* SPDX-License-Identifier: Apache-2.0 */
/* MEM 6: memory that the program has made is an argument of tasks, and stays the program's. */
#include <pthread.h>
#include <stdlib.h>

#include "conformance/mem_piece.h"

/* In every kind of memory that the device has. */
void MEM_6_kinds(void) {
  program p = program_open();
  bed b = program_bed(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  CHECK(count);
  for (k = 0; k < count; k++) {
    piece e = piece_new(&p, origins[k]);
    use_piece(&b, &e);
    use_piece(&b, &e); /* and again */
    piece_free(&e);
  }
  bed_close(&b);
  program_close(&p);
}

/* into += from, by one task. */
static void add_up(bed *b, rdl_buffer *from, rdl_buffer *into) {
  struct {
    rdl_ptr a, b, into;
    uint32_t n, pad;
  } args = {rdl_buffer_address(from), rdl_buffer_address(into), rdl_buffer_address(into), WORDS, 0};
  rdl_future f;
  CHECK_OK(rdl_spawn(b->tasks, "mem_three", &args, sizeof args, NULL, &f));
  get_none(b, f);
}

static void use_two(bed *b, const piece *x, const piece *y) {
  rdl_buffer *from, *again, *into;
  uint32_t words[WORDS], n;
  piece_fill(x, 100);
  piece_fill(y, 0);
  from = import_piece(b, x);
  into = import_piece(b, y);
  again = import_piece(b, x);
  CHECK_EQ(rdl_buffer_address(from), rdl_buffer_address(again));
  add_up(b, from, into);
  rdl_buffer_destroy(from);
  CHECK_EQ(sum_from(100), add_to(b, again, 0)); /* the other import of it still stands */
  rdl_buffer_destroy(into);
  rdl_buffer_destroy(again);
  piece_load(y, words);
  for (n = 0; n < WORDS; n++)
    CHECK_EQ(100u + 2u * n, words[n]);
}

/* Two kinds at once in one task, and one of them imported twice. */
void MEM_6_several(void) {
  program p = program_open();
  bed b = program_bed(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  for (k = 0; k < count; k++) {
    piece x = piece_new(&p, origins[k]), y = piece_new(&p, origins[(k + 1) % count]);
    use_two(&b, &x, &y);
    piece_free(&x);
    piece_free(&y);
  }
  bed_close(&b);
  program_close(&p);
}

/* Both contexts count word 0 up by 1,000; where only the ends of kernels order them, or the memory
 * lies behind a bus, one after the other. */
static void count_in_both(bed b[2], rdl_buffer *const buffers[2], bool together) {
  enum { TASK_COUNT = 20, TURNS = 50 };
  rdl_future all[2];
  uint32_t n;
  for (n = 0; n < 2; n++) {
    all[n] = start_many(&b[n], "mem_count", TASK_COUNT,
                        (task_args){.at = rdl_buffer_address(buffers[n]), .k = TURNS});
    if (together) continue;
    get_none(&b[n], all[n]);
    CHECK_OK(rdl_buffer_sync(buffers[n]));
  }
  for (n = 0; n < 2 && together; n++)
    get_none(&b[n], all[n]);
}

void MEM_6_shared(void) {
  program p = program_open();
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  bed b[2];
  b[0] = program_bed(&p);
  b[1] = program_bed(&p);
  for (k = 0; k < count; k++) {
    piece e = piece_new(&p, origins[k]);
    rdl_buffer *buffers[2] = {import_piece(&b[0], &e), import_piece(&b[1], &e)};
    uint32_t words[WORDS];
    CHECK_EQ(rdl_buffer_address(buffers[0]), rdl_buffer_address(buffers[1]));
    piece_fill(&e, 7);
    count_in_both(b, buffers,
                  (origins[k] == HOST && !p.is_cuda) || origins[k] == SVM_FINE ||
                      origins[k] == CUDA_PLAIN);
    rdl_buffer_destroy(buffers[0]);
    rdl_buffer_destroy(buffers[1]);
    piece_load(&e, words);
    CHECK_EQ(2007, words[0]);
    CHECK_EQ(8, words[1]);
    piece_free(&e);
  }
  bed_close(&b[0]);
  bed_close(&b[1]);
  program_close(&p);
}

/* Memory comes and goes while tasks run that know nothing of it, and go on. */
void MEM_6_running(void) {
  program p = program_open();
  bed b = program_bed(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  memory m = memory_new(&b, 1);
  rdl_future busy[4];
  uint32_t n;
  for (n = 0; n < 4; n++)
    busy[n] = START(&b, "mem_busy", .at = m.at);
  for (k = 0; k < count; k++) {
    piece e = piece_new(&p, origins[k]);
    use_piece(&b, &e);
    piece_free(&e);
  }
  for (n = 0; n < 4; n++)
    CHECK_STATUS(RDL_TIMEOUT, rdl_future_get(b.cx, busy[n], NULL, 0, 0));
  word_set(&m, 0, 1);
  for (n = 0; n < 4; n++)
    get_none(&b, busy[n]);
  bed_close(&b);
  program_close(&p);
}

typedef struct lender {
  const program *program;
  bed *bed;
  origin from;
  pthread_t thread;
} lender;

static void *lend(void *argument) {
  lender *l = argument;
  uint32_t k, rounds = suite_scale(SCALED(20, 5));
  for (k = 0; k < rounds; k++) {
    piece e = piece_new(l->program, l->from);
    use_piece(l->bed, &e);
    piece_free(&e);
  }
  return NULL;
}

/* Threads of the program lend memory and take it back, each its own, in one context. */
void MEM_6_threads(void) {
  enum { THREADS = 4 };
  program p = program_open();
  bed b = program_bed(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  lender all[THREADS];
  for (k = 0; k < THREADS; k++) {
    all[k] = (lender){.program = &p, .bed = &b, .from = origins[k % count]};
    CHECK_EQ(0, pthread_create(&all[k].thread, NULL, lend, &all[k]));
  }
  for (k = 0; k < THREADS; k++)
    CHECK_EQ(0, pthread_join(all[k].thread, NULL));
  bed_close(&b);
  program_close(&p);
}

/* While a segment does not end, nothing comes and nothing goes, and it is said why. What was
 * destroyed goes when the context is closed. */
void MEM_6_held(void) {
  program p = program_open();
  rdl_context_options options = program_options(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins);
  piece e = piece_new(&p, origins[count - 1]);
  rdl_import import = import_of(&e);
  rdl_buffer *buffer, *none = NULL;
  rdl_future f;
  memory m;
  bed b;
  options.close_ns = 300u * MS;
  b = bed_open_with(MEM_TASKS, &options);
  need_resident(&b);
  m = memory_new(&b, 2);
  buffer = import_piece(&b, &e);
  f = START(&b, "mem_hold", .at = m.at);
  CHECK(word_becomes(&m, 1, 1, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_buffer_import(b.cx, &import, &none));
  CHECK_CONTAINS(rdl_error_text(), "mem_hold");
  CHECK(none == NULL);
  CHECK_STATUS(RDL_TIMEOUT, rdl_buffer_sync(buffer));
  rdl_buffer_destroy(buffer);
  if (e.memory) check_memory_references(e.memory, e.references + 1);
  word_set(&m, 0, 1);
  get_none(&b, f);
  bed_close(&b);
  piece_free(&e);
  program_close(&p);
}

typedef struct lent {
  piece piece;
  rdl_buffer *buffer;
} lent;

static void shuffle(lent *all, size_t count) {
  size_t k;
  for (k = count; k > 1; k--) {
    size_t with = chance((uint32_t)k);
    lent one = all[with];
    all[with] = all[k - 1];
    all[k - 1] = one;
  }
}

/* It was filled from a number below `count`, and 1,000 added. */
static void give_back(lent *one, uint32_t count) {
  uint32_t words[WORDS];
  piece_load(&one->piece, words);
  CHECK_BETWEEN(1000, words[0], 1000 + count - 1);
  piece_holds(&one->piece, words[0]);
  piece_free(&one->piece);
}

/* Many at once, destroyed in another order than they came; the last ones by the context. */
void MEM_6_many(void) {
  enum { MANY = 60, KEPT = 20 };
  program p = program_open();
  bed b = program_bed(&p);
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins), k;
  lent all[MANY];
  for (k = 0; k < MANY; k++) {
    all[k].piece = piece_new(&p, origins[k % count]);
    piece_fill(&all[k].piece, (uint32_t)k);
    all[k].buffer = import_piece(&b, &all[k].piece);
  }
  shuffle(all, MANY);
  for (k = 0; k < MANY; k++) {
    add_to(&b, all[k].buffer, 1000);
    if (k >= MANY - KEPT) continue;
    rdl_buffer_destroy(all[k].buffer);
    give_back(&all[k], MANY);
  }
  bed_close(&b);
  for (k = MANY - KEPT; k < MANY; k++)
    give_back(&all[k], MANY);
  program_close(&p);
}

static uint32_t destroys_begun;

static void *destroy(void *argument) {
  __atomic_fetch_add(&destroys_begun, 1u, __ATOMIC_RELAXED);
  rdl_buffer_destroy(argument);
  return NULL;
}

/* The buffer is destroyed while a segment runs on, which then ends as the context is closed. */
static void close_under_destroy(const program *p, origin from, uint64_t pause_ns) {
  bed b = program_bed(p);
  piece e = piece_new(p, from);
  rdl_buffer *buffer = import_piece(&b, &e);
  memory m = memory_new(&b, 2);
  uint32_t before = destroys_begun;
  pthread_t thread;
  need_resident(&b);
  START(&b, "mem_hold", .at = m.at);
  CHECK(word_becomes(&m, 1, 1, PATIENCE_NS));
  CHECK_EQ(0, pthread_create(&thread, NULL, destroy, buffer));
  while (__atomic_load_n(&destroys_begun, __ATOMIC_RELAXED) == before)
    sleep_ns(1u * MS);
  sleep_ns(100u * MS); /* a context may be closed under calls, but not before them */
  word_set(&m, 0, 1);
  sleep_ns(pause_ns);
  CHECK_OK(rdl_context_close(b.cx));
  CHECK_EQ(0, pthread_join(thread, NULL));
  piece_free(&e);
}

/* Either of the two gives the memory back, and not both. */
void MEM_6_closed(void) {
  program p = program_open();
  origin origins[ORIGINS];
  size_t count = origins_of(&p, origins);
  uint32_t k;
  for (k = 0; k < 24; k++)
    close_under_destroy(&p, origins[k % count], (uint64_t)k * 5u * US);
  program_close(&p);
}

/* Host memory of every storage class, and at an address that only words are aligned to. */
void MEM_6_host(void) {
  static uint32_t fixed[WORDS];
  uint32_t local[WORDS], k;
  bed b = bed_open(MEM_TASKS);
  uint32_t *heap = malloc((WORDS + 1) * sizeof *heap);
  uint32_t *all[3] = {fixed, local, NULL};
  CHECK(heap);
  all[2] = heap + 1;
  heap[0] = 99;
  for (k = 0; k < 3; k++) {
    piece e = {.origin = HOST, .words = all[k]};
    use_piece(&b, &e);
  }
  CHECK_EQ(99, heap[0]);
  free(heap);
  bed_close(&b);
}

void MEM_6_refused(void) {
  program p = program_open();
  bed b = program_bed(&p);
  uint32_t word = 3;
  uint32_t kind;
  for (kind = RDL_IMPORT_HOST; kind <= RDL_IMPORT_CUDA_POINTER; kind++)
    REFUSED(&b, RDL_INVALID, "memory is NULL", .kind = kind, .bytes = 4);
  REFUSED(&b, RDL_INVALID, "bytes is 0", .kind = RDL_IMPORT_HOST, .memory = &word);
  REFUSED(&b, RDL_INVALID, "bytes is 0", .kind = RDL_IMPORT_SVM, .memory = &word);
  REFUSED(&b, RDL_INVALID, "kind is 0", .memory = &word, .bytes = 4);
  REFUSED(&b, RDL_INVALID, "kind is 5", .kind = 5, .memory = &word, .bytes = 4);
  REFUSED(&b, RDL_INVALID, "pad", .kind = RDL_IMPORT_HOST, .memory = &word, .bytes = 4, .pad = 1);
  REFUSED(&b, RDL_INVALID, "reserved", .kind = RDL_IMPORT_HOST, .memory = &word, .bytes = 4,
          .reserved = {[3] = 1});
  refused(&b, &(rdl_import){.size = 8, .kind = RDL_IMPORT_HOST, .memory = &word}, RDL_INVALID,
          "RDL_IMPORT_INIT");
  if (p.is_opencl) {
    REFUSED(&b, RDL_UNSUPPORTED, "cl_mem or what clSVMAlloc gave", .kind = RDL_IMPORT_HOST,
            .memory = &word, .bytes = 4);
    REFUSED(&b, RDL_UNSUPPORTED, "cl_mem or what clSVMAlloc gave", .kind = RDL_IMPORT_CUDA_POINTER,
            .memory = &word, .bytes = 4);
  } else {
    if (!p.is_cuda)
      REFUSED(&b, RDL_UNSUPPORTED, "RDL_IMPORT_HOST", .kind = RDL_IMPORT_CUDA_POINTER,
              .memory = &word, .bytes = 4);
    REFUSED(&b, RDL_UNSUPPORTED, "RDL_IMPORT_HOST", .kind = RDL_IMPORT_SVM, .memory = &word,
            .bytes = 4);
    REFUSED(&b, RDL_UNSUPPORTED, "RDL_IMPORT_HOST", .kind = RDL_IMPORT_CL_MEM, .memory = &word);
    REFUSED(&b, RDL_INVALID, "past the end", .kind = RDL_IMPORT_HOST, .memory = &word,
            .bytes = SIZE_MAX);
  }
  CHECK_EQ(3, word);
  bed_close(&b);
  program_close(&p);
}
