/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting and waking. The rule that everything rests on: a future that waits has the wait word
 * WAITING(ticket), and whoever wants it to go on swaps exactly that word for READY(ticket). One
 * swap wins; a node, deadline or cancel that comes later finds another ticket and is dropped.
 * conformance/model/ exhausts the interleavings of what stands here.
 */

/* For the running future. */
RDL_FN void rdl_node_begin(rdl_cx *rdl, rdl_u32 index, rdl_u32 who, rdl_u32 ticket, rdl_u32 kind) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  rdl_store_relaxed(&node->who, who);
  node->next = RDL_NIL;
  node->ticket = ticket;
  rdl_store_relaxed(&node->kind, (rdl->task & RDL_TASK_LOCAL) ? kind | RDL_NODE_LOCAL : kind);
  rdl_store_relaxed(&node->size, 0u);
}

/* Every slot has a node of its own, of the same number, for a wait for one thing; one from the pool
   steps in while that of an earlier wait, which was broken, still stands in a list. */
RDL_FN rdl_u32 rdl_own_node_is_free(rdl_cx *rdl, rdl_u32 slot) {
  return rdl_load_early(&rdl->nodes[slot].who) == RDL_NIL;
}

/* Gives a node back; a slot's own may be taken again from here on. */
RDL_OUTLINE void rdl_node_free(rdl_cx *rdl, rdl_u32 node) {
  if (node < rdl->slots) /* who finds it free reads nothing else of it */
    rdl_store_beside_release(&rdl->nodes[node].who, RDL_NIL);
  else
    rdl_pool_put(rdl, RDL_POOL_NODES, node);
}

/* A wait ends before what it waits for, and its node stays where it is. */
RDL_FN void rdl_break_wait(rdl_cx *rdl) {
  rdl->broken = 1;
  if (!rdl_load_relaxed(&rdl->control->broken)) rdl_store_relaxed(&rdl->control->broken, 1u);
}

/* Makes the future ready if it still waits with `waiting`; `cause` tells it why it was woken.
   The cause is written by the winner alone, before the future stands in any queue; 0 leaves what an
   earlier wake has told and the future has not yet seen. Nothing is released here: what the future
   is to see was released by who ended what it awaits, and is again where it is queued for others.
 */
RDL_OUTLINE rdl_u32 rdl_wake_now(rdl_cx *rdl, rdl_u32 slot, rdl_u32 waiting, rdl_u32 cause) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 ready = rdl_with_state(waiting, RDL_READY);
  if (rdl_cas_acquire(&record->wait, waiting, ready) != waiting) return 0;
  if (cause) {
    rdl_store_relaxed(&record->cause, cause);
    rdl_break_wait(rdl);
  }
  rdl->counters.woken++;
  return ready;
}

/* The same, and notes that it is to be queued: it is READY and stands nowhere until then. */
RDL_OUTLINE rdl_u32 rdl_wake(rdl_cx *rdl, rdl_u32 slot, rdl_u32 waiting, rdl_u32 cause) {
  rdl_u32 ready = rdl_wake_now(rdl, slot, waiting, cause);
  if (!ready) return 0;
  rdl->sides[slot].link = RDL_NIL;
  if (rdl->woken)
    rdl->sides[rdl->woken_last].link = slot;
  else
    rdl->woken = slot;
  rdl->woken_last = slot;
  rdl->noted |= RDL_NOTED_WAKES;
  return ready;
}

/* One member of a set has come to an end, or the awaiter has pushed its last node. */
RDL_FN rdl_u32 rdl_counter_down(rdl_cx *rdl, rdl_u32 counter) {
  return rdl_fetch_add(&rdl->nodes[counter].value, 0xffffffffu) == 1u;
}

/* Notes that the waiters of a chain are to be woken. Chains stand in a row through `value`, which
   the first node of each needs no more. */
