/* SPDX-License-Identifier: Apache-2.0 */
/* HST 1 and 2: any thread, several contexts, and waits that end when they shall. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/harness.h"

#define TASKS "hst.task.c"

/* ---- HST 1 ---- */

typedef struct worker_thread {
  bed *b;
  uint32_t number;
  rdl_event shared;
} worker_thread;

static void use_futures(bed *b, uint32_t n) {
  rdl_future f = START(b, "hst_leaf", .n = n);
  rdl_future g = START(b, "hst_fib", .n = 5);
  rdl_stats s = {.size = sizeof s};
  CHECK_EQ(n, get(b, f));
  CHECK_STATUS(RDL_STALE, rdl_future_get(b->cx, f, NULL, 0, 0));
  CHECK_EQ(5, get(b, g));
  CHECK_OK(rdl_context_stats(b->cx, &s));
  CHECK_OK(rdl_spawn(b->tasks, "hst_leaf", &(task_args){.n = n}, sizeof(task_args), NULL, NULL));
}

static void use_events(bed *b, rdl_event shared, uint32_t n) {
  rdl_event own = new_event(b, 1, 0);
  rdl_future waits = START(b, "hst_wait_event", .e = own, .n = n);
  rdl_future dropped = START(b, "hst_wait_event", .e = own);
  rdl_future ended = START(b, "hst_wait_event", .e = shared);
  CHECK_OK(rdl_future_cancel(b->cx, ended));
  CHECK_END(b, ended, RDL_CANCELLED, 0);
  CHECK_OK(rdl_future_release(b->cx, dropped));
  CHECK_OK(rdl_event_signal(b->cx, own, 1));
  CHECK_OK(rdl_event_wait(b->cx, own, PATIENCE_NS));
  CHECK_EQ(n, get(b, waits));
  CHECK_OK(rdl_event_destroy(b->cx, own));
}

static void use_memory(bed *b, uint32_t n) {
  rdl_buffer *buffer;
  rdl_future promise;
  uint32_t value = n, back = 0;
  CHECK_OK(rdl_buffer_create(b->cx, 100, &buffer));
  CHECK_OK(rdl_buffer_write(buffer, 40, &value, sizeof value));
  CHECK_OK(rdl_buffer_read(buffer, 40, &back, sizeof back));
  CHECK_EQ(n, back);
  rdl_buffer_destroy(buffer);
  CHECK_OK(rdl_future_create(b->cx, &promise));
  CHECK_OK(rdl_future_complete(b->cx, promise, &value, sizeof value, 0));
  CHECK_EQ(n, get(b, promise));
  CHECK_STATUS(RDL_INVALID, rdl_future_get(b->cx, (rdl_future){0, n}, NULL, 0, 0));
  CHECK(rdl_error_text()[0]);
}

static void *use_all(void *argument) {
  worker_thread *w = argument;
  uint32_t k;
  for (k = 0; k < SCALED(60, 15); k++) {
    use_futures(w->b, w->number * 1000 + k);
    use_events(w->b, w->shared, k);
    use_memory(w->b, w->number + k);
  }
  return NULL;
}

static void run_threads(bed *b, uint32_t count) {
  pthread_t threads[8];
  worker_thread workers[8];
  rdl_event shared = new_event(b, 1, 0);
  uint32_t k;
  for (k = 0; k < count; k++) {
    workers[k] = (worker_thread){b, k, shared};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, use_all, &workers[k]));
  }
  for (k = 0; k < count; k++)
    pthread_join(threads[k], NULL);
}

void HST_1_threads(void) {
  bed b = bed_open(TASKS);
  run_threads(&b, 8);
  bed_close(&b);
}

/* Two threads take one future: one gets it, the other is told that it is gone. */
typedef struct taker {
  bed *b;
  rdl_future future;
  rdl_status status;
} taker;

static void *take_one(void *argument) {
  taker *t = argument;
  uint32_t value = 0;
  t->status = rdl_future_get(t->b->cx, t->future, &value, sizeof value, PATIENCE_NS);
  if (t->status == RDL_OK) CHECK_EQ(17, value);
  return NULL;
}

void HST_1_one_taker(void) {
  enum { ROUNDS = SCALED(200, 50) };
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < ROUNDS; k++) {
    rdl_future f = START(&b, "hst_sleep", .n = 17, .k = chance(300));
    taker takers[2] = {{&b, f, RDL_INTERNAL}, {&b, f, RDL_INTERNAL}};
    pthread_t thread;
    CHECK_EQ(0, pthread_create(&thread, NULL, take_one, &takers[0]));
    take_one(&takers[1]);
    pthread_join(thread, NULL);
    CHECK(takers[0].status == RDL_OK || takers[1].status == RDL_OK);
    CHECK(takers[0].status == RDL_STALE || takers[1].status == RDL_STALE);
  }
  bed_close(&b);
}

