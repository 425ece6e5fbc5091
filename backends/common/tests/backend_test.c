/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend promises in backend.h, for the backend named by the argument. The text that runs
 * is this file's own, over the dialect of the embedded kernel text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/common/kernel_text.h"

#define MOST 8u

/* Purposes of a launch of the text below. */
enum { COUNT, SPIN, MEET, NOTHING, TALK };

struct heap {
  uint32_t arrived; /* workers that have begun */
  uint32_t sum;
  uint32_t go;     /* SPIN: the host lets the workers go */
  uint32_t wanted; /* MEET: workers that must be there at the same time */
  uint32_t met;
  uint32_t pad[27];
  uint64_t stamps[MOST];
};

static const char text[] = "RDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose)\n"
                           "{\n"
                           "  RDL_GLOBAL rdl_u32 *words = (RDL_GLOBAL rdl_u32 *)heap;\n"
                           "  RDL_GLOBAL rdl_u64 *stamps = (RDL_GLOBAL rdl_u64 *)(heap + 128);\n"
                           "  rdl_u32 me, i;\n"
                           "  if (purpose == 3u) return;\n"
                           "  me = rdl_fetch_add(&words[0], 1u);\n"
                           "  stamps[me] = rdl_clock();\n"
                           "  if (purpose == 0u)\n"
                           "    for (i = 0; i < 1000u; i++) rdl_fetch_add(&words[1], 1u);\n"
                           "  if (purpose == 1u)\n"
                           "    while (!rdl_load_acquire(&words[2])) rdl_relax();\n"
                           "  if (purpose == 2u)\n"
                           "    for (i = 0; i < 400000000u; i++) {\n"
                           "      if (rdl_load_acquire(&words[0]) == words[3]) {\n"
                           "        rdl_fetch_add(&words[4], 1u);\n"
                           "        return;\n"
                           "      }\n"
                           "      rdl_relax();\n"
                           "    }\n"
                           "  if (purpose == 4u) {\n"
                           "    RDL_GLOBAL rdl_u32 *window =\n"
                           "        (RDL_GLOBAL rdl_u32 *)(rdl_address)stamps[7];\n"
                           "    for (i = 1; i <= 1000u; i++) {\n"
                           "      while (rdl_hear(&window[0]) != i) rdl_relax();\n"
                           "      words[1] = window[1] + i;\n"
                           "      window[17] = window[1];\n"
                           "      rdl_tell(&window[16], i);\n"
                           "    }\n"
                           "  }\n"
                           "}\n";

static const rdl_backend *backend;
static rdl_backend_device *device;
static rdl_reason why;
static char root[] = "/tmp/raddle-backend-test-XXXXXX";

#define MUST(call) must((call), #call)

static void must(rdl_status status, const char *call) {
  if (status == RDL_OK) return;
  print_error("%s: %s: %s\n", call, rdl_status_name(status), why.text);
  fail();
}

static rdl_backend_device *open_with(uint32_t workers, const char *cache_dir) {
  rdl_backend_options options = {.workers = workers, .cache_dir = cache_dir};
  rdl_backend_device *opened = NULL;
  MUST(backend->open(0, &options, &opened, &why));
  return opened;
}

static int set_up(void **state) {
  (void)state;
  device = open_with(MOST, root);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  backend->close(device);
  return 0;
}

static rdl_text_piece dialect(void) {
  for (unsigned i = 0; i < rdl__kernel_text_count; i++)
    if (strcmp(rdl__kernel_texts[i].name, "dialect.h") == 0)
      return (rdl_text_piece){.name = "dialect.h",
                              .text = (const char *)rdl__kernel_texts[i].text,
                              .length = rdl__kernel_texts[i].size,
                              .first_line = 1};
  fail_msg("dialect.h is not among the kernel texts");
  return (rdl_text_piece){0};
}

static rdl_status build(rdl_backend_device *on, const char *name, const char *own, const char *hash,
                        rdl_backend_image **out_image) {
  rdl_text_piece pieces[] = {dialect(),
                             {.name = name, .text = own, .length = strlen(own), .first_line = 1}};
  rdl_image_text image = {.pieces = pieces, .count = 2, .hash = hash};
  return backend->build(on, &image, out_image, &why);
}

