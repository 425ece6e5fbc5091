/* SPDX-License-Identifier: Apache-2.0 */
/* HST 8: what the host says while a launch runs is heard in the order in which it was said, and the
 * launch answers, however the two share memory. */
#include <pthread.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

/* 0: the usual quantum. */
static bed open_for(uint64_t quantum_ns) {
  rdl_context_options options = bed_options();
  options.quantum_ns = quantum_ns;
  return bed_open_with(TASKS, &options);
}

static rdl_future keep_busy(bed *b, memory *m) {
  *m = memory_new(b, 4);
  return START(b, "fut_yield_for_ever", .at = m->at);
}

static void end_busy(bed *b, rdl_future busy) {
  CHECK_OK(rdl_future_cancel(b->cx, busy));
  CHECK_END(b, busy, RDL_CANCELLED, 0);
}

static void take_100(bed *b, rdl_future f, uint32_t seed) {
  unsigned char bytes[100];
  uint32_t k;
  CHECK_OK(rdl_future_get(b->cx, f, bytes, sizeof bytes, PATIENCE_NS));
  for (k = 0; k < sizeof bytes; k++)
    CHECK_EQ((unsigned char)(seed + k), bytes[k]);
}

static bool answers_in_a_launch(const bed *b) {
  rdl_context_info info = {.size = sizeof info};
  CHECK_OK(rdl_context_describe(b->cx, &info));
  return info.mode != RDL_MODE_EPOCH && !settings.segment_limit && !settings.loop_turns;
}

static uint64_t launches_of(bed *b) {
  rdl_stats stats = {.size = sizeof stats};
  CHECK_OK(rdl_context_stats(b->cx, &stats));
  return stats.launches;
}

/* A launch that runs starts roots and gives their results, small and large, before it ends. */
void HST_8_answers(void) {
  bed b = open_for(20u * MS); /* many times what an answer takes */
  uint32_t rounds = suite_scale(UNLESS_CUT(50, 20)), k;
  memory m;
  rdl_future busy = keep_busy(&b, &m);
  uint64_t before, launches;
  CHECK_EQ(1, RUN(&b, "fut_leaf", .n = 1)); /* it runs by now */
  before = launches_of(&b);
  for (k = 0; k < rounds; k++) {
    CHECK_EQ(k, RUN(&b, "fut_leaf", .n = k));
    take_100(&b, START(&b, "fut_give_100", .n = k), k);
  }
  launches = launches_of(&b) - before;
  if (answers_in_a_launch(&b)) CHECK_BETWEEN(0, launches, rounds / 2u + 2u);
  end_busy(&b, busy);
  bed_close(&b);
}

/* More is written at once than fits beside messages: tables of events, arguments of a batch. */
void HST_8_much(void) {
  enum { EVENTS = 2000 };
  static rdl_event events[EVENTS];
  bed b = open_for(0);
  uint32_t rounds = suite_scale(UNLESS_CUT(8, 2)), k;
  memory m;
  rdl_future busy = keep_busy(&b, &m);
  for (k = 0; k < rounds; k++) {
    rdl_future waiter, batch;
    CHECK_OK(rdl_event_create_many(b.cx, EVENTS, 1, 0, events));
    waiter = START(&b, "fut_wait_event", .e = events[EVENTS - 1], .n = k);
    batch = start_many(&b, "fut_count", 3000, (task_args){.at = m.at + 4u});
    CHECK_OK(rdl_event_signal(b.cx, events[EVENTS - 1], 1));
    CHECK_EQ(k, get(&b, waiter));
    get_none(&b, batch);
    CHECK_EQ((k + 1u) * 3000u, word_at(&m, 1));
  }
  end_busy(&b, busy);
  bed_close(&b);
}

/* What was taken is gone for every task that is started from then on. */
void HST_8_stale(void) {
  enum { TAKEN = 10 };
  bed b = open_for(0);
  uint32_t rounds = suite_scale(UNLESS_CUT(50, 5)), k, n;
  memory m;
  rdl_future busy = keep_busy(&b, &m);
  for (k = 0; k < rounds; k++) {
    rdl_future taken[TAKEN], waits[TAKEN];
    for (n = 0; n < TAKEN; n++)
      taken[n] = START(&b, "fut_leaf", .n = n);
    for (n = 0; n < TAKEN; n++)
      CHECK_EQ(n, get(&b, taken[n]));
    for (n = 0; n < TAKEN; n++)
      waits[n] = START(&b, "fut_wait", .f = taken[(n + TAKEN - 2u) % TAKEN]);
    for (n = 0; n < TAKEN; n++)
      CHECK_END(&b, waits[n], RDL_STALE, 0);
  }
  end_busy(&b, busy);
  bed_close(&b);
}

/* A future leaves a mark where it waited for what it no longer needs. The next one in its slot is
 * not woken by it, though it waits for the first time, too, and is told to the device between two
 * launches. */
