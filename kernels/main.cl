/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a worker. A launch lasts a quantum, or until there is nothing to do: then every
 * worker leaves between two segments, with all state in the heap. No worker waits for another
 * without bound.
 */

/* ---- one dispatch ---- */

/* Whoever made it ready has told it something, or asks it to end. The children of a future that is
   woken with CANCELLED are cancelled before it waits again or ends. */
RDL_FN void rdl_take_up_cause(rdl_cx *rdl, rdl_u32 wait) {
  rdl_store_relaxed(&rdl->self->cause, 0);
  if (wait & RDL_CANCEL_BIT) {
    rdl_deliver_cancel(rdl);
    return;
  }
  if (RDL_CAUSE_STATUS(rdl->status) == RDL_S_CANCELLED && !(rdl->task & RDL_TASK_CANCELLED))
    rdl_tell_cancel(rdl);
}

/* Who is told that there is no room goes on without: to wait again would be to wait for ever. So
   does who is told to end, which may be what gives others room, and never starts who is told before
   it has. A cause that a future is woken with is its own, not that of what it awaited. */
RDL_FN rdl_u32 rdl_needs_room(rdl_cx *rdl) {
  rdl_u32 told = RDL_CAUSE_STATUS(rdl->status);
  if (!told) return 1;
  return told != RDL_S_OUT_OF_SLOTS && told != RDL_S_CANCELLED && rdl->resume != 0u;
}

/* A segment starts only with room for all it may spawn: else the future waits for that first. */
RDL_FN void rdl_want_room(rdl_cx *rdl) {
  rdl->starting = 1;
  rdl->again = 0;
  rdl->told = rdl->status;
  rdl->status = 0;
  rdl->want = RDL_WANT_ROOM;
  rdl->threshold = rdl_task_info_of(rdl, rdl->task)->spawns;
  rdl->timeout = RDL_NEVER;
}

/* The future is RUNNING and belongs to this worker; what was written before it was made ready is
   seen since this worker took it from where it stood. Returns RDL_SUSPENDED when it looks for room
   first. */
RDL_OUTLINE rdl_u32 rdl_take_up(rdl_cx *rdl) {
  rdl_u32 wait = rdl_load_early(&rdl->self->wait);
  rdl_seen seen = rdl_see(rdl->self);
  rdl_u32 resume = RDL_SEEN(seen, resume);
  rdl_know(rdl, seen);
  rdl->wait = wait & ~RDL_CANCEL_BIT;
  rdl->status = RDL_SEEN(seen, cause);
  rdl->cause = 0;
  rdl->misuse = 0;
  rdl->resume = resume & RDL_RESUME_MASK;
  rdl->spawned = resume >> RDL_SPAWNED_SHIFT;
  rdl->starting = 0;
  if (rdl->status || (wait & RDL_CANCEL_BIT)) rdl_take_up_cause(rdl, wait);
  if (!rdl->low || !rdl_needs_room(rdl)) return RDL_STARTS;
  rdl_want_room(rdl);
  return RDL_SUSPENDED;
}

/* What the future looked for has come, or what it is told instead: room for its segment, or
   something that its segment did not have to wait for, and goes on. */
RDL_FN void rdl_go_on_at_once(rdl_cx *rdl) {
  if (!rdl->starting) {
    rdl->counters.segments--; /* the other part of one */
    return;
  }
  rdl->starting = 0;
  rdl_store_relaxed(&rdl->self->cause, 0);
  if (!rdl->status) rdl->status = rdl->told;
}

/* A segment begins: 0 = it never starts. */
RDL_FN rdl_u32 rdl_segment_begins(rdl_cx *rdl) {
  if (rdl->slot == rdl->starved) rdl->starved = RDL_NIL;
  if (rdl->status && rdl->resume == 0u) {
    rdl->cause = rdl->status;
    return 0;
  }
  if ((rdl->task & RDL_TASK_LOCAL) && !rdl->sides[rdl->slot].home)
    rdl->sides[rdl->slot].home = rdl->worker + 1u;
  rdl->counters.segments++;
  return 1;
}

/* A dispatch is over: what it was about, if a future, waits or has ended. Where memory is far one
   without children is closed here, from what the worker knows of it. */
RDL_FN void rdl_run_ends(rdl_cx *rdl, rdl_u32 how) {
  if (how == RDL_RETURNS) rdl_return(rdl);
#if RDL_LANES > 1
  if (how == RDL_ENDED && rdl->childless) {
    rdl_close_list(rdl, rdl->slot, rdl->task, rdl->owner, rdl->generation, rdl->wait, rdl->cause);
    how = RDL_RETURNS;
  }
#endif
  if (how == RDL_ENDED) rdl_note_end(rdl, rdl->slot); /* nobody else counts here any more */
  rdl->segments++;
}

/* What was noted has been done: the word of the future says now that it waits or has ended. Before
   that it may still say READY, and the host would take it for one that stands in a ring. */
RDL_FN void rdl_runs_nothing(rdl_cx *rdl) {
  rdl_store_beside_release(&rdl->me->running, RDL_NIL);
  if (RDL_MAY_WINDOW && rdl->shown) rdl_tell(&rdl->shown->slot, RDL_NIL);
}

#if RDL_LANES == 1