RDL_OUTLINE void rdl_fire_list(rdl_cx *rdl, rdl_u32 chain) {
  rdl_u32 last = rdl->fired_last;
  if (!chain) return;
  rdl->noted |= RDL_NOTED_WAKES;
  if (rdl->fired && !last) { /* where the row ends is not known */
    rdl->nodes[chain].value = rdl->fired;
    rdl->fired = chain;
    return;
  }
  rdl->nodes[chain].value = RDL_NIL;
  rdl->fired_last = chain;
  if (last)
    rdl->nodes[last].value = chain;
  else
    rdl->fired = chain;
}

/* The only waiter may run next. */
RDL_FN void rdl_fire_waiters(rdl_cx *rdl, rdl_u32 chain) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + chain;
  if (!chain) return;
  if (rdl->sole || node->next || (node->kind & 3u) != RDL_NODE_PLAIN) {
    rdl_fire_list(rdl, chain);
    return;
  }
  rdl->sole = chain;
  rdl->noted |= RDL_NOTED_WAKES;
}

/* Takes the first node off the first chain; there is one. */
RDL_FN rdl_u32 rdl_fired_take(rdl_cx *rdl) {
  rdl_u32 index = rdl->fired;
  rdl_u32 next = rdl->nodes[index].next;
  rdl_u32 other = rdl->nodes[index].value;
  rdl->fired = next ? next : other;
  if (next) rdl->nodes[next].value = other;
  if (rdl->fired_last == index) rdl->fired_last = next;
  return index;
}

#define RDL_WAKES_AT_ONCE 64u

/* More wakes at once would hold up what else is ready here: the rest goes before the backlog, a
   chore that is served so many at a time. */
RDL_FN void rdl_keep_fired(rdl_cx *rdl) {
  if (!rdl->fired) return;
  if (rdl->fired_last) rdl->nodes[rdl->fired_last].value = rdl->backlog;
  rdl->backlog = rdl->fired;
  rdl->fired = rdl->fired_last = RDL_NIL;
}

RDL_FN void rdl_take_backlog(rdl_cx *rdl) {
  rdl->fired = rdl->backlog;
  rdl->fired_last = rdl->backlog = RDL_NIL;
  rdl->noted |= RDL_NOTED_WAKES;
}

RDL_FN rdl_u32 rdl_node_alive(rdl_cx *rdl, rdl_u32 index) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  if ((node->kind & 3u) == RDL_NODE_MEMBER) node = rdl->nodes + node->who;
  return rdl_load_acquire(&rdl->records[node->who].wait) == node->ticket;
}

/* A node whose wait is over in another way. */
RDL_OUTLINE void rdl_node_drop(rdl_cx *rdl, rdl_u32 index) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  rdl_u32 counter = (node->kind & 3u) == RDL_NODE_MEMBER ? node->who : RDL_NIL;
  while (index) {
    rdl_node_free(rdl, index);
    index = counter && rdl_counter_down(rdl, counter) ? counter : RDL_NIL;
    counter = RDL_NIL;
  }
}

/* Pushes the chain head .. tail; 0 when the list is closed. */
RDL_FN rdl_u32 rdl_list_join(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list, rdl_u32 head, rdl_u32 tail) {
  rdl_u32 old = rdl_load_acquire(list);
  rdl_u32 seen;
  while (!(old & RDL_LIST_CLOSED)) {
    rdl->nodes[tail].next = old & RDL_NODE_MASK;
    seen = rdl_cas(list, old, head | (old & RDL_DETACHED_BIT));
    if (seen == old) return 1;
    old = seen;
  }
  rdl->nodes[tail].next = RDL_NIL; /* what an attempt wrote here is not ours */
  return 0;
}

/* Lists are swept from 2^3 nodes on, and then whenever they have doubled. Later would let a program
   that waits for many futures at once, again and again, fill the pool with nodes of waits long
   over. */
#define RDL_FIRST_SWEEP 3u

/* A chain of nodes that is being rebuilt. */
typedef struct rdl_chain {
  rdl_u32 head;
  rdl_u32 tail;
  rdl_u32 size;
} rdl_chain;

RDL_FN rdl_chain rdl_chain_empty(void) {
  rdl_chain chain;
  chain.head = chain.tail = RDL_NIL;
  chain.size = 0;
  return chain;
}

