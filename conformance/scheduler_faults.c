/* SPDX-License-Identifier: Apache-2.0 */
/* FLT: what the faults of conformance/faults/ break and no other case is sure to see. Races are
 * repeated until a fault that loses one of them can hardly hide. */
#include "conformance/harness.h"

#define TASKS "flt.task.c"

enum { RACERS = 8 };

static void race(bed *b, const char *task, uint32_t rounds) {
  rdl_event never = new_event(b, 1, 0);
  memory m = memory_new(b, 1);
  rdl_future racers[RACERS];
  uint32_t k;
  for (k = 0; k < RACERS; k++)
    racers[k] = START(b, task, .at = m.at, .e = never, .k = rounds);
  for (k = 0; k < RACERS; k++)
    CHECK_EQ(rounds, get(b, racers[k]));
}

/* The awaited future ends between the look at it and the push of the node. */
void FLT_1_closed(void) {
  bed b = bed_open(TASKS);
  race(&b, "flt_racer", suite_scale(UNLESS_CUT(SCALED(20000, 2000), 2000)));
  bed_close(&b);
}

/* In a heap so small that a node lost at each of them would be felt. */
void FLT_1_any_closed(void) {
  rdl_context_options options = bed_options();
  bed b;
  options.slots = 128; /* with few nodes, so that lost ones are missed soon */
  options.roots = 16;
  options.events = 16;
  b = bed_open_with(TASKS, &options);
  race(&b, "flt_any_racer", suite_scale(UNLESS_CUT(SCALED(100000, 2000), 2000)));
  bed_close(&b);
}

void FLT_1_crowd(void) {
  bed b = bed_open(TASKS);
  race(&b, "flt_crowd_racer", suite_scale(UNLESS_CUT(SCALED(5000, 500), 500)));
  bed_close(&b);
}

/* A node of a wait that is over must not end the next wait. */
void FLT_2_late_node(void) {
  bed b = bed_open(TASKS);
  rdl_event first = new_event(&b, 1, 0), second = new_event(&b, 1, 0), last = new_event(&b, 1, 0);
  rdl_future f = START(&b, "flt_wait_event", .e = first);
  rdl_future g = START(&b, "flt_wait_event", .e = second);
  rdl_future waiter = START(&b, "flt_late_node", .f = f, .g = g, .e = last);
  bed_await_suspended(&b, 3);
  CHECK_OK(rdl_event_signal(b.cx, first, 1));
  bed_await_suspended(&b, 4); /* before `f` is taken: the waiter would find it stale */
  get(&b, f);
  CHECK_OK(rdl_event_signal(b.cx, second, 1));
  get(&b, g);
  bed_stats(&b);
  CHECK_OK(rdl_event_signal(b.cx, last, 1));
  CHECK_EQ(16, get(&b, waiter));
  bed_close(&b);
}

/* A request that comes while the segment runs is heard when it suspends. */
void FLT_3_asked(void) {
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  memory m = memory_new(&b, 2);
  if (b.workers < 2) test_skip("needs several workers");
  CHECK_EQ(RDL_CANCELLED, RUN(&b, "flt_asks_running", .at = m.at, .e = never));
  bed_close(&b);
}

/* A second request does not end what a clean-up waits for. */
void FLT_3_asked_again(void) {
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0), later = new_event(&b, 1, 0);
  memory m = memory_new(&b, 2);
  rdl_future f = START(&b, "flt_cleans_up", .at = m.at, .e = never, .d = later);
  bed_await_suspended(&b, 1);
  CHECK_OK(rdl_future_cancel(b.cx, f));
  bed_await_suspended(&b, 2);
  CHECK_EQ(1 + RDL_CANCELLED, word_at(&m, 0));
  get(&b, START(&b, "flt_asks", .at = m.at, .f = f));
  bed_stats(&b);
  CHECK_OK(rdl_event_signal(b.cx, later, 1));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  CHECK_EQ(1 + RDL_OK, word_at(&m, 1));
  bed_close(&b);
}

