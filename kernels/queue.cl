/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where ready futures stand. A worker's ring and its FIFO belong to it alone. Its inbox takes wakes
 * of futures that go on with it, LOCAL ones and those that waited for room; its overflow holds what
 * thieves may take; both are lists through rdl_side.link, pushed by compare-and-swap and taken
 * whole by exchange, so they can neither fail nor be hit by ABA. Roots arrive in one bounded ring
 * for all.
 *
 * An entry of a ring carries the wait word it was queued with: whoever finds another word there
 * drops it. A record in a list is QUEUED, which nobody may claim or free until it is unlinked.
 */

/* Changes the state and keeps a cancel request that may come at the same time. Returns 0 when the
   word is no longer `from`, cancel request aside. */
RDL_FN rdl_u32 rdl_change(RDL_GLOBAL rdl_record *record, rdl_u32 from, rdl_u32 to) {
  rdl_u32 seen = rdl_cas(&record->wait, from, to);
  if (seen == from) return 1;
  if (seen != (from | RDL_CANCEL_BIT)) return 0;
  return rdl_cas(&record->wait, seen, to | RDL_CANCEL_BIT) == seen;
}

RDL_FN rdl_u32 rdl_with_state(rdl_u32 wait, rdl_u32 state) {
  return (wait & RDL_TICKET_MASK) | state;
}

/* A chain head .. tail goes onto a list; the newest stands first. */
RDL_OUTLINE void rdl_list_push(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list, rdl_u32 head, rdl_u32 tail) {
  rdl_u32 old = rdl_load_relaxed(list);
  rdl_u32 seen;
  for (;;) {
    rdl->sides[tail].link = old;
    seen = rdl_cas(list, old, head);
    if (seen == old) return;
    old = seen;
  }
}

RDL_FN void rdl_fifo_append(rdl_cx *rdl, rdl_u32 slot) {
  rdl->sides[slot].link = RDL_NIL;
  if (rdl->fifo_tail)
    rdl->sides[rdl->fifo_tail].link = slot;
  else
    rdl->fifo_head = slot;
  rdl->fifo_tail = slot;
}

RDL_FN rdl_u32 rdl_fifo_take(rdl_cx *rdl) {
  rdl_u32 slot = rdl->fifo_head;
  if (!slot) return RDL_NIL;
  rdl->fifo_head = rdl->sides[slot].link;
  if (!rdl->fifo_head) rdl->fifo_tail = RDL_NIL;
  return slot;
}

/* Puts the older part of a list back under what has come meanwhile. */
RDL_OUTLINE void rdl_list_return(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list, rdl_u32 rest) {
  while (rest && rdl_cas(list, RDL_NIL, rest) != RDL_NIL) {
    rdl_u32 newer = rdl_exchange(list, RDL_NIL);
    rdl_u32 oldest = newer;
    if (!newer) continue;
    while (rdl->sides[oldest].link)
      oldest = rdl->sides[oldest].link;
    rdl->sides[oldest].link = rest;
    rest = newer;
  }
}

/* Takes the newest `most` of a list; the oldest of them stands first in what is returned. */
RDL_OUTLINE rdl_u32 rdl_list_take(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list, rdl_u32 most) {
  rdl_u32 slot, older, turned = RDL_NIL;
  if (!rdl_load_relaxed(list)) return RDL_NIL;
  for (slot = rdl_exchange(list, RDL_NIL); slot && most; slot = older) {
    older = rdl->sides[slot].link;
    rdl->sides[slot].link = turned;
    turned = slot;
    most--;
  }
  rdl_list_return(rdl, list, slot);
  return turned;
}

/* Behind what has yielded. */
RDL_OUTLINE void rdl_adopt_last(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list) {
  rdl_u32 slot, newer;
  for (slot = rdl_list_take(rdl, list, rdl_most(rdl)); slot; slot = newer) {
    newer = rdl->sides[slot].link;
    rdl_fifo_append(rdl, slot);
  }
}

#if defined(RDL_PRIVATE)
RDL_OUTLINE void rdl_private_save(rdl_cx *rdl);
#endif

/* One record of this worker that leaves its ring or FIFO for a list. LOCAL futures that have
   started stay at home. */
RDL_FN void rdl_give_away(rdl_cx *rdl, rdl_u32 slot) {
  rdl_u32 stays = (rdl->records[slot].task & RDL_TASK_LOCAL) && rdl->sides[slot].home;
  RDL_GLOBAL rdl_u32 *list = stays ? &rdl->me->inbox : &rdl->me->overflow;
#if defined(RDL_GROUPS)
  if (!stays && rdl_is_group(rdl->records[slot].task & RDL_TASK_MASK)) list = &rdl->control->groups;
#endif
#if defined(RDL_PRIVATE)
  if (slot == rdl_privates_of()->host) rdl_private_save(rdl);
#endif
  rdl_list_push(rdl, list, slot, slot);
  rdl->counters.spilled++;
}