/* THE place where tasks run. */
RDL_FN rdl_u32 rdl_segment(rdl_cx *rdl) {
  if (!rdl_segment_begins(rdl)) return RDL_ENDED;
  return rdl_run_task(rdl, rdl->task & RDL_TASK_MASK);
}

/* Runs the chosen future until it waits or ends; a chore only passes on a cancel. */
RDL_FN void rdl_run(rdl_cx *rdl, rdl_u32 chosen) {
  rdl_u32 how = RDL_RUNS_NOTHING;
  if (chosen == RDL_FUTURE) {
    rdl_store_relaxed(&rdl->me->running, rdl->slot); /* should it never end */
    if (RDL_MAY_WINDOW && rdl->shown) rdl_show(rdl);
    how = rdl_take_up(rdl);
  }
  for (;;) {
    if (how == RDL_STARTS) how = rdl_segment(rdl);
    if (how == RDL_ENDED) how = rdl_end_begins(rdl);
    if (rdl->cancels) rdl_serve_cancel(rdl);
    if (how != RDL_SUSPENDED || !rdl_suspend(rdl)) break;
    rdl_go_on_at_once(rdl);
    how = RDL_STARTS;
  }
  rdl_run_ends(rdl, how);
}

#endif

/* Idle no longer, before it shows. */
RDL_FN void rdl_go_on(rdl_cx *rdl) {
  rdl_fetch_add(&rdl->control->idle, 0xffffffffu);
  rdl->resting = 0;
}

/* `expected` is the word the future was queued with. Only in flat mode can another worker have
   taken it, or when the host takes futures from a worker that is held, so only there the word says
   who runs it; elsewhere it stays as it is, which spares a read-modify-write a segment. RDL_NOTHING
   = the entry was stale. */
RDL_FN rdl_u32 rdl_pick(rdl_cx *rdl, rdl_u32 slot, rdl_u32 expected) {
  rdl->self = rdl->records + slot;
  rdl->slot = slot;
  if (!rdl->careful) return RDL_FUTURE;
  if (rdl->resting) rdl_go_on(rdl);
  if (!rdl_change(rdl->self, expected, rdl_with_state(expected, RDL_RUNNING))) return RDL_NOTHING;
  return RDL_FUTURE;
}

/* ---- what was noted ---- */

/* The only waiter of a finished future runs next, unless sixteen have done so in a row. */
#define RDL_NEXT_ROW 16u

/* A future that has been woken and stands nowhere yet is put where it will run. `home` is a worker
   plus one, or 0 for whoever it is. */
RDL_FN void rdl_place(rdl_cx *rdl, rdl_u32 slot, rdl_u32 ready, rdl_u32 home, rdl_u32 sole) {
  if (home && home == rdl->worker + 1u) home = 0;
#if defined(RDL_GROUPS)
  if (!rdl->has_block && rdl_is_for_group(rdl, slot)) sole = 0;
#endif
  if (sole && !home && !rdl->next && rdl->next_row < RDL_NEXT_ROW) {
    rdl->next = slot;
    rdl->next_wait = ready;
    return;
  }
  rdl_enqueue_at(rdl, slot, ready, home);
}

/* Frees the node of a list that has fired, and of a set the counter with its last member. Returns
   the future that may go on, and the ticket that it waits with, or RDL_NIL. */
RDL_FN rdl_u32 rdl_fire(rdl_cx *rdl, rdl_u32 index, rdl_u32 *ticket, rdl_u32 *stays) {
  RDL_GLOBAL rdl_node *node = rdl->nodes + index;
  rdl_u32 who = node->who, kind = node->kind;
  rdl_u32 member = (kind & 3u) == RDL_NODE_MEMBER;
  *ticket = rdl_load_relaxed(&node->ticket); /* before the node is free */
  *stays = kind & RDL_NODE_LOCAL;
  for (;;) {
    rdl_node_free(rdl, index); /* first: who is woken may wait again at once */
    if (!member) return who;
    if (!rdl_counter_down(rdl, who)) return RDL_NIL;
    member = 0;
    index = who;
    who = rdl->nodes[index].who;
    *ticket = rdl->nodes[index].ticket;
    *stays = rdl->nodes[index].kind & RDL_NODE_LOCAL;
  }
}

/* Who is woken looks for itself: told the end of what it awaited, it would take that for a request
   to itself. Futures that look for room go on where they began to wait, but a launch of one worker
   alone takes all. */
RDL_FN void rdl_wake_one(rdl_cx *rdl, rdl_u32 node, rdl_u32 slot, rdl_u32 looks, rdl_u32 sole) {
  rdl_u32 home = looks && rdl->control->workers > 1u ? rdl->nodes[node].value : 0u;
  rdl_u32 ready, ticket, stays;
  if (node) {
    slot = rdl_fire(rdl, node, &ticket, &stays);
    ready = slot ? rdl_wake_now(rdl, slot, ticket, 0u) : 0u;
  } else {
    ready = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
    stays = rdl->records[slot].task & RDL_TASK_LOCAL;
  }
  if (!ready) return;
  if (stays) home = rdl->sides[slot].home;
  rdl_place(rdl, slot, ready, home, sole);
}

/* THE place where futures that were woken are queued: waiters of a list that has fired, so many at
   most, those that were woken one by one, and those that look for room again, in whatever order:
   that makes no difference to the bound. */