static struct heap *new_heap(void) {
  void *memory = NULL;
  MUST(backend->allocate(device, sizeof(struct heap), &memory, &why));
  assert_int_equal((uintptr_t)memory % 64, 0);
  return memory;
}

static rdl_backend_image *built(void) {
  rdl_backend_image *image = NULL;
  MUST(build(device, "test.c", text, "1", &image));
  return image;
}

static void run(rdl_backend_image *image, struct heap *heap, uint32_t purpose, uint32_t workers) {
  MUST(backend->launch(device, image, heap, purpose, workers, &why));
  MUST(backend->wait(device, UINT64_MAX, &why));
}

/* ---- the tests ---- */

static void devices_are_described(void **state) {
  rdl_device_info infos[8];
  size_t count = 0;
  (void)state;
  MUST(backend->enumerate(NULL, 0, &count, &why));
  assert_in_range(count, 1, 8);
  MUST(backend->enumerate(infos, 8, &count, &why));
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(infos[i].backend, backend->name);
    assert_memory_equal(infos[i].selector, backend->name, strlen(backend->name));
    assert_true(infos[i].name[0] && infos[i].platform[0] && infos[i].driver[0]);
    assert_in_range(infos[i].compute_units, 1, 100000);
    assert_int_equal(infos[i].usable == 1, infos[i].missing[0] == 0);
  }
}

static void a_device_that_is_not_there(void **state) {
  rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *opened = NULL;
  (void)state;
  assert_int_equal(backend->open(1000, &options, &opened, &why), RDL_NOT_FOUND);
  assert_null(opened);
  assert_true(why.text[0]);
  backend->close(NULL);
}

static void facts_hold(void **state) {
  rdl_backend_facts facts;
  (void)state;
  backend->facts(device, &facts);
  assert_int_equal(facts.max_workers, MOST);
  assert_int_equal(facts.lanes, 1);
  assert_true(facts.max_allocation >= 1u << 20);
  assert_true(facts.compiler[0]);
}

static void memory_is_zero(void **state) {
  (void)state;
  for (size_t size = 1; size <= 64u << 20; size *= 8) {
    for (int round = 0; round < 2; round++) {
      unsigned char *bytes = NULL;
      void *memory = NULL;
      MUST(backend->allocate(device, size, &memory, &why));
      bytes = memory;
      for (size_t i = 0; i < size; i += size < 4096 ? 1 : 1021)
        assert_int_equal(bytes[i], 0);
      memset(bytes, 0xee, size); /* what a second round must not see */
      backend->release(device, memory);
    }
  }
  backend->release(device, NULL);
}

static void too_much_memory_is_refused(void **state) {
  void *memory = NULL;
  (void)state;
  assert_int_equal(backend->allocate(device, SIZE_MAX - 8, &memory, &why), RDL_OUT_OF_MEMORY);
  assert_null(memory);
  assert_true(why.text[0]);
}

static void workers_count(void **state) {
  static const uint32_t widths[] = {1, 2, MOST};
  rdl_backend_image *image = built();
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct heap *heap = new_heap();
    for (uint32_t round = 1; round <= 50; round++) {
      heap->arrived = 0;
      run(image, heap, COUNT, widths[i]);
      assert_int_equal(heap->arrived, widths[i]);
      assert_int_equal(heap->sum, round * widths[i] * 1000);
    }
    backend->release(device, heap);
  }
  backend->discard(device, image);
  backend->discard(device, NULL);
}

static void workers_run_at_the_same_time(void **state) {
  rdl_backend_image *image = built();
  struct heap *heap = new_heap();
  (void)state;
  heap->wanted = MOST;
  run(image, heap, MEET, MOST);
  assert_int_equal(heap->met, MOST);
  backend->release(device, heap);
  backend->discard(device, image);
}

/* Two stamps about 20 ms apart by the clock of the host. */
static void the_clock_has_its_rate(void **state) {
  rdl_backend_image *image = built();
  struct heap *heap = new_heap();
  rdl_backend_facts facts;
  uint64_t first, before, host, ticks;
  (void)state;
  backend->facts(device, &facts);
  run(image, heap, COUNT, 1);
  before = rdl__now_ns();
  heap->arrived = 0;
  run(image, heap, COUNT, 1);
  first = heap->stamps[0];
  usleep(20000);
  heap->arrived = 0;
  run(image, heap, COUNT, 1);
  host = rdl__now_ns() - before;
  ticks = heap->stamps[0] - first;
  if (facts.clock_hz) {
    double ns = (double)ticks * 1e9 / (double)facts.clock_hz;
    assert_true(ns > 19e6 && ns < (double)host * 1.01);
  } else {
    assert_int_equal(heap->stamps[0], 0);
  }
  backend->release(device, heap);
  backend->discard(device, image);
}

