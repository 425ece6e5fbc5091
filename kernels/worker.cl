/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker knows while a launch lasts. It is the first argument of nearly every function
 * and, under the name `rdl`, of every task. It lives in private memory; rdl_worker_open and
 * rdl_worker_close move what must outlast the launch from and to the heap.
 */

#define RDL_NEVER 0xffffffffffffffffUL

/* What a segment waits for when it suspends. */
#define RDL_WANT_YIELD    0u
#define RDL_WANT_FUTURE   1u
#define RDL_WANT_EVENT    2u
#define RDL_WANT_CHILDREN 3u
#define RDL_WANT_ROOM     4u
#define RDL_WANT_ALL      5u /* a set of futures, from here on */
#define RDL_WANT_ANY      6u

/* Dispatches between two looks at what is not done every time. */
#define RDL_ROUND 64u

/* How a segment ends, */
#define RDL_ENDED     0u
#define RDL_SUSPENDED 1u
/* and what else a dispatch may be about. */
#define RDL_STARTS       2u
#define RDL_RETURNS      3u /* it has ended before its children */
#define RDL_RUNS_NOTHING 4u /* a chore: what was noted is served */

/* What the worker's loop goes on with. */
#define RDL_NOTHING 0u
#define RDL_CHORE   1u /* what was noted is served, and no future runs */
#define RDL_FUTURE  2u

/* What has been noted, cancels apart (rdl_settle_up). */
#define RDL_NOTED_WAKES 1u
#define RDL_NOTED_ENDS  2u
#define RDL_NOTED_ROOM  4u /* something is to be done about it, or it is time to look */

/* What is to be done about room (rdl_serve_room). */
#define RDL_ROOM_FULL   1u  /* a stash holds more than it may */
#define RDL_ROOM_RETURN 2u  /* all that the stashes hold goes back */
#define RDL_ROOM_TELL   4u  /* and those who wait are told of it */
#define RDL_ROOM_LOOK   8u  /* they look again if something has come back since `room_version` */
#define RDL_ROOM_WAKE   16u /* they look again */

#if RDL_LANES > 1

/*
 * What the lanes of a worker share keeps the top of some stashes, and of the ring: what lies in the
 * heap is far. Items stand in rings: the lanes of a pack, each of which runs a future, take them at
 * one end and put them at the other, and the leader, while it is alone, takes what came last.
 */
#if !defined(RDL_LOOP_TURNS)
#define RDL_NEAR       256u
#define RDL_NEAR_RING  16u
#define RDL_NEAR_POOLS 5u /* slots, and blocks of the four smallest classes */
/* Packs are for warps. PoCL's compiler copies every function to where it is called, and takes many
   times as long for an image that has them. */
#if defined(RDL_WARP)
#define RDL_PACK 1
#endif

typedef struct rdl_near {
  rdl_u32 head[RDL_NEAR_POOLS];
  rdl_u32 tail[RDL_NEAR_POOLS];
  rdl_u32 items[RDL_NEAR_POOLS][RDL_NEAR];
  rdl_u32 generations[RDL_NEAR]; /* of the slots: what their next lives begin with */
  rdl_u32 waits[RDL_NEAR];
} rdl_near;

/* What a lane of a pack leaves to the leader. */
#define RDL_HAND_START 1u /* an entry of the ring: the leader runs it */
#define RDL_HAND_ON    2u /* the future of a lane, whose segment has ended as said */
#define RDL_HAND_CHAIN 3u /* waiters to be woken */
#define RDL_HAND_WOKEN 4u /* a future, which goes on at home */
#define RDL_HAND_SWEEP                                                                             \
  5u /* a future whose slot is reused, perhaps with waiters of the life before */
#define RDL_HAND_OVER   6u /* a future whose last child has ended */
#define RDL_HAND_RETURN 7u /* one that has returned before its children, and was cancelled */
#define RDL_HAND_GO     8u /* as ON, and its segment goes on */
#define RDL_HANDS       3u /* of one lane, at most */

typedef struct rdl_hand {
  rdl_u32 kind;
  rdl_u32 what; /* slot, or node, or lane */
  rdl_u32 how;  /* wait word, or how the segment has ended */
} rdl_hand;

