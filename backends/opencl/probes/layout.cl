/* SPDX-License-Identifier: Apache-2.0 */
/* Two words for each line of LAYOUTS: the type's size and the member's place. */
#define PUT(type, member)                                                                          \
  {                                                                                                \
    type value;                                                                                    \
    words[n] = (uint)sizeof value;                                                                 \
    words[n + 1u] = (uint)((__private char *)&value.member - (__private char *)&value);            \
    n += 2u;                                                                                       \
  }

__kernel void probe(__global uint *words, uint unused, uint unused_too) {
  uint n = 0u;
  LAYOUTS(PUT)
}
