/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"

static uint32_t count_lines(const char *text, size_t length) {
  uint32_t lines = 0;
  for (size_t i = 0; i < length; i++)
    lines += text[i] == '\n';
  return lines + (length && text[length - 1] != '\n');
}

/* A name is put into a string literal, so what would end or change the literal is escaped, and a
 * control character becomes a question mark. */
static char *put_name(char *to, const char *name) {
  for (; *name; name++) {
    if (*name == '"' || *name == '\\') *to++ = '\\';
    *to++ = *name;
    if ((unsigned char)*name < ' ') to[-1] = '?';
  }
  return to;
}

static size_t room_for(const rdl_text_piece *piece) {
  return piece->length + 2 * strlen(piece->name) + sizeof "#line 4294967295 \"\"\n\n";
}

static char *put_piece(char *to, const rdl_text_piece *piece) {
  to += sprintf(to, "#line %u \"", (unsigned)piece->first_line);
  to = put_name(to, piece->name);
  *to++ = '"';
  *to++ = '\n';
  memcpy(to, piece->text, piece->length);
  to += piece->length;
  if (piece->length && to[-1] != '\n') *to++ = '\n';
  return to;
}

static int note_piece(rdl_joined_piece *out, const rdl_text_piece *piece, uint32_t *line) {
  size_t size = strlen(piece->name) + 1;
  out->name = malloc(size);
  if (!out->name) return 0;
  memcpy(out->name, piece->name, size);
  out->first_line = piece->first_line;
  out->own = piece->own;
  out->start = *line + 1; /* the line mark stands before it */
  out->lines = count_lines(piece->text, piece->length);
  *line = out->start + out->lines;
  return 1;
}

static int join(const rdl_image_text *image, rdl_joined *joined) {
  size_t room = 1;
  uint32_t line = 1;
  char *to;
  for (size_t i = 0; i < image->count; i++)
    room += room_for(&image->pieces[i]);
  joined->text = malloc(room);
  joined->pieces = calloc(image->count ? image->count : 1, sizeof *joined->pieces);
  if (!joined->text || !joined->pieces) return 0;
  to = joined->text;
  for (; joined->count < image->count; joined->count++) {
    const rdl_text_piece *piece = &image->pieces[joined->count];
    if (!note_piece(&joined->pieces[joined->count], piece, &line)) return 0;
    to = put_piece(to, piece);
  }
  *to = 0;
  joined->length = (size_t)(to - joined->text);
  return 1;
}

rdl_status rdl__join(const rdl_image_text *image, rdl_joined *out_joined, rdl_reason *why) {
  memset(out_joined, 0, sizeof *out_joined);
  if (join(image, out_joined)) return RDL_OK;
  rdl__join_free(out_joined);
  return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for the text of the image.");
}

void rdl__join_free(rdl_joined *joined) {
  for (size_t i = 0; i < joined->count; i++)
    free(joined->pieces[i].name);
  free(joined->pieces);
  free(joined->text);
  memset(joined, 0, sizeof *joined);
}

const char *rdl__join_find(const rdl_joined *joined, uint32_t line, uint32_t *out_line) {
  for (size_t i = 0; i < joined->count; i++) {
    const rdl_joined_piece *piece = &joined->pieces[i];
    if (line < piece->start || line - piece->start >= piece->lines) continue;
    *out_line = piece->first_line + (line - piece->start);
    return piece->name;
  }
  return NULL;
}
