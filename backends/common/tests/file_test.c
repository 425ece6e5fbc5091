/* SPDX-License-Identifier: Apache-2.0 */
/* Files of every length come whole, and what cannot be read says why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/file.h"

static void check_length(size_t length) {
  char path[] = "/tmp/raddle-file-XXXXXX";
  int descriptor = mkstemp(path);
  char *wanted = malloc(length + 1u), *bytes;
  size_t size = 1, k;
  assert_true(descriptor >= 0 && wanted);
  for (k = 0; k < length; k++)
    wanted[k] = (char)(k % 251u);
  wanted[length] = '\0';
  assert_int_equal(write(descriptor, wanted, length), length);
  close(descriptor);
  bytes = rdl__file_read(path, &size);
  unlink(path);
  assert_non_null(bytes);
  assert_int_equal(size, length);
  assert_memory_equal(bytes, wanted, length + 1u);
  free(bytes);
  free(wanted);
}

static void whole(void **state) {
  static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 300000};
  (void)state;
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
    check_length(lengths[k]);
}

static void refused(void **state) {
  size_t size;
  (void)state;
  errno = 0;
  assert_null(rdl__file_read("/no/such/file", &size));
  assert_int_equal(errno, ENOENT);
  assert_null(rdl__file_read("/tmp", &size));
  assert_int_equal(errno, EISDIR);
}

/* A text without the folder says nothing to who stands in another one than they think. */
static void told(void **state) {
  char folder[4096];
  rdl_reason why;
  (void)state;
  assert_non_null(getcwd(folder, sizeof folder));
  assert_int_equal(rdl__file_unread("no/such.task.c", ENOENT, &why), RDL_NOT_FOUND);
  assert_ptr_equal(strstr(why.text, "cannot read no/such.task.c: No such file"), why.text);
  assert_non_null(strstr(why.text, "the current directory, which is "));
  assert_non_null(strstr(why.text, folder));
  assert_int_equal(rdl__file_unread("/no/such", ENOENT, &why), RDL_NOT_FOUND);
  assert_null(strstr(why.text, "directory, "));
  assert_int_equal(rdl__file_unread("here", EACCES, &why), RDL_IO);
  assert_null(strstr(why.text, "directory, "));
  assert_int_equal(rdl__file_unread("here", ENOMEM, &why), RDL_OUT_OF_MEMORY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole),
      cmocka_unit_test(refused),
      cmocka_unit_test(told),
  };
  return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
