/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that stay resident: each group takes numbers of a fixed list from `next`, and spins on
 * the `done` words of the tasks before. The lists are in an order in which those come first.
 */

void wait_for(volatile global uint *done) {
  while (!*done)
    ;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

void set_done(volatile global uint *done) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_xchg(done, 1);
}

kernel void indep(volatile global uint *cells, volatile global uint *done,
                  volatile global uint *next, uint count) {
  for (uint i = atomic_inc(next); i < count; i = atomic_inc(next))
    cells[i] = 1;
}

kernel void chain(volatile global uint *cells, volatile global uint *done,
                  volatile global uint *next, uint count) {
  for (uint i = atomic_inc(next); i < count; i = atomic_inc(next)) {
    if (i) wait_for(done + i - 1);
    cells[i] = (i ? cells[i - 1] : 0) + 1;
    set_done(done + i);
  }
}

kernel void wavefront(volatile global uint *cells, volatile global uint *done,
                      volatile global uint *next, uint count) {
  for (uint i = atomic_inc(next); i < count; i = atomic_inc(next)) {
    if (i >= SIDE) wait_for(done + i - SIDE);
    if (i % SIDE) wait_for(done + i - 1);
    uint up = i >= SIDE ? cells[i - SIDE] : 0;
    uint left = i % SIDE ? cells[i - 1] : 0;
    cells[i] = i ? up + left : 1;
    set_done(done + i);
  }
}

/* The last of each WIDTH + 1 tasks is the join. The sums follow what the tasks write. */
kernel void fan(volatile global uint *cells, volatile global uint *done, volatile global uint *next,
                uint count) {
  volatile global uint *sums = cells + ROUNDS * WIDTH;
  for (uint i = atomic_inc(next); i < count; i = atomic_inc(next)) {
    uint round = i / (WIDTH + 1);
    uint own = i % (WIDTH + 1);
    if (own < WIDTH) {
      if (round) wait_for(done + round * (WIDTH + 1) - 1);
      cells[round * WIDTH + own] = sums[round] + 1;
    } else {
      uint sum = 0;
      for (uint k = 0; k < WIDTH; k++) {
        wait_for(done + round * (WIDTH + 1) + k);
        sum += cells[round * WIDTH + k];
      }
      sums[round + 1] = sum;
    }
    set_done(done + i);
  }
}

/* The waits below would not end if the other side did not run at the same time. They give up after
   `bound` spins, and the count that is left shows it. */
kernel void pingpong(volatile global uint *turn, volatile global uint *handovers, uint count,
                     uint bound) {
  uint own = (uint)get_group_id(0);
  for (uint k = 0; k < count; k++) {
    for (uint spins = 0; *turn != own; spins++)
      if (spins == bound) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    ++*handovers;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(turn, 1 - own);
  }
}

/* Answers requests 1, 2, ... count of the host. */
kernel void roundtrip(volatile global uint *request, volatile global uint *answer, uint count,
                      uint bound) {
  for (uint k = 1; k <= count; k++) {
    for (uint spins = 0; *request != k; spins++)
      if (spins == bound) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(answer, k);
  }
}
