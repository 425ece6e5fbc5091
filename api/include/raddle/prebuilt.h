/* SPDX-License-Identifier: Apache-2.0 */
/* Task files that were compiled ahead, by the CMake function raddle_add_tasks. A context on the
 * host that loads exactly these files in this order then needs no compiler when it runs; the files
 * must still be there, for their text tells which image fits. docs/programs.md has a whole program.
 */
#ifndef RDL_PREBUILT_H
#define RDL_PREBUILT_H

#ifdef __cplusplus
extern "C" {
#endif

/* raddle_add_tasks(TARGET ...) defines `const rdl_prebuilt rdl_prebuilt_TARGET`. */
typedef struct rdl_prebuilt {
  const char *hash; /* of the image: SHA-256 of the task files and the device code, hexadecimal */
  void (*launch)(unsigned char *heap, unsigned purpose);
} rdl_prebuilt;

#ifdef __cplusplus
}
#endif

#endif
