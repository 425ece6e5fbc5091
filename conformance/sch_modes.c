/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 7 and 8: flat mode gives the same results, and deadlocks are told. */
#include <string.h>
#include <time.h>

#include "conformance/harness.h"

#define TASKS "sch.task.c"

/* ---- SCH 7 ---- */

static bed open_mode(uint32_t flat) {
  rdl_context_options options = bed_options();
  options.flat = flat;
  return bed_open_with(TASKS, &options);
}

void SCH_7_fib(void) {
  uint32_t flat;
  for (flat = 0; flat < 2; flat++) {
    bed b = open_mode(flat);
    CHECK_EQ(987, RUN(&b, "sch_fib", .n = 16));
    bed_settle(&b);
    if (flat)
      CHECK(bed_stats(&b).claimed > 0);
    else
      CHECK_EQ(0, bed_stats(&b).claimed);
    bed_close(&b);
  }
}

/* Runs points, each behind two earlier ones (or none: itself), and compares with the host's values.
 */
static void run_graph(bed *b, uint32_t count, const uint32_t *left, const uint32_t *up) {
  static rdl_future futures[2048];
  static uint32_t expected[2048];
  uint32_t k;
  CHECK(count <= 2048);
  for (k = 0; k < count; k++) {
    task_args args = {.n = k * 2654435761u};
    expected[k] = args.n;
    if (left[k] < k) {
      args.f = futures[left[k]];
      expected[k] = expected[k] * 31u + expected[left[k]];
    }
    if (up[k] < k) {
      args.g = futures[up[k]];
      expected[k] = expected[k] * 31u + expected[up[k]];
    }
    futures[k] = start(b, "sch_point", args);
  }
  CHECK_OK(rdl_future_wait(b->cx, futures, count, PATIENCE_NS));
  for (k = 0; k < count; k++)
    CHECK_EQ(expected[k], get(b, futures[k]));
}

void SCH_7_wavefront(void) {
  enum { SIDE = 32 };
  static uint32_t left[SIDE * SIDE], up[SIDE * SIDE];
  uint32_t k, flat;
  for (k = 0; k < SIDE * SIDE; k++) {
    left[k] = k % SIDE ? k - 1 : k;
    up[k] = k >= SIDE ? k - SIDE : k;
  }
  for (flat = 0; flat < 2; flat++) {
    bed b = open_mode(flat);
    run_graph(&b, SIDE * SIDE, left, up);
    bed_close(&b);
  }
}

void SCH_7_graph(void) {
  enum { POINTS = SCALED(2000, 500), GRAPHS = 4 };
  static uint32_t left[POINTS], up[POINTS];
  uint32_t graph, k, flat;
  for (flat = 0; flat < 2; flat++) {
    bed b = open_mode(flat);
    for (graph = 0; graph < GRAPHS; graph++) {
      for (k = 0; k < POINTS; k++) {
        left[k] = chance(k + 1);
        up[k] = k > 10 ? k - chance(10) : k;
      }
      run_graph(&b, POINTS, left, up);
    }
    bed_close(&b);
  }
}

/* ---- SCH 8: the promise is one second; another one is for a busy machine ---- */

#define SOON_NS (2000u * MS * (SANITIZED ? 5u : 1u))

static void check_usable(bed *b) {
  CHECK_EQ(55, RUN(b, "sch_fib", .n = 10));
}

static void check_deadlock(bed *b, rdl_future f, const char *task, uint64_t begin) {
  rdl_future_result outcome = {.size = sizeof outcome};
  CHECK_OK(rdl_future_outcome(b->cx, f, SOON_NS, &outcome));
  CHECK_STATUS(RDL_DEADLOCK, outcome.status);
  CHECK_BETWEEN(0, now_ns() - begin, SOON_NS);
  CHECK_STATUS(RDL_DEADLOCK, rdl_future_get(b->cx, f, NULL, 0, 0));
  CHECK_CONTAINS(rdl_error_text(), task);
}

void SCH_8_self(void) {
  bed b = bed_open(TASKS);
  uint64_t begin = now_ns();
  check_deadlock(&b, START(&b, "sch_self", .n = 1), "sch_self", begin);
  check_usable(&b);
  bed_close(&b);
}

