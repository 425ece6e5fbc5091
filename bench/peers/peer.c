/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the clock of every peer program. */
#include "peer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_SKIP = 77, EXIT_USAGE = 2, MOST_WORKERS = 65536 };

struct request {
  const char *shape;
  int workers;
  int rounds;
  int n; /* 0 = the shape's own */
};

void peer_skip(const char *reason) {
  fprintf(stderr, "skipped: %s\n", reason);
  exit(EXIT_SKIP);
}

void peer_fail(const char *reason) {
  fprintf(stderr, "failed: %s\n", reason);
  exit(EXIT_FAILURE);
}

uint64_t peer_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void *peer_alloc(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) peer_fail("out of memory");
  return memory;
}

uint32_t *peer_cells(long count) {
  uint32_t *cells = malloc((size_t)count * sizeof *cells);
  if (!cells) peer_fail("out of memory");
  memset(cells, 0, (size_t)count * sizeof *cells);
  return cells;
}

static void usage(const char *peer) {
  fprintf(stderr,
          "usage: peer-%s SHAPE [--workers W] [--rounds R] [--n N]\n"
          "       peer-%s --list\n"
          "W and R are 1 unless given; fib, tree and fma have a size N.\n",
          peer, peer);
  exit(EXIT_USAGE);
}

static int list_shapes(const struct peer *peer) {
  for (const struct peer_shape *shape = peer->shapes; shape->name; shape++)
    if (shape->run) printf("%s\n", shape->name);
  return EXIT_SUCCESS;
}

/* Reads a number from 1 to most; anything else is a mistake in the command. */
static int parse_count(const struct peer *peer, const char *text, int most) {
  char *end = NULL;
  long count = text ? strtol(text, &end, 10) : 0;
  if (end == text || (end && *end) || count < 1 || count > most) usage(peer->name);
  return (int)count;
}

static struct request parse(int argc, char **argv, const struct peer *peer) {
  struct request request = {.workers = 1, .rounds = 1};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--workers") == 0) {
      request.workers = parse_count(peer, value, MOST_WORKERS);
      i++;
    } else if (strcmp(argv[i], "--rounds") == 0) {
      request.rounds = parse_count(peer, value, INT_MAX);
      i++;
    } else if (strcmp(argv[i], "--n") == 0) {
      request.n = parse_count(peer, value, INT_MAX);
      i++;
    } else if (argv[i][0] == '-' || request.shape) {
      usage(peer->name);
    } else {
      request.shape = argv[i];
    }
  }
  if (!request.shape) usage(peer->name);
  return request;
}

static const struct peer_shape *find_shape(const struct peer *peer, const struct request *request) {
  const struct peer_shape *shape = peer->shapes;
  while (shape->name && strcmp(shape->name, request->shape) != 0)
    shape++;
  if (!shape->name && strcmp(request->shape, "fma") == 0)
    peer_skip("the shape is for devices"); /* so a peer need not speak of it */
  if (!shape->name) {
    fprintf(stderr, "peer-%s: there is no shape '%s'\n", peer->name, request->shape);
    exit(EXIT_USAGE);
  }
  if (!shape->run || request->workers < shape->min_workers ||
      (shape->max_workers && request->workers > shape->max_workers))
    peer_skip(shape->why_not);
  if (request->n > shape->max_n) {
    fprintf(stderr, "peer-%s: %s takes no --n of %d\n", peer->name, shape->name, request->n);
    exit(EXIT_USAGE);
  }
  return shape;
}

static void print_round(const struct peer_round *round) {
  printf("%.3f ", (double)round->ns / (double)round->futures);
  if (round->suspended == PEER_NOT_COUNTED)
    printf("- ");
  else
    printf("%ld ", round->suspended);
  printf("%d\n", round->ok);
  fflush(stdout);
}

/* The first round starts threads and compiles kernels, so it is run and checked but not printed. */
static bool run_rounds(const struct peer_shape *shape, const struct request *request) {
  bool ok = true;
  for (int i = -1; i < request->rounds; i++) {
    struct peer_round round = {.workers = request->workers,
                               .n = request->n ? request->n : shape->n,
                               .suspended = PEER_NOT_COUNTED};
    shape->run(&round);
    ok = ok && round.ok;
    if (i >= 0) print_round(&round);
  }
  return ok;
}

int peer_main(int argc, char **argv, const struct peer *peer) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return list_shapes(peer);
  struct request request = parse(argc, argv, peer);
  const struct peer_shape *shape = find_shape(peer, &request);
  if (peer->open) peer->open(request.workers);
  bool ok = run_rounds(shape, &request);
  if (peer->close) peer->close();
  if (!ok) peer_fail("a round had a wrong result");
  return EXIT_SUCCESS;
}
