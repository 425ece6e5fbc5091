/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/raddle/values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"

/* ---- finding ---- */

/* An array's elements are named "v[0]" to "v[3]"; a scalar has no name, so its value stands alone.
 */
static rdl_status not_found(const layout *l, const char *name, size_t length, rdl_reason *why) {
  (void)rdl__fail(RDL_NOT_FOUND, why, "there is no field '%.*s'; there %s", (int)length, name,
                  l->count ? "are" : "are none");
  for (size_t i = 0; i < l->count && strlen(why->text) < 1000; i++) {
    const layout_field *f = &l->fields[i];
    rdl__reason_append(why, "%s %s", i ? "," : "", *f->path ? f->path : "VALUE alone");
    if (f->count) rdl__reason_append(why, "[%u]", f->count);
  }
  return RDL_NOT_FOUND;
}

/* "v[2]" names an element when "v" is an array: what stands in the last brackets, or -1. */
static long read_index(const char *name, size_t length, size_t *out_length) {
  size_t open = length;
  char *end = NULL;
  long value;
  if (!length || name[length - 1] != ']') return -1;
  while (open && name[open - 1] != '[')
    open--;
  if (!open || name[open] < '0' || name[open] > '9') return -1;
  value = strtol(name + open, &end, 10);
  if (end != name + length - 1) return -1;
  *out_length = open - 1;
  return value;
}

static bool is_named(const layout_field *f, const char *name, size_t length) {
  return strlen(f->path) == length && memcmp(f->path, name, length) == 0;
}

rdl_status values_find(const layout *l, const char *assignment, value_place *out,
                       const char **out_value, rdl_reason *why) {
  const char *equals = strchr(assignment, '=');
  size_t length = equals ? (size_t)(equals - assignment) : 0;
  size_t base = 0;
  long index = read_index(assignment, length, &base);
  *out_value = equals ? equals + 1 : assignment;
  if (!equals && l->count == 1 && !l->fields[0].count) {
    *out = (value_place){&l->fields[0], 0, 1};
    return RDL_OK;
  }
  if (!equals && l->count && *l->fields[0].path)
    return rdl__fail(RDL_INVALID, why, "'%s' is no FIELD=VALUE", assignment);
  for (size_t i = 0; i < l->count; i++) {
    const layout_field *f = &l->fields[i];
    *out = (value_place){f, 0, f->count ? f->count : 1};
    if (is_named(f, assignment, length)) return RDL_OK;
    if (index < 0 || !f->count || !is_named(f, assignment, base)) continue;
    if (index >= (long)f->count)
      return rdl__fail(RDL_INVALID, why, "%s has %u elements, from 0 on; there is none at %ld",
                       f->path, f->count, index);
    *out = (value_place){f, (uint32_t)index, 1};
    return RDL_OK;
  }
  return not_found(l, assignment, length, why);
}

/* ---- storing ---- */

static rdl_status not_a_number(const char *text, const layout_field *f, rdl_reason *why) {
  return rdl__fail(RDL_INVALID, why, "'%.200s' is no %s that %s can hold", text,
                   f->kind == LAYOUT_F32 || f->kind == LAYOUT_F64 ? "number" : "whole number",
                   layout_kind_name(f->kind));
}

static bool read_unsigned(const char *text, size_t size, uint64_t *out) {
  char *end = NULL;
  errno = 0;
  if (*text < '0' || *text > '9') return false;
  *out = strtoull(text, &end, 0);
  return !errno && !*end && (size == 8 || *out >> (8 * size) == 0);
}

static bool read_signed(const char *text, size_t size, uint64_t *out) {
  char *end = NULL;
  int64_t most = (int64_t)((UINT64_C(1) << (8 * size - 1)) - 1);
  int64_t value;
  errno = 0;
  if ((text[0] < '0' || text[0] > '9') && (text[0] != '-' || text[1] < '0' || text[1] > '9'))
    return false;
  value = strtoll(text, &end, 0);
  *out = (uint64_t)value;
  return !errno && !*end && value <= most && value >= -most - 1;
}

/* A number that is too small for the type becomes 0 or a small one, as in C; one that is too large
 * is refused, and infinity is written as it is. */
static bool read_float(const char *text, bool is_double, unsigned char *to) {
  char *end = NULL;
  double value = strtod(text, &end);
  float narrow = (float)value;
  if (end == text || *end || strchr(" \t\n", *text)) return false;
  if (isinf(is_double ? value : (double)narrow) && !strchr("iI", text[strspn(text, "+-")]))
    return false;
  memcpy(to, is_double ? (const void *)&value : &narrow, is_double ? sizeof value : sizeof narrow);
  return true;
}

/* The low bytes of a number, on a machine of either order. */
static void store_number(uint64_t value, size_t size, unsigned char *to) {
  uint8_t u8 = (uint8_t)value;
  uint16_t u16 = (uint16_t)value;
  uint32_t u32 = (uint32_t)value;
  const void *from = size == 1 ? &u8 : size == 2 ? (const void *)&u16 : size == 4 ? &u32 : NULL;
  memcpy(to, from ? from : &value, size);
}

