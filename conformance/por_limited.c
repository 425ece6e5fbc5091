/* SPDX-License-Identifier: Apache-2.0 */
/* POR 5: what a device does that ends the loops of a kernel after so many turns. */
#include "conformance/harness.h"

#define TASKS "lim.task.c"

/* More turns than a kernel of this device has. */
static uint32_t too_many(void) {
  uint32_t turns = device_loop_turns();
  if (!turns) test_skip("this device ends no loops");
  return 2u * turns;
}

static void check_cut(bed *b, rdl_future f, const char *task) {
  uint32_t sum = 0;
  CHECK_STATUS(RDL_LOOP_BUDGET, rdl_future_get(b->cx, f, &sum, sizeof sum, PATIENCE_NS));
  CHECK_CONTAINS(rdl_error_text(), task);
  CHECK_CONTAINS(rdl_error_text(), "RDL_YIELD");
}

/* The signal and the child before the loop are; those behind it are not, and the child is cancelled
 * with its parent. */
void POR_5_cut(void) {
  uint32_t turns = too_many();
  bed b = bed_open(TASKS);
  rdl_event e = new_event(&b, 1000, 0), d = new_event(&b, 1, 0);
  rdl_stats stats;
  check_cut(&b, START(&b, "lim_loop", .n = turns, .e = e, .d = d), "lim_loop");
  stats = bed_stats(&b);
  CHECK_EQ(2, stats.spawned);
  CHECK_EQ(1, stats.failed);
  CHECK_EQ(1, stats.cancelled);
  CHECK_EQ(0, stats.live);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait_count(b.cx, e, 2, 20u * MS));
  CHECK_OK(rdl_event_wait_count(b.cx, e, 1, PATIENCE_NS));
  CHECK_OK(rdl_event_signal(b.cx, d, 1));
  bed_close(&b);
}

/* What was let go before the loop goes on by itself, once; what would have been let go behind it
 * never was. */
void POR_5_detached(void) {
  uint32_t turns = too_many();
  bed b = bed_open(TASKS);
  rdl_event e = new_event(&b, 1000, 0), d = new_event(&b, 1, 0);
  check_cut(&b, START(&b, "lim_loop", .n = turns, .k = 1, .e = e, .d = d), "lim_loop");
  CHECK_OK(rdl_event_signal(b.cx, d, 1));
  CHECK_OK(rdl_event_wait_count(b.cx, e, 101, PATIENCE_NS));
  bed_settle(&b);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait_count(b.cx, e, 102, 20u * MS));
  bed_close(&b);
}

/* Nor is what stood before it let go behind it: it is cancelled with the future that spawned it. */
void POR_5_kept(void) {
  uint32_t turns = too_many();
  bed b = bed_open(TASKS);
  rdl_event e = new_event(&b, 1000, 0), d = new_event(&b, 1, 0);
  check_cut(&b, START(&b, "lim_loop", .n = turns, .k = 2, .e = e, .d = d), "lim_loop");
  CHECK_OK(rdl_event_signal(b.cx, d, 1));
  bed_settle(&b);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait_count(b.cx, e, 2, 20u * MS));
  bed_close(&b);
}

/* Few turns, and all is done once. */
void POR_5_whole(void) {
  bed b = bed_open(TASKS);
  rdl_event e = new_event(&b, 1000, 0), d = new_event(&b, 1, 0);
  uint32_t sum = 1, k;
  rdl_future f = START(&b, "lim_loop", .n = 500, .e = e, .d = d);
  for (k = 0; k < 500; k++)
    sum = mix(sum, k);
  CHECK_OK(rdl_event_wait_count(b.cx, e, 2, PATIENCE_NS));
  CHECK_OK(rdl_event_signal(b.cx, d, 1));
  CHECK_EQ(sum, get(&b, f));
  CHECK_OK(rdl_event_wait_count(b.cx, e, 202, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait_count(b.cx, e, 203, 20u * MS));
  bed_close(&b);
}

/* A segment that would have waited fails, too; who awaits it may catch that, and the others go on.
 */
void POR_5_caught(void) {
  enum { OTHERS = 20 };
  uint32_t turns = too_many(), k;
  rdl_future others[OTHERS];
  bed b = bed_open(TASKS);
  for (k = 0; k < OTHERS; k++)
    others[k] = START(&b, k % 2 ? "lim_wait" : "lim_catch", .n = k % 4 ? 50 : turns);
  check_cut(&b, START(&b, "lim_wait", .n = turns), "lim_wait");
  for (k = 0; k < OTHERS; k++)
    CHECK_EQ(k % 4 == 0 ? 1000 : k % 2 ? 7 : 0, get(&b, others[k]));
  bed_close(&b);
}

/* The scheduler divides what it does for many: it has no more turns than they. */
void POR_5_fan(void) {
  uint32_t n = suite_scale(20000);
  bed b = bed_open(TASKS);
  CHECK_EQ(n, RUN(&b, "lim_fan", .n = n));
  bed_close(&b);
}
