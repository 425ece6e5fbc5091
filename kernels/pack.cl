/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs: each lane of a worker runs a segment of a future of its own, all at the same time. What a
 * dispatch costs is mostly the way to memory and back, and the fetching of instructions: a pack
 * pays for both once. It is made of what stands at the top of the ring, and only of tasks that name
 * few words (rdl_packs). What a lane meets beside the usual - a cancel, a failure, waiters that are
 * several, children that still live - it hands to the leader, who goes on where the lane has
 * stopped (lead.cl). Towards other workers a lane is one like any other: all that stands here are
 * the protocols of wait.cl, suspend.cl and future.cl.
 *
 * docs/decisions/0020-packs.md says what was measured.
 */
#if defined(RDL_PACK)

/* ---- items ---- */

/* The place of one; there is one, for the leader has seen to that. */
RDL_FN rdl_u32 rdl_pack_take(rdl_cx *rdl, rdl_u32 k) {
  return rdl_add_local(&rdl->group->near.head[k], 1u) % RDL_NEAR;
}

/* Of slots with what their next lives begin with. */
RDL_FN void rdl_pack_put(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item, rdl_u32 generation,
                         rdl_u32 wait) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 k = rdl_near_pool(pool), at, before;
  if (k != RDL_NEAR_POOLS) {
    at = rdl_add_local(&near->tail[k], 1u);
    if ((rdl_i32)(at - pack->near_limit[k]) < 0) {
      near->items[k][at % RDL_NEAR] = item;
      if (k) return;
      near->generations[at % RDL_NEAR] = generation;
      near->waits[at % RDL_NEAR] = wait;
      return;
    }
  }
  before = rdl_exchange_local(&pack->over[pool], item);
  *rdl_pool_link(rdl, pool, item) = before;
  if (!before) pack->over_last[pool] = item;
  (void)rdl_add_local(&pack->over_count[pool], 1u);
}

RDL_FN void rdl_pack_push(rdl_cx *rdl, rdl_u32 slot, rdl_u32 wait) {
  rdl_u32 at = rdl_add_local(&rdl->group->pack.bottom, 1u);
  RDL_GLOBAL rdl_entry *entry = rdl->ring + at % RDL_LOCAL_RING;
  rdl_store_relaxed(&entry->slot, slot);
  rdl_store_relaxed(&entry->wait, wait);
}

RDL_FN void rdl_pack_hand(rdl_cx *rdl, rdl_u32 kind, rdl_u32 what, rdl_u32 how) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  RDL_LOCAL rdl_hand *hand = pack->hands + rdl_add_local(&pack->handed, 1u);
  hand->kind = kind;
  hand->what = what;
  hand->how = how;
}

/* The leader goes on with the future of this lane. */
RDL_FN void rdl_pack_hand_on(rdl_cx *rdl, rdl_u32 how) {
  RDL_LOCAL rdl_lane_state *state = rdl->group->pack.states + rdl_lane();
  state->slot = rdl->slot;
  state->wait = rdl->wait;
  state->task = rdl->task;
  state->frame = rdl->frame;
  state->owner = rdl->owner;
  state->generation = rdl->generation;
  state->childless = rdl->childless;
  state->resume = rdl->resume;
  state->spawned = rdl->spawned;
  state->status = rdl->status;
  state->cause = rdl->cause;
  state->misuse = rdl->misuse;
  state->want = rdl->want;
  state->target.index = rdl->target.index;
  state->target.generation = rdl->target.generation;
  state->threshold = rdl->threshold;
  rdl_pack_hand(rdl, RDL_HAND_ON, rdl_lane(), how);
}

/* ---- birth ---- */

