/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the installed NVRTC makes of our texts, on a driver that stands in for NVIDIA's.
 *
 * nvrtc_test DRIVER IMAGE: IMAGE is a file with the text of an image
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/common/file.h"
#include "backends/cuda/front.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/tests/standin.h"

#define DRIVER_VERSION 13000

static const rdl_backend *const backend = &rdl__backend_cuda;
static standin *state;
static const char *image_path;
static rdl_reason why;

/* Opens the device, builds and closes. */
static rdl_status build(int architecture, const char *text, size_t length) {
  const rdl_text_piece piece = {
      .name = "../some where/user.task.c", .text = text, .length = length, .first_line = 1};
  const rdl_image_text image_text = {.pieces = &piece, .count = 1, .hash = "unused"};
  const rdl_backend_options options = {.cache_dir = ""};
  rdl_backend_device *device = NULL;
  rdl_backend_image *image = NULL;
  rdl_status status;
  state->architecture = architecture;
  status = backend->open(0, &options, &device, &why);
  if (status == RDL_OK) status = backend->build(device, &image_text, &image, &why);
  backend->discard(device, image);
  backend->close(device);
  return status;
}

#define KERNEL "extern \"C\" __global__ void rdl_launch(unsigned char *heap, unsigned purpose)\n"

/* As task words use it: in macros, twice on a line, within blocks and loops, in two functions. */
static void the_counter_counts(void **unused) {
  static const char text[] =
      "#define POINT_(p) do { enum { at = p - base }; x[0] = at; return; case at:; } while (0)\n"
      "#define POINT() POINT_(__COUNTER__)\n"
      "#define TWO() POINT(); POINT()\n"
      "static __device__ void f(unsigned *x) {\n"
      "  enum { base = __COUNTER__ };\n"
      "  static_assert(base == 0);\n"
      "  int i;\n"
      "  switch (x[1]) { case 0:\n"
      "    POINT(); POINT();\n"
      "    for (i = 0; i < 3; i++) { TWO(); if (i) { TWO(); } }\n"
      "    POINT();\n"
      "  }\n"
      "  static_assert(__COUNTER__ == 8);\n"
      "}\n"
      "template <class T> static __device__ void g(T *x) {\n"
      "  enum { base = __COUNTER__ };\n"
      "  x[2] = base;\n"
      "}\n" KERNEL "{\n"
      "  f((unsigned *)heap);\n"
      "  g((unsigned *)heap);\n"
      "  static_assert(__COUNTER__ - __COUNTER__ == (unsigned)-1);\n"
      "}\n";
  (void)unused;
  if (build(90, text, sizeof text - 1) != RDL_OK) fail_msg("%s", why.text);
}

/* As `self->round < args->n` in a task: some of these names are templates of CUDA's. */
static void members_may_have_the_names_of_functions(void **unused) {
  static const char text[] =
      "struct s { unsigned round, floor, log, exp, min, max, abs, pow, isnan, n; };\n" KERNEL "{\n"
      "  struct s *self = (struct s *)heap, *args = self + 1;\n"
      "  while (self->round < args->n) self->round++;\n"
      "  while (self->floor < args->n || self->log < args->n || self->exp < args->n) "
      "self->floor++;\n"
      "  while (self->min < args->n || self->max < args->n || self->abs < args->n) self->min++;\n"
      "  while (self->pow < args->n || self->isnan < args->n) self->pow++;\n"
      "}\n";
  (void)unused;
  if (build(90, text, sizeof text - 1) != RDL_OK) fail_msg("%s", why.text);
}

static void errors_name_file_line_and_column(void **unused) {
  static const char text[] = "\n\n" KERNEL "{\n  heap[0] = undefd;\n}\n";
  static const char place[] = "../some where/user.task.c:5:13: error: ";
  (void)unused;
  assert_int_equal(build(90, text, sizeof text - 1), RDL_COMPILE);
  if (strncmp(why.text, place, sizeof place - 1) != 0) fail_msg("%s", why.text);
  assert_non_null(strstr(why.text, "undefd"));
}