/* What a lane knows of its future, as in rdl_cx. */
typedef struct rdl_lane_state {
  rdl_u32 slot;
  rdl_u32 wait;
  rdl_u32 task;
  rdl_u32 frame;
  rdl_u32 owner;
  rdl_u32 generation;
  rdl_u32 childless;
  rdl_u32 resume;
  rdl_u32 spawned;
  rdl_u32 status;
  rdl_u32 cause;
  rdl_u32 misuse;
  rdl_u32 want;
  rdl_future target;
  rdl_u32 threshold;
} rdl_lane_state;

/* A pack: futures from the top of the ring, one for each lane. */
typedef struct rdl_pack {
  rdl_u32 count;
  rdl_u32 each; /* spawns that a lane may make */
  rdl_u32 from; /* of the ring: the lanes' entries */
  rdl_u32 bottom;
  rdl_u32 now; /* rdl_cx.now and .broken of the leader */
  rdl_u32 broken;
  rdl_u64 ring;                      /* of the worker, from the start of the heap */
  rdl_u32 near_head[RDL_NEAR_POOLS]; /* as they were before */
  rdl_u32 near_tail[RDL_NEAR_POOLS];
  rdl_u32 near_limit[RDL_NEAR_POOLS]; /* the lanes put nothing from here on */
  rdl_u32 over[RDL_POOLS];            /* what found no place there, linked, */
  rdl_u32 over_last[RDL_POOLS];
  rdl_u32 over_count[RDL_POOLS];
  rdl_u32 handed;
  rdl_u32 segments; /* counts of all lanes: */
  rdl_u32 spawned;
  rdl_u32 finished;
  rdl_u32 failed;
  rdl_u32 cancelled;
  rdl_u32 suspended;
  rdl_u32 woken;
  rdl_hand hands[RDL_HANDS * RDL_LANES];
  rdl_lane_state states[RDL_LANES];
} rdl_pack;
#endif

/* What the lanes run next. */
#define RDL_RUNS_OUT  0u /* nothing: the worker leaves */
#define RDL_RUNS_WIDE 1u /* a segment of all lanes */
#define RDL_RUNS_PACK 2u /* one of its own each */
#if defined(RDL_GROUPS)
#define RDL_RUNS_GROUP 5u /* a segment of all lanes of the block */

RDL_FN rdl_u32 rdl_is_group(rdl_u32 task);
#endif

/* What the lanes of a worker tell each other, in memory that they share. */
typedef struct rdl_group {
  /* The segment that all lanes run next: written by the leader before a barrier. */
  rdl_u32 runs; /* RDL_RUNS_... */
  rdl_u32 slot;
  rdl_u32 task;
  rdl_u32 frame;
  rdl_u32 resume;
  rdl_u32 status;
  rdl_u32 caught;
  rdl_u32 which;
  rdl_u32 cancelled;
  rdl_u32 free_head;
  rdl_u32 free_next;
  rdl_u32 may_spawn;
  rdl_u32 misuse; /* raised by every lane that was given a handle it may not have */
  rdl_u32 told;   /* the lanes have learned of a cancel, when this was their first child: */
  rdl_u32 told_child;
  /* What each lane brings to a word of all, and the leader's news of a cancel behind that. Two rows
     in turn: who is ahead by one word does not write what others still read. */
  rdl_u32 rows[2][RDL_GROUP_LANES + 1u];
#if defined(RDL_NEAR)
  rdl_near near;
  rdl_pack pack;
#endif
} rdl_group;

/* Bytes of working memory that the tasks' RDL_SCRATCH shares out: to a warp, or to a worker that
   may run tasks of a whole group, which have four times as much. */
#if defined(RDL_GROUP_TASKS)
#define RDL_SCRATCH_MOST 32768u
#else
#define RDL_SCRATCH_MOST 8192u
#endif
#if defined(RDL_WARP)
#define RDL_SCRATCH_BYTES 8192u
#else
#define RDL_SCRATCH_BYTES RDL_SCRATCH_MOST
#endif

#endif

#if defined(RDL_LOOP_TURNS)
#define RDL_STASHES_(name) RDL_GLOBAL rdl_stash *name
#else
#define RDL_STASHES_(name) rdl_stash name[RDL_POOLS]
#endif

