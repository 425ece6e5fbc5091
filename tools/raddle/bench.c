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

/* ---- options ---- */

enum {
  OPTION_SHAPE,
  OPTION_DEVICE,
  OPTION_WORKERS,
  OPTION_SLOTS,
  OPTION_ROUNDS,
  OPTION_N,
  OPTION_PEER,
  OPTION_JSON,
  OPTION_STEADY,
  OPTION_ONCE
};

/* The shapes that are named here are those of bench_shapes: a test runs each by its name. */
static const command_option offered[] = {
    [OPTION_SHAPE] = {"--shape", "SHAPE",
                      "all (the default, but for the private ones), or one of indep chain\n"
                      "wavefront fib tree pingpong fan roundtrip yield fma startup parked\n"
                      "private-indep private-fib private-fma"},
    [OPTION_DEVICE] = {"--device", "SELECTOR",
                       "host, opencl:pocl, ... ('raddle devices' lists them); default: the best"},
    [OPTION_WORKERS] = {"--workers", "N", "default: as many as run at once"},
    [OPTION_SLOTS] = {"--slots", "N",
                      "futures spawned by tasks that may live at once; default: 262,144"},
    [OPTION_ROUNDS] = {"--rounds", "R", "how often each shape is run; default: 9"},
    [OPTION_N] =
        {"--n", "N",
         "the size of one shape. fib: run fib(N), up to 40; default: 20. tree: the first\n"
         "N levels are whole, up to 10; default: 7, which makes 2,992,501 futures. indep:\n"
         "N futures, up to 20,000,000; default: 100,000. chain: N futures, up to 60,000;\n"
         "default: 10,000; peers have these whatever N is. yield: N tasks, up to 60,000,\n"
         "that yield 1,000 times each; default: 1,000. fma: 100,000 tasks of N\n"
         "multiply-adds, up to 1,048,576; default: 4,096"},
    [OPTION_PEER] = {"--peer", "NAME",
                     "also run the program peer-NAME that lies beside this one, or all; ratio is\n"
                     "its time over ours: above 1, Raddle is faster. Rounds take turns. Default:\n"
                     "none"},
    [OPTION_JSON] = {"--json", "FILE",
                     "one object a line into FILE, or, for -, to standard output in place of the\n"
                     "table"},
    [OPTION_STEADY] = {"--steady", NULL, NULL}, /* for bench/instructions.sh */
    [OPTION_ONCE] = {"--once", NULL, NULL},     /* how `startup` calls itself */
    {NULL, NULL, NULL},
};

static bool shape_is(const char *name, const bench_shape *shape) {
  return strcmp(name, shape->name) == 0 ||
         (strcmp(name, "all") == 0 && !bench_is_private(shape->name));
}

static bool shape_known(const char *name) {
  const bench_shape *shape = bench_shapes;
  while (shape->name && !shape_is(name, shape))
    shape++;
  return shape->name != NULL;
}

static int wrong_number(const char *name, int most, const char *value) {
  return command_misused("bench", "%s is a number from 1 to %d, not '%s'", name, most, value);
}

/* 0 = fine, else the exit code. */
static int take_option(int option, const char *value, bench_options *o) {
  switch (option) {
  case OPTION_SHAPE:
    o->shape = value;
    if (shape_known(value)) break;
    return command_misused("bench", "there is no shape '%s'", value);
  case OPTION_DEVICE:
    o->device = value;
    break;
  case OPTION_WORKERS:
    if (command_number(value, 1, BENCH_MOST_WORKERS, &o->workers)) break;
    return wrong_number("--workers", BENCH_MOST_WORKERS, value);
  case OPTION_SLOTS:
    if (command_number(value, 1, BENCH_MOST_SLOTS, &o->slots)) break;
    return wrong_number("--slots", BENCH_MOST_SLOTS, value);
  case OPTION_ROUNDS:
    if (command_number(value, 1, BENCH_MOST_ROUNDS, &o->rounds)) break;
    return wrong_number("--rounds", BENCH_MOST_ROUNDS, value);
  case OPTION_N:
    if (command_number(value, 1, BENCH_MOST_N, &o->n)) break;
    return wrong_number("--n", BENCH_MOST_N, value);
  case OPTION_PEER:
    o->peer = value;
    break;
  case OPTION_JSON:
    o->json = value;
    break;
  case OPTION_STEADY:
    o->steady = true;
    break;
  case OPTION_ONCE:
    o->once = true;
    break;
  case COMMAND_OPERAND:
    return command_misused("bench", "'%s' was not understood", value);
  default:
    return EXIT_MISUSED;
  }
  return EXIT_OK;
}