static int has_word(const rdl_nvrtc_binary *binary, const char *word) {
  size_t length = strlen(word);
  for (size_t k = 0; k + length <= binary->size; k++)
    if (memcmp(binary->bytes + k, word, length) == 0) return 1;
  return 0;
}

/* Each image has the kernels that move transfers, by their plain names. */
static void the_backends_own_kernels_are_there(void **unused) {
  static const char options[] =
      "--gpu-architecture=sm_90 --std=c++20 --device-as-default-execution-space";
  rdl_nvrtc_binary binary = {.bytes = NULL};
  rdl_nvrtc nvrtc;
  char *log = NULL;
  (void)unused;
  assert_int_equal(rdl__nvrtc_find(DRIVER_VERSION, &nvrtc, &why), RDL_OK);
  if (rdl__nvrtc_compile(&nvrtc, options, (const char *)rdl__front_texts[0].text,
                         rdl__front_texts[0].size, NULL, &binary, &log, &why) != RDL_OK)
    fail_msg("%s", log ? log : why.text);
  assert_true(has_word(&binary, ".text.rdl_scatter"));
  assert_true(has_word(&binary, ".text.rdl_gather"));
  free(binary.bytes);
}

/* Functions and tables as C has them, with no word of CUDA's before them. */
static void plain_functions_are_the_devices(void **unused) {
  static const char text[] = "static const unsigned primes[3] = {2, 3, 5};\n"
                             "unsigned twice(unsigned n) { return 2u * n; }\n"
                             "static inline unsigned prime(unsigned k) {\n"
                             "  return twice(primes[k % 3u]);\n"
                             "}\n" KERNEL "{ heap[purpose] = (unsigned char)prime(purpose); }\n";
  (void)unused;
  if (build(90, text, sizeof text - 1) != RDL_OK) fail_msg("%s", why.text);
}

static void errors_in_plain_functions_are_named(void **unused) {
  static const char text[] = "unsigned twice(unsigned n) {\n"
                             "  return 2u * undefd;\n"
                             "}\n" KERNEL "{ heap[0] = (unsigned char)twice(purpose); }\n";
  static const char place[] = "../some where/user.task.c:2:15: error: ";
  (void)unused;
  assert_int_equal(build(90, text, sizeof text - 1), RDL_COMPILE);
  if (strncmp(why.text, place, sizeof place - 1) != 0) fail_msg("%s", why.text);
  assert_non_null(strstr(why.text, "undefd"));
}

static void a_whole_image_compiles(void **unused) {
  static const int architectures[] = {75, 80, 90};
  size_t length;
  char *text = rdl__file_read(image_path, &length);
  (void)unused;
  assert_non_null(text);
  for (size_t k = 0; k < sizeof architectures / sizeof architectures[0]; k++) {
    uint64_t before = rdl__now_ns();
    if (build(architectures[k], text, length) != RDL_OK)
      fail_msg("sm_%d: %s", architectures[k], why.text);
    printf("  sm_%d: %.1f s\n", architectures[k], (double)(rdl__now_ns() - before) * 1e-9);
  }
  free(text);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(members_may_have_the_names_of_functions),
      cmocka_unit_test(errors_name_file_line_and_column),
      cmocka_unit_test(the_backends_own_kernels_are_there),
      cmocka_unit_test(plain_functions_are_the_devices),
      cmocka_unit_test(errors_in_plain_functions_are_named),
      cmocka_unit_test(a_whole_image_compiles),
  };
  rdl_nvrtc nvrtc;
  void *library;
  if (argc != 3) return 1;
  if (rdl__nvrtc_find(DRIVER_VERSION, &nvrtc, &why) != RDL_OK) {
    printf("%s\n", why.text);
    return 77;
  }
  printf("NVRTC %d.%d, %s\n", nvrtc.major, nvrtc.minor, nvrtc.path);
  (void)setenv("RADDLE_CUDA_DRIVER", argv[1], 1);
  image_path = argv[2];
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  state = library ? dlsym(library, "standin_state") : NULL;
  if (!state) return 1;
  return cmocka_run_group_tests_name("nvrtc", tests, NULL, NULL);
}
