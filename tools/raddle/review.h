/* SPDX-License-Identifier: Apache-2.0 */
/* What C and C++ compilers of this machine find in task files beyond what its devices ask of them.
 */
#ifndef RADDLE_REVIEW_H
#define RADDLE_REVIEW_H

#include "api/src/image.h"
#include "api/src/text.h"

/* What became of one look. */
typedef struct review_look {
  const char *name;
  const char *wrong;  /* what a finding means, in a few words */
  rdl__text findings; /* lines for the user, which begin with file, line and column; empty: none */
  char skipped[1200]; /* why it was not looked; empty: it was */
} review_look;

enum { REVIEW_LOOKS = 2 };

typedef struct review {
  review_look looks[REVIEW_LOOKS];
} review;

/* Looks at the image's files: are they C++20, as CUDA wants, and is there a local variable that is
 * used across an await? Blocks while the compilers run, for some seconds. */
void review_run(const rdl_image_text *image, review *out);

void review_finish(review *r);

#endif
