/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 16: tasks that are private to their tree give what others give. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "prv.task.c"

static rdl_future begin(bed *b, const char *task, const void *args, size_t size) {
  rdl_future f;
  CHECK_OK(rdl_spawn(b->tasks, task, args, size, NULL, &f));
  return f;
}

static uint32_t run(bed *b, const char *task, const void *args, size_t size) {
  return get(b, begin(b, task, args, size));
}

static uint32_t run_with(bed *b, const char *task, uint32_t n) {
  return run(b, task, &n, sizeof n);
}

typedef struct cut_args {
  uint32_t n, cut;
} cut_args;

void FUT_16_fib(void) {
  bed b = bed_open(TASKS);
  uint32_t n, before = 0, now = 1;
  for (n = 1; n <= 15; n++) {
    uint32_t next = before + now;
    CHECK_EQ(now, run_with(&b, "prv_fib", n));
    before = now;
    now = next;
  }
  bed_close(&b);
}

/* Above the cut every branch is a future like any other, and may be taken by other workers. */
void FUT_16_tree(void) {
  enum { N = SCALED(20, 14), RESULT = SCALED(6765, 377), FUTURES = SCALED(21891, 1219) };
  bed b = bed_open(TASKS);
  uint32_t cut;
  for (cut = 0; cut <= N; cut += 3) {
    cut_args args = {N, cut};
    uint64_t spawned = bed_stats(&b).spawned;
    CHECK_EQ(RESULT, run(&b, "prv_tree", &args, sizeof args));
    bed_settle(&b);
    CHECK_EQ(FUTURES, bed_stats(&b).spawned - spawned);
  }
  bed_close(&b);
}

void FUT_16_many(void) {
  enum { MOST = 600 };
  bed b = bed_open(TASKS);
  uint32_t count = suite_scale(MOST), k;
  static uint32_t args[MOST], results[MOST];
  static rdl_future futures[MOST];
  for (k = 0; k < count; k++)
    args[k] = k % 13u;
  CHECK_OK(rdl_spawn_many(b.tasks, "prv_fib", args, sizeof args[0], sizeof args[0], count, NULL,
                          futures, NULL));
  CHECK_OK(rdl_future_get_many(b.cx, futures, count, results, sizeof results[0], PATIENCE_NS));
  for (k = 0; k < count; k++) {
    static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
    CHECK_EQ(fib[k % 13u], results[k]);
  }
  bed_close(&b);
}

/* As deep as there is room for on every device. */
void FUT_16_deep(void) {
  static const uint32_t depths[] = {0, 1, 50, 200, 240};
  bed b = bed_open(TASKS);
  size_t k;
  for (k = 0; k < sizeof depths / sizeof depths[0]; k++)
    CHECK_EQ(depths[k], run_with(&b, "prv_deep", depths[k]));
  bed_close(&b);
}

void FUT_16_brothers(void) {
  bed b = bed_open(TASKS);
  uint32_t n;
  for (n = 1; n <= 200; n = 2 * n + 1)
    CHECK_EQ(n, run_with(&b, "prv_row", n));
  bed_close(&b);
}

void FUT_16_fails(void) {
  bed b = bed_open(TASKS);
  uint32_t n = 9;
  rdl_future f;
  CHECK_EQ(RDL_FAILED * 1000u + 7u, run_with(&b, "prv_catch", 7));
  CHECK_EQ(0, run_with(&b, "prv_catch", 8));
  f = begin(&b, "prv_over_odd", &n, sizeof n);
  CHECK_END(&b, f, RDL_FAILED, 9);
  bed_close(&b);
}

void FUT_16_stale(void) {
  bed b = bed_open(TASKS);
  CHECK_EQ(700u + RDL_STALE, run(&b, "prv_stale", NULL, 0));
  bed_close(&b);
}

/* Who is given the handle without being of the tree is told that it names nothing, where that is
 * so. */
void FUT_16_foreign(void) {
  bed b = bed_open(TASKS);
  uint32_t outcome = run(&b, "prv_foreign", NULL, 0);
  CHECK(outcome == RDL_OK || outcome == RDL_INVALID);
  bed_close(&b);
}

/* Two that await each other are told so, and so is who awaits one of them. */
void FUT_16_cycle(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 4);
  CHECK_EQ(RDL_DEADLOCK, run(&b, "prv_cycle", &m.at, sizeof m.at));
  bed_close(&b);
}

typedef struct leave_args {
  rdl_ptr at;
  uint32_t n, waits;
} leave_args;

/* Its owner ends, or waits for something else, and they run nevertheless. */
void FUT_16_left(void) {
  enum { N = 40 };
  bed b = bed_open(TASKS);
  uint32_t waits;
  for (waits = 0; waits < 2; waits++) {
    memory m = memory_new(&b, 1);
    leave_args args = {m.at, N, waits};
    CHECK_EQ(3, run(&b, "prv_leave", &args, sizeof args));
    CHECK_EQ(3 * N, word_at(&m, 0));
  }
  bed_close(&b);
}

/* An await of all children is one of the private ones, too. */
void FUT_16_children(void) {
  bed b = bed_open(TASKS);
  cut_args all = {30, 0}, some = {30, 1}, none = {0, 0};
  CHECK_EQ(RDL_OK, run(&b, "prv_all", &all, sizeof all));
  CHECK_EQ(RDL_FAILED, run(&b, "prv_all", &some, sizeof some));
  CHECK_EQ(RDL_OK, run(&b, "prv_all", &none, sizeof none));
  bed_close(&b);
}

