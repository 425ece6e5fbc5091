/* SPDX-License-Identifier: Apache-2.0 */
/* raddle-conformance: runs the cases that cases.def lists, each in a process of its own. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/run.h"

#define CASE(group, number, what, where, speed, modes)                                             \
  {#group "-" #number "." #what, group##_##number##_##what, WHERE_##where, SPEED_##speed,          \
   MODES_##modes},
const test_case test_cases[] = {
#include "conformance/cases.def"
};
#undef CASE
const size_t test_case_count = sizeof test_cases / sizeof test_cases[0];

static const char *const where_names[] = {"any", "host", "opencl", "cuda"};
static const char *const speed_names[] = {"quick", "slow"};
static const char *const mode_names[] = {"all", "many", "plain"};

bool run_matches_any(const char *pattern) {
  size_t k;
  for (k = 0; k < test_case_count; k++)
    if (fnmatch(pattern, test_cases[k].name, 0) == 0) return true;
  return false;
}

/* A pattern that fits nothing is a slip, also beside others. */
static bool all_match(const run_options *options) {
  size_t k;
  for (k = 0; k < options->filter_count; k++) {
    if (run_matches_any(options->filters[k])) continue;
    printf("no case matches '%s'; --list lists them\n", options->filters[k]);
    return false;
  }
  return true;
}

static bool name_is_wanted(const run_options *options, const char *name) {
  size_t k;
  for (k = 0; k < options->filter_count; k++)
    if (fnmatch(options->filters[k], name, 0) == 0) return true;
  return !options->filter_count;
}

static bool is_wanted(const run_options *options, const test_case *test) {
  return name_is_wanted(options, test->name);
}

static int list_cases(const run_options *options) {
  size_t k;
  for (k = 0; k < test_case_count; k++)
    if (is_wanted(options, &test_cases[k]))
      printf("%-28s %-7s %-6s %s\n", test_cases[k].name, where_names[test_cases[k].where],
             speed_names[test_cases[k].speed], mode_names[test_cases[k].modes]);
  return 0;
}

static int run_child(const char *name) {
  size_t k;
  settings.name = name;
  for (k = 0; k < test_case_count; k++) {
    if (strcmp(test_cases[k].name, name) != 0) continue;
    test_cases[k].function();
    return 0;
  }
  printf("no case is called %s\n", name);
  return 1;
}

/* Compiles the task files that are wanted, and what a context without one needs. */
static int compile_files(const run_options *options) {
  static const char *const files[] = {"fut.task.c", "tight.task.c", "evt.task.c", "sch.task.c",
                                      "hst.task.c", "por.task.c",   "lan.task.c", "grp.task.c",
                                      "prv.task.c", "mem.task.c",   "flt.task.c", "rep.task.c",
                                      "lim.task.c"};
  rdl_event event;
  bed b;
  size_t k, wanted = 0;
  for (k = 0; k < sizeof files / sizeof files[0]; k++) {
    if (!name_is_wanted(options, files[k])) continue;
    b = bed_open(files[k]);
    bed_close(&b);
    wanted++;
  }
  if (!wanted) {
    printf("no task file matches; fut.task.c is one\n");
    return 1;
  }
  b = bed_open(NULL);
  event = new_event(&b, 1, 0);
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 1));
  bed_close(&b);
  return 0;
}

static const char *const of_another[] = {"", "is about the host backend", "is about OpenCL devices",
                                         "is about CUDA devices"};

/* Why a case is not for this run; NULL when it is. */
static const char *not_here(const test_case *test) {
  const expectation *known = run_expects(test->name);
  if (known && known->unsupported) return known->reason;
  if (test->where != WHERE_any && strcmp(run_device.backend, where_names[test->where]) != 0)
    return of_another[test->where];
  if (test->modes == MODES_many && settings.workers == 1) return "needs several workers";
  if (test->modes == MODES_plain && (settings.flat || settings.segment_limit))
    return "is about the order of dispatches in whole launches";
  return NULL;
}

static void turn_expected(test_outcome *out, const expectation *known) {
  char text[512];
  if (!known || known->unsupported || out->verdict == VERDICT_SKIPPED) return;
  if (out->verdict == VERDICT_FAILED) {
    snprintf(text, sizeof text, "expected failure: %s\n", known->reason);
    out->verdict = VERDICT_SKIPPED;
  } else {
    snprintf(text, sizeof text, "passed, although expectations/ says it fails: %s\n",
             known->reason);
    out->verdict = VERDICT_FAILED;
  }
  free(out->text);
  out->text = strdup(text);
}

static void run_case(const test_case *test, const run_options *options, test_outcome *out) {
  const char *reason = not_here(test);
  *out = (test_outcome){.test = test};
  if (reason) {
    out->verdict = VERDICT_SKIPPED;
    out->text = strdup(reason);
    return;
  }
  run_in_child(test, options, out);
  turn_expected(out, run_expects(test->name));
}

static size_t run_all(const run_options *options, test_outcome *outcomes, size_t count[3]) {
  size_t done = 0, k;
  unsigned turn;
  uint64_t seed = settings.seed;
  for (turn = 0; turn < options->repeat; turn++) {
    settings.seed = seed + turn;
    for (k = 0; k < test_case_count; k++) {
      if (!is_wanted(options, &test_cases[k])) continue;
      run_case(&test_cases[k], options, &outcomes[done]);
      count[outcomes[done].verdict]++;
      run_print(&outcomes[done++]);
    }
  }
  return done;
}

static int finish(const run_options *options, test_outcome *outcomes, size_t done,
                  const size_t count[3]) {
  int failed = count[VERDICT_FAILED] != 0;
  size_t k;
  if (options->junit) failed |= run_write_junit(options->junit, outcomes, done);
  if (options->json) failed |= run_write_json(options->json, outcomes, done);
  printf("%zu passed, %zu failed, %zu skipped\n", count[VERDICT_PASSED], count[VERDICT_FAILED],
         count[VERDICT_SKIPPED]);
  for (k = 0; k < done; k++)
    free(outcomes[k].text);
  free(outcomes);
  if (failed) return 1;
  return count[VERDICT_PASSED] ? 0 : TEST_SKIPPED;
}

int main(int argc, char **argv) {
  run_options options = {.repeat = 1};
  test_outcome *outcomes;
  size_t count[3] = {0, 0, 0};
  size_t done;
  int exit_code = 0;
  if (!run_parse(argc, argv, &options, &exit_code)) return exit_code;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (options.child) return run_child(options.child);
  if (options.list) return list_cases(&options);
  if (!run_has_required_devices()) return 1;
  exit_code = run_find_device(options.skip_absent);
  if (exit_code) return exit_code;
  if (options.compile) return compile_files(&options);
  if (!all_match(&options)) return 1;
  if (!run_load_expectations(options.expectations)) return 2;
  outcomes = calloc(test_case_count * options.repeat, sizeof *outcomes);
  if (!outcomes) return 1;
  done = run_all(&options, outcomes, count);
  return finish(&options, outcomes, done, count);
}
