/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a worker of several lanes. The first lane, the leader, does all that main.cl has, and
 * runs segments of tasks that name no lanes alone. For a segment of all lanes it leaves its loop,
 * tells the others, and comes back when all have ended it. So where the loop stands is in rdl_cx,
 * and the lanes meet at two places only.
 */
#if RDL_LANES > 1

#define RDL_RESTS    5u /* between two turns */
#define RDL_TOGETHER 6u /* all lanes run the segment next */
#define RDL_PACKS_UP 7u /* each lane runs a future of its own next */
#define RDL_PACKED   8u /* they have */

/* More children of one segment could be handed on before it is over (rdl_ring_push). */
#define RDL_MOST_SPAWNS (RDL_LOCAL_RING / 2u)

/* Arguments and state come to where the tasks read them. */
RDL_OUTLINE void rdl_stage_frame(rdl_cx *rdl, RDL_GLOBAL const rdl_task_info *info) {
  RDL_GLOBAL const rdl_word *frame = rdl_block(rdl, rdl->frame);
  rdl_u32 args = info->args_size ? (info->args_size + 3u) / 4u : 1u;
  rdl_u32 state = info->state_size ? (info->state_size + 3u) / 4u : 1u;
  rdl_u32 words = rdl->resume ? args + state : args;
  rdl_u32 k;
  for (k = 0; k < words; k++)
    rdl->stage[k] = frame[k];
}

/* So many children a segment of all lanes may start: for those there are slots and blocks now. */
RDL_FN rdl_u32 rdl_spawns_at_hand(rdl_cx *rdl) {
  rdl_u32 most = RDL_MOST_SPAWNS, pool;
  for (pool = 0; pool < RDL_POOLS; pool++) {
    rdl_u32 each = rdl_pool_each(rdl, pool);
    if (each) most = rdl_least(most, rdl->stashes[pool].left / each);
  }
  return most;
}

/* Brings the stashes to what a loop of spawns usually takes; if the pools have less, then less. */
#define RDL_USUAL_SPAWNS 64u

RDL_OUTLINE void rdl_fill_stashes(rdl_cx *rdl) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++) {
    rdl_u32 want = rdl_pool_each(rdl, pool) * RDL_USUAL_SPAWNS;
    if (rdl->stashes[pool].left < want) (void)rdl_pool_fill(rdl, pool, want);
  }
}

/* What the other lanes have to know. */
RDL_OUTLINE void rdl_publish(rdl_cx *rdl) {
  RDL_LOCAL rdl_group *group = rdl->group;
  group->runs = RDL_RUNS_WIDE;
#if defined(RDL_GROUPS)
  if (rdl_is_group(rdl->task & RDL_TASK_MASK)) {
    group->runs = RDL_RUNS_GROUP;
    rdl_width = RDL_GROUP_LANES;
  }
#endif
  group->slot = rdl->slot;
  group->resume = rdl->resume;
  group->status = rdl->status;
  group->caught = rdl->caught;
  group->which = rdl->which;
  group->task = rdl->task;
  group->frame = rdl->frame;
  group->cancelled = (rdl->task & RDL_TASK_CANCELLED) || rdl_cancel_requested(rdl);
  group->free_head = rdl->stashes[RDL_POOL_SLOTS].head;
  group->free_next = rdl->stashes[RDL_POOL_SLOTS].next;
  group->may_spawn = rdl_spawns_at_hand(rdl);
  group->misuse = group->told = 0;
}

