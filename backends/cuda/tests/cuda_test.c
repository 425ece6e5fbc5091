/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend on a driver and a management library that stand in for NVIDIA's:
 *
 *   cuda_test DRIVER NVML
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/cuda/api.h"
#include "backends/cuda/device.h"
#include "backends/cuda/tests/standin.h"

#define MEBIBYTE ((size_t)1 << 20)

static const rdl_backend *const backend = &rdl__backend_cuda;
static standin *state;
static standin_nvml *nvml_state;
static void *program_context; /* of the first device, as if the program had made it */
static const rdl_cu *cu;
static rdl_reason why;
static int kept; /* counts of the first device's primary context that the process holds by now */
static rdl_cu_result (*reset)(rdl_cu_device); /* cuDevicePrimaryCtxReset, the program's */
static char root[] = "/tmp/raddle-cuda-test-XXXXXX";

#define MUST(call) must((call), #call)

static void must(rdl_status status, const char *call) {
  if (status == RDL_OK) return;
  print_error("%s: %s: %s\n", call, rdl_status_name(status), why.text);
  fail();
}

static void assert_says(const char *words) {
  if (!strstr(why.text, words)) fail_msg("no '%s' in: %s", words, why.text);
}

static rdl_backend_device *open_with(const rdl_backend_options *options) {
  rdl_backend_device *device = NULL;
  MUST(backend->open(0, options, &device, &why));
  return device;
}

static rdl_backend_device *open_plain(void) {
  const rdl_backend_options options = {.cache_dir = ""};
  return open_with(&options);
}

static rdl_status build(rdl_backend_device *device, const char *text,
                        rdl_backend_image **out_image) {
  rdl_text_piece piece = {
      .name = "../some where/user.task.c", .text = text, .length = strlen(text), .first_line = 1};
  rdl_image_text image = {.pieces = &piece, .count = 1, .hash = text};
  return backend->build(device, &image, out_image, &why);
}

static rdl_backend_image *built(rdl_backend_device *device, const char *text) {
  rdl_backend_image *image = NULL;
  MUST(build(device, text, &image));
  return image;
}

static void *new_memory(rdl_backend_device *device, size_t bytes) {
  void *memory = NULL;
  MUST(backend->allocate(device, bytes, &memory, &why));
  return memory;
}

static void assert_nothing_is_left(void) {
  assert_int_equal(state->memories, 0);
  assert_int_equal(state->pages, 0);
  assert_int_equal(state->registered, 0);
  assert_int_equal(state->streams, 0);
  assert_int_equal(state->modules, 0);
  assert_int_equal(state->contexts_pushed, 0);
  assert_int_equal(state->retained[0], kept);
  assert_int_equal(state->misuse, 0);
}

/* ---- devices ---- */

static void devices_are_listed(void **unused) {
  rdl_device_info infos[STANDIN_DEVICES];
  rdl_backend_device *device = NULL;
  const rdl_backend_options options = {.cache_dir = ""};
  size_t count = 0;
  (void)unused;
  MUST(backend->enumerate(infos, STANDIN_DEVICES, &count, &why));
  assert_int_equal(count, STANDIN_DEVICES);
  assert_string_equal(infos[0].selector, "cuda:0");
  assert_string_equal(infos[0].name, "Stand-in 0");
  assert_string_equal(infos[0].driver, "CUDA 13.0");
  assert_int_equal(infos[0].usable, 1);
  assert_int_equal(infos[0].compute_units, STANDIN_UNITS);
  assert_int_equal(infos[1].usable, 0);
  assert_non_null(strstr(infos[1].missing, "compute capability 7.0"));
  assert_int_equal(backend->open(1, &options, &device, &why), RDL_UNSUPPORTED);
  assert_says("compute capability 7.0");
  assert_int_equal(backend->open(2, &options, &device, &why), RDL_NOT_FOUND);
  assert_nothing_is_left();
}

static const char *capability(size_t index, const char *name) {
  static rdl_capability rows[64];
  size_t count = 0;
  MUST(backend->capabilities(index, "", 0, rows, 64, &count, &why));
  for (size_t k = 0; k < count; k++)
    if (strcmp(rows[k].name, name) == 0) return rows[k].value;
  return "";
}

static void capabilities_are_told(void **unused) {
  (void)unused;
  assert_string_equal(capability(0, "usable"), "yes");
  assert_string_equal(capability(0, "barrier_lanes"), "32");
  assert_string_equal(capability(0, "resident_groups"), "64");
  assert_string_equal(capability(0, "global_memory"), "1073741824 bytes");
  assert_string_equal(capability(0, "clock_hz"), "1000000000");
  assert_string_equal(capability(0, "architecture"), "sm_90");
  assert_non_null(strstr(capability(1, "usable"), "no (it lacks compute capability 7.0"));
  assert_nothing_is_left();
}