RDL_OUTLINE void rdl_serve_wakes(rdl_cx *rdl) {
  rdl_u32 most = RDL_WAKES_AT_ONCE;
  rdl_u32 sole = rdl->sole, node = sole;
  rdl->sole = RDL_NIL;
  for (;;) {
    rdl_u32 slot = RDL_NIL, looks = 0;
    if (!node && rdl->fired) {
      node = rdl_fired_take(rdl);
      if (--most == 0u) rdl_keep_fired(rdl);
    } else if (!node && rdl->woken && rdl_one_more(rdl)) {
      slot = rdl->woken;
      rdl->woken = rdl->sides[slot].link;
    } else if (!node) {
      node = looks = rdl->looking;
      if (!node || !rdl_one_more(rdl)) return;
      rdl->looking = rdl->nodes[node].next;
    }
    rdl_wake_one(rdl, node, slot, looks, sole);
    if (!(rdl->fired | rdl->woken | rdl->looking)) return;
    node = sole = RDL_NIL;
  }
}

/* Done before anything else runs here, and so nothing that was noted outlives its dispatch but what
   the backlog keeps. Whose end brings an end of others finds these noted too. */
RDL_OUTLINE void rdl_settle_up(rdl_cx *rdl) {
  rdl_u32 wakes;
  if (!rdl->noted) return;
  while (rdl->ended && rdl_one_more(rdl))
    rdl_complete(rdl);
  if ((rdl->noted & RDL_NOTED_ROOM) &&
      (rdl->room || (rdl->given && rdl_load_relaxed(&rdl->control->room))))
    rdl_serve_room(rdl);
  wakes = rdl->noted & RDL_NOTED_WAKES;
  rdl->noted = 0;
  if (wakes) rdl_serve_wakes(rdl);
}

/* ---- what is kept back for want of room ---- */

/*
 * Work whose parents await what they spawn needs W times the slots that it needs on one worker, if
 * every worker finishes a branch before it opens the next. So a worker of which a future waits for
 * room starts no other that will spawn, and takes none from others, until that one has had its
 * turn: the branch goes on here. One starts all the same when every worker is idle, which shows
 * that the work has another form, or after RDL_ROUND dispatches for each slot: fewer would soon be
 * over, for each look for room is one, and a neighbour's steady ends bring thousands.
 */
RDL_OUTLINE rdl_u32 rdl_starved(rdl_cx *rdl) {
  rdl_u32 wait, state;
  if (!rdl->starved) return 0;
  wait = rdl_load_acquire(&rdl->records[rdl->starved].wait);
  state = wait & RDL_STATE_MASK;
  /* A cancel or a deadline has woken it elsewhere, and it has gone on there. */
  if ((wait & RDL_TICKET_MASK) != rdl->starved_ticket ||
      (state != RDL_WAITING && state != RDL_READY && state != RDL_QUEUED))
    rdl->starved = RDL_NIL;
  return rdl->starved != RDL_NIL;
}

/* Every other that would spawn, or comes from others, must wait for it. */
RDL_FN rdl_u32 rdl_waits_for_starved(rdl_cx *rdl) {
  if (!rdl->starved || !rdl_starved(rdl)) return 0;
  return !rdl->may_start && rdl->segments - rdl->starved_since < RDL_ROUND * rdl->control->slots;
}

/* Must what stands next in a queue stay there for now? */
RDL_OUTLINE rdl_u32 rdl_keep_back(rdl_cx *rdl, rdl_u32 slot, rdl_u32 queued) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  rdl_u32 task;
  if (!rdl->starved || !rdl_starved(rdl)) return 0;
  task = rdl_load_relaxed(&record->task);
  if (rdl_load_acquire(&record->wait) != queued || rdl_load_relaxed(&record->resume)) return 0;
  if ((task & RDL_TASK_WAITED) || !rdl_task_info_of(rdl, task)->spawns) return 0;
  if (rdl_waits_for_starved(rdl)) return 1;
  rdl_started_before(rdl);
  return 0;
}

#define RDL_QUIET_TO_START 8u

/* All workers have been idle for a while, and an idle one holds no room. Two that each took a part
   of what there was have missed each other: all who wait look once more. When that was in vain one
   that is kept back starts. */
RDL_FN void rdl_all_are_idle(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  if (rdl->quiet == 4u && rdl_load_relaxed(&control->asked) != rdl_load_relaxed(&control->freed)) {
    rdl_store_relaxed(&control->asked, rdl_fetch_add(&control->freed, 1u) + 1u);
    rdl_note_room(rdl, RDL_ROOM_WAKE);
  }
  if (rdl->quiet == RDL_QUIET_TO_START) rdl->may_start = 1;
}

/* ---- whether to take from others ---- */

/*
 * To hand a future over costs two cores more than to run a small one. A worker whose last catch was
 * done in less than a grain a future therefore stays away from what others work on, four times as
 * long each time up to 128 grains, and is cured by the first catch that was worth it. What its own
 * queues hold it always runs, and when nobody else is at work it takes everything.
 */
