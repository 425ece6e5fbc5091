/* SPDX-License-Identifier: Apache-2.0 */
/* The last failure of each thread, in words. */
#ifndef RDL_SRC_ERROR_H
#define RDL_SRC_ERROR_H

#include <raddle/backend.h>
#include <raddle/error.h>
#include <raddle/status.h>

/* Stores the text for rdl_error_text. */
__attribute__((format(printf, 1, 2))) void rdl__error_note(const char *format, ...);

/* The same, and its value is the status, so that a failing path is one line. A macro, because who
 * reads the caller alone, the analyzer above all, must see that a failure is not RDL_OK. */
#define rdl__error(status, ...) (rdl__error_note(__VA_ARGS__), (status))

/* The same with a text that a backend or the scanner wrote. */
static inline rdl_status rdl__error_why(rdl_status status, const rdl_reason *why) {
  rdl__error_note("%s", why->text);
  return status;
}

/* A pointer argument that must not be NULL. */
#define RDL__NEED(argument)                                                                        \
  do {                                                                                             \
    if (!(argument)) return rdl__error(RDL_INVALID, "%s: %s is NULL", __func__, #argument);        \
  } while (0)

#endif