/* Each shape has its own idea of a size, so --n is for one of them. */
static int check_size(const bench_options *o) {
  const bench_shape *shape = bench_shapes;
  if (!o->n) return EXIT_OK;
  while (shape->name && strcmp(o->shape, shape->name) != 0)
    shape++;
  if (!shape->name || !shape->count)
    return command_misused("bench", "--n is for one of the shapes indep chain fib tree yield fma");
  if (o->n <= shape->most_n) return EXIT_OK;
  return command_misused("bench", "--n of %s is at most %u", shape->name, shape->most_n);
}

static int read_options(int argc, char **argv, bench_options *o) {
  command_line line = {.command = &command_bench, .argc = argc, .argv = argv, .at = 1};
  int code = EXIT_OK;
  for (int option; !code && (option = command_next(&line)) != COMMAND_END;)
    code = take_option(option, line.value, o);
  return code ? code : check_size(o);
}

/* ---- our rounds ---- */

typedef struct our_series {
  double ns[BENCH_MOST_ROUNDS];
  double since_signal[BENCH_MOST_ROUNDS];
  double p50[BENCH_MOST_ROUNDS];
  double p99[BENCH_MOST_ROUNDS];
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
  *out_round = (bench_round){.ns = 0};
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
    series->ns[at] = (double)round.ns / (double)b->futures;
    series->since_signal[at] = (double)round.since_signal_ns / (double)b->futures;
    series->p50[at] = round.p50_ns;
    series->p99[at] = round.p99_ns;
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
                     .n = s->bench.n,
                     .futures = s->bench.futures,
                     .device = asked ? asked : s->info.device.selector,
                     .workers = s->info.workers};
  int code = EXIT_OK;
  uint32_t told = 0;
  line.ours = bench_spread_of(ours->ns, ours->count);
  line.since_signal = bench_spread_of(ours->since_signal, ours->count).median;
  line.p50 = bench_spread_of(ours->p50, ours->count).median;
  line.p99 = bench_spread_of(ours->p99, ours->count).median;
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
  uint32_t n = shape->usual_n ? s->bench.n : 0;
  for (size_t i = 0; shape->has_peers && i < s->peers.count; i++) {
    uint64_t start = bench_now();
    bench_task task = {shape->name, n, s->info.workers, slow[i] ? 1 : rounds};
    bench_peer_run(s->peers.names[i], &task, &theirs[i]);
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
  s->bench.n = shape->count && s->options->n ? s->options->n : shape->usual_n;
  s->bench.futures = shape->count ? shape->count(s->bench.n) : shape->futures;
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
      s->bench = (bench){NULL, NULL, 0, 0};
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
  if (bench_open(options, !options->steady, &s.bench)) return command_failed("opening the device");
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

static int run(int argc, char **argv) {
  bench_options o = {.shape = "all", .rounds = 9, .peer = "none"};
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

const command command_bench = {
    .name = "bench",
    .summary = "measure this machine, beside other runtimes if they are there",
    .usage = "bench [--shape SHAPE] [--n N] [--device SELECTOR] [--workers N] [--rounds R]\n"
             "                    [--slots N] [--peer NAME|all|none] [--json FILE|-]",
    .about = "Runs a shape R times after one round to warm up, checks every result and prints\n"
             "median, least and most nanoseconds a future, or a hand-over of pingpong or a yield.",
    .options = offered,
    .more =
        "startup is the time from opening the device to a first result, in a new process with a\n"
        "warm cache; parked is the CPU time of five seconds without work; both in nanoseconds.",
    .run = run,
};
