/* SPDX-License-Identifier: Apache-2.0 */
/* One segment. words: [4] how it ended. Work-items that the group does not have stay out, as in
   limited.cl. */
__kernel void probe(__global uint *words, uint unused, uint unused_too) {
  if (get_local_id(0) == 0u) words[4] = resume_segment(words);
}
