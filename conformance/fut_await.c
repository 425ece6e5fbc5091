/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 4: the kinds of await. */
#include "conformance/harness.h"

#define TASKS "fut.task.c"

void FUT_4_all(void) {
  static const uint32_t sizes[] = {0, 1, 2, 3, 16, 63, 64};
  bed b = bed_open(TASKS);
  uint32_t k, half;
  for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (half = 0; half < 2; half++)
      CHECK_EQ(sizes[k] ? sizes[k] * (sizes[k] - 1) / 2 : 0,
               RUN(&b, "fut_all", .n = sizes[k], .k = half));
  bed_close(&b);
}

void FUT_4_all_twice(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future child = START(&b, "fut_wait_event", .e = event, .n = 21);
  rdl_future parent = START(&b, "fut_all_twice", .f = child);
  bed_await_suspended(&b, 2);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(42, get(&b, parent));
  CHECK_EQ(21, get(&b, child));
  bed_close(&b);
}

/* All are awaited, and the failure of one is what the awaiter gets. */
void FUT_4_all_fails(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future good = START(&b, "fut_wait_event", .e = event, .n = 1);
  rdl_future bad = START(&b, "fut_fail", .n = 33);
  rdl_future parent = START(&b, "fut_all_catch", .f = good, .g = bad);
  bed_await_suspended(&b, 2);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &parent, 1, 5u * MS));
  CHECK_CONTAINS(rdl_error_text(), "needs RDL_YIELD");
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(RDL_FAILED | 33u << 8, get(&b, parent));
  CHECK_EQ(1, get(&b, good));
  CHECK_END(&b, bad, RDL_FAILED, 33);
  bed_close(&b);
}

void FUT_4_any(void) {
  bed b = bed_open(TASKS);
  rdl_event first = new_event(&b, 1, 0), second = new_event(&b, 1, 0);
  uint32_t which;
  for (which = 0; which < 2; which++) {
    rdl_future f = START(&b, "fut_wait_event", .e = which ? second : first, .n = 100);
    rdl_future g = START(&b, "fut_wait_event", .e = which ? first : second, .n = 200);
    rdl_future parent = START(&b, "fut_any", .f = f, .g = g);
    CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &parent, 1, 5u * MS));
    CHECK_OK(rdl_event_signal(b.cx, first, 1));
    CHECK_EQ(which << 16 | (which ? 200 : 100), get(&b, parent));
    CHECK_OK(rdl_event_signal(b.cx, second, 1));
    CHECK_EQ(100, get(&b, f));
    CHECK_EQ(200, get(&b, g));
    CHECK_OK(rdl_event_reset(b.cx, &first));
    CHECK_OK(rdl_event_reset(b.cx, &second));
  }
  bed_close(&b);
}

/* The others of an any run on to their ends. */
void FUT_4_any_rest(void) {
  enum { CHILDREN = 16 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_event event = new_event(&b, 1, 0), one = new_event(&b, 1, 0);
  rdl_future parent = START(&b, "fut_any_rest", .at = m.at, .e = event, .d = one, .n = CHILDREN);
  bed_await_suspended(&b, CHILDREN + 1);
  CHECK_OK(rdl_event_signal(b.cx, one, 1));
  CHECK(word_becomes(&m, 1, 4, PATIENCE_NS));
  CHECK_EQ(1, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(3, get(&b, parent));
  CHECK_EQ(CHILDREN, word_at(&m, 0));
  bed_settle(&b);
  CHECK_EQ(0, bed_stats(&b).cancelled);
  bed_close(&b);
}

void FUT_4_any_fails(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future good = START(&b, "fut_wait_event", .e = event, .n = 1);
  rdl_future bad = START(&b, "fut_fail", .n = 3);
  CHECK_EQ(RDL_FAILED | 1u << 16, RUN(&b, "fut_any_catch", .f = good, .g = bad));
  CHECK_END(&b, START(&b, "fut_any", .f = good, .g = bad), RDL_FAILED, 3);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(1, get(&b, good));
  CHECK_END(&b, bad, RDL_FAILED, 3);
  CHECK_EQ(RDL_INVALID, RUN(&b, "fut_any_none", .n = 0));
  bed_close(&b);
}

/* Await first cancels the losers. */
void FUT_4_first(void) {
  enum { CHILDREN = 20 };
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0), one = new_event(&b, 1, 0);
  rdl_future parent = START(&b, "fut_first", .e = event, .d = one, .n = CHILDREN);
  bed_await_suspended(&b, CHILDREN + 1);
  CHECK_OK(rdl_event_signal(b.cx, one, 1));
  CHECK_EQ(5u << 16 | 5u, get(&b, parent));
  bed_settle(&b);
  CHECK_EQ(CHILDREN - 1, bed_stats(&b).cancelled);
  CHECK_EQ(2, bed_stats(&b).finished);
  bed_close(&b);
}

void FUT_4_any_race(void) {
  enum { FUTURES = 20 };
  uint32_t rounds = suite_scale(SCALED(400, 50));
  bed b = bed_open(TASKS);
  get_none(&b, start_many(&b, "fut_any_race", FUTURES, (task_args){.k = rounds}));
  bed_close(&b);
}

/* A deadline ends the await, not earlier and not much later; the future itself runs on. */
void FUT_4_deadline(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future child = START(&b, "fut_wait_event", .e = event, .n = 9);
  uint64_t begin = now_ns();
  rdl_future late;
  CHECK_EQ(RDL_TIMEOUT, RUN(&b, "fut_wait_for", .f = child, .k = 30000));
  CHECK_BETWEEN(30u * MS, now_ns() - begin, 2000u * MS);
  CHECK_EQ(RDL_TIMEOUT, RUN(&b, "fut_wait_for", .f = child, .k = 0));
  late = START(&b, "fut_late", .at = m.at, .f = child, .k = 1000);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(9, get(&b, late));
  CHECK_EQ(9, get(&b, child));
  bed_close(&b);
}

void FUT_4_deadline_in_time(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future child = START(&b, "fut_wait_event", .e = event, .n = 9);
  uint64_t begin = now_ns();
  rdl_future parent = START(&b, "fut_wait_for", .f = child, .k = 60000000);
  bed_await_suspended(&b, 2);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(RDL_OK, get(&b, parent));
  CHECK(now_ns() - begin < 30000ull * MS);
  CHECK_EQ(RDL_OK, RUN(&b, "fut_wait_for", .f = child, .k = 1));
  CHECK_EQ(9, get(&b, child));
  bed_close(&b);
}

void FUT_4_deadlines(void) {
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0), event = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_wait_event", .e = event, .n = 1);
  rdl_future g = START(&b, "fut_wait_event", .e = event, .n = 2);
  CHECK_EQ(31, RUN(&b, "fut_deadlines", .f = f, .g = g, .e = never));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(1, get(&b, f));
  CHECK_EQ(2, get(&b, g));
  bed_close(&b);
}

