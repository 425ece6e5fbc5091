/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the cases about whole groups: each is right with any number of lanes, and with one. */

struct grp_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct grp_state {
  rdl_future f;
  rdl_future g;
  uint turn;
  uint sum;
};

struct grp_mine {
  rdl_future child;
  uint sum;
};

RDL_DECLARE(grp_down, uint, struct grp_args, struct grp_state)

RDL_FN uint grp_mix(uint x, uint y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}

/* Used by tasks of both widths. */
RDL_FN uint grp_sum_of_mixed(rdl_cx *rdl, uint seed) {
  return rdl_reduce_add_u32(grp_mix(seed, rdl_lane()));
}

/* ---- widths ---- */

RDL_TASK(grp_lanes, uint, struct grp_args, RDL_NONE) {
  RDL_GROUP();
  RDL_BEGIN();
  RDL_RETURN(rdl_lanes());
  RDL_END();
}

RDL_TASK(grp_lanes_of_warp, uint, struct grp_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_sync();
  RDL_RETURN(rdl_lanes());
  RDL_END();
}

/* Without the word, one lane runs it. */
RDL_TASK(grp_once, RDL_NONE, struct grp_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_add(RDL_AT(uint, args->at), 1u);
  RDL_END();
}

RDL_TASK(grp_onces, RDL_NONE, struct grp_args, struct grp_state) {
  RDL_GROUP();
  RDL_BEGIN();
  for (self->turn = 0; self->turn < args->n; self->turn++) {
    RDL_SPAWN(self->f, grp_once, .at = args->at);
    RDL_AWAIT(self->f);
    RDL_DROP(self->f);
  }
  RDL_END();
}

/* ---- words of all lanes; what lane k has seen comes to at[k]. Lanes come late, each later. ----
 */

RDL_TASK(grp_words, uint, struct grp_args, RDL_NONE) {
  uint v = grp_mix(args->k, rdl_lane()), late = 0, sum, k;
  float f = (float)(v % 1000u) * 0.5f;
  RDL_GROUP();
  RDL_BEGIN();
  for (k = 0; k < 20u * rdl_lane(); k++)
    late = grp_mix(late, k);
  sum = grp_mix(0, rdl_reduce_add_u32(v));
  sum = grp_mix(sum, rdl_reduce_min_u32(v));
  sum = grp_mix(sum, rdl_reduce_max_u32(v));
  sum = grp_mix(sum, rdl_scan_add_u32(v));
  sum = grp_mix(sum, rdl_broadcast_u32(v, args->n));
  sum = grp_mix(sum, (uint)rdl_ballot_from(v & 1u, 0u));
  sum = grp_mix(sum, (uint)(rdl_ballot_from(v & 1u, 0u) >> 32));
  sum = grp_mix(sum, (uint)rdl_ballot_from(v & 1u, 64u));
  sum = grp_mix(sum, (uint)(rdl_ballot_from(v & 1u, 64u) >> 32));
  sum = grp_mix(sum,
                rdl_ballot(v & 1u) == (rdl_ballot_from(v & 1u, 0u) | rdl_ballot_from(v & 1u, 64u)));
  sum = grp_mix(sum, (uint)rdl_reduce_add_f32(f));
  sum = grp_mix(sum, (uint)(2.0f * rdl_reduce_min_f32(f)));
  sum = grp_mix(sum, (uint)(2.0f * rdl_reduce_max_f32(f)));
  sum = grp_mix(sum, (uint)(2.0f * rdl_scan_add_f32(f)));
  sum = grp_mix(sum, (uint)(2.0f * rdl_broadcast_f32(f, rdl_lanes() - 1u)));
  sum = grp_mix(sum, grp_sum_of_mixed(rdl, args->k));
  RDL_AT(uint, args->at)[rdl_lane()] = sum;
  RDL_RETURN(rdl_lanes() + (late == 12345u));
  RDL_END();
}

/* ---- barriers and working memory, in loops that hold awaits ---- */

/* Each lane reads what others have written this turn, in memory of all lanes; 28,000 bytes of it.
 */
