/* SPDX-License-Identifier: Apache-2.0 */
/* POR 1: structures come unchanged from the host to tasks, from task to task and back: of every
 * size, with members of all types in any order, and at odd distances. Host compilers, device
 * compilers and drivers have been seen to disagree about padding, and about the size of what has
 * some. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

/* Tasks of a module: with many more a driver's compiler takes long. */
#define MODULE_TASKS 32u

/* Tasks of one call. They pass what they are given on to 0, 1 or 2 others before one of them works.
 */
#define MEMBERS 4u

typedef struct writer {
  FILE *file;
  char *text;
  size_t length;
} writer;

static void writer_begin(writer *w) {
  w->file = open_memstream(&w->text, &w->length);
  CHECK(w->file);
}

static rdl_module *writer_load(writer *w, bed *b) {
  rdl_module *module;
  fclose(w->file);
  module = bed_load(b, "layout.task.c", w->text);
  free(w->text);
  return module;
}

/* Writes the text with `number` in place of each '@'. */
static void write_numbered(writer *w, const char *text, uint32_t number) {
  for (; *text; text++)
    if (*text == '@')
      fprintf(w->file, "%u", number);
    else
      fputc(*text, w->file);
}

/* An odd multiple of 4 that has room for `size` bytes. */
static uint32_t odd_stride(uint32_t size) {
  return 4u * (((size + 3u) / 4u) | 1u);
}

static void check_description(rdl_module *module, const char *task, uint32_t args_size,
                              uint32_t result_size) {
  rdl_task_description description = {.size = sizeof description};
  CHECK_OK(rdl_module_task(module, task, &description));
  CHECK_EQ(args_size, description.args_size);
  CHECK_EQ(result_size, description.result_size);
}

/* ---- every size ---- */

/* Adds its place to every byte. */
static const char sized_file[] =
    "struct bytes_@ {\n"
    "  uchar b[@];\n"
    "};\n"
    "struct sized_@_args {\n"
    "  struct bytes_@ v;\n"
    "  uchar hops;\n"
    "};\n"
    "struct sized_@_state {\n"
    "  struct bytes_@ v;\n"
    "  rdl_future f;\n"
    "};\n"
    "RDL_TASK(sized_@, struct bytes_@, struct sized_@_args, struct sized_@_state) {\n"
    "  struct bytes_@ out;\n"
    "  uint k;\n"
    "  RDL_BEGIN();\n"
    "  if (args->hops) {\n"
    "    self->v = args->v;\n"
    "    RDL_SPAWN(self->f, sized_@, .v = self->v, .hops = (uchar)(args->hops - 1));\n"
    "    RDL_AWAIT(self->f);\n"
    "    RDL_RETURN(RDL_RESULT(struct bytes_@, self->f));\n"
    "  }\n"
    "  for (k = 0; k < @; k++)\n"
    "    out.b[k] = (uchar)(args->v.b[k] + k);\n"
    "  RDL_RETURN(out);\n"
    "  RDL_END();\n"
    "}\n";

enum { MOST_BYTES = 256 };

static void check_bytes(const unsigned char *args, const unsigned char *result, uint32_t size) {
  uint32_t k;
  for (k = 0; k < size; k++)
    if (result[k] != (unsigned char)(args[k] + k))
      test_fail(__FILE__, __LINE__, "byte %u of %u is %u, expected %u", k, size, result[k],
                (args[k] + k) & 255u);
  CHECK_EQ(0xee, result[size]); /* the byte between two results */
}

