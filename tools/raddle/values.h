/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields as people write and read them. */
#ifndef RADDLE_VALUES_H
#define RADDLE_VALUES_H

#include <stdio.h>

#include "tools/raddle/layout.h"

/* Where an assignment goes: one element, or several of an array in a row. */
typedef struct value_place {
  const layout_field *field;
  uint32_t first;
  uint32_t count;
} value_place;

/* "NAME=VALUE" or, for a type that is a scalar or has one and nothing else, "VALUE": finds the
 * field, and where the value begins. NAME may end in an index, "v[2]"; without one it is all of an
 * array. RDL_NOT_FOUND: the text lists the fields that there are. */
rdl_status values_find(const layout *l, const char *assignment, value_place *out,
                       const char **out_value, rdl_reason *why);

/* Stores the value, or values with commas between, at its place in `bytes`. RDL_INVALID: it is no
 * such number, out of range, too many, or of a kind that cannot be written. */
rdl_status values_store(const value_place *place, const char *value, unsigned char *bytes,
                        rdl_reason *why);

/* Prints the field: a number, or {1, 2, 3}; in JSON [1, 2, 3]. */
void values_print(FILE *file, const layout_field *field, const unsigned char *bytes, bool json);

#endif
