/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 8 and 9: handles that are not good, and futures that start after others. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

/* ---- FUT 8 ---- */

static void check_host_refuses(bed *b, rdl_future f, rdl_status expected) {
  rdl_future_result outcome = {.size = sizeof outcome};
  uint32_t value = 77;
  CHECK_STATUS(expected, rdl_future_get(b->cx, f, &value, sizeof value, 0));
  CHECK_STATUS(expected, rdl_future_get_many(b->cx, &f, 1, &value, sizeof value, 0));
  CHECK_STATUS(expected, rdl_future_wait(b->cx, &f, 1, 0));
  CHECK_STATUS(expected, rdl_future_outcome(b->cx, f, 0, &outcome));
  CHECK_STATUS(expected, rdl_future_peek(b->cx, f, &value, sizeof value));
  CHECK_STATUS(expected, rdl_future_cancel(b->cx, f));
  CHECK_STATUS(expected, rdl_future_release(b->cx, f));
  CHECK_STATUS(expected, rdl_future_complete(b->cx, f, &value, sizeof value, 0));
  CHECK_EQ(77, value);
}

void FUT_8_host(void) {
  bed b = bed_open(TASKS);
  rdl_future f = START(&b, "fut_leaf", .n = 5);
  rdl_future newer = f, older = f, other = f;
  check_host_refuses(&b, (rdl_future){0, 0}, RDL_INVALID);
  CHECK_CONTAINS(rdl_error_text(), "all zero: the spawn failed");
  check_host_refuses(&b, (rdl_future){0xffffffffu, 1}, RDL_INVALID);
  check_host_refuses(&b, (rdl_future){f.index, 0}, RDL_INVALID);
  check_host_refuses(&b, (rdl_future){f.index & 0xff000000u, f.generation}, RDL_INVALID);
  newer.generation++;
  older.generation--;
  other.index ^= 0x01000000u;
  check_host_refuses(&b, newer, RDL_STALE);
  check_host_refuses(&b, older, older.generation ? RDL_STALE : RDL_INVALID);
  check_host_refuses(&b, other, RDL_INVALID);
  CHECK_EQ(5, get(&b, f));
  check_host_refuses(&b, f, RDL_STALE);
  bed_close(&b);
}

/* Handles of one context mean nothing in another, also where slot numbers agree. */
void FUT_8_foreign(void) {
  bed a = bed_open(TASKS), b = bed_open(TASKS);
  rdl_future fa = START(&a, "fut_leaf", .n = 1), fb = START(&b, "fut_leaf", .n = 2);
  CHECK(fa.index != fb.index);
  check_host_refuses(&a, fb, RDL_INVALID);
  check_host_refuses(&b, fa, RDL_INVALID);
  CHECK_EQ(RDL_INVALID, RUN(&a, "fut_catch", .f = fb));
  CHECK_EQ(RDL_INVALID, RUN(&b, "fut_catch", .f = fa));
  CHECK_EQ(1, get(&a, fa));
  CHECK_EQ(2, get(&b, fb));
  bed_close(&a);
  bed_close(&b);
}

void FUT_8_device(void) {
  bed b = bed_open(TASKS);
  rdl_future f = START(&b, "fut_leaf", .n = 5);
  rdl_future bad[] = {{0, 0}, {0xffffffffu, 1}, {1, 1}, {f.index, f.generation + 1}};
  rdl_future gone;
  uint32_t k;
  CHECK_EQ(5, get(&b, f));
  gone = f;
  for (k = 0; k < 3; k++)
    CHECK_EQ(RDL_INVALID, RUN(&b, "fut_catch", .f = bad[k]));
  CHECK_EQ(RDL_STALE, RUN(&b, "fut_catch", .f = gone));
  CHECK_EQ(RDL_STALE, RUN(&b, "fut_all_catch", .f = gone, .g = gone));
  CHECK_EQ(RDL_STALE, RUN(&b, "fut_any_catch", .f = gone, .g = gone) & 0xffffu);
  CHECK_END(&b, START(&b, "fut_wait", .f = gone), RDL_STALE, 0);
  CHECK_END(&b, START(&b, "fut_read_bad", .f = gone), RDL_STALE, 0);
  CHECK_CONTAINS(rdl_error_text(), "task fut_read_bad");
  CHECK_CONTAINS(rdl_error_text(), "RDL_TAKE, RDL_DROP");
  CHECK_END(&b, START(&b, "fut_read_bad", .f = bad[0]), RDL_INVALID, 0);
  CHECK_END(&b, START(&b, "fut_cancel_other", .f = bad[1]), RDL_INVALID, 0);
  CHECK_EQ(1, RUN(&b, "fut_cancel_other", .f = gone));
  bed_close(&b);
}

