/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts C text into tokens: comments and spaces are passed over, continued lines are joined, and
 * every token knows where it stands. Nothing is allocated. */
#ifndef RDL_SRC_LEX_H
#define RDL_SRC_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rdl__token_kind {
  RDL__TOKEN_END,     /* of the text */
  RDL__TOKEN_WORD,    /* identifier or keyword */
  RDL__TOKEN_NUMBER,  /* anything that begins like a number */
  RDL__TOKEN_LITERAL, /* string or character constant */
  RDL__TOKEN_MARK,    /* any other character; '\n' only at the end of a directive */
  RDL__TOKEN_BROKEN   /* the text cannot be cut here: lexer.problem says why */
} rdl__token_kind;

typedef struct rdl__token {
  rdl__token_kind kind;
  char text[80]; /* words, numbers and marks; cut off when longer */
  size_t length; /* whole length without continuations */
  size_t from;   /* first byte, and one past the last */
  size_t to;
  uint32_t line;
  uint32_t column; /* in bytes, from 1 */
  bool first;      /* first token of its line */
} rdl__token;

typedef struct rdl__lexer {
  const char *text;
  size_t length;
  size_t at;
  uint32_t line;
  uint32_t column;
  bool line_is_empty; /* no token yet on this line */
  bool directive;     /* set by the user after '#': the next end of line is a token and clears it */
  bool lenient;       /* a quote without a partner ends at the end of its line, without a word */
  const char *problem;
} rdl__lexer;

/* The text must outlive the lexer. */
void rdl__lexer_init(rdl__lexer *lexer, const char *text, size_t length);

/* After RDL__TOKEN_END or RDL__TOKEN_BROKEN it stays there. */
void rdl__lexer_next(rdl__lexer *lexer, rdl__token *out);

/* Passes over the rest of a directive's line as if it were spaces: what stands behind #error need
 * not be C. */
void rdl__lexer_skip_line(rdl__lexer *lexer);

/* Length of the byte order mark that some editors put before UTF-8 text, 0 when there is none. */
size_t rdl__lexer_mark(const char *text, size_t length);

/* Length of the line continuation at `at`, 0 when there is none. */
size_t rdl__lexer_splice(const char *text, size_t length, size_t at);

bool rdl__token_is(const rdl__token *token, const char *text);

#endif
