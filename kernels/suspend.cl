/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a suspension, after the task has returned and its state is back in the frame. In
 * every case: WAITING(ticket) first, then the nodes, then one more look at what is awaited. From
 * the first node on another worker may already run the future, so only the ticket, the nodes and
 * the lists are touched; what the await needs was copied into rdl_cx before.
 */

/* The running future is told to end. Its children are told before it waits or ends: those that it
   has now, for what it spawns from here on is its clean-up. */
#if defined(RDL_PRIVATE)
RDL_OUTLINE void rdl_private_tell(rdl_cx *rdl);
#endif

RDL_FN void rdl_tell_cancel(rdl_cx *rdl) {
  rdl_mark_task(rdl, RDL_TASK_CANCELLED);
#if defined(RDL_PRIVATE)
  rdl_private_tell(rdl);
#endif
  rdl->cancel_from = rdl->self->first_child;
  rdl->cancels = 1;
}

/* A cancel request is delivered once; clean-up may then await again. The ticket rises, so that a
   deadline set for a wait that did not come about cannot end the next one. Returns 0 when the
   future had been told before. */
RDL_OUTLINE rdl_u32 rdl_deliver_cancel(rdl_cx *rdl) {
  rdl_u32 told = rdl->task & RDL_TASK_CANCELLED;
  rdl->wait = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_RUNNING);
  rdl_store_release(&rdl->self->wait, rdl->wait);
  if (told) return 0;
  rdl_tell_cancel(rdl);
  rdl->status = RDL_S_CANCELLED;
  return 1;
}

RDL_FN rdl_u32 rdl_cancel_requested(rdl_cx *rdl) {
  return rdl_load_relaxed(&rdl->self->wait) & RDL_CANCEL_BIT;
}

/* ---- timers ---- */

/* Time first, ticket second: the host reads them the other way round. */
RDL_OUTLINE void rdl_timer_set(rdl_cx *rdl, rdl_u32 waiting) {
  RDL_GLOBAL rdl_side *side = rdl->sides + rdl->slot;
  rdl_store_relaxed64(&side->timer_ns, rdl->timeout);
  rdl_store_release(&side->timer_ticket, waiting);
}

/* Puts the slot on the list the host looks at, if it is not there already. The mark is set by a
   read-modify-write even when it stands already: the host clears it before it reads the time. */
