/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do host and running kernel see each other's stores? The kernel repeats what the host says, for
 * `rounds` numbers, or until its turns are used up.
 *
 * words: [0] the host's number, [16] the kernel's answer, [32] the kernel is here, [48] its turns.
 */
#define RDL_LOOK                                                                                   \
  seen = rdl_load_acquire(words);                                                                  \
  if (seen != said) {                                                                              \
    said = seen;                                                                                   \
    rdl_store_release(words + 16, said);                                                           \
  }

__kernel void probe(__global uint *words, uint rounds, uint turns) {
  uint seen, said = 0u, turn;
  rdl_store_release(words + 32, 1u);
  for (turn = 0u; turn < turns && said < rounds; turn++) {
    RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK RDL_LOOK
  }
  words[48] = turn;
}
