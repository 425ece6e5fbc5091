/* SPDX-License-Identifier: Apache-2.0 */
/* How the lanes run private futures, and what the leader does before and behind (see privates.h).
 */
#if defined(RDL_PRIVATE)

/* How a dispatch goes on, beside what worker.cl and lead.cl have. */
#define RDL_MEMBERS       9u  /* a batch's members are run as private futures */
#define RDL_PRIVATES_UP   10u /* the lanes run private futures next */
#define RDL_PRIVATES_DOWN 11u /* they have */

/* ---- a lane ---- */

/* Those that wait for what has ended, the chain of `waiter`. The first may run next in this lane,
   and is returned. */
RDL_FN rdl_u32 rdl_private_wake(rdl_px *rdl, rdl_u32 chain, rdl_u32 status) {
  rdl_privates *set = rdl->set;
  rdl_u32 first = RDL_PRIVATE_NONE;
  while (chain) {
    rdl_u32 entry = chain - 1u;
    if (entry == RDL_PRIVATE_HOST) {
      set->over = 1;
      chain = set->host_link;
      continue;
    }
    chain = set->all[entry].link;
    set->all[entry].status = status;
    set->all[entry].word &= ~RDL_PRIVATE_WAITS;
    if (first == RDL_PRIVATE_NONE && !rdl->crowded)
      first = entry;
    else
      rdl_private_push(set, entry);
  }
  return first;
}

/* It awaits what has not ended: RDL_PRIVATE_NONE, or itself when that ends just now. */
RDL_FN rdl_u32 rdl_private_wait(rdl_px *rdl) {
  rdl_private *mine = rdl->mine, *target = rdl->set->all + rdl->target;
  rdl_u32 seen = rdl_private_peek(&target->waiter), before;
  mine->word |= RDL_PRIVATE_WAITS;
  for (;;) {
    if (seen & RDL_PRIVATE_DONE) break;
    mine->link = (rdl_u8)seen;
    before = seen;
    rdl_fence_block();
    seen = atomicCAS(&target->waiter, before, rdl->entry + 1u);
    if (seen != before) continue;
    rdl->counts.suspended++;
    return RDL_PRIVATE_NONE;
  }
  mine->word &= ~RDL_PRIVATE_WAITS;
  mine->status = rdl_private_outcome(rdl);
  return rdl->entry;
}

RDL_FN void rdl_private_count_end(rdl_px *rdl, rdl_u32 cause) {
  if (!cause)
    rdl->counts.finished++;
  else if (RDL_CAUSE_STATUS(cause) == RDL_S_CANCELLED)
    rdl->counts.cancelled++;
  else
    rdl->counts.failed++;
}

/* All children have ended, and nobody else looks at them. */
RDL_FN void rdl_private_free_children(rdl_privates *set, rdl_u32 child) {
  while (child != RDL_PRIVATE_NONE) {
    rdl_u32 next = set->all[child].next_sibling;
    rdl_private_free(set, child);
    child = next;
  }
}

/* One that lives less: its code, or a child; 1 = it was the last. While the code runs and no child
   lives nobody else counts. */
RDL_FN rdl_u32 rdl_private_is_over(rdl_private *future, rdl_u32 code) {
  if (code && (rdl_private_peek(&future->live) & ~RDL_PRIVATE_CANCELLED) == 1u) return 1;
  rdl_fence_block();
  return (rdl_add_local(&future->live, 0u - 1u) & ~RDL_PRIVATE_CANCELLED) == 1u;
}

/* The code of a future has ended, or its last child: what that ends is closed, owner after owner.
   Returns who runs next in this lane. */