RDL_FN void rdl_judge_theft(rdl_cx *rdl) {
  rdl_u64 grain = rdl->control->grain, now = rdl_clock();
  if (!grain || now - rdl->taken_at >= (rdl->taken + 1u) * grain) /* the theft costs about one */
    rdl->shy = 0;
  else if (rdl->shy < 128u * grain)
    rdl->shy = rdl->shy ? 4u * rdl->shy : 2u * grain;
  rdl->shy_until = now + rdl->shy;
  rdl->taken = 0;
}

/* Workers that have come to this launch so far. */
RDL_FN rdl_u32 rdl_come(rdl_cx *rdl) {
  return rdl_load_acquire(&rdl->control->registered) & ~RDL_LAUNCH_CLOSED;
}

RDL_FN rdl_u32 rdl_others_work(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 resting = rdl_load_relaxed(&control->idle) + (rdl->resting ? 0u : 1u);
  return resting < rdl_come(rdl);
}

RDL_FN rdl_u32 rdl_shy(rdl_cx *rdl) {
  if (rdl_waits_for_starved(rdl)) return 1;
  if (!rdl->shy) return 0;
  if (rdl_clock() < rdl->shy_until && rdl_others_work(rdl)) return 1;
  return 0;
}

/* ---- where the next one comes from ---- */

/* There is one. */
RDL_OUTLINE rdl_u32 rdl_from_ring(rdl_cx *rdl, rdl_u32 oldest) {
  do {
    rdl_entry entry = rdl_ring_entry(rdl, oldest ? rdl->top : rdl->bottom - 1u);
    if (rdl_keep_back(rdl, entry.slot, entry.wait)) return 0;
    if (oldest) {
      rdl->top++;
    } else {
      rdl->bottom--;
      rdl_near_pop(rdl);
    }
    if (rdl_pick(rdl, entry.slot, entry.wait)) return RDL_FUTURE;
  } while (rdl->bottom != rdl->top);
  return RDL_NOTHING;
}

RDL_OUTLINE rdl_u32 rdl_from_fifo(rdl_cx *rdl) {
  rdl_u32 slot = rdl->fifo_head;
  rdl_u32 queued;
  if (!slot) return 0;
  queued = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
  if (rdl_keep_back(rdl, slot, queued)) return 0;
  rdl_fifo_take(rdl);
  return rdl_pick(rdl, slot, queued);
}

/* Roots that are taken at once: a share of those that wait, for others take some too, and twice as
   many as the last time while a grain each is enough for them. What stands behind a long segment in
   a worker's ring nobody else can take. */
#define RDL_ROOTS_AT_ONCE 16u

RDL_OUTLINE rdl_u32 rdl_roots_share(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 waiting = rdl_load_relaxed(&control->roots.tail) - rdl_load_relaxed(&control->roots.head);
  rdl_u64 now;
  if (waiting < 4u * control->workers) return 1u;
  now = rdl_clock();
  if (now - rdl->roots_at < rdl->roots_most * control->grain)
    rdl->roots_most = rdl_least(2u * rdl->roots_most, RDL_ROOTS_AT_ONCE);
  else
    rdl->roots_most = 1u;
  rdl->roots_at = now;
  return rdl_least(waiting / (2u * control->workers), rdl->roots_most);
}

RDL_OUTLINE rdl_u32 rdl_from_roots(rdl_cx *rdl, rdl_u32 most) {
  for (;;) {
    rdl_entry entry = rdl_roots_pop(rdl, most);
    if (!entry.slot) return 0;
    rdl_started_before(rdl);
    if (rdl_pick(rdl, entry.slot, entry.wait)) return RDL_FUTURE;
  }
}

RDL_FN rdl_u32 rdl_from_next(rdl_cx *rdl) {
  rdl_u32 slot = rdl->next;
  if (!slot) {
    rdl->next_row = 0;
    return 0;
  }
  rdl->next = RDL_NIL;
  rdl->next_row++;
  return rdl_pick(rdl, slot, rdl->next_wait);
}

RDL_FN rdl_u32 rdl_from_chores(rdl_cx *rdl) {
  if (rdl->backlog)
    rdl_take_backlog(rdl);
  else if (rdl->unwind)
    rdl_take_unwind(rdl);
  else
    return RDL_NOTHING;
  return RDL_CHORE;
}

/* Out of every RDL_ROUND dispatches six look first where the usual order looks late. */
#define RDL_USUAL 58u

/* Half of the slots have never been used. */
RDL_FN rdl_u32 rdl_has_plenty(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 first = control->slots - control->task_slots;
  rdl_u32 used = rdl_load_relaxed(&control->pools[RDL_POOL_SLOTS].fresh) - first;
  return rdl->chunk == RDL_LARGEST_CHUNK && used < control->task_slots / 2u;
}

/* A fair dispatch that starts a future opens one more branch of the work, each of which holds slots
   until it is done. Where slots are few that could use them all up: there it happens in one round
   after as many as there are slots, and the work runs depth first, which needs the least room. */
RDL_FN rdl_u32 rdl_may_open(rdl_cx *rdl) {
  return rdl_has_plenty(rdl) || rdl->held_back == rdl->control->slots;
}

RDL_FN rdl_u32 rdl_may_go_on(rdl_cx *rdl, rdl_u32 slot) {
  return rdl_load_relaxed(&rdl->records[slot].resume) || rdl_may_open(rdl);
}