/* By its place on the bus, each time anew; what is not known has no row. */
static void the_state_is_told(void **unused) {
  static const char *const rows[] = {"power",           "sm_clock",   "temperature",
                                     "pcie_generation", "pcie_lanes", "throttled"};
  static const char *const values[] = {"312.4 W", "1980 MHz", "41 C", "5", "16", "no"};
  (void)unused;
  nvml_state->reasons = 1; /* idle */
  for (size_t k = 0; k < 6; k++) {
    assert_string_equal(capability(0, rows[k]), values[k]);
    assert_string_equal(capability(1, rows[k]), "");
  }
  assert_string_equal(capability(1, "driver_version"), "580.12.34");
  nvml_state->reasons = 0x1000 | 0x44;
  assert_string_equal(capability(0, "throttled"), "yes (power cap, heat, by hardware, 0x1000)");
  nvml_state->reasons = ~0ull;
  assert_memory_equal(capability(0, "throttled"), "yes (set clocks, power cap, hardware,", 37);
  nvml_state->fails = 9; /* the driver is not loaded */
  assert_string_equal(capability(0, "power"), "");
  assert_string_equal(capability(0, "driver_version"), "");
  assert_string_equal(capability(0, "usable"), "yes");
  nvml_state->fails = 0;
  assert_int_equal(nvml_state->starts, 0);
  assert_nothing_is_left();
}

static void wrong_options_are_refused(void **unused) {
  rdl_backend_options options = {.cache_dir = "", .lanes = 8};
  rdl_backend_device *device = NULL;
  (void)unused;
  assert_int_equal(backend->open(0, &options, &device, &why), RDL_UNSUPPORTED);
  assert_says("barrier_lanes lists 32");
  options = (rdl_backend_options){.cache_dir = "", .loop_turns = 8};
  assert_int_equal(backend->open(0, &options, &device, &why), RDL_UNSUPPORTED);
  assert_null(device);
  assert_nothing_is_left();
}

static uint32_t workers_with(uint32_t asked) {
  const rdl_backend_options options = {.cache_dir = "", .workers = asked};
  rdl_backend_device *device = open_with(&options);
  rdl_backend_facts facts;
  backend->facts(device, &facts);
  assert_int_equal(facts.lanes, 32);
  assert_int_equal(facts.shared, 0);
  assert_int_equal(facts.window, 1);
  assert_int_equal(facts.clock_hz, 1000000000);
  assert_int_equal(facts.launches_promptly, 1);
  backend->close(device);
  return facts.max_workers;
}

static void epoch_mode_has_no_window(void **unused) {
  const rdl_backend_options options = {.cache_dir = "", .epoch = 1};
  rdl_backend_device *device = open_with(&options);
  rdl_backend_facts facts;
  (void)unused;
  backend->facts(device, &facts);
  assert_int_equal(facts.window, 0);
  backend->close(device);
}

static void workers_are_as_many_as_fit(void **unused) {
  (void)unused;
  assert_int_equal(workers_with(0), 8 * STANDIN_UNITS);
  assert_int_equal(workers_with(5), 5);
  assert_int_equal(workers_with(100000), 16 * STANDIN_UNITS);
  assert_nothing_is_left();
}

/* ---- contexts ---- */

static void no_context_is_left_current(void) {
  rdl_cu_context context = NULL;
  assert_int_equal(cu->cuCtxGetCurrent(&context), 0);
  assert_null(context);
}

/* However often it is opened, and by however many at the same time. */
static void the_primary_context_is_kept(void **unused) {
  int counted = state->counted;
  (void)unused;
  for (int k = 0; k < 5; k++) {
    rdl_backend_device *first = open_plain(), *second = open_plain();
    assert_int_equal(state->retained[0], 1);
    no_context_is_left_current();
    backend->close(first);
    assert_int_equal(state->retained[0], 1);
    backend->close(second);
    kept = 1;
    assert_nothing_is_left();
  }
  assert_int_equal(state->counted, counted + 1);
}

static void work_in(rdl_backend_device *device, const void *context) {
  void *memory;
  assert_ptr_equal(device->context, context);
  memory = new_memory(device, 64);
  backend->release(device, memory);
  backend->close(device);
}

static void a_given_context_is_taken(void **unused) {
  rdl_backend_options options = {.cache_dir = "", .native_context = program_context};
  int counted = state->counted;
  (void)unused;
  work_in(open_with(&options), program_context);
  assert_int_equal(state->counted, counted);
  no_context_is_left_current();
  assert_nothing_is_left();
}

static void the_current_context_is_taken(void **unused) {
  rdl_cu_context popped = NULL;
  int counted = state->counted;
  (void)unused;
  assert_int_equal(cu->cuCtxPushCurrent(program_context), 0);
  work_in(open_plain(), program_context);
  assert_int_equal(state->counted, counted);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
  assert_ptr_equal(popped, program_context);
  assert_nothing_is_left();
}

/* The program may release it before the device is closed. It is not kept for that. */
static void a_current_primary_context_is_held(void **unused) {
  rdl_cu_context primary = NULL, popped = NULL;
  rdl_backend_device *device;
  (void)unused;
  assert_int_equal(cu->cuDevicePrimaryCtxRetain(&primary, 0), 0);
  assert_int_equal(cu->cuCtxPushCurrent(primary), 0);
  device = open_plain();
  assert_int_equal(state->retained[0], 2);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
  assert_int_equal(cu->cuDevicePrimaryCtxRelease(0), 0);
  work_in(device, primary);
  assert_nothing_is_left();
}

/* A context of another device stays current, and the device gets its own. */
static void a_context_of_another_device_is_left_alone(void **unused) {
  rdl_cu_context other = NULL, popped = NULL;
  rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = NULL;
  (void)unused;
  assert_int_equal(cu->cuDevicePrimaryCtxRetain(&other, 1), 0);
  assert_int_equal(cu->cuCtxPushCurrent(other), 0);
  device = open_plain();
  assert_ptr_not_equal(device->context, other);
  backend->close(device);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
  assert_ptr_equal(popped, other);
  options.native_context = other;
  device = NULL;
  assert_int_equal(backend->open(0, &options, &device, &why), RDL_INVALID);
  assert_says("native_context");
  assert_int_equal(cu->cuDevicePrimaryCtxRelease(1), 0);
  assert_nothing_is_left();
}

