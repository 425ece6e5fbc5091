/* SPDX-License-Identifier: Apache-2.0 */
/* The version that the build system knows (the argument) is the one that the library reports. */
#include <raddle/version.h>
#include <string.h>

#include "unit.h"

static const char *expected_version;

static void version_is_that_of_the_build(void **state) {
  (void)state;
  assert_string_equal(rdl_version(), expected_version);
}

static void kernel_hash_is_64_hex_digits(void **state) {
  (void)state;
  assert_int_equal(strlen(rdl_kernel_hash()), 64);
  assert_int_equal(strspn(rdl_kernel_hash(), "0123456789abcdef"), 64);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_is_that_of_the_build),
      cmocka_unit_test(kernel_hash_is_64_hex_digits),
  };
  expected_version = argc > 1 ? argv[1] : "";
  return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
