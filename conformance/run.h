/* SPDX-License-Identifier: Apache-2.0 */
/* The runner: what it knows of cases, what it was asked for, and what came out. */
#ifndef RDL_CONFORMANCE_RUN_H
#define RDL_CONFORMANCE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conformance/harness.h"

#define TEST_SKIPPED     77
#define RUN_MOST_FILTERS 64

/* Columns of cases.def. */
typedef enum test_where { WHERE_any, WHERE_host, WHERE_opencl, WHERE_cuda } test_where;
typedef enum test_speed { SPEED_quick, SPEED_slow } test_speed;
typedef enum test_modes {
  MODES_all,
  MODES_many,  /* needs several workers */
  MODES_plain, /* is about the order of whole launches: neither cut into short ones nor flat */
  MODES_once   /* takes long: the tests run it in one mode of a platform; by hand in any */
} test_modes;

typedef struct test_case {
  const char *name;
  void (*function)(void);
  test_where where;
  test_speed speed;
  test_modes modes;
} test_case;

extern const test_case test_cases[];
extern const size_t test_case_count;

typedef enum test_verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_SKIPPED } test_verdict;

typedef struct test_outcome {
  const test_case *test;
  test_verdict verdict;
  double seconds;
  char *text; /* what it printed, or why it was skipped; owned */
} test_outcome;

typedef struct run_options {
  const char
      *filters[RUN_MOST_FILTERS]; /* a case runs when any of them matches, or there is none */
  size_t filter_count;
  const char *child; /* run this case in this process */
  const char *junit;
  const char *json;
  const char *expectations; /* folder; NULL = the suite's own */
  unsigned repeat;
  unsigned timeout_s; /* 0 = by the case's speed */
  bool list;
  bool silent;       /* a case that prints has failed */
  bool compile;      /* only fill the cache of compiled images */
  bool skip_absent;  /* a device that is not there is a skip */
  bool random_limit; /* --segment-limit random */
} run_options;

/* options.c: false when the program should end with `*exit_code`. */
bool run_parse(int argc, char **argv, run_options *options, int *exit_code);

/* device.c: finds the device of settings.selector. 0, or the code that the program ends with after
 * saying why. */
extern rdl_device_info run_device;
extern uint32_t run_mode; /* an rdl_mode */
int run_find_device(bool skip_absent);
/* Opens the device for a moment. */
rdl_status run_describe(const char *selector, rdl_context_info *out_info);

/* child.c: runs a case in a new process and says how that ended. */
void run_in_child(const test_case *test, const run_options *options, test_outcome *out);

/* main.c */
bool run_matches_any(const char *pattern);

/* expectations.c: what the suite knows of the selected platform. */
typedef struct expectation {
  char pattern[64];
  bool unsupported; /* otherwise an expected failure */
  char reason[192];
} expectation;
/* Reads the file of run_device's platform in `folder`, or in the suite's own for NULL. False, with
 * a line on stderr, when something in it is wrong. */
bool run_load_expectations(const char *folder);
/* NULL = nothing is known of this case. */
const expectation *run_expects(const char *case_name);
/* Whether RADDLE_REQUIRE names this very selector. */
bool run_requires(const char *selector);
/* False, with a line on stdout, when what RADDLE_REQUIRE names cannot be opened. */
bool run_has_required_devices(void);

/* report.c */
void run_print(const test_outcome *outcome);
int run_write_junit(const char *path, const test_outcome *outcomes, size_t count);
int run_write_json(const char *path, const test_outcome *outcomes, size_t count);

#endif
