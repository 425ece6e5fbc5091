/* SPDX-License-Identifier: Apache-2.0 */
/* How a host thread waits for a root: it spins for a moment on the outcome, which the device
 * writes, and then sleeps. One of those that sleep wakes now and then and looks for all. */
#include "api/src/core.h"

#define LOOKS_PER_CLOCK 64u

/* The first looks come before the clock is read: many a result is there by then. */
static bool spin(rdl_context *cx, uint32_t slot, uint32_t generation, uint64_t deadline) {
  uint64_t until = 0;
  uint32_t k;
  for (;;) {
    if (__atomic_load_n(&cx->closing, __ATOMIC_RELAXED)) return false;
    for (k = 0; k < LOOKS_PER_CLOCK; k++) {
      if (rdl__root_done(cx, slot, generation)) return true;
      rdl_relax();
    }
    if (!until) {
      until = rdl__deadline_ns(cx->options.spin_ns);
      if (until > deadline) until = deadline;
    } else if (cx->crowded) {
      rdl_give_way(); /* a worker may wait for this core */
    }
    if (rdl__now_ns() >= until) return false;
  }
}

/* A look takes a core from a worker for about 5 us, and a caller hears of its result half an
 * interval late: growing by a constant makes the interval rise with the square root of the time,
 * which is where the two losses together are least. */
#define FIRST_LOOK_NS 60000u
#define LOOK_STEP_NS  3000u

uint64_t rdl__next_look(uint64_t look) {
  return look ? look + LOOK_STEP_NS : FIRST_LOOK_NS;
}

void rdl__sleepers_wake(rdl_context *cx) {
  rdl__sleeper *sleeper;
  bool some = false;
  for (sleeper = cx->sleepers; sleeper; sleeper = sleeper->next)
    if (!sleeper->awake && (rdl__root_done(cx, sleeper->slot, sleeper->generation) ||
                            !rdl__root_held(cx, sleeper->slot, sleeper->generation)))
      some = sleeper->awake = true;
  if (some) pthread_cond_broadcast(&cx->host_news);
}

/* Until there is news, the next look, or the deadline, which makes it false. */
static bool sleep_once(rdl_context *cx, uint64_t *look, uint64_t deadline) {
  bool watches = cx->launched && !cx->watched;
  uint64_t until = deadline;
  bool in_time;
  if (watches) {
    *look = rdl__next_look(*look);
    until = rdl__deadline_ns(*look);
  }
  if (until > deadline) until = deadline;
  if (watches) cx->watched = true;
  in_time = rdl__wait_until(&cx->host_news, &cx->lock, until);
  if (!watches) return in_time;
  cx->watched = false;
  rdl__watch(cx);
  rdl__sleepers_wake(cx);
  return until < deadline || in_time;
}

static void leave(rdl_context *cx, rdl__sleeper *sleeper) {
  rdl__sleeper **at = &cx->sleepers;
  while (*at != sleeper)
    at = &(*at)->next;
  *at = sleeper->next;
}

/* What is awaited, what that waits for in its turn, and who holds the others up. */
static rdl_status tell_timeout(rdl_context *cx, uint32_t slot) {
  rdl__text text = {0}, held = {0};
  rdl_reason why = {""};
  uint32_t state = rdl_load_relaxed(&cx->records[slot].wait) & RDL_STATE_MASK;
  rdl__tell_future(cx, slot, &text);
  rdl__text_print(&text, " was not done in time");
  if (!cx->launched && state == RDL_WAITING && !rdl__is_promise(cx, slot) &&
      !rdl__pull_tables(cx, &why)) {
    rdl__text_print(&text, ": it waits for ");
    rdl__tell_wait(cx, slot, &text);
  }
  rdl__tell_held(cx, &held);
  rdl__text_print(&text, ". Wait again, or cancel it; rdl_context_dump tells what all do. ");
  rdl__text_print(&text, "%s%sA task that loops forever needs RDL_YIELD%s in its loop",
                  held.bytes ? held.bytes : "", held.bytes ? ". " : "",
                  rdl__epoch(cx) ? "" : " or a look at RDL_CANCELLED");
  rdl__error_note("%s", text.bytes ? text.bytes : "the future was not done in time");
  rdl__text_finish(&text);
  rdl__text_finish(&held);
  return RDL_TIMEOUT;
}

static rdl_status sleep_until_done(rdl_context *cx, uint32_t slot, uint32_t generation,
                                   uint64_t deadline) {
  rdl__sleeper sleeper = {.slot = slot, .generation = generation, .next = cx->sleepers};
  rdl_status status = RDL_OK;
  uint64_t look = 0;
  bool in_time = true;
  int slack = rdl__sharpen_sleep();
  cx->sleepers = &sleeper;
  while (!rdl__root_done(cx, slot, generation) && !status) {
    if (cx->closing)
      status = rdl__error(RDL_CLOSED, "the context was closed while this thread waited");
    else if (cx->lost)
      status = rdl__error_why(cx->lost, &cx->lost_why);
    else if (!rdl__root_held(cx, slot, generation))
      status = rdl__error(RDL_STALE, "the future was taken or released by another thread");
    else if (!in_time)
      status = tell_timeout(cx, slot);
    else
      in_time = sleep_once(cx, &look, deadline);
  }
  leave(cx, &sleeper);
  rdl__restore_sleep(slack);
  return status;
}

/* The context stays while this call has given up the lock: it counts among the users. */
rdl_status rdl__await_root(rdl_context *cx, uint32_t slot, uint32_t generation, uint64_t deadline) {
  rdl_status status = RDL_OK;
  bool done;
  if (rdl__root_done(cx, slot, generation)) return RDL_OK;
  /* Who only looks, again and again, is to hear of it, too. */
  if (deadline == 0u && cx->lost) return rdl__error_why(cx->lost, &cx->lost_why);
  if (deadline == 0u) return rdl__error(RDL_TIMEOUT, "the future is not done yet");
  cx->users++;
  pthread_mutex_unlock(&cx->lock);
  done = spin(cx, slot, generation, deadline);
  pthread_mutex_lock(&cx->lock);
  if (!done) status = sleep_until_done(cx, slot, generation, deadline);
  rdl__leave(cx);
  return status;
}
