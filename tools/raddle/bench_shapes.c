/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes: the graphs that every runtime builds alike, each round checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/raddle/bench.h"

enum {
  INDEP = 100000,
  CHAIN = 10000,
  SIDE = 100,
  CELLS = SIDE * SIDE,
  TREE_CHILDREN = 4,
  HANDOVERS = 10000, /* of each player */
  FAN_ROUNDS = 10,
  FAN_WIDTH = 1000,
  ROUNDTRIPS = 10000,
  YIELDS = 1000, /* of each task */
  FMA_TASKS = 100000
};

/* A round that takes longer hangs. */
static const uint64_t patience = UINT64_C(60000000000);

/* These mirror bench.task.c. */
typedef struct cell_args {
  rdl_ptr cell;
} cell_args;

typedef struct chain_args {
  rdl_event gate;
  rdl_ptr before;
} chain_args;

typedef struct wave_args {
  rdl_event gate;
  rdl_ptr up;
  rdl_ptr left;
} wave_args;

typedef struct tree_args {
  uint64_t path;
  uint32_t level;
  uint32_t full;
} tree_args;

typedef struct player_args {
  rdl_event mine;
  rdl_event theirs;
  uint32_t turns;
  uint32_t serves;
} player_args;

typedef struct fma_args {
  rdl_ptr cell;
  uint32_t count;
  float start;
  float factor;
  float summand;
} fma_args;

typedef struct fan_args {
  rdl_ptr handles;
  uint32_t rounds;
  uint32_t width;
} fan_args;

uint64_t bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static rdl_status check(bool right, const char *shape) {
  if (right) return RDL_OK;
  fprintf(stderr, "raddle: a round of %s had a wrong result\n", shape);
  return RDL_INTERNAL;
}

/* ---- tasks that write one cell each ---- */

/* A batch of as many tasks as the round has futures; each gets the address of its own cell, with
   which its arguments begin. */
typedef struct cells {
  const bench *bench;
  const char *shape;
  const char *task;
  unsigned char *args;
  size_t args_size;
  uint32_t expected; /* what each task writes */
} cells;

static rdl_status check_cells(const cells *c, rdl_buffer *buffer) {
  uint32_t count = c->bench->futures, right = 0;
  uint32_t *written = calloc(count, sizeof *written);
  if (!written) return RDL_OUT_OF_MEMORY;
  rdl_status status = rdl_buffer_read(buffer, 0, written, count * sizeof *written);
  for (uint32_t i = 0; i < count; i++)
    right += written[i] == c->expected;
  free(written);
  return status ? status : check(right == count, c->shape);
}

static rdl_status cells_round(const cells *c, bench_round *round) {
  const bench *b = c->bench;
  rdl_buffer *buffer = NULL;
  rdl_future all;
  rdl_status status = rdl_buffer_create(b->context, b->futures * sizeof(uint32_t), &buffer);
  for (uint32_t i = 0; i < b->futures && !status; i++) {
    rdl_ptr cell = rdl_buffer_address(buffer) + i * sizeof(uint32_t); /* which is zero */
    memcpy(c->args + i * c->args_size, &cell, sizeof cell);
  }
  uint64_t start = bench_now();
  if (!status)
    status = rdl_spawn_many(b->module, c->task, c->args, c->args_size, c->args_size, b->futures,
                            NULL, NULL, &all);
  if (!status) status = rdl_future_get(b->context, all, NULL, 0, patience);
  round->ns = bench_now() - start;
  if (!status) status = check_cells(c, buffer);
  rdl_buffer_destroy(buffer);
  return status;
}

static uint32_t indep_futures(uint32_t n) {
  return n ? n : INDEP;
}

static rdl_status run_cells(const bench *b, const char *task, bench_round *round) {
  cell_args *args = calloc(b->futures, sizeof *args);
  cells c = {b, "indep", task, (unsigned char *)args, sizeof *args, 1};
  rdl_status status = args ? cells_round(&c, round) : RDL_OUT_OF_MEMORY;
  free(args);
  return status;
}

