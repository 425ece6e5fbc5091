/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver is told of memory that the program has made. Drivers that are here do without much
 * of it; so this one notes it. Its calls fail in turn, too: nothing may then be kept.
 */
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/opencl/device.h"

#define ADDRESS 0x7f0000001000ull

/* What only has to have an address. */
static char the_context, another_context, the_program, the_queue, the_memory, a_place, over;
static char svm[4][64];

static rdl_reason why;
static rdl_cl cl;
static rdl_backend_device device;
static rdl_backend_image image, support;

static struct {
  int countdown; /* calls until one fails; below 1 = none */
  int held;      /* references to the_memory beside the program's */
  int buffers;   /* that the backend made and did not release */
  int kernels;
  int launches;      /* with the_memory as an argument */
  cl_mem argument;   /* 0 of the next launch */
  void *told[8];     /* the last list of SVM */
  size_t told_count; /* of a new kernel: 0 */
  int tellings;
  cl_context context;
  cl_mem_object_type type;
  cl_ulong address;
} driver;

static int fails(void) {
  return --driver.countdown == 0;
}

static cl_int answer(size_t size, void *out, const void *value) {
  if (fails()) return CL_OUT_OF_RESOURCES;
  memcpy(out, value, size);
  return CL_SUCCESS;
}

/* ---- its calls ---- */

static cl_int memory_info(cl_mem memory, cl_mem_info what, size_t size, void *out, size_t *used) {
  const size_t bytes = 4000;
  const cl_bool is_svm = CL_TRUE;
  (void)memory;
  (void)used;
  if (what == CL_MEM_TYPE) return answer(size, out, &driver.type);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression) */
  if (what == CL_MEM_CONTEXT) return answer(size, out, &driver.context);
  if (what == CL_MEM_USES_SVM_POINTER) return answer(size, out, &is_svm);
  assert_int_equal(what, CL_MEM_SIZE);
  return answer(size, out, &bytes);
}

static cl_int device_info(cl_device_id id, cl_device_info what, size_t size, void *out,
                          size_t *used) {
  const cl_ulong capabilities = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  (void)id;
  (void)size;
  assert_int_equal(what, CL_DEVICE_SVM_CAPABILITIES);
  memcpy(out, &capabilities, sizeof capabilities);
  *used = sizeof capabilities;
  return CL_SUCCESS;
}

static cl_int retain(cl_mem memory) {
  if (fails()) return CL_OUT_OF_RESOURCES;
  assert_ptr_equal(memory, &the_memory);
  driver.held++;
  return CL_SUCCESS;
}

static cl_int release(cl_mem memory) {
  if ((void *)memory == &the_memory)
    driver.held--;
  else
    driver.buffers--;
  return CL_SUCCESS;
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                            cl_int *code) {
  (void)context;
  (void)flags;
  (void)size;
  *code = fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  if (*code) return NULL;
  driver.buffers++;
  return (cl_mem)(void *)(host ? &over : &a_place);
}

static cl_kernel create_kernel(cl_program program, const char *name, cl_int *code) {
  static char the_kernel;
  (void)name;
  assert_ptr_equal(program, &the_program);
  *code = fails() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  if (*code) return NULL;
  driver.kernels++;
  driver.tellings++;
  driver.told_count = 0;
  return (cl_kernel)(void *)&the_kernel;
}

static cl_int release_kernel(cl_kernel kernel) {
  assert_non_null(kernel);
  driver.kernels--;
  return CL_SUCCESS;
}

static cl_int set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  (void)kernel;
  if (fails()) return CL_OUT_OF_RESOURCES;
  if (index == 0) memcpy(&driver.argument, value, size);
  return CL_SUCCESS;
}

static cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                     const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
                     const cl_event *events, cl_event *event) {
  (void)kernel;
  (void)dimensions;
  (void)offset;
  (void)global;
  (void)local;
  (void)count;
  (void)events;
  (void)event;
  assert_ptr_equal(queue, &the_queue);
  if (fails()) return CL_OUT_OF_RESOURCES;
  if ((void *)driver.argument == &the_memory) driver.launches++;
  driver.argument = NULL;
  return CL_SUCCESS;
}

