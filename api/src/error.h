/* SPDX-License-Identifier: Apache-2.0 */
/* The last failure of each thread, in words. */
#ifndef RDL_SRC_ERROR_H
#define RDL_SRC_ERROR_H

#include <raddle/backend.h>
#include <raddle/error.h>
#include <raddle/status.h>

/* Stores the text for rdl_error_text and returns the status, so that a failing path is one line. */
__attribute__((format(printf, 2, 3))) rdl_status rdl__error(rdl_status status, const char *format,
                                                            ...);

/* The same with a text that a backend or the scanner wrote. */
rdl_status rdl__error_why(rdl_status status, const rdl_reason *why);

/* A pointer argument that must not be NULL. */
#define RDL__NEED(argument)                                                                        \
  do {                                                                                             \
    if (!(argument)) return rdl__error(RDL_INVALID, "%s: %s is NULL", __func__, #argument);        \
  } while (0)

#endif
