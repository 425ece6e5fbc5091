/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth and end of futures. Children form a list that only the running segment of their owner
 * changes; a child that ends counts itself off in the owner's record and never touches the list.
 */

RDL_FN rdl_u32 rdl_slot_of(rdl_u32 index) {
  return index & RDL_MAX_SLOTS;
}

RDL_FN rdl_future rdl_handle_of(rdl_cx *rdl, rdl_u32 slot) {
  rdl_future f;
  f.index = slot | rdl->context;
  f.generation = rdl->records[slot].generation;
  return f;
}

RDL_FN rdl_future rdl_no_future(void) {
  rdl_future none;
  none.index = none.generation = 0;
  return none;
}

/* A handle of another context, or of no slot at all, never reaches a record. */
RDL_FN rdl_u32 rdl_handle_names(rdl_cx *rdl, rdl_future f) {
  return f.index - (rdl->context + 1u) < rdl->slots - 1u && f.generation;
}

RDL_FN rdl_u32 rdl_handle_status(rdl_cx *rdl, rdl_future f) {
  rdl_u32 slot = rdl_slot_of(f.index);
  if (!rdl_handle_names(rdl, f)) return RDL_S_INVALID;
  return rdl_load_acquire(&rdl->records[slot].generation) == f.generation ? RDL_S_OK : RDL_S_STALE;
}

RDL_FN RDL_GLOBAL const rdl_task_info *rdl_task_info_of(rdl_cx *rdl, rdl_u32 task) {
  RDL_GLOBAL const rdl_task_info *infos =
      (RDL_GLOBAL const rdl_task_info *)(rdl->heap + rdl->control->task_infos);
  return infos + (task & RDL_TASK_MASK);
}

RDL_FN rdl_u32 rdl_next_born(rdl_cx *rdl) {
  if (rdl->born == rdl->born_end) {
    rdl->born = rdl_fetch_add(&rdl->control->born, 64u);
    rdl->born_end = rdl->born + 64u;
  }
  return rdl->born++;
}

/* ---- blocks ---- */

RDL_FN RDL_GLOBAL rdl_word *rdl_block(rdl_cx *rdl, rdl_u32 unit) {
  return (RDL_GLOBAL rdl_word *)(rdl->heap + (rdl_u64)unit * RDL_UNIT);
}

RDL_FN rdl_u32 rdl_block_class(rdl_u32 task, rdl_u32 shift) {
  return (task >> shift) & RDL_CLASS_MASK;
}

RDL_OUTLINE void rdl_block_free(rdl_cx *rdl, rdl_u32 task, rdl_u32 shift, rdl_u32 unit) {
  rdl_u32 size_class = rdl_block_class(task, shift);
  if (size_class != RDL_CLASS_NONE && unit && !(task & RDL_TASK_HOST))
    rdl_pool_put(rdl, RDL_POOL_FRAMES + size_class, unit);
}

/* ---- birth ---- */

/* The order of a life's first words: whoever sees one of them must not take the generation of the
   life before for that of this one. Where a fence is dear, one stands between all that was freed
   and all that is born of it. */
RDL_FN void rdl_record_clear(rdl_cx *rdl, rdl_u32 slot, rdl_u32 task, rdl_u32 owner) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_fence_freed(rdl);
  rdl_store4_relaxed(&record->task, task, 0u, owner, RDL_NIL); /* resume, first child */
  rdl_store_relaxed(&record->cause, 0);
  rdl_store_relaxed(&record->children, RDL_CODE_RUNS);
  record->result[RDL_WORD_BORN] = rdl_next_born(rdl);
  if (task & RDL_TASK_LOCAL) rdl->sides[slot].home = 0;
  rdl_store_beside_release(&record->waiters, RDL_NIL);
}