void HST_8_marks(void) {
  enum { EVENTS = 200 };
  static rdl_event events[EVENTS];
  bed b = open_for(20u * MS);
  uint32_t rounds = suite_scale(UNLESS_CUT(20, 5)), k, value = 5, seen;
  memory m;
  rdl_future busy = keep_busy(&b, &m);
  for (k = 0; k < rounds; k++) {
    rdl_future late, early, any, next;
    CHECK_OK(rdl_future_create(b.cx, &late));
    CHECK_OK(rdl_future_create(b.cx, &early));
    any = START(&b, "fut_any", .f = late, .g = early);
    CHECK_EQ(k, RUN(&b, "fut_leaf", .n = k)); /* it waits by now, nearly always */
    CHECK_OK(rdl_future_complete(b.cx, early, &value, sizeof value, 0));
    CHECK_EQ(1u << 16 | value, get(&b, any));
    CHECK_OK(rdl_event_create_many(b.cx, EVENTS, 1, 0, events));
    next = START(&b, "fut_wait_event", .e = events[0], .n = k);
    CHECK_EQ(k, RUN(&b, "fut_leaf", .n = k));
    CHECK_OK(rdl_future_complete(b.cx, late, &value, sizeof value, 0));
    CHECK_OK(rdl_future_wait(b.cx, &late, 1, PATIENCE_NS));
    CHECK_EQ(k, RUN(&b, "fut_leaf", .n = k));
    CHECK_STATUS(RDL_AGAIN, rdl_future_peek(b.cx, next, &seen, sizeof seen));
    CHECK_OK(rdl_event_signal(b.cx, events[0], 1));
    CHECK_EQ(k, get(&b, next));
    get(&b, late);
    get(&b, early);
  }
  end_busy(&b, busy);
  bed_close(&b);
}

/* A batch that finds no root is given up, with its arguments, of which the host has already spoken.
 */
static void *refuse_a_batch(void *argument) {
  enum { COUNT = 10 };
  bed *b = argument;
  task_args args[COUNT] = {{.n = 1}};
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_future batch;
  options.room_ns = 60u * MS;
  CHECK_EQ(RDL_AGAIN, rdl_spawn_many(b->tasks, "fut_leaf", args, sizeof *args, sizeof *args, COUNT,
                                     &options, NULL, &batch));
  return NULL;
}

void HST_8_refused(void) {
  rdl_context_options options = bed_options();
  pthread_t thread;
  rdl_future larger, smaller, held[2], promise, other;
  bed b;
  memory m;
  uint32_t k;
  options.workers = 2;
  options.roots = 4;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 4);
  larger = start_many(&b, "fut_leaf", 30, (task_args){.n = 1}); /* its memory is taken meanwhile: */
  smaller = start_many(&b, "fut_leaf", 10, (task_args){.n = 1});
  get_none(&b, smaller);
  CHECK_OK(rdl_future_wait(b.cx, &larger, 1, PATIENCE_NS));
  for (k = 0; k < 2; k++)
    held[k] = START(&b, "fut_long", .at = m.at + 8u * k, .n = k, .k = 100000000);
  CHECK_OK(rdl_future_create(b.cx, &promise));
  sleep_ns(20u * MS);
  CHECK_EQ(0, pthread_create(&thread, NULL, refuse_a_batch, &b));
  sleep_ns(10u * MS);
  get_none(&b, larger);
  CHECK_OK(rdl_future_create(b.cx, &other));
  CHECK_EQ(0, pthread_join(thread, NULL));
  for (k = 0; k < 2; k++)
    CHECK_EQ(k, get(&b, held[k]));
  CHECK_EQ(1, RUN(&b, "fut_leaf", .n = 1));
  CHECK_OK(rdl_future_release(b.cx, promise));
  CHECK_OK(rdl_future_release(b.cx, other));
  bed_close(&b);
}

/* A launch does not end late when the host wants the device's memory. */
void HST_8_ends(void) {
  enum { EVENTS = 2000, ROUNDS = 5, QUANTUM_MS = 250 };
  static rdl_event events[EVENTS];
  bed b = open_for(QUANTUM_MS * MS);
  uint64_t begin;
  uint32_t k;
  memory m;
  rdl_future busy;
  if (!answers_in_a_launch(&b)) test_skip("a launch ends here when its quantum is over");
  busy = keep_busy(&b, &m);
  begin = now_ns();
  for (k = 0; k < ROUNDS; k++) {
    rdl_future waiter;
    CHECK_OK(rdl_event_create_many(b.cx, EVENTS, 1, 0, events));
    waiter = START(&b, "fut_wait_event", .e = events[EVENTS - 1], .n = k);
    CHECK_OK(rdl_event_signal(b.cx, events[EVENTS - 1], 1));
    CHECK_EQ(k, get(&b, waiter));
    CHECK_EQ(1, word_at(&m, 0));
  }
  CHECK(now_ns() - begin < ROUNDS * QUANTUM_MS * MS);
  end_busy(&b, busy);
  bed_close(&b);
}