/* A result that is not there yet is nobody's either, and what belongs to others is not taken. */
void FUT_8_not_mine(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_wait_event", .e = event, .n = 8);
  CHECK_END(&b, START(&b, "fut_read_bad", .f = f), RDL_INVALID, 0);
  CHECK_CONTAINS(rdl_error_text(), "need an await of the future first");
  CHECK_CONTAINS(rdl_error_text(), "keep it in self");
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_END(&b, START(&b, "fut_take_foreign", .f = f), RDL_PERMISSION, 0);
  CHECK_CONTAINS(rdl_error_text(), "Only its parent may");
  CHECK_EQ(8, get(&b, f));
  bed_close(&b);
}

/* A result that is smaller than the type it is read as gives zeros, and no bytes of others. */
static void check_too_small(bed *b, const memory *m, const char *reader, rdl_future f) {
  CHECK_END(b, START(b, reader, .at = m->at, .f = f), RDL_INVALID, 0);
  CHECK_CONTAINS(rdl_error_text(), "larger than the result");
  CHECK_EQ(1, word_at(m, 0));
}

void FUT_8_type_too_large(void) {
  static const char *const small[] = {"fut_leaf", "fut_give_16", "fut_give_17", "fut_give_32"};
  unsigned char ones[16];
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future f, behind;
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 100};
  size_t k;
  for (k = 0; k < sizeof small / sizeof small[0]; k++) {
    f = START(&b, small[k], .n = 200);
    check_too_small(&b, &m, "fut_read_100", f);
    CHECK_OK(rdl_future_release(b.cx, f));
  }
  check_too_small(&b, &m, "fut_take_100", (rdl_future){0, 0});
  CHECK_OK(rdl_spawn(b.tasks, "fut_nothing", NULL, 0, NULL, &f));
  check_too_small(&b, &m, "fut_read_100", f);
  CHECK_OK(rdl_future_release(b.cx, f));
  f = start_many(&b, "fut_give_100", 20, (task_args){.n = 200}); /* a batch has no result */
  check_too_small(&b, &m, "fut_read_100", f);
  CHECK_OK(rdl_future_release(b.cx, f));
  memset(ones, 1, sizeof ones);
  CHECK_OK(rdl_future_create(b.cx, &f));
  CHECK_OK(rdl_future_complete(b.cx, f, ones, sizeof ones, 0));
  check_too_small(&b, &m, "fut_read_100", f);
  options.after = &f;
  options.after_count = 1;
  CHECK_OK(rdl_spawn(b.tasks, "fut_give_100", &args, sizeof args, &options, &behind));
  CHECK_EQ(5, RUN(&b, "fut_read_100", .at = m.at, .f = behind)); /* what the gate became */
  CHECK_EQ(101, word_at(&m, 0));
  CHECK_OK(rdl_future_release(b.cx, behind));
  CHECK_OK(rdl_future_release(b.cx, f));
  bed_close(&b);
}

/* A million lives of one slot: the first handle never becomes good again. */
void FUT_8_reuse(void) {
  uint32_t lives = suite_scale(UNLESS_CUT(SCALED(1 << 20, 1 << 15), 1 << 15));
  bed b = bed_open(TASKS);
  CHECK_EQ(lives, RUN(&b, "fut_reuse", .n = lives));
  bed_close(&b);
}

