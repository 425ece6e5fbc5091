/* SPDX-License-Identifier: Apache-2.0 */
/* The same as word_copy.cl with whole structures assigned. */
struct state {
  uint a;
  uint b[4];
  ulong c;
  uint d;
};

struct pair { /* small enough for one register, which is another case to compilers */
  uint a;
  uint b;
};

static uint step(struct state *s, uint change) {
  switch (s->d & 1u) {
  case 0u:
    s->a += change;
    s->b[s->a & 3u] += change;
    s->d = s->d + 1u;
    return 1u;
  case 1u:
    s->c += change;
    s->d ^= change;
  }
  return 0u;
}

__kernel void probe(__global uint *words, uint change, uint steps) {
  __global uchar *heap = (__global uchar *)words + words[31] * 16u;
  struct state s;
  struct pair p;
  uint k;
  s = *(__global struct state *)heap;
  for (k = 0u; k < steps; k++)
    if (!step(&s, change)) break;
  *(__global struct state *)(heap + 64u) = s;
  p = *(__global struct pair *)(heap + 112u);
  p.a += change;
  *(__global struct pair *)(heap + 128u) = p;
}
