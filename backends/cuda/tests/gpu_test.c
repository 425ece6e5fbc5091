/* SPDX-License-Identifier: Apache-2.0 */
/* The backend on the GPU that is there, with a kernel of this file's own. Prints what things take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/clock.h"

/* Purposes of a launch of the text below; the first thread of each warp works. */
enum { NOTHING, COUNT, MEET, PASS_TIME, TRAP, TALK };

struct heap {
  uint32_t arrived;
  uint32_t wanted; /* MEET: workers that must be there at the same time */
  uint32_t met;
  uint32_t ticks; /* PASS_TIME: 2^20 of the clock */
  uint64_t stamp;
  uint64_t window; /* TALK */
  uint32_t sum;
  uint32_t pad;
};

static const char text[] =
    "extern \"C\" __global__ void __launch_bounds__(32 * RDL_WARPS, RDL_BLOCKS)\n"
    "rdl_launch(unsigned char *heap, unsigned purpose) {\n"
    "  unsigned *words = (unsigned *)heap;\n"
    "  long long begin = clock64();\n"
    "  if (threadIdx.x % RDL_LANES || !purpose) return;\n"
    "  atomicAdd(&words[0], 1u);\n"
    "  if (purpose == 2u)\n"
    "    for (int i = 0; i < 10000000; i++)\n"
    "      if (*(volatile unsigned *)&words[0] == words[1]) {\n"
    "        atomicAdd(&words[2], 1u);\n"
    "        break;\n"
    "      }\n"
    "  if (purpose == 3u)\n"
    "    while (clock64() - begin < ((long long)words[3] << 20)) __nanosleep(1000);\n"
    "  if (purpose == 4u) asm volatile(\"trap;\");\n"
    "  if (purpose == 5u && !blockIdx.x && !threadIdx.x) {\n"
    "    unsigned *window = *(unsigned **)&words[6];\n"
    "    for (unsigned k = 1, heard = 0; k <= 1000u; k++) {\n"
    "      while (heard != k)\n"
    "        asm volatile(\"ld.acquire.sys.u32 %0, [%1];\" : \"=r\"(heard) : \"l\"(window) : "
    "\"memory\");\n"
    "      words[8] = window[1] + k;\n"
    "      window[17] = window[1];\n"
    "      asm volatile(\"st.release.sys.u32 [%0], %1;\" : : \"l\"(window + 16), \"r\"(k) : "
    "\"memory\");\n"
    "    }\n"
    "  }\n"
    "  *(long long *)&words[4] = clock64();\n"
    "}\n";

static const rdl_backend *const backend = &rdl__backend_cuda;
static rdl_backend_device *device;
static rdl_backend_image *image;
static rdl_backend_facts facts;
static uint32_t units;
static rdl_reason why;

#define MUST(call) must((call), #call)

static void must(rdl_status status, const char *call) {
  if (status == RDL_OK) return;
  print_error("%s: %s: %s\n", call, rdl_status_name(status), why.text);
  fail();
}

static double since_us(uint64_t before) {
  return (double)(rdl__now_ns() - before) * 1e-3;
}

static void open_with(uint32_t workers) {
  const rdl_backend_options options = {.cache_dir = "", .workers = workers};
  const rdl_text_piece piece = {
      .name = "gpu_test.cu", .text = text, .length = sizeof text - 1, .first_line = 1};
  const rdl_image_text all = {.pieces = &piece, .count = 1, .hash = "unused"};
  uint64_t before = rdl__now_ns();
  MUST(backend->open(0, &options, &device, &why));
  printf("  open %.1f ms", since_us(before) * 1e-3);
  before = rdl__now_ns();
  MUST(backend->build(device, &all, &image, &why));
  printf(", build %.1f ms", since_us(before) * 1e-3);
  backend->facts(device, &facts);
  printf(", %u workers, %.3f GHz, %s\n", facts.max_workers, (double)facts.clock_hz * 1e-9,
         facts.compiler);
}

static void close_all(void) {
  backend->discard(device, image);
  backend->close(device);
  device = NULL;
  image = NULL;
}

static struct heap *new_heap(void) {
  void *memory = NULL;
  MUST(backend->allocate(device, sizeof(struct heap), &memory, &why));
  return memory;
}

static void push(struct heap *heap) {
  const rdl_transfer transfer = {heap, 0, sizeof *heap, heap};
  MUST(backend->write(device, &transfer, 1, &why));
}

static void pull(struct heap *heap) {
  const rdl_transfer transfer = {heap, 0, sizeof *heap, heap};
  MUST(backend->read(device, &transfer, 1, &why));
}

static void run(struct heap *heap, uint32_t purpose, uint32_t workers) {
  push(heap);
  MUST(backend->launch(device, image, heap, purpose, workers, &why));
  MUST(backend->wait(device, UINT64_MAX, &why));
  pull(heap);
}