RDL_OUTLINE void rdl_timer_announce(rdl_cx *rdl, rdl_u32 slot) {
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

/* Flat mode: what is awaited and has not started runs next on this very worker. */
RDL_FN void rdl_claim(rdl_cx *rdl, rdl_future f) {
  RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(f.index);
  rdl_u32 wait = rdl_load_acquire(&target->wait);
  if ((wait & RDL_STATE_MASK) != RDL_READY || rdl->next) return;
  if (rdl_load_relaxed(&target->resume) != 0u) return;
  if (rdl_load_relaxed(&target->task) & (RDL_TASK_WAITED | RDL_TASK_LOCAL)) return;
#if defined(RDL_GROUPS)
  if (!rdl->has_block && rdl_is_for_group(rdl, rdl_slot_of(f.index))) return;
#endif
  if (rdl_load_acquire(&target->generation) != f.generation) return;
  rdl->next = rdl_slot_of(f.index);
  rdl->next_wait = wait & ~RDL_CANCEL_BIT;
  rdl->counters.claimed++;
}

/* ---- an event ---- */

RDL_OUTLINE rdl_u32 rdl_commit_event(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  RDL_GLOBAL rdl_event_record *event = rdl->events + rdl_slot_of(rdl->target.index);
  rdl_u32 threshold = rdl->threshold, sweep;
  rdl->nodes[node].value = threshold;
  sweep = rdl_join(rdl, &event->waiters, node) == RDL_JOIN_SWEEP;
  if (rdl_load_ordered(&event->lowest) > threshold) rdl_fetch_min(&event->lowest, threshold);
  if (sweep) rdl_event_due(rdl, event, rdl_load_ordered(&event->count));
  if (rdl_load_ordered(&event->count) >= threshold) return rdl_take_back(rdl, waiting);
  return 0;
}

/* ---- all of my children ---- */

/* The bit was set before the future began to wait: since then somebody else may run it, and end it,
   and the count may be that of another life. */
RDL_OUTLINE rdl_u32 rdl_commit_children(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 count = rdl_load_ordered(&rdl->self->children);
  if ((count & ~RDL_CHILDREN_AWAITED) != RDL_CODE_RUNS) return 0;
  return rdl_take_back(rdl, waiting);
}

/* ---- futures: one, all of a set, any of a set ---- */

RDL_FN rdl_u32 rdl_awaits_set(rdl_cx *rdl) {
  return rdl->want >= RDL_WANT_ALL;
}

RDL_FN rdl_future rdl_member_in_frame(rdl_cx *rdl, rdl_u32 k) {
  rdl_future f;
  f.index = rdl->set_words[2u * k];
  f.generation = rdl->set_words[2u * k + 1u];
  return f;
}

/* The task has returned: a set in its state or its arguments stands in the frame now. */
#if defined(RDL_LOOP_TURNS)
RDL_FN rdl_future rdl_member(rdl_cx *rdl, rdl_u32 k) {
  return rdl_member_in_frame(rdl,
                             k); /* of lanes, too: nothing else is left from the kernel before */
}
#else
RDL_FN rdl_future rdl_member(rdl_cx *rdl, rdl_u32 k) {
  return rdl->set_words ? rdl_member_in_frame(rdl, k) : rdl->set[k];
}
#endif

/* What a node will wait for is noted in it, for the frame is out of reach by then. */
RDL_FN void rdl_node_aim(rdl_cx *rdl, rdl_u32 node, rdl_future f) {
  rdl_store_relaxed(&rdl->nodes[node].size, f.index);
  rdl->nodes[node].value = f.generation;
}

RDL_FN rdl_u32 rdl_node_new(rdl_cx *rdl, rdl_u32 who, rdl_u32 ticket, rdl_u32 kind) {
  rdl_u32 node = rdl_pool_take(rdl, RDL_POOL_NODES);
  rdl_node_begin(rdl, node, who, ticket, kind);
  return node;
}

/* The nodes of a set form a chain; the first is the COUNTER of an await for all. */
RDL_OUTLINE rdl_u32 rdl_set_nodes(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 all = rdl->want == RDL_WANT_ALL;
  rdl_u32 counter = rdl_node_new(rdl, rdl->slot, waiting, RDL_NODE_COUNTER);
  rdl_u32 chain = RDL_NIL, k;
  for (k = rdl->set_size; k; k--) {
    rdl_u32 node = rdl_node_new(rdl, all ? counter : rdl->slot, waiting,
                                all ? RDL_NODE_MEMBER : RDL_NODE_PLAIN);
    rdl_node_aim(rdl, node, rdl_member(rdl, k - 1u));
    rdl->nodes[node].next = chain;
    chain = node;
  }
  rdl->nodes[counter].value = rdl->set_size + 1u;
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

/* What a node of a set was aimed at. */
RDL_FN rdl_future rdl_node_target(rdl_cx *rdl, rdl_u32 node) {
  rdl_future f;
  f.index = rdl_load_relaxed(&rdl->nodes[node].size);
  f.generation = rdl->nodes[node].value;
  rdl_store_relaxed(&rdl->nodes[node].size, 0u);
  return f;
}

/* Pushes each node of a chain onto the list of what it waits for, of an await for any up to the
   first that finds its list closed. Returns how many did, and puts those that stand nowhere into
   `chain`. */
RDL_FN rdl_u32 rdl_join_all(rdl_cx *rdl, rdl_u32 *chain) {
  rdl_u32 node = *chain, next = RDL_NIL, unused = RDL_NIL, closed = 0;
  for (; node; node = next) {
    rdl_future f = rdl_node_target(rdl, node);
    rdl_u32 joins = !(closed && rdl->want == RDL_WANT_ANY) && rdl_handle_status(rdl, f) == RDL_S_OK;
    next = rdl->nodes[node].next;
    if (joins && rdl_join_future(rdl, rdl->records + rdl_slot_of(f.index), f.generation, node))
      continue;
    closed++;
    rdl->nodes[node].next = unused;
    unused = node;
  }
  *chain = unused;
  return closed;
}

/* An await for one future, whose handle was looked at. As a rule nobody else waits for it; then the
   node says all that it must since before the swap with which the wait has begun, and where memory
   is far the list is not looked at first. */
RDL_FN rdl_u32 rdl_commit_future(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(rdl->target.index);
  rdl_u32 generation = rdl->target.generation;
#if defined(RDL_WARP)
  if (!rdl_is_broken(rdl) && rdl_cas_covered(&target->waiters, RDL_NIL, node) == RDL_NIL) {
    if (!rdl->own_child && rdl_load_acquire(&target->generation) != generation)
      rdl_sweep(rdl, target);
    return 0;
  }
#endif
  if (rdl_join_future(rdl, target, generation, node)) return 0;
  rdl_node_free(rdl, node);
  return rdl_take_back(rdl, waiting);
}

RDL_OUTLINE rdl_u32 rdl_commit_set(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  rdl_u32 chain = rdl->nodes[node].next;
  rdl_u32 closed, last;
  if (rdl->want == RDL_WANT_ANY) {
    rdl_node_free(rdl, node);
    if (rdl->set_size > 1u) rdl_break_wait(rdl); /* the first wakes it, the others stay */
  }
  closed = rdl_join_all(rdl, &chain);
  if (closed) rdl_chain_free(rdl, chain);
  last = closed;
  if (rdl->want == RDL_WANT_ALL) {
    for (closed++; closed; closed--)
      last = rdl_counter_down(rdl, node);
    if (last) rdl_node_free(rdl, node);
  }
  return last && rdl_take_back(rdl, waiting);
}

/* ---- all together ---- */

RDL_FN rdl_u32 rdl_awaits_tag(rdl_cx *rdl) {
  if (rdl->want == RDL_WANT_FUTURE) return rdl_slot_of(rdl->target.index);
  if (rdl->want == RDL_WANT_EVENT) return rdl_slot_of(rdl->target.index) | RDL_AWAITS_EVENT;
  if (rdl->want == RDL_WANT_CHILDREN) return RDL_AWAITS_CHILDREN;
  if (rdl->want == RDL_WANT_ROOM) return RDL_AWAITS_ROOM;
  return RDL_AWAITS_SET;
}

/* What a root was before its gate is opened becomes what it was spawned as. The host is told last:
   from then on the futures that it waited for may be gone. */
RDL_FN void rdl_become(rdl_cx *rdl, rdl_u32 task) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  rdl_u32 flags = (record->task & ~RDL_TASK_WORD) | RDL_TASK_WAITED;
  record->frame = rdl->frame = rdl->outcomes[rdl->slot].frame;
  rdl->task = flags | task;
  rdl_store_release(&record->task, rdl->task);
}

/* A root that has gone through its gate begins next: others may wait for it. The ticket rises, for
   entries made before the gate may still stand in a ring. */
RDL_FN rdl_u32 rdl_commit_start(rdl_cx *rdl) {
  rdl_u32 ready = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_READY);
  rdl_become(rdl, rdl->threshold);
  if (!rdl_change(rdl->self, rdl->wait, ready)) return 1;
  rdl_ring_push(rdl, rdl->slot, ready);
  return 0;
}

