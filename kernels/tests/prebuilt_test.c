/* SPDX-License-Identifier: Apache-2.0 */
/* Images that were compiled ahead: two in one program, each describes its own tasks. */
#include <raddle/prebuilt.h>
#include <string.h>

#include "api/tests/unit.h"
#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

#define INFO_AT  65536u
#define TASKS_AT 66560u

extern const rdl_prebuilt rdl_prebuilt_prebuilt_fib;
extern const rdl_prebuilt rdl_prebuilt_prebuilt_words;
extern const rdl_prebuilt rdl_prebuilt_prebuilt_lanes;

static union {
  unsigned char bytes[131072];
  rdl_control control;
} heap;

static void describe(const rdl_prebuilt *prebuilt, uint32_t tasks) {
  rdl_image_info info;
  memset(&heap, 0xff, sizeof heap);
  heap.control.image_info = INFO_AT;
  heap.control.task_infos = TASKS_AT;
  prebuilt->launch(heap.bytes, RDL_LAUNCH_DESCRIBE);
  memcpy(&info, heap.bytes + INFO_AT, sizeof info);
  assert_int_equal(info.abi_version, RDL_ABI_VERSION);
  assert_int_equal(info.control_size, sizeof(rdl_control));
  assert_int_equal(info.tasks, tasks);
}

static void task_is(uint32_t number, uint32_t args, uint32_t state, uint32_t result,
                    uint32_t spawns, uint32_t resume_points) {
  rdl_task_info info;
  memcpy(&info, heap.bytes + TASKS_AT + number * sizeof info, sizeof info);
  assert_int_equal(info.args_size, args);
  assert_int_equal(info.state_size, state);
  assert_int_equal(info.result_size, result);
  assert_int_equal(info.spawns, spawns);
  assert_int_equal(info.resume_points, resume_points);
}

static void describes_fib(void **state) {
  (void)state;
  describe(&rdl_prebuilt_prebuilt_fib, 4);
  task_is(2, 16, 0, 0, 0, 2);
  task_is(3, 4, 16, 4, 2, 2);
}

static void describes_words(void **state) {
  (void)state;
  describe(&rdl_prebuilt_prebuilt_words, 7);
  task_is(3, 24, 440, 256, 6, 20);
  task_is(4, 0, 0, 256, 0, 0);
  task_is(5, 24, 0, 4, 2, 3);
  task_is(6, 4, 16, 4, 2, 2);
}

static void lanes_are(uint32_t number, uint32_t width, uint32_t lane_state) {
  rdl_task_info info;
  memcpy(&info, heap.bytes + TASKS_AT + number * sizeof info, sizeof info);
  assert_int_equal(info.width, width);
  assert_int_equal(info.lane_state_size, lane_state);
}

/* The same tasks for workers of four lanes: a spawn for each lane wants four times the room. */
static void describes_lanes(void **state) {
  (void)state;
  describe(&rdl_prebuilt_prebuilt_words, 7);
  lanes_are(4, 1, 0);
  lanes_are(5, 1, 16);
  describe(&rdl_prebuilt_prebuilt_lanes, 7);
  task_is(3, 24, 440, 256, 6, 20);
  lanes_are(3, 4, 0);
  task_is(5, 24, 0, 4, 8, 3);
  lanes_are(5, 4, 16);
}

static void hashes_differ(void **state) {
  (void)state;
  assert_int_equal(strlen(rdl_prebuilt_prebuilt_fib.hash), 64);
  assert_string_equal(rdl_prebuilt_prebuilt_fib.name, "prebuilt_fib");
  assert_string_equal(rdl_prebuilt_prebuilt_words.files, "words.task.c, fib.task.c");
  assert_string_not_equal(rdl_prebuilt_prebuilt_fib.hash, rdl_prebuilt_prebuilt_words.hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(describes_fib),
      cmocka_unit_test(describes_words),
      cmocka_unit_test(describes_lanes),
      cmocka_unit_test(hashes_differ),
  };
  return cmocka_run_group_tests_name("prebuilt", tests, NULL, NULL);
}
