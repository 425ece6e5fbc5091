/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the FUT cases. */

struct fut_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct fut_one {
  rdl_future f;
  uint k;
};

struct fut_set {
  rdl_future f[64];
  uint k;
};

struct fut_pair {
  rdl_future f[2];
  uint k;
};

RDL_FN RDL_GLOBAL uint *fut_word(rdl_ptr at, uint index) {
  return RDL_AT(uint, at) + index;
}

RDL_FN uint fut_hash(uint x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* Time that a segment takes, in turns that no compiler can leave out. */
RDL_FN void fut_spin(RDL_GLOBAL uint *word, uint turns) {
  uint k;
  for (k = 0; k < turns; k++)
    rdl_atomic_load(word);
}

RDL_TASK(fut_leaf, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n);
  RDL_END();
}

/* Spawns into one place after the other and takes from the last to the first. */
RDL_TASK(fut_places, uint, struct fut_args, struct fut_set) {
  uint outcome, value, digits = 0;
  RDL_BEGIN();
  RDL_SPAWN(self->f[self->k++], fut_leaf, .n = args->n + 2);
  RDL_TRY_SPAWN(outcome, self->f[self->k++], fut_leaf, .n = args->n + 3);
  if (outcome != RDL_SPAWNED) RDL_FAIL(1);
  RDL_AWAIT_CHILDREN();
  while (self->k) {
    RDL_TAKE(value, uint, self->f[--self->k]);
    digits = digits * 10 + value;
  }
  RDL_RETURN(digits);
  RDL_END();
}

RDL_TASK(fut_nothing, RDL_NONE, RDL_NONE, RDL_NONE) {
  RDL_BEGIN();
  RDL_END();
}

RDL_TASK(fut_fail, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_FAIL(args->n);
  RDL_END();
}

/* A code of more than 32 bits. */
RDL_TASK(fut_fail_wide, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_FAIL((rdl_u64)args->n << 32);
  RDL_END();
}

/* Adds one to word 0. */
RDL_TASK(fut_count, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(fut_word(args->at, 0), 1u);
  RDL_RETURN(args->n);
  RDL_END();
}

/* ---- FUT 1 ---- */

/* Word n counts the segments; each must find the count that its predecessor left. */
RDL_TASK(fut_steps, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    if (rdl_atomic_add(fut_word(args->at, args->n), 1u) != self->k) RDL_FAIL(1);
    RDL_YIELD();
  }
  RDL_RETURN(args->n);
  RDL_END();
}

/* Node n of a binary tree with k levels below it. */
RDL_TASK(fut_tree, uint, struct fut_args, struct fut_pair) {
  RDL_BEGIN();
  rdl_atomic_add(fut_word(args->at, args->n), 1u);
  if (args->k == 0) RDL_RETURN(1);
  RDL_SPAWN(self->f[0], fut_tree, .at = args->at, .n = 2 * args->n, .k = args->k - 1);
  RDL_SPAWN(self->f[1], fut_tree, .at = args->at, .n = 2 * args->n + 1, .k = args->k - 1);
  RDL_AWAIT(self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_RETURN(1 + RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]));
  RDL_END();
}

/* Word 1 + n is set while a segment of this future runs; word 0 counts segments that met another.
 */
RDL_FN void fut_enter(rdl_ptr at, uint n) {
  if (rdl_atomic_exchange(fut_word(at, 1u + n), 1u)) rdl_atomic_add(fut_word(at, 0), 1u);
  fut_spin(fut_word(at, 0), 8);
}

RDL_FN void fut_leave(rdl_ptr at, uint n) {
  if (rdl_atomic_exchange(fut_word(at, 1u + n), 0u) != 1u) rdl_atomic_add(fut_word(at, 0), 1u);
}

RDL_TASK(fut_yield_leaf, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++)
    RDL_YIELD();
  RDL_RETURN(args->n);
  RDL_END();
}

/* Woken by whichever comes first of two children and a deadline, k times. */
RDL_TASK(fut_alone, uint, struct fut_args, struct fut_pair) {
  uint outcome, which;
  RDL_BEGIN();
  fut_enter(args->at, args->n);
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], fut_yield_leaf, .n = 1, .k = self->k % 3);
    RDL_SPAWN(self->f[1], fut_yield_leaf, .n = 2, .k = 2 - self->k % 3);
    fut_leave(args->at, args->n);
    RDL_AWAIT_ANY_FOR(outcome, which, self->f, 2, 20000);
    fut_enter(args->at, args->n);
    if (outcome != RDL_OK && outcome != RDL_TIMEOUT) RDL_FAIL(outcome);
    if (outcome == RDL_OK && which > 1) RDL_FAIL(99);
    fut_leave(args->at, args->n);
    RDL_AWAIT_ALL(self->f, 2);
    fut_enter(args->at, args->n);
    RDL_DROP(self->f[0]);
    RDL_DROP(self->f[1]);
    fut_leave(args->at, args->n);
    RDL_YIELD();
    fut_enter(args->at, args->n);
  }
  fut_leave(args->at, args->n);
  RDL_RETURN(args->n);
  RDL_END();
}

