/* SPDX-License-Identifier: Apache-2.0 */
/* HST 7: closing a context that has live work. */
#include <pthread.h>

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
  rdl_status status;
} closed_waiter;

static void *wait_future(void *argument) {
  closed_waiter *w = argument;
  w->status = rdl_future_get(w->b->cx, w->future, NULL, 0, RDL_FOREVER);
  return NULL;
}

static void *wait_event(void *argument) {
  closed_waiter *w = argument;
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
    waiters[k] = (closed_waiter){&b, f, never, RDL_OK};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, k % 2 ? wait_event : wait_future, &waiters[k]));
  }
  sleep_ns(50u * MS);
  check_closes(&b, 2000u * MS);
  for (k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    CHECK_STATUS(RDL_CLOSED, waiters[k].status);
  }
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

/* A segment that does not end: closing gives up at its time, and what the segment uses stays. */
void HST_7_never_ending(void) {
  rdl_context_options options = bed_options();
  memory m;
  bed b;
  uint64_t begin;
  if (SANITIZED) test_skip("keeps memory in use on purpose, which a leak check reports");
  options.close_ns = 300u * MS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 2);
  START(&b, "hst_hold", .at = m.at);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  begin = now_ns();
  CHECK_STATUS(RDL_TIMEOUT, rdl_context_close(b.cx));
  CHECK_BETWEEN(300u * MS, now_ns() - begin, 1500u * MS);
  CHECK(rdl_error_text()[0]);
  word_set(&m, 1, 1);
  sleep_ns(50u * MS);
}
