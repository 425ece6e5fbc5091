/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes from one task that gives way to the next that goes on, in cycles of the
 * multiprocessor's clock (elsewhere than on CUDA, in ticks of the device's). The tasks note it
 * themselves, so nothing of the host's and of a launch's is in it, but for the few hand-overs
 * between which a launch ended.
 */
#include <raddle/raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_MISUSED = 2,
  EXIT_SKIPPED = 77,
  MOST_TURNS = 1000000,
  MOST_SIDES = 5,
  MARKS_BYTES = MOST_SIDES * 32,
  RATE_CYCLES = 2000000
};

/* As long as a launch can be, so that few hand-overs are from one to the next. */
static const uint64_t quantum_ns = UINT64_C(250000000);
static const uint64_t patience_ns = UINT64_C(60000000000);

/* These mirror yields.task.c. */
enum { SELF, SAME_WORKER, SAME_SM, OTHER_SM, ANYWHERE, WAYS };

static const char *const way_names[WAYS] = {"", "same worker", "same SM", "other SM", "any worker"};

typedef struct note {
  uint32_t cycles;
  uint32_t ns;
  uint32_t way;
} note;

typedef struct turn_args {
  rdl_ptr mark;
  rdl_ptr notes;
  uint32_t turns;
  uint32_t who;
} turn_args;

typedef struct parent_args {
  rdl_ptr mark;
  rdl_ptr starts;
  rdl_ptr ends;
  uint32_t turns;
} parent_args;

typedef struct pair_args {
  rdl_ptr mark;
  rdl_ptr notes;
  uint32_t turns;
  uint32_t pad;
} pair_args;

typedef struct player_args {
  rdl_ptr mark;
  rdl_ptr notes;
  rdl_event mine;
  rdl_event theirs;
  uint32_t turns;
  uint32_t who;
  uint32_t waits;
} player_args;

typedef struct session {
  rdl_context *context;
  rdl_module *module;
  rdl_buffer *buffer; /* a mark for each side, then their notes, side by side */
  uint32_t workers;
  uint32_t turns;
  double cycles_a_ns;
} session;

static rdl_ptr marks_of(const session *s) {
  return rdl_buffer_address(s->buffer);
}

static rdl_ptr notes_of(const session *s, uint32_t side) {
  return marks_of(s) + MARKS_BYTES + (rdl_ptr)side * s->turns * sizeof(note);
}

/* ---- rounds: each leaves the notes of its sides ---- */

static rdl_status all_end(const session *s, const char *task, const void *args, size_t each,
                          uint32_t count) {
  rdl_future tasks[MOST_SIDES];
  uint32_t turns[MOST_SIDES] = {0}, right = 0;
  rdl_status status = rdl_spawn_many(s->module, task, args, each, each, count, NULL, tasks, NULL);
  if (!status)
    status = rdl_future_get_many(s->context, tasks, count, turns, sizeof turns[0], patience_ns);
  for (uint32_t k = 0; k < count; k++)
    right += turns[k] == s->turns;
  return status || right == count ? status : RDL_INTERNAL;
}

static rdl_status run_yield(const session *s, uint32_t others) {
  turn_args args[MOST_SIDES];
  for (uint32_t k = 0; k <= others; k++)
    args[k] = (turn_args){marks_of(s), notes_of(s, k), s->turns, k};
  return all_end(s, "yields_turn", args, sizeof args[0], others + 1);
}

static rdl_status run_await(const session *s, uint32_t others) {
  parent_args args = {marks_of(s), notes_of(s, 0), notes_of(s, others), s->turns};
  return all_end(s, "yields_parent", &args, sizeof args, 1);
}

/* Of one worker's shared memory, where there is such. */
static rdl_status run_private_yield(const session *s, uint32_t others) {
  pair_args args = {.mark = marks_of(s), .notes = notes_of(s, 0), .turns = s->turns};
  (void)others;
  return all_end(s, "yields_private_pair", &args, sizeof args, 1);
}