RDL_FN void rdl_link_child(rdl_cx *rdl, rdl_u32 child) {
  RDL_GLOBAL rdl_record *record = rdl->records + child;
  rdl_u32 first = rdl->self->first_child;
#if RDL_LANES > 1
  rdl->childless = 0;
#endif
  record->next_sibling = first;
  record->previous_sibling = RDL_NIL;
  if (first) rdl->records[first].previous_sibling = child;
  rdl->self->first_child = child;
}

RDL_FN void rdl_unlink_child(rdl_cx *rdl, rdl_u32 child) {
  RDL_GLOBAL rdl_record *record = rdl->records + child;
  rdl_u32 next = record->next_sibling;
  rdl_u32 previous = record->previous_sibling;
  if (child == rdl->cancel_from) rdl->cancel_from = next;
#if RDL_LANES > 1
  if (child == rdl->group->told_child) rdl->group->told_child = next;
#endif
  if (next) rdl->records[next].previous_sibling = previous;
  if (previous)
    rdl->records[previous].next_sibling = next;
  else
    rdl->self->first_child = next;
}

/* Pool of the blocks of a class, or RDL_POOLS for none. */
RDL_FN rdl_u32 rdl_block_pool(rdl_u32 task, rdl_u32 shift) {
  rdl_u32 size_class = rdl_block_class(task, shift);
  return size_class == RDL_CLASS_NONE ? RDL_POOLS : RDL_POOL_FRAMES + size_class;
}

/* The stashes have a slot and its blocks, or get them. */
#if defined(RDL_LOOP_TURNS)
RDL_FN rdl_u32 rdl_slot_there(rdl_cx *rdl, rdl_u32 frames, rdl_u32 results) {
  rdl_u32 want = frames == results ? 2u : 1u;
  if (!rdl->stashes[RDL_POOL_SLOTS].left) rdl_pool_grab(rdl, RDL_POOL_SLOTS);
  if (frames != RDL_POOLS && !rdl->stashes[frames].left) rdl_pool_grab(rdl, frames);
  if (results != RDL_POOLS && rdl->stashes[results].left < want) rdl_pool_grab(rdl, results);
  return rdl->stashes[RDL_POOL_SLOTS].left && (frames == RDL_POOLS || rdl->stashes[frames].left) &&
         (results == RDL_POOLS || rdl->stashes[results].left >= want);
}
#else
RDL_FN rdl_u32 rdl_slot_there(rdl_cx *rdl, rdl_u32 frames, rdl_u32 results) {
  rdl_u32 k;
  for (k = 0; k < 3u; k++) {
    rdl_u32 pool = k == 0u ? RDL_POOL_SLOTS : k == 1u ? frames : results;
    rdl_u32 want = k == 2u && frames == results ? 2u : 1u;
    if (pool == RDL_POOLS || rdl->stashes[pool].left >= want) continue;
    if (!rdl_pool_fill(rdl, pool, want)) return 0;
  }
  return 1;
}
#endif

/* A slot of generation 0 was never used; one whose generations are used up does not come again. */
#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_slot_first(rdl_cx *rdl, rdl_u32 slot) {
  if (!rdl->records[slot].generation)
    rdl_store_relaxed(&rdl->records[slot].generation, rdl->control->base_generation);
}
#else
RDL_FN void rdl_slot_first(rdl_cx *rdl, rdl_u32 slot) {
  (void)rdl;
  (void)slot;
}
#endif

/* There is one; what its life begins with comes with it. */
RDL_FN rdl_u32 rdl_slot_take(rdl_cx *rdl) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[RDL_POOL_SLOTS];
  rdl_u32 slot = rdl_near_take_slot(rdl);
  if (slot) {
    rdl_stash_less(rdl, stash);
    return slot;
  }
  slot = rdl_pool_take(rdl, RDL_POOL_SLOTS);
  rdl_slot_first(rdl, slot);
  rdl->new_wait = rdl_load_relaxed(&rdl->records[slot].wait);
  rdl->new_generation = rdl_load_relaxed(&rdl->records[slot].generation);
  return slot;
}