static rdl_status store_one(const layout_field *f, const char *text, unsigned char *to,
                            rdl_reason *why) {
  size_t size = layout_kind_size(f->kind);
  bool is_signed = f->kind >= LAYOUT_I8 && f->kind <= LAYOUT_I64;
  uint64_t value = 0;
  if (f->kind == LAYOUT_FUTURE || f->kind == LAYOUT_EVENT || f->kind == LAYOUT_PTR)
    return rdl__fail(
        RDL_INVALID, why,
        "an %s cannot be written on a command line: run a task that has one, and hands "
        "it to this one",
        layout_kind_name(f->kind));
  if (f->kind == LAYOUT_F32 || f->kind == LAYOUT_F64)
    return read_float(text, f->kind == LAYOUT_F64, to) ? RDL_OK : not_a_number(text, f, why);
  if (!(is_signed ? read_signed(text, size, &value) : read_unsigned(text, size, &value)))
    return not_a_number(text, f, why);
  store_number(value, size, to);
  return RDL_OK;
}

static unsigned char *address_of(const value_place *place, uint32_t k, unsigned char *bytes) {
  return bytes + place->field->offset + (place->first + k) * layout_kind_size(place->field->kind);
}

rdl_status values_store(const value_place *place, const char *value, unsigned char *bytes,
                        rdl_reason *why) {
  rdl_status status = RDL_OK;
  uint32_t k = 0;
  for (bool more = true; more && !status; k++) {
    char one[256];
    size_t length = strcspn(value, ",");
    if (k == place->count)
      return rdl__fail(RDL_INVALID, why, "there is room for %u value%s, and more are given",
                       place->count, place->count == 1 ? "" : "s");
    if (length >= sizeof one) length = sizeof one - 1;
    memcpy(one, value, length);
    one[length] = '\0';
    status = store_one(place->field, one, address_of(place, k, bytes), why);
    value += strcspn(value, ",");
    more = *value == ',';
    value += more;
  }
  return status;
}

/* ---- printing ---- */

static int64_t load_signed(const unsigned char *from, size_t size) {
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64 = 0;
  memcpy(&i8, from, sizeof i8);
  if (size == 1) return i8;
  memcpy(&i16, from, sizeof i16);
  if (size == 2) return i16;
  memcpy(&i32, from, sizeof i32);
  if (size == 4) return i32;
  memcpy(&i64, from, sizeof i64);
  return i64;
}

static uint64_t load_unsigned(const unsigned char *from, size_t size) {
  uint64_t all = (uint64_t)load_signed(from, size);
  return size == 8 ? all : all & ((UINT64_C(1) << (8 * size)) - 1);
}

/* As few digits as it takes to read the same number back. JSON has neither infinity nor nan. */
static void print_float(FILE *file, double value, bool is_double, bool json) {
  const char *quote = json && !isfinite(value) ? "\"" : "";
  char text[40] = "";
  for (int digits = 1; digits <= 17; digits++) {
    (void)snprintf(text, sizeof text, "%.*g", digits, value);
    if (is_double ? strtod(text, NULL) >= value && strtod(text, NULL) <= value
                  : strtof(text, NULL) >= (float)value && strtof(text, NULL) <= (float)value)
      break;
  }
  fprintf(file, "%s%s%s", quote, text, quote);
}

static void print_handle(FILE *file, const unsigned char *from, bool json) {
  uint32_t index, generation;
  memcpy(&index, from, sizeof index);
  memcpy(&generation, from + sizeof index, sizeof generation);
  fprintf(file, json ? "[%u, %u]" : "{%u, %u}", index, generation);
}

static void print_one(FILE *file, layout_kind kind, const unsigned char *from, bool json) {
  float narrow;
  double wide;
  size_t size = layout_kind_size(kind);
  if (kind == LAYOUT_F32) {
    memcpy(&narrow, from, sizeof narrow);
    print_float(file, (double)narrow, false, json);
  } else if (kind == LAYOUT_F64) {
    memcpy(&wide, from, sizeof wide);
    print_float(file, wide, true, json);
  } else if (kind == LAYOUT_FUTURE || kind == LAYOUT_EVENT) {
    print_handle(file, from, json);
  } else if (kind >= LAYOUT_I8 && kind <= LAYOUT_I64) {
    fprintf(file, "%" PRId64, load_signed(from, size));
  } else {
    fprintf(file, kind == LAYOUT_PTR && !json ? "0x%" PRIx64 : "%" PRIu64,
            load_unsigned(from, size));
  }
}

void values_print(FILE *file, const layout_field *f, const unsigned char *bytes, bool json) {
  size_t size = layout_kind_size(f->kind);
  if (!f->count) {
    print_one(file, f->kind, bytes + f->offset, json);
    return;
  }
  for (uint32_t k = 0; k < f->count; k++) {
    fputs(k ? ", " : json ? "[" : "{", file);
    print_one(file, f->kind, bytes + f->offset + k * size, json);
  }
  fputs(json ? "]" : "}", file);
}