typedef struct rdl_cx {
  RDL_GLOBAL rdl_u8 *heap;
  RDL_GLOBAL rdl_control *control;
  RDL_GLOBAL rdl_record *records;
  RDL_GLOBAL rdl_side *sides;
  RDL_GLOBAL rdl_node *nodes;
  RDL_GLOBAL rdl_event_record *events;
  RDL_GLOBAL rdl_outcome *outcomes;
  RDL_GLOBAL rdl_outcome *posts; /* those that the host reads */
  RDL_GLOBAL rdl_window *window; /* 0 = there is none */
  RDL_GLOBAL rdl_u32 *offers;
  RDL_GLOBAL rdl_worker *me;
  RDL_GLOBAL rdl_running *shown; /* where it says what it runs; 0 = nobody asks */
  RDL_GLOBAL rdl_entry *ring; /* its cells from `top` to `bottom` are this worker's ready futures */
  RDL_GLOBAL rdl_record *self;
  rdl_u32 worker;
  rdl_u32 context;
  rdl_u32 slots; /* one past the last slot */
  rdl_u32 flat;
  rdl_u32
      careful; /* a future starts by a swap of its word: in flat mode, or a question was asked */
  rdl_u32 chunk;
  rdl_u32 keep; /* freed items that a stash may hold */
  /* The running future. */
  rdl_u32 slot;
  rdl_u32 wait; /* its wait word while it runs, without the cancel bit */
  rdl_u32 task; /* words of its record that nobody else changes while it runs: */
  rdl_u32 frame;
  rdl_u32 owner;
  rdl_u32 generation;
  rdl_u32 childless; /* it had no child when its segment began, and has made none since; nor is one
                        still to be counted off that it has taken the result of */
  rdl_u32 resume;
  rdl_u32 spawned; /* its children that are not counted in its record yet */
  rdl_u32 status;  /* outcome of the await just over: a cause, 0 = went well */
  rdl_u32 cause;   /* why the task ends */
  rdl_u32 misuse;  /* a word was given a handle it may not have: the task fails with this */
  rdl_u32 caught;  /* the failure that a catching await saw last */
  rdl_u32 which;   /* await any: the first that has ended */
  /* The await it asks for. */
  rdl_u32 want;
  rdl_future target;
  rdl_u32 threshold;
  const rdl_future *set;
  RDL_GLOBAL const rdl_word *set_words; /* where the set stands in the frame, if it stands there */
  rdl_u32 set_size;
  rdl_u64 timeout;
  rdl_u32 starting;  /* it waits for room before its segment, and has still to hear: */
  rdl_u32 told;      /* what it was woken with */
  rdl_u32 again;     /* it was woken to look for room, and found none */
  rdl_u32 own_child; /* the target is a child, which nobody else frees */
  /* Queues of this worker alone. */
  rdl_u32 top; /* oldest entry of the ring */
  rdl_u32 bottom;
  rdl_u32 fifo_head;
  rdl_u32 fifo_tail;
  rdl_u32 starved; /* the last future of this worker that began to wait for room */
  rdl_u32 starved_ticket;
  rdl_u32 starved_since; /* dispatches before that */
  rdl_u32 may_start;     /* one that is kept back starts all the same */
  rdl_u32 next; /* runs before everything else: the only waiter of what has just finished */
  rdl_u32 next_wait;
  rdl_u32 next_row;
  rdl_u32 backlog; /* chains of waiters still to be woken */
  rdl_u32 unwind;  /* RETURNED futures that were cancelled and must pass it to their children */
  /* Noted while a future runs or a message is obeyed, and done at one place in the worker's loop,
     before anything else runs here: a compiler that copies every function to where it is called
     finds each of these once. */
  rdl_u32 ended;      /* futures that are over, linked through rdl_side.link */
  rdl_u32 fired;      /* chains of waiters to be woken, oldest first (rdl_fire_list) */
  rdl_u32 fired_last; /* first node of the last chain */
  rdl_u32 sole;       /* the only waiter of what has just finished: it may run next */
  rdl_u32 woken;      /* futures to be queued, linked through rdl_side.link, oldest first */
  rdl_u32 woken_last;
  rdl_u32 looking;      /* nodes of futures that look for room again */
  rdl_u32 cancels;      /* 1 = one of the two below is set, or was: */
  rdl_u32 cancel_from;  /* this child and those behind it are to be cancelled, */
  rdl_u32 cancel_owner; /* and their RETURNED owner is let go then */
  rdl_u32 room;         /* RDL_ROOM_... */
  rdl_u32 room_version;
  rdl_u32 given; /* pools that got something since then, a bit each */
  rdl_u32 noted; /* RDL_NOTED_... */
  /* Rhythm. */
  rdl_u32 turn;  /* the place in a round that `planned` dispatches begin or began at, */
  rdl_u32 plain; /* of which so many are left, and nothing is to be looked at before */
  rdl_u32 planned;
  rdl_u32 held_back; /* rounds in which no fair dispatch may start anything, for want of room */
  rdl_u32 rounds;
  rdl_u32 segments;
  rdl_u32 leaving; /* 1 = as soon as all have come so far, 2 = when they meet, 3 = now */
  rdl_u32 expired; /* counted in control->expired */
  rdl_u32 arrived; /* counted in control->arrived */
  rdl_u32 resting; /* counted in control->idle */
  rdl_u32 quiet;   /* looks for which all have been idle */
  rdl_u32 born;
  rdl_u32 born_end;
  rdl_u64 started;
  rdl_u64 looked;  /* when the clock was last looked at */
  rdl_u32 look;    /* it is, when these bits of `turn` are 0 */
  rdl_u64 quantum; /* ticks, or rounds where there is no clock */
  rdl_u32 now;     /* rdl_control.now when this worker last looked at the clock */
  /* What was taken from others. */
  rdl_u64 taken_at;
  rdl_u64 roots_at;   /* when roots were last taken */
  rdl_u32 roots_most; /* so many were to be taken then */
  rdl_u32 taken;      /* futures that came by the last theft, until they are all done */
  rdl_u32 offered;    /* control->offered before the last look at all offers, which was in vain */
  rdl_u32 away;       /* this time nothing is taken from others */
  rdl_u64 shy;        /* ticks for which this worker takes nothing from others */
  rdl_u64 shy_until;
  /* Rooms. */
  rdl_u32 reserve;
  rdl_u32 class_set;
  rdl_u32 low; /* a stash holds less than one segment may need */
  RDL_STASHES_(stashes);
  /* Of the slot that was taken last. */
  rdl_u32 new_generation;
  rdl_u32 new_wait;
  rdl_u32 new_frame;
  rdl_u32 broken;   /* rdl_control.broken, as this worker last saw it */
  rdl_u32 unfenced; /* a slot was freed, and no fence has come since (rdl_record_clear,
                       rdl_spawn_packed) */
  rdl_future heard; /* the future whose only waiter was woken last, and its cause */
  rdl_u32 heard_cause;
#if defined(RDL_NEAR)
  rdl_u32 near_from; /* entries of the ring from here on stand here, too: */
  rdl_entry near_ring[RDL_NEAR_RING];
  rdl_u32 scarce; /* rdl_control.scarce, as this worker last saw it */
  rdl_u32 alone;  /* dispatches until the next pack */
  /* Of a lane that runs a future of its own. */
  rdl_u32 packed;
  rdl_u32 handed;      /* something has come that the leader must see to */
  rdl_u32 first_child; /* of the future */
  rdl_u32 has_spawned; /* since it was taken up here */
#endif
  rdl_counters counters;
#if RDL_LANES > 1
  /* The leader has all of this structure, the other lanes the tables, what the group publishes, and
     this. */
  rdl_u32 lane;
  RDL_LOCAL rdl_group *group;
  RDL_LOCAL rdl_word *stage; /* arguments and state of the segment that runs */
  RDL_LOCAL rdl_u8 *scratch;
  rdl_u32 scratch_used;
  rdl_u32 gathered;  /* words of all lanes so far: which row is next */
  rdl_u32 wide;      /* the segment is run by all lanes, not by the leader alone */
  rdl_u32 cancelled; /* a cancel had come when the lanes last met */
  rdl_u32 free_head; /* slots in the order in which the leader will take them */
  rdl_u32 free_next;
  rdl_u32 may_spawn; /* so many of them */
  /* Of the leader: where its loop stands while the lanes run a segment. */
  rdl_u32 found; /* what the turn goes on with */
  rdl_u32 last;
  rdl_u32 whole;  /* no part of its segment has run yet */
  rdl_u32 unseen; /* from here on ring entries have no word yet (rdl_show_children) */
  rdl_u32 over;   /* the await that the segment has left for was over before it began */
  rdl_u32 looks;  /* turns, in some of which it looks around */
  rdl_u32 idle_rounds;
  rdl_u64 idle_since;
  /* What a segment of all lanes leaves to be done when all of them have ended it. */
  rdl_u32 dropped; /* slots to be freed, linked through rdl_side.chunk */
  rdl_u32 signals; /* nodes: event, count */
#if defined(RDL_GROUPS)
  rdl_u32 has_block; /* the worker is the first warp of a block whose others wait for it */
  rdl_u32 sent;      /* futures for such workers, linked through rdl_side.link */
#endif
#endif
  /* Loop-limited devices, see limited.cl. */
  rdl_u32 cut;        /* a loop was seen not to go on */
  rdl_u32 born_first; /* children of the running segment, which the scheduler queues */
  rdl_u32 born_last;
  rdl_u32 signalled; /* events that the scheduler fires */
  rdl_u32 part;      /* items of lists that the scheduler may still go through in this kernel */
  rdl_u32 turns;     /* emulated: that are left */
} rdl_cx;

