/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the FLT cases. */

struct flt_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct flt_pair {
  rdl_future f[2];
  uint k;
  uint sum;
};

RDL_FN RDL_GLOBAL uint *flt_word(rdl_ptr at, uint index) {
  return RDL_AT(uint, at) + index;
}

RDL_TASK(flt_leaf, uint, struct flt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n);
  RDL_END();
}

RDL_TASK(flt_wait_event, uint, struct flt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(args->n);
  RDL_END();
}

/* Takes a little time, k turns. */
RDL_TASK(flt_short, uint, struct flt_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  for (k = 0; k < args->k; k++)
    rdl_atomic_load(flt_word(args->at, 0));
  RDL_RETURN(args->n);
  RDL_END();
}

/* Spawns two and awaits them, k times. It yields first, so that another worker may have one of
   them by then, which is worth it to a worker when they take some microseconds; and they take a
   time that differs, so that they end while it begins to wait. */
RDL_TASK(flt_racer, uint, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_short, .at = args->at, .n = self->k, .k = self->k % 997 * 8);
    RDL_SPAWN(self->f[1], flt_leaf, .n = 1);
    RDL_YIELD();
    RDL_AWAIT(self->f[0]);
    if (RDL_RESULT(uint, self->f[0]) != self->k) RDL_FAIL(1);
    RDL_AWAIT(self->f[1]);
    self->sum += RDL_RESULT(uint, self->f[1]);
    RDL_DROP(self->f[0]);
    RDL_DROP(self->f[1]);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* The same for the first of two, of which the other waits for what never comes. */
RDL_TASK(flt_any_racer, uint, struct flt_args, struct flt_pair) {
  uint which;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_short, .at = args->at, .n = 0, .k = self->k % 997 * 8);
    RDL_SPAWN(self->f[1], flt_wait_event, .e = args->e);
    RDL_YIELD();
    RDL_AWAIT_ANY(which, self->f, 2);
    RDL_CANCEL(self->f[1]);
    if (which) RDL_FAIL(1);
    self->sum++;
    RDL_AWAIT_CATCH(which, self->f[1]);
    RDL_DROP(self->f[0]);
    RDL_DROP(self->f[1]);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* All of them await one that ends at that time: many nodes in one list. */
RDL_TASK(flt_await, uint, struct flt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_RETURN(RDL_RESULT(uint, args->f));
  RDL_END();
}

struct flt_crowd {
  rdl_future f[9];
  uint k;
  uint j;
};

RDL_TASK(flt_crowd_racer, uint, struct flt_args, struct flt_crowd) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_short, .at = args->at, .n = 7, .k = self->k % 997);
    for (self->j = 1; self->j < 9; self->j++)
      RDL_SPAWN(self->f[self->j], flt_await, .f = self->f[0]);
    RDL_AWAIT_ALL(self->f, 9);
    for (self->j = 0; self->j < 9; self->j++) {
      if (RDL_RESULT(uint, self->f[self->j]) != 7) RDL_FAIL(1);
      RDL_DROP(self->f[self->j]);
    }
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* Awaits the first of f and g, then the event: g ends while it waits for that. */
RDL_TASK(flt_late_node, uint, struct flt_args, struct flt_pair) {
  uint which;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  RDL_AWAIT_ANY(which, self->f, 2);
  self->k = which;
  RDL_AWAIT_COUNT(args->e, 1);
  RDL_RETURN(RDL_EVENT_COUNT(args->e) * 16u + self->k);
  RDL_END();
}

/* Word 0: it runs. It goes on when word 1 says that the request has been made, and awaits what
   never comes. */
RDL_TASK(flt_asked, uint, struct flt_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  rdl_atomic_store(flt_word(args->at, 0), 1u);
  for (k = 0; k < 100000000u && !rdl_atomic_load(flt_word(args->at, 1)); k++) {
  }
  RDL_AWAIT_EVENT(args->e);
  RDL_END();
}

RDL_TASK(flt_asks, uint, struct flt_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 100000000u && !rdl_atomic_load(flt_word(args->at, 0)); k++) {
  }
  RDL_CANCEL(args->f);
  rdl_atomic_store(flt_word(args->at, 1), 1u);
  RDL_RETURN(0);
  RDL_END();
}

/* The two at the same time, in one launch. Returns how the one that is asked ended. */
RDL_TASK(flt_asks_running, uint, struct flt_args, struct flt_pair) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN(self->f[0], flt_asked, .at = args->at, .e = args->e);
  RDL_SPAWN(self->f[1], flt_asks, .at = args->at, .f = self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_AWAIT_CATCH(outcome, self->f[0]);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Is cancelled, and cleans up by waiting for another event; word 1 tells how that ended. */
RDL_TASK(flt_cleans_up, uint, struct flt_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  rdl_atomic_store(flt_word(args->at, 0), 1u + outcome);
  RDL_AWAIT_EVENT_CATCH(outcome, args->d);
  rdl_atomic_store(flt_word(args->at, 1), 1u + outcome);
  RDL_RETURN(0);
  RDL_END();
}

RDL_TASK(flt_counts, RDL_NONE, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++)
    RDL_YIELD();
  rdl_atomic_add(flt_word(args->at, args->n), 1u);
  RDL_END();
}

RDL_TASK(flt_counts_late, RDL_NONE, struct flt_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  for (k = 0; k < args->k; k++)
    rdl_atomic_load(flt_word(args->at, args->n));
  rdl_atomic_add(flt_word(args->at, args->n), 1u);
  RDL_END();
}

