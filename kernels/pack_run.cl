/* SPDX-License-Identifier: Apache-2.0 */
/* How a pack is made, how its lanes run, and what the leader does behind it (see pack.cl). */
#if defined(RDL_PACK)

/* ---- a lane ---- */

/* As rdl_suspend, of an await of one future that nothing else meets. 1 = it runs on at once. */
RDL_FN rdl_u32 rdl_pack_suspend(rdl_cx *rdl) {
  RDL_GLOBAL rdl_record *record = rdl->self;
  RDL_GLOBAL rdl_record *target = rdl->records + rdl_slot_of(rdl->target.index);
  rdl_u32 waiting = rdl_with_state(rdl->wait + RDL_TICKET_ONE, RDL_WAITING), node = rdl->slot;
  if (rdl->handed || rdl->want != RDL_WANT_FUTURE || rdl->timeout != RDL_NEVER || rdl->misuse ||
      rdl->status || rdl->broken || !rdl_own_node_is_free(rdl, node)) {
    rdl_pack_hand_on(rdl, RDL_SUSPENDED);
    return 0;
  }
  rdl->sides[node].chunk = rdl->target.generation; /* as rdl_keep_await */
  rdl->sides[node].chunk_size = rdl->want | rdl_slot_of(rdl->target.index) << RDL_WANT_BITS;
  rdl_store_relaxed(&record->resume, rdl->resume | rdl->spawned << RDL_SPAWNED_SHIFT);
  rdl_store_relaxed(&record->result[RDL_WORD_SINCE], rdl->now);
  rdl_store_relaxed(&record->result[RDL_WORD_AWAITS], rdl_slot_of(rdl->target.index));
  rdl_node_begin(rdl, node, rdl->slot, waiting, RDL_NODE_PLAIN);
  rdl->nodes[node].value = rdl->target.generation;
  if (rdl_cas_release(&record->wait, rdl->wait, waiting) != rdl->wait) { /* a cancel */
    rdl_store_beside_release(&rdl->nodes[node].who, RDL_NIL);
    rdl_pack_hand_on(rdl, RDL_SUSPENDED);
    return 0;
  }
  rdl->unfenced = 0;
  if (rdl_cas_covered(&target->waiters, RDL_NIL, node) == RDL_NIL ||
      rdl_list_join(rdl, &target->waiters, node, node)) {
    (void)rdl_add_local(&rdl->group->pack.suspended, 1u);
    if (!rdl->own_child && rdl_load_acquire(&target->generation) != rdl->target.generation)
      rdl_pack_hand(rdl, RDL_HAND_SWEEP, rdl_slot_of(rdl->target.index), 0u);
    return 0;
  }
  rdl_store_beside_release(&rdl->nodes[node].who, RDL_NIL);
  if (!rdl_take_back(rdl, waiting)) {
    (void)rdl_add_local(&rdl->group->pack.suspended, 1u);
    return 0;
  }
  rdl->status = rdl_cause_of(rdl, rdl->target);
  if (!rdl->has_spawned) return 1;
  rdl_pack_hand_on(rdl, RDL_SUSPENDED); /* which is over, and the leader finds it so */
  return 0;
}

/* What the future awaited, before its segment goes on: 0 = the leader knows more about it. */
RDL_FN rdl_u32 rdl_pack_settle(rdl_cx *rdl) {
  RDL_GLOBAL const rdl_side *side = rdl->sides + rdl->slot;
  rdl_u32 what = side->chunk_size, want = what & ((1u << RDL_WANT_BITS) - 1u);
  rdl_future f;
  if (want == RDL_WANT_YIELD || want == RDL_WANT_EVENT) return 1;
  if (want != RDL_WANT_FUTURE) return 0;
  f.index = what >> RDL_WANT_BITS | rdl->context;
  f.generation = side->chunk;
  rdl->status = rdl_cause_of(rdl, f);
  return 1;
}

