/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rdl__reason_clear(rdl_reason *why) {
  if (why) why->text[0] = 0;
}

static void append(rdl_reason *why, const char *format, va_list arguments) {
  size_t used = strlen(why->text);
  (void)vsnprintf(why->text + used, sizeof why->text - used, format, arguments);
}

void rdl__reason_append(rdl_reason *why, const char *format, ...) {
  va_list arguments;
  if (!why) return;
  va_start(arguments, format);
  append(why, format, arguments);
  va_end(arguments);
}

rdl_status rdl__fail(rdl_status status, rdl_reason *why, const char *format, ...) {
  va_list arguments;
  if (!why) return status;
  why->text[0] = 0;
  va_start(arguments, format);
  append(why, format, arguments);
  va_end(arguments);
  return status;
}

void rdl__copy_text(char *field, size_t capacity, const char *text) {
  size_t length = strlen(text);
  if (length >= capacity) length = capacity - 1;
  memcpy(field, text, length);
  field[length] = 0;
}
