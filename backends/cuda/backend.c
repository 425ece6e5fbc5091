/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs, through the driver's own interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/backends.h"
#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

static rdl_status cu_enumerate(rdl_device_info *infos, size_t capacity, size_t *out_count,
                               rdl_reason *why) {
  const rdl_cu *cu;
  rdl__reason_clear(why);
  *out_count = 0;
  cu = rdl__cu_symbols(why);
  if (!cu) return RDL_OK;
  *out_count = rdl__cu_count(cu, why);
  for (size_t i = 0; i < *out_count && i < capacity; i++)
    rdl__cu_describe(cu, i, &infos[i]);
  return RDL_OK;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static void note_workers(rdl_backend_device *device, uint32_t asked) {
  uint32_t most = rdl__cu_most_workers(device->cu, device->id, device->units);
  device->workers = least(asked ? asked : device->units * RDL_CU_USUAL, most);
}

/* An architecture that NVRTC does not know yet gets PTX of the newest that it knows, from which the
 * driver makes code. */
static void note_arch(rdl_backend_device *device) {
  const rdl_cu *cu = device->cu;
  int arch = 10 * rdl__cu_number(cu, device->id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
             rdl__cu_number(cu, device->id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  int is_known = arch <= device->nvrtc.newest;
  (void)snprintf(device->arch, sizeof device->arch, "%s_%d", is_known ? "sm" : "compute",
                 is_known ? arch : device->nvrtc.newest);
}

/* A function of the user's is one of the device: task files have no others. */
static void note_options(rdl_backend_device *device) {
  uint32_t on_each = RDL_CU_WARPS * device->units;
  (void)snprintf(device->options, sizeof device->options,
                 "--gpu-architecture=%s --std=c++20 --fmad=false "
                 "--device-as-default-execution-space -DRDL_LANES=%uu -DRDL_WARPS=%uu "
                 "-DRDL_BLOCKS=%uu",
                 device->arch, RDL_CU_LANES, RDL_CU_WARPS,
                 (unsigned)((device->workers + on_each - 1u) / on_each));
}

static void note_device(rdl_backend_device *device, const rdl_device_info *info) {
  const rdl_cu *cu = device->cu;
  size_t bytes = 0;
  device->units = info->compute_units;
  device->clock_hz = RDL_CU_CLOCK_HZ;
  (void)cu->cuDeviceTotalMem(&bytes, device->id);
  device->max_allocation = bytes;
  rdl__copy_text(device->name, sizeof device->name, info->name);
}

static rdl_status find_compiler(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_status status = rdl__nvrtc_find(cu->version, &device->nvrtc, why);
  (void)snprintf(device->compiler, sizeof device->compiler, "NVRTC %d.%d, driver for CUDA %d.%d",
                 device->nvrtc.major, device->nvrtc.minor, cu->version / 1000,
                 cu->version % 1000 / 10);
  return status;
}

/* ---- open ---- */

static rdl_status make_resources(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_status status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status = RDL_CU(cu, &device->lost, why,
                  cu->cuStreamCreate(&device->stream, RDL_CU_STREAM_NON_BLOCKING));
  if (status == RDL_OK) status = rdl__cu_transfers_begin(device, why);
  rdl__cu_leave(device);
  return status;
}

static void disconnect(rdl_backend_device *device) {
  if (rdl__cu_enter_to_free(device)) {
    rdl__cu_transfers_end(device);
    if (device->stream) (void)device->cu->cuStreamDestroy(device->stream);
    rdl__cu_leave(device);
  }
  device->stream = device->beside = NULL;
  device->staging = NULL;
  rdl__cu_disconnect(device);
}

/* A context that no longer is one, or in which nothing works. */
static int is_dead(rdl_status status) {
  return status == RDL_DEVICE_LOST || status == RDL_INVALID;
}

static rdl_status connect(rdl_backend_device *device, void *native, rdl_reason *why) {
  rdl_status status = rdl__cu_connect(device, native, why);
  if (status == RDL_OK) status = make_resources(device, why);
  if (!is_dead(status) || !rdl__cu_renew(device)) return status;
  disconnect(device);
  device->lost = 0;
  status = rdl__cu_connect(device, native, why);
  return status == RDL_OK ? make_resources(device, why) : status;
}

static void cu_close(rdl_backend_device *device) {
  if (!device) return;
  disconnect(device);
  (void)pthread_mutex_destroy(&device->transfers);
  free(device);
}

static rdl_status check_options(const rdl_backend_options *options, rdl_reason *why) {
  if (options->loop_turns)
    return rdl__fail(RDL_UNSUPPORTED, why, "Only the host takes the option loop_turns.");
  if (options->lanes && options->lanes != RDL_CU_LANES)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "Workers of CUDA devices cannot have %u lanes: they are warps, and the "
                     "capability barrier_lanes lists %u. Leave the option `lanes` 0.",
                     (unsigned)options->lanes, RDL_CU_LANES);
  return RDL_OK;
}

/* The device that `enumerate` lists at `index`, if Raddle runs on it. */
static rdl_status choose(const rdl_cu *cu, size_t index, rdl_device_info *out_info,
                         rdl_cu_device *out_id, rdl_reason *why) {
  size_t count = rdl__cu_count(cu, why);
  if (index >= count)
    return rdl__fail(RDL_NOT_FOUND, why, "There is no CUDA device %zu; there are %zu.", index,
                     count);
  rdl__cu_describe(cu, index, out_info);
  if (!out_info->usable)
    return rdl__fail(RDL_UNSUPPORTED, why, "Raddle cannot run on %s (%s): it lacks %s.",
                     out_info->selector, out_info->name, out_info->missing);
  return RDL_CU(cu, NULL, why, cu->cuDeviceGet(out_id, (int)index));
}

static rdl_status open_device(rdl_backend_device *device, const rdl_device_info *info,
                              const rdl_backend_options *options, rdl_reason *why) {
  rdl_status status = find_compiler(device, why);
  if (status != RDL_OK) return status;
  device->stop = options->stop;
  device->window = !options->epoch;
  rdl__cache_open(&device->cache, options->cache_dir);
  note_device(device, info);
  note_workers(device, options->workers);
  note_arch(device);
  note_options(device);
  return connect(device, options->native_context, why);
}

static rdl_status cu_open(size_t index, const rdl_backend_options *options,
                          rdl_backend_device **out_device, rdl_reason *why) {
  const rdl_cu *cu = rdl__cu_symbols(why);
  rdl_backend_device *device;
  rdl_device_info info = {.usable = 0};
  rdl_cu_device id = 0;
  rdl_status status;
  if (!cu) return RDL_UNAVAILABLE;
  status = choose(cu, index, &info, &id, why);
  if (status == RDL_OK) status = check_options(options, why);
  if (status != RDL_OK) return status;
  device = calloc(1, sizeof *device);
  if (!device) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for a device.");
  (void)pthread_mutex_init(&device->transfers, NULL);
  device->cu = cu;
  device->id = id;
  status = open_device(device, &info, options, why);
  if (status == RDL_OK)
    *out_device = device;
  else
    cu_close(device);
  return status;
}

static void cu_facts(rdl_backend_device *device, rdl_backend_facts *out_facts) {
  memset(out_facts, 0, sizeof *out_facts);
  out_facts->max_workers = device->workers;
  out_facts->lanes = RDL_CU_LANES;
  out_facts->block_workers = RDL_CU_WARPS;
  out_facts->clock_hz = device->clock_hz;
  out_facts->max_allocation = device->max_allocation;
  out_facts->window = device->window;
  out_facts->launches_promptly = 1;
  rdl__copy_text(out_facts->compiler, sizeof out_facts->compiler, device->compiler);
}

const rdl_backend rdl__backend_cuda = {
    .name = "cuda",
    .enumerate = cu_enumerate,
    .capabilities = rdl__cu_capabilities,
    .open = cu_open,
    .close = cu_close,
    .facts = cu_facts,
    .allocate = rdl__cu_allocate,
    .allocate_window = rdl__cu_allocate_window,
    .release = rdl__cu_release,
    .address = rdl__cu_address_of,
    .import = rdl__cu_import,
    .sync = rdl__cu_sync,
    .drop = rdl__cu_drop,
    .write = rdl__cu_write,
    .read = rdl__cu_read,
    .build = rdl__cu_build,
    .discard = rdl__cu_discard,
    .launch = rdl__cu_launch,
    .wait = rdl__cu_wait,
};