/* A cycle of `count`, and one more that waits for it from outside. */
static void run_cycle(bed *b, uint32_t count) {
  memory m = memory_new(b, (size_t)2 * count);
  rdl_future promise, members[8] = {{0, 0}}, outside;
  uint64_t begin;
  uint32_t k;
  CHECK_OK(rdl_future_create(b->cx, &promise));
  for (k = 0; k < count; k++) {
    members[k] = START(b, "sch_ring", .at = m.at, .f = promise, .n = (k + 1) % count);
    pair_set(&m, k, members[k].index, members[k].generation);
  }
  outside = START(b, "sch_wait", .f = members[0]);
  begin = now_ns();
  CHECK_OK(rdl_future_complete(b->cx, promise, NULL, 0, 0));
  check_deadlock(b, outside, "sch_wait", begin);
  for (k = 0; k < count; k++) {
    check_deadlock(b, members[k], "sch_ring (future ", begin);
    CHECK_CONTAINS(rdl_error_text(), "sch.task.c:");
    CHECK_CONTAINS(rdl_error_text(), " waits for sch_ring (future ");
  }
  CHECK_OK(rdl_future_get(b->cx, promise, NULL, 0, PATIENCE_NS));
  check_usable(b);
}

void SCH_8_two(void) {
  bed b = bed_open(TASKS);
  run_cycle(&b, 2);
  run_cycle(&b, 2);
  bed_close(&b);
}

void SCH_8_three(void) {
  bed b = bed_open(TASKS);
  run_cycle(&b, 3);
  bed_close(&b);
}

/* One waits for the other before it starts: both are told, by the names of their tasks. */
void SCH_8_after(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 1};
  rdl_future promise, first, second;
  uint64_t begin;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  first = START(&b, "sch_ring", .at = m.at, .f = promise);
  options.after = &first;
  options.after_count = 1;
  CHECK_OK(rdl_spawn(b.tasks, "sch_leaf", &args, sizeof args, &options, &second));
  pair_set(&m, 0, second.index, second.generation);
  begin = now_ns();
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  check_deadlock(&b, second, "sch_ring (future", begin);
  check_deadlock(&b, first, "sch_leaf (future", begin);
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  check_usable(&b);
  bed_close(&b);
}

static void run_cycle_beside_others(bed *b) {
  memory m = memory_new(b, 1);
  rdl_future busy[3];
  uint32_t k;
  for (k = 0; k < 3; k++)
    busy[k] = START(b, "sch_busy", .at = m.at);
  run_cycle(b, 3);
  word_set(&m, 0, 1);
  for (k = 0; k < 3; k++)
    CHECK_EQ(5, get(b, busy[k]));
}

/* Also while others run. */
void SCH_8_beside_others(void) {
  bed b = bed_open(TASKS);
  run_cycle_beside_others(&b);
  bed_close(&b);
}

/* However long launches and idle stretches may be. */
void SCH_8_long_times(void) {
  rdl_context_options options = bed_options();
  rdl_event event;
  bed b;
  options.quantum_ns = options.park_ns = options.spin_ns = RDL_FOREVER;
  b = bed_open_with(TASKS, &options);
  event = new_event(&b, 1, 0);
  CHECK_OK(rdl_event_seal(b.cx, event));
  CHECK_STATUS(RDL_DEADLOCK, rdl_event_wait(b.cx, event, SOON_NS));
  run_cycle(&b, 2);
  run_cycle_beside_others(&b);
  bed_close(&b);
}

/* Also while the host calls all the time, so that the device never comes to rest. */
static void get_in_traffic(bed *b, rdl_future f) {
  struct timespec pause = {0, 1000000};
  uint64_t begin = now_ns();
  rdl_status status = RDL_TIMEOUT;
  while (status == RDL_TIMEOUT && now_ns() - begin < 2u * SOON_NS) {
    CHECK_EQ(4, RUN(b, "sch_leaf", .n = 4));
    status = rdl_future_get(b->cx, f, NULL, 0, 0);
    nanosleep(&pause, NULL);
  }
  CHECK_STATUS(RDL_DEADLOCK, status);
}

void SCH_8_beside_calls(void) {
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < 3; k++)
    get_in_traffic(&b, START(&b, "sch_self", .n = 1));
  check_usable(&b);
  bed_close(&b);
}

