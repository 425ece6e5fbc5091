/* SPDX-License-Identifier: Apache-2.0 */
/* EVT 1 to 3: signals are not lost, counts are right, and the host reaches waiters by itself. */
#include <pthread.h>

#include "conformance/harness.h"

#define TASKS "evt.task.c"

/* ---- EVT 1 ---- */

void EVT_1_before(void) {
  enum { WAITERS = 100 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WAITERS);
  rdl_event event = new_event(&b, 1, 0);
  uint32_t k;
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(1, RUN(&b, "evt_wait", .at = m.at, .e = event, .n = k));
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(1, word_at(&m, k));
  CHECK_EQ(0, bed_stats(&b).suspended);
  bed_close(&b);
}

void EVT_1_after(void) {
  enum { WAITERS = 300 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WAITERS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future batch = start_many(&b, "evt_wait", WAITERS, (task_args){.at = m.at, .e = event});
  uint32_t k;
  bed_await_suspended(&b, WAITERS);
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(0, word_at(&m, k));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get_none(&b, batch);
  for (k = 0; k < WAITERS; k++)
    CHECK_EQ(1, word_at(&m, k));
  bed_close(&b);
}

/* Waiters come while the signal is given; another event each time. */
void EVT_1_during(void) {
  enum { ROUNDS = SCALED(300, 60), WAITERS = 50 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WAITERS);
  uint32_t round, k;
  for (round = 1; round <= ROUNDS; round++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future batch = start_many(&b, "evt_wait", WAITERS, (task_args){.at = m.at, .e = event});
    uint64_t until = now_ns() + chance(60u * US);
    while (now_ns() < until) {
    }
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
    get_none(&b, batch);
    for (k = 0; k < WAITERS; k++)
      CHECK_EQ(round, word_at(&m, k));
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  bed_close(&b);
}

void EVT_1_device(void) {
  enum { ROUNDS = SCALED(200, 50), WAITERS = 40 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WAITERS);
  uint32_t round, k;
  for (round = 1; round <= ROUNDS; round++) {
    rdl_event event = new_event(&b, 1, RDL_EVENT_DEVICE);
    rdl_future batch, signaller;
    if (round % 2) signaller = START(&b, "evt_signal", .e = event, .n = 1, .k = 1);
    batch = start_many(&b, "evt_wait", WAITERS, (task_args){.at = m.at, .e = event});
    if (round % 2 == 0) signaller = START(&b, "evt_signal", .e = event, .n = 1, .k = 1);
    get_none(&b, batch);
    CHECK_EQ(1, get(&b, signaller));
    for (k = 0; k < WAITERS; k++)
      CHECK_EQ(round, word_at(&m, k));
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  bed_close(&b);
}

/* Events are of use before any module is loaded. */
void EVT_1_host_only(void) {
  bed b = bed_open(NULL);
  rdl_event event = new_event(&b, 2, 0);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 2u * MS));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  CHECK_OK(rdl_event_wait(b.cx, event, 0));
  CHECK_OK(rdl_event_destroy(b.cx, event));
  bed_close(&b);
}

typedef struct host_waiter {
  bed *b;
  rdl_event event;
  rdl_status status;
} host_waiter;

static void *wait_on_host(void *argument) {
  host_waiter *w = argument;
  w->status = rdl_event_wait(w->b->cx, w->event, PATIENCE_NS);
  return NULL;
}

void EVT_1_host_waiters(void) {
  enum { THREADS = 6 };
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  host_waiter waiters[THREADS];
  pthread_t threads[THREADS];
  uint32_t k;
  for (k = 0; k < THREADS; k++) {
    waiters[k] = (host_waiter){&b, event, RDL_INTERNAL};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, wait_on_host, &waiters[k]));
  }
  sleep_ns(10u * MS);
  get(&b, START(&b, "evt_signal", .e = event, .n = 1, .k = 1));
  for (k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    CHECK_STATUS(RDL_OK, waiters[k].status);
  }
  bed_close(&b);
}

/* ---- EVT 2 ---- */

void EVT_2_target(void) {
  enum { TARGET = 5 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, TARGET, 0);
  rdl_future f = START(&b, "evt_wait", .at = m.at, .e = event);
  uint32_t k;
  for (k = 1; k < TARGET; k++) {
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
    CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 2u * MS));
    CHECK_EQ(0, word_at(&m, 0));
  }
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(TARGET, get(&b, f));
  CHECK_EQ(1, word_at(&m, 0));
  bed_close(&b);
}

