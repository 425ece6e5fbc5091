/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-overs between two tasks. The one that gives way marks the time, and the one that goes on
 * then notes how long that was, in cycles of the multiprocessor. The clock of another one has
 * nothing to do with it; there nanoseconds are what counts, which are the same everywhere.
 */

#define YIELDS_NO_PLACE 0xffffffffu

#if defined(__CUDACC__)
RDL_FN rdl_u64 yields_cycles(void) {
  rdl_u64 now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
  return now;
}
/* The multiprocessor, and the warp in it. */
RDL_FN uint yields_place(void) {
  uint sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  return sm << 8 | warp;
}
#else
RDL_FN rdl_u64 yields_cycles(void) {
  return rdl_clock();
}
RDL_FN uint yields_place(void) {
  return YIELDS_NO_PLACE;
}
#endif

enum { YIELDS_SELF, YIELDS_SAME_WORKER, YIELDS_SAME_SM, YIELDS_OTHER_SM, YIELDS_ANYWHERE };

/* A mark: cycles, nanoseconds, and who made it where. The cycles come last. */
RDL_FN void yields_mark(rdl_ptr at, uint who) {
  RDL_GLOBAL rdl_u64 *mark = RDL_AT(rdl_u64, at);
  mark[2] = (rdl_u64)who << 32 | yields_place();
  mark[1] = rdl_clock();
  mark[0] = yields_cycles();
}

RDL_FN uint yields_way(uint from, uint to) {
  if (to == YIELDS_NO_PLACE) return YIELDS_ANYWHERE;
  if (from == to) return YIELDS_SAME_WORKER;
  return from >> 8 == to >> 8 ? YIELDS_SAME_SM : YIELDS_OTHER_SM;
}

/* A note, of three words: cycles, nanoseconds and the way. What somebody left to himself is none.
 */
RDL_FN void yields_note(rdl_u64 cycles, rdl_ptr at, rdl_ptr notes, uint which, uint who) {
  RDL_GLOBAL const rdl_u64 *mark = RDL_AT(const rdl_u64, at);
  RDL_GLOBAL uint *note = RDL_AT(uint, notes) + 3u * which;
  rdl_u64 now = rdl_clock();
  note[0] = (uint)(cycles - mark[0]);
  note[1] = (uint)(now - mark[1]);
  note[2] = who == (uint)(mark[2] >> 32) ? YIELDS_SELF : yields_way((uint)mark[2], yields_place());
}

/* ---- a yield ---- */