static void *use_context(void *argument) {
  bed *b = argument;
  bool small = settings.scale < 100u;
  uint32_t k;
  for (k = 0; k < 5; k++)
    CHECK_EQ(small ? 13 : 377, RUN(b, "hst_fib", .n = small ? 7 : 14));
  return NULL;
}

static void run_two(bed *a, bed *b) {
  pthread_t thread;
  CHECK_EQ(0, pthread_create(&thread, NULL, use_context, a));
  use_context(b);
  pthread_join(thread, NULL);
  bed_close(a);
  CHECK_EQ(5, RUN(b, "hst_fib", .n = 5));
  bed_close(b);
}

void HST_1_two_contexts(void) {
  bed a = bed_open(TASKS), b = bed_open(TASKS);
  run_two(&a, &b);
}

void HST_1_two_backends(void) {
  rdl_context_options options = bed_options();
  bed a = bed_open(TASKS);
  bed b = bed_open_on(strcmp(settings.selector, "host") == 0 ? "opencl" : "host", TASKS, &options);
  run_two(&a, &b);
}

/* Contexts come and go; numbers and memory are given back. */
void HST_1_open_close(void) {
  uint32_t rounds = suite_scale(SCALED(300, 40)), k;
  rdl_context_options options = bed_options();
  options.slots = 100;
  options.roots = 100;
  options.events = 100;
  options.frame_bytes = 1 << 20;
  for (k = 0; k < rounds; k++) {
    bed b = bed_open_with(NULL, &options);
    CHECK_OK(rdl_context_close(b.cx));
  }
}

/* The same with a module and work. */
void HST_1_reopen(void) {
  uint32_t rounds = suite_scale(SCALED(100, 20)), k;
  for (k = 0; k < rounds; k++) {
    bed b = bed_open(TASKS);
    CHECK_EQ(55, RUN(&b, "hst_fib", .n = 10));
    bed_close(&b);
  }
}

/* ---- HST 2 ---- */

typedef struct wait_world {
  bed *b;
  rdl_future pending;
  rdl_event event;
} wait_world;

static rdl_status wait_get(const wait_world *w, uint64_t ns) {
  return rdl_future_get(w->b->cx, w->pending, NULL, 0, ns);
}

static rdl_status wait_get_many(const wait_world *w, uint64_t ns) {
  return rdl_future_get_many(w->b->cx, &w->pending, 1, NULL, 0, ns);
}

static rdl_status wait_wait(const wait_world *w, uint64_t ns) {
  return rdl_future_wait(w->b->cx, &w->pending, 1, ns);
}

static rdl_status wait_outcome(const wait_world *w, uint64_t ns) {
  rdl_future_result outcome = {.size = sizeof outcome};
  return rdl_future_outcome(w->b->cx, w->pending, ns, &outcome);
}

static rdl_status wait_event(const wait_world *w, uint64_t ns) {
  return rdl_event_wait(w->b->cx, w->event, ns);
}

static rdl_status wait_count(const wait_world *w, uint64_t ns) {
  return rdl_event_wait_count(w->b->cx, w->event, 3, ns);
}

typedef rdl_status (*wait_function)(const wait_world *, uint64_t);
static const wait_function wait_functions[] = {wait_get,     wait_get_many, wait_wait,
                                               wait_outcome, wait_event,    wait_count};
#define WAIT_FUNCTIONS (sizeof wait_functions / sizeof wait_functions[0])

static wait_world open_world(bed *b) {
  wait_world w = {.b = b, .event = new_event(b, 1, 0)};
  CHECK_OK(rdl_future_create(b->cx, &w.pending));
  return w;
}

static void close_world(wait_world *w) {
  CHECK_OK(rdl_future_complete(w->b->cx, w->pending, NULL, 0, 0));
  CHECK_OK(rdl_future_get(w->b->cx, w->pending, NULL, 0, PATIENCE_NS));
}

void HST_2_timeouts(void) {
  static const uint64_t limits[] = {0, 1u * MS, 50u * MS};
  bed b = bed_open(TASKS);
  wait_world w = open_world(&b);
  size_t f, k;
  for (f = 0; f < WAIT_FUNCTIONS; f++)
    for (k = 0; k < sizeof limits / sizeof limits[0]; k++) {
      uint64_t begin = now_ns();
      CHECK_STATUS(RDL_TIMEOUT, wait_functions[f](&w, limits[k]));
      CHECK_BETWEEN(limits[k], now_ns() - begin, limits[k] + 500u * MS);
      CHECK(rdl_error_text()[0]);
    }
  close_world(&w);
  bed_close(&b);
}

/* The same while the device is busy. */
void HST_2_timeouts_busy(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future busy = START(&b, "hst_yield_for_ever", .at = m.at);
  wait_world w = open_world(&b);
  size_t f;
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  for (f = 0; f < WAIT_FUNCTIONS; f++) {
    uint64_t begin = now_ns();
    CHECK_STATUS(RDL_TIMEOUT, wait_functions[f](&w, 20u * MS));
    CHECK_BETWEEN(20u * MS, now_ns() - begin, 520u * MS);
  }
  CHECK_OK(rdl_future_cancel(b.cx, busy));
  CHECK_END(&b, busy, RDL_CANCELLED, 0);
  close_world(&w);
  bed_close(&b);
}