/* A slot with its blocks, or RDL_NIL when there is no room; then nothing is taken. */
RDL_OUTLINE rdl_u32 rdl_slot_new(rdl_cx *rdl, rdl_u32 task) {
  rdl_u32 frames = rdl_block_pool(task, RDL_FRAME_SHIFT);
  rdl_u32 results = rdl_block_pool(task, RDL_RESULT_SHIFT);
  rdl_u32 slot;
  if (!rdl_slot_there(rdl, frames, results)) return RDL_NIL;
  slot = rdl_slot_take(rdl);
  rdl->new_frame = frames == RDL_POOLS ? RDL_NIL : rdl_pool_take(rdl, frames);
  rdl->records[slot].frame = rdl->new_frame;
  if (results != RDL_POOLS) rdl->records[slot].result[0] = rdl_pool_take(rdl, results);
  return slot;
}

/* The owner counts its children in `spawned`, a word of its own, and adds them to the record only
   where somebody may look: before it waits for them, and when its code ends with some alive. Those
   that end meanwhile take from RDL_CODE_RUNS, which no count reaches. */
RDL_FN void rdl_count_children(rdl_cx *rdl) {
  if (rdl->spawned) rdl_fetch_add(&rdl->self->children, rdl->spawned);
  rdl->spawned = 0;
}

RDL_FN rdl_u32 rdl_live_children(rdl_cx *rdl) {
  return rdl_load_acquire(&rdl->self->children) + rdl->spawned - RDL_CODE_RUNS;
}

/* The owner waits no longer: children must not wake it for this wait. Returns how many live. */
RDL_FN rdl_u32 rdl_children_settle(rdl_cx *rdl) {
  rdl_u32 children = rdl_load_acquire(&rdl->self->children);
  if (children & RDL_CHILDREN_AWAITED)
    children = rdl_fetch_and(&rdl->self->children, ~RDL_CHILDREN_AWAITED) & ~RDL_CHILDREN_AWAITED;
  return children + rdl->spawned - RDL_CODE_RUNS;
}

/* Where a new child stands. On a loop-limited device a full ring could not be spilled here. */
#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_child_queue(rdl_cx *rdl, rdl_u32 slot, rdl_u32 ready) {
  (void)ready;
  rdl->sides[slot].link = RDL_NIL;
  if (rdl->born_last)
    rdl->sides[rdl->born_last].link = slot;
  else
    rdl->born_first = slot;
  rdl->born_last = slot;
}
#else
RDL_FN void rdl_child_queue(rdl_cx *rdl, rdl_u32 slot, rdl_u32 ready) {
  rdl_ring_push(rdl, slot, ready);
}
#endif

/* The loop that copied its arguments may have been ended before its time. */
RDL_FN rdl_future rdl_child_undo(rdl_cx *rdl, rdl_u32 slot, rdl_u32 task) {
  rdl_block_free(rdl, task, RDL_FRAME_SHIFT, rdl->records[slot].frame);
  rdl_block_free(rdl, task, RDL_RESULT_SHIFT, rdl->records[slot].result[0]);
  rdl_slot_put(rdl, slot, rdl->new_generation, rdl->new_wait);
  return rdl_no_future();
}

/* Makes the new future ready. Its frame is complete, unless the segment was cut off: then there is
   no future. */
RDL_FN rdl_future rdl_child_start(rdl_cx *rdl, rdl_u32 slot, rdl_u32 task) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 ready = (rdl->new_wait & RDL_TICKET_MASK) + RDL_TICKET_ONE + RDL_READY;
  rdl_future child;
  if (rdl_is_cut(rdl)) return rdl_child_undo(rdl, slot, task);
  rdl_record_clear(rdl, slot, task, rdl->slot);
  rdl_link_child(rdl, slot);
  if (rdl->spawned == RDL_SPAWNED_MOST) rdl_count_children(rdl);
  rdl->spawned++;
  rdl_store_beside_release(&record->wait, ready);
  rdl_child_queue(rdl, slot, ready);
  rdl->counters.spawned++;
  child.index = slot | rdl->context;
  child.generation = rdl->new_generation;
  return child;
}