/* A tree that only a cancel ends, longer than a launch lasts. */
void FUT_16_cancel(void) {
  bed b = bed_open(TASKS);
  rdl_event begun = new_event(&b, 1, 0);
  rdl_future f = begin(&b, "prv_endless", &begun, sizeof begun);
  CHECK_OK(rdl_event_wait(b.cx, begun, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &f, 1, 50 * MS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_close(&b);
}

typedef struct member_args {
  rdl_ptr at;
  uint32_t k, fails;
} member_args;

static rdl_future start_members_of(bed *b, const char *task, const memory *m, uint32_t count,
                                   uint32_t fails) {
  member_args *args = calloc(count, sizeof *args);
  rdl_future f;
  uint32_t k;
  CHECK(args);
  for (k = 0; k < count; k++)
    args[k] = (member_args){m->at, k, fails};
  CHECK_OK(rdl_spawn_many(b->tasks, task, args, sizeof *args, sizeof *args, count, NULL, NULL, &f));
  free(args);
  return f;
}

static rdl_future start_members(bed *b, const memory *m, uint32_t count, uint32_t fails) {
  return start_members_of(b, "prv_member", m, count, fails);
}

static void check_words(const memory *m, uint32_t count, uint32_t value) {
  const uint32_t *words = memory_load(m);
  uint32_t k;
  for (k = 0; k < count; k++)
    CHECK_EQ(value, words[k]);
}

/* Each member of a batch runs once, however many there are. */
void FUT_16_members(void) {
  static const uint32_t counts[] = {1, 15, 16, 17, 255, 256, 257, 1000, 5000};
  bed b = bed_open(TASKS);
  size_t i;
  for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    memory m = memory_new(&b, counts[i]);
    const uint32_t *words;
    uint32_t k;
    get_none(&b, start_members(&b, &m, counts[i], UINT32_MAX));
    words = memory_load(&m);
    for (k = 0; k < counts[i]; k++)
      CHECK_EQ(1, words[k]);
  }
  bed_close(&b);
}

void FUT_16_member_states(void) {
  enum { COUNT = 500 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, COUNT);
  get_none(&b, start_members_of(&b, "prv_three", &m, COUNT, 0));
  check_words(&m, COUNT, 3);
  bed_close(&b);
}

/* A batch that is cancelled at any time leaves nothing to the next one. */
void FUT_16_members_cancelled(void) {
  enum { MANY = 20000, COUNT = 300 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(20, 4)), k;
  for (k = 0; k < rounds; k++) {
    memory many = memory_new(&b, MANY), m = memory_new(&b, COUNT);
    rdl_future first = start_members(&b, &many, MANY, UINT32_MAX), second;
    rdl_status status;
    if (k % 2) sleep_ns(chance(2000) * US);
    CHECK_OK(rdl_future_cancel(b.cx, first));
    second = start_members(&b, &m, COUNT, UINT32_MAX);
    status = rdl_future_get(b.cx, first, NULL, 0, PATIENCE_NS);
    CHECK(status == RDL_OK || status == RDL_CANCELLED);
    get_none(&b, second);
    check_words(&m, COUNT, 1);
    rdl_buffer_destroy(many.buffer);
    rdl_buffer_destroy(m.buffer);
  }
  bed_close(&b);
}

void FUT_16_wrong(void) {
  bed b = bed_open(TASKS);
  uint32_t n = 0;
  CHECK_END(&b, begin(&b, "prv_wrong", &n, sizeof n), RDL_INVALID, 0);
  bed_close(&b);
}

void FUT_16_cleans(void) {
  bed b = bed_open(TASKS);
  rdl_event begun = new_event(&b, 1, 0);
  rdl_future f = begin(&b, "prv_cleans", &begun, sizeof begun);
  CHECK_OK(rdl_event_wait(b.cx, begun, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_OK(rdl_event_wait_count(b.cx, begun, 12, PATIENCE_NS));
  bed_close(&b);
}

/* One that fails ends none of the others, and the batch with its code. */
void FUT_16_member_fails(void) {
  enum { COUNT = 700 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, COUNT);
  const uint32_t *words;
  uint32_t k;
  rdl_future f = start_members(&b, &m, COUNT, 333);
  CHECK_END(&b, f, RDL_FAILED, 77);
  words = memory_load(&m);
  for (k = 0; k < COUNT; k++)
    CHECK_EQ(1, words[k]);
  bed_close(&b);
}

/* What a private task may not name is refused when the file is loaded. */
void FUT_16_words(void) {
  static const struct {
    const char *text, *error;
  } wrong[] = {
      {"RDL_TASK(f, RDL_NONE, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_END(); }\n"
       "struct s { rdl_future a; };\n"
       "RDL_TASK_PRIVATE(t, RDL_NONE, RDL_NONE, struct s) {\n  RDL_BEGIN();\n"
       "  RDL_SPAWN(self->a, f, 0);\n  RDL_END();\n}\n",
       "bad.task.c:5:22: task 't' is private and can spawn private tasks only"},
      {"struct a { rdl_event e; };\nRDL_TASK_PRIVATE(t, RDL_NONE, struct a, RDL_NONE) {\n"
       "  RDL_BEGIN();\n  RDL_AWAIT_EVENT(args->e);\n  RDL_END();\n}\n",
       "bad.task.c:2:18: task 't' is private, and names a word"},
      {"struct a { uint w[10]; };\nRDL_TASK_PRIVATE(t, RDL_NONE, struct a, RDL_NONE) {\n"
       "  RDL_BEGIN();\n  RDL_END();\n}\n",
       "bad.task.c:2:"},
  };
  bed b = bed_open(NULL);
  size_t k;
  for (k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    rdl_module *module = NULL;
    CHECK_STATUS(RDL_COMPILE, rdl_module_load_text(b.cx, "bad.task.c", wrong[k].text,
                                                   strlen(wrong[k].text), &module));
    CHECK_CONTAINS(rdl_error_text(), wrong[k].error);
  }
  bed_close(&b);
}
