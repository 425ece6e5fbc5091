/* SPDX-License-Identifier: Apache-2.0 */
/* The same as word_copy.cl with whole structures assigned. */
struct frame {
  uint a;
  uint b[4];
  ulong c;
  uint d;
};

__kernel void probe(__global uint *words, uint change, uint unused) {
  __global struct frame *from = (__global struct frame *)words;
  __global struct frame *to = (__global struct frame *)(words + 16);
  struct frame f = *from;
  f.a += change;
  f.b[f.a & 3u] += change;
  f.c += change;
  f.d ^= change;
  *to = f;
}