/* Runs a segment, unless all lanes must: then they run it next. */
RDL_FN rdl_u32 rdl_lead_segment(rdl_cx *rdl) {
  rdl_u32 task = rdl->task & RDL_TASK_MASK;
  rdl_u32 resumed = rdl->resume && !rdl->over;
  if (resumed && rdl->whole) rdl_recall_await(rdl);
  if (resumed && !rdl_settled(rdl)) return RDL_SUSPENDED;
#if defined(RDL_PRIVATE)
  if (task == RDL_ID_rdl_batch && rdl_has_row(rdl)) return RDL_ROWS_UP; /* also one that is told */
#endif
  if (!rdl_segment_begins(rdl)) return RDL_ENDED;
#if defined(RDL_PRIVATE)
  if (task == RDL_ID_rdl_batch) {
    if (rdl_row_open(rdl, (const struct rdl_batch_args *)rdl_block(rdl, rdl->frame)))
      return RDL_ROWS_UP;
    if (rdl_private_members(rdl)) return RDL_MEMBERS;
  }
#endif
  rdl->whole = rdl->over = rdl->scratch_used = 0;
  rdl->wide = rdl_is_wide(task);
  if (!rdl->wide) return rdl_run_alone(rdl, task);
  rdl_stage_frame(rdl, rdl_task_info_of(rdl, task));
  rdl_near_unload(rdl, RDL_POOL_SLOTS); /* the lanes follow the links */
  rdl_fill_stashes(rdl);
  rdl->unseen = rdl->bottom;
  rdl_publish(rdl);
  return RDL_TOGETHER;
}

/* A cancel that has come while all lanes worked. It is delivered when they have ended the segment:
   delivered by an await within it, on PoCL 3.1 one in some 40,000 was taken from the future's word
   and what the leader noted of it in its rdl_cx was lost (POR-1.lane_cancels). */
RDL_FN void rdl_deliver_to_lanes(rdl_cx *rdl, rdl_u32 how) {
  RDL_LOCAL const rdl_group *group = rdl->group;
  rdl_u32 status = rdl->status;
  if (!group->told && how != RDL_SUSPENDED) return; /* as for a segment of one lane */
  if (!rdl_cancel_requested(rdl) || !rdl_deliver_cancel(rdl)) return;
  if (group->told) {
    rdl->cancel_from = group->told_child;
    rdl->status = status;
  } else {
    rdl->over = 1;
    if (rdl->want == RDL_WANT_ANY) rdl->which = rdl->set_size;
  }
}

/* Children whose arguments other lanes had still to write stand in the ring without their word, so
   that the host takes none of them out while the segment holds the worker. */
RDL_FN void rdl_show_children(rdl_cx *rdl) {
  for (; rdl->unseen != rdl->bottom; rdl->unseen++) {
    RDL_GLOBAL rdl_entry *entry = rdl->ring + rdl->unseen % RDL_LOCAL_RING;
    rdl_u32 wait = rdl_load_relaxed(&rdl->records[entry->slot].wait);
    rdl_store_release(&entry->wait, wait & ~RDL_CANCEL_BIT);
  }
}

/* What the segment of all lanes has left to be done: now each lane's writes come before it. */
RDL_OUTLINE void rdl_serve_lanes(rdl_cx *rdl, rdl_u32 how) {
  rdl_u32 node, slot, status;
  rdl->wide = 0;
#if defined(RDL_GROUPS)
  if (rdl->has_block) rdl_width = 32u;
  if (rdl->sent) rdl_send_children(rdl);
#endif
  rdl_show_children(rdl);
  rdl_deliver_to_lanes(rdl, how);
  if (rdl->group->misuse) rdl->misuse = rdl->group->misuse;
  while ((node = rdl->signals)) {
    rdl_event e;
    e.index = rdl->nodes[node].ticket;
    e.generation = rdl->nodes[node].value;
    rdl->signals = rdl->nodes[node].next;
    status = rdl_event_signal(rdl, e, rdl->nodes[node].size);
    if (status) rdl->misuse = status;
    rdl_node_free(rdl, node);
  }
  while ((slot = rdl->dropped)) {
    rdl->dropped = rdl->sides[slot].chunk;
    rdl_slot_free(rdl, slot);
  }
}

