/* SPDX-License-Identifier: Apache-2.0 */
/* A structure goes into private memory and back word by word, through a union: the way in which the
 * scheduler moves frames. Words from 0 on come changed to 16 and on. */
union frame {
  struct {
    uint a;
    uint b[4];
    ulong c;
    uint d;
  } s;
  uint w[10];
};

__kernel void probe(__global uint *words, uint change, uint unused) {
  union frame f;
  uint k;
  for (k = 0u; k < 10u; k++)
    f.w[k] = words[k];
  f.s.a += change;
  f.s.b[f.s.a & 3u] += change;
  f.s.c += change;
  f.s.d ^= change;
  for (k = 0u; k < 10u; k++)
    words[16u + k] = f.w[k];
}
