/* SPDX-License-Identifier: Apache-2.0 */
/* Probes in which a driver crashes, exits or hangs cost their own answers, and no other. The helper
 * named by the argument does so on request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/opencl/identity.h"
#include "backends/opencl/probe.h"

#define MOST_ROWS 128u

static rdl_capability rows[MOST_ROWS];
static size_t row_count;
static rdl_reason why;

static void is(const char *name, const char *value) {
  for (size_t i = 0; i < row_count; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    assert_string_equal(rows[i].value, value);
    return;
  }
  fail_msg("there is no row %s", name);
}

static void ask(size_t index) {
  assert_int_equal(rdl__cl_capabilities(index, "", 0, rows, MOST_ROWS, &row_count, &why), RDL_OK);
}

static size_t pocl_index; /* or of any other driver: they are not what is tested */

static void each_fault_costs_one_answer(void **state) {
  (void)state;
  assert_int_equal(setenv("PROBE_CRASHES", "loop_budget", 1), 0); /* the first */
  assert_int_equal(setenv("PROBE_HANGS", "layout", 1), 0);
  assert_int_equal(setenv("PROBE_EXITS", "addresses_free", 1), 0); /* the last */
  ask(pocl_index);
  is("loop_budget", "crashed (SIGSEGV)");
  is("layout", "did not end in 20 s");
  is("addresses_free", "crashed (exit status 8)");
  is("atomics32", "exact");
  is("word_copy", "right");
  is("addresses", "stable");
}

static void a_device_with_faults_has_abilities(void **state) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  const rdl_cl *cl = rdl__cl_symbols(&why);
  rdl_cl_abilities found;
  (void)state;
  assert_int_equal(setenv("PROBE_CRASHES", "clock", 1), 0);
  assert_int_equal(unsetenv("PROBE_HANGS"), 0);
  assert_int_equal(setenv("PROBE_EXITS", "resident_groups", 1), 0);
  assert_true(rdl__cl_list(cl, devices) > pocl_index);
  assert_int_equal(rdl__cl_abilities(cl, &devices[pocl_index], "", 0, &found, &why), RDL_OK);
  assert_int_equal(found.clock, RDL_CL_CLOCK_NONE);
  assert_int_equal(found.resident_groups, 1);
  assert_int_equal(found.atomics32, 1);
  assert_int_equal(found.word_copies, 1);
}

static int find_pocl(void) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  const rdl_cl *cl = rdl__cl_symbols(&why);
  size_t count = cl ? rdl__cl_list(cl, devices) : 0;
  for (pocl_index = 0; pocl_index < count; pocl_index++) {
    rdl_cl_identity identity;
    rdl__cl_identify(cl, devices[pocl_index].id, &identity);
    if (strstr(identity.platform, "Portable Computing Language")) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault_costs_one_answer),
      cmocka_unit_test(a_device_with_faults_has_abilities),
  };
  if (argc != 2 || setenv("RADDLE_BUILD_HELPER", argv[1], 1) != 0) return 2;
  if (!find_pocl()) {
    printf("skipped: PoCL is not installed\n");
    return 77;
  }
  return cmocka_run_group_tests_name("probe_fault", tests, NULL, NULL);
}
