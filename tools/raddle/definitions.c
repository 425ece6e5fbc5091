/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/raddle/definitions.h"

#include <stdlib.h>
#include <string.h>

typedef struct collector {
  definitions *out;
  const char *file;
  rdl__lexer lexer;
  uint32_t depth; /* braces that are open */
  bool failed;    /* out of memory */
} collector;

const definition *definitions_find(const definitions *d, definition_kind kind,
                                   const rdl__token *name) {
  for (size_t i = 0; i < d->count; i++)
    if (d->list[i].kind == kind && strcmp(d->list[i].name, name->text) == 0) return &d->list[i];
  return NULL;
}

static definition *append(collector *c) {
  definitions *d = c->out;
  if (d->count == d->capacity) {
    size_t capacity = d->capacity ? 2 * d->capacity : 64;
    definition *list = realloc(d->list, capacity * sizeof *list);
    if (!list) return NULL;
    d->list = list;
    d->capacity = capacity;
  }
  return &d->list[d->count++];
}

/* Names too long for the list are none that a task file can be scanned with. */
static definition *add(collector *c, definition_kind kind, const rdl__token *name,
                       const rdl__lexer *at) {
  definition *d;
  if (name->length > RDL__NAME_MAX) return NULL;
  for (size_t i = 0; i < c->out->count; i++) {
    definition *other = &c->out->list[i];
    if (other->kind == kind && strcmp(other->name, name->text) == 0) {
      other->several = true;
      return NULL;
    }
  }
  d = append(c);
  if (!d) {
    c->failed = true;
    return NULL;
  }
  *d = (definition){.kind = kind, .file = c->file, .at = *at};
  memcpy(d->name, name->text, name->length);
  return d;
}

static bool is_mark(const rdl__token *token, char mark) {
  return token->kind == RDL__TOKEN_MARK && token->text[0] == mark;
}

static bool is_over(const rdl__token *token) {
  return token->kind == RDL__TOKEN_END || token->kind == RDL__TOKEN_BROKEN;
}

static void collect_directive(collector *c) {
  rdl__token token;
  c->lexer.directive = true;
  rdl__lexer_next(&c->lexer, &token);
  if (rdl__token_is(&token, "define")) {
    rdl__lexer_next(&c->lexer, &token);
    if (token.kind == RDL__TOKEN_WORD) {
      definition *d = add(c, DEFINES_MACRO, &token, &c->lexer);
      if (d)
        d->takes_arguments = c->lexer.at < c->lexer.length && c->lexer.text[c->lexer.at] == '(';
    }
  }
  if (c->lexer.directive) rdl__lexer_skip_line(&c->lexer);
}

/* Behind `struct` or `union`. */
static void collect_record(collector *c, bool is_union) {
  rdl__lexer ahead = c->lexer;
  rdl__token name, brace;
  rdl__lexer_next(&ahead, &name);
  rdl__lexer at = ahead;
  rdl__lexer_next(&ahead, &brace);
  if (name.kind != RDL__TOKEN_WORD || !is_mark(&brace, '{')) return;
  definition *d = add(c, DEFINES_RECORD, &name, &at);
  if (d) d->is_union = is_union;
}

/* Behind `enum`: all its constants begin where the first one stands, for each may count on. */
static void collect_enum(collector *c) {
  rdl__lexer ahead = c->lexer;
  rdl__token token;
  rdl__lexer_next(&ahead, &token);
  if (token.kind == RDL__TOKEN_WORD) rdl__lexer_next(&ahead, &token);
  if (!is_mark(&token, '{')) return;
  rdl__lexer at = ahead;
  bool first = true;
  for (rdl__lexer_next(&ahead, &token); !is_over(&token) && !is_mark(&token, '}');
       rdl__lexer_next(&ahead, &token)) {
    if (first && token.kind == RDL__TOKEN_WORD) (void)add(c, DEFINES_CONSTANT, &token, &at);
    first = is_mark(&token, ',');
  }
}

/* Behind `typedef`: what it declares are the words outside of braces before a , a ; or a [. */
static void collect_typedef(collector *c) {
  rdl__lexer ahead = c->lexer;
  rdl__token before = {.kind = RDL__TOKEN_MARK}, token;
  uint32_t depth = 0;
  for (rdl__lexer_next(&ahead, &token); !is_over(&token); rdl__lexer_next(&ahead, &token)) {
    bool ends = !depth && token.kind == RDL__TOKEN_MARK && strchr(",;[", token.text[0]);
    if (ends && before.kind == RDL__TOKEN_WORD) (void)add(c, DEFINES_TYPE, &before, &c->lexer);
    if (!depth && is_mark(&token, ';')) return;
    if (token.kind == RDL__TOKEN_MARK && strchr("{([", token.text[0])) depth++;
    if (token.kind == RDL__TOKEN_MARK && strchr("})]", token.text[0]) && depth) depth--;
    before = token;
  }
}

static void collect_file(collector *c, const rdl__image_module *module) {
  rdl__token token;
  c->file = module->name;
  rdl__lexer_init(&c->lexer, module->text, module->length);
  for (rdl__lexer_next(&c->lexer, &token); !is_over(&token); rdl__lexer_next(&c->lexer, &token)) {
    if (is_mark(&token, '#') && token.first) collect_directive(c);
    if (rdl__token_is(&token, "struct")) collect_record(c, false);
    if (rdl__token_is(&token, "union")) collect_record(c, true);
    if (rdl__token_is(&token, "enum")) collect_enum(c);
    if (rdl__token_is(&token, "typedef")) collect_typedef(c);
  }
}

/* Raddle's own module defines nothing for users. */
bool definitions_collect(const task_files *files, definitions *out) {
  collector c = {.out = out};
  *out = (definitions){0};
  for (size_t m = 1; m < files->count; m++)
    collect_file(&c, &files->modules[m]);
  return !c.failed;
}

void definitions_finish(definitions *d) {
  free(d->list);
  *d = (definitions){0};
}
