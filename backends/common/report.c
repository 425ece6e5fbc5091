/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rdl_capability *row_named(const rdl_report *report, const char *name) {
  for (size_t i = 0; i < report->count; i++)
    if (strcmp(report->rows[i].name, name) == 0) return (rdl_capability *)&report->rows[i];
  return NULL;
}

static void put(rdl_report *report, uint32_t probed, const char *name, const char *value) {
  rdl_capability *row = row_named(report, name);
  if (!row && report->count == RDL_REPORT_ROWS) return;
  if (!row) row = &report->rows[report->count++];
  memset(row, 0, sizeof *row);
  rdl__copy_text(row->name, sizeof row->name, name);
  rdl__copy_text(row->value, sizeof row->value, value);
  for (char *c = row->value; *c; c++)
    if (*c == '\n' || *c == '\t' || *c == '\r') *c = ' ';
  row->probed = probed;
}

void rdl__report_add(rdl_report *report, uint32_t probed, const char *name, const char *format,
                     ...) {
  char value[4096];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  put(report, probed, name, value);
}

const char *rdl__report_find(const rdl_report *report, const char *name) {
  const rdl_capability *row = row_named(report, name);
  return row ? row->value : NULL;
}

int rdl__report_is(const rdl_report *report, const char *name, const char *word) {
  const char *value = rdl__report_find(report, name);
  size_t length = strlen(word);
  return value && strncmp(value, word, length) == 0 &&
         (value[length] == '\0' || value[length] == ' ');
}

uint64_t rdl__report_number(const rdl_report *report, const char *name, uint64_t otherwise) {
  const char *value = rdl__report_find(report, name);
  char *end = NULL;
  unsigned long long number;
  if (!value || *value < '0' || *value > '9') return otherwise;
  number = strtoull(value, &end, 10);
  return *end == '\0' || *end == ' ' ? number : otherwise;
}

size_t rdl__report_line(const rdl_capability *row, char out_line[RDL_REPORT_LINE]) {
  int length = snprintf(out_line, RDL_REPORT_LINE, "%s\t%s\n", row->name, row->value);
  return length > 0 ? (size_t)length : 0;
}

void rdl__report_copy(const rdl_report *report, rdl_capability *out, size_t capacity,
                      size_t *count) {
  for (size_t i = 0; i < report->count; i++, (*count)++)
    if (*count < capacity) out[*count] = report->rows[i];
}

/* One line, without its end. */
static void read_line(rdl_report *report, const char *line, size_t length) {
  char copy[RDL_REPORT_LINE];
  char *tab;
  if (length >= sizeof copy) return;
  memcpy(copy, line, length);
  copy[length] = '\0';
  tab = strchr(copy, '\t');
  if (!tab || tab == copy || (size_t)(tab - copy) >= sizeof report->rows[0].name) return;
  *tab = '\0';
  put(report, 1, copy, tab + 1);
}

void rdl__report_read(rdl_report *report, const char *text, size_t length) {
  while (length) {
    const char *end = memchr(text, '\n', length);
    size_t line = end ? (size_t)(end - text) : length;
    if (end) read_line(report, text, line); /* a line that was cut off counts for nothing */
    if (line < length) line++;
    text += line;
    length -= line;
  }
}
