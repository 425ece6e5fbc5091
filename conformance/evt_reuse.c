/* SPDX-License-Identifier: Apache-2.0 */
/* EVT 4 to 6: reuse, many waiters, and what is seen after a wait. */
#include "conformance/harness.h"

#define TASKS "evt.task.c"

/* ---- EVT 4 ---- */

void EVT_4_busy(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0), same = event;
  rdl_future f = START(&b, "evt_wait", .at = m.at, .e = event);
  bed_await_suspended(&b, 1);
  CHECK_STATUS(RDL_BUSY, rdl_event_reset(b.cx, &event));
  CHECK_EQ(same.generation, event.generation);
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(1, get(&b, f));
  CHECK_OK(rdl_event_reset(b.cx, &event));
  CHECK(same.generation != event.generation);
  bed_close(&b);
}

void EVT_4_stale(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 2, 0), old = event;
  CHECK_OK(rdl_event_signal(b.cx, event, 2));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  CHECK_OK(rdl_event_reset(b.cx, &event));
  CHECK_STATUS(RDL_STALE, rdl_event_signal(b.cx, old, 1));
  CHECK_STATUS(RDL_STALE, rdl_event_wait(b.cx, old, 0));
  CHECK_STATUS(RDL_STALE, rdl_event_wait_count(b.cx, old, 1, 0));
  CHECK_STATUS(RDL_STALE, rdl_event_seal(b.cx, old));
  CHECK_STATUS(RDL_STALE, rdl_event_reset(b.cx, &old));
  CHECK_STATUS(RDL_STALE, rdl_event_destroy(b.cx, old));
  CHECK_EQ(RDL_STALE, RUN(&b, "evt_catch", .e = old));
  CHECK_END(&b, START(&b, "evt_signal", .e = old, .n = 1, .k = 1), RDL_STALE, 0);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 1u * MS));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  bed_close(&b);
}

void EVT_4_destroyed(void) {
  enum { WAITERS = 200 };
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future waiters[WAITERS];
  uint32_t k;
  for (k = 0; k < WAITERS; k++)
    waiters[k] = START(&b, "evt_catch", .e = event);
  bed_await_suspended(&b, WAITERS);
  CHECK_OK(rdl_event_destroy(b.cx, event));
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(RDL_STALE, get(&b, waiters[k]));
  CHECK_STATUS(RDL_STALE, rdl_event_signal(b.cx, event, 1));
  CHECK_STATUS(RDL_STALE, rdl_event_destroy(b.cx, event));
  CHECK_EQ(RDL_STALE, RUN(&b, "evt_catch", .e = event));
  bed_close(&b);
}

/* More than can be told at once. */
void EVT_4_many_waiters(void) {
  enum { WAITERS = 5000 };
  static task_args args[WAITERS];
  static rdl_future waiters[WAITERS];
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  uint32_t k;
  for (k = 0; k < WAITERS; k++)
    args[k].e = event;
  CHECK_OK(rdl_spawn_many(b.tasks, "evt_catch", args, sizeof args[0], sizeof args[0], WAITERS, NULL,
                          waiters, NULL));
  bed_await_suspended(&b, WAITERS);
  CHECK_OK(rdl_event_destroy(b.cx, event));
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(RDL_STALE, get(&b, waiters[k]));
  bed_close(&b);
}

/* The same few events again and again: no handle of an earlier life is good. */
void EVT_4_reuse(void) {
  enum { ROUNDS = SCALED(3000, 500) };
  rdl_context_options options = bed_options();
  rdl_event first, event;
  bed b;
  uint32_t k;
  options.events = 2;
  b = bed_open_with(TASKS, &options);
  first = new_event(&b, 1, 0);
  CHECK_OK(rdl_event_destroy(b.cx, first));
  event = new_event(&b, 1, 0);
  for (k = 0; k < ROUNDS; k++) {
    CHECK(event.index != first.index || event.generation != first.generation);
    CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 0));
    CHECK_STATUS(RDL_STALE, rdl_event_signal(b.cx, first, 1));
    if (k % 3 == 0) {
      CHECK_OK(rdl_event_reset(b.cx, &event));
      continue;
    }
    CHECK_OK(rdl_event_destroy(b.cx, event));
    event = new_event(&b, 1, 0);
  }
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  new_event(&b, 1, 0);
  CHECK_STATUS(RDL_AGAIN, rdl_event_create(b.cx, 1, 0, &event));
  bed_close(&b);
}