/* Keeps a node whose future still waits; a dead one is freed. */
RDL_FN void rdl_chain_keep(rdl_cx *rdl, rdl_chain *chain, rdl_u32 node) {
  if (!rdl_node_alive(rdl, node)) {
    rdl_node_drop(rdl, node);
    return;
  }
  rdl->nodes[node].next = chain->head;
  chain->head = node;
  if (!chain->tail) chain->tail = node;
  chain->size++;
}

/* Puts a chain back on its list, marked to be swept at twice its size. */
RDL_OUTLINE rdl_u32 rdl_chain_return(rdl_cx *rdl, rdl_chain *chain, RDL_GLOBAL rdl_u32 *list) {
  RDL_GLOBAL rdl_node *head = rdl->nodes + chain->head;
  rdl_u32 bits = RDL_FIRST_SWEEP;
  while ((1u << bits) < 2u * chain->size)
    bits++;
  rdl_store_relaxed(&head->size, chain->size);
  rdl_store_relaxed(&head->kind, (head->kind & 7u) | bits << RDL_SWEEP_SHIFT);
  return rdl_list_join(rdl, list, chain->head, chain->tail);
}

/* Takes the list of a future, drops its dead nodes and puts the live ones back. The future may end,
   and its slot be born again, while the list is away: nodes of futures carry the generation they
   wait for, and it is read after the list was taken and again after the rest is back. */
RDL_OUTLINE void rdl_sweep(rdl_cx *rdl, RDL_GLOBAL rdl_record *target) {
  rdl_u32 generation;
  do {
    rdl_u32 old = rdl_fetch_and(&target->waiters, ~RDL_NODE_MASK);
    rdl_chain live = rdl_chain_empty();
    rdl_u32 node, next, gone = RDL_NIL;
    if (old & RDL_LIST_CLOSED) return;
    generation = rdl_load_acquire(&target->generation);
    for (node = old & RDL_NODE_MASK; node; node = next) {
      next = rdl->nodes[node].next;
      if (rdl->nodes[node].value == generation) {
        rdl_chain_keep(rdl, &live, node);
      } else {
        rdl->nodes[node].next = gone;
        gone = node;
      }
    }
    if (live.head && !rdl_chain_return(rdl, &live, &target->waiters)) rdl_fire_list(rdl, live.head);
    rdl_fire_list(rdl, gone);
  } while (rdl_load_acquire(&target->generation) != generation);
}

/* What is too long to be swept in one kernel keeps its dead nodes until it is fired. */
#if defined(RDL_LOOP_TURNS)
RDL_FN rdl_u32 rdl_may_sweep(rdl_cx *rdl, rdl_u32 size) {
  if (size > rdl->part) return 0;
  rdl->part -= size;
  return 1;
}
#else
RDL_FN rdl_u32 rdl_may_sweep(rdl_cx *rdl, rdl_u32 size) {
  (void)rdl;
  (void)size;
  return 1;
}
#endif

/* Pushes a node of this worker's: RDL_JOIN_CLOSED, RDL_JOINED, or RDL_JOIN_SWEEP when the list has
   doubled since it was last swept and the caller should sweep it. Size and mark are hints: the head
   may already be another list's node when they are read. */
#define RDL_JOIN_CLOSED 0u
#define RDL_JOINED      1u
#define RDL_JOIN_SWEEP  2u

/* Whether lists may have dead nodes. A hint, which need not be new where a look takes long. */
RDL_FN rdl_u32 rdl_is_broken(rdl_cx *rdl) {
#if defined(RDL_WARP)
  return rdl->broken;
#else
  return rdl_load_relaxed(&rdl->control->broken);
#endif
}

