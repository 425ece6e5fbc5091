/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the zero byte behind them. */
static bool reserve(rdl__text *text, size_t more) {
  size_t capacity = text->capacity ? text->capacity : 256;
  if (text->failed) return false;
  if (more >= SIZE_MAX / 2 - text->length) {
    text->failed = true;
    return false;
  }
  while (capacity <= text->length + more)
    capacity *= 2;
  if (capacity == text->capacity) return true;
  char *bytes = realloc(text->bytes, capacity);
  if (!bytes) {
    text->failed = true;
    return false;
  }
  text->bytes = bytes;
  text->capacity = capacity;
  return true;
}

void rdl__text_add(rdl__text *text, const char *bytes, size_t length) {
  if (!reserve(text, length)) return;
  if (length) memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

static void print_values(rdl__text *text, int length, const char *format, va_list values) {
  if (length < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)length)) {
    (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, values);
    text->length += (size_t)length;
  }
}

static int length_of_values(const char *format, va_list values) {
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the caller has started the list */
  return vsnprintf(NULL, 0, format, values);
}

void rdl__text_print(rdl__text *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int length = length_of_values(format, values);
  va_end(values);
  va_start(values, format);
  print_values(text, length, format, values);
  va_end(values);
}

void rdl__text_finish(rdl__text *text) {
  free(text->bytes);
  *text = (rdl__text){0};
}
