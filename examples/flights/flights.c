/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataframe made of futures: gzipped CSV in, fourteen tables out. README.md beside this file
 * tells what happens; flights.task.c and queries.task.c are the tasks that do it.
 *
 * This file is the host's part: it opens the device, submits everything at once (reading, loading,
 * and all queries, which await the loading), inflates the files, and collects the answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flights.h"

#define LOOK_NS 100000000u /* time between two looks at the progress */

/* Compiled with the program, for the host: one image with the first task file, one with both. */
extern const rdl_prebuilt rdl_prebuilt_flights_tasks;
extern const rdl_prebuilt rdl_prebuilt_flights_queries;

static rdl_status open_context(struct flights *f) {
  static const rdl_prebuilt *const prebuilt[] = {&rdl_prebuilt_flights_tasks,
                                                 &rdl_prebuilt_flights_queries};
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  options.workers = f->options.place.workers;
  options.mode = f->options.place.epoch ? RDL_MODE_EPOCH : RDL_MODE_DEFAULT;
  options.prebuilt = prebuilt;
  options.prebuilt_count = 2;
  return rdl_context_open_with(f->options.place.device, &options, &f->context);
}

/* Gives the exit code. */
static int open_device(struct flights *f) {
  double before = example_seconds();
  rdl_status status;
  progress_compiling(false);
  status = open_context(f);
  if (!status)
    status = rdl_module_load(f->context, example_task_file("flights.task.c"), &f->loading);
  if (!status)
    status = rdl_module_load(f->context, example_task_file("queries.task.c"), &f->queries);
  progress_compiling(true);
  f->startup_seconds = example_seconds() - before;
  return status ? example_fail("flights", f->context, status) : EXAMPLE_OK;
}

/* Everything at once. The queries suspend until `load` is done, and that until the text is read. */
static bool submit(struct flights *f) {
  struct world_args world = {f->world.address};
  rdl_status status =
      rdl_spawn(f->loading, "read_tables", &world, sizeof world, NULL, &f->read_tables);
  struct load_args load = {f->world.address, f->read_tables};
  if (!status) status = rdl_spawn(f->loading, "load", &load, sizeof load, NULL, &f->load);
  for (unsigned q = 0; q < QUERIES && !status; q++) {
    struct query_args args = {f->load, f->plan.address + q * sizeof(struct plan)};
    char name[4];
    snprintf(name, sizeof name, "%.3s", query_name(q));
    status = rdl_spawn(f->queries, name, &args, sizeof args, NULL, &f->query[q]);
  }
  if (status) complain("submitting");
  return !status;
}

/* Waits for one future, and shows the progress meanwhile. */
static bool await(struct flights *f, rdl_future future) {
  rdl_status status;
  while ((status = rdl_future_wait(f->context, &future, 1, LOOK_NS)) == RDL_TIMEOUT)
    progress_show(f, false);
  if (status) complain("waiting");
  return !status;
}

static bool await_phases(struct flights *f) {
  if (!await(f, f->read_tables)) return false;
  f->read_done = example_seconds();
  if (!await(f, f->load)) return false;
  f->loaded = example_seconds();
  for (unsigned q = 0; q < QUERIES; q++)
    if (!await(f, f->query[q])) return false;
  f->answered = example_seconds();
  progress_show(f, true);
  return true;
}

/* Why a task of this example failed, from the number that it gave to RDL_FAIL. */
static const char *reason(uint32_t code) {
  static const char *const reasons[] = {
      [BAD_FIELD] = "a field could not be read",
      [TOO_MANY_ROWS] = "the lines are too short: a chunk has more than 16384 of them",
      [TOO_MANY_VALUES] = "a column has more distinct texts than world.c makes room for",
      [NO_ROOM] = "WORK_BYTES or ANSWER_CELLS in flights.h is too small for this data",
      [OTHER_LAYOUT] = "the structures in flights.h and flights.task.c differ",
      [READER_STOPPED] = "the files could not be read",
  };
  return code < sizeof reasons / sizeof *reasons && reasons[code] ? reasons[code] : "it failed";
}

/* Takes the outcome of one future. Later ones fail because an earlier did: only the first is told.
 */
static bool take(struct flights *f, rdl_future future, const char *name, uint32_t *out_value) {
  rdl_future_result result = {.size = sizeof result};
  uint32_t code = 0;
  rdl_status status = rdl_future_outcome(f->context, future, RDL_FOREVER, &result);
  if (!status) code = result.code;
  status = rdl_future_get(f->context, future, out_value, sizeof *out_value, RDL_FOREVER);
  if (status == RDL_FAILED)
    fprintf(stderr, "flights: %s: %s\n", name, reason(code));
  else if (status)
    complain(name);
  return !status;
}

static bool take_all(struct flights *f, uint32_t *out_rows) {
  uint32_t count = 0;
  if (!take(f, f->read_tables, "reading", &count)) {
    world_explain(f);
    return false;
  }
  if (!take(f, f->load, "loading", out_rows)) return false;
  for (unsigned q = 0; q < QUERIES; q++)
    if (!take(f, f->query[q], query_name(q), &count)) return false;
  return true;
}

static bool run(struct flights *f) {
  uint32_t rows = 0;
  bool fine;
  f->started = example_seconds();
  if (!world_build(f) || !submit(f)) return false;
  fine = readers_start(f) && await_phases(f);
  fine = readers_join(f) && fine;
  if (!fine || !take_all(f, &rows) || !world_fetch(f)) return false;
  if (f->options.tsv && !answers_write(f, f->options.tsv)) return false;
  if (!answers_print(f)) return false;
  f->written = example_seconds();
  return summary_print(f, rows);
}

int main(int argc, char **argv) {
  struct flights *f = calloc(1, sizeof *f);
  int code = EXAMPLE_FAILED;
  if (!f) return code;
  pthread_mutex_init(&f->lock, NULL);
  if (options_read(argc, argv, &f->options, &code)) code = open_device(f);
  if (f->context && code == EXAMPLE_OK) code = run(f) ? EXAMPLE_OK : EXAMPLE_FAILED;
  rdl_context_close(f->context);
  world_free(f);
  pthread_mutex_destroy(&f->lock);
  free(f);
  return code;
}
