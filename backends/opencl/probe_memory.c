/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of atomics, addresses, allocations, and of the clock. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backends/common/clock.h"
#include "backends/opencl/probe.h"
#include "backends/opencl/probe_list.h"
#include "backends/opencl/status.h"

/* ---- atomics ---- */

#define GROUPS 16u
#define TURNS  100u
#define TRIES  64u

/* As in atomics32.cl. */
enum { ADDED = 0, BITS = 16, SMALLEST = 32, TOKEN = 48, COUNTED = 64, EACH = 128 };

static const char *find_inexact(const uint32_t *words) {
  uint32_t strange = 0, put = 0, got = 0, succeeded = 0;
  for (uint32_t i = 0; i < GROUPS; i++) {
    strange += words[EACH + 4 * i];
    put += words[EACH + 4 * i + 1];
    got += words[EACH + 4 * i + 2];
    succeeded += words[EACH + 4 * i + 3];
  }
  if (words[ADDED] != GROUPS * TURNS) return "add";
  if (strange || words[BITS]) return "or, and";
  if (words[SMALLEST] != 1000000u - GROUPS * TURNS) return "min";
  if (got + words[TOKEN] != put) return "exchange";
  if (words[COUNTED] != succeeded || !succeeded) return "compare-exchange";
  return NULL;
}

rdl_status rdl__probe_atomics32(rdl_cl_bench *bench) {
  rdl_bench_launch launch = {.a = TURNS, .b = TRIES, .groups = GROUPS, .local = 1};
  cl_kernel kernel = NULL;
  const char *inexact;
  rdl_status status =
      rdl__bench_kernel(bench, rdl__bench_options(bench), "dialect.h", "atomics32.cl", &kernel);
  if (status != RDL_OK) return status;
  memset(bench->host, 0, (EACH + 4 * GROUPS) * sizeof bench->host[0]);
  bench->host[SMALLEST] = UINT32_MAX;
  status = rdl__bench_run(bench, kernel, &launch, EACH + 4 * GROUPS);
  (void)bench->cl->clReleaseKernel(kernel);
  if (status != RDL_OK) return status;
  inexact = find_inexact(bench->host);
  if (inexact)
    rdl__report_add(bench->report, 1, "atomics32", "wrong (%s)", inexact);
  else
    rdl__report_add(bench->report, 1, "atomics32", "exact");
  return RDL_OK;
}

static uint64_t wide_at(const uint32_t *words) {
  return words[0] | (uint64_t)words[1] << 32;
}

rdl_status rdl__probe_atomics64(rdl_cl_bench *bench) {
  const uint64_t sum = 0x80000001u * (uint64_t)(GROUPS * TURNS);
  rdl_bench_launch launch = {.a = TURNS, .b = TRIES, .groups = GROUPS, .local = 1};
  cl_kernel kernel = NULL;
  uint64_t succeeded = 0;
  rdl_status status =
      rdl__bench_kernel(bench, rdl__bench_options(bench), NULL, "atomics64.cl", &kernel);
  if (status == RDL_COMPILE) {
    rdl__report_add(bench->report, 1, "atomics64", "none (they do not compile)");
    return RDL_OK;
  }
  if (status == RDL_OK) status = rdl__bench_run_zeroed(bench, kernel, &launch, 16 + GROUPS);
  if (kernel) (void)bench->cl->clReleaseKernel(kernel);
  if (status != RDL_OK) return status;
  for (uint32_t i = 0; i < GROUPS; i++)
    succeeded += bench->host[16 + i];
  if (wide_at(bench->host) != sum)
    rdl__report_add(bench->report, 1, "atomics64", "wrong (add)");
  else if (wide_at(bench->host + 2) != succeeded * 0x100000001u || !succeeded)
    rdl__report_add(bench->report, 1, "atomics64", "wrong (compare-exchange)");
  else
    rdl__report_add(bench->report, 1, "atomics64", "exact");
  return RDL_OK;
}

/* ---- addresses ---- */

/* As in address.cl. */
enum { ASK = 0, USE = 1, TARGET = 16 };

#define ADDRESS_LAUNCHES 3u
#define ADDED_BY_ADDRESS 5u

static rdl_status address_kernel(rdl_cl_bench *bench, cl_kernel *out_kernel) {
  return rdl__bench_kernel(bench, "-cl-std=CL1.2", NULL, "address.cl", out_kernel);
}

static rdl_status ask_address(rdl_cl_bench *bench, cl_kernel kernel, uint64_t *out_address) {
  rdl_bench_launch launch = {.a = ASK, .groups = 1, .local = 1};
  rdl_status status = rdl__bench_run_zeroed(bench, kernel, &launch, TARGET + 1);
  *out_address = wide_at(bench->host);
  return status;
}

/* Adds through an address in the bench's own buffer. */
static rdl_status use_address(rdl_cl_bench *bench, cl_kernel kernel, uint64_t address) {
  rdl_bench_launch launch = {.a = USE, .b = ADDED_BY_ADDRESS, .groups = 1, .local = 1};
  memset(bench->host, 0, (TARGET + 1) * sizeof bench->host[0]);
  bench->host[0] = (uint32_t)address;
  bench->host[1] = (uint32_t)(address >> 32);
  return rdl__bench_run(bench, kernel, &launch, TARGET + 1);
}

