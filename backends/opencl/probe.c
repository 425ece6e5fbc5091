/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/probe.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"
#include "backends/opencl/helper.h"
#include "backends/opencl/identity.h"
#include "backends/opencl/probe_claims.h"
#include "backends/opencl/probe_derive.h"
#include "backends/opencl/probe_jobs.h"
#include "backends/opencl/probe_list.h"

/* ---- as text ---- */

#define LONGEST_TEXT (RDL_REPORT_ROWS * RDL_REPORT_LINE)

static size_t write_report(const rdl_report *report, char out_text[LONGEST_TEXT]) {
  size_t length = 0;
  for (size_t i = 0; i < report->count; i++)
    length += rdl__report_line(&report->rows[i], out_text + length);
  return length;
}

#define NO_END "did not end"

/* ---- processes that probe ---- */

static rdl_status run_helper(const rdl_cl_identity *device, const rdl_report *report, size_t first,
                             rdl_cl_answer *out_answer, rdl_reason *why) {
  char text[LONGEST_TEXT];
  rdl_parcel request = {.bytes = NULL};
  /* Each probe ends by an alarm of its own: this is for a helper that cannot. */
  const uint64_t seconds = (uint64_t)4 * RDL_PROBE_SECONDS;
  rdl_status status;
  rdl__parcel_add_number(&request, first);
  rdl__parcel_add(&request, text, write_report(report, text));
  status = rdl__cl_helper_run(device, RDL_PROBE_VERB, &request, seconds * 1000000000u, NULL,
                              out_answer, why);
  rdl__parcel_free(&request);
  return status;
}

static size_t probe_named(const char *name) {
  size_t i = 0;
  while (i < rdl__probe_count && strcmp(rdl__probes[i].name, name) != 0)
    i++;
  return i;
}

/* Adds the rows; the number of the probe that began last, or rdl__probe_count. */
static size_t read_notes(rdl_cl_answer *answer, rdl_report *report) {
  size_t began = rdl__probe_count, length = 0;
  const char *note;
  while ((note = rdl__cl_note_take(answer, &length))) {
    if (strncmp(note, RDL_PROBE_BEGINS, strlen(RDL_PROBE_BEGINS)) == 0)
      began = probe_named(note + strlen(RDL_PROBE_BEGINS));
    else
      rdl__report_read(report, note, length);
  }
  return began;
}

/* The result of a probe in which the process ended. */
static void add_ending(rdl_report *report, const rdl_cl_probe *probe, const rdl_cl_answer *answer) {
  if (answer->ending == RDL_ENDED_BY_LIMIT ||
      (answer->ending == RDL_ENDED_BY_SIGNAL && answer->code == SIGALRM))
    rdl__report_add(report, 1, probe->name, NO_END " in %u s", RDL_PROBE_SECONDS);
  else if (answer->ending == RDL_ENDED_BY_SIGNAL)
    rdl__report_add(report, 1, probe->name, "crashed (%s)", rdl__process_signal(answer->code).text);
  else
    rdl__report_add(report, 1, probe->name, "crashed (exit status %d)", answer->code);
}

/* A process goes on with all probes until the driver ends it; the next one goes on behind that. */
static rdl_status run_probes(const rdl_cl_identity *device, rdl_report *report, rdl_reason *why) {
  size_t first = 0;
  while (first < rdl__probe_count) {
    rdl_cl_answer answer;
    rdl_status status = run_helper(device, report, first, &answer, why);
    size_t began = read_notes(&answer, report);
    if (status != RDL_OK && !answer.body.at && began < rdl__probe_count) {
      add_ending(report, &rdl__probes[began], &answer);
      first = began + 1;
      status = RDL_OK;
    } else {
      first = rdl__probe_count;
    }
    rdl__cl_answer_free(&answer);
    if (status != RDL_OK) return status;
  }
  return RDL_OK;
}

/* ---- cache ---- */

/* What decides how many threads a CPU driver has is not in its version. */
static void describe_threads(const rdl_cl *cl, cl_device_id id, char *out, size_t capacity) {
  static const char *const variables[] = {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT",
                                          "LP_NUM_THREADS", "OCLGRIND_NUM_THREADS"};
  cpu_set_t set;
  int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  size_t used =
      (size_t)snprintf(out, capacity, "processors %d units %llu", processors,
                       (unsigned long long)rdl__cl_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS));
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    const char *value = getenv(variables[i]);
    if (value && used < capacity)
      used += (size_t)snprintf(out + used, capacity - used, " %s=%s", variables[i], value);
  }
}

typedef struct probe_key {
  char options[512];
  char device[600];
  char compiler[800];
  rdl_cache_key key;
} probe_key;

static void make_key(const rdl_cl *cl, cl_device_id id, const rdl_cl_identity *identity,
                     probe_key *out) {
  describe_threads(cl, id, out->options, sizeof out->options);
  (void)snprintf(out->device, sizeof out->device, "%s", identity->name);
  (void)snprintf(out->compiler, sizeof out->compiler, "%s, %s, %s", identity->driver,
                 identity->platform, identity->version);
  out->key = (rdl_cache_key){.backend = "opencl probes",
                             .text_hash = rdl__probe_hash,
                             .options = out->options,
                             .device = out->device,
                             .compiler = out->compiler};
}

static int load_report(const rdl_cache *cache, const rdl_cache_key *key, rdl_report *report) {
  rdl_cache_entry entry;
  if (!rdl__cache_load(cache, key, &entry)) return 0;
  rdl__report_read(report, (const char *)entry.image, entry.size);
  free(entry.image);
  return report->count != 0;
}

