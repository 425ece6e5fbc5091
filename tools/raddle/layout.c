/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/raddle/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"
#include "tools/raddle/definitions.h"

#define MOST_LEVELS  32u /* macros and types inside one another */
#define MOST_NESTING 64u /* parentheses and structures, for the reader calls itself */

/* A text that is read: a macro's body inside what uses it, a typedef inside a structure. */
typedef struct level {
  rdl__lexer lexer;
  const definition *from; /* NULL: the type itself */
} level;

typedef struct type type;

typedef struct member {
  char *name; /* NULL: without one, so that its own members count as the owner's */
  const type *type;
  uint32_t offset;
  struct member *next;
} member;

/* A scalar, a record, or an array. All types of a reading are freed together. */
struct type {
  layout_kind kind; /* of a scalar */
  uint32_t size;
  uint32_t align;
  bool is_record;
  const type *element; /* of an array */
  uint32_t count;
  member *members;
  member **last;
  type *next; /* of all types */
};

typedef struct reader {
  const definitions *definitions;
  level levels[MOST_LEVELS];
  size_t depth; /* levels in use */
  size_t floor; /* the token stream ends when this level does */
  rdl__token token;
  uint32_t nesting;
  type *types;
  rdl_status status;
  rdl_reason *why;
} reader;

/* ---- errors ---- */

__attribute__((format(printf, 2, 3))) static void fail(reader *r, const char *format, ...) {
  const level *l = r->depth ? &r->levels[r->depth - 1] : NULL;
  char text[1024];
  va_list values;
  if (r->status) return; /* the first one counts */
  va_start(values, format);
  (void)vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (l && l->from)
    r->status = rdl__fail(RDL_UNSUPPORTED, r->why, "%.1000s:%u:%u: %s", l->from->file,
                          r->token.line, r->token.column, text);
  else
    r->status = rdl__fail(RDL_UNSUPPORTED, r->why, "%s", text);
}

static void fail_for_memory(reader *r) {
  if (!r->status) r->status = rdl__fail(RDL_OUT_OF_MEMORY, r->why, "out of memory");
}

/* ---- tokens ---- */

static bool is_mark(const reader *r, char mark) {
  return r->token.kind == RDL__TOKEN_MARK && r->token.text[0] == mark;
}

static bool is_word(const reader *r, const char *word) {
  return r->token.kind == RDL__TOKEN_WORD && rdl__token_is(&r->token, word);
}

static void push(reader *r, const definition *from, rdl__lexer lexer) {
  if (r->depth == MOST_LEVELS)
    fail(r, "types and macros are nested too deeply to be read here");
  else
    r->levels[r->depth++] = (level){.lexer = lexer, .from = from};
}

static bool is_open(const reader *r, const definition *d) {
  for (size_t i = 0; i < r->depth; i++)
    if (r->levels[i].from == d) return true;
  return false;
}

/* A macro is replaced by its text, but not inside itself. False: the word stays. */
static bool replace(reader *r) {
  const definition *macro;
  rdl__lexer body;
  if (r->token.kind != RDL__TOKEN_WORD) return false;
  macro = definitions_find(r->definitions, DEFINES_MACRO, &r->token);
  if (!macro || is_open(r, macro)) return false;
  if (macro->several)
    fail(r, "the macro %s is defined more than once, so what it stands for is not known here",
         macro->name);
  if (macro->takes_arguments)
    fail(r, "the macro %s takes arguments, which cannot be read here", macro->name);
  body = macro->at;
  body.directive = true;
  push(r, macro, body);
  return true;
}

/* The end of a macro's text is none of the type's. */
static bool leave(reader *r) {
  bool ends = r->token.kind == RDL__TOKEN_END ||
              (r->token.kind == RDL__TOKEN_MARK && r->token.text[0] == '\n');
  if (!ends || r->depth <= r->floor) return false;
  r->depth--;
  return true;
}

static void next(reader *r) {
  do {
    if (r->status) {
      r->token = (rdl__token){.kind = RDL__TOKEN_END};
      return;
    }
    rdl__lexer_next(&r->levels[r->depth - 1].lexer, &r->token);
    if (is_mark(r, '#')) fail(r, "a directive inside a type cannot be read here");
  } while (leave(r) || replace(r));
}

static void expect(reader *r, char mark) {
  if (!is_mark(r, mark)) fail(r, "'%s' was not understood; a %c was expected", r->token.text, mark);
  next(r);
}

