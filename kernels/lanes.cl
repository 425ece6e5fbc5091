/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of several lanes: what a segment does in all of them. Nothing here is compiled for one
 * lane. docs/decisions/0015-lanes-on-opencl.md says why no word but those of this file brings the
 * lanes together while a segment runs.
 */
#if RDL_LANES > 1

/* ---- words that bring the lanes together ---- */

RDL_FN rdl_u32 rdl_bits_of(float v) {
  union {
    float value;
    rdl_u32 bits;
  } both;
  both.value = v;
  return both.bits;
}

RDL_FN float rdl_float_of(rdl_u32 bits) {
  union {
    float value;
    rdl_u32 bits;
  } both;
  both.bits = bits;
  return both.value;
}

/* What each lane brings, for all to read until they meet again. A cancel that has come is told
   along, for all lanes must learn of it at the same place. */
RDL_FN RDL_LOCAL const rdl_u32 *rdl_gather(rdl_cx *rdl, rdl_u32 v) {
  RDL_LOCAL rdl_u32 *row = rdl->group->rows[rdl->gathered & 1u];
  rdl->gathered++;
  row[rdl_lane()] = v;
  if (rdl_leads(rdl)) row[RDL_GROUP_LANES] = rdl->cancelled || rdl_cancel_requested(rdl);
  rdl_barrier();
  rdl->cancelled = row[RDL_GROUP_LANES];
  return row;
}

/* Over the lanes before `end`, in their order: a sum of floats is the same in each lane. */
RDL_FN rdl_u32 rdl_sum_u32(RDL_LOCAL const rdl_u32 *row, rdl_u32 end) {
  rdl_u32 sum = 0, k;
  for (k = 0; k < end; k++)
    sum += row[k];
  return sum;
}

#if defined(RDL_WARP)

/* Each warp comes to a value by itself, which its first lane has, too. What all warps of a block
   come to, when its lanes are those of a task of a whole group. */
#if defined(RDL_GROUPS)
#define RDL_OVER_WARPS_(type, name, bits_of, value_of, both)                                       \
  RDL_FN type name(rdl_cx *rdl, type v) {                                                          \
    RDL_LOCAL const rdl_u32 *row;                                                                  \
    rdl_u32 k;                                                                                     \
    type other;                                                                                    \
    if (rdl_lanes() == 32u) return v;                                                              \
    row = rdl_gather(rdl, bits_of(v));                                                             \
    v = value_of(row[0]);                                                                          \
    for (k = 32u; k < RDL_GROUP_LANES; k += 32u) {                                                 \
      other = value_of(row[k]);                                                                    \
      v = (both);                                                                                  \
    }                                                                                              \
    return v;                                                                                      \
  }
RDL_OVER_WARPS_(rdl_u32, rdl_add_warps_u32, , , v + other)
RDL_OVER_WARPS_(rdl_u32, rdl_min_warps_u32, , , other < v ? other : v)
RDL_OVER_WARPS_(rdl_u32, rdl_max_warps_u32, , , other > v ? other : v)
RDL_OVER_WARPS_(float, rdl_add_warps_f32, rdl_bits_of, rdl_float_of, v + other)
RDL_OVER_WARPS_(float, rdl_min_warps_f32, rdl_bits_of, rdl_float_of, rdl_fmin(v, other))
RDL_OVER_WARPS_(float, rdl_max_warps_f32, rdl_bits_of, rdl_float_of, rdl_fmax(v, other))

/* Sums before each lane: `below` in its warp, `upto` with its own; the last lane of each warp tells
   what the warp comes to. */
