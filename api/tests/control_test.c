/* SPDX-License-Identifier: Apache-2.0 */
/* A `break` that would leave the switch of the dialect is refused, and no other; so is an await in
 * a loop whose counter it would lose. */
#include <stdio.h>
#include <string.h>

#include "api/src/scan.h"
#include "unit.h"

static rdl_reason why;

static rdl_status scan(const char *text, rdl__task_list *out) {
  why.text[0] = '\0';
  return rdl__scan("f.c", text, strlen(text), 0, out, &why);
}

static void breaks_of_nothing(void **state) {
  static const struct {
    const char *text, *place, *says;
  } refusals[] = {
      {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); if (x) break; RDL_END(); }",
       "f.c:1:44: ", "outside of all loops and switches of task 'a'"},
      {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); while (x) { y; } { break; } RDL_END(); }",
       "f.c:1:56: ", "'break' is outside"},
      {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); for (;;) if (x) y(z); else y = (T){1}; break; "
       "RDL_END(); "
       "}",
       "f.c:1:76: ", "'break' is outside"},
      {"RDL_TASK(a, B, C, D) { RDL_BEGIN(); do { break; } while (x); l: break; RDL_END(); }",
       "f.c:1:65: ", "'break' is outside"},
      {"#define OUT_IF(x) if (x) break\n#define OUT() OUT_IF(1)\n"
       "RDL_TASK(a, B, C, D) { RDL_BEGIN(); for (;;) OUT_IF(1); OUT(); RDL_END(); }",
       "f.c:3:57: ", "'break' in the macro OUT is outside"},
  };
  size_t k;
  (void)state;
  for (k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    rdl__task_list list;
    rdl_status status = scan(refusals[k].text, &list);
    if (status != RDL_COMPILE ||
        strncmp(why.text, refusals[k].place, strlen(refusals[k].place)) != 0 ||
        !strstr(why.text, refusals[k].says))
      fail_msg("%s\n-> %d %s", refusals[k].text, (int)status, why.text);
  }
}

/* Every `break` here has a loop or a switch, or may have one that a macro brings. */
static void breaks_of_loops(void **state) {
  static const char macros[] = "#define EACH(k, n) for (k = 0; k < (n); k++)\n"
                               "#define EVER for (;;)\n"
                               "#define OUT break\n"
                               "#define FIRST do {\n"
                               "#define LAST } while (0);\n"
                               "#define MANY FIRST\n"
                               "#define ONCE(x) while (1) { x break; }\n"
                               "#define TIDY(x) do { if (x) break; } while (0)\n";
  static const char *const bodies[] = {
      "for (;;) break;",
      "for (;;) if (x) y; else if (z) break; else { break; }",
      "while (x) { y = (struct s){.n = 1}; if (y) { z[1] = (T){0}; } break; }",
      "while (x) if (y) z = (T){1}; else break;",
      "do if (x) break; else y; while (z);",
      "do { x; } while (y); do break; while (y);",
      "switch (x) case 1: break;",
      "switch (x) { case 1: y; break; case T: { z; } break; default: break; }",
      "for (;;) { do { x; } while (y); switch (z) { case 1: break; } break; }",
      "for (;;) { uint t[2] = {1, 2}; struct { uint n; } u = {t[0]}; if (t) break; }",
      "for (;;) l: if (x) break;",
      "for (;;) if (x) for (;;) y; else while (z) break;",
      "EACH(k, 4) break;",
      "EACH(k, 4) if (x) break;",
      "EACH(k, 4) { x; break; }",
      "EVER { x; if (y) break; }",
      "UNKNOWN(k) { x; break; }",
      "IF_NOT(x) { y; } for (;;) { OUT; }",
      "FIRST x; if (y) break; LAST",
      "MANY break; break; LAST",
      "ONCE(break; x;)",
      "TIDY(1); for (;;) x = y ? z : (T){1}, break_ = 1;",
      "\n#if X\nfor (;;) {\n#else\nwhile (1) {\n#endif\nbreak; }",
      "x = sizeof(break_);\n#define LATE if (x) break\nfor (;;) LATE;",
  };
  char text[1024];
  size_t k;
  (void)state;
  for (k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    rdl__task_list list;
    (void)snprintf(text, sizeof text, "%sRDL_TASK(a, B, C, D) { RDL_BEGIN(); %s RDL_END(); }\n",
                   macros, bodies[k]);
    if (scan(text, &list)) fail_msg("%s\n-> %s", text, why.text);
    rdl__task_list_finish(&list);
  }
}

