/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the POR cases about lanes: each is right with one lane and with many. A small file, for
 * it is compiled once for every width. */

struct lan_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct lan_state {
  rdl_future f;
  uint round;
  uint sum;
};

struct lan_many {
  rdl_future f[8];
  uint round;
};

struct lan_mine {
  rdl_future child;
  uint sum;
  uint value;
};

RDL_FN uint lan_mix(uint x, uint y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}

RDL_TASK(lan_notes, RDL_NONE, struct lan_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(RDL_AT(uint, args->at) + args->n, 1u);
  RDL_END();
}

RDL_TASK(lan_leaf, uint, struct lan_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->k) RDL_YIELD();
  RDL_RETURN(lan_mix(args->n, args->k));
  RDL_END();
}

/* ---- barriers in loops that hold an await ---- */

/* What another lane has written in this turn, by one, two and three barriers a turn. Two halves in
 * turn where only one barrier stands between a read and the next write. */
RDL_TASK_LANES(lan_one, uint, struct lan_args, struct lan_state, struct lan_mine) {
  RDL_GLOBAL uint *part;
  RDL_BEGIN();
  for (self->round = 0; self->round < args->n; self->round++) {
    part = RDL_AT(uint, args->at) + self->round % 2u * rdl_lanes();
    part[rdl_lane()] = lan_mix(self->round, rdl_lane());
    rdl_sync();
    mine->sum = lan_mix(mine->sum, part[(rdl_lane() + self->round) % rdl_lanes()]);
    RDL_YIELD();
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

RDL_TASK_LANES(lan_two, uint, struct lan_args, struct lan_state, struct lan_mine) {
  RDL_GLOBAL uint *all = RDL_AT(uint, args->at);
  RDL_BEGIN();
  for (self->round = 0; self->round < args->n; self->round++) {
    all[rdl_lane()] = lan_mix(self->round, rdl_lane());
    rdl_sync();
    mine->sum = lan_mix(mine->sum, all[(rdl_lane() + self->round) % rdl_lanes()]);
    rdl_sync();
    RDL_SPAWN(self->f, lan_leaf, .n = self->round, .k = 1);
    RDL_AWAIT(self->f);
    if (rdl_ballot(RDL_RESULT(uint, self->f) != lan_mix(self->round, 1))) RDL_FAIL(2);
    RDL_DROP(self->f);
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

/* The last lane tells the first, in memory of the lanes, and that all. */
RDL_TASK_LANES(lan_three, uint, struct lan_args, struct lan_state, struct lan_mine) {
  RDL_SCRATCH(uint, all, 66);
  RDL_BEGIN();
  for (self->round = 0; self->round < args->n; self->round++) {
    all[rdl_lane()] = lan_mix(self->round, rdl_lane());
    rdl_sync();
    if (rdl_lane() == rdl_lanes() - 1u) all[64] = all[self->round % rdl_lanes()];
    rdl_sync();
    if (rdl_lane() == 0u) all[65] = all[64] + 1u;
    rdl_sync();
    mine->sum = lan_mix(mine->sum, all[65]);
    RDL_YIELD();
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

/* ---- words of all lanes ---- */

/* Each word with another number in every lane; what lane k has seen comes to at[k]. Lanes come
 * late, each later than the last. */
RDL_TASK(lan_words, uint, struct lan_args, RDL_NONE) {
  uint v = lan_mix(args->k, rdl_lane()), late = 0, sum, k;
  float f = (float)(v % 1000u) * 0.5f;
  RDL_BEGIN();
  for (k = 0; k < 20u * rdl_lane(); k++)
    late = lan_mix(late, k);
  sum = lan_mix(0, rdl_reduce_add_u32(v));
  sum = lan_mix(sum, rdl_reduce_min_u32(v));
  sum = lan_mix(sum, rdl_reduce_max_u32(v));
  sum = lan_mix(sum, rdl_scan_add_u32(v));
  sum = lan_mix(sum, rdl_broadcast_u32(v, args->n));
  sum = lan_mix(sum, (uint)rdl_ballot(v & 1u));
  sum = lan_mix(sum, (uint)(rdl_ballot(v & 1u) >> 32));
  sum = lan_mix(sum, (uint)rdl_reduce_add_f32(f));
  sum = lan_mix(sum, (uint)(2.0f * rdl_reduce_min_f32(f)));
  sum = lan_mix(sum, (uint)(2.0f * rdl_reduce_max_f32(f)));
  sum = lan_mix(sum, (uint)(2.0f * rdl_scan_add_f32(f)));
  sum = lan_mix(sum, (uint)(2.0f * rdl_broadcast_f32(f, rdl_lanes() - 1u)));
  RDL_AT(uint, args->at)[rdl_lane()] = sum;
  RDL_RETURN(rdl_lanes() + (late == 12345u));
  RDL_END();
}

/* ---- words that the first lane does for all ---- */

/* Spawns, takes, drops and detaches in every round; the handles must be alike in all lanes. */
RDL_TASK(lan_spawns, uint, struct lan_args, struct lan_many) {
  uint k, value, wrong;
  RDL_BEGIN();
  for (self->round = 0; self->round < args->n; self->round++) {
    for (k = 0; k < 8u; k++)
      RDL_SPAWN(self->f[k], lan_leaf, .n = self->round + k, .k = k % 2u);
    for (value = 0, k = 0; k < 8u; k++)
      value = lan_mix(value, self->f[k].index);
    if (rdl_reduce_min_u32(value) != value) RDL_FAIL(1);
    RDL_DETACH(self->f[7]);
    RDL_AWAIT_ALL(self->f, 7);
    wrong = 0;
    for (k = 0; k < 4u; k++) {
      RDL_TAKE(value, uint, self->f[k]);
      wrong += value != lan_mix(self->round + k, k % 2u);
    }
    for (k = 4; k < 7u; k++) {
      wrong += RDL_RESULT(uint, self->f[k]) != lan_mix(self->round + k, k % 2u);
      RDL_DROP(self->f[k]);
    }
    if (rdl_ballot(wrong != 0)) RDL_FAIL(2);
  }
  RDL_RETURN(self->round);
  RDL_SPAWNS(8);
  RDL_END();
}

/* A handle that was dropped is none: the task must fail, in all lanes. */
RDL_TASK(lan_twice, uint, struct lan_args, struct lan_state) {
  RDL_BEGIN();
  rdl_sync();
  RDL_SPAWN(self->f, lan_leaf, .n = 1);
  RDL_AWAIT(self->f);
  RDL_DROP(self->f);
  RDL_DROP(self->f);
  RDL_RETURN(1);
  RDL_END();
}

/* The last lane alone reads a result that is not there yet. */
RDL_TASK(lan_too_soon, uint, struct lan_args, struct lan_state) {
  uint value = 0;
  RDL_BEGIN();
  RDL_SPAWN(self->f, lan_leaf, .n = 1, .k = 1);
  if (rdl_lane() == rdl_lanes() - 1u) value = RDL_RESULT(uint, self->f);
  RDL_AWAIT(self->f);
  RDL_RETURN(value);
  RDL_END();
}

/* A child in the lanes whose bit is set in n, with arguments of each lane's own. */
RDL_TASK_LANES(lan_children, uint, struct lan_args, struct lan_state, struct lan_mine) {
  uint wants;
  RDL_BEGIN();
  for (self->round = 0; self->round < args->k; self->round++) {
    wants = lan_mix(args->n, self->round) >> rdl_lane() % 32u & 1u;
    RDL_SPAWN_LANES(mine->child, wants, lan_leaf, .n = self->round * 64u + rdl_lane(),
                    .k = rdl_lane() % 2u);
    RDL_AWAIT_CHILDREN();
    wants = lan_mix(args->n, self->round) >> rdl_lane() % 32u & 1u;
    mine->value = wants != (mine->child.index != 0);
    if (mine->child.index)
      mine->value +=
          RDL_RESULT(uint, mine->child) != lan_mix(self->round * 64u + rdl_lane(), rdl_lane() % 2u);
    mine->sum += mine->value;
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

/* ---- what lanes have written is seen by who is woken ---- */

/* Waits for the n-th signal and then looks at what all lanes wrote before it. */
RDL_TASK(lan_reader, uint, struct lan_args, struct lan_state) {
  RDL_GLOBAL const uint *all = RDL_AT(const uint, args->at);
  uint k, wrong = 0;
  RDL_BEGIN();
  for (self->round = 1; self->round <= args->n; self->round++) {
    RDL_AWAIT_COUNT(args->e, self->round);
    wrong = 0;
    for (k = rdl_lane(); k < args->k; k += rdl_lanes())
      wrong += rdl_atomic_load(all + k) < self->round; /* the writer may be ahead */
    self->sum += rdl_reduce_add_u32(wrong);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* Every lane writes its words, the last ones last, and all signal. */
RDL_TASK(lan_writer, RDL_NONE, struct lan_args, struct lan_state) {
  RDL_GLOBAL uint *all = RDL_AT(uint, args->at);
  uint k;
  RDL_BEGIN();
  for (self->round = 1; self->round <= args->n; self->round++) {
    for (k = rdl_lane(); k < args->k; k += rdl_lanes())
      rdl_atomic_store(all + k, self->round);
    RDL_SIGNAL(args->e, 1);
    RDL_YIELD();
  }
  RDL_END();
}

/* ---- a task that names no lanes is run by one ---- */

RDL_TASK(lan_once, RDL_NONE, struct lan_args, RDL_NONE) {
  RDL_GLOBAL uint *at = RDL_AT(uint, args->at);
  RDL_BEGIN();
  at[0]++;
  rdl_atomic_add(at + 1, 1u);
  RDL_YIELD();
  at[0]++;
  RDL_END();
}

RDL_TASK(lan_onces, RDL_NONE, struct lan_args, struct lan_state) {
  RDL_BEGIN();
  for (self->round = 0; self->round < args->n; self->round++) {
    RDL_SPAWN(self->f, lan_once, args->at);
    RDL_AWAIT(self->f);
    RDL_DROP(self->f);
  }
  RDL_END();
}

/* ---- a cancel that comes while the lanes work ---- */

/* Goes on until it is told to end; the lanes learn of it in the same round. at[0] tells that it
 * runs. */
RDL_TASK(lan_until, RDL_NONE, struct lan_args, struct lan_state) {
  uint round = 0;
  RDL_BEGIN();
  while (!RDL_CANCELLED()) {
    if (rdl_lane() == 0u) rdl_atomic_store(RDL_AT(uint, args->at), 1u);
    rdl_sync();
    round++;
  }
  if (rdl_reduce_max_u32(round) != round) RDL_FAIL(1);
  RDL_SIGNAL(args->e, 1);
  RDL_EXIT();
  RDL_END();
}

/* Parts with a child after it has learned of a cancel, when that is the first to be told. k: 0 =
 * lets it go, 1 = takes what it has come to. */
RDL_TASK(lan_parts, RDL_NONE, struct lan_args, struct lan_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, lan_leaf, .n = 1);
  if (args->k) RDL_AWAIT(self->f);
  while (!RDL_CANCELLED()) {
    if (rdl_lane() == 0u) rdl_atomic_store(RDL_AT(uint, args->at), 1u);
    rdl_sync();
  }
  if (args->k)
    RDL_DROP(self->f);
  else
    RDL_DETACH(self->f);
  RDL_EXIT();
  RDL_END();
}

/* Works for long after each lane has its child: none begins before its lane has written what it is
 * called with. */
RDL_TASK(lan_long, uint, struct lan_args, RDL_NONE) {
  rdl_future mine;
  uint k;
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine, 1, lan_notes, .at = args->at, .n = 1u + rdl_lane());
  if (!mine.index) RDL_FAIL(1);
  for (k = 0; k < args->k; k++)
    rdl_atomic_load(RDL_AT(uint, args->at));
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(1);
  RDL_END();
}

/* One member is done and a cancel has come: the cancel is what is told. */
RDL_TASK(lan_any, uint, struct lan_args, struct lan_many) {
  uint outcome, index;
  RDL_BEGIN();
  RDL_SPAWN(self->f[0], lan_leaf, .n = 1);
  RDL_AWAIT(self->f[0]);
  if (rdl_lane() == 0u) rdl_atomic_store(RDL_AT(uint, args->at), 1u);
  while (!rdl_atomic_load(RDL_AT(uint, args->at) + 1)) {
  }
  RDL_AWAIT_ANY_CATCH(outcome, index, self->f, 1);
  if (rdl_lane() == 0u) {
    rdl_atomic_store(RDL_AT(uint, args->at) + 2, outcome);
    rdl_atomic_store(RDL_AT(uint, args->at) + 3, index);
  }
  rdl_sync();
  RDL_RETURN(0);
  RDL_END();
}

RDL_TASK(lan_stop, RDL_NONE, struct lan_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_CANCEL(args->f);
  RDL_END();
}
