/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms that are understood, with or without white space in front:
 *
 *   name:LINE:COLUMN: error: text      gcc, clang, NVIDIA's OpenCL
 *   name:LINE: error: text             gcc without columns
 *   error: name:LINE:COLUMN: text      PoCL
 *   error: name:LINE:COLUMN <Spelling=name:LINE:COLUMN>: text     PoCL, inside a macro
 *   name(LINE): error: text            NVRTC, which shows the column by the line of source and a
 *                                      caret that follow, both behind two blanks
 */
#include "backends/common/compile_log.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"

struct span {
  const char *at;
  size_t length;
};

struct place {
  struct span name;
  uint32_t line;
  uint32_t column; /* 0 = not given */
  struct span message;
  int is_error;
};

static struct span span_of(const char *from, const char *to) {
  return (struct span){from, (size_t)(to - from)};
}

static int begins_with(struct span s, const char *word) {
  size_t length = strlen(word);
  return s.length >= length && memcmp(s.at, word, length) == 0;
}

static struct span without(struct span s, size_t count) {
  return (struct span){s.at + count, s.length - count};
}

static struct span trimmed(struct span s) {
  while (s.length && (*s.at == ' ' || *s.at == '\t'))
    s = without(s, 1);
  return s;
}

/* Takes a decimal number off the front; 0 when there is none. */
static uint32_t take_number(struct span *s) {
  uint32_t value = 0;
  while (s->length && *s->at >= '0' && *s->at <= '9' && value < 100000000u) {
    value = value * 10 + (uint32_t)(*s->at - '0');
    *s = without(*s, 1);
  }
  return value;
}

static int take_char(struct span *s, char wanted) {
  if (!s->length || *s->at != wanted) return 0;
  *s = without(*s, 1);
  return 1;
}

static int is_error(struct span message) {
  return begins_with(message, "error") || begins_with(message, "fatal error") ||
         begins_with(message, "catastrophic error");
}

/* Where the text of a macro was spelled: the place of its use stands before it and is the user's.
 */
static void skip_spelling(struct span *s) {
  struct span rest = trimmed(*s);
  if (!begins_with(rest, "<Spelling=")) return;
  while (rest.length && !begins_with(rest, ">: ")) /* the place itself may hold a '>' */
    rest = without(rest, 1);
  if (take_char(&rest, '>')) *s = rest;
}

/* `s` begins behind the name, at a colon or a parenthesis: the rest of a place, or 0. */
static int read_position(struct span s, struct place *out) {
  if (take_char(&s, '(')) {
    out->line = take_number(&s);
    out->column = 0;
    if (!out->line || !take_char(&s, ')') || !take_char(&s, ':')) return 0;
  } else {
    if (!take_char(&s, ':')) return 0;
    out->line = take_number(&s);
    if (!out->line || !take_char(&s, ':')) return 0;
    out->column = take_number(&s);
    skip_spelling(&s);
    if (out->column && !take_char(&s, ':')) return 0;
  }
  out->message = trimmed(s);
  return out->message.length > 0;
}

/* The first colon or parenthesis that a position follows ends the name: names may hold both. */
static int read_place(struct span line, struct place *out) {
  struct span rest = trimmed(line);
  int error_first = begins_with(rest, "error: ") || begins_with(rest, "fatal error: ");
  if (error_first) rest = trimmed(without(rest, (size_t)(strchr(rest.at, ':') - rest.at) + 1));
  for (size_t i = 1; i < rest.length; i++) {
    if (rest.at[i] != ':' && rest.at[i] != '(') continue;
    if (!read_position(without(rest, i), out)) continue;
    out->name = (struct span){rest.at, i};
    out->is_error = error_first || is_error(out->message);
    return 1;
  }
  return 0;
}

static const rdl_joined_piece *find_piece(const rdl_joined *joined, struct span name) {
  for (size_t i = 0; i < joined->count; i++)
    if (strlen(joined->pieces[i].name) == name.length &&
        memcmp(joined->pieces[i].name, name.at, name.length) == 0)
      return &joined->pieces[i];
  return NULL;
}

/* A name that the compiler made up for its input: "<kernel>", "input.cl", "/tmp/a1b2/tempfile.cl",
 * "/tmp/build-35". Anything else is a file that the text includes. */
static int is_made_up(struct span name) {
  size_t base = name.length;
  while (base && name.at[base - 1] != '/')
    base--;
  if (*name.at == '<') return 1;
  if (name.length > 3 && memcmp(name.at + name.length - 3, ".cl", 3) == 0) return 1;
  return memchr(name.at + base, '.', name.length - base) == NULL;
}