/* ---- FUT 2, 4, 6, 7, 9 ---- */

RDL_TASK(fut_wait_event, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->e);
  if (args->at) rdl_atomic_add(fut_word(args->at, args->k), 1u);
  RDL_RETURN(args->n);
  RDL_END();
}

/* Counts its resumptions in word k and gives one more than the awaited future. */
RDL_TASK(fut_wait, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  if (args->at) rdl_atomic_add(fut_word(args->at, args->k), 1u);
  RDL_RETURN(RDL_RESULT(uint, args->f) + 1);
  RDL_END();
}

/* Puts its handle at number n, says so in the word behind `k` handles, and waits. */
RDL_TASK(fut_show_self, RDL_NONE, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AT(rdl_future, args->at)[args->n] = RDL_SELF();
  rdl_atomic_add(fut_word(args->at, 2 * args->k), 1u);
  RDL_AWAIT_EVENT(args->e);
  RDL_END();
}

/* Gives what the future whose handle stands at number n came to. */
RDL_TASK(fut_wait_shown, uint, struct fut_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_CATCH(outcome, RDL_AT(rdl_future, args->at)[args->n]);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Awaits a finished future n times; none of that may suspend. */
RDL_TASK(fut_wait_again, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  self->f = args->f;
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_AWAIT(args->f);
    RDL_AWAIT_ALL(&self->f, 1);
    RDL_AWAIT_FOR(outcome, args->f, 1000000);
    if (outcome) RDL_FAIL(outcome);
  }
  RDL_RETURN(RDL_RESULT(uint, args->f));
  RDL_END();
}

/* Gives status and code of what it awaited: code << 8 | status. */
RDL_TASK(fut_catch, uint, struct fut_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_CATCH(outcome, args->f);
  RDL_RETURN(outcome | RDL_FAILURE_CODE() << 8);
  RDL_END();
}

RDL_TASK(fut_wait_for, uint, struct fut_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_FOR(outcome, args->f, (ulong)args->k * 1000u);
  RDL_RETURN(outcome);
  RDL_END();
}

/* Passes its deadline first, then awaits for good. */
RDL_TASK(fut_late, uint, struct fut_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_FOR(outcome, args->f, (ulong)args->k * 1000u);
  if (outcome != RDL_TIMEOUT) RDL_FAIL(outcome);
  rdl_atomic_store(fut_word(args->at, 0), 1u);
  RDL_AWAIT(args->f);
  RDL_RETURN(RDL_RESULT(uint, args->f));
  RDL_END();
}

/* The kinds of await with a deadline, on what does not come: a bit each that timed out. */
RDL_TASK(fut_deadlines, uint, struct fut_args, struct fut_pair) {
  uint outcome, which;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  RDL_AWAIT_FOR(outcome, args->f, 1000000);
  if (outcome == RDL_TIMEOUT) self->k |= 1u;
  RDL_AWAIT_ALL_FOR(outcome, self->f, 2, 1000000);
  if (outcome == RDL_TIMEOUT) self->k |= 2u;
  RDL_AWAIT_ANY_FOR(outcome, which, self->f, 2, 1000000);
  if (outcome == RDL_TIMEOUT && which == 2) self->k |= 4u;
  RDL_AWAIT_EVENT_FOR(outcome, args->e, 1000000);
  if (outcome == RDL_TIMEOUT) self->k |= 8u;
  RDL_AWAIT_COUNT_FOR(outcome, args->e, 5, 1000000);
  if (outcome == RDL_TIMEOUT) self->k |= 16u;
  RDL_RETURN(self->k);
  RDL_END();
}

RDL_TASK(fut_sleep, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SLEEP((ulong)args->k * 1000u);
  RDL_RETURN(args->at ? rdl_atomic_add(fut_word(args->at, 0), 1u) : args->n);
  RDL_END();
}

/* n children, all awaited: the sum of 0 .. n-1. With k = 1 the first half has ended before. */
RDL_TASK(fut_all, uint, struct fut_args, struct fut_set) {
  uint k, sum;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f[self->k], fut_yield_leaf, .n = self->k, .k = self->k % 4);
    if (args->k && self->k < args->n / 2) RDL_AWAIT(self->f[self->k]);
  }
  RDL_AWAIT_ALL(self->f, args->n);
  sum = 0;
  for (k = 0; k < args->n; k++)
    sum += RDL_RESULT(uint, self->f[k]);
  RDL_RETURN(sum);
  RDL_END();
}

/* The same future twice in a set. */
RDL_TASK(fut_all_twice, uint, struct fut_args, struct fut_pair) {
  RDL_BEGIN();
  self->f[0] = self->f[1] = args->f;
  RDL_AWAIT_ALL(self->f, 2);
  RDL_RETURN(RDL_RESULT(uint, args->f) * 2);
  RDL_END();
}

