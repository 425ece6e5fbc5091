/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes on a real driver come out as is known of it.
 *
 * probe_test PLATFORM [NAME=VALUE ...]: the first device of a platform whose name holds PLATFORM,
 * with these variables in the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/clock.h"
#include "backends/opencl/identity.h"
#include "backends/opencl/probe.h"

#define MOST_ROWS 128u

static const char *platform;
static const rdl_cl *cl;
static rdl_cl_device device;
static size_t index_of_device;
static rdl_reason why;
static char folder[] = "/tmp/raddle-probe-test-XXXXXX";
static rdl_capability rows[MOST_ROWS];
static size_t row_count;

static const char *value_of(const char *name) {
  for (size_t i = 0; i < row_count; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].value;
  return "";
}

static void is(const char *name, const char *word) {
  const char *value = value_of(name);
  size_t length = strlen(word);
  if (strncmp(value, word, length) != 0 || (value[length] && value[length] != ' '))
    fail_msg("%s is '%s', not '%s'", name, value, word);
}

static void ask(uint32_t flags) {
  rdl_status status =
      rdl__cl_capabilities(index_of_device, folder, flags, rows, MOST_ROWS, &row_count, &why);
  if (status != RDL_OK) fail_msg("%s", why.text);
  assert_in_range(row_count, 20, 64);
}

static rdl_cl_abilities abilities(void) {
  rdl_cl_abilities found;
  if (rdl__cl_abilities(cl, &device, folder, 0, &found, &why) != RDL_OK) fail_msg("%s", why.text);
  return found;
}

static void print_rows(void) {
  for (size_t i = 0; i < row_count; i++)
    printf("  %-8s %-32s %s\n", rows[i].probed ? "probed" : "claimed", rows[i].name, rows[i].value);
}

/* ---- what is known ---- */

static void everywhere(void) {
  is("atomics32", "exact");
  is("layout", "same");
  is("word_copy", "right");
  is("resume_points", strcmp(platform, "rusticl") == 0 ? "wrong" : "right");
  is("addresses", "stable");
  assert_int_equal(abilities().atomics32, 1);
  assert_true(abilities().max_allocation >= (uint64_t)64 << 20);
}

static void on_pocl(void) {
  const char *threads = getenv("POCL_MAX_PTHREAD_COUNT");
  rdl_cl_abilities a = abilities();
  is("usable", "yes");
  is("order", "c11");
  is("shared", "svm");
  is("loop_budget", "none");
  is("clock", "cycles");
  is("switch_cases", "320");
  is("nesting", "320");
  is("atomics64", "exact");
  is("struct_copy", "right");
  is("barrier_lanes", "1");
  assert_string_equal(value_of("barrier_lanes"), "1 7 8 32 64");
  is("resident_groups", threads ? threads : value_of("compute_units"));
  assert_int_equal(a.order, RDL_CL_ORDER_C11);
  assert_int_equal(a.shared, RDL_CL_SHARED_SVM);
  assert_string_equal(a.options, "-cl-std=CL3.0 -DRDL_CLOCK=1");
#if defined(__x86_64__)
  assert_in_range(a.clock_hz, rdl__counter_hz() / 100 * 95, rdl__counter_hz() / 100 * 105);
#endif
}

/* llvmpipe's limits: 65,535 turns and 80 levels. */
static void on_rusticl(void) {
  rdl_cl_abilities a = abilities();
  assert_int_equal(a.loop_budget, 65535);
  assert_int_equal(a.switch_cases, 79);
  assert_int_equal(a.nesting, 79);
  assert_int_equal(a.shared, RDL_CL_SHARED_NONE);
  assert_int_equal(a.clock, RDL_CL_CLOCK_NONE);
  assert_int_equal(a.atomics64, 0);
  assert_int_equal(a.struct_copies, 0);
  assert_true(a.lanes & 1u);
  assert_in_range(a.resident_groups, 1, 8);
}

static void on_oclgrind(void) {
  rdl_cl_abilities a = abilities();
  is("order", "mem_fence");
  is("shared", "none");
  is("loop_budget", "none");
  assert_non_null(strstr(value_of("opencl_version"), "1.2"));
  assert_int_equal(a.order, RDL_CL_ORDER_FENCE);
  assert_int_equal(a.shared, RDL_CL_SHARED_NONE);
  assert_int_equal(a.clock, RDL_CL_CLOCK_NONE);
}