RDL_FN rdl_u32 rdl_below_u32(rdl_cx *rdl, rdl_u32 below, rdl_u32 upto) {
  RDL_LOCAL const rdl_u32 *row;
  rdl_u32 sum = 0, k;
  if (rdl_lanes() == 32u) return below;
  row = rdl_gather(rdl, upto);
  for (k = 31u; k < rdl_lane(); k += 32u)
    sum += row[k];
  return sum + below;
}
RDL_FN float rdl_below_f32(rdl_cx *rdl, float below, float upto) {
  RDL_LOCAL const rdl_u32 *row;
  float sum = 0.0f;
  rdl_u32 k;
  if (rdl_lanes() == 32u) return below;
  row = rdl_gather(rdl, rdl_bits_of(upto));
  for (k = 31u; k < rdl_lane(); k += 32u)
    sum += rdl_float_of(row[k]);
  return sum + below;
}
#else
#define rdl_add_warps_u32(rdl, v)       (v)
#define rdl_min_warps_u32(rdl, v)       (v)
#define rdl_max_warps_u32(rdl, v)       (v)
#define rdl_add_warps_f32(rdl, v)       (v)
#define rdl_min_warps_f32(rdl, v)       (v)
#define rdl_max_warps_f32(rdl, v)       (v)
#define rdl_below_u32(rdl, below, upto) (below)
#define rdl_below_f32(rdl, below, upto) (below)
#endif

RDL_FN void rdl_sync_of(rdl_cx *rdl) {
  (void)rdl;
  rdl_barrier();
}

RDL_FN rdl_u32 rdl_broadcast_u32_of(rdl_cx *rdl, rdl_u32 v, rdl_u32 lane) {
  (void)rdl;
#if defined(RDL_GROUPS)
  if (rdl_lanes() > 32u) return rdl_gather(rdl, v)[lane < rdl_lanes() ? lane : 0u];
#endif
  return rdl_shuffle(v, lane < 32u ? lane : 0u);
}

/* By halves: each step adds what the partner has, so every lane adds up the same tree. */
RDL_FN rdl_u32 rdl_reduce_add_u32_of(rdl_cx *rdl, rdl_u32 v) {
  rdl_u32 bits;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u)
    v += rdl_shuffle_xor(v, bits);
  return rdl_add_warps_u32(rdl, v);
}
RDL_FN float rdl_reduce_add_f32_of(rdl_cx *rdl, float v) {
  rdl_u32 bits;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u)
    v += rdl_float_of(rdl_shuffle_xor(rdl_bits_of(v), bits));
  return rdl_add_warps_f32(rdl, v);
}
RDL_FN rdl_u32 rdl_reduce_min_u32_of(rdl_cx *rdl, rdl_u32 v) {
  rdl_u32 bits, other;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u) {
    other = rdl_shuffle_xor(v, bits);
    v = other < v ? other : v;
  }
  return rdl_min_warps_u32(rdl, v);
}
RDL_FN rdl_u32 rdl_reduce_max_u32_of(rdl_cx *rdl, rdl_u32 v) {
  rdl_u32 bits, other;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u) {
    other = rdl_shuffle_xor(v, bits);
    v = other > v ? other : v;
  }
  return rdl_max_warps_u32(rdl, v);
}
RDL_FN float rdl_reduce_min_f32_of(rdl_cx *rdl, float v) {
  rdl_u32 bits;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u)
    v = rdl_fmin(v, rdl_float_of(rdl_shuffle_xor(rdl_bits_of(v), bits)));
  return rdl_min_warps_f32(rdl, v);
}
RDL_FN float rdl_reduce_max_f32_of(rdl_cx *rdl, float v) {
  rdl_u32 bits;
  (void)rdl;
  for (bits = 16u; bits; bits /= 2u)
    v = rdl_fmax(v, rdl_float_of(rdl_shuffle_xor(rdl_bits_of(v), bits)));
  return rdl_max_warps_f32(rdl, v);
}

/* Hillis and Steele 1986, then shifted by one lane. */
RDL_FN rdl_u32 rdl_scan_add_u32_of(rdl_cx *rdl, rdl_u32 v) {
  rdl_u32 by, below, lane = rdl_thread_id() % 32u;
  (void)rdl;
  for (by = 1u; by < 32u; by *= 2u) {
    below = rdl_shuffle_up(v, by);
    if (lane >= by) v += below;
  }
  below = rdl_shuffle_up(v, 1u);
  return rdl_below_u32(rdl, lane ? below : 0u, v);
}
RDL_FN float rdl_scan_add_f32_of(rdl_cx *rdl, float v) {
  rdl_u32 by, lane = rdl_thread_id() % 32u;
  float below;
  (void)rdl;
  for (by = 1u; by < 32u; by *= 2u) {
    below = rdl_float_of(rdl_shuffle_up(rdl_bits_of(v), by));
    if (lane >= by) v += below;
  }
  below = rdl_float_of(rdl_shuffle_up(rdl_bits_of(v), 1u));
  return rdl_below_f32(rdl, lane ? below : 0.0f, v);
}

