/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks for devices that end loops after so many turns (POR 5). */

struct lim_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct lim_state {
  rdl_future f;
  rdl_future g;
  uint k;
  uint i;
  uint sum;
};

RDL_FN uint lim_mix(uint x, uint y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}

/* ---- many turns ---- */

RDL_TASK(lim_turns, uint, struct lim_args, RDL_NONE) {
  uint k, sum;
  RDL_BEGIN();
  sum = 1;
  for (k = 0; k < args->n && RDL_TURN_(); k++)
    sum = lim_mix(sum, k);
  RDL_RETURN(sum);
  RDL_END();
}

/* The same turns as two loops, one after the other. */
RDL_TASK(lim_two_loops, uint, struct lim_args, RDL_NONE) {
  uint k, sum;
  RDL_BEGIN();
  sum = 1;
  for (k = 0; k < args->n / 2 && RDL_TURN_(); k++)
    sum = lim_mix(sum, k);
  while (k < args->n && RDL_TURN_())
    sum = lim_mix(sum, k++);
  RDL_RETURN(sum);
  RDL_END();
}

/* The same turns, k of them in each turn of another loop. */
RDL_TASK(lim_nested, uint, struct lim_args, RDL_NONE) {
  uint k, i, sum;
  RDL_BEGIN();
  sum = 1;
  for (k = 0; k < args->n; k += args->k)
    for (i = k; i < k + args->k && i < args->n && RDL_TURN_(); i++)
      sum = lim_mix(sum, i);
  RDL_RETURN(sum);
  RDL_END();
}

/* The same turns, k of them between two yields. */
RDL_TASK(lim_pieces, uint, struct lim_args, struct lim_state) {
  RDL_BEGIN();
  self->sum = 1;
  for (self->k = 0; self->k < args->n; self->k += args->k) {
    for (self->i = self->k; self->i < self->k + args->k && self->i < args->n; self->i++)
      self->sum = lim_mix(self->sum, self->i);
    RDL_YIELD();
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* ---- what is done before and behind a loop ---- */

/* Waits for d, then tells it at e. */
RDL_TASK(lim_child, RDL_NONE, struct lim_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->d);
  RDL_SIGNAL(args->e, 100);
  RDL_END();
}

/* Before n turns of a loop and behind them: a signal of e and a child. k: 1 = each child is let go
 * at once, 2 = the first one behind the loop. */
RDL_TASK(lim_loop, uint, struct lim_args, struct lim_state) {
  uint k, sum;
  RDL_BEGIN();
  RDL_SIGNAL(args->e, 1);
  RDL_SPAWN(self->f, lim_child, .e = args->e, .d = args->d);
  if (args->k == 1) RDL_DETACH(self->f);
  sum = 1;
  for (k = 0; k < args->n && RDL_TURN_(); k++)
    sum = lim_mix(sum, k);
  RDL_SIGNAL(args->e, 1);
  if (args->k == 2) RDL_DETACH(self->f);
  RDL_SPAWN(self->g, lim_child, .e = args->e, .d = args->d);
  if (args->k == 1) RDL_DETACH(self->g);
  RDL_RETURN(sum);
  RDL_END();
}

/* The turns of a segment that then waits. */
RDL_TASK(lim_wait, uint, struct lim_args, RDL_NONE) {
  uint k, sum = 1;
  RDL_BEGIN();
  for (k = 0; k < args->n && RDL_TURN_(); k++)
    sum = lim_mix(sum, k);
  if (sum) RDL_YIELD();
  RDL_RETURN(7);
  RDL_END();
}

/* What becomes of another, as its parent sees it. */
RDL_TASK(lim_catch, uint, struct lim_args, struct lim_state) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN(self->f, lim_wait, .n = args->n);
  RDL_AWAIT_CATCH(outcome, self->f);
  RDL_RETURN(outcome == RDL_LOOP_BUDGET ? 1000u : outcome);
  RDL_END();
}

/* n children that have ended before they are awaited, all freed at its end. */
RDL_TASK(lim_fan, uint, struct lim_args, struct lim_state) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f, lim_wait, .n = 1);
    if (self->k % 64 == 63) RDL_YIELD();
  }
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}