RDL_FN rdl_u32 rdl_private_close(rdl_px *rdl, rdl_u32 entry) {
  rdl_privates *set = rdl->set;
  rdl_u32 first = RDL_PRIVATE_NONE;
  for (;;) {
    rdl_private *mine = set->all + entry;
    rdl_u32 owner = mine->owner, loose = mine->word & RDL_PRIVATE_LOOSE, cause, woken;
    if (!rdl_private_is_over(mine, entry == rdl->entry)) return first;
    cause = rdl_private_missed(set, mine->first_child);
    rdl_private_free_children(set, mine->first_child);
    if (cause && !(mine->word & RDL_PRIVATE_FAILED)) {
      mine->word |= RDL_PRIVATE_FAILED;
      mine->frame[0] = cause;
    }
    cause = rdl_private_cause(mine);
    rdl_private_count_end(rdl, cause);
    rdl_fence_block();
    woken = rdl_private_wake(rdl, atomicExch(&mine->waiter, RDL_PRIVATE_DONE), cause);
    if (first == RDL_PRIVATE_NONE)
      first = woken;
    else if (woken != RDL_PRIVATE_NONE)
      rdl_private_push(set, woken);
    if (loose) {
      if (cause) (void)atomicCAS(&set->failure, 0u, cause);
      rdl_private_free(set, entry);
    }
    if (owner == RDL_PRIVATE_HOST) return first;
    entry = owner;
  }
}

RDL_FN rdl_u32 rdl_private_end(rdl_px *rdl) {
  rdl_private *mine = rdl->mine;
  rdl_u32 cause = mine->word & RDL_PRIVATE_TOLD ? RDL_S_CANCELLED : rdl->cause;
  if (!cause) cause = rdl->misuse;
  if (cause) {
    mine->word |= RDL_PRIVATE_FAILED;
    mine->frame[0] = cause;
    rdl_private_cancel_list(rdl->set, mine->first_child);
  }
  return rdl_private_close(rdl, rdl->entry);
}

/* One segment. Returns what this lane runs next. */
RDL_FN rdl_u32 rdl_private_step(rdl_px *rdl, rdl_u32 entry) {
  rdl_privates *set = rdl->set;
  rdl_private *mine = set->all + entry;
  rdl_u32 word = mine->word, how;
  rdl->entry = entry;
  rdl->mine = mine;
  rdl->resume = word >> RDL_PRIVATE_RESUME_SHIFT & RDL_RESUME_MASK;
  rdl->status = mine->status;
  rdl->cause = rdl->misuse = 0;
  rdl->counts.segments++;
  if (!rdl->resume && rdl_private_is_told(rdl)) {
    rdl->counts.segments--;
    return rdl_private_end(rdl);
  }
  how = rdl_run_private(rdl, word & RDL_TASK_MASK);
  if (how == RDL_ENDED || rdl->misuse) return rdl_private_end(rdl); /* or fails at its next wait */
  word = mine->word & ~(RDL_RESUME_MASK << RDL_PRIVATE_RESUME_SHIFT);
  mine->word = word | rdl->resume << RDL_PRIVATE_RESUME_SHIFT;
  mine->status = 0;
  if (rdl->want == RDL_WANT_FUTURE) return rdl_private_wait(rdl);
  rdl->counts.yielded++; /* behind all that are ready */
  set->ready[(rdl_add_local(&set->head, 0u - 1u) - 1u) % RDL_PRIVATE_RING] = (rdl_u8)entry;
  return RDL_PRIVATE_NONE;
}

/* ---- the lanes together ---- */

/* Among the lanes that say yes. */
RDL_FN rdl_u32 rdl_private_rank(rdl_u32 votes) {
  return (rdl_u32)__popc(votes & ((1u << rdl_warp_lane()) - 1u));
}

/* A member of the batch comes into being in this lane, the one of number `which` that are left. */
RDL_FN rdl_u32 rdl_private_member(rdl_privates *set, rdl_u32 which) {
  rdl_u32 entry = set->free[(set->free_head + which) % RDL_PRIVATE_RING];
  const rdl_word *words = (const rdl_word *)(set->member_at + (rdl_u64)which * set->member_stride);
  rdl_private_fill(set->all + entry, set->member_word | RDL_PRIVATE_LOOSE, RDL_PRIVATE_HOST,
                   RDL_PRIVATE_NONE, words, set->member_words);
  return entry;
}

/* So many lanes may run a segment now: each may spawn, and depth first there shall be room for one
   at least. */
#define RDL_PRIVATE_DEPTH 48u
RDL_FN rdl_u32 rdl_private_most(rdl_u32 room) {
  if (room < RDL_PRIVATE_DEPTH + RDL_PRIVATE_SPAWNS) return 1u;
  return (room - RDL_PRIVATE_DEPTH) / RDL_PRIVATE_SPAWNS;
}

