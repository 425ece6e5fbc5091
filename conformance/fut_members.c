/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 9: members of one call that start after other members of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

/* What each member waits for, written row by row. */
enum { MOST_MEMBERS = 4000, MOST_EDGES = 4 * MOST_MEMBERS };

typedef struct graph {
  uint32_t count;
  uint32_t offsets[MOST_MEMBERS + 1];
  uint32_t positions[MOST_EDGES];
  task_args args[MOST_MEMBERS];
  rdl_future futures[MOST_MEMBERS];
  uint32_t results[MOST_MEMBERS];
} graph;

static graph g; /* too large for a stack */

static void begin(void) {
  memset(&g, 0, sizeof g);
}

static void waits_for(uint32_t position) {
  g.positions[g.offsets[g.count + 1]++] = position;
}

/* The row of the next member begins where this one's ends. */
static void member(task_args args) {
  g.args[g.count++] = args;
  if (g.count < MOST_MEMBERS) g.offsets[g.count + 1] = g.offsets[g.count];
}

static rdl_spawn_options options_of(const rdl_future *after, size_t count) {
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  options.after = after;
  options.after_count = count;
  options.member_after_offsets = g.offsets;
  options.member_after = g.positions;
  return options;
}

static rdl_status spawn(bed *b, const rdl_spawn_options *options) {
  return rdl_spawn_many(b->tasks, "fut_member", g.args, sizeof g.args[0], sizeof g.args[0], g.count,
                        options, g.futures, NULL);
}

static void start_graph(bed *b, const rdl_future *after, size_t count) {
  rdl_spawn_options options = options_of(after, count);
  CHECK_OK(spawn(b, &options));
}

static void get_all(bed *b) {
  CHECK_OK(
      rdl_future_get_many(b->cx, g.futures, g.count, g.results, sizeof g.results[0], PATIENCE_NS));
}

/* Results are places in the order of running: each member's is behind those it waited for. */
static void check_order(void) {
  uint32_t k, e;
  for (k = 0; k < g.count; k++) {
    CHECK_BETWEEN(0, g.results[k], g.count - 1);
    for (e = g.offsets[k]; e < g.offsets[k + 1]; e++)
      if (g.results[g.positions[e]] >= g.results[k])
        test_fail(__FILE__, __LINE__, "member %u ran as number %u, %u, for which it waits, as %u",
                  k, g.results[k], g.positions[e], g.results[g.positions[e]]);
  }
}

/* The first waits for the second, and so on: the last one runs first. */
void FUT_9_members_chain(void) {
  enum { LINKS = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t k;
  begin();
  for (k = 0; k < LINKS; k++) {
    if (k + 1 < LINKS) waits_for(k + 1);
    member((task_args){.at = m.at});
  }
  start_graph(&b, NULL, 0);
  for (k = 0; k < LINKS; k++)
    CHECK_EQ(LINKS - 1 - k, get(&b, g.futures[k]));
  bed_close(&b);
}

/* 2 waits for nothing, 0 and 3 for it, 1 for both. */
void FUT_9_members_diamond(void) {
  enum { ROUNDS = SCALED(300, 50) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t round;
  for (round = 0; round < ROUNDS; round++) {
    word_set(&m, 0, 0);
    begin();
    waits_for(2);
    member((task_args){.at = m.at});
    waits_for(0);
    waits_for(3);
    member((task_args){.at = m.at});
    member((task_args){.at = m.at});
    waits_for(2);
    member((task_args){.at = m.at});
    start_graph(&b, NULL, 0);
    get_all(&b);
    CHECK_EQ(0, g.results[2]);
    CHECK_EQ(3, g.results[1]);
    check_order();
  }
  bed_close(&b);
}

void FUT_9_members_thousand(void) {
  enum { COUNT = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event gate = new_event(&b, 1, 0);
  uint32_t k;
  begin();
  for (k = 1; k <= COUNT; k++)
    waits_for(k);
  member((task_args){.at = m.at});
  for (k = 1; k < COUNT; k++)
    member((task_args){.at = m.at});
  member((task_args){.at = m.at, .e = gate});
  start_graph(&b, NULL, 0);
  CHECK_OK(rdl_future_wait(b.cx, g.futures + 1, COUNT - 1, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, g.futures, 1, 5ull * MS));
  CHECK_EQ(COUNT - 1, word_at(&m, 0));
  CHECK_OK(rdl_event_signal(b.cx, gate, 1));
  get_all(&b);
  CHECK_EQ(COUNT, g.results[0]);
  bed_close(&b);
}

/* Any graph without a cycle, its members in any order. */
void FUT_9_members_graph(void) {
  uint32_t members = suite_scale(UNLESS_CUT(SCALED(MOST_MEMBERS, 1000), 500));
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  static uint32_t place[MOST_MEMBERS];    /* of a position in some order that fits */
  static uint32_t position[MOST_MEMBERS]; /* and the other way round */
  uint32_t k, e, other;
  for (k = 0; k < members; k++) {
    other = chance(k + 1);
    position[k] = position[other];
    position[other] = k;
  }
  for (k = 0; k < members; k++)
    place[position[k]] = k;
  begin();
  for (k = 0; k < members; k++) {
    for (e = chance(4); e && place[k]; e--)
      waits_for(position[chance(place[k])]);
    member((task_args){.at = m.at});
  }
  start_graph(&b, NULL, 0);
  get_all(&b);
  check_order();
  bed_close(&b);
}

/* What all wait for comes first, also for those that wait for nothing else. */
void FUT_9_members_common(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future promises[2];
  uint32_t k;
  begin();
  for (k = 0; k < 20; k++) { /* in pairs, the later for the earlier one and the other way round */
    if (k % 4 == 1) waits_for(k - 1);
    if (k % 4 == 2) waits_for(k + 1);
    member((task_args){.at = m.at});
  }
  for (k = 0; k < 2; k++)
    CHECK_OK(rdl_future_create(b.cx, &promises[k]));
  start_graph(&b, promises, 2);
  CHECK_OK(rdl_future_complete(b.cx, promises[1], NULL, 0, 0));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, g.futures, 1, 10ull * MS));
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_future_complete(b.cx, promises[0], NULL, 0, 0));
  CHECK_OK(rdl_future_get_many(b.cx, promises, 2, NULL, 0, PATIENCE_NS));
  get_all(&b);
  check_order();
  bed_close(&b);
}

