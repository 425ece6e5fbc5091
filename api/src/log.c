/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "api/src/core.h"

void rdl__log(rdl_context *cx, rdl_log_level level, const char *format, ...) {
  char text[sizeof(rdl_reason)]; /* as long as the text of an error may be */
  va_list arguments;
  if (!cx->options.log) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cx->options.log(cx->options.log_user, level, text);
}