static rdl_status run_private_await(const session *s, uint32_t others) {
  pair_args args = {.mark = marks_of(s), .notes = notes_of(s, 0), .turns = s->turns};
  (void)others;
  return all_end(s, "yields_private_host", &args, sizeof args, 1);
}

static rdl_status run_signal(const session *s, uint32_t others) {
  rdl_event events[2]; /* of the first player, and of all others */
  player_args args[MOST_SIDES];
  rdl_status status =
      rdl_event_create_many(s->context, 2, s->turns * others, RDL_EVENT_DEVICE, events);
  if (status) return status;
  memset(args, 0, sizeof args);
  for (uint32_t k = 0; k <= others; k++)
    args[k] = (player_args){.mark = marks_of(s),
                            .notes = notes_of(s, k),
                            .mine = events[k ? 1 : 0],
                            .theirs = events[k ? 0 : 1],
                            .turns = s->turns,
                            .who = k,
                            .waits = k ? 1 : others};
  status = all_end(s, "yields_player", args, sizeof args[0], others + 1);
  for (int k = 0; k < 2; k++) {
    rdl_status ended = rdl_event_destroy(s->context, events[k]);
    if (!status) status = ended;
  }
  return status;
}

/* A round has a figure of its first side, and one of the others; with the same name, one of all. */
typedef struct round {
  rdl_status (*run)(const session *s, uint32_t others);
  uint32_t workers;
  uint32_t others;
  const char *names[2]; /* NULL = no figure */
} round;

/* Eight workers are two blocks, which lie on two multiprocessors. A single one that is woken goes
   on where it was woken; of several most go to other workers. */
static const round rounds[] = {
    {run_yield, 1, 1, {"yield", "yield"}},
    {run_await, 1, 1, {"await, child starts", "child ends, resumes"}},
    {run_private_yield, 1, 1, {"private yield", "private yield"}},
    {run_private_await, 1, 1, {"private child starts", "private end, resumes"}},
    {run_signal, 1, 1, {"signal, resumes", "signal, resumes"}},
    {run_await, 8, 1, {"await, child starts", "child ends, resumes"}},
    {run_signal, 8, 1, {"signal, resumes", "signal, resumes"}},
    {run_signal, 8, MOST_SIDES - 1, {NULL, "signal, 4 resume"}},
};

/* ---- what was noted ---- */

static int compare_cycles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* On another multiprocessor the clock is another one: there the nanoseconds become cycles. */
static double cycles_of(const session *s, const note *n) {
  return n->way == OTHER_SM ? n->ns * s->cycles_a_ns : n->cycles;
}

static uint32_t tell_way(const session *s, const char *name, const note *notes, uint32_t count,
                         uint32_t way, double *cycles) {
  uint32_t found = 0;
  for (uint32_t k = 0; k < count; k++)
    if (notes[k].way == way) cycles[found++] = cycles_of(s, &notes[k]);
  if (!found) return 0;
  qsort(cycles, found, sizeof *cycles, compare_cycles);
  printf("%-20s %7u  %-11s %9u %9.0f %9.0f %9.0f\n", name, s->workers, way_names[way], found,
         cycles[found / 2], cycles[(uint64_t)found * 9 / 10], cycles[0]);
  return found;
}

/* RDL_INTERNAL: hardly a hand-over was noted. */
static rdl_status tell(const session *s, const char *name, const note *notes, uint32_t count) {
  double *cycles = malloc(count * sizeof *cycles);
  uint32_t found = 0;
  if (!cycles) return RDL_OUT_OF_MEMORY;
  for (uint32_t way = SAME_WORKER; way < WAYS; way++)
    found += tell_way(s, name, notes, count, way, cycles);
  free(cycles);
  fflush(stdout);
  if (found >= count / 2) return RDL_OK;
  fprintf(stderr, "%s: of %u hand-overs %u were noted\n", name, count, found);
  return RDL_INTERNAL;
}

