/* SPDX-License-Identifier: Apache-2.0 */
/* raddle bench: options, and the order in which rounds of ours and of the peers are run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/raddle/bench.h"
#include "tools/raddle/command.h"

/* Ours and the peers' take turns, so that a slow minute of the machine hits both; a peer's start is
   too dear for every single round. */
enum { ROUNDS_A_TURN = 3 };

/* A peer whose turn takes longer runs one round a turn from then on. */
static const uint64_t slow_turn_ns = UINT64_C(5000000000);

static int help(void) {
  printf("usage: raddle bench [--shape SHAPE] [--device SELECTOR] [--workers N] [--rounds R]\n"
         "                    [--peer NAME|all|none] [--json FILE|-]\n\n"
         "Runs a shape R times (9 unless given) after one round to warm up, checks every result\n"
         "and prints median, least and most nanoseconds a future.\n\n"
         "  --shape    one of these, or all (the default):\n");
  printf("              ");
  for (const bench_shape *shape = bench_shapes; shape->name; shape++)
    printf(" %s", shape->name);
  printf(
      "\n"
      "  --device   host, opencl:pocl, ... ('raddle devices' lists them); default: the best\n"
      "  --workers  default: as many as run at once\n"
      "  --peer     also run the program peer-NAME that lies beside this one; ratio is its time\n"
      "             over ours: above 1, Raddle is faster. Rounds take turns. Default: none\n"
      "  --json     one object a line into FILE, or to standard output in place of the table\n\n"
      "startup is the time from opening the device to a first result, in a new process with a\n"
      "warm cache; parked is the CPU time of five seconds without work; both in nanoseconds.\n");
  return EXIT_OK;
}

/* ---- options ---- */

static bool read_number(const char *text, uint32_t most, uint32_t *out) {
  char *end = NULL;
  unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
  *out = (uint32_t)value;
  return end && !*end && value >= 1 && value <= most;
}

static bool shape_is(const char *name, const bench_shape *shape) {
  return strcmp(name, shape->name) == 0 || strcmp(name, "all") == 0;
}

static bool shape_known(const char *name) {
  const bench_shape *shape = bench_shapes;
  while (shape->name && !shape_is(name, shape))
    shape++;
  return shape->name != NULL;
}

/* 0 = fine, else the exit code. */
static int read_option(const char *name, const char *value, bench_options *o) {
  if (!value || !*value || strncmp(value, "--", 2) == 0)
    return command_misused("bench", "%s needs a value", name);
  if (strcmp(name, "--shape") == 0)
    o->shape = value;
  else if (strcmp(name, "--device") == 0)
    o->device = value;
  else if (strcmp(name, "--peer") == 0)
    o->peer = value;
  else if (strcmp(name, "--json") == 0)
    o->json = value;
  else if (strcmp(name, "--workers") == 0) {
    if (!read_number(value, BENCH_MOST_WORKERS, &o->workers))
      return command_misused("bench", "--workers is a number from 1 to %d, not '%s'",
                             BENCH_MOST_WORKERS, value);
  } else if (strcmp(name, "--rounds") == 0) {
    if (!read_number(value, BENCH_MOST_ROUNDS, &o->rounds))
      return command_misused("bench", "--rounds is a number from 1 to %d, not '%s'",
                             BENCH_MOST_ROUNDS, value);
  } else
    return command_misused("bench", "'%s' was not understood", name);
  if (!shape_known(o->shape)) return command_misused("bench", "there is no shape '%s'", o->shape);
  return EXIT_OK;
}

static bool option_known(const char *word) {
  static const char *const names[] = {"--shape",  "--device", "--workers",
                                      "--rounds", "--peer",   "--json"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(word, names[i]) == 0) return true;
  return false;
}

static bool asks_for_help(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  return false;
}

static int read_options(int argc, char **argv, bench_options *o) {
  for (int i = 1; i < argc; i++) {
    int code;
    if (strcmp(argv[i], "--once") == 0) { /* how `startup` calls itself */
      o->once = true;
      continue;
    }
    if (!option_known(argv[i])) return command_misused("bench", "'%s' was not understood", argv[i]);
    code = read_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, o);
    if (code) return code;
    i++;
  }
  return EXIT_OK;
}

