/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no device: a loader or driver that is missing, and the table of error codes. */
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/opencl/status.h"
#include "backends/opencl/symbols.h"

static rdl_reason why;

static void without_a_loader(void **state) {
  rdl_cl symbols;
  (void)state;
  assert_false(rdl__cl_load_symbols("libNoSuchOpenCL.so.1", &symbols, &why));
  assert_non_null(strstr(why.text, "libNoSuchOpenCL.so.1"));
  assert_non_null(strstr(why.text, "apt install"));
}

static void a_library_that_is_no_loader(void **state) {
  rdl_cl symbols;
  (void)state;
  assert_false(rdl__cl_load_symbols("libc.so.6", &symbols, &why));
  assert_non_null(strstr(why.text, "libc.so.6"));
  assert_non_null(strstr(why.text, "it has no cl"));
}

/* The loader reads its list of drivers once, so this is the first call that reaches it. */
static void without_a_driver_there_are_no_devices(void **state) {
  rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = NULL;
  rdl_device_info info;
  rdl_status status;
  size_t count = 99;
  (void)state;
  assert_int_equal(setenv("OCL_ICD_VENDORS", "/nowhere", 1), 0);
  assert_int_equal(setenv("OPENCL_VENDOR_PATH", "/nowhere", 1), 0);
  assert_int_equal(rdl__backend_opencl.enumerate(&info, 1, &count, &why), RDL_OK);
  assert_int_equal(count, 0);
  assert_non_null(strstr(why.text, "apt install"));
  status = rdl__backend_opencl.open(0, &options, &device, &why);
  assert_true(status == RDL_NOT_FOUND || status == RDL_UNAVAILABLE);
  assert_true(why.text[0]);
  assert_null(device);
}

/* As the loader by Khronos does it. */
static cl_int cut_the_list(cl_uint room, cl_platform_id *platforms, cl_uint *out_count) {
  char *list = getenv("OCL_ICD_FILENAMES");
  (void)room;
  (void)platforms;
  for (char *colon = list ? strchr(list, ':') : NULL; colon; colon = strchr(colon + 1, ':'))
    *colon = '\0';
  *out_count = 0;
  return CL_SUCCESS;
}

static void the_list_of_drivers_stays_whole(void **state) {
  rdl_cl cl = {.clGetPlatformIDs = cut_the_list};
  (void)state;
  assert_int_equal(setenv("OCL_ICD_FILENAMES", "first.so:second.so:third.so", 1), 0);
  rdl__cl_read_drivers(&cl);
  assert_string_equal(getenv("OCL_ICD_FILENAMES"), "first.so:second.so:third.so");
  assert_int_equal(unsetenv("OCL_ICD_FILENAMES"), 0);
}

static cl_int answers(cl_int code) {
  return code;
}

static void a_failure_names_its_call(void **state) {
  struct {
    cl_int (*clDoIt)(cl_int code);
  } table = {answers}, *cl = &table;
  (void)state;
  assert_int_equal(RDL_CL(&why, cl->clDoIt(CL_SUCCESS)), RDL_OK);
  assert_int_equal(RDL_CL(&why, cl->clDoIt(CL_OUT_OF_HOST_MEMORY)), RDL_OUT_OF_MEMORY);
  assert_string_equal(why.text, "clDoIt failed: CL_OUT_OF_HOST_MEMORY (-6).");
  assert_int_equal(RDL_CL(&why, cl->clDoIt(CL_INVALID_COMMAND_QUEUE)), RDL_DEVICE_LOST);
  assert_string_equal(why.text,
                      "clDoIt failed: CL_INVALID_COMMAND_QUEUE (-36). Open a new context.");
  assert_int_equal(RDL_CL(&why, cl->clDoIt(-9999)), RDL_INTERNAL);
  assert_string_equal(why.text, "clDoIt failed: unknown error (-9999).");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_loader),
      cmocka_unit_test(a_library_that_is_no_loader),
      cmocka_unit_test(without_a_driver_there_are_no_devices),
      cmocka_unit_test(the_list_of_drivers_stays_whole),
      cmocka_unit_test(a_failure_names_its_call),
  };
  return cmocka_run_group_tests_name("opencl", tests, NULL, NULL);
}
