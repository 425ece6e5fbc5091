/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: a count that only rises within a generation, and a list of waiters, each with the count
 * it waits for. Signaller: add to the count, then look at `lowest`. Awaiter: push the node, lower
 * `lowest` if it is higher, then read the count. All stand in the order of read-modify-writes, so
 * one of them sees the other. Who fires resets `lowest` before taking the list: a node that was
 * pushed in time, or whose awaiter found `lowest` low enough, is in the list taken.

 * Generations change between two launches only: the host resets and ends events itself.
 */

#define RDL_NO_WAITER 0xffffffffu

RDL_FN rdl_u32 rdl_event_status(rdl_cx *rdl, rdl_event e) {
  rdl_u32 index = e.index & RDL_MAX_SLOTS;
  if (e.index - (rdl->context + 1u) >= rdl->control->event_count - 1u) return RDL_S_INVALID;
  return rdl_load_acquire(&rdl->events[index].generation) == e.generation ? RDL_S_OK : RDL_S_STALE;
}

RDL_FN RDL_GLOBAL rdl_event_record *rdl_event_at(rdl_cx *rdl, rdl_event e) {
  return rdl->events + (e.index & RDL_MAX_SLOTS);
}

/* Takes the list, wakes the waiters that the count has reached and puts the others back, less those
   that wait no longer. Another signal may have come while the list was away: the count is read
   again after the others are back. Returns 1 when some still wait. */
RDL_OUTLINE rdl_u32 rdl_event_fire(rdl_cx *rdl, RDL_GLOBAL rdl_event_record *event, rdl_u32 count) {
  for (;;) {
    rdl_u32 lowest = RDL_NO_WAITER;
    rdl_u32 node, next, fired = RDL_NIL;
    rdl_chain live = rdl_chain_empty();
    rdl_exchange(&event->lowest, RDL_NO_WAITER);
    for (node = rdl_exchange(&event->waiters, RDL_NIL); node; node = next) {
      rdl_u32 value = rdl->nodes[node].value;
      next = rdl->nodes[node].next;
      if (value <= count) {
        rdl->nodes[node].next = fired;
        fired = node;
      } else {
        if (value < lowest) lowest = value;
        rdl_chain_keep(rdl, &live, node);
      }
    }
    if (live.head) {
      rdl_chain_return(rdl, &live, &event->waiters);
      rdl_fetch_min(&event->lowest, lowest);
      count = rdl_load_ordered(&event->count);
    }
    rdl_fire_waiters(rdl, fired);
    if (!live.head || count < lowest) return live.head != RDL_NIL;
  }
}

/* The count has reached what somebody waits for. A loop-limited device fires events in its
   scheduler alone: here it only notes them. The bit is a claim: of all that signal an event before
   it is fired one has it in its list. */
#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_event_due(rdl_cx *rdl, RDL_GLOBAL rdl_event_record *event, rdl_u32 count) {
  (void)count;
  if (rdl_fetch_or(&event->noted, RDL_EVENT_NOTED) & RDL_EVENT_NOTED) return;
  rdl_store_relaxed(&event->noted, RDL_EVENT_NOTED | rdl->signalled);
  rdl->signalled = (rdl_u32)(event - rdl->events);
}

/* The rest of a list, which could not be gone through at once, goes back under what has come since.
 */
RDL_FN void rdl_waiters_return(rdl_cx *rdl, RDL_GLOBAL rdl_event_record *event, rdl_u32 rest) {
  while (rdl_cas(&event->waiters, RDL_NIL, rest) != RDL_NIL) {
    rdl_u32 newer = rdl_exchange(&event->waiters, RDL_NIL);
    rdl_u32 oldest = newer;
    if (!newer) continue;
    while (rdl->nodes[oldest].next)
      oldest = rdl->nodes[oldest].next;
    rdl->nodes[oldest].next = rest;
    rest = newer;
  }
  rdl_exchange(&event->lowest, 0u); /* whatever they wait for */
}

/* THE place where events are fired on a loop-limited device: the first of those that were noted,
   its waiters as far as this kernel may go through them. Who signals after the claim is gone notes
   it again; who signalled before is in the count. */
RDL_FN void rdl_event_serve(rdl_cx *rdl) {
  RDL_GLOBAL rdl_event_record *event = rdl->events + rdl->signalled;
  rdl_u32 count, lowest = RDL_NO_WAITER, node, next, fired = RDL_NIL;
  rdl_chain live = rdl_chain_empty();
  rdl->signalled = rdl_exchange(&event->noted, 0u) & ~RDL_EVENT_NOTED;
  count = rdl_load_ordered(&event->count);
  rdl_exchange(&event->lowest, RDL_NO_WAITER);
  for (node = rdl_exchange(&event->waiters, RDL_NIL); node && rdl_one_more(rdl); node = next) {
    rdl_u32 value = rdl->nodes[node].value;
    next = rdl->nodes[node].next;
    if (value <= count) {
      rdl->nodes[node].next = fired;
      fired = node;
    } else {
      if (value < lowest) lowest = value;
      rdl_chain_keep(rdl, &live, node);
    }
  }
  if (live.head) rdl_chain_return(rdl, &live, &event->waiters);
  if (live.head) rdl_fetch_min(&event->lowest, lowest);
  if (node) rdl_waiters_return(rdl, event, node);
  rdl_fire_waiters(rdl, fired);
  if (node || (live.head && rdl_load_ordered(&event->count) >= lowest))
    rdl_event_due(rdl, event, count);
}
#else
RDL_FN void rdl_event_due(rdl_cx *rdl, RDL_GLOBAL rdl_event_record *event, rdl_u32 count) {
  rdl_event_fire(rdl, event, count);
}
#endif

RDL_OUTLINE rdl_u32 rdl_event_signal(rdl_cx *rdl, rdl_event e, rdl_u32 n) {
  RDL_GLOBAL rdl_event_record *event = rdl_event_at(rdl, e);
  rdl_u32 status = rdl_event_status(rdl, e);
  rdl_u32 count;
  if (status) return status;
  count = rdl_fetch_add(&event->count, n) + n;
  if (count < n) { /* it never falls: past the end it stays there */
    rdl_exchange(&event->count, RDL_NO_WAITER);
    count = RDL_NO_WAITER;
  }
  if (count >= rdl_load_ordered(&event->lowest)) rdl_event_due(rdl, event, count);
  return RDL_S_OK;
}