/* A batch whose children are its members, all of which fit into one segment. */
RDL_FN rdl_u32 rdl_is_leaf_batch(rdl_cx *rdl) {
  RDL_GLOBAL const struct rdl_batch_args *args =
      (RDL_GLOBAL const struct rdl_batch_args *)rdl_block(rdl, rdl->frame);
  if ((rdl->task & RDL_TASK_MASK) != RDL_ID_rdl_batch || rdl->resume) return 0;
#if defined(RDL_GROUPS)
  if (rdl_is_group(args->task & RDL_TASK_MASK)) return 0;
#endif
  return args->step == 1u && args->count <= rdl->group->pack.each &&
         rdl_near_pool(rdl_block_pool(args->task, RDL_FRAME_SHIFT)) != RDL_NEAR_POOLS &&
         rdl_block_class(args->task, RDL_RESULT_SHIFT) == RDL_CLASS_NONE;
}

/* As the task does. What a member's failure comes to is decided when all have ended. */
RDL_FN void rdl_pack_batch(rdl_cx *rdl) {
  RDL_GLOBAL const struct rdl_batch_args *args =
      (RDL_GLOBAL const struct rdl_batch_args *)rdl_block(rdl, rdl->frame);
  rdl_u32 k, count = args->count, stride = args->stride;
  rdl_ptr from = args->address;
  rdl_mark_task(rdl, RDL_TASK_PASSES);
  for (k = 0; k < count; k++)
    rdl_spawn_packed(rdl, args->task, RDL_AT(const rdl_word, from + (rdl_u64)k * stride),
                     args->words);
}

/* The entry may be run here. */
RDL_FN rdl_u32 rdl_pack_take_up(rdl_cx *rdl, rdl_entry entry) {
  rdl_seen seen;
  rdl_u32 wait, resume;
  rdl->slot = entry.slot;
  rdl->self = rdl->records + entry.slot;
  wait = rdl_load_early(&rdl->self->wait);
  seen = rdl_see(rdl->self);
  resume = RDL_SEEN(seen, resume);
  rdl_know(rdl, seen);
  rdl->wait = wait & ~RDL_CANCEL_BIT;
  rdl->status = RDL_SEEN(seen, cause);
  rdl->first_child = RDL_SEEN(seen, first_child);
  rdl->cause = rdl->misuse = rdl->handed = rdl->has_spawned = 0;
  rdl->timeout = RDL_NEVER;
  rdl->resume = resume & RDL_RESUME_MASK;
  rdl->spawned = resume >> RDL_SPAWNED_SHIFT;
  if (rdl->status || (wait & RDL_CANCEL_BIT)) return 0;
  if (!rdl_packs(rdl->task & RDL_TASK_MASK) && !rdl_is_leaf_batch(rdl)) return 0;
  if (rdl->task & (RDL_TASK_LOCAL | RDL_TASK_HOST | RDL_TASK_CANCELLED | RDL_TASK_PASSES)) return 0;
  if (rdl->spawned > RDL_SPAWNED_MOST - RDL_NEAR) return 0;
  return !rdl->resume || rdl_pack_settle(rdl);
}

RDL_FN void rdl_pack_run(rdl_cx *rdl, rdl_entry entry) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 how;
  rdl_note_freed(rdl); /* others have freed the slots that are taken here */
  if (!rdl_pack_take_up(rdl, entry)) {
    rdl_pack_hand(rdl, RDL_HAND_START, entry.slot, entry.wait);
    return;
  }
  (void)rdl_add_local(&pack->segments, 1u);
  if ((rdl->task & RDL_TASK_MASK) == RDL_ID_rdl_batch) {
    rdl_pack_batch(rdl);
    rdl_pack_end(rdl);
    return;
  }
  do {
    how = rdl_run_packed(rdl, rdl->task & RDL_TASK_MASK);
  } while (how == RDL_SUSPENDED && rdl_pack_suspend(rdl));
  if (how == RDL_ENDED) rdl_pack_end(rdl);
}

