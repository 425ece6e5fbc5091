/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/join.h"

static rdl_text_piece piece(const char *name, const char *text, uint32_t first_line) {
  return (rdl_text_piece){
      .name = name, .text = text, .length = strlen(text), .first_line = first_line};
}

static void pieces_stand_behind_line_marks(void **state) {
  rdl_text_piece pieces[] = {piece("a.h", "one\ntwo\n", 1), piece("empty", "", 1),
                             piece("dir/b.c", "three", 40)};
  rdl_image_text image = {.pieces = pieces, .count = 3};
  rdl_joined joined;
  (void)state;
  assert_int_equal(rdl__join(&image, &joined, NULL), RDL_OK);
  assert_string_equal(joined.text, "#line 1 \"a.h\"\none\ntwo\n#line 1 \"empty\"\n"
                                   "#line 40 \"dir/b.c\"\nthree\n");
  assert_int_equal(joined.length, strlen(joined.text));
  rdl__join_free(&joined);
  rdl__join_free(&joined);
}

static void lines_lead_back_to_pieces(void **state) {
  rdl_text_piece pieces[] = {piece("a.h", "one\ntwo\n", 1), piece("empty", "", 1),
                             piece("b.c", "three\nfour", 40)};
  rdl_image_text image = {.pieces = pieces, .count = 3};
  const char *names[] = {NULL, NULL, "a.h", "a.h", NULL, NULL, "b.c", "b.c", NULL, NULL};
  const uint32_t lines[] = {0, 0, 1, 2, 0, 0, 40, 41, 0, 0};
  rdl_joined joined;
  (void)state;
  assert_int_equal(rdl__join(&image, &joined, NULL), RDL_OK);
  for (uint32_t i = 0; i < 10; i++) {
    uint32_t line = 0;
    const char *name = rdl__join_find(&joined, i, &line);
    assert_int_equal(name == NULL, names[i] == NULL);
    if (names[i]) assert_string_equal(name, names[i]);
    assert_int_equal(line, lines[i]);
  }
  rdl__join_free(&joined);
}

static void names_cannot_leave_their_literal(void **state) {
  rdl_text_piece pieces[] = {piece("we\"ird\\\n.c", "x\n", 4294967295u)};
  rdl_image_text image = {.pieces = pieces, .count = 1};
  rdl_joined joined;
  (void)state;
  assert_int_equal(rdl__join(&image, &joined, NULL), RDL_OK);
  assert_string_equal(joined.text, "#line 4294967295 \"we\\\"ird\\\\?.c\"\nx\n");
  rdl__join_free(&joined);
}

static void no_pieces_make_an_empty_text(void **state) {
  rdl_image_text image = {.pieces = NULL, .count = 0};
  rdl_joined joined;
  (void)state;
  assert_int_equal(rdl__join(&image, &joined, NULL), RDL_OK);
  assert_string_equal(joined.text, "");
  rdl__join_free(&joined);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_stand_behind_line_marks),
      cmocka_unit_test(lines_lead_back_to_pieces),
      cmocka_unit_test(names_cannot_leave_their_literal),
      cmocka_unit_test(no_pieces_make_an_empty_text),
  };
  return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