/* The counts of the process that has ended in it are not its own. */
static void open_in_child(void) {
  const rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = NULL;
  int counted = state->counted;
  rdl_status status = backend->open(0, &options, &device, &why);
  if (status != RDL_UNAVAILABLE || !strstr(why.text, "CUDA_ERROR_NOT_INITIALIZED (3)")) {
    print_error("%s: %s\n", rdl_status_name(status), why.text);
    _exit(1);
  }
  _exit(state->counted != counted || state->misuse != 0 || state->contexts_pushed != 0);
}

static void a_child_of_fork_has_none(void **unused) {
  pid_t child;
  int ended = 0;
  (void)unused;
  backend->close(open_plain());
  child = fork();
  assert_true(child >= 0);
  if (child == 0) open_in_child();
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_int_equal(ended, 0);
  backend->close(open_plain());
  assert_nothing_is_left();
}

static void open_and_work(void) {
  rdl_backend_device *device = open_plain();
  work_in(device, device->context);
}

/* While nobody works in it, and what was there then is used no more. */
static void a_context_that_was_reset_is_made_anew(void **unused) {
  rdl_cu_context primary = NULL;
  int made;
  (void)unused;
  open_and_work();
  made = state->made;
  assert_int_equal(reset(0), 0);
  open_and_work();
  assert_int_equal(state->made, made + 1);
  assert_nothing_is_left();
  assert_int_equal(reset(0), 0);
  assert_int_equal(cu->cuDevicePrimaryCtxRetain(&primary, 0), 0); /* and works on in a new one */
  open_and_work();
  assert_int_equal(state->made, made + 2);
  assert_int_equal(cu->cuDevicePrimaryCtxRelease(0), 0);
  assert_nothing_is_left();
  open_and_work();
  assert_int_equal(state->made, made + 2);
}

/* ---- memory ---- */

static void read_back(rdl_backend_device *device, void *memory, size_t offset, size_t bytes,
                      void *host) {
  const rdl_transfer transfer = {memory, offset, bytes, host};
  MUST(backend->read(device, &transfer, 1, &why));
}

static void memory_is_zero_on_both_sides(void **unused) {
  rdl_backend_device *device = open_plain();
  unsigned char *memory = new_memory(device, 1000), device_side[1000];
  (void)unused;
  assert_int_equal((uintptr_t)memory % 64, 0);
  read_back(device, memory, 0, 1000, device_side);
  for (int k = 0; k < 1000; k++)
    assert_int_equal(memory[k] | device_side[k], 0);
  backend->release(device, memory);
  backend->release(device, NULL);
  backend->close(device);
  assert_nothing_is_left();
}

/* Larger than the locked pages, and in pieces of odd sizes. */
static void large_transfers_arrive(void **unused) {
  enum { WORDS = 3 * 1024 * 1024 + 1 };
  rdl_backend_device *device = open_plain();
  uint32_t *memory = new_memory(device, WORDS * sizeof *memory);
  uint32_t *back = calloc(WORDS, sizeof *back);
  rdl_transfer transfers[] = {
      {memory, 0, 12, memory},
      {memory, 12, (WORDS - 3) * sizeof *memory, memory + 3},
  };
  (void)unused;
  assert_non_null(back);
  assert_true(WORDS * sizeof *memory > 2 * RDL_CU_STAGING);
  for (uint32_t k = 0; k < WORDS; k++)
    memory[k] = k * 2654435761u;
  MUST(backend->write(device, transfers, 2, &why));
  transfers[0].host = back;
  transfers[1].host = back + 3;
  MUST(backend->read(device, transfers, 2, &why));
  assert_memory_equal(memory, back, WORDS * sizeof *memory);
  free(back);
  backend->release(device, memory);
  backend->close(device);
}

static void check_small_transfers(rdl_backend_device *device) {
  enum { COUNT = 5000 };
  uint32_t *memory = new_memory(device, (size_t)COUNT * 3 * sizeof *memory);
  static rdl_transfer transfers[COUNT];
  static uint32_t back[COUNT * 3];
  for (size_t k = 0; k < COUNT; k++) {
    memory[3 * k] = (uint32_t)k + 1;
    memory[3 * k + 1] = 77; /* not sent */
    transfers[k] = (rdl_transfer){memory, 12 * k, k % 4 + 1, memory + 3 * k};
  }
  MUST(backend->write(device, transfers, COUNT, &why));
  MUST(backend->write(device, NULL, 0, &why));
  read_back(device, memory, 0, sizeof back, back);
  for (size_t k = 0; k < COUNT; k++) {
    assert_int_equal(back[3 * k], (k + 1) & (0xffffffffu >> (24 - k % 4 * 8)));
    assert_int_equal(back[3 * k + 1], 0);
    transfers[k].host = &back[3 * k];
    back[3 * k] = 0;
  }
  MUST(backend->read(device, transfers, COUNT, &why));
  for (size_t k = 0; k < COUNT; k++)
    assert_int_equal(back[3 * k], (k + 1) & (0xffffffffu >> (24 - k % 4 * 8)));
  backend->release(device, memory);
}

