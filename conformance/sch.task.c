/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the SCH cases. */

struct sch_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct sch_one {
  rdl_future f;
  uint k;
  uint since;
};

struct sch_pair {
  rdl_future f[2];
};

RDL_FN RDL_GLOBAL uint *sch_word(rdl_ptr at, uint index) {
  return RDL_AT(uint, at) + index;
}

RDL_TASK(sch_leaf, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->at) rdl_atomic_add(sch_word(args->at, 0), 1u);
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(sch_fib, uint, struct sch_args, struct sch_pair) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->f[0], sch_fib, .n = args->n - 1);
  RDL_SPAWN(self->f[1], sch_fib, .n = args->n - 2);
  RDL_AWAIT(self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]));
  RDL_END();
}

/* Word 0 is the length of a log that begins at word 1. */
RDL_FN void sch_log(rdl_ptr at, uint what) {
  *sch_word(at, 1u + rdl_atomic_add(sch_word(at, 0), 1u)) = what;
}

RDL_TASK(sch_log_yields, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    sch_log(args->at, args->n);
    RDL_YIELD();
  }
  RDL_RETURN(args->n);
  RDL_END();
}

/* n futures that log themselves k times with a yield in between. */
RDL_TASK(sch_order, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_log_yields, .at = args->at, .n = self->k, .k = args->k);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}

/* Yields with n futures ready: gives how many of them have run when it goes on. */
RDL_TASK(sch_behind, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_leaf, .at = args->at);
  RDL_YIELD();
  RDL_RETURN(rdl_atomic_load(sch_word(args->at, 0)));
  RDL_END();
}

/* ---- SCH 3: word 0 counts dispatches, word 1 ends the hogs, word 2 is the longest wait, word 3
   counts victims that are through ---- */

#define SCH_MOST 3000000u

/* Always spawns its successor, which stands before everything else in the worker's ring. */
RDL_TASK(sch_hog, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  if (rdl_atomic_add(sch_word(args->at, 0), 1u) < SCH_MOST &&
      rdl_atomic_load(sch_word(args->at, 1)) == 0) {
    RDL_SPAWN(self->f, sch_hog, .at = args->at);
    RDL_DETACH(self->f);
  }
  RDL_RETURN(1);
  RDL_END();
}

RDL_FN void sch_waited(rdl_ptr at, uint since, uint victims) {
  rdl_atomic_max(sch_word(at, 2), rdl_atomic_load(sch_word(at, 0)) - since);
  if (rdl_atomic_add(sch_word(at, 3), 1u) + 1u == victims) rdl_atomic_store(sch_word(at, 1), 1u);
}

/* Was made ready when the count was n. */
RDL_TASK(sch_victim, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(sch_word(args->at, 0), 1u);
  sch_waited(args->at, args->n, args->k);
  RDL_RETURN(1);
  RDL_END();
}

/* k victims first, then n hogs, which run before them if nothing is done about that. */
RDL_TASK(sch_starve, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++)
    RDL_SPAWN(self->f, sch_victim, .at = args->at, .n = rdl_atomic_load(sch_word(args->at, 0)),
              .k = args->k);
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_hog, .at = args->at);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(1);
  RDL_END();
}

/* Yields k times among n hogs. */
RDL_TASK(sch_yielder, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_hog, .at = args->at);
  for (self->k = 0; self->k < args->k; self->k++) {
    self->since = rdl_atomic_load(sch_word(args->at, 0));
    RDL_YIELD();
    rdl_atomic_add(sch_word(args->at, 0), 1u);
    sch_waited(args->at, self->since, args->k);
  }
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}

/* ---- SCH 7: one point of a graph, which awaits up to two earlier ones ---- */

RDL_TASK(sch_point, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  self->since = args->n;
  if (args->f.index) {
    RDL_AWAIT(args->f);
    self->since = self->since * 31u + RDL_RESULT(uint, args->f);
  }
  if (args->g.index) {
    RDL_AWAIT(args->g);
    self->since = self->since * 31u + RDL_RESULT(uint, args->g);
  }
  RDL_RETURN(self->since);
  RDL_END();
}

/* ---- SCH 8 ---- */

RDL_TASK(sch_self, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(RDL_SELF());
  RDL_RETURN(1);
  RDL_END();
}

