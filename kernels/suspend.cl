/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a suspension, after the task has returned and its state is back in the frame. In
 * every case: WAITING(ticket) first, then the nodes, then one more look at what is awaited. From
 * the first node on another worker may already run the future, so only the ticket, the nodes and
 * the lists are touched; what the await needs was copied into rdl_cx before.
 */

/* A cancel request is delivered once; clean-up may then await again. The ticket rises, so that a
   deadline set for a wait that did not come about cannot end the next one. Returns 0 when the
   future had been told before. */
RDL_OUTLINE rdl_u32 rdl_deliver_cancel(rdl_cx *rdl) {
  rdl_u32 told = rdl->self->task & RDL_TASK_CANCELLED;
  rdl->wait = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_RUNNING);
  rdl_store_release(&rdl->self->wait, rdl->wait);
  if (told) return 0;
  rdl_store_relaxed(&rdl->self->task, rdl->self->task | RDL_TASK_CANCELLED);
  rdl_cancel_children(rdl, rdl->slot);
  rdl->status = RDL_S_CANCELLED;
  return 1;
}

RDL_FN rdl_u32 rdl_cancel_requested(rdl_cx *rdl) {
  return rdl_load_relaxed(&rdl->self->wait) & RDL_CANCEL_BIT;
}

/* ---- timers ---- */

/* Time first, ticket second: the host reads them the other way round. */
RDL_FN void rdl_timer_set(rdl_cx *rdl, rdl_u32 waiting) {
  RDL_GLOBAL rdl_side *side = rdl->sides + rdl->slot;
  rdl_store_relaxed64(&side->timer_ns, rdl->timeout);
  rdl_store_release(&side->timer_ticket, waiting);
}

/* Puts the slot on the list the host looks at, if it is not there already. The mark is set by a
   read-modify-write even when it stands already: the host clears it before it reads the time. */
RDL_FN void rdl_timer_announce(rdl_cx *rdl, rdl_u32 slot) {
  RDL_GLOBAL rdl_side *side = rdl->sides + slot;
  rdl_u32 old, seen;
  if (rdl_fetch_or(&side->timer_link, RDL_TIMER_LISTED)) return;
  old = rdl_load_relaxed(&rdl->control->timers);
  for (;;) {
    rdl_store_relaxed(&side->timer_link, old | RDL_TIMER_LISTED);
    seen = rdl_cas(&rdl->control->timers, old, slot);
    if (seen == old) return;
    old = seen;
  }
}

/* ---- one future ---- */

