/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what stands outside of all braces, token for token, and finds the variables there. What it
 * does not understand is no variable: the compiler has the last word on all declarations. */
#ifndef RDL_SRC_DECLARATION_H
#define RDL_SRC_DECLARATION_H

#include <stdbool.h>

#include "api/src/lex.h"

/* Zeroed: nothing has come yet. */
typedef struct rdl__declaration {
  bool typed;      /* a type has come */
  bool tag;        /* the next word is that of a struct, union or enum */
  bool other;      /* a function, a type, a constant, or something that is not understood */
  bool ended;      /* its semicolon has come: the next token begins another */
  rdl__token type; /* the word in the type that may be a macro; of length 0 when there is none */
  rdl__token name; /* of length 0 until it has come */
} rdl__declaration;

/* True once a declaration, when the token shows that `name` is a variable. Takes no braces. */
bool rdl__declaration_take(rdl__declaration *declaration, const rdl__token *token);

/* The braces of a struct, union or enum have closed. */
void rdl__declaration_take_type(rdl__declaration *declaration);

#endif
