/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 10 to 12: depth, room, and that nothing is left behind. */
#include <pthread.h>

#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"
#define TIGHT "tight.task.c"

static bed open_with_slots(uint32_t slots) {
  rdl_context_options options = bed_options();
  options.slots = slots;
  return bed_open_with(TIGHT, &options);
}

/* ---- FUT 10 ---- */

static uint32_t hash(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* The same tree as task fut_uneven walks. */
static uint32_t uneven(uint32_t n, uint32_t k) {
  uint32_t children = k > 7 ? 4 : k ? hash(n) % 6u : 0u;
  uint32_t sum = 1, c;
  for (c = 0; c < children; c++)
    sum += uneven(hash(n + c), k - 1);
  return sum;
}

void FUT_10_fib(void) {
  bed b = bed_open(TASKS);
  if (settings.scale < 100u)
    CHECK_EQ(89, RUN(&b, "fut_fib", .n = 11));
  else
    CHECK_EQ(SCALED(6765, 610), RUN(&b, "fut_fib", .n = SCALED(20, 15)));
  bed_close(&b);
}

void FUT_10_queens(void) {
  bed b = bed_open(TASKS);
  struct {
    uint32_t size, columns, left, right;
  } board = {8, 0, 0, 0};
  rdl_future f;
  CHECK_OK(rdl_spawn(b.tasks, "fut_queens", &board, sizeof board, NULL, &f));
  CHECK_EQ(92, get(&b, f));
  bed_close(&b);
}

void FUT_10_uneven(void) {
  bed b = bed_open(TASKS);
  uint32_t k;
  uint32_t depth = settings.scale < 100u ? 4 : UNLESS_CUT(10, 8);
  for (k = 0; k < 4; k++) {
    uint32_t root = chance(1u << 30);
    CHECK_EQ(uneven(root, depth), RUN(&b, "fut_uneven", .n = root, .k = depth));
  }
  bed_close(&b);
}

void FUT_10_chain(void) {
  uint32_t depth = suite_scale(SCALED(100000, 20000));
  bed b = bed_open(TASKS);
  CHECK_EQ(depth, RUN(&b, "fut_chain", .n = depth));
  bed_close(&b);
}

void FUT_10_wide(void) {
  uint32_t width = suite_scale(UNLESS_CUT(SCALED(100000, 20000), 3000));
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  CHECK_EQ(width, RUN(&b, "fut_wide", .at = m.at, .n = width));
  CHECK_EQ(width, word_at(&m, 0));
  bed_close(&b);
}

/* ---- FUT 11 ---- */

typedef struct releaser {
  bed *b;
  rdl_event event;
} releaser;

static void *signal_later(void *argument) {
  releaser *r = argument;
  sleep_ns(30u * MS);
  CHECK_OK(rdl_event_signal(r->b->cx, r->event, 1));
  return NULL;
}

/* Without a free root a spawn of the host says so at once, or waits as long as it may. */
void FUT_11_host(void) {
  enum { ROOTS = 4 };
  rdl_context_options options = bed_options();
  rdl_spawn_options patient = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 1};
  rdl_future futures[ROOTS], one;
  rdl_event event;
  uint64_t begin;
  bed b;
  uint32_t k;
  options.roots = ROOTS;
  b = bed_open_with(TIGHT, &options);
  event = new_event(&b, 1, 0);
  for (k = 0; k < ROOTS; k++)
    futures[k] = START(&b, "tight_wait", .e = event, .n = k);
  begin = now_ns();
  CHECK_STATUS(RDL_AGAIN, rdl_spawn(b.tasks, "tight_leaf", &args, sizeof args, NULL, &one));
  CHECK_EQ(0, one.index);
  CHECK(now_ns() - begin < 1000u * MS);
  CHECK_STATUS(RDL_AGAIN, rdl_future_create(b.cx, &one));
  patient.room_ns = 20u * MS;
  begin = now_ns();
  CHECK_STATUS(RDL_AGAIN, rdl_spawn(b.tasks, "tight_leaf", &args, sizeof args, &patient, &one));
  CHECK_BETWEEN(20u * MS, now_ns() - begin, 1000u * MS);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  for (k = 0; k < ROOTS; k++)
    CHECK_EQ(k, get(&b, futures[k]));
  CHECK_EQ(9, RUN(&b, "tight_leaf", .n = 9));
  bed_close(&b);
}

