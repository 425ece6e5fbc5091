/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 7: cancelling. */
#include "conformance/harness.h"

#define TASKS "fut.task.c"
#define TIGHT "tight.task.c"

void FUT_7_not_started(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promise, f;
  rdl_spawn_options after = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.at = m.at};
  CHECK_OK(rdl_future_create(b.cx, &promise));
  after.after = &promise;
  after.after_count = 1;
  CHECK_OK(rdl_spawn(b.tasks, "fut_count", &args, sizeof args, &after, &f));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_CONTAINS(rdl_error_text(), "RDL_AWAIT_CATCH");
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  bed_settle(&b);
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_EQ(1, bed_stats(&b).cancelled);
  bed_close(&b);
}

/* With one worker a child that is cancelled in the segment of its birth has not started. */
void FUT_7_child_not_started(void) {
  rdl_context_options one = bed_options();
  bed b;
  memory m;
  one.workers = 1;
  b = bed_open_with(TASKS, &one);
  m = memory_new(&b, 1);
  CHECK_EQ(RDL_CANCELLED, RUN(&b, "fut_cancel_child", .at = m.at));
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_7_suspended(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_wait_event", .at = m.at, .e = never);
  bed_await_suspended(&b, 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_7_running(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future f = START(&b, "fut_yield_for_ever", .at = m.at);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_close(&b);
}

/* A segment that asks sees the request while it runs; another worker brings it. */
void FUT_7_asks(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_future f;
  if (b.workers < 2) test_skip("needs several workers");
  need_resident(&b);
  f = START(&b, "fut_look_for_cancel", .at = m.at);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_EQ(1, word_at(&m, 1));
  bed_close(&b);
}

void FUT_7_children(void) {
  enum { CHILDREN = 50 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_parent", .at = m.at, .e = never, .n = CHILDREN);
  bed_await_suspended(&b, CHILDREN + 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_settle(&b);
  CHECK_EQ(CHILDREN + 1, bed_stats(&b).cancelled);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

/* A parent whose own code has ended still passes the cancel on. */
void FUT_7_returned(void) {
  enum { CHILDREN = 50 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_parent", .at = m.at, .e = never, .n = CHILDREN, .k = 1);
  bed_await_suspended(&b, CHILDREN);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &f, 1, 1u * MS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_settle(&b);
  CHECK_EQ(CHILDREN + 1, bed_stats(&b).cancelled);
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

/* The cancel comes while the code ends: one worker passes it on, and only one, whatever else that
 * has to cancel. */
void FUT_7_returned_race(void) {
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(2500, 400), 200)), round;
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  memory m = memory_new(&b, 3);
  if (b.workers < 2) test_skip("needs several workers");
  for (round = 0; round < rounds; round++) {
    rdl_future leaver, canceller;
    word_set(&m, 0, 0);
    word_set(&m, 1, 0);
    leaver = START(&b, "fut_leaves", .at = m.at, .e = never, .n = chance(200), .k = 1);
    canceller =
        START(&b, "fut_cancels_leaver", .at = m.at, .f = leaver, .e = never, .n = chance(200));
    CHECK_END(&b, leaver, RDL_CANCELLED, 0);
    CHECK_EQ(RDL_CANCELLED, get(&b, canceller));
  }
  bed_settle(&b);
  CHECK_EQ(18 * rounds, bed_stats(&b).cancelled);
  bed_close(&b);
}

/* Ten thousand futures, each waiting for the next: the cancel goes down without a deep stack. */
void FUT_7_deep(void) {
  uint32_t depth = suite_scale(10000);
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_deep", .e = never, .k = depth);
  bed_await_suspended(&b, depth + 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_settle(&b);
  CHECK_EQ(depth + 1, bed_stats(&b).cancelled);
  bed_close(&b);
}

void FUT_7_awaiters(void) {
  enum { AWAITERS = 20 };
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_wait_event", .e = never);
  rdl_future catching[AWAITERS], plain[AWAITERS];
  uint32_t k;
  for (k = 0; k < AWAITERS; k++) {
    catching[k] = START(&b, "fut_catch", .f = f);
    plain[k] = START(&b, "fut_wait", .f = f);
  }
  bed_await_suspended(&b, 2 * AWAITERS + 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  for (k = 0; k < AWAITERS; k++) {
    CHECK_EQ(RDL_CANCELLED, get(&b, catching[k]));
    CHECK_END(&b, plain[k], RDL_CANCELLED, 0);
  }
  CHECK_EQ(RDL_CANCELLED, RUN(&b, "fut_catch", .f = f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_close(&b);
}

void FUT_7_finished(void) {
  bed b = bed_open(TASKS);
  rdl_future f = START(&b, "fut_leaf", .n = 44);
  CHECK_OK(rdl_future_wait(b.cx, &f, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_EQ(44, get(&b, f));
  CHECK_STATUS(RDL_STALE, rdl_future_cancel(b.cx, f));
  bed_settle(&b);
  CHECK_EQ(0, bed_stats(&b).cancelled);
  bed_close(&b);
}

void FUT_7_clean_up(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_clean_up", .at = m.at, .e = never);
  bed_await_suspended(&b, 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_EQ(1111, word_at(&m, 0));
  bed_settle(&b);
  CHECK_EQ(1, bed_stats(&b).cancelled);
  CHECK_EQ(1, bed_stats(&b).finished);
  bed_close(&b);
}

void FUT_7_by_tasks(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "fut_wait_event", .e = never);
  bed_await_suspended(&b, 1);
  CHECK_EQ(1, RUN(&b, "fut_cancel_other", .f = f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_END(&b, START(&b, "fut_cancel_self", .at = m.at, .e = never), RDL_CANCELLED, 0);
  CHECK_EQ(1u + RDL_CANCELLED, word_at(&m, 0));
  bed_close(&b);
}

void FUT_7_batch(void) {
  enum { MEMBERS = 1000 };
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future batch = start_many(&b, "fut_wait_event", MEMBERS, (task_args){.e = never});
  bed_await_suspended(&b, MEMBERS);
  CHECK_OK(rdl_future_cancel(b.cx, batch));
  CHECK_END(&b, batch, RDL_CANCELLED, 0);
  bed_settle(&b);
  /* The members, the batch, and the batches that it is made of. */
  CHECK_BETWEEN(MEMBERS + 1, bed_stats(&b).cancelled, MEMBERS + 1 + MEMBERS / 8);
  CHECK_EQ(0, bed_stats(&b).failed);
  bed_close(&b);
}

/* The cancel comes while a future begins to wait for its children: another worker may then have
 * ended it before the first one is through. */
void FUT_7_children_race(void) {
  enum { ROOTS = 16 };
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(6000, 500), 300));
  bed b = bed_open(TASKS);
  rdl_future_result outcome = {.size = sizeof outcome};
  rdl_future roots[ROOTS];
  uint32_t round, k;
  for (round = 0; round < rounds; round++) {
    for (k = 0; k < ROOTS; k++)
      roots[k] = START(&b, "fut_uneven", .n = chance(1000), .k = 3);
    for (k = 0; k < ROOTS; k += 2)
      CHECK_OK(rdl_future_cancel(b.cx, roots[k]));
    for (k = 0; k < ROOTS; k++) {
      CHECK_OK(rdl_future_outcome(b.cx, roots[k], PATIENCE_NS, &outcome));
      CHECK(outcome.status == RDL_OK || outcome.status == RDL_CANCELLED);
      CHECK_STATUS(outcome.status, rdl_future_get(b.cx, roots[k], NULL, 0, 0));
    }
  }
  bed_close(&b);
}

void FUT_7_race(void) {
  enum { FUTURES = 20 };
  bed b = bed_open(TASKS);
  rdl_future_result outcome = {.size = sizeof outcome};
  uint32_t rounds = suite_scale(SCALED(300, 60)), host_rounds = suite_scale(SCALED(500, 100)), k;
  {
    rdl_future racers[FUTURES];
    for (k = 0; k < FUTURES; k++)
      racers[k] = START(&b, "fut_cancel_race", .n = rounds);
    for (k = 0; k < FUTURES; k++)
      CHECK_EQ(rounds, get(&b, racers[k]));
  }
  for (k = 0; k < host_rounds; k++) {
    rdl_future f = START(&b, "fut_yield_leaf", .n = 1, .k = chance(50));
    CHECK_OK(rdl_future_cancel(b.cx, f));
    CHECK_OK(rdl_future_outcome(b.cx, f, PATIENCE_NS, &outcome));
    CHECK(outcome.status == RDL_OK || outcome.status == RDL_CANCELLED);
    CHECK_STATUS(outcome.status, rdl_future_get(b.cx, f, NULL, 0, 0));
  }
  bed_close(&b);
}

/* A promise is cancelled like any other future. */
void FUT_7_promise(void) {
  bed b = bed_open(TASKS);
  rdl_future promise, waiter;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  waiter = START(&b, "fut_catch", .f = promise);
  bed_await_suspended(&b, 1);
  CHECK_OK(rdl_future_cancel(b.cx, promise));
  CHECK_EQ(RDL_CANCELLED, get(&b, waiter));
  CHECK_END(&b, promise, RDL_CANCELLED, 0);
  CHECK_CONTAINS(rdl_error_text(), "the future of rdl_future_create");
  bed_close(&b);
}

/* ---- without room ---- */

enum { FEW = 16 };

static bed few_slots(void) {
  rdl_context_options options = bed_options();
  options.slots = FEW;
  return bed_open_with(TIGHT, &options);
}

static void await_live(bed *b, uint64_t count) {
  uint64_t end = now_ns() + PATIENCE_NS;
  while (bed_stats(b).live != count && now_ns() < end)
    sleep_ns(1u * MS);
  CHECK_EQ(count, bed_stats(b).live);
}

/* No slot is left, the host alone can free one, and the task has spawns in its text: it is told all
 * the same, where it waits for an event or, with `wakes`, for room to go on from there. */
static void told_without_room(bool wakes) {
  bed b = few_slots();
  memory m = memory_new(&b, 2);
  rdl_event never = new_event(&b, 1, 0), mine = new_event(&b, 1, 0);
  rdl_future tidy = START(&b, "tight_tidy", .at = m.at, .e = mine), hold;
  uint64_t suspended;
  bed_await_suspended(&b, 1);
  hold = START(&b, "tight_hold", .e = never);
  await_live(&b, FEW + 2);
  suspended = bed_stats(&b).suspended;
  if (wakes) {
    CHECK_OK(rdl_event_signal(b.cx, mine, 1));
    bed_await_suspended(&b, suspended + 1);
    CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &tidy, 1, 1u * MS));
  }
  CHECK_OK(rdl_future_cancel(b.cx, tidy));
  CHECK_END(&b, tidy, RDL_CANCELLED, 0);
  CHECK_EQ(1, word_at(&m, 0));
  CHECK_EQ(0, word_at(&m, 1));
  CHECK_OK(rdl_future_cancel(b.cx, hold));
  CHECK_END(&b, hold, RDL_CANCELLED, 0);
  bed_settle(&b);
  CHECK_EQ(FEW + 2, bed_stats(&b).cancelled);
  bed_close(&b);
}

void FUT_7_without_room(void) {
  told_without_room(false);
}

void FUT_7_waits_for_room(void) {
  told_without_room(true);
}

/* A tree of which each future waits for a child or for room ends from the top. */
void FUT_7_tree_without_room(void) {
  bed b = few_slots();
  rdl_event event = new_event(&b, 1, 0);
  rdl_future hold = START(&b, "tight_hold", .e = event, .n = FEW / 2), fib;
  await_live(&b, 1 + FEW / 2);
  fib = START(&b, "tight_fib", .n = 20);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &fib, 1, 200u * MS));
  CHECK(bed_stats(&b).live > 2 + FEW / 2);
  CHECK_OK(rdl_future_cancel(b.cx, fib));
  CHECK_END(&b, fib, RDL_CANCELLED, 0);
  await_live(&b, 1 + FEW / 2);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get_none(&b, hold);
  bed_close(&b);
}
