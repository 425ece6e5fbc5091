/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "api/src/lex.h"

typedef char name[RDL__NAME_MAX + 1];

/* Functions and macros that name what is looked for, of all modules: a file may use those of one
 * before it. */
typedef struct names {
  name *items;
  size_t count;
  size_t capacity;
  bool failed;
} names;

/* One way through a file. */
typedef struct walk {
  bool (*looked_for)(const rdl__token *token, bool in_macro);
  rdl__lexer lexer;
  rdl__token token;
  rdl__token before;
  const rdl__task_list *tasks;
  bool *marks; /* of the file's first task */
  names *known;
  name owner; /* the function or task whose body this is; empty = none */
  bool owner_is_task;
  unsigned depth;       /* braces that are open, */
  unsigned parentheses; /* and parentheses outside of them */
} walk;

static bool is_known(const names *known, const char *text) {
  for (size_t k = 0; k < known->count; k++)
    if (strcmp(known->items[k], text) == 0) return true;
  return false;
}

static void add(names *known, const char *text) {
  if (is_known(known, text) || known->failed) return;
  if (known->count == known->capacity) {
    size_t wanted = known->capacity ? 2 * known->capacity : 16;
    name *grown = realloc(known->items, wanted * sizeof *grown);
    known->failed = !grown;
    if (!grown) return;
    known->items = grown;
    known->capacity = wanted;
  }
  memcpy(known->items[known->count++], text, sizeof(name));
}

static bool is_one_of(const rdl__token *token, const char *const *words, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (rdl__token_is(token, words[k])) return true;
  return false;
}

