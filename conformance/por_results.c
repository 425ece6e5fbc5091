/* SPDX-License-Identifier: Apache-2.0 */
/* POR 1: the same tasks give the same results on the tested device and on the host. */
#include <string.h>

#include "conformance/harness.h"

#define TASKS "por.task.c"

/* Mirrors struct por_types of the task file. The order is a bad one on purpose. */
typedef struct por_types { /* NOLINT(clang-analyzer-optin.performance.Padding) */
  uint8_t a;
  uint64_t b;
  uint16_t c;
  uint32_t d;
  int8_t e;
  int64_t f;
  int16_t g;
  int32_t h;
  float i;
  double j;
  uint8_t k[5];
  uint32_t l[3];
  rdl_ptr m;
  rdl_future n;
  uint8_t o;
} por_types;

static bed open_here(void) {
  return bed_open(TASKS);
}

static bed open_host(void) {
  rdl_context_options options = bed_options();
  return bed_open_on("host", TASKS, &options);
}

void POR_1_types(void) {
  bed b = open_here();
  por_types t;
  rdl_future f;
  uint64_t sum = 0;
  memset(&t, 0xff, sizeof t); /* padding must not matter */
  t.a = 200, t.b = 1ull << 40, t.c = 60000, t.d = 4000000000u, t.e = -100, t.f = -(1ll << 41);
  t.g = -30000, t.h = -2000000000, t.i = 1024.0f, t.j = 4294967296.0;
  memcpy(t.k, "\1\2\3\4\5", 5);
  t.l[0] = 10, t.l[1] = 20, t.l[2] = 30;
  t.m = 1ull << 50, t.n = (rdl_future){7, 8}, t.o = 99;
  CHECK_OK(rdl_spawn(b.tasks, "por_sum_types", &t, sizeof t, NULL, &f));
  CHECK_OK(rdl_future_get(b.cx, f, &sum, sizeof sum, PATIENCE_NS));
  CHECK_EQ(200ull + (1ull << 40) + 60000ull + 4000000000ull - 100ull - (1ull << 41) - 30000ull -
               2000000000ull + 1024ull + 4294967296ull + 15ull + 60ull + (1ull << 50) + 15ull +
               99ull,
           sum);
  bed_close(&b);
}

static void compare(bed *a, bed *b, const char *task, task_args args) {
  uint32_t here = get(a, start(a, task, args));
  uint32_t host = get(b, start(b, task, args));
  if (here != host)
    test_fail(__FILE__, __LINE__, "%s with n = %u, k = %u gives %u here and %u on the host", task,
              args.n, args.k, here, host);
}

void POR_1_results(void) {
  bed a = open_here(), b = open_host();
  uint32_t k;
  for (k = 0; k < 20; k++) {
    task_args args = {.n = chance(1u << 31), .k = chance(1u << 31)};
    compare(&a, &b, "por_integers", args);
    compare(&a, &b, "por_floats", args);
    compare(&a, &b, "por_lanes", args);
  }
  compare(&a, &b, "por_tree", (task_args){.n = 1, .k = 10});
  compare(&a, &b, "por_control", (task_args){.n = 1});
  bed_close(&a);
  bed_close(&b);
}

void POR_1_memory(void) {
  enum { WORDS = 4000 };
  bed b = open_here();
  memory m = memory_new(&b, (size_t)2 * WORDS);
  static uint32_t random[2 * WORDS];
  const uint32_t *words;
  uint32_t k;
  for (k = 0; k < WORDS; k++)
    random[k] = chance(UINT32_MAX);
  memory_store(&m, random);
  get_none(&b, start_many(&b, "por_stencil", WORDS, (task_args){.at = m.at, .k = WORDS}));
  words = memory_load(&m);
  for (k = 0; k < WORDS; k++)
    CHECK_EQ(mix(words[k], words[(k + 1) % WORDS] ^ words[(k + WORDS - 1) % WORDS]),
             words[WORDS + k]);
  bed_close(&b);
}

void POR_1_lane_types(void) {
  bed b = open_here();
  rdl_future futures[20];
  uint32_t k;
  for (k = 0; k < 20; k++)
    futures[k] = START(&b, "por_lane_types", .n = 12345 * k, .k = k + 1);
  for (k = 0; k < 20; k++)
    CHECK_EQ(k + 1, get(&b, futures[k]));
  bed_close(&b);
}

void POR_1_atomics(void) {
  bed b = open_here();
  memory m = memory_new(&b, 1);
  CHECK_EQ(8, RUN(&b, "por_atomics", .at = m.at));
  bed_close(&b);
}

/* The graphs of every other group in one program each: results of the host are the measure. */
void POR_1_schedules(void) {
  bed a = open_here(), b = open_host();
  rdl_future fa[50], fb[50];
  uint32_t k;
  for (k = 0; k < 50; k++) {
    fa[k] = START(&a, "por_control", .n = k);
    fb[k] = START(&b, "por_control", .n = k);
  }
  for (k = 0; k < 50; k++)
    CHECK_EQ(get(&b, fb[k]), get(&a, fa[k]));
  bed_close(&a);
  bed_close(&b);
}

/* What a module says of its tasks is the same everywhere. */
void POR_1_descriptions(void) {
  static const char *const names[] = {"por_sum_types", "por_integers", "por_tree",
                                      "por_control",   "por_stencil",  "por_lane_types"};
  bed a = open_here(), b = open_host();
  size_t k;
  for (k = 0; k < sizeof names / sizeof names[0]; k++) {
    rdl_task_description ta = {.size = sizeof ta}, tb = {.size = sizeof tb};
    CHECK_OK(rdl_module_task(a.tasks, names[k], &ta));
    CHECK_OK(rdl_module_task(b.tasks, names[k], &tb));
    CHECK_EQ(tb.args_size, ta.args_size);
    CHECK_EQ(tb.state_size, ta.state_size);
    CHECK_EQ(tb.result_size, ta.result_size);
    CHECK_EQ(tb.spawns, ta.spawns);
    CHECK_EQ(tb.resume_points, ta.resume_points);
    CHECK_EQ(tb.line, ta.line);
    CHECK_EQ(tb.lane_state_size, ta.lane_state_size);
  }
  bed_close(&a);
  bed_close(&b);
}