static rdl_status tell_sides(const session *s, const round *r) {
  const uint32_t turns = s->turns, sides = r->others + 1;
  note *notes = calloc((size_t)sides * turns, sizeof *notes);
  if (!notes) return RDL_OUT_OF_MEMORY;
  rdl_status status =
      rdl_buffer_read(s->buffer, MARKS_BYTES, notes, (size_t)sides * turns * sizeof *notes);
  if (!status && r->names[0] && strcmp(r->names[0], r->names[1]) == 0) {
    status = tell(s, r->names[0], notes, sides * turns);
  } else {
    if (!status && r->names[0]) status = tell(s, r->names[0], notes, turns);
    if (!status) status = tell(s, r->names[1], notes + turns, r->others * turns);
  }
  free(notes);
  return status;
}

/* ---- all together ---- */

typedef struct wishes {
  const char *device;
  uint32_t turns;
} wishes;

static rdl_status measure_rate(session *s) {
  const uint32_t cycles = RATE_CYCLES;
  uint32_t ns = 0;
  rdl_future rate;
  rdl_status status = rdl_spawn(s->module, "yields_rate", &cycles, sizeof cycles, NULL, &rate);
  if (!status) status = rdl_future_get(s->context, rate, &ns, sizeof ns, patience_ns);
  s->cycles_a_ns = ns ? (double)cycles / ns : 1;
  return status;
}

static rdl_status open_session(session *s, const wishes *w, uint32_t workers) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context_info info = {.size = sizeof info};
  options.quantum_ns = quantum_ns;
  options.workers = workers;
  rdl_status status = rdl_context_open_with(w->device, &options, &s->context);
  if (!status) status = rdl_context_describe(s->context, &info);
  if (!status) status = rdl_module_load(s->context, YIELDS_TASKS, &s->module);
  if (!status)
    status = rdl_buffer_create(
        s->context, MARKS_BYTES + (size_t)MOST_SIDES * w->turns * sizeof(note), &s->buffer);
  s->workers = info.workers;
  s->turns = w->turns;
  return status ? status : measure_rate(s);
}

/* Twice, for the first time a cache is cold. */
static rdl_status measure(const round *r, const wishes *w) {
  session s = {.context = NULL};
  rdl_status status = open_session(&s, w, r->workers);
  if (!status && r == rounds)
    printf("%-20s %7s  %-11s %9s %9s %9s %9s   cycles, at %.3f a tick of the device's clock\n",
           "from, to", "workers", "on the", "count", "p50", "p90", "least", s.cycles_a_ns);
  if (!status) status = r->run(&s, r->others);
  if (!status) status = r->run(&s, r->others);
  if (!status) status = tell_sides(&s, r);
  if (s.context) {
    rdl_status closed = rdl_context_close(s.context);
    if (!status) status = closed;
  }
  return status;
}

static int run(const wishes *w) {
  for (size_t k = 0; k < sizeof rounds / sizeof rounds[0]; k++) {
    rdl_status status = measure(&rounds[k], w);
    if (status)
      fprintf(stderr, "yields: %s: %s: %s\n", rounds[k].names[1], rdl_status_name(status),
              rdl_error_text());
    if ((status == RDL_NOT_FOUND || status == RDL_UNAVAILABLE) && k == 0)
      return EXIT_SKIPPED; /* no such device */
    if (status) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

static int usage(void) {
  fprintf(stderr, "usage: yields [--device SELECTOR] [--turns N]    N = 5000, up to %d\n",
          MOST_TURNS);
  return EXIT_MISUSED;
}

static int read_wishes(int argc, char **argv, wishes *w) {
  for (int i = 1; i < argc; i += 2) {
    char *end = NULL;
    if (i + 1 == argc) return usage();
    if (strcmp(argv[i], "--device") == 0) {
      w->device = argv[i + 1];
      continue;
    }
    long turns = strtol(argv[i + 1], &end, 10);
    if (strcmp(argv[i], "--turns") != 0 || *end || turns < 10 || turns > MOST_TURNS) return usage();
    w->turns = (uint32_t)turns;
  }
  return 0;
}

int main(int argc, char **argv) {
  wishes w = {NULL, 5000};
  int code = read_wishes(argc, argv, &w);
  return code ? code : run(&w);
}
