/* SPDX-License-Identifier: Apache-2.0 */
/* What the scanner finds in task files, and what it says of those it refuses. */
#include "api/src/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "unit.h"

#define BODY        "{ RDL_BEGIN(); RDL_END(); }\n"
#define TASK(name)  "RDL_TASK(" name ", RDL_NONE, RDL_NONE, RDL_NONE) " BODY
#define LANES(name) "RDL_TASK_LANES(" name ", RDL_NONE, RDL_NONE, RDL_NONE, int) " BODY

static rdl_reason why;

static rdl_status scan(const char *text, rdl__task_list *out) {
  why.text[0] = '\0';
  return rdl__scan("f.c", text, strlen(text), 0, out, &why);
}

static rdl__task_list good(const char *text) {
  rdl__task_list list;
  rdl_status status = scan(text, &list);
  if (status) print_message("%s\n", why.text);
  assert_int_equal(status, RDL_OK);
  return list;
}

static void everything_of_a_task(void **state) {
  (void)state;
  rdl__task_list list =
      good("// RDL_TASK(no, a, b, c) \" '\n"
           "RDL_DECLARE(fib, unsigned  int, struct a , struct/**/s)\n"
           "const char *s = \"RDL_TASK(x,\\\" { \"; char c = '{', d = '\\'';\n"
           "  RDL_TASK( fib,unsigned\tint,\n struct a,\n struct s)\n"
           "{\n"
           "  uint x = 0x1fu + .5e+3f;\n"
           "  RDL_BEGIN();\n"
           "  if (1) { RDL_SPAWN(self->a, fib, .n = 1); RDL_AWAIT(self->a); }\n"
           "  RDL_GROUP(); RDL_SPAWNS(0x10u); RDL_TRY_SPAWN(x, self->b, fib, 1);\n"
           "  RDL_AWAIT_ANY_FOR(x, x, x, 1, 1); RDL_YIELD(); RDL_SLEEP(5);\n"
           "  RDL_END();\n"
           "}\n" TASK("two"));
  assert_int_equal(list.count, 2);
  rdl__task *task = &list.tasks[0];
  assert_string_equal(task->name, "fib");
  assert_int_equal(task->line, 4);
  assert_int_equal(task->column, 13);
  assert_int_equal(task->declared, 2);
  assert_int_equal(task->begin_line, 9);
  assert_int_equal(task->end_line, 13);
  assert_int_equal(task->spawns, 18);
  assert_int_equal(task->group, 11);
  assert_int_equal(task->lane_spawns, 0);
  assert_null(task->lane_state);
  assert_int_equal(task->resume_points, 4);
  assert_string_equal(task->result, "unsigned int");
  assert_string_equal(task->args, "struct a");
  assert_string_equal(task->state, "struct s");
  task = &list.tasks[1];
  assert_string_equal(task->name, "two");
  assert_int_equal(task->declared, 0);
  assert_int_equal(task->spawns, 0);
  assert_string_equal(task->result, "RDL_NONE");
  rdl__task_list_finish(&list);
  assert_null(list.tasks);
}

static void everything_of_a_task_with_lanes(void **state) {
  (void)state;
  rdl__task_list list = good("RDL_DECLARE_LANES(walk, uint, struct a, RDL_NONE, struct  step)\n"
                             "RDL_TASK_LANES(walk, uint, struct a, RDL_NONE, struct step) {\n"
                             "  RDL_BEGIN();\n"
                             "  RDL_SPAWN_LANES(mine->f, mine->k > 1, leaf, .n = 1);\n"
                             "  RDL_TRY_SPAWN_LANES(o, mine->g, 1, leaf); RDL_AWAIT_ROOM_LANES();\n"
                             "  RDL_SPAWNS(7); RDL_SPAWN(self->f, leaf);\n"
                             "  RDL_END();\n"
                             "}\n");
  assert_int_equal(list.count, 1);
  assert_string_equal(list.tasks[0].name, "walk");
  assert_int_equal(list.tasks[0].declared, 1);
  assert_int_equal(list.tasks[0].spawns, 8);
  assert_int_equal(list.tasks[0].lane_spawns, 2);
  assert_int_equal(list.tasks[0].resume_points, 1);
  assert_string_equal(list.tasks[0].state, "RDL_NONE");
  assert_string_equal(list.tasks[0].lane_state, "struct step");
  rdl__task_list_finish(&list);
}