/* A spawn that may wait gets the root that a detached future gives back. */
void FUT_11_host_waits(void) {
  rdl_context_options options = bed_options();
  rdl_spawn_options patient = RDL_SPAWN_OPTIONS_INIT;
  pthread_t thread;
  releaser r;
  task_args args = {.n = 5};
  rdl_future one;
  bed b;
  options.roots = 2;
  b = bed_open_with(TIGHT, &options);
  r = (releaser){&b, new_event(&b, 1, 0)};
  args.e = r.event;
  CHECK_OK(rdl_spawn(b.tasks, "tight_wait", &args, sizeof args, NULL, NULL));
  CHECK_OK(rdl_spawn(b.tasks, "tight_wait", &args, sizeof args, NULL, NULL));
  CHECK_EQ(0, pthread_create(&thread, NULL, signal_later, &r));
  patient.room_ns = PATIENCE_NS;
  CHECK_OK(rdl_spawn(b.tasks, "tight_leaf", &args, sizeof args, &patient, &one));
  CHECK_EQ(5, get(&b, one));
  pthread_join(thread, NULL);
  bed_close(&b);
}

enum { MANY_ROOTS = 100, MORE_THAN_HALF = 60 };

static void *spawn_many_patiently(void *argument) {
  bed *b = argument;
  rdl_spawn_options patient = RDL_SPAWN_OPTIONS_INIT;
  task_args args[MORE_THAN_HALF] = {{.n = 0}};
  rdl_future futures[MORE_THAN_HALF];
  uint32_t round;
  patient.room_ns = PATIENCE_NS;
  for (round = 0; round < SCALED(500, 50); round++) {
    CHECK_OK(rdl_spawn_many(b->tasks, "tight_leaf", args, sizeof args[0], sizeof args[0],
                            MORE_THAN_HALF, &patient, futures, NULL));
    CHECK_OK(rdl_future_get_many(b->cx, futures, MORE_THAN_HALF, NULL, 0, PATIENCE_NS));
  }
  return NULL;
}

/* Callers that each want more than half of the roots do not hold what the other one needs; more
 * than there are is refused at once. */
