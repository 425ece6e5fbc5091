/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of arguments, states and results as task files declare them: names, places and kinds of
 * their members. The files are read as they stand, without a compiler: macros without arguments,
 * enum constants, typedefs, nested structures, unions and arrays are understood. What is not, or
 * what hangs on an #if, is refused with the place; and the sizes that a device tells have the last
 * word.
 */
#ifndef RADDLE_LAYOUT_H
#define RADDLE_LAYOUT_H

#include <raddle/backend.h>
#include <raddle/handle.h>
#include <stdbool.h>

#include "tools/tasks/task_files.h"

/* X(kind, C type on the host, what users call it) */
#define LAYOUT_KINDS(X)                                                                            \
  X(U8, uint8_t, "rdl_u8")                                                                         \
  X(U16, uint16_t, "rdl_u16")                                                                      \
  X(U32, uint32_t, "rdl_u32")                                                                      \
  X(U64, uint64_t, "rdl_u64")                                                                      \
  X(I8, int8_t, "rdl_i8")                                                                          \
  X(I16, int16_t, "rdl_i16")                                                                       \
  X(I32, int32_t, "rdl_i32")                                                                       \
  X(I64, int64_t, "rdl_i64")                                                                       \
  X(F32, float, "float")                                                                           \
  X(F64, double, "double")                                                                         \
  X(PTR, uint64_t, "rdl_ptr")                                                                      \
  X(FUTURE, rdl_future, "rdl_future")                                                              \
  X(EVENT, rdl_event, "rdl_event")

typedef enum layout_kind {
#define LAYOUT_KIND(kind, type, name) LAYOUT_##kind,
  LAYOUT_KINDS(LAYOUT_KIND)
#undef LAYOUT_KIND
} layout_kind;

/* What holds a value: a scalar, or an array of them. */
typedef struct layout_field {
  char *path; /* "first", "pair.b", "points[2].x"; empty for a type that is a scalar itself */
  layout_kind kind;
  uint32_t offset;
  uint32_t count; /* of an array; 0 = none */
} layout_field;

/* Zeroed: a type without fields, such as RDL_NONE. */
typedef struct layout {
  layout_field *fields; /* in the order of their declaration */
  size_t count;
  size_t capacity;
  uint32_t size;
} layout;

/* Reads `type`, as rdl__task has it, with what all the files define. RDL_UNSUPPORTED: it is not
 * understood, and `why` says where. RDL_OUT_OF_MEMORY. On failure `*out` is empty. */
rdl_status layout_read(const task_files *files, const char *type, layout *out, rdl_reason *why);

/* Takes a zeroed one. */
void layout_finish(layout *l);

size_t layout_kind_size(layout_kind kind);
const char *layout_kind_name(layout_kind kind);

#endif
