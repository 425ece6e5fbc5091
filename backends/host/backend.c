/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a device: the kernel text compiled as C11, run by threads. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/common/report.h"
#include "backends/host/device.h"

/* More workers than processors are allowed, up to this: tests want them. */
#define MOST_WORKERS 64u

static uint32_t processors(void) {
  cpu_set_t set;
  long online;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint32_t)CPU_COUNT(&set);
  online = sysconf(_SC_NPROCESSORS_ONLN); /* a machine with more than 1,024 */
  return online > 0 ? (uint32_t)online : 1;
}

static uint64_t memory_size(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

/* "model name : Some CPU" on x86; other processors have no such line. */
static void read_name(char *name, size_t size) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "re");
  rdl__copy_text(name, size, "processor");
  while (file && fgets(line, sizeof line, file)) {
    char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    if (!value) continue;
    value += strspn(value, ": \t");
    value[strcspn(value, "\n")] = 0;
    rdl__copy_text(name, size, value);
    break;
  }
  if (file) (void)fclose(file);
}

static rdl_status host_enumerate(rdl_device_info *infos, size_t capacity, size_t *out_count,
                                 rdl_reason *why) {
  rdl__reason_clear(why);
  *out_count = 1;
  if (!capacity) return RDL_OK;
  memset(infos, 0, sizeof *infos);
  rdl__copy_text(infos->selector, sizeof infos->selector, "host");
  rdl__copy_text(infos->backend, sizeof infos->backend, "host");
  rdl__copy_text(infos->platform, sizeof infos->platform, "threads of this machine");
  rdl__copy_text(infos->driver, sizeof infos->driver, "C11");
  read_name(infos->name, sizeof infos->name);
  infos->compute_units = processors();
  infos->usable = 1;
  return RDL_OK;
}

static uint32_t workers_for(uint32_t asked) {
  uint32_t usual = processors();
  uint32_t most = usual > MOST_WORKERS ? usual : MOST_WORKERS;
  if (!asked) return usual;
  return asked < most ? asked : most;
}

/* Nothing has to be tried: the workers are threads of this process, in its own memory. What is
 * measured is the clock. */
static rdl_status host_capabilities(size_t index, const char *cache_dir, uint32_t flags,
                                    rdl_capability *out, size_t capacity, size_t *out_count,
                                    rdl_reason *why) {
  rdl_report report = {.count = 0};
  rdl_host_compiler compiler;
  (void)cache_dir;
  (void)flags;
  *out_count = 0;
  if (index) return rdl__fail(RDL_NOT_FOUND, why, "There is one host, and its number is 0.");
  rdl__host_find_compiler(&compiler);
  rdl__report_add(&report, 0, "usable", "yes");
  rdl__report_add(&report, 0, "type", "host");
  rdl__report_add(&report, 0, "compiler", "%s",
                  compiler.command[0] ? compiler.version : "none (tasks must be compiled ahead)");
  rdl__report_add(&report, 0, "compute_units", "%u", (unsigned)processors());
  rdl__report_add(&report, 0, "global_memory", "%llu bytes", (unsigned long long)memory_size());
  rdl__report_add(&report, 0, "max_allocation", "%llu bytes", (unsigned long long)memory_size());
  rdl__report_add(&report, 0, "address_bits", "%zu", 8 * sizeof(void *));
  rdl__report_add(&report, 0, "order", "c11");
  rdl__report_add(&report, 0, "shared", "svm");
  rdl__report_add(&report, 0, "resident_groups", "%u", (unsigned)workers_for(UINT32_MAX));
  rdl__report_add(&report, 0, "loop_budget", "none");
  rdl__report_add(&report, 0, "barrier_lanes", "1 %u", RDL_HOST_WARP);
  rdl__report_add(&report, 1, "clock", "%s",
                  rdl__counter_hz() == 1000000000u ? "nanoseconds" : "cycles");
  rdl__report_add(&report, 1, "clock_hz", "%llu", (unsigned long long)rdl__counter_hz());
  rdl__report_copy(&report, out, capacity, out_count);
  return RDL_OK;
}

static rdl_status host_open(size_t index, const rdl_backend_options *options,
                            rdl_backend_device **out_device, rdl_reason *why) {
  rdl_backend_device *device;
  uint32_t threads;
  rdl_status status;
  if (index) return rdl__fail(RDL_NOT_FOUND, why, "There is one host, and its number is 0.");
  if (options->native_context)
    return rdl__fail(RDL_UNSUPPORTED, why, "The host has no driver whose context could be used.");
  if (options->lanes > 1 && (options->lanes != RDL_HOST_WARP || options->loop_turns))
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "A worker of the host is a thread and has 1 lane, or for tests a warp of %u "
                     "threads, and then no option loop_turns; not %u. Leave the option `lanes` 0, "
                     "or open an OpenCL device.",
                     RDL_HOST_WARP, (unsigned)options->lanes);
  device = calloc(1, sizeof *device);
  if (!device) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for a device.");
  read_name(device->name, sizeof device->name);
  rdl__cache_open(&device->cache, options->cache_dir);
  rdl__host_find_compiler(&device->compiler);
  device->clock_hz = rdl__counter_hz();
  device->epoch = options->epoch || options->apart || options->loop_turns;
  device->window = options->apart && !options->epoch && !options->loop_turns;
  device->stop = options->stop;
  device->loop_turns = options->loop_turns;
  if (options->loop_turns) rdl__host_limit_loops(&device->compiler, options->loop_turns);
  device->lanes = options->lanes ? options->lanes : 1;
  device->most_workers = threads = workers_for(options->workers);
  if (device->lanes > 1) {
    rdl__host_emulate_warps(&device->compiler);
    threads = (threads + RDL_HOST_WARPS - 1u) / RDL_HOST_WARPS;
  }
  status = rdl__host_start_workers(&device->workers, threads, why);
  if (status == RDL_OK)
    *out_device = device;
  else
    free(device);
  return status;
}

static void host_close(rdl_backend_device *device) {
  if (!device) return;
  rdl__host_stop_workers(&device->workers);
  free(device);
}

static void host_facts(rdl_backend_device *device, rdl_backend_facts *out_facts) {
  memset(out_facts, 0, sizeof *out_facts);
  out_facts->max_workers = device->most_workers;
  out_facts->lanes = device->lanes;
  out_facts->block_workers = device->lanes > 1 ? RDL_HOST_WARPS : 0u;
  out_facts->clock_hz = device->clock_hz;
  out_facts->max_allocation = memory_size();
  out_facts->shared = !device->epoch;
  out_facts->window = device->window;
  out_facts->loop_budget = device->loop_turns;
  out_facts->shares_cores = 1;
  out_facts->launches_promptly = 1;
  rdl__copy_text(out_facts->compiler, sizeof out_facts->compiler, device->compiler.version);
}

const rdl_backend rdl__backend_host = {
    .name = "host",
    .enumerate = host_enumerate,
    .capabilities = host_capabilities,
    .open = host_open,
    .close = host_close,
    .facts = host_facts,
    .allocate = rdl__host_allocate,
    .allocate_window = rdl__host_allocate_window,
    .release = rdl__host_release,
    .address = rdl__host_address,
    .import = rdl__host_import,
    .sync = rdl__host_sync,
    .drop = rdl__host_drop,
    .write = rdl__host_write,
    .read = rdl__host_read,
    .build = rdl__host_build,
    .discard = rdl__host_discard,
    .launch = rdl__host_launch,
    .wait = rdl__host_wait,
};