/* Lanes without a future take the newest that are ready, and then members of the batch. */
RDL_FN rdl_u32 rdl_private_pick(rdl_px *rdl, rdl_u32 entry) {
  rdl_privates *set = rdl->set;
  rdl_u32 tail = set->tail, ready = tail - set->head, room = set->free_tail - set->free_head;
  rdl_u32 most = rdl_private_most(room);
  rdl_u32 busy = rdl_vote(entry != RDL_PRIVATE_NONE), count = (rdl_u32)__popc(busy), rank;
  rdl_u32 members = set->cancelled ? 0u : set->members, some;
  rdl->limit = set->free_tail;
  rdl->crowded = room < RDL_PRIVATE_DEPTH + 32u * RDL_PRIVATE_SPAWNS;
  if (!ready && !members) { /* as in a chain */
    rdl_warp_barrier();
    return entry;
  }
  some = count < most ? most - count : 0u;
  if (some > ready) some = ready;
  rank = rdl_private_rank(~busy);
  if (some > RDL_LANES - count) some = RDL_LANES - count;
  if (entry == RDL_PRIVATE_NONE && rank < some)
    entry = set->ready[(tail - 1u - rank) % RDL_PRIVATE_RING];
  count += some;
  members = count < most && room > RDL_PRIVATE_DEPTH
                ? rdl_least(members, rdl_least(RDL_LANES - count, most - count))
                : 0u;
  if (members > room) members = room;
  if (entry == RDL_PRIVATE_NONE && rank >= some && rank - some < members)
    entry = rdl_private_member(set, rank - some);
  rdl_warp_barrier();
  if (rdl_warp_lane() == 0u) {
    set->tail = tail - some;
    if (members) {
      set->free_head += members;
      set->members -= members;
      set->member_at += (rdl_u64)members * set->member_stride;
      rdl->counts.spawned += members;
    }
  }
  rdl_warp_barrier();
  return entry;
}

RDL_FN rdl_u32 rdl_private_sum(rdl_u32 count) {
  rdl_u32 by;
  for (by = RDL_LANES / 2u; by; by /= 2u)
    count += rdl_shuffle_xor(count, by);
  return count;
}

RDL_FN void rdl_private_count(rdl_px *rdl) {
  rdl_private_counts *counts = &rdl->counts;
  counts->segments = rdl_private_sum(counts->segments);
  counts->spawned = rdl_private_sum(counts->spawned);
  counts->finished = rdl_private_sum(counts->finished);
  counts->failed = rdl_private_sum(counts->failed);
  counts->cancelled = rdl_private_sum(counts->cancelled);
  counts->suspended = rdl_private_sum(counts->suspended);
  counts->yielded = rdl_private_sum(counts->yielded);
}

/* The leader looks elsewhere after so many segments of a lane, or so many cycles. */
#define RDL_PRIVATE_TURNS  256u
#define RDL_PRIVATE_CYCLES 100000u

/* Until what the host waits for has ended, nothing is ready, or it is time to look elsewhere. */
RDL_FN void rdl_private_loop(rdl_privates *set, rdl_u32 context, const rdl_u32 *wait) {
  rdl_px px = {};
  rdl_u32 entry = RDL_PRIVATE_NONE, turns = RDL_PRIVATE_TURNS, since = rdl_cycles();
  px.set = set;
  px.context = context;
  px.host_wait = wait;
  for (;;) {
    entry = rdl_private_pick(&px, entry);
    if (!rdl_vote(entry != RDL_PRIVATE_NONE)) break;
    if (entry != RDL_PRIVATE_NONE) entry = rdl_private_step(&px, entry);
    rdl_warp_barrier();
    if (rdl_private_peek(&set->over) || !--turns) break;
    if (rdl_vote(rdl_cycles() - since > RDL_PRIVATE_CYCLES)) break;
  }
  if (entry != RDL_PRIVATE_NONE) rdl_private_push(set, entry);
  rdl_private_count(&px);
  if (rdl_warp_lane() != 0u) return;
  set->live += px.counts.spawned - px.counts.finished - px.counts.failed - px.counts.cancelled;
  set->counts = px.counts;
}