/* A batch under one handle, and one without, start after others as well. */
void FUT_9_batch(void) {
  enum { COUNT = 200 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  static task_args args[COUNT];
  rdl_future promise, failed, batch;
  uint32_t k;
  for (k = 0; k < COUNT; k++)
    args[k].at = m.at;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  options.after = &promise;
  options.after_count = 1;
  CHECK_OK(rdl_spawn_many(b.tasks, "fut_count", args, sizeof args[0], sizeof args[0], COUNT,
                          &options, NULL, &batch));
  CHECK_OK(rdl_spawn_many(b.tasks, "fut_count", args, sizeof args[0], sizeof args[0], COUNT,
                          &options, NULL, NULL));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &batch, 1, 10ull * MS));
  CHECK_EQ(0, word_at(&m, 0));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  get_none(&b, batch);
  CHECK(word_becomes(&m, 0, 2 * COUNT, PATIENCE_NS));
  failed = START(&b, "fut_fail", .n = 31);
  options.after = &failed;
  CHECK_OK(rdl_spawn_many(b.tasks, "fut_count", args, sizeof args[0], sizeof args[0], COUNT,
                          &options, NULL, &batch));
  CHECK_END(&b, batch, RDL_FAILED, 31);
  CHECK_END(&b, failed, RDL_FAILED, 31);
  CHECK_EQ(2 * COUNT, word_at(&m, 0));
  get_none(&b, promise);
  bed_close(&b);
}

/* ---- what is refused ---- */

static void check_refused(int line, bed *b, const rdl_spawn_options *options, const char *text) {
  rdl_stats before = bed_stats(b), after;
  check_status(__FILE__, line, "spawn", RDL_INVALID, spawn(b, options));
  check_contains(__FILE__, line, rdl_error_text(), text);
  after = bed_stats(b);
  check_equal(__FILE__, line, "spawned", before.spawned, after.spawned);
  check_equal(__FILE__, line, "roots", before.roots_alive, after.roots_alive);
  check_equal(__FILE__, line, "handle", 0, g.futures[0].index);
}

#define CHECK_REFUSED(b, options, text) check_refused(__LINE__, (b), (options), (text))

/* Members 0 .. count - 1 each wait for the next one; the last for `back`. */
static rdl_spawn_options ring(uint32_t count, uint32_t back) {
  uint32_t k;
  begin();
  for (k = 0; k < count; k++) {
    waits_for(k + 1 < count ? k + 1 : back);
    member((task_args){.n = 0});
  }
  return options_of(NULL, 0);
}