static bool enter(reader *r) {
  if (++r->nesting > MOST_NESTING) fail(r, "this is nested too deeply to be read here");
  return !r->status;
}

/* Reads another text from its first token on, and comes back. */
typedef struct place {
  rdl__token token;
  size_t depth;
  size_t floor;
} place;

static place go_to(reader *r, const definition *d) {
  place back = {r->token, r->depth, r->floor};
  if (is_open(r, d)) fail(r, "%s is defined by itself", d->name);
  if (d->several)
    fail(r, "%s is defined more than once, so which one holds is not known here", d->name);
  push(r, d, d->at);
  r->floor = r->depth;
  next(r);
  return back;
}

static void come_back(reader *r, const place *back) {
  r->token = back->token;
  r->depth = back->depth;
  r->floor = back->floor;
}

/* ---- numbers ---- */

static int64_t read_value(reader *r, int least);

static int64_t read_literal(reader *r) {
  char *end = NULL;
  uint64_t value = strtoull(r->token.text, &end, 0);
  if (end[strspn(end, "uUlL")] || r->token.length >= sizeof r->token.text)
    fail(r, "'%s' is no whole number", r->token.text);
  next(r);
  return (int64_t)value;
}

/* Stands behind the { of an enum. */
static int64_t read_constant(reader *r, const char *name) {
  int64_t value = 0;
  for (; !r->status; value++) {
    bool wanted = is_word(r, name);
    next(r);
    if (is_mark(r, '=')) {
      next(r);
      value = read_value(r, 0);
    }
    if (wanted) return value;
    expect(r, ',');
  }
  return 0;
}

static const type *read_type_name(reader *r);

static int64_t read_word(reader *r) {
  const definition *d;
  int64_t value = 0;
  if (is_word(r, "sizeof")) {
    next(r);
    expect(r, '(');
    const type *t = read_type_name(r);
    expect(r, ')');
    return t ? (int64_t)t->size : 0;
  }
  d = definitions_find(r->definitions, DEFINES_CONSTANT, &r->token);
  if (!d) {
    fail(r, "the value of '%s' is not known here", r->token.text);
    return 0;
  }
  place back = go_to(r, d);
  value = read_constant(r, d->name);
  come_back(r, &back);
  next(r);
  return value;
}

static int64_t read_operand(reader *r) {
  int64_t value = 0;
  char sign = r->token.kind == RDL__TOKEN_MARK ? r->token.text[0] : '\0';
  if (!enter(r)) return 0;
  if (sign == '(') {
    next(r);
    value = read_value(r, 0);
    expect(r, ')');
  } else if (sign && strchr("+-~", sign)) {
    next(r);
    value = read_operand(r);
    if (sign == '-') value = (int64_t)(0 - (uint64_t)value);
    if (sign == '~') value = ~value;
  } else if (r->token.kind == RDL__TOKEN_NUMBER) {
    value = read_literal(r);
  } else if (r->token.kind == RDL__TOKEN_WORD) {
    value = read_word(r);
  } else {
    fail(r, "'%s' was not understood in a number", r->token.text);
  }
  r->nesting--;
  return value;
}

/* How tightly an operator binds; 0: none of those that are understood. A shift is two marks. */
static int strength(const reader *r) {
  static const char *const groups[] = {"|", "^", "&", "<>", "+-", "*/%"};
  if (r->token.kind != RDL__TOKEN_MARK) return 0;
  for (int i = 0; i < 6; i++)
    if (strchr(groups[i], r->token.text[0])) return i + 1;
  return 0;
}

static int64_t apply(reader *r, char sign, int64_t left, int64_t right) {
  uint64_t a = (uint64_t)left, b = (uint64_t)right;
  if (strchr("/%", sign) && (right == 0 || right == -1)) {
    fail(r, "a division that cannot be read here");
    return 0;
  }
  switch (sign) {
  case '|':
    return left | right;
  case '^':
    return left ^ right;
  case '&':
    return left & right;
  case '<':
    return (int64_t)(a << (b & 63));
  case '>':
    return (int64_t)(a >> (b & 63));
  case '+':
    return (int64_t)(a + b);
  case '-':
    return (int64_t)(a - b);
  case '*':
    return (int64_t)(a * b);
  case '/':
    return left / right;
  default:
    return left % right;
  }
}