/* Behind a segment, or a look for room: 1 = the future goes on at once. */
RDL_FN rdl_u32 rdl_lead_on(rdl_cx *rdl, rdl_u32 how) {
  if (rdl->wide) rdl_serve_lanes(rdl, how);
  if (how == RDL_ENDED) how = rdl_end_begins(rdl);
  if (rdl->cancels) rdl_serve_cancel(rdl);
  if (how == RDL_SUSPENDED) {
    if (!rdl->starting && !rdl->over) rdl_keep_await(rdl);
    if (rdl->over || rdl_suspend(rdl)) {
      if (rdl->starting || !rdl->whole) rdl_go_on_at_once(rdl);
      return 1;
    }
  }
  rdl_run_ends(rdl, how);
  return 0;
}

/* As rdl_run: 1 = all lanes go on with the future first. */
RDL_FN rdl_u32 rdl_lead_run(rdl_cx *rdl, rdl_u32 how) {
  for (;;) {
    if (how == RDL_STARTS) how = rdl_lead_segment(rdl);
    if (how == RDL_TOGETHER) return 1;
#if defined(RDL_PRIVATE)
    how = rdl_privates_first(rdl, how);
    if (how == RDL_ROWS_UP) {
      rdl->private_how = RDL_MEMBERS;
      rdl->group->runs = RDL_RUNS_ROW;
    }
    if (how == RDL_PRIVATES_UP || how == RDL_ROWS_UP) return 1;
    if (how == RDL_STARTS) continue;
#endif
    if (!rdl_lead_on(rdl, how)) return 0;
    how = RDL_STARTS;
  }
}

/* A warp looks at what others ask of it before each pack, otherwise every so many dispatches, and
   at each one as long as they are long (rdl_pace): nobody takes futures out of its ring, and so no
   question is missed. */
#if defined(RDL_WARP)
#define RDL_LOOKS_APART 7u
#else
#define RDL_LOOKS_APART 0u
#define RDL_PACK_LEAST  0u
#endif

/* 1 = the worker leaves. */
RDL_FN rdl_u32 rdl_look_around(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  if (rdl->leaving < 2u && !rdl->idle_rounds && rdl->bottom - rdl->top + 1u <= RDL_PACK_LEAST &&
      (++rdl->looks & rdl->look & RDL_LOOKS_APART))
    return 0;
  if (rdl_must_go(rdl)) return 1;
  rdl->broken = rdl_load_relaxed(&control->broken);
#if defined(RDL_PACK)
  rdl->scarce = rdl_load_relaxed(&control->scarce);
#endif
  if (rdl_load_relaxed(&control->hungry)) rdl_share(rdl);
  return 0;
}

/* What rdl_find looks at first, when nothing asks for anything else. */
RDL_FN rdl_u32 rdl_find_at_hand(rdl_cx *rdl) {
  rdl_entry newest;
  if (rdl->turn >= RDL_USUAL || rdl->starved || rdl->careful) return RDL_NOTHING;
  if (rdl->next) return rdl_from_next(rdl);
  rdl->next_row = 0;
  if (rdl->bottom == rdl->top) return RDL_NOTHING;
  newest = rdl_ring_entry(rdl, rdl->bottom - 1u);
  rdl->bottom--;
  rdl_near_pop(rdl);
  return rdl_pick(rdl, newest.slot, newest.wait);
}

