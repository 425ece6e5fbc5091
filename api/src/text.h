/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows. A failed allocation is remembered, so that a row of additions is checked once.
 */
#ifndef RDL_SRC_TEXT_H
#define RDL_SRC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed is empty. `bytes` is NULL as long as nothing was added, else it ends in a zero byte that
 * `length` does not count. */
typedef struct rdl__text {
  char *bytes;
  size_t length;
  size_t capacity;
  bool failed; /* an allocation failed: everything since then is missing */
} rdl__text;

void rdl__text_add(rdl__text *text, const char *bytes, size_t length);

__attribute__((format(printf, 2, 3))) void rdl__text_print(rdl__text *text, const char *format,
                                                           ...);

/* Frees the bytes and makes the text empty again. */
void rdl__text_finish(rdl__text *text);

#endif
