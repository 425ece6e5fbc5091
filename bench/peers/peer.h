/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the peer programs share: the shapes' sizes, the work of one future, the checks of its
 * results, the clock and the command line. README.md has the protocol.
 *
 * A peer is a table of shapes and a call of peer_main. It does not use Raddle.
 */
#ifndef BENCH_PEERS_PEER_H
#define BENCH_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PEER_INDEP = 100000,
  PEER_CHAIN = 10000,
  PEER_SIDE = 100,
  PEER_CELLS = PEER_SIDE * PEER_SIDE,
  PEER_FIB = 20, /* unless --n says otherwise */
  PEER_MOST_FIB = 40,
  PEER_TREE = 7,
  PEER_MOST_TREE = 10,
  PEER_TREE_CHILDREN = 4,
  PEER_HANDOVERS = 10000, /* of each of the two tasks */
  PEER_FAN_ROUNDS = 10,
  PEER_FAN_WIDTH = 1000,
  PEER_FAN_TASKS = PEER_FAN_ROUNDS * PEER_FAN_WIDTH, /* the joins come on top */
  PEER_FAN_CELLS = PEER_FAN_TASKS + PEER_FAN_ROUNDS + 1,
  PEER_ROUNDTRIPS = 10000,
  PEER_FMA_TASKS = 100000,
  PEER_FMA = 4096,
  PEER_MOST_FMA = 1 << 20 /* a task counts its multiply-adds in a float */
};

#define PEER_NOT_COUNTED (-1L)

/* One round of one shape: the harness fills in the first part, the shape the second. */
struct peer_round {
  int workers;
  int n; /* size of fib, tree and fma */

  uint64_t ns;
  long futures;
  long suspended; /* how often a task was suspended; PEER_NOT_COUNTED unless the shape sets it */
  bool ok;
};

struct peer_shape {
  const char *name;
  void (*run)(struct peer_round *round); /* NULL: the peer cannot express the shape */
  const char *why_not;                   /* the reason of that, or of the worker limits below */
  int min_workers;                       /* 0: no limit */
  int max_workers;
  int n; /* the size, for shapes that have one */
  int max_n;
};

struct peer {
  const char *name;
  const struct peer_shape *shapes; /* ends with a shape without a name */
  void (*open)(int workers);       /* both may be NULL */
  void (*close)(void);
};

/* The sizes of fib, tree and fma. */
#define PEER_SIZED_FIB  .n = PEER_FIB, .max_n = PEER_MOST_FIB
#define PEER_SIZED_TREE .n = PEER_TREE, .max_n = PEER_MOST_TREE
#define PEER_SIZED_FMA  .n = PEER_FMA, .max_n = PEER_MOST_FMA

int peer_main(int argc, char **argv, const struct peer *peer);

/* Ends the program with the exit status for "not expressible here" (77), or for a failure (1). */
__attribute__((noreturn)) void peer_skip(const char *reason);
__attribute__((noreturn)) void peer_fail(const char *reason);

uint64_t peer_now(void);

/* Both end the program when there is no memory. Cells are zeroed and touched, so that no page fault
   falls into the measured time. */
void *peer_alloc(size_t count, size_t size);
uint32_t *peer_cells(long count);

/* The work of one future of each shape. Values wrap around. */
void peer_indep_run(uint32_t *cells, long i);
void peer_chain_run(uint32_t *cells, long i);
void peer_wavefront_run(uint32_t *cells, long i);

/* The fan's PEER_FAN_CELLS: what the tasks of each round wrote, then one sum a round, sums[0] = 0.
 */
struct peer_fan {
  uint32_t *tasks;
  uint32_t *sums;
};

struct peer_fan peer_fan_over(uint32_t *cells);
void peer_fan_run(struct peer_fan fan, long round, long i);
void peer_fan_join(struct peer_fan fan, long round);

/*
 * The tree: a node is known by its path, a number that is hashed from that of its parent. All nodes
 * above level n have PEER_TREE_CHILDREN children; below, the path says whether a node has as many
 * or none, on average a little less than one, so that a branch may end at once or be hundreds of
 * levels deep.
 */
struct peer_node {
  uint64_t path;
  int level;
};

struct peer_node peer_tree_root(void);
bool peer_tree_is_leaf(struct peer_node node, int n);
struct peer_node peer_tree_child(struct peer_node node, int which);
long peer_tree_nodes(struct peer_node node, int n); /* it and all below it, by plain calls */

/* Set futures and ok of a round from what its futures wrote. */
void peer_check_indep(struct peer_round *round, const uint32_t *cells);
void peer_check_chain(struct peer_round *round, const uint32_t *cells);
void peer_check_wavefront(struct peer_round *round, const uint32_t *cells);
void peer_check_fib(struct peer_round *round, long value);
void peer_check_tree(struct peer_round *round, long nodes);
void peer_check_pingpong(struct peer_round *round, long handovers);
void peer_check_fan(struct peer_round *round, const uint32_t *cells);
void peer_check_roundtrip(struct peer_round *round, long runs);
void peer_check_fma(struct peer_round *round, const uint32_t *cells);

#ifdef __cplusplus
}
#endif

#endif