static rdl_status run_indep(const bench *b, bench_round *round) {
  return run_cells(b, "bench_cell", round);
}

static rdl_status run_private_indep(const bench *b, bench_round *round) {
  return run_cells(b, "bench_private_cell", round);
}

static uint32_t fma_futures(uint32_t n) {
  (void)n;
  return FMA_TASKS;
}

/* Whole turns of eight. */
static rdl_status run_fma_of(const bench *b, const char *task, bench_round *round) {
  fma_args *args = calloc(b->futures, sizeof *args);
  cells c = {b, "fma", task, (unsigned char *)args, sizeof *args, (b->n + 7) / 8 * 8};
  for (uint32_t i = 0; args && i < b->futures; i++)
    args[i] = (fma_args){.count = b->n, .start = 0, .factor = 1, .summand = 1};
  rdl_status status = args ? cells_round(&c, round) : RDL_OUT_OF_MEMORY;
  free(args);
  return status;
}

static rdl_status run_fma(const bench *b, bench_round *round) {
  return run_fma_of(b, "bench_fma", round);
}

static rdl_status run_private_fma(const bench *b, bench_round *round) {
  return run_fma_of(b, "bench_private_fma", round);
}

/* ---- chain and wavefront ---- */

/*
 * Both are spawned by one call, a handle each, and held behind one event, in the order that makes
 * them suspend most, so that the figure is that of suspending and not of finding things done.
 *
 * An event wakes its waiters in the order in which they came, 64 at a time, and a worker runs what
 * was woken last before the rest. So links that came from the back of the chain to its front all
 * suspend a second time but for the last few: 19,984 of at most 19,999 suspensions, against 19,902
 * from front to back. Of nine orders of the wavefront's cells the one by columns from the right,
 * each from the top, suspends most: 22,220, against 19,969 row by row.
 */
typedef struct gated {
  const bench *bench;
  const char *task;
  size_t args_size;
  uint32_t (*place_of)(const struct gated *g, uint32_t future); /* among those that are spawned */
  unsigned char *args;                                          /* `count` of them, by place */
  uint32_t count;
  rdl_event gate;
  rdl_buffer *table;   /* handles, by place */
  rdl_future *futures; /* the same for the host */
  uint32_t *results;
} gated;

static uint32_t place_of_link(const gated *g, uint32_t i) {
  return g->count - 1 - i;
}

static uint32_t place_of_cell(const gated *g, uint32_t i) {
  (void)g;
  return (SIDE - 1 - i % SIDE) * SIDE + i / SIDE;
}

static rdl_ptr handle_of(const gated *g, uint32_t future) {
  return rdl_buffer_address(g->table) + g->place_of(g, future) * sizeof(rdl_future);
}

/* Passes `status` on if that tells of a failure. */
static rdl_status gated_close(gated *g, rdl_status status) {
  rdl_status ended = RDL_OK;
  if (g->gate.index) ended = rdl_event_destroy(g->bench->context, g->gate);
  rdl_buffer_destroy(g->table);
  free(g->args);
  free(g->futures);
  free(g->results);
  return status ? status : ended;
}

static rdl_status gated_open(gated *g) {
  g->args = calloc(g->count, g->args_size);
  g->futures = calloc(g->count, sizeof *g->futures);
  g->results = calloc(g->count, sizeof *g->results);
  if (!g->args || !g->futures || !g->results) return RDL_OUT_OF_MEMORY;
  rdl_status status =
      rdl_buffer_create(g->bench->context, g->count * sizeof(rdl_future), &g->table);
  return status ? status : rdl_event_create(g->bench->context, 1, 0, &g->gate);
}

/* Roots start in the order in which they came: when one more that comes behind them has ended, all
   of them are held, but for those that the other workers are just suspending. */