#define EACH "#define EACH(k, n) for (uint k = 0; k < (n); k++)\n"
#define ALL  "#define ALL(n) for (uint i = 0; i < (n); i++) { RDL_AWAIT(self->f[i]); }\n"

static void task_text(char *text, size_t size, const char *macros, const char *body) {
  (void)snprintf(text, size, "%sRDL_TASK(a, B, C, D) { RDL_BEGIN();\n%s\nRDL_END(); }\n", macros,
                 body);
}

static void counters_that_an_await_loses(void **state) {
  static const struct {
    const char *macros, *body, *place, *says;
  } refusals[] = {
      {"", "for (uint k = 0; k < 4; k++) RDL_YIELD();", "f.c:2:30: ", "('k', line 2)"},
      {"", "for (const struct s *p = q, *r = p; p; p++) {\n if (x) { y; } else RDL_AWAIT(f); }",
       "f.c:3:21: ", "('p', line 2)"},
      {"", "for (uint *p = q; p; p++) do { RDL_SLEEP(1); } while (x);", "f.c:2:32: ", "self->p"},
      {"", "for (unsigned int k[1] = {0};;)\nfor (uint j = 0;;) { RDL_AWAIT_ANY(f); }",
       "f.c:3:22: ", "('k', line 2)"},
      {"", "for (;;) { x; for (uint j = 0;;) y; for (uint i = 0;;) while (z) RDL_AWAIT(f); }",
       "f.c:2:66: ", "('i', line 2)"},
      {"#define WAIT RDL_AWAIT(f)\n", "for (uint k = 0;;) WAIT;", "f.c:3:20: ", "WAIT is in a"},
      {EACH, "EACH(j, 4) { x; RDL_YIELD(); }", "f.c:3:17: ", "RDL_YIELD is in a"},
      {"#define QUADS EACH(j, 4)\n" EACH, "if (x) QUADS if (y) RDL_YIELD();",
       "f.c:4:21: ", "RDL_YIELD is in a"},
      {ALL, "x; ALL(3);", "f.c:3:4: ", "ALL is in a"},
      {"#define MORE(n) ALL(n); ALL(n)\n" ALL, "MORE(3);", "f.c:4:1: ", "('i', line 2)"},
  };
  char text[1024];
  size_t k;
  (void)state;
  for (k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    rdl__task_list list;
    rdl_status status;
    task_text(text, sizeof text, refusals[k].macros, refusals[k].body);
    status = scan(text, &list);
    if (status != RDL_COMPILE ||
        strncmp(why.text, refusals[k].place, strlen(refusals[k].place)) != 0 ||
        !strstr(why.text, refusals[k].says))
      fail_msg("%s\n-> %d %s", text, (int)status, why.text);
  }
}

static void counters_that_live(void **state) {
  static const char *const bodies[] = {
      "for (self->k = 0; self->k < 4; self->k++) RDL_YIELD();",
      "for (k = 0, j = k * n; k < 4; k++) RDL_YIELD();",
      "for (*p = 0; k < 4; k++) RDL_YIELD();",
      "for (;;) RDL_YIELD();",
      "for (self->x[a * b] = 0;;) RDL_YIELD();",
      "for (f(x); k < 4; k++) RDL_YIELD();",
      "for (uint k = 0; k < 4; k++) x; RDL_YIELD();",
      "for (uint k = 0; k < 4; k++) { if (x) y; else z; } RDL_YIELD();",
      "for (uint k = 0; k < 4; k++) if (x) y; RDL_YIELD();",
      "for (uint k = 0; k < 4; k++) { RDL_SPAWN(f, a); }\nfor (;;) { RDL_YIELD(); }",
      "EACH(k, 4) x; RDL_YIELD(); EACH(k, 4) { x; } RDL_YIELD();",
      "FIRST(n) x; RDL_YIELD();",
      "switch (x) { case 1: for (uint k = 0; k < 4; k++) x; } RDL_YIELD();",
  };
  char text[1024];
  size_t k;
  (void)state;
  for (k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    rdl__task_list list;
    task_text(text, sizeof text, EACH "#define FIRST(n) RDL_YIELD(); EACH(k, n)\n", bodies[k]);
    if (scan(text, &list)) fail_msg("%s\n-> %s", text, why.text);
    rdl__task_list_finish(&list);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(breaks_of_nothing),
      cmocka_unit_test(breaks_of_loops),
      cmocka_unit_test(counters_that_an_await_loses),
      cmocka_unit_test(counters_that_live),
  };
  return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