RDL_TASK(fut_all_catch, uint, struct fut_args, struct fut_pair) {
  uint outcome;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  RDL_AWAIT_ALL_CATCH(outcome, self->f, 2);
  RDL_RETURN(outcome | RDL_FAILURE_CODE() << 8);
  RDL_END();
}

/* Index of the first that ends of f, g: index << 16 | its result. */
RDL_TASK(fut_any, uint, struct fut_args, struct fut_pair) {
  uint which;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  RDL_AWAIT_ANY(which, self->f, 2);
  RDL_RETURN(which << 16 | RDL_RESULT(uint, self->f[which]));
  RDL_END();
}

RDL_TASK(fut_any_catch, uint, struct fut_args, struct fut_pair) {
  uint which, outcome;
  RDL_BEGIN();
  self->f[0] = args->f;
  self->f[1] = args->g;
  RDL_AWAIT_ANY_CATCH(outcome, which, self->f, 2);
  RDL_RETURN(outcome | which << 16);
  RDL_END();
}

RDL_TASK(fut_any_none, uint, struct fut_args, struct fut_pair) {
  uint which, outcome;
  RDL_BEGIN();
  RDL_AWAIT_ANY_CATCH(outcome, which, self->f, 0);
  RDL_RETURN(which ? 99 : outcome);
  RDL_END();
}

/* Any of n children that count themselves; all others still run to their end. Gives the index. */
RDL_TASK(fut_any_rest, uint, struct fut_args, struct fut_set) {
  uint which;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f[self->k], fut_wait_event, .at = args->at,
              .e = self->k == 3 ? args->d : args->e);
  RDL_AWAIT_ANY(which, self->f, args->n);
  rdl_atomic_store(fut_word(args->at, 1), which + 1u);
  self->k = which;
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}

/* The first of n; the losers wait for an event that never comes and are cancelled. */
RDL_TASK(fut_first, uint, struct fut_args, struct fut_set) {
  uint which;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f[self->k], fut_wait_event, .e = self->k == 5 ? args->d : args->e,
              .n = self->k);
  RDL_AWAIT_FIRST(which, self->f, args->n);
  RDL_RETURN(which << 16 | RDL_RESULT(uint, self->f[which]));
  RDL_END();
}

/* Both futures of an any end at about the same time, k times. */
RDL_TASK(fut_any_race, uint, struct fut_args, struct fut_pair) {
  uint which, outcome;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f[0], fut_yield_leaf, .n = 10, .k = self->k & 1u);
    RDL_SPAWN(self->f[1], fut_yield_leaf, .n = 11, .k = self->k >> 1 & 1u);
    RDL_AWAIT_ANY_CATCH(outcome, which, self->f, 2);
    if (outcome || which > 1) RDL_FAIL(1);
    if (RDL_RESULT(uint, self->f[which]) != 10 + which) RDL_FAIL(2);
    RDL_AWAIT_ALL(self->f, 2);
    RDL_DROP(self->f[0]);
    RDL_DROP(self->f[1]);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* ---- FUT 3 ---- */

/* One long segment. */
RDL_TASK(fut_long, uint, struct fut_args, RDL_NONE) {
  uint k, x = args->n;
  RDL_BEGIN();
  for (k = 0; k < args->k; k++)
    x = fut_hash(x + k);
  rdl_atomic_store(fut_word(args->at, 0), x);
  RDL_RETURN(args->n);
  RDL_END();
}

/* Fills k words from word n on, every lane its share. */
RDL_TASK(fut_fill, uint, struct fut_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  for (k = rdl_lane(); k < args->k; k += rdl_lanes())
    *fut_word(args->at, args->n + k) = fut_hash(args->n + k);
  rdl_sync();
  RDL_RETURN(args->n);
  RDL_END();
}

/* A child fills k words from word n on; wrong words are counted. Gives their number. */
RDL_TASK(fut_see, uint, struct fut_args, struct fut_one) {
  uint k, wrong;
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_fill, .at = args->at, .n = args->n * args->k, .k = args->k);
  RDL_AWAIT(self->f);
  wrong = 0;
  for (k = rdl_lane(); k < args->k; k += rdl_lanes())
    if (*fut_word(args->at, args->n * args->k + k) != fut_hash(args->n * args->k + k)) wrong++;
  RDL_RETURN(rdl_reduce_add_u32(wrong));
  RDL_END();
}

/* Adds one to k words that the awaited future has written; fails when they are not all n. */
RDL_TASK(fut_hand_over, uint, struct fut_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  if (args->n) RDL_AWAIT(args->f);
  for (k = 0; k < args->k; k++) {
    if (*fut_word(args->at, k) != args->n) RDL_FAIL(1 + args->n);
    *fut_word(args->at, k) = args->n + 1;
  }
  RDL_RETURN(args->n + 1);
  RDL_END();
}

