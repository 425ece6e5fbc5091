/* SPDX-License-Identifier: Apache-2.0 */
/* Counts turns, of one loop of `turns`, or of loops of `inner` inside another. What is added is
 * read anew each turn, so that no compiler replaces the loops by a product. words[0] is 1; [1]: the
 * count.
 */
__kernel void probe(__global uint *words, uint turns, uint inner) {
  volatile __global uint *one = words;
  uint count = 0u, i, k;
  if (inner == 0u) {
    for (i = 0u; i < turns; i++)
      count += *one;
  } else {
    for (i = 0u; i < turns / inner; i++)
      for (k = 0u; k < inner; k++)
        count += *one;
  }
  words[1] = count;
}