/* ---- the leader ---- */

/* No more: it was told to end. */
RDL_FN void rdl_private_detach(rdl_privates *set) {
  rdl_private *target = set->all + set->host_waits - 1u;
  rdl_u32 chain;
  if (!set->host_waits) return;
  set->host_waits = 0;
  if (target->waiter & RDL_PRIVATE_DONE) return;
  if (target->waiter == RDL_PRIVATE_HOST + 1u) {
    target->waiter = set->host_link;
    return;
  }
  for (chain = target->waiter; chain; chain = set->all[chain - 1u].link)
    if (set->all[chain - 1u].link == RDL_PRIVATE_HOST + 1u)
      set->all[chain - 1u].link = (rdl_u8)set->host_link;
}

/* The host waits for a future of its set, which has not ended. */
RDL_FN void rdl_private_attach(rdl_privates *set, rdl_u32 entry) {
  if (set->host_waits == entry + 1u) return; /* still */
  rdl_private_detach(set);
  set->host_waits = entry + 1u;
  set->host_link = set->all[entry].waiter;
  set->all[entry].waiter = RDL_PRIVATE_HOST + 1u;
}

/* Nothing of the set is ready, and not all has ended: they wait for each other. All of them are
   told so. */
RDL_OUTLINE void rdl_private_break(rdl_privates *set) {
  rdl_u32 k;
  for (k = 0; k < RDL_PRIVATES; k++) {
    rdl_private *future = set->all + k;
    if (!(future->word & RDL_PRIVATE_USED) || (future->waiter & RDL_PRIVATE_DONE)) continue;
    future->waiter = set->host_waits == k + 1u ? RDL_PRIVATE_HOST + 1u : 0u;
    if (!(future->word & RDL_PRIVATE_WAITS)) continue;
    future->word &= ~RDL_PRIVATE_WAITS;
    future->status = RDL_S_DEADLOCK;
    rdl_private_push(set, k);
  }
  set->host_link = 0;
}

RDL_FN void rdl_privates_count(rdl_cx *rdl) {
  const rdl_private_counts *counts = &rdl_privates_of()->counts;
  rdl->counters.segments += counts->segments;
  rdl->counters.spawned += counts->spawned;
  rdl->counters.finished += counts->finished;
  rdl->counters.failed += counts->failed;
  rdl->counters.cancelled += counts->cancelled;
  rdl->counters.suspended += counts->suspended;
  rdl->counters.yielded += counts->yielded;
  rdl->segments += counts->segments;
}

/* The future goes on in its next dispatch, before all others of this worker; its set stays. */
RDL_FN rdl_u32 rdl_private_later(rdl_cx *rdl) {
  rdl_store_relaxed(&rdl->self->resume, rdl->resume | rdl->spawned << RDL_SPAWNED_SHIFT);
  if (rdl->private_how == RDL_SUSPENDED) rdl_keep_await(rdl);
  if (rdl->next) rdl_ring_push(rdl, rdl->next, rdl->next_wait);
  rdl->next = rdl->slot;
  rdl->next_wait = rdl->wait;
  return RDL_RUNS_NOTHING;
}

/* What the host awaits has ended, as `status` says, or it is told to end. */
RDL_FN rdl_u32 rdl_private_goes_on(rdl_cx *rdl, rdl_u32 status) {
  rdl->status = status;
  if (rdl_cancel_requested(rdl)) rdl_deliver_cancel(rdl);
  rdl->over = 1;
  rdl->whole = 0;
  rdl->counters.segments--; /* the other part of one */
  return RDL_STARTS;
}

/* The lanes run private futures of the running one next, if some are to be run before it goes on:
   for what it awaits, or, where its segment has ended in another way, all of them. Otherwise `how`,
   or RDL_STARTS when it goes on at once. */