static rdl_status try_addresses(rdl_cl_bench *bench, cl_kernel kernel) {
  uint64_t first = 0, again = 0;
  rdl_status status = ask_address(bench, kernel, &first);
  for (uint32_t i = 1; i < ADDRESS_LAUNCHES && status == RDL_OK; i++) {
    status = ask_address(bench, kernel, &again);
    if (status == RDL_OK && again != first) {
      rdl__report_add(bench->report, 1, "addresses", "none (they differ between launches)");
      return RDL_OK;
    }
  }
  if (status == RDL_OK) status = use_address(bench, kernel, first);
  if (status != RDL_OK) return status;
  if (bench->host[TARGET] == ADDED_BY_ADDRESS)
    rdl__report_add(bench->report, 1, "addresses", "stable");
  else
    rdl__report_add(bench->report, 1, "addresses", "none (a later launch cannot use them)");
  return RDL_OK;
}

rdl_status rdl__probe_addresses(rdl_cl_bench *bench) {
  cl_kernel kernel = NULL;
  rdl_status status = address_kernel(bench, &kernel);
  if (status == RDL_OK) status = try_addresses(bench, kernel);
  if (kernel) (void)bench->cl->clReleaseKernel(kernel);
  return status;
}

/* The address of `other` is used by a launch that has it for no argument. */
static rdl_status try_free(rdl_cl_bench *bench, cl_kernel kernel, cl_mem other) {
  const cl_mem own = bench->words;
  uint64_t address = 0;
  uint32_t target = 0;
  rdl_status status;
  bench->words = other;
  status = ask_address(bench, kernel, &address);
  bench->words = own;
  if (status == RDL_OK) status = use_address(bench, kernel, address);
  if (status == RDL_OK)
    status =
        RDL_CL(&bench->why,
               bench->cl->clEnqueueReadBuffer(bench->queue, other, CL_TRUE, TARGET * sizeof target,
                                              sizeof target, &target, 0, NULL, NULL));
  if (status != RDL_OK) return status;
  rdl__report_add(bench->report, 1, "addresses_free", "%s",
                  target == ADDED_BY_ADDRESS ? "usable" : "none (what was stored is not there)");
  return RDL_OK;
}

rdl_status rdl__probe_addresses_free(rdl_cl_bench *bench) {
  const rdl_cl *cl = bench->cl;
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = NULL;
  cl_mem other = NULL;
  rdl_status status;
  if (!rdl__report_is(bench->report, "addresses", "stable")) return RDL_OK;
  status = RDL_CL_MAKE(
      &bench->why, code, other,
      cl->clCreateBuffer(bench->context, CL_MEM_READ_WRITE, sizeof bench->host, NULL, &code));
  if (status == RDL_OK) status = address_kernel(bench, &kernel);
  if (status == RDL_OK) status = try_free(bench, kernel, other);
  if (kernel) (void)cl->clReleaseKernel(kernel);
  if (other) (void)cl->clReleaseMemObject(other);
  return status;
}

/* ---- allocation ---- */

#define SMALLEST_ALLOCATION ((uint64_t)1 << 20)

/* Bytes that the system could give to a program now; 0 when it does not say. */
static uint64_t free_memory(void) {
  char line[128];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/meminfo", "re");
  while (file && fgets(line, sizeof line, file))
    /* NOLINTNEXTLINE(cert-err34-c): a line of another form leaves zero */
    if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  if (file) (void)fclose(file);
  return (uint64_t)kib * 1024;
}

/* The claim; where the device's memory is the machine's, no more than a quarter of what is free. */
static uint64_t first_try(const rdl_cl_bench *bench, uint64_t claimed) {
  uint64_t type = rdl__cl_number(bench->cl, bench->id, CL_DEVICE_TYPE);
  uint64_t bound = free_memory() / 4;
  if ((type & CL_DEVICE_TYPE_GPU) &&
      !rdl__cl_number(bench->cl, bench->id, CL_DEVICE_HOST_UNIFIED_MEMORY))
    return claimed;
  return claimed < bound ? claimed : bound;
}

