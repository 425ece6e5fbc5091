/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/control.h"

#include <string.h>

enum {
  BLOCK,
  IF,
  IF_DONE, /* an else may come */
  ELSE,
  LOOP, /* or a switch */
  DO,
  DO_DONE, /* its while comes, and then a semicolon */
  MAYBE    /* a statement that begins with a name, which may be a macro with a loop */
};

#define DECLARES 0x80u /* such a loop declares its counter in its head */

/* How far the first part of the head of a `for` has been read. Only a declaration has a name behind
 * a word, or behind a word and stars. */
enum {
  NOT_FIRST, /* not there, or it is no declaration */
  FIRST_COMES,
  FIRST_WORD,
  FIRST_STARS,
  FIRST_NAME
};

void rdl__control_begin(rdl__control *c) {
  *c = (rdl__control){.start = true};
}

static unsigned char construct_at(const rdl__control *c, uint32_t k) {
  return (unsigned char)(c->open[k] & ~DECLARES);
}

static bool top_is(const rdl__control *c, unsigned char construct) {
  return c->depth && construct_at(c, c->depth - 1) == construct;
}

static void replace(rdl__control *c, unsigned char construct) {
  c->open[c->depth - 1] = construct;
}

static void push(rdl__control *c, unsigned char construct) {
  if (c->depth == RDL__MOST_CONSTRUCTS)
    c->unsure = true;
  else
    c->open[c->depth++] = construct;
}

static void set(rdl__control *c, bool start, bool head, bool bare) {
  c->start = start;
  c->head = head;
  c->bare = bare;
}

/* A statement has ended, and with it those whose last part it was. */
static void complete(rdl__control *c) {
  while (c->depth && !top_is(c, BLOCK) && !top_is(c, IF_DONE)) {
    if (top_is(c, IF)) {
      replace(c, IF_DONE);
      return;
    }
    if (top_is(c, DO)) {
      replace(c, DO_DONE);
      return;
    }
    c->depth--;
  }
}

/* The token tells whether an if that has its first branch is over. */
static void settle(rdl__control *c, const rdl__token *token) {
  while (top_is(c, IF_DONE)) {
    if (rdl__token_is(token, "else")) {
      replace(c, ELSE);
      return;
    }
    c->depth--;
    complete(c);
  }
}

static void close_block(rdl__control *c) {
  while (c->depth && !top_is(c, BLOCK))
    c->depth--;
  if (c->depth)
    c->depth--;
  else
    c->lopsided = true;
  complete(c);
}

/* ---- counters that a head declares ---- */

static const rdl__token *loser(const rdl__control *c) {
  uint32_t k;
  for (k = 0; k < c->depth; k++)
    if (c->open[k] & DECLARES) return &c->loser;
  return NULL;
}

static void declare(rdl__control *c, const rdl__token *counter) {
  if (!loser(c)) c->loser = *counter;
  c->open[c->depth - 1] |= DECLARES;
}

/* A token in the first part of the head of a `for`. The last of its names is the counter. */
static void take_first(rdl__control *c, const rdl__token *token) {
  char mark = '\0';
  if (token->kind == RDL__TOKEN_MARK) mark = token->text[0];
  if (token->kind == RDL__TOKEN_WORD) {
    c->first = c->first == FIRST_COMES ? FIRST_WORD : FIRST_NAME;
    c->counter = *token;
  } else if (mark == '*' && c->first != FIRST_COMES) {
    if (c->first == FIRST_WORD) c->first = FIRST_STARS;
  } else {
    if (c->first == FIRST_NAME && mark && strchr("=[,;", mark)) declare(c, &c->counter);
    c->first = NOT_FIRST;
  }
}

static void take_nested(rdl__control *c, char mark) {
  if (strchr("([{", mark)) c->nesting++;
  if (strchr(")]}", mark)) c->nesting--;
  if (!c->nesting && c->head) set(c, true, false, false);
}

static void take_mark(rdl__control *c, char mark) {
  bool block = c->start || (c->bare && top_is(c, MAYBE));
  if (mark == '{' && block) {
    push(c, BLOCK);
  } else if (strchr("([{", mark)) {
    c->nesting = 1;
    set(c, false, c->head, c->bare && mark == '(');
    return;
  } else if (mark == ';') {
    complete(c);
  } else if (mark == '}') {
    close_block(c);
  } else if (mark == ':') { /* behind a label another statement begins */
    if (top_is(c, MAYBE)) c->depth--;
  } else {
    c->lopsided = c->lopsided || mark == ')' || mark == ']';
    set(c, false, false, false);
    return;
  }
  set(c, true, false, false);
}

static bool is_one_of(const rdl__token *token, const char *const *words) {
  for (; *words; words++)
    if (rdl__token_is(token, *words)) return true;
  return false;
}

static bool begins_loop(const rdl__token *token) {
  static const char *const words[] = {"for", "while", "switch", NULL};
  return is_one_of(token, words);
}

/* Words that begin a statement and are no macro. */
static bool is_known(const rdl__token *token) {
  static const char *const words[] = {"break", "continue", "return", "goto",
                                      "case",  "default",  "sizeof", NULL};
  return is_one_of(token, words) || strncmp(token->text, "RDL_", 4) == 0 ||
         strncmp(token->text, "rdl_", 4) == 0;
}

static void take_word(rdl__control *c, const rdl__token *token) {
  if (begins_loop(token)) {
    if (!top_is(c, DO_DONE)) push(c, LOOP);
    set(c, false, true, false);
    c->first = rdl__token_is(token, "for") && !c->unsure ? FIRST_COMES : NOT_FIRST;
  } else if (rdl__token_is(token, "if")) {
    push(c, IF);
    set(c, false, true, false);
  } else if (rdl__token_is(token, "do")) {
    push(c, DO);
    set(c, true, false, false);
  } else if (rdl__token_is(token, "else")) {
    set(c, true, false, false);
  } else {
    bool maybe = c->start && !is_known(token);
    if (maybe) push(c, MAYBE);
    set(c, false, false, maybe);
  }
}

bool rdl__control_take(rdl__control *c, const rdl__token *token) {
  bool outside = false;
  if (c->unsure) return false;
  if (c->nesting) {
    if (c->first) take_first(c, token);
    if (token->kind == RDL__TOKEN_MARK) take_nested(c, token->text[0]);
    return false;
  }
  settle(c, token);
  if (token->kind == RDL__TOKEN_MARK) {
    take_mark(c, token->text[0]);
  } else if (token->kind == RDL__TOKEN_WORD) {
    outside = rdl__token_is(token, "break") && rdl__control_is_outside(c);
    take_word(c, token);
  } else {
    set(c, false, false, false);
  }
  return outside;
}

bool rdl__control_is_outside(const rdl__control *c) {
  uint32_t k;
  if (c->unsure || c->nesting) return false;
  for (k = 0; k < c->depth; k++)
    if (construct_at(c, k) == LOOP || construct_at(c, k) == DO || construct_at(c, k) == MAYBE)
      return false;
  return true;
}

const rdl__token *rdl__control_loser(const rdl__control *c) {
  return c->unsure ? NULL : loser(c);
}

void rdl__control_declare(rdl__control *c, const rdl__token *counter) {
  if (!c->unsure && !c->nesting && top_is(c, MAYBE)) declare(c, counter);
}

bool rdl__control_is_level(const rdl__control *c) {
  bool level = !c->unsure && !c->lopsided && !c->nesting;
  uint32_t k;
  for (k = 0; k < c->depth; k++)
    level = level && c->open[k] != BLOCK && c->open[k] != DO;
  return level;
}