/* ---- end ---- */

RDL_FN void rdl_slot_end(rdl_cx *rdl, rdl_u32 slot, rdl_seen seen) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 task = RDL_SEEN(seen, task);
  rdl_u32 generation = RDL_SEEN(seen, generation) + 1u;
  rdl_u32 wait = rdl_with_state(RDL_SEEN(seen, wait), RDL_FREE);
  rdl_block_free(rdl, task, RDL_RESULT_SHIFT, RDL_SEEN(seen, result[0]));
  rdl_store_beside_release(&record->wait, wait);
  rdl_store_beside_release(&record->generation, generation);
  rdl_note_freed(rdl);
  if (task & RDL_TASK_HOST) {
    rdl_shared_push(rdl, &rdl->control->returned, slot, generation);
    return;
  }
  if (generation == 0u) return; /* would repeat old handles: the slot is retired */
  rdl_slot_put(rdl, slot, generation, wait);
}

RDL_OUTLINE void rdl_slot_free(rdl_cx *rdl, rdl_u32 slot) {
  rdl_slot_end(rdl, slot, rdl_see(rdl->records + slot));
}

/* Does an owner fail with this child although it did not await it? Work that ended for want of room
   is missed, and no task has chosen that. For a batch, which awaits nobody, it is any failure. */
RDL_FN rdl_u32 rdl_passes(rdl_u32 task, rdl_u32 cause) {
  return (task & RDL_TASK_PASSES) || RDL_CAUSE_STATUS(cause) == RDL_S_OUT_OF_SLOTS;
}

/* All children of `slot`, `child` the first, have ended. `cause` becomes what passes to their
   owner, of several that of the newest. Returns the first that is left, if they were too many for
   once. */
RDL_OUTLINE rdl_u32 rdl_free_children(rdl_cx *rdl, rdl_u32 slot, rdl_u32 task, rdl_u32 child,
                                      rdl_u32 *cause) {
  *cause = 0;
  while (child && rdl_one_more(rdl)) {
    rdl_seen seen = rdl_see(rdl->records + child);
    rdl_u32 next = RDL_SEEN(seen, next_sibling);
    rdl_u32 ended = RDL_SEEN(seen, cause);
    if (ended && !*cause && rdl_passes(task, ended)) *cause = ended;
    rdl_slot_end(rdl, child, seen);
    child = next;
  }
  rdl->records[slot].first_child = child;
  return child;
}

RDL_OUTLINE void rdl_count_end(rdl_cx *rdl, rdl_u32 cause) {
  if (!cause)
    rdl->counters.finished++;
  else if (RDL_CAUSE_STATUS(cause) == RDL_S_CANCELLED)
    rdl->counters.cancelled++;
  else
    rdl->counters.failed++;
}

RDL_OUTLINE void rdl_post(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation, rdl_u32 cause,
                          RDL_GLOBAL const rdl_u32 *result) {
  RDL_GLOBAL rdl_outcome *outcome = rdl->posts + slot;
  rdl_u32 k;
  outcome->cause = cause;
  outcome->wait = rdl_load_relaxed(&rdl->records[slot].wait);
  for (k = 0; k < 4u; k++)
    outcome->result[k] = result[k];
  rdl_tell(&outcome->generation, generation);
}

/* THE place where futures end, whose code has ended and all whose children have; in the lanes of a
   pack it is rdl_pack_close. Its owner has one child less. Once the list is closed the record
   belongs to whoever takes the result, and a root's once its outcome is posted. */
RDL_OUTLINE void rdl_close_list(rdl_cx *rdl, rdl_u32 slot, rdl_u32 task, rdl_u32 owner,
                                rdl_u32 generation, rdl_u32 wait, rdl_u32 cause) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 head;
  rdl_count_end(rdl, cause);
  rdl_store_beside_release(&record->wait, rdl_with_state(wait, RDL_DONE));
  head = rdl_exchange(&record->waiters, RDL_LIST_CLOSED);
  rdl->unfenced = 0;
  if (head & RDL_DETACHED_BIT)
    rdl_slot_free(rdl, slot);
  else if (task & RDL_TASK_ANSWERS)
    rdl_post(rdl, slot, generation, cause, record->result);