RDL_FN rdl_u64 rdl_ballot_from_of(rdl_cx *rdl, rdl_u32 predicate, rdl_u32 first) {
  rdl_u32 bits = rdl_vote(predicate);
#if defined(RDL_GROUPS)
  if (rdl_lanes() > 32u) {
    RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, bits);
    rdl_u32 at = first / 64u * 64u;
    if (at >= rdl_lanes()) return 0u;
    return (rdl_u64)row[at] | (at + 32u < rdl_lanes() ? (rdl_u64)row[at + 32u] << 32 : 0u);
  }
#endif
  (void)rdl;
  return first < 64u ? bits : 0u;
}

#else

RDL_FN void rdl_sync_of(rdl_cx *rdl) {
  (void)rdl_gather(rdl, 0u);
}

RDL_FN rdl_u32 rdl_broadcast_u32_of(rdl_cx *rdl, rdl_u32 v, rdl_u32 lane) {
  return rdl_gather(rdl, v)[lane < RDL_LANES ? lane : 0u];
}
RDL_FN float rdl_sum_f32(RDL_LOCAL const rdl_u32 *row, rdl_u32 end) {
  float sum = 0.0f;
  rdl_u32 k;
  for (k = 0; k < end; k++)
    sum += rdl_float_of(row[k]);
  return sum;
}

RDL_FN rdl_u32 rdl_reduce_add_u32_of(rdl_cx *rdl, rdl_u32 v) {
  return rdl_sum_u32(rdl_gather(rdl, v), RDL_LANES);
}
RDL_FN float rdl_reduce_add_f32_of(rdl_cx *rdl, float v) {
  return rdl_sum_f32(rdl_gather(rdl, rdl_bits_of(v)), RDL_LANES);
}
RDL_FN rdl_u32 rdl_scan_add_u32_of(rdl_cx *rdl, rdl_u32 v) {
  return rdl_sum_u32(rdl_gather(rdl, v), rdl_lane());
}
RDL_FN float rdl_scan_add_f32_of(rdl_cx *rdl, float v) {
  return rdl_sum_f32(rdl_gather(rdl, rdl_bits_of(v)), rdl_lane());
}

RDL_FN rdl_u32 rdl_reduce_min_u32_of(rdl_cx *rdl, rdl_u32 v) {
  RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, v);
  rdl_u32 k;
  for (k = 0; k < RDL_LANES; k++)
    v = row[k] < v ? row[k] : v;
  return v;
}
RDL_FN rdl_u32 rdl_reduce_max_u32_of(rdl_cx *rdl, rdl_u32 v) {
  RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, v);
  rdl_u32 k;
  for (k = 0; k < RDL_LANES; k++)
    v = row[k] > v ? row[k] : v;
  return v;
}
/* From the first lane on, in all lanes: what is not a number is then passed over alike. */
RDL_FN float rdl_reduce_min_f32_of(rdl_cx *rdl, float v) {
  RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, rdl_bits_of(v));
  rdl_u32 k;
  v = rdl_float_of(row[0]);
  for (k = 1; k < RDL_LANES; k++)
    v = rdl_fmin(v, rdl_float_of(row[k]));
  return v;
}
RDL_FN float rdl_reduce_max_f32_of(rdl_cx *rdl, float v) {
  RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, rdl_bits_of(v));
  rdl_u32 k;
  v = rdl_float_of(row[0]);
  for (k = 1; k < RDL_LANES; k++)
    v = rdl_fmax(v, rdl_float_of(row[k]));
  return v;
}

