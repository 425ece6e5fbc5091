/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a suspension, after the task has returned and its state is back in the frame. In
 * every case: WAITING(ticket) first, then the nodes, then one more look at what is awaited. From
 * the first node on another worker may already run the future, so only the ticket, the nodes and
 * the lists are touched; what the await needs was copied into rdl_cx before.
 */

/* A cancel request is delivered once; clean-up may then await again. */
RDL_FN void rdl_deliver_cancel(rdl_cx *rdl) {
  rdl_fetch_and(&rdl->self->wait, ~RDL_CANCEL_BIT);
  rdl->self->task |= RDL_TASK_CANCELLED;
  rdl_cancel_children(rdl, rdl->slot);
  rdl->status = RDL_S_CANCELLED;
}

RDL_FN rdl_u32 rdl_cancel_requested(rdl_cx *rdl) {
  return rdl_load_relaxed(&rdl->self->wait) & RDL_CANCEL_BIT;
}

/* ---- timers ---- */

/* Time first, ticket second: the host reads them the other way round. */
RDL_FN void rdl_timer_set(rdl_cx *rdl, rdl_u32 waiting) {
  RDL_GLOBAL rdl_side *side = rdl->sides + rdl->slot;
  side->timer_ns = rdl->timeout;
  rdl_store_release(&side->timer_ticket, waiting);
}

/* Puts the slot on the list the host looks at, if it is not there already. */
RDL_FN void rdl_timer_announce(rdl_cx *rdl, rdl_u32 slot) {
  RDL_GLOBAL rdl_side *side = rdl->sides + slot;
  rdl_u32 old, seen;
  if (rdl_cas(&side->timer_link, RDL_NIL, RDL_TIMER_END) != RDL_NIL) return;
  old = rdl_load_relaxed(&rdl->control->timers);
  for (;;) {
    rdl_store_relaxed(&side->timer_link, old ? old : RDL_TIMER_END);
    seen = rdl_cas(&rdl->control->timers, old, slot);
    if (seen == old) return;
    old = seen;
  }
}

/* ---- one future ---- */

RDL_FN rdl_u32 rdl_commit_future(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 slot = rdl_slot_of(rdl->target.index);
  RDL_GLOBAL rdl_record *target = rdl->records + slot;
  rdl_u32 generation = rdl->target.generation;
  rdl_u32 node = rdl_node_new(rdl, rdl->slot, waiting, RDL_NODE_PLAIN, 0u);
  if (!node) {
    if (!rdl_take_back(rdl, waiting)) return 0;
    rdl->status = RDL_S_OUT_OF_SLOTS;
    return 1;
  }
  if (!rdl_join_future(rdl, target, node)) {
    rdl_node_free(rdl, node);
    return rdl_take_back(rdl, waiting);
  }
  if (rdl_load_acquire(&target->generation) != generation) return rdl_take_back(rdl, waiting);
  return 0;
}

/* Flat mode: what is awaited and has not started runs next on this very worker. */
RDL_FN void rdl_claim(rdl_cx *rdl, rdl_future f) {
  RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(f.index);
  rdl_u32 wait = rdl_load_acquire(&target->wait);
  if ((wait & RDL_STATE_MASK) != RDL_READY || rdl->next) return;
  if (rdl_load_relaxed(&target->resume) != 0u) return;
  if (rdl_load_relaxed(&target->task) & (RDL_TASK_WAITED | RDL_TASK_LOCAL)) return;
  if (rdl_load_acquire(&target->generation) != f.generation) return;
  rdl->next = rdl_slot_of(f.index);
  rdl->next_wait = wait & ~RDL_CANCEL_BIT;
  rdl->counters.claimed++;
}

/* ---- an event ---- */

RDL_FN rdl_u32 rdl_commit_event(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_event e;
  RDL_GLOBAL rdl_event_record *event;
  rdl_u32 threshold = rdl->threshold, sweep;
  rdl_u32 node = rdl_node_new(rdl, rdl->slot, waiting, RDL_NODE_PLAIN, threshold);
  e.index = rdl->target.index;
  e.generation = rdl->target.generation;
  event = rdl_event_at(rdl, e);
  if (!node) {
    if (!rdl_take_back(rdl, waiting)) return 0;
    rdl->status = RDL_S_OUT_OF_SLOTS;
    return 1;
  }
  sweep = rdl_join(rdl, &event->waiters, node) == RDL_JOIN_SWEEP;
  rdl_fetch_min(&event->lowest, threshold);
  if (sweep) rdl_event_fire(rdl, event, rdl_fetch_add(&event->count, 0u));
  if (rdl_fetch_add(&event->count, 0u) >= threshold) return rdl_take_back(rdl, waiting);
  if (rdl_load_acquire(&event->generation) != e.generation) return rdl_take_back(rdl, waiting);
  return 0;
}

/* ---- all of my children ---- */

RDL_FN rdl_u32 rdl_commit_children(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 count = rdl_fetch_or(&rdl->self->children, RDL_CHILDREN_AWAITED);
  if ((count & ~RDL_CHILDREN_AWAITED) != 1u) return 0;
  return rdl_take_back(rdl, waiting);
}

/* ---- sets ---- */

