/* SPDX-License-Identifier: Apache-2.0 */
/* `what` 0: words[0] and [1] become the address of words[16]. 1: adds to what stands at the address
 * in words[0] and [1]. */
__kernel void probe(__global uint *words, uint what, uint add) {
  if (what == 0u) {
    ulong address = (ulong)(words + 16);
    words[0] = (uint)address;
    words[1] = (uint)(address >> 32);
  } else {
    __global uint *p = (__global uint *)((ulong)words[0] | (ulong)words[1] << 32);
    *p += add;
  }
}
