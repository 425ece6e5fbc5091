/* SPDX-License-Identifier: Apache-2.0 */
/* Which device a selector names, among made-up ones: this program has a table of backends of its
 * own, in place of the library's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"
#include "backends/common/backends.h"
#include "unit.h"

static const char pocl[] = "Portable Computing Language, OpenCL 3.0 PoCL 3.1  Linux, LLVM 15.0.6";
static const char maker[] = "Maker Corporation, OpenCL 3.0";

typedef struct made_up {
  const char *name;
  const char *platform;
  bool usable;
} made_up;

static const made_up *devices;
static size_t device_count;

/* What the driver calls a device: any address that is its own. */
static void *native_of(size_t device) {
  static char handles[64];
  return &handles[device];
}

static rdl_status enumerate_opencl(rdl_device_info *infos, size_t capacity, size_t *out_count,
                                   rdl_reason *why) {
  size_t k;
  for (k = 0; k < device_count && k < capacity; k++) {
    snprintf(infos[k].selector, sizeof infos[k].selector, "opencl:%zu", k);
    snprintf(infos[k].backend, sizeof infos[k].backend, "opencl");
    snprintf(infos[k].name, sizeof infos[k].name, "%s", devices[k].name);
    snprintf(infos[k].platform, sizeof infos[k].platform, "%s", devices[k].platform);
    infos[k].usable = devices[k].usable;
    infos[k].native = native_of(k);
  }
  if (!device_count) snprintf(why->text, sizeof why->text, "No OpenCL driver is installed.");
  *out_count = device_count;
  return RDL_OK;
}

static rdl_status enumerate_host(rdl_device_info *infos, size_t capacity, size_t *out_count,
                                 rdl_reason *why) {
  (void)why;
  if (capacity) {
    snprintf(infos->selector, sizeof infos->selector, "host");
    snprintf(infos->backend, sizeof infos->backend, "host");
    snprintf(infos->name, sizeof infos->name, "Maker CPU");
    infos->usable = 1;
  }
  *out_count = 1;
  return RDL_OK;
}

static const rdl_backend opencl = {.name = "opencl", .enumerate = enumerate_opencl};
static const rdl_backend host = {.name = "host", .enumerate = enumerate_host};
const rdl_backend *const rdl__backends[] = {&opencl, &host};
const unsigned rdl__backend_count = 2;

#define HERE(...)                                                                                  \
  static const made_up here[] = {__VA_ARGS__};                                                     \
  devices = here;                                                                                  \
  device_count = sizeof here / sizeof here[0]

/* `expected` is a backend, or one with a number. */
static void opens(const char *selector, const char *expected) {
  const rdl_backend *backend;
  rdl_device_info info;
  char opened[32];
  size_t index;
  rdl_status status = rdl__select(selector, NULL, &backend, &index, &info);
  if (status) print_message("'%s': %s\n", selector, rdl_error_text());
  assert_int_equal(status, RDL_OK);
  snprintf(opened, sizeof opened, backend == &host ? "%s" : "%s:%zu", backend->name, index);
  assert_string_equal(opened, expected);
}

static const char *refused(const char *selector, rdl_status expected) {
  const rdl_backend *backend;
  rdl_device_info info;
  size_t index;
  rdl_status status = rdl__select(selector, NULL, &backend, &index, &info);
  if (status != expected) print_message("'%s': %s\n", selector, rdl_status_name(status));
  assert_int_equal(status, expected);
  return rdl_error_text();
}

static void backends_and_numbers(void **state) {
  (void)state;
  HERE({"cpu-basic", pocl, true}, {"Maker GPU 4090", maker, true});
  opens(NULL, "opencl:0");
  opens("", "opencl:0");
  opens("opencl", "opencl:0");
  opens("opencl:1", "opencl:1");
  opens("host", "host");
  refused("opencl:2", RDL_NOT_FOUND);
  refused("opencl:4090", RDL_NOT_FOUND);
  refused("opencl:01", RDL_NOT_FOUND);
}

static void whole_words_of_name_or_platform(void **state) {
  (void)state;
  HERE({"cpu-basic", pocl, true}, {"Maker GPU 4090", maker, true});
  opens("opencl:pocl", "opencl:0");
  opens("opencl:PoCL", "opencl:0");
  opens("opencl:portable computing", "opencl:0");
  opens("opencl:cpu-basic", "opencl:0");
  opens("opencl:BASIC", "opencl:0");
  opens("opencl:gpu", "opencl:1");
  opens("opencl:gpu 4090", "opencl:1");
}

static void parts_of_words_name_nothing(void **state) {
  (void)state;
  HERE({"cpu-basic", pocl, true}, {"Maker GPU 4090", maker, true});
  static const char *const bad[] = {
      "opencl:x",  "opencl:poc",   "opencl:ocl",    "opencl:table",     "opencl:pocl3",
      "opencl:",   "opencl::",     "opencl:-basic", "opencl:basic-",    "opencl: pocl",
      "opencl:-1", "opencl:basi",  "opencl:pu",     "opencl:gpu  4090", "openclx",
      "host:1",    "host:portable"};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
    assert_non_null(strstr(refused(bad[k], RDL_NOT_FOUND), "whole words"));
  opens("host:cpu", "host");
}

static void several_that_differ_are_refused(void **state) {
  const char *text;
  (void)state;
  HERE({"cpu-basic", pocl, true}, {"cpu-pthread", pocl, true});
  opens("opencl:basic", "opencl:0");
  opens("opencl:pthread", "opencl:1");
  text = refused("opencl:pocl", RDL_INVALID);
  assert_non_null(strstr(text, "'opencl:pocl' fits several devices"));
  assert_non_null(strstr(text, "opencl:0 (cpu-basic), opencl:1 (cpu-pthread), host (Maker CPU)"));
}