static void a_wait_has_a_limit_and_the_host_can_end_it(void **state) {
  rdl_backend_image *image = built();
  struct heap *heap = new_heap();
  uint64_t before, took;
  (void)state;
  MUST(backend->wait(device, 0, &why)); /* nothing runs */
  MUST(backend->launch(device, image, heap, SPIN, 2, &why));
  assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  before = rdl__now_ns();
  assert_int_equal(backend->wait(device, 5000000, &why), RDL_TIMEOUT);
  took = rdl__now_ns() - before;
  assert_in_range(took, 5000000, 1000000000);
  assert_int_equal(backend->launch(device, image, heap, COUNT, 1, &why), RDL_BUSY);
  __atomic_store_n(&heap->go, 1u, __ATOMIC_RELEASE);
  MUST(backend->wait(device, 10000000000u, &why));
  assert_int_equal(heap->arrived, 2);
  backend->release(device, heap);
  backend->discard(device, image);
}

static void a_wrong_number_of_workers(void **state) {
  rdl_backend_image *image = built();
  struct heap *heap = new_heap();
  (void)state;
  assert_int_equal(backend->launch(device, image, heap, COUNT, 0, &why), RDL_INVALID);
  assert_int_equal(backend->launch(device, image, heap, COUNT, MOST + 1, &why), RDL_INVALID);
  MUST(backend->wait(device, 0, &why));
  backend->release(device, heap);
  backend->discard(device, image);
}

static void errors_name_file_line_and_column(void **state) {
  static const char *const broken[] = {
      "\n\nRDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose)\n"
      "{\n  heap[0] = undefd;\n}\n",
      "\n\nRDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose)\n"
      "{\n  heap[0] = undefd(purpose);\n}\n",
  };
  (void)state;
  for (int i = 0; i < 2; i++) {
    rdl_backend_image *image = NULL;
    assert_int_equal(build(device, "../some where/user.task.c", broken[i], "2", &image),
                     RDL_COMPILE);
    assert_null(image);
    assert_memory_equal(why.text, "../some where/user.task.c:5:13: error: ", 39);
    assert_non_null(strstr(why.text, "undefd"));
  }
}

static void two_images_live_side_by_side(void **state) {
  rdl_backend_image *first = built();
  rdl_backend_image *second = NULL;
  struct heap *heap = new_heap();
  (void)state;
  MUST(build(device, "other.c",
             "RDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose)\n"
             "{ rdl_fetch_add((RDL_GLOBAL rdl_u32 *)heap, 7u + purpose); }\n",
             "5", &second));
  run(first, heap, COUNT, 2);
  run(second, heap, 10, 2);
  assert_int_equal(heap->arrived, 2 + 2 * 17);
  backend->discard(device, first);
  run(second, heap, 10, 2);
  assert_int_equal(heap->arrived, 2 + 4 * 17);
  backend->discard(device, second);
  backend->release(device, heap);
}

static void one_without_a_window_says_so(void) {
  void *memory = NULL;
  assert_int_equal(backend->allocate_window(device, 4096, &memory, &why), RDL_UNSUPPORTED);
  assert_null(memory);
  assert_true(why.text[0]);
}

/* Word 0 and what stands behind it are the host's, word 16 and what stands behind it the kernel's;
 * beside them it writes to its own memory, which is read while it runs. */
static void talk(struct heap *heap, uint32_t *window) {
  for (uint32_t k = 1; k <= 1000u; k++) {
    uint32_t sum = 0;
    rdl_transfer one = {heap, offsetof(struct heap, sum), sizeof sum, &sum};
    window[1] = 7u * k;
    __atomic_store_n(&window[0], k, __ATOMIC_RELEASE);
    while (__atomic_load_n(&window[16], __ATOMIC_ACQUIRE) != k) {
    }
    assert_int_equal(window[17], 7u * k);
    MUST(backend->read(device, &one, 1, &why));
    assert_int_equal(sum, 8u * k);
    if (k < 1000u) assert_int_equal(backend->wait(device, 0, &why), RDL_TIMEOUT);
  }
}