static rdl_status gated_hold(const gated *g) {
  const bench *b = g->bench;
  uint32_t value = 0;
  rdl_future last;
  rdl_status status = rdl_spawn_many(b->module, g->task, g->args, g->args_size, g->args_size,
                                     g->count, NULL, g->futures, NULL);
  if (!status) status = rdl_spawn(b->module, "bench_plus", &value, sizeof value, NULL, &last);
  if (!status) status = rdl_buffer_write(g->table, 0, g->futures, g->count * sizeof *g->futures);
  if (!status) status = rdl_future_get(b->context, last, &value, sizeof value, patience);
  return status;
}

static rdl_status gated_round(const gated *g, bench_round *round) {
  rdl_context *context = g->bench->context;
  uint64_t start = bench_now();
  rdl_status status = gated_hold(g);
  uint64_t opened = bench_now();
  if (!status) status = rdl_event_signal(context, g->gate, 1);
  if (!status)
    status = rdl_future_get_many(context, g->futures, g->count, g->results, sizeof *g->results,
                                 patience);
  uint64_t end = bench_now();
  round->ns = end - start;
  round->since_signal_ns = end - opened;
  return status;
}

static bool chain_is_right(const gated *g) {
  uint32_t right = 0;
  for (uint32_t i = 0; i < g->count; i++)
    right += g->results[g->place_of(g, i)] == i + 1;
  return right == g->count;
}

static uint32_t chain_futures(uint32_t n) {
  return n ? n : CHAIN;
}

static rdl_status run_chain(const bench *b, bench_round *round) {
  gated g = {.bench = b,
             .task = "bench_chain",
             .args_size = sizeof(chain_args),
             .place_of = place_of_link,
             .count = b->futures};
  rdl_status status = gated_open(&g);
  for (uint32_t i = 0; i < g.count && !status; i++) {
    chain_args args = {.gate = g.gate, .before = i ? handle_of(&g, i - 1) : 0};
    memcpy(g.args + g.place_of(&g, i) * sizeof args, &args, sizeof args);
  }
  if (!status) status = gated_round(&g, round);
  if (!status) status = check(chain_is_right(&g), "chain");
  return gated_close(&g, status);
}

/* The sums wrap around. */
static bool wavefront_is_right(const gated *g) {
  uint32_t expected[CELLS];
  uint32_t right = 0;
  for (uint32_t i = 0; i < CELLS; i++) {
    uint32_t up = i >= SIDE ? expected[i - SIDE] : 0;
    uint32_t left = i % SIDE ? expected[i - 1] : 0;
    expected[i] = i ? up + left : 1;
    right += g->results[g->place_of(g, i)] == expected[i];
  }
  return right == CELLS;
}

static rdl_status run_wavefront(const bench *b, bench_round *round) {
  gated g = {.bench = b,
             .task = "bench_wave",
             .args_size = sizeof(wave_args),
             .place_of = place_of_cell,
             .count = CELLS};
  rdl_status status = gated_open(&g);
  for (uint32_t i = 0; i < CELLS && !status; i++) {
    wave_args args = {.gate = g.gate,
                      .up = i >= SIDE ? handle_of(&g, i - SIDE) : 0,
                      .left = i % SIDE ? handle_of(&g, i - 1) : 0};
    memcpy(g.args + g.place_of(&g, i) * sizeof args, &args, sizeof args);
  }
  if (!status) status = gated_round(&g, round);
  if (!status) status = check(wavefront_is_right(&g), "wavefront");
  return gated_close(&g, status);
}

/* ---- one root ---- */

static rdl_status run_one(const bench *b, const char *task, const void *args, size_t size,
                          uint32_t *out_value, bench_round *round) {
  rdl_future root;
  uint64_t start = bench_now();
  rdl_status status = rdl_spawn(b->module, task, args, size, NULL, &root);
  if (!status) status = rdl_future_get(b->context, root, out_value, sizeof *out_value, patience);
  round->ns = bench_now() - start;
  return status;
}

static uint32_t fib_of(uint32_t n) {
  uint32_t value = 0, next = 1;
  for (; n; n--) {
    uint32_t sum = value + next;
    value = next;
    next = sum;
  }
  return value;
}

