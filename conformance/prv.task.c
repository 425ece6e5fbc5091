/* SPDX-License-Identifier: Apache-2.0 */
/* Private tasks. */

struct prv_args {
  uint n;
};
struct prv_two {
  rdl_future a, b;
};

/* Every branch is private. */
RDL_TASK_PRIVATE(prv_fib, uint, struct prv_args, struct prv_two) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->a, prv_fib, .n = args->n - 1);
  RDL_SPAWN(self->b, prv_fib, .n = args->n - 2);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}

/* A task that is not, whose branches below `cut` are. */
struct prv_cut_args {
  uint n;
  uint cut;
};
RDL_TASK(prv_tree, uint, struct prv_cut_args, struct prv_two) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  if (args->n <= args->cut) {
    RDL_SPAWN(self->a, prv_fib, .n = args->n - 1);
    RDL_SPAWN(self->b, prv_fib, .n = args->n - 2);
  } else {
    RDL_SPAWN(self->a, prv_tree, .n = args->n - 1, .cut = args->cut);
    RDL_SPAWN(self->b, prv_tree, .n = args->n - 2, .cut = args->cut);
  }
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}

/* Down to a depth, one child each, which is taken. */
struct prv_one {
  rdl_future f;
  uint value;
};
RDL_TASK_PRIVATE(prv_deep, uint, struct prv_args, struct prv_one) {
  RDL_BEGIN();
  if (!args->n) RDL_RETURN(0);
  RDL_SPAWN(self->f, prv_deep, .n = args->n - 1);
  RDL_AWAIT(self->f);
  RDL_TAKE(self->value, uint, self->f);
  RDL_RETURN(self->value + 1);
  RDL_END();
}

/* One after the other, each of which awaits its elder brother. */
struct prv_link_args {
  rdl_future before;
};
RDL_TASK_PRIVATE(prv_link, uint, struct prv_link_args, RDL_NONE) {
  RDL_BEGIN();
  if (!args->before.index) RDL_RETURN(1);
  RDL_AWAIT(args->before);
  RDL_RETURN(RDL_RESULT(uint, args->before) + 1);
  RDL_END();
}

struct prv_row_state {
  rdl_future first, last;
  uint at, value;
};
RDL_TASK(prv_row, uint, struct prv_args, struct prv_row_state) {
  RDL_BEGIN();
  for (self->at = 0; self->at < args->n; self->at++) {
    RDL_SPAWN(self->last, prv_link, .before = self->last);
  }
  RDL_AWAIT(self->last);
  RDL_TAKE(self->value, uint, self->last);
  RDL_RETURN(self->value);
  RDL_END();
}

/* Counts in memory, between yields. */
struct prv_count_args {
  rdl_ptr at;
  uint turns;
  uint pad;
};
struct prv_count_state {
  uint turn;
};
RDL_TASK_PRIVATE(prv_count, uint, struct prv_count_args, struct prv_count_state) {
  RDL_BEGIN();
  while (self->turn < args->turns) {
    rdl_atomic_add(RDL_AT(uint, args->at), 1);
    self->turn++;
    RDL_YIELD();
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

/* Fails with its number when that is odd; an even one is one more. */
RDL_TASK_PRIVATE(prv_odd, uint, struct prv_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->n % 2u) RDL_FAIL(args->n);
  RDL_RETURN(args->n + 1);
  RDL_END();
}

/* What its child fails with, or passes on. */
RDL_TASK_PRIVATE(prv_over_odd, uint, struct prv_args, struct prv_one) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_odd, .n = args->n);
  RDL_AWAIT(self->f);
  RDL_RETURN(RDL_RESULT(uint, self->f));
  RDL_END();
}

struct prv_catch_state {
  rdl_future f;
  uint outcome, code;
};
RDL_TASK(prv_catch, uint, struct prv_args, struct prv_catch_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_over_odd, .n = args->n);
  RDL_AWAIT_CATCH(self->outcome, self->f);
  self->code = RDL_FAILURE_CODE();
  RDL_RETURN(self->outcome * 1000u + self->code);
  RDL_END();
}

/* Two that await each other, by handles in memory. */
struct prv_pair_args {
  rdl_ptr other; /* where the handle of the other one stands */
};
RDL_TASK_PRIVATE(prv_pair, RDL_NONE, struct prv_pair_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_YIELD();
  RDL_AWAIT(*RDL_AT(const rdl_future, args->other));
  RDL_END();
}
struct prv_cycle_args {
  rdl_ptr at; /* two handles */
};
struct prv_cycle_state {
  rdl_future a, b;
  uint outcome;
};
RDL_TASK(prv_cycle, uint, struct prv_cycle_args, struct prv_cycle_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->a, prv_pair, .other = args->at + 8u);
  RDL_SPAWN(self->b, prv_pair, .other = args->at);
  RDL_AT(rdl_future, args->at)[0] = self->a;
  RDL_AT(rdl_future, args->at)[1] = self->b;
  RDL_AWAIT_CATCH(self->outcome, self->a);
  RDL_RETURN(self->outcome);
  RDL_END();
}