static void count_tasks(const char *text, size_t expected) {
  rdl__task_list list = good(text);
  assert_int_equal(list.count, expected);
  rdl__task_list_finish(&list);
}

static void odd_but_good_files(void **state) {
  (void)state;
  count_tasks("RDL_\\\nTASK(a\\\r\nb, RDL_NONE, RDL_NONE, RDL_NONE)" BODY, 1);
  count_tasks("/* RDL_TASK( */ // \\\n RDL_TASK(\n" TASK("a"), 1);
  count_tasks("#if 0\nit's {\n#else\n{ }\n#endif\n" TASK("a"), 1);
  count_tasks("#if A\nvoid f(void) {\n#elif B\nvoid g(void) {\n#endif\n}\n" TASK("a"), 1);
  count_tasks("#error don't /* \n */ stop\n#define SAY don't\n#define OPEN {\n" TASK("a"), 1);
  count_tasks("#define WAIT(f) \\\n  RDL_AWAIT(f)\n" TASK("a"), 1);
  count_tasks("#define including(x) x\n" TASK("a"), 1);
  count_tasks("void f(rdl_cx *rdl) { RDL_TRY_SPAWN_LANES(o, d, 1, a, 1); }\n" LANES("a"), 1);
  count_tasks("void f(rdl_cx *rdl) { RDL_TRY_SPAWN(o, d, a, 1); }\n" TASK("a"), 1);
  count_tasks("\xef\xbb\xbf" TASK("a") "\r\n" TASK("a_very_long_name_with_exactly_63_characters_in_"
                                                   "it_0123456789abc"),
              2);
  count_tasks("RDL_TASK(a, RDL_NONE, struct A(b, c), char *) {\n#ifdef X\nRDL_BEGIN();\n#endif\n"
              "RDL_END(); }",
              1);
}

typedef struct refused {
  const char *text;
  const char *place;
  const char *says;
} refused;

