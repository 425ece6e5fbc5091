/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 1 to 3, 5 and 10: workers, the order of dispatches, parking. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "sch.task.c"

/* What is in order is so within a launch: each shall be long enough for a whole case. */
static bed one_worker(void) {
  rdl_context_options options = bed_options();
  options.workers = 1;
  options.quantum_ns = 2000000000u;
  return bed_open_with(TASKS, &options);
}

void SCH_1_alone(void) {
  bed b = one_worker();
  rdl_event event = new_event(&b, 1, 0);
  rdl_future waiter = START(&b, "sch_wait_event", .e = event);
  rdl_future sleeper = START(&b, "sch_sleep", .k = 2000);
  CHECK_EQ(1, b.workers);
  CHECK_EQ(610, RUN(&b, "sch_fib", .n = 15));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(3, get(&b, waiter));
  CHECK_EQ(4, get(&b, sleeper));
  bed_close(&b);
}

/* Yielders take turns: between two turns of one every other has had one. */
void SCH_2_order(void) {
  enum { FUTURES = 8, ROUNDS = 20 };
  bed b = one_worker();
  memory m = memory_new(&b, 1 + FUTURES * ROUNDS);
  uint32_t seen[FUTURES] = {0};
  uint32_t k;
  RUN(&b, "sch_order", .at = m.at, .n = FUTURES, .k = ROUNDS);
  CHECK_EQ(FUTURES * ROUNDS, word_at(&m, 0));
  for (k = 0; k < FUTURES; k++) {
    CHECK(word_at(&m, 1 + k) < FUTURES);
    seen[word_at(&m, 1 + k)]++;
  }
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(1, seen[k]);
  for (k = FUTURES; k < FUTURES * ROUNDS; k++)
    CHECK_EQ(word_at(&m, 1 + k % FUTURES), word_at(&m, 1 + k));
  bed_close(&b);
}

void SCH_2_behind_ready(void) {
  static const uint32_t counts[] = {1, 2, 20, 50, 200};
  bed b = one_worker();
  memory m = memory_new(&b, 1);
  size_t k;
  for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    uint32_t ran;
    word_set(&m, 0, 0);
    ran = RUN(&b, "sch_behind", .at = m.at, .n = counts[k]);
    /* One dispatch in 64 may go to the yielder before its turn. */
    CHECK_BETWEEN(counts[k] < 20 ? counts[k] : 1, ran, counts[k]);
    if (counts[k] <= 20) CHECK_EQ(counts[k], ran);
  }
  bed_close(&b);
}

/* ---- SCH 3 ---- */

static void check_longest_wait(const memory *m, uint32_t victims, uint32_t ahead) {
  CHECK_EQ(victims, word_at(m, 3));
  CHECK_BETWEEN(0, word_at(m, 2), 64u * (1u + ahead));
}

/* The oldest entry of a ring whose younger end is always busy. */
void SCH_3_oldest(void) {
  enum { HOGS = 4 };
  bed b = one_worker();
  memory m = memory_new(&b, 4);
  RUN(&b, "sch_starve", .at = m.at, .n = HOGS, .k = 1);
  check_longest_wait(&m, 1, HOGS);
  bed_close(&b);
}

/* More victims than the ring holds: most of them stand in the overflow. */
void SCH_3_overflow(void) {
  enum { HOGS = 4, VICTIMS = 600 };
  bed b = one_worker();
  memory m = memory_new(&b, 4);
  RUN(&b, "sch_starve", .at = m.at, .n = HOGS, .k = VICTIMS);
  check_longest_wait(&m, VICTIMS, VICTIMS + HOGS);
  bed_close(&b);
}

void SCH_3_yielder(void) {
  enum { HOGS = 4, YIELDS = 100 };
  bed b = one_worker();
  memory m = memory_new(&b, 4);
  CHECK_EQ(YIELDS, RUN(&b, "sch_yielder", .at = m.at, .n = HOGS, .k = YIELDS));
  check_longest_wait(&m, YIELDS, HOGS + 1);
  bed_close(&b);
}

/* A root of the host starts although every worker has work for ever. */
void SCH_3_root(void) {
  bed b = bed_open(TASKS);
  memory busy = memory_new(&b, 1), done = memory_new(&b, 1);
  rdl_future futures[64];
  uint32_t k;
  for (k = 0; k < 64; k++)
    futures[k] = START(&b, "sch_busy", .at = busy.at);
  sleep_ns(20u * MS);
  for (k = 0; k < 20; k++)
    CHECK_EQ(k, RUN(&b, "sch_leaf", .at = done.at, .n = k));
  CHECK_EQ(20, word_at(&done, 0));
  word_set(&busy, 0, 1);
  for (k = 0; k < 64; k++)
    CHECK_EQ(5, get(&b, futures[k]));
  bed_close(&b);
}

/* ---- SCH 5 ---- */

void SCH_5_parks(void) {
  enum { ROUNDS = SCALED(1000, 200) };
  rdl_context_options options = bed_options();
  uint64_t end = now_ns() + PATIENCE_NS, cpu;
  uint32_t k;
  bed b;
  options.park_ns = 20u * US;
  b = bed_open_with(TASKS, &options);
  for (k = 0; k < ROUNDS || bed_stats(&b).parks <= ROUNDS / 10; k++) {
    CHECK(now_ns() < end);
    CHECK_EQ(k, RUN(&b, "sch_leaf", .n = k));
    if (k % 4 == 0) sleep_ns(300u * US);
  }
  sleep_ns(50u * MS);
  cpu = cpu_ns();
  sleep_ns(400u * MS);
  CHECK_BETWEEN(0, cpu_ns() - cpu, 40u * MS);
  bed_close(&b);
}