/* What was claimed where it was awaited has left its entry behind, and has gone on: by that entry
   the one above it would be taken for one that has started. */
RDL_FN rdl_u32 rdl_oldest_in_ring(rdl_cx *rdl) {
  for (; rdl->bottom != rdl->top; rdl->top++) {
    rdl_entry oldest = rdl_ring_entry(rdl, rdl->top);
    rdl_u32 wait = rdl_load_acquire(&rdl->records[oldest.slot].wait) & ~RDL_CANCEL_BIT;
    if (!rdl->careful || wait == oldest.wait) return oldest.slot;
  }
  return RDL_NIL;
}

RDL_FN rdl_u32 rdl_fair_ring(rdl_cx *rdl) {
  rdl_u32 slot = rdl_oldest_in_ring(rdl);
  if (!slot || !rdl_may_go_on(rdl, slot)) return 0;
  return rdl_from_ring(rdl, 1u);
}

RDL_FN rdl_u32 rdl_fair_fifo(rdl_cx *rdl) {
  if (!rdl->fifo_head || !rdl_may_go_on(rdl, rdl->fifo_head)) return 0;
  return rdl_from_fifo(rdl);
}

RDL_OUTLINE rdl_u32 rdl_fair(rdl_cx *rdl) {
  rdl_u32 turn = rdl->turn - RDL_USUAL;
  if (turn == 0u) return rdl_fair_ring(rdl);
  if (turn == 1u) return rdl_fair_fifo(rdl);
  if (turn == 2u) rdl_adopt(rdl, &rdl->me->inbox);
  if (turn == 3u && rdl_has_plenty(rdl)) rdl_adopt_last(rdl, &rdl->me->overflow);
#if defined(RDL_GROUPS)
  if (turn == 3u && rdl->has_block && rdl_may_open(rdl) && rdl_adopt_older_group(rdl))
    return rdl_from_ring(rdl, 0u);
#endif
  if (turn == 4u && rdl_may_open(rdl) && !rdl_shy(rdl)) return rdl_from_roots(rdl, 1u);
  if (turn != 5u) return RDL_NOTHING;
  rdl_from_chores(rdl);
  return RDL_CHORE; /* and the mailbox (rdl_find) */
}

/* Who offers something, of the 128 workers of a row; one row for its own worker is looked at twice,
   first for those behind it and in the end for those before. */
RDL_FN rdl_u32 rdl_offered(rdl_cx *rdl, rdl_u32 row, rdl_u32 word, rdl_u32 bits, rdl_u32 round,
                           rdl_u32 rounds) {
  rdl_u32 at = row * 4u + word, own_at = rdl->worker / 32u, own = 1u << rdl->worker % 32u;
  if (round == 0u && at <= own_at) return at < own_at ? 0u : bits & ~(own | (own - 1u));
  if (round == rounds && at >= own_at) return at > own_at ? 0u : bits & (own - 1u);
  return bits;
}

/* Takes what a worker has put out, unless another has come first. */
RDL_OUTLINE rdl_u32 rdl_steal_from(rdl_cx *rdl, rdl_u32 victim) {
  rdl_u32 bit = 1u << victim % 32u;
  if (!(rdl_fetch_and(rdl->offers + victim / 32u, ~bit) & bit)) return 0;
  return rdl_adopt_overflow(rdl, victim);
}

/* The first of a word that still has something when this worker comes. */
RDL_FN rdl_u32 rdl_steal_some(rdl_cx *rdl, rdl_u32 word, rdl_u32 bits) {
  while (bits) {
    rdl_u32 got = rdl_steal_from(rdl, word * 32u + rdl_lowest_bit(bits));
    if (got) return got;
    bits &= bits - 1u;
  }
  return 0;
}

/* What others have put out for whoever comes first, beginning with the neighbour. */
RDL_OUTLINE rdl_u32 rdl_steal(rdl_cx *rdl) {
  rdl_u32 count = rdl->control->workers, rows = (count + 127u) / 128u;
  rdl_u32 row = rdl->worker / 128u, k, word, got = 0;
  rdl_u32 offered = rdl_load_acquire(&rdl->control->offered);
  if (offered == rdl->offered) return 0;
  /* Whoever comes late finds what it put out: to take that would open one branch more. */
  if (rdl_come(rdl) < count && !rdl_has_plenty(rdl)) return 0;
  for (k = 0; k <= rows && !got; k++, row = row + 1u < rows ? row + 1u : 0u) {
    rdl_u32 bits[4];
    rdl_load4_relaxed(rdl->offers + 4u * row, bits);
    for (word = 0; word < 4u && !got; word++)
      got = rdl_steal_some(rdl, 4u * row + word, rdl_offered(rdl, row, word, bits[word], k, rows));
  }
  if (!got) {
    rdl->offered = offered;
    return 0;
  }
  rdl_started_before(rdl);
  rdl->counters.adopted += got;
  rdl->taken = got;
  rdl->taken_at = rdl_clock();
  return rdl->bottom != rdl->top ? rdl_from_ring(rdl, 0u) : RDL_NOTHING;
}

/* What this worker put out is older than all in its ring: it comes back when that is empty. */
RDL_FN rdl_u32 rdl_from_lists(rdl_cx *rdl) {
  rdl_adopt(rdl, &rdl->me->inbox);
  if (rdl->bottom == rdl->top) rdl_adopt_overflow(rdl, rdl->worker);
  return rdl->bottom != rdl->top ? rdl_from_ring(rdl, 0u) : RDL_NOTHING;
}

