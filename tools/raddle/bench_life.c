/* SPDX-License-Identifier: Apache-2.0 */
/* How long a context takes to its first result, and what an idle one costs. */
#include <raddle/prebuilt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.task.c.h"
#include "bench_private.task.c.h"
#include "tools/raddle/bench.h"
#include "tools/raddle/command.h"

extern const rdl_prebuilt rdl_prebuilt_raddle_command;

/* They have a file of their own: an image with private tasks takes shared memory for them. */
bool bench_is_private(const char *shape) {
  return strncmp(shape, "private-", 8) == 0;
}

rdl_status bench_open(const bench_options *options, bool ahead, bench *out_bench) {
  static const rdl_prebuilt *const images[] = {&rdl_prebuilt_raddle_command};
  rdl_context_options how = RDL_CONTEXT_OPTIONS_INIT;
  *out_bench = (bench){NULL, NULL, 0, 0};
  how.workers = options->workers;
  how.slots = options->slots;
  how.log = command_log; /* a clamped number of workers, for one, is part of what was measured */
  how.log_user = (void *)&command_bench;
  if (options->steady) { /* no launch ends for want of time, none waits for work, nobody spins */
    how.quantum_ns = UINT64_C(250000000);
    how.park_ns = 1;
    how.spin_ns = RDL_NO_SPIN;
    how.watchdog_ns = RDL_FOREVER;
  }
  how.prebuilt = ahead ? images : NULL;
  how.prebuilt_count = ahead ? 1 : 0;
  rdl_status status = rdl_context_open_with(options->device, &how, &out_bench->context);
  if (status) return status;
  if (bench_is_private(options->shape))
    status = rdl_module_load_text(out_bench->context, "bench_private.task.c",
                                  (const char *)bench_private_task_text,
                                  sizeof bench_private_task_text, &out_bench->module);
  else
    status = rdl_module_load_text(out_bench->context, "bench.task.c", (const char *)bench_task_text,
                                  sizeof bench_task_text, &out_bench->module);
  if (!status) return RDL_OK;
  (void)rdl_context_close(out_bench->context);
  out_bench->context = NULL;
  return status;
}

static rdl_status first_result(const bench *b) {
  uint32_t value = 41;
  rdl_future future;
  rdl_status status = rdl_spawn(b->module, "bench_plus", &value, sizeof value, NULL, &future);
  if (!status)
    status = rdl_future_get(b->context, future, &value, sizeof value, UINT64_C(60000000000));
  return status || value == 42 ? status : RDL_INTERNAL;
}

rdl_status bench_start(const bench_options *options, double *out_ns) {
  bench b;
  uint64_t start = bench_now();
  rdl_status status = bench_open(options, false, &b);
  if (status) return status;
  status = first_result(&b);
  *out_ns = (double)(bench_now() - start);
  rdl_status closed = rdl_context_close(b.context);
  return status ? status : closed;
}

static void take_ns(void *user, const char *line) {
  *(double *)user = strtod(line, NULL);
}

/* In a process of its own, because the driver is loaded once a process. The first start fills the
   cache. */
rdl_status bench_startup(const bench_options *options, double *out_ns) {
  static bool warm;
  char workers[16], path[4096];
  bench_folder(path, sizeof path - sizeof "/raddle");
  snprintf(path + strlen(path), sizeof path - strlen(path), "/raddle");
  snprintf(workers, sizeof workers, "%u", options->workers);
  char *argv[] = {path,        "bench", "--once", "--device", (char *)(uintptr_t)options->device,
                  "--workers", workers, NULL};
  if (!options->workers) argv[5] = NULL;
  int code = warm ? 0 : bench_spawn(argv, take_ns, out_ns);
  warm = true;
  if (code == 0) code = bench_spawn(argv, take_ns, out_ns);
  return code == 0 ? RDL_OK : RDL_INTERNAL;
}

static double cpu_ns(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

static rdl_status sleep_seconds(double seconds) {
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&left, &left) != 0) {
  }
  return RDL_OK;
}

rdl_status bench_parked(const bench_options *options, double *out_ns) {
  bench b;
  rdl_status status = bench_open(options, true, &b);
  if (status) return status;
  status = first_result(&b);
  if (!status) status = sleep_seconds(0.5); /* it has parked by then */
  double before = cpu_ns();
  if (!status) status = sleep_seconds(5.0);
  *out_ns = cpu_ns() - before;
  rdl_status closed = rdl_context_close(b.context);
  return status ? status : closed;
}
