/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the EVT cases. */

struct evt_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct evt_count {
  uint k;
  uint wrong;
};

RDL_FN RDL_GLOBAL uint *evt_word(rdl_ptr at, uint index) {
  return RDL_AT(uint, at) + index;
}

RDL_TASK(evt_leaf, uint, struct evt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n);
  RDL_END();
}

/* Adds one to word n when it goes on; gives the count it saw. */
RDL_TASK(evt_wait, uint, struct evt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  rdl_atomic_add(evt_word(args->at, args->n), 1u);
  RDL_RETURN(RDL_EVENT_COUNT(args->e));
  RDL_END();
}

RDL_TASK(evt_catch, uint, struct evt_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Waits for the count k + n; word n tells that it went on, and with what count. */
RDL_TASK(evt_wait_count, uint, struct evt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_COUNT(args->e, args->k + args->n);
  rdl_atomic_store(evt_word(args->at, args->n), RDL_EVENT_COUNT(args->e));
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(evt_wait_for, uint, struct evt_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_FOR(outcome, args->e, (ulong)args->k * 1000u);
  if (args->at) rdl_atomic_add(evt_word(args->at, outcome == RDL_TIMEOUT ? 0u : 1u), 1u);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Signals n times, k at a time. */
RDL_TASK(evt_signal, uint, struct evt_args, struct evt_count) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SIGNAL(args->e, args->k);
    if (self->k % 8 == 7) RDL_YIELD();
  }
  RDL_RETURN(args->n);
  RDL_END();
}

/* One signal each: members of a batch. */
RDL_TASK(evt_signal_once, RDL_NONE, struct evt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SIGNAL(args->e, 1);
  RDL_END();
}

/* Runs until word 1 is set. */
RDL_TASK(evt_busy, uint, struct evt_args, RDL_NONE) {
  RDL_BEGIN();
  while (rdl_atomic_load(evt_word(args->at, 1)) == 0)
    RDL_YIELD();
  RDL_RETURN(1);
  RDL_END();
}

/* Waits for the n events whose handles stand from word k on, one after the other. */
RDL_TASK(evt_wait_all, uint, struct evt_args, struct evt_count) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_AWAIT_EVENT(RDL_AT(rdl_event, args->at)[self->k]);
  RDL_RETURN(self->k);
  RDL_END();
}

/* Round k: waits for e to reach k, finds word 0 at k, sets word 1 to k and signals d. */
RDL_TASK(evt_echo, uint, struct evt_args, struct evt_count) {
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->n; self->k++) {
    RDL_AWAIT_COUNT(args->e, self->k);
    if (*evt_word(args->at, 0) != self->k) self->wrong++;
    *evt_word(args->at, 16) = self->k;
    RDL_SIGNAL(args->d, 1);
  }
  RDL_RETURN(self->wrong);
  RDL_END();
}

/* The other side: sets word 0 and signals e, then waits for d and looks at word 1. */
RDL_TASK(evt_call, uint, struct evt_args, struct evt_count) {
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->n; self->k++) {
    *evt_word(args->at, 0) = self->k;
    RDL_SIGNAL(args->e, 1);
    RDL_AWAIT_COUNT(args->d, self->k);
    if (*evt_word(args->at, 16) != self->k) self->wrong++;
  }
  RDL_RETURN(self->wrong);
  RDL_END();
}
