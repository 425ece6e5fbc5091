/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 1 to 3, 5 and 10: workers, the order of dispatches, parking. */
#include <stdio.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "sch.task.c"

static bed one_worker(void) {
  rdl_context_options options = bed_options();
  options.workers = 1;
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
  bed b;
  uint64_t cpu;
  uint32_t k;
  options.park_ns = 20u * US;
  b = bed_open_with(TASKS, &options);
  for (k = 0; k < ROUNDS; k++) {
    CHECK_EQ(k, RUN(&b, "sch_leaf", .n = k));
    if (k % 4 == 0) sleep_ns(300u * US);
  }
  CHECK(bed_stats(&b).parks > ROUNDS / 10);
  sleep_ns(50u * MS);
  cpu = cpu_ns();
  sleep_ns(400u * MS);
  CHECK_BETWEEN(0, cpu_ns() - cpu, 40u * MS);
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
  bed b;
  options.workers = 100000;
  options.log = note_warning;
  options.log_user = warnings;
  b = bed_open_with(TASKS, &options);
  CHECK_BETWEEN(1, b.workers, 4096);
  CHECK_CONTAINS(warnings, "100000");
  CHECK_EQ(610, RUN(&b, "sch_fib", .n = 15));
  bed_close(&b);
}
