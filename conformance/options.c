/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/run.h"

static const char usage[] =
    "usage: raddle-conformance [option...]\n"
    "\n"
    "  --device SEL          device to test, as 'raddle devices' lists them; default host\n"
    "  --filter GLOB         only cases whose names match, such as 'FUT-*'; several: any of them\n"
    "  --skip-absent         end with 77, not with 2, when that device is not there\n"
    "  --list                list the cases and run none\n"
    "  --compile             only compile the task files, so that the cache has them;\n"
    "                        with --filter those whose names match, such as 'fut*'\n"
    "  --lanes N             lanes of every worker; 0: the device's own number\n"
    "  --workers N           workers of every context; 0: the device's own number\n"
    "  --segment-limit K     a worker leaves its launch after K segments; `random`: 1 to 5; 0: "
    "none\n"
    "  --flat                run what is awaited at once (flat mode)\n"
    "  --epoch               share no memory with running kernels (epoch mode)\n"
    "  --apart               share no memory with running kernels but a window\n"
    "  --loop-turns N        the host pretends that its loops end after N turns of a kernel; 0: "
    "not\n"
    "  --silent              a case that prints has failed: for drivers that tell of bad accesses\n"
    "  --scale PERCENT       cases that can do with less do so much of their work; default 100\n"
    "  --repeat N            run every case N times, each time with another seed\n"
    "  --seed N              seed of everything that is random; default: from the clock\n"
    "  --timeout S           seconds a case may take; default 60, or 180 for slow ones\n"
    "  --patience S          seconds to wait for what must come; default 45\n"
    "  --junit FILE          write a JUnit report\n"
    "  --json FILE           write a report in JSON\n"
    "  --expectations DIR    what is known of platforms; default: the folder of the suite\n"
    "\n"
    "Exit status: 0 passed, 1 failed, 2 not understood or no such device, 77 all skipped.\n"
    "RADDLE_REQUIRE=host,opencl:pocl makes it a failure when such a device is not there.\n";

static bool number(const char *option, const char *text, uint64_t least, uint64_t most,
                   uint64_t *out) {
  char *end = NULL;
  unsigned long long value;
  errno = 0;
  value = strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end && !errno && value >= least && value <= most) {
    *out = value;
    return true;
  }
  fprintf(stderr, "raddle-conformance: %s wants a number from %llu to %llu, not '%s'\n", option,
          (unsigned long long)least, (unsigned long long)most, text);
  return false;
}

static bool take_number(run_options *options, const char *option, const char *text) {
  bool seed = strcmp(option, "--seed") == 0;
  bool scale = strcmp(option, "--scale") == 0;
  bool patience = strcmp(option, "--patience") == 0;
  bool not_zero =
      scale || patience || strcmp(option, "--repeat") == 0 || strcmp(option, "--timeout") == 0;
  uint64_t most = seed ? UINT64_MAX : scale ? 100u : 1000000u;
  uint64_t n = 0;
  if (strcmp(option, "--segment-limit") == 0 && strcmp(text, "random") == 0)
    return options->random_limit = true;
  if (!number(option, text, not_zero ? 1u : 0u, most, &n)) return false;
  if (strcmp(option, "--workers") == 0)
    settings.workers = (uint32_t)n;
  else if (strcmp(option, "--lanes") == 0)
    settings.lanes = (uint32_t)n;
  else if (strcmp(option, "--loop-turns") == 0)
    settings.loop_turns = (uint32_t)n;
  else if (strcmp(option, "--segment-limit") == 0)
    settings.segment_limit = (uint32_t)n;
  else if (scale)
    settings.scale = (uint32_t)n;
  else if (patience)
    settings.patience = (uint32_t)n;
  else if (strcmp(option, "--repeat") == 0)
    options->repeat = (unsigned)n;
  else if (strcmp(option, "--seed") == 0)
    settings.seed = n;
  else
    options->timeout_s = (unsigned)n;
  return true;
}

static const char **text_option(run_options *options, const char *option) {
  if (strcmp(option, "--device") == 0) return &settings.selector;
  if (strcmp(option, "--filter") == 0) return options->filters + options->filter_count;
  if (strcmp(option, "--child") == 0) return &options->child;
  if (strcmp(option, "--junit") == 0) return &options->junit;
  if (strcmp(option, "--json") == 0) return &options->json;
  if (strcmp(option, "--expectations") == 0) return &options->expectations;
  return NULL;
}

static bool is_number_option(const char *option) {
  static const char *const names[] = {"--workers",    "--lanes",  "--segment-limit",
                                      "--loop-turns", "--repeat", "--seed",
                                      "--timeout",    "--scale",  "--patience"};
  size_t k;
  for (k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(option, names[k]) == 0) return true;
  return false;
}

/* 1 or 2: how many words were used; 0 = the option is not good. */
static int take(run_options *options, const char *option, const char *value) {
  bool is_number = is_number_option(option);
  const char **text = is_number ? NULL : text_option(options, option);
  if (strcmp(option, "--list") == 0) {
    options->list = true;
    return 1;
  }
  if (strcmp(option, "--compile") == 0) {
    options->compile = true;
    return 1;
  }
  if (strcmp(option, "--skip-absent") == 0) {
    options->skip_absent = true;
    return 1;
  }
  if (strcmp(option, "--epoch") == 0) {
    settings.epoch = 1;
    return 1;
  }
  if (strcmp(option, "--apart") == 0) {
    settings.apart = 1;
    return 1;
  }
  if (strcmp(option, "--silent") == 0) {
    options->silent = true;
    return 1;
  }
  if (strcmp(option, "--flat") == 0) {
    settings.flat = 1;
    return 1;
  }
  if (!text && !is_number) {
    fprintf(stderr, "raddle-conformance: unknown option '%s'\n", option);
    return 0;
  }
  if (!value || !*value || strncmp(value, "--", 2) == 0) {
    fprintf(stderr, "raddle-conformance: %s wants a value\n", option);
    return 0;
  }
  if (is_number) return take_number(options, option, value) ? 2 : 0;
  if (text == options->filters + RUN_MOST_FILTERS) {
    fprintf(stderr, "raddle-conformance: --filter is given more than %d times\n", RUN_MOST_FILTERS);
    return 0;
  }
  *text = value;
  if (strcmp(option, "--filter") == 0) options->filter_count++;
  return 2;
}

bool run_parse(int argc, char **argv, run_options *options, int *exit_code) {
  int k, used;
  settings.selector = "host";
  settings.scale = 100;
  settings.patience = 45;
  settings.seed = now_ns() % 1000000007u;
  for (k = 1; k < argc; k += used) {
    if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
      fputs(usage, stdout);
      *exit_code = 0;
      return false;
    }
    used = take(options, argv[k], k + 1 < argc ? argv[k + 1] : NULL);
    if (!used) {
      fputs("Try 'raddle-conformance --help'.\n", stderr);
      *exit_code = 2;
      return false;
    }
  }
  if (options->random_limit) settings.segment_limit = 1u + (uint32_t)(settings.seed % 5u);
  return true;
}