static const refused refusals[] = {
    {"#ifdef A\n" TASK("a") "#endif\n", "f.c:2:1: ", "inside the #if of line 1"},
    {"#define T(n) RDL_TASK(n, A, B, C)\n", "f.c:1:14: ", "inside a #define"},
    {"#if A\n" LANES("a") "#endif\n",
     "f.c:2:1: ", "RDL_TASK_LANES is not allowed inside the #if of line 1"},
    {"#define T(n) RDL_TASK_LANES(n, A, B, C, D)\n", "f.c:1:14: ", "inside a #define"},
    {"#define T(n) RDL_DECLARE_LANES(n, A, B, C, D)\n", "f.c:1:14: ", "inside a #define"},
    {"RDL_TASK_LANES(a, B, C, D)" BODY, "f.c:1:1: ", "5 arguments and this has 4"},
    {"RDL_TASK_LANES(a, B, C, D, )" BODY, "f.c:1:1: ", "one of them empty"},
    {"RDL_TASK_LANES(a, B, C, D, E, F)" BODY, "f.c:1:1: ", "5 arguments and this has 6"},
    {"RDL_DECLARE_LANES(a, B, C, D)" BODY, "f.c:1:1: ", "state, lane state)"},
    {"RDL_TASK_LANES(a, B, C, D, RDL_NONE)" BODY, "f.c:1:28: ", "is an RDL_TASK"},
    {"RDL_DECLARE(a, B, C, D)\nRDL_TASK_LANES(a, B, C, D, E)" BODY, "f.c:2:16: ", "other types"},
    {"RDL_DECLARE_LANES(a, B, C, D, E)\nRDL_TASK(a, B, C, D)" BODY, "f.c:2:10: ", "other types"},
    {"RDL_DECLARE_LANES(a, B, C, D, E)\nRDL_TASK_LANES(a, B, C, D, F)" BODY,
     "f.c:2:16: ", "other types"},
    {TASK("a") "#include <stdio.h>\n", "f.c:2:2: ", "#include is not allowed in a task file"},
    {TASK("a") "#ifdef X\n #  include_next \"x.h\"\n#endif\n",
     "f.c:3:5: ", "#include_next is not allowed"},
    {TASK("1a"), "f.c:1:10: ", "cannot name a task"},
    {TASK("a b"), "f.c:1:10: ", "cannot name a task"},
    {TASK("a_very_long_name_with_exactly_64_characters_in_it_0123456789abcd"),
     "f.c:1:10: ", "has 64 characters"},
    {TASK("rdl_x"), "f.c:1:10: ", "rename the task"},
    {TASK("RDL_x"), "f.c:1:10: ", "rename the task"},
    {TASK("abs"), "f.c:1:10: ", "a name of OpenCL C"},
    {TASK("distance"), "f.c:1:10: ", "a name of OpenCL C"},
    {TASK("wait_group_events"), "f.c:1:10: ", "a name of OpenCL C"},
    {TASK("a") TASK("b") TASK("a"), "f.c:3:10: ", "already defined on line 1"},
    {"RDL_TASK(a, B, C)" BODY, "f.c:1:1: ", "4 arguments and this has 3"},
    {"RDL_TASK(a, B, C, D, E)" BODY, "f.c:1:1: ", "4 arguments and this has 5"},
    {"RDL_TASK()" BODY, "f.c:1:1: ", "4 arguments and this has 0"},
    {"RDL_TASK(a, , C, D)" BODY, "f.c:1:1: ", "one of them empty"},
    {"RDL_TASK a", "f.c:1:1: ", "in parentheses"},
    {"RDL_TASK(a, B, C, D", "f.c:1:1: ", "do not end"},
    {"RDL_TASK(a, B, C, D);", "f.c:1:21: ", "body of task 'a' is missing"},
    {"RDL_TASK(a, B, C, D) { RDL_END(); }", "f.c:1:24: ", "before the RDL_BEGIN()"},
    {"RDL_TASK(a, B, C, D) { }", "f.c:1:10: ", "no RDL_BEGIN()"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); }", "f.c:1:10: ", "no RDL_END()"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); RDL_BEGIN(); }", "f.c:1:37: ", "on line 1 already"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); RDL_END(); RDL_END(); }",
     "f.c:1:48: ", "on line 1 already"},
    {"RDL_TASK(a, B, C, D) { RDL_YIELD(); RDL_BEGIN(); }", "f.c:1:24: ", "before the RDL_BEGIN()"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); RDL_END(); RDL_YIELD(); }",
     "f.c:1:48: ", "after the RDL_END()"},
    {"void f(void) { RDL_AWAIT(x); }" TASK("a"), "f.c:1:16: ", "outside a task"},
    {"RDL_SLEEP(1);" TASK("a"), "f.c:1:1: ", "outside a task"},
    {"RDL_SPAWNS(1);" TASK("a"), "f.c:1:1: ", "outside a task"},
    {"RDL_GROUP();" TASK("a"), "f.c:1:1: ", "outside a task"},
    {"RDL_TASK(a, B, C, D) { RDL_GROUP(1); " BODY "}", "f.c:1:24: ", "takes no arguments"},
    {"RDL_TASK(a, B, C, D) { RDL_GROUP; " BODY "}", "f.c:1:24: ", "in parentheses"},
    {"RDL_TASK(a, B, C, D) { RDL_GROUP();\nRDL_GROUP(); " BODY "}",
     "f.c:2:1: ", "on line 1 already"},
    {"RDL_TASK(a, B, C, D) {\n#if 1\nRDL_GROUP();\n#endif\n" BODY "}",
     "f.c:3:1: ", "inside an #if"},
    {"#define WIDE RDL_GROUP()\n" TASK("a"), "f.c:1:14: ", "inside a #define"},
    {"RDL_TASK(a, B, C, D) { RDL_SPAWNS(N); " BODY "}", "f.c:1:24: ", "written in digits"},
    {"RDL_TASK(a, B, C, D) { RDL_SPAWNS(); " BODY "}", "f.c:1:24: ", "written in digits"},
    {"RDL_TASK(a, B, C, D) { RDL_SPAWNS(1, 2); " BODY "}", "f.c:1:24: ", "written in digits"},
    {"RDL_TASK(a, B, C, D) { RDL_SPAWNS(99999999999); " BODY "}", "f.c:1:24: ", "in rounds"},
    {"RDL_TASK(a, B, C, D) { RDL_SPAWNS(65536); RDL_SPAWN_LANES(f, 1, a);" BODY "}",
     "f.c:1:43: ", "in rounds"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); RDL_END();\n" TASK("b"),
     "f.c:2:1: ", "inside the body of task a"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); return 1; RDL_END(); }",
     "f.c:1:37: ", "write RDL_RETURN"},
    {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); switch (x) { case 1: { RDL_AWAIT(f); } } RDL_END(); }",
     "f.c:1:60: ", "inside a switch"},
    {"#define GET(x) do { RDL_AWAIT(x); } while (0)\n"
     "RDL_TASK(a, B, C, D) { RDL_BEGIN(); switch (x) { case 1: GET(f); } RDL_END(); }",
     "f.c:2:58: ", "GET is not allowed inside a switch"},
    {"#define LEAVE return 1\n#define LEAVE_IF(x) if (x) LEAVE\n"
     "RDL_TASK(a, B, C, D) { RDL_BEGIN(); LEAVE_IF(y); RDL_END(); }",
     "f.c:3:37: ", "'return' is not allowed in the macro LEAVE_IF"},
    {"void f(void) {\n" TASK("b"), "f.c:2:1: ", "inside the braces that open on line 1"},
    {TASK("a") "}", "f.c:2:1: ", "closes nothing"},
    {TASK("a") "void f(void) {\n{}", "f.c:2:14: ", "never closed"},
    {TASK("a") "struct s { uint n; }\n", "f.c:2:20: ", "a ; is missing"},
    {TASK("a") "enum { A = 1 }\n/* end */", "f.c:2:14: ", "a ; is missing"},
    {TASK("a") " /* ", "f.c:2:2: ", "comment does not end"},
    {TASK("a") "#pragma /* ", "f.c:2:9: ", "comment does not end"},
    {TASK("a") "\"abc\n", "f.c:2:1: ", "no closing quote"},
    {TASK("a") "'", "f.c:2:1: ", "no closing quote"},
    {TASK("a") "#if X\n", "f.c:2:2: ", "has no #endif"},
    {TASK("a") "#endif\n", "f.c:2:2: ", "without an #if"},
    {TASK("a") "#else\n", "f.c:2:2: ", "without an #if"},
    {"int x;\n", "f.c:1:1: ", "no task in this file"},
    {"", "f.c:1:1: ", "no task in this file"},
    {"RDL_DECLARE(b, A, B, C)\n" TASK("a"), "f.c:1:13: ", "nowhere defined"},
    {"RDL_DECLARE(a, A, B, C)\n" TASK("a"), "f.c:2:10: ", "other types"},
    {TASK("a") "RDL_DECLARE(a, RDL_NONE, RDL_NONE, RDL_NONE)", "f.c:2:13: ", "already known"},
};

