/* SPDX-License-Identifier: Apache-2.0 */
/* words: [0] and [1] the clock now; [2] how often it went back; [3] how often it moved on. */
__kernel void probe(__global uint *words, uint reads, uint unused) {
  rdl_u64 last = rdl_clock(), now;
  uint back = 0u, on = 0u, i;
  for (i = 0u; i < reads; i++) {
    now = rdl_clock();
    if (now < last) back++;
    if (now > last) on++;
    last = now;
  }
  words[0] = (uint)last;
  words[1] = (uint)(last >> 32);
  words[2] = back;
  words[3] = on;
}
