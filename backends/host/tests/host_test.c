/* SPDX-License-Identifier: Apache-2.0 */
/* What only the host does: it looks for a compiler, runs it, and takes tasks compiled ahead. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/host/device.h"

static const rdl_backend *const host = &rdl__backend_host;
static rdl_reason why;

static const char trivial[] = "void rdl_launch(unsigned char *heap, unsigned purpose);\n"
                              "void rdl_launch(unsigned char *heap, unsigned purpose)\n"
                              "{ heap[purpose] = 1; }\n";

static rdl_backend_device *open_host(uint32_t workers) {
  rdl_backend_options options = {.workers = workers, .cache_dir = ""};
  rdl_backend_device *device = NULL;
  assert_int_equal(host->open(0, &options, &device, &why), RDL_OK);
  return device;
}

static rdl_status build_text(rdl_backend_device *device, const char *text,
                             rdl_backend_image **out_image) {
  rdl_text_piece piece = {.name = "t.c", .text = text, .length = strlen(text), .first_line = 1};
  rdl_image_text image = {.pieces = &piece, .count = 1, .hash = "x"};
  return host->build(device, &image, out_image, &why);
}

/* Builds the trivial text with a new device under the present environment. */
static rdl_status build_trivial(void) {
  rdl_backend_device *device = open_host(1);
  rdl_backend_image *image = NULL;
  rdl_status status = build_text(device, trivial, &image);
  host->discard(device, image);
  host->close(device);
  return status;
}

static void set_variable(const char *name, const char *value) {
  assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void no_compiler_says_what_to_install(void **state) {
  const char *present = getenv("PATH");
  char *path = strdup(present ? present : "/usr/bin:/bin");
  rdl_status status;
  (void)state;
  set_variable("RADDLE_CC", NULL);
  set_variable("CC", NULL);
  set_variable("PATH", "/nowhere");
  status = build_trivial();
  set_variable("PATH", path);
  free(path);
  assert_int_equal(status, RDL_UNAVAILABLE);
  assert_non_null(strstr(why.text, "apt install gcc"));
}

static void a_named_compiler_that_is_missing(void **state) {
  (void)state;
  set_variable("RADDLE_CC", "no-such-compiler -m64");
  assert_int_equal(build_trivial(), RDL_UNAVAILABLE);
  assert_non_null(strstr(why.text, "RADDLE_CC=no-such-compiler"));
  set_variable("RADDLE_CC", NULL);
  set_variable("CC", "/usr/no/such/cc");
  assert_int_equal(build_trivial(), RDL_UNAVAILABLE);
  assert_non_null(strstr(why.text, "CC=/usr/no/such/cc"));
  set_variable("CC", NULL);
}

static void a_compiler_with_options(void **state) {
  (void)state;
  set_variable("RADDLE_CC", "cc -O0 -DHALF=1");
  assert_int_equal(build_trivial(), RDL_OK);
  set_variable("RADDLE_CC", NULL);
}

static void options_of_the_user_come_last(void **state) {
  rdl_backend_device *device;
  rdl_backend_image *image = NULL;
  (void)state;
  set_variable("RADDLE_CFLAGS", "-DWORD=rdl_launch  -O0");
  device = open_host(1);
  assert_int_equal(
      build_text(device, "void WORD(unsigned char *h, unsigned p) { h[p] = 1; }\n", &image),
      RDL_OK);
  host->discard(device, image);
  host->close(device);
  set_variable("RADDLE_CFLAGS", NULL);
}

static void a_compiler_that_says_nothing(void **state) {
  rdl_backend_device *device;
  rdl_backend_image *image = NULL;
  (void)state;
  set_variable("RADDLE_CC", "/bin/false --odd");
  device = open_host(1);
  set_variable("RADDLE_CC", NULL);
  assert_int_equal(build_text(device, "int other;\n", &image), RDL_COMPILE);
  assert_non_null(strstr(why.text, "exit status 1"));
  assert_non_null(strstr(why.text, ": /bin/false --odd -std=gnu11"));
  assert_null(image);
  host->close(device);
}

static void text_without_its_entry(void **state) {
  rdl_backend_device *device = open_host(1);
  rdl_backend_image *image = NULL;
  (void)state;
  assert_int_equal(build_text(device, "int other;\n", &image), RDL_COMPILE);
  assert_non_null(strstr(why.text, "rdl_launch"));
  assert_int_equal(build_text(device,
                              "extern void absent(void);\n"
                              "void rdl_launch(unsigned char *h, unsigned p)\n"
                              "{ (void)h; (void)p; absent(); }\n",
                              &image),
                   RDL_COMPILE);
  assert_non_null(strstr(why.text, "absent"));
  assert_null(image);
  host->close(device);
}

static void ahead(unsigned char *heap, unsigned purpose) {
  __atomic_fetch_add((unsigned *)(void *)heap, purpose, __ATOMIC_RELAXED);
}

static void tasks_compiled_ahead_need_no_compiler(void **state) {
  rdl_image_text text = {.prebuilt = ahead, .hash = "y"};
  rdl_backend_device *device;
  rdl_backend_image *image = NULL;
  void *heap = NULL;
  (void)state;
  set_variable("RADDLE_CC", "no-such-compiler");
  device = open_host(64);
  set_variable("RADDLE_CC", NULL);
  assert_int_equal(host->build(device, &text, &image, &why), RDL_OK);
  assert_int_equal(host->allocate(device, 64, &heap, &why), RDL_OK);
  for (uint32_t workers = 1; workers <= 64; workers++) {
    assert_int_equal(host->launch(device, image, heap, 3, workers, &why), RDL_OK);
    assert_int_equal(host->wait(device, 10000000000u, &why), RDL_OK);
  }
  assert_int_equal(*(unsigned *)heap, 3 * 64 * 65 / 2);
  host->release(device, heap);
  host->discard(device, image);
  host->close(device);
}

static void workers_are_as_many_as_asked_up_to_64(void **state) {
  static const uint32_t asked[] = {1, 3, 64};
  rdl_backend_facts facts;
  rdl_backend_device *device;
  (void)state;
  for (int i = 0; i < 3; i++) {
    device = open_host(asked[i]);
    host->facts(device, &facts);
    assert_int_equal(facts.max_workers, asked[i]);
    host->close(device);
  }
  device = open_host(1000000);
  host->facts(device, &facts);
  assert_in_range(facts.max_workers, 64, 999999);
  host->close(device);
  device = open_host(0);
  host->facts(device, &facts);
  assert_in_range(facts.max_workers, 1, 999999);
  host->close(device);
}

/* A thread's share of processor time while nothing is launched. */
static void sleeping_workers_burn_nothing(void **state) {
  rdl_backend_device *device = open_host(8);
  struct timespec before, after, pause = {0, 50000000};
  (void)state;
  assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before), 0);
  assert_int_equal(nanosleep(&pause, NULL), 0);
  assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after), 0);
  assert_true((double)(after.tv_sec - before.tv_sec) * 1e9 +
                  (double)(after.tv_nsec - before.tv_nsec) <
              5e6);
  host->close(device);
}

