/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 9 and 12: several threads that do something with one future. */
#include <pthread.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

/* ---- FUT 12 ---- */

enum { RIVALS = 4 };

typedef struct rival {
  bed *b;
  rdl_future future;
  uint32_t value;
  rdl_status status;
} rival;

static void *release(void *argument) {
  rival *r = argument;
  r->status = rdl_future_release(r->b->cx, r->future);
  return NULL;
}

static void *complete(void *argument) {
  rival *r = argument;
  r->status = rdl_future_complete(r->b->cx, r->future, &r->value, sizeof r->value, 0);
  return NULL;
}

/* Runs the call in all rivals at once; the value of the one that succeeded, the others are too
 * late. The calls wait in their midst: the only worker is in a long segment, and nothing more goes
 * to the device before it has read what fills the way. */
static uint32_t run_rivals(bed *b, rdl_future f, void *(*call)(void *), rdl_status too_late,
                           memory *m) {
  pthread_t threads[RIVALS];
  rival rivals[RIVALS];
  uint32_t k, winners = 0, value = 0;
  for (k = 0; k < RIVALS; k++) {
    rivals[k] = (rival){b, f, k + 1, RDL_INTERNAL};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, call, &rivals[k]));
  }
  sleep_ns(50u * MS);
  word_set(m, 1, 1);
  for (k = 0; k < RIVALS; k++) {
    pthread_join(threads[k], NULL);
    if (rivals[k].status) {
      CHECK_STATUS(too_late, rivals[k].status);
      continue;
    }
    winners++;
    value = rivals[k].value;
  }
  CHECK_EQ(1, winners);
  return value;
}

/* The way to the device has room for 4,096 messages; these and what was said before fill it. */
static void fill_the_way(bed *b, uint32_t signals) {
  rdl_event event = new_event(b, 1000000, 0);
  uint32_t k;
  for (k = 0; k < signals; k++)
    CHECK_OK(rdl_event_signal(b->cx, event, 1));
}

static bed open_held(memory *m, rdl_future *out_hold) {
  rdl_context_options options = bed_options();
  bed b;
  options.workers = 1;
  b = bed_open_with(TASKS, &options);
  need_resident(&b);
  *m = memory_new(&b, 2);
  *out_hold = START(&b, "fut_hold", .at = m->at, .n = 3);
  CHECK(word_becomes(m, 0, 1, PATIENCE_NS));
  return b;
}

/* Afterwards no slot is given to two. */
static void check_slots(bed *b) {
  rdl_future promises[16];
  uint32_t k, j;
  for (k = 0; k < 16; k++) {
    CHECK_OK(rdl_future_create(b->cx, &promises[k]));
    for (j = 0; j < k; j++)
      CHECK(promises[j].index != promises[k].index);
  }
  for (k = 0; k < 16; k++)
    CHECK_OK(rdl_future_release(b->cx, promises[k]));
}

/* Only one thread releases a future, and only one completes a promise. */
void FUT_12_once(void) {
  memory m;
  rdl_future hold, f;
  uint32_t value;
  bed b = open_held(&m, &hold);
  f = START(&b, "fut_leaf", .n = 5);
  fill_the_way(&b, 4095);
  run_rivals(&b, f, release, RDL_STALE, &m);
  CHECK_EQ(3, get(&b, hold));
  bed_settle(&b);
  check_slots(&b);
  bed_close(&b);
  b = open_held(&m, &hold);
  CHECK_OK(rdl_future_create(b.cx, &f));
  fill_the_way(&b, 4096);
  value = run_rivals(&b, f, complete, RDL_BUSY, &m);
  CHECK_EQ(3, get(&b, hold));
  CHECK_EQ(value, get(&b, f));
  bed_close(&b);
}

/* ---- FUT 9 ---- */

enum { ROOTS = 4 };

static rdl_future new_done(bed *b) {
  rdl_future f;
  CHECK_OK(rdl_future_create(b->cx, &f));
  CHECK_OK(rdl_future_complete(b->cx, f, NULL, 0, 0));
  CHECK_OK(rdl_future_wait(b->cx, &f, 1, PATIENCE_NS));
  return f;
}

static void *spawn_after(void *argument) {
  rival *r = argument;
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 7};
  rdl_future f;
  options.room_ns = PATIENCE_NS;
  options.after = &r->future;
  options.after_count = 1;
  r->status = rdl_spawn(r->b->tasks, "fut_leaf", &args, sizeof args, &options, &f);
  if (r->status == RDL_OK) CHECK_EQ(7, get(r->b, f));
  return NULL;
}

/* What a spawn shall come after is taken while it waits for room: it is told, or had begun. Every
 * round finds all roots free again. */
void FUT_9_taken_meanwhile(void) {
  rdl_context_options options = bed_options();
  rdl_future done[ROOTS];
  pthread_t thread;
  bed b;
  uint32_t round, k;
  options.roots = ROOTS;
  options.slots = 16;
  options.events = 4;
  options.frame_bytes = 1u << 20;
  b = bed_open_with(TASKS, &options);
  for (round = 0; round < 6; round++) {
    rival r = {.b = &b, .status = RDL_INTERNAL};
    for (k = 0; k < ROOTS; k++)
      done[k] = new_done(&b);
    r.future = done[0];
    CHECK_EQ(0, pthread_create(&thread, NULL, spawn_after, &r));
    sleep_ns(10u * MS);
    for (k = ROOTS; k-- > 0;) /* the last that is taken is what the spawn names */
      if (k % 2 == round % 2 || k == 0) CHECK_OK(rdl_future_get(b.cx, done[k], NULL, 0, 0));
    pthread_join(thread, NULL);
    CHECK(r.status == RDL_OK || r.status == RDL_STALE);
    for (k = 1; k < ROOTS; k++)
      if (k % 2 != round % 2) CHECK_OK(rdl_future_get(b.cx, done[k], NULL, 0, 0));
    bed_settle(&b);
  }
  bed_close(&b);
}