RDL_FN rdl_u32 rdl_commit_all(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 counter) {
  rdl_u32 k;
  for (k = 0; k < rdl->set_size; k++) {
    rdl_future f = rdl->set[k];
    RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(f.index);
    rdl_u32 node = RDL_NIL;
    if (rdl_handle_status(rdl, f) == RDL_S_OK) {
      node = rdl_node_new(rdl, counter, 0u, RDL_NODE_MEMBER, 0u);
      if (rdl_join_future(rdl, target, node)) continue;
      rdl_node_free(rdl, node);
    }
    rdl_counter_down(rdl, counter, 0u);
  }
  if (!rdl_counter_down(rdl, counter, 0u)) return 0;
  rdl_node_free(rdl, counter);
  return rdl_take_back(rdl, waiting);
}

RDL_FN rdl_u32 rdl_commit_any(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 slot = rdl->slot;
  rdl_u32 k;
  for (k = 0; k < rdl->set_size; k++) {
    rdl_future f = rdl->set[k];
    RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(f.index);
    rdl_u32 node;
    if (rdl_handle_status(rdl, f) != RDL_S_OK) return rdl_take_back(rdl, waiting);
    node = rdl_node_new(rdl, slot, waiting, RDL_NODE_PLAIN, 0u);
    if (!rdl_join_future(rdl, target, node)) {
      rdl_node_free(rdl, node);
      return rdl_take_back(rdl, waiting);
    }
    if (rdl_load_acquire(&target->generation) != f.generation) return rdl_take_back(rdl, waiting);
  }
  return 0;
}

/* ---- all together ---- */

RDL_FN rdl_u32 rdl_awaits_tag(rdl_cx *rdl) {
  if (rdl->want == RDL_WANT_FUTURE) return rdl_slot_of(rdl->target.index);
  if (rdl->want == RDL_WANT_EVENT) return rdl_slot_of(rdl->target.index) | RDL_AWAITS_EVENT;
  if (rdl->want == RDL_WANT_CHILDREN) return RDL_AWAITS_CHILDREN;
  if (rdl->want == RDL_WANT_ROOM) return RDL_AWAITS_ROOM;
  return RDL_AWAITS_SET;
}

RDL_FN rdl_u32 rdl_adopt_all(rdl_cx *rdl) {
  return rdl_adopt(rdl, &rdl->me->inbox) + rdl_adopt(rdl, &rdl->me->overflow);
}

/* Behind everything that is ready here now. */
RDL_FN rdl_u32 rdl_commit_yield(rdl_cx *rdl) {
  if (!rdl_change(rdl->self, rdl->wait, rdl_with_state(rdl->wait, RDL_QUEUED))) return 1;
  rdl_adopt_all(rdl);
  rdl_fifo_append(rdl, rdl->slot);
  rdl->counters.yielded++;
  return 0;
}

/* Ends the segment of a future that must wait: 1 = what it waits for has come, or a cancel; it runs
   on at once and rdl->status tells. */
RDL_FN rdl_u32 rdl_suspend(rdl_cx *rdl) {
  rdl_u32 waiting = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_WAITING);
  rdl_u32 version = 0, counter = RDL_NIL, slot = rdl->slot;
  rdl_u64 timeout = rdl->timeout;
  rdl_u32 again;
  rdl_store_relaxed(&rdl->self->resume, rdl->resume);
  if (rdl->misuse) {
    rdl->status = rdl->misuse;
    return 1;
  }
  if (rdl_cancel_requested(rdl)) {
    rdl_deliver_cancel(rdl);
    return 1;
  }
  if (rdl->want == RDL_WANT_YIELD) return rdl_commit_yield(rdl);
  if (rdl->want == RDL_WANT_ROOM) version = rdl_fetch_add(&rdl->control->freed, 0u);
  if (rdl->want == RDL_WANT_ROOM && rdl_make_room(rdl, rdl->threshold)) return 1;
  if (rdl->want == RDL_WANT_ALL || rdl->want == RDL_WANT_ANY) {
    if (!rdl_pool_fill(rdl, RDL_POOL_NODES, rdl->set_size + 1u)) {
      rdl->status = RDL_S_OUT_OF_SLOTS;
      return 1;
    }
    if (rdl->want == RDL_WANT_ALL)
      counter = rdl_node_new(rdl, slot, waiting, RDL_NODE_COUNTER, rdl->set_size + 1u);
  }
  rdl_store_relaxed(&rdl->sides[slot].awaits, rdl_awaits_tag(rdl));
  if (timeout != RDL_NEVER) rdl_timer_set(rdl, waiting);
  if (rdl_cas(&rdl->self->wait, rdl->wait, waiting) != rdl->wait) {
    if (counter) rdl_node_free(rdl, counter);
    rdl_deliver_cancel(rdl);
    return 1;
  }
  if (timeout != RDL_NEVER) rdl_timer_announce(rdl, slot);
  again = 0;
  if (rdl->want == RDL_WANT_FUTURE)
    again = rdl_commit_future(rdl, waiting);
  else if (rdl->want == RDL_WANT_EVENT)
    again = rdl_commit_event(rdl, waiting);
  else if (rdl->want == RDL_WANT_CHILDREN)
    again = rdl_commit_children(rdl, waiting);
  else if (rdl->want == RDL_WANT_ALL)
    again = rdl_commit_all(rdl, waiting, counter);
  else if (rdl->want == RDL_WANT_ANY)
    again = rdl_commit_any(rdl, waiting);
  else
    rdl_wait_for_room(rdl, waiting, version);
  if (again) return 1;
  rdl->counters.suspended++;
  if (rdl->flat && rdl->want == RDL_WANT_FUTURE) rdl_claim(rdl, rdl->target);
  return 0;
}