/* Lanes whose bit is set in n have a child each, which fills k words; wrong words, results and
   handles are counted. Gives the children << 16 | what was wrong. */
RDL_TASK_LANES(fut_see_lanes, uint, struct fut_args, RDL_NONE, struct fut_one) {
  uint wants = args->n >> (rdl_lane() & 31u) & 1u;
  uint first = rdl_lane() * args->k;
  uint k, wrong;
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine->f, wants, fut_fill, .at = args->at, .n = first, .k = args->k);
  RDL_AWAIT_CHILDREN();
  wrong = (mine->f.index != 0) != wants || (mine->f.generation != 0) != wants;
  if (wants) {
    for (k = 0; k < args->k; k++)
      if (*fut_word(args->at, first + k) != fut_hash(first + k)) wrong++;
    if (RDL_RESULT(uint, mine->f) != first) wrong++;
  }
  RDL_RETURN(rdl_reduce_add_u32(wants) << 16 | rdl_reduce_add_u32(wrong));
  RDL_END();
}

/* The children of all lanes, awaited one after the other by handles that all lanes know. Gives
   whether each lane got the result of its own. */
RDL_TASK_LANES(fut_take_lanes, uint, struct fut_args, struct fut_one, struct fut_one) {
  uint result;
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine->f, 1, fut_yield_leaf, .n = args->n + rdl_lane(), .k = args->k);
  for (self->k = 0; self->k < rdl_lanes(); self->k++) {
    self->f = rdl_broadcast_future(mine->f, self->k);
    RDL_AWAIT(self->f);
    RDL_TAKE(result, uint, self->f);
    if (self->k == rdl_lane()) mine->k = result;
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->k != args->n + rdl_lane()) == 0);
  RDL_END();
}

/* ---- FUT 13 ---- */

/* Nine words of several sizes. */
struct fut_lane {
  ulong wide;
  uint sum[5];
  uchar odd[3];
};

/* Sums and marks differ from lane to lane, and must stand through awaits that suspend, awaits that
   do not, and yields. Gives the last sum of lane 0. */
RDL_TASK_LANES(fut_lane_state, uint, struct fut_args, struct fut_one, struct fut_lane) {
  uint k;
  uint mark = args->n + rdl_lane();
  RDL_BEGIN();
  for (k = 0; k < 5; k++)
    if (rdl_ballot(mine->sum[k] != 0)) RDL_FAIL(1);
  if (rdl_ballot(mine->wide || mine->odd[0] || mine->odd[1] || mine->odd[2])) RDL_FAIL(2);
  mine->wide = (ulong)mark << 33 | 1u;
  mine->odd[2] = (uchar)mark;
  mine->sum[4] = mark;
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_SPAWN(self->f, fut_yield_leaf, .k = self->k % 3);
    RDL_AWAIT(self->f);
    mine->sum[self->k % 4] += mark;
    RDL_YIELD();
    mine->sum[4] = fut_hash(mine->sum[4] + mine->sum[self->k % 4]);
    RDL_AWAIT(self->f);
    RDL_DROP(self->f);
    if (rdl_ballot(mine->wide != ((ulong)mark << 33 | 1u))) RDL_FAIL(3);
    if (rdl_ballot(mine->odd[2] != (uchar)mark || mine->odd[0])) RDL_FAIL(4);
  }
  RDL_RETURN(rdl_broadcast_u32(mine->sum[4], 0));
  RDL_END();
}

/* Fails, or is cancelled, or ends with a state of its lanes that must not reach the next one. */
RDL_TASK_LANES(fut_lane_ends, RDL_NONE, struct fut_args, RDL_NONE, struct fut_lane) {
  RDL_BEGIN();
  mine->wide = 0xffffffffu;
  mine->sum[0] = mine->sum[4] = 77;
  RDL_YIELD();
  if (args->n == 1) RDL_FAIL(mine->sum[0]);
  if (args->n == 2) RDL_AWAIT_EVENT(args->e);
  RDL_END();
}

/* ---- FUT 5: byte k of a result of n bytes is seed + k ---- */

struct fut_1 {
  uchar b[1];
};
struct fut_3 {
  uchar b[3];
};
struct fut_8 {
  uchar b[8];
};
struct fut_16 {
  uchar b[16];
};
struct fut_17 {
  uchar b[17];
};
struct fut_32 {
  uchar b[32];
};
struct fut_100 {
  uchar b[100];
};
struct fut_1025 {
  uchar b[1025];
};
struct fut_4096 {
  uchar b[4096];
};
struct fut_8192 {
  uchar b[8192];
};