/* Waiters for counts 1 to 60: each goes on at its count and none before. */
void EVT_2_counts(void) {
  enum { WAITERS = 60 };
  static const uint32_t steps[] = {1, 1, 3, 10, 1, 20, 24};
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, WAITERS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future batch =
      start_many(&b, "evt_wait_count", WAITERS, (task_args){.at = m.at, .e = event, .k = 1});
  uint32_t count = 0, step, k;
  bed_await_suspended(&b, WAITERS);
  for (step = 0; step < sizeof steps / sizeof steps[0]; step++) {
    count += steps[step];
    CHECK_OK(rdl_event_signal(b.cx, event, steps[step]));
    CHECK(word_becomes(&m, count - 1, count, PATIENCE_NS));
    for (k = 0; k < count; k++)
      CHECK(word_becomes(&m, k, k < count - steps[step] ? word_at(&m, k) : count, PATIENCE_NS));
    for (k = count; k < WAITERS; k++)
      CHECK_EQ(0, word_at(&m, k));
  }
  get_none(&b, batch);
  bed_close(&b);
}

/* Tasks and host threads signal one event: it fires at the count. */
void EVT_2_everybody(void) {
  enum { TASK_SIGNALS = 400, HOST_SIGNALS = 50, TARGET = TASK_SIGNALS + 20 * 8 * 3 + HOST_SIGNALS };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, TARGET, 0);
  rdl_future waiter = START(&b, "evt_wait", .at = m.at, .e = event);
  rdl_future many = start_many(&b, "evt_signal_once", TASK_SIGNALS, (task_args){.e = event});
  rdl_future few[8];
  uint32_t k;
  for (k = 0; k < 8; k++)
    few[k] = START(&b, "evt_signal", .e = event, .n = 20, .k = 3);
  for (k = 0; k + 1 < HOST_SIGNALS; k++)
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
  get_none(&b, many);
  for (k = 0; k < 8; k++)
    CHECK_EQ(20, get(&b, few[k]));
  CHECK_OK(rdl_event_wait_count(b.cx, event, TARGET - 1, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 2u * MS));
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(TARGET, get(&b, waiter));
  bed_close(&b);
}

void EVT_2_host_count(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  uint32_t k;
  for (k = 1; k <= 50; k++) {
    CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait_count(b.cx, event, k, 0));
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
    CHECK_OK(rdl_event_wait_count(b.cx, event, k, PATIENCE_NS));
  }
  CHECK_OK(rdl_event_wait_count(b.cx, event, 7, 0));
  bed_close(&b);
}

/* A count does not come round to 0: it stays at the end. */
void EVT_2_saturates(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, UINT32_MAX, 0);
  CHECK_OK(rdl_event_signal(b.cx, event, UINT32_MAX));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  CHECK_OK(rdl_event_signal(b.cx, event, 5));
  CHECK_EQ(2, RUN(&b, "evt_signal", .e = event, .n = 2, .k = 7));
  CHECK_EQ(UINT32_MAX, RUN(&b, "evt_wait", .at = m.at, .e = event));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  CHECK_OK(rdl_event_wait_count(b.cx, event, 100, PATIENCE_NS));
  bed_close(&b);
}

/* ---- EVT 3 ---- */

/* After the signal the program only looks at memory. */
void EVT_3_parked(void) {
  enum { ROUNDS = 50 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, ROUNDS);
  rdl_event events[ROUNDS];
  rdl_future waiters[ROUNDS];
  uint32_t k;
  for (k = 0; k < ROUNDS; k++) {
    events[k] = new_event(&b, 1, 0);
    waiters[k] = START(&b, "evt_wait", .at = m.at, .e = events[k], .n = k);
  }
  bed_await_suspended(&b, ROUNDS);
  for (k = 0; k < ROUNDS; k++) {
    if (k % 2) sleep_ns(3u * MS); /* long enough to park */
    CHECK_OK(rdl_event_signal(b.cx, events[k], 1));
    CHECK(word_becomes(&m, k, 1, 2000u * MS));
  }
  for (k = 0; k < ROUNDS; k++)
    CHECK_EQ(1, get(&b, waiters[k]));
  bed_close(&b);
}

void EVT_3_running(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future busy[6], waiter;
  uint32_t k;
  for (k = 0; k < 6; k++)
    busy[k] = START(&b, "evt_busy", .at = m.at);
  waiter = START(&b, "evt_wait", .at = m.at, .e = event);
  sleep_ns(20u * MS);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK(word_becomes(&m, 0, 1, 2000u * MS));
  word_set(&m, 1, 1);
  for (k = 0; k < 6; k++)
    CHECK_EQ(1, get(&b, busy[k]));
  CHECK_EQ(1, get(&b, waiter));
  bed_close(&b);
}

/* More signals than stand on the way to the device at once, and nothing loaded that reads them. */
void EVT_3_no_module(void) {
  enum { SIGNALS = 10000 };
  bed a = bed_open(NULL), b = bed_open(NULL);
  rdl_event event = new_event(&b, SIGNALS, 0);
  rdl_future promise;
  uint32_t k;
  CHECK_OK(rdl_future_create(a.cx, &promise));
  CHECK_OK(rdl_future_cancel(a.cx, promise));
  CHECK_END(&a, promise, RDL_CANCELLED, 0);
  for (k = 0; k < SIGNALS; k++)
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  bed_close(&a);
  bed_close(&b);
}