/* A buffer counts when its ends can be written and read: drivers make it when it is first used. */
static int can_allocate(rdl_cl_bench *bench, uint64_t bytes) {
  const rdl_cl *cl = bench->cl;
  const uint32_t marks[2] = {0xfeedu, 0xbeefu};
  uint32_t found[2] = {0, 0};
  size_t places[2] = {0, (size_t)bytes - sizeof marks[0]};
  cl_int code = CL_SUCCESS;
  cl_mem buffer = cl->clCreateBuffer(bench->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
  if (code != CL_SUCCESS || !buffer) return 0;
  for (int i = 0; i < 2 && code == CL_SUCCESS; i++)
    code = cl->clEnqueueWriteBuffer(bench->queue, buffer, CL_TRUE, places[i], sizeof marks[i],
                                    &marks[i], 0, NULL, NULL);
  for (int i = 0; i < 2 && code == CL_SUCCESS; i++)
    code = cl->clEnqueueReadBuffer(bench->queue, buffer, CL_TRUE, places[i], sizeof found[i],
                                   &found[i], 0, NULL, NULL);
  (void)cl->clReleaseMemObject(buffer);
  return code == CL_SUCCESS && found[0] == marks[0] && found[1] == marks[1];
}

rdl_status rdl__probe_max_allocation(rdl_cl_bench *bench) {
  uint64_t claimed = rdl__cl_number(bench->cl, bench->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  uint64_t bytes = first_try(bench, claimed) / 4096 * 4096;
  int refused = 0;
  while (bytes >= SMALLEST_ALLOCATION && !can_allocate(bench, bytes)) {
    refused = 1;
    bytes = bytes / 2 / 4096 * 4096;
  }
  if (bytes < SMALLEST_ALLOCATION) bytes = 0;
  rdl__report_add(bench->report, 1, "max_allocation", "%llu bytes%s", (unsigned long long)bytes,
                  refused                         ? " (twice as much was refused)"
                  : bytes < claimed / 4096 * 4096 ? " (more was not tried)"
                                                  : "");
  return RDL_OK;
}

/* ---- clock ---- */

#define CLOCK_READS   1000u
#define CLOCK_SAMPLES 4u
#define CLOCK_APART   30000000L

/* The device's clock, and the host's in the middle of the launch that read it. */
typedef struct moment {
  uint64_t device, host_ns, width_ns;
} moment;

/* The shortest of a few launches, for the clock was read somewhere in it. */
static rdl_status read_clock(rdl_cl_bench *bench, cl_kernel kernel, moment *out) {
  const rdl_bench_launch launch = {.a = CLOCK_READS, .groups = 1, .local = 1};
  out->width_ns = UINT64_MAX;
  for (uint32_t i = 0; i < CLOCK_SAMPLES; i++) {
    uint64_t start = rdl__now_ns(), width;
    rdl_status status = rdl__bench_run_zeroed(bench, kernel, &launch, 4);
    if (status != RDL_OK) return status;
    if (bench->host[2] || !bench->host[3])
      return rdl__fail(RDL_UNSUPPORTED, &bench->why, "of %u readings %u went back, %u on",
                       CLOCK_READS, (unsigned)bench->host[2], (unsigned)bench->host[3]);
    width = rdl__now_ns() - start;
    if (width >= out->width_ns) continue;
    *out = (moment){wide_at(bench->host), start + width / 2, width};
  }
  return RDL_OK;
}

static rdl_status measure_clock(rdl_cl_bench *bench, cl_kernel kernel, uint64_t *out_hz) {
  const struct timespec apart = {0, CLOCK_APART};
  moment first = {0, 0, 0}, second = {0, 0, 0};
  rdl_status status = read_clock(bench, kernel, &first);
  if (status != RDL_OK) return status;
  (void)nanosleep(&apart, NULL);
  status = read_clock(bench, kernel, &second);
  if (status != RDL_OK) return status;
  if (second.device <= first.device)
    return rdl__fail(RDL_UNSUPPORTED, &bench->why, "it does not move on between launches");
  *out_hz = (uint64_t)((double)(second.device - first.device) * 1e9 /
                       (double)(second.host_ns - first.host_ns));
  return RDL_OK;
}

/* RDL_COMPILE: the device has no such clock. */
static rdl_status try_clock(rdl_cl_bench *bench, rdl_cl_clock clock, const char *name) {
  char options[128];
  uint64_t hz = 0;
  cl_kernel kernel = NULL;
  rdl_status status;
  (void)snprintf(options, sizeof options, "%s -DRDL_CLOCK=%d", rdl__bench_options(bench),
                 (int)clock);
  status = rdl__bench_kernel(bench, options, "dialect.h", "clock.cl", &kernel);
  if (status == RDL_OK) status = measure_clock(bench, kernel, &hz);
  if (kernel) (void)bench->cl->clReleaseKernel(kernel);
  if (status != RDL_OK) return status;
  rdl__report_add(bench->report, 1, "clock", "%s", name);
  rdl__report_add(bench->report, 1, "clock_hz", "%llu", (unsigned long long)hz);
  return RDL_OK;
}

/* NVIDIA's cycle counters differ from one multiprocessor to the next: its timer is the better one.
 */
rdl_status rdl__probe_clock(rdl_cl_bench *bench) {
  rdl_status status = RDL_COMPILE;
  if (rdl__bench_is_nvidia(bench)) status = try_clock(bench, RDL_CL_CLOCK_TIMER, "timer");
  if (status != RDL_OK) status = try_clock(bench, RDL_CL_CLOCK_CYCLES, "cycles");
  if (status != RDL_COMPILE && status != RDL_UNSUPPORTED) return status;
  rdl__report_add(bench->report, 1, "clock", "none (%s)",
                  status == RDL_COMPILE ? "it does not compile" : bench->why.text);
  return RDL_OK;
}