/* Comes back when the device has been left and nothing is on its way. */
static uint64_t await_park(bed *b, uint64_t parks) {
  uint64_t end = now_ns() + PATIENCE_NS;
  while (bed_stats(b).parks <= parks) {
    if (now_ns() > end) test_fail(__FILE__, __LINE__, "the device is not left without work");
    sleep_ns(20u * US);
  }
  return bed_stats(b).parks;
}

/* News of every kind finds the device parked, each time anew, and none is lost. */
void SCH_5_restarts(void) {
  enum { ROUNDS = SCALED(1000, 200) };
  rdl_context_options options = bed_options();
  uint64_t parks = 0;
  uint32_t k;
  bed b;
  options.park_ns = 20u * US;
  b = bed_open_with(TASKS, &options);
  for (k = 0; k < ROUNDS; k++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future promise, waits, listens, ends, sleeps;
    CHECK_OK(rdl_future_create(b.cx, &promise));
    waits = START(&b, "sch_wait", .f = promise);
    listens = START(&b, "sch_wait_event", .e = event);
    ends = START(&b, "sch_sleep_longest", .n = 0);
    parks = await_park(&b, parks);
    CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
    CHECK_EQ(2, get(&b, waits));
    parks = await_park(&b, parks);
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
    CHECK_EQ(3, get(&b, listens));
    parks = await_park(&b, parks);
    CHECK_OK(rdl_future_cancel(b.cx, ends));
    CHECK_END(&b, ends, RDL_CANCELLED, 0);
    parks = await_park(&b, parks);
    sleeps = START(&b, "sch_sleep", .k = 100);
    CHECK_EQ(4, get(&b, sleeps));
    CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  bed_close(&b);
}

/* Parked is parked: nothing is launched any more, although futures wait, and no core is busy. */
void SCH_5_rests(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future listens = START(&b, "sch_wait_event", .e = event);
  rdl_future sleeps = START(&b, "sch_sleep", .k = 60000000);
  uint64_t launches, cpu;
  bed_await_suspended(&b, 2);
  sleep_ns(300u * MS);
  launches = bed_stats(&b).launches;
  cpu = cpu_ns();
  sleep_ns(500u * MS);
  CHECK_EQ(launches, bed_stats(&b).launches);
  CHECK_BETWEEN(0, cpu_ns() - cpu, 50u * MS);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(3, get(&b, listens));
  CHECK_OK(rdl_future_cancel(b.cx, sleeps));
  CHECK_END(&b, sleeps, RDL_CANCELLED, 0);
  bed_close(&b);
}

/* ---- SCH 10 ---- */

#define WARNINGS_MAX 1024u

static void note_warning(void *user, rdl_log_level level, const char *text) {
  char *all = user;
  size_t used = strlen(all);
  if (level == RDL_LOG_WARNING) snprintf(all + used, WARNINGS_MAX - used, "%s", text);
}

void SCH_10_clamped(void) {
  static char warnings[WARNINGS_MAX];
  rdl_context_options options = bed_options();
  char number[16];
  bed b;
  options.workers = 100000;
  options.log = note_warning;
  options.log_user = warnings;
  b = bed_open_with(TASKS, &options);
  CHECK_BETWEEN(1, b.workers, options.workers - 1);
  snprintf(number, sizeof number, "%u", b.workers);
  CHECK_CONTAINS(warnings, "100000");
  CHECK_CONTAINS(warnings, number);
  CHECK_EQ(610, RUN(&b, "sch_fib", .n = 15));
  bed_close(&b);
}

/* More workers than fit run as many as fit, and the log has both numbers; never a hang. */
static void run_asked(uint32_t asked) {
  static char warnings[WARNINGS_MAX];
  rdl_context_options options = bed_options();
  char number[64];
  bed b;
  warnings[0] = '\0';
  options.workers = asked;
  options.log = note_warning;
  options.log_user = warnings;
  b = bed_open_with(TASKS, &options);
  CHECK_BETWEEN(1, b.workers, asked);
  if (b.workers < asked) {
    snprintf(number, sizeof number, "%u workers were asked for", asked);
    CHECK_CONTAINS(warnings, number);
    snprintf(number, sizeof number, " is %u, and so many run", b.workers);
    CHECK_CONTAINS(warnings, number);
  }
  CHECK_EQ(610, RUN(&b, "sch_fib", .n = 15));
  get_none(&b, start_many(&b, "sch_leaf", 1000, (task_args){.n = 0}));
  bed_close(&b);
}

/* On as many threads of PoCL as are told, which no other device heeds. */
void SCH_10_counts(void) {
  rdl_context_options options = bed_options();
  uint32_t fit;
  bed b;
  setenv("POCL_MAX_PTHREAD_COUNT", "3", 1);
  setenv("POCL_CPU_MAX_CU_COUNT", "3", 1);
  options.workers = 0;
  b = bed_open_with(TASKS, &options);
  fit = b.workers;
  bed_close(&b);
  run_asked(fit + 1u);
  run_asked(2u * fit);
  run_asked(8u * fit);
}
