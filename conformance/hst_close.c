/* SPDX-License-Identifier: Apache-2.0 */
/* HST 7: closing a context that has live work. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "conformance/harness.h"

#define TASKS "hst.task.c"

static void check_closes(bed *b, uint64_t most_ns) {
  uint64_t begin = now_ns();
  CHECK_OK(rdl_context_close(b->cx));
  CHECK_BETWEEN(0, now_ns() - begin, most_ns);
}

void HST_7_nothing(void) {
  bed b = bed_open(NULL);
  CHECK_OK(rdl_context_close(NULL));
  check_closes(&b, 2000u * MS);
}

void HST_7_suspended(void) {
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  uint32_t k;
  for (k = 0; k < 10; k++)
    START(&b, "hst_wait_event", .e = never);
  START(&b, "hst_family", .e = never, .n = 100);
  START(&b, "hst_sleep", .k = 600000000);
  bed_await_suspended(&b, 112);
  check_closes(&b, 2000u * MS);
}

void HST_7_yielding(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t k;
  for (k = 0; k < 20; k++)
    START(&b, "hst_yield_for_ever", .at = m.at);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  check_closes(&b, 2000u * MS);
}

/* The device is left after the segments that run, however long each is. */
void HST_7_slowly(void) {
  enum { LOOKS = SCALED(100000000, 10000000) }; /* some 50 ms */
  rdl_context_options options = bed_options();
  memory m;
  bed b;
  options.close_ns = 1000u * MS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 2);
  /* Unless the host can say that it wants the end, a launch has 64 such segments. */
  START(&b, "hst_yield_slowly", .at = m.at, .k = m.words ? LOOKS : LOOKS / 100);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_context_close(b.cx));
}

void HST_7_thousands(void) {
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  uint32_t k;
  start_many(&b, "hst_wait_event", 20000, (task_args){.e = never});
  for (k = 0; k < 5000; k++)
    START(&b, "hst_fib", .n = 8);
  check_closes(&b, 4000u * MS);
}

/* What waits is woken and told. */
typedef struct closed_waiter {
  bed *b;
  rdl_future future;
  rdl_event event;
  rdl_buffer *buffer;
  rdl_status status;
} closed_waiter;

/* A context may be closed under calls, but not before them. */
static uint32_t calls_begun;

static void begin_call(void) {
  __atomic_fetch_add(&calls_begun, 1u, __ATOMIC_RELAXED);
}

/* All threads have begun, and those that have not yet got into their call get the time for it:
 * there may be many that spin on few cores. */
static void await_calls(uint32_t count) {
  while (__atomic_load_n(&calls_begun, __ATOMIC_RELAXED) < count)
    sleep_ns(1u * MS);
  sleep_ns(200u * MS);
  __atomic_store_n(&calls_begun, 0u, __ATOMIC_RELAXED);
}

static void *wait_future(void *argument) {
  closed_waiter *w = argument;
  begin_call();
  w->status = rdl_future_get(w->b->cx, w->future, NULL, 0, RDL_FOREVER);
  return NULL;
}

static void *wait_event(void *argument) {
  closed_waiter *w = argument;
  begin_call();
  w->status = rdl_event_wait(w->b->cx, w->event, RDL_FOREVER);
  return NULL;
}

void HST_7_waiting_threads(void) {
  enum { THREADS = 6 };
  bed b = bed_open(TASKS);
  rdl_event never = new_event(&b, 1, 0);
  rdl_future f = START(&b, "hst_wait_event", .e = never);
  closed_waiter waiters[THREADS];
  pthread_t threads[THREADS];
  uint32_t k;
  for (k = 0; k < THREADS; k++) {
    waiters[k] = (closed_waiter){.b = &b, .future = f, .event = never};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, k % 2 ? wait_event : wait_future, &waiters[k]));
  }
  await_calls(THREADS);
  check_closes(&b, 2000u * MS);
  for (k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    CHECK_STATUS(RDL_CLOSED, waiters[k].status);
  }
}