/* ---- records ---- */

/* Something is free from here on. */
RDL_FN void rdl_note_freed(rdl_cx *rdl) {
#if defined(RDL_SEE_COPIES)
  rdl->unfenced = 1;
#else
  (void)rdl;
#endif
}

/* What was freed comes before what is born of it; nothing is to be done where each store of these
   is a release. */
RDL_FN void rdl_fence_freed(rdl_cx *rdl) {
#if defined(RDL_SEE_COPIES)
  if (rdl->unfenced) rdl_fence();
  rdl->unfenced = 0;
#else
  (void)rdl;
#endif
}

#if defined(RDL_SEE_COPIES)
typedef rdl_record rdl_seen;
RDL_FN rdl_seen rdl_see(const rdl_record *record) {
  union {
    rdl_record record;
    rdl_u32 words[16];
  } seen;
  const rdl_u32 *from = &record->wait;
  rdl_load4_relaxed(from, seen.words);
  rdl_load4_relaxed(from + 4, seen.words + 4);
  rdl_load4_relaxed(from + 8, seen.words + 8);
  rdl_load4_relaxed(from + 12, seen.words + 12);
  return seen.record;
}
#define RDL_SEEN(seen, word) ((seen).word)
#else
typedef RDL_GLOBAL const rdl_record *rdl_seen;
#define rdl_see(record)      (record)
#define RDL_SEEN(seen, word) rdl_load_relaxed(&(seen)->word)
#endif

