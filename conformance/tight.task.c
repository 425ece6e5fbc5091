/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the FUT 11 cases, apart from the others because the most that one segment may spawn
 * counts here: three spawns of tight_wood, and with lanes two in each of tight_fib_lanes. */

struct tight_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct tight_pair {
  rdl_future f[2];
};

struct tight_three {
  rdl_future f[3];
  uint k;
};

RDL_TASK(tight_leaf, uint, struct tight_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->at) rdl_atomic_add(RDL_AT(uint, args->at), 1u);
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(tight_wait, uint, struct tight_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(tight_fib, uint, struct tight_args, struct tight_three) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->f[0], tight_fib, .n = args->n - 1);
  RDL_SPAWN(self->f[1], tight_fib, .n = args->n - 2);
  RDL_AWAIT(self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]));
  RDL_END();
}

/* The same tree, of children that lane 0 alone wants. */
RDL_TASK_LANES(tight_fib_lanes, uint, struct tight_args, RDL_NONE, struct tight_pair) {
  uint sum;
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN_LANES(mine->f[0], rdl_lane() == 0, tight_fib_lanes, .n = args->n - 1);
  RDL_SPAWN_LANES(mine->f[1], rdl_lane() == 0, tight_fib_lanes, .n = args->n - 2);
  RDL_AWAIT(rdl_broadcast_future(mine->f[0], 0));
  RDL_AWAIT(rdl_broadcast_future(mine->f[1], 0));
  sum = 0;
  if (mine->f[0].index) sum = RDL_RESULT(uint, mine->f[0]) + RDL_RESULT(uint, mine->f[1]);
  RDL_RETURN(rdl_broadcast_u32(sum, 0));
  RDL_END();
}

/* A tree of three children a node, k levels: 3^k leaves. */
RDL_TASK(tight_wood, uint, struct tight_args, struct tight_three) {
  RDL_BEGIN();
  if (args->k == 0) RDL_RETURN(1);
  RDL_SPAWN(self->f[0], tight_wood, .k = args->k - 1);
  RDL_SPAWN(self->f[1], tight_wood, .k = args->k - 1);
  RDL_SPAWN(self->f[2], tight_wood, .k = args->k - 1);
  RDL_AWAIT_ALL(self->f, 3);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]) +
             RDL_RESULT(uint, self->f[2]));
  RDL_END();
}

/* A chain of k futures, and then n turns of two leaves each: for so long it needs all the room that
 * it needs at most. */
RDL_TASK(tight_mast, uint, struct tight_args, struct tight_three) {
  RDL_BEGIN();
  if (args->k > 0) {
    RDL_SPAWN(self->f[0], tight_mast, .n = args->n, .k = args->k - 1);
    RDL_AWAIT(self->f[0]);
    RDL_RETURN(RDL_RESULT(uint, self->f[0]) + 1);
  }
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f[0], tight_leaf, .n = 1);
    RDL_SPAWN(self->f[1], tight_leaf, .n = 1);
    RDL_AWAIT_ALL(self->f, 2);
    RDL_DROP(self->f[0]);
    RDL_DROP(self->f[1]);
  }
  RDL_RETURN(0);
  RDL_END();
}

/* The same with two more chains at each of the k futures, as long as what is below them: they are
 * to come after it. */
RDL_TASK(tight_fir, uint, struct tight_args, struct tight_three) {
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 2; k++)
    RDL_SPAWN(self->f[k], tight_mast, .k = args->k);
  if (args->k > 1)
    RDL_SPAWN(self->f[2], tight_fir, .n = args->n, .k = args->k - 1);
  else
    RDL_SPAWN(self->f[2], tight_mast, .n = args->n);
  RDL_AWAIT_ALL(self->f, 3);
  RDL_RETURN(RDL_RESULT(uint, self->f[2]) + 1);
  RDL_END();
}

/* n + 1 children that are not awaited, and each of them one, k deep: who ended holds its slot until
 * its children have ended, so all of them need one at the same time. */
RDL_TASK(tight_wide, RDL_NONE, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  while (args->k > 0 && self->k <= args->n) {
    RDL_TRY_SPAWN(outcome, self->f[0], tight_wide, .k = args->k - 1);
    if (outcome == RDL_SPAWNED)
      self->k++;
    else
      RDL_AWAIT_ROOM();
  }
  RDL_END();
}