static void *wait_many(void *argument) {
  closed_waiter *w = argument;
  rdl_future futures[3] = {w->future, w->future, w->future};
  begin_call();
  w->status = rdl_future_wait(w->b->cx, futures, 3, RDL_FOREVER);
  return NULL;
}

static void *wait_room(void *argument) {
  closed_waiter *w = argument;
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 1};
  rdl_future f;
  options.room_ns = RDL_FOREVER;
  begin_call();
  w->status = rdl_spawn(w->b->tasks, "hst_leaf", &args, sizeof args, &options, &f);
  return NULL;
}

static void close_under_calls(uint64_t spin_ns) {
  enum { THREADS = 9 };
  static void *(*const calls[])(void *) = {wait_many, wait_room, wait_future};
  rdl_context_options options = bed_options();
  closed_waiter waiters[THREADS];
  pthread_t threads[THREADS];
  rdl_future promise;
  bed b;
  uint32_t k;
  options.roots = 1;
  options.slots = 16;
  options.frame_bytes = 1u << 20;
  if (spin_ns) options.spin_ns = spin_ns;
  b = bed_open_with(TASKS, &options);
  CHECK_OK(rdl_future_create(b.cx, &promise));
  for (k = 0; k < THREADS; k++) {
    waiters[k] = (closed_waiter){.b = &b, .future = promise, .status = RDL_OK};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, calls[k % 3], &waiters[k]));
  }
  await_calls(THREADS);
  check_closes(&b, 2000u * MS);
  for (k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    CHECK_STATUS(RDL_CLOSED, waiters[k].status);
  }
}

/* Whatever a call waits for, and also while it spins. */
void HST_7_waiting_calls(void) {
  uint32_t k;
  for (k = 0; k < 6; k++)
    close_under_calls(k % 3 == 2 ? PATIENCE_NS : 0);
}

static void *reset_event(void *argument) {
  closed_waiter *w = argument;
  begin_call();
  w->status = rdl_event_reset(w->b->cx, &w->event);
  return NULL;
}

static void *destroy_event(void *argument) {
  closed_waiter *w = argument;
  begin_call();
  w->status = rdl_event_destroy(w->b->cx, w->event);
  return NULL;
}

static void *sync_buffer(void *argument) {
  closed_waiter *w = argument;
  begin_call();
  w->status = rdl_buffer_sync(w->buffer);
  return NULL;
}

static void *load_text(void *argument) {
  static const char text[] =
      "RDL_TASK(hst_more, RDL_NONE, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_END(); }";
  closed_waiter *w = argument;
  rdl_module *module;
  begin_call();
  w->status = rdl_module_load_text(w->b->cx, "more.task.c", text, sizeof text - 1, &module);
  return NULL;
}

/* Calls that wait for the end of a segment which does not end: they are told at once, and closing
 * waits for it no longer than it does without them. */
void HST_7_held_calls(void) {
  enum { THREADS = 4 };
  static void *(*const calls[THREADS])(void *) = {reset_event, destroy_event, sync_buffer,
                                                  load_text};
  rdl_context_options options = bed_options();
  closed_waiter waiters[THREADS];
  pthread_t threads[THREADS];
  memory m;
  bed b;
  uint64_t begin;
  uint32_t k;
  options.close_ns = 2000u * MS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 2);
  for (k = 0; k < THREADS; k++)
    waiters[k] = (closed_waiter){&b, {0, 0}, new_event(&b, 1, 0), m.buffer, RDL_OK};
  START(&b, "hst_hold", .at = m.at);
  if (m.words)
    CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  else
    sleep_ns(200u * MS); /* a launch that nobody can look into */
  for (k = 0; k < THREADS; k++)
    CHECK_EQ(0, pthread_create(&threads[k], NULL, calls[k], &waiters[k]));
  await_calls(THREADS);
  begin = now_ns();
  CHECK_STATUS(RDL_TIMEOUT, rdl_context_close(b.cx));
  CHECK_BETWEEN(2000u * MS, now_ns() - begin, 3000u * MS);
  for (k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    CHECK_STATUS(RDL_CLOSED, waiters[k].status);
  }
  if (m.words) word_set(&m, 1, 1);
}

