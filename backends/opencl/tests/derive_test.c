/* SPDX-License-Identifier: Apache-2.0 */
/* What the backend makes of the rows that probes leave behind. */
#include <string.h>

#include "api/tests/unit.h"
#include "backends/opencl/probe_derive.h"

#define CLAIMED ((uint64_t)8 << 30)

static rdl_cl_abilities derive(const char *lines) {
  rdl_report report = {.count = 0};
  rdl_cl_abilities abilities;
  rdl__report_read(&report, lines, strlen(lines));
  rdl__derive(&report, CLAIMED, &abilities);
  return abilities;
}

/* PoCL 3.1 with two threads. */
static void a_device_that_does_all(void **state) {
  rdl_cl_abilities a = derive("loop_budget\tnone\n"
                              "order_c11_cl30\tright (-cl-std=CL3.0)\n"
                              "atomics32\texact\nresident_groups\t2\nresident_groups_32\t2\n"
                              "shared\tsvm\nlayout\tsame\nword_copy\tright\n"
                              "barrier_lanes\t1 7 8 32 64\nswitch_cases\t320\nnesting\t320\n"
                              "resume_points\tright\n"
                              "addresses\tstable\nmax_allocation\t5 (more was not tried)\n"
                              "clock\tcycles\nclock_hz\t2600000000\natomics64\texact\n"
                              "struct_copy\tright\naddresses_free\tusable\n");
  (void)state;
  assert_int_equal(a.order, RDL_CL_ORDER_C11);
  assert_string_equal(a.options, "-cl-std=CL3.0 -DRDL_CLOCK=1");
  assert_int_equal(a.shared, RDL_CL_SHARED_SVM);
  assert_int_equal(a.resident_groups, 2);
  assert_int_equal(a.resident_groups_32, 2);
  assert_int_equal(a.loop_budget, 0);
  assert_int_equal(a.switch_cases, 320);
  assert_int_equal(a.nesting, 320);
  assert_int_equal(a.resume_points, 1);
  assert_int_equal(a.atomics32, 1);
  assert_int_equal(a.atomics64, 1);
  assert_int_equal(a.clock, RDL_CL_CLOCK_CYCLES);
  assert_int_equal(a.clock_hz, 2600000000u);
  assert_int_equal(a.addresses, RDL_CL_ADDRESS_FREE);
  assert_int_equal(a.max_allocation, CLAIMED);
  assert_int_equal(a.lanes, 0x1f);
  assert_int_equal(a.same_layout, 1);
  assert_int_equal(a.struct_copies, 1);
  assert_int_equal(a.word_copies, 1);
}

/* rusticl 22.3: its compiler dies twice, and a loop budget leaves nothing to stay resident on. */
static void a_device_with_limits(void **state) {
  rdl_cl_abilities a = derive("loop_budget\t65533\norder_c11_cl30\tcrashed (SIGSEGV)\n"
                              "order_c11_cl20\tnone (-cl-std=CL2.0 does not compile)\n"
                              "order_mem_fence\tright (-cl-std=CL1.2)\n"
                              "resident_groups\t2\nresident_groups_32\t1\nshared\tmapped\n"
                              "barrier_lanes\t8 64\nswitch_cases\t79\nnesting\t79\n"
                              "resume_points\twrong\n"
                              "addresses\tstable\naddresses_free\tcrashed (SIGSEGV)\n"
                              "max_allocation\t1048576 (twice as much was refused)\n"
                              "clock\tcrashed (exit status 8)\nclock_hz\t5\n"
                              "atomics64\tnone (they do not compile)\n"
                              "struct_copy\tdid not end in 60 s\n");
  (void)state;
  assert_int_equal(a.order, RDL_CL_ORDER_FENCE);
  assert_string_equal(a.options, "-cl-std=CL1.2");
  assert_int_equal(a.shared, RDL_CL_SHARED_NONE);
  assert_int_equal(a.loop_budget, 65533);
  assert_int_equal(a.switch_cases, 79);
  assert_int_equal(a.resume_points, 0);
  assert_int_equal(a.lanes, 1u << 2 | 1u << 4);
  assert_int_equal(a.addresses, RDL_CL_ADDRESS_BOUND);
  assert_int_equal(a.max_allocation, 1048576);
  assert_int_equal(a.clock, RDL_CL_CLOCK_NONE);
  assert_int_equal(a.clock_hz, 0);
  assert_int_equal(a.atomics64, 0);
  assert_int_equal(a.struct_copies, 0);
  assert_int_equal(a.word_copies, 0);
}

static void nvidia(void **state) {
  rdl_cl_abilities a = derive("loop_budget\tnone\norder_c11_cl30\twrong (store buffer: 3 of 4096)\n"
                              "order_ptx\tright (-cl-std=CL1.2 -DRDL_PTX)\n"
                              "shared\tnone (mapped: 0 of 16 numbers came back)\n"
                              "clock\ttimer\nclock_hz\t999993655\nresident_groups\t4224\n");
  (void)state;
  assert_int_equal(a.order, RDL_CL_ORDER_PTX);
  assert_string_equal(a.options, "-cl-std=CL1.2 -DRDL_PTX -DRDL_CLOCK=2");
  assert_int_equal(a.shared, RDL_CL_SHARED_NONE);
  assert_int_equal(a.clock, RDL_CL_CLOCK_TIMER);
  assert_int_equal(a.resident_groups, 4224);
}

/* Nothing could be run: everything promises least. */
static void no_rows(void **state) {
  rdl_cl_abilities a = derive("");
  (void)state;
  assert_int_equal(a.order, RDL_CL_ORDER_NONE);
  assert_string_equal(a.options, "");
  assert_int_equal(a.shared, RDL_CL_SHARED_NONE);
  assert_int_equal(a.resident_groups, 1);
  assert_int_equal(a.resident_groups_32, 1);
  assert_int_equal(a.loop_budget, 65535);
  assert_int_equal(a.clock, RDL_CL_CLOCK_NONE);
  assert_int_equal(a.addresses, RDL_CL_ADDRESS_NONE);
  assert_int_equal(a.max_allocation, 128u << 20);
  assert_int_equal(a.switch_cases + a.nesting + a.atomics32 + a.atomics64 + a.lanes, 0);
  assert_int_equal(a.resume_points, 0);
  assert_int_equal(a.same_layout + a.struct_copies + a.word_copies, 0);
}

static void the_strongest_order_counts(void **state) {
  (void)state;
  assert_int_equal(derive("order_mem_fence\tright\norder_c11_cl20\tright\n").order,
                   RDL_CL_ORDER_C11);
  assert_string_equal(derive("order_mem_fence\tright\norder_c11_cl20\tright\n").options,
                      "-cl-std=CL2.0");
  assert_int_equal(derive("order_mem_fence\trightly\n").order, RDL_CL_ORDER_NONE);
  assert_string_equal(derive("clock\tcycles\nclock_hz\t5\n").options, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_that_does_all),
      cmocka_unit_test(a_device_with_limits),
      cmocka_unit_test(nvidia),
      cmocka_unit_test(no_rows),
      cmocka_unit_test(the_strongest_order_counts),
  };
  return cmocka_run_group_tests_name("derive", tests, NULL, NULL);
}
