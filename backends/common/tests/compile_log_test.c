/* SPDX-License-Identifier: Apache-2.0 */
/* Logs as compilers write them. The image has a kernel piece (lines 2 and 3 of the joined text) and
 * a user's file (lines 5 to 8, called 1 to 4). */
#include <stdio.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/compile_log.h"

static rdl_joined joined;
static rdl_reason why;

static int set_up(void **state) {
  static rdl_text_piece pieces[] = {
      {.name = "main.cl", .text = "k1\nk2\n", .length = 6, .first_line = 1, .own = 1},
      {.name = "../a b/user.task.c", .text = "u1\nu2\nu3\nu4\n", .length = 12, .first_line = 1},
  };
  rdl_image_text image = {.pieces = pieces, .count = 2};
  (void)state;
  return rdl__join(&image, &joined, NULL) != RDL_OK;
}

static int tear_down(void **state) {
  (void)state;
  rdl__join_free(&joined);
  return 0;
}

static void check_in(const rdl_joined *text, const char *log, const char *wanted) {
  memset(&why, 'x', sizeof why);
  assert_int_equal(rdl__compile_log(log, text, &why), RDL_COMPILE);
  assert_string_equal(why.text, wanted);
}

static void check(const char *log, const char *wanted) {
  check_in(&joined, log, wanted);
}

static void gcc(void **state) {
  (void)state;
  check("main.cl: In function 'f':\n"
        "main.cl:1:3: warning: unused variable 'a'\n"
        "../a b/user.task.c: In function 'user':\n"
        "../a b/user.task.c:3:11: error: 'undefd' undeclared (first use)\n"
        "    3 |   p[0] = undefd;\n"
        "../a b/user.task.c:4:1: note: each is reported once\n",
        "../a b/user.task.c:3:11: error: 'undefd' undeclared (first use)\n"
        "    3 |   p[0] = undefd;\n"
        "../a b/user.task.c:4:1: note: each is reported once");
}

static void gcc_without_columns(void **state) {
  (void)state;
  check("../a b/user.task.c:3: error: no\n", "../a b/user.task.c:3: error: no");
}

static void pocl_inside_a_macro(void **state) {
  (void)state;
  check("error: ../a b/user.task.c:4:3 <Spelling=../a b/user.task.c:4:14>: use of undeclared\n",
        "../a b/user.task.c:4:3: error: use of undeclared");
  check("error: ../a b/user.task.c:4:3 <Spelling=<scratch space>:88:1>: unknown type\n",
        "../a b/user.task.c:4:3: error: unknown type");
}

static void clang_with_a_file_that_the_text_includes(void **state) {
  (void)state;
  check("In file included from ../a b/user.task.c:1:\r\n"
        "./mine.h:2:5: fatal error: 'other.h' file not found\r\n"
        "1 error generated.\r\n",
        "./mine.h:2:5: fatal error: 'other.h' file not found\n1 error generated.");
}

static void pocl(void **state) {
  (void)state;
  check("error: ../a b/user.task.c:3:8: use of undeclared identifier 'undefd'\n"
        "error: ../a b/user.task.c:4:6: incompatible pointer\n"
        "Device pthread failed to build the program\n",
        "../a b/user.task.c:3:8: error: use of undeclared identifier 'undefd'\n"
        "../a b/user.task.c:4:6: error: incompatible pointer\n"
        "Device pthread failed to build the program");
}

static void pocl_that_names_a_temporary_file(void **state) {
  (void)state;
  check("error: /tmp/POCL_CACHE/tempfile-12-3f.cl:6:8: bad\n",
        "../a b/user.task.c:2:8: error: bad");
}

static void nvidia_that_names_its_input(void **state) {
  (void)state;
  check("<kernel>:2:1: warning: something\n"
        "<kernel>:7:4: error: use of undeclared identifier 'x'\n"
        "  x = 1;\n"
        "  ^\n"
        "<kernel>:8:9: note: declared here\n",
        "../a b/user.task.c:3:4: error: use of undeclared identifier 'x'\n"
        "  x = 1;\n"
        "  ^\n"
        "../a b/user.task.c:4:9: note: declared here");
}

static void input_cl_and_names_without_a_dot(void **state) {
  (void)state;
  check("input.cl:8:2: error: a\n", "../a b/user.task.c:4:2: error: a");
  check("/tmp/dep-3f1:5:2: error: a\n", "../a b/user.task.c:1:2: error: a");
}

static void nvrtc(void **state) {
  (void)state;
  check("../a b/user.task.c(3): error: identifier \"x\" is undefined\n",
        "../a b/user.task.c:3: error: identifier \"x\" is undefined");
  check("../a b/user.task.c(3): error: identifier \"x\" is undefined\n      return x;\n            "
        " ^\n",
        "../a b/user.task.c:3:12: error: identifier \"x\" is undefined\n      return x;\n          "
        "   ^");
  check("default_program(6): catastrophic error: stop\n",
        "../a b/user.task.c:2: catastrophic error: stop");
}

