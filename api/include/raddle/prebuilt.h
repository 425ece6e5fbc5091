/* SPDX-License-Identifier: Apache-2.0 */
/* Images that raddle_add_tasks() compiled ahead, for the host backend: then no compiler is needed at
 * run time, and sanitizers and debuggers see the tasks like any other code of the program. */
#ifndef RDL_PREBUILT_H
#define RDL_PREBUILT_H

typedef struct rdl_prebuilt {
  const char *hash; /* of the image's text */
  void (*launch)(unsigned char *heap, unsigned purpose);
} rdl_prebuilt;

#endif
