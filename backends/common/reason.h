/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for the user in an rdl_reason. All of them take NULL for `why` and cut what does not fit.
 */
#ifndef RDL_COMMON_REASON_H
#define RDL_COMMON_REASON_H

#include <raddle/backend.h>
#include <stddef.h>

#if defined(__GNUC__)
#define RDL_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define RDL_PRINTF_LIKE(text, first)
#endif

void rdl__reason_clear(rdl_reason *why);

/* Adds to what stands there already. */
void rdl__reason_append(rdl_reason *why, const char *format, ...) RDL_PRINTF_LIKE(2, 3);

/* Stores the text and returns `status`, so that a failure is one line. */
rdl_status rdl__fail(rdl_status status, rdl_reason *why, const char *format, ...)
    RDL_PRINTF_LIKE(3, 4);

/* Copies a text into a fixed field; a longer one is cut. */
void rdl__copy_text(char *field, size_t capacity, const char *text);

#endif