RDL_TASK(fut_give_1, struct fut_1, struct fut_args, RDL_NONE) {
  struct fut_1 out;
  RDL_BEGIN();
  out.b[0] = (uchar)args->n;
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_3, struct fut_3, struct fut_args, RDL_NONE) {
  struct fut_3 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 3; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_8, struct fut_8, struct fut_args, RDL_NONE) {
  struct fut_8 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 8; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_16, struct fut_16, struct fut_args, RDL_NONE) {
  struct fut_16 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 16; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_17, struct fut_17, struct fut_args, RDL_NONE) {
  struct fut_17 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 17; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_32, struct fut_32, struct fut_args, RDL_NONE) {
  struct fut_32 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 32; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_100, struct fut_100, struct fut_args, RDL_NONE) {
  struct fut_100 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 100; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_1025, struct fut_1025, struct fut_args, RDL_NONE) {
  struct fut_1025 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 1025; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_4096, struct fut_4096, struct fut_args, RDL_NONE) {
  struct fut_4096 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 4096; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_TASK(fut_give_8192, struct fut_8192, struct fut_args, RDL_NONE) {
  struct fut_8192 out;
  uint k;
  RDL_BEGIN();
  for (k = 0; k < 8192; k++)
    out.b[k] = (uchar)(args->n + k);
  RDL_RETURN(out);
  RDL_END();
}

RDL_FN uint fut_wrong(RDL_GLOBAL const uchar *b, uint bytes, uint seed) {
  uint k, wrong = 0;
  for (k = 0; k < bytes; k++)
    if (b[k] != (uchar)(seed + k)) wrong++;
  return wrong;
}

/* Reads results of all sizes on the device; gives the number of wrong bytes. */
RDL_TASK(fut_read_results, uint, struct fut_args, struct fut_set) {
  uint wrong;
  RDL_BEGIN();
  RDL_SPAWN(self->f[0], fut_give_1, .n = args->n);
  RDL_SPAWN(self->f[1], fut_give_3, .n = args->n);
  RDL_SPAWN(self->f[2], fut_give_16, .n = args->n);
  RDL_SPAWN(self->f[3], fut_give_17, .n = args->n);
  RDL_SPAWN(self->f[4], fut_give_1025, .n = args->n);
  RDL_SPAWN(self->f[5], fut_give_8192, .n = args->n);
  RDL_AWAIT_ALL(self->f, 6);
  wrong = fut_wrong(&RDL_RESULT(uchar, self->f[0]), 1, args->n);
  wrong += fut_wrong(&RDL_RESULT(uchar, self->f[1]), 3, args->n);
  wrong += fut_wrong(&RDL_RESULT(uchar, self->f[2]), 16, args->n);
  wrong += fut_wrong(&RDL_RESULT(uchar, self->f[3]), 17, args->n);
  wrong += fut_wrong(&RDL_RESULT(uchar, self->f[4]), 1025, args->n);
  wrong += fut_wrong(&RDL_RESULT(uchar, self->f[5]), 8192, args->n);
  RDL_RETURN(wrong);
  RDL_END();
}

/* ---- FUT 6 ---- */

/* k links; the last one fails with code n. */
RDL_TASK(fut_fail_chain, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  if (args->k == 0) RDL_FAIL(args->n);
  RDL_SPAWN(self->f, fut_fail_chain, .n = args->n, .k = args->k - 1);
  RDL_AWAIT(self->f);
  RDL_RETURN(0);
  RDL_END();
}

/* One child fails with code n and is awaited; the other fails later with n + 1. */
RDL_TASK(fut_fail_twice, uint, struct fut_args, struct fut_pair) {
  RDL_BEGIN();
  RDL_SPAWN(self->f[0], fut_fail, .n = args->n);
  RDL_SPAWN(self->f[1], fut_fail_chain, .n = args->n + 1, .k = 8);
  RDL_AWAIT(self->f[0]);
  RDL_RETURN(0);
  RDL_END();
}

/* Catches code n and then fails by itself with n + 100. */
RDL_TASK(fut_fail_after_catch, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_fail, .n = args->n);
  RDL_AWAIT_CATCH(outcome, self->f);
  if (outcome != RDL_FAILED || RDL_FAILURE_CODE() != args->n) RDL_FAIL(1);
  RDL_FAIL(args->n + 100);
  RDL_END();
}

/* A child that nobody awaits fails: that is no failure of this one. */
RDL_TASK(fut_fail_unseen, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_fail, .n = args->n);
  RDL_RETURN(5);
  RDL_END();
}

/* Counts itself in word 0; number k fails with code 9. */
RDL_TASK(fut_fail_one, RDL_NONE, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(fut_word(args->at, 0), 1u);
  if (args->n == args->k) RDL_FAIL(9);
  RDL_END();
}

/* All children, one of which fails with 7: children are caught all at once. */
RDL_TASK(fut_children_catch, uint, struct fut_args, struct fut_set) {
  uint outcome;
  RDL_BEGIN();
  for (self->k = 0; self->k < 10; self->k++)
    RDL_SPAWN(self->f[self->k], fut_leaf, .n = self->k);
  RDL_SPAWN(self->f[10], fut_fail, .n = 7);
  RDL_AWAIT_CHILDREN_CATCH(outcome);
  RDL_RETURN(outcome | RDL_FAILURE_CODE() << 8);
  RDL_END();
}