static void refused_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refused *r = &refusals[i];
    rdl__task_list list;
    rdl_status status = scan(r->text, &list);
    if (status != RDL_COMPILE || strncmp(why.text, r->place, strlen(r->place)) != 0 ||
        !strstr(why.text, r->says))
      fail_msg("%s\n-> %d %s\nwanted %s... %s", r->text, (int)status, why.text, r->place, r->says);
    assert_null(list.tasks);
    assert_int_equal(list.count, 0);
  }
}

typedef struct mentioned {
  rdl__mention_kind kind;
  uint32_t line;
  uint32_t column;
  const char *name;
  const char *before;
} mentioned;

static size_t pass_own(const rdl__task_list *list, size_t i) {
  while (i < list->mention_count && list->mentions[i].kind == RDL__OWN)
    i++;
  return i;
}

/* `expected` ends with one without a name. Names that the file itself gives are passed over unless
 * they are asked for. */
static void mentions(const char *text, bool own, const mentioned *expected) {
  rdl__task_list list = good(text);
  size_t i = own ? 0 : pass_own(&list, 0);
  for (; expected->name; expected++) {
    if (i == list.mention_count) fail_msg("%s\n-> nothing of %s", text, expected->name);
    const rdl__mention *m = &list.mentions[i];
    assert_string_equal(m->name, expected->name);
    assert_string_equal(m->before, expected->before);
    assert_int_equal(m->kind, expected->kind);
    assert_int_equal(m->line, expected->line);
    assert_int_equal(m->column, expected->column);
    i = own ? i + 1 : pass_own(&list, i + 1);
  }
  if (i < list.mention_count) fail_msg("%s\n-> also %s", text, list.mentions[i].name);
  rdl__task_list_finish(&list);
}