struct flt_three {
  rdl_future f[3];
  uint k;
  uint j;
};

/* Spawns three and awaits them all, k times. */
RDL_TASK(flt_parent, uint, struct flt_args, struct flt_three) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_counts_late, .at = args->at, .n = args->n, .k = self->k % 997);
    RDL_SPAWN(self->f[1], flt_counts, .at = args->at, .n = args->n, .k = self->k % 2);
    RDL_SPAWN(self->f[2], flt_counts, .at = args->at, .n = args->n);
    RDL_YIELD();
    RDL_AWAIT_CHILDREN();
    if (rdl_atomic_load(flt_word(args->at, args->n)) != 3u * (self->k + 1u)) RDL_FAIL(1);
    for (self->j = 0; self->j < 3; self->j++)
      RDL_DROP(self->f[self->j]);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* Link n of a chain whose every link awaits the next one. */
RDL_TASK(flt_link, uint, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  if (args->n == 0) {
    RDL_AWAIT_EVENT(args->e);
  } else {
    RDL_SPAWN(self->f[0], flt_link, .at = args->at, .e = args->e, .n = args->n - 1);
    RDL_AWAIT(self->f[0]);
  }
  rdl_atomic_add(flt_word(args->at, 0), 1u);
  RDL_RETURN(args->n);
  RDL_END();
}

/* Yields until word 0 says that the chain is over: the longest stretch of it between two turns. */
RDL_TASK(flt_watches, uint, struct flt_args, struct flt_pair) {
  uint now;
  RDL_BEGIN();
  for (;;) {
    now = rdl_atomic_load(flt_word(args->at, 0));
    if (now - self->k > self->sum) self->sum = now - self->k;
    self->k = now;
    if (now > args->n) break;
    RDL_YIELD();
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* Keeps the ring from getting empty until word 0 comes to n, or k turns are over. */
RDL_TASK(flt_keeps_busy, uint, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  RDL_SIGNAL(args->e, 1);
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_leaf, .n = 1);
    RDL_AWAIT(self->f[0]);
    RDL_DROP(self->f[0]);
    if (rdl_atomic_load(flt_word(args->at, 0)) == args->n) break;
  }
  RDL_RETURN(self->k);
  RDL_END();
}

RDL_TASK(flt_woken, RDL_NONE, struct flt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  rdl_atomic_add(flt_word(args->at, 0), 1u);
  RDL_END();
}

/* Signals one event and awaits the other, k times. */
RDL_TASK(flt_echo, uint, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SIGNAL(args->d, 1);
    RDL_AWAIT_COUNT(args->e, self->k + 1u);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* Spawns k leaves and lets go of them, waiting for room wherever there is none. */
RDL_TASK(flt_crowds, uint, struct flt_args, struct flt_pair) {
  uint outcome;
  RDL_BEGIN();
  while (self->k < args->k) {
    RDL_TRY_SPAWN(outcome, self->f[0], flt_leaf, .n = 1);
    if (outcome == RDL_FULL) {
      RDL_AWAIT_ROOM();
    } else {
      RDL_DETACH(self->f[0]);
      self->k++;
    }
  }
  RDL_RETURN(self->k);
  RDL_END();
}

RDL_TASK(flt_waits_count, RDL_NONE, struct flt_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_COUNT(args->e, args->k);
  RDL_END();
}

/* Shows a child to a visitor, in words 4 n and 4 n + 1, and lets its slot be born again while the
   visitor may be about to await it. What lives there then ends only when the visitor is back. */
RDL_TASK(flt_hosts, uint, struct flt_args, struct flt_pair) {
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->k; self->k++) {
    RDL_SPAWN(self->f[0], flt_short, .at = args->at, .k = self->k % 997);
    rdl_atomic_store(flt_word(args->at, 4 * args->n), self->f[0].index);
    rdl_atomic_store(flt_word(args->at, 4 * args->n + 1), self->f[0].generation);
    rdl_atomic_store(flt_word(args->at, 4 * args->n + 2), self->k);
    RDL_YIELD();
    RDL_AWAIT(self->f[0]);
    RDL_DROP(self->f[0]);
    RDL_SPAWN(self->f[1], flt_waits_count, .e = args->e, .k = self->k);
    while (rdl_atomic_load(flt_word(args->at, 4 * args->n + 3)) != self->k)
      RDL_YIELD();
    RDL_SIGNAL(args->e, 1);
    RDL_AWAIT(self->f[1]);
    RDL_DROP(self->f[1]);
  }
  RDL_RETURN(args->k);
  RDL_END();
}

RDL_TASK(flt_visits, uint, struct flt_args, struct flt_pair) {
  uint outcome;
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->k; self->k++) {
    while (rdl_atomic_load(flt_word(args->at, 4 * args->n + 2)) != self->k)
      RDL_YIELD();
    self->f[0].index = rdl_atomic_load(flt_word(args->at, 4 * args->n));
    self->f[0].generation = rdl_atomic_load(flt_word(args->at, 4 * args->n + 1));
    RDL_AWAIT_CATCH(outcome, self->f[0]);
    if (outcome != RDL_S_OK && outcome != RDL_S_STALE) RDL_FAIL(outcome);
    rdl_atomic_store(flt_word(args->at, 4 * args->n + 3), self->k);
  }
  RDL_RETURN(args->k);
  RDL_END();
}
