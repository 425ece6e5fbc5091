/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL devices. What each can do is found by probes (probe.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/backends.h"
#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/probe.h"
#include "backends/opencl/status.h"

static rdl_status cl_enumerate(rdl_device_info *infos, size_t capacity, size_t *out_count,
                               rdl_reason *why) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  const rdl_cl *cl;
  rdl__reason_clear(why);
  *out_count = 0;
  cl = rdl__cl_symbols(why);
  if (!cl) return RDL_OK;
  *out_count = rdl__cl_list(cl, devices);
  if (!*out_count)
    rdl__reason_append(why, "The OpenCL loader finds no device. On Debian, apt install "
                            "pocl-opencl-icd makes one of the CPU.");
  for (size_t i = 0; i < *out_count && i < capacity; i++)
    rdl__cl_describe(cl, &devices[i], i, &infos[i]);
  return RDL_OK;
}

#define POCL_PLATFORM "Portable Computing Language"

static int is_oclgrind(const rdl_device_info *info) {
  return strncmp(info->platform, "Oclgrind", strlen("Oclgrind")) == 0;
}

/* What the driver says, and is taken at its word for. */
static void note_claims(rdl_backend_device *device, const rdl_device_info *info) {
  static pthread_mutex_t one_for_all = PTHREAD_MUTEX_INITIALIZER;
  const rdl_cl *cl = device->cl;
  uint64_t svm = rdl__cl_number(cl, device->id, CL_DEVICE_SVM_CAPABILITIES);
  int pocl = strncmp(info->platform, POCL_PLATFORM, strlen(POCL_PLATFORM)) == 0;
  device->svm_flags = CL_MEM_SVM_FINE_GRAIN_BUFFER;
  if (svm & CL_DEVICE_SVM_ATOMICS) device->svm_flags |= CL_MEM_SVM_ATOMICS;
  device->is_cpu = (rdl__cl_number(cl, device->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  device->keeps_binaries = !pocl;
  if (is_oclgrind(info)) device->apart = &one_for_all;
  /* PoCL's flush wakes its threads and returns. */
  device->launches_promptly = device->is_cpu && pocl;
  /* PoCL has a thread for each compute unit, and each runs one work-group at a time: that many run
   * together, and no more. POCL_MAX_PTHREAD_COUNT (3.x) sets the number for a process, so what an
   * earlier one has found does not hold. */
  if (pocl) device->workers = info->compute_units;
  rdl__copy_text(device->name, sizeof device->name, info->name);
  (void)snprintf(device->compiler, sizeof device->compiler, "%s, %s", info->driver, info->platform);
}

/* A GPU hides the time that one worker waits for memory behind others on the same unit. */
#define WORKERS_A_UNIT 4u

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* On a loop-limited device no worker waits for another, each runs one segment a kernel, and to
 * start a kernel takes milliseconds: many share that. */
#define WORKERS_LIMITED      32u
#define MOST_WORKERS_LIMITED 256u

/* Only workers that were seen to run together are asked for: others would begin when the first are
 * gone. Without a wish there are no more than the units are made for. */
static uint32_t workers_of(const rdl_backend_device *device, const rdl_device_info *info,
                           const rdl_cl_abilities *abilities, const rdl_backend_options *options) {
  uint32_t seen = options->lanes > 1u ? abilities->resident_groups_32 : abilities->resident_groups;
  uint32_t asked = options->workers;
  uint32_t most = device->workers ? device->workers : seen;
  uint32_t usual = info->compute_units * (device->is_cpu ? 1u : WORKERS_A_UNIT);
  if (!most) most = 1u;
  if (abilities->loop_budget) return least(asked ? asked : WORKERS_LIMITED, MOST_WORKERS_LIMITED);
  return least(asked ? asked : usual, most);
}

/* Options for compilers that do not take what they make themselves: Oclgrind's interpreter does not
 * know the intrinsics that its own optimiser brings in. */
static const char *options_for(const rdl_device_info *info) {
  return is_oclgrind(info) ? " -cl-opt-disable" : "";
}

static rdl_status lacks(const rdl_device_info *info, const char *what, rdl_reason *why) {
  return rdl__fail(
      RDL_UNSUPPORTED, why,
      "Raddle cannot run on %s (%s): probes found no %s. 'raddle devices -v' lists what "
      "they found, with --reprobe anew.",
      info->selector, info->name, what);
}

/* Only widths that were tried: drivers have been seen to go wrong at others. */
static rdl_status check_lanes(const rdl_device_info *info, const rdl_cl_abilities *abilities,
                              uint32_t lanes, rdl_reason *why) {
  char right[64] = "";
  size_t used = 0;
  if (lanes <= 1u) return RDL_OK;
  if (abilities->loop_budget)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "Workers of %s (%s) have one lane, for it ends loops (the capability "
                     "loop_budget, which 'raddle devices -v' shows). Leave the option `lanes` 0.",
                     info->selector, info->name);
  for (uint32_t i = 0; i < RDL_CL_LANES; i++) {
    if (!(abilities->lanes >> i & 1u)) continue;
    if (rdl__cl_lanes[i] == lanes) return RDL_OK;
    used += (size_t)snprintf(right + used, sizeof right - used, " %u", (unsigned)rdl__cl_lanes[i]);
  }
  return rdl__fail(RDL_UNSUPPORTED, why,
                   "Workers of %s (%s) cannot have %u lanes: the capability barrier_lanes, which "
                   "'raddle devices -v' shows, lists%s. Set the option `lanes` to one of these, or "
                   "leave it 0.",
                   info->selector, info->name, (unsigned)lanes, used ? right : " none");
}

/* So many are tried (docs/capabilities.md). */
#define MOST_NESTING_TRIED 320u

static uint32_t nesting_of(const rdl_cl_abilities *abilities) {
  uint32_t most = least(abilities->switch_cases, abilities->nesting);
  return most < MOST_NESTING_TRIED ? most : 0u;
}

#define WANTED_ANYWAY "RADDLE_WRONG_RESUME_POINTS"

/* A compiler was seen to give a tenth of such tasks another meaning, without a word, and no look at
 * a task tells which. So only who wants the device gets it. */
static rdl_status check_resume_points(const rdl_device_info *info,
                                      const rdl_cl_abilities *abilities, rdl_reason *why) {
  const char *wanted = getenv(WANTED_ANYWAY);
  rdl_status status;
  if (abilities->resume_points || (wanted && *wanted)) return RDL_OK;
  status = lacks(info, "a compiler that is right about segments which begin inside loops", why);
  rdl__reason_append(
      why, " That is the capability `resume_points`: a newer driver may be right. " WANTED_ANYWAY
           "=1 lets the device in all the same, with wrong results.");
  return status;
}

/* What probes have found out, and what follows from it. */
static rdl_status note_abilities(rdl_backend_device *device, const rdl_device_info *info,
                                 const rdl_cl_abilities *abilities,
                                 const rdl_backend_options *options, rdl_reason *why) {
  if (abilities->order == RDL_CL_ORDER_NONE) return lacks(info, "ordering between workers", why);
  if (check_resume_points(info, abilities, why) != RDL_OK) return RDL_UNSUPPORTED;
  if (!abilities->atomics32) return lacks(info, "exact atomics", why);
  if (!abilities->word_copies) return lacks(info, "right copies of structures", why);
  rdl_status status = check_lanes(info, abilities, options->lanes, why);
  if (status != RDL_OK) return status;
  device->epoch = options->epoch || abilities->shared != RDL_CL_SHARED_SVM;
  device->holds_addresses = abilities->addresses == RDL_CL_ADDRESS_FREE;
  if (device->epoch && !device->holds_addresses)
    return lacks(info, "addresses that hold from launch to launch", why);
  device->workers = workers_of(device, info, abilities, options);
  device->loop_budget = abilities->loop_budget;
  /* Such a driver keeps what took the time in a cache of its own, by text and by binary: to take
   * both is to compile twice. */
  if (device->loop_budget) device->keeps_binaries = 0;
  device->nesting = nesting_of(abilities);
  device->max_allocation = abilities->max_allocation;
  device->clock_hz = abilities->clock_hz;
  (void)snprintf(device->option_text, sizeof device->option_text, "%s%s", abilities->options,
                 options_for(info));
  if (device->loop_budget) {
    size_t length = strlen(device->option_text);
    (void)snprintf(device->option_text + length, sizeof device->option_text - length,
                   " -DRDL_LOOP_TURNS=%uu", (unsigned)device->loop_budget);
  }
  device->options = device->option_text;
  return RDL_OK;
}

/* On a CPU that is this machine's the kernel's counter is the one that the host reads. */
static void use_processor(rdl_backend_device *device) {
  size_t length = strlen(device->option_text);
  if (device->epoch && !device->launches_promptly) return; /* not PoCL */
  if (!device->clock_hz || !rdl__cl_takes_processor(device)) return;
  device->clock_hz = rdl__counter_hz();
  (void)snprintf(device->option_text + length, sizeof device->option_text - length, " -DRDL_X86");
}

/* The kernel is made for this width of a work-group. */
static void use_lanes(rdl_backend_device *device, uint32_t lanes) {
  size_t length = strlen(device->option_text);
  device->lanes = lanes;
  if (lanes > 1u)
    (void)snprintf(device->option_text + length, sizeof device->option_text - length,
                   " -DRDL_LANES=%uu", (unsigned)lanes);
}

static void cl_close(rdl_backend_device *device) {
  if (!device) return;
  if (device->launch) (void)device->cl->clReleaseEvent(device->launch);
  rdl__cl_patch_free(device);
  rdl__cl_locate_free(device);
  free(device->svm_list);
  rdl__cl_discard(device, device->support);
  if (device->queue) (void)device->cl->clReleaseCommandQueue(device->queue);
  if (device->context) (void)device->cl->clReleaseContext(device->context);
  (void)pthread_mutex_destroy(&device->own_apart);
  free(device);
}

static rdl_status make_queue(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  if (rdl__cl_version(cl, device->id) < 200)
    return RDL_CL_MAKE(why, code, device->queue,
                       cl->clCreateCommandQueue(device->context, device->id, 0, &code));
  return RDL_CL_MAKE(
      why, code, device->queue,
      cl->clCreateCommandQueueWithProperties(device->context, device->id, NULL, &code));
}

/* Works in the program's cl_context. */
static rdl_status adopt(rdl_backend_device *device, cl_context context, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_device_id ids[RDL_CL_MOST_DEVICES];
  size_t size = 0, k = 0;
  rdl_status status =
      RDL_CL(why, cl->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof ids, ids, &size));
  if (status != RDL_OK) return status;
  while (k < size / sizeof(cl_device_id) && ids[k] != device->id)
    k++;
  if (k == size / sizeof(cl_device_id))
    return rdl__fail(RDL_INVALID, why, "The cl_context in native_context has no device %s: %s",
                     device->name, "give one that it has as native_device.");
  status = RDL_CL(why, cl->clRetainContext(context));
  if (status == RDL_OK) device->context = context;
  return status;
}