void FLT_4_children(void) {
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(20000, 2000), 2000));
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, RACERS);
  rdl_future parents[RACERS];
  uint32_t k;
  for (k = 0; k < RACERS; k++)
    parents[k] = START(&b, "flt_parent", .at = m.at, .n = k, .k = rounds);
  for (k = 0; k < RACERS; k++)
    CHECK_EQ(rounds, get(&b, parents[k]));
  bed_close(&b);
}

/* A chain of which each link wakes the one before lets others have their turns. */
void FLT_5_chain(void) {
  enum { LINKS = 20000 };
  rdl_context_options options = bed_options();
  rdl_event event;
  rdl_future chain, watcher;
  memory m;
  bed b;
  options.workers = 1;
  b = bed_open_with(TASKS, &options);
  event = new_event(&b, 1, 0);
  m = memory_new(&b, 1);
  chain = START(&b, "flt_link", .at = m.at, .e = event, .n = LINKS);
  bed_await_suspended(&b, LINKS + 1);
  watcher = START(&b, "flt_watches", .at = m.at, .n = LINKS);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get(&b, chain);
  CHECK_BETWEEN(1, get(&b, watcher), 256);
  bed_close(&b);
}

/* More waiters than are woken at once go on although something else is always ready. */
void FLT_5_backlog(void) {
  enum { WAITERS = 300, TURNS = 1000000 };
  rdl_context_options options = bed_options();
  rdl_event event;
  rdl_future waiters;
  memory m;
  bed b;
  options.workers = 1;
  b = bed_open_with(TASKS, &options);
  event = new_event(&b, 1, 0);
  m = memory_new(&b, 1);
  waiters = start_many(&b, "flt_woken", WAITERS, (task_args){.at = m.at, .e = event});
  bed_await_suspended(&b, WAITERS);
  CHECK_BETWEEN(0, RUN(&b, "flt_keeps_busy", .at = m.at, .e = event, .n = WAITERS, .k = TURNS),
                TURNS - 1);
  get_none(&b, waiters);
  bed_close(&b);
}

/* Two futures answer each other's signals. */
void FLT_6_echo(void) {
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(30000, 3000), 3000));
  bed b = bed_open(TASKS);
  rdl_event events[2 * RACERS];
  rdl_future echoes[2 * RACERS];
  uint32_t k;
  for (k = 0; k < 2 * RACERS; k++)
    events[k] = new_event(&b, 1, 0);
  for (k = 0; k < 2 * RACERS; k++)
    echoes[k] = START(&b, "flt_echo", .e = events[k], .d = events[k ^ 1u], .k = rounds);
  for (k = 0; k < 2 * RACERS; k++)
    CHECK_EQ(rounds, get(&b, echoes[k]));
  bed_close(&b);
}

/* Many wait for the same room. */
void FLT_7_room(void) {
  enum { ROUNDS = SCALED(20000, 2000) };
  rdl_context_options options = bed_options();
  rdl_future crowds[RACERS];
  uint32_t k;
  bed b;
  options.slots = 16;
  b = bed_open_with(TASKS, &options);
  for (k = 0; k < RACERS; k++)
    crowds[k] = START(&b, "flt_crowds", .k = ROUNDS);
  for (k = 0; k < RACERS; k++)
    CHECK_EQ(ROUNDS, get(&b, crowds[k]));
  bed_close(&b);
}

/* The slot of what is awaited is born again between the look at it and the push of the node. */
void FLT_8_reborn(void) {
  enum { PAIRS = 4 };
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(20000, 1000), 1000));
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, (size_t)4 * PAIRS);
  rdl_future hosts[PAIRS], visitors[PAIRS];
  uint32_t k;
  for (k = 0; k < PAIRS; k++) {
    hosts[k] = START(&b, "flt_hosts", .at = m.at, .e = new_event(&b, 1, 0), .n = k, .k = rounds);
    visitors[k] = START(&b, "flt_visits", .at = m.at, .n = k, .k = rounds);
  }
  for (k = 0; k < PAIRS; k++) {
    CHECK_EQ(rounds, get(&b, hosts[k]));
    CHECK_EQ(rounds, get(&b, visitors[k]));
  }
  bed_close(&b);
}