/* When f is done, awaits the future whose handle stands at number n. */
RDL_TASK(sch_ring, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_AWAIT(RDL_AT(rdl_future, args->at)[args->n]);
  RDL_RETURN(1);
  RDL_END();
}

RDL_TASK(sch_wait, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_RETURN(2);
  RDL_END();
}

RDL_TASK(sch_wait_event, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(3);
  RDL_END();
}

RDL_TASK(sch_signal, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SIGNAL(args->e, 1);
  RDL_RETURN(1);
  RDL_END();
}

RDL_TASK(sch_sleep, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SLEEP((ulong)args->k * 1000u);
  RDL_RETURN(4);
  RDL_END();
}

RDL_TASK(sch_sleep_longest, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SLEEP(0xffffffffffffffffUL);
  RDL_RETURN(4);
  RDL_END();
}

/* The limit that is none: what it waits for is then looked at as without one. */
RDL_TASK(sch_self_for_ever, uint, struct sch_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_FOR(outcome, RDL_SELF(), 0xffffffffffffffffUL);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Runs until word 0 is set. */
RDL_TASK(sch_busy, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  while (rdl_atomic_load(sch_word(args->at, 0)) == 0)
    RDL_YIELD();
  RDL_RETURN(5);
  RDL_END();
}

/* Leaves a detached child behind that waits for the event. */
RDL_TASK(sch_leave, RDL_NONE, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, sch_wait_event, .e = args->e);
  RDL_DETACH(self->f);
  RDL_END();
}

/* A child that awaits itself comes into the place of one that left a child behind. */
RDL_TASK(sch_successor, uint, struct sch_args, struct sch_one) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN(self->f, sch_leave, .e = args->e);
  RDL_AWAIT(self->f);
  RDL_DROP(self->f);
  RDL_SPAWN(self->f, sch_self, .n = 1);
  RDL_AWAIT_CATCH(outcome, self->f);
  RDL_RETURN(outcome);
  RDL_END();
}

/* ---- SCH 9 and dumps ---- */

/* One segment that goes on until word 1 is set; says in word 0 that it runs. */
RDL_TASK(sch_hold, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(sch_word(args->at, 0), 1u);
  while (rdl_atomic_load(sch_word(args->at, 1)) == 0) {
  }
  RDL_RETURN(1);
  RDL_END();
}

/* One segment that goes on until a cancel comes; says in word 0 that it runs. */
RDL_TASK(sch_looks, RDL_NONE, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(sch_word(args->at, 0), 1u);
  while (!RDL_CANCELLED()) {
  }
  rdl_atomic_add(sch_word(args->at, 1), 1u);
  RDL_EXIT();
  RDL_END();
}

/* n children that count themselves in word 2, and behind them in the ring one that holds the
 * worker. */
RDL_TASK(sch_count_in, uint, struct sch_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(sch_word(args->at, 2), 1u);
  RDL_RETURN(1);
  RDL_END();
}

RDL_TASK(sch_stands_before, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_count_in, .at = args->at);
  RDL_SPAWN(self->f, sch_hold, .at = args->at);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}

/* n children that wait for the event, and so does it for them. */
RDL_TASK(sch_parent, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_wait_event, .e = args->e);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(1);
  RDL_END();
}

/* The same, but it returns at once. */
RDL_TASK(sch_returns, uint, struct sch_args, struct sch_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, sch_wait_event, .e = args->e);
  RDL_RETURN(1);
  RDL_END();
}

/* k = 0: waits for both; else for the first of them. */
RDL_TASK(sch_wait_set, uint, struct sch_args, struct sch_pair) {
  uint which;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  if (args->k == 0) {
    RDL_AWAIT_ALL(self->f, 2);
    RDL_RETURN(1);
  }
  RDL_AWAIT_ANY(which, self->f, 2);
  RDL_RETURN(which < 2);
  RDL_END();
}

/* Holds what room there is, and waits for more. */
RDL_TASK(sch_wait_room, uint, struct sch_args, struct sch_one) {
  uint outcome;
  RDL_BEGIN();
  for (;;) {
    RDL_TRY_SPAWN(outcome, self->f, sch_wait_event, .e = args->e);
    if (outcome == RDL_FULL) RDL_AWAIT_ROOM();
  }
  RDL_END();
}

RDL_TASK(sch_wait_for, uint, struct sch_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_FOR(outcome, args->e, (ulong)args->k * 1000u);
  RDL_RETURN(outcome);
  RDL_END();
}