RDL_OUTLINE rdl_u32 rdl_privates_first(rdl_cx *rdl, rdl_u32 how) {
  rdl_privates *set = rdl_privates_of();
  if (how != RDL_SUSPENDED && how != RDL_ENDED && how != RDL_MEMBERS) return how;
  if (!rdl_is_host(rdl) || rdl->wide) return how;
  if (rdl->starting) { /* it waits for room, and may go on elsewhere */
    if (set->host == rdl->slot) rdl_private_save(rdl);
    return how;
  }
  set = rdl_private_set(rdl);
  if (!set) return how;
  if (how == RDL_SUSPENDED && rdl->want == RDL_WANT_PRIVATE) {
    if (rdl->timeout != RDL_NEVER) rdl->misuse = RDL_S_INVALID;
    if (rdl->misuse) return rdl_private_goes_on(rdl, rdl->misuse);
    rdl_private_attach(set, rdl_private_number(rdl->context, rdl->target));
  } else if (how != RDL_MEMBERS) {
    rdl_private_detach(set);
    if (how == RDL_ENDED && (rdl->cause || rdl->misuse || (rdl->task & RDL_TASK_CANCELLED))) {
      set->cancelled = (rdl->task & RDL_TASK_MASK) == RDL_ID_rdl_batch; /* members are in no list */
      rdl_private_cancel_list(set, set->host_child);
    }
    if (!set->live) {
      if (how == RDL_ENDED && !rdl->cause) rdl->cause = rdl_private_missed(set, set->host_child);
      if (how == RDL_ENDED || set->free_tail - set->free_head == RDL_PRIVATES)
        set->host = RDL_NIL;
      else
        rdl_private_save(rdl);
      return how;
    }
  }
  set->over = 0;
  rdl->private_how = how;
  rdl->group->runs = RDL_RUNS_PRIVATE;
  return RDL_PRIVATES_UP;
}

/* The lanes have run some of them. Returns how the host goes on. */
RDL_OUTLINE rdl_u32 rdl_privates_ran(rdl_cx *rdl) {
  rdl_privates *set = rdl_privates_of();
  rdl_u32 how = rdl->private_how, entry = set->host_waits - 1u;
  rdl_u32 room = set->free_tail - set->free_head > RDL_PRIVATE_DEPTH; /* for members */
  rdl_u32 dry = set->head == set->tail && (!set->members || set->cancelled || !room);
  rdl_privates_count(rdl);
  if (how == RDL_SUSPENDED && rdl->want == RDL_WANT_PRIVATE) {
    if (set->over) {
      set->host_waits = 0;
      return rdl_private_goes_on(rdl, rdl_private_cause(set->all + entry));
    }
    if (rdl_cancel_requested(rdl)) return rdl_private_goes_on(rdl, RDL_S_OK);
    if (dry) rdl_private_break(set);
    return rdl_private_later(rdl);
  }
  if (how == RDL_MEMBERS) {
    if (rdl_cancel_requested(rdl)) set->cancelled = 1;
    if (!dry || set->live) {
      if (dry) rdl_private_break(set);
      return rdl_private_later(rdl);
    }
    rdl->cause = set->failure;
    if (rdl_cancel_requested(rdl)) rdl_deliver_cancel(rdl);
    rdl->resume = 1; /* it has begun */
    return RDL_ENDED;
  }
  if (rdl_cancel_requested(rdl)) rdl_private_cancel_list(set, set->host_child);
  if (dry && set->live) rdl_private_break(set);
  return how;
}

/* Batches of so many members are run so. */
#define RDL_PRIVATE_BATCH 1024u

/* A batch of private tasks that has not started: 1 = its members are run as private futures. */
RDL_OUTLINE rdl_u32 rdl_private_members(rdl_cx *rdl) {
  const struct rdl_batch_args *args = (const struct rdl_batch_args *)rdl_block(rdl, rdl->frame);
  rdl_privates *set;
  if (rdl->resume || rdl->status || !rdl_is_private_task(args->task & RDL_TASK_MASK)) return 0;
  set = rdl_private_set(rdl);
  if (set) return 1; /* it has begun with them */
  if (args->count > RDL_PRIVATE_BATCH || args->words > RDL_PRIVATE_WORDS) return 0;
  set = rdl_private_open(rdl);
  if (!set) return 0;
  set->members = args->count;
  set->member_word = args->task & RDL_TASK_MASK;
  set->member_words = args->words;
  set->member_stride = args->stride;
  set->member_at = args->address;
  rdl->counters.segments++;
  return 1;
}

#endif
