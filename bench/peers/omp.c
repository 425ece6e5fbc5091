/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP tasks. The same file makes two peers, because gcc and clang bring different runtimes.
 *
 * The clock runs inside the parallel region, so that starting the threads is not measured. Both
 * runtimes may run a task at once, as a call, and do so once enough tasks are waiting.
 */
#include "peer.h"

#include <stdlib.h>

static void indep(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_INDEP);
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (long i = 0; i < PEER_INDEP; i++) {
#pragma omp task firstprivate(i, cells)
      peer_indep_run(cells, i);
    }
#pragma omp taskwait
    round->ns = peer_now() - start;
  }
  peer_check_indep(round, cells);
  free(cells);
}

static void chain(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CHAIN);
  char *done = peer_alloc(PEER_CHAIN + 1, 1); /* addresses of dependencies; done[i + 1] is task i */
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (long i = 0; i < PEER_CHAIN; i++) {
#pragma omp task firstprivate(i, cells) depend(in : done[i]) depend(out : done[i + 1])
      peer_chain_run(cells, i);
    }
#pragma omp taskwait
    round->ns = peer_now() - start;
  }
  peer_check_chain(round, cells);
  free(done);
  free(cells);
}

/* Addresses of the wavefront's dependencies, with a row above the first and a column before it. */
enum { WAVE_WIDTH = PEER_SIDE + 1 };

static long above(long i) {
  return i / PEER_SIDE * WAVE_WIDTH + i % PEER_SIDE + 1;
}

static long before(long i) {
  return above(i) + WAVE_WIDTH - 1;
}

static long own(long i) {
  return above(i) + WAVE_WIDTH;
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CELLS);
  char *done = peer_alloc(WAVE_WIDTH * WAVE_WIDTH, 1);
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (long i = 0; i < PEER_CELLS; i++) {
#pragma omp task depend(in : done[above(i)], done[before(i)]) depend(out : done[own(i)])
      peer_wavefront_run(cells, i);
    }
#pragma omp taskwait
    round->ns = peer_now() - start;
  }
  peer_check_wavefront(round, cells);
  free(done);
  free(cells);
}

static long fib_task(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib_task(n - 1);
#pragma omp task shared(b) firstprivate(n)
  b = fib_task(n - 2);
#pragma omp taskwait
  return a + b;
}

static void fib(struct peer_round *round) {
  long value = 0;
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    value = fib_task(round->n);
    round->ns = peer_now() - start;
  }
  peer_check_fib(round, value);
}

static long tree_task(struct peer_node node, int n) {
  long below[PEER_TREE_CHILDREN];
  long nodes = 1;
  if (peer_tree_is_leaf(node, n)) return nodes;
  for (int k = 0; k < PEER_TREE_CHILDREN; k++) {
#pragma omp task shared(below) firstprivate(node, n, k)
    below[k] = tree_task(peer_tree_child(node, k), n);
  }
#pragma omp taskwait
  for (int k = 0; k < PEER_TREE_CHILDREN; k++)
    nodes += below[k];
  return nodes;
}

static void tree(struct peer_round *round) {
  long nodes = 0;
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    nodes = tree_task(peer_tree_root(), round->n);
    round->ns = peer_now() - start;
  }
  peer_check_tree(round, nodes);
}

/* OpenMP has no event that a task could wait for, so the two tasks spin, each on a thread. */
static void play(int me, int *turn, long *handovers) {
  for (long k = 0; k < PEER_HANDOVERS; k++) {
    while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != me) {
#pragma omp taskyield
    }
    ++*handovers;
    __atomic_store_n(turn, !me, __ATOMIC_RELEASE);
  }
}

static void pingpong(struct peer_round *round) {
  int turn = 0;
  long handovers = 0;
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (int me = 0; me < 2; me++) {
#pragma omp task firstprivate(me) shared(turn, handovers)
      play(me, &turn, &handovers);
    }
#pragma omp taskwait
    round->ns = peer_now() - start;
  }
  round->suspended = 0;
  peer_check_pingpong(round, handovers);
}

/* The tasks of a round read what the join before them wrote; a join waits for all its readers.
   The address of the cells stands for the join. */
static void fan(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_FAN_CELLS);
  struct peer_fan both = peer_fan_over(cells);
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
      for (long i = 0; i < PEER_FAN_WIDTH; i++) {
#pragma omp task firstprivate(both, r, i) depend(in : cells[0])
        peer_fan_run(both, r, i);
      }
#pragma omp task firstprivate(both, r) depend(inout : cells[0])
      peer_fan_join(both, r);
    }
#pragma omp taskwait
    round->ns = peer_now() - start;
  }
  peer_check_fan(round, cells);
  free(cells);
}

static void roundtrip(struct peer_round *round) {
  long runs = 0;
#pragma omp parallel num_threads(round->workers)
#pragma omp single
  {
    uint64_t start = peer_now();
    for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
#pragma omp task shared(runs)
      runs++;
#pragma omp taskwait
    }
    round->ns = peer_now() - start;
  }
  peer_check_roundtrip(round, runs);
}

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .run = chain},
    {.name = "wavefront", .run = wavefront},
    {.name = "fib", .run = fib, PEER_SIZED_FIB},
    {.name = "tree", .run = tree, PEER_SIZED_TREE},
    {.name = "pingpong",
     .run = pingpong,
     .min_workers = 2,
     .why_not = "OpenMP tasks cannot wait for each other, only spin on two threads"},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {.name = "omp", .shapes = shapes};
  return peer_main(argc, argv, &peer);
}