/* What the whole process takes during a wait: of up to three, because what began before may end. */
static uint64_t cpu_of_wait(const wait_world *w, wait_function wait, uint64_t enough) {
  uint64_t least = UINT64_MAX;
  int k;
  for (k = 0; k < 3 && least > enough; k++) {
    uint64_t cpu = cpu_ns();
    CHECK_STATUS(RDL_TIMEOUT, wait(w, 250u * MS));
    cpu = cpu_ns() - cpu;
    least = cpu < least ? cpu : least;
  }
  return least;
}

/* A waiting thread sleeps, and so does everything behind it. */
void HST_2_burns_nothing(void) {
  bed b = bed_open(TASKS);
  wait_world w = open_world(&b);
  rdl_future sleeper = START(&b, "hst_sleep", .k = 60000000);
  size_t f;
  for (f = 0; f < WAIT_FUNCTIONS; f++)
    CHECK_BETWEEN(0, cpu_of_wait(&w, wait_functions[f], 25u * MS), 25u * MS);
  CHECK_OK(rdl_future_cancel(b.cx, sleeper));
  CHECK_END(&b, sleeper, RDL_CANCELLED, 0);
  close_world(&w);
  bed_close(&b);
}

void HST_2_no_spin(void) {
  rdl_context_options options = bed_options();
  bed b;
  uint32_t k;
  options.spin_ns = RDL_NO_SPIN;
  b = bed_open_with(TASKS, &options);
  for (k = 0; k < 100; k++)
    CHECK_EQ(k, RUN(&b, "hst_leaf", .n = k));
  bed_close(&b);
}

static uint64_t thread_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A spawn that waits for a free root does so for the time it is given, and sleeps. */
void HST_2_room(void) {
  rdl_context_options options = bed_options();
  rdl_spawn_options wait = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 1};
  rdl_future promise, f;
  uint64_t begin, cpu;
  bed b;
  options.roots = 1;
  b = bed_open_with(TASKS, &options);
  CHECK_OK(rdl_future_create(b.cx, &promise));
  wait.room_ns = 300u * MS;
  begin = now_ns();
  cpu = thread_cpu_ns();
  CHECK_STATUS(RDL_AGAIN, rdl_spawn(b.tasks, "hst_leaf", &args, sizeof args, &wait, &f));
  CHECK_BETWEEN(300u * MS, now_ns() - begin, 800u * MS);
  CHECK_BETWEEN(0, thread_cpu_ns() - cpu, 100u * MS); /* it looks every 200 us */
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  CHECK_OK(rdl_spawn(b.tasks, "hst_leaf", &args, sizeof args, &wait, &f));
  CHECK_EQ(1, get(&b, f));
  bed_close(&b);
}

/* The waiting thread sleeps also while the device is busy: it looks now and then. */
void HST_2_burns_nothing_busy(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future busy = START(&b, "hst_yield_for_ever", .at = m.at);
  wait_world w = open_world(&b);
  size_t f;
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  for (f = 0; f < WAIT_FUNCTIONS; f++) {
    uint64_t cpu = thread_cpu_ns();
    CHECK_STATUS(RDL_TIMEOUT, wait_functions[f](&w, 250u * MS));
    /* Launches of a few segments bring news by the thousand, and each wakes who waits. */
    CHECK_BETWEEN(0, thread_cpu_ns() - cpu, UNLESS_CUT(50u, 200u) * MS);
  }
  CHECK_OK(rdl_future_cancel(b.cx, busy));
  CHECK_END(&b, busy, RDL_CANCELLED, 0);
  close_world(&w);
  bed_close(&b);
}

static void taken_by_handler(int number) {
  (void)number;
}

/* The program blocks a signal and waits for it: no thread of the library takes it away. A handler
 * stands by, so that the case would fail and not be ended. */
void HST_1_signals(void) {
  const struct timespec limit = {5, 0};
  struct sigaction action = {.sa_handler = taken_by_handler};
  sigset_t waits_for;
  bed b = bed_open("hst.task.c");
  uint32_t k;
  CHECK_EQ(0, sigaction(SIGUSR1, &action, NULL));
  CHECK_EQ(0, sigemptyset(&waits_for));
  CHECK_EQ(0, sigaddset(&waits_for, SIGUSR1));
  CHECK_EQ(0, pthread_sigmask(SIG_BLOCK, &waits_for, NULL));
  for (k = 0; k < 100; k++) {
    CHECK_EQ(0, kill(getpid(), SIGUSR1));
    CHECK_EQ(SIGUSR1, sigtimedwait(&waits_for, NULL, &limit));
  }
  bed_close(&b);
}