#define MENTIONS(text, ...) mentions(text, false, (const mentioned[]){__VA_ARGS__})
#define OWN(text, ...)      mentions(text, true, (const mentioned[]){__VA_ARGS__})
#define NO_MORE                                                                                    \
  { 0 }
#define BEGIN "RDL_TASK(a, B, C, D) { RDL_BEGIN();\n"
#define END   " RDL_END(); }\n"

static void tasks_that_are_spawned(void **state) {
  (void)state;
  MENTIONS(BEGIN "RDL_SPAWN(self->f[g(1, 2)], b, .n = 1); RDL_TRY_SPAWN(o, f, c);" END,
           {RDL__SPAWNED, 2, 29, "b", ""}, {RDL__SPAWNED, 2, 61, "c", "f"}, NO_MORE);
  MENTIONS(BEGIN "RDL_SPAWN_LANES(f, p, b);\nRDL_TRY_SPAWN_LANES(o, f, p > 1, c, n);" END,
           {RDL__SPAWNED, 2, 23, "b", "p"}, {RDL__SPAWNED, 3, 34, "c", ""}, NO_MORE);
  MENTIONS("void f(void) { RDL_TRY_SPAWN(o,\n f, b); }\n" TASK("a"), {RDL__SPAWNED, 2, 5, "b", "f"},
           NO_MORE);
  MENTIONS(BEGIN "DROP((1)); if (RDL_CANCELLED()) RDL_SPAWN(f, b);" END,
           {RDL__SPAWNED, 2, 46, "b", "f"}, NO_MORE);
  /* What a macro or an #if may hide, and what only the compiler can tell. */
  MENTIONS(BEGIN "DROP(RDL_SPAWN(f, b));\n#if 0\nRDL_SPAWN(f, b);\n#endif\n"
                 "RDL_SPAWN(f, PICK(b)); RDL_SPAWN(f); RDL_SPAWN; RDL_SPAWN(f, 1);" END,
           NO_MORE);
}

static void calls_of_the_library(void **state) {
  (void)state;
  MENTIONS(BEGIN "printf(\"free()\"); x = (uint)malloc (4); /* exit(1) */ // exit(1)\n"
                 "if (puts(\"\")) RDL_RETURN(rand());" END,
           {RDL__CALLED, 2, 1, "printf", ""}, {RDL__CALLED, 2, 29, "malloc", ""},
           {RDL__CALLED, 3, 5, "puts", ""}, {RDL__CALLED, 3, 26, "rand", ""}, NO_MORE);
  MENTIONS(BEGIN "f(;" END "RDL_TASK(b, B, C, D) { RDL_BEGIN();\nabort();" END,
           {RDL__CALLED, 4, 1, "abort", ""}, NO_MORE);
  MENTIONS(BEGIN "self->free(1); x.exit(2); time = 3; DROP(puts(1));\n"
                 "#if X\nabort();\n#endif\n" END,
           NO_MORE);
  MENTIONS("#define SAY(x) printf(x)\n#define STOP exit(1)\nvoid *malloc(uint n);\n" TASK("a"),
           NO_MORE);
}

static void names_of_the_file_itself(void **state) {
  (void)state;
  OWN("#define A 1\n#  define puts(x)\n#if X\n#define B\n#endif\n" TASK("a"),
      {RDL__OWN, 1, 9, "A", ""}, {RDL__OWN, 2, 11, "puts", ""}, {RDL__OWN, 4, 9, "B", ""}, NO_MORE);
  OWN("RDL_FN void free(uint (x)[2]) { }\nMAKE(exit) { }\nvoid *malloc(uint);\n" TASK("a"),
      {RDL__OWN, 1, 13, "free", ""}, {RDL__OWN, 2, 6, "exit", ""}, NO_MORE);
  OWN("#define MAKE void abort(void) { }\n" TASK("a"), {RDL__OWN, 1, 9, "MAKE", ""},
      {RDL__OWN, 1, 19, "abort", ""}, NO_MORE);
}

