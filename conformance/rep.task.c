/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the cases that public reports of other systems gave. */

struct rep_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct rep_state {
  rdl_future f;
  uint k;
  uint i;
  uint sum;
};

/* No compiler finds a closed form of many of these. */
RDL_FN uint rep_mix(uint x, uint y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}

/* Turns of a loop, each a segment. */
RDL_TASK(rep_yields, uint, struct rep_args, struct rep_state) {
  RDL_BEGIN();
  self->sum = 1;
  for (self->k = 0; self->k < args->n; self->k++) {
    self->sum = rep_mix(self->sum, self->k);
    RDL_YIELD();
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

RDL_TASK(rep_turn, uint, struct rep_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(rep_mix(args->n, args->k));
  RDL_END();
}

/* The same turns, each by a child. */
RDL_TASK(rep_awaits, uint, struct rep_args, struct rep_state) {
  RDL_BEGIN();
  self->sum = 1;
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f, rep_turn, .n = self->sum, .k = self->k);
    RDL_AWAIT(self->f);
    RDL_TAKE(self->sum, uint, self->f);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* ---- what compilers have made of loops ---- */

/* Sums that a compiler replaces by formulas, in arithmetic of odd widths. */
RDL_TASK(rep_formulas, uint, struct rep_args, RDL_NONE) {
  uint k, a = 0, b = 0, c = 0;
  RDL_BEGIN();
  for (k = 0; k < args->n; k++) {
    a += k;
    b += k * k;
    c += k * (k + 1) / 2;
  }
  RDL_RETURN(a + 3 * b + 5 * c);
  RDL_END();
}

/* Three loops within each other, any of which may have no turn; the bounds are digits of n. */
RDL_TASK(rep_three_loops, uint, struct rep_args, RDL_NONE) {
  rdl_i64 x, y, z, most_x = (rdl_i64)(args->n / 100u) - 1, most_z = (rdl_i64)(args->n % 10u) - 1;
  rdl_i64 most_y = (rdl_i64)(args->n / 10u % 10u) - 1;
  uint sum;
  RDL_BEGIN();
  sum = 1;
  for (x = -most_x; x <= most_x; x++) {
    for (y = -most_y; y <= most_y; y++)
      for (z = -most_z; z <= most_z; z++)
        sum = rep_mix(sum, (uint)(100 * x + 10 * y + z));
    sum++;
  }
  RDL_RETURN(sum);
  RDL_END();
}

#define REP_SIDE 24

/* Adds one to each word that is up to k away from place n of a square, which ends where it begins.
 * No compiler knows how many those are. */
RDL_TASK(rep_scatter, RDL_NONE, struct rep_args, RDL_NONE) {
  RDL_GLOBAL uint *words = RDL_AT(uint, args->at);
  int x, y, radius = (int)args->k, row = (int)args->n / REP_SIDE, column = (int)args->n % REP_SIDE;
  uint old, place;
  RDL_BEGIN();
  for (y = -radius; y <= radius; y++)
    for (x = -radius; x <= radius; x++) {
      place =
          (uint)((row + y + REP_SIDE) % REP_SIDE * REP_SIDE + (column + x + REP_SIDE) % REP_SIDE);
      do {
        old = rdl_atomic_load(words + place);
      } while (rdl_atomic_cas(words + place, old, old + 1) != old);
    }
  RDL_END();
}

struct rep_heap {
  uint count;
  uint at[100];
};

/* A loop without a bound, left in its middle. */
RDL_FN void rep_sink(struct rep_heap *heap, uint place) {
  uint child, kept;
  for (;;) {
    child = 2 * place + 1;
    if (child >= heap->count) break;
    if (child + 1 < heap->count && heap->at[child + 1] > heap->at[child]) child++;
    if (heap->at[place] >= heap->at[child]) break;
    kept = heap->at[place];
    heap->at[place] = heap->at[child];
    heap->at[child] = kept;
    place = child;
  }
}

/* Sorts n words that it makes from k. */
RDL_TASK(rep_sort, uint, struct rep_args, RDL_NONE) {
  struct rep_heap heap;
  uint k, sum;
  RDL_BEGIN();
  heap.count = args->n;
  for (k = 0; k < args->n; k++)
    heap.at[k] = rep_mix(args->k, k) % 1000u;
  for (k = args->n / 2; k-- > 0;)
    rep_sink(&heap, k);
  sum = 1;
  while (heap.count) {
    sum = rep_mix(sum, heap.at[0]);
    heap.at[0] = heap.at[--heap.count];
    rep_sink(&heap, 0);
  }
  RDL_RETURN(sum);
  RDL_END();
}

/* ---- failures that travel ---- */

/* A link of a chain. It waits for the event e that the link before signals, if it has one, and for
 * that link; then it fails with n, unless n is 0. Its own event d tells that it runs, or, where it
 * catches (k is 1), that it is about to end. */
RDL_TASK(rep_link, uint, struct rep_args, RDL_NONE) {
  uint outcome, code = 0;
  RDL_BEGIN();
  if (args->e.index) RDL_AWAIT_EVENT(args->e);
  if (args->k == 0 || !args->f.index) RDL_SIGNAL(args->d, 1);
  if (args->f.index && args->k == 0) RDL_AWAIT(args->f);
  if (args->f.index && args->k == 1) {
    RDL_AWAIT_CATCH(outcome, args->f);
    code = outcome == RDL_OK ? 0u : outcome == RDL_FAILED ? RDL_FAILURE_CODE() : 1u;
    RDL_SIGNAL(args->d, 1);
    if (code) RDL_FAIL(code);
  }
  if (args->n) RDL_FAIL(args->n);
  RDL_RETURN(7);
  RDL_END();
}

/* Hands a signal on, unless it fails before. */
RDL_TASK(rep_relay, uint, struct rep_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->n) RDL_FAIL(args->n);
  RDL_AWAIT_EVENT(args->e);
  RDL_SIGNAL(args->d, 1);
  RDL_RETURN(7);
  RDL_END();
}

/* ---- waiting for the host ---- */

RDL_TASK(rep_await, uint, struct rep_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_RETURN(rep_mix(RDL_RESULT(uint, args->f), args->n));
  RDL_END();
}

/* Until the event has fired there is always something to do. */
RDL_TASK(rep_busy, uint, struct rep_args, struct rep_state) {
  RDL_BEGIN();
  while (RDL_EVENT_COUNT(args->e) == 0) {
    self->k++;
    RDL_YIELD();
  }
  RDL_RETURN(1);
  RDL_END();
}

/* ---- payload and signals ---- */

/* n times: waits for the host's signal of e, writes k words and signals d. */
RDL_TASK(rep_publish, uint, struct rep_args, struct rep_state) {
  RDL_GLOBAL uint *words = RDL_AT(uint, args->at);
  uint i;
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->n; self->k++) {
    RDL_AWAIT_COUNT(args->e, self->k);
    for (i = 0; i < args->k; i++)
      words[i] = rep_mix(self->k, i);
    RDL_SIGNAL(args->d, 1);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* The same without being asked: round r writes words k * (r - 1) and following. */
RDL_TASK(rep_stream, uint, struct rep_args, struct rep_state) {
  RDL_GLOBAL uint *words = RDL_AT(uint, args->at);
  uint i;
  RDL_BEGIN();
  for (self->k = 1; self->k <= args->n; self->k++) {
    for (i = 0; i < args->k; i++)
      words[(self->k - 1) * args->k + i] = rep_mix(self->k, i);
    RDL_SIGNAL(args->d, 1);
    if (self->k % 16 == 0) RDL_YIELD();
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* Signals k times. */
RDL_TASK(rep_signal, RDL_NONE, struct rep_args, struct rep_state) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SIGNAL(args->e, 1);
    if (self->k % 8 == 7) RDL_YIELD();
  }
  RDL_END();
}

/* The count that it saw when it went on: at least n. */
RDL_TASK(rep_await_count, uint, struct rep_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_COUNT(args->e, args->n);
  RDL_RETURN(RDL_EVENT_COUNT(args->e));
  RDL_END();
}
