/* SPDX-License-Identifier: Apache-2.0 */
/* POR 1 and SCH 11: tasks of a whole group, where a block of warps is one worker beside others that
 * are warps, and everywhere else. What a case expects is computed for the lanes that such a task
 * has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "grp.task.c"

enum { MOST_LANES = 128 };

static uint32_t lanes_of(bed *b) {
  rdl_context_info info = {.size = sizeof info};
  uint32_t lanes = RUN(b, "grp_lanes", .n = 0);
  CHECK_OK(rdl_context_describe(b->cx, &info));
  CHECK_EQ(info.wide_blocks ? 4 * info.lanes : info.lanes, lanes);
  CHECK_BETWEEN(1, lanes, MOST_LANES);
  return lanes;
}

/* ---- words of all lanes ---- */

typedef struct reduced {
  uint32_t sum, mixed, least, most, before[MOST_LANES], value[MOST_LANES];
  uint64_t odd[2];
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
    out->odd[lane / 64] |= (uint64_t)(v & 1u) << lane % 64;
  }
}

static uint32_t lane_words(const reduced *r, uint32_t lanes, uint32_t lane, uint32_t chosen) {
  uint32_t sum = mix(0, r->sum);
  sum = mix(sum, r->least);
  sum = mix(sum, r->most);
  sum = mix(sum, r->before[lane]);
  sum = mix(sum, r->value[chosen]);
  sum = mix(sum, (uint32_t)r->odd[0]);
  sum = mix(sum, (uint32_t)(r->odd[0] >> 32));
  sum = mix(sum, (uint32_t)r->odd[1]);
  sum = mix(sum, (uint32_t)(r->odd[1] >> 32));
  sum = mix(sum, 1);
  sum = mix(sum, (uint32_t)r->float_sum);
  sum = mix(sum, (uint32_t)(2.0f * r->float_least));
  sum = mix(sum, (uint32_t)(2.0f * r->float_most));
  sum = mix(sum, (uint32_t)(2.0f * r->float_before[lane]));
  sum = mix(sum, (uint32_t)(2.0f * r->float_value[lanes - 1]));
  return mix(sum, r->sum); /* by a function that tasks of both widths use */
}