#if defined(RDL_GROUPS)

/*
 * Futures of tasks of a whole group. A worker that is a warp and no more never holds one: whatever
 * has made it ready, it goes to one list, where the workers that have a block look before their own
 * rings. Those run all tasks.
 */

RDL_FN rdl_u32 rdl_is_for_group(rdl_cx *rdl, rdl_u32 slot) {
  return rdl_is_group(rdl_load_relaxed(&rdl->records[slot].task) & RDL_TASK_MASK);
}

/* A child of a segment that all lanes run: what they write before its end is still to come. */
RDL_OUTLINE void rdl_send(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait) {
  if (rdl->wide) {
    rdl->sides[slot].link = rdl->sent;
    rdl->sent = slot;
  } else if (rdl_change(rdl->records + slot, wait, rdl_with_state(wait, RDL_QUEUED))) {
    rdl_list_push(rdl, &rdl->control->groups, slot, slot);
    rdl->counters.spilled++;
  }
}

/* The segment is over. */
RDL_FN void rdl_send_children(rdl_cx *rdl) {
  rdl_u32 slot;
  while ((slot = rdl->sent)) {
    rdl->sent = rdl->sides[slot].link;
    rdl_send(rdl, slot, rdl_load_relaxed(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT);
  }
}

#endif

/* Whoever looks for work reads a word for 32 workers. The bit is set behind a push and cleared
   before the list is taken, so that a list that holds something has its bit, or a taker. Both are
   read-modify-writes: of the push and the taking one sees the other. The count rises last. */
RDL_OUTLINE void rdl_offer(rdl_cx *rdl, rdl_u32 worker) {
  rdl_fetch_or(rdl->offers + worker / 32u, 1u << worker % 32u);
  rdl_fetch_add(&rdl->control->offered, 1u);
}

#if defined(RDL_NEAR)
RDL_FN rdl_entry rdl_ring_entry(rdl_cx *rdl, rdl_u32 position) {
  if (position - rdl->near_from < RDL_NEAR_RING) return rdl->near_ring[position % RDL_NEAR_RING];
  return rdl->ring[position % RDL_LOCAL_RING];
}
/* The newest entry has just come. */
RDL_FN void rdl_near_push(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait) {
  rdl_u32 at = (rdl->bottom - 1u) % RDL_NEAR_RING;
  rdl->near_ring[at].slot = slot;
  rdl->near_ring[at].wait = wait;
  if (rdl->bottom - rdl->near_from > RDL_NEAR_RING) rdl->near_from = rdl->bottom - RDL_NEAR_RING;
}
/* And is gone. */
RDL_FN void rdl_near_pop(rdl_cx *rdl) {
  if ((rdl_i32)(rdl->bottom - rdl->near_from) < 0) rdl->near_from = rdl->bottom;
}
#else
RDL_FN rdl_entry rdl_ring_entry(rdl_cx *rdl, rdl_u32 position) {
  return rdl->ring[position % RDL_LOCAL_RING];
}
#define rdl_near_push(rdl, slot, wait) (void)0
#define rdl_near_pop(rdl)              (void)0
#endif

/* The oldest `count` entries of the ring go to the overflow. */
RDL_OUTLINE void rdl_spill_ring(rdl_cx *rdl, rdl_u32 count) {
  if (!count) return;
  for (; count; count--) {
    rdl_entry entry = rdl_ring_entry(rdl, rdl->top);
    rdl->top++;
    if (rdl_change(rdl->records + entry.slot, entry.wait, rdl_with_state(entry.wait, RDL_QUEUED)))
      rdl_give_away(rdl, entry.slot);
  }
  rdl_offer(rdl, rdl->worker);
}

RDL_OUTLINE void rdl_spill_fifo(rdl_cx *rdl, rdl_u32 count) {
  if (!rdl->fifo_head) return;
  for (; count && rdl->fifo_head; count--)
    rdl_give_away(rdl, rdl_fifo_take(rdl));
  rdl_offer(rdl, rdl->worker);
}

/* The most that is put out for others at once: they ask again for more. */
#define RDL_SHARE_MOST 16u

/* Somebody has no work: half of what waits here becomes free to take, unless something already is.
   What has yielded goes first, for it would wait longest here, and then what is oldest in the ring,
   which is the largest as a rule. One stays: a worker that gave away all it has would take it back
   before a thief has seen it. */
RDL_OUTLINE void rdl_share(rdl_cx *rdl) {
  rdl_u32 count = rdl->bottom - rdl->top;
  if (rdl_load_relaxed(&rdl->me->overflow)) return;
#if defined(RDL_GROUPS)
  if (rdl->has_block && rdl_load_relaxed(&rdl->control->groups)) return;
#endif
  if (rdl->fifo_head && (count || rdl->fifo_head != rdl->fifo_tail))
    rdl_spill_fifo(rdl, count ? RDL_SHARE_MOST : 1u);
  else if (count > 1u)
    rdl_spill_ring(rdl, rdl_least(count / 2u, RDL_SHARE_MOST));
  else
    return;
  rdl_store_relaxed(&rdl->control->hungry, 0u);
}

RDL_OUTLINE void rdl_ring_push(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait) {
  RDL_GLOBAL rdl_entry *entry;
#if defined(RDL_GROUPS)
  if (!rdl->has_block && rdl_is_for_group(rdl, slot)) {
    rdl_send(rdl, slot, wait);
    return;
  }
#endif
  if (rdl->bottom - rdl->top == RDL_LOCAL_RING) rdl_spill_ring(rdl, RDL_LOCAL_RING / 2u);
  entry = rdl->ring + rdl->bottom % RDL_LOCAL_RING;
  rdl_store_relaxed(&entry->slot, slot); /* the host reads them when this worker is held: it */
#if RDL_LANES > 1
  /* not before its arguments stand in its frame (rdl_show_children) */
  rdl_store_relaxed(&entry->wait, rdl->wide ? 0u : wait);
#else
  rdl_store_relaxed(&entry->wait, wait); /* relies on the order */
#endif
  rdl->bottom++;
  rdl_near_push(rdl, slot, wait);
}

/* `home` is a worker plus one, or 0 for whoever it is. */
RDL_OUTLINE void rdl_enqueue_at(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait, rdl_u32 home) {
  if (home == 0u || home == rdl->worker + 1u) {
    rdl_ring_push(rdl, slot, wait);
    return;
  }
  if (rdl_change(rdl->records + slot, wait, rdl_with_state(wait, RDL_QUEUED))) {
    RDL_GLOBAL rdl_worker *workers =
        (RDL_GLOBAL rdl_worker *)(rdl->heap + rdl->control->workers_at);
    rdl_list_push(rdl, &workers[home - 1u].inbox, slot, slot);
  }
}

/* Who runs one segment a kernel leaves the rest to others. */
#if defined(RDL_LOOP_TURNS)
#define RDL_ADOPT_MOST 2u
#else
#define RDL_ADOPT_MOST (RDL_LOCAL_RING / 2u)
#endif

/* Takes the newest of a list, so many at most, into the ring in the order that they had in
   another: the newest runs first, and the work goes on depth first whoever does it. Returns how
   many came. */
RDL_OUTLINE rdl_u32 rdl_adopt(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list) {
  rdl_u32 slot, newer, count = 0;
  for (slot = rdl_list_take(rdl, list, RDL_ADOPT_MOST); slot; slot = newer) {
    rdl_u32 queued = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
    rdl_u32 ready = rdl_with_state(queued, RDL_READY);
    newer = rdl->sides[slot].link;
    if (rdl_change(rdl->records + slot, queued, ready)) rdl_ring_push(rdl, slot, ready);
    count++;
  }
  return count;
}

#if defined(RDL_GROUPS)
/* The newest of a list of those for a whole group, one at a time: others take some, too. */
RDL_OUTLINE rdl_u32 rdl_adopt_from(rdl_cx *rdl, RDL_GLOBAL rdl_u32 *list) {
  rdl_u32 slot = rdl_list_take(rdl, list, 1u), queued, ready;
  if (!slot) return 0;
  queued = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
  ready = rdl_with_state(queued, RDL_READY);
  if (!rdl_change(rdl->records + slot, queued, ready)) return 0;
  rdl_ring_push(rdl, slot, ready);
  return 1;
}

RDL_FN rdl_u32 rdl_adopt_group(rdl_cx *rdl) {
  return rdl_adopt_from(rdl, &rdl->control->groups) ||
         rdl_adopt_from(rdl, &rdl->control->groups_before);
}

/* For a fair dispatch. The end of a long list is far away. So all of it is put aside as it is, and
   more not before each of these has had its turn: then those that came meanwhile have theirs. */
RDL_FN rdl_u32 rdl_adopt_older_group(rdl_cx *rdl) {
  RDL_GLOBAL rdl_u32 *before = &rdl->control->groups_before;
  if (!rdl_load_relaxed(before) && rdl_load_relaxed(&rdl->control->groups))
    rdl_list_return(rdl, before, rdl_exchange(&rdl->control->groups, RDL_NIL));
  return rdl_adopt_from(rdl, before);
}
#endif

/* The same of a worker's overflow. What is left of a long one is offered again: its bit may be
 * gone. */
RDL_OUTLINE rdl_u32 rdl_adopt_overflow(rdl_cx *rdl, rdl_u32 worker) {
  RDL_GLOBAL rdl_worker *workers = (RDL_GLOBAL rdl_worker *)(rdl->heap + rdl->control->workers_at);
  rdl_u32 got = rdl_adopt(rdl, &workers[worker].overflow);
  if (got && rdl_load_relaxed(&workers[worker].overflow)) rdl_offer(rdl, worker);
  return got;
}

RDL_FN RDL_GLOBAL rdl_cell *rdl_ring_cell(rdl_cx *rdl, RDL_GLOBAL rdl_ring *ring,
                                          rdl_u32 position) {
  return (RDL_GLOBAL rdl_cell *)(rdl->heap + ring->cells) + (position & ring->mask);
}

/* Bounded ring (Vyukov's sequence numbers, try-only). It has more than two cells for every slot
   that can stand in it, so there is always room. */
RDL_OUTLINE rdl_u32 rdl_shared_push(rdl_cx *rdl, RDL_GLOBAL rdl_ring *ring, rdl_u32 slot,
                                    rdl_u32 wait) {
  rdl_u32 tail = rdl_load_relaxed(&ring->tail);
  for (;;) {
    RDL_GLOBAL rdl_cell *cell = rdl_ring_cell(rdl, ring, tail);
    rdl_u32 behind = rdl_load_acquire(&cell->sequence) - tail;
    rdl_u32 seen;
    if (behind == 0) {
      seen = rdl_cas(&ring->tail, tail, tail + 1u);
      if (seen == tail) {
        cell->slot = slot;
        cell->wait = wait;
        rdl_store_release(&cell->sequence, tail + 1u);
        return 1;
      }
      tail = seen;
    } else if (behind & 0x80000000u) {
      return 0;
    } else {
      tail = rdl_load_relaxed(&ring->tail);
    }
  }
}

/* The same for the ring of roots, which only the holder of the mailbox's lock fills. */
RDL_FN rdl_u32 rdl_roots_push(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait) {
  RDL_GLOBAL rdl_ring *ring = &rdl->control->roots;
  rdl_u32 tail = rdl_load_relaxed(&ring->tail);
  RDL_GLOBAL rdl_cell *cell = rdl_ring_cell(rdl, ring, tail);
  if (rdl_load_acquire(&cell->sequence) != tail) return 0;
  cell->slot = slot;
  cell->wait = wait;
  rdl_store_release(&cell->sequence, tail + 1u);
  rdl_store_relaxed(&ring->tail, tail + 1u);
  return 1;
}

/* Takes up to `most` roots by one swap. The first is returned, the others are pushed onto the
   worker's ring last first, so that they run in order. The entry's slot is RDL_NIL when there is
   none. */
RDL_OUTLINE rdl_entry rdl_roots_pop(rdl_cx *rdl, rdl_u32 most) {
  RDL_GLOBAL rdl_ring *ring = &rdl->control->roots;
  rdl_u32 head = rdl_load_relaxed(&ring->head);
  rdl_u32 count, seen;
  rdl_entry entry;
  entry.slot = RDL_NIL;
  entry.wait = 0;
  for (;;) {
    for (count = 0; count < most; count++)
      if (rdl_load_acquire(&rdl_ring_cell(rdl, ring, head + count)->sequence) != head + count + 1u)
        break;
    if (count) {
      seen = rdl_cas(&ring->head, head, head + count);
      if (seen == head) break;
    } else {
      seen = rdl_load_relaxed(&ring->head);
      if (seen == head) return entry;
    }
    head = seen;
  }
  while (count) {
    RDL_GLOBAL rdl_cell *cell = rdl_ring_cell(rdl, ring, head + --count);
    entry.slot = cell->slot;
    entry.wait = cell->wait;
    rdl_store_release(&cell->sequence, head + count + ring->mask + 1u);
    if (count) rdl_ring_push(rdl, entry.slot, entry.wait);
  }
  return entry;
}