/* ---- FUT 7 ---- */

/* Never ends by itself. Word 0 says that it runs. */
RDL_TASK(fut_yield_for_ever, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  for (;;) {
    rdl_atomic_store(fut_word(args->at, args->n), 1u);
    RDL_YIELD();
  }
  RDL_END();
}

/* Looks for its cancellation inside one segment, up to a limit. */
RDL_TASK(fut_look_for_cancel, uint, struct fut_args, RDL_NONE) {
  uint k;
  RDL_BEGIN();
  rdl_atomic_store(fut_word(args->at, 0), 1u);
  for (k = 0; k < 0x20000000u && !RDL_CANCELLED(); k++) {
  }
  rdl_atomic_store(fut_word(args->at, 1), k < 0x20000000u ? 1u : 2u);
  RDL_RETURN(0);
  RDL_END();
}

/* Waits; when cancelled it cleans up with further awaits, which work again. */
RDL_TASK(fut_clean_up, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  if (outcome != RDL_CANCELLED) RDL_FAIL(outcome);
  rdl_atomic_add(fut_word(args->at, 0), 1u);
  RDL_SLEEP(1000000);
  rdl_atomic_add(fut_word(args->at, 0), 10u);
  RDL_SPAWN(self->f, fut_leaf, .n = 100);
  RDL_AWAIT(self->f);
  rdl_atomic_add(fut_word(args->at, 0), RDL_RESULT(uint, self->f));
  RDL_YIELD();
  rdl_atomic_add(fut_word(args->at, 0), 1000u);
  RDL_RETURN(1);
  RDL_END();
}

/* n children that wait for the event, and the parent waits for them; with k = 1 it returns. */
RDL_TASK(fut_parent, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, fut_wait_event, .at = args->at, .e = args->e);
  if (args->k) RDL_RETURN(3);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(4);
  RDL_END();
}

/* A chain of k parents, each waiting for the next; the last waits for the event. */
RDL_TASK(fut_deep, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  if (args->k == 0) RDL_AWAIT_EVENT(args->e);
  if (args->k == 0) RDL_RETURN(0);
  RDL_SPAWN(self->f, fut_deep, .e = args->e, .k = args->k - 1);
  RDL_AWAIT(self->f);
  RDL_RETURN(RDL_RESULT(uint, self->f) + 1);
  RDL_END();
}

/* Spawns and cancels in one segment; gives what the child came to. */
RDL_TASK(fut_cancel_child, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_count, .at = args->at);
  RDL_CANCEL(self->f);
  RDL_AWAIT_CATCH(outcome, self->f);
  RDL_RETURN(outcome);
  RDL_END();
}

RDL_TASK(fut_cancel_other, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_CANCEL(args->f);
  RDL_RETURN(1);
  RDL_END();
}

RDL_TASK(fut_cancel_self, uint, struct fut_args, RDL_NONE) {
  uint outcome;
  RDL_BEGIN();
  RDL_CANCEL(RDL_SELF());
  RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  rdl_atomic_store(fut_word(args->at, 0), 1u + outcome);
  RDL_RETURN(1);
  RDL_END();
}

/* Cancels children that end at about that time: each ends well or is cancelled. */
RDL_TASK(fut_cancel_race, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f, fut_yield_leaf, .n = 1, .k = self->k % 4);
    if (self->k & 1u) RDL_YIELD();
    RDL_CANCEL(self->f);
    RDL_AWAIT_CATCH(outcome, self->f);
    if (outcome != RDL_OK && outcome != RDL_CANCELLED) RDL_FAIL(1 + outcome);
    RDL_DROP(self->f);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* Leaves a child behind that waits for the event: at once, or with k = 1 a little after word 1
 * tells it to. */
RDL_TASK(fut_leaves, RDL_NONE, struct fut_args, struct fut_one) {
  uint k;
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_wait_event, .at = args->at, .e = args->e);
  rdl_atomic_add(fut_word(args->at, 0), 1u);
  for (k = 0; args->k && k < 0x40000u && !rdl_atomic_load(fut_word(args->at, 1)); k++) {
  }
  for (k = 0; k < args->n; k++)
    rdl_atomic_load(fut_word(args->at, 2));
  RDL_END();
}

/* Cancels children that have returned, and then, a little after it has told it to return, one that
 * is no child of it. */
RDL_TASK(fut_cancels_leaver, uint, struct fut_args, struct fut_set) {
  uint outcome, k;
  RDL_BEGIN();
  for (self->k = 0; self->k < 8u; self->k++)
    RDL_SPAWN(self->f[self->k], fut_leaves, .at = args->at, .e = args->e);
  while (rdl_atomic_load(fut_word(args->at, 0)) < 9u)
    RDL_YIELD();
  rdl_atomic_store(fut_word(args->at, 1), 1u);
  for (k = 0; k < 8u; k++)
    RDL_CANCEL(self->f[k]);
  for (k = 0; k < args->n; k++)
    rdl_atomic_load(fut_word(args->at, 2));
  RDL_CANCEL(args->f);
  RDL_AWAIT_CHILDREN_CATCH(outcome);
  RDL_RETURN(outcome);
  RDL_END();
}

