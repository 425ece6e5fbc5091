/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 1 to 3, 13, 14: a future runs once, awaits suspend when they must, what was written is seen,
 * and lanes keep and spawn what is their own. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

static uint32_t hash(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* ---- FUT 1 ---- */

void FUT_1_once(void) {
  enum { STEPS = 3 };
  bed b = bed_open(TASKS);
  uint32_t count = suite_scale(SCALED(20000, 1000)), k;
  memory m = memory_new(&b, count);
  const uint32_t *words;
  get_none(&b, start_many(&b, "fut_steps", count, (task_args){.at = m.at, .k = STEPS}));
  words = memory_load(&m);
  for (k = 0; k < count; k++)
    CHECK_EQ(STEPS, words[k]);
  bed_close(&b);
}

void FUT_1_tree(void) {
  bed b = bed_open(TASKS);
  uint32_t levels = settings.scale < 100u ? 6 : 12, nodes = 1u << (levels + 1u), k;
  memory m = memory_new(&b, nodes);
  const uint32_t *words;
  CHECK_EQ(nodes - 1, RUN(&b, "fut_tree", .at = m.at, .n = 1, .k = levels));
  words = memory_load(&m);
  CHECK_EQ(0, words[0]);
  for (k = 1; k < nodes; k++)
    CHECK_EQ(1, words[k]);
  bed_close(&b);
}

/* Again and again the same tree: no future is lost, and none is counted twice. */
void FUT_1_often(void) {
  enum { N = SCALED(25, 15), RESULT = SCALED(75025, 610), FUTURES = SCALED(242785, 1973) };
  uint32_t rounds = suite_scale(SCALED(1000, 20)), k;
  bed b = bed_open(TASKS);
  uint64_t before;
  rdl_stats stats;
  bed_settle(&b);
  before = bed_stats(&b).spawned;
  for (k = 0; k < rounds; k++)
    CHECK_EQ(RESULT, RUN(&b, "fut_fib", .n = N));
  bed_settle(&b);
  stats = bed_stats(&b);
  CHECK_EQ((uint64_t)FUTURES * rounds, stats.spawned - before);
  CHECK_EQ(stats.spawned, stats.finished);
  bed_close(&b);
}

void FUT_1_overlap(void) {
  enum { FUTURES = 60 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(60, 15));
  memory m = memory_new(&b, FUTURES + 1);
  get_none(&b, start_many(&b, "fut_alone", FUTURES, (task_args){.at = m.at, .k = rounds}));
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void FUT_1_handles(void) {
  enum { MOST = 5000 };
  bed b = bed_open(TASKS);
  uint32_t count = suite_scale(MOST), k;
  memory m = memory_new(&b, count);
  static task_args args[MOST];
  static rdl_future futures[MOST];
  static uint32_t results[MOST];
  const uint32_t *words;
  for (k = 0; k < count; k++)
    args[k] = (task_args){.at = m.at, .n = k, .k = 2};
  CHECK_OK(rdl_spawn_many(b.tasks, "fut_steps", args, sizeof args[0], sizeof args[0], count, NULL,
                          futures, NULL));
  CHECK_OK(rdl_future_get_many(b.cx, futures, count, results, sizeof results[0], PATIENCE_NS));
  words = memory_load(&m);
  for (k = 0; k < count; k++) {
    CHECK_EQ(k, results[k]);
    CHECK_EQ(2, words[k]);
  }
  bed_close(&b);
}

/* The places of an array, one after the other: what stands for the handle is looked at once. */
void FUT_1_places(void) {
  bed b = bed_open(TASKS);
  CHECK_EQ(32, RUN(&b, "fut_places", .n = 0));
  bed_close(&b);
}

/* As many as asked for and no more, wherever the row of arguments ends within the batches of 16
 * that a large batch is made of. What lies behind the row would start as futures too. */
void FUT_1_batch_rest(void) {
  static const uint32_t counts[] = {1, 15, 16, 17, 31, 33, 255, 256, 257, 271, 272, 273, 300};
  bed b = bed_open(TASKS);
  size_t k;
  uint32_t before = 0;
  for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    memory m = memory_new(&b, counts[k]);
    get_none(&b, start_many(&b, "fut_steps", counts[k], (task_args){.at = m.at, .k = 1}));
    bed_settle(&b);
    CHECK_BETWEEN(before + counts[k], bed_stats(&b).finished,
                  before + counts[k] + counts[k] / 8 + 3);
    before = (uint32_t)bed_stats(&b).finished;
  }
  CHECK_EQ(0, bed_stats(&b).failed);
  bed_close(&b);
}

/* ---- FUT 2 ---- */

void FUT_2_finished(void) {
  bed b = bed_open(TASKS);
  rdl_future done;
  uint64_t suspended;
  CHECK_OK(rdl_future_create(b.cx, &done));
  CHECK_OK(rdl_future_complete(b.cx, done, &(uint32_t){41}, 4, 0));
  CHECK_OK(rdl_future_wait(b.cx, &done, 1, PATIENCE_NS));
  suspended = bed_stats(&b).suspended;
  CHECK_EQ(41, RUN(&b, "fut_wait_again", .f = done, .n = 100));
  CHECK_EQ(suspended, bed_stats(&b).suspended);
  CHECK_EQ(41, get(&b, done));
  bed_close(&b);
}

void FUT_2_pending(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future child = START(&b, "fut_wait_event", .e = event, .n = 6);
  rdl_future parent = START(&b, "fut_wait", .at = m.at, .f = child);
  bed_await_suspended(&b, 2);
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(7, get(&b, parent));
  CHECK_EQ(6, get(&b, child));
  bed_settle(&b);
  CHECK_EQ(1, word_at(&m, 0));
  CHECK_EQ(2, bed_stats(&b).suspended);
  CHECK_EQ(2, bed_stats(&b).woken);
  bed_close(&b);
}

/* Two hundred futures await one: each goes on exactly once. */
void FUT_2_many_awaiters(void) {
  enum { AWAITERS = 200 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, AWAITERS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future awaiters[AWAITERS];
  rdl_future child = START(&b, "fut_wait_event", .e = event, .n = 1);
  uint32_t k;
  for (k = 0; k < AWAITERS; k++)
    awaiters[k] = START(&b, "fut_wait", .at = m.at, .f = child, .k = k);
  bed_await_suspended(&b, AWAITERS + 1);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  for (k = 0; k < AWAITERS; k++)
    CHECK_EQ(2, get(&b, awaiters[k]));
  CHECK_EQ(1, get(&b, child));
  bed_settle(&b);
  for (k = 0; k < AWAITERS; k++)
    CHECK_EQ(1, word_at(&m, k));
  CHECK_EQ(AWAITERS + 1, bed_stats(&b).suspended);
  CHECK_EQ(AWAITERS + 1, bed_stats(&b).woken);
  bed_close(&b);
}

/* Members of a batch, of which only they themselves have handles, are awaited by others. The batch
 * may have freed a member before its awaiter looks. */
void FUT_2_batch_member(void) {
  enum { MEMBERS = 16 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, (size_t)2 * MEMBERS + 1);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future awaiters[MEMBERS];
  task_args all = {.at = m.at, .e = event, .k = MEMBERS};
  rdl_future batch = start_many(&b, "fut_show_self", MEMBERS, all);
  uint32_t k;
  CHECK(word_becomes(&m, (size_t)2 * MEMBERS, MEMBERS, PATIENCE_NS));
  bed_await_suspended(&b, MEMBERS);
  for (k = 0; k < MEMBERS; k++)
    awaiters[k] = START(&b, "fut_wait_shown", .at = m.at, .n = k);
  bed_await_suspended(&b, (uint64_t)2 * MEMBERS);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  for (k = 0; k < MEMBERS; k++) {
    uint32_t outcome = get(&b, awaiters[k]);
    CHECK(outcome == RDL_OK || outcome == RDL_STALE);
  }
  get_none(&b, batch);
  bed_close(&b);
}

void FUT_2_host(void) {
  bed b = bed_open(TASKS);
  rdl_future f = START(&b, "fut_leaf", .n = 12);
  rdl_future_result outcome = {.size = sizeof outcome};
  uint32_t value = 0;
  CHECK_OK(rdl_future_wait(b.cx, &f, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_peek(b.cx, f, &value, sizeof value));
  CHECK_EQ(12, value);
  CHECK_OK(rdl_future_outcome(b.cx, f, 0, &outcome));
  CHECK_EQ(RDL_OK, outcome.status);
  CHECK_EQ(4, outcome.bytes);
  value = 0;
  CHECK_OK(rdl_future_get(b.cx, f, &value, sizeof value, 0));
  CHECK_EQ(12, value);
  bed_close(&b);
}

/* ---- FUT 3 ---- */

void FUT_3_child(void) {
  enum { MOST = 200, WORDS = 512 };
  bed b = bed_open(TASKS);
  uint32_t count = suite_scale(MOST), k;
  memory m = memory_new(&b, (size_t)count * WORDS);
  rdl_future parents[MOST];
  for (k = 0; k < count; k++)
    parents[k] = START(&b, "fut_see", .at = m.at, .n = k, .k = WORDS);
  for (k = 0; k < count; k++)
    CHECK_EQ(0, get(&b, parents[k]));
  bed_close(&b);
}

void FUT_3_host(void) {
  enum { WORDS = 4096 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WORDS);
  static uint32_t copy[WORDS];
  uint32_t rounds = suite_scale(100), round, k;
  for (round = 0; round < rounds; round++) {
    const uint32_t *words;
    memory_store(&m, NULL);
    get(&b, START(&b, "fut_fill", .at = m.at, .k = WORDS));
    CHECK_OK(rdl_buffer_read(m.buffer, 0, copy, sizeof copy));
    words = memory_load(&m);
    for (k = 0; k < WORDS; k++) {
      CHECK_EQ(hash(k), words[k]);
      CHECK_EQ(hash(k), copy[k]);
    }
  }
  bed_close(&b);
}

/* What the host wrote before the spawn is seen by the task; then from task to task to the host. */
void FUT_3_chain(void) {
  enum { MOST = 200, WORDS = 256 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WORDS);
  rdl_future links[MOST] = {{0, 0}};
  const uint32_t *words;
  uint32_t count = suite_scale(MOST), k;
  for (k = 0; k < count; k++)
    links[k] =
        START(&b, "fut_hand_over", .at = m.at, .f = links[k ? k - 1 : 0], .n = k, .k = WORDS);
  CHECK_OK(rdl_future_wait(b.cx, links, count, PATIENCE_NS)); /* before the first is taken */
  for (k = 0; k < count; k++)
    CHECK_EQ(k + 1, get(&b, links[k]));
  words = memory_load(&m);
  for (k = 0; k < WORDS; k++)
    CHECK_EQ(count, words[k]);
  bed_close(&b);
}

void FUT_3_large(void) {
  bed b = bed_open(TASKS);
  uint32_t count = suite_scale(SCALED(4 << 20, 1 << 18)), k;
  memory m = memory_new(&b, count);
  const uint32_t *words;
  CHECK_EQ(0, RUN(&b, "fut_see", .at = m.at, .k = count));
  words = memory_load(&m);
  for (k = 0; k < count; k += 997)
    CHECK_EQ(hash(k), words[k]);
  CHECK_EQ(hash(count - 1), words[count - 1]);
  bed_close(&b);
}

static uint32_t lanes_of(bed *b) {
  rdl_context_info info = {.size = sizeof info};
  CHECK_OK(rdl_context_describe(b->cx, &info));
  return info.lanes;
}

/* Every lane sees what its own child wrote, and its result. */
void FUT_3_lanes(void) {
  enum { WORDS = 64 };
  bed b = bed_open(TASKS);
  uint32_t lanes = lanes_of(&b), rounds = suite_scale(100), k;
  memory m = memory_new(&b, (size_t)lanes * WORDS);
  for (k = 0; k < rounds; k++) {
    memory_store(&m, NULL);
    CHECK_EQ(lanes << 16, RUN(&b, "fut_see_lanes", .at = m.at, .n = UINT32_MAX, .k = WORDS));
  }
  bed_close(&b);
}

/* ---- FUT 13 ---- */

/* What task fut_lane_state comes to in lane 0. */
static uint32_t lane_sum(uint32_t mark, uint32_t rounds) {
  uint32_t sums[4] = {0};
  uint32_t last = mark, k;
  for (k = 0; k < rounds; k++) {
    sums[k % 4] += mark;
    last = hash(last + sums[k % 4]);
  }
  return last;
}

void FUT_13_lane_state(void) {
  enum { FUTURES = 200, ROUNDS = 9 };
  bed b = bed_open(TASKS);
  rdl_future futures[FUTURES];
  uint32_t round, k;
  for (round = 0; round < 3; round++) {
    for (k = 0; k < FUTURES; k++)
      futures[k] = START(&b, "fut_lane_state", .n = 1000 * round + k, .k = ROUNDS + k % 3);
    for (k = 0; k < FUTURES; k++)
      CHECK_EQ(lane_sum(1000 * round + k, ROUNDS + k % 3), get(&b, futures[k]));
  }
  get_none(&b, start_many(&b, "fut_lane_state", 1000, (task_args){.k = ROUNDS}));
  bed_close(&b);
}

/* However the last owner of a frame has ended, the next one begins with zeros. */
void FUT_13_lane_ends(void) {
  enum { FUTURES = 50 };
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future futures[FUTURES];
  uint32_t k;
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, "fut_lane_ends", .e = event, .n = k % 3);
  for (k = 2; k < FUTURES; k += 3)
    CHECK_OK(rdl_future_cancel(b.cx, futures[k]));
  for (k = 0; k < FUTURES; k++) {
    if (k % 3 == 0) CHECK_END(&b, futures[k], RDL_OK, 0);
    if (k % 3 == 1) CHECK_END(&b, futures[k], RDL_FAILED, 77);
    if (k % 3 == 2) CHECK_END(&b, futures[k], RDL_CANCELLED, 0);
  }
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(lane_sum(k, 4), RUN(&b, "fut_lane_state", .n = k, .k = 4));
  bed_close(&b);
}

/* ---- FUT 14 ---- */

/* Lane 0 wants a child in every second task. Who wants none has none, nor a handle. */
void FUT_14_predicate(void) {
  enum { PARENTS = 100 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future parents[PARENTS];
  uint32_t k;
  for (k = 0; k < PARENTS; k++)
    parents[k] = START(&b, "fut_see_lanes", .at = m.at, .n = k % 2);
  for (k = 0; k < PARENTS; k++)
    CHECK_EQ(k % 2 << 16, get(&b, parents[k]));
  CHECK_EQ(PARENTS + PARENTS / 2, bed_stats(&b).spawned);
  bed_close(&b);
}

void FUT_14_handles(void) {
  enum { PARENTS = 50 };
  bed b = bed_open(TASKS);
  rdl_future parents[PARENTS];
  uint32_t k;
  for (k = 0; k < PARENTS; k++)
    parents[k] = START(&b, "fut_take_lanes", .n = 100 * k, .k = k % 4);
  for (k = 0; k < PARENTS; k++)
    CHECK_EQ(1, get(&b, parents[k]));
  CHECK_EQ(PARENTS * (1 + lanes_of(&b)), bed_stats(&b).spawned);
  bed_close(&b);
}
