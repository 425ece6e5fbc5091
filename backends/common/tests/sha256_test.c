/* SPDX-License-Identifier: Apache-2.0 */
/* The published examples of FIPS 180-4, and texts cut into parts at every place. */
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/sha256.h"

static void check(const char *text, size_t repeats, const char *wanted) {
  unsigned char digest[RDL_SHA256_SIZE];
  char hex[RDL_SHA256_HEX];
  rdl_sha256 hash;
  rdl__sha256_init(&hash);
  for (size_t i = 0; i < repeats; i++)
    rdl__sha256_add(&hash, text, strlen(text));
  rdl__sha256_end(&hash, digest);
  rdl__sha256_hex(digest, hex);
  assert_string_equal(hex, wanted);
}

static void published_examples(void **state) {
  (void)state;
  check("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  check("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void parts_make_no_difference(void **state) {
  unsigned char bytes[200], whole[RDL_SHA256_SIZE], parts[RDL_SHA256_SIZE];
  rdl_sha256 hash;
  (void)state;
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)(i * 7);
  for (size_t size = 0; size <= sizeof bytes; size++) {
    rdl__sha256_init(&hash);
    rdl__sha256_add(&hash, bytes, size);
    rdl__sha256_end(&hash, whole);
    for (size_t at = 0; at <= size; at++) {
      rdl__sha256_init(&hash);
      rdl__sha256_add(&hash, bytes, at);
      rdl__sha256_add(&hash, bytes + at, size - at);
      rdl__sha256_end(&hash, parts);
      assert_memory_equal(parts, whole, sizeof whole);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_examples),
      cmocka_unit_test(parts_make_no_difference),
  };
  return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
