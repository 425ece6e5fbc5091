/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's loop with lanes: a leader decides and tells the others through local memory, with
 * 1, 2 and 3 barriers a turn. There is one way out of each loop, behind its last barrier, and the
 * leader decides it, too. words: from 0 on 4 words a work-item: the sums of the three loops, turns.
 */
__kernel void probe(__global uint *words, uint turns, uint unused) {
  __local uint box[2], more[2];
  uint lane = (uint)get_local_id(0), group = (uint)get_group_id(0);
  __global uint *out = words + 4u * (uint)get_global_id(0);
  uint sum1 = 0u, sum2 = 0u, sum3 = 0u, count = 0u, run, turn;

  run = 1u; /* one barrier: two boxes in turn, so that the leader never writes what others read */
  for (turn = 0u; run != 0u; turn++) {
    if (lane == 0u) {
      box[turn & 1u] = turn * 3u + group;
      more[turn & 1u] = turn + 1u < turns ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum1 += box[turn & 1u] + lane;
    run = more[turn & 1u];
    count++;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  run = 1u; /* two barriers: one box */
  for (turn = 0u; run != 0u; turn++) {
    if (lane == 0u) {
      box[0] = turn * 5u + group;
      more[0] = turn + 1u < turns ? 1u : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum2 += box[0] + lane;
    run = more[0];
    count++;
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  run = 1u; /* three barriers: what the last lane did comes back to the leader */
  for (turn = 0u; run != 0u; turn++) {
    if (lane == 0u) box[0] = turn * 7u + group;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum3 += box[0] + lane;
    count++;
    if (lane == (uint)get_local_size(0) - 1u)
      more[0] = box[0] < (turns - 1u) * 7u + group ? 1u : 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    run = more[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  out[0] = sum1;
  out[1] = sum2;
  out[2] = sum3;
  out[3] = count;
}