/* All operators that bind tighter than `least`. */
static int64_t read_value(reader *r, int least) {
  int64_t value = read_operand(r);
  for (int s = strength(r); s > least && !r->status; s = strength(r)) {
    char sign = r->token.text[0];
    next(r);
    if (sign == '<' || sign == '>') expect(r, sign);
    value = apply(r, sign, value, read_value(r, s));
  }
  return value;
}

/* ---- types ---- */

static type *new_type(reader *r) {
  type *t = calloc(1, sizeof *t);
  if (!t) {
    fail_for_memory(r);
    return NULL;
  }
  t->align = 1;
  t->last = &t->members;
  t->next = r->types;
  r->types = t;
  return t;
}

static const type *scalar(reader *r, layout_kind kind) {
  type *t = new_type(r);
  if (!t) return NULL;
  t->kind = kind;
  t->size = (uint32_t)layout_kind_size(kind);
  t->align = kind == LAYOUT_FUTURE || kind == LAYOUT_EVENT ? 4 : t->size;
  return t;
}

static const type *array_of(reader *r, const type *element, int64_t count) {
  type *t;
  if (r->status) return NULL;
  if (count < 1 || count > 65536 || (uint64_t)count * element->size > 65536) {
    fail(r, "an array of %lld elements is none that a task can have", (long long)count);
    return NULL;
  }
  t = new_type(r);
  if (!t) return NULL;
  t->element = element;
  t->count = (uint32_t)count;
  t->align = element->align;
  t->size = element->size * t->count;
  return t;
}

/* Behind a name: the dimensions, the last of which is the innermost. */
static const type *read_dimensions(reader *r, const type *element) {
  int64_t count;
  if (!is_mark(r, '[') || !enter(r)) return element;
  next(r);
  count = read_value(r, 0);
  expect(r, ']');
  element = read_dimensions(r, element);
  r->nesting--;
  return array_of(r, element, count);
}

static uint32_t round_up(uint32_t n, uint32_t align) {
  return (n + align - 1) / align * align;
}

static void add_member(reader *r, type *record, bool is_union, const char *name, const type *t) {
  member *m;
  if (r->status) return;
  m = calloc(1, sizeof *m);
  if (!m || (name && !(m->name = strdup(name)))) {
    free(m);
    fail_for_memory(r);
    return;
  }
  m->type = t;
  m->offset = is_union ? 0 : round_up(record->size, t->align);
  if (t->align > record->align) record->align = t->align;
  if (m->offset + t->size > record->size) record->size = m->offset + t->size;
  if (record->size > 65536) fail(r, "this is larger than all that a task can have");
  *record->last = m;
  record->last = &m->next;
}

static const type *read_specifier(reader *r);

static void read_declarator(reader *r, type *record, bool is_union, const type *t) {
  char name[sizeof r->token.text];
  if (is_mark(r, '*')) fail(r, "a pointer is none that arguments may hold; it is an rdl_ptr there");
  if (r->token.kind != RDL__TOKEN_WORD) fail(r, "'%s' was not understood", r->token.text);
  memcpy(name, r->token.text, sizeof name);
  next(r);
  if (is_mark(r, ':')) fail(r, "bit-fields cannot be read here");
  add_member(r, record, is_union, name, read_dimensions(r, t));
}

static void read_members(reader *r, type *record, bool is_union) {
  const type *t = read_specifier(r);
  if (is_mark(r, ';') && t && t->is_record) {
    add_member(r, record, is_union, NULL, t);
    return;
  }
  read_declarator(r, record, is_union, t);
  while (is_mark(r, ',') && !r->status) {
    next(r);
    read_declarator(r, record, is_union, t);
  }
}

/* Stands at the {. */
static const type *read_record(reader *r, bool is_union) {
  type *record = new_type(r);
  if (!record || !enter(r)) return NULL;
  record->is_record = true;
  expect(r, '{');
  while (!is_mark(r, '}') && !r->status) {
    read_members(r, record, is_union);
    expect(r, ';');
  }
  next(r);
  record->size = round_up(record->size, record->align);
  r->nesting--;
  return record;
}

/* Raddle's own structures may be written with their tags. */
static const type *read_own(reader *r, const char *name) {
  if (strcmp(name, "rdl_future") == 0) return scalar(r, LAYOUT_FUTURE);
  if (strcmp(name, "rdl_event") == 0) return scalar(r, LAYOUT_EVENT);
  return NULL;
}