/* The arguments begin at an odd address: they are bytes to the host. */
static void run_size(bed *b, rdl_module *module, uint32_t size) {
  unsigned char all_args[1 + MEMBERS * (MOST_BYTES + 8)], *args = all_args + 1;
  unsigned char results[MEMBERS * (MOST_BYTES + 1)];
  uint32_t stride = odd_stride(size + 1), k, i;
  rdl_future futures[MEMBERS];
  char task[32];
  snprintf(task, sizeof task, "sized_%u", size);
  check_description(module, task, size + 1, size);
  memset(results, 0xee, sizeof results);
  for (k = 0; k < MEMBERS; k++) {
    for (i = 0; i < size; i++)
      args[k * stride + i] = (unsigned char)chance(256);
    args[k * stride + size] = (unsigned char)(k % 3);
  }
  CHECK_OK(rdl_spawn_many(module, task, args, size + 1, stride, MEMBERS, NULL, futures, NULL));
  CHECK_OK(rdl_future_get_many(b->cx, futures, MEMBERS, results, size + 1, PATIENCE_NS));
  for (k = 0; k < MEMBERS; k++)
    check_bytes(args + (size_t)k * stride, results + (size_t)k * (size + 1), size);
}

static void run_sizes(uint32_t last) {
  uint32_t first = last - MODULE_TASKS + 1, size;
  bed b = bed_open(NULL);
  writer w;
  rdl_module *module;
  writer_begin(&w);
  for (size = first; size <= last; size++)
    write_numbered(&w, sized_file, size);
  module = writer_load(&w, &b);
  for (size = first; size <= last; size++)
    run_size(&b, module, size);
  bed_close(&b);
}

void POR_1_sizes_to_32(void) {
  run_sizes(32);
}

void POR_1_sizes_to_64(void) {
  run_sizes(64);
}

void POR_1_sizes_to_96(void) {
  run_sizes(96);
}

void POR_1_sizes_to_128(void) {
  run_sizes(128);
}

void POR_1_sizes_to_160(void) {
  run_sizes(160);
}

void POR_1_sizes_to_192(void) {
  run_sizes(192);
}

void POR_1_sizes_to_224(void) {
  run_sizes(224);
}

void POR_1_sizes_to_256(void) {
  run_sizes(256);
}

/* ---- members of all types ---- */

static const struct {
  const char *name;
  uint32_t size;
  bool real;
} types[] = {{"uchar", 1, false},   {"ulong", 8, false}, {"ushort", 2, false},
             {"double", 8, true},   {"uint", 4, false},  {"rdl_i8", 1, false},
             {"rdl_i64", 8, false}, {"float", 4, true},  {"rdl_i16", 2, false},
             {"rdl_i32", 4, false}};
#define TYPES ((uint32_t)(sizeof types / sizeof types[0]))

typedef struct member {
  uint32_t type; /* place in the list above */
  uint32_t count;
  uint32_t offset;
} member;

/* Members from `inner` up to `after` are those of a structure within the structure. */
typedef struct shape {
  member members[9];
  uint32_t count, inner, after;
  uint32_t size;
} shape;

enum { MOST_SHAPE_BYTES = 9 * 5 * 8 + 100 };

static uint32_t align(uint32_t offset, uint32_t alignment) {
  return (offset + alignment - 1u) / alignment * alignment;
}

/* As C does it on every 64-bit machine: each member at a multiple of its size. Gives the end. */
static uint32_t lay_out(member *members, uint32_t count, uint32_t offset, uint32_t *alignment) {
  uint32_t k;
  for (k = 0; k < count; k++) {
    uint32_t size = types[members[k].type].size;
    members[k].offset = align(offset, size);
    offset = members[k].offset + size * members[k].count;
    if (size > *alignment) *alignment = size;
  }
  return offset;
}

static void lay_out_shape(shape *s) {
  uint32_t alignment = 1, inner_alignment = 1, offset, begin;
  offset = lay_out(s->members, s->inner, 0, &alignment);
  if (s->after > s->inner) {
    lay_out(s->members + s->inner, s->after - s->inner, 0, &inner_alignment);
    begin = align(offset, inner_alignment); /* from there, all distances are the same */
    offset = lay_out(s->members + s->inner, s->after - s->inner, begin, &alignment);
    offset = align(offset, inner_alignment);
  }
  offset = lay_out(s->members + s->after, s->count - s->after, offset, &alignment);
  s->size = align(offset, alignment);
}

/* The same shapes in every run, so that their tasks are compiled once. The first has bytes before
 * every larger member, every fourth a structure inside. */