/* What a look at a handle's record begins with: whose it is now, and whether its list is closed;
   and with that, on its way at the same time, what it is and whether it is a child of the running
   future, which nobody else frees. What was written before the list was closed is seen behind it.
   Where loads are cheap the last spares nothing, and the slot may be another's by then: 0. */
typedef struct rdl_first_look {
  rdl_u32 generation;
  rdl_u32 waiters;
  rdl_u32 task;
  rdl_u32 own;
} rdl_first_look;

RDL_FN rdl_first_look rdl_look(rdl_cx *rdl, rdl_u32 slot) {
  RDL_GLOBAL const rdl_record *record = rdl->records + slot;
  rdl_first_look seen;
#if defined(RDL_SEE_COPIES)
  rdl_u32 first[4], second[4], third[4];
  rdl_load4_relaxed(&record->task, second);
  rdl_load4_relaxed(&record->next_sibling, third);
  rdl_load4_acquire(&record->wait, first);
  seen.generation = first[1];
  seen.waiters = first[2];
  seen.task = second[0];
  /* A root that has gone through a gate since is another task. */
  if (seen.task & RDL_TASK_HOST) seen.task = rdl_load_relaxed(&record->task);
  seen.own = second[2] == rdl->slot && third[1] != slot; /* owner; not detached */
#else
  seen.generation = rdl_load_acquire(&record->generation);
  seen.waiters = rdl_load_acquire(&record->waiters);
  seen.task = rdl_load_relaxed(&record->task);
  seen.own = 0;
#endif
  return seen;
}