/* Spawns n leaves as fast as there is room; word 1 counts how often there was none. */
RDL_TASK(tight_loop, uint, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  while (self->k < args->n) {
    RDL_TRY_SPAWN(outcome, self->f[0], tight_leaf, .at = args->at);
    if (outcome == RDL_SPAWNED) {
      RDL_DETACH(self->f[0]);
      self->k++;
    } else {
      rdl_atomic_add(RDL_AT(uint, args->at) + 1, 1u);
      RDL_AWAIT_ROOM();
    }
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* The same, a leaf a lane at once. No loop that holds the await goes round without it: PoCL's
 * compiler does not take that in a task of all lanes. */
RDL_TASK_LANES(tight_loop_lanes, uint, struct tight_args, struct tight_three, struct tight_pair) {
  uint outcome, k;
  RDL_BEGIN();
  while (self->k < args->n) {
    do {
      RDL_TRY_SPAWN_LANES(outcome, mine->f[0], self->k + rdl_lane() < args->n, tight_leaf,
                          .at = args->at);
      if (outcome == RDL_SPAWNED)
        for (k = 0; k < rdl_lanes() && self->k < args->n; k++, self->k++)
          RDL_DETACH(rdl_broadcast_future(mine->f[0], k));
    } while (outcome == RDL_SPAWNED && self->k < args->n);
    if (outcome == RDL_FULL) {
      if (rdl_ballot(mine->f[0].index)) RDL_FAIL(1);
      if (rdl_lane() == 0) rdl_atomic_add(RDL_AT(uint, args->at) + 1, 1u);
    }
    RDL_AWAIT_ROOM_LANES();
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* A chain of n futures that all live at once: with too few slots it cannot end. */
RDL_TASK(tight_chain, uint, struct tight_args, struct tight_three) {
  RDL_BEGIN();
  if (args->n == 0) RDL_RETURN(0);
  RDL_SPAWN(self->f[0], tight_chain, .n = args->n - 1);
  RDL_AWAIT(self->f[0]);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + 1);
  RDL_END();
}

/* Fills all slots with futures that wait, then wants one more. With k = 1 it lets go of them, so
   that their ends give room; else they keep their slots as long as it lives. */
RDL_TASK(tight_greedy, uint, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  for (;;) {
    RDL_TRY_SPAWN(outcome, self->f[0], tight_wait, .e = args->e);
    if (outcome == RDL_FULL) break;
    if (args->k) RDL_DETACH(self->f[0]);
    self->k++;
  }
  rdl_atomic_store(RDL_AT(uint, args->at), self->k);
  RDL_AWAIT_ROOM();
  RDL_TRY_SPAWN(outcome, self->f[0], tight_wait, .e = args->e);
  rdl_atomic_store(RDL_AT(uint, args->at) + 1, 1u + outcome);
  RDL_RETURN(self->k);
  RDL_END();
}

/* Fills all slots with futures each of which wants room for children of its own. */
RDL_TASK(tight_crowd, RDL_NONE, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  for (;;) {
    RDL_TRY_SPAWN(outcome, self->f[0], tight_fib, .n = 5);
    if (outcome == RDL_FULL) break;
  }
  RDL_AWAIT_CHILDREN_CATCH(outcome);
  RDL_END();
}

/* Takes n slots, or all with n = 0 and those that come free later too, for futures that wait. */
RDL_TASK(tight_hold, RDL_NONE, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  while (!args->n || self->k < args->n) {
    RDL_TRY_SPAWN(outcome, self->f[0], tight_wait, .e = args->e);
    if (outcome == RDL_SPAWNED)
      self->k++;
    else
      RDL_AWAIT_ROOM();
  }
  RDL_AWAIT_CHILDREN();
  RDL_END();
}

/* Waits; when cancelled it cleans up with what there is. Words: what a spawn that is tried came to,
   then that the task was still there behind one that is not. */
RDL_TASK(tight_tidy, uint, struct tight_args, struct tight_three) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  if (!RDL_CANCELLED()) RDL_RETURN(1);
  RDL_TRY_SPAWN(outcome, self->f[0], tight_leaf, .n = 1);
  rdl_atomic_store(RDL_AT(uint, args->at), 1u + outcome);
  RDL_SPAWN(self->f[0], tight_leaf, .n = 1);
  rdl_atomic_store(RDL_AT(uint, args->at) + 1, 1u);
  RDL_RETURN(2);
  RDL_END();
}