/* Behind everything that is ready here now: the ring, the inbox and the overflow come before what
   has yielded. */
RDL_OUTLINE rdl_u32 rdl_commit_yield(rdl_cx *rdl) {
  if (!rdl->resume) return rdl_commit_start(rdl);
  if (!rdl_change(rdl->self, rdl->wait, rdl_with_state(rdl->wait, RDL_QUEUED))) return 1;
  rdl_fifo_append(rdl, rdl->slot);
  rdl->counters.yielded++;
  return 0;
}

/* What the wait needs is taken before it begins, so that it cannot run out halfway: RDL_NIL with
   rdl->status set when it is not there. */
RDL_OUTLINE rdl_u32 rdl_wait_nodes(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 own = !rdl_awaits_set(rdl) && rdl_own_node_is_free(rdl, rdl->slot);
  rdl_u32 want = own ? 0u : rdl_awaits_set(rdl) ? rdl->set_size + 1u : 1u;
  rdl_u32 node = rdl->slot;
  if (rdl->want == RDL_WANT_CHILDREN) return RDL_NIL;
  if (rdl->stashes[RDL_POOL_NODES].left < want && !rdl_pool_fill(rdl, RDL_POOL_NODES, want)) {
    rdl->status = RDL_S_OUT_OF_SLOTS;
    return RDL_NIL;
  }
  if (rdl_awaits_set(rdl)) return rdl_set_nodes(rdl, waiting);
  if (!own) node = rdl_pool_take(rdl, RDL_POOL_NODES);
  rdl_node_begin(rdl, node, rdl->slot, waiting, RDL_NODE_PLAIN);
  if (rdl->want == RDL_WANT_FUTURE) rdl->nodes[node].value = rdl->target.generation;
  return node;
}