/* What a lane has for its futures. It leads itself. */
RDL_FN void rdl_pack_opens(rdl_cx *rdl, RDL_LOCAL rdl_group *group, RDL_GLOBAL rdl_u8 *heap) {
  rdl_tables_open(rdl, heap);
  rdl->group = group;
  rdl->lane = rdl->wide = rdl->over = 0;
  rdl->packed = 1;
  rdl->born = rdl->born_end = 0;
}

/* In all lanes, with what the leader tells. */
RDL_FN void rdl_pack_lane(rdl_cx *rdl) {
  RDL_LOCAL const rdl_pack *pack = &rdl->group->pack;
  RDL_GLOBAL const rdl_entry *at;
  rdl_entry entry;
  rdl->ring = (RDL_GLOBAL rdl_entry *)(rdl->heap + pack->ring);
  at = rdl->ring + (pack->from + rdl_lane()) % RDL_LOCAL_RING;
  entry.slot = rdl_load_relaxed(&at->slot);
  entry.wait = rdl_load_relaxed(&at->wait);
  rdl_barrier(); /* the first children stand where the entries stood */
  if (rdl_lane() >= pack->count) return;
  rdl->now = pack->now;
  rdl->broken = pack->broken;
  rdl_pack_run(rdl, entry);
}

/* ---- the leader, before ---- */

/* Fewer are run one by one. */
#define RDL_PACK_LEAST 3u

/* Items come near, until so many are. */
RDL_OUTLINE rdl_u32 rdl_near_fill(rdl_cx *rdl, rdl_u32 pool, rdl_u32 want) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 k = rdl_near_pool(pool), item;
  if (stash->left < want && !rdl_pool_fill(rdl, pool, want)) return 0;
  while (near->tail[k] - near->head[k] < want) {
    item = rdl_stash_take(rdl, pool);
    if (pool == RDL_POOL_SLOTS)
      rdl_near_put_slot(rdl, item, rdl_load_relaxed(&rdl->records[item].generation),
                        rdl_load_relaxed(&rdl->records[item].wait));
    else
      rdl_near_put(rdl, pool, item);
  }
  return 1;
}

/* Each lane has what one segment may spawn. */
RDL_FN rdl_u32 rdl_pack_has_room(rdl_cx *rdl, rdl_u32 want) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 k;
  for (k = 0; k < RDL_NEAR_POOLS; k++) {
    rdl_u32 pool = k ? RDL_POOL_FRAMES + k - 1u : RDL_POOL_SLOTS;
    if (k && !(rdl->class_set >> (k - 1u) & 1u)) continue;
    if (near->tail[k] - near->head[k] < want && !rdl_near_fill(rdl, pool, want)) return 0;
  }
  return 1;
}

/* How many of the ring's newest may run at the same time; below RDL_PACK_LEAST none. A pack is one
   dispatch among those between two looks elsewhere: it takes about as long as one. None where slots
   are few, for a pack holds many, and none where each worker shows what it runs. */
RDL_FN rdl_u32 rdl_pack_size(rdl_cx *rdl, rdl_u32 each) {
  rdl_u32 ready = rdl->bottom - rdl->top, limit = rdl->control->segment_limit, count;
  if (rdl->alone || rdl->turn >= RDL_USUAL || rdl->starved || rdl->careful || rdl->next ||
      rdl->scarce || rdl->shown || rdl->chunk != RDL_LARGEST_CHUNK)
    return 0;
  count =
      rdl_least(rdl_least(ready, RDL_LANES), RDL_NEAR / (each < RDL_BATCH_MOST ? each : 4u * each));
  if (limit) count = rdl_least(count, limit > rdl->segments ? limit - rdl->segments : 0u);
  if (count * (each + 3u) > RDL_LOCAL_RING - ready) return 0;
  return count;
}