static cl_int read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                   size_t size, void *to, cl_uint count, const cl_event *events, cl_event *event) {
  (void)queue;
  (void)offset;
  (void)count;
  (void)events;
  (void)event;
  assert_ptr_equal(buffer, &a_place);
  assert_true(blocking);
  return answer(size, to, &driver.address);
}

static cl_int tell(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void *value) {
  (void)kernel;
  assert_int_equal(what, CL_KERNEL_EXEC_INFO_SVM_PTRS);
  assert_in_range(size, sizeof(void *), sizeof driver.told);
  if (fails()) return CL_OUT_OF_RESOURCES;
  driver.tellings++;
  memcpy(driver.told, value, size);
  driver.told_count = size / sizeof(void *);
  return CL_SUCCESS;
}

static cl_int set_svm_argument(cl_kernel kernel, cl_uint index, const void *value) {
  (void)kernel;
  (void)index;
  assert_ptr_equal(value, svm);
  return CL_SUCCESS;
}

static cl_int flush(cl_command_queue queue) {
  (void)queue;
  return CL_SUCCESS;
}

/* ---- around each test ---- */

static int set_up(void **state) {
  (void)state;
  memset(&driver, 0, sizeof driver);
  driver.context = (cl_context)(void *)&the_context;
  driver.type = CL_MEM_OBJECT_BUFFER;
  driver.address = ADDRESS;
  cl = (rdl_cl){.clGetMemObjectInfo = memory_info,
                .clGetDeviceInfo = device_info,
                .clRetainMemObject = retain,
                .clReleaseMemObject = release,
                .clCreateBuffer = create_buffer,
                .clCreateKernel = create_kernel,
                .clReleaseKernel = release_kernel,
                .clSetKernelArg = set_argument,
                .clEnqueueNDRangeKernel = launch,
                .clEnqueueReadBuffer = read,
                .clSetKernelExecInfo = tell,
                .clSetKernelArgSVMPointer = set_svm_argument,
                .clFlush = flush};
  support.program = image.program = (cl_program)(void *)&the_program;
  memset(&device, 0, sizeof device);
  device.cl = &cl;
  device.context = driver.context;
  device.queue = (cl_command_queue)(void *)&the_queue;
  device.support = &support;
  device.holds_addresses = 1;
  device.workers = 1;
  image.kernel = NULL;
  image.svm_changes = 0;
  device.apart = &device.own_apart;
  return pthread_mutex_init(device.apart, NULL);
}

static int tear_down(void **state) {
  (void)state;
  rdl__cl_locate_free(&device);
  if (image.kernel) release_kernel(image.kernel);
  free(device.svm_list);
  assert_int_equal(driver.held, 0);
  assert_int_equal(driver.buffers, 0);
  assert_int_equal(driver.kernels, 0);
  return pthread_mutex_destroy(device.apart);
}

static rdl_status import(rdl_import_kind kind, void *memory, rdl_backend_import *out) {
  rdl_import what = RDL_IMPORT_INIT;
  what.kind = kind;
  what.memory = memory;
  what.bytes = kind == RDL_IMPORT_SVM ? sizeof svm[0] : 0u;
  memset(out, 0, sizeof *out);
  return rdl__cl_import(&device, &what, out, &why);
}

/* ---- the tests ---- */

static void a_buffer_is_held_and_named_in_a_launch(void **state) {
  rdl_backend_import got;
  (void)state;
  assert_int_equal(import(RDL_IMPORT_CL_MEM, &the_memory, &got), RDL_OK);
  assert_int_equal(got.address, ADDRESS);
  assert_int_equal(got.bytes, 4000);
  assert_int_equal(driver.held, 1);
  assert_int_equal(driver.launches, 1);
  assert_int_equal(rdl__cl_sync(&device, got.memory, &why), RDL_OK);
  assert_int_equal(driver.launches, 2);
  driver.address += 4096;
  assert_int_equal(rdl__cl_sync(&device, got.memory, &why), RDL_DEVICE_LOST);
  assert_non_null(strstr(why.text, "0x7f0000001000 to 0x7f0000002000"));
  rdl__cl_drop(&device, got.memory);
  assert_int_equal(driver.held, 0);
}

