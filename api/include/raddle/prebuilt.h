/* SPDX-License-Identifier: Apache-2.0 */
/* Task files that were compiled ahead, by the CMake function raddle_add_tasks. A context on the
 * host that loads exactly these files in this order then needs no compiler when it runs; the files
 * must still be there, for their text tells which image fits. When files of these names are loaded
 * and are not what was compiled, a warning says so, and so does the error text when they cannot be
 * compiled then. docs/programs.md has a whole program. */
#ifndef RDL_PREBUILT_H
#define RDL_PREBUILT_H

#ifdef __cplusplus
extern "C" {
#endif

/* raddle_add_tasks(TARGET ...) defines `const rdl_prebuilt rdl_prebuilt_TARGET`. */
typedef struct rdl_prebuilt {
  const char *hash; /* of the image: SHA-256 of the task files and the device code, hexadecimal */
  void (*launch)(unsigned char *heap, unsigned purpose);
  const char *name;  /* TARGET; NULL = the image is never missed */
  const char *files; /* names of the task files without their folders: "a.task.c, b.task.c" */
} rdl_prebuilt;

#ifdef __cplusplus
}
#endif

#endif
