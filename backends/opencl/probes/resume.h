/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as the dialect makes it, whose segments begin in the middle of loops, read by both
 * compilers: step by step both must come to the same. Such loops have several ways in, which some
 * compilers cannot put into a form of their own. Needs rdl_u32, RESUME_GLOBAL and RESUME_VARIANT, a
 * number that makes the text another one.
 * words: [0] the resume point; [1] a counter; [2] what came out; [3] the last random number; [5]
 * the variant.
 */
#define RESUME_OVER 99u

static rdl_u32 resume_random(RESUME_GLOBAL rdl_u32 *words, rdl_u32 below) {
  words[3] = words[3] * 1664525u + 1013904223u;
  return (words[3] >> 16) % below;
}

static rdl_u32 resume_segment(RESUME_GLOBAL rdl_u32 *words) {
  switch (words[0]) {
  case 0u:
    while (resume_random(words, 3u)) {
      for (words[1] = 0u; words[1] < 3u; words[1]++) {
        if (resume_random(words, 3u)) {
          if (resume_random(words, 2u)) continue;
          words[0] = 1u;
          return 1u;
        case 1u:;
        } else {
          words[2] = words[2] * 31u + 30u;
          words[0] = 2u;
          return 1u;
        case 2u:;
        }
        if (!resume_random(words, 3u)) {
          words[0] = 3u;
          return 1u;
        case 3u:;
          words[2] = words[2] * 31u + 44u;
          if (resume_random(words, 3u)) break;
        }
      }
    }
    words[0] = 4u;
    return 1u;
  case 4u:
    words[2] = words[2] * 31u + 19u + RESUME_VARIANT;
  }
  words[0] = RESUME_OVER;
  return 2u;
}