/* A machine that is too busy looks like a driver that hangs, and one without memory like a driver
 * that is killed: neither is kept. Nor is it when no ordering is left, which no device that runs
 * kernels lacks: a driver that cannot write to its cache compiles nothing. */
static void store_report(const rdl_cache *cache, const rdl_cache_key *key,
                         const rdl_report *report) {
  char text[LONGEST_TEXT];
  const char *options;
  if (rdl__derive_order(report, &options) == RDL_CL_ORDER_NONE) return;
  for (size_t i = 0; i < report->count; i++)
    if (strncmp(report->rows[i].value, NO_END, strlen(NO_END)) == 0 ||
        strstr(report->rows[i].value, "SIGKILL"))
      return;
  (void)rdl__cache_store(cache, key, text, write_report(report, text), NULL);
}

/* ---- memory ---- */

/* What this process has probed, for when there is no cache. The lock is held while one thread
 * probes, so that others wait for its answers and do not probe beside it. */
#define MOST_REMEMBERED 8u

typedef struct memory_row {
  cl_device_id id;
  char options[sizeof((probe_key *)0)->options];
  rdl_report report;
} memory_row;

static struct {
  pthread_mutex_t lock;
  memory_row rows[MOST_REMEMBERED];
  size_t count;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static memory_row *find_row(cl_device_id id, const char *options) {
  for (size_t i = 0; i < memory.count; i++)
    if (memory.rows[i].id == id && strcmp(memory.rows[i].options, options) == 0)
      return &memory.rows[i];
  return NULL;
}

static void remember(cl_device_id id, const char *options, const rdl_report *report) {
  memory_row *row = find_row(id, options);
  if (!row && memory.count == MOST_REMEMBERED) return;
  if (!row) row = &memory.rows[memory.count++];
  row->id = id;
  rdl__copy_text(row->options, sizeof row->options, options);
  row->report = *report;
}

/* ---- all of it ---- */

static rdl_status probe_or_remember(cl_device_id id, const probe_key *key,
                                    const rdl_cl_identity *identity, uint32_t flags,
                                    rdl_report *report, rdl_reason *why) {
  const memory_row *row;
  rdl_status status = RDL_OK;
  (void)pthread_mutex_lock(&memory.lock);
  row = flags & RDL_REPROBE ? NULL : find_row(id, key->options);
  if (row)
    *report = row->report;
  else
    status = run_probes(identity, report, why);
  if (status == RDL_OK) remember(id, key->options, report);
  (void)pthread_mutex_unlock(&memory.lock);
  return status;
}

/* What probes found: in the cache, in this process, or now. */
static rdl_status find_report(const rdl_cl *cl, cl_device_id id, const char *cache_dir,
                              uint32_t flags, rdl_report *report, rdl_reason *why) {
  rdl_cl_identity identity;
  rdl_cache cache;
  probe_key key;
  rdl_status status;
  report->count = 0;
  rdl__cl_identify(cl, id, &identity);
  make_key(cl, id, &identity, &key);
  rdl__cache_open(&cache, cache_dir);
  if (!(flags & RDL_REPROBE) && load_report(&cache, &key.key, report)) return RDL_OK;
  status = probe_or_remember(id, &key, &identity, flags, report, why);
  if (status == RDL_OK) store_report(&cache, &key.key, report);
  return status;
}

/* ---- what others call ---- */

rdl_status rdl__cl_abilities(const rdl_cl *cl, const rdl_cl_device *device, const char *cache_dir,
                             uint32_t flags, rdl_cl_abilities *out, rdl_reason *why) {
  rdl_report report;
  rdl_status status = find_report(cl, device->id, cache_dir, flags, &report, why);
  rdl__derive(&report, rdl__cl_number(cl, device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE), out);
  return status;
}

/* Of the rows of all orders that were tried the one that counts. */
static void add_order(rdl_report *report) {
  static const char *const names[] = {"none", "c11", "ptx", "mem_fence"};
  const char *options = NULL;
  rdl_cl_order order = rdl__derive_order(report, &options);
  rdl__report_add(report, 1, "order", "%s%s%s%s", names[order], *options ? " (" : "", options,
                  *options ? ")" : "");
}

static void add_usable(rdl_report *report, const rdl_device_info *info) {
  if (info->usable)
    rdl__report_add(report, 0, "usable", "yes");
  else
    rdl__report_add(report, 0, "usable", "no (it lacks %s)", info->missing);
}

rdl_status rdl__cl_capabilities(size_t index, const char *cache_dir, uint32_t flags,
                                rdl_capability *out, size_t capacity, size_t *out_count,
                                rdl_reason *why) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  rdl_report claimed = {.count = 0}, probed = {.count = 0};
  rdl_device_info info;
  const rdl_cl *cl = rdl__cl_symbols(why);
  size_t count = cl ? rdl__cl_list(cl, devices) : 0;
  *out_count = 0;
  if (!cl) return RDL_UNAVAILABLE;
  if (index >= count)
    return rdl__fail(RDL_NOT_FOUND, why, "There is no OpenCL device %zu; there are %zu.", index,
                     count);
  rdl__cl_describe(cl, &devices[index], index, &info);
  add_usable(&claimed, &info);
  rdl__cl_claims(cl, devices[index].id, &claimed);
  if (find_report(cl, devices[index].id, cache_dir, flags, &probed, why) != RDL_OK)
    rdl__report_add(&claimed, 0, "probes", "none (%s)", why->text);
  else
    add_order(&probed);
  rdl__report_copy(&claimed, out, capacity, out_count);
  rdl__report_copy(&probed, out, capacity, out_count);
  return RDL_OK;
}
