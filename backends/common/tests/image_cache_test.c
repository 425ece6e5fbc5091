/* SPDX-License-Identifier: Apache-2.0 */
/* What a build takes from the cache instead of compiling, on the host and on PoCL. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/tests/image_cache_test.h"

static const rdl_backend *backend;
static rdl_reason why;
static char root[] = "/tmp/raddle-image-cache-test-XXXXXX";

static const char good[] = "#if defined(__OPENCL_C_VERSION__)\n"
                           "__kernel void rdl_launch(__global uint *heap, uint purpose)\n"
                           "#else\n"
                           "void rdl_launch(unsigned *heap, unsigned purpose)\n"
                           "#endif\n"
                           "{ heap[0] = purpose; }\n";
static const char bad[] = "this is not C\n";

static rdl_backend_device *open_with(const char *cache_dir) {
  rdl_backend_options options = {.workers = 1, .cache_dir = cache_dir};
  rdl_backend_device *device = NULL;
  assert_int_equal(backend->open(0, &options, &device, &why), RDL_OK);
  keep_binaries(device);
  return device;
}

static rdl_status build(rdl_backend_device *device, const char *text, const char *hash,
                        rdl_backend_image **out_image) {
  rdl_text_piece piece = {.name = "t.c", .text = text, .length = strlen(text), .first_line = 1};
  rdl_image_text image = {.pieces = &piece, .count = 1, .hash = hash};
  *out_image = NULL;
  return backend->build(device, &image, out_image, &why);
}

/* A text is known by its hash alone. So a broken text under the hash of a good one builds only when
 * it is not compiled. */
static rdl_status build_bad(const char *cache_dir, const char *hash) {
  rdl_backend_device *device = open_with(cache_dir);
  rdl_backend_image *image;
  rdl_status status = build(device, bad, hash, &image);
  if (status == RDL_OK) {
    unsigned *heap;
    void *memory = NULL;
    assert_int_equal(backend->allocate(device, 64, &memory, &why), RDL_OK);
    heap = memory;
    assert_int_equal(backend->launch(device, image, heap, 42, 1, &why), RDL_OK);
    assert_int_equal(backend->wait(device, UINT64_MAX, &why), RDL_OK);
    assert_int_equal(*heap, 42);
    backend->release(device, memory);
  }
  backend->discard(device, image);
  backend->close(device);
  return status;
}

static void build_good(const char *hash) {
  rdl_backend_device *device = open_with(root);
  rdl_backend_image *image;
  assert_int_equal(build(device, good, hash, &image), RDL_OK);
  backend->discard(device, image);
  backend->close(device);
}

static void the_cache_answers(void **state) {
  (void)state;
  assert_int_equal(build_bad(root, "1"), RDL_COMPILE);
  build_good("1");
  assert_int_equal(build_bad(root, "1"), RDL_OK);
}

static void another_hash_or_no_cache_does_not(void **state) {
  (void)state;
  build_good("2");
  assert_int_equal(build_bad(root, "3"), RDL_COMPILE);
  assert_int_equal(build_bad("", "2"), RDL_COMPILE);
}

static void an_entry_with_a_wrong_byte_is_compiled_again(void **state) {
  char command[256];
  (void)state;
  build_good("4");
  (void)snprintf(command, sizeof command,
                 "for f in %s/*.bin; do printf '\\001' | dd of=$f bs=1 seek=100 conv=notrunc "
                 "status=none; done",
                 root);
  assert_int_equal(system(command),
                   0); /* NOLINT(bugprone-command-processor): a test's own folder */
  assert_int_equal(build_bad(root, "4"), RDL_COMPILE);
  build_good("4");
  assert_int_equal(build_bad(root, "4"), RDL_OK);
}

static void a_folder_that_others_write_to_is_not_used(void **state) {
  (void)state;
  build_good("5");
  assert_int_equal(chmod(root, 0777), 0);
  assert_int_equal(build_bad(root, "5"), RDL_COMPILE);
  assert_int_equal(chmod(root, 0700), 0);
  assert_int_equal(build_bad(root, "5"), RDL_OK);
}

static void remove_root(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command); /* NOLINT(bugprone-command-processor): a test's own folder */
}

static int run_group(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cache_answers),
      cmocka_unit_test(another_hash_or_no_cache_does_not),
      cmocka_unit_test(an_entry_with_a_wrong_byte_is_compiled_again),
      cmocka_unit_test(a_folder_that_others_write_to_is_not_used),
  };
  return cmocka_run_group_tests_name(backend->name, tests, NULL, NULL);
}

int main(int argc, char **argv) {
  rdl_device_info info;
  size_t count = 0;
  int failed;
  for (unsigned i = 0; argc > 1 && i < rdl__backend_count; i++)
    if (strcmp(rdl__backends[i]->name, argv[1]) == 0) backend = rdl__backends[i];
  if (!backend) return 1;
  if (backend->enumerate(&info, 1, &count, &why) != RDL_OK) return 1;
  if (!count || !info.usable) {
    printf("no usable device: %s%s\n", why.text, count ? info.missing : "");
    return 77;
  }
  if (!mkdtemp(root)) return 1;
  failed = run_group();
  remove_root();
  return failed;
}