static void variables_at_file_level(void **state) {
  (void)state;
  MENTIONS("uint n = 1;\nstatic struct s *p, q;\nunsigned long int x[4] = {1}, y;\n" TASK("a"),
           {RDL__VARIABLE, 1, 6, "n", "uint"}, {RDL__VARIABLE, 2, 18, "p", ""},
           {RDL__VARIABLE, 3, 19, "x", ""}, NO_MORE);
  MENTIONS("struct s { uint n; } s;\nextern enum { A = 1 } e;\n" TASK("a") "TABLE t[] = {1};\n",
           {RDL__VARIABLE, 1, 22, "s", ""}, {RDL__VARIABLE, 2, 23, "e", ""},
           {RDL__VARIABLE, 4, 7, "t", "TABLE"}, NO_MORE);
  MENTIONS("void f(void) { uint x; }\nRDL_DECLARE(a, B, C, D)\nuint n;\nvoid g(void);\nint m;\n"
           "RDL_TASK(a, B, C, D)" BODY "RDL_GLOBAL float *p;\n",
           {RDL__VARIABLE, 3, 6, "n", "uint"}, {RDL__VARIABLE, 5, 5, "m", ""},
           {RDL__VARIABLE, 7, 19, "p", ""}, NO_MORE);
}

static void no_variables_at_file_level(void **state) {
  (void)state;
  MENTIONS(
      "struct s;\nunion u { int a, b; };\nenum { X, Y };\nenum e { Z };\n;\nuint;\n"
      "typedef struct { int a; } s, *p;\ntypedef uint n[4];\ntypedef int (*f)(int);\n" TASK("a"),
      NO_MORE);
  MENTIONS(
      "static const uint t[2] = {1, 2}, n = 1;\nconst char *s = \"x\";\n"
      "__constant uint c = 1;\nconstant float d[1] = {1};\nTABLE(x, y);\nTABLE uint z = 1;\n" TASK(
          "a"),
      NO_MORE);
  MENTIONS("RDL_FN uint f(uint a, uint b);\nstatic inline struct s *g(int a[4]) { int b = 1; }\n"
           "RDL_FN RDL_GLOBAL uint *h(void) { }\nint (*k)(int) = 0;\n"
           "_Static_assert(sizeof(int) == 4, \"x\");\n" TASK("a"),
           NO_MORE);
  MENTIONS(
      "#if X\n__constant\n#endif\nuint n = 1;\n#if Y\nuint m;\nint f(\n#endif\nuint);\n" TASK("a"),
      NO_MORE);
}

/* A switch without an await, an await behind a switch, and helpers that return are all right. */
static void switches_and_returns(void **state) {
  static const char text[] =
      "#define GIVE(x) return x\n"
      "int f(int x) { switch (x) { case 1: return 2; } GIVE(3); }\n"
      "RDL_TASK(a, B, C, D) { RDL_BEGIN(); switch (x) { case 1: if (y) { break; } } RDL_YIELD(); "
      "RDL_END(); }\n";
  rdl__task_list list;
  (void)state;
  assert_int_equal(rdl__scan("f.c", text, sizeof text - 1, 0, &list, &why), RDL_OK);
  assert_int_equal(list.tasks[0].resume_points, 1);
  rdl__task_list_finish(&list);
}

/* Words count where a macro with them is used, through other macros too; without its ( a macro that
 * takes arguments is none. */
static void words_in_macros(void **state) {
  rdl__task_list list =
      good("#define START(d, v) RDL_SPAWN(d, leaf, .n = v)\n"
           "#define START(d, v) RDL_SPAWN(d, leaf, .n = (v))\n"
           "#define WAIT RDL_AWAIT(self->f)\n"
           "#define BOTH(v) START(self->f, v); WAIT; \\\n"
           "  RDL_SPAWN_LANES(mine->f, 1, leaf)\n"
           "RDL_TASK(a, B, C, D) { RDL_BEGIN(); START(self->g, 1); BOTH(2); WAIT;\n"
           "  switch (START) { case 1: START(self->g, 3); } RDL_END(); }\n" TASK("b"));
  (void)state;
  assert_int_equal(list.tasks[0].spawns, 3);
  assert_int_equal(list.tasks[0].lane_spawns, 1);
  assert_int_equal(list.tasks[0].resume_points, 2);
  assert_int_equal(list.tasks[1].spawns, 0);
  assert_int_equal(list.tasks[1].resume_points, 0);
  rdl__task_list_finish(&list);
}