static void an_error_in_own_text_is_told_where_the_user_caused_it(void **state) {
  (void)state;
  check("main.cl:2:3: warning: something\n"
        "../a b/user.task.c:1:9: note: of a warning\n"
        "main.cl:1:3: error: expected ';' before 'do'\n"
        "main.cl:1:5: warning: unused\n"
        "../a b/user.task.c:2:9: note: of a warning\n"
        "main.cl:2:1: error: another\n"
        "../a b/user.task.c:3:9: note: in expansion of macro 'K1'\n"
        "../a b/user.task.c:4:1: error: late\n",
        "../a b/user.task.c:3:9: error: expected ';' before 'do'\n"
        "main.cl:1:3: error: expected ';' before 'do'\n"
        "main.cl:1:5: warning: unused\n"
        "../a b/user.task.c:2:9: note: of a warning\n"
        "../a b/user.task.c:3:9: error: another\n"
        "main.cl:2:1: error: another\n"
        "../a b/user.task.c:3:9: note: in expansion of macro 'K1'\n"
        "../a b/user.task.c:4:1: error: late");
  check("../a b/user.task.c:1:1: error: first\nmain.cl:1:3: error: alone\n"
        "../a b/user.task.c:4:1: error: late\n",
        "../a b/user.task.c:1:1: error: first\nmain.cl:1:3: error: alone\n"
        "../a b/user.task.c:4:1: error: late");
  check("<kernel>:2:1: error: a\n<kernel>:6:4: note: b\n",
        "../a b/user.task.c:2:4: error: a\nmain.cl:1:1: error: a\n../a b/user.task.c:2:4: note: b");
  check("main.cl:1:3: error: alone\n", "main.cl:1:3: error: alone");
}

static void notes_of_no_use_are_left_out(void **state) {
  (void)state;
  check("../a b/user.task.c:1:3: error: implicit declaration of function 'printf'\n"
        "    1 |   printf();\n"
        "../a b/user.task.c:1:1: note: include '<stdio.h>' or provide a declaration of 'printf'\n"
        "  +++ |+#include <stdio.h>\n"
        "    1 | u1\n"
        "../a b/user.task.c:2:3: error: no such member\n"
        "main.cl:1:9: note: expanded from macro 'K1'\n"
        "#define K1 k2\n"
        "           ^\n"
        "<kernel>:3:4: note: in definition of macro 'K2'\n"
        "main.cl:2:4: note: expected 'rdl_event' but argument is of type 'rdl_future'\n"
        "../a b/user.task.c:3:3: error: another\n"
        "../a b/user.task.c:3:1: note: include the header <math.h> or explicitly provide 'f'\n"
        "../a b/user.task.c:4:1: note: in expansion of macro 'MINE'\n",
        "../a b/user.task.c:1:3: error: implicit declaration of function 'printf'\n"
        "    1 |   printf();\n"
        "../a b/user.task.c:2:3: error: no such member\n"
        "main.cl:2:4: note: expected 'rdl_event' but argument is of type 'rdl_future'\n"
        "../a b/user.task.c:3:3: error: another\n"
        "../a b/user.task.c:4:1: note: in expansion of macro 'MINE'");
}

/* ---- logs of one broken text, taken from three drivers ---- */

static const char broken_own[] = "#define RDL_SET(p, v) do { (p)[0] = (v); } while (0)\n"
                                 "typedef uint rdl_u32;\n";
static const char broken_user[] = "\n\n"
                                  "__kernel void rdl_launch(__global uint *heap, uint purpose)\n"
                                  "{\n"
                                  "  heap[0] = undefd;\n"
                                  "  RDL_SET(heap, undefd2);\n"
                                  "  heap[1] = 1\n"
                                  "}\n";

static void check_broken(const char *log, const char *wanted) {
  rdl_text_piece pieces[] = {{.name = "dialect.h",
                              .text = broken_own,
                              .length = strlen(broken_own),
                              .first_line = 1,
                              .own = 1},
                             {.name = "../some where/user.task.c",
                              .text = broken_user,
                              .length = strlen(broken_user),
                              .first_line = 1}};
  rdl_image_text image = {.pieces = pieces, .count = 2};
  rdl_joined broken;
  assert_int_equal(rdl__join(&image, &broken, NULL), RDL_OK);
  check_in(&broken, log, wanted);
  rdl__join_free(&broken);
}

static void one_text_on_pocl_3_1(void **state) {
  (void)state;
  check_broken(
      "error: ../some where/user.task.c:5:13: use of undeclared identifier 'undefd'\n"
      "error: ../some where/user.task.c:6:3 <Spelling=../some where/user.task.c:6:17>: use "
      "of undeclared identifier 'undefd2'\n"
      "error: ../some where/user.task.c:7:14: expected ';' after expression\n"
      "Device pthread-skylake-avx512-Intel(R) Xeon(R) Processor failed to build the "
      "program\n",
      "../some where/user.task.c:5:13: error: use of undeclared identifier 'undefd'\n"
      "../some where/user.task.c:6:3: error: use of undeclared identifier 'undefd2'\n"
      "../some where/user.task.c:7:14: error: expected ';' after expression\n"
      "Device pthread-skylake-avx512-Intel(R) Xeon(R) Processor failed to build the "
      "program");
}