#if RDL_LANES > 1 /* memory is far: who is woken here need not look for what has woken it */
  rdl->heard.index = slot | rdl->context;
  rdl->heard.generation = generation;
  rdl->heard_cause = (head & RDL_DETACHED_BIT) ? RDL_S_STALE : cause;
#endif
  rdl_fire_waiters(rdl, head & RDL_NODE_MASK);
  if (!owner || (head & RDL_DETACHED_BIT)) return;
  rdl_child_gone(rdl, owner,
                 rdl_fetch_add_covered(&rdl->records[owner].children, 0xffffffffu) - 1u);
}

/* The first of those that were noted. */
RDL_OUTLINE void rdl_complete(rdl_cx *rdl) {
  rdl_u32 slot = rdl->ended;
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_seen seen = rdl_see(record);
  rdl_u32 task = RDL_SEEN(seen, task), cause = RDL_SEEN(seen, cause), from_children;
  rdl_u32 left = rdl_free_children(rdl, slot, task, RDL_SEEN(seen, first_child), &from_children);
  if (from_children && !cause) {
    cause = from_children;
    rdl_store_relaxed(&record->cause, cause);
  }
  if (left) return;
  rdl->ended = rdl->sides[slot].link;
  rdl_close_list(rdl, slot, task, RDL_SEEN(seen, owner), RDL_SEEN(seen, generation),
                 RDL_SEEN(seen, wait), cause);
}

/* RETURNED: the code has ended and a child has not. What the code held of the count goes, but for
   one that keeps the record until this worker is done with it. The count comes first: whoever finds
   the future RETURNED can hold it then, and passes a cancel on; one that came before stands in the
   word that the swap finds, and is passed on from here. So never do both. The word is looked at
   before the cause: without the mark in it another worker may set the cause at this moment. */
RDL_OUTLINE void rdl_return_now(rdl_cx *rdl) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  rdl_u32 wait = rdl_load_acquire(&record->wait);
  rdl_u32 seen;
  while ((seen = rdl_cas(&record->wait, wait, (wait & ~RDL_STATE_MASK) | RDL_RETURNED)) != wait)
    wait = seen;
  if ((wait & RDL_CANCEL_BIT) && !record->cause) {
    rdl->sides[rdl->slot].link = rdl->unwind; /* with what it holds of the count */
    rdl->unwind = rdl->slot;
    return;
  }
  rdl_drop_child(rdl, rdl->slot);
}

RDL_FN void rdl_return(rdl_cx *rdl) {
  rdl_fetch_add(&rdl->self->children, rdl->spawned + 1u - RDL_CODE_RUNS);
  rdl_return_now(rdl);
}

/* The code of the running future has ended with rdl->cause. Returns RDL_RETURNS when a child has
   not; then the children are to be cancelled first if it has failed. */
RDL_OUTLINE rdl_u32 rdl_end_begins(rdl_cx *rdl) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  rdl_u32 cause = (rdl->task & RDL_TASK_CANCELLED) ? RDL_S_CANCELLED : rdl->cause;
  if (!cause) cause = rdl->misuse;
  rdl_store_relaxed(&record->cause, cause);
  rdl_block_free(rdl, rdl->task, RDL_FRAME_SHIFT, rdl->frame);
#if RDL_LANES > 1
  rdl->cause = cause; /* rdl_run_ends closes it */
  if (rdl->childless) return RDL_ENDED;
#endif
  if (!rdl_children_settle(rdl)) return RDL_ENDED;
  if (cause) {
    rdl->cancel_from = record->first_child;
    rdl->cancels = 1;
  }
  return RDL_RETURNS;
}