static void a_program_that_ignores_its_children(void **state) {
  (void)state;
  (void)signal(SIGCHLD, SIG_IGN);
  assert_int_equal(build_trivial(), RDL_OK);
  (void)signal(SIGCHLD, SIG_DFL);
}

static void a_build_leaves_nothing_behind(void **state) {
  char folder[] = "/tmp/raddle-host-test-XXXXXX";
  (void)state;
  assert_non_null(mkdtemp(folder));
  set_variable("TMPDIR", folder);
  assert_int_equal(build_trivial(), RDL_OK);
  assert_int_equal(rmdir(folder), 0); /* works on an empty folder only */
  assert_int_equal(build_trivial(), RDL_IO);
  assert_non_null(strstr(why.text, folder));
  set_variable("TMPDIR", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_compiler_says_what_to_install),
      cmocka_unit_test(a_named_compiler_that_is_missing),
      cmocka_unit_test(a_compiler_with_options),
      cmocka_unit_test(options_of_the_user_come_last),
      cmocka_unit_test(a_compiler_that_says_nothing),
      cmocka_unit_test(text_without_its_entry),
      cmocka_unit_test(tasks_compiled_ahead_need_no_compiler),
      cmocka_unit_test(workers_are_as_many_as_asked_up_to_64),
      cmocka_unit_test(sleeping_workers_burn_nothing),
      cmocka_unit_test(a_program_that_ignores_its_children),
      cmocka_unit_test(a_build_leaves_nothing_behind),
  };
  return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