RDL_FN rdl_u64 rdl_ballot_from_of(rdl_cx *rdl, rdl_u32 predicate, rdl_u32 first) {
  RDL_LOCAL const rdl_u32 *row = rdl_gather(rdl, predicate ? 1u : 0u);
  rdl_u64 bits = 0;
  rdl_u32 k;
  for (k = 0; k < RDL_LANES; k++)
    bits |= (rdl_u64)row[k] << k;
  return first < 64u ? bits : 0u;
}

#endif

/* Bit k is lane k; with more than 64 lanes also lane k + 64. */
RDL_FN rdl_u64 rdl_ballot_of(rdl_cx *rdl, rdl_u32 predicate) {
  rdl_u64 bits = rdl_ballot_from_of(rdl, predicate, 0u);
#if defined(RDL_GROUPS)
  if (rdl_lanes() > 64u) bits |= rdl_ballot_from_of(rdl, predicate, 64u);
#endif
  return bits;
}

RDL_FN float rdl_broadcast_f32_of(rdl_cx *rdl, float v, rdl_u32 lane) {
  return rdl_float_of(rdl_broadcast_u32_of(rdl, rdl_bits_of(v), lane));
}
RDL_FN rdl_future rdl_broadcast_future_of(rdl_cx *rdl, rdl_future f, rdl_u32 lane) {
  f.index = rdl_broadcast_u32_of(rdl, f.index, lane);
  f.generation = rdl_broadcast_u32_of(rdl, f.generation, lane);
  return f;
}

/* ---- a child in each lane ---- */

/* The leader makes the children of all lanes that want one, and gives each its slot. The arguments
   are still to come: nobody else looks at a child before the segment is over. */
RDL_FN void rdl_spawn_row(rdl_cx *rdl, RDL_LOCAL const rdl_u32 *wants, RDL_LOCAL rdl_u32 *slots,
                          rdl_u32 task) {
  rdl_u32 k;
  for (k = 0; k < rdl_lanes(); k++) {
    slots[k] = RDL_NIL;
    if (!wants[k]) continue;
    slots[k] = rdl_slot_new(rdl, task);
    rdl_child_start(rdl, slots[k], task);
  }
}

/* One child for each lane that wants one, all or none. What the lane wants becomes what all have
   got. */
RDL_FN rdl_future rdl_spawn_lanes(rdl_cx *rdl, rdl_u32 *wanted, rdl_u32 task, const rdl_word *words,
                                  rdl_u32 count) {
  RDL_LOCAL const rdl_u32 *wants = rdl_gather(rdl, *wanted);
  RDL_LOCAL rdl_u32 *slots = rdl->group->rows[rdl->gathered & 1u];
  rdl_u32 most = rdl->may_spawn, total = rdl_sum_u32(wants, rdl_lanes()), mine, k;
  RDL_GLOBAL rdl_word *frame;
  task &= ~RDL_TASK_IN_SET;
  *wanted = total <= most ? RDL_SPAWNED : RDL_FULL;
  for (k = 0; k < total && total <= most; k++)
    (void)rdl_foresee(rdl);
  if (rdl_leads(rdl)) {
    for (k = 0; k < rdl_lanes(); k++)
      slots[k] = RDL_NIL;
    slots[RDL_GROUP_LANES] = rdl->cancelled;
    if (total <= most) rdl_spawn_row(rdl, wants, slots, task);
  }
  rdl->gathered++;
  rdl_barrier();
  mine = slots[rdl_lane()];
  if (!mine) return rdl_no_future();
  frame = rdl_block(rdl, rdl->records[mine].frame);
  for (k = 0; k < count; k++)
    frame[k] = words[k];
  return rdl_handle_of(rdl, mine);
}

/* ---- working memory ---- */

/* Shared out anew in each segment, alike in all lanes. A block has what its warps have together. */
#if defined(RDL_GROUPS)
#define RDL_SCRATCH_ROOM_ (rdl_lanes() / 32u * RDL_SCRATCH_BYTES)
#else
#define RDL_SCRATCH_ROOM_ RDL_SCRATCH_BYTES
#endif
RDL_FN RDL_LOCAL rdl_u8 *rdl_scratch_of(rdl_cx *rdl, rdl_u32 bytes) {
  rdl_u32 at = rdl->scratch_used;
  bytes = (bytes + 15u) / 16u * 16u;
  if (bytes > RDL_SCRATCH_ROOM_ - at) {
    rdl->misuse = RDL_S_OUT_OF_SLOTS;
    return rdl->scratch;
  }
  rdl->scratch_used = at + bytes;
  return rdl->scratch + at;
}

