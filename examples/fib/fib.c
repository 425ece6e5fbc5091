/* SPDX-License-Identifier: Apache-2.0 */
/* fib(n) where every call is a task: what a spawn, an await and a resumption cost. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "../common/example.h"

static example_place place;
static uint32_t n = 25;

static const example_option options[] = {
    {.name = "n", .value = "N", .help = "which number", .number = &n, .least = 0, .most = 40},
    EXAMPLE_PLACE_OPTIONS(place),
};

static uint32_t fib_on_the_host(uint32_t k) {
  uint32_t a = 0;
  uint32_t b = 1;
  for (; k; k--) {
    uint32_t sum = a + b;
    a = b;
    b = sum;
  }
  return a;
}

static rdl_status compute(rdl_context *cx, uint32_t *out_value, double *out_seconds) {
  rdl_module *module = NULL;
  rdl_future answer;
  double start;
  rdl_status status = rdl_module_load(cx, example_task_file("fib.task.c"), &module);
  if (status) return status;
  start = example_seconds();
  status = rdl_spawn(module, "fib", &n, sizeof n, NULL, &answer);
  if (!status) status = rdl_future_get(cx, answer, out_value, sizeof *out_value, RDL_FOREVER);
  *out_seconds = example_seconds() - start;
  return status;
}

/* Counters are exact only when no worker runs, and workers go on looking for work for a moment. */
static rdl_status count_futures(rdl_context *cx, rdl_stats *out_stats) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  rdl_status status = rdl_context_stats(cx, out_stats);
  for (int tries = 0; tries < 1000 && !status && !out_stats->exact; tries++) {
    nanosleep(&millisecond, NULL);
    status = rdl_context_stats(cx, out_stats);
  }
  return status;
}

/* Prints value and cost, and returns the exit code. */
static int report(const rdl_context_info *info, uint64_t futures, uint32_t value, double seconds) {
  uint32_t expected = fib_on_the_host(n);
  printf("fib(%u) = %u\n", n, value);
  printf("%" PRIu64 " futures in %.3f ms, %.0f ns each, %u workers on %s\n", futures, 1e3 * seconds,
         1e9 * seconds / (double)futures, info->workers, info->device.name);
  if (value == expected) return EXAMPLE_OK;
  fprintf(stderr, "fib: wrong, it is %u\n", expected);
  return EXAMPLE_FAILED;
}

int main(int argc, char **argv) {
  rdl_context_info info = {.size = sizeof info};
  rdl_stats stats = {.size = sizeof stats};
  rdl_context *cx = NULL;
  uint32_t value = 0;
  double seconds = 0;
  int code = EXAMPLE_OK;
  if (!example_options(argc, argv, "Computes a Fibonacci number with a task for every call.",
                       options, sizeof options / sizeof *options, &code))
    return code;
  rdl_status status = example_open(&place, &cx);
  if (!status) status = rdl_context_describe(cx, &info);
  if (!status) status = compute(cx, &value, &seconds);
  if (!status) status = count_futures(cx, &stats);
  code = status ? example_fail(argv[0], cx, status) : report(&info, stats.spawned, value, seconds);
  rdl_context_close(cx);
  return code;
}
