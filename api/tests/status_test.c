/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes: numbers, names and texts. */
#include <raddle/status.h>
#include <string.h>

#include "unit.h"

#define COUNT_ONE(code, text) +1
enum { CODES = 0 RDL_STATUS_LIST(COUNT_ONE) };

static void numbers_stay(void **state) {
  (void)state;
  assert_int_equal(RDL_OK, 0);
  assert_int_equal(RDL_INVALID, 1);
  assert_int_equal(RDL_AGAIN, 8);
  assert_int_equal(RDL_TIMEOUT, 9);
  assert_int_equal(RDL_DEADLOCK, 13);
  assert_int_equal(RDL_INTERNAL, 21);
}

static void names_are_those_of_c(void **state) {
  (void)state;
#define CHECK_NAME(code, text) assert_string_equal(rdl_status_name(RDL_##code), "RDL_" #code);
  RDL_STATUS_LIST(CHECK_NAME)
}

static void texts_differ_and_are_one_line(void **state) {
  (void)state;
  for (int i = 0; i < CODES; i++) {
    const char *text = rdl_status_text((rdl_status)i);
    assert_true(strlen(text) > 0);
    assert_null(strchr(text, '\n'));
    for (int j = 0; j < i; j++)
      assert_string_not_equal(text, rdl_status_text((rdl_status)j));
  }
}

static void numbers_that_are_no_code_are_answered(void **state) {
  (void)state;
  const int others[] = {CODES, CODES + 1, 1 << 20};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_string_equal(rdl_status_name((rdl_status)others[i]), "unknown");
    assert_non_null(rdl_status_text((rdl_status)others[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_stay),
      cmocka_unit_test(names_are_those_of_c),
      cmocka_unit_test(texts_differ_and_are_one_line),
      cmocka_unit_test(numbers_that_are_no_code_are_answered),
  };
  return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
