/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/scan.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/control.h"
#include "api/src/declaration.h"
#include "api/src/lex.h"
#include "api/src/reserved.h"
#include "api/src/text.h"
#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

#define MAX_CONDITIONS 64u
#define MAX_SPAWNS     65536u

/* An #if that is open. Its branches stand for each other, so each begins at the same depth. */
typedef struct condition {
  rdl__token token;
  uint32_t depth;
} condition;

/* What a macro of the file brings to where it stands. */
typedef struct brings {
  uint32_t spawns;
  uint32_t lane_spawns;
  uint32_t awaits;
  bool returns;
  bool breaks;        /* out of a loop that it does not hold */
  bool lopsided;      /* it opens or closes what another one closes or opens */
  bool loses;         /* it holds an await in a loop that declares its counter in its head */
  bool declares;      /* it ends in the head of such a loop, whose body comes behind it */
  rdl__token counter; /* of one of these loops */
} brings;

/* One definition of a macro. What it mentions is looked up where it is used, because it may be
 * defined before those macros that it uses. */
typedef struct macro {
  char name[RDL__NAME_MAX + 1];
  bool takes_arguments; /* it is one only where a ( follows */
  rdl__lexer body;      /* stands behind the name */
  brings brings;
  size_t known;  /* macros that the file had when `brings` was found; 0 = not found yet */
  uint32_t open; /* not 0: it is being looked through, as the so-manieth of those that are */
} macro;

typedef struct scanner {
  const char *file;
  rdl__lexer lexer;
  rdl__token token;
  rdl__token before; /* the one before it */
  unsigned flags;
  rdl__task_list *tasks;
  rdl__task_list declared;
  bool in_body;          /* of the last task */
  uint32_t depth;        /* braces that are open */
  rdl__token open;       /* the outermost of them */
  bool open_is_type;     /* it is that of a struct, union or enum */
  uint32_t type_near;    /* not 0: such a word stands one or two tokens before */
  rdl__token closed;     /* the } of a type when it is the last token so far; line 0 otherwise */
  bool switch_comes;     /* the next brace is that of a switch in a task */
  uint32_t switch_depth; /* braces that were open when the outermost such switch began; 0 = none */
  rdl__control control;  /* in the body of a task */
  rdl__declaration declaration; /* at file level */
  uint32_t unsure; /* parentheses that are open, from that of a word which may be a macro on */
  condition conditions[MAX_CONDITIONS];
  uint32_t condition_count;
  macro *macros;
  size_t macro_count;
  size_t macro_capacity;
  uint32_t macro_depth; /* macros that are being looked through, one inside the other */
  uint32_t macro_work;  /* looked through for the use that is read */
  uint32_t macro_cut;   /* the least `open` of those that were met inside themselves */
  rdl_status status;
  rdl_reason *why;
} scanner;

/* ---- errors ---- */

static void print_values(char *out, size_t size, const char *format, va_list values) {
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the callers have started the list */
  (void)vsnprintf(out, size, format, values);
}

__attribute__((format(printf, 4, 5))) static void
fail_at(scanner *s, uint32_t line, uint32_t column, const char *format, ...) {
  char text[2048];
  va_list values;
  if (s->status) return; /* the first error counts */
  va_start(values, format);
  print_values(text, sizeof text, format, values);
  va_end(values);
  snprintf(s->why->text, sizeof s->why->text, "%.1900s:%u:%u: %s", s->file, line, column, text);
  s->status = RDL_COMPILE;
}

#define FAIL(s, token, ...) fail_at((s), (token)->line, (token)->column, __VA_ARGS__)

static void fail_for_memory(scanner *s) {
  if (s->status) return;
  snprintf(s->why->text, sizeof s->why->text, "%.1900s: out of memory while reading the tasks",
           s->file);
  s->status = RDL_OUT_OF_MEMORY;
}

/* ---- lists ---- */

static void finish_task(rdl__task *task) {
  free(task->result);
  free(task->args);
  free(task->state);
  free(task->lane_state);
}

void rdl__task_list_finish(rdl__task_list *list) {
  for (size_t i = 0; i < list->count; i++)
    finish_task(&list->tasks[i]);
  free(list->tasks);
  free(list->mentions);
  *list = (rdl__task_list){0};
}

/* `items` of `size` bytes each with room for one more than `count`. NULL = out of memory: they stay
 * as they are, and the scan has failed. */
static void *grow(scanner *s, void *items, size_t count, size_t *capacity, size_t size) {
  size_t wanted = *capacity ? 2 * *capacity : 16;
  void *grown;
  if (count < *capacity) return items;
  grown = realloc(items, wanted * size);
  if (grown)
    *capacity = wanted;
  else
    fail_for_memory(s);
  return grown;
}

/* Takes over what the task holds, also when it fails. */
static void append(scanner *s, rdl__task_list *list, rdl__task *task) {
  rdl__task *tasks = grow(s, list->tasks, list->count, &list->capacity, sizeof *tasks);
  if (!tasks) {
    finish_task(task);
    return;
  }
  list->tasks = tasks;
  list->tasks[list->count++] = *task;
}

static rdl__task *find(const rdl__task_list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->tasks[i].name, name) == 0) return &list->tasks[i];
  return NULL;
}

static rdl__task *body_task(scanner *s) {
  return s->in_body ? &s->tasks->tasks[s->tasks->count - 1] : NULL;
}

/* ---- tokens ---- */

