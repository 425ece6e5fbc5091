/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local rdl_reason last_failure;

const char *rdl_error_text(void) {
  return last_failure.text;
}

rdl_status rdl__error(rdl_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_failure.text, sizeof last_failure.text, format, arguments);
  va_end(arguments);
  return status;
}

rdl_status rdl__error_why(rdl_status status, const rdl_reason *why) {
  memcpy(last_failure.text, why->text, sizeof last_failure.text);
  return status;
}