/* ---- everything, in any order ---- */

typedef struct promised {
  rdl_future future;
  rdl_future other; /* to be taken afterwards; none = zeros */
  rdl_status status;
  uint32_t value; /* that it gives; LARGE: what its 100 bytes begin with */
  bool large;
} promised;

#define MOST_OPEN 48u

static rdl_future start_after(bed *b, rdl_future first, uint32_t n) {
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = n};
  rdl_future behind;
  options.after = &first;
  options.after_count = 1;
  CHECK_OK(rdl_spawn(b->tasks, "fut_leaf", &args, sizeof args, &options, &behind));
  return behind;
}

static promised say_event(bed *b, uint32_t n, bool behind_it) {
  rdl_event event = new_event(b, 1, 0);
  promised p = {.future = START(b, "fut_wait_event", .e = event, .n = n), .value = n};
  if (behind_it) {
    p.other = p.future;
    p.future = start_after(b, p.other, n);
  }
  CHECK_OK(rdl_event_signal(b->cx, event, 1));
  return p;
}

static promised say_promise(bed *b, uint32_t n) {
  promised p = {.value = n + 1u};
  CHECK_OK(rdl_future_create(b->cx, &p.other));
  p.future = START(b, "fut_wait", .f = p.other);
  CHECK_OK(rdl_future_complete(b->cx, p.other, &n, sizeof n, 0));
  return p;
}

/* The handle is good no more before the second task hears of it. */
static promised say_stale(bed *b, uint32_t n) {
  rdl_future gone = START(b, "fut_leaf", .n = n);
  promised p = {.status = RDL_STALE};
  CHECK_EQ(n, get(b, gone));
  p.future = START(b, "fut_wait", .f = gone);
  return p;
}

static promised say_cancel(bed *b) {
  promised p = {.status = RDL_CANCELLED};
  p.future = START(b, "fut_wait_event", .e = new_event(b, 1, 0));
  CHECK_OK(rdl_future_cancel(b->cx, p.future));
  return p;
}

static void say_members(bed *b, uint32_t n) {
  enum { MEMBERS = 5 };
  task_args args[MEMBERS] = {{.n = n}, {.n = n + 1u}, {.n = n + 2u}, {.n = n + 3u}, {.n = n + 4u}};
  rdl_future members[MEMBERS];
  uint32_t k;
  CHECK_OK(rdl_spawn_many(b->tasks, "fut_leaf", args, sizeof *args, sizeof *args, MEMBERS, NULL,
                          members, NULL));
  for (k = 0; k < MEMBERS; k++)
    CHECK_EQ(n + k, get(b, members[k]));
}

static promised say_something(bed *b, uint32_t n) {
  switch (chance(10)) {
  case 0:
    return say_event(b, n, false);
  case 1:
    return say_event(b, n, true);
  case 2:
    return say_promise(b, n);
  case 3:
    return say_stale(b, n);
  case 4:
    return say_cancel(b);
  case 5:
    say_members(b, n);
    break;
  case 6:
    CHECK_OK(rdl_future_release(b->cx, START(b, "fut_leaf", .n = n)));
    break;
  case 7:
    return (promised){.future = START(b, "fut_give_100", .n = n), .value = n, .large = true};
  default:
    break;
  }
  return (promised){.future = START(b, "fut_leaf", .n = n), .value = n};
}

static void take_promised(bed *b, const promised *p) {
  if (p->status)
    CHECK_END(b, p->future, p->status, 0);
  else if (p->large)
    take_100(b, p->future, p->value);
  else
    CHECK_EQ(p->value, get(b, p->future));
  if (p->other.generation) CHECK_OK(rdl_future_get(b->cx, p->other, NULL, 0, PATIENCE_NS));
}

static void talk(uint64_t quantum_ns, uint32_t rounds) {
  bed b = open_for(quantum_ns);
  promised open[MOST_OPEN];
  uint32_t count = 0, k;
  memory m;
  rdl_future busy = keep_busy(&b, &m);
  for (k = 0; k < rounds; k++) {
    open[count++] = say_something(&b, k);
    while (count == MOST_OPEN || (count && chance(8) == 0)) {
      uint32_t which = chance(count);
      take_promised(&b, &open[which]);
      open[which] = open[--count];
    }
  }
  while (count)
    take_promised(&b, &open[--count]);
  end_busy(&b, busy);
  bed_close(&b);
}

void HST_8_anything(void) {
  talk(0, suite_scale(UNLESS_CUT(1500, 200)));
}

/* Launches end with messages that they have not read. */
void HST_8_short_launches(void) {
  talk(30u * US, suite_scale(UNLESS_CUT(2000, 200)));
}