/* ---- the tests ---- */

static void all_workers_meet(uint32_t asked) {
  struct heap *heap;
  open_with(asked);
  heap = new_heap();
  heap->wanted = (facts.max_workers + 3) / 4 * 4;
  run(heap, MEET, facts.max_workers);
  assert_int_equal(heap->met, heap->wanted);
  backend->release(device, heap);
  close_all();
}

static void workers_run_at_the_same_time(void **state) {
  (void)state;
  all_workers_meet(1);
  all_workers_meet(0);
  all_workers_meet(16 * units);
  all_workers_meet(100000);
}

static void transfer_all(const char *what, rdl_transfer *transfers, size_t count, size_t bytes) {
  enum { ROUNDS = 20 };
  uint64_t before = rdl__now_ns();
  double writes, reads;
  for (int k = 0; k < ROUNDS; k++)
    MUST(backend->write(device, transfers, count, &why));
  writes = since_us(before) / ROUNDS;
  before = rdl__now_ns();
  for (int k = 0; k < ROUNDS; k++)
    MUST(backend->read(device, transfers, count, &why));
  reads = since_us(before) / ROUNDS;
  printf("  %s: write %.1f us (%.2f GB/s), read %.1f us (%.2f GB/s)\n", what, writes,
         (double)bytes * 1e-3 / writes, reads, (double)bytes * 1e-3 / reads);
}

static void transfers_arrive(void **state) {
  enum { BYTES = 64 << 20, SMALL = 1000 };
  static rdl_transfer small[SMALL];
  unsigned char *memory = NULL, *back = malloc(BYTES);
  rdl_transfer all;
  (void)state;
  assert_non_null(back);
  MUST(backend->allocate(device, BYTES, (void **)(void *)&memory, &why));
  for (size_t k = 0; k < BYTES; k++)
    memory[k] = (unsigned char)(k * 31 + (k >> 12));
  memcpy(back, memory, BYTES);
  all = (rdl_transfer){memory, 0, BYTES, memory};
  transfer_all("64 MiB", &all, 1, BYTES);
  assert_memory_equal(memory, back, BYTES);
  all.bytes = 4096;
  transfer_all("4 KiB", &all, 1, 4096);
  for (size_t k = 0; k < SMALL; k++)
    small[k] = (rdl_transfer){memory, 1024 * k, 32, memory + 1024 * k};
  transfer_all("1000 times 32 bytes", small, SMALL, (size_t)32 * SMALL);
  assert_memory_equal(memory, back, BYTES);
  backend->release(device, memory);
  free(back);
}

/* Of all lengths up to a few words and at all places, against copies of the whole. */
static void small_transfers_arrive(void **state) {
  enum { PIECES = 4000, ROOM = 48, BYTES = PIECES * ROOM };
  static rdl_transfer small[PIECES];
  static unsigned char sent[BYTES], back[BYTES];
  rdl_transfer whole = {.bytes = BYTES};
  unsigned char *memory = NULL;
  (void)state;
  MUST(backend->allocate(device, BYTES, (void **)(void *)&memory, &why));
  whole.memory = memory;
  for (size_t k = 0; k < BYTES; k++)
    sent[k] = (unsigned char)(k * 2654435761u >> 24 | 1u);
  for (size_t k = 0; k < PIECES; k++) {
    size_t offset = ROOM * k + k / 33 % 9;
    small[k] = (rdl_transfer){memory, offset, k % 33, sent + offset};
  }
  MUST(backend->write(device, small, PIECES, &why));
  whole.host = back;
  MUST(backend->read(device, &whole, 1, &why));
  for (size_t k = 0; k < PIECES; k++) {
    assert_memory_equal(back + small[k].offset, sent + small[k].offset, small[k].bytes);
    assert_int_equal(back[small[k].offset + small[k].bytes], 0);
    small[k].host = back + small[k].offset;
  }
  whole.host = sent;
  for (size_t k = 0; k < BYTES; k++)
    sent[k] ^= 0x5a;
  MUST(backend->write(device, &whole, 1, &why));
  MUST(backend->read(device, small, PIECES, &why));
  for (size_t k = 0; k < PIECES; k++) {
    assert_memory_equal(back + small[k].offset, sent + small[k].offset, small[k].bytes);
    assert_int_equal(back[small[k].offset + small[k].bytes], 0);
  }
  backend->release(device, memory);
}

/* Host and kernel answer each other a thousand times, and each time the host reads what the kernel
 * wrote beside. */