/* A macro may be defined before those that it uses, and mean the one that is defined by then. */
static void macros_of_later_macros(void **state) {
  static const char begin[] = "RDL_TASK(a, B, C, D) { RDL_BEGIN();\n";
  rdl__task_list list = good("#define BOTH(v) START(self->f, v); WAIT; ALIAS(self->f)\n"
                             "RDL_TASK(b, B, C, D) { RDL_BEGIN(); BOTH(1); RDL_END(); }\n"
                             "#define ALIAS AGAIN\n"
                             "#define AGAIN(d) RDL_SPAWN_LANES(d, 1, leaf)\n"
                             "#define START(d, v) RDL_SPAWN(d, leaf, .n = v)\n"
                             "#define WAIT RDL_AWAIT(self->f)\n"
                             "RDL_TASK(a, B, C, D) { RDL_BEGIN(); BOTH(2); RDL_END(); }\n");
  rdl_reason reversed;
  char text[1024];
  (void)state;
  assert_int_equal(list.tasks[0].spawns + list.tasks[0].resume_points, 0);
  assert_int_equal(list.tasks[1].spawns, 1);
  assert_int_equal(list.tasks[1].lane_spawns, 1);
  assert_int_equal(list.tasks[1].resume_points, 1);
  rdl__task_list_finish(&list);
  (void)snprintf(text, sizeof text, "#define B(x) if (x) A\n#define A return 1\n%sB(y);", begin);
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_non_null(strstr(why.text, "f.c:4:1: 'return' is not allowed in the macro B"));
  reversed = why;
  (void)snprintf(text, sizeof text, "#define A return 1\n#define B(x) if (x) A\n%sB(y);", begin);
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_string_equal(why.text, reversed.text);
  (void)snprintf(text, sizeof text, "#define B(x) if (x) A\n#define A break\n%sB(y);", begin);
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_non_null(strstr(why.text, "f.c:4:1: 'break' in the macro B"));
}

/* No macro is replaced inside itself; what others bring is not lost by that. */
static void macros_that_use_each_other(void **state) {
  rdl__task_list list = good("#define A(x) RDL_YIELD(); B(x)\n"
                             "#define B(x) RDL_SPAWN(f, leaf); A(x)\n"
                             "#define C C RDL_YIELD()\n"
                             "RDL_TASK(a, B, C, D) { RDL_BEGIN(); A(1); RDL_END(); }\n"
                             "RDL_TASK(b, B, C, D) { RDL_BEGIN(); B(1); C; RDL_END(); }\n");
  char text[20000] = "";
  size_t used = 0;
  int k, n;
  (void)state;
  for (k = 0; k < 2; k++) {
    assert_int_equal(list.tasks[k].spawns, 1);
    assert_int_equal(list.tasks[k].resume_points, 1 + k);
  }
  rdl__task_list_finish(&list);
  for (k = 0; k < 300; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "#define M%d M%d\n", k, k + 1);
  (void)snprintf(text + used, sizeof text - used, "RDL_TASK(a, B, C, D) { RDL_BEGIN(); M0; }");
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_non_null(strstr(why.text, "the macros behind 'M0' use too many others"));
  for (used = 0, k = 0; k < 20; k++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "#define M%d", k);
    for (n = 0; n < 20; n++)
      used += (size_t)snprintf(text + used, sizeof text - used, " M%d", n);
    used += (size_t)snprintf(text + used, sizeof text - used, "\n");
  }
  (void)snprintf(text + used, sizeof text - used, "RDL_TASK(a, B, C, D) { RDL_BEGIN(); M0; }");
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_non_null(strstr(why.text, "the macros behind 'M0' use too many others"));
}

/* Ten to the tenth awaits, which no counter holds. */
static void macros_that_multiply(void **state) {
  static const char ten[] = "#define G%d G%d G%d G%d G%d G%d G%d G%d G%d G%d G%d\n";
  char text[2048] = "#define G0 RDL_YIELD();\n";
  size_t used = strlen(text);
  rdl__task_list list;
  int k;
  (void)state;
  for (k = 0; k < 10; k++)
    used +=
        (size_t)snprintf(text + used, sizeof text - used, ten, k + 1, k, k, k, k, k, k, k, k, k, k);
  (void)snprintf(text + used, sizeof text - used,
                 "RDL_TASK(a, B, C, D) { RDL_BEGIN(); G10 G10 RDL_END(); }\n");
  list = good(text);
  assert_true(list.tasks[0].resume_points > 4095);
  rdl__task_list_finish(&list);
}