static const type *read_tagged(reader *r, bool is_union) {
  const definition *d;
  const type *t;
  next(r);
  if (is_mark(r, '{')) return read_record(r, is_union);
  rdl__token tag = r->token;
  next(r);
  if (is_mark(r, '{')) return read_record(r, is_union);
  t = read_own(r, tag.text);
  if (t) return t;
  d = definitions_find(r->definitions, DEFINES_RECORD, &tag);
  if (!d) {
    fail(r, "no definition of %s %s was found", is_union ? "union" : "struct", tag.text);
    return NULL;
  }
  place back = go_to(r, d);
  t = read_record(r, d->is_union);
  come_back(r, &back);
  return t;
}

/* Stands behind `typedef`: finds the declarator of this name. */
static const type *read_typedef(reader *r, const char *name) {
  const type *t = read_specifier(r);
  while (!r->status) {
    bool wanted = is_word(r, name);
    if (is_mark(r, '*') || is_mark(r, '(')) fail(r, "%s is a pointer or a function", name);
    next(r);
    const type *whole = read_dimensions(r, t);
    if (wanted) return whole;
    expect(r, ',');
  }
  return NULL;
}

typedef struct known_type {
  const char *name;
  layout_kind kind;
} known_type;

static const known_type known_types[] = {
    {"rdl_u8", LAYOUT_U8},         {"rdl_u16", LAYOUT_U16},     {"rdl_u32", LAYOUT_U32},
    {"rdl_u64", LAYOUT_U64},       {"rdl_i8", LAYOUT_I8},       {"rdl_i16", LAYOUT_I16},
    {"rdl_i32", LAYOUT_I32},       {"rdl_i64", LAYOUT_I64},     {"uchar", LAYOUT_U8},
    {"ushort", LAYOUT_U16},        {"uint", LAYOUT_U32},        {"ulong", LAYOUT_U64},
    {"float", LAYOUT_F32},         {"double", LAYOUT_F64},      {"rdl_ptr", LAYOUT_PTR},
    {"rdl_future", LAYOUT_FUTURE}, {"rdl_event", LAYOUT_EVENT}, {"rdl_word", LAYOUT_U32},
    {"uint8_t", LAYOUT_U8},        {"uint16_t", LAYOUT_U16},    {"uint32_t", LAYOUT_U32},
    {"uint64_t", LAYOUT_U64},      {"int8_t", LAYOUT_I8},       {"int16_t", LAYOUT_I16},
    {"int32_t", LAYOUT_I32},       {"int64_t", LAYOUT_I64},
};

static const type *read_name(reader *r) {
  const definition *d = definitions_find(r->definitions, DEFINES_TYPE, &r->token);
  const type *t = NULL;
  for (size_t i = 0; i < sizeof known_types / sizeof known_types[0] && !d; i++)
    if (is_word(r, known_types[i].name)) {
      next(r);
      return scalar(r, known_types[i].kind);
    }
  if (!d) {
    fail(r, "'%s' is no type that arguments, states and results may hold", r->token.text);
    return NULL;
  }
  place back = go_to(r, d);
  t = read_typedef(r, d->name);
  come_back(r, &back);
  next(r);
  return t;
}

/* The words of C's own integers, in any order; what each holds is the same on all devices but for
 * long, which the devices of this version have in common. */
typedef struct integer {
  bool is_unsigned;
  bool is_char;
  bool is_short;
  uint32_t longs;
  bool any;
} integer;

static bool take_integer(reader *r, integer *i) {
  if (is_word(r, "unsigned"))
    i->is_unsigned = true;
  else if (is_word(r, "char"))
    i->is_char = true;
  else if (is_word(r, "short"))
    i->is_short = true;
  else if (is_word(r, "long"))
    i->longs++;
  else if (!is_word(r, "int") && !is_word(r, "signed"))
    return false;
  i->any = true;
  next(r);
  return true;
}

static layout_kind kind_of(const integer *i) {
  if (i->is_char) return i->is_unsigned ? LAYOUT_U8 : LAYOUT_I8;
  if (i->is_short) return i->is_unsigned ? LAYOUT_U16 : LAYOUT_I16;
  if (i->longs) return i->is_unsigned ? LAYOUT_U64 : LAYOUT_I64;
  return i->is_unsigned ? LAYOUT_U32 : LAYOUT_I32;
}

