/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler of loop-limited devices: drivers that end all loops of a kernel together after so
 * many turns (RDL_LOOP_TURNS), and say nothing. So nothing loops for long here, and scheduler and
 * segments are kernels of their own, in turn: each begins with all its turns.
 *
 * `rdl_schedule` takes up what the segment before has come to, serves all that was noted, as far as
 * it gets, and chooses one future; `rdl_run_segment` runs one segment of that. The words of a task
 * loop over nothing that belongs to the scheduler: children and signals are noted, and what is
 * taken from a pool is settled later. Behind the segment a loop of a few turns shows whether there
 * were enough (rdl_is_cut), and what the worker knows goes to the heap without a loop.
 *
 * A segment that was cut off has changed nothing by halves, and its future fails in the next
 * rdl_schedule. No worker waits for another, so any number runs on any number of cores.
 */
#if defined(RDL_LOOP_TURNS)

RDL_FN RDL_GLOBAL rdl_step *rdl_step_of(rdl_cx *rdl) {
  return (RDL_GLOBAL rdl_step *)(rdl->heap + rdl->control->steps) + rdl->worker;
}

/* ---- from kernel to kernel ---- */

/* What a segment needs, or changes. */
RDL_FN void rdl_segment_in(rdl_cx *rdl, RDL_GLOBAL const rdl_step *step) {
  rdl->slot = step->slot;
  rdl->self = rdl->records + step->slot;
  rdl_know(rdl, rdl->self);
  rdl->wait = step->wait;
  rdl->resume = step->resume;
  rdl->spawned = step->spawned;
  rdl->status = step->status;
  rdl->cause = step->cause;
  rdl->misuse = step->misuse;
  rdl->again = step->again;
  rdl->born_first = step->born_first;
  rdl->born_last = step->born_last;
  rdl->signalled = step->signalled;
  rdl->ended = step->ended;
  rdl->woken = step->woken;
  rdl->woken_last = step->woken_last;
  rdl->cancels = step->cancels;
  rdl->cancel_from = step->cancel_from;
  rdl->room = step->room;
  rdl->given = step->given;
  rdl->low = step->low;
  rdl->born = step->born;
  rdl->born_end = step->born_end;
  rdl->cut = 0;
}

RDL_FN void rdl_segment_out(rdl_cx *rdl, RDL_GLOBAL rdl_step *step) {
  step->slot = rdl->slot;
  step->wait = rdl->wait;
  step->resume = rdl->resume;
  step->spawned = rdl->spawned;
  step->status = rdl->status;
  step->cause = rdl->cause;
  step->misuse = rdl->misuse;
  step->again = rdl->again;
  step->born_first = rdl->born_first;
  step->born_last = rdl->born_last;
  step->signalled = rdl->signalled;
  step->ended = rdl->ended;
  step->woken = rdl->woken;
  step->woken_last = rdl->woken_last;
  step->cancels = rdl->cancels;
  step->cancel_from = rdl->cancel_from;
  step->room = rdl->room;
  step->given = rdl->given;
  step->low = rdl->low;
  step->born = rdl->born;
  step->born_end = rdl->born_end;
  rdl->me->unwind = rdl->unwind;
}

/* What it waits for. */
RDL_FN void rdl_wait_in(rdl_cx *rdl, RDL_GLOBAL const rdl_step *step) {
  rdl->want = step->want;
  rdl->target.index = step->target.index;
  rdl->target.generation = step->target.generation;
  rdl->threshold = step->threshold;
  rdl->set_size = step->set_size;
  rdl->set_words = (RDL_GLOBAL const rdl_word *)(rdl->heap + step->set_words);
  rdl->timeout = step->timeout;
  rdl->own_child = 0;
  rdl->told = step->told;
  rdl->starting = step->phase == RDL_PHASE_LOOKS;
}