void SCH_8_device_event(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, RDL_EVENT_DEVICE);
  uint64_t begin = now_ns();
  rdl_future f = START(&b, "sch_wait_event", .e = event);
  rdl_future behind = START(&b, "sch_wait", .f = f);
  check_deadlock(&b, behind, "sch_wait", begin);
  check_deadlock(&b, f, "sch_wait_event", begin);
  CHECK_CONTAINS(rdl_error_text(), "event");
  check_usable(&b);
  bed_close(&b);
}

void SCH_8_sealed_event(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future f = START(&b, "sch_wait_event", .e = event);
  uint64_t begin;
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &f, 1, 300u * MS));
  begin = now_ns();
  CHECK_OK(rdl_event_seal(b.cx, event));
  check_deadlock(&b, f, "sch_wait_event", begin);
  check_usable(&b);
  bed_close(&b);
}

/* What the host or a deadline can still move is not a deadlock. */
void SCH_8_no_deadlock(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future promise, waits[4];
  CHECK_OK(rdl_future_create(b.cx, &promise));
  waits[0] = START(&b, "sch_wait_event", .e = event);
  waits[1] = START(&b, "sch_wait", .f = promise);
  waits[2] = START(&b, "sch_sleep", .k = 1200000);
  waits[3] = START(&b, "sch_wait", .f = waits[2]);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, waits, 1, 900u * MS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, waits + 1, 1, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(3, get(&b, waits[0]));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_EQ(2, get(&b, waits[1]));
  CHECK_EQ(2, get(&b, waits[3]));
  CHECK_EQ(4, get(&b, waits[2]));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

/* The longest sleep is one, and the longest limit of an await is none. */
void SCH_8_longest(void) {
  bed b = bed_open(TASKS);
  rdl_future sleeps = START(&b, "sch_sleep_longest", .n = 0);
  rdl_future waits = START(&b, "sch_self_for_ever", .n = 0);
  uint32_t outcome = 0;
  CHECK_OK(rdl_future_get(b.cx, waits, &outcome, sizeof outcome, SOON_NS));
  CHECK_EQ(RDL_DEADLOCK, outcome);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &sleeps, 1, 700u * MS));
  CHECK_OK(rdl_future_cancel(b.cx, sleeps));
  CHECK_END(&b, sleeps, RDL_CANCELLED, 0);
  bed_close(&b);
}

/* The host waits for one signal more than its tasks give: the text says how many there were. */
void SCH_8_host_waits(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 3, RDL_EVENT_DEVICE), other = new_event(&b, 1, 0);
  uint32_t k;
  for (k = 0; k < 2; k++)
    CHECK_EQ(1, RUN(&b, "sch_signal", .e = event));
  CHECK_STATUS(RDL_DEADLOCK, rdl_event_wait(b.cx, event, SOON_NS));
  CHECK_CONTAINS(rdl_error_text(), "stands at 2, its target is 3, and 3 was waited for");
  CHECK_STATUS(RDL_DEADLOCK, rdl_event_wait_count(b.cx, event, 7, SOON_NS));
  CHECK_CONTAINS(rdl_error_text(), "stands at 2, its target is 3, and 7 was waited for");
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, other, 2u * MS)); /* the host may signal it */
  CHECK_CONTAINS(rdl_error_text(), "stands at 0, its target is 1, and 1 was waited for");
  CHECK_OK(rdl_event_wait_count(b.cx, event, 2, SOON_NS));
  check_usable(&b);
  bed_close(&b);
}

/* A detached child has nothing to do with who comes into its parent's place. */
void SCH_8_detached(void) {
  rdl_context_options options = bed_options();
  rdl_event event;
  rdl_future f;
  uint32_t outcome = 0;
  bed b;
  options.workers = 1; /* so that the place is taken by the next */
  b = bed_open_with(TASKS, &options);
  event = new_event(&b, 1, 0);
  f = START(&b, "sch_successor", .e = event);
  CHECK_OK(rdl_future_get(b.cx, f, &outcome, sizeof outcome, SOON_NS));
  CHECK_EQ(RDL_DEADLOCK, outcome & 0xffu);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  bed_close(&b);
}