/* ---- FUT 8 ---- */

/* Takes n children one after the other and then awaits the first again. */
RDL_TASK(fut_reuse, uint, struct fut_args, struct fut_pair) {
  uint outcome, value;
  RDL_BEGIN();
  RDL_SPAWN(self->f[0], fut_leaf, .n = 0);
  RDL_AWAIT(self->f[0]);
  RDL_TAKE(value, uint, self->f[0]);
  for (self->k = 1; self->k <= args->n; self->k++) {
    RDL_SPAWN(self->f[1], fut_leaf, .n = self->k);
    if (self->f[1].index == self->f[0].index && self->f[1].generation == self->f[0].generation)
      RDL_FAIL(3);
    RDL_AWAIT(self->f[1]);
    RDL_TAKE(value, uint, self->f[1]);
    if (value != self->k) RDL_FAIL(1);
    RDL_AWAIT_CATCH(outcome, self->f[0]);
    if (outcome != RDL_STALE) RDL_FAIL(2);
  }
  RDL_RETURN(self->k - 1);
  RDL_END();
}

/* Publishes handles of children that end and are reused at once, until the watcher has seen n. */
RDL_TASK(fut_publish, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k && rdl_atomic_load(fut_word(args->at, 3)) == 0; self->k++) {
    RDL_SPAWN(self->f, fut_leaf, .n = self->k);
    rdl_atomic_store(fut_word(args->at, 0), 0u);
    rdl_atomic_store(fut_word(args->at, 1), self->f.generation);
    rdl_atomic_store(fut_word(args->at, 0), self->f.index);
    RDL_AWAIT(self->f);
    RDL_DROP(self->f);
    if (self->k % 64 == 0) RDL_YIELD();
  }
  rdl_atomic_store(fut_word(args->at, 2), 1u);
  RDL_RETURN(self->k);
  RDL_END();
}

/* Awaits what is published; a slot that is reused between the look and the wait must not matter. */
RDL_TASK(fut_chase, uint, struct fut_args, struct fut_one) {
  uint outcome;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n && rdl_atomic_load(fut_word(args->at, 2)) == 0; self->k++) {
    self->f.index = rdl_atomic_load(fut_word(args->at, 0));
    self->f.generation = rdl_atomic_load(fut_word(args->at, 1));
    if (self->f.index) {
      RDL_AWAIT_CATCH(outcome, self->f);
      if (outcome != RDL_OK && outcome != RDL_STALE) RDL_FAIL(1 + outcome);
    }
    if (self->k % 16 == 0) RDL_YIELD();
  }
  rdl_atomic_store(fut_word(args->at, 3), 1u);
  RDL_RETURN(self->k);
  RDL_END();
}

/* The result of a handle that is not good is nobody's: the task fails. */
RDL_TASK(fut_read_bad, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(RDL_RESULT(uint, args->f));
  RDL_END();
}

/* Reads a result as 100 bytes. Word 0 becomes 1 + how many of them are not zero. */
RDL_TASK(fut_read_100, uint, struct fut_args, RDL_NONE) {
  RDL_GLOBAL const uchar *bytes;
  uint k, others = 0;
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  bytes = RDL_RESULT(struct fut_100, args->f).b;
  for (k = 0; k < 100; k++)
    if (bytes[k]) others++;
  rdl_atomic_store(fut_word(args->at, 0), 1u + others);
  RDL_RETURN(5);
  RDL_END();
}

/* The same of a child with a result of 4 bytes, which it takes. */
RDL_TASK(fut_take_100, uint, struct fut_args, struct fut_one) {
  struct fut_100 taken;
  uint k, others = 0;
  RDL_BEGIN();
  RDL_SPAWN(self->f, fut_leaf, .n = 0xffffffffu);
  RDL_AWAIT(self->f);
  RDL_TAKE(taken, struct fut_100, self->f);
  for (k = 0; k < 100; k++)
    if (taken.b[k]) others++;
  rdl_atomic_store(fut_word(args->at, 0), 1u + others);
  RDL_RETURN(5);
  RDL_END();
}

/* What belongs to somebody else can be neither taken nor detached. */
RDL_TASK(fut_take_foreign, uint, struct fut_args, RDL_NONE) {
  uint value;
  RDL_BEGIN();
  RDL_AWAIT(args->f);
  RDL_TAKE(value, uint, args->f);
  RDL_RETURN(value);
  RDL_END();
}

/* ---- FUT 9 ---- */