/* What the worker keeps of the record of the future that it runs. */
RDL_FN void rdl_know(rdl_cx *rdl, rdl_seen seen) {
  rdl->task = RDL_SEEN(seen, task);
  rdl->frame = RDL_SEEN(seen, frame);
#if RDL_LANES > 1 /* memory is far */
  rdl->owner = RDL_SEEN(seen, owner);
  rdl->generation = RDL_SEEN(seen, generation);
  rdl->childless = RDL_SEEN(seen, first_child) == RDL_NIL &&
                   RDL_SEEN(seen, children) == RDL_CODE_RUNS &&
                   RDL_SEEN(seen, resume) >> RDL_SPAWNED_SHIFT == 0u;
#endif
}

/* The running future's task word gets a flag more. */
RDL_FN void rdl_mark_task(rdl_cx *rdl, rdl_u32 flag) {
  rdl->task |= flag;
  rdl_store_relaxed(&rdl->self->task, rdl->task);
}

/* One item more of a list: 0 = the rest is for the next kernel. An item costs up to a dozen turns,
   for a loop that is passed by counts one, too. */
#if defined(RDL_LOOP_TURNS)
#define RDL_PART (RDL_LOOP_TURNS / 16u)
RDL_FN rdl_u32 rdl_one_more(rdl_cx *rdl) {
  rdl_u32 more = rdl->part != 0u;
  rdl->part -= more;
  return more;
}
RDL_FN rdl_u32 rdl_most(rdl_cx *rdl) {
  return rdl->part;
}
#else
RDL_FN rdl_u32 rdl_one_more(rdl_cx *rdl) {
  (void)rdl;
  return 1u;
}
RDL_FN rdl_u32 rdl_most(rdl_cx *rdl) {
  (void)rdl;
  return 0xffffffffu;
}
#endif

/*
 * Whether the driver has ended a loop of this kernel before its time: then none makes a second turn
 * any more, while all that is no loop goes on as if nothing had been. The bound is read anew each
 * turn, for a compiler that knew it would make no loop of this.
 */
#if defined(RDL_LOOPS_COUNTED) /* the host, which ends no loops: tasks count their turns           \
                                  (RDL_TURN_) */
RDL_FN rdl_u32 rdl_is_cut(rdl_cx *rdl) {
  return rdl->cut;
}
RDL_FN rdl_u32 rdl_turn(rdl_cx *rdl) {
  if (rdl->turns)
    rdl->turns--;
  else
    rdl->cut = 1;
  return !rdl->cut;
}
#elif defined(RDL_LOOP_TURNS)
RDL_FN rdl_u32 rdl_is_cut(rdl_cx *rdl) {
  RDL_GLOBAL const rdl_u32 *few = &rdl->control->few;
  rdl_u32 turns;
  for (turns = 0; turns < rdl_read_anew(few); turns++) {
  }
  if (turns != rdl_read_anew(few)) rdl->cut = 1;
  return rdl->cut;
}
RDL_FN rdl_u32 rdl_turn(rdl_cx *rdl) {
  (void)rdl;
  return 1u;
}
#else
RDL_FN rdl_u32 rdl_is_cut(rdl_cx *rdl) {
  (void)rdl;
  return 0u;
}
RDL_FN rdl_u32 rdl_turn(rdl_cx *rdl) {
  (void)rdl;
  return 1u;
}
#endif

/* Checked mode: what runs is said where the host reads it also when this launch ends in a trap. */
RDL_FN void rdl_show(rdl_cx *rdl) {
  rdl_store_relaxed(&rdl->shown->generation, rdl->self->generation);
  rdl_store_relaxed(&rdl->shown->task, rdl->self->task);
  rdl_store_relaxed(&rdl->shown->segment, (rdl_u32)rdl->counters.segments);
  rdl_tell(&rdl->shown->slot, rdl->slot);
}

