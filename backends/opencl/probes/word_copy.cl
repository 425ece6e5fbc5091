/* SPDX-License-Identifier: Apache-2.0 */
/* A structure goes into private memory, a function changes it, and it goes back, word by word
 * through a union: the way in which the scheduler moves frames. What stands at byte 0 comes changed
 * to byte 64, a pair from byte 112 to byte 128. words[31] is 0, which no compiler knows. */
struct state {
  uint a;
  uint b[4];
  ulong c;
  uint d;
};
union frame {
  struct state s;
  uint w[10];
};

union pair { /* small enough for one register, which is another case to compilers */
  struct {
    uint a;
    uint b;
  } s;
  uint w[2];
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
  __global uint *from = (__global uint *)heap, *to = (__global uint *)(heap + 64u);
  __global uint *pair = (__global uint *)(heap + 112u);
  union frame f;
  union pair p;
  uint k;
  for (k = 0u; k < 10u; k++)
    f.w[k] = from[k];
  for (k = 0u; k < steps; k++)
    if (!step(&f.s, change)) break;
  for (k = 0u; k < 10u; k++)
    to[k] = f.w[k];
  for (k = 0u; k < 2u; k++)
    p.w[k] = pair[k];
  p.s.a += change;
  for (k = 0u; k < 2u; k++)
    pair[4u + k] = p.w[k];
}
