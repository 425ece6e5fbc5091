/* SPDX-License-Identifier: Apache-2.0 */
/* One string out of the pieces of an image, and the way back from its lines to theirs. */
#ifndef RDL_COMMON_JOIN_H
#define RDL_COMMON_JOIN_H

#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

/* Where the text of one piece stands in the joined text. */
typedef struct rdl_joined_piece {
  char *name;
  uint32_t first_line; /* what the piece's first line is called */
  uint32_t start;      /* its line in the joined text, from 1 */
  uint32_t lines;
  uint32_t own; /* Raddle's, not a user's file */
} rdl_joined_piece;

typedef struct rdl_joined {
  char *text; /* ends in a zero */
  size_t length;
  rdl_joined_piece *pieces;
  size_t count;
} rdl_joined;

/* Joins all pieces, each behind `#line N "name"`. On failure nothing has to be freed. */
rdl_status rdl__join(const rdl_image_text *image, rdl_joined *out_joined, rdl_reason *why);

/* Frees what rdl__join made; takes a zeroed one. */
void rdl__join_free(rdl_joined *joined);

/* Name of the piece that holds this line of the joined text, and the line's number there. NULL for
 * a line mark and for what lies outside. */
const char *rdl__join_find(const rdl_joined *joined, uint32_t line, uint32_t *out_line);

#endif