static void what_is_no_buffer_of_the_context_is_not_held(void **state) {
  rdl_backend_import got;
  (void)state;
  driver.context = (cl_context)(void *)&another_context;
  assert_int_equal(import(RDL_IMPORT_CL_MEM, &the_memory, &got), RDL_INVALID);
  assert_non_null(strstr(why.text, "native_context"));
  driver.context = device.context;
  driver.type = CL_MEM_OBJECT_PIPE;
  assert_int_equal(import(RDL_IMPORT_CL_MEM, &the_memory, &got), RDL_INVALID);
  driver.type = CL_MEM_OBJECT_BUFFER;
  device.holds_addresses = 0;
  assert_int_equal(import(RDL_IMPORT_CL_MEM, &the_memory, &got), RDL_UNSUPPORTED);
  assert_non_null(strstr(why.text, "addresses"));
  device.holds_addresses = 1;
  driver.address = 0;
  assert_int_equal(import(RDL_IMPORT_CL_MEM, &the_memory, &got), RDL_UNSUPPORTED);
  assert_int_equal(driver.held, 0);
}

/* By the next launch, and once: of the pieces that `there` has a 1 for. */
static void told(const char *there) {
  size_t count = 0;
  int before;
  assert_int_equal(rdl__cl_launch(&device, &image, svm, 0, 1, &why), RDL_OK);
  before = driver.tellings;
  assert_int_equal(rdl__cl_launch(&device, &image, svm, 0, 1, &why), RDL_OK);
  assert_int_equal(driver.tellings, before);
  for (size_t k = 0; k < 4; k++) {
    int times = 0;
    for (size_t n = 0; n < driver.told_count; n++)
      times += driver.told[n] == svm[k];
    assert_int_equal(times, there[k] - '0');
    count += times > 0;
  }
  assert_int_equal(driver.told_count, count);
}

static void a_kernel_is_told_of_all_svm_that_there_is(void **state) {
  rdl_backend_import got[4];
  (void)state;
  for (int k = 0; k < 4; k++) {
    assert_int_equal(import(RDL_IMPORT_SVM, svm[k], &got[k]), RDL_OK);
    assert_int_equal(got[k].address, (uintptr_t)svm[k]);
  }
  told("1111");
  rdl__cl_drop(&device, got[1].memory);
  told("1011");
  rdl__cl_drop(&device, got[3].memory);
  told("1010");
  assert_int_equal(import(RDL_IMPORT_SVM, svm[1], &got[1]), RDL_OK);
  told("1110");
  for (int k = 0; k < 3; k++)
    rdl__cl_drop(&device, got[k].memory);
  told("0000");
}

/* The n-th call fails, for every n there is. */
static void a_failure_keeps_nothing(rdl_import_kind kind, void *memory, int least) {
  rdl_backend_import got;
  rdl_status status = RDL_OUT_OF_MEMORY;
  int n;
  for (n = 1; status != RDL_OK; n++) {
    driver.countdown = n;
    status = import(kind, memory, &got);
    if (status == RDL_OK) break;
    assert_true(why.text[0]);
    assert_null(got.memory);
    assert_int_equal(driver.held, 0);
    assert_int_equal(device.svm_count, 0);
    rdl__cl_locate_free(&device);
    device.locate = NULL;
    device.place = NULL;
  }
  driver.countdown = 0;
  assert_true(n > least);
  rdl__cl_drop(&device, got.memory);
}

static void failures_of_a_buffer(void **state) {
  (void)state;
  a_failure_keeps_nothing(RDL_IMPORT_CL_MEM, &the_memory, 8);
}

static void failures_of_svm(void **state) {
  (void)state;
  a_failure_keeps_nothing(RDL_IMPORT_SVM, svm[0], 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_buffer_is_held_and_named_in_a_launch, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_no_buffer_of_the_context_is_not_held, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_kernel_is_told_of_all_svm_that_there_is, set_up, tear_down),
      cmocka_unit_test_setup_teardown(failures_of_a_buffer, set_up, tear_down),
      cmocka_unit_test_setup_teardown(failures_of_svm, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