RDL_OUTLINE rdl_u32 rdl_find_near(rdl_cx *rdl) {
  rdl_u32 found;
  if (rdl->turn >= RDL_USUAL && (found = rdl_fair(rdl))) return found;
  if ((found = rdl_from_next(rdl))) return found;
  if (rdl->bottom != rdl->top && (found = rdl_from_ring(rdl, 0u))) return found;
  if ((found = rdl_from_chores(rdl))) return found;
  if ((found = rdl_from_lists(rdl))) return found;
  rdl->away = rdl_shy(rdl);
  return rdl->away ? RDL_NOTHING : rdl_from_roots(rdl, rdl_roots_share(rdl));
}

RDL_OUTLINE rdl_u32 rdl_find_far(rdl_cx *rdl) {
  rdl_u32 found = rdl_from_fifo(rdl);
  if (!found && rdl->bottom != rdl->top) found = rdl_from_ring(rdl, rdl->starved != RDL_NIL);
  if (!found && !rdl->away) found = rdl_steal(rdl);
  return found;
}

/* What the worker goes on with. Messages are obeyed when nothing else is near, and once a round,
   when no future is picked: those that they have woken are queued before anything starts, which may
   not end (rdl_settle_up). */
RDL_OUTLINE rdl_u32 rdl_find(rdl_cx *rdl) {
  rdl_u32 found = rdl_find_near(rdl);
  rdl_u32 obeyed;
  if (found && rdl->turn != RDL_ROUND - 1u) return found;
  obeyed = rdl_drain_mailbox(rdl);
  if (found || (rdl->noted & (RDL_NOTED_WAKES | RDL_NOTED_ENDS))) return RDL_CHORE;
  if (obeyed && !rdl->away) found = rdl_from_roots(rdl, 1u);
  if (!found && rdl->noted) return RDL_CHORE;
  return found ? found : rdl_find_far(rdl);
}

/* ---- when to leave ---- */

RDL_FN rdl_u32 rdl_quantum_over(rdl_cx *rdl) {
  if (rdl->control->round_limit) return rdl->rounds >= rdl->quantum;
  return rdl_clock() - rdl->started >= rdl->quantum;
}

/* Ticks, or looks where there is no clock. */
RDL_FN rdl_u32 rdl_has_waited(rdl_cx *rdl, rdl_u64 since, rdl_u64 looks) {
  rdl_u64 meeting = rdl->control->meeting;
  return rdl->control->round_limit ? looks >= meeting : rdl_clock() - since >= meeting;
}

/* One that does not arrive is held by its segment: this worker goes on, for longer than it has
   waited for that one. Once all have arrived nobody goes back. */
RDL_FN rdl_u32 rdl_go_back(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 arrived = rdl_load_acquire(&control->arrived), seen;
  for (;;) {
    rdl_u32 come = rdl_load_acquire(&control->registered);
    if ((come & RDL_LAUNCH_CLOSED) || arrived >= come) return 0;
    seen = rdl_cas(&control->arrived, arrived, arrived - 1u);
    if (seen == arrived) break;
    arrived = seen;
  }
  rdl->arrived = 0;
  if (rdl->expired) rdl_fetch_add(&control->expired, 0xffffffffu);
  rdl_store_relaxed(&control->parked, 0u);
  rdl->expired = rdl->leaving = rdl->rounds = 0;
  rdl->started = rdl_clock();
  rdl->quantum = control->stretch;
  return 1;
}

/* Have all who have come to this launch arrived? Then it is closed, in the same step in which
   nobody else has come: who comes later leaves at once (rdl_worker_comes). As long as all have
   arrived, and from then on, nobody goes back. */
RDL_FN rdl_u32 rdl_all_are_here(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 come = rdl_load_acquire(&control->registered);
  if (come & RDL_LAUNCH_CLOSED) return 1;
  if (rdl_load_acquire(&control->arrived) < come) return 0;
  return rdl_cas(&control->registered, come, come | RDL_LAUNCH_CLOSED) == come;
}

/* The quantum of all is over, or nobody has anything to do, and this worker begins no segment until
   all have come so far: one that left while another begins a segment without end would not come
   back in this launch. Nothing is lost by the wait, for the next launch waits for all anyway.
   Returns 0 when this worker goes on. Where the host cannot see a launch there is nothing to gain.
 */
RDL_OUTLINE rdl_u32 rdl_meet(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u64 since = rdl_clock(), looks = 0;
  if (!control->meeting) return 1;
  rdl_fetch_add(&control->arrived, 1u);
  rdl->arrived = 1;
  while (!rdl_all_are_here(rdl)) {
    if (looks % 64u == 0u) rdl_look_through_window(rdl);
    if (rdl_load_relaxed(&control->stop) & RDL_STOP_NOW) return 1;
    if (rdl_has_waited(rdl, since, looks++) && rdl_go_back(rdl)) return 0;
    if (control->flags & RDL_FLAG_CROWDED) rdl_give_way();
    rdl_relax();
  }
  return 1;
}