static void probes_find_what_is_known(void **state) {
  uint64_t start = rdl__now_ns();
  (void)state;
  ask(0);
  print_message("probing took %.1f s\n", (double)(rdl__now_ns() - start) / 1e9);
  print_rows();
  everywhere();
  if (strcmp(platform, "Portable Computing Language") == 0)
    on_pocl();
  else if (strcmp(platform, "rusticl") == 0)
    on_rusticl();
  else if (strcmp(platform, "Oclgrind") == 0)
    on_oclgrind();
}

/* ---- cache ---- */

static void the_cache_has_the_same_rows(void **state) {
  static rdl_capability before[MOST_ROWS];
  size_t count = row_count;
  uint64_t start, took = UINT64_MAX;
  (void)state;
  memcpy(before, rows, sizeof rows);
  for (int i = 0; i < 20; i++) {
    start = rdl__now_ns();
    ask(0);
    if (rdl__now_ns() - start < took) took = rdl__now_ns() - start;
  }
  print_message("from the cache: %.3f ms\n", (double)took / 1e6);
  assert_int_equal(row_count, count);
  assert_memory_equal(before, rows, count * sizeof rows[0]);
  assert_in_range(took, 0, 100000000u);
}

/* Without the helper what is cached is still there, and nothing can be tried again. */
static void without_the_helper(void **state) {
  rdl_cl_abilities found;
  (void)state;
  assert_int_equal(setenv("RADDLE_BUILD_HELPER", "/nowhere/helper", 1), 0);
  ask(0);
  assert_string_equal(value_of("probes"), "");
  assert_int_equal(rdl__cl_abilities(cl, &device, folder, RDL_REPROBE, &found, &why),
                   RDL_UNAVAILABLE);
  assert_non_null(strstr(why.text, "/nowhere/helper"));
  assert_int_equal(found.order, RDL_CL_ORDER_NONE);
  assert_int_equal(rdl__cl_abilities(cl, &device, "", 0, &found, &why), RDL_OK); /* remembered */
  row_count = 0;
  assert_int_equal(
      rdl__cl_capabilities(index_of_device, folder, RDL_REPROBE, rows, MOST_ROWS, &row_count, &why),
      RDL_OK);
  is("probes", "none");
  is("order", "");
  assert_true(value_of("opencl_version")[0]);
  ask(0);
  is("atomics32", "exact");
}

static void only_devices_that_are_there(void **state) {
  size_t count = 5;
  (void)state;
  assert_int_equal(rdl__cl_capabilities(99, folder, 0, NULL, 0, &count, &why), RDL_NOT_FOUND);
  assert_int_equal(count, 0);
  assert_non_null(strstr(why.text, "99"));
}

/* ---- main ---- */

static int find_device(void) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  size_t count;
  cl = rdl__cl_symbols(&why);
  count = cl ? rdl__cl_list(cl, devices) : 0;
  for (size_t i = 0; i < count; i++) {
    rdl_cl_identity identity;
    rdl__cl_identify(cl, devices[i].id, &identity);
    if (!strstr(identity.platform, platform)) continue;
    device = devices[i];
    index_of_device = i;
    return 1;
  }
  return 0;
}

static void remove_folder(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) /* NOLINT(bugprone-command-processor): a test's own folder */
    print_error("%s failed\n", command);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probes_find_what_is_known),
      cmocka_unit_test(the_cache_has_the_same_rows),
      cmocka_unit_test(only_devices_that_are_there),
      cmocka_unit_test(without_the_helper),
  };
  int failed;
  if (argc < 2) return 2;
  platform = argv[1];
  for (int i = 2; i < argc; i++)
    if (putenv(argv[i]) != 0) return 2;
  if (!find_device()) {
    printf("skipped: there is no OpenCL device of a platform '%s' here\n", platform);
    return 77;
  }
  if (!mkdtemp(folder)) return 2;
  failed = cmocka_run_group_tests_name("probe", tests, NULL, NULL);
  remove_folder();
  return failed;
}