/* As in rdl_worker_loop, up to what rdl_run begins with. */
RDL_FN rdl_u32 rdl_turn_begins(rdl_cx *rdl) {
#if defined(RDL_PRIVATE)
  rdl_u32 rows = 0;
#endif
  rdl->last = rdl_look_around(rdl);
  rdl->found = RDL_NOTHING;
  if (rdl->last) {
    rdl_leave(rdl);
    return RDL_RUNS_NOTHING;
  }
#if defined(RDL_GROUPS)
  /* It runs next, and alone: a pack would be made of what stands beneath it. */
  if (rdl->has_block && rdl->turn < RDL_USUAL && rdl_adopt_group(rdl)) rdl->alone++;
#endif
#if defined(RDL_PACK)
  if (rdl_pack_begins(rdl)) {
    rdl->found = RDL_FUTURE;
    return RDL_PACKS_UP;
  }
  if (rdl->alone) rdl->alone--;
#endif
  rdl->found = rdl_find_at_hand(rdl);
  if (!rdl->found) rdl->found = rdl_find(rdl);
#if defined(RDL_PRIVATE)
  if (!rdl->found && rdl_row_is_open(rdl)) {
    rdl->found = RDL_CHORE;
    rows = 1;
  }
#endif
  if (rdl->found && rdl->idle_rounds) {
    rdl->idle_rounds = 0;
    if (rdl->resting) rdl_go_on(rdl);
  }
#if defined(RDL_PRIVATE)
  if (rows) return RDL_ROWS_UP;
#endif
  if (rdl->found != RDL_FUTURE) return RDL_RUNS_NOTHING;
  rdl_store_relaxed(&rdl->me->running, rdl->slot);
  if (RDL_MAY_WINDOW && rdl->shown) rdl_show(rdl);
  rdl->whole = 1;
  rdl->over = 0;
  return rdl_take_up(rdl);
}

RDL_FN void rdl_turn_ends(rdl_cx *rdl) {
  if (rdl->found)
    rdl_next_turn(rdl);
  else if (!rdl->last && rdl->idle_rounds && rdl->idle_rounds % RDL_TO_REST == 0u)
    rdl_hold_no_room(rdl);
  rdl_settle_up(rdl);
  if (rdl->found) rdl_runs_nothing(rdl);
  if (!rdl->found && !rdl->last) {
    rdl->turn = rdl->held_back = 0;
    rdl_plan(rdl);
    rdl_rest(rdl, &rdl->idle_since, &rdl->idle_rounds);
  }
}

/* The leader's loop, up to the next segment of all lanes, or the next pack. `how` the one before
   has ended. */
RDL_APART void rdl_lead(rdl_cx *rdl, rdl_u32 how) {
  for (;;) {
    if (how == RDL_RESTS) how = rdl_turn_begins(rdl);
    if (how == RDL_PACKS_UP) return;
#if defined(RDL_PRIVATE)
    if (how == RDL_PRIVATES_DOWN) how = rdl_privates_ran(rdl);
    if (how == RDL_ROWS_UP) { /* nothing else is to be done */
      rdl->group->runs = RDL_RUNS_ROW;
      return;
    }
    if (how == RDL_ROWS_DOWN) {
      rdl_privates_count(rdl);
      how = rdl->found == RDL_FUTURE ? rdl_row_ran(rdl) : RDL_RUNS_NOTHING;
    }
#endif
#if defined(RDL_PACK)
    if (how == RDL_PACKED)
      rdl_pack_ends(rdl);
    else
#endif
        if (rdl->found && rdl_lead_run(rdl, how))
      return;
    rdl_turn_ends(rdl);
    if (rdl->last) break;
    how = RDL_RESTS;
  }
  rdl_put_out(rdl);
#if defined(RDL_PRIVATE)
  rdl_private_put_places(rdl);
#endif
  rdl->group->runs = RDL_RUNS_OUT;
}

/* What the leader has told: RDL_RUNS_... */
RDL_FN rdl_u32 rdl_follow(rdl_cx *rdl) {
  RDL_LOCAL const rdl_group *group = rdl->group;
  rdl_u32 runs = group->runs;
#if defined(RDL_GROUPS)
  if (runs != RDL_RUNS_WIDE && runs != RDL_RUNS_GROUP) return runs;
#else
  if (runs != RDL_RUNS_WIDE) return runs;
#endif
  rdl->slot = group->slot;
  rdl->self = rdl->records + rdl->slot;
  rdl->task = group->task;
  rdl->frame = group->frame;
  rdl->resume = group->resume;
  rdl->status = group->status;
  rdl->caught = group->caught;
  rdl->which = group->which;
  rdl->cancelled = group->cancelled;
  rdl->free_head = group->free_head;
  rdl->free_next = group->free_next;
  rdl->may_spawn = group->may_spawn;
  if (!rdl_leads(rdl)) rdl->cause = rdl->misuse = 0;
  rdl->scratch_used = 0;
  rdl->wide = 1;
#if defined(RDL_GROUPS)
  rdl->gathered = 0; /* not all lanes have run what the others have */
#endif
  return runs;
}