static void the_first_of_devices_that_are_alike(void **state) {
  (void)state;
  HERE({"cpu-basic", pocl, true}, {"Maker GPU", maker, true}, {"Maker GPU", maker, true});
  opens("opencl:maker", "opencl:1");
  opens("opencl:2", "opencl:2");
}

static void unusable_ones_do_not_count_beside_others(void **state) {
  (void)state;
  HERE({"Maker CPU", maker, false}, {"Maker GPU", maker, true},
       {"Old Card", "Old, OpenCL 1.1", false});
  opens("opencl:maker", "opencl:1");
  opens("opencl", "opencl:1");
  refused("opencl:0", RDL_UNSUPPORTED);
  refused("opencl:old", RDL_UNSUPPORTED);
}

static void what_is_not_there_lists_what_is(void **state) {
  (void)state;
  HERE({"cpu-basic", pocl, true});
  assert_non_null(
      strstr(refused("abacus", RDL_NOT_FOUND), "opencl:pocl (cpu-basic), host (Maker CPU)"));
  assert_non_null(strstr(refused("opencl:x", RDL_NOT_FOUND), "opencl:pocl (cpu-basic), host"));
}

/* What the list calls a device opens that device. */
static void names_in_the_list(void **state) {
  static const char *const names[] = {"opencl:0", "opencl:1", "opencl:pocl", "opencl:4", "host"};
  rdl_device_info infos[8];
  size_t count, k;
  (void)state;
  HERE({"Maker GPU", maker, true}, {"Maker CPU", maker, true}, {"cpu-basic", pocl, true},
       {"Old Card", "Old, OpenCL 1.1", false}, {"Card", "4D, OpenCL 3.0", true});
  assert_int_equal(rdl_devices(infos, 8, &count), RDL_OK);
  assert_int_equal(count, 6);
  assert_string_equal(infos[5].selector, "opencl:old");
  for (k = 0; k < 5; k++) {
    const rdl_backend *backend;
    rdl_device_info info;
    size_t index;
    assert_string_equal(infos[k].selector, names[k]);
    assert_int_equal(rdl__select(names[k], NULL, &backend, &index, &info), RDL_OK);
    assert_string_equal(info.name, infos[k].name);
    assert_string_equal(info.selector, names[k]);
  }
}

static rdl_status select_native(const char *selector, const void *native, char *out_selector) {
  const rdl_backend *backend;
  rdl_device_info info = {.usable = 0};
  size_t index;
  rdl_status status = rdl__select(selector, native, &backend, &index, &info);
  snprintf(out_selector, sizeof info.selector, "%s", info.selector);
  return status;
}

static void by_what_the_driver_calls_it(void **state) {
  char found[32], stranger;
  (void)state;
  HERE({"Maker GPU", maker, true}, {"cpu-basic", pocl, true}, {"Old", "Old, OpenCL 1.1", false});
  assert_int_equal(select_native(NULL, native_of(1), found), RDL_OK);
  assert_string_equal(found, "opencl:pocl");
  assert_int_equal(setenv("RADDLE_DEVICE", "host", 1), 0);
  assert_int_equal(select_native(NULL, native_of(0), found), RDL_OK);
  assert_int_equal(unsetenv("RADDLE_DEVICE"), 0);
  assert_string_equal(found, "opencl:maker");
  assert_int_equal(select_native("opencl:1", native_of(1), found), RDL_OK);
  assert_int_equal(select_native("opencl:0", native_of(1), found), RDL_INVALID);
  assert_non_null(strstr(rdl_error_text(), "is not opencl:maker (Maker GPU)"));
  assert_int_equal(select_native("host", native_of(1), found), RDL_INVALID);
  assert_int_equal(select_native(NULL, &stranger, found), RDL_INVALID);
  assert_int_equal(select_native(NULL, native_of(2), found), RDL_UNSUPPORTED);
}

static void a_missing_driver_is_told(void **state) {
  const char *text;
  (void)state;
  device_count = 0;
  text = refused("opencl:pocl", RDL_UNAVAILABLE);
  assert_non_null(strstr(text, "No OpenCL driver is installed. Devices here: host (Maker CPU)"));
  refused("opencl", RDL_UNAVAILABLE);
  refused("abacus", RDL_NOT_FOUND);
  refused("host:abacus", RDL_NOT_FOUND);
  opens(NULL, "host");
}

static void long_lists_are_cut(void **state) {
  static made_up many[60];
  char name[101];
  (void)state;
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  for (size_t k = 0; k < 60; k++)
    many[k] = (made_up){name, maker, true};
  devices = many;
  device_count = 60;
  assert_non_null(strstr(refused("abacus", RDL_NOT_FOUND), "), ..."));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(backends_and_numbers),
      cmocka_unit_test(whole_words_of_name_or_platform),
      cmocka_unit_test(parts_of_words_name_nothing),
      cmocka_unit_test(several_that_differ_are_refused),
      cmocka_unit_test(the_first_of_devices_that_are_alike),
      cmocka_unit_test(unusable_ones_do_not_count_beside_others),
      cmocka_unit_test(what_is_not_there_lists_what_is),
      cmocka_unit_test(names_in_the_list),
      cmocka_unit_test(by_what_the_driver_calls_it),
      cmocka_unit_test(a_missing_driver_is_told),
      cmocka_unit_test(long_lists_are_cut),
  };
  unsetenv("RADDLE_DEVICE");
  return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