RDL_OUTLINE rdl_u32 rdl_join(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list, rdl_u32 index) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  rdl_u32 size = 1, bits = RDL_FIRST_SWEEP, head;
  /* No list has dead nodes, but for those of awaiters that took themselves back when they saw a
     signal: this one or the next takes them away, for `lowest` is low enough. */
  if (!rdl_is_broken(rdl))
    return rdl_list_join(rdl, list, index, index) ? RDL_JOINED : RDL_JOIN_CLOSED;
  head = rdl_load_acquire(list) & RDL_NODE_MASK;
  if (head) {
    size = rdl_load_relaxed(&rdl->nodes[head].size) + 1u;
    bits = rdl_load_relaxed(&rdl->nodes[head].kind) >> RDL_SWEEP_SHIFT;
    if (bits < RDL_FIRST_SWEEP || bits > 30u) bits = RDL_FIRST_SWEEP;
    rdl_store_relaxed(&node->size, size);
    rdl_store_relaxed(&node->kind, (node->kind & 7u) | bits << RDL_SWEEP_SHIFT);
  }
  if (!rdl_list_join(rdl, list, index, index)) return RDL_JOIN_CLOSED;
  return size >= (1u << bits) && rdl_may_sweep(rdl, size) ? RDL_JOIN_SWEEP : RDL_JOINED;
}

/* A future's list: 0 = closed, and the node is still the caller's. When the slot has been reused
   since the handle was looked at, the sweep fires the node. */
RDL_OUTLINE rdl_u32 rdl_join_future(rdl_cx *rdl, RDL_GLOBAL rdl_record *target, rdl_u32 generation,
                                    rdl_u32 index) {
  rdl_u32 joined = rdl_join(rdl, &target->waiters, index);
  if (joined == RDL_JOIN_CLOSED) return 0;
  if (joined == RDL_JOIN_SWEEP || rdl_load_acquire(&target->generation) != generation)
    rdl_sweep(rdl, target);
  return 1;
}

/* The awaiter takes itself back: 1 = it runs on, 0 = somebody has made it ready. */
RDL_FN rdl_u32 rdl_take_back(rdl_cx *rdl, rdl_u32 waiting) {
  rdl_u32 running = rdl_with_state(waiting, RDL_RUNNING);
  if (rdl_cas(&rdl->self->wait, waiting, running) != waiting) return 0;
  rdl->wait = running;
  return 1;
}

/* ---- room ---- */

/* A future has started before the one that waits for room, or that one begins to wait: the count of
   dispatches until the next may do so begins anew. */
RDL_FN void rdl_started_before(rdl_cx *rdl) {
  rdl->may_start = 0;
  rdl->starved_since = rdl->segments;
}

/* The version was read before the pools were found empty, and is read again after the push and
   after what this worker holds has gone back. */
RDL_OUTLINE void rdl_wait_for_room(rdl_cx *rdl, rdl_u32 node) {
  if (!rdl_load_relaxed(&rdl->control->scarce)) rdl_store_relaxed(&rdl->control->scarce, 1u);
  if (!rdl->starved) rdl_started_before(rdl);
  rdl->starved = rdl->nodes[node].who;
  rdl->starved_ticket = rdl->nodes[node].ticket & RDL_TICKET_MASK;
  rdl->nodes[node].value = rdl->worker + 1u;
  rdl_list_join(rdl, &rdl->control->room, node, node);
  rdl_note_room(rdl, RDL_ROOM_RETURN | RDL_ROOM_LOOK);
}

/* ---- cancel ---- */

/* Keeps a RETURNED future from ending while it stands in the unwind list, as one child more would.
   Undone by rdl_drop_child. A count that includes running code, or did until a fast end, is large:
   the slot has been born again since it was seen RETURNED. The hold comes before the swap of the
   wait word, which fails then. */
RDL_FN rdl_u32 rdl_hold(RDL_GLOBAL rdl_record *record) {
  rdl_u32 count = rdl_load_acquire(&record->children);
  while (count && count < RDL_CODE_RUNS / 2u) {
    rdl_u32 seen = rdl_cas(&record->children, count, count + 1u);
    if (seen == count) return 1;
    count = seen;
  }
  return 0;
}

/* The owner waits for its children and the last one has ended. The ticket is read before what it
   waits for: if the swap hits, both belong to the same wait. */