/* Before an image is there each is a copy; then kernels of it move them, until it is gone. */
static void many_small_transfers_arrive(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image, *newer;
  int moves;
  (void)unused;
  state->moves = 0;
  check_small_transfers(device);
  assert_int_equal(state->moves, 0);
  image = built(device, "older");
  newer = built(device, "newer");
  backend->discard(device, image);
  state->copies = 0;
  check_small_transfers(device);
  assert_int_equal(state->moves, 10); /* 1024 in each, in and out */
  assert_int_equal(state->copies, 1); /* all of it, to look at */
  moves = state->moves;
  backend->discard(device, newer);
  check_small_transfers(device);
  assert_int_equal(state->moves, moves);
  backend->close(device);
  assert_nothing_is_left();
}

/* Small ones, in pieces, beside large ones, in one round and in several. */
static void mixed_transfers_arrive(void **unused) {
  enum { COUNT = 48, MOST = 300000 };
  static unsigned char back[(size_t)COUNT * MOST];
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = built(device, "kernel");
  unsigned char *memory = new_memory(device, sizeof back);
  rdl_transfer transfers[COUNT];
  (void)unused;
  for (size_t k = 0; k < sizeof back; k++)
    memory[k] = (unsigned char)(k * 2654435761u >> 24);
  for (size_t k = 0; k < COUNT; k++)
    transfers[k] = (rdl_transfer){memory, k * MOST, k % 4 ? 1u + k * 1300u : MOST - 1u - k, NULL};
  for (size_t k = 0; k < COUNT; k++)
    transfers[k].host = memory + transfers[k].offset;
  transfers[7].bytes = 0;
  state->moves = 0;
  MUST(backend->write(device, transfers, COUNT, &why));
  for (size_t k = 0; k < COUNT; k++)
    transfers[k].host = back + transfers[k].offset;
  MUST(backend->read(device, transfers, COUNT, &why));
  assert_true(state->moves > 2);
  for (size_t k = 0; k < COUNT; k++) {
    size_t end = transfers[k].offset + transfers[k].bytes;
    assert_memory_equal(back + transfers[k].offset, memory + transfers[k].offset,
                        transfers[k].bytes);
    assert_int_equal(back[end], 0);
  }
  backend->release(device, memory);
  backend->discard(device, image);
  backend->close(device);
  assert_nothing_is_left();
}

/* Host and launch talk through it, and what the launch has written is read, while it runs. */
static void a_window_is_open_beside_a_launch(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = built(device, "kernel");
  uint32_t *heap = new_memory(device, 4096), *there, words[4] = {0};
  rdl_transfer transfers[4];
  void *memory = NULL;
  unsigned char *window;
  (void)unused;
  MUST(backend->allocate_window(device, 10000, &memory, &why));
  window = memory;
  assert_int_equal((uintptr_t)window % 64, 0);
  for (int k = 0; k < 10000; k++)
    assert_int_equal(window[k], 0);
  assert_int_equal(backend->address(device, window), (uintptr_t)window);
  state->runs = 1;
  MUST(backend->launch(device, image, heap, 1, 1, &why));
  assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  there =
      (uint32_t *)(uintptr_t)backend->address(device, heap); /* NOLINT(performance-no-int-to-ptr) */
  for (uint32_t k = 0; k < 4; k++) {
    there[(size_t)100 * k] = 7 + k;
    transfers[k] = (rdl_transfer){heap, (size_t)400 * k, 4, &words[k]};
  }
  state->moves = 0;
  MUST(backend->read(device, transfers, 4, &why));
  for (uint32_t k = 0; k < 4; k++)
    assert_int_equal(words[k], 7 + k);
  assert_int_equal(state->moves, 0); /* a kernel would wait for the launch */
  assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  state->runs = 0;
  MUST(backend->wait(device, UINT64_MAX, &why));
  backend->release(device, window);
  backend->release(device, heap);
  backend->discard(device, image);
  assert_int_equal(backend->allocate_window(device, SIZE_MAX, &memory, &why), RDL_OUT_OF_MEMORY);
  backend->close(device);
  assert_nothing_is_left();
}

static void too_much_memory_is_refused(void **unused) {
  rdl_backend_device *device = open_plain();
  void *memory = NULL;
  (void)unused;
  assert_int_equal(backend->allocate(device, SIZE_MAX - 8, &memory, &why), RDL_OUT_OF_MEMORY);
  assert_null(memory);
  backend->close(device);
  assert_nothing_is_left();
}

/* ---- memory of the program's ---- */

/* RDL_OK: the import is whole, and goes both ways by transfers. */
static rdl_status import(rdl_backend_device *device, uint32_t kind, void *memory, size_t bytes,
                         rdl_backend_import *out_import) {
  const rdl_import what = {.size = sizeof what, .kind = kind, .memory = memory, .bytes = bytes};
  return backend->import(device, &what, out_import, &why);
}

static void assert_import_works(rdl_backend_device *device, rdl_backend_import *in,
                                const void *memory, size_t bytes) {
  uint32_t there = 77, back = 0;
  rdl_transfer transfer = {in->memory, bytes - 4, 4, &there};
  assert_int_equal(in->bytes, bytes);
  assert_int_equal(in->address, (uintptr_t)memory);
  assert_int_equal(backend->address(device, in->memory), in->address);
  MUST(backend->write(device, &transfer, 1, &why));
  MUST(backend->sync(device, in->memory, &why));
  assert_memory_equal((const char *)memory + bytes - 4, &there, 4);
  transfer.host = &back;
  MUST(backend->read(device, &transfer, 1, &why));
  assert_int_equal(back, 77);
}