void FUT_8_host_reuse(void) {
  uint32_t lives = suite_scale(SCALED(3000, 300)), k;
  rdl_context_options options = bed_options();
  rdl_future first, f;
  bed b;
  options.roots = 2;
  b = bed_open_with(TASKS, &options);
  first = START(&b, "fut_leaf", .n = 0);
  CHECK_EQ(0, get(&b, first));
  for (k = 1; k <= lives; k++) {
    f = START(&b, "fut_leaf", .n = k);
    CHECK(f.index != first.index || f.generation != first.generation);
    CHECK_STATUS(RDL_STALE, rdl_future_get(b.cx, first, NULL, 0, 0));
    CHECK_EQ(k, get(&b, f));
  }
  CHECK_EQ(RDL_STALE, RUN(&b, "fut_catch", .f = first));
  bed_close(&b);
}

/* The slot is reused between the look at a handle and the wait for it. */
void FUT_8_reuse_race(void) {
  enum { LIVES = 50000000 };
  uint32_t looks = suite_scale(UNLESS_CUT(SCALED(200000, 20000), 10000));
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 4);
  rdl_future chasers[3], publisher;
  uint32_t k;
  publisher = START(&b, "fut_publish", .at = m.at, .k = LIVES);
  for (k = 0; k < 3; k++)
    chasers[k] = START(&b, "fut_chase", .at = m.at, .n = looks);
  for (k = 0; k < 3; k++)
    CHECK_BETWEEN(1, get(&b, chasers[k]), looks);
  CHECK_BETWEEN(1, get(&b, publisher), LIVES);
  bed_close(&b);
}

/* ---- FUT 9 ---- */

static rdl_future start_after(bed *b, const char *task, task_args args, const rdl_future *after,
                              size_t count) {
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_future f;
  options.after = after;
  options.after_count = count;
  CHECK_OK(rdl_spawn(b->tasks, task, &args, sizeof args, &options, &f));
  return f;
}

static rdl_future new_promise(bed *b) {
  rdl_future promise;
  CHECK_OK(rdl_future_create(b->cx, &promise));
  return promise;
}

void FUT_9_one(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promise = new_promise(&b), done;
  rdl_future f = start_after(&b, "fut_count", (task_args){.at = m.at, .n = 3}, &promise, 1);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &f, 1, 20u * MS));
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_EQ(3, get(&b, f));
  CHECK_EQ(1, word_at(&m, 0));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  done = START(&b, "fut_leaf", .n = 1);
  CHECK_OK(rdl_future_wait(b.cx, &done, 1, PATIENCE_NS));
  CHECK_EQ(4, get(&b, start_after(&b, "fut_count", (task_args){.at = m.at, .n = 4}, &done, 1)));
  CHECK_EQ(1, get(&b, done));
  bed_close(&b);
}