RDL_FN void rdl_wait_out(rdl_cx *rdl, RDL_GLOBAL rdl_step *step) {
  step->want = rdl->want;
  step->target.index = rdl->target.index;
  step->target.generation = rdl->target.generation;
  step->threshold = rdl->threshold;
  step->set_size = rdl->set_size;
  step->set_words = (rdl_address)rdl->set_words - (rdl_address)rdl->heap;
  step->timeout = rdl->timeout;
  step->told = rdl->told;
}

/* What only the scheduler changes. */
RDL_FN void rdl_queues_in(rdl_cx *rdl, RDL_GLOBAL const rdl_step *step) {
  rdl->looking = step->looking;
  rdl->cancel_owner = step->cancel_owner;
  rdl->room_version = step->room_version;
  rdl->top = step->top;
  rdl->bottom = step->bottom;
  rdl->fifo_head = step->fifo_head;
  rdl->fifo_tail = step->fifo_tail;
  rdl->next = step->next;
  rdl->next_wait = step->next_wait;
  rdl->next_row = step->next_row;
  rdl->quiet = step->quiet;
  rdl->noted = RDL_NOTED_WAKES | RDL_NOTED_ENDS | RDL_NOTED_ROOM; /* whatever it was */
}

RDL_FN void rdl_queues_out(rdl_cx *rdl, RDL_GLOBAL rdl_step *step) {
  step->looking = rdl->looking;
  step->cancel_owner = rdl->cancel_owner;
  step->room_version = rdl->room_version;
  step->top = rdl->top;
  step->bottom = rdl->bottom;
  step->fifo_head = rdl->fifo_head;
  step->fifo_tail = rdl->fifo_tail;
  step->next = rdl->next;
  step->next_wait = rdl->next_wait;
  step->next_row = rdl->next_row;
  step->quiet = rdl->quiet;
  step->busy = rdl->top != rdl->bottom || rdl->fifo_head || rdl->next;
}

/* Something was noted that must be served before anything else runs here. */
RDL_FN rdl_u32 rdl_has_noted(rdl_cx *rdl) {
  return rdl->born_first || rdl->signalled || rdl->ended || rdl->woken || rdl->looking ||
         rdl->cancels || rdl->room;
}

/* ---- scheduler ---- */

/* The children that the segment has spawned, oldest first. One that another worker has claimed
   meanwhile is READY no longer. */
RDL_FN void rdl_queue_children(rdl_cx *rdl) {
  while (rdl->born_first && rdl_one_more(rdl)) {
    rdl_u32 slot = rdl->born_first;
    rdl_u32 wait = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
    rdl->born_first = rdl->sides[slot].link;
    if ((wait & RDL_STATE_MASK) == RDL_READY) rdl_ring_push(rdl, slot, wait);
  }
  if (!rdl->born_first) rdl->born_last = RDL_NIL;
}

/* The segment of the future that was chosen may run, unless that ends before it starts. */
RDL_FN rdl_u32 rdl_may_run(rdl_cx *rdl) {
  if (rdl->slot == rdl->starved) rdl->starved = RDL_NIL;
  if (rdl->resume == 0u && rdl->status) {
    rdl->cause = rdl->status;
    return RDL_PHASE_ENDED;
  }
  if ((rdl->task & RDL_TASK_LOCAL) && !rdl->sides[rdl->slot].home)
    rdl->sides[rdl->slot].home = rdl->worker + 1u;
  rdl->counters.segments++;
  return RDL_PHASE_RUN;
}

/* What the segment has come to, or a part of that: the phase from here on. */
RDL_FN rdl_u32 rdl_take_stock(rdl_cx *rdl, RDL_GLOBAL rdl_step *step) {
  rdl_u32 phase = step->phase, goes_on;
  if (step->cut) { /* whatever else it told */
    rdl->cause = RDL_S_LOOP_BUDGET;
    phase = RDL_PHASE_ENDED;
    step->cut = 0;
  }
  if (!rdl->cancels && rdl->unwind) rdl_take_unwind(rdl);
  if (rdl->cancels) rdl_serve_cancel(rdl);
  if (rdl->cancels) return phase;
  if (phase == RDL_PHASE_ENDED) {
    step->returned = rdl_end_begins(rdl) == RDL_RETURNS;
    phase = RDL_PHASE_ENDING;
    if (rdl->cancels) return phase;
  }
  if (phase == RDL_PHASE_ENDING) {
    if (step->returned)
      rdl_return(rdl);
    else
      rdl_note_end(rdl, rdl->slot); /* nobody else counts here any more */
    return RDL_PHASE_NONE;
  }
  if (phase != RDL_PHASE_SUSPENDED && phase != RDL_PHASE_LOOKS) return phase;
  goes_on = rdl_suspend(rdl);
  if (phase == RDL_PHASE_LOOKS && goes_on) {
    rdl_go_on_at_once(rdl);
    return rdl_may_run(rdl);
  }
  return goes_on ? RDL_PHASE_RUN : RDL_PHASE_NONE;
}

