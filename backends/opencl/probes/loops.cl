/* SPDX-License-Identifier: Apache-2.0 */
/* The same of a loop inside another. In a text of its own: llvmpipe counts a turn also for a loop
 * that it only passes by. */
__kernel void probe(__global uint *words, uint turns, uint inner) {
  volatile __global uint *one = words;
  uint count = 0u, i, k;
  for (i = 0u; i < turns / inner; i++)
    for (k = 0u; k < inner; k++)
      count += *one;
  words[1] = count;
}