static void next(scanner *s) {
  s->before = s->token;
  rdl__lexer_next(&s->lexer, &s->token);
  if (s->type_near) s->type_near--;
  if (rdl__token_is(&s->token, "struct") || rdl__token_is(&s->token, "union") ||
      rdl__token_is(&s->token, "enum"))
    s->type_near = 3;
  if (s->token.kind == RDL__TOKEN_BROKEN) FAIL(s, &s->token, "%s", s->lexer.problem);
}

static bool is_mark(const scanner *s, char mark) {
  return s->token.kind == RDL__TOKEN_MARK && s->token.text[0] == mark;
}

static bool at_end(const scanner *s) {
  return s->status || s->token.kind == RDL__TOKEN_END;
}

/* ---- mentions ---- */

/* A name that is too long for the list is none that is looked for. */
static void mention(scanner *s, rdl__mention_kind kind, const rdl__token *name,
                    const rdl__token *before) {
  rdl__task_list *list = s->tasks;
  rdl__mention *new;
  if (name->length > RDL__NAME_MAX || (before && before->length > RDL__NAME_MAX)) return;
  new = grow(s, list->mentions, list->mention_count, &list->mention_capacity, sizeof *new);
  if (!new) return;
  list->mentions = new;
  new += list->mention_count++;
  *new = (rdl__mention){.kind = kind, .line = name->line, .column = name->column};
  memcpy(new->name, name->text, name->length);
  if (before) memcpy(new->before, before->text, before->length);
}

/* Whether what stands here reaches the compiler as it is written: an #if may leave it out, and a
 * macro may drop its arguments. */
static bool is_certain(const scanner *s) {
  return !s->condition_count && !s->unsure;
}

static bool may_be_macro(const rdl__token *token) {
  static const char *const keywords[] = {"if", "while", "for", "switch", "return", "sizeof"};
  if (token->kind != RDL__TOKEN_WORD) return false;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (rdl__token_is(token, keywords[i])) return false;
  return strncmp(token->text, "RDL_", 4) != 0 && strncmp(token->text, "rdl_", 4) != 0;
}

static void read_parenthesis(scanner *s) {
  if (is_mark(s, '(')) {
    if (s->unsure || may_be_macro(&s->before)) s->unsure++;
  } else if (s->unsure) {
    s->unsure--;
  }
}

/* The token behind, which is not taken; when it is a `(`, `*behind` is what follows its `)`. */
static char look_ahead(const rdl__lexer *from, char *behind) {
  rdl__lexer lexer = *from;
  rdl__token token;
  uint32_t nesting = 0;
  rdl__lexer_next(&lexer, &token);
  *behind = '\0';
  if (token.kind != RDL__TOKEN_MARK) return '\0';
  if (token.text[0] != '(') return token.text[0];
  for (; token.kind != RDL__TOKEN_END && token.kind != RDL__TOKEN_BROKEN;
       rdl__lexer_next(&lexer, &token)) {
    if (token.kind != RDL__TOKEN_MARK) continue;
    if (token.text[0] == '(') nesting++;
    if (token.text[0] == ')' && --nesting == 0) break;
  }
  if (token.kind == RDL__TOKEN_MARK) rdl__lexer_next(&lexer, &token);
  if (token.kind == RDL__TOKEN_MARK) *behind = token.text[0];
  return '(';
}

/* A name of the C library. It is the user's own where a body follows, and at file level wherever it
 * stands but in a prototype: a macro may make a function of it. */
static void mention_library(scanner *s, bool in_macro) {
  char behind;
  char ahead = look_ahead(&s->lexer, &behind);
  bool member = s->before.kind == RDL__TOKEN_MARK && strchr(".>", s->before.text[0]) != NULL;
  if (behind == '{' || (!s->depth && !in_macro && ahead != '('))
    mention(s, RDL__OWN, &s->token, NULL);
  else if (ahead == '(' && s->depth && !in_macro && !member && is_certain(s))
    mention(s, RDL__CALLED, &s->token, NULL);
}

/* The argument `wanted`, from 0, of the word that has just been read, when it is one name. */
static bool look_at_argument(const scanner *s, uint32_t wanted, rdl__token *out) {
  rdl__lexer lexer = s->lexer;
  rdl__token token;
  uint32_t part = 0, nesting = 0, tokens = 0;
  rdl__lexer_next(&lexer, &token);
  if (token.kind != RDL__TOKEN_MARK || token.text[0] != '(') return false;
  for (;;) {
    rdl__lexer_next(&lexer, &token);
    if (token.kind == RDL__TOKEN_END || token.kind == RDL__TOKEN_BROKEN) return false;
    char mark = '\0';
    if (token.kind == RDL__TOKEN_MARK) mark = token.text[0];
    if (mark == '#' && token.first) return false;
    if (!nesting && (mark == ',' || mark == ')')) {
      if (part == wanted) return tokens == 1 && out->kind == RDL__TOKEN_WORD;
      if (mark == ')') return false;
      part++;
      continue;
    }
    if (mark == '(') nesting++;
    if (mark == ')') nesting--;
    if (part != wanted) continue;
    *out = token;
    tokens++;
  }
}

static void mention_spawned(scanner *s, uint32_t argument) {
  rdl__token name, handle;
  if (!is_certain(s) || !look_at_argument(s, argument, &name)) return;
  mention(s, RDL__SPAWNED, &name, look_at_argument(s, argument - 1, &handle) ? &handle : NULL);
}

/* ---- arguments of a word ---- */

#define PARTS 5u

typedef struct arguments {
  rdl__token word;         /* whose arguments these are */
  rdl__token first[PARTS]; /* first token of each */
  size_t tokens[PARTS];
  rdl__text text[PARTS];
  size_t count; /* as written: may be more than PARTS */
} arguments;