static shape new_shape(uint32_t number) {
  uint32_t noise = number * 2654435761u + 12345u, k;
  shape s = {.count = 1u + (number + 8u) % 9u};
  for (k = 0; k < s.count; k++) {
    noise = noise * 1664525u + 1013904223u;
    s.members[k].type = number ? (noise >> 16) % TYPES : k % 2 ? k : 0u;
    s.members[k].count = number && (noise >> 28) < 6 ? 1u + (noise >> 24) % 5u : 1u;
  }
  s.inner = number % 4 == 3 ? s.count / 3u : s.count;
  s.after = number % 4 == 3 ? s.inner + (s.count - s.inner + 1u) / 2u : s.count;
  lay_out_shape(&s);
  return s;
}

static void write_members(writer *w, const shape *s, uint32_t first, uint32_t end) {
  uint32_t k;
  for (k = first; k < end; k++) {
    fprintf(w->file, "  %s m%u", types[s->members[k].type].name, k);
    if (s->members[k].count > 1) fprintf(w->file, "[%u]", s->members[k].count);
    fputs(";\n", w->file);
  }
}

static void write_types(writer *w, const shape *s, uint32_t number) {
  if (s->after > s->inner) {
    write_numbered(w, "struct inner_@ {\n", number);
    write_members(w, s, s->inner, s->after);
    fputs("};\n", w->file);
  }
  write_numbered(w, "struct shape_@ {\n", number);
  write_members(w, s, 0, s->inner);
  if (s->after > s->inner) write_numbered(w, "  struct inner_@ in;\n", number);
  write_members(w, s, s->after, s->count);
  write_numbered(w,
                 "};\n"
                 "struct shaped_@_args {\n"
                 "  struct shape_@ v;\n"
                 "  uint sum;\n"
                 "  uchar hops;\n"
                 "};\n"
                 "struct shaped_@_state {\n"
                 "  struct shape_@ v;\n"
                 "  rdl_future f;\n"
                 "};\n",
                 number);
}

/* High bits of what has many. */
static uint32_t shift_of(uint32_t type) {
  return types[type].size == 8 && !types[type].real ? 17u : 0u;
}

/* Takes each element into the sum and adds one to it. */
static void write_sum(writer *w, const shape *s) {
  uint32_t k;
  for (k = 0; k < s->count; k++) {
    const char *in = s->inner <= k && k < s->after ? "in." : "";
    const char *index = s->members[k].count > 1 ? "[k]" : "";
    fprintf(w->file,
            "  for (k = 0; k < %u; k++) {\n"
            "    sum = sum * 31u + (uint)((ulong)args->v.%sm%u%s >> %u);\n"
            "    out.%sm%u%s++;\n"
            "  }\n",
            s->members[k].count, in, k, index, shift_of(s->members[k].type), in, k, index);
  }
}

static void write_shape(writer *w, const shape *s, uint32_t number) {
  write_types(w, s, number);
  write_numbered(
      w,
      "RDL_TASK(shaped_@, struct shape_@, struct shaped_@_args, struct shaped_@_state) {\n"
      "  struct shape_@ out;\n"
      "  uint k, sum = 0;\n"
      "  RDL_BEGIN();\n"
      "  if (args->hops) {\n"
      "    self->v = args->v;\n"
      "    RDL_SPAWN(self->f, shaped_@, .v = self->v, .sum = args->sum,\n"
      "              .hops = (uchar)(args->hops - 1));\n"
      "    RDL_AWAIT(self->f);\n"
      "    RDL_RETURN(RDL_RESULT(struct shape_@, self->f));\n"
      "  }\n"
      "  out = args->v;\n",
      number);
  write_sum(w, s);
  fputs("  if (sum != args->sum) RDL_FAIL(1);\n"
        "  RDL_RETURN(out);\n"
        "  RDL_END();\n"
        "}\n",
        w->file);
}