void EVT_4_permission(void) {
  bed b = bed_open(TASKS);
  rdl_event device = new_event(&b, 1, RDL_EVENT_DEVICE), sealed = new_event(&b, 2, 0);
  CHECK_STATUS(RDL_PERMISSION, rdl_event_signal(b.cx, device, 1));
  CHECK_OK(rdl_event_signal(b.cx, sealed, 1));
  CHECK_OK(rdl_event_seal(b.cx, sealed));
  CHECK_STATUS(RDL_PERMISSION, rdl_event_signal(b.cx, sealed, 1));
  CHECK_EQ(1, RUN(&b, "evt_signal", .e = device, .n = 1, .k = 1));
  CHECK_EQ(1, RUN(&b, "evt_signal", .e = sealed, .n = 1, .k = 1));
  CHECK_OK(rdl_event_wait(b.cx, device, PATIENCE_NS));
  CHECK_OK(rdl_event_wait(b.cx, sealed, PATIENCE_NS));
  bed_close(&b);
}

void EVT_4_made_up(void) {
  bed a = bed_open(TASKS), b = bed_open(TASKS);
  rdl_event ea = new_event(&a, 1, 0), eb = new_event(&b, 1, 0);
  rdl_event bad[] = {{0, 0}, {0xffffffffu, 1}, {1, 1}, ea};
  uint32_t k;
  for (k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    CHECK_STATUS(RDL_INVALID, rdl_event_signal(b.cx, bad[k], 1));
    CHECK_STATUS(RDL_INVALID, rdl_event_wait(b.cx, bad[k], 0));
    CHECK_STATUS(RDL_INVALID, rdl_event_wait_count(b.cx, bad[k], 1, 0));
    CHECK_STATUS(RDL_INVALID, rdl_event_seal(b.cx, bad[k]));
    CHECK_STATUS(RDL_INVALID, rdl_event_reset(b.cx, &bad[k]));
    CHECK_STATUS(RDL_INVALID, rdl_event_destroy(b.cx, bad[k]));
    CHECK_EQ(RDL_INVALID, RUN(&b, "evt_catch", .e = bad[k]));
    CHECK_END(&b, START(&b, "evt_signal", .e = bad[k], .n = 1, .k = 1), RDL_INVALID, 0);
  }
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(a.cx, ea, 0));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, eb, 0));
  bed_close(&a);
  bed_close(&b);
}

/* ---- EVT 5 ---- */

typedef struct cost {
  uint64_t segments;
  uint64_t woken;
} cost;

static cost cost_of_waiters(uint32_t count) {
  rdl_context_options options = bed_options();
  bed b;
  memory m;
  rdl_event event;
  rdl_future batch;
  rdl_stats s;
  options.slots = 50000;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, count);
  event = new_event(&b, 1, 0);
  batch = start_many(&b, "evt_wait", count, (task_args){.at = m.at, .e = event});
  bed_await_suspended(&b, count);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get_none(&b, batch);
  bed_settle(&b);
  s = bed_stats(&b);
  bed_close(&b);
  return (cost){s.segments, s.woken};
}

/* Ten times as many waiters cost ten times as much work, counted and not timed. */
void EVT_5_waiters(void) {
  cost few = cost_of_waiters(1000), many = cost_of_waiters(10000);
  CHECK_BETWEEN(20000, many.segments, 12 * few.segments);
  CHECK_BETWEEN(10000, many.woken, 12 * few.woken);
}