RDL_FN rdl_u32 rdl_commit_future(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(rdl->target.index);
  if (rdl_join_future(rdl, target, rdl->target.generation, node)) return 0;
  rdl_node_free(rdl, node);
  return rdl_take_back(rdl, waiting);
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

RDL_FN rdl_u32 rdl_commit_event(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  RDL_GLOBAL rdl_event_record *event = rdl->events + rdl_slot_of(rdl->target.index);
  rdl_u32 threshold = rdl->threshold, sweep;
  rdl->nodes[node].value = threshold;
  sweep = rdl_join(rdl, &event->waiters, node) == RDL_JOIN_SWEEP;
  if (rdl_load_ordered(&event->lowest) > threshold) rdl_fetch_min(&event->lowest, threshold);
  if (sweep) rdl_event_fire(rdl, event, rdl_load_ordered(&event->count));
  if (rdl_load_ordered(&event->count) >= threshold) return rdl_take_back(rdl, waiting);
  return 0;
}

/* ---- all of my children ---- */

/* The bit was set before the future began to wait: since then somebody else may run it, and end it,
   and the count may be that of another life. */
RDL_FN rdl_u32 rdl_commit_children(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 count = rdl_load_ordered(&rdl->self->children);
  if ((count & ~RDL_CHILDREN_AWAITED) != RDL_CODE_RUNS) return 0;
  return rdl_take_back(rdl, waiting);
}

/* ---- sets ---- */

/* The nodes of a set are taken before the future waits, so that they cannot run out halfway. They
   form a chain of their own; the first is the COUNTER of an await for all. */
RDL_OUTLINE rdl_u32 rdl_set_nodes(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 all = rdl->want == RDL_WANT_ALL;
  rdl_u32 missing = rdl->set_size, chain = RDL_NIL, counter = RDL_NIL;
  if (!rdl_pool_fill(rdl, RDL_POOL_NODES, rdl->set_size + 1u)) return RDL_NIL;
  counter = rdl_node_new(rdl, rdl->slot, waiting, RDL_NODE_COUNTER, rdl->set_size + 1u);
  for (; missing; missing--) {
    rdl_u32 node = rdl_node_new(rdl, all ? counter : rdl->slot, waiting,
                                all ? RDL_NODE_MEMBER : RDL_NODE_PLAIN, 0u);
    rdl->nodes[node].next = chain;
    chain = node;
  }
  rdl->nodes[counter].next = chain;
  return counter;
}

RDL_FN void rdl_chain_free(rdl_cx *rdl, rdl_u32 node) {
  while (node) {
    rdl_u32 next = rdl->nodes[node].next;
    rdl_node_free(rdl, node);
    node = next;
  }
}

RDL_FN rdl_u32 rdl_commit_all(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 counter) {
  rdl_u32 node = rdl->nodes[counter].next, unused = RDL_NIL, k, last;
  for (k = 0; k < rdl->set_size; k++) {
    rdl_future f = rdl->set[k];
    rdl_u32 next = rdl->nodes[node].next;
    if (rdl_handle_status(rdl, f) != RDL_S_OK ||
        !rdl_join_future(rdl, rdl->records + rdl_slot_of(f.index), f.generation, node)) {
      rdl->nodes[node].next = unused;
      unused = node;
      rdl_counter_down(rdl, counter);
    }
    node = next;
  }
  rdl_chain_free(rdl, unused);
  last = rdl_counter_down(rdl, counter);
  if (!last) return 0;
  rdl_node_free(rdl, counter);
  return rdl_take_back(rdl, waiting);
}

RDL_FN rdl_u32 rdl_commit_any(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 counter) {
  rdl_u32 node = rdl->nodes[counter].next, joined = 1, k;
  rdl_node_free(rdl, counter);
  if (rdl->set_size > 1u) rdl_break_wait(rdl); /* the first wakes it, the others stay */
  for (k = 0; k < rdl->set_size && joined; k++) {
    rdl_future f = rdl->set[k];
    rdl_u32 next = rdl->nodes[node].next;
    joined = rdl_handle_status(rdl, f) == RDL_S_OK &&
             rdl_join_future(rdl, rdl->records + rdl_slot_of(f.index), f.generation, node);
    if (joined)
      node = next;
    else
      rdl->nodes[node].next = next; /* what the attempt wrote there */
  }
  rdl_chain_free(rdl, node);
  return joined ? 0u : rdl_take_back(rdl, waiting);
}

/* ---- all together ---- */

RDL_FN rdl_u32 rdl_awaits_tag(rdl_cx *rdl) {
  if (rdl->want == RDL_WANT_FUTURE) return rdl_slot_of(rdl->target.index);
  if (rdl->want == RDL_WANT_EVENT) return rdl_slot_of(rdl->target.index) | RDL_AWAITS_EVENT;
  if (rdl->want == RDL_WANT_CHILDREN) return RDL_AWAITS_CHILDREN;
  if (rdl->want == RDL_WANT_ROOM) return RDL_AWAITS_ROOM;
  return RDL_AWAITS_SET;
}

/* A root that has gone through its gate begins next: others may wait for it. The ticket rises, for
   entries made before the gate may still stand in a ring. */
RDL_FN rdl_u32 rdl_commit_start(rdl_cx *rdl) {
  rdl_u32 ready = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_READY);
  if (!rdl_change(rdl->self, rdl->wait, ready)) return 1;
  rdl_ring_push(rdl, rdl->slot, ready);
  return 0;
}

/* Behind everything that is ready here now: the ring, the inbox and the overflow come before what
   has yielded. */