static rdl_cu_address theirs(rdl_cu_context context, size_t bytes) {
  rdl_cu_address address = 0;
  rdl_cu_context popped;
  assert_int_equal(cu->cuCtxPushCurrent(context), 0);
  assert_int_equal(cu->cuMemAlloc(&address, bytes), 0);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
  return address;
}

static void free_theirs(rdl_cu_context context, rdl_cu_address address) {
  rdl_cu_context popped;
  assert_int_equal(cu->cuCtxPushCurrent(context), 0);
  assert_int_equal(cu->cuMemFree(address), 0);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
}

/* NOLINTBEGIN(performance-no-int-to-ptr): a CUdeviceptr is imported as a pointer */

static void device_memory_is_imported(void **unused) {
  rdl_backend_options options = {.cache_dir = "", .native_context = program_context};
  rdl_backend_device *device = open_with(&options);
  rdl_cu_address whole = theirs(program_context, 1000);
  void *part = (void *)(uintptr_t)(whole + 100);
  rdl_backend_import in, again;
  (void)unused;
  MUST(import(device, RDL_IMPORT_CUDA_POINTER, part, 900, &in));
  MUST(import(device, RDL_IMPORT_CUDA_POINTER, part, 900, &again));
  assert_import_works(device, &in, part, 900);
  backend->drop(device, in.memory);
  assert_import_works(device, &again, part, 900);
  backend->drop(device, again.memory);
  assert_int_equal(import(device, RDL_IMPORT_CUDA_POINTER, part, 901, &in), RDL_INVALID);
  assert_says("there are 900 bytes, and not 901");
  assert_int_equal(import(device, RDL_IMPORT_HOST, part, 4, &in), RDL_INVALID);
  assert_says("RDL_IMPORT_CUDA_POINTER");
  free_theirs(program_context, whole);
  assert_int_equal(import(device, RDL_IMPORT_CUDA_POINTER, part, 4, &in), RDL_INVALID);
  assert_says("no CUdeviceptr");
  assert_int_equal(import(device, RDL_IMPORT_SVM, part, 4, &in), RDL_UNSUPPORTED);
  assert_says("RDL_IMPORT_HOST");
  backend->close(device);
  assert_nothing_is_left();
}

/* NOLINTEND(performance-no-int-to-ptr) */

static void memory_of_another_context_is_refused(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_cu_context other = NULL;
  rdl_cu_address here = theirs(program_context, 64), there;
  rdl_backend_import in;
  (void)unused;
  assert_int_equal(import(device, RDL_IMPORT_CUDA_POINTER, (void *)(uintptr_t)here, 64, &in),
                   RDL_INVALID);
  assert_says("native_context");
  free_theirs(program_context, here);
  assert_int_equal(cu->cuDevicePrimaryCtxRetain(&other, 1), 0);
  there = theirs(other, 64);
  assert_int_equal(import(device, RDL_IMPORT_CUDA_POINTER, (void *)(uintptr_t)there, 64, &in),
                   RDL_INVALID);
  assert_says("CUDA device 1");
  free_theirs(other, there);
  assert_int_equal(cu->cuDevicePrimaryCtxRelease(1), 0);
  backend->close(device);
  assert_nothing_is_left();
}

/* Pages are locked once, for all imports of all devices. */
static void host_memory_is_imported(void **unused) {
  rdl_backend_device *device = open_plain(), *other = open_plain();
  unsigned char *memory = aligned_alloc(4096, 8192);
  rdl_backend_import in, again, more;
  (void)unused;
  assert_non_null(memory);
  MUST(import(device, RDL_IMPORT_HOST, memory + 24, 6000, &in));
  assert_int_equal(state->registered, 1);
  MUST(import(other, RDL_IMPORT_HOST, memory + 100, 400, &again));
  assert_int_equal(state->registered, 1);
  assert_import_works(device, &in, memory + 24, 6000);
  backend->drop(device, in.memory);
  backend->close(device);
  assert_import_works(other, &again, memory + 100, 400);
  backend->drop(other, again.memory);
  assert_int_equal(state->registered, 0);
  MUST(import(other, RDL_IMPORT_HOST, memory, 100, &in));
  assert_int_equal(import(other, RDL_IMPORT_HOST, memory, 5000, &more), RDL_UNSUPPORTED);
  assert_says("aligned_alloc");
  assert_int_equal(import(other, RDL_IMPORT_HOST, memory, SIZE_MAX, &more), RDL_INVALID);
  assert_says("past the end");
  backend->drop(other, in.memory);
  backend->close(other);
  free(memory);
  assert_nothing_is_left();
}

/* It needs no pages of ours, and is not unlocked. */
static void memory_that_is_locked_is_imported(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_cu_context popped;
  void *memory = NULL;
  rdl_backend_import in;
  (void)unused;
  assert_int_equal(cu->cuCtxPushCurrent(program_context), 0);
  assert_int_equal(cu->cuMemHostAlloc(&memory, 1000, RDL_CU_MEMHOSTALLOC_PORTABLE), 0);
  for (state->no_ranges = 0; state->no_ranges < 2; state->no_ranges++) {
    MUST(import(device, RDL_IMPORT_HOST, memory, 1000, &in));
    assert_int_equal(state->registered, 0);
    assert_import_works(device, &in, memory, 1000);
    backend->drop(device, in.memory);
    assert_int_equal(import(device, RDL_IMPORT_HOST, memory, 5000, &in), RDL_UNSUPPORTED);
    assert_says("locked for CUDA already");
  }
  state->no_ranges = 0;
  assert_int_equal(cu->cuMemFreeHost(memory), 0);
  assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
  backend->close(device);
  assert_nothing_is_left();
}