/* A stale handle, and one that was taken. */
struct prv_stale_state {
  rdl_future f;
  uint value, outcome;
};
RDL_TASK(prv_stale, uint, RDL_NONE, struct prv_stale_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_odd, .n = 6);
  RDL_AWAIT(self->f);
  RDL_TAKE(self->value, uint, self->f);
  RDL_AWAIT_CATCH(self->outcome, self->f);
  RDL_RETURN(self->value * 100u + self->outcome);
  RDL_END();
}

/* Gives the handle of a private future of its own to another task, which awaits it. */
struct prv_stranger_args {
  rdl_future f;
};
struct prv_outcome {
  uint outcome;
};
RDL_TASK(prv_stranger, uint, struct prv_stranger_args, struct prv_outcome) {
  RDL_BEGIN();
  RDL_AWAIT_CATCH(self->outcome, args->f);
  RDL_RETURN(self->outcome);
  RDL_END();
}
struct prv_foreign_state {
  rdl_future f, stranger;
};
RDL_TASK(prv_foreign, uint, RDL_NONE, struct prv_foreign_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_odd, .n = 2);
  RDL_SPAWN(self->stranger, prv_stranger, .f = self->f);
  RDL_AWAIT(self->stranger);
  RDL_RETURN(RDL_RESULT(uint, self->stranger));
  RDL_END();
}

/* Ends before its private futures do: they end first. */
struct prv_leave_args {
  rdl_ptr at;
  uint n;
  uint waits; /* for something else, before that */
};
struct prv_leave_state {
  rdl_future f, other;
  uint k;
};
RDL_TASK(prv_nothing, RDL_NONE, RDL_NONE, RDL_NONE) {
  RDL_BEGIN();
  RDL_END();
}
RDL_TASK(prv_leave, uint, struct prv_leave_args, struct prv_leave_state) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, prv_count, .at = args->at, .turns = 3, .pad = 0);
  if (args->waits) {
    RDL_SPAWN(self->other, prv_nothing, 0);
    RDL_AWAIT(self->other);
    RDL_AWAIT(self->f);
    RDL_RETURN(RDL_RESULT(uint, self->f));
  }
  RDL_RETURN(3);
  RDL_END();
}

/* All children at once, of which one fails if that is asked for. */
struct prv_all_args {
  uint n;
  uint fails;
};
struct prv_all_state {
  rdl_future f, other;
  uint k, outcome;
};
RDL_TASK(prv_all, uint, struct prv_all_args, struct prv_all_state) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, prv_over_odd, .n = 2u * self->k);
  if (args->fails) RDL_SPAWN(self->f, prv_over_odd, .n = 5);
  RDL_SPAWN(self->other, prv_nothing, 0);
  RDL_AWAIT_CHILDREN_CATCH(self->outcome);
  RDL_RETURN(self->outcome);
  RDL_END();
}

/* Turns without end, each a yield: only a cancel ends them. */
RDL_TASK_PRIVATE(prv_turns, RDL_NONE, RDL_NONE, RDL_NONE) {
  RDL_BEGIN();
  for (;;)
    RDL_YIELD();
  RDL_END();
}
struct prv_endless_args {
  rdl_event begun;
};
struct prv_endless_state {
  rdl_future f;
  uint outcome;
};
RDL_TASK(prv_endless, uint, struct prv_endless_args, struct prv_endless_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_turns, 0);
  RDL_SIGNAL(args->begun, 1);
  RDL_AWAIT(self->f);
  RDL_RETURN(1);
  RDL_END();
}

/* A member of a batch. */
struct prv_member_args {
  rdl_ptr at;
  uint k;
  uint fails; /* this one does */
};
RDL_TASK_PRIVATE(prv_member, RDL_NONE, struct prv_member_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(RDL_AT(uint, args->at) + args->k, 1);
  if (args->k == args->fails) RDL_FAIL(77);
  RDL_END();
}

/* One with a state, which begins with zeros. */
struct prv_three_state {
  uint k;
};
RDL_TASK_PRIVATE(prv_three, RDL_NONE, struct prv_member_args, struct prv_three_state) {
  RDL_BEGIN();
  for (; self->k < 3u; self->k++)
    rdl_atomic_add(RDL_AT(uint, args->at) + args->k, 1);
  RDL_END();
}

/* Fails with what it did wrong, although it waits in between. */
RDL_TASK_PRIVATE(prv_wrong, uint, struct prv_args, struct prv_one) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_odd, .n = 4);
  self->value = RDL_RESULT(uint, self->f); /* not before it has ended */
  RDL_AWAIT(self->f);
  RDL_RETURN(self->value);
  RDL_END();
}

/* Told to end, it cleans up: its private child is told, too, and it may spawn another. */
struct prv_clean_state {
  rdl_future f;
  uint outcome;
};
RDL_TASK(prv_cleans, uint, struct prv_endless_args, struct prv_clean_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, prv_turns, 0);
  RDL_SIGNAL(args->begun, 1);
  RDL_AWAIT_CATCH(self->outcome, self->f);
  RDL_AWAIT_CATCH(self->outcome, self->f);
  RDL_SPAWN(self->f, prv_odd, .n = 10);
  RDL_AWAIT(self->f);
  RDL_SIGNAL(args->begun, RDL_RESULT(uint, self->f));
  RDL_END();
}