static void a_window_is_open_beside_a_launch(void **state) {
  struct heap *heap = new_heap();
  uint32_t *window, sum;
  void *memory = NULL;
  rdl_transfer one = {heap, offsetof(struct heap, sum), sizeof sum, &sum};
  uint64_t before;
  (void)state;
  MUST(backend->allocate_window(device, 4096, &memory, &why));
  window = memory;
  heap->window = backend->address(device, window);
  push(heap);
  MUST(backend->launch(device, image, heap, TALK, 4, &why));
  before = rdl__now_ns();
  for (uint32_t k = 1; k <= 1000; k++) {
    window[1] = 7 * k;
    __atomic_store_n(&window[0], k, __ATOMIC_RELEASE);
    while (__atomic_load_n(&window[16], __ATOMIC_ACQUIRE) != k) {
    }
    assert_int_equal(window[17], 7 * k);
    MUST(backend->read(device, &one, 1, &why));
    assert_int_equal(sum, 8 * k);
  }
  printf("  a question, its answer and a read of 4 bytes: %.1f us\n", since_us(before) / 1000);
  MUST(backend->wait(device, 10000000000u, &why));
  backend->release(device, window);
  backend->release(device, heap);
}

static void launches_follow_each_other(void **state) {
  enum { ROUNDS = 1000 };
  struct heap *heap = new_heap();
  uint64_t before;
  (void)state;
  run(heap, COUNT, 4);
  before = rdl__now_ns();
  for (int k = 0; k < ROUNDS; k++) {
    MUST(backend->launch(device, image, heap, NOTHING, facts.max_workers, &why));
    MUST(backend->wait(device, UINT64_MAX, &why));
  }
  printf("  an empty launch and its wait: %.1f us\n", since_us(before) / ROUNDS);
  for (int k = 0; k < ROUNDS; k++) {
    MUST(backend->launch(device, image, heap, COUNT, facts.max_workers, &why));
    MUST(backend->wait(device, UINT64_MAX, &why));
  }
  pull(heap);
  assert_int_equal(heap->arrived, 4 + ROUNDS * facts.max_workers);
  backend->release(device, heap);
}

static void a_wait_has_a_limit(void **state) {
  struct heap *heap = new_heap();
  uint64_t before;
  (void)state;
  heap->ticks = 100; /* some 50 ms */
  push(heap);
  MUST(backend->launch(device, image, heap, PASS_TIME, 4, &why));
  before = rdl__now_ns();
  assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  assert_true(since_us(before) < 5000);
  assert_int_equal(backend->wait(device, 5000000, &why), RDL_TIMEOUT);
  assert_in_range(rdl__now_ns() - before, 5000000, 30000000);
  assert_int_equal(backend->launch(device, image, heap, COUNT, 1, &why), RDL_BUSY);
  MUST(backend->wait(device, 10000000000u, &why));
  printf("  2^20 * 100 ticks took %.1f ms: %.3f GHz\n", since_us(before) * 1e-3,
         100.0 * 1048576 / since_us(before) * 1e-3);
  backend->release(device, heap);
}

/* The last: the error stays until the process ends. */
static void a_trap_loses_the_device(void **state) {
  struct heap *heap = new_heap();
  void *more = NULL;
  (void)state;
  MUST(backend->launch(device, image, heap, TRAP, 4, &why));
  assert_int_equal(backend->wait(device, UINT64_MAX, &why), RDL_DEVICE_LOST);
  printf("  %s\n", why.text);
  assert_int_equal(backend->allocate(device, 64, &more, &why), RDL_DEVICE_LOST);
  printf("  %s\n", why.text);
  backend->release(device, heap);
}

static int open_usual(void **state) {
  (void)state;
  open_with(0);
  return 0;
}

static int close_usual(void **state) {
  (void)state;
  close_all();
  return 0;
}

int main(void) {
  const struct CMUnitTest first[] = {cmocka_unit_test(workers_run_at_the_same_time)};
  const struct CMUnitTest rest[] = {
      cmocka_unit_test(transfers_arrive),
      cmocka_unit_test(small_transfers_arrive),
      cmocka_unit_test(a_window_is_open_beside_a_launch),
      cmocka_unit_test(launches_follow_each_other),
      cmocka_unit_test(a_wait_has_a_limit),
      cmocka_unit_test(a_trap_loses_the_device),
  };
  rdl_device_info info = {.usable = 0};
  size_t count = 0;
  if (backend->enumerate(&info, 1, &count, &why) != RDL_OK) return 1;
  if (!count || !info.usable) {
    printf("no usable device: %s%s\n", why.text, info.missing);
    return 77;
  }
  units = info.compute_units;
  printf("%s, %u multiprocessors, %s\n", info.name, (unsigned)units, info.driver);
  return cmocka_run_group_tests_name("gpu", first, NULL, NULL) +
         cmocka_run_group_tests_name("gpu", rest, open_usual, close_usual);
}
