/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/lex.h"

#include <string.h>

size_t rdl__lexer_splice(const char *text, size_t length, size_t at) {
  if (at >= length || text[at] != '\\') return 0;
  if (at + 1 < length && text[at + 1] == '\n') return 2;
  if (at + 2 < length && text[at + 1] == '\r' && text[at + 2] == '\n') return 3;
  return 0;
}

static void skip_splices(rdl__lexer *lexer) {
  size_t width;
  while ((width = rdl__lexer_splice(lexer->text, lexer->length, lexer->at)) != 0) {
    lexer->at += width;
    lexer->line++;
    lexer->column = 1;
  }
}

static int current(const rdl__lexer *lexer) {
  return lexer->at < lexer->length ? (unsigned char)lexer->text[lexer->at] : -1;
}

/* The character after the current one. */
static int following(const rdl__lexer *lexer) {
  size_t at = lexer->at + 1;
  size_t width;
  while ((width = rdl__lexer_splice(lexer->text, lexer->length, at)) != 0)
    at += width;
  return at < lexer->length ? (unsigned char)lexer->text[at] : -1;
}

static void step(rdl__lexer *lexer) {
  if (lexer->text[lexer->at] == '\n') {
    lexer->line++;
    lexer->column = 1;
    lexer->line_is_empty = true;
  } else {
    lexer->column++;
  }
  lexer->at++;
  skip_splices(lexer);
}

size_t rdl__lexer_mark(const char *text, size_t length) {
  return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

void rdl__lexer_init(rdl__lexer *lexer, const char *text, size_t length) {
  *lexer =
      (rdl__lexer){.text = text, .length = length, .line = 1, .column = 1, .line_is_empty = true};
  lexer->at = rdl__lexer_mark(text, length);
  skip_splices(lexer);
}

static bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

/* Not isalpha(): what is a letter must not depend on the locale. Bytes above 127 belong to UTF-8.
 */
static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 128;
}

static bool is_space(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_line_comment(rdl__lexer *lexer) {
  while (current(lexer) != -1 && current(lexer) != '\n')
    step(lexer);
}

/* False when the comment does not end. A comment over several lines does not begin a new line as
 * far as directives are concerned. */
static bool skip_block_comment(rdl__lexer *lexer) {
  bool line_is_empty = lexer->line_is_empty;
  step(lexer);
  step(lexer);
  while (current(lexer) != -1) {
    if (current(lexer) == '*' && following(lexer) == '/') {
      step(lexer);
      step(lexer);
      lexer->line_is_empty = line_is_empty;
      return true;
    }
    step(lexer);
  }
  return false;
}

/* False when a comment does not end; the lexer then stands where the comment began. */
static bool skip_space(rdl__lexer *lexer) {
  for (;;) {
    int c = current(lexer);
    if (c == '\n' && lexer->directive) return true;
    if (is_space(c)) {
      step(lexer);
    } else if (c == '/' && following(lexer) == '/') {
      skip_line_comment(lexer);
    } else if (c == '/' && following(lexer) == '*') {
      rdl__lexer start = *lexer;
      if (!skip_block_comment(lexer)) {
        *lexer = start;
        return false;
      }
    } else {
      return true;
    }
  }
}

static void take(rdl__lexer *lexer, rdl__token *token) {
  if (token->length + 1 < sizeof token->text) token->text[token->length] = lexer->text[lexer->at];
  token->length++;
  step(lexer);
}

static void take_word(rdl__lexer *lexer, rdl__token *token) {
  token->kind = RDL__TOKEN_WORD;
  while (is_letter(current(lexer)) || is_digit(current(lexer)))
    take(lexer, token);
}

static void take_number(rdl__lexer *lexer, rdl__token *token) {
  token->kind = RDL__TOKEN_NUMBER;
  for (;;) {
    int c = current(lexer);
    int next = following(lexer);
    bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
    if (!is_letter(c) && !is_digit(c) && c != '.') return;
    take(lexer, token);
    if (exponent && (next == '+' || next == '-')) take(lexer, token);
  }
}

static void take_literal(rdl__lexer *lexer, rdl__token *token) {
  int quote = current(lexer);
  token->kind = RDL__TOKEN_LITERAL;
  take(lexer, token);
  while (current(lexer) != quote) {
    if (current(lexer) == '\\' && following(lexer) != -1) take(lexer, token);
    if (current(lexer) == '\n' || current(lexer) == -1) {
      if (lexer->lenient) return;
      token->kind = RDL__TOKEN_BROKEN;
      lexer->problem = quote == '"' ? "this string has no closing quote on its line; add \""
                                    : "this character constant has no closing quote on its line; "
                                      "add '";
      return;
    }
    take(lexer, token);
  }
  take(lexer, token);
}

static void take_token(rdl__lexer *lexer, rdl__token *token) {
  int c = current(lexer);
  if (c == -1) {
    token->kind = RDL__TOKEN_END;
  } else if (is_letter(c)) {
    take_word(lexer, token);
  } else if (is_digit(c) || (c == '.' && is_digit(following(lexer)))) {
    take_number(lexer, token);
  } else if (c == '"' || c == '\'') {
    take_literal(lexer, token);
  } else {
    token->kind = RDL__TOKEN_MARK;
    if (c == '\n') lexer->directive = false;
    take(lexer, token);
  }
}

void rdl__lexer_next(rdl__lexer *lexer, rdl__token *out) {
  bool readable = !lexer->problem && skip_space(lexer);
  *out = (rdl__token){.from = lexer->at, .line = lexer->line, .column = lexer->column};
  out->first = lexer->line_is_empty;
  if (readable) {
    lexer->line_is_empty = false;
    take_token(lexer, out);
    /* The end of a directive is the last thing on its line. */
    if (out->kind == RDL__TOKEN_MARK && out->text[0] == '\n') lexer->line_is_empty = true;
  } else {
    out->kind = RDL__TOKEN_BROKEN;
    if (!lexer->problem) lexer->problem = "this comment does not end; add */ where it shall end";
  }
  out->to = lexer->at;
}

void rdl__lexer_skip_line(rdl__lexer *lexer) {
  while (current(lexer) != -1 && current(lexer) != '\n') {
    rdl__lexer start = *lexer;
    bool comment = current(lexer) == '/' && following(lexer) == '*';
    if (!comment) {
      step(lexer);
    } else if (!skip_block_comment(lexer)) {
      *lexer = start; /* the next token reports it */
      break;
    }
  }
  lexer->directive = false;
}

bool rdl__token_is(const rdl__token *token, const char *text) {
  return token->kind != RDL__TOKEN_LITERAL && strcmp(token->text, text) == 0;
}