RDL_FN rdl_u32 rdl_commit(rdl_cx *rdl, rdl_u32 waiting, rdl_u32 node) {
  if (rdl->want == RDL_WANT_EVENT) return rdl_commit_event(rdl, waiting, node);
  if (rdl->want == RDL_WANT_CHILDREN) return rdl_commit_children(rdl, waiting);
  if (rdl->want == RDL_WANT_FUTURE) return rdl_commit_future(rdl, waiting, node);
  if (rdl->want != RDL_WANT_ROOM) return rdl_commit_set(rdl, waiting, node);
  rdl_wait_for_room(rdl, node);
  return 0;
}

/* The future begins to wait: 0 = a cancel came first, and it was told. */
RDL_OUTLINE rdl_u32 rdl_begin_wait(rdl_cx *rdl, rdl_u32 *waiting, rdl_u32 *node) {
  rdl_store_relaxed(&rdl->self->result[RDL_WORD_SINCE], rdl->now);
  for (;;) {
    *waiting = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_WAITING);
    *node = rdl_wait_nodes(rdl, *waiting);
    if (rdl->status) return 0;
    if (rdl->timeout != RDL_NEVER) rdl_timer_set(rdl, *waiting);
    rdl->unfenced = 0;
    if (rdl_cas_release(&rdl->self->wait, rdl->wait, *waiting) == rdl->wait) return 1;
    rdl_chain_free(rdl, *node);
    if (rdl_deliver_cancel(rdl)) return 0;
  }
}

/* It looks for room, before its segment or within: 1 = there is, and it runs on. What it was woken
   with before its segment is kept in the record, for it has not been told yet. A segment that was
   woken to look, finds none and waits again is none: the host takes it that nothing goes on while
   no segments run, and then the youngest of those that wait for room fails. */
RDL_OUTLINE rdl_u32 rdl_find_room(rdl_cx *rdl) {
  rdl->room_version = rdl_load_ordered(&rdl->control->freed);
  if (rdl_make_room(rdl, rdl->threshold)) return 1;
  if (rdl_load_relaxed(&rdl->control->full)) {
    rdl->status = RDL_S_OUT_OF_SLOTS;
    return 1;
  }
  if (rdl->again) rdl->counters.segments--;
  if (rdl->starting) {
    rdl_store_relaxed(&rdl->self->cause, rdl->told);
    rdl_mark_task(rdl, RDL_TASK_WAITED);
  }
  return 0;
}

/* THE place where the segment of a future ends that must wait (in the lanes of a pack it is
   rdl_pack_suspend), once its state is back in the frame:
   1 = what it waits for has come, or a cancel; it runs on at once and rdl->status tells. */
RDL_OUTLINE rdl_u32 rdl_suspend(rdl_cx *rdl) {
  rdl_u32 waiting, node;
  rdl_store_relaxed(&rdl->self->resume, rdl->resume | rdl->spawned << RDL_SPAWNED_SHIFT);
  if (rdl->misuse) rdl->status = rdl->misuse;
  if (rdl->status || (rdl_cancel_requested(rdl) && rdl_deliver_cancel(rdl))) return 1;
  if (rdl->want == RDL_WANT_YIELD) return rdl_commit_yield(rdl);
  if (rdl->want == RDL_WANT_ROOM && rdl_find_room(rdl)) return 1;
  if (rdl->want == RDL_WANT_CHILDREN) rdl_fetch_or(&rdl->self->children, RDL_CHILDREN_AWAITED);
  rdl_store_relaxed(&rdl->self->result[RDL_WORD_AWAITS], rdl_awaits_tag(rdl));
  if (!rdl_begin_wait(rdl, &waiting, &node)) return 1;
  if (rdl->timeout != RDL_NEVER) rdl_timer_announce(rdl, rdl->slot);
  if (rdl_commit(rdl, waiting, node)) return 1;
  rdl->counters.suspended++;
  if (rdl->flat && rdl->want == RDL_WANT_FUTURE) rdl_claim(rdl, rdl->target);
  return 0;
}