/* ---- our rounds ---- */

typedef struct our_series {
  double ns[BENCH_MOST_ROUNDS];
  double since_signal[BENCH_MOST_ROUNDS];
  double suspended[BENCH_MOST_ROUNDS];
  uint32_t count;
} our_series;

/* Counters are exact between two launches: the device parks soon when it has nothing to do. */
static rdl_status exact_stats(rdl_context *context, rdl_stats *out_stats) {
  struct timespec pause = {0, 200000};
  rdl_status status = RDL_OK;
  for (int i = 0; i < 20000 && !status; i++) {
    *out_stats = (rdl_stats){.size = sizeof *out_stats};
    status = rdl_context_stats(context, out_stats);
    if (!status && out_stats->exact) return RDL_OK;
    nanosleep(&pause, NULL);
  }
  return status ? status : RDL_TIMEOUT;
}

static rdl_status run_round(const bench *b, const bench_shape *shape, bench_round *out_round) {
  rdl_stats before, after;
  *out_round = (bench_round){0, 0, 0};
  rdl_status status = exact_stats(b->context, &before);
  if (!status) status = shape->run(b, out_round);
  if (!status) status = exact_stats(b->context, &after);
  if (!status) out_round->suspended = after.suspended - before.suspended;
  return status;
}

static rdl_status our_turn(const bench *b, const bench_shape *shape, uint32_t rounds,
                           our_series *series) {
  rdl_status status = RDL_OK;
  for (uint32_t i = 0; i < rounds && !status; i++) {
    bench_round round;
    status = run_round(b, shape, &round);
    if (status) break;
    uint32_t at = series->count++;
    series->ns[at] = (double)round.ns / (double)shape->futures;
    series->since_signal[at] = (double)round.since_signal_ns / (double)shape->futures;
    series->suspended[at] = (double)round.suspended;
  }
  return status;
}

/* ---- one shape ---- */

typedef struct session {
  const bench_options *options;
  bench bench; /* not open while nothing needs it */
  rdl_context_info info;
  bench_peers peers;
} session;

static void tell_bytes(const session *s, bench_line *line) {
  rdl_task_description task = {.size = sizeof task};
  if (strcmp(line->shape->name, "fib") != 0) return;
  if (rdl_module_task(s->bench.module, "bench_fib", &task)) return;
  line->record_bytes = s->info.bytes_per_future;
  for (line->frame_bytes = 16; line->frame_bytes < task.args_size + task.state_size;)
    line->frame_bytes *= 2;
}

static int tell(const session *s, const bench_shape *shape, our_series *ours,
                bench_series *theirs) {
  const char *asked = s->options->device;
  bench_line line = {.shape = shape,
                     .device = asked ? asked : s->info.device.selector,
                     .workers = s->info.workers};
  int code = EXIT_OK;
  uint32_t told = 0;
  line.ours = bench_spread_of(ours->ns, ours->count);
  line.since_signal = bench_spread_of(ours->since_signal, ours->count).median;
  line.suspended = bench_spread_of(ours->suspended, ours->count).median;
  if (s->bench.module) tell_bytes(s, &line);
  for (size_t i = 0; shape->has_peers && i < s->peers.count; i++) {
    if (theirs[i].wrong) code = EXIT_FAILED;
    if (theirs[i].wrong || !theirs[i].count) continue;
    line.peer = s->peers.names[i];
    line.theirs = bench_spread_of(theirs[i].values, theirs[i].count);
    bench_report_line(&line);
    told++;
  }
  if (!told) bench_report_line(&line);
  return code;
}

static void peers_turn(const session *s, const bench_shape *shape, uint32_t rounds,
                       bench_series *theirs, bool *slow) {
  for (size_t i = 0; i < s->peers.count; i++) {
    uint64_t start = bench_now();
    bench_peer_run(s->peers.names[i], shape->name, s->info.workers, slow[i] ? 1 : rounds,
                   &theirs[i]);
    if (bench_now() - start > slow_turn_ns) slow[i] = true;
  }
}