static void one_text_on_rusticl_22_3(void **state) {
  (void)state;
  check_broken("../some where/user.task.c:5:13: error: use of undeclared identifier 'undefd'\n"
               "../some where/user.task.c:6:17: error: use of undeclared identifier 'undefd2'\n"
               "../some where/user.task.c:7:14: error: expected ';' after expression\n"
               "Error executing LLVM compilation action.\n",
               "../some where/user.task.c:5:13: error: use of undeclared identifier 'undefd'\n"
               "../some where/user.task.c:6:17: error: use of undeclared identifier 'undefd2'\n"
               "../some where/user.task.c:7:14: error: expected ';' after expression\n"
               "Error executing LLVM compilation action.");
}

static void one_text_on_oclgrind_21_10(void **state) {
  (void)state;
  check_broken("input.cl:9:13: error: use of undeclared identifier 'undefd'\n"
               "  heap[0] = undefd;\n"
               "            ^\n"
               "input.cl:10:17: error: use of undeclared identifier 'undefd2'\n"
               "  RDL_SET(heap, undefd2);\n"
               "                ^\n"
               "input.cl:11:14: error: expected ';' after expression\n"
               "  heap[1] = 1\n"
               "             ^\n"
               "             ;\n",
               "../some where/user.task.c:5:13: error: use of undeclared identifier 'undefd'\n"
               "  heap[0] = undefd;\n"
               "            ^\n"
               "../some where/user.task.c:6:17: error: use of undeclared identifier 'undefd2'\n"
               "  RDL_SET(heap, undefd2);\n"
               "                ^\n"
               "../some where/user.task.c:7:14: error: expected ';' after expression\n"
               "  heap[1] = 1\n"
               "             ^\n"
               "             ;");
}

/* Linkers and the assembler of NVIDIA's driver name no line of the text. */
static void what_comes_after_the_compiler_names_no_line(void **state) {
  static const char *const logs[] = {
      "Error(s) while linking: \nCannot find symbol f in kernel library\n"
      "Device pthread-skylake-avx512-Intel(R) Xeon(R) Processor failed to build the program",
      "(file=input,line=0,column=0,index=0): Unresolved external reference to \"f\".\n\n"
      "Missing module.",
      "ptxas fatal   : Unresolved extern function 'f'",
      "ptxas application ptx input, line 22; error   : Unknown symbol 'f'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors",
      "ptxas info    : 0 bytes gmem\n"
      "ptxas error   : Entry function 'rdl_launch' uses too much shared data (0x1c000 bytes, "
      "0xc000 "
      "max)"};
  (void)state;
  for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
    char wanted[512];
    (void)snprintf(wanted, sizeof wanted, "The compiler failed and named no line:\n%s", logs[i]);
    check_broken(logs[i], wanted);
  }
}

static void a_line_outside_all_pieces_stays(void **state) {
  (void)state;
  check("<kernel>:4:1: error: mark\n", "<kernel>:4:1: error: mark");
  check("<kernel>:900:1: error: far\n", "<kernel>:900:1: error: far");
}

static void no_error_line(void **state) {
  (void)state;
  check("ld: out of disk\n", "The compiler failed and named no line:\nld: out of disk");
  check("", "The compiler failed and named no line:\n(it said nothing)");
  check("error:\n12:34\na:1:2:\n", "The compiler failed and named no line:\nerror:\n12:34\na:1:2:");
}

static void a_long_log_is_cut(void **state) {
  static char log[3 * sizeof why.text];
  size_t used = (size_t)snprintf(log, sizeof log, "a.c:1:2: error: first\n");
  (void)state;
  memset(log + used, 'y', sizeof log - used - 1);
  assert_int_equal(rdl__compile_log(log, &joined, &why), RDL_COMPILE);
  assert_int_equal(strlen(why.text), sizeof why.text - 1);
  assert_memory_equal(why.text, log, sizeof why.text - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gcc),
      cmocka_unit_test(gcc_without_columns),
      cmocka_unit_test(pocl_inside_a_macro),
      cmocka_unit_test(clang_with_a_file_that_the_text_includes),
      cmocka_unit_test(pocl),
      cmocka_unit_test(pocl_that_names_a_temporary_file),
      cmocka_unit_test(nvidia_that_names_its_input),
      cmocka_unit_test(input_cl_and_names_without_a_dot),
      cmocka_unit_test(nvrtc),
      cmocka_unit_test(an_error_in_own_text_is_told_where_the_user_caused_it),
      cmocka_unit_test(notes_of_no_use_are_left_out),
      cmocka_unit_test(one_text_on_pocl_3_1),
      cmocka_unit_test(one_text_on_rusticl_22_3),
      cmocka_unit_test(one_text_on_oclgrind_21_10),
      cmocka_unit_test(what_comes_after_the_compiler_names_no_line),
      cmocka_unit_test(a_line_outside_all_pieces_stays),
      cmocka_unit_test(no_error_line),
      cmocka_unit_test(a_long_log_is_cut),
  };
  return cmocka_run_group_tests_name("compile_log", tests, set_up, tear_down);
}