/* Little-endian, like every device. */
static void put_value(unsigned char *at, uint32_t type, uint64_t value) {
  double d = (double)value;
  float f = (float)value;
  if (!types[type].real)
    memcpy(at, &value, types[type].size);
  else if (types[type].size == sizeof d)
    memcpy(at, &d, sizeof d);
  else
    memcpy(at, &f, sizeof f);
}

/* An even number that is not negative and exact in the type. */
static uint64_t any_value(uint32_t type) {
  uint64_t bits = (uint64_t)chance(UINT32_MAX) << 32 | chance(UINT32_MAX);
  uint32_t width = types[type].real ? 21u : 8u * types[type].size;
  return bits >> (65u - width) & ~1ull;
}

/* Fills a structure at random, and in another place what shall come back; gives the sum. */
static uint32_t fill(const shape *s, unsigned char *given, unsigned char *wanted) {
  uint32_t sum = 0, k, i;
  for (k = 0; k < s->count; k++) {
    uint32_t type = s->members[k].type, at = s->members[k].offset;
    for (i = 0; i < s->members[k].count; i++, at += types[type].size) {
      uint64_t value = any_value(type);
      sum = sum * 31u + (uint32_t)(value >> shift_of(type));
      put_value(given + at, type, value);
      put_value(wanted + at, type, value + 1);
    }
  }
  return sum;
}

static void check_members(const shape *s, uint32_t number, const unsigned char *wanted,
                          const unsigned char *result) {
  uint32_t k;
  for (k = 0; k < s->count; k++) {
    const member *m = &s->members[k];
    if (memcmp(wanted + m->offset, result + m->offset, (size_t)types[m->type].size * m->count) != 0)
      test_fail(__FILE__, __LINE__, "member %u of shape %u, %s[%u] at byte %u, came back wrong", k,
                number, types[m->type].name, m->count, m->offset);
  }
}

/* What stands between members is noise: it must not matter. */
static void run_shape(bed *b, rdl_module *module, const shape *s, uint32_t number) {
  unsigned char args[MEMBERS * MOST_SHAPE_BYTES], wanted[MEMBERS][MOST_SHAPE_BYTES];
  unsigned char results[MEMBERS * MOST_SHAPE_BYTES];
  uint32_t alignment = 4, sum_at = align(s->size, 4), size, stride, k;
  rdl_future futures[MEMBERS];
  char task[32];
  for (k = 0; k < s->count; k++)
    if (types[s->members[k].type].size > alignment) alignment = types[s->members[k].type].size;
  size = align(sum_at + 5u, alignment);
  stride = odd_stride(size);
  snprintf(task, sizeof task, "shaped_%u", number);
  check_description(module, task, size, s->size);
  memset(args, 0xa5, sizeof args);
  for (k = 0; k < MEMBERS; k++) {
    uint32_t sum = fill(s, args + (size_t)k * stride, wanted[k]);
    memcpy(args + (size_t)k * stride + sum_at, &sum, sizeof sum);
    args[k * stride + sum_at + 4] = (unsigned char)(k % 3);
  }
  CHECK_OK(rdl_spawn_many(module, task, args, size, stride, MEMBERS, NULL, futures, NULL));
  CHECK_OK(rdl_future_get_many(b->cx, futures, MEMBERS, results, s->size, PATIENCE_NS));
  for (k = 0; k < MEMBERS; k++)
    check_members(s, number, wanted[k], results + (size_t)k * s->size);
}

static void run_shapes(uint32_t first) {
  shape shapes[MODULE_TASKS];
  bed b = bed_open(NULL);
  rdl_module *module;
  writer w;
  uint32_t k;
  writer_begin(&w);
  for (k = 0; k < MODULE_TASKS; k++) {
    shapes[k] = new_shape(first + k);
    write_shape(&w, &shapes[k], first + k);
  }
  module = writer_load(&w, &b);
  for (k = 0; k < MODULE_TASKS; k++)
    run_shape(&b, module, &shapes[k], first + k);
  bed_close(&b);
}

void POR_1_shapes(void) {
  run_shapes(0);
}

void POR_1_more_shapes(void) {
  run_shapes(MODULE_TASKS);
}