static void finish_arguments(arguments *a) {
  for (size_t i = 0; i < PARTS; i++)
    rdl__text_finish(&a->text[i]);
}

/* An argument without a token has no text. */
static const char *argument_text(const arguments *a, size_t part) {
  return a->text[part].bytes ? a->text[part].bytes : "";
}

static bool ends_in_word(const rdl__text *text) {
  int c = text->length ? text->bytes[text->length - 1] : ' ';
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Two words keep a space between them; all other spaces go, so that texts can be compared. */
static void add_token(scanner *s, rdl__text *text) {
  const char *bytes = s->lexer.text;
  bool word = s->token.kind == RDL__TOKEN_WORD || s->token.kind == RDL__TOKEN_NUMBER;
  if (word && ends_in_word(text)) rdl__text_add(text, " ", 1);
  for (size_t at = s->token.from; at < s->token.to;) {
    size_t splice = rdl__lexer_splice(bytes, s->token.to, at);
    if (!splice) rdl__text_add(text, bytes + at, 1);
    at += splice ? splice : 1;
  }
}

static void add_argument_token(scanner *s, arguments *a) {
  size_t part = a->count - 1;
  if (part >= PARTS) return;
  if (!a->tokens[part]++) a->first[part] = s->token;
  add_token(s, &a->text[part]);
  if (a->text[part].failed) fail_for_memory(s);
}

/* Reads `(a, b, ...)`; only parentheses nest, as in the compiler's own reading of a macro. */
static void read_arguments(scanner *s, arguments *a) {
  uint32_t nesting = 0;
  a->word = s->token;
  next(s);
  if (!is_mark(s, '(')) {
    FAIL(s, &a->word, "%s needs its arguments in parentheses; write %s(...)", a->word.text,
         a->word.text);
    return;
  }
  a->count = 1;
  for (next(s); !at_end(s); next(s)) {
    if (is_mark(s, '#') && s->token.first) break;
    if (is_mark(s, ')') && nesting-- == 0) return;
    if (is_mark(s, '(')) nesting++;
    if (is_mark(s, ',') && !nesting) {
      a->count++;
    } else {
      add_argument_token(s, a);
    }
  }
  FAIL(s, &a->word, "the arguments of %s do not end; add the ) that closes them", a->word.text);
}

/* ---- RDL_TASK and RDL_DECLARE ---- */

static bool defines_task(const rdl__token *token) {
  return rdl__token_is(token, "RDL_TASK") || rdl__token_is(token, "RDL_TASK_LANES") ||
         rdl__token_is(token, "RDL_TASK_PRIVATE");
}

static bool declares_task(const rdl__token *token) {
  return rdl__token_is(token, "RDL_DECLARE") || rdl__token_is(token, "RDL_DECLARE_LANES") ||
         rdl__token_is(token, "RDL_DECLARE_PRIVATE");
}

static bool has_lane_state(const rdl__token *word) {
  return strstr(word->text, "_LANES") != NULL;
}

/* Its record stands with its worker (kernels/privates.h). */
static bool is_private(const rdl__token *word) {
  return strstr(word->text, "_PRIVATE") != NULL;
}

static void check_place(scanner *s) {
  const char *word = s->token.text;
  rdl__task *task = body_task(s);
  if (s->condition_count) {
    const rdl__token *open = &s->conditions[s->condition_count - 1].token;
    FAIL(s, &s->token,
         "%s is not allowed inside the #if of line %u; every image has all tasks of a file, so "
         "move it out (an #if inside a task's body is fine)",
         word, open->line);
  } else if (task) {
    FAIL(s, &s->token,
         "%s is inside the body of task %s, which begins on line %u; add the } that is missing "
         "before it",
         word, task->name, s->open.line);
  } else if (s->depth) {
    FAIL(s, &s->token,
         "%s is inside the braces that open on line %u; move it out of them, or add the } that is "
         "missing before it",
         word, s->open.line);
  }
}

static void check_name(scanner *s, const arguments *a, const char *name) {
  const rdl__token *token = &a->first[0];
  bool reserved = strncmp(name, "rdl_", 4) == 0 || strncmp(name, "RDL_", 4) == 0;
  if (token->kind != RDL__TOKEN_WORD || a->tokens[0] != 1)
    FAIL(s, token, "'%.80s' cannot name a task; use one C identifier: letters, digits and _", name);
  else if (token->length > RDL__NAME_MAX)
    FAIL(s, token, "the task's name has %zu characters; shorten it to %u or fewer", token->length,
         RDL__NAME_MAX);
  else if (reserved && !(s->flags & RDL__SCAN_OWN))
    FAIL(s, token, "'%s' begins with %.4s, which is kept for Raddle's own names; rename the task",
         name, name);
  else if (rdl__reserved_in_opencl(name))
    FAIL(s, token, "'%s' is a name of OpenCL C, where the task would not compile; rename the task",
         name);
}

static void check_count(scanner *s, const arguments *a) {
  bool empty = false;
  bool lanes = has_lane_state(&a->word);
  size_t parts = lanes ? PARTS : PARTS - 1;
  for (size_t i = 0; i < parts && i < a->count; i++)
    empty = empty || !a->tokens[i];
  if (a->count == parts && !empty) return;
  FAIL(
      s, &a->word,
      "%s takes %zu arguments and this has %zu%s; write %s(name, result, arguments, state%s), with "
      "RDL_NONE for each type that the task does not have",
      a->word.text, parts, a->count == 1 && empty ? 0 : a->count,
      empty && a->count > 1 ? ", one of them empty" : "", a->word.text,
      lanes ? ", lane state" : "");
}

/* A state of no size would look to the host as if there were none. */
static void check_lane_state(scanner *s, const arguments *a) {
  if (has_lane_state(&a->word) && strcmp(argument_text(a, PARTS - 1), "RDL_NONE") == 0)
    FAIL(s, &a->first[PARTS - 1],
         "%s wants a type for the state of a lane; a task without one is an RDL_TASK",
         a->word.text);
}

static char *take_type(rdl__text *text) {
  char *type = text->bytes;
  *text = (rdl__text){0};
  return type;
}

/* Reads the head of a task or declaration into `*out`, which is empty on failure. */
static void read_head(scanner *s, rdl__task *out) {
  arguments a = {0};
  *out = (rdl__task){0};
  check_place(s);
  if (!s->status) read_arguments(s, &a);
  if (!s->status) check_count(s, &a);
  if (!s->status) check_lane_state(s, &a);
  if (!s->status) check_name(s, &a, argument_text(&a, 0));
  if (!s->status) {
    memcpy(out->name, argument_text(&a, 0), a.text[0].length);
    out->line = a.first[0].line;
    out->column = a.first[0].column;
    out->result = take_type(&a.text[1]);
    out->args = take_type(&a.text[2]);
    out->state = take_type(&a.text[3]);
    out->lane_state = take_type(&a.text[4]);
    out->is_private = is_private(&a.word);
  }
  finish_arguments(&a);
}

static bool same_type(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_types(const rdl__task *a, const rdl__task *b) {
  return same_type(a->result, b->result) && same_type(a->args, b->args) &&
         same_type(a->state, b->state) && same_type(a->lane_state, b->lane_state) &&
         a->is_private == b->is_private;
}

static void check_new(scanner *s, const rdl__task *task, const rdl__task *declared) {
  const rdl__task *before = find(s->tasks, task->name);
  if (before)
    fail_at(s, task->line, task->column,
            "task '%s' was already defined on line %u; rename one of them, or remove this",
            task->name, before->line);
  else if (declared && !same_types(task, declared))
    fail_at(s, task->line, task->column,
            "task '%s' has other types than its RDL_DECLARE on line %u; write the same types in "
            "both",
            task->name, declared->line);
  else if (s->tasks->count == RDL_MAX_TASKS)
    fail_at(s, task->line, task->column,
            "this is task number %u and an image holds at most %u; load fewer tasks",
            RDL_MAX_TASKS + 1, RDL_MAX_TASKS);
}

static void read_declaration(scanner *s) {
  rdl__task task;
  read_head(s, &task);
  if (s->status) return;
  const rdl__task *before = find(&s->declared, task.name);
  if (!before) before = find(s->tasks, task.name);
  if (before)
    fail_at(s, task.line, task.column,
            "task '%s' is already known from line %u; remove this RDL_DECLARE", task.name,
            before->line);
  append(s, &s->declared, &task);
  s->declaration = (rdl__declaration){0}; /* no semicolon need follow */
}

static void read_task(scanner *s) {
  rdl__task task;
  read_head(s, &task);
  if (s->status) return;
  const rdl__task *declared = find(&s->declared, task.name);
  check_new(s, &task, declared);
  if (declared) task.declared = declared->line;
  append(s, s->tasks, &task);
  next(s);
  if (!is_mark(s, '{'))
    FAIL(s, &s->token, "the body of task '%s' is missing; put { after RDL_TASK(...)", task.name);
  if (s->status) return;
  s->in_body = true;
  rdl__control_begin(&s->control);
  s->declaration = (rdl__declaration){0};
  s->unsure = 0;
  s->open = s->token;
  s->open_is_type = false;
  s->depth = 1;
}

/* ---- inside a body ---- */

static void close_task(scanner *s, const rdl__task *task) {
  if (!task->begin_line)
    fail_at(s, task->line, task->column,
            "task '%s' has no RDL_BEGIN(); put it after the task's local variables", task->name);
  else if (!task->end_line)
    fail_at(s, task->line, task->column,
            "task '%s' has no RDL_END(); put it at the end of the task's body", task->name);
  s->in_body = false;
}

static void open_brace(scanner *s) {
  if (!s->depth) {
    s->open = s->token;
    s->open_is_type = s->type_near != 0;
  }
  if (s->switch_comes && !s->switch_depth) s->switch_depth = s->depth;
  s->switch_comes = false;
  s->depth++;
}

static void close_outermost(scanner *s) {
  s->unsure = 0;
  if (s->open_is_type)
    rdl__declaration_take_type(&s->declaration);
  else
    s->declaration = (rdl__declaration){0};
  if (s->open_is_type && !s->condition_count) s->closed = s->token;
}

static void close_brace(scanner *s) {
  if (!s->depth) {
    FAIL(s, &s->token, "this } closes nothing; remove it, or add the { that is missing before it");
    return;
  }
  s->depth--;
  if (s->depth == s->switch_depth) s->switch_depth = 0;
  if (!s->depth && s->in_body) close_task(s, body_task(s));
  if (!s->depth) close_outermost(s);
}

static void read_begin(scanner *s, rdl__task *task) {
  if (task->begin_line)
    FAIL(s, &s->token, "task '%s' has its RDL_BEGIN() on line %u already; remove one of them",
         task->name, task->begin_line);
  task->begin_line = s->token.line;
}

static void read_end(scanner *s, rdl__task *task) {
  if (!task->begin_line)
    FAIL(s, &s->token, "RDL_END() comes before the RDL_BEGIN() of task '%s'; put RDL_BEGIN() first",
         task->name);
  else if (task->end_line)
    FAIL(s, &s->token, "task '%s' has its RDL_END() on line %u already; remove one of them",
         task->name, task->end_line);
  task->end_line = s->token.line;
}

/* Into one of the two counters of the task. */
static void add_spawns(scanner *s, rdl__task *task, uint32_t *counter, unsigned long count,
                       const rdl__token *token) {
  if (count > MAX_SPAWNS || task->spawns + task->lane_spawns + count > MAX_SPAWNS)
    FAIL(s, token,
         "a segment of task '%s' may spawn more than %u; spawn in rounds, with "
         "RDL_TRY_SPAWN and RDL_AWAIT_ROOM between them",
         task->name, MAX_SPAWNS);
  else
    *counter += (uint32_t)count;
}

static void read_room(scanner *s, rdl__task *task) {
  arguments a = {0};
  char *end = NULL;
  read_arguments(s, &a);
  if (!s->status) {
    unsigned long count = a.tokens[0] ? strtoul(argument_text(&a, 0), &end, 0) : 0;
    if (end && (*end == 'u' || *end == 'U')) end++;
    if (!end || *end || a.count != 1 || a.first[0].kind != RDL__TOKEN_NUMBER)
      FAIL(s, &a.word,
           "RDL_SPAWNS wants one whole number written in digits, because it is read "
           "before the file is compiled; write RDL_SPAWNS(8)");
    else
      add_spawns(s, task, &task->spawns, count, &a.word);
  }
  finish_arguments(&a);
}

/* The widths of all tasks are known before anything is compiled. */
static void read_group(scanner *s, rdl__task *task) {
  arguments a = {0};
  const rdl__token word = s->token;
  if (s->condition_count)
    FAIL(s, &word,
         "RDL_GROUP is not allowed inside an #if: a task is one of a whole group or is not, on "
         "every device; move it out");
  else if (task->group)
    FAIL(s, &word, "task '%s' has its RDL_GROUP() on line %u already; remove one of them",
         task->name, task->group);
  if (!s->status) read_arguments(s, &a);
  if (!s->status && (a.count != 1 || a.tokens[0]))
    FAIL(s, &word, "RDL_GROUP takes no arguments; write RDL_GROUP()");
  task->group = word.line;
  finish_arguments(&a);
}

static void refuse_counter(scanner *s, const rdl__task *task, const rdl__token *counter) {
  FAIL(s, &s->token,
       "%s is in a loop of task '%s' that declares its counter in its head ('%.63s', line %u); "
       "it would be lost here, as all local variables are at an await: put it into the state and "
       "write for (self->%.63s = ...)",
       s->token.text, task->name, counter->text, counter->line, counter->text);
}

static void read_await(scanner *s, rdl__task *task) {
  const rdl__token *loser = rdl__control_loser(&s->control);
  if (!task->begin_line)
    FAIL(s, &s->token, "%s comes before the RDL_BEGIN() of task '%s'; put RDL_BEGIN() first",
         s->token.text, task->name);
  else if (task->end_line)
    FAIL(s, &s->token, "%s comes after the RDL_END() of task '%s'; put RDL_END() last",
         s->token.text, task->name);
  else if (s->switch_depth)
    FAIL(s, &s->token,
         "%s is not allowed inside a switch of task '%s', where the task could not resume; use if "
         "and else there",
         s->token.text, task->name);
  else if (loser)
    refuse_counter(s, task, loser);
  task->resume_points++;
}

/* A plain return would end the task without telling how: it looks to the scheduler like one of the
 * two ways in which a segment ends. */
static void read_return(scanner *s, rdl__task *task) {
  FAIL(s, &s->token,
       "'return' is not allowed in task '%s'; write RDL_RETURN(value), or RDL_EXIT() in a task "
       "without a result",
       task->name);
}

/* ---- the words ---- */

typedef enum word_kind {
  WORD_BEGIN,
  WORD_END,
  WORD_SPAWN,
  WORD_LANE_SPAWN,
  WORD_ROOM,
  WORD_GROUP,
  WORD_AWAIT,
  WORD_RETURN,
  WORD_SWITCH
} word_kind;

typedef struct word {
  const char *name;
  word_kind kind;
  bool helpers_too; /* may also stand in a function that a task calls */
  uint32_t spawned; /* the argument that names the task to spawn, from 0; 0 = none */
} word;

static const word words[] = {
    {"RDL_BEGIN", WORD_BEGIN, false, 0},
    {"RDL_END", WORD_END, false, 0},
    {"RDL_SPAWN", WORD_SPAWN, true, 1},
    {"RDL_TRY_SPAWN", WORD_SPAWN, true, 2},
    {"RDL_SPAWNS", WORD_ROOM, false, 0},
    {"RDL_GROUP", WORD_GROUP, false, 0},
    {"RDL_YIELD", WORD_AWAIT, false, 0},
    {"RDL_SLEEP", WORD_AWAIT, false, 0},
    {"return", WORD_RETURN, true, 0},
    {"switch", WORD_SWITCH, true, 0},
    {"RDL_SPAWN_LANES", WORD_LANE_SPAWN, true, 2},
    {"RDL_TRY_SPAWN_LANES", WORD_LANE_SPAWN, true, 3},
};

static const word await_word = {"RDL_AWAIT", WORD_AWAIT, false, 0};

static const word *find_word(const rdl__token *token) {
  if (token->kind != RDL__TOKEN_WORD) return NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (rdl__token_is(token, words[i].name)) return &words[i];
  return strncmp(token->text, "RDL_AWAIT", 9) == 0 ? &await_word : NULL;
}

static void read_kind(scanner *s, word_kind kind, rdl__task *task) {
  switch (kind) {
  case WORD_BEGIN:
    read_begin(s, task);
    break;
  case WORD_END:
    read_end(s, task);
    break;
  case WORD_SPAWN:
    add_spawns(s, task, &task->spawns, 1, &s->token);
    break;
  case WORD_LANE_SPAWN:
    add_spawns(s, task, &task->lane_spawns, 1, &s->token);
    break;
  case WORD_ROOM:
    read_room(s, task);
    break;
  case WORD_GROUP:
    read_group(s, task);
    break;
  case WORD_AWAIT:
    read_await(s, task);
    break;
  case WORD_RETURN:
    read_return(s, task);
    break;
  case WORD_SWITCH:
    s->switch_comes = true;
    break;
  }
}

/* ---- words in macros ---- */

#define MOST_BY_MACRO (1u << 20) /* macros of macros multiply: more is too much anyway */
#define MOST_NESTED   64u        /* the stack of the thread that loads has to hold them */
#define MOST_WORK     65536u     /* macros that all use each other are looked through often */

static uint32_t add_most(uint32_t a, uint32_t b) {
  return b < MOST_BY_MACRO && a < MOST_BY_MACRO - b ? a + b : MOST_BY_MACRO;
}

static uint32_t larger(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

static void keep_macro(scanner *s, const macro *new) {
  macro *macros = grow(s, s->macros, s->macro_count, &s->macro_capacity, sizeof *macros);
  if (!macros) return;
  s->macros = macros;
  s->macros[s->macro_count++] = *new;
}

/* Of several definitions nobody knows here which one holds: the most of each counts. */
static void take_most(brings *all, const brings *one) {
  all->spawns = larger(all->spawns, one->spawns);
  all->lane_spawns = larger(all->lane_spawns, one->lane_spawns);
  all->awaits = larger(all->awaits, one->awaits);
  all->returns = all->returns || one->returns;
  all->breaks = all->breaks || one->breaks;
  all->lopsided = all->lopsided || one->lopsided;
  if (one->loses || one->declares) all->counter = one->counter;
  all->loses = all->loses || one->loses;
  all->declares = all->declares || one->declares;
}

static void look_through(scanner *s, macro *m);

/* A macro is not replaced inside itself. */
static bool is_open(scanner *s, const rdl__token *name) {
  for (size_t i = 0; i < s->macro_count; i++) {
    const macro *m = &s->macros[i];
    if (!m->open || !rdl__token_is(name, m->name)) continue;
    if (m->open < s->macro_cut) s->macro_cut = m->open;
    return true;
  }
  return false;
}

/* Whether the token, which `lexer` stands behind, is the use of a macro, and what that brings. What
 * ends another macro may have its arguments behind the use of that one. */
static bool find_use(scanner *s, const rdl__token *token, const rdl__lexer *lexer, brings *out) {
  bool found = false;
  *out = (brings){0};
  if (token->kind != RDL__TOKEN_WORD || (s->macro_depth && is_open(s, token))) return false;
  for (size_t i = 0; i < s->macro_count; i++) {
    macro *m = &s->macros[i];
    if (!rdl__token_is(token, m->name)) continue;
    if (m->takes_arguments) {
      char behind;
      char ahead = look_ahead(lexer, &behind);
      if (ahead != '(' && (!s->macro_depth || ahead != '\n')) continue;
    }
    look_through(s, m);
    take_most(out, &m->brings);
    found = true;
  }
  return found;
}

/* What the token that stands in a body brings; false when it is no macro of the file. */
static bool find_use_here(scanner *s, brings *out) {
  s->macro_work = 0;
  return find_use(s, &s->token, &s->lexer, out);
}

static void count_word(const rdl__token *token, brings *b) {
  const word *found = find_word(token);
  if (!found) return;
  if (found->kind == WORD_SPAWN) b->spawns = add_most(b->spawns, 1);
  if (found->kind == WORD_LANE_SPAWN) b->lane_spawns = add_most(b->lane_spawns, 1);
  if (found->kind == WORD_AWAIT) b->awaits = add_most(b->awaits, 1);
  if (found->kind == WORD_RETURN) b->returns = true;
}

static void count_inner(const brings *inner, brings *b) {
  b->spawns = add_most(b->spawns, inner->spawns);
  b->lane_spawns = add_most(b->lane_spawns, inner->lane_spawns);
  b->awaits = add_most(b->awaits, inner->awaits);
  b->returns = b->returns || inner->returns;
  b->lopsided = b->lopsided || inner->lopsided;
  if (inner->loses) b->counter = inner->counter;
  b->loses = b->loses || inner->loses;
}

/* A loop around an await, or one whose body comes behind the macro. */
static void note_counter(brings *b, const rdl__control *control, bool awaits) {
  const rdl__token *loser = rdl__control_loser(control);
  if (!loser) return;
  b->counter = *loser;
  if (awaits)
    b->loses = true;
  else
    b->declares = true;
}

static bool ends_macro(const rdl__token *token) {
  return token->kind == RDL__TOKEN_END || token->kind == RDL__TOKEN_BROKEN ||
         (token->kind == RDL__TOKEN_MARK && token->text[0] == '\n');
}

/* Moves a lexer that stands behind the name of a macro past the list of its parameters. */
static void pass_parameters(const macro *m, rdl__lexer *lexer) {
  rdl__token token;
  if (!m->takes_arguments) return;
  do
    rdl__lexer_next(lexer, &token);
  while (!ends_macro(&token) && (token.kind != RDL__TOKEN_MARK || token.text[0] != ')'));
}

static brings read_body(scanner *s, const macro *m) {
  brings all = {0}, inner;
  rdl__lexer lexer = m->body;
  rdl__token token;
  rdl__control control;
  rdl__control_begin(&control);
  pass_parameters(m, &lexer);
  for (rdl__lexer_next(&lexer, &token); !ends_macro(&token) && !s->status;
       rdl__lexer_next(&lexer, &token)) {
    bool outside = rdl__control_is_outside(&control);
    bool used = find_use(s, &token, &lexer, &inner);
    if (rdl__control_take(&control, &token) || (used && inner.breaks && outside)) all.breaks = true;
    uint32_t awaits = all.awaits;
    count_word(&token, &all);
    if (used) count_inner(&inner, &all);
    if (all.awaits > awaits) note_counter(&all, &control, true);
    if (used && inner.declares) rdl__control_declare(&control, &inner.counter);
  }
  note_counter(&all, &control, false);
  if (!rdl__control_is_level(&control)) all.lopsided = true;
  return all;
}

/* Finds what the macro brings, unless that is known. Macros that use each other bring something
 * else inside each other than elsewhere, so it is not kept. */
static void look_through(scanner *s, macro *m) {
  uint32_t cut = s->macro_cut;
  if (m->known == s->macro_count || s->status) return;
  if (s->macro_depth == MOST_NESTED || s->macro_work++ == MOST_WORK) {
    FAIL(s, &s->token,
         "the macros behind '%s' use too many others, one inside the other; write some of them out",
         s->token.text);
    return;
  }
  m->open = ++s->macro_depth;
  s->macro_cut = UINT_MAX;
  m->brings = read_body(s, m);
  m->known = s->macro_cut == UINT_MAX ? s->macro_count : 0;
  if (s->macro_cut >= m->open || cut < s->macro_cut) s->macro_cut = cut;
  s->macro_depth--;
  m->open = 0;
}

/* The words of a macro count where it is used, as if they were written there. */
static void read_use(scanner *s, rdl__task *task) {
  brings b;
  if (!find_use_here(s, &b)) return;
  if (b.returns && !(s->flags & RDL__SCAN_OWN))
    FAIL(s, &s->token,
         "'return' is not allowed in the macro %s, which task '%s' uses here; write "
         "RDL_RETURN(value), or RDL_EXIT() in a task without a result",
         s->token.text, task->name);
  add_spawns(s, task, &task->spawns, b.spawns, &s->token);
  add_spawns(s, task, &task->lane_spawns, b.lane_spawns, &s->token);
  if (b.awaits) {
    read_await(s, task);
    task->resume_points = add_most(task->resume_points, b.awaits - 1);
  }
  if (b.loses) refuse_counter(s, task, &b.counter);
  if (b.declares) rdl__control_declare(&s->control, &b.counter);
}

/* It would leave the switch that the dialect puts around the body: the task would end as if all had
 * gone well. */
static void refuse_break(scanner *s, const char *by, const char *macro_name) {
  FAIL(s, &s->token,
       "'break'%s%s is outside of all loops and switches of task '%s', where it would end the "
       "task; write RDL_RETURN(value) or RDL_EXIT() for that, or if and else to go on in the task",
       by, macro_name, body_task(s)->name);
}

/* What an #if may leave out is not followed: it may be half of a loop. */
static void follow(scanner *s) {
  brings b;
  bool used = find_use_here(s, &b);
  if (used && b.lopsided) s->control.unsure = true;
  if (used && b.breaks && rdl__control_is_outside(&s->control))
    refuse_break(s, " in the macro ", s->token.text);
  if (rdl__control_take(&s->control, &s->token)) refuse_break(s, "", "");
  if (s->control.depth > body_task(s)->nesting) body_task(s)->nesting = s->control.depth;
}

static void read_word(scanner *s) {
  rdl__task *task = body_task(s);
  if (task) read_use(s, task);
  if (rdl__instead_of(s->token.text)) mention_library(s, false);
  if (defines_task(&s->token)) {
    read_task(s);
  } else if (declares_task(&s->token)) {
    read_declaration(s);
  } else {
    const word *found = find_word(&s->token);
    if (!found) return;
    if (found->spawned) mention_spawned(s, found->spawned);
    if (task)
      read_kind(s, found->kind, task);
    else if (!found->helpers_too)
      FAIL(s, &s->token,
           "%s is not allowed outside a task; only the body of an RDL_TASK can hold it, not a "
           "function that the task calls",
           s->token.text);
  }
}

/* ---- preprocessor lines ---- */

static void open_condition(scanner *s) {
  if (s->condition_count == MAX_CONDITIONS) {
    FAIL(s, &s->token, "#if is nested deeper than %u; take some of them apart", MAX_CONDITIONS);
    return;
  }
  s->control.unsure = true;
  s->conditions[s->condition_count++] = (condition){.token = s->token, .depth = s->depth};
}

static void next_branch(scanner *s) {
  if (!s->condition_count)
    FAIL(s, &s->token, "#%s without an #if; remove it, or add the #if before it", s->token.text);
  else
    s->depth = s->conditions[s->condition_count - 1].depth;
}

static void close_condition(scanner *s) {
  if (!s->condition_count)
    FAIL(s, &s->token, "#endif without an #if; remove it, or add the #if before it");
  else
    s->condition_count--;
}

static void read_macro(scanner *s) {
  rdl__token name;
  macro new = {.name = ""};
  s->lexer.lenient = true; /* '#define SAY don't' is legal as long as nobody uses it */
  next(s);
  name = s->token;
  new.body = s->lexer;
  new.takes_arguments = s->lexer.at < s->lexer.length && s->lexer.text[s->lexer.at] == '(';
  if (name.kind == RDL__TOKEN_WORD) mention(s, RDL__OWN, &name, NULL);
  for (; !at_end(s) && !is_mark(s, '\n'); next(s)) {
    if (rdl__instead_of(s->token.text)) mention_library(s, true);
    if (defines_task(&s->token) || declares_task(&s->token) ||
        rdl__token_is(&s->token, "RDL_GROUP"))
      FAIL(s, &s->token,
           "%s is not allowed inside a #define; tasks are found before macros are replaced, so "
           "write it out",
           s->token.text);
  }
  if (name.kind != RDL__TOKEN_WORD || name.length > RDL__NAME_MAX || s->status) return;
  memcpy(new.name, name.text, name.length);
  keep_macro(s, &new);
}

/* Where it works at all it finds other files on every device. */
static void refuse_include(scanner *s) {
  FAIL(s, &s->token,
       "#%s is not allowed in a task file, which is compiled by itself for every device; write out "
       "here what it was to bring",
       s->token.text);
}

static void read_directive(scanner *s) {
  s->lexer.directive = true;
  next(s);
  if (at_end(s) || is_mark(s, '\n')) return;
  if (strncmp(s->token.text, "if", 2) == 0)
    open_condition(s);
  else if (strncmp(s->token.text, "el", 2) == 0)
    next_branch(s);
  else if (rdl__token_is(&s->token, "endif"))
    close_condition(s);
  else if (strncmp(s->token.text, "include", 7) == 0)
    refuse_include(s);
  if (rdl__token_is(&s->token, "define"))
    read_macro(s);
  else
    rdl__lexer_skip_line(&s->lexer);
}

/* ---- the file ---- */

/* A file-level declaration of which an #if may leave out a part is the compiler's. */
static void read_declared(scanner *s) {
  rdl__declaration *d = &s->declaration;
  bool found = rdl__declaration_take(d, &s->token);
  if (s->condition_count)
    d->other = true;
  else if (found)
    mention(s, RDL__VARIABLE, &d->name, &d->type);
}

static void read_token(scanner *s) {
  s->closed.line = 0;
  if (s->in_body) follow(s);
  if (is_mark(s, '{')) {
    open_brace(s);
  } else if (is_mark(s, '}')) {
    close_brace(s);
  } else {
    if (!s->depth) read_declared(s);
    if (is_mark(s, '(') || is_mark(s, ')')) read_parenthesis(s);
    if (s->token.kind == RDL__TOKEN_WORD) read_word(s);
  }
}

/* Text that an #if leaves out may hold lone quotes, and nobody knows here what is left out. */
static void read_file(scanner *s) {
  while (!s->status) {
    s->lexer.lenient = s->condition_count != 0;
    next(s);
    if (at_end(s)) return;
    if (is_mark(s, '#') && s->token.first)
      read_directive(s);
    else
      read_token(s);
  }
}

static void check_declared(scanner *s) {
  for (size_t i = 0; i < s->declared.count; i++) {
    const rdl__task *task = &s->declared.tasks[i];
    if (!find(s->tasks, task->name))
      fail_at(s, task->line, task->column,
              "task '%s' is declared and nowhere defined in this file; add its RDL_TASK, or remove "
              "the RDL_DECLARE (tasks of files loaded before need none)",
              task->name);
  }
}

static void check_end(scanner *s) {
  if (s->condition_count)
    FAIL(s, &s->conditions[s->condition_count - 1].token,
         "this #%s has no #endif; add it where the condition ends",
         s->conditions[s->condition_count - 1].token.text);
  else if (s->depth)
    FAIL(s, &s->open, "this { is never closed; add the } that is missing");
  else if (s->closed.line)
    FAIL(s, &s->closed, "a ; is missing after this }, or what it declares");
  else if (!s->tasks->count)
    fail_at(s, 1, 1,
            "there is no task in this file; define one with RDL_TASK(name, result, "
            "arguments, state) { ... }");
  check_declared(s);
}

static void check_bytes(scanner *s, const char *text, size_t length) {
  uint32_t line = 1;
  uint32_t column = 1;
  const char *zero = length ? memchr(text, '\0', length) : NULL;
  if (length >= UINT_MAX) fail_at(s, 1, 1, "the file is too large; split it");
  if (!zero) return;
  for (const char *at = text; at < zero; at++) {
    column = *at == '\n' ? 1 : column + 1;
    line += *at == '\n';
  }
  fail_at(s, line, column, "a zero byte in the text; save the file as plain text (UTF-8)");
}

rdl_status rdl__scan(const char *file, const char *text, size_t length, unsigned flags,
                     rdl__task_list *out, rdl_reason *why) {
  scanner s = {.file = file, .flags = flags, .tasks = out, .why = why};
  *out = (rdl__task_list){0};
  check_bytes(&s, text, length);
  s.macro_cut = UINT_MAX;
  rdl__lexer_init(&s.lexer, text, length);
  read_file(&s);
  if (!s.status) check_end(&s);
  rdl__task_list_finish(&s.declared);
  free(s.macros);
  if (s.status) rdl__task_list_finish(out);
  return s.status;
}
