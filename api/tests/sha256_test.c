/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the examples that belong to FIPS 180-4, and against itself in pieces. */
#include <string.h>

#include "backends/common/sha256.h"
#include "unit.h"

static void check(const char *text, size_t times, const char *expected) {
  rdl__sha256 hash;
  char hex[65];
  rdl__sha256_init(&hash);
  for (size_t i = 0; i < times; i++)
    rdl__sha256_add(&hash, text, strlen(text));
  rdl__sha256_hex(&hash, hex);
  assert_string_equal(hex, expected);
}

static void standard_examples(void **state) {
  (void)state;
  check("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  check("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the block boundaries, whole and byte by byte. */
static void pieces_do_not_matter(void **state) {
  unsigned char data[200];
  (void)state;
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)(7 * i);
  for (size_t length = 0; length <= sizeof data; length++) {
    rdl__sha256 whole, bytes;
    char one[65], other[65];
    rdl__sha256_init(&whole);
    rdl__sha256_init(&bytes);
    rdl__sha256_add(&whole, data, length);
    for (size_t i = 0; i < length; i++)
      rdl__sha256_add(&bytes, data + i, 1);
    rdl__sha256_hex(&whole, one);
    rdl__sha256_hex(&bytes, other);
    assert_string_equal(one, other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(standard_examples),
      cmocka_unit_test(pieces_do_not_matter),
  };
  return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