static rdl_status connect(rdl_backend_device *device, void *native_context, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status =
      native_context ? adopt(device, native_context, why)
                     : RDL_CL_MAKE(why, code, device->context,
                                   cl->clCreateContext(NULL, 1, &device->id, NULL, NULL, &code));
  return status == RDL_OK ? make_queue(device, why) : status;
}

/* The device that `enumerate` lists at `index`, if Raddle runs on it. */
static rdl_status choose(const rdl_cl *cl, size_t index, rdl_cl_device *out_device,
                         rdl_device_info *out_info, rdl_reason *why) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  size_t count = rdl__cl_list(cl, devices);
  if (index >= count)
    return rdl__fail(RDL_NOT_FOUND, why, "There is no OpenCL device %zu; there are %zu.", index,
                     count);
  *out_device = devices[index];
  rdl__cl_describe(cl, &devices[index], index, out_info);
  if (out_info->usable) return RDL_OK;
  return rdl__fail(RDL_UNSUPPORTED, why, "Raddle cannot run on %s (%s): it lacks %s.",
                   out_info->selector, out_info->name, out_info->missing);
}

static rdl_status open_device(rdl_backend_device *device, const rdl_cl_device *chosen,
                              const rdl_device_info *info, const rdl_backend_options *options,
                              rdl_reason *why) {
  rdl_cl_abilities abilities;
  rdl_status status;
  note_claims(device, info);
  device->stop = options->stop;
  rdl__cache_open(&device->cache, options->cache_dir);
  status = rdl__cl_abilities(device->cl, chosen, options->cache_dir, 0, &abilities, why);
  if (status == RDL_OK) status = note_abilities(device, info, &abilities, options, why);
  if (status == RDL_OK) status = connect(device, options->native_context, why);
  if (status == RDL_OK) use_processor(device);
  if (status == RDL_OK && device->epoch) status = rdl__cl_support_build(device, why);
  if (status == RDL_OK && options->lanes > 1u) use_lanes(device, options->lanes);
  return status;
}

