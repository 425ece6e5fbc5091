/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the turns of a loop. What is added is read anew each turn, so that no compiler replaces
 * the loop by a product. words: [0] is 1; [1] the count. */
__kernel void probe(__global uint *words, uint turns, uint unused) {
  volatile __global uint *one = words;
  uint count = 0u, i;
  for (i = 0u; i < turns; i++)
    count += *one;
  words[1] = count;
}
