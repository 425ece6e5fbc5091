/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work alone: plain calls on one thread, through an array of functions and arguments where the
 * shape has a list of tasks. What stands above this is the price of running asynchronously.
 */
#include "peer.h"

#include <stdlib.h>

struct call {
  void (*run)(uint32_t *cells, long i);
  uint32_t *cells;
  long i;
};

static void run_calls(struct peer_round *round, uint32_t *cells, long count,
                      void (*run)(uint32_t *cells, long i)) {
  uint64_t start = peer_now();
  struct call *calls = peer_alloc((size_t)count, sizeof *calls);
  for (long i = 0; i < count; i++)
    calls[i] = (struct call){run, cells, i};
  for (long i = 0; i < count; i++)
    calls[i].run(calls[i].cells, calls[i].i);
  free(calls);
  round->ns = peer_now() - start;
  round->suspended = 0;
}

static void indep(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_INDEP);
  run_calls(round, cells, PEER_INDEP, peer_indep_run);
  peer_check_indep(round, cells);
  free(cells);
}

static void chain(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CHAIN);
  run_calls(round, cells, PEER_CHAIN, peer_chain_run);
  peer_check_chain(round, cells);
  free(cells);
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CELLS);
  run_calls(round, cells, PEER_CELLS, peer_wavefront_run);
  peer_check_wavefront(round, cells);
  free(cells);
}

/* Called through a volatile pointer, so that the compiler keeps every call. */
static long fib_call(int n);
static long (*volatile next_fib)(int n) = fib_call;

static long fib_call(int n) {
  return n < 2 ? n : next_fib(n - 1) + next_fib(n - 2);
}

static void fib(struct peer_round *round) {
  uint64_t start = peer_now();
  long value = next_fib(round->n);
  round->ns = peer_now() - start;
  round->suspended = 0;
  peer_check_fib(round, value);
}

static void tree(struct peer_round *round) {
  uint64_t start = peer_now();
  long nodes = peer_tree_nodes(peer_tree_root(), round->n);
  round->ns = peer_now() - start;
  round->suspended = 0;
  peer_check_tree(round, nodes);
}

static void fan(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_FAN_CELLS);
  struct peer_fan both = peer_fan_over(cells);
  uint64_t start = peer_now();
  for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
    for (long i = 0; i < PEER_FAN_WIDTH; i++)
      peer_fan_run(both, r, i);
    peer_fan_join(both, r);
  }
  round->ns = peer_now() - start;
  round->suspended = 0;
  peer_check_fan(round, cells);
  free(cells);
}

#define ONE_THREAD .max_workers = 1, .why_not = "plain calls run on one thread"

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep, ONE_THREAD},
    {.name = "chain", .run = chain, ONE_THREAD},
    {.name = "wavefront", .run = wavefront, ONE_THREAD},
    {.name = "fib", .run = fib, PEER_SIZED_FIB, ONE_THREAD},
    {.name = "tree", .run = tree, PEER_SIZED_TREE, ONE_THREAD},
    {.name = "pingpong", .why_not = "calls cannot hand over to each other"},
    {.name = "fan", .run = fan, ONE_THREAD},
    {.name = "roundtrip", .why_not = "a call is not handed to anyone"},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {.name = "floor-calls", .shapes = shapes};
  return peer_main(argc, argv, &peer);
}