void FUT_9_thousand(void) {
  enum { COUNT = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  static rdl_future first[COUNT + 1];
  rdl_future last;
  uint32_t k;
  for (k = 0; k < COUNT; k++)
    first[k] = START(&b, "fut_order", .at = m.at);
  first[COUNT] = new_promise(&b);
  last = start_after(&b, "fut_order", (task_args){.at = m.at}, first, COUNT + 1);
  CHECK_OK(rdl_future_wait(b.cx, first, COUNT, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &last, 1, 5u * MS));
  CHECK_OK(rdl_future_complete(b.cx, first[COUNT], NULL, 0, 0));
  CHECK_EQ(COUNT, get(&b, last));
  CHECK_OK(rdl_future_get_many(b.cx, first, COUNT + 1, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

void FUT_9_chain(void) {
  enum { LINKS = 300 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promise = new_promise(&b);
  rdl_future links[LINKS];
  uint32_t k;
  for (k = 0; k < LINKS; k++)
    links[k] =
        start_after(&b, "fut_order", (task_args){.at = m.at}, k ? &links[k - 1] : &promise, 1);
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  for (k = 0; k < LINKS; k++)
    CHECK_EQ(k, get(&b, links[k]));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

/* A dependency may be taken as soon as the dependent is spawned: it counts as what it came to. */
void FUT_9_taken(void) {
  enum { ROUNDS = SCALED(300, 100) };
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < ROUNDS; k++) {
    rdl_future first = START(&b, "fut_leaf", .n = k);
    rdl_future f = start_after(&b, "fut_leaf", (task_args){.n = k + 1}, &first, 1);
    CHECK_EQ(k, get(&b, first));
    CHECK_EQ(k + 1, get(&b, f));
  }
  bed_close(&b);
}

/* A dependency that fails keeps the dependent from starting and passes its cause on. */
void FUT_9_fails(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future after[2], f;
  after[0] = START(&b, "fut_fail", .n = 12);
  after[1] = new_promise(&b);
  f = start_after(&b, "fut_count", (task_args){.at = m.at}, after, 2);
  CHECK_OK(rdl_future_complete(b.cx, after[1], NULL, 0, 13));
  CHECK_END(&b, f, RDL_FAILED, 12);
  CHECK_END(&b, after[0], RDL_FAILED, 12);
  CHECK_END(&b, after[1], RDL_FAILED, 13);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_9_fails_late(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promise = new_promise(&b);
  rdl_future f = start_after(&b, "fut_count", (task_args){.at = m.at}, &promise, 1);
  rdl_future second = start_after(&b, "fut_count", (task_args){.at = m.at}, &f, 1);
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 21));
  CHECK_OK(rdl_future_wait(b.cx, &second, 1, PATIENCE_NS));
  CHECK_END(&b, second, RDL_FAILED, 21);
  CHECK_END(&b, f, RDL_FAILED, 21);
  CHECK_END(&b, promise, RDL_FAILED, 21);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_9_cancelled(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future first = START(&b, "fut_wait_event", .e = never);
  rdl_future f = start_after(&b, "fut_count", (task_args){.at = m.at}, &first, 1);
  CHECK_OK(rdl_future_cancel(b.cx, first));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_END(&b, first, RDL_CANCELLED, 0);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_9_bad(void) {
  bed b = bed_open(TASKS);
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_future made_up = {0xfff00001u, 1}, gone, f = {9, 9};
  task_args args = {.n = 1};
  options.after = &made_up;
  options.after_count = 1;
  CHECK_STATUS(RDL_INVALID, rdl_spawn(b.tasks, "fut_leaf", &args, sizeof args, &options, &f));
  CHECK_EQ(0, f.index);
  gone = START(&b, "fut_leaf", .n = 1);
  CHECK_EQ(1, get(&b, gone));
  options.after = &gone;
  CHECK_STATUS(RDL_STALE, rdl_spawn(b.tasks, "fut_leaf", &args, sizeof args, &options, &f));
  CHECK_EQ(0, f.index);
  bed_close(&b);
}

void FUT_9_detached(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promise = new_promise(&b);
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.at = m.at};
  options.after = &promise;
  options.after_count = 1;
  CHECK_OK(rdl_spawn(b.tasks, "fut_count", &args, sizeof args, &options, NULL));
  sleep_ns(5u * MS);
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  bed_close(&b);
}

/* Each context starts its handles elsewhere, and none so late that a slot is soon used up. */
void FUT_8_many_contexts(void) {
  rdl_context_options options = bed_options();
  uint32_t k, before = 0;
  options.slots = options.roots = 4;
  options.frame_bytes = 1u << 16;
  for (k = 0; k < 140; k++) {
    rdl_context *cx;
    rdl_future f;
    CHECK_OK(rdl_context_open_with(settings.selector, &options, &cx));
    CHECK_OK(rdl_future_create(cx, &f));
    CHECK(f.generation >> 31 == 0);
    CHECK(f.generation != before);
    before = f.generation;
    CHECK_OK(rdl_context_close(cx));
  }
}
