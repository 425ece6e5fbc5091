/* SPDX-License-Identifier: Apache-2.0 */
/* POR 1 and FUT 15: workers of one lane and of many. What a case expects is computed here for the
 * number of lanes that the workers have. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "lan.task.c"

enum { MOST_LANES = 64 };

static uint32_t lanes_of(bed *b) {
  rdl_context_info info = {.size = sizeof info};
  CHECK_OK(rdl_context_describe(b->cx, &info));
  CHECK_BETWEEN(1, info.lanes, MOST_LANES);
  return info.lanes;
}

/* ---- barriers in loops: compilers have run such bodies twice, or without end ---- */

static void check_barriers(const char *task, uint32_t (*seen)(uint32_t, uint32_t, uint32_t)) {
  enum { FUTURES = 8 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(500, 60)), lanes = lanes_of(&b);
  uint32_t total = 0, lane, round, k;
  memory m = memory_new(&b, (size_t)2 * MOST_LANES * FUTURES);
  rdl_future futures[FUTURES];
  for (lane = 0; lane < lanes; lane++) {
    uint32_t sum = 0;
    for (round = 0; round < rounds; round++)
      sum = mix(sum, seen(lanes, lane, round));
    total += sum;
  }
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, task, .at = m.at + (rdl_ptr)8 * MOST_LANES * k, .n = rounds);
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(total, get(&b, futures[k]));
  bed_close(&b);
}

static uint32_t of_neighbour(uint32_t lanes, uint32_t lane, uint32_t round) {
  return mix(round, (lane + round) % lanes);
}

static uint32_t of_first(uint32_t lanes, uint32_t lane, uint32_t round) {
  (void)lane;
  return mix(round, round % lanes) + 1;
}

void POR_1_barrier(void) {
  check_barriers("lan_one", of_neighbour);
}

void POR_1_two_barriers(void) {
  check_barriers("lan_two", of_neighbour);
}

void POR_1_three_barriers(void) {
  check_barriers("lan_three", of_first);
}

/* ---- words of all lanes ---- */

typedef struct reduced {
  uint32_t sum, least, most, before[MOST_LANES], value[MOST_LANES];
  uint64_t odd;
  float float_sum, float_least, float_most, float_before[MOST_LANES], float_value[MOST_LANES];
} reduced;

static void reduce(uint32_t lanes, uint32_t base, reduced *out) {
  uint32_t lane;
  *out = (reduced){.least = UINT32_MAX, .float_least = 1e9f};
  for (lane = 0; lane < lanes; lane++) {
    uint32_t v = mix(base, lane);
    float f = (float)(v % 1000u) * 0.5f;
    out->value[lane] = v;
    out->float_value[lane] = f;
    out->before[lane] = out->sum;
    out->float_before[lane] = out->float_sum;
    out->sum += v;
    out->float_sum += f;
    if (v < out->least) out->least = v;
    if (v > out->most) out->most = v;
    if (f < out->float_least) out->float_least = f;
    if (f > out->float_most) out->float_most = f;
    out->odd |= (uint64_t)(v & 1u) << lane;
  }
}

static uint32_t lane_words(const reduced *r, uint32_t lanes, uint32_t lane, uint32_t chosen) {
  uint32_t sum = mix(0, r->sum);
  sum = mix(sum, r->least);
  sum = mix(sum, r->most);
  sum = mix(sum, r->before[lane]);
  sum = mix(sum, r->value[chosen]);
  sum = mix(sum, (uint32_t)r->odd);
  sum = mix(sum, (uint32_t)(r->odd >> 32));
  sum = mix(sum, (uint32_t)r->float_sum);
  sum = mix(sum, (uint32_t)(2.0f * r->float_least));
  sum = mix(sum, (uint32_t)(2.0f * r->float_most));
  sum = mix(sum, (uint32_t)(2.0f * r->float_before[lane]));
  return mix(sum, (uint32_t)(2.0f * r->float_value[lanes - 1]));
}