static cost cost_of_events(uint32_t count) {
  bed b = bed_open(TASKS);
  static rdl_event events[10000];
  memory m = memory_new(&b, (size_t)2 * count);
  rdl_future f;
  rdl_stats s;
  uint32_t k;
  CHECK_OK(rdl_event_create_many(b.cx, count, 1, 0, events));
  for (k = 0; k < count; k++)
    pair_set(&m, k, events[k].index, events[k].generation);
  f = START(&b, "evt_wait_all", .at = m.at, .n = count);
  for (k = 0; k < count; k++) /* some before the task waits for them, some after */
    CHECK_OK(rdl_event_signal(b.cx, events[k < count / 2 ? count - 1 - k : k - count / 2], 1));
  CHECK_EQ(count, get(&b, f));
  bed_settle(&b);
  s = bed_stats(&b);
  bed_close(&b);
  return (cost){s.segments, s.woken};
}

void EVT_5_events(void) {
  cost many = cost_of_events(10000);
  CHECK_BETWEEN(1, many.segments, 10001 + 2);
  CHECK_BETWEEN(0, many.woken, 10000);
}

/* Waiters that gave up leave nothing behind that those who stay would pay for. */
void EVT_5_timed_out_waiters(void) {
  enum { ROUNDS = 20, WAITERS = SCALED(500, 100) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future stays = START(&b, "evt_wait_for", .at = m.at, .e = event, .k = 100000000);
  uint32_t round;
  for (round = 0; round < ROUNDS; round++)
    get_none(
        &b, start_many(&b, "evt_wait_for", WAITERS, (task_args){.at = m.at, .e = event, .k = 500}));
  CHECK_EQ(ROUNDS * WAITERS, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(RDL_OK, get(&b, stays));
  CHECK_EQ(1, word_at(&m, 1));
  bed_close(&b);
}

/* ---- EVT 6 ---- */

/* The host writes and signals, the task reads, writes and signals, the host reads. */
void EVT_6_visible(void) {
  enum { ROUNDS = SCALED(300, 60) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 32);
  rdl_event to_task = new_event(&b, ROUNDS, 0), to_host = new_event(&b, ROUNDS, RDL_EVENT_DEVICE);
  rdl_future f = START(&b, "evt_echo", .at = m.at, .e = to_task, .d = to_host, .n = ROUNDS);
  uint32_t k;
  for (k = 1; k <= ROUNDS; k++) {
    word_set(&m, 0, k);
    CHECK_OK(rdl_event_signal(b.cx, to_task, 1));
    CHECK_OK(rdl_event_wait_count(b.cx, to_host, k, PATIENCE_NS));
    CHECK_EQ(k, word_at(&m, 16));
  }
  CHECK_EQ(0, get(&b, f));
  bed_close(&b);
}

/* Two tasks hand a value to and fro. */
void EVT_6_ping_pong(void) {
  enum { ROUNDS = SCALED(20000, 2000), PAIRS = 4 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, (size_t)32 * PAIRS);
  rdl_future echoes[PAIRS], calls[PAIRS];
  uint32_t k;
  for (k = 0; k < PAIRS; k++) {
    rdl_event e = new_event(&b, ROUNDS, RDL_EVENT_DEVICE);
    rdl_event d = new_event(&b, ROUNDS, RDL_EVENT_DEVICE);
    rdl_ptr at = m.at + (rdl_ptr)k * 32 * sizeof(uint32_t);
    echoes[k] = START(&b, "evt_echo", .at = at, .e = e, .d = d, .n = ROUNDS);
    calls[k] = START(&b, "evt_call", .at = at, .e = e, .d = d, .n = ROUNDS);
  }
  for (k = 0; k < PAIRS; k++) {
    CHECK_EQ(0, get(&b, echoes[k]));
    CHECK_EQ(0, get(&b, calls[k]));
  }
  bed_close(&b);
}