/* Of the lanes of a worker the first acts for all, and the others see what came of it. */
RDL_FN rdl_u32 rdl_leads(rdl_cx *rdl) {
#if RDL_LANES > 1
  return rdl->lane == 0u;
#else
  (void)rdl;
  return 1u;
#endif
}

/*
 * The leader's rdl_cx, of who leads. On CUDA it is in the block's shared memory, one of each warp
 * at its head: a compiler that sees that in every call of a function reaches it there, and not by
 * addresses that might be of any memory, which cost two instructions more at each access. So what
 * is called from tasks of all lanes, and not copied to there, takes this and no other.
 */
#if defined(RDL_EMULATED)
RDL_FN rdl_cx *rdl_led(rdl_cx *rdl) {
  (void)rdl;
  return (rdl_cx *)rdl_here->memory + rdl_part_of_group();
}
#elif defined(RDL_WARP)
extern __shared__ rdl_u64 rdl_shared_memory[];
RDL_FN rdl_cx *rdl_led(rdl_cx *rdl) {
  rdl_u32 part;
  (void)rdl;
  asm volatile("{ .reg .u32 t; mov.u32 t, %%tid.x; shr.u32 %0, t, 5; }" : "=r"(part));
  return (rdl_cx *)rdl_shared_memory + part;
}
#else
RDL_FN rdl_cx *rdl_led(rdl_cx *rdl) {
  return rdl;
}
#endif

RDL_FN void rdl_copy_counters(rdl_cx *rdl) {
  RDL_GLOBAL rdl_counters *to = &rdl->me->counters;
  to->spawned = rdl->counters.spawned;
  to->finished = rdl->counters.finished;
  to->failed = rdl->counters.failed;
  to->cancelled = rdl->counters.cancelled;
  to->segments = rdl->counters.segments;
  to->suspended = rdl->counters.suspended;
  to->yielded = rdl->counters.yielded;
  to->woken = rdl->counters.woken;
  to->spilled = rdl->counters.spilled;
  to->adopted = rdl->counters.adopted;
  to->claimed = rdl->counters.claimed;
}

#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_stashes_open(rdl_cx *rdl) {
  rdl->stashes = rdl->me->stashes;
}
RDL_FN void rdl_stashes_close(rdl_cx *rdl) {
  (void)rdl;
}
#else
RDL_FN void rdl_stashes_open(rdl_cx *rdl) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++)
    rdl->stashes[pool] = rdl->me->stashes[pool];
}
/* Nothing is near any more. */
RDL_FN void rdl_stashes_close(rdl_cx *rdl) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++)
    rdl->me->stashes[pool] = rdl->stashes[pool];
}
#endif

/* Where everything is. */
RDL_FN void rdl_tables_open(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  rdl->heap = heap;
  rdl->control = control;
  rdl->records = (RDL_GLOBAL rdl_record *)(heap + control->records);
  rdl->sides = (RDL_GLOBAL rdl_side *)(heap + control->sides);
  rdl->nodes = (RDL_GLOBAL rdl_node *)(heap + control->nodes);
  rdl->events = (RDL_GLOBAL rdl_event_record *)(heap + control->events);
  rdl->outcomes = (RDL_GLOBAL rdl_outcome *)(heap + control->outcomes);
  rdl->posts = rdl->outcomes;
  rdl->window = 0;
  if (RDL_MAY_WINDOW && control->window) {
    rdl->posts = (RDL_GLOBAL rdl_outcome *)(rdl_address)control->posts;
    rdl->window = (RDL_GLOBAL rdl_window *)(rdl_address)control->window;
  }
  rdl->offers = (RDL_GLOBAL rdl_u32 *)(heap + control->offers);
  rdl->self = rdl->records;
  rdl->context = control->context;
  rdl->slots = control->slots;
}

