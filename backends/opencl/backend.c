/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL 3.0 devices that share memory with the host while a kernel runs: PoCL above all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/backends.h"
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

/* What stays the same while the device is open. */
static void note_facts(rdl_backend_device *device, const rdl_device_info *info, uint32_t asked) {
  const rdl_cl *cl = device->cl;
  uint64_t svm = rdl__cl_number(cl, device->id, CL_DEVICE_SVM_CAPABILITIES);
  device->svm_flags = CL_MEM_SVM_FINE_GRAIN_BUFFER;
  if (svm & CL_DEVICE_SVM_ATOMICS) device->svm_flags |= CL_MEM_SVM_ATOMICS;
  device->is_cpu = (rdl__cl_number(cl, device->id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  device->keeps_binaries = !device->is_cpu;
  /* PoCL's flush wakes its threads and returns. */
  device->launches_promptly =
      device->is_cpu && strncmp(info->platform, POCL_PLATFORM, strlen(POCL_PLATFORM)) == 0;
  device->max_allocation = rdl__cl_number(cl, device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  /* PoCL has a thread for each compute unit, and each runs one work-group at a time: that many run
   * together, and no more. POCL_MAX_PTHREAD_COUNT (3.x) sets the number. */
  device->workers = info->compute_units;
  if (asked && asked < device->workers) device->workers = asked;
  rdl__copy_text(device->name, sizeof device->name, info->name);
  (void)snprintf(device->compiler, sizeof device->compiler, "%s, %s", info->driver, info->platform);
}

static void cl_close(rdl_backend_device *device) {
  if (!device) return;
  if (device->launch) (void)device->cl->clReleaseEvent(device->launch);
  if (device->queue) (void)device->cl->clReleaseCommandQueue(device->queue);
  if (device->context) (void)device->cl->clReleaseContext(device->context);
  free(device);
}

static rdl_status connect(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status = RDL_CL_MAKE(why, code, device->context,
                                  cl->clCreateContext(NULL, 1, &device->id, NULL, NULL, &code));
  if (status == RDL_OK)
    status = RDL_CL_MAKE(
        why, code, device->queue,
        cl->clCreateCommandQueueWithProperties(device->context, device->id, NULL, &code));
  return status;
}

/* The device that `enumerate` lists at `index`, if Raddle runs on it. */
static rdl_status choose(const rdl_cl *cl, size_t index, cl_device_id *out_id,
                         rdl_device_info *out_info, rdl_reason *why) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  size_t count = rdl__cl_list(cl, devices);
  if (index >= count)
    return rdl__fail(RDL_NOT_FOUND, why, "There is no OpenCL device %zu; there are %zu.", index,
                     count);
  *out_id = devices[index].id;
  rdl__cl_describe(cl, &devices[index], index, out_info);
  if (out_info->usable) return RDL_OK;
  return rdl__fail(RDL_UNSUPPORTED, why, "Raddle cannot run on %s (%s): it lacks %s.",
                   out_info->selector, out_info->name, out_info->missing);
}

static rdl_status cl_open(size_t index, const rdl_backend_options *options,
                          rdl_backend_device **out_device, rdl_reason *why) {
  const rdl_cl *cl = rdl__cl_symbols(why);
  rdl_backend_device *device;
  rdl_device_info info = {.usable = 0};
  cl_device_id id = NULL;
  rdl_status status;
  if (!cl) return RDL_UNAVAILABLE;
  status = choose(cl, index, &id, &info, why);
  if (status != RDL_OK) return status;
  if (options->lanes > 1)
    return rdl__fail(RDL_UNSUPPORTED, why, "Workers of OpenCL devices have 1 lane, not %u.",
                     (unsigned)options->lanes);
  device = calloc(1, sizeof *device);
  if (!device) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for a device.");
  device->cl = cl;
  device->id = id;
  note_facts(device, &info, options->workers);
  rdl__cache_open(&device->cache, options->cache_dir);
  status = connect(device, why);
  if (status == RDL_OK) {
    rdl__cl_choose_options(device);
    *out_device = device;
  } else {
    cl_close(device);
  }
  return status;
}

static void cl_facts(rdl_backend_device *device, rdl_backend_facts *out_facts) {
  memset(out_facts, 0, sizeof *out_facts);
  out_facts->max_workers = device->workers;
  out_facts->lanes = 1;
  out_facts->clock_hz = device->clock_hz;
  out_facts->max_allocation = device->max_allocation;
  out_facts->shared = 1;
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
    .release = rdl__cl_release,
    .address = rdl__cl_address,
    .build = rdl__cl_build,
    .discard = rdl__cl_discard,
    .launch = rdl__cl_launch,
    .wait = rdl__cl_wait,
};
