/* SPDX-License-Identifier: Apache-2.0 */
/* Which NVIDIA GPUs there are, whether Raddle can run on them, and what they say of themselves. */
#include <stdio.h>
#include <string.h>

#include "backends/common/reason.h"
#include "backends/common/report.h"
#include "backends/cuda/device.h"
#include "backends/cuda/nvml.h"
#include "backends/cuda/status.h"

int rdl__cu_number(const rdl_cu *cu, rdl_cu_device id, int what) {
  int value = 0;
  return cu->cuDeviceGetAttribute(&value, what, id) == 0 ? value : 0;
}

/* Blocks of all multiprocessors run together when each has no more than the compiler was told to
 * make room for. */
uint32_t rdl__cu_most_workers(const rdl_cu *cu, rdl_cu_device id, uint32_t units) {
  uint32_t threads =
      (uint32_t)rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  uint32_t warps = threads / RDL_CU_LANES;
  return units * (warps < RDL_CU_MOST ? warps : RDL_CU_MOST);
}

size_t rdl__cu_count(const rdl_cu *cu, rdl_reason *why) {
  int count = 0;
  if (RDL_CU(cu, NULL, why, cu->cuDeviceGetCount(&count)) != RDL_OK || count < 0) return 0;
  if (!count)
    (void)rdl__fail(RDL_UNAVAILABLE, why,
                    "The NVIDIA driver finds no GPU. Is one hidden by CUDA_VISIBLE_DEVICES?");
  return (size_t)count;
}

/* Loads and stores with an order came with this architecture. */
#define OLDEST_MAJOR 7

static const char *what_is_missing(const rdl_cu *cu, rdl_cu_device id) {
  if (rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < OLDEST_MAJOR)
    return "compute capability 7.0 (ordering between workers)";
  if (!rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
    return "cooperative launches (workers that run at the same time)";
  if (!rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY))
    return "host memory that it can reach (what goes to and from it)";
  if (rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == RDL_CU_COMPUTEMODE_PROHIBITED)
    return "permission: its compute mode is 'prohibited' (nvidia-smi -c 0 changes it)";
  return NULL;
}

void rdl__cu_describe(const rdl_cu *cu, size_t index, rdl_device_info *out_info) {
  rdl_cu_device id = 0;
  char name[256] = "";
  const char *missing = "a driver that finds it";
  memset(out_info, 0, sizeof *out_info);
  (void)snprintf(out_info->selector, sizeof out_info->selector, "cuda:%zu", index);
  rdl__copy_text(out_info->backend, sizeof out_info->backend, "cuda");
  rdl__copy_text(out_info->platform, sizeof out_info->platform, "NVIDIA CUDA");
  (void)snprintf(out_info->driver, sizeof out_info->driver, "CUDA %d.%d", cu->version / 1000,
                 cu->version % 1000 / 10);
  if (cu->cuDeviceGet(&id, (int)index) == 0) {
    (void)cu->cuDeviceGetName(name, (int)sizeof name - 1, id);
    out_info->compute_units =
        (uint32_t)rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    missing = what_is_missing(cu, id);
  }
  rdl__copy_text(out_info->name, sizeof out_info->name, name[0] ? name : "unknown");
  out_info->usable = missing == NULL;
  rdl__copy_text(out_info->missing, sizeof out_info->missing, missing ? missing : "");
}

/* ---- capabilities ---- */

static void report_yes(rdl_report *report, const rdl_cu *cu, rdl_cu_device id, const char *name,
                       int what) {
  rdl__report_add(report, 0, name, "%s", rdl__cu_number(cu, id, what) ? "yes" : "no");
}

/* The rows that all backends have (docs/capabilities.md), then CUDA's own. */
static void report_common(rdl_report *report, const rdl_cu *cu, rdl_cu_device id) {
  const char *missing = what_is_missing(cu, id);
  uint32_t units = (uint32_t)rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  size_t bytes = 0;
  (void)cu->cuDeviceTotalMem(&bytes, id);
  if (missing)
    rdl__report_add(report, 0, "usable", "no (it lacks %s)", missing);
  else
    rdl__report_add(report, 0, "usable", "yes");
  rdl__report_add(report, 0, "type", "gpu");
  rdl__report_add(report, 0, "compute_units", "%u", (unsigned)units);
  rdl__report_add(report, 0, "global_memory", "%zu bytes", bytes);
  rdl__report_add(report, 0, "max_allocation", "%zu bytes", bytes);
  rdl__report_add(report, 0, "address_bits", "64");
  rdl__report_add(report, 0, "order", "ptx");
  rdl__report_add(report, 0, "shared", "none (but a window)");
  rdl__report_add(report, 0, "resident_groups", "%u",
                  (unsigned)rdl__cu_most_workers(cu, id, units));
  rdl__report_add(report, 0, "loop_budget", "none");
  rdl__report_add(report, 0, "barrier_lanes", "%u", RDL_CU_LANES);
  rdl__report_add(report, 0, "clock", "timer");
  rdl__report_add(report, 0, "clock_hz", "%u", RDL_CU_CLOCK_HZ);
}

static void report_device(rdl_report *report, const rdl_cu *cu, rdl_cu_device id) {
  report_common(report, cu, id);
  rdl__report_add(report, 0, "architecture", "sm_%d%d",
                  rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                  rdl__cu_number(cu, id, RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  report_yes(report, cu, id, "cooperative_launch", RDL_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  report_yes(report, cu, id, "host_mapped_memory", RDL_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
  report_yes(report, cu, id, "pageable_access", RDL_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  report_yes(report, cu, id, "launch_time_limit", RDL_CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
}

static void report_compiler(rdl_report *report, const rdl_cu *cu) {
  rdl_nvrtc nvrtc;
  rdl_reason why;
  rdl__report_add(report, 0, "driver_cuda", "%d.%d", cu->version / 1000, cu->version % 1000 / 10);
  if (rdl__nvrtc_find(cu->version, &nvrtc, &why) == RDL_OK)
    rdl__report_add(report, 0, "nvrtc", "%d.%d (%s)", nvrtc.major, nvrtc.minor, nvrtc.path);
  else
    rdl__report_add(report, 0, "nvrtc", "none: %s", why.text);
}

/* How it fares now. The management library has an order of devices of its own. */
static void report_state(rdl_report *report, const rdl_cu *cu, rdl_cu_device id) {
  char bus_id[32] = "";
  if (!cu->cuDeviceGetPCIBusId || cu->cuDeviceGetPCIBusId(bus_id, (int)sizeof bus_id, id) != 0)
    *bus_id = '\0';
  rdl__nvml_report(report, bus_id);
}

rdl_status rdl__cu_capabilities(size_t index, const char *cache_dir, uint32_t flags,
                                rdl_capability *out, size_t capacity, size_t *out_count,
                                rdl_reason *why) {
  const rdl_cu *cu = rdl__cu_symbols(why);
  rdl_report report = {.count = 0};
  rdl_cu_device id = 0;
  (void)cache_dir;
  (void)flags;
  *out_count = 0;
  if (!cu) return RDL_UNAVAILABLE;
  if (index >= rdl__cu_count(cu, why))
    return rdl__fail(RDL_NOT_FOUND, why, "There is no CUDA device %zu.", index);
  rdl_status status = RDL_CU(cu, NULL, why, cu->cuDeviceGet(&id, (int)index));
  if (status != RDL_OK) return status;
  report_device(&report, cu, id);
  report_compiler(&report, cu);
  report_state(&report, cu, id);
  rdl__report_copy(&report, out, capacity, out_count);
  return RDL_OK;
}