/* And what this worker has. */
RDL_FN void rdl_cx_open(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap, rdl_u32 worker) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  rdl_tables_open(rdl, heap);
  rdl->me = (RDL_GLOBAL rdl_worker *)(heap + control->workers_at) + worker;
  rdl->ring = (RDL_GLOBAL rdl_entry *)(heap + control->rings) + worker * RDL_LOCAL_RING;
  rdl->shown = 0;
  if (RDL_MAY_WINDOW && control->shown)
    rdl->shown = (RDL_GLOBAL rdl_running *)(rdl_address)control->shown + worker;
  rdl->worker = worker;
  rdl->flat = control->flags & RDL_FLAG_FLAT;
  rdl->careful = rdl->flat;
  rdl->chunk = control->chunk;
  rdl->reserve = control->reserve;
  rdl->keep = 2u * rdl->chunk < rdl->reserve ? rdl->reserve : 2u * rdl->chunk;
  rdl->class_set = control->class_set;
  rdl->unfenced = rdl->broken = 1;
  rdl->own_child = 0;
  rdl->heard.index = rdl->heard.generation = rdl->heard_cause = 0;
  rdl_stashes_open(rdl);
}

#if defined(RDL_NEAR)
RDL_FN void rdl_near_open(RDL_LOCAL rdl_group *group, rdl_u64 ring) {
  rdl_u32 k;
  for (k = 0; k < RDL_NEAR_POOLS; k++)
    group->near.head[k] = group->near.tail[k] = 0;
  for (k = 0; k < RDL_POOLS; k++)
    group->pack.over[k] = group->pack.over_count[k] = 0;
  group->pack.ring = ring;
}
#endif

RDL_FN void rdl_worker_open(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap, rdl_u32 worker) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  rdl_cx_open(rdl, heap, worker);
  rdl_store_relaxed(&rdl->me->answered, 0u);
  rdl->top = rdl->bottom = 0;
#if defined(RDL_NEAR)
  rdl->near_from = rdl->alone = 0;
  rdl->scarce = 1;
  rdl_near_open(rdl->group, control->rings + (rdl_u64)worker * RDL_LOCAL_RING * sizeof(rdl_entry));
#endif
  rdl->fifo_head = rdl->fifo_tail = RDL_NIL;
  rdl->starved = rdl->me->starved;
  rdl->starved_ticket = rdl->me->starved_ticket;
  rdl->starved_since = 0u - rdl->me->starved_for;
  rdl->may_start = rdl->quiet = 0;
  rdl->next = RDL_NIL;
  rdl->next_row = 0;
  rdl->held_back = rdl->me->held_back;
  rdl->turn = rdl->me->turn;
  rdl->rounds = rdl->segments = rdl->leaving = rdl->expired = 0;
  rdl->resting = rdl->arrived = 0;
  rdl->born = rdl->born_end = 0;
  rdl->taken = rdl->away = 0;
  rdl->offered = rdl_load_relaxed(&control->offered) - 1u;
  rdl->roots_most = 1;
  rdl->roots_at = rdl->taken_at = rdl->shy = rdl->shy_until = 0;
  rdl->now = rdl_load_relaxed(&control->now);
  rdl->quantum = control->round_limit ? control->round_limit : control->quantum;
  rdl->started = rdl->looked = rdl_clock();
  rdl->look = control->round_limit ? RDL_ROUND - 1u : 0u;
  rdl->low = 1;
  rdl->backlog = rdl->me->backlog;
  rdl->unwind = rdl->me->unwind;
  rdl->ended = rdl->fired = rdl->fired_last = rdl->sole = rdl->woken = rdl->woken_last = RDL_NIL;
  rdl->looking = rdl->cancel_from = rdl->cancel_owner = RDL_NIL;
  rdl->noted = rdl->cancels = 0;
  rdl->room = rdl->room_version = rdl->given = 0;
  rdl->starting = rdl->told = rdl->again = 0;
  rdl->counters = rdl->me->counters;
}

RDL_FN void rdl_worker_close(rdl_cx *rdl) {
  rdl_store_relaxed(&rdl->me->answered, RDL_HAS_LEFT);
  rdl->me->backlog = rdl->backlog;
  rdl->me->unwind = rdl->unwind;
  rdl->me->turn = (rdl->turn + rdl->planned - rdl->plain) % RDL_ROUND;
  rdl->me->held_back = rdl->held_back;
  rdl->me->starved = rdl->starved;
  rdl->me->starved_ticket = rdl->starved_ticket;
  rdl->me->starved_for = rdl->segments - rdl->starved_since;
  rdl_stashes_close(rdl);
  rdl_copy_counters(rdl);
}