RDL_FN void rdl_serve_noted(rdl_cx *rdl) {
  while (rdl->signalled && rdl_one_more(rdl))
    rdl_event_serve(rdl);
  if (!rdl->fired && rdl->backlog) rdl_take_backlog(rdl);
  rdl_settle_up(rdl);
}

/* ---- what comes next ---- */

#define RDL_NOT_FAIR   0u
#define RDL_FAIR_RING  1u
#define RDL_FAIR_YIELD 2u

/* Roots come into the ring, the first on top; returns whether there were any. */
RDL_FN rdl_u32 rdl_bring_roots(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 waiting = rdl_load_relaxed(&control->roots.tail) - rdl_load_relaxed(&control->roots.head);
  rdl_u32 share = rdl_least(waiting / (2u * control->workers), RDL_ROOTS_AT_ONCE);
  rdl_entry first;
  if (!waiting) return 0;
  first = rdl_roots_pop(rdl, share ? share : 1u);
  if (!first.slot) return 0;
  rdl_started_before(rdl);
  rdl_ring_push(rdl, first.slot, first.wait);
  return 1;
}

/* A list in which another worker has put something out, else this one's inbox. */
RDL_FN RDL_GLOBAL rdl_u32 *rdl_list_of_others(rdl_cx *rdl) {
  RDL_GLOBAL rdl_worker *workers = (RDL_GLOBAL rdl_worker *)(rdl->heap + rdl->control->workers_at);
  rdl_u32 k, found = rdl->worker;
  for (k = 0; k < rdl->control->workers; k++)
    if (k != rdl->worker && rdl_load_relaxed(&workers[k].overflow)) found = k;
  if (found == rdl->worker) return &rdl->me->inbox;
  rdl_started_before(rdl);
  return &workers[found].overflow;
}

/* What was woken for this worker; when there is none the ring is empty: then what it put out
   itself, roots, and at last what others have put out. */
RDL_FN void rdl_bring(rdl_cx *rdl) {
  RDL_GLOBAL rdl_u32 *list = &rdl->me->inbox;
  rdl_u32 far = 0, got;
  if (!rdl_load_relaxed(list)) list = &rdl->me->overflow;
  if (!rdl_load_relaxed(list)) {
    if (rdl_waits_for_starved(rdl) || rdl_bring_roots(rdl) || rdl->fifo_head) return;
    list = rdl_list_of_others(rdl);
    far = 1;
  }
  got = rdl_adopt(rdl, list);
  if (far) rdl->counters.adopted += got;
  if (!got) rdl_store_relaxed(&rdl->control->hungry, 1u);
}

/* The fair dispatches of each round look first where the others look late: at the oldest in the
   ring, at what has yielded, at roots. */
RDL_FN rdl_u32 rdl_find_fair(rdl_cx *rdl, rdl_u32 *oldest) {
  rdl_u32 fair = rdl->turn - RDL_USUAL; /* large, but for the last of a round */
  rdl_u32 slot;
  *oldest = rdl->starved && rdl->quiet; /* the newest was kept back */
  if (fair == 1u && rdl->fifo_head && rdl_may_go_on(rdl, rdl->fifo_head)) return RDL_FAIR_YIELD;
  if (fair == 4u && rdl_may_open(rdl) && !rdl_waits_for_starved(rdl) && rdl_bring_roots(rdl))
    return RDL_FAIR_RING;
  if (fair) return RDL_NOT_FAIR;
  slot = rdl_oldest_in_ring(rdl);
  if (!slot || !rdl_may_go_on(rdl, slot)) return RDL_NOT_FAIR;
  *oldest = 1;
  return RDL_FAIR_RING;
}

