/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the HST cases. */

struct hst_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct hst_pair {
  rdl_future f[2];
  uint k;
};

RDL_FN RDL_GLOBAL uint *hst_word(rdl_ptr at, uint index) {
  return RDL_AT(uint, at) + index;
}

RDL_TASK(hst_leaf, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n);
  RDL_END();
}

/* A result that does not fit into a record. */
#define HST_LARGE 128

struct hst_large {
  uint words[HST_LARGE];
};

RDL_TASK(hst_large, struct hst_large, struct hst_args, RDL_NONE) {
  struct hst_large result;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < HST_LARGE; k++)
    result.words[k] = args->n + k;
  RDL_RETURN(result);
  RDL_END();
}

RDL_TASK(hst_fib, uint, struct hst_args, struct hst_pair) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->f[0], hst_fib, .n = args->n - 1);
  RDL_SPAWN(self->f[1], hst_fib, .n = args->n - 2);
  RDL_AWAIT(self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]));
  RDL_END();
}

RDL_TASK(hst_wait_event, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(hst_signal, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SIGNAL(args->e, 1);
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(hst_sleep, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SLEEP((ulong)args->k * 1000u);
  RDL_RETURN(args->n);
  RDL_END();
}

/* Never ends by itself, and says in word 0 that it runs. */
RDL_TASK(hst_yield_for_ever, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  for (;;) {
    rdl_atomic_store(hst_word(args->at, 0), 1u);
    RDL_YIELD();
  }
  RDL_END();
}

/* The same with segments of many microseconds: k looks at a word. */
RDL_TASK(hst_yield_slowly, uint, struct hst_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  for (;;) {
    rdl_atomic_store(hst_word(args->at, 0), 1u);
    for (k = 0; k < args->k; k++)
      rdl_atomic_load(hst_word(args->at, 1));
    RDL_YIELD();
  }
  RDL_END();
}

/* One segment that goes on until word 1 is set. */
RDL_TASK(hst_hold, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_store(hst_word(args->at, 0), 1u);
  while (rdl_atomic_load(hst_word(args->at, 1)) == 0) {
  }
  RDL_RETURN(1);
  RDL_END();
}

/* Children that wait for ever, n of them, and so does it. */
RDL_TASK(hst_family, uint, struct hst_args, struct hst_pair) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f[0], hst_wait_event, .e = args->e);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(1);
  RDL_END();
}

RDL_TASK(hst_await, uint, struct hst_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_RETURN(1);
  RDL_END();
}

/* Waits for the event with a limit of k microseconds. */
RDL_TASK(hst_await_for, uint, struct hst_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_FOR(outcome, args->e, (ulong)args->k * 1000u);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Takes what room there is, and waits for more. */
RDL_TASK(hst_crowd, uint, struct hst_args, struct hst_pair) {
  uint outcome;
  RDL_BEGIN();
  for (;;) {
    RDL_TRY_SPAWN(outcome, self->f[0], hst_wait_event, .e = args->e);
    if (outcome == RDL_FULL) RDL_AWAIT_ROOM();
  }
  RDL_END();
}