/* The order in which futures run: gives the count it found. */
RDL_TASK(fut_order, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(rdl_atomic_add(fut_word(args->at, 0), 1u));
  RDL_END();
}

/* The same behind an event, if there is one, or fails with code n. */
RDL_TASK(fut_member, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->e.index) RDL_AWAIT_EVENT(args->e);
  if (args->n) RDL_FAIL(args->n);
  RDL_RETURN(rdl_atomic_add(fut_word(args->at, 0), 1u));
  RDL_END();
}

/* Says in word 0 that it has begun and waits for an event. */
RDL_TASK(fut_begun, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_store(fut_word(args->at, 0), 1u);
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(args->n);
  RDL_END();
}

/* ---- FUT 10 ---- */

RDL_TASK(fut_fib, uint, struct fut_args, struct fut_pair) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->f[0], fut_fib, .n = args->n - 1);
  RDL_SPAWN(self->f[1], fut_fib, .n = args->n - 2);
  RDL_AWAIT(self->f[0]);
  RDL_AWAIT(self->f[1]);
  RDL_RETURN(RDL_RESULT(uint, self->f[0]) + RDL_RESULT(uint, self->f[1]));
  RDL_END();
}

struct fut_board {
  uint size;
  uint columns;
  uint left;
  uint right;
};

struct fut_row {
  rdl_future f[8];
  uint count;
  uint sum;
};

RDL_TASK(fut_queens, uint, struct fut_board, struct fut_row) {
  uint all, open, bit, k;
  RDL_BEGIN();
  all = (1u << args->size) - 1u;
  if (args->columns == all) RDL_RETURN(1);
  self->count = 0;
  for (open = all & ~(args->columns | args->left | args->right); open; open &= open - 1u) {
    bit = open & (~open + 1u);
    RDL_SPAWN(self->f[self->count], fut_queens, .size = args->size, .columns = args->columns | bit,
              .left = (args->left | bit) << 1, .right = (args->right | bit) >> 1);
    self->count++;
  }
  RDL_AWAIT_ALL(self->f, self->count);
  self->sum = 0;
  for (k = 0; k < self->count; k++)
    self->sum += RDL_RESULT(uint, self->f[k]);
  RDL_RETURN(self->sum);
  RDL_END();
}

/* Number of nodes of a tree whose shape a hash decides. */
RDL_TASK(fut_uneven, uint, struct fut_args, struct fut_row) {
  uint k;
  RDL_BEGIN();
  self->count = args->k ? fut_hash(args->n) % 6u : 0u;
  if (args->k > 7u) self->count = 4;
  for (self->sum = 0; self->sum < self->count; self->sum++)
    RDL_SPAWN(self->f[self->sum], fut_uneven, .n = fut_hash(args->n + self->sum), .k = args->k - 1);
  RDL_AWAIT_CHILDREN();
  self->sum = 1;
  for (k = 0; k < self->count; k++)
    self->sum += RDL_RESULT(uint, self->f[k]);
  RDL_RETURN(self->sum);
  RDL_END();
}

RDL_TASK(fut_chain, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  if (args->n == 0) RDL_RETURN(0);
  RDL_SPAWN(self->f, fut_chain, .n = args->n - 1);
  RDL_AWAIT(self->f);
  RDL_RETURN(RDL_RESULT(uint, self->f) + 1);
  RDL_END();
}

/* n children that count themselves; they are freed with their parent, or dropped with k = 1. */
RDL_TASK(fut_wide, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->f, fut_count, .at = args->at);
    if (args->k) RDL_DETACH(self->f);
  }
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(self->k);
  RDL_END();
}

/* ---- FUT 12 ---- */

/* Returns while its n children, which count themselves, may still run. */
RDL_TASK(fut_forget, uint, struct fut_args, struct fut_one) {
  RDL_BEGIN();
  for (self->k = 0; self->k < args->n; self->k++)
    RDL_SPAWN(self->f, fut_count, .at = args->at);
  RDL_RETURN(self->k);
  RDL_END();
}

/* Waits k times, each a microsecond, for any of the 64 futures that stand at `at`. */
RDL_TASK(fut_any_again, uint, struct fut_args, struct fut_set) {
  uint outcome, which;
  RDL_BEGIN();
  for (which = 0; which < 64; which++)
    self->f[which] = RDL_AT(rdl_future, args->at)[which];
  for (self->k = 0; self->k < args->k; self->k++) {
    RDL_AWAIT_ANY_FOR(outcome, which, self->f, 64, 1000);
    if (outcome != RDL_TIMEOUT || which != 64) RDL_FAIL(outcome);
  }
  RDL_RETURN(self->k);
  RDL_END();
}

/* One segment from word 0 being set until word 1 is. */
RDL_TASK(fut_hold, uint, struct fut_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_store(fut_word(args->at, 0), 1u);
  while (rdl_atomic_load(fut_word(args->at, 1)) == 0) {
  }
  RDL_RETURN(args->n);
  RDL_END();
}