/* ---- images ---- */

static void an_image_is_compiled_once(void **unused) {
  const rdl_backend_options options = {.cache_dir = root};
  rdl_backend_device *device = open_with(&options);
  rdl_backend_image *image = built(device, "once");
  (void)unused;
  backend->discard(device, image);
  assert_int_equal(setenv("RADDLE_CUDA_HELPER", "/no/such/helper", 1), 0);
  image = built(device, "once");
  backend->discard(device, image);
  image = NULL;
  assert_int_equal(build(device, "twice", &image), RDL_UNAVAILABLE);
  assert_says("RADDLE_CUDA_HELPER");
  assert_int_equal(unsetenv("RADDLE_CUDA_HELPER"), 0);
  backend->discard(device, NULL);
  backend->close(device);
  assert_nothing_is_left();
}

/* What the compiler was given stands in what the stand-in makes. */
static const char *text_of(const rdl_backend_image *image) {
  struct CUmod_st {
    char *text;
  };
  const struct CUmod_st *module = (const void *)image->module;
  return module->text;
}

static void options_tell_the_shape(void **unused) {
  rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = open_with(&options);
  rdl_backend_image *image = built(device, "the text");
  (void)unused;
  assert_non_null(strstr(text_of(image), "--gpu-architecture=sm_90\n"));
  assert_non_null(strstr(text_of(image), "--std=c++20\n"));
  assert_non_null(strstr(text_of(image), "--fmad=false\n"));
  assert_non_null(strstr(text_of(image), "--device-as-default-execution-space\n"));
  assert_non_null(strstr(text_of(image), "-DRDL_LANES=32u\n"));
  assert_non_null(strstr(text_of(image), "-DRDL_WARPS=4u\n"));
  assert_non_null(strstr(text_of(image), "-DRDL_BLOCKS=2u\n"));
  assert_non_null(strstr(text_of(image), "the text"));
  assert_non_null(strstr(text_of(image), "#define __COUNTER__"));
  backend->discard(device, image);
  backend->close(device);
  options.workers = 16 * STANDIN_UNITS;
  device = open_with(&options);
  image = built(device, "the text");
  assert_non_null(strstr(text_of(image), "-DRDL_BLOCKS=4u\n"));
  backend->discard(device, image);
  backend->close(device);
}

static void an_unknown_architecture_gets_ptx(void **unused) {
  rdl_backend_device *device;
  rdl_backend_image *image;
  (void)unused;
  state->architecture = 103;
  device = open_plain();
  image = built(device, "the text");
  assert_non_null(strstr(text_of(image), "--gpu-architecture=compute_90\n"));
  backend->discard(device, image);
  backend->close(device);
  state->architecture = 90;
}

static void errors_name_file_line_and_column(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = NULL;
  (void)unused;
  assert_int_equal(build(device, "@error", &image), RDL_COMPILE);
  assert_memory_equal(why.text, "../some where/user.task.c:3:11: error: fake is undefined", 56);
  assert_null(image);
  backend->close(device);
}

static void a_compiler_that_crashes_harms_nobody(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = NULL;
  (void)unused;
  assert_int_equal(build(device, "@segv", &image), RDL_COMPILE);
  assert_says("SIGSEGV");
  assert_null(image);
  backend->close(device);
}

static void a_compiler_that_hangs_is_ended(void **unused) {
  bool stop = true;
  rdl_backend_options options = {.cache_dir = "", .stop = &stop};
  rdl_backend_device *device = open_with(&options);
  rdl_backend_image *image = NULL;
  (void)unused;
  assert_int_equal(build(device, "@hang", &image), RDL_CLOSED);
  stop = false;
  assert_int_equal(setenv("RADDLE_BUILD_TIMEOUT", "1", 1), 0);
  assert_int_equal(build(device, "@hang", &image), RDL_COMPILE);
  assert_says("within 1 s");
  assert_int_equal(unsetenv("RADDLE_BUILD_TIMEOUT"), 0);
  backend->close(device);
  assert_nothing_is_left();
}

static void what_does_not_fit_is_refused(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = NULL;
  (void)unused;
  state->blocks = 1;
  assert_int_equal(build(device, "wide", &image), RDL_UNSUPPORTED);
  assert_says("`workers` to 16 or less");
  state->blocks = 4;
  assert_null(image);
  backend->close(device);
  assert_nothing_is_left();
}

/* ---- launches ---- */

static void a_launch_has_its_shape(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = built(device, "kernel");
  uint32_t *heap = new_memory(device, 4096), words[2];
  (void)unused;
  assert_true(state->loaded > 0);
  for (uint32_t workers = 1; workers <= 8 * STANDIN_UNITS; workers++) {
    MUST(backend->launch(device, image, heap, 40 + workers, workers, &why));
    MUST(backend->wait(device, UINT64_MAX, &why));
    assert_int_equal(state->grid, (workers + 3) / 4);
    assert_int_equal(state->block, 128);
    assert_int_equal(state->shared, STANDIN_SHARED);
    read_back(device, heap, 0, sizeof words, words);
    assert_int_equal(words[0], 40 + workers);
    assert_int_equal(words[1], (workers + 3) / 4);
    assert_int_equal(heap[0], 0); /* the host's copy is the host's */
  }
  assert_int_equal(backend->launch(device, image, heap, 0, 0, &why), RDL_INVALID);
  assert_int_equal(backend->launch(device, image, heap, 0, 1000, &why), RDL_INVALID);
  MUST(backend->wait(device, 0, &why));
  backend->release(device, heap);
  backend->discard(device, image);
  backend->close(device);
  assert_nothing_is_left();
}