void FUT_9_members_cycle(void) {
  bed b = bed_open(TASKS);
  rdl_spawn_options options = ring(1, 0);
  CHECK_REFUSED(&b, &options, "member 0 waits for 0");
  options = ring(2, 0);
  CHECK_REFUSED(&b, &options, "member 0 waits for 1, which waits for 0");
  options = ring(5, 3);
  CHECK_REFUSED(&b, &options, "member 3 waits for 4, which waits for 3");
  options = ring(5, 4);
  CHECK_REFUSED(&b, &options, "member 4 waits for 4");
  options = ring(MOST_MEMBERS, 7);
  CHECK_REFUSED(&b, &options, "member 7 waits for 8, which waits for 9");
  CHECK_REFUSED(&b, &options, "others, the last of which waits for 7");
  bed_close(&b);
}

/* Two ways to one member, and one that is named twice, are no cycle. */
void FUT_9_members_twice(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  begin();
  waits_for(1);
  waits_for(2);
  waits_for(1);
  member((task_args){.at = m.at});
  waits_for(2);
  member((task_args){.at = m.at});
  member((task_args){.at = m.at});
  start_graph(&b, NULL, 0);
  get_all(&b);
  CHECK_EQ(2, g.results[0]);
  CHECK_EQ(0, g.results[2]);
  bed_close(&b);
}

void FUT_9_members_bad(void) {
  bed b = bed_open(TASKS);
  rdl_spawn_options options = ring(3, 3);
  task_args one = {.n = 0};
  rdl_future f = {0, 0};
  CHECK_REFUSED(&b, &options, "member_after[2] is 3: member 2 ");
  options = ring(3, UINT32_MAX);
  CHECK_REFUSED(&b, &options, "member_after[2] is 4294967295");
  options = ring(3, 0);
  g.offsets[0] = 1;
  CHECK_REFUSED(&b, &options, "member_after_offsets[0] is 1");
  g.offsets[0] = 0;
  g.offsets[1] = 3;
  CHECK_REFUSED(&b, &options, "member_after_offsets[2] is 2, less than the 3");
  options = ring(3, 0);
  g.offsets[3] = UINT32_MAX;
  CHECK_REFUSED(&b, &options, "too many");
  options = ring(3, 0);
  options.member_after = NULL;
  CHECK_REFUSED(&b, &options, "member_after is NULL");
  options = ring(3, 0);
  options.member_after_offsets = NULL;
  CHECK_REFUSED(&b, &options, "member_after_offsets is NULL");
  options = ring(1, 0);
  CHECK_STATUS(RDL_INVALID, rdl_spawn(b.tasks, "fut_member", &one, sizeof one, &options, &f));
  CHECK_CONTAINS(rdl_error_text(), "rdl_spawn_many");
  CHECK_STATUS(RDL_INVALID, rdl_spawn_many(b.tasks, "fut_member", &one, sizeof one, sizeof one, 1,
                                           &options, NULL, &f));
  CHECK_CONTAINS(rdl_error_text(), "out_futures");
  CHECK_STATUS(RDL_INVALID, rdl_spawn_many(b.tasks, "fut_member", &one, sizeof one, sizeof one, 1,
                                           &options, NULL, NULL));
  bed_close(&b);
}

/* All or none: what did not start left no root in use, whatever came in its way. */
void FUT_9_members_room(void) {
  enum { ROOTS = 8 };
  rdl_context_options cx_options = bed_options();
  rdl_spawn_options options;
  rdl_future gone;
  memory m;
  uint32_t round, k;
  bed b;
  cx_options.roots = ROOTS;
  b = bed_open_with(TASKS, &cx_options);
  m = memory_new(&b, 1);
  for (round = 0; round < 3; round++) {
    gone = START(&b, "fut_leaf", .n = 1);
    CHECK_EQ(1, get(&b, gone));
    begin();
    for (k = 0; k < ROOTS + 1; k++) {
      if (k) waits_for(k - 1);
      member((task_args){.at = m.at});
    }
    options = options_of(NULL, 0);
    CHECK_STATUS(RDL_AGAIN, spawn(&b, &options));
    g.count = ROOTS;
    options = options_of(&gone, 1);
    CHECK_STATUS(RDL_STALE, spawn(&b, &options));
    CHECK_EQ(0, g.futures[0].index);
    start_graph(&b, NULL, 0);
    get_all(&b);
    check_order();
    word_set(&m, 0, 0);
  }
  bed_close(&b);
}

/* ---- ends that are no success ---- */

static bool is_done(bed *b, uint32_t position) {
  return rdl_future_wait(b->cx, &g.futures[position], 1, 0) == RDL_OK;
}

