/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines. A task that awaits with a time limit puts its slot on the list `timers`; the host
 * keeps the times in a heap and wakes the future by its ticket, as one more waker among others. */
#include <stdlib.h>

#include "api/src/core.h"

static void swap(rdl__timer *a, rdl__timer *b) {
  rdl__timer t = *a;
  *a = *b;
  *b = t;
}

static void sift_up(rdl__timer *timers, size_t at) {
  while (at && timers[at].due < timers[(at - 1) / 2].due) {
    swap(&timers[at], &timers[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
}

static void sift_down(rdl__timer *timers, size_t count, size_t at) {
  for (;;) {
    size_t least = at, left = 2 * at + 1, right = left + 1;
    if (left < count && timers[left].due < timers[least].due) least = left;
    if (right < count && timers[right].due < timers[least].due) least = right;
    if (least == at) return;
    swap(&timers[at], &timers[least]);
    at = least;
  }
}

/* Drops the timers of waits that are over. */
static void forget_old(rdl_context *cx) {
  size_t k, kept = 0;
  for (k = 0; k < cx->timer_count; k++)
    if (rdl_load_relaxed(&cx->records[cx->timers[k].slot].wait) == cx->timers[k].wait)
      cx->timers[kept++] = cx->timers[k];
  cx->timer_count = kept;
  for (k = kept / 2; k-- > 0;)
    sift_down(cx->timers, kept, k);
}

static bool make_room(rdl_context *cx) {
  size_t room = cx->timer_room ? 2 * cx->timer_room : 64;
  rdl__timer *timers;
  if (cx->timer_count < cx->timer_room) return true;
  forget_old(cx);
  if (cx->timer_count < cx->timer_room / 2) return true;
  timers = realloc(cx->timers, room * sizeof *timers);
  if (!timers) return false;
  cx->timers = timers;
  cx->timer_room = room;
  return true;
}

/* The link is given up before the ticket and then the time are read: a task that sets a new time in
 * between links itself again. Without memory for the timer the await ends at once rather than
 * never. */
static void collect(rdl_context *cx, uint32_t slot, uint64_t now) {
  rdl_side *side = &cx->sides[slot];
  rdl__timer timer = {.slot = slot, .wait = rdl_load_acquire(&side->timer_ticket)};
  uint64_t ns = __atomic_load_n(&side->timer_ns, __ATOMIC_RELAXED);
  timer.due = ns > RDL_FOREVER - 1u - now ? RDL_FOREVER - 1u : now + ns;
  if (make_room(cx)) {
    cx->timers[cx->timer_count] = timer;
    sift_up(cx->timers, cx->timer_count++);
  } else {
    rdl_message message = {.kind = RDL_SAY_WAKE, .slot = slot, .generation = timer.wait};
    message.value = RDL_S_TIMEOUT;
    rdl__try_say(cx, &message);
  }
}

void rdl__timers_collect(rdl_context *cx) {
  uint32_t slot, next;
  uint64_t now;
  if (!rdl_load_relaxed(&cx->control->timers)) return;
  now = rdl__now_ns();
  slot = rdl_exchange(&cx->control->timers, RDL_NIL);
  rdl__wrote(cx, &cx->control->timers, sizeof cx->control->timers);
  for (; slot != RDL_NIL; slot = next) {
    next = rdl_exchange(&cx->sides[slot].timer_link, RDL_NIL) & ~RDL_TIMER_LISTED;
    rdl__wrote(cx, &cx->sides[slot].timer_link, sizeof cx->sides[slot].timer_link);
    collect(cx, slot, now);
  }
}

void rdl__timers_fire(rdl_context *cx) {
  uint64_t now = cx->timer_count ? rdl__now_ns() : 0u;
  while (cx->timer_count && cx->timers[0].due <= now) {
    rdl_message message = {.kind = RDL_SAY_WAKE,
                           .slot = cx->timers[0].slot,
                           .generation = cx->timers[0].wait,
                           .value = RDL_S_TIMEOUT};
    /* A wait that is over needs no message; one that goes on has this very word. */
    if (rdl_load_relaxed(&cx->records[message.slot].wait) == message.generation &&
        !rdl__try_say(cx, &message))
      return;
    cx->timers[0] = cx->timers[--cx->timer_count];
    sift_down(cx->timers, cx->timer_count, 0);
  }
}

uint64_t rdl__timers_next(rdl_context *cx) {
  return cx->timer_count ? cx->timers[0].due : RDL_FOREVER;
}