static bool take_qualifier(reader *r) {
  if (!is_word(r, "const") && !is_word(r, "volatile")) return false;
  next(r);
  return true;
}

static const type *read_specifier(reader *r) {
  const type *t = NULL;
  integer i = {0};
  if (!enter(r)) return NULL;
  while (take_qualifier(r) || take_integer(r, &i)) {
  }
  if (i.any)
    t = scalar(r, kind_of(&i));
  else if (is_word(r, "struct"))
    t = read_tagged(r, false);
  else if (is_word(r, "union"))
    t = read_tagged(r, true);
  else
    t = read_name(r);
  while (take_qualifier(r)) {
  }
  r->nesting--;
  return t;
}

static const type *read_type_name(reader *r) {
  return read_dimensions(r, read_specifier(r));
}

/* ---- fields ---- */

static void add_field(reader *r, layout *l, const char *path, const type *t, uint32_t offset) {
  if (l->count == l->capacity) {
    size_t capacity = l->capacity ? 2 * l->capacity : 16;
    layout_field *fields = realloc(l->fields, capacity * sizeof *fields);
    if (!fields) {
      fail_for_memory(r);
      return;
    }
    l->fields = fields;
    l->capacity = capacity;
  }
  layout_field *f = &l->fields[l->count];
  *f = (layout_field){.path = strdup(path),
                      .kind = t->element ? t->element->kind : t->kind,
                      .offset = offset,
                      .count = t->element ? t->count : 0};
  if (f->path)
    l->count++;
  else
    fail_for_memory(r);
}

static void flatten(reader *r, layout *l, const char *path, const type *t, uint32_t offset) {
  char longer[1024];
  if (r->status) return;
  if (!t->is_record && (!t->element || (!t->element->is_record && !t->element->element))) {
    add_field(r, l, path, t, offset);
    return;
  }
  for (uint32_t k = 0; t->element && k < t->count; k++) {
    (void)snprintf(longer, sizeof longer, "%s[%u]", path, k);
    flatten(r, l, longer, t->element, offset + k * t->element->size);
  }
  for (const member *m = t->members; m; m = m->next) {
    (void)snprintf(longer, sizeof longer, "%s%s%s", path, *path && m->name ? "." : "",
                   m->name ? m->name : "");
    flatten(r, l, longer, m->type, offset + m->offset);
  }
}

/* ---- all together ---- */

static void free_types(type *t) {
  while (t) {
    type *next_type = t->next;
    for (member *m = t->members; m;) {
      member *next_member = m->next;
      free(m->name);
      free(m);
      m = next_member;
    }
    free(t);
    t = next_type;
  }
}

static void read_whole(reader *r, const char *text, layout *out) {
  rdl__lexer lexer;
  const type *t;
  rdl__lexer_init(&lexer, text, strlen(text));
  push(r, NULL, lexer);
  r->floor = r->depth;
  next(r);
  if (is_word(r, "RDL_NONE") || is_word(r, "rdl_none")) return;
  t = read_type_name(r);
  if (r->token.kind != RDL__TOKEN_END) fail(r, "'%s' was not understood", r->token.text);
  if (r->status) return;
  out->size = t->size;
  flatten(r, out, "", t, 0);
}

rdl_status layout_read(const task_files *files, const char *type_text, layout *out,
                       rdl_reason *why) {
  definitions d;
  reader r = {.definitions = &d, .why = why};
  *out = (layout){0};
  if (definitions_collect(files, &d))
    read_whole(&r, type_text, out);
  else
    fail_for_memory(&r);
  free_types(r.types);
  definitions_finish(&d);
  if (r.status) layout_finish(out);
  return r.status;
}

void layout_finish(layout *l) {
  for (size_t i = 0; i < l->count; i++)
    free(l->fields[i].path);
  free(l->fields);
  *l = (layout){0};
}

size_t layout_kind_size(layout_kind kind) {
  switch (kind) {
#define SIZE_OF(kind, type, name)                                                                  \
  case LAYOUT_##kind:                                                                              \
    return sizeof(type);
    LAYOUT_KINDS(SIZE_OF)
#undef SIZE_OF
  }
  return 0;
}

const char *layout_kind_name(layout_kind kind) {
  static const char *const names[] = {
#define NAME_OF(kind, type, name) name,
      LAYOUT_KINDS(NAME_OF)
#undef NAME_OF
  };
  return names[kind];
}
