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

/* More children of one segment could be handed on before it is over (rdl_ring_push). */
#define RDL_MOST_SPAWNS (RDL_LOCAL_RING / 2u)

/* Arguments and state come to where the tasks read them. */
RDL_OUTLINE void rdl_stage_frame(rdl_cx *rdl, RDL_GLOBAL const rdl_task_info *info) {
  RDL_GLOBAL const rdl_word *frame = rdl_block(rdl, rdl->self->frame);
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
  group->runs = 1;
  group->slot = rdl->slot;
  group->resume = rdl->resume;
  group->status = rdl->status;
  group->caught = rdl->caught;
  group->which = rdl->which;
  group->cancelled = (rdl->self->task & RDL_TASK_CANCELLED) || rdl_cancel_requested(rdl);
  group->free_head = rdl->stashes[RDL_POOL_SLOTS].head;
  group->free_next = rdl->stashes[RDL_POOL_SLOTS].next;
  group->may_spawn = rdl_spawns_at_hand(rdl);
  group->misuse = group->told = 0;
}

/* Runs a segment, unless all lanes must: then they run it next. */
RDL_FN rdl_u32 rdl_lead_segment(rdl_cx *rdl) {
  RDL_GLOBAL const rdl_task_info *info = rdl_task_info_of(rdl, rdl->self->task);
  rdl_u32 resumed = rdl->resume && !rdl->over;
  if (resumed && rdl->whole) rdl_recall_await(rdl);
  if (resumed && !rdl_settled(rdl)) return RDL_SUSPENDED;
  if (!rdl_segment_begins(rdl)) return RDL_ENDED;
  rdl->whole = rdl->over = rdl->scratch_used = 0;
  rdl->wide = info->width > 1u;
  rdl_stage_frame(rdl, info);
  if (!rdl->wide) return rdl_run_alone(rdl, rdl->self->task & RDL_TASK_MASK);
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
    if (!rdl_lead_on(rdl, how)) return 0;
    how = RDL_STARTS;
  }
}

/* As in rdl_worker_loop, up to what rdl_run begins with. */
RDL_FN rdl_u32 rdl_turn_begins(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl->last = rdl_must_go(rdl);
  rdl->found = RDL_NOTHING;
  if (rdl->last) {
    rdl_leave(rdl);
    return RDL_RUNS_NOTHING;
  }
  if (rdl_load_relaxed(&control->hungry)) rdl_share(rdl);
  rdl->found = rdl_find(rdl);
  if (rdl->found && rdl->idle_rounds) {
    rdl->idle_rounds = 0;
    if (rdl->resting) rdl_go_on(rdl);
  }
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

/* The leader's loop, up to the next segment of all lanes. `how` the one before has ended. */
RDL_APART void rdl_lead(rdl_cx *rdl, rdl_u32 how) {
  for (;;) {
    if (how == RDL_RESTS) how = rdl_turn_begins(rdl);
    if (rdl->found && rdl_lead_run(rdl, how)) return;
    rdl_turn_ends(rdl);
    if (rdl->last) break;
    how = RDL_RESTS;
  }
  rdl_put_out(rdl);
  rdl->group->runs = 0;
}

/* What the leader has told: 0 = the worker leaves. */
RDL_FN rdl_u32 rdl_follow(rdl_cx *rdl) {
  RDL_LOCAL const rdl_group *group = rdl->group;
  if (!group->runs) return 0;
  rdl->slot = group->slot;
  rdl->self = rdl->records + rdl->slot;
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
  return 1;
}

/* THE place where the lanes of a worker meet. Every one of them goes round as often as the others:
   whether it goes round again is read between two barriers. */
RDL_FN void rdl_group_loop(rdl_cx *rdl) {
  rdl_u32 how = RDL_RESTS, runs;
  do {
    if (rdl_leads(rdl)) rdl_lead(rdl, how);
    rdl_barrier();
    runs = rdl_follow(rdl);
    if (runs) {
      how = rdl_run_together(rdl, rdl->self->task & RDL_TASK_MASK);
      if (rdl->misuse) rdl_raise_local(&rdl->group->misuse, rdl->misuse);
    }
    rdl_barrier();
  } while (runs);
}

#endif