/* Workers leave together: who is first goes on until the quantum of all is over, so a long segment
   elsewhere does not stop this worker. */
RDL_FN void rdl_leave_together(rdl_cx *rdl, rdl_u32 wanted) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  if (!rdl->leaving && wanted) {
    rdl_fetch_add(&control->expired, 1u);
    rdl->expired = 1;
    rdl->leaving = 1;
  }
  if (rdl->leaving == 1u && rdl_load_acquire(&control->expired) >= rdl_come(rdl)) rdl->leaving = 2;
}

/* Segments may be long: the clock is looked at after each one as long as one takes a good part of
   the quantum, and every RDL_ROUND dispatches when they are short. Without a clock, always so. */
RDL_FN void rdl_pace(rdl_cx *rdl) {
  rdl_u64 now = rdl_clock();
  if (rdl->control->round_limit) return;
  rdl->look = now - rdl->looked > rdl->quantum / 16u ? 0u : (2u * rdl->look + 1u) % RDL_ROUND;
  rdl->looked = now;
}

RDL_OUTLINE void rdl_look_at_clock(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl->rounds++;
  rdl->now = rdl_load_relaxed(&control->now);
  rdl_look_through_window(rdl);
  if (rdl_load_relaxed(&control->parked)) rdl->leaving = 2;
  rdl_leave_together(rdl, !rdl->leaving && rdl_quantum_over(rdl));
}

/* What others have put out waits for its owner, or for one without work: the owner may be held, and
   all others busy. */
RDL_OUTLINE void rdl_take_over(rdl_cx *rdl) {
  rdl_u32 k;
  for (k = 0; k < rdl->control->workers; k++)
    if (k != rdl->worker) rdl->counters.adopted += rdl_adopt_overflow(rdl, k);
}

/* That a question is seen before the next future starts is what lets the host take others out of
   this worker's ring. */
RDL_OUTLINE void rdl_answer(rdl_cx *rdl) {
  rdl_u32 question = rdl_load_acquire(&rdl->control->stop) >> RDL_QUESTION_SHIFT;
  if (question && question != rdl_load_relaxed(&rdl->me->answered)) {
    rdl->careful = 1;
    rdl_store_release(&rdl->me->answered, question);
    rdl_take_over(rdl);
  }
}

/* Between two segments, and the host asks for something. */
RDL_OUTLINE rdl_u32 rdl_must_leave(rdl_cx *rdl) {
  rdl_u32 stop = rdl_load_acquire(&rdl->control->stop);
  if (stop & RDL_STOP_NOW) return 1;
  rdl_answer(rdl);
  if (stop & RDL_STOP_TOGETHER) rdl_leave_together(rdl, 1u);
  return rdl->leaving == 2u;
}

/* RDL_ROUND dispatches are over, or long ones. */
RDL_OUTLINE void rdl_next_round(rdl_cx *rdl) {
  if (rdl->turn == 0u)
    rdl->held_back = rdl->held_back == rdl->control->slots ? 0u : rdl->held_back + 1u;
  rdl_pace(rdl);
  rdl_look_at_clock(rdl);
}

/* Pauses of a round without work while others work. */
#define RDL_RELAXES 8u

/* Who has nothing to do, or leaves, keeps no room that others may want. Where slots are few it goes
   back before anybody waits: else one that waits would find all others idle, or gone, and take that
   for a sign that it waits in vain. */
RDL_FN rdl_u32 rdl_room_is_short(rdl_cx *rdl) {
#if defined(RDL_WARP) /* with whole chunks all workers together hold less than half of it */
  if (rdl->chunk == RDL_LARGEST_CHUNK) return rdl->scarce;
#endif
  return !rdl_has_plenty(rdl) || rdl->low;
}

RDL_OUTLINE void rdl_hold_no_room(rdl_cx *rdl) {
  if (rdl_load_relaxed(&rdl->control->room) || rdl_room_is_short(rdl))
    rdl_note_room(rdl, RDL_ROOM_RETURN | RDL_ROOM_TELL);
}

/* Rounds without work after which a worker counts as idle, and between two looks at the others; and
   what it does between two rounds. Thousands of idle warps would keep the working ones from the
   words that they look at: the more there are, the longer each sleeps, and all together look as
   often as a few. */
#if defined(RDL_WARP)
#define RDL_TO_REST 4u

RDL_FN void rdl_doze(rdl_cx *rdl) {
  rdl_u32 idle = rdl_load_relaxed(&rdl->control->idle);
  rdl_sleep_ns(rdl->resting ? rdl_least(64u + 32u * idle, 20000u) : 100u);
}
#else
#define RDL_TO_REST 16u

/* The idle thread of a core that runs two leaves it to the other one. */
RDL_FN void rdl_doze(rdl_cx *rdl) {
  rdl_u32 k = rdl->away ? 4u * RDL_RELAXES : rdl_others_work(rdl) ? RDL_RELAXES : 1u;
  for (; k; k--)
    rdl_relax();
  if (rdl->resting && (rdl->control->flags & RDL_FLAG_CROWDED)) rdl_give_way();
}
#endif