/* So many children a lane may make: where a batch stands at the top others do beneath it. */
RDL_FN rdl_u32 rdl_pack_spawns(rdl_cx *rdl) {
  rdl_u32 slot, task;
  if (rdl->bottom - rdl->top < RDL_PACK_LEAST || rdl->reserve >= RDL_BATCH_MOST)
    return rdl->reserve;
  slot = rdl_ring_entry(rdl, rdl->bottom - 1u).slot;
  task = rdl_load_relaxed(&rdl->records[slot].task) & RDL_TASK_MASK;
  return task == RDL_ID_rdl_batch ? RDL_BATCH_MOST : rdl->reserve;
}

/* 1 = the lanes run what is at hand. */
RDL_FN rdl_u32 rdl_pack_begins(rdl_cx *rdl) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 each = rdl_pack_spawns(rdl), count = rdl_pack_size(rdl, each), k;
  if (count < RDL_PACK_LEAST || !rdl_pack_has_room(rdl, count * each)) return 0;
  rdl->bottom -= count;
  rdl->next_row = 0;
  pack->count = count;
  pack->each = each;
  pack->from = pack->bottom = rdl->bottom;
  pack->now = rdl->now;
  pack->broken = rdl->broken;
  pack->handed = pack->segments = pack->spawned = pack->finished = pack->failed = 0;
  pack->cancelled = pack->suspended = pack->woken = 0;
  for (k = 0; k < RDL_NEAR_POOLS; k++) {
    pack->near_head[k] = near->head[k];
    pack->near_tail[k] = near->tail[k];
    pack->near_limit[k] = near->head[k] + RDL_NEAR;
  }
  rdl->group->runs = RDL_RUNS_PACK;
  return 1;
}

/* ---- the leader, behind ---- */

RDL_FN rdl_u32 rdl_lead_on(rdl_cx *rdl, rdl_u32 how);
RDL_FN rdl_u32 rdl_lead_run(rdl_cx *rdl, rdl_u32 how);

RDL_FN void rdl_pack_count(rdl_cx *rdl) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl->counters.segments += pack->segments;
  rdl->counters.spawned += pack->spawned;
  rdl->counters.finished += pack->finished;
  rdl->counters.failed += pack->failed;
  rdl->counters.cancelled += pack->cancelled;
  rdl->counters.suspended += pack->suspended;
  rdl->counters.woken += pack->woken;
  rdl->segments += pack->count;
}

/* The stashes are what the lanes have made of them. */
RDL_FN void rdl_pack_stash(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 k = rdl_near_pool(pool), over = pack->over[pool];
  if (k != RDL_NEAR_POOLS) {
    if ((rdl_i32)(near->tail[k] - pack->near_limit[k]) > 0) near->tail[k] = pack->near_limit[k];
    if (near->tail[k] != pack->near_tail[k]) rdl->given |= 1u << pool;
    stash->left += near->tail[k] - pack->near_tail[k];
    stash->left -= near->head[k] - pack->near_head[k];
  }
  if (over) {
    *rdl_pool_link(rdl, pool, pack->over_last[pool]) = stash->head;
    stash->head = over;
    stash->freed += pack->over_count[pool];
    stash->left += pack->over_count[pool];
    pack->over[pool] = RDL_NIL;
    pack->over_count[pool] = 0;
    rdl->given |= 1u << pool;
    if (stash->freed > rdl->keep) rdl_note_room(rdl, RDL_ROOM_FULL);
  }
  if (rdl_pool_each(rdl, pool)) rdl_stash_judge(rdl, stash);
}

RDL_FN void rdl_pack_load(rdl_cx *rdl, RDL_LOCAL const rdl_lane_state *state) {
  rdl->slot = state->slot;
  rdl->self = rdl->records + state->slot;
  rdl->wait = state->wait;
  rdl->task = state->task;
  rdl->frame = state->frame;
  rdl->owner = state->owner;
  rdl->generation = state->generation;
  rdl->childless = state->childless;
  rdl->resume = state->resume;
  rdl->spawned = state->spawned;
  rdl->status = state->status;
  rdl->cause = state->cause;
  rdl->misuse = state->misuse;
  rdl->want = state->want;
  rdl->target.index = state->target.index;
  rdl->target.generation = state->target.generation;
  rdl->threshold = state->threshold;
  rdl->timeout = RDL_NEVER;
  rdl->own_child = rdl->over = rdl->wide = rdl->starting = rdl->told = rdl->again = 0;
  rdl->whole = 0;
}

