/* SPDX-License-Identifier: Apache-2.0 */
/* Where task files define macros, structures, types and constants. */
#ifndef RADDLE_DEFINITIONS_H
#define RADDLE_DEFINITIONS_H

#include "api/src/lex.h"
#include "tools/tasks/task_files.h"

typedef enum definition_kind {
  DEFINES_MACRO,   /* `at` stands behind the name; its text ends with the directive */
  DEFINES_RECORD,  /* a struct or union with a tag: `at` stands before the { */
  DEFINES_TYPE,    /* a typedef: `at` stands behind that word */
  DEFINES_CONSTANT /* of an enum: `at` stands behind the { */
} definition_kind;

typedef struct definition {
  definition_kind kind;
  char name[RDL__NAME_MAX + 1];
  const char *file;
  rdl__lexer at;
  bool takes_arguments; /* a macro */
  bool is_union;
  bool several; /* defined more than once: an #if decides which one holds */
} definition;

/* Zeroed: none. */
typedef struct definitions {
  definition *list;
  size_t count;
  size_t capacity;
} definitions;

/* False: out of memory. */
bool definitions_collect(const task_files *files, definitions *out);

/* NULL: there is none of this kind and name. */
const definition *definitions_find(const definitions *d, definition_kind kind,
                                   const rdl__token *name);

void definitions_finish(definitions *d);

#endif