static rdl_status take_turns(const session *s, const bench_shape *shape, our_series *ours,
                             bench_series *theirs, bool *slow) {
  bench_round warm_up;
  uint32_t left = s->options->rounds;
  rdl_status status = run_round(&s->bench, shape, &warm_up);
  while (left && !status) {
    uint32_t rounds = left < ROUNDS_A_TURN ? left : ROUNDS_A_TURN;
    status = our_turn(&s->bench, shape, rounds, ours);
    if (!status) peers_turn(s, shape, rounds, theirs, slow);
    left -= rounds;
  }
  return status;
}

static rdl_status take_values(const session *s, const bench_shape *shape, our_series *ours) {
  bool once = shape->measure == bench_parked; /* five seconds are rounds enough */
  rdl_status status = RDL_OK;
  for (uint32_t i = 0; i < (once ? 1 : s->options->rounds) && !status; i++)
    status = shape->measure(s->options, &ours->ns[ours->count++]);
  return status;
}

static int run_shape(session *s, const bench_shape *shape) {
  our_series *ours = calloc(1, sizeof *ours);
  bench_series *theirs = calloc(s->peers.count + 1, sizeof *theirs);
  bool *slow = calloc(s->peers.count + 1, sizeof *slow);
  rdl_status status = ours && theirs && slow ? RDL_OK : RDL_OUT_OF_MEMORY;
  int code = EXIT_FAILED;
  if (!status)
    status = shape->run ? take_turns(s, shape, ours, theirs, slow) : take_values(s, shape, ours);
  if (status) {
    fprintf(stderr, "raddle: %s: %s\n", shape->name, rdl_status_name(status));
    command_failed("the benchmark");
  } else {
    code = tell(s, shape, ours, theirs);
  }
  free(ours);
  free(theirs);
  free(slow);
  return code;
}

/* ---- all together ---- */

/* Contexts of the shapes about a context's own life are opened by these; ours is closed first, for
   it would be measured with them. */
static int run_shapes(session *s) {
  int code = EXIT_OK;
  for (const bench_shape *shape = bench_shapes; shape->name; shape++) {
    if (!shape_is(s->options->shape, shape)) continue;
    if (!shape->run && s->bench.context) {
      if (rdl_context_close(s->bench.context)) code = command_failed("closing the device");
      s->bench = (bench){NULL, NULL};
    }
    if (run_shape(s, shape) != EXIT_OK) code = EXIT_FAILED;
  }
  if (rdl_context_close(s->bench.context)) code = command_failed("closing the device");
  return code;
}

static int run_session(const bench_options *options) {
  session s = {.options = options, .info = {.size = sizeof s.info}};
  bool none = strcmp(options->peer, "none") == 0;
  if (!bench_peers_find(options->peer, &s.peers)) return command_failed("looking for peers");
  if (!none && !s.peers.count) {
    fprintf(stderr, "raddle: there is no peer '%s' beside this program\n", options->peer);
    return EXIT_FAILED;
  }
  if (bench_open(options, true, &s.bench)) return command_failed("opening the device");
  int code = EXIT_FAILED;
  if (rdl_context_describe(s.bench.context, &s.info))
    command_failed("describing the device");
  else
    code = run_shapes(&s);
  bench_peers_free(&s.peers);
  return code;
}

static int run_once(const bench_options *options) {
  double ns = 0;
  if (bench_start(options, &ns)) return command_failed("starting");
  printf("%.0f\n", ns);
  return EXIT_OK;
}

int command_bench(int argc, char **argv) {
  bench_options o = {.shape = "all", .rounds = 9, .peer = "none"};
  if (asks_for_help(argc, argv)) return help();
  int code = read_options(argc, argv, &o);
  if (code) return code;
  if (o.once) return run_once(&o);
  if (!bench_report_open(o.json)) {
    fprintf(stderr, "raddle: %s cannot be written\n", o.json);
    return EXIT_FAILED;
  }
  code = run_session(&o);
  if (!bench_report_close()) {
    fprintf(stderr, "raddle: the report could not be written\n");
    return EXIT_FAILED;
  }
  return code;
}