/* 0 fails, 1 and 2 come after it, 3 after both; 4 and 5 have nothing to do with it. */
void FUT_9_members_fail(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t k;
  begin();
  member((task_args){.at = m.at, .n = 41});
  waits_for(0);
  member((task_args){.at = m.at, .n = 42});
  waits_for(5);
  waits_for(0);
  member((task_args){.at = m.at, .n = 43});
  waits_for(1);
  waits_for(2);
  member((task_args){.at = m.at, .n = 44});
  member((task_args){.at = m.at});
  waits_for(4);
  member((task_args){.at = m.at});
  start_graph(&b, NULL, 0);
  CHECK_OK(rdl_future_wait(b.cx, g.futures, g.count, PATIENCE_NS));
  for (k = 0; k < 4; k++)
    CHECK_END(&b, g.futures[k], RDL_FAILED, 41);
  CHECK_EQ(0, get(&b, g.futures[4]));
  CHECK_EQ(1, get(&b, g.futures[5]));
  bed_close(&b);
}

/* A member that waits for two is cancelled: it ends at once, and so does what is behind it; what is
 * before and beside it goes on. */
void FUT_9_members_cancel(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_event hold = new_event(&b, 1, 0);
  uint32_t k;
  begin();
  for (k = 0; k < 2; k++)
    member((task_args){.at = m.at, .e = hold});
  waits_for(0);
  waits_for(1);
  member((task_args){.at = m.at});
  waits_for(2);
  member((task_args){.at = m.at});
  waits_for(0);
  member((task_args){.at = m.at});
  start_graph(&b, NULL, 0);
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, g.futures + 2, 1, 5ull * MS));
  CHECK_OK(rdl_future_cancel(b.cx, g.futures[2]));
  CHECK_OK(rdl_future_wait(b.cx, g.futures + 2, 2, PATIENCE_NS));
  CHECK(!is_done(&b, 0) && !is_done(&b, 1) && !is_done(&b, 4));
  CHECK_END(&b, g.futures[2], RDL_CANCELLED, 0);
  CHECK_END(&b, g.futures[3], RDL_CANCELLED, 0);
  CHECK_OK(rdl_event_signal(b.cx, hold, 1));
  for (k = 0; k < 2; k++)
    CHECK_BETWEEN(0, g.results[k] = get(&b, g.futures[k]), 2);
  CHECK_BETWEEN(g.results[0] + 1u, get(&b, g.futures[4]), 2);
  bed_close(&b);
}

/* Members are cancelled while what they wait for ends: each is either cancelled or has run, once.
 */
void FUT_9_members_cancel_race(void) {
  enum { ROUNDS = SCALED(200, 40), LINKS = 20 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t round, k;
  for (round = 0; round < ROUNDS; round++) {
    uint32_t ran = 0;
    word_set(&m, 0, 0);
    begin();
    for (k = 0; k < LINKS; k++) {
      if (k) waits_for(k - 1);
      member((task_args){.at = m.at});
    }
    start_graph(&b, NULL, 0);
    for (k = 0; k < round % 50u; k++)
      (void)word_at(&m, 0);
    CHECK_OK(rdl_future_cancel(b.cx, g.futures[chance(LINKS)]));
    CHECK_OK(rdl_future_wait(b.cx, g.futures, LINKS, PATIENCE_NS));
    for (k = 0; k < LINKS; k++) {
      rdl_future_result outcome = {.size = sizeof outcome};
      CHECK_OK(rdl_future_outcome(b.cx, g.futures[k], 0, &outcome));
      if (outcome.status != RDL_OK) {
        CHECK_END(&b, g.futures[k], RDL_CANCELLED, 0);
        continue;
      }
      CHECK_EQ(k, ran);
      CHECK_EQ(ran++, get(&b, g.futures[k]));
    }
    CHECK_EQ(ran, word_at(&m, 0));
  }
  bed_close(&b);
}

/* ---- roots ---- */

/* Members are taken in any order, also before those that wait for them have looked. */
void FUT_9_members_taken(void) {
  enum { LINKS = 200, ROUNDS = SCALED(20, 5) };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  uint32_t round, k;
  for (round = 0; round < ROUNDS; round++) {
    word_set(&m, 0, 0);
    begin();
    for (k = 0; k < LINKS; k++) {
      if (k) waits_for(k - 1);
      if (k > 9) waits_for(k / 2);
      member((task_args){.at = m.at});
    }
    start_graph(&b, NULL, 0);
    for (k = 0; k < LINKS; k++) {
      if (k % 3 == round % 3 && k + 1 < LINKS)
        CHECK_OK(rdl_future_release(b.cx, g.futures[k]));
      else
        CHECK_EQ(k, get(&b, g.futures[k]));
    }
  }
  bed_close(&b);
}

/* A root that has started keeps nothing of what it waited for, however long it runs. */
void FUT_9_started(void) {
  enum { ROOTS = 4 };
  rdl_context_options cx_options = bed_options();
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_event hold;
  task_args args;
  rdl_future first[ROOTS - 1], late, f;
  memory m;
  bed b;
  uint32_t k;
  cx_options.roots = ROOTS;
  b = bed_open_with(TASKS, &cx_options);
  m = memory_new(&b, 1);
  hold = new_event(&b, 1, 0);
  for (k = 0; k < ROOTS - 1; k++)
    first[k] = START(&b, "fut_leaf", .n = k);
  options.after = first;
  options.after_count = ROOTS - 1;
  args = (task_args){.at = m.at, .e = hold, .n = 1};
  CHECK_OK(rdl_spawn(b.tasks, "fut_begun", &args, sizeof args, &options, &late));
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_get_many(b.cx, first, ROOTS - 1, NULL, 0, PATIENCE_NS));
  options = (rdl_spawn_options)RDL_SPAWN_OPTIONS_INIT;
  options.room_ns = PATIENCE_NS;
  args = (task_args){.n = 9};
  for (k = 0; k < 3 * ROOTS; k++) {
    CHECK_OK(rdl_spawn(b.tasks, "fut_leaf", &args, sizeof args, &options, &f));
    CHECK_EQ(9, get(&b, f));
  }
  CHECK_OK(rdl_event_signal(b.cx, hold, 1));
  CHECK_EQ(1, get(&b, late));
  bed_close(&b);
}

