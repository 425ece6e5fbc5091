/* SPDX-License-Identifier: Apache-2.0 */
/* What the futures of each shape do, and how their results are checked. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

void peer_indep_run(uint32_t *cells, long i) {
  cells[i] = 1;
}

void peer_chain_run(uint32_t *cells, long i) {
  cells[i] = (i ? cells[i - 1] : 0) + 1;
}

void peer_wavefront_run(uint32_t *cells, long i) {
  uint32_t up = i >= PEER_SIDE ? cells[i - PEER_SIDE] : 0;
  uint32_t left = i % PEER_SIDE ? cells[i - 1] : 0;
  cells[i] = i ? up + left : 1;
}

struct peer_fan peer_fan_over(uint32_t *cells) {
  return (struct peer_fan){cells, cells + PEER_FAN_TASKS};
}

void peer_fan_run(struct peer_fan fan, long round, long i) {
  fan.tasks[round * PEER_FAN_WIDTH + i] = fan.sums[round] + 1;
}

void peer_fan_join(struct peer_fan fan, long round) {
  uint32_t sum = 0;
  for (long i = 0; i < PEER_FAN_WIDTH; i++)
    sum += fan.tasks[round * PEER_FAN_WIDTH + i];
  fan.sums[round + 1] = sum;
}

struct peer_node peer_tree_root(void) {
  return (struct peer_node){9, 0};
}

bool peer_tree_is_leaf(struct peer_node node, int n) {
  return node.level >= n && (uint32_t)node.path >= 1069446856u; /* 0.249 of 2^32 */
}

/* The mixing function is the one that ends a step of SplitMix64. */
struct peer_node peer_tree_child(struct peer_node node, int which) {
  uint64_t path = node.path + (uint64_t)(which + 1) * UINT64_C(0x9e3779b97f4a7c15);
  path = (path ^ (path >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  path = (path ^ (path >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (struct peer_node){path ^ (path >> 31), node.level + 1};
}

long peer_tree_nodes(struct peer_node node, int n) {
  long nodes = 1;
  if (peer_tree_is_leaf(node, n)) return nodes;
  for (int k = 0; k < PEER_TREE_CHILDREN; k++)
    nodes += peer_tree_nodes(peer_tree_child(node, k), n);
  return nodes;
}

static void check_cells(struct peer_round *round, const uint32_t *cells, long count,
                        void (*run)(uint32_t *cells, long i)) {
  uint32_t *expected = peer_cells(count);
  for (long i = 0; i < count; i++)
    run(expected, i);
  round->futures = count;
  round->ok = memcmp(cells, expected, (size_t)count * sizeof *cells) == 0;
  free(expected);
}

void peer_check_indep(struct peer_round *round, const uint32_t *cells) {
  check_cells(round, cells, PEER_INDEP, peer_indep_run);
}

void peer_check_chain(struct peer_round *round, const uint32_t *cells) {
  check_cells(round, cells, PEER_CHAIN, peer_chain_run);
}

void peer_check_wavefront(struct peer_round *round, const uint32_t *cells) {
  check_cells(round, cells, PEER_CELLS, peer_wavefront_run);
}

static long fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static long fib_futures(int n) {
  return n < 2 ? 1 : 1 + fib_futures(n - 1) + fib_futures(n - 2);
}

void peer_check_fib(struct peer_round *round, long value) {
  round->futures = fib_futures(round->n);
  round->ok = value == fib(round->n);
}

void peer_check_tree(struct peer_round *round, long nodes) {
  round->futures = peer_tree_nodes(peer_tree_root(), round->n);
  round->ok = nodes == round->futures;
}

void peer_check_pingpong(struct peer_round *round, long handovers) {
  round->futures = 2L * PEER_HANDOVERS;
  round->ok = handovers == round->futures;
}

void peer_check_fan(struct peer_round *round, const uint32_t *cells) {
  uint32_t *expected = peer_cells(PEER_FAN_CELLS);
  struct peer_fan fan = peer_fan_over(expected);
  for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
    for (long i = 0; i < PEER_FAN_WIDTH; i++)
      peer_fan_run(fan, r, i);
    peer_fan_join(fan, r);
  }
  round->futures = PEER_FAN_TASKS + PEER_FAN_ROUNDS;
  round->ok = memcmp(cells, expected, PEER_FAN_CELLS * sizeof *cells) == 0;
  free(expected);
}

void peer_check_roundtrip(struct peer_round *round, long runs) {
  round->futures = PEER_ROUNDTRIPS;
  round->ok = runs == PEER_ROUNDTRIPS;
}

/* A task runs whole turns of eight. */
void peer_check_fma(struct peer_round *round, const uint32_t *cells) {
  uint32_t expected = ((uint32_t)round->n + 7) / 8 * 8;
  long right = 0;
  for (long i = 0; i < PEER_FMA_TASKS; i++)
    right += cells[i] == expected;
  round->futures = PEER_FMA_TASKS;
  round->ok = right == PEER_FMA_TASKS;
}