/* As rdl_slot_new and rdl_child_start. A class is near, or its task would not be packed. */
RDL_OUTLINE rdl_future rdl_spawn_packed(rdl_cx *rdl, rdl_u32 task, const rdl_word *words,
                                        rdl_u32 count) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 class_at = rdl_near_pool(rdl_block_pool(task, RDL_FRAME_SHIFT));
  rdl_u32 at = rdl_pack_take(rdl, 0u), slot = near->items[0][at];
  rdl_u32 frame = near->items[class_at][rdl_pack_take(rdl, class_at)];
  rdl_u32 ready = (near->waits[at] & RDL_TICKET_MASK) + RDL_TICKET_ONE + RDL_READY;
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  RDL_GLOBAL rdl_word *block = rdl_block(rdl, frame);
  rdl_future child;
  rdl_u32 k;
  for (k = 0; k < count; k++)
    block[k] = words[k];
  rdl_fence_freed(rdl);
  rdl_store4_relaxed(&record->task, task, 0u, rdl->slot, RDL_NIL); /* resume, owner, first child */
  rdl_store4_relaxed(&record->next_sibling, rdl->first_child, RDL_NIL, 0u, frame); /* cause */
  rdl_store_relaxed(&record->result[RDL_WORD_BORN], rdl_next_born(rdl));
  rdl_store_relaxed(&record->children, RDL_CODE_RUNS);
  rdl_store_beside_release(&record->waiters, RDL_NIL);
  rdl_store_beside_release(&record->wait, ready);
  if (rdl->first_child) rdl_store_relaxed(&rdl->records[rdl->first_child].previous_sibling, slot);
  rdl_store_relaxed(&rdl->self->first_child, slot);
  rdl->first_child = slot;
  rdl->childless = 0;
  rdl->has_spawned = 1;
  rdl->spawned++;
  (void)rdl_add_local(&rdl->group->pack.spawned, 1u);
  rdl_pack_push(rdl, slot, ready);
  child.index = slot | rdl->context;
  child.generation = near->generations[at];
  return child;
}

/* ---- wake ---- */

RDL_FN void rdl_pack_wake(rdl_cx *rdl, rdl_u32 slot, rdl_u32 waiting) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 ready = rdl_with_state(waiting, RDL_READY);
  rdl_u32 task;
  if (rdl_cas_acquire(&record->wait, waiting, ready) != waiting) return;
  (void)rdl_add_local(&rdl->group->pack.woken, 1u);
  task = rdl_load_relaxed(&record->task);
#if defined(RDL_GROUPS)
  if (rdl_is_group(task & RDL_TASK_MASK)) task |= RDL_TASK_LOCAL; /* it may have to go elsewhere */
#endif
  if (task & RDL_TASK_LOCAL)
    rdl_pack_hand(rdl, RDL_HAND_WOKEN, slot, ready);
  else
    rdl_pack_push(rdl, slot, ready);
}

/* The waiters of what this lane has ended. */
RDL_FN void rdl_pack_fire(rdl_cx *rdl, rdl_u32 index) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  rdl_u32 next = node->next, kind = node->kind, who = node->who;
  rdl_u32 ticket = rdl_load_relaxed(&node->ticket); /* before the node is free */
  if (next || (kind & 3u) != RDL_NODE_PLAIN || index >= rdl->slots) {
    rdl_pack_hand(rdl, RDL_HAND_CHAIN, index, 0u);
    return;
  }
  rdl_store_beside_release(&node->who, RDL_NIL); /* the slot's own */
  rdl_pack_wake(rdl, who, ticket);
}

/* As rdl_wake_owner. */
RDL_FN void rdl_pack_wake_owner(rdl_cx *rdl, rdl_u32 owner) {
  RDL_GLOBAL rdl_record *record = rdl->records + owner;
  rdl_u32 wait = rdl_load_acquire(&record->wait);
  if ((wait & RDL_STATE_MASK) != RDL_WAITING) return;
  if (rdl_load_relaxed(&record->result[RDL_WORD_AWAITS]) == RDL_AWAITS_CHILDREN)
    rdl_pack_wake(rdl, owner, wait);
}

/* ---- end ---- */

/* As rdl_slot_end. */
RDL_FN void rdl_pack_slot_end(rdl_cx *rdl, rdl_u32 slot, rdl_seen seen) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 results = rdl_block_pool(RDL_SEEN(seen, task), RDL_RESULT_SHIFT);
  rdl_u32 block = RDL_SEEN(seen, result[0]);
  rdl_u32 generation = RDL_SEEN(seen, generation) + 1u;
  rdl_u32 wait = rdl_with_state(RDL_SEEN(seen, wait), RDL_FREE);
  if (results != RDL_POOLS && block) rdl_pack_put(rdl, results, block, 0u, 0u);
  rdl_store_beside_release(&record->wait, wait);
  rdl_store_beside_release(&record->generation, generation);
  rdl_note_freed(rdl);
  if (generation) rdl_pack_put(rdl, RDL_POOL_SLOTS, slot, generation, wait);
}

/* All children of a future have ended, `child` the first. Returns what passes to their owner. */
RDL_FN rdl_u32 rdl_pack_free_children(rdl_cx *rdl, rdl_u32 task, rdl_u32 child) {
  rdl_u32 cause = 0;
  while (child) {
    rdl_seen seen = rdl_see(rdl->records + child);
    rdl_u32 next = RDL_SEEN(seen, next_sibling), ended = RDL_SEEN(seen, cause);
    if (ended && !cause && rdl_passes(task, ended)) cause = ended;
    rdl_pack_slot_end(rdl, child, seen);
    child = next;
  }
  return cause;
}