static uint32_t fib_futures(uint32_t n) {
  return 2 * fib_of(n + 1) - 1;
}

static rdl_status run_fib_of(const bench *b, const char *task, bench_round *round) {
  uint32_t value = 0;
  rdl_status status = run_one(b, task, &b->n, sizeof b->n, &value, round);
  return status ? status : check(value == fib_of(b->n), "fib");
}

static rdl_status run_fib(const bench *b, bench_round *round) {
  return run_fib_of(b, "bench_fib", round);
}

static rdl_status run_private_fib(const bench *b, bench_round *round) {
  return run_fib_of(b, "bench_cut_fib", round);
}

static tree_args tree_child(tree_args node, uint32_t which) {
  uint64_t path = node.path + (uint64_t)(which + 1) * UINT64_C(0x9e3779b97f4a7c15);
  path = (path ^ (path >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  path = (path ^ (path >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (tree_args){path ^ (path >> 31), node.level + 1, node.full};
}

static uint32_t tree_below(tree_args node) {
  uint32_t nodes = 1;
  if (node.level >= node.full && (uint32_t)node.path >= 1069446856u) return nodes;
  for (uint32_t k = 0; k < TREE_CHILDREN; k++)
    nodes += tree_below(tree_child(node, k));
  return nodes;
}

/* Of the roots tried this one gave a tree of some millions at the usual size, and evenly larger
   ones beyond it. */
static tree_args tree_root(uint32_t n) {
  return (tree_args){.path = 9, .full = n};
}

static uint32_t tree_futures(uint32_t n) {
  return tree_below(tree_root(n));
}

static rdl_status run_tree(const bench *b, bench_round *round) {
  tree_args root = tree_root(b->n);
  uint32_t nodes = 0;
  rdl_status status = run_one(b, "bench_tree", &root, sizeof root, &nodes, round);
  return status ? status : check(nodes == b->futures, "tree");
}

static rdl_status run_fan(const bench *b, bench_round *round) {
  fan_args args = {.rounds = FAN_ROUNDS, .width = FAN_WIDTH};
  rdl_buffer *handles = NULL;
  uint32_t value = 0, expected = 0;
  rdl_status status = rdl_buffer_create(b->context, FAN_WIDTH * sizeof(rdl_future), &handles);
  if (status) return status;
  args.handles = rdl_buffer_address(handles);
  status = run_one(b, "bench_fan", &args, sizeof args, &value, round);
  rdl_buffer_destroy(handles);
  for (uint32_t i = 0; i < FAN_ROUNDS; i++)
    expected = FAN_WIDTH * (expected + 1); /* wraps around */
  return status ? status : check(value == expected, "fan");
}

/* ---- pingpong ---- */

static rdl_status pingpong_round(const bench *b, const rdl_event *events, bench_round *round) {
  player_args args[2] = {
      {.mine = events[0], .theirs = events[1], .turns = HANDOVERS, .serves = 1},
      {.mine = events[1], .theirs = events[0], .turns = HANDOVERS},
  };
  rdl_future players[2];
  uint32_t turns[2] = {0, 0};
  uint64_t start = bench_now();
  rdl_status status = rdl_spawn_many(b->module, "bench_player", args, sizeof args[0],
                                     sizeof args[0], 2, NULL, players, NULL);
  if (!status)
    status = rdl_future_get_many(b->context, players, 2, turns, sizeof turns[0], patience);
  round->ns = bench_now() - start;
  return status ? status : check(turns[0] == HANDOVERS && turns[1] == HANDOVERS, "pingpong");
}

static rdl_status run_pingpong(const bench *b, bench_round *round) {
  rdl_event events[2];
  rdl_status status = rdl_event_create_many(b->context, 2, HANDOVERS, RDL_EVENT_DEVICE, events);
  if (status) return status;
  status = pingpong_round(b, events, round);
  for (int i = 0; i < 2; i++) {
    rdl_status ended = rdl_event_destroy(b->context, events[i]);
    if (!status) status = ended;
  }
  return status;
}

/* ---- yield ---- */

static uint32_t yield_futures(uint32_t n) {
  return n * YIELDS;
}

static rdl_status yield_round(const bench *b, rdl_future *tasks, uint32_t *turns,
                              bench_round *round) {
  const uint32_t most = YIELDS;
  uint32_t right = 0;
  uint64_t start = bench_now();
  rdl_status status = rdl_spawn_many(b->module, "bench_yield", turns, sizeof most, sizeof most,
                                     b->n, NULL, tasks, NULL);
  memset(turns, 0, b->n * sizeof *turns);
  if (!status)
    status = rdl_future_get_many(b->context, tasks, b->n, turns, sizeof *turns, patience);
  round->ns = bench_now() - start;
  for (uint32_t i = 0; i < b->n; i++)
    right += turns[i] == most;
  return status ? status : check(right == b->n, "yield");
}

/* Tasks that do nothing but let each other go first. */
static rdl_status run_yield(const bench *b, bench_round *round) {
  rdl_future *tasks = calloc(b->n, sizeof *tasks);
  uint32_t *turns = calloc(b->n, sizeof *turns); /* arguments, then results */
  rdl_status status = tasks && turns ? RDL_OK : RDL_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < b->n && !status; i++)
    turns[i] = YIELDS;
  if (!status) status = yield_round(b, tasks, turns, round);
  free(tasks);
  free(turns);
  return status;
}

/* ---- roundtrip ---- */

static rdl_status run_roundtrip(const bench *b, bench_round *round) {
  static double times[ROUNDTRIPS];
  uint32_t right = 0;
  rdl_status status = RDL_OK;
  uint64_t start = bench_now(), before = start;
  for (uint32_t i = 0; i < ROUNDTRIPS && !status; i++) {
    uint32_t value = 0;
    rdl_future future;
    status = rdl_spawn(b->module, "bench_plus", &i, sizeof i, NULL, &future);
    if (!status) status = rdl_future_get(b->context, future, &value, sizeof value, patience);
    right += value == i + 1;
    uint64_t now = bench_now();
    times[i] = (double)(now - before);
    before = now;
  }
  round->ns = before - start;
  round->p50_ns = bench_spread_of(times, ROUNDTRIPS).median;
  round->p99_ns = times[ROUNDTRIPS / 100 * 99]; /* they are in order now */
  return status ? status : check(right == ROUNDTRIPS, "roundtrip");
}

const bench_shape bench_shapes[] = {
    {"indep", true, .run = run_indep, .count = indep_futures, .most_n = 20000000},
    {"chain", true, .run = run_chain, .count = chain_futures, .most_n = 60000},
    {"wavefront", true, CELLS, .run = run_wavefront},
    {"fib", true, .run = run_fib, .count = fib_futures, .usual_n = 20, .most_n = 40},
    {"tree", true, .run = run_tree, .count = tree_futures, .usual_n = 7, .most_n = 10},
    {"pingpong", true, 2 * HANDOVERS, .run = run_pingpong},
    {"fan", true, FAN_ROUNDS *(FAN_WIDTH + 1), .run = run_fan},
    {"roundtrip", true, ROUNDTRIPS, .run = run_roundtrip},
    {"yield", false, .run = run_yield, .count = yield_futures, .usual_n = 1000, .most_n = 60000},
    {"fma", true, .run = run_fma, .count = fma_futures, .usual_n = 4096, .most_n = 1 << 20},
    {"startup", false, 1, .measure = bench_startup},
    {"parked", false, 1, .measure = bench_parked},
    {"private-indep", false, .run = run_private_indep, .count = indep_futures, .most_n = 20000000},
    {"private-fib", false, .run = run_private_fib, .count = fib_futures, .usual_n = 20,
     .most_n = 40},
    {"private-fma", false, .run = run_private_fma, .count = fma_futures, .usual_n = 4096,
     .most_n = 1 << 20},
    {0},
};
