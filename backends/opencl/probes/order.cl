/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do work-groups hand data to each other as the scheduler needs it, with the words that it uses?
 * Work-groups race in pairs, each pair over RDL_RACES places of its own. What must not be seen:
 *
 *   0  message passing: the flag, but not what was stored before it
 *   1  store buffer: both missed what the other stored, though both changed the same word between
 *      (the scheduler's way to sleep: store, change the list; change the list, look)
 *   2  load buffer: both saw what the other stored after it had looked
 *
 * The host reads what each one saw and judges. Waiting is bounded, and one who waits in vain only
 * makes the race a poor one.
 */
#define RDL_RACES 256u
#define RDL_STEP  32u /* places between two waits for the other */

static void keep_step(__global uint *mine, __global uint *others, uint step, uint patience) {
  uint turn;
  rdl_store_release(mine, step);
  for (turn = 0u; turn < patience && rdl_load_acquire(others) < step; turn++) {
  }
}

static uint race(__global uint *x, __global uint *y, uint kind, uint side) {
  uint seen;
  if (kind == 0u) {
    if (side == 0u) {
      *x = 1u;
      rdl_store_release(y, 1u);
      return 0u;
    }
    seen = rdl_load_acquire(y);
    return seen | *x << 1;
  }
  if (kind == 1u) {
    if (side == 0u) {
      rdl_store_release(x, 1u);
      return rdl_fetch_add(y, 0u);
    }
    rdl_fetch_or(y, 1u);
    return rdl_load_acquire(x);
  }
  if (side == 0u) {
    seen = rdl_load_acquire(x);
    rdl_store_release(y, 1u);
  } else {
    seen = rdl_load_acquire(y);
    rdl_store_release(x, 1u);
  }
  return seen;
}

/* words: [0] who comes next; from 64 on 32 words a pair, where each side says how far it is; from
 * `places` on 32 words a place; from `results` on two words a place. */
__kernel void probe(__global uint *words, uint kind, uint pairs) {
  uint me = rdl_fetch_add(words, 1u), pair = me >> 1, side = me & 1u, k;
  uint places = 64u + 32u * pairs, results = places + 32u * RDL_RACES * pairs;
  __global uint *progress = words + 64u + 32u * pair;
  if (pair >= pairs) return;
  for (k = 0u; k < RDL_RACES; k++) {
    uint place = pair * RDL_RACES + k;
    __global uint *x = words + places + 32u * place;
    if ((k & (RDL_STEP - 1u)) == 0u)
      keep_step(progress + 16u * side, progress + 16u * (1u - side), k / RDL_STEP + 1u,
                k ? 500u : 20000u);
    words[results + 2u * place + side] = race(x, x + 16, kind, side);
  }
}