void POR_1_lane_words(void) {
  enum { TASKS_OF_WORDS = 60 };
  bed b = bed_open(TASKS);
  uint32_t lanes = lanes_of(&b), base = chance(1u << 31), lane, k;
  memory m = memory_new(&b, (size_t)TASKS_OF_WORDS * MOST_LANES);
  rdl_future futures[TASKS_OF_WORDS];
  const uint32_t *words;
  for (k = 0; k < TASKS_OF_WORDS; k++)
    futures[k] = START(&b, "lan_words", .at = m.at + (rdl_ptr)4 * MOST_LANES * k, .n = k % lanes,
                       .k = base + k);
  for (k = 0; k < TASKS_OF_WORDS; k++)
    CHECK_EQ(lanes, get(&b, futures[k]));
  words = memory_load(&m);
  for (k = 0; k < TASKS_OF_WORDS; k++) {
    reduced r;
    reduce(lanes, base + k, &r);
    for (lane = 0; lane < lanes; lane++)
      CHECK_EQ(lane_words(&r, lanes, lane, k % lanes), words[k * MOST_LANES + lane]);
  }
  bed_close(&b);
}

/* ---- words that one lane does for all ---- */

void POR_1_lane_spawns(void) {
  enum { ROUNDS = SCALED(300, 60) };
  bed b = bed_open(TASKS);
  CHECK_EQ(ROUNDS, RUN(&b, "lan_spawns", .n = ROUNDS));
  bed_settle(&b);
  CHECK_EQ(1 + 8 * ROUNDS, bed_stats(&b).spawned);
  bed_close(&b);
}

void POR_1_lane_misuse(void) {
  bed b = bed_open(TASKS);
  CHECK_END(&b, START(&b, "lan_twice", .n = 1), RDL_STALE, 0);
  CHECK_END(&b, START(&b, "lan_too_soon", .n = 1), RDL_INVALID, 0);
  CHECK_EQ(1, RUN(&b, "lan_spawns", .n = 1));
  bed_close(&b);
}

void POR_1_lane_children(void) {
  enum { FUTURES = 20, ROUNDS = 10 };
  bed b = bed_open(TASKS);
  uint32_t lanes = lanes_of(&b), wanted = FUTURES, lane, round, k;
  rdl_future futures[FUTURES];
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, "lan_children", .n = k, .k = ROUNDS);
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(0, get(&b, futures[k]));
  for (k = 0; k < FUTURES; k++)
    for (round = 0; round < ROUNDS; round++)
      for (lane = 0; lane < lanes; lane++)
        wanted += mix(k, round) >> lane % 32u & 1u;
  CHECK_EQ(wanted, bed_stats(&b).spawned);
  bed_close(&b);
}

/* ---- FUT 15 ---- */

void FUT_15_writes(void) {
  enum { WORDS = 1000, READERS = 3 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(1000, 100));
  rdl_event event = new_event(&b, rounds, 0);
  memory m = memory_new(&b, WORDS);
  task_args args = {.at = m.at, .e = event, .n = rounds, .k = WORDS};
  rdl_future readers[READERS], writer;
  uint32_t k;
  for (k = 0; k < READERS; k++)
    readers[k] = start(&b, "lan_reader", args);
  writer = start(&b, "lan_writer", args);
  for (k = 0; k < READERS; k++)
    CHECK_EQ(0, get(&b, readers[k]));
  get_none(&b, writer);
  bed_close(&b);
}

