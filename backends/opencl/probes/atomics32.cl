/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every read-modify-write of the dialect from many work-groups at once, with results that only
 * exact operations give. words:
 *
 *   [0]   add: turns of all
 *   [16]  or, and: each work-group sets and clears a bit of its own, and no other's change of the
 *         word may be lost; it ends as it began
 *   [32]  min: the smallest
 *   [48]  exchange: what was put in is what came out, and what stays
 *   [64]  compare-exchange: as often as it succeeded
 *   from 128 on, 4 words a work-group: bits that were not as it left them; sum of what it put in;
 *         sum of what it got; its successes
 */
__kernel void probe(__global uint *words, uint turns, uint tries) {
  uint me = (uint)get_group_id(0), bit = 1u << (me & 31u);
  uint strange = 0u, put = 0u, got = 0u, succeeded = 0u, turn, k;
  for (turn = 0u; turn < turns; turn++) {
    uint token = me * turns + turn + 1u, found, old;
    rdl_fetch_add(words, 1u);
    if (rdl_fetch_or(words + 16, bit) & bit) strange++;
    rdl_fetch_min(words + 32, 1000000u - token);
    got += rdl_exchange(words + 48, token);
    put += token;
    found = 1u;
    old = rdl_load_relaxed(words + 64);
    for (k = 0u; k < tries && found; k++) {
      uint seen = rdl_cas(words + 64, old, old + 1u);
      if (seen == old) {
        succeeded++;
        found = 0u;
      }
      old = seen;
    }
    if (!(rdl_fetch_and(words + 16, ~bit) & bit)) strange++;
  }
  words[128u + 4u * me] = strange;
  words[129u + 4u * me] = put;
  words[130u + 4u * me] = got;
  words[131u + 4u * me] = succeeded;
}