/* Every await that catches gives the status and the code of what it awaited. */
void FUT_4_catch(void) {
  bed b = bed_open(TASKS);
  rdl_future bad = START(&b, "fut_fail", .n = 1000);
  rdl_future good = START(&b, "fut_leaf", .n = 1);
  CHECK_EQ(RDL_FAILED | 1000u << 8, RUN(&b, "fut_catch", .f = bad));
  CHECK_EQ(RDL_OK, RUN(&b, "fut_catch", .f = good));
  CHECK_EQ(RDL_FAILED | 1000u << 8, RUN(&b, "fut_all_catch", .f = good, .g = bad));
  CHECK_EQ(RDL_FAILED | 7u << 8, RUN(&b, "fut_children_catch", .n = 0));
  CHECK_END(&b, bad, RDL_FAILED, 1000);
  CHECK_EQ(1, get(&b, good));
  bed_close(&b);
}

/* The shorter sleep ends first, and none ends early. */
void FUT_4_sleep(void) {
  enum { SLEEPERS = 5 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future futures[SLEEPERS];
  uint64_t begin;
  uint32_t k;
  RUN(&b, "fut_leaf", .n = 0); /* everything is loaded and warm */
  begin = now_ns();
  for (k = 0; k < SLEEPERS; k++)
    futures[k] = START(&b, "fut_sleep", .at = m.at, .k = 250000 - 50000 * k);
  for (k = 0; k < SLEEPERS; k++) {
    CHECK_EQ(SLEEPERS - 1 - k, get(&b, futures[k]));
    if (k == 0) CHECK_BETWEEN(250u * MS, now_ns() - begin, 4000u * MS);
  }
  CHECK_EQ(3, RUN(&b, "fut_sleep", .n = 3, .k = 0));
  bed_close(&b);
}

/* Waits that are over take no room: 61,440 are noted, and there is room for fewer than 20,000 at a
 * time. */
void FUT_4_many_sets(void) {
  enum { TASKS_AT_ONCE = 16, EACH = 64, ROUNDS = 60 };
  static rdl_future promises[TASKS_AT_ONCE * EACH];
  rdl_context_options options = bed_options();
  rdl_future f[TASKS_AT_ONCE];
  memory m;
  bed b;
  uint32_t k;
  options.slots = 4000;
  options.roots = 4000;
  options.events = 16;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, (size_t)2 * TASKS_AT_ONCE * EACH);
  for (k = 0; k < TASKS_AT_ONCE * EACH; k++) {
    CHECK_OK(rdl_future_create(b.cx, &promises[k]));
    pair_set(&m, k, promises[k].index, promises[k].generation);
  }
  for (k = 0; k < TASKS_AT_ONCE; k++)
    f[k] = START(&b, "fut_any_again", .at = m.at + (rdl_ptr)8 * EACH * k, .k = ROUNDS);
  for (k = 0; k < TASKS_AT_ONCE; k++)
    CHECK_EQ(ROUNDS, get(&b, f[k]));
  for (k = 0; k < TASKS_AT_ONCE * EACH; k++)
    CHECK_OK(rdl_future_release(b.cx, promises[k]));
  bed_close(&b);
}