/* Puts the user's name and line in where the compiler spoke of its input. */
static void translate(const rdl_joined *joined, struct place *place) {
  uint32_t line;
  const char *name;
  if (find_piece(joined, place->name) || !is_made_up(place->name)) return;
  name = rdl__join_find(joined, place->line, &line);
  if (!name) return;
  place->name = (struct span){name, strlen(name)};
  place->line = line;
}

static void put_place(rdl_reason *why, const struct place *place) {
  rdl__reason_append(why, "%.*s:%u:", (int)place->name.length, place->name.at,
                     (unsigned)place->line);
  if (place->column) rdl__reason_append(why, "%u:", (unsigned)place->column);
  if (place->is_error && !is_error(place->message)) rdl__reason_append(why, " error:");
  rdl__reason_append(why, " %.*s\n", (int)place->message.length, place->message.at);
}

static struct span next_line(const char **log) {
  const char *end = strchr(*log, '\n');
  struct span line = span_of(*log, end ? end : *log + strlen(*log));
  *log = end ? end + 1 : line.at + line.length;
  if (line.length && line.at[line.length - 1] == '\r') line.length--;
  return line;
}

/* The column of the caret behind a line of source, when a place has none. */
static void see_caret(struct place *place, const char *rest) {
  struct span source = next_line(&rest), below = next_line(&rest);
  struct span caret = trimmed(below);
  if (place->column || !begins_with(source, "  ") || caret.length != 1 || *caret.at != '^') return;
  if (caret.at - below.at >= 2) place->column = (uint32_t)(caret.at - below.at) - 1u;
}

static int is_own(const rdl_joined *joined, const struct place *place) {
  const rdl_joined_piece *piece = find_piece(joined, place->name);
  return piece && piece->own;
}

/* Advice that a task file cannot take, for it includes nothing, and pointers to where Raddle's own
 * text stands. What a word expected is said there, too, and is of use. */
static int is_idle_note(const rdl_joined *joined, const struct place *place) {
  if (!begins_with(place->message, "note: ")) return 0;
  if (begins_with(place->message, "note: include ")) return 1;
  return is_own(joined, place) && !begins_with(place->message, "note: expected ");
}

static void drop_line_ends(rdl_reason *why) {
  size_t length = strlen(why->text);
  while (length && why->text[length - 1] == '\n')
    why->text[--length] = 0;
}

/* The next place of an error, or of what is said with one, in a user's file; with `same_error`
 * before the next error. What is said of a warning does not count. */
static int find_user_place(const rdl_joined *joined, const char *log, bool same_error,
                           struct place *out) {
  int of_error = 1;
  while (*log) {
    struct span line = next_line(&log);
    if (!read_place(line, out)) continue;
    see_caret(out, log);
    if (same_error && out->is_error) return 0;
    if (out->is_error || begins_with(out->message, "warning")) of_error = out->is_error;
    translate(joined, out);
    if (of_error && !is_own(joined, out)) return 1;
  }
  return 0;
}

/* An error in Raddle's own text comes of what the user wrote before it: a macro whose use lacks a
 * parenthesis, or a statement its end. The place that the user can mend goes before it. Of the
 * first error it may stand with a later one. */
static void put_error(rdl_reason *why, const struct place *error, const char *rest,
                      const rdl_joined *joined, bool same_error) {
  struct place place;
  if (error->is_error && is_own(joined, error) &&
      find_user_place(joined, rest, same_error, &place)) {
    place.message = error->message;
    place.is_error = 1;
    put_place(why, &place);
  }
  put_place(why, error);
}

/* A note that is left out takes the lines of source with it that follow it. */
static void put_rest(rdl_reason *why, const char *log, const rdl_joined *joined) {
  int idle = 0;
  while (*log) {
    struct span line = next_line(&log);
    struct place place;
    if (read_place(line, &place)) {
      see_caret(&place, log);
      translate(joined, &place);
      idle = is_idle_note(joined, &place);
      if (!idle) put_error(why, &place, log, joined, true);
    } else if (!idle) {
      rdl__reason_append(why, "%.*s\n", (int)line.length, line.at);
    }
  }
}

rdl_status rdl__compile_log(const char *log, const rdl_joined *joined, rdl_reason *why) {
  const char *rest = log;
  struct place place;
  if (!why) return RDL_COMPILE;
  rdl__reason_clear(why);
  while (*rest) {
    struct span line = next_line(&rest);
    if (!read_place(line, &place) || !place.is_error) continue;
    see_caret(&place, rest);
    translate(joined, &place);
    put_error(why, &place, rest, joined, false);
    put_rest(why, rest, joined);
    drop_line_ends(why);
    return RDL_COMPILE;
  }
  (void)rdl__fail(RDL_COMPILE, why, "The compiler failed and named no line:\n%s",
                  *log ? log : "(it said nothing)");
  drop_line_ends(why);
  return RDL_COMPILE;
}