RDL_FN void rdl_wake_owner(rdl_cx *rdl, rdl_u32 owner) {
  rdl_u32 wait = rdl_load_acquire(&rdl->records[owner].wait);
  if ((wait & RDL_STATE_MASK) != RDL_WAITING) return;
  if (rdl_load_relaxed(&rdl->records[owner].result[RDL_WORD_AWAITS]) != RDL_AWAITS_CHILDREN) return;
  rdl_wake(rdl, owner, wait, 0u);
}

/* Notes that a future is over: nobody else counts here any more, and it stands in no queue. */
RDL_FN void rdl_note_end(rdl_cx *rdl, rdl_u32 slot) {
  rdl->sides[slot].link = rdl->ended;
  rdl->ended = slot;
  rdl->noted |= RDL_NOTED_ENDS;
}

/* A child less, so many are `left`. Who takes the last one ends the future. */
RDL_OUTLINE void rdl_child_gone(rdl_cx *rdl, rdl_u32 slot, rdl_u32 left) {
  if (left == (RDL_CHILDREN_AWAITED | RDL_CODE_RUNS)) rdl_wake_owner(rdl, slot);
  if (left == 0u) rdl_note_end(rdl, slot);
}

RDL_OUTLINE void rdl_drop_child(rdl_cx *rdl, rdl_u32 slot) {
  rdl_child_gone(rdl, slot, rdl_fetch_add(&rdl->records[slot].children, 0xffffffffu) - 1u);
}

/* Not started: never starts. Waiting: goes on with CANCELLED. Running: sees the request at its next
   await. RETURNED: passes it to its children. The generation is read after the wait word: a slot
   that is reused later has another ticket, and the swap fails. */
RDL_OUTLINE void rdl_cancel(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  for (;;) {
    rdl_u32 wait = rdl_load_acquire(&record->wait);
    rdl_u32 state = wait & RDL_STATE_MASK;
    rdl_u32 held = 0, marked;
    if (rdl_load_acquire(&record->generation) != generation) return;
    if (state == RDL_FREE || state == RDL_DONE || (wait & RDL_CANCEL_BIT)) return;
    if (rdl_load_relaxed(&record->task) & RDL_TASK_CANCELLED) return; /* it has been told */
    if (state == RDL_WAITING) {
      if (rdl_wake(rdl, slot, wait, RDL_S_CANCELLED)) return;
      continue;
    }
    if (state == RDL_RETURNED) held = rdl_hold(record); /* not: it ends, or has ended */
    marked = rdl_cas(&record->wait, wait, wait | RDL_CANCEL_BIT) == wait;
    if (held && marked) {
      rdl->sides[slot].link = rdl->unwind;
      rdl->unwind = slot;
      return;
    }
    if (held) rdl_drop_child(rdl, slot); /* it has lost, and may hold the slot's next life */
    if (marked) return;
  }
}

/* THE place where children are cancelled: those that a delivered cancel, the end of their owner or
   the unwind list has noted. */
RDL_OUTLINE void rdl_serve_cancel(rdl_cx *rdl) {
  rdl_u32 child = rdl->cancel_from;
  for (; child && rdl_one_more(rdl); child = rdl->records[child].next_sibling)
    rdl_cancel(rdl, child, rdl->records[child].generation);
  rdl->cancel_from = child;
  if (child) return; /* the rest in the next kernel */
  if (rdl->cancel_owner) rdl_drop_child(rdl, rdl->cancel_owner);
  rdl->cancel_owner = RDL_NIL;
  rdl->cancels = 0;
}

/* One RETURNED future passes its cancel on; its own dispatch, so that depth costs no stack. */
RDL_FN void rdl_take_unwind(rdl_cx *rdl) {
  rdl_u32 slot = rdl->unwind;
  rdl->unwind = rdl->sides[slot].link;
  if (!rdl->records[slot].cause) rdl_store_relaxed(&rdl->records[slot].cause, RDL_S_CANCELLED);
  rdl->cancel_from = rdl->records[slot].first_child;
  rdl->cancel_owner = slot;
  rdl->cancels = 1;
}
