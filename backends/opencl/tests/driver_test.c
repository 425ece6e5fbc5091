/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build comes to on a real driver, also on one that tasks do not run on: errors at the same
 * line everywhere, a crash of the compiler, and many processes that build at once.
 *
 * driver_test PLATFORM OPTIONS [DRIVER]
 * driver_test PLATFORM OPTIONS --build FOLDER    builds a good text with the cache in FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/opencl/tests/bare_device.h"

#define BEGIN "__kernel void rdl_launch(__global uint *heap, uint purpose)\n{\n"

static rdl_reason why;
static struct rdl_backend_device device;
static char root[] = "/tmp/raddle-driver-test-XXXXXX";
static char **words; /* of the command line */

static const char good[] = BEGIN "  heap[1] = purpose;\n}\n";

static rdl_status build(const char *text) {
  return bare_device_build(&device, "../some where/user.task.c", text, &why);
}

static void errors_are_at_the_same_line_everywhere(void **state) {
  static const struct {
    const char *text, *place, *word;
  } broken[] = {
      {BEGIN "  heap[0] = undefd;\n}\n", ":3:13: error: ", "undefd"},
      {BEGIN "  heap[0] = purpose\n}\n", ":3:20: error: ", "';'"},
      {"#define SET(p, v) ((p)[0] = (v))\n" BEGIN "  SET(heap,\n      undefd);\n}\n", ":",
       "undefd"},
      {BEGIN "  heap[0] = undefd(purpose);\n}\n", ":3:13: error: ", "undefd"},
      {BEGIN "  uint2 v;\n\n  v.z = 1;\n  heap[0] = v.x;\n}\n", ":5:4: error: ", "uint2"},
      {BEGIN "  heap[0] = 1;\n", ":3:15: error: ", "'}'"},
      {"#include \"no_such.h\"\n" BEGIN "}\n", ":1:10: ", "no_such.h"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    char place[64];
    (void)snprintf(place, sizeof place, "../some where/user.task.c%s", broken[i].place);
    assert_int_equal(build(broken[i].text), RDL_COMPILE);
    if (strncmp(why.text, place, strlen(place)) != 0 || !strstr(why.text, broken[i].word))
      fail_msg("error %zu is not at %s:\n%s", i, place, why.text);
  }
}

/* rusticl 22.3 ends its process over this, Oclgrind 21.10 crashes, and PoCL takes it. */
static void what_compilers_die_of_is_an_error(void **state) {
  static const char deadly[] = BEGIN "  heap[0] = (uint)(ulong)__builtin_readcyclecounter();\n"
                                     "  __asm__ volatile(\"pause\");\n}\n";
  rdl_status status = build(deadly);
  (void)state;
  if (status != RDL_OK) assert_int_equal(status, RDL_COMPILE);
  printf("  %s\n", status == RDL_OK ? "it builds" : why.text);
  assert_true(status == RDL_OK || why.text[0]);
  if (build(good) != RDL_OK) fail_msg("%s", why.text);
}

/* ---- many at once ---- */

static pid_t start_builder(const char *folder) {
  pid_t child = fork();
  if (child == 0) {
    static char self[] = "/proc/self/exe", option[] = "--build";
    char path[64];
    char *command[] = {self, words[1], words[2], option, path, NULL};
    (void)snprintf(path, sizeof path, "%s", folder);
    (void)execv(self, command);
    _exit(9);
  }
  return child;
}

/* Entries of the cache, and no file that was left half written. */
static unsigned count_entries(const char *folder) {
  unsigned count = 0;
  DIR *list = opendir(folder);
  assert_non_null(list);
  for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    assert_non_null(strstr(entry->d_name, ".bin"));
    count++;
  }
  (void)closedir(list);
  return count;
}

/* PoCL's own cache is empty, too. All of them together may take long where other work is done. */
static void many_processes_share_one_cache(void **state) {
  enum { PROCESSES = 16 };
  pid_t builders[PROCESSES];
  char folder[64], pocl[64];
  int status;
  (void)state;
  (void)snprintf(folder, sizeof folder, "%s/shared", root);
  (void)snprintf(pocl, sizeof pocl, "%s/pocl", root);
  assert_int_equal(setenv("POCL_CACHE_DIR", pocl, 1), 0);
  assert_int_equal(setenv("RADDLE_BUILD_TIMEOUT", "500", 1), 0);
  for (int i = 0; i < PROCESSES; i++)
    builders[i] = start_builder(folder);
  for (int i = 0; i < PROCESSES; i++) {
    assert_int_equal(waitpid(builders[i], &status, 0), builders[i]);
    assert_int_equal(status, 0);
  }
  assert_int_equal(count_entries(folder), 1);
  assert_int_equal(setenv("RADDLE_BUILD_HELPER", "/no/such/helper", 1), 0);
  assert_int_equal(waitpid(start_builder(folder), &status, 0) > 0 ? status : -1, 0);
  assert_int_equal(unsetenv("RADDLE_BUILD_HELPER"), 0);
}

static int build_good(const char *folder) {
  if (!bare_device_open(words[1], words[2], folder, &device, &why)) return 1;
  if (build(good) == RDL_OK) return 0;
  printf("process %ld: %s\n", (long)getpid(), why.text);
  return 1;
}

/* ---- set up ---- */

static void remove_root(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command); /* NOLINT(bugprone-command-processor): a test's own folder */
}

/* rusticl shows its devices when it is told which, Oclgrind is in no list of drivers. */
static void choose_driver(const char *driver) {
  (void)setenv("RUSTICL_ENABLE", "llvmpipe", 1);
  if (driver && *driver) (void)setenv("OCL_ICD_VENDORS", driver, 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_at_the_same_line_everywhere),
      cmocka_unit_test(what_compilers_die_of_is_an_error),
      cmocka_unit_test(many_processes_share_one_cache),
  };
  int failed;
  words = argv;
  if (argc == 5 && strcmp(argv[3], "--build") == 0) return build_good(argv[4]);
  if (argc < 3 || argc > 4 || !mkdtemp(root)) return 1;
  choose_driver(argv[3]);
  if (!bare_device_open(argv[1], argv[2], root, &device, &why)) {
    printf("no device of %s: %s\n", argv[1], why.text);
    remove_root();
    return 77;
  }
  failed = cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
  remove_root();
  return failed;
}