static rdl_status cl_open(size_t index, const rdl_backend_options *options,
                          rdl_backend_device **out_device, rdl_reason *why) {
  const rdl_cl *cl = rdl__cl_symbols(why);
  rdl_backend_device *device;
  rdl_device_info info = {.usable = 0};
  rdl_cl_device chosen = {0};
  rdl_status status;
  if (!cl) return RDL_UNAVAILABLE;
  status = choose(cl, index, &chosen, &info, why);
  if (status != RDL_OK) return status;
  if (options->loop_turns)
    return rdl__fail(RDL_UNSUPPORTED, why, "Only the host takes the option loop_turns.");
  device = calloc(1, sizeof *device);
  if (!device) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for a device.");
  (void)pthread_mutex_init(&device->own_apart, NULL);
  device->apart = &device->own_apart;
  device->cl = cl;
  device->id = chosen.id;
  device->lanes = 1; /* until the kernels of its own are built */
  status = open_device(device, &chosen, &info, options, why);
  if (status == RDL_OK)
    *out_device = device;
  else
    cl_close(device);
  return status;
}

static void cl_facts(rdl_backend_device *device, rdl_backend_facts *out_facts) {
  memset(out_facts, 0, sizeof *out_facts);
  out_facts->max_workers = device->workers;
  out_facts->lanes = device->lanes;
  out_facts->clock_hz = device->clock_hz;
  out_facts->max_allocation = device->max_allocation;
  out_facts->shared = !device->epoch;
  out_facts->loop_budget = device->loop_budget;
  out_facts->nesting = device->nesting;
  out_facts->shares_cores = device->is_cpu;
  out_facts->launches_promptly = device->launches_promptly;
  rdl__copy_text(out_facts->compiler, sizeof out_facts->compiler, device->compiler);
}

const rdl_backend rdl__backend_opencl = {
    .name = "opencl",
    .enumerate = cl_enumerate,
    .capabilities = rdl__cl_capabilities,
    .open = cl_open,
    .close = cl_close,
    .facts = cl_facts,
    .allocate = rdl__cl_allocate,
    .allocate_window = rdl__no_window,
    .release = rdl__cl_release,
    .address = rdl__cl_address,
    .import = rdl__cl_import,
    .sync = rdl__cl_sync,
    .drop = rdl__cl_drop,
    .write = rdl__cl_write,
    .read = rdl__cl_read,
    .build = rdl__cl_build,
    .discard = rdl__cl_discard,
    .launch = rdl__cl_launch,
    .wait = rdl__cl_wait,
};