/* ---- what a future waits for, kept where the leader finds it when it is woken ---- */

/* In words of the slot's side that nobody reads while the slot is in use: what is wanted in the low
   three bits, and above it what it is wanted of. */
#define RDL_WANT_BITS 3u
#define RDL_SET_BITS  13u /* members of a set: its words fill a frame at most */
#define RDL_SET_SHIFT (RDL_WANT_BITS + RDL_SET_BITS)

RDL_OUTLINE void rdl_keep_await(rdl_cx *rdl) {
  RDL_GLOBAL rdl_side *side = rdl->sides + rdl->slot;
  RDL_GLOBAL const rdl_word *frame = rdl_block(rdl, rdl->frame);
  rdl_u32 what = 0;
  rdl_u32 one = rdl->want == RDL_WANT_FUTURE || rdl->want == RDL_WANT_PRIVATE;
  if (one) what = rdl_slot_of(rdl->target.index) << RDL_WANT_BITS;
  if (rdl_awaits_set(rdl)) what = rdl->set_size << RDL_WANT_BITS;
  if (rdl_awaits_set(rdl) && rdl->set_size)
    what |= (rdl_u32)(rdl->set_words - frame) << RDL_SET_SHIFT;
  side->chunk = one ? rdl->target.generation : rdl->threshold;
  side->chunk_size = rdl->want | what;
}

RDL_OUTLINE void rdl_recall_await(rdl_cx *rdl) {
  RDL_GLOBAL const rdl_side *side = rdl->sides + rdl->slot;
  rdl_u32 what = side->chunk_size >> RDL_WANT_BITS;
  rdl->want = side->chunk_size & ((1u << RDL_WANT_BITS) - 1u);
  rdl->threshold = side->chunk;
  rdl->target.index = what | rdl->context;
  rdl->target.generation = side->chunk;
  rdl->own_child = 0;
  rdl->set_size = what & ((1u << RDL_SET_BITS) - 1u);
  rdl->set_words = rdl_block(rdl, rdl->frame) + (what >> RDL_SET_BITS);
}

RDL_FN void rdl_settle_members(rdl_cx *rdl) {
  rdl_u32 k;
  for (k = 0; k < rdl->set_size && !rdl->status; k++)
    rdl->status = rdl_cause_of(rdl, rdl_member(rdl, k));
}

RDL_FN void rdl_settle_first(rdl_cx *rdl) {
  rdl_u32 k;
  rdl->which = rdl->set_size;
  for (k = 0; k < rdl->set_size && !rdl->status; k++) {
    if (!rdl_settle_member(rdl, rdl_member(rdl, k))) continue;
    rdl->which = k;
    return;
  }
}

/* The future has been woken, and the outcome of its await is found out before its segment goes on.
   0 = it was woken too soon, and waits again. */
RDL_OUTLINE rdl_u32 rdl_settled(rdl_cx *rdl) {
  rdl->timeout = RDL_NEVER;
  if (rdl->want == RDL_WANT_FUTURE) rdl_settle_future(rdl, rdl->target);
  if (rdl->want == RDL_WANT_ALL) rdl_settle_members(rdl);
  if (rdl->want == RDL_WANT_ANY && rdl->set_size) rdl_settle_first(rdl);
  if (rdl->want == RDL_WANT_ANY && !rdl->set_size) rdl_settle_sleep(rdl);
  if (rdl->status) return 1;
#if defined(RDL_PRIVATE)
  if (rdl->want == RDL_WANT_PRIVATE) return rdl_poll_private(rdl, rdl->target);
#endif
  if (rdl->want == RDL_WANT_CHILDREN) return rdl_poll_children(rdl);
  if (rdl->want == RDL_WANT_ROOM) return rdl_poll_room(rdl, rdl->threshold);
  return 1;
}

#endif
