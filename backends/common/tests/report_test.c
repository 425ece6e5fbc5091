/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of capabilities, and their lines. */
#include "backends/common/report.h"

#include <stdio.h>
#include <string.h>

#include "api/tests/unit.h"

static rdl_report report;

static int set_up(void **state) {
  (void)state;
  report.count = 0;
  return 0;
}

static void a_row_is_added_once(void **state) {
  (void)state;
  rdl__report_add(&report, 1, "clock", "cycles");
  rdl__report_add(&report, 0, "units", "%u", 8u);
  rdl__report_add(&report, 0, "clock", "none (%s)", "it does not compile");
  assert_int_equal(report.count, 2);
  assert_string_equal(rdl__report_find(&report, "clock"), "none (it does not compile)");
  assert_int_equal(report.rows[0].probed, 0);
  assert_null(rdl__report_find(&report, "cloc"));
  assert_null(rdl__report_find(&report, "clocks"));
}

static void the_first_word_is_the_answer(void **state) {
  (void)state;
  rdl__report_add(&report, 1, "shared", "none (svm: 3 of 24)");
  rdl__report_add(&report, 1, "clock", "cycles");
  assert_true(rdl__report_is(&report, "shared", "none"));
  assert_true(rdl__report_is(&report, "clock", "cycles"));
  assert_false(rdl__report_is(&report, "shared", "svm"));
  assert_false(rdl__report_is(&report, "shared", "non"));
  assert_false(rdl__report_is(&report, "clock", "cycles 2"));
  assert_false(rdl__report_is(&report, "nothing", "none"));
}

static void numbers(void **state) {
  static const struct {
    const char *text;
    uint64_t number;
  } cases[] = {{"0", 0},
               {"65535", 65535},
               {"18446744073709551615", UINT64_MAX},
               {"12 (more was not tried)", 12},
               {"none", 7},
               {"", 7},
               {"-1", 7},
               {" 5", 7},
               {"5x", 7},
               {"0x10", 7}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rdl__report_add(&report, 1, "n", "%s", cases[i].text);
    assert_int_equal(rdl__report_number(&report, "n", 7), cases[i].number);
  }
  assert_int_equal(rdl__report_number(&report, "m", 7), 7);
}

static void lines_bring_rows_back(void **state) {
  char text[4 * RDL_REPORT_LINE];
  rdl_report copy = {.count = 0};
  size_t length = 0;
  (void)state;
  rdl__report_add(&report, 1, "order", "c11 (-cl-std=CL3.0)");
  rdl__report_add(&report, 1, "log", "one\ntwo\tthree\r");
  rdl__report_add(&report, 1, "empty", "%s", "");
  for (size_t i = 0; i < report.count; i++)
    length += rdl__report_line(&report.rows[i], text + length);
  rdl__report_read(&copy, text, length);
  assert_int_equal(copy.count, 3);
  assert_string_equal(rdl__report_find(&copy, "log"), "one two three ");
  assert_memory_equal(copy.rows, report.rows, 3 * sizeof copy.rows[0]);
}

static void what_is_no_line_is_left_out(void **state) {
  static const char text[] = "begins clock\n\ta\n\nclock\tcycles\n"
                             "a_name_that_is_far_too_long_for_a_row\tx\nshared\tsv";
  (void)state;
  rdl__report_read(&report, text, sizeof text - 1);
  assert_int_equal(report.count, 1);
  assert_string_equal(rdl__report_find(&report, "clock"), "cycles");
}

static void long_texts_are_cut(void **state) {
  char line[RDL_REPORT_LINE];
  rdl_report copy = {.count = 0};
  (void)state;
  rdl__report_add(&report, 1, "a_name_that_is_far_too_long_for_a_row", "%0200d", 1);
  assert_int_equal(strlen(report.rows[0].name), sizeof report.rows[0].name - 1);
  assert_int_equal(strlen(report.rows[0].value), sizeof report.rows[0].value - 1);
  rdl__report_read(&copy, line, rdl__report_line(&report.rows[0], line));
  assert_memory_equal(copy.rows, report.rows, sizeof copy.rows[0]);
}

static void a_full_table_stays_as_it_is(void **state) {
  rdl_capability out[3];
  size_t count = 1;
  (void)state;
  for (unsigned i = 0; i < RDL_REPORT_ROWS + 5; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "row%u", i);
    rdl__report_add(&report, 1, name, "%u", i);
  }
  assert_int_equal(report.count, RDL_REPORT_ROWS);
  assert_string_equal(rdl__report_find(&report, "row63"), "63");
  memset(out, 0x55, sizeof out);
  rdl__report_copy(&report, out, 3, &count);
  assert_int_equal(count, RDL_REPORT_ROWS + 1);
  assert_int_equal(out[0].name[0], 0x55);
  assert_string_equal(out[1].name, "row0");
  assert_string_equal(out[2].value, "1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_row_is_added_once, set_up),
      cmocka_unit_test_setup(the_first_word_is_the_answer, set_up),
      cmocka_unit_test_setup(numbers, set_up),
      cmocka_unit_test_setup(lines_bring_rows_back, set_up),
      cmocka_unit_test_setup(what_is_no_line_is_left_out, set_up),
      cmocka_unit_test_setup(long_texts_are_cut, set_up),
      cmocka_unit_test_setup(a_full_table_stays_as_it_is, set_up),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