/* A round without work. The last to be idle for `patience` parks the device. */
RDL_OUTLINE void rdl_rest(rdl_cx *rdl, rdl_u64 *since, rdl_u32 *rounds) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 over, all_idle;
  if (*rounds == 0u) *since = rdl_clock();
  if (rdl->taken) rdl_judge_theft(rdl);
  if (*rounds == RDL_TO_REST) {
    rdl->quiet = 0;
    rdl_fetch_add(&control->idle, 1u);
    rdl->resting = 1;
  }
  ++*rounds;
  if (!rdl->away && !rdl_load_relaxed(&control->hungry)) rdl_store_relaxed(&control->hungry, 1u);
  rdl_doze(rdl);
  if (*rounds % RDL_TO_REST) return;
  rdl_look_at_clock(rdl);
  all_idle = rdl_load_acquire(&control->idle) >= rdl_come(rdl);
  rdl->quiet = all_idle ? rdl->quiet + 1u : 0u;
  if (all_idle && rdl_starved(rdl)) rdl_all_are_idle(rdl);
  over = control->idle_rounds ? *rounds >= control->idle_rounds
                              : rdl_clock() - *since >= control->patience;
  /* What a worker keeps back would be ready again for the next launch, and the one after that: it
     may be one of the others, who has to come to its end of waiting first. */
  if (rdl->quiet <= 2u * RDL_QUIET_TO_START && rdl_load_relaxed(&control->scarce)) over = 0;
  if (over && all_idle) {
    rdl_store_release(&control->parked, 1u);
    rdl->leaving = 2;
  }
}

/* Everything that stands in the queues of this worker goes where the next launch finds it. */
RDL_FN void rdl_put_out(rdl_cx *rdl) {
  rdl_u32 slot = rdl->next;
  if (slot) rdl_ring_push(rdl, slot, rdl->next_wait);
  rdl_spill_fifo(rdl, 0xffffffffu);
  rdl_spill_ring(rdl, rdl->bottom - rdl->top);
  rdl_near_unload_all(rdl);
}

/* The dispatches until the next that looks elsewhere first, or after which the clock is looked at,
   or the launch is over: between them nothing is to be done. */
RDL_FN void rdl_plan(rdl_cx *rdl) {
  rdl_u32 limit = rdl->control->segment_limit;
  rdl_u32 count = rdl->turn < RDL_USUAL ? RDL_USUAL - rdl->turn : 1u;
  count = rdl_least(count, rdl->look + 1u - (rdl->turn & rdl->look));
  if (limit > rdl->segments) count = rdl_least(count, limit - rdl->segments);
  rdl->plain = rdl->planned = count;
}

/* A dispatch is over. */
RDL_OUTLINE void rdl_next_turn(rdl_cx *rdl) {
  rdl_u32 limit;
  if (--rdl->plain) return;
  limit = rdl->control->segment_limit;
  rdl->turn = (rdl->turn + rdl->planned) % RDL_ROUND;
  rdl->noted |= RDL_NOTED_ROOM; /* somebody may wait for what has been given since */
  if ((rdl->turn & rdl->look) == 0u) rdl_next_round(rdl);
  if (limit && rdl->segments >= limit) rdl->leaving = 3;
  rdl_plan(rdl);
}

/* Before the worker leaves: it counts as idle from here on, and keeps no room. */
RDL_OUTLINE void rdl_leave(rdl_cx *rdl) {
  if (!rdl->resting) rdl_fetch_add(&rdl->control->idle, 1u);
  if (!rdl->expired) rdl_fetch_add(&rdl->control->expired, 1u);
  if (!rdl->arrived) rdl_fetch_add(&rdl->control->arrived, 1u);
  rdl_hold_no_room(rdl);
}

/* `stop` counts after the segment, however long each is. Who met the others in vain may start one
   now, and has not looked for as long as it met them. */
RDL_FN rdl_u32 rdl_must_go(rdl_cx *rdl) {
  rdl_u32 last =
      rdl->leaving >= 2u || (rdl_load_relaxed(&rdl->control->stop) && rdl_must_leave(rdl));
  if (last && rdl->leaving == 2u) {
    last = rdl_meet(rdl);
    if (!last) rdl_answer(rdl);
  }
  return last;
}

#if RDL_LANES == 1

/* The last time round nothing runs, and room goes back. */
RDL_FN void rdl_worker_loop(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u64 since = 0;
  rdl_u32 idle = 0, found, last;
  rdl_plan(rdl);
  rdl_adopt_overflow(rdl, rdl->worker); /* what it put out at the end of its last launch */
  do {
    last = rdl_must_go(rdl);
    found = RDL_NOTHING;
    if (last) {
      rdl_leave(rdl);
    } else {
      if (rdl_load_relaxed(&control->hungry)) rdl_share(rdl);
      found = rdl_find(rdl);
    }
    if (found) {
      if (idle) {
        idle = 0;
        if (rdl->resting) rdl_go_on(rdl);
      }
      rdl_run(rdl, found);
      rdl_next_turn(rdl);
    } else if (!last && idle && idle % RDL_TO_REST == 0u) {
      rdl_hold_no_room(rdl);
    }
    rdl_settle_up(rdl);
    if (found) rdl_runs_nothing(rdl);
    if (!found && !last) {
      rdl->turn = rdl->held_back = 0;
      rdl_plan(rdl);
      rdl_rest(rdl, &since, &idle);
    }
  } while (!last);
  rdl_put_out(rdl);
}

#endif