void FUT_11_host_many(void) {
  rdl_context_options options = bed_options();
  rdl_spawn_options patient = RDL_SPAWN_OPTIONS_INIT;
  task_args args[MANY_ROOTS + 1] = {{.n = 0}};
  rdl_future futures[MANY_ROOTS + 1];
  pthread_t threads[2];
  uint32_t k;
  bed b;
  options.roots = MANY_ROOTS;
  b = bed_open_with(TIGHT, &options);
  for (k = 0; k < 2; k++)
    CHECK_EQ(0, pthread_create(&threads[k], NULL, spawn_many_patiently, &b));
  for (k = 0; k < 2; k++)
    pthread_join(threads[k], NULL);
  patient.room_ns = RDL_FOREVER;
  CHECK_STATUS(RDL_AGAIN, rdl_spawn_many(b.tasks, "tight_leaf", args, sizeof args[0],
                                         sizeof args[0], MANY_ROOTS + 1, &patient, futures, NULL));
  CHECK_CONTAINS(rdl_error_text(), "there is room for 100");
  CHECK_OK(rdl_spawn_many(b.tasks, "tight_leaf", args, sizeof args[0], sizeof args[0], MANY_ROOTS,
                          &patient, futures, NULL));
  CHECK_OK(rdl_future_get_many(b.cx, futures, MANY_ROOTS, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

/* Enough slots for work whose parents await what they spawn. S1 of fib(n) is 2n: two children a
 * level, less the root, which has a slot of the host. In a large heap branches are opened out of
 * turn until half of it has been in use. */
static uint32_t enough_slots(uint32_t workers, uint32_t peak, uint32_t reserve) {
  uint32_t large = peak + reserve >= 1024u;
  return workers * (peak + reserve) * (large ? 2u : 1u);
}

/* fib(13) in just enough slots. Tasks that spawn in their lanes make the reserve as many times
 * larger as there are lanes. */
static void check_tight_fib(const char *task) {
  enum { N = 13, RESERVE = 3, PEAK = 2 * N };
  rdl_context_info info = {.size = sizeof info};
  bed b = bed_open(NULL);
  uint32_t k;
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK_OK(rdl_context_close(b.cx));
  b = open_with_slots(enough_slots(info.workers, PEAK, info.lanes * RESERVE));
  for (k = 0; k < 5; k++)
    CHECK_EQ(233, RUN(&b, task, .n = N));
  bed_close(&b);
}

void FUT_11_fib(void) {
  check_tight_fib("tight_fib");
}

void FUT_11_lanes(void) {
  check_tight_fib("tight_fib_lanes");
}

void FUT_11_wood(void) {
  enum { LEVELS = 7, RESERVE = 3, PEAK = 3 * LEVELS };
  uint32_t rounds = suite_scale(UNLESS_CUT(SCALED(60, 6), 2));
  rdl_context_info info = {.size = sizeof info};
  bed b = bed_open(NULL);
  uint32_t k;
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK_OK(rdl_context_close(b.cx));
  b = open_with_slots(enough_slots(info.workers, PEAK, RESERVE));
  for (k = 0; k < rounds; k++)
    CHECK_EQ(2187, RUN(&b, "tight_wood", .k = LEVELS));
  bed_close(&b);
}

/* Many roots in just enough slots for as many of them as there are workers. They spend `turns`
 * where they need most. */
static void check_tight_roots(const char *task, uint32_t levels, uint32_t peak, uint32_t turns,
                              uint32_t most_roots) {
  enum { RESERVE = 3, FOR_EACH_WORKER = 4, MOST = 64 };
  rdl_context_options options = bed_options();
  rdl_context_info info = {.size = sizeof info};
  rdl_future roots[MOST];
  bed b = bed_open(NULL);
  uint32_t k, count;
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK_OK(rdl_context_close(b.cx));
  count = info.workers * FOR_EACH_WORKER < MOST ? info.workers * FOR_EACH_WORKER : MOST;
  options.slots = enough_slots(info.workers, peak, info.lanes * RESERVE);
  options.roots = most_roots ? most_roots : count;
  b = bed_open_with(TIGHT, &options);
  for (k = 0; k < count; k++)
    roots[k] = START(&b, task, .k = levels, .n = turns);
  for (k = 0; k < count; k++)
    CHECK_EQ(levels, get(&b, roots[k]));
  bed_close(&b);
}

enum { PLENTY_OF_ROOTS = 65536 };

/* All that a worker may do wrong here is to take a root while one that it has waits for room. */
void FUT_11_masts(void) {
  enum { LEVELS = 100, TURNS = SCALED(4000, 150) };
  check_tight_roots("tight_mast", LEVELS, LEVELS + 2, suite_scale(UNLESS_CUT(TURNS, 20)),
                    PLENTY_OF_ROOTS);
}

/* And here, to begin what lies at the bottom of its own ring. */
void FUT_11_firs(void) {
  enum { LEVELS = 40, TURNS = SCALED(4000, 150), CUT_LEVELS = 12 };
  uint32_t levels = UNLESS_CUT(LEVELS, CUT_LEVELS);
  check_tight_roots("tight_fir", levels, 3 * levels + 2, suite_scale(UNLESS_CUT(TURNS, 20)),
                    PLENTY_OF_ROOTS);
}

void FUT_11_large(void) {
  enum { LEVELS = 1100, TURNS = SCALED(500, 20) };
  check_tight_roots("tight_mast", LEVELS, LEVELS + 2, suite_scale(UNLESS_CUT(TURNS, 20)),
                    PLENTY_OF_ROOTS);
}

/* Nearly as many segments as may be before SCH 3 lets a worker start something out of turn: the
 * last time a worker has 53 slots and 4 roots of 879 segments each, which are 64 for each of 55. */
void FUT_11_in_turn(void) {
  enum { LEVELS = 16, MOST_TURNS = 90 };
  uint32_t turns;
  for (turns = 10; turns <= MOST_TURNS; turns += 10)
    check_tight_roots("tight_fir", LEVELS, 3 * LEVELS + 2, turns, 0);
}

/* A loop that looks before it spawns, and waits for room where it can be seen. */
static void check_tight_loop(const char *task) {
  uint32_t spawns = suite_scale(SCALED(20000, 3000));
  memory m;
  bed b;
  b = open_with_slots(64);
  m = memory_new(&b, 2);
  CHECK_EQ(spawns, RUN(&b, task, .at = m.at, .n = spawns));
  bed_settle(&b);
  CHECK_EQ(spawns, word_at(&m, 0));
  CHECK(word_at(&m, 1) > 0);
  bed_close(&b);
}

void FUT_11_loop(void) {
  check_tight_loop("tight_loop");
}

void FUT_11_lanes_loop(void) {
  check_tight_loop("tight_loop_lanes");
}

/* More members than slots, each with a child of its own: a batch must not fill the slots with
 * members that then wait for room. */
void FUT_11_batch(void) {
  enum { MEMBERS = SCALED(5000, 1500) };
  static task_args args[MEMBERS];
  rdl_future batch;
  bed b;
  uint32_t k;
  b = open_with_slots(1024);
  for (k = 0; k < MEMBERS; k++)
    args[k].n = 2;
  CHECK_OK(rdl_spawn_many(b.tasks, "tight_fib", args, sizeof args[0], sizeof args[0], MEMBERS, NULL,
                          NULL, &batch));
  get_none(&b, batch);
  bed_close(&b);
}

/* All wait for room, each for the next: the youngest fails, and that reaches the root. */
void FUT_11_youngest(void) {
  bed b;
  uint64_t begin;
  b = open_with_slots(64);
  begin = now_ns();
  CHECK_END(&b, START(&b, "tight_chain", .n = 1000000), RDL_OUT_OF_SLOTS, 0);
  CHECK_CONTAINS(rdl_error_text(), "RDL_DETACH");
  CHECK_CONTAINS(rdl_error_text(), "`slots` (now 64)");
  CHECK_CONTAINS(rdl_error_text(), "`frame_bytes` (now ");
  CHECK(now_ns() - begin < 5000ull * MS);
  CHECK_EQ(20, RUN(&b, "tight_chain", .n = 20));
  CHECK_EQ(5, RUN(&b, "tight_fib", .n = 5));
  bed_close(&b);
}

static void count_warning(void *user, rdl_log_level level, const char *text) {
  if (level == RDL_LOG_WARNING && strstr(text, "no slot is left"))
    __atomic_fetch_add((uint32_t *)user, 1u, __ATOMIC_RELAXED);
}

/* Work of many times the width that there is room for, none of which is awaited: what fails frees
 * only what the rest uses up. That ends soon, with few warnings, and the root does not end well
 * with most of its work undone. */
void FUT_11_wide(void) {
  enum { SLOTS = 400, WIDE = SCALED(100, 20), DEEP = SLOTS + 100 }; /* one alone is too deep */
  rdl_context_options options = bed_options();
  uint32_t warnings = 0;
  bed b;
  options.slots = SLOTS;
  options.roots = 64;
  options.log = count_warning;
  options.log_user = &warnings;
  b = bed_open_with(TIGHT, &options);
  CHECK_END(&b, START(&b, "tight_wide", .n = WIDE, .k = DEEP), RDL_OUT_OF_SLOTS, 0);
  CHECK_BETWEEN(1, __atomic_load_n(&warnings, __ATOMIC_RELAXED), 24);
  bed_settle(&b);
  CHECK_EQ(5, RUN(&b, "tight_fib", .n = 5)); /* with room again, all is as it was */
  CHECK_EQ(20, RUN(&b, "tight_chain", .n = 20));
  bed_close(&b);
}

/* Several that are too large for what is there: each ends in one way or the other. */
void FUT_11_rivals(void) {
  enum { RIVALS = 6 };
  rdl_future rivals[RIVALS];
  rdl_future_result outcome = {.size = sizeof outcome};
  uint32_t k, turn, value;
  bed b;
  b = open_with_slots(96);
  for (turn = 0; turn < 3; turn++) {
    for (k = 0; k < RIVALS; k++)
      rivals[k] = START(&b, "tight_chain", .n = 40);
    for (k = 0; k < RIVALS; k++) {
      CHECK_OK(rdl_future_outcome(b.cx, rivals[k], PATIENCE_NS, &outcome));
      CHECK(outcome.status == RDL_OK || outcome.status == RDL_OUT_OF_SLOTS);
      CHECK_STATUS(outcome.status, rdl_future_get(b.cx, rivals[k], &value, sizeof value, 0));
      if (outcome.status == RDL_OK) CHECK_EQ(40, value);
    }
  }
  CHECK_EQ(40, RUN(&b, "tight_chain", .n = 40));
  bed_close(&b);
}

/* All slots are taken by what the host can still move: no failure, neither of who looks for room
 * nor of who spawns without looking, and room comes with the signal. */
void FUT_11_waits_for_host(void) {
  rdl_event event;
  rdl_future f, fib;
  memory m;
  bed b;
  b = open_with_slots(40);
  m = memory_new(&b, 2);
  event = new_event(&b, 1, 0);
  f = START(&b, "tight_greedy", .at = m.at, .e = event, .k = 1);
  sleep_ns(100u * MS);
  fib = START(&b, "tight_fib", .n = 5);
  sleep_ns(400u * MS);
  CHECK_BETWEEN(1, word_at(&m, 0), 40);
  CHECK_EQ(0, word_at(&m, 1));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_BETWEEN(1, get(&b, f), 40);
  CHECK_EQ(2, word_at(&m, 1));
  CHECK_EQ(5, get(&b, fib));
  bed_close(&b);
}

/* Who holds all slots itself and waits for room waits for ever: that is found, and is no hang. */
void FUT_11_holds_all(void) {
  rdl_event event;
  rdl_future f;
  memory m;
  bed b;
  b = open_with_slots(40);
  m = memory_new(&b, 2);
  event = new_event(&b, 1, 0);
  f = START(&b, "tight_greedy", .at = m.at, .e = event);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_END(&b, f, RDL_OUT_OF_SLOTS, 0);
  CHECK_EQ(5, RUN(&b, "tight_fib", .n = 5));
  bed_close(&b);
}

/* A batch that looks for room again and again is no sign that something goes on: the youngest of
 * those that wait for room fails all the same. */
void FUT_11_batch_in_crowd(void) {
  enum { MEMBERS = 100 };
  static task_args args[MEMBERS];
  rdl_future_result outcome = {.size = sizeof outcome};
  rdl_future ends[2];
  uint32_t k;
  bed b;
  b = open_with_slots(8);
  ends[0] = START(&b, "tight_crowd", .n = 0);
  CHECK_OK(rdl_spawn_many(b.tasks, "tight_leaf", args, sizeof args[0], sizeof args[0], MEMBERS,
                          NULL, NULL, &ends[1]));
  for (k = 0; k < 2; k++) {
    CHECK_OK(rdl_future_outcome(b.cx, ends[k], PATIENCE_NS, &outcome));
    CHECK(outcome.status == RDL_OK || outcome.status == RDL_OUT_OF_SLOTS);
    CHECK_STATUS(outcome.status, rdl_future_get(b.cx, ends[k], NULL, 0, 0));
  }
  bed_close(&b);
}

/* And while the host may still give room, the device rests. */
void FUT_11_batch_at_rest(void) {
  enum { MEMBERS = 100 };
  static task_args args[MEMBERS];
  rdl_stats before = {.size = sizeof before}, after = {.size = sizeof after};
  rdl_event event;
  rdl_future greedy, batch;
  memory m;
  bed b;
  b = open_with_slots(40);
  m = memory_new(&b, 2);
  event = new_event(&b, 1, 0);
  greedy = START(&b, "tight_greedy", .at = m.at, .e = event, .k = 1);
  sleep_ns(100u * MS);
  CHECK_OK(rdl_spawn_many(b.tasks, "tight_leaf", args, sizeof args[0], sizeof args[0], MEMBERS,
                          NULL, NULL, &batch));
  sleep_ns(200u * MS);
  CHECK_OK(rdl_context_stats(b.cx, &before));
  sleep_ns(300u * MS);
  CHECK_OK(rdl_context_stats(b.cx, &after));
  CHECK(after.launches - before.launches < 20);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get_none(&b, batch);
  CHECK_OK(rdl_future_get(b.cx, greedy, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

/* ---- FUT 12 ---- */

void FUT_12_detach(void) {
  enum { CHILDREN = SCALED(20000, 5000) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  CHECK_EQ(CHILDREN, RUN(&b, "fut_wide", .at = m.at, .n = CHILDREN, .k = 1));
  bed_settle(&b);
  CHECK_EQ(CHILDREN, word_at(&m, 0));
  bed_close(&b);
}

/* A future that returns before its children have ended is done only when they are. */
void FUT_12_returned(void) {
  enum { CHILDREN = SCALED(20000, 5000) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  CHECK_EQ(CHILDREN, RUN(&b, "fut_forget", .at = m.at, .n = CHILDREN));
  CHECK_EQ(CHILDREN, word_at(&m, 0));
  bed_close(&b);
}

void FUT_12_release(void) {
  enum { FUTURES = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0);
  static rdl_future futures[FUTURES];
  uint32_t k;
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, "fut_wait_event", .at = m.at, .e = event);
  for (k = 0; k < FUTURES / 2; k++)
    CHECK_OK(rdl_future_release(b.cx, futures[k]));
  CHECK_STATUS(RDL_STALE, rdl_future_release(b.cx, futures[0]));
  CHECK_STATUS(RDL_STALE, rdl_future_get(b.cx, futures[0], NULL, 0, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_future_wait(b.cx, futures + FUTURES / 2, FUTURES / 2, PATIENCE_NS));
  for (k = FUTURES / 2; k < FUTURES; k++)
    CHECK_OK(rdl_future_release(b.cx, futures[k]));
  bed_settle(&b);
  CHECK_EQ(FUTURES, word_at(&m, 0));
  bed_close(&b);
}

void FUT_12_promise(void) {
  bed b = bed_open(TASKS);
  rdl_future promise, waiter;
  uint32_t k;
  for (k = 0; k < 20; k++) {
    CHECK_OK(rdl_future_create(b.cx, &promise));
    waiter = START(&b, "fut_catch", .f = promise);
    bed_await_suspended(&b, 1);
    CHECK_OK(rdl_future_release(b.cx, promise));
    CHECK_EQ(RDL_STALE, get(&b, waiter));
  }
  CHECK_OK(rdl_future_create(b.cx, &promise));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_OK(rdl_future_release(b.cx, promise));
  bed_close(&b);
}

/* A million futures that nobody asks for, through few slots: what leaked would be missed. */
void FUT_12_million(void) {
  enum { PIECE = 1 << 13, ALL = SCALED(1 << 20, 1 << 15) };
  uint32_t pieces = suite_scale(UNLESS_CUT((uint32_t)ALL, (uint32_t)PIECE) / PIECE);
  uint32_t futures = PIECE * pieces;
  rdl_context_options options = bed_options();
  static task_args args[PIECE];
  memory m;
  bed b;
  uint32_t k;
  options.slots = 20000;
  options.roots = 300;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 1);
  for (k = 0; k < PIECE; k++)
    args[k] = (task_args){.at = m.at};
  for (k = 0; k < pieces; k++)
    CHECK_OK(rdl_spawn_many(b.tasks, "fut_count", args, sizeof args[0], sizeof args[0], PIECE, NULL,
                            NULL, NULL));
  bed_settle(&b);
  CHECK_EQ(futures, word_at(&m, 0));
  CHECK(bed_stats(&b).spawned > futures); /* and those that made them */
  bed_close(&b);
}

/* The same one by one from the host, each detached at once. */
void FUT_12_host_detached(void) {
  enum { FUTURES = SCALED(50000, 3000) };
  rdl_context_options options = bed_options();
  rdl_spawn_options patient = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {0};
  memory m;
  bed b;
  uint32_t k;
  options.roots = 1000;
  patient.room_ns = PATIENCE_NS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 1);
  args.at = m.at;
  for (k = 0; k < FUTURES; k++)
    CHECK_OK(rdl_spawn(b.tasks, "fut_count", &args, sizeof args, &patient, NULL));
  bed_settle(&b);
  CHECK_EQ(FUTURES, word_at(&m, 0));
  bed_close(&b);
}