void FUT_15_once(void) {
  enum { ROUNDS = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  get_none(&b, START(&b, "lan_onces", .at = m.at, .n = ROUNDS));
  CHECK_EQ(2 * ROUNDS, word_at(&m, 0));
  CHECK_EQ(ROUNDS, word_at(&m, 1));
  bed_close(&b);
}

/* A cancel that comes from another task while all lanes work without an await. */
void POR_1_lane_cancel(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future until, stop;
  need_resident(&b);
  if (b.workers < 2) test_skip("who cancels needs a worker beside the one that works");
  until = START(&b, "lan_until", .at = m.at, .e = event);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  stop = START(&b, "lan_stop", .f = until);
  get_none(&b, stop);
  CHECK_END(&b, until, RDL_CANCELLED, 0);
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  bed_close(&b);
}

/* The child that would be cancelled first is parted with meanwhile. */
void POR_1_lane_parts(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t k;
  need_resident(&b);
  for (k = 0; k < 20; k++) {
    rdl_future parts = START(&b, "lan_parts", .at = m.at, .k = k % 2u);
    CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
    CHECK_OK(rdl_future_cancel(b.cx, parts));
    CHECK_END(&b, parts, RDL_CANCELLED, 0);
    word_set(&m, 0, 0);
  }
  bed_close(&b);
}

/* The segment is long enough for the host to hand on what its worker keeps from others. */
void POR_1_lane_long(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1 + 64);
  rdl_context_info info = {.size = sizeof info};
  uint32_t k;
  need_resident(&b);
  if (b.workers < 2) test_skip("needs several workers");
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK(info.lanes <= 64);
  CHECK_EQ(1, RUN(&b, "lan_long", .at = m.at,
                  .k = suite_scale(SCALED(1000000000u, 20000000u)) / info.lanes));
  for (k = 1; k <= info.lanes; k++)
    CHECK_EQ(1, word_at(&m, k));
  CHECK_EQ(0, word_at(&m, 0));
  bed_close(&b);
}

void POR_1_lane_any(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 6);
  rdl_future any;
  need_resident(&b);
  if (b.workers < 2 || settings.segment_limit)
    test_skip("who takes the cancel must be there beside the one that works");
  any = START(&b, "lan_any", .at = m.at);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, any));
  get_none(&b, START(&b, "lan_once", .at = m.at + 4 * sizeof(uint32_t))); /* behind the cancel */
  word_set(&m, 1, 1);
  CHECK_END(&b, any, RDL_CANCELLED, 0);
  CHECK_EQ(RDL_CANCELLED, word_at(&m, 2));
  CHECK_EQ(1, word_at(&m, 3));
  bed_close(&b);
}

/* A file of its own: whether a compiler mixes up the lanes depends on all of a text. */
static const char waits_text[] =
    "struct w_args { rdl_ptr at; rdl_future f; rdl_future g; rdl_event e; rdl_event d; uint n; "
    "uint "
    "k; };\n"
    "struct w_lane { rdl_future child; };\n"
    "RDL_TASK(w_wait, RDL_NONE, struct w_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_AWAIT_EVENT(args->e);\n"
    "  RDL_END();\n"
    "}\n"
    "RDL_TASK_LANES(w_some, uint, struct w_args, RDL_NONE, struct w_lane) {\n"
    "  uint outcome;\n"
    "  RDL_BEGIN();\n"
    "  RDL_SPAWN_LANES(mine->child, rdl_lane() < 3u, w_wait, .e = args->e);\n"
    "  rdl_atomic_add(RDL_AT(uint, args->at), rdl_lane() == 0);\n"
    "  RDL_AWAIT_CHILDREN_CATCH(outcome);\n"
    "  rdl_sync();\n"
    "  if (args->k == 1u) RDL_SLEEP(1000);\n"
    "  if (args->k == 2u) RDL_YIELD();\n"
    "  if (args->k >= 3u) RDL_AWAIT_CHILDREN_CATCH(outcome);\n"
    "  if (rdl_lane() == 0) rdl_atomic_add(RDL_AT(uint, args->at), 1u);\n"
    "  RDL_RETURN(outcome);\n"
    "  RDL_END();\n"
    "}\n";

/* Children of some lanes live when their task begins to wait for them: it goes on when they have
 * ended, and when it is cancelled. */