static void *load_file(void *argument) {
  closed_waiter *w = argument;
  rdl_module *module;
  begin_call();
  w->status = rdl_module_load(w->b->cx, suite_path("fut.task.c"), &module);
  return NULL;
}

/* A compiler that runs is not waited for. One may have been fast. */
void HST_7_loading(void) {
  rdl_context_options options = bed_options();
  closed_waiter waiter = {.status = RDL_OK};
  pthread_t thread;
  bed b;
  options.cache_dir = "";
  b = bed_open_with(NULL, &options);
  waiter.b = &b;
  CHECK_EQ(0, pthread_create(&thread, NULL, load_file, &waiter));
  await_calls(1);
  check_closes(&b, 2000u * MS);
  pthread_join(thread, NULL);
  if (waiter.status) CHECK_STATUS(RDL_CLOSED, waiter.status);
}

/* Buffers and modules need no calls of their own. */
void HST_7_frees_all(void) {
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < 100; k++)
    memory_new(&b, 1000 + k);
  for (k = 0; k < 100; k++)
    START(&b, "hst_leaf", .n = k);
  check_closes(&b, 2000u * MS);
}

static uint64_t address_space(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%llu", &pages) == 1);
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Futures that wait for a promise, an event, a deadline, room, and in a gate, and a batch of which
 * most members have not started. */
static void close_every_kind(void) {
  rdl_context_options options = bed_options();
  rdl_spawn_options behind = RDL_SPAWN_OPTIONS_INIT;
  rdl_future promise, gated;
  task_args args = {.n = 1};
  rdl_event never;
  bed b;
  options.slots = 64;
  options.roots = 64;
  b = bed_open_with(TASKS, &options);
  never = new_event(&b, 1, 0);
  CHECK_OK(rdl_future_create(b.cx, &promise));
  START(&b, "hst_await", .f = promise);
  START(&b, "hst_wait_event", .e = never);
  START(&b, "hst_sleep", .k = 600000000);
  START(&b, "hst_await_for", .e = never, .k = 600000000);
  behind.after = &promise;
  behind.after_count = 1;
  CHECK_OK(rdl_spawn(b.tasks, "hst_leaf", &args, sizeof args, &behind, &gated));
  start_many(&b, "hst_wait_event", 10000, (task_args){.e = never});
  START(&b, "hst_crowd", .e = never);
  bed_await_suspended(&b, 30);
  check_closes(&b, 2000u * MS);
}

/* Each time all memory comes back: a heap has 256 MiB and more. */
void HST_7_every_kind(void) {
  enum { ROUNDS = SCALED(24, 6) };
  uint64_t before = 0;
  uint32_t k;
  for (k = 0; k < ROUNDS; k++) {
    if (k == 4) before = address_space();
    close_every_kind();
  }
  if (!SANITIZED) CHECK_BETWEEN(0, address_space(), before + (256ull << 20)); /* else it tells */
}

/* A segment that does not end: closing gives up at its time, and what the segment uses stays. */
void HST_7_never_ending(void) {
  rdl_context_options options = bed_options();
  rdl_status status = RDL_BUSY;
  memory m;
  bed b;
  uint64_t begin;
  options.close_ns = 300u * MS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 2);
  START(&b, "hst_hold", .at = m.at);
  if (m.words)
    CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  else
    sleep_ns(200u * MS); /* a launch that nobody can look into */
  begin = now_ns();
  CHECK_STATUS(RDL_TIMEOUT, rdl_context_close(b.cx));
  CHECK_BETWEEN(300u * MS, now_ns() - begin, 1500u * MS);
  CHECK(rdl_error_text()[0]);
  if (!m.words) return; /* nobody can end it */
  word_set(&m, 1, 1);   /* the end frees all after all, and the device can be opened again */
  begin = now_ns();
  while (status == RDL_BUSY && now_ns() - begin < PATIENCE_NS) {
    sleep_ns(1u * MS);
    status = rdl_context_open(settings.selector, &b.cx);
  }
  CHECK_OK(status);
  CHECK_OK(rdl_context_close(b.cx));
}