static void a_wait_has_a_limit(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = built(device, "kernel");
  void *heap = new_memory(device, 4096);
  uint64_t before;
  (void)unused;
  state->runs = 1;
  MUST(backend->launch(device, image, heap, 1, 1, &why));
  assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  before = rdl__now_ns();
  assert_int_equal(backend->wait(device, 5000000, &why), RDL_TIMEOUT);
  assert_in_range(rdl__now_ns() - before, 5000000, 1000000000);
  assert_int_equal(backend->launch(device, image, heap, 1, 1, &why), RDL_BUSY);
  state->runs = 0;
  MUST(backend->wait(device, 1000000000, &why));
  backend->release(device, heap);
  backend->discard(device, image);
  backend->close(device);
  assert_nothing_is_left();
}

/* ---- failures ---- */

/* All that a device does; the first failure ends it, and nothing is left. */
static rdl_status do_all(const char *cache_dir) {
  const rdl_backend_options options = {.cache_dir = cache_dir};
  rdl_backend_device *device = NULL;
  rdl_backend_image *image = NULL;
  rdl_transfer few[4], transfer = {.bytes = 64};
  void *window = NULL;
  static _Alignas(4096) unsigned char pages[4096];
  rdl_backend_import in = {.memory = NULL};
  void *heap = NULL;
  rdl_status status = backend->open(0, &options, &device, &why);
  if (status != RDL_OK) return status;
  status = backend->allocate(device, MEBIBYTE, &heap, &why);
  if (status == RDL_OK) status = import(device, RDL_IMPORT_HOST, pages, sizeof pages, &in);
  if (status == RDL_OK) backend->drop(device, in.memory);
  if (status == RDL_OK) status = backend->allocate_window(device, 4096, &window, &why);
  transfer.memory = transfer.host = heap;
  if (status == RDL_OK) status = backend->write(device, &transfer, 1, &why);
  if (status == RDL_OK) status = build(device, "do all", &image);
  few[0] = few[1] = few[2] = few[3] = transfer;
  if (status == RDL_OK) status = backend->write(device, few, 4, &why);
  if (status == RDL_OK) status = backend->launch(device, image, heap, 1, 1, &why);
  if (status == RDL_OK) status = backend->wait(device, UINT64_MAX, &why);
  if (status == RDL_OK) status = backend->read(device, &transfer, 1, &why);
  backend->release(device, window);
  backend->release(device, heap);
  backend->discard(device, image);
  backend->close(device);
  return status;
}

/* How many calls fail what is done, one in each round. */
static int count_failures(const char *cache_dir) {
  int n = 0, failures = 0;
  MUST(do_all(cache_dir));
  do {
    rdl_status status;
    state->failed = 0;
    state->fail_in = ++n;
    state->fails_with = RDL_CUDA_OUT_OF_MEMORY;
    status = do_all(cache_dir);
    state->fail_in = 0;
    if (status != RDL_OK) {
      assert_int_equal(status, RDL_OUT_OF_MEMORY);
      assert_says("CUDA_ERROR_OUT_OF_MEMORY (2)");
      failures++;
    }
    assert_nothing_is_left();
  } while (state->failed);
  return failures;
}

/* Where a binary from the cache fails the text is compiled. */
static void any_call_may_fail(void **unused) {
  (void)unused;
  assert_int_equal(count_failures(""), 32);
  assert_int_equal(count_failures(root), 20);
}

static void launch_trap(rdl_backend_device *device, rdl_status outcome) {
  rdl_backend_image *image = built(device, "@trap");
  void *heap = new_memory(device, 4096);
  MUST(backend->launch(device, image, heap, 1, 1, &why));
  if (outcome != RDL_OK) assert_int_equal(backend->wait(device, UINT64_MAX, &why), outcome);
  backend->release(device, heap);
  backend->discard(device, image);
}

/* By the last who works in it, and so the driver takes it down. */
static void a_lost_context_is_let_go(void **unused) {
  rdl_backend_device *first = open_plain(), *second = open_plain(), *third = NULL;
  const rdl_backend_options options = {.cache_dir = ""};
  int made = state->made;
  (void)unused;
  state->heals = 1;
  launch_trap(first, RDL_DEVICE_LOST);
  backend->close(first);
  assert_int_equal(state->retained[0], 1);
  assert_int_equal(backend->open(0, &options, &third, &why), RDL_DEVICE_LOST);
  assert_null(third);
  assert_int_equal(state->retained[0], 1);
  backend->close(second);
  assert_int_equal(state->retained[0], 0);
  open_and_work();
  assert_int_equal(state->made, made + 1);
  assert_nothing_is_left();
}

/* What ails it is found when it is opened again, for instance a trap of the program's own. */
static void a_context_lost_meanwhile_is_made_anew(void **unused) {
  rdl_backend_device *device = open_plain();
  int made = state->made;
  (void)unused;
  launch_trap(device, RDL_OK);
  backend->close(device);
  assert_nothing_is_left();
  open_and_work();
  assert_int_equal(state->made, made + 1);
  assert_nothing_is_left();
  state->heals = 0;
}

static void nothing_opens_after_a_trap(void) {
  const rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = NULL;
  assert_int_equal(backend->open(0, &options, &device, &why), RDL_DEVICE_LOST);
  assert_says("start it anew");
  assert_null(device);
}

