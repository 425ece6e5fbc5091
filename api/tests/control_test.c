/* SPDX-License-Identifier: Apache-2.0 */
/* A `break` that would leave the switch of the dialect is refused, and no other. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(breaks_of_nothing),
      cmocka_unit_test(breaks_of_loops),
  };
  return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