static void zero_bytes(void **state) {
  static const char text[] = TASK("a") "ab\0c";
  rdl__task_list list;
  (void)state;
  assert_int_equal(rdl__scan("f.c", text, sizeof text - 1, 0, &list, &why), RDL_COMPILE);
  assert_int_equal(strncmp(why.text, "f.c:2:3: a zero byte", 20), 0);
}

static void own_names(void **state) {
  static const char text[] = TASK("rdl_x");
  rdl__task_list list;
  (void)state;
  assert_int_equal(rdl__scan("f.c", text, sizeof text - 1, RDL__SCAN_OWN, &list, &why), RDL_OK);
  rdl__task_list_finish(&list);
}

/* `count` tasks, one a line. */
static char *many_tasks(unsigned count) {
  size_t room = (size_t)count * 100 + 1;
  size_t length = 0;
  char *text = malloc(room);
  assert_non_null(text);
  for (unsigned i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, room - length, TASK("t%u"), i);
  return text;
}

static void as_many_as_an_image_numbers(void **state) {
  rdl__task_list list;
  char *text = many_tasks(4096);
  (void)state;
  count_tasks(text, 4096);
  free(text);
  text = many_tasks(4097);
  assert_int_equal(scan(text, &list), RDL_COMPILE);
  assert_int_equal(strncmp(why.text, "f.c:4097:10: this is task number 4097", 37), 0);
  free(text);
}

/* Cut anywhere, a file gives a list or a reason, and the sanitizers find nothing. */
static void every_beginning_of_a_file(void **state) {
  static const char text[] = "#if 1 /**/\n#endif\nRDL_DECLARE(a, char *, B, C)\n\"s\\\"\" '\\''\n"
                             "RDL_TASK(a, char *, B, C) { RDL_BEGIN(); RDL_SPAWNS(3); RDL_END(); }";
  (void)state;
  for (size_t length = 0; length < sizeof text; length++) {
    rdl__task_list list;
    char *copy = malloc(length + !length);
    assert_non_null(copy);
    memcpy(copy, text, length);
    why.text[0] = '\0';
    rdl_status status = rdl__scan("f.c", copy, length, 0, &list, &why);
    assert_int_equal(status, length == sizeof text - 1 ? RDL_OK : RDL_COMPILE);
    assert_int_equal(why.text[0] == '\0', status == RDL_OK);
    rdl__task_list_finish(&list);
    free(copy);
  }
}

static void memory_runs_out(void **state) {
  static const char text[] =
      "#define A\nRDL_DECLARE(a, int, B, C)\nRDL_TASK(a, int, B, C)" BODY LANES("b");
  rdl_status status = RDL_OUT_OF_MEMORY;
  long n;
  (void)state;
  for (n = 0; status != RDL_OK; n++) {
    rdl__task_list list;
    allocations_left = n;
    status = scan(text, &list);
    allocations_left = -1;
    assert_true(status == RDL_OK || status == RDL_OUT_OF_MEMORY);
    if (status) assert_null(list.tasks);
    if (status) assert_non_null(strstr(why.text, "out of memory"));
    rdl__task_list_finish(&list);
  }
  assert_true(n > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_of_a_task),
      cmocka_unit_test(everything_of_a_task_with_lanes),
      cmocka_unit_test(odd_but_good_files),
      cmocka_unit_test(refused_files),
      cmocka_unit_test(tasks_that_are_spawned),
      cmocka_unit_test(calls_of_the_library),
      cmocka_unit_test(names_of_the_file_itself),
      cmocka_unit_test(variables_at_file_level),
      cmocka_unit_test(no_variables_at_file_level),
      cmocka_unit_test(zero_bytes),
      cmocka_unit_test(own_names),
      cmocka_unit_test(switches_and_returns),
      cmocka_unit_test(words_in_macros),
      cmocka_unit_test(macros_of_later_macros),
      cmocka_unit_test(macros_that_use_each_other),
      cmocka_unit_test(macros_that_multiply),
      cmocka_unit_test(as_many_as_an_image_numbers),
      cmocka_unit_test(every_beginning_of_a_file),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