/* ---- all together ---- */

enum { STORM_ROOTS = 64, STORM_LIVE = 40, STORM_MEMBERS = 16 };

typedef struct storm {
  rdl_future live[STORM_LIVE + STORM_MEMBERS];
  uint32_t count;
} storm;

/* Members that wait for each other and for some that were started before. */
static void storm_spawn(bed *b, storm *s, const memory *m) {
  rdl_future after[3];
  rdl_spawn_options options;
  uint32_t commons = s->count ? chance(4) : 0, members = 1 + chance(STORM_MEMBERS), k, e;
  for (k = 0; k < commons; k++)
    after[k] = s->live[chance(s->count)];
  begin();
  for (k = 0; k < members; k++) {
    for (e = chance(3); e && k + 1 < members; e--)
      waits_for(k + 1 + chance(members - k - 1));
    member((task_args){.at = m->at, .n = chance(10) ? 0 : 5});
  }
  options = options_of(after, commons);
  options.room_ns = PATIENCE_NS;
  CHECK_OK(spawn(b, &options));
  memcpy(s->live + s->count, g.futures, members * sizeof g.futures[0]);
  s->count += members;
}

/* One of the live is taken, released, or cancelled and taken. */
static void storm_end(bed *b, storm *s) {
  uint32_t which = chance(s->count), how = chance(4);
  rdl_future f = s->live[which];
  rdl_status status;
  s->live[which] = s->live[--s->count];
  if (how == 0) {
    CHECK_OK(rdl_future_release(b->cx, f));
    return;
  }
  if (how == 1) CHECK_OK(rdl_future_cancel(b->cx, f));
  status = rdl_future_get(b->cx, f, NULL, 0, PATIENCE_NS);
  if (status != RDL_OK && status != RDL_FAILED && status != RDL_CANCELLED)
    test_fail(__FILE__, __LINE__, "%s: %s", rdl_status_name(status), rdl_error_text());
}

/* Whatever became of those that waited and those waited for, no root is lost. */
void FUT_9_members_storm(void) {
  rdl_context_options options = bed_options();
  rdl_future all[STORM_ROOTS];
  storm s = {.count = 0};
  uint32_t round, k;
  memory m;
  bed b;
  options.roots = STORM_ROOTS;
  b = bed_open_with(TASKS, &options);
  m = memory_new(&b, 1);
  for (round = 0; round < suite_scale(UNLESS_CUT(SCALED(2000, 200), 100)); round++) {
    storm_spawn(&b, &s, &m);
    while (s.count > STORM_LIVE || (s.count && chance(3)))
      storm_end(&b, &s);
  }
  while (s.count)
    storm_end(&b, &s);
  bed_settle(&b);
  for (k = 0; k < STORM_ROOTS; k++)
    CHECK_OK(rdl_future_create(b.cx, &all[k]));
  for (k = 0; k < STORM_ROOTS; k++)
    CHECK_OK(rdl_future_release(b.cx, all[k]));
  bed_close(&b);
}