RDL_FN rdl_u32 rdl_find_next(rdl_cx *rdl) {
  rdl_u32 found = RDL_NOTHING, oldest, fair;
  if (rdl->turn == RDL_USUAL + 3u && rdl_has_plenty(rdl)) rdl_adopt_last(rdl, &rdl->me->overflow);
  if (rdl->top == rdl->bottom || (rdl->turn == RDL_USUAL + 2u && rdl_load_relaxed(&rdl->me->inbox)))
    rdl_bring(rdl);
  fair = rdl_find_fair(rdl, &oldest);
  if (fair == RDL_NOT_FAIR) found = rdl_from_next(rdl);
  if (!found && fair != RDL_FAIR_YIELD && rdl->top != rdl->bottom)
    found = rdl_from_ring(rdl, oldest);
  return found ? found : rdl_from_fifo(rdl);
}

/* There is nothing, or what is kept back. When nobody has found anything for a while, those who
   wait for room look once more, and then one starts that would have to wait. */
RDL_FN void rdl_find_none(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 before = rdl->quiet ? 0u : 1u;
  rdl_u32 without = rdl_fetch_add(&control->without, before) + before;
  rdl->quiet = without < control->workers ? 1u : rdl->quiet + 1u;
  if (rdl->quiet > RDL_QUIET_TO_START) rdl->quiet = RDL_QUIET_TO_START;
  if (rdl->quiet > 1u && rdl_starved(rdl)) rdl_all_are_idle(rdl);
}

/* What this worker does not run next it puts out for others, unless slots are few: there work that
   changes hands without need opens more branches than there is room for. */
RDL_FN void rdl_spread(rdl_cx *rdl) {
  rdl_u32 count = rdl->bottom - rdl->top;
  if (rdl_has_plenty(rdl) && count > 1u && !rdl_load_relaxed(&rdl->me->overflow))
    rdl_spill_ring(rdl, rdl_least(count - 1u, RDL_SHARE_MOST));
  else if (rdl_load_relaxed(&rdl->control->hungry))
    rdl_share(rdl);
}

RDL_FN rdl_u32 rdl_choose(rdl_cx *rdl) {
  rdl_spread(rdl);
  if (!rdl_find_next(rdl)) {
    rdl_find_none(rdl);
    return RDL_PHASE_NONE;
  }
  if (rdl->quiet) rdl_fetch_add(&rdl->control->without, 0xffffffffu);
  rdl->quiet = 0;
  rdl->segments++;
  rdl->turn = (rdl->turn + 1u) % RDL_ROUND;
  if (rdl->turn == 0u)
    rdl->held_back = rdl->held_back == rdl->control->slots ? 0u : rdl->held_back + 1u;
  return rdl_take_up(rdl) == RDL_STARTS ? rdl_may_run(rdl) : RDL_PHASE_LOOKS;
}

/* ---- the two kernels ---- */

RDL_FN void rdl_schedule(RDL_GLOBAL rdl_u8 *heap, rdl_u32 worker) {
  RDL_GLOBAL rdl_step *step;
  rdl_cx rdl;
  rdl_u32 phase;
  rdl_worker_open(&rdl, heap, worker);
  step = rdl_step_of(&rdl);
  rdl_segment_in(&rdl, step);
  rdl_wait_in(&rdl, step);
  rdl_queues_in(&rdl, step);
  rdl.part = RDL_PART;
  rdl.plain = rdl.planned = 0;                       /* every dispatch looks around */
  if (!rdl_has_room(&rdl, rdl.reserve)) rdl.low = 1; /* first, or the image or the host took it */
  rdl.may_start = rdl.quiet >= RDL_QUIET_TO_START;
  if (step->phase == RDL_PHASE_NONE) rdl_hold_no_room(&rdl);
  rdl_grabs_return(&rdl);
  rdl_queue_children(&rdl);
  phase = rdl_take_stock(&rdl, step);
  rdl_drain_mailbox(&rdl);
  rdl_serve_noted(&rdl);
  if (phase == RDL_PHASE_NONE && !rdl_has_noted(&rdl)) phase = rdl_choose(&rdl);
  rdl_segment_out(&rdl, step);
  rdl_wait_out(&rdl, step);
  rdl_queues_out(&rdl, step);
  step->phase = phase;
  step->noted = rdl_has_noted(&rdl);
  rdl_worker_close(&rdl);
  if (rdl_is_cut(&rdl)) rdl_store_relaxed(&rdl.control->overrun, 1u);
}

