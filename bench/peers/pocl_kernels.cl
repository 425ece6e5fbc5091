/* SPDX-License-Identifier: Apache-2.0 */
/* One task each. The fan's sums, one a round and sums[0] = 0, follow what its tasks write. */

kernel void indep(global uint *cells, uint i) {
  cells[i] = 1;
}

kernel void increment(global uint *cells, uint i) {
  cells[i]++;
}

kernel void chain(global uint *cells, uint i) {
  cells[i] = (i ? cells[i - 1] : 0) + 1;
}

kernel void wavefront(global uint *cells, uint i) {
  uint up = i >= SIDE ? cells[i - SIDE] : 0;
  uint left = i % SIDE ? cells[i - 1] : 0;
  cells[i] = i ? up + left : 1;
}

kernel void fan(global uint *cells, uint i) {
  global uint *sums = cells + ROUNDS * WIDTH;
  cells[i] = sums[i / WIDTH] + 1;
}

kernel void join(global uint *cells, uint round) {
  global uint *sums = cells + ROUNDS * WIDTH;
  uint sum = 0;
  for (uint k = 0; k < WIDTH; k++)
    sum += cells[round * WIDTH + k];
  sums[round + 1] = sum;
}
