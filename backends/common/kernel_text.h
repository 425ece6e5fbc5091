/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel text that is embedded in the library, in the order in which compilers must see it. The
 * build makes the definitions from the list in kernels/CMakeLists.txt. */
#ifndef RDL_COMMON_KERNEL_TEXT_H
#define RDL_COMMON_KERNEL_TEXT_H

struct rdl_kernel_text {
  const char *name;          /* file name without folders, for messages that name a line */
  const unsigned char *text; /* ends in a zero byte */
  unsigned long size;        /* without the zero byte */
};

extern const struct rdl_kernel_text rdl__kernel_texts[];
extern const unsigned rdl__kernel_text_count;

/* SHA-256 of all text in order, as 64 lower-case hexadecimal digits. Part of every cache key. */
extern const char rdl__kernel_hash[];

#endif
