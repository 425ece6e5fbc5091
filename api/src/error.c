/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local rdl_reason last_failure;

const char *rdl_error_text(void) {
  return last_failure.text;
}

void rdl__error_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_failure.text, sizeof last_failure.text, format, arguments);
  va_end(arguments);
}