struct yields_turn_args {
  rdl_ptr mark;
  rdl_ptr notes;
  uint turns;
  uint who;
};
struct yields_turn_state {
  uint turn;
};
/* As a root it is a future like any other. */
RDL_TASK_PRIVATE(yields_turn, uint, struct yields_turn_args, struct yields_turn_state) {
  rdl_u64 now;
  RDL_BEGIN();
  while (self->turn < args->turns) {
    yields_mark(args->mark, args->who);
    RDL_YIELD();
    now = yields_cycles();
    yields_note(now, args->mark, args->notes, self->turn, args->who);
    self->turn++;
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

/* ---- an await of one future ---- */

struct yields_child_args {
  rdl_ptr mark; /* two: of who awaits, and of who ends */
  rdl_ptr notes;
  uint which;
};
RDL_TASK(yields_child, uint, struct yields_child_args, RDL_NONE) {
  rdl_u64 now;
  RDL_BEGIN();
  now = yields_cycles();
  yields_note(now, args->mark, args->notes, args->which, 1u);
  yields_mark(args->mark + 32, 1u);
  RDL_RETURN(args->which);
  RDL_END();
}

struct yields_parent_args {
  rdl_ptr mark;
  rdl_ptr starts; /* notes */
  rdl_ptr ends;
  uint turns;
};
struct yields_parent_state {
  rdl_future child;
  uint turn;
};
RDL_TASK(yields_parent, uint, struct yields_parent_args, struct yields_parent_state) {
  rdl_u64 now;
  uint which;
  RDL_BEGIN();
  while (self->turn < args->turns) {
    RDL_SPAWN(self->child, yields_child, .mark = args->mark, .notes = args->starts,
              .which = self->turn);
    yields_mark(args->mark, 0u);
    RDL_AWAIT(self->child);
    now = yields_cycles();
    yields_note(now, args->mark + 32, args->ends, self->turn, 0u);
    RDL_TAKE(which, uint, self->child);
    self->turn += which == self->turn;
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

/* ---- the same of private futures ---- */

struct yields_pair_args {
  rdl_ptr mark;
  rdl_ptr notes; /* of the first, and behind them of the second */
  uint turns;
};
struct yields_pair_state {
  rdl_future first, second;
};
RDL_TASK(yields_private_pair, uint, struct yields_pair_args, struct yields_pair_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->first, yields_turn, .mark = args->mark, .notes = args->notes,
            .turns = args->turns, .who = 0);
  RDL_SPAWN(self->second, yields_turn, .mark = args->mark, .notes = args->notes + 12u * args->turns,
            .turns = args->turns, .who = 1);
  RDL_AWAIT(self->first);
  RDL_AWAIT(self->second);
  RDL_RETURN(RDL_RESULT(uint, self->first));
  RDL_END();
}

RDL_TASK_PRIVATE(yields_private_child, uint, struct yields_child_args, RDL_NONE) {
  rdl_u64 now;
  RDL_BEGIN();
  now = yields_cycles();
  yields_note(now, args->mark, args->notes, args->which, 1u);
  yields_mark(args->mark + 32, 1u);
  RDL_RETURN(args->which);
  RDL_END();
}

struct yields_private_state {
  rdl_future child;
  uint turn;
};
RDL_TASK_PRIVATE(yields_private_parent, uint, struct yields_pair_args,
                 struct yields_private_state) {
  rdl_u64 now;
  uint which;
  RDL_BEGIN();
  while (self->turn < args->turns) {
    RDL_SPAWN(self->child, yields_private_child, .mark = args->mark, .notes = args->notes,
              .which = self->turn);
    yields_mark(args->mark, 0u);
    RDL_AWAIT(self->child);
    now = yields_cycles();
    yields_note(now, args->mark + 32, args->notes + 12u * args->turns, self->turn, 0u);
    RDL_TAKE(which, uint, self->child);
    self->turn += which == self->turn;
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

struct yields_host_state {
  rdl_future parent;
};
RDL_TASK(yields_private_host, uint, struct yields_pair_args, struct yields_host_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->parent, yields_private_parent, .mark = args->mark, .notes = args->notes,
            .turns = args->turns);
  RDL_AWAIT(self->parent);
  RDL_RETURN(RDL_RESULT(uint, self->parent));
  RDL_END();
}

/* ---- a signal ---- */

/* The first of them signals to all others at once, and waits for an answer of each. */
struct yields_player_args {
  rdl_ptr mark; /* where each leaves its marks */
  rdl_ptr notes;
  rdl_event mine;
  rdl_event theirs;
  uint turns;
  uint who;   /* 0 begins */
  uint waits; /* signals for each turn */
};
struct yields_player_state {
  uint turn;
};
RDL_TASK(yields_player, uint, struct yields_player_args, struct yields_player_state) {
  rdl_u64 now;
  RDL_BEGIN();
  while (self->turn < args->turns) {
    if (args->who == 0u || self->turn != 0u) {
      yields_mark(args->mark + 32u * args->who, args->who);
      RDL_SIGNAL(args->theirs, 1);
    }
    RDL_AWAIT_COUNT(args->mine, (self->turn + 1u) * args->waits);
    now = yields_cycles();
    yields_note(now, args->mark + (args->who ? 0u : 32u), args->notes, self->turn, args->who);
    self->turn++;
  }
  if (args->who) {
    yields_mark(args->mark + 32u * args->who, args->who);
    RDL_SIGNAL(args->theirs, 1);
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

/* ---- the clock's rate ---- */

RDL_FN void yields_spin(uint cycles) {
  rdl_u64 begin = yields_cycles();
  while (yields_cycles() - begin < cycles)
    rdl_relax();
}

struct yields_rate_args {
  uint cycles;
};
RDL_TASK(yields_rate, uint, struct yields_rate_args, RDL_NONE) {
  rdl_u64 begin;
  RDL_BEGIN();
  begin = rdl_clock();
  yields_spin(args->cycles);
  RDL_RETURN((uint)(rdl_clock() - begin));
  RDL_END();
}
