/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded kernel text is, byte for byte, what stands in the folder given as the argument. */
#include <stdio.h>
#include <string.h>

#include "backends/common/kernel_text.h"
#include "unit.h"

static const char *folder;

static void check_text(const struct rdl_kernel_text *text) {
  char path[4096];
  unsigned long offset = 0;
  int byte;
  assert_in_range(snprintf(path, sizeof path, "%s/%s", folder, text->name), 1, sizeof path - 1);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  while ((byte = getc(file)) != EOF) {
    assert_true(offset < text->size);
    assert_int_equal(text->text[offset++], byte);
  }
  fclose(file);
  assert_int_equal(offset, text->size);
  assert_int_equal(text->text[text->size], 0);
}

static void texts_are_the_files(void **state) {
  (void)state;
  for (unsigned i = 0; i < rdl__kernel_text_count; i++)
    check_text(&rdl__kernel_texts[i]);
}

static void shared_structures_come_first(void **state) {
  (void)state;
  assert_in_range(rdl__kernel_text_count, 2, 1000);
  assert_string_equal(rdl__kernel_texts[0].name, "dialect.h");
  assert_string_equal(rdl__kernel_texts[1].name, "abi.h");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_structures_come_first),
      cmocka_unit_test(texts_are_the_files),
  };
  folder = argc > 1 ? argv[1] : ".";
  return cmocka_run_group_tests_name("kernel_text", tests, NULL, NULL);
}