/* The future waits, or has ended. One that goes on, for what it waits for has come or it was told
   to end, is run when all others are where they belong: its segment may not end. */
RDL_FN void rdl_pack_go_on(rdl_cx *rdl, RDL_LOCAL rdl_hand *hand) {
  RDL_LOCAL rdl_lane_state *state = rdl->group->pack.states + hand->what;
  rdl_pack_load(rdl, state);
  rdl->segments--; /* it is counted already */
  if (!rdl_lead_on(rdl, hand->how)) return;
  rdl->segments++;
  state->wait = rdl->wait;
  state->task = rdl->task;
  state->spawned = rdl->spawned;
  state->status = rdl->status;
  hand->kind = RDL_HAND_GO;
}

/* As rdl_return, whose count was changed already. */
RDL_FN void rdl_pack_returned(rdl_cx *rdl, rdl_u32 slot) {
  rdl->slot = slot;
  rdl->self = rdl->records + slot;
  rdl_return_now(rdl);
}

RDL_FN void rdl_pack_serve(rdl_cx *rdl, RDL_LOCAL rdl_hand *hand) {
  rdl_u32 kind = hand->kind;
  if (kind == RDL_HAND_START) {
    rdl_ring_push(rdl, hand->what, hand->how);
    rdl->alone++;
  } else if (kind == RDL_HAND_ON) {
    rdl_pack_go_on(rdl, hand);
  } else if (kind == RDL_HAND_CHAIN) {
    rdl_fire_list(rdl, hand->what);
  } else if (kind == RDL_HAND_WOKEN) {
    rdl_u32 home = rdl->sides[hand->what].home;
#if defined(RDL_GROUPS)
    if (!(rdl->records[hand->what].task & RDL_TASK_LOCAL)) home = 0;
#endif
    rdl_place(rdl, hand->what, hand->how, home, RDL_NIL);
  } else if (kind == RDL_HAND_RETURN) {
    rdl_pack_returned(rdl, hand->what);
  } else if (kind == RDL_HAND_SWEEP) {
    rdl_sweep(rdl, rdl->records + hand->what);
  } else {
    rdl_note_end(rdl, hand->what);
  }
}

/* First what needs no segment. */
RDL_FN void rdl_pack_serve_all(rdl_cx *rdl) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 k;
  for (k = 0; k < pack->handed; k++) {
    rdl_pack_serve(rdl, pack->hands + k);
    rdl_settle_up(rdl);
  }
  for (k = 0; k < pack->handed; k++) {
    if (pack->hands[k].kind != RDL_HAND_GO) continue;
    rdl_pack_load(rdl, pack->states + pack->hands[k].what);
    rdl->segments--;
    (void)rdl_lead_run(rdl, RDL_STARTS);
    rdl_settle_up(rdl);
  }
}

RDL_OUTLINE void rdl_pack_ends(rdl_cx *rdl) {
  RDL_LOCAL rdl_pack *pack = &rdl->group->pack;
  rdl_u32 pool, limit = rdl->control->segment_limit;
  rdl->bottom = rdl->near_from = pack->bottom;
  rdl_note_freed(rdl);
  rdl_pack_count(rdl);
  if (!rdl->control->round_limit && rdl_clock() - rdl->looked > rdl->quantum / 16u) {
    rdl->planned -= rdl->plain - 1u; /* the clock is looked at next */
    rdl->plain = 1u;
    rdl->look = 0;
  }
  if (limit && rdl->segments >= limit) rdl->plain = rdl->planned = 1u;
  for (pool = 0; pool < RDL_POOLS; pool++)
    rdl_pack_stash(rdl, pool);
  rdl_pack_serve_all(rdl);
}

#endif