/* As rdl_close_list. Returns the owner, if this was its last child and its code has ended. */
RDL_FN rdl_u32 rdl_pack_close(rdl_cx *rdl, rdl_u32 slot, rdl_u32 owner, rdl_u32 wait,
                              rdl_u32 cause) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 head, left;
  (void)rdl_add_local(!cause                                       ? &pack->finished
                      : RDL_CAUSE_STATUS(cause) == RDL_S_CANCELLED ? &pack->cancelled
                                                                   : &pack->failed,
                      1u);
  rdl_store_beside_release(&record->wait, rdl_with_state(wait, RDL_DONE));
  head = rdl_exchange(&record->waiters, RDL_LIST_CLOSED);
  rdl->unfenced = 0;
  if (head & RDL_NODE_MASK) rdl_pack_fire(rdl, head & RDL_NODE_MASK);
  if (head & RDL_DETACHED_BIT) {
    rdl_pack_slot_end(rdl, slot, rdl_see(record));
    return RDL_NIL;
  }
  if (!owner) return RDL_NIL;
  left = rdl_fetch_add_covered(&rdl->records[owner].children, 0xffffffffu) - 1u;
  if (left == 0u) return owner;
  if (left == (RDL_CHILDREN_AWAITED | RDL_CODE_RUNS)) rdl_pack_wake_owner(rdl, owner);
  return RDL_NIL;
}

/* As rdl_complete, of a future whose last child this lane has ended. What the host hears of, what
   has failed, and its owner, is the leader's. */
RDL_FN void rdl_pack_complete(rdl_cx *rdl, rdl_u32 slot) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_seen seen;
  rdl_u32 task, cause, owner;
  if (!slot) return;
  seen = rdl_see(record);
  task = RDL_SEEN(seen, task);
  cause = RDL_SEEN(seen, cause);
  if (cause || (task & (RDL_TASK_HOST | RDL_TASK_ANSWERS | RDL_TASK_CANCELLED))) {
    rdl_pack_hand(rdl, RDL_HAND_OVER, slot, 0u);
    return;
  }
  cause = rdl_pack_free_children(rdl, task, RDL_SEEN(seen, first_child));
  rdl_store_relaxed(&record->first_child, RDL_NIL);
  if (cause) rdl_store_relaxed(&record->cause, cause);
  owner = rdl_pack_close(rdl, slot, RDL_SEEN(seen, owner), RDL_SEEN(seen, wait), cause);
  if (owner) rdl_pack_hand(rdl, RDL_HAND_OVER, owner, 0u);
}

/* As rdl_return: a child still lives. */
RDL_FN void rdl_pack_return(rdl_cx *rdl) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  rdl_u32 returned = rdl_with_state(rdl->wait, RDL_RETURNED);
  (void)rdl_fetch_add(&record->children, rdl->spawned + 1u - RDL_CODE_RUNS);
  if (rdl_cas(&record->wait, rdl->wait, returned) != rdl->wait) {
    rdl_pack_hand(rdl, RDL_HAND_RETURN, rdl->slot, 0u); /* a cancel has come */
    return;
  }
  rdl->unfenced = 0;
  if (rdl_fetch_add_covered(&record->children, 0xffffffffu) == 1u)
    rdl_pack_complete(rdl, rdl->slot);
}

/* As rdl_end_begins, and what comes behind it, of what has ended well. */
RDL_FN void rdl_pack_end(rdl_cx *rdl) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  rdl_u32 cause = 0, live = 0;
  if (rdl->cause || rdl->misuse) {
    rdl_pack_hand_on(rdl, RDL_ENDED);
    return;
  }
  if (!rdl->childless) live = rdl_children_settle(rdl);
  rdl_pack_put(rdl, rdl_block_pool(rdl->task, RDL_FRAME_SHIFT), rdl->frame, 0u, 0u);
  if (live) {
    rdl_pack_return(rdl);
    return;
  }
  if (!rdl->childless) {
    cause = rdl_pack_free_children(rdl, rdl->task, rdl->first_child);
    rdl_store_relaxed(&record->first_child, RDL_NIL);
  }
  if (cause) rdl_store_relaxed(&record->cause, cause);
  rdl_pack_complete(rdl, rdl_pack_close(rdl, rdl->slot, rdl->owner, rdl->wait, cause));
}

#endif
