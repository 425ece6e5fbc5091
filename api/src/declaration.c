/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/declaration.h"

#include <stddef.h>
#include <string.h>

static bool is_one_of(const rdl__token *token, const char *const *words) {
  for (; *words; words++)
    if (rdl__token_is(token, *words)) return true;
  return false;
}

/* A constant is left to the compiler: some devices take it. */
static bool tells_other(const rdl__token *token) {
  static const char *const words[] = {"typedef",    "const",     "constant", "__const",
                                      "__constant", "__const__", NULL};
  return is_one_of(token, words);
}

/* Words that may stand beside the name of a type. */
static bool is_beside_type(const rdl__token *token) {
  static const char *const words[] = {"static",     "extern",    "volatile",
                                      "RDL_GLOBAL", "RDL_LOCAL", NULL};
  return is_one_of(token, words);
}

/* Words of types that consist of several. */
static bool is_part_of_type(const rdl__token *token) {
  static const char *const words[] = {"void",  "char",   "short",  "int",      "long",
                                      "float", "double", "signed", "unsigned", NULL};
  return is_one_of(token, words);
}

static bool begins_tag(const rdl__token *token) {
  static const char *const words[] = {"struct", "union", "enum", NULL};
  return is_one_of(token, words);
}

static void take_name(rdl__declaration *d, const rdl__token *token) {
  if (!d->typed) {
    d->type = *token;
    d->typed = true;
  } else if (!d->name.length) {
    d->name = *token;
  } else {
    d->other = true;
  }
}

static void take_word(rdl__declaration *d, const rdl__token *token) {
  if (d->tag)
    rdl__declaration_take_type(d);
  else if (begins_tag(token))
    d->tag = true;
  else if (is_part_of_type(token))
    d->typed = true;
  else if (tells_other(token))
    d->other = true;
  else if (!d->other && !is_beside_type(token))
    take_name(d, token);
}

/* What may stand behind the name of a variable and not behind that of a function. */
static bool ends_name(const rdl__token *token) {
  return strchr("=[,;", token->text[0]) != NULL;
}

static bool take_mark(rdl__declaration *d, const rdl__token *token) {
  bool found = !d->other && d->name.length && ends_name(token);
  if (token->text[0] == ';')
    d->ended = true; /* and the name is still there for the caller */
  else if (token->text[0] != '*' || !d->typed || d->name.length)
    d->other = true;
  return found;
}

bool rdl__declaration_take(rdl__declaration *d, const rdl__token *token) {
  if (d->ended) *d = (rdl__declaration){0};
  if (token->kind == RDL__TOKEN_MARK) return take_mark(d, token);
  if (token->kind == RDL__TOKEN_WORD)
    take_word(d, token);
  else
    d->other = true;
  return false;
}

void rdl__declaration_take_type(rdl__declaration *d) {
  d->tag = false;
  d->typed = true;
}