void POR_1_lane_waits(void) {
  bed b = bed_open(NULL);
  memory m = memory_new(&b, 1);
  uint32_t k;
  b.tasks = bed_load(&b, "waits.task.c", waits_text);
  for (k = 0; k < 8; k++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future some = START(&b, "w_some", .at = m.at, .e = event, .k = k / 2u);
    bed_stats(&b); /* the device is left: what can wait does */
    if (k % 2u)
      CHECK_OK(rdl_future_cancel(b.cx, some));
    else
      CHECK_OK(rdl_event_signal(b.cx, event, 1));
    CHECK_END(&b, some, k % 2u ? RDL_CANCELLED : RDL_OK, 0);
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  bed_close(&b);
}

/* Looks all the time: a pause would miss the moment in which the lanes begin to wait. */
static bool spin_until(const memory *m, uint32_t value) {
  uint64_t end = now_ns() + PATIENCE_NS;
  while (word_at(m, 0) != value)
    if (now_ns() > end) return false;
  return true;
}

static void spin_ns(uint64_t ns) {
  uint64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

/* The cancel comes while the lanes work, begin to wait or wait, as chance has it: the task hears of
 * it once and goes on, and its children end. */
void POR_1_lane_cancels(void) {
  uint32_t rounds = suite_scale(SCALED(3000, 300)), k;
  bed b = bed_open(NULL);
  memory m = memory_new(&b, 1);
  need_resident(&b);
  b.tasks = bed_load(&b, "waits.task.c", waits_text);
  for (k = 0; k < rounds; k++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future some = START(&b, "w_some", .at = m.at, .e = event, .k = k % 4u);
    CHECK(spin_until(&m, 1));
    spin_ns(chance(8000));
    CHECK_OK(rdl_future_cancel(b.cx, some));
    CHECK_END(&b, some, RDL_CANCELLED, 0);
    word_set(&m, 0, 0);
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  bed_close(&b);
}

/* ---- HST 3: a width that the device cannot have ---- */

static const char *barrier_lanes(void) {
  static rdl_capability list[128];
  size_t count = 0, k;
  CHECK_OK(rdl_device_capabilities(settings.selector, 0, list, 128, &count));
  for (k = 0; k < count && k < 128; k++)
    if (strcmp(list[k].name, "barrier_lanes") == 0) return list[k].value;
  return "";
}

static bool is_listed(const char *list, uint32_t lanes) {
  char *end;
  while (*list >= '0' && *list <= '9') {
    if (strtoul(list, &end, 10) == lanes) return true;
    list = end + strspn(end, " ");
  }
  return false;
}

/* Without a wish. */
static uint32_t usual_lanes(void) {
  rdl_context_options options = bed_options();
  rdl_context_info info = {.size = sizeof info};
  rdl_context *cx = NULL;
  options.lanes = 0;
  CHECK_OK(rdl_context_open_with(settings.selector, &options, &cx));
  CHECK_OK(rdl_context_describe(cx, &info));
  CHECK_OK(rdl_context_close(cx));
  return info.lanes;
}

void HST_3_lanes(void) {
  static const uint32_t widths[] = {1, 2, 7, 8, 9, 32, 63, 64, 65, 1024, UINT32_MAX};
  const char *list = barrier_lanes();
  bool host = strcmp(settings.selector, "host") == 0;
  size_t k;
  CHECK(is_listed(list, usual_lanes()));
  for (k = 0; k < sizeof widths / sizeof widths[0]; k++) {
    rdl_context_options options = bed_options();
    rdl_context *cx = NULL;
    rdl_status status;
    options.lanes = widths[k];
    status = rdl_context_open_with(settings.selector, &options, &cx);
    if (is_listed(list, widths[k])) {
      rdl_context_info info = {.size = sizeof info};
      CHECK_OK(status);
      CHECK_OK(rdl_context_describe(cx, &info));
      CHECK_EQ(widths[k], info.lanes);
      CHECK_OK(rdl_context_close(cx));
      continue;
    }
    CHECK_EQ(RDL_UNSUPPORTED, status);
    CHECK(!cx);
    CHECK_CONTAINS(rdl_error_text(), host ? "has 1 lane" : "the capability barrier_lanes");
    if (!host) CHECK_CONTAINS(rdl_error_text(), list);
  }
}