/* What a task's words find nothing in. */
RDL_FN void rdl_segment_open(rdl_cx *rdl) {
  rdl->unwind = rdl->me->unwind;
  rdl->part = 0xffffffffu;
  rdl->turns = RDL_LOOP_TURNS;
  rdl->set = 0;
  rdl->set_words = (RDL_GLOBAL const rdl_word *)rdl->heap;
  rdl->set_size = rdl->want = rdl->threshold = rdl->told = rdl->starting = 0;
  rdl->target.index = rdl->target.generation = 0;
  rdl->timeout = RDL_NEVER;
  rdl->caught = rdl->which = rdl->noted = 0;
  rdl->looking = RDL_NIL;
  rdl->counters.spawned = rdl->counters.woken = 0;
}

RDL_FN void rdl_segment_close(rdl_cx *rdl, RDL_GLOBAL rdl_step *step, rdl_u32 how) {
  step->cut = rdl_is_cut(rdl);
  rdl_segment_out(rdl, step);
  rdl_wait_out(rdl, step);
  step->phase = how == RDL_ENDED ? RDL_PHASE_ENDED : RDL_PHASE_SUSPENDED;
  step->noted = rdl_has_noted(rdl);
  rdl->me->counters.spawned += rdl->counters.spawned;
  rdl->me->counters.woken += rdl->counters.woken;
}

RDL_FN void rdl_run_segment(RDL_GLOBAL rdl_u8 *heap, rdl_u32 worker) {
  RDL_GLOBAL rdl_step *step;
  rdl_cx rdl;
  rdl_cx_open(&rdl, heap, worker);
  step = rdl_step_of(&rdl);
  if (step->phase == RDL_PHASE_RUN) {
    rdl_segment_in(&rdl, step);
    rdl_segment_open(&rdl);
    rdl_segment_close(&rdl, step, rdl_run_task(&rdl, rdl.self->task & RDL_TASK_MASK));
  }
}

/* The host runs both, once a launch: so no worker is ahead of another by more than one of its own.
 */
#if defined(RDL_LOOPS_COUNTED)

RDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  rdl_u32 worker;
  if (purpose == RDL_LAUNCH_DESCRIBE) rdl_describe(heap);
  if (purpose != RDL_LAUNCH_RUN) return;
  worker = rdl_fetch_add(&control->registered, 1u);
  rdl_schedule(heap, worker);
  rdl_run_segment(heap, worker);
}

#else

/* llvmpipe fills its vectors with work-items that the group does not have. These store nothing, but
   they stay in loops as long as what they load, zeros, tells them to: a loop then ends only with
   all turns of the kernel, and those around it after one turn each. So they are sent home by name.
 */
RDL_FN rdl_u32 rdl_is_there(void) {
  return get_local_id(0) == 0u;
}

RDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  if (rdl_is_there() && purpose == RDL_LAUNCH_RUN) rdl_schedule(heap, rdl_group_id());
}

RDL_KERNEL void rdl_segments(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  if (!rdl_is_there()) return;
  if (purpose == RDL_LAUNCH_DESCRIBE)
    rdl_describe(heap);
  else if (purpose == RDL_LAUNCH_RUN)
    rdl_run_segment(heap, rdl_group_id());
}

#endif

#endif
