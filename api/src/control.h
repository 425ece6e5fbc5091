/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the statements of a body, token for token, to know what a `break` there would leave, and
 * which loops stand around an await. What may be a macro that holds a loop counts as one: the
 * compiler has the last word on all others. */
#ifndef RDL_SRC_CONTROL_H
#define RDL_SRC_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "api/src/lex.h"

#define RDL__MOST_CONSTRUCTS 128u

typedef struct rdl__control {
  unsigned char open[RDL__MOST_CONSTRUCTS]; /* statements that hold the one that is read */
  uint32_t depth;
  uint32_t nesting;    /* brackets that are open inside a statement */
  unsigned char first; /* how far the first part of the head of a `for` has been read */
  rdl__token counter;  /* its last name so far */
  rdl__token loser;    /* the counter that the outermost loop with one declares in its head */
  bool start;          /* a statement may begin here */
  bool head;           /* the parentheses of an if, a loop or a switch come, or are open */
  bool bare;           /* the statement is so far a name, or a name with its arguments */
  bool lopsided;       /* something was closed that had not been opened */
  bool unsure;         /* nothing is known any more */
} rdl__control;

void rdl__control_begin(rdl__control *control);

/* True when the token is a `break` that stands in no loop and no switch. */
bool rdl__control_take(rdl__control *control, const rdl__token *token);

/* Whether a `break` here would stand in none. */
bool rdl__control_is_outside(const rdl__control *control);

/* The counter of a loop around this place that declares it in its head, `for (uint k = 0; ...)`; it
 * would be lost at an await. NULL = there is none. */
const rdl__token *rdl__control_loser(const rdl__control *control);

/* The macro that the token taken last stands for may end in the head of such a loop. */
void rdl__control_declare(rdl__control *control, const rdl__token *counter);

/* Whether all that was opened has been closed, loops that still want a body apart. */
bool rdl__control_is_level(const rdl__control *control);

#endif
