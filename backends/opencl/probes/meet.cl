/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many work-groups are there at the same time? A work-group comes, waits for `wanted` to be
 * there, for so many turns, and leaves. Who comes after the first has left goes at once: the number
 * of those who came minus those who left, read in that order, is never more than were there.
 *
 * words: [0] came, [16] left, [32] closed; from 64 on the most that each one saw.
 */
#define RDL_LOOK                                                                                   \
  came = rdl_load_acquire(words);                                                                  \
  left = rdl_load_acquire(words + 16);                                                             \
  if (came > left && came - left > most) most = came - left;

__kernel void probe(__global uint *words, uint wanted, uint turns) {
  uint me, came, left, most = 0u, turn;
  if (get_local_id(0) == 0u && rdl_load_acquire(words + 32) == 0u) {
    me = rdl_fetch_add(words, 1u);
    for (turn = 0u; turn < turns && most < wanted && rdl_load_acquire(words + 32) == 0u; turn++) {
      RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK
    }
    rdl_store_release(words + 32, 1u);
    words[64u + me] = most;
    rdl_fetch_add(words + 16, 1u);
  }
}