RDL_TASK_LANES(grp_scratch, uint, struct grp_args, struct grp_state, struct grp_mine) {
  RDL_SCRATCH(uint, all, 5000);
  RDL_SCRATCH(uint, more, 2000);
  uint k;
  RDL_GROUP();
  RDL_BEGIN();
  for (self->turn = 0; self->turn < args->n; self->turn++) {
    for (k = rdl_lane(); k < 5000u; k += rdl_lanes())
      all[k] = grp_mix(self->turn, k);
    rdl_sync();
    for (k = rdl_lane(); k < 2000u; k += rdl_lanes())
      more[k] = all[(k * 7u + self->turn) % 5000u];
    rdl_sync();
    for (k = rdl_lane(); k < 2000u; k += rdl_lanes())
      mine->sum += more[1999u - k];
    if (self->turn % 2u) {
      RDL_SPAWN(self->f, grp_lanes_of_warp, .at = args->at);
      RDL_AWAIT(self->f);
      RDL_DROP(self->f);
    } else {
      RDL_YIELD();
    }
  }
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

/* ---- who awaits whom: down to depth n, each level of the other width ---- */

RDL_TASK(grp_up, uint, struct grp_args, struct grp_state) {
  uint sum;
  RDL_GROUP();
  RDL_BEGIN();
  if (args->n == 0u) RDL_RETURN(1);
  RDL_SPAWN(self->f, grp_down, .n = args->n - 1u, .k = args->k + 1u);
  RDL_SPAWN(self->g, grp_down, .n = args->n - 1u, .k = args->k + 2u);
  RDL_AWAIT(self->f);
  RDL_AWAIT(self->g);
  sum = RDL_RESULT(uint, self->f) + RDL_RESULT(uint, self->g);
  if (rdl_reduce_max_u32(sum) != rdl_reduce_min_u32(sum)) RDL_FAIL(1);
  RDL_RETURN(sum);
  RDL_END();
}

RDL_TASK(grp_down, uint, struct grp_args, struct grp_state) {
  RDL_BEGIN();
  if (args->n == 0u) RDL_RETURN(1);
  RDL_SPAWN(self->f, grp_up, .n = args->n - 1u, .k = args->k + 1u);
  RDL_SPAWN(self->g, grp_up, .n = args->n - 1u, .k = args->k + 2u);
  RDL_AWAIT(self->f);
  RDL_AWAIT(self->g);
  RDL_RETURN(RDL_RESULT(uint, self->f) + RDL_RESULT(uint, self->g));
  RDL_END();
}

/* ---- many ---- */

RDL_TASK(grp_leaf, uint, struct grp_args, RDL_NONE) {
  RDL_GROUP();
  RDL_BEGIN();
  if (args->k % 3u == 1u) RDL_YIELD();
  rdl_atomic_add(RDL_AT(uint, args->at) + rdl_lane(), 1u);
  RDL_RETURN(grp_mix(args->n, args->k));
  RDL_END();
}

/* A child of this width in each lane of a task of one warp, and in each of one of a whole group. */
RDL_TASK_LANES(grp_from_warp, uint, struct grp_args, RDL_NONE, struct grp_mine) {
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine->child, 1, grp_leaf, .at = args->at, .n = args->n, .k = rdl_lane());
  RDL_AWAIT_CHILDREN();
  mine->sum = RDL_RESULT(uint, mine->child) != grp_mix(args->n, rdl_lane());
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

RDL_TASK_LANES(grp_from_group, uint, struct grp_args, RDL_NONE, struct grp_mine) {
  RDL_GROUP();
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine->child, 1, grp_leaf, .at = args->at, .n = args->n, .k = rdl_lane());
  RDL_AWAIT_CHILDREN();
  mine->sum = RDL_RESULT(uint, mine->child) != grp_mix(args->n, rdl_lane());
  RDL_RETURN(rdl_reduce_add_u32(mine->sum));
  RDL_END();
}

/* ---- events, deadlines, cancels ---- */

/* Waits for the n-th signal and then looks at what all lanes wrote before it. */
RDL_TASK(grp_reader, uint, struct grp_args, struct grp_state) {
  RDL_GLOBAL const uint *all = RDL_AT(const uint, args->at);
  uint k, wrong;
  RDL_GROUP();
  RDL_BEGIN();
  for (self->turn = 1; self->turn <= args->n; self->turn++) {
    RDL_AWAIT_COUNT(args->e, self->turn);
    wrong = 0;
    for (k = rdl_lane(); k < args->k; k += rdl_lanes())
      wrong += rdl_atomic_load(all + k) < self->turn;
    self->sum += rdl_reduce_add_u32(wrong);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

RDL_TASK(grp_writer, RDL_NONE, struct grp_args, struct grp_state) {
  RDL_GLOBAL uint *all = RDL_AT(uint, args->at);
  uint k;
  RDL_GROUP();
  RDL_BEGIN();
  for (self->turn = 1; self->turn <= args->n; self->turn++) {
    for (k = rdl_lane(); k < args->k; k += rdl_lanes())
      rdl_atomic_store(all + k, self->turn);
    RDL_SIGNAL(args->e, 1);
    RDL_YIELD();
  }
  RDL_END();
}

/* k: 0 = awaits the event for ever, 1 = for a millisecond, 2 = works until it is cancelled. */
RDL_TASK(grp_waits, uint, struct grp_args, RDL_NONE) {
  uint outcome = RDL_OK, turn = 0;
  RDL_GROUP();
  RDL_BEGIN();
  if (args->k == 0u) RDL_AWAIT_EVENT_CATCH(outcome, args->e);
  if (args->k == 1u) RDL_AWAIT_EVENT_FOR(outcome, args->e, 1000000u);
  if (args->k == 2u) {
    while (!RDL_CANCELLED()) {
      if (rdl_lane() == 0u) rdl_atomic_store(RDL_AT(uint, args->at), 1u);
      rdl_sync();
      turn++;
    }
    if (rdl_reduce_max_u32(turn) != rdl_reduce_min_u32(turn)) RDL_FAIL(1);
  }
  RDL_RETURN(outcome);
  RDL_END();
}

RDL_TASK(grp_stop, RDL_NONE, struct grp_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_CANCEL(args->f);
  RDL_END();
}

/* Both widths run at the same time: it ends when one of the other has begun. */
RDL_TASK(grp_beside, RDL_NONE, struct grp_args, struct grp_state) {
  RDL_GROUP();
  RDL_BEGIN();
  while (!rdl_broadcast_u32(rdl_lane() ? 0u : rdl_atomic_load(RDL_AT(uint, args->at)), 0u)) {
    if (RDL_CANCELLED()) RDL_FAIL(1);
  }
  RDL_END();
}