void POR_1_group_words(void) {
  enum { TASKS_OF_WORDS = 60 };
  bed b = bed_open(TASKS);
  uint32_t lanes = lanes_of(&b), base = chance(1u << 31), lane, k;
  memory m = memory_new(&b, (size_t)TASKS_OF_WORDS * MOST_LANES);
  rdl_future futures[TASKS_OF_WORDS];
  const uint32_t *words;
  for (k = 0; k < TASKS_OF_WORDS; k++)
    futures[k] = START(&b, "grp_words", .at = m.at + (rdl_ptr)4 * MOST_LANES * k, .n = k % lanes,
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

/* ---- barriers, working memory ---- */

void POR_1_group_scratch(void) {
  enum { FUTURES = 6, ALL = 5000, MORE = 2000 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(50, 10)), sum = 0, round, k;
  rdl_future futures[FUTURES];
  for (round = 0; round < rounds; round++)
    for (k = 0; k < MORE; k++)
      sum += mix(round, (k * 7 + round) % ALL);
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, "grp_scratch", .n = rounds);
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(sum, get(&b, futures[k]));
  bed_close(&b);
}

/* What names no lanes and no group happens once. */
void POR_1_group_once(void) {
  enum { ROUNDS = 200 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  get_none(&b, START(&b, "grp_onces", .at = m.at, .n = ROUNDS));
  CHECK_EQ(ROUNDS, word_at(&m, 0));
  bed_close(&b);
}

/* ---- events, deadlines, cancels ---- */

void POR_1_group_waits(void) {
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < 8; k++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future waits = START(&b, "grp_waits", .e = event, .k = 0);
    bed_stats(&b); /* the device is left: what can wait does */
    if (k % 2) {
      CHECK_OK(rdl_future_cancel(b.cx, waits));
      CHECK_END(&b, waits, RDL_CANCELLED, 0);
    } else {
      CHECK_OK(rdl_event_signal(b.cx, event, 1));
      CHECK_EQ(RDL_OK, get(&b, waits));
    }
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  rdl_event never = new_event(&b, 1, 0);
  CHECK_EQ(RDL_TIMEOUT, RUN(&b, "grp_waits", .e = never, .k = 1));
  CHECK_OK(rdl_event_destroy(b.cx, never));
  bed_close(&b);
}

/* A cancel that comes from another task while all lanes work without an await. */
void POR_1_group_cancel(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_context_info info = {.size = sizeof info};
  rdl_future until, stop;
  need_resident(&b);
  CHECK_OK(rdl_context_describe(b.cx, &info));
  if (info.workers < 2) test_skip("who cancels needs a worker beside the one that works");
  until = START(&b, "grp_waits", .at = m.at, .k = 2);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  stop = START(&b, "grp_stop", .f = until);
  get_none(&b, stop);
  CHECK_END(&b, until, RDL_CANCELLED, 0);
  bed_close(&b);
}

void POR_1_group_writes(void) {
  enum { WORDS = 1000, READERS = 3 };
  bed b = bed_open(TASKS);
  uint32_t rounds = suite_scale(SCALED(300, 50));
  rdl_event event = new_event(&b, rounds, 0);
  memory m = memory_new(&b, WORDS);
  task_args args = {.at = m.at, .e = event, .n = rounds, .k = WORDS};
  rdl_future readers[READERS], writer;
  uint32_t k;
  for (k = 0; k < READERS; k++)
    readers[k] = start(&b, "grp_reader", args);
  writer = start(&b, "grp_writer", args);
  for (k = 0; k < READERS; k++)
    CHECK_EQ(0, get(&b, readers[k]));
  get_none(&b, writer);
  bed_close(&b);
}

/* ---- SCH 11: workers of both shapes ---- */

void SCH_11_widths(void) {
  bed b = bed_open(TASKS);
  rdl_context_info info = {.size = sizeof info};
  uint32_t lanes = lanes_of(&b), k;
  CHECK_OK(rdl_context_describe(b.cx, &info));
  for (k = 0; k < 20; k++) {
    CHECK_EQ(lanes, RUN(&b, "grp_lanes", .n = 0));
    CHECK_EQ(info.lanes, RUN(&b, "grp_lanes_of_warp", .n = 0));
  }
  bed_close(&b);
}

/* Levels of tasks in turn of the one width and of the other, which await each other. */
void SCH_11_both_ways(void) {
  bed b = bed_open(TASKS);
  uint32_t depth = settings.scale < 100 ? 4 : SCALED(9, 6);
  rdl_future up = START(&b, "grp_up", .n = depth), down = START(&b, "grp_down", .n = depth);
  CHECK_EQ(1u << depth, get(&b, up));
  CHECK_EQ(1u << depth, get(&b, down));
  bed_settle(&b);
  CHECK_EQ(2 * ((2u << depth) - 1), bed_stats(&b).spawned);
  bed_close(&b);
}

/* More than the workers that run them can have at once, some of which yield. */
static void check_many(uint32_t wide_blocks) {
  enum { MANY = SCALED(2000, 300) };
  rdl_context_options options = bed_options();
  bed b;
  memory m;
  uint32_t lanes, k, count = suite_scale(MANY);
  rdl_future *futures = calloc(count, sizeof *futures);
  CHECK(futures);
  options.wide_blocks = wide_blocks;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, MOST_LANES);
  lanes = lanes_of(&b);
  for (k = 0; k < count; k++)
    futures[k] = START(&b, "grp_leaf", .at = m.at, .n = k, .k = k);
  for (k = 0; k < count; k++)
    CHECK_EQ(mix(k, k), get(&b, futures[k]));
  for (k = 0; k < lanes; k++)
    CHECK_EQ(count, word_at(&m, k));
  free(futures);
  bed_close(&b);
}

void SCH_11_many(void) {
  check_many(1);
  check_many(2);
}

/* A child in each lane, of tasks of both widths. */
void SCH_11_lanes(void) {
  bed b = bed_open(TASKS);
  uint32_t rounds = settings.scale < 100 ? 1 : SCALED(10, 2);
  memory m = memory_new(&b, MOST_LANES);
  rdl_context_info info = {.size = sizeof info};
  uint32_t lanes = lanes_of(&b), k;
  CHECK_OK(rdl_context_describe(b.cx, &info));
  for (k = 0; k < rounds; k++) {
    CHECK_EQ(0, RUN(&b, "grp_from_warp", .at = m.at, .n = k));
    CHECK_EQ(0, RUN(&b, "grp_from_group", .at = m.at, .n = k));
  }
  for (k = 0; k < lanes; k++)
    CHECK_EQ(rounds * (info.lanes + lanes), word_at(&m, k));
  bed_close(&b);
}

/* One of a whole group works while tasks of the other width go on. */
void SCH_11_beside(void) {
  bed b = bed_open(TASKS);
  rdl_context_info info = {.size = sizeof info};
  memory m = memory_new(&b, 2);
  rdl_future beside;
  uint32_t k;
  need_resident(&b);
  CHECK_OK(rdl_context_describe(b.cx, &info));
  if (info.workers < 2) test_skip("two things at once need two workers");
  beside = START(&b, "grp_beside", .at = m.at);
  for (k = 0; k < 50; k++)
    get_none(&b, START(&b, "grp_once", .at = m.at + 4));
  get_none(&b, START(&b, "grp_once", .at = m.at));
  get_none(&b, beside);
  bed_close(&b);
}

/* ---- the option ---- */

static void note_warning(void *user, rdl_log_level level, const char *text) {
  char *warnings = user;
  if (level == RDL_LOG_WARNING) strncat(warnings, text, 4000 - strlen(warnings));
}

/* More than fit: as many as fit, and the log has both numbers. */
void SCH_11_clamped(void) {
  char warnings[4096] = "", wanted[64];
  rdl_context_info info = {.size = sizeof info};
  rdl_context_options options = bed_options();
  bed b;
  options.log = note_warning;
  options.log_user = warnings;
  options.wide_blocks = 50000;
  b = bed_open_with(NULL, &options);
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK_EQ(0, info.wide_blocks);
  b.tasks = NULL;
  CHECK_OK(rdl_module_load(b.cx, suite_path(TASKS), &b.tasks));
  lanes_of(&b);
  CHECK_OK(rdl_context_describe(b.cx, &info));
  if (info.wide_blocks) {
    CHECK_BETWEEN(1, info.wide_blocks, 49999);
    CHECK_CONTAINS(warnings, "50000 wide blocks");
    snprintf(wanted, sizeof wanted, " are %u blocks, and so many are wide", info.wide_blocks);
    CHECK_CONTAINS(warnings, wanted);
    CHECK_EQ(info.wide_blocks, info.workers); /* each of them is one, and nothing is left */
  } else {
    CHECK(!strstr(warnings, "wide"));
  }
  CHECK_EQ(1u << 5, RUN(&b, "grp_up", .n = 5));
  bed_close(&b);
}

void SCH_11_too_many(void) {
  rdl_context_options options = bed_options();
  rdl_context *cx = NULL;
  options.wide_blocks = 65536;
  CHECK_EQ(RDL_INVALID, rdl_context_open_with(settings.selector, &options, &cx));
  CHECK_CONTAINS(rdl_error_text(), "wide_blocks is 65536, and at most 65535");
  CHECK(!cx);
}