static void a_window_is_open_while_a_launch_runs(void **state) {
  rdl_backend_options options = {.workers = 1, .cache_dir = root, .apart = 1};
  rdl_backend_device *usual = device;
  rdl_backend_facts facts;
  (void)state;
  MUST(backend->open(0, &options, &device, &why));
  backend->facts(device, &facts);
  if (facts.window) {
    rdl_backend_image *image = built();
    struct heap *heap = new_heap();
    rdl_transfer all = {heap, 0, sizeof *heap, heap};
    void *window = NULL;
    assert_false(facts.shared);
    MUST(backend->allocate_window(device, 4096, &window, &why));
    assert_int_equal((uintptr_t)window % 64, 0);
    for (unsigned k = 0; k < 4096u; k++)
      assert_int_equal(((unsigned char *)window)[k], 0);
    heap->stamps[MOST - 1u] = backend->address(device, window);
    MUST(backend->write(device, &all, 1, &why));
    MUST(backend->launch(device, image, heap, TALK, 1, &why));
    talk(heap, window);
    MUST(backend->wait(device, UINT64_MAX, &why));
    backend->release(device, window);
    backend->release(device, heap);
    backend->discard(device, image);
  } else {
    one_without_a_window_says_so();
  }
  backend->close(device);
  device = usual;
}

static void remove_root(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command); /* NOLINT(bugprone-command-processor): a test's own folder */
}

static const rdl_backend *find_backend(const char *name) {
  for (unsigned i = 0; i < rdl__backend_count; i++)
    if (strcmp(rdl__backends[i]->name, name) == 0) return rdl__backends[i];
  return NULL;
}

/* The text above works on words that the host sees at once, and counts lanes as workers. */
static int suits(void) {
  const rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *opened = NULL;
  rdl_backend_facts facts = {.shared = 0};
  if (backend->open(0, &options, &opened, &why) != RDL_OK) return 1; /* the tests say why */
  backend->facts(opened, &facts);
  backend->close(opened);
  return facts.shared && facts.lanes == 1;
}

static int run_group(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_are_described),
      cmocka_unit_test(a_device_that_is_not_there),
      cmocka_unit_test(facts_hold),
      cmocka_unit_test(memory_is_zero),
      cmocka_unit_test(too_much_memory_is_refused),
      cmocka_unit_test(workers_count),
      cmocka_unit_test(workers_run_at_the_same_time),
      cmocka_unit_test(the_clock_has_its_rate),
      cmocka_unit_test(a_wait_has_a_limit_and_the_host_can_end_it),
      cmocka_unit_test(a_wrong_number_of_workers),
      cmocka_unit_test(errors_name_file_line_and_column),
      cmocka_unit_test(two_images_live_side_by_side),
      cmocka_unit_test(a_window_is_open_while_a_launch_runs),
  };
  return cmocka_run_group_tests_name(backend->name, tests, set_up, tear_down);
}

/* As many pool threads as the tests want workers: PoCL runs that many groups at the same time. */
static void set_pocl_threads(void) {
  char count[8];
  (void)snprintf(count, sizeof count, "%u", MOST);
  (void)setenv("POCL_MAX_PTHREAD_COUNT", count, 1);
  (void)setenv("POCL_CPU_MAX_CU_COUNT", count, 1);
}

int main(int argc, char **argv) {
  rdl_device_info info;
  size_t count = 0;
  int failed;
  set_pocl_threads();
  backend = argc > 1 ? find_backend(argv[1]) : NULL;
  if (!backend) {
    printf("usage: backend_test BACKEND\n");
    return 1;
  }
  if (backend->enumerate(&info, 1, &count, &why) != RDL_OK) return 1;
  if (!count || !info.usable) {
    printf("no usable device: %s%s\n", why.text, count ? info.missing : "");
    return 77;
  }
  if (!suits()) {
    printf("memory is apart, or workers have several lanes: the backend has tests of its own\n");
    return 77;
  }
  if (!mkdtemp(root)) return 1;
  failed = run_group();
  remove_root();
  return failed;
}
