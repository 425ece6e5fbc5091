/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of `raddle bench` share. A shape is a graph of futures with a size that every
 * runtime builds alike (bench/peers/README.md); one run of it is a round.
 */
#ifndef RADDLE_BENCH_H
#define RADDLE_BENCH_H

#include <raddle/raddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  BENCH_MOST_ROUNDS = 1001,
  BENCH_MOST_WORKERS = 65536,
  BENCH_MOST_N = 20000000, /* of any shape */
  BENCH_MOST_SLOTS = 1 << 23,
  BENCH_NOTE = 160
};

typedef struct bench_options {
  const char *shape;
  const char *device; /* selector; NULL = the best device */
  uint32_t workers;   /* 0 = as many as run at once */
  uint32_t slots;     /* 0 = as many as a context has unless asked */
  uint32_t rounds;
  const char *peer; /* a name, "all" or "none" */
  const char *json; /* path, "-" or NULL */
  uint32_t n;       /* size of a shape that has one; 0 = its usual size */
  bool steady;      /* as little as can be depends on time: for counting instructions */
  bool once;        /* a process of its own that measures one start */
} bench_options;

/* A context with the tasks of bench.task.c. */
typedef struct bench {
  rdl_context *context;
  rdl_module *module;
  uint32_t n;       /* size of the shape that is run; 0 = its only or its usual one, */
  uint32_t futures; /* and the futures of a round of it */
} bench;

/* Whether a shape's tasks are private ones. */
bool bench_is_private(const char *shape);

typedef struct bench_round {
  uint64_t ns;
  uint64_t since_signal_ns; /* 0 = the shape has no signal */
  double p50_ns;            /* of single futures; 0 = the shape times none */
  double p99_ns;
  uint64_t suspended;
} bench_round;

typedef struct bench_shape {
  const char *name;
  bool has_peers;
  uint32_t futures; /* of a round, unless `count` tells */
  /* Runs one round on the open context and sets its times. RDL_INTERNAL: a result was wrong. */
  rdl_status (*run)(const bench *b, bench_round *out_round);
  /* Instead of `run`, for shapes that need no open context: one value in nanoseconds. */
  rdl_status (*measure)(const bench_options *options, double *out_ns);
  /* Of a shape that comes in sizes: the futures of one, the usual size and the largest. Where the
     usual one is 0, peers run their own size, whatever ours is. */
  uint32_t (*count)(uint32_t n);
  uint32_t usual_n;
  uint32_t most_n;
} bench_shape;

/* Median and extremes. */
typedef struct bench_spread {
  double median;
  double least;
  double most;
} bench_spread;

/* One line of the report. */
typedef struct bench_line {
  const bench_shape *shape;
  uint32_t n; /* its size; 0 = it has but one */
  uint32_t futures;
  const char *device;
  uint32_t workers;
  bench_spread ours; /* ns per future */
  double since_signal;
  double p50; /* ns of a single future; 0 = not told */
  double p99;
  double suspended;
  uint32_t record_bytes; /* of a future; 0 = not told */
  uint32_t frame_bytes;
  const char *peer; /* NULL = none */
  bench_spread theirs;
} bench_line;

/* ---- shapes ---- */

/* Ends with a shape without a name. */
extern const bench_shape bench_shapes[];

uint64_t bench_now(void);

/* Opens the device and loads the tasks. `ahead`: may use the image that was compiled ahead. */
rdl_status bench_open(const bench_options *options, bool ahead, bench *out_bench);

/* ---- shapes about the life of a context: bench_life.c ---- */

/* One start in this process: from before the context is opened to the first result. */
rdl_status bench_start(const bench_options *options, double *out_ns);
/* The same in a process of its own, with a warm cache. */
rdl_status bench_startup(const bench_options *options, double *out_ns);
/* CPU time of the process during five seconds without work. */
rdl_status bench_parked(const bench_options *options, double *out_ns);

/* ---- other programs: bench_peers.c ---- */

/* Starts a program and hands each line it prints to `take`. Returns its exit code, -1 when it could
 * not be started or was killed. */
int bench_spawn(char *const argv[], void (*take)(void *user, const char *line), void *user);

typedef struct bench_peers {
  size_t count;
  char **names; /* without "peer-" */
} bench_peers;

/* Folder of the running program. */
void bench_folder(char *out_path, size_t size);
/* The peers beside the running program that `wanted` asks for; false = memory is short. */
bool bench_peers_find(const char *wanted, bench_peers *out_peers);
void bench_peers_free(bench_peers *peers);

/* Rounds that a peer has run so far. */
typedef struct bench_series {
  double values[BENCH_MOST_ROUNDS];
  uint32_t count;
  bool cannot; /* it has not this shape, or not with so many workers */
  bool wrong;
} bench_series;

/* What is asked of a peer; `n` is the shape's size, 0 = it has but one. */
typedef struct bench_task {
  const char *shape;
  uint32_t n;
  uint32_t workers;
  uint32_t rounds;
} bench_task;

/* Runs so many more rounds of the shape, in one start of the peer's program. */
void bench_peer_run(const char *name, const bench_task *task, bench_series *series);

/* ---- report: bench_report.c ---- */

bench_spread bench_spread_of(double *values, uint32_t count);

/* false = the file cannot be written. */
bool bench_report_open(const char *json);
void bench_report_line(const bench_line *line);
bool bench_report_close(void);

#endif