#if defined(RDL_GROUPS)

/* A segment of all warps of the block, between two meetings. */
RDL_FN rdl_u32 rdl_run_block(rdl_cx *rdl) {
  rdl_u32 how = rdl_run_group(rdl, rdl->task & RDL_TASK_MASK);
  if (rdl->misuse) rdl_raise_local(&rdl->group->misuse, rdl->misuse);
  rdl_block_barrier();
  return how;
}

/* What a warp does whose block's first warp is a worker that has the others, too. It waits at the
   barrier, which costs the multiprocessor nothing. */
RDL_FN void rdl_join_loop(rdl_cx *rdl) {
  rdl_u32 runs;
  do {
    rdl_block_barrier();
    runs = rdl_follow(rdl);
    if (runs == RDL_RUNS_GROUP) (void)rdl_run_block(rdl);
  } while (runs != RDL_RUNS_OUT);
}

/* The others of the block are told of what is theirs, too: they read it behind this barrier. */
RDL_FN void rdl_call_block(rdl_cx *rdl) {
  if (rdl->group->runs == RDL_RUNS_GROUP || rdl->group->runs == RDL_RUNS_OUT) rdl_block_barrier();
}

#endif

/* THE place where the lanes of a worker meet. Every one of them goes round as often as the others:
   whether it goes round again is read between two barriers. */
RDL_FN void rdl_group_loop(rdl_cx *rdl) {
  rdl_u32 how = RDL_RESTS, runs;
#if defined(RDL_GROUPS)
  rdl_u32 has_block = rdl->has_block;
#endif
#if defined(RDL_PACK)
  rdl_cx own;
  rdl_pack_opens(&own, rdl->group, rdl->heap);
#endif
  do {
    if (rdl_leads(rdl)) rdl_lead(rdl_led(rdl), how);
#if defined(RDL_GROUPS)
    rdl_warp_barrier();
    if (has_block) rdl_call_block(rdl);
#else
    rdl_barrier();
#endif
    runs = rdl_follow(rdl);
#if defined(RDL_GROUPS)
    if (runs == RDL_RUNS_GROUP) how = rdl_run_block(rdl);
#endif
    if (runs == RDL_RUNS_WIDE) {
      how = rdl_run_together(rdl, rdl->task & RDL_TASK_MASK);
      if (rdl->misuse) rdl_raise_local(&rdl->group->misuse, rdl->misuse);
    }
#if defined(RDL_PACK)
    if (runs == RDL_RUNS_PACK) {
      rdl_pack_lane(&own);
      how = RDL_PACKED;
    }
#endif
#if defined(RDL_PRIVATE)
    if (runs == RDL_RUNS_PRIVATE) {
      rdl_privates *set = rdl_privates_of();
      rdl_private_loop(set, ((const rdl_control *)rdl->heap)->context,
                       &rdl->records[set->host].wait);
      how = RDL_PRIVATES_DOWN;
    }
    if (runs == RDL_RUNS_ROW) {
      rdl_control *control = (rdl_control *)rdl->heap;
      rdl_row_loop(&control->row, rdl_privates_of(), control->context, rdl->records);
      how = RDL_ROWS_DOWN;
    }
#endif
#if defined(RDL_GROUPS)
    rdl_warp_barrier();
#else
    rdl_barrier();
#endif
  } while (runs != RDL_RUNS_OUT);
}

#endif