RDL_FN rdl_u32 rdl_commit_yield(rdl_cx *rdl) {
  if (!rdl->resume) return rdl_commit_start(rdl);
  if (!rdl_change(rdl->self, rdl->wait, rdl_with_state(rdl->wait, RDL_QUEUED))) return 1;
  rdl_fifo_append(rdl, rdl->slot);
  rdl->counters.yielded++;
  return 0;
}

/* What the wait needs is taken before it begins: RDL_NIL with rdl->status set when it is not there.
 */
RDL_FN rdl_u32 rdl_wait_nodes(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 node;
  if (rdl->want == RDL_WANT_CHILDREN) return RDL_NIL;
  if (rdl->want == RDL_WANT_ALL || rdl->want == RDL_WANT_ANY)
    node = rdl_set_nodes(rdl, waiting);
  else
    node = rdl_node_of(rdl, rdl->slot, waiting);
  if (!node) rdl->status = RDL_S_OUT_OF_SLOTS;
  return node;
}

RDL_FN rdl_u32 rdl_commit(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node, rdl_u32 version) {
  if (rdl->want == RDL_WANT_FUTURE) return rdl_commit_future(rdl, waiting, node);
  if (rdl->want == RDL_WANT_EVENT) return rdl_commit_event(rdl, waiting, node);
  if (rdl->want == RDL_WANT_CHILDREN) return rdl_commit_children(rdl, waiting);
  if (rdl->want == RDL_WANT_ALL) return rdl_commit_all(rdl, waiting, node);
  if (rdl->want == RDL_WANT_ANY) return rdl_commit_any(rdl, waiting, node);
  rdl_wait_for_room(rdl, node, version);
  return 0;
}

/* The future begins to wait: 0 = a cancel came first, and it was told. */
RDL_FN rdl_u32 rdl_begin_wait(rdl_cx *rdl, rdl_u32 *waiting, rdl_u32 *node) {
  rdl_store_relaxed(&rdl->self->result[RDL_WORD_SINCE], rdl->now);
  for (;;) {
    *waiting = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_WAITING);
    *node = rdl_wait_nodes(rdl, *waiting);
    if (rdl->status) return 0;
    if (rdl->timeout != RDL_NEVER) rdl_timer_set(rdl, *waiting);
    if (rdl_cas(&rdl->self->wait, rdl->wait, *waiting) == rdl->wait) return 1;
    if (rdl->want == RDL_WANT_ALL || rdl->want == RDL_WANT_ANY)
      rdl_chain_free(rdl, *node);
    else if (*node)
      rdl_node_free(rdl, *node);
    if (rdl_deliver_cancel(rdl)) return 0;
  }
}

/* Ends the segment of a future that must wait: 1 = what it waits for has come, or a cancel; it runs
   on at once and rdl->status tells. */
RDL_OUTLINE rdl_u32 rdl_suspend(rdl_cx *rdl) {
  rdl_u32 version = 0, slot = rdl->slot, waiting, node;
  rdl_u64 timeout = rdl->timeout;
  rdl_store_relaxed(&rdl->self->resume, rdl->resume | rdl->spawned << RDL_SPAWNED_SHIFT);
  if (rdl->misuse) rdl->status = rdl->misuse;
  if (rdl->status || (rdl_cancel_requested(rdl) && rdl_deliver_cancel(rdl))) return 1;
  if (rdl->want == RDL_WANT_YIELD) return rdl_commit_yield(rdl);
  if (rdl->want == RDL_WANT_ROOM) {
    version = rdl_load_ordered(&rdl->control->freed);
    if (rdl_make_room(rdl, rdl->threshold)) return 1;
  }
  if (rdl->want == RDL_WANT_CHILDREN) rdl_fetch_or(&rdl->self->children, RDL_CHILDREN_AWAITED);
  rdl_store_relaxed(&rdl->self->result[RDL_WORD_AWAITS], rdl_awaits_tag(rdl));
  if (!rdl_begin_wait(rdl, &waiting, &node)) return 1;
  if (timeout != RDL_NEVER) rdl_timer_announce(rdl, slot);
  if (rdl_commit(rdl, waiting, node, version)) return 1;
  rdl->counters.suspended++;
  if (rdl->flat && rdl->want == RDL_WANT_FUTURE) rdl_claim(rdl, rdl->target);
  return 0;
}
