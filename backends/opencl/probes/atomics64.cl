/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit atomics: additions that carry from the lower into the upper half, and compare-exchange.
 * words: [0] and [1] the sum; [2] and [3] as often as compare-exchange succeeded, in both halves;
 * from 16 on the successes of each work-group.
 */
#if __OPENCL_C_VERSION__ >= 200
#define RDL_ATOM64(p) ((volatile __global atomic_ulong *)(p))
#define RDL_ADD64(p, v)                                                                            \
  atomic_fetch_add_explicit(RDL_ATOM64(p), v, memory_order_relaxed, memory_scope_device)
static ulong cas64(__global ulong *p, ulong old, ulong v) {
  atomic_compare_exchange_strong_explicit(RDL_ATOM64(p), &old, v, memory_order_relaxed,
                                          memory_order_relaxed, memory_scope_device);
  return old;
}
#else
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define RDL_ADD64(p, v) atom_add((volatile __global ulong *)(p), v)
static ulong cas64(__global ulong *p, ulong old, ulong v) {
  return atom_cmpxchg((volatile __global ulong *)p, old, v);
}
#endif

__kernel void probe(__global uint *words, uint turns, uint tries) {
  __global ulong *wide = (__global ulong *)words;
  const ulong one = 0x100000001ul;
  uint succeeded = 0u, turn, k;
  for (turn = 0u; turn < turns; turn++) {
    ulong old = wide[1];
    uint again = 1u;
    RDL_ADD64(wide, 0x80000001ul);
    for (k = 0u; k < tries && again; k++) {
      ulong seen = cas64(wide + 1, old, old + one);
      if (seen == old) {
        succeeded++;
        again = 0u;
      }
      old = seen;
    }
  }
  words[16u + (uint)get_group_id(0)] = succeeded;
}