static bool begins_as(const rdl__token *token, const char *const *beginnings, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (strncmp(token->text, beginnings[k], strlen(beginnings[k])) == 0) return true;
  return false;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool names_lanes(const rdl__token *token, bool in_macro) {
  (void)in_macro;
  static const char *const words[] = {
      "rdl_lane", "rdl_sync", "rdl_ballot", "RDL_SPAWN_LANES", "RDL_TRY_SPAWN_LANES", "RDL_GROUP"};
  static const char *const beginnings[] = {"rdl_broadcast_", "rdl_reduce_", "rdl_scan_"};
  return is_one_of(token, words, COUNT(words)) || begins_as(token, beginnings, COUNT(beginnings));
}

/* All that kernels/pack.cl does not have. What a macro spawns, or how often, is not known. */
static bool names_what_none_packs(const rdl__token *token, bool in_macro) {
  static const char *const packed[] = {
      "RDL_BEGIN",  "RDL_END",   "RDL_EXIT",        "RDL_RETURN",      "RDL_FAIL",   "RDL_SPAWN",
      "RDL_SPAWNS", "RDL_AWAIT", "RDL_RESULT",      "RDL_AT",          "RDL_GLOBAL", "RDL_NONE",
      "RDL_FN",     "RDL_YIELD", "RDL_AWAIT_EVENT", "RDL_AWAIT_COUNT", "rdl_ptr",    "rdl_future",
      "rdl_event",  "rdl_sqrt",  "rdl_fabs",        "rdl_floor",       "rdl_ceil",   "rdl_sin",
      "rdl_cos",    "rdl_exp",   "rdl_log",         "rdl_pow",         "rdl_fmin",   "rdl_fmax"};
  static const char *const types[] = {"rdl_u", "rdl_i", "rdl_f", "rdl_atomic_"};
  static const char *const own[] = {"rdl_", "RDL_"};
  if (in_macro && rdl__token_is(token, "RDL_SPAWN")) return true;
  return begins_as(token, own, COUNT(own)) && !is_one_of(token, packed, COUNT(packed)) &&
         !begins_as(token, types, COUNT(types));
}

/* All that the lane of a private task does not have (kernels/private.cl). */
static bool names_what_none_has_private(const rdl__token *token, bool in_macro) {
  static const char *const allowed[] = {
      "RDL_BEGIN", "RDL_END",         "RDL_EXIT",         "RDL_RETURN",  "RDL_FAIL",
      "RDL_SPAWN", "RDL_TRY_SPAWN",   "RDL_SPAWNS",       "RDL_SPAWNED", "RDL_FULL",
      "RDL_AWAIT", "RDL_AWAIT_CATCH", "RDL_YIELD",        "RDL_RESULT",  "RDL_TAKE",
      "RDL_DROP",  "RDL_CANCELLED",   "RDL_FAILURE_CODE", "RDL_OK",      "RDL_INVALID",
      "RDL_STALE", "RDL_FAILED",      "RDL_DEADLOCK",     "RDL_TIMEOUT", "RDL_OUT_OF_SLOTS",
      "RDL_AT",    "RDL_GLOBAL",      "RDL_NONE",         "RDL_FN",      "RDL_PERMISSION",
      "rdl_clock", "rdl_ptr",         "rdl_future",       "rdl_sqrt",    "rdl_fabs",
      "rdl_floor", "rdl_ceil",        "rdl_sin",          "rdl_cos",     "rdl_exp",
      "rdl_log",   "rdl_pow",         "rdl_fmin",         "rdl_fmax"};
  static const char *const types[] = {"rdl_u", "rdl_i", "rdl_f", "rdl_atomic_"};
  static const char *const own[] = {"rdl_", "RDL_"};
  (void)in_macro;
  return begins_as(token, own, COUNT(own)) && !is_one_of(token, allowed, COUNT(allowed)) &&
         !begins_as(token, types, COUNT(types));
}

static bool names_loops(const rdl__token *token, bool in_macro) {
  static const char *const words[] = {"for", "while", "do", "goto"};
  (void)in_macro;
  return is_one_of(token, words, COUNT(words));
}

static bool is_named(const walk *w, bool in_macro) {
  if (w->token.kind != RDL__TOKEN_WORD) return false;
  return w->looked_for(&w->token, in_macro) || is_known(w->known, w->token.text);
}

static void next(walk *w) {
  w->before = w->token;
  rdl__lexer_next(&w->lexer, &w->token);
}

static bool at_end(const walk *w) {
  return w->token.kind == RDL__TOKEN_END || w->token.kind == RDL__TOKEN_BROKEN;
}

static bool is_mark(const walk *w, char mark) {
  return w->token.kind == RDL__TOKEN_MARK && w->token.text[0] == mark;
}

/* A longer name is none of a task, and no function is found by it. */
static void take_owner(walk *w, const rdl__token *token, bool is_task) {
  memset(w->owner, 0, sizeof w->owner);
  w->owner_is_task = is_task;
  if (token->kind == RDL__TOKEN_WORD && token->length <= RDL__NAME_MAX)
    memcpy(w->owner, token->text, token->length);
}

static void mark_task(walk *w) {
  for (size_t i = 0; i < w->tasks->count; i++)
    if (strcmp(w->tasks->tasks[i].name, w->owner) == 0) w->marks[i] = true;
}

static void mark_owner(walk *w) {
  if (!*w->owner) return;
  if (w->owner_is_task)
    mark_task(w);
  else
    add(w->known, w->owner);
}

static void read_define(walk *w) {
  name body; /* a #define may stand in one */
  bool is_task = w->owner_is_task;
  memcpy(body, w->owner, sizeof body);
  next(w);
  take_owner(w, &w->token, false);
  for (next(w); !at_end(w) && !is_mark(w, '\n'); next(w))
    if (is_named(w, true)) mark_owner(w);
  memcpy(w->owner, body, sizeof body);
  w->owner_is_task = is_task;
}

static void read_directive(walk *w) {
  w->lexer.directive = true;
  next(w);
  if (rdl__token_is(&w->token, "define"))
    read_define(w);
  else if (!is_mark(w, '\n'))
    rdl__lexer_skip_line(&w->lexer);
}

/* At file level the last name before a parenthesis may be that of a function. */
static void read_head(walk *w) {
  bool lanes = rdl__token_is(&w->before, "RDL_TASK_LANES");
  if (!lanes && !rdl__token_is(&w->before, "RDL_TASK") &&
      !rdl__token_is(&w->before, "RDL_TASK_PRIVATE")) {
    take_owner(w, &w->before, false);
    return;
  }
  next(w);
  take_owner(w, &w->token, true);
  if (lanes) mark_task(w);
}

static void read_token(walk *w) {
  if (is_mark(w, '#') && w->token.first) {
    read_directive(w);
  } else if (is_mark(w, '(')) {
    if (!w->depth && w->parentheses++ == 0) read_head(w);
  } else if (is_mark(w, ')')) {
    if (!w->depth && w->parentheses) w->parentheses--;
  } else if (is_mark(w, '{')) {
    w->depth++;
  } else if (is_mark(w, '}')) {
    if (w->depth && --w->depth == 0) *w->owner = '\0'; /* a struct's members are nobody's */
  } else if (w->depth && is_named(w, false)) {
    mark_owner(w);
  }
}

static void read_module(const rdl__image_module *module,
                        bool (*looked_for)(const rdl__token *, bool), names *known, bool *marks) {
  walk w = {.looked_for = looked_for, .tasks = module->tasks, .marks = marks, .known = known};
  rdl__lexer_init(&w.lexer, module->text, module->length);
  w.lexer.lenient = true;
  for (next(&w); !at_end(&w); next(&w))
    read_token(&w);
}

/* A macro may use one that is defined further down: the files are read until nothing new is found.
 */
static rdl_status find(const rdl__image_module *modules, size_t count,
                       bool (*looked_for)(const rdl__token *, bool), bool *marks) {
  names known = {0};
  size_t before;
  do {
    size_t first = 0;
    before = known.count;
    for (size_t m = 0; m < count; m++) {
      read_module(&modules[m], looked_for, &known, marks + first);
      first += modules[m].tasks->count;
    }
  } while (known.count != before && !known.failed);
  free(known.items);
  return known.failed ? RDL_OUT_OF_MEMORY : RDL_OK;
}

rdl_status rdl__find_wide(const rdl__image_module *modules, size_t count, bool *wide) {
  return find(modules, count, names_lanes, wide);
}

rdl_status rdl__find_not_private(const rdl__image_module *modules, size_t count, bool *marks) {
  return find(modules, count, names_what_none_has_private, marks);
}

static size_t count_tasks(const rdl__image_module *modules, size_t count) {
  size_t tasks = 0;
  for (size_t m = 0; m < count; m++)
    tasks += modules[m].tasks->count;
  return tasks;
}

/* How often a loop spawns is not known, and a lane has room for so many children as the text names.
 */
rdl_status rdl__find_unpacked(const rdl__image_module *modules, size_t count, bool *unpacked) {
  bool *loops = calloc(count_tasks(modules, count) + (size_t)1, sizeof *loops);
  rdl_status status = RDL_OUT_OF_MEMORY;
  size_t k = 0;
  if (loops) status = find(modules, count, names_what_none_packs, unpacked);
  if (status == RDL_OK) status = find(modules, count, names_loops, loops);
  for (size_t m = 0; m < count && status == RDL_OK; m++)
    for (size_t i = 0; i < modules[m].tasks->count; i++, k++)
      if (loops[k] && modules[m].tasks->tasks[i].spawns) unpacked[k] = true;
  free(loops);
  return status;
}