static void a_trap_loses_the_device(void **unused) {
  rdl_backend_device *device = open_plain();
  rdl_backend_image *image = built(device, "@trap");
  void *heap = new_memory(device, 4096), *more = NULL;
  rdl_transfer transfer = {heap, 0, 4, heap};
  rdl_backend_image *other = NULL;
  (void)unused;
  MUST(backend->launch(device, image, heap, 1, 1, &why));
  assert_int_equal(backend->wait(device, UINT64_MAX, &why), RDL_DEVICE_LOST);
  assert_says("CUDA_ERROR_LAUNCH_FAILED (719)");
  assert_says("start it anew");
  assert_int_equal(backend->launch(device, image, heap, 1, 1, &why), RDL_DEVICE_LOST);
  assert_says("CUDA_ERROR_LAUNCH_FAILED (719)");
  assert_int_equal(backend->write(device, &transfer, 1, &why), RDL_DEVICE_LOST);
  assert_int_equal(backend->read(device, &transfer, 1, &why), RDL_DEVICE_LOST);
  assert_int_equal(backend->allocate(device, 64, &more, &why), RDL_DEVICE_LOST);
  assert_int_equal(build(device, "another", &other), RDL_DEVICE_LOST);
  assert_says("start it anew");
  MUST(backend->wait(device, 0, &why)); /* nothing runs */
  backend->release(device, heap);
  backend->discard(device, image);
  backend->close(device);
  kept = 0;
  assert_nothing_is_left();
  nothing_opens_after_a_trap();
  assert_nothing_is_left();
}

/* ---- set up ---- */

static void find_reset(void *library) {
  rdl_cu_result (*look)(const char *, void **, int, uint64_t, int *);
  void *symbol = dlsym(library, "cuGetProcAddress_v2");
  int found = 0;
  memcpy(&look, &symbol, sizeof look);
  (void)look("cuDevicePrimaryCtxReset", &symbol, 11000, RDL_CU_GET_PROC_ADDRESS_LEGACY_STREAM,
             &found);
  memcpy(&reset, &symbol, sizeof reset);
}

static int start(const char *driver, const char *nvml) {
  void *library, *nvml_library = dlopen(nvml, RTLD_NOW | RTLD_LOCAL);
  (void)setenv("RADDLE_NVML", nvml, 1);
  (void)setenv("RADDLE_CUDA_DRIVER", driver, 1);
  (void)setenv("RADDLE_NVRTC", driver, 1);
  cu = rdl__cu_symbols(&why);
  library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
  if (!cu || !library) {
    printf("%s\n", why.text);
    return 0;
  }
  state = dlsym(library, "standin_state");
  program_context = dlsym(library, "standin_context");
  find_reset(library);
  nvml_state = nvml_library ? dlsym(nvml_library, "standin_nvml_state") : NULL;
  return state && nvml_state && program_context && mkdtemp(root);
}

static void remove_root(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command); /* NOLINT(bugprone-command-processor): a test's own folder */
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_are_listed),
      cmocka_unit_test(capabilities_are_told),
      cmocka_unit_test(the_state_is_told),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(a_given_context_is_taken), /* before one is kept */
      cmocka_unit_test(the_current_context_is_taken),
      cmocka_unit_test(a_current_primary_context_is_held),
      cmocka_unit_test(the_primary_context_is_kept),
      cmocka_unit_test(a_given_context_is_taken), /* and again */
      cmocka_unit_test(the_current_context_is_taken),
      cmocka_unit_test(a_current_primary_context_is_held),
      cmocka_unit_test(a_context_of_another_device_is_left_alone),
      cmocka_unit_test(a_child_of_fork_has_none),
      cmocka_unit_test(a_context_that_was_reset_is_made_anew),
      cmocka_unit_test(workers_are_as_many_as_fit),
      cmocka_unit_test(epoch_mode_has_no_window),
      cmocka_unit_test(memory_is_zero_on_both_sides),
      cmocka_unit_test(large_transfers_arrive),
      cmocka_unit_test(many_small_transfers_arrive),
      cmocka_unit_test(mixed_transfers_arrive),
      cmocka_unit_test(a_window_is_open_beside_a_launch),
      cmocka_unit_test(too_much_memory_is_refused),
      cmocka_unit_test(device_memory_is_imported),
      cmocka_unit_test(memory_of_another_context_is_refused),
      cmocka_unit_test(host_memory_is_imported),
      cmocka_unit_test(memory_that_is_locked_is_imported),
      cmocka_unit_test(an_image_is_compiled_once),
      cmocka_unit_test(options_tell_the_shape),
      cmocka_unit_test(an_unknown_architecture_gets_ptx),
      cmocka_unit_test(errors_name_file_line_and_column),
      cmocka_unit_test(a_compiler_that_crashes_harms_nobody),
      cmocka_unit_test(a_compiler_that_hangs_is_ended),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(a_launch_has_its_shape),
      cmocka_unit_test(a_wait_has_a_limit),
      cmocka_unit_test(any_call_may_fail),
      cmocka_unit_test(a_lost_context_is_let_go),
      cmocka_unit_test(a_context_lost_meanwhile_is_made_anew),
      cmocka_unit_test(a_trap_loses_the_device), /* the last: the error stays */
  };
  int failed;
  if (argc != 3 || !start(argv[1], argv[2])) return 1;
  failed = cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
  remove_root();
  return failed;
}
