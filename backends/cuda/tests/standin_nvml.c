/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for NVIDIA's management library in tests: the GPUs of standin_driver.c. The second one
 * knows nothing of itself. */
#include <stdio.h>
#include <string.h>

#include "backends/cuda/nvml.h"
#include "backends/cuda/tests/standin.h"

#define EXPORT __attribute__((visibility("default")))

#define RDL_NVML_SYMBOL(name, parameters) EXPORT rdl_nvml_result name parameters;
#include "backends/cuda/nvml.def"
#undef RDL_NVML_SYMBOL

EXPORT extern standin_nvml standin_nvml_state;
standin_nvml standin_nvml_state;
static standin_nvml *const state = &standin_nvml_state;

#define NOT_SUPPORTED 3
#define NOT_FOUND     6
#define UNINITIALIZED 1

struct nvmlDevice_st {
  int is_mute;
};
static struct nvmlDevice_st devices[STANDIN_DEVICES] = {{0}, {1}};

/* What a question about a device begins with. */
static rdl_nvml_result begin(rdl_nvml_device device) {
  if (state->starts <= 0) return UNINITIALIZED;
  return device->is_mute ? NOT_SUPPORTED : 0;
}

rdl_nvml_result nvmlInit_v2(void) {
  if (state->fails) return state->fails;
  state->starts++;
  return 0;
}

rdl_nvml_result nvmlShutdown(void) {
  state->starts--;
  return 0;
}

rdl_nvml_result nvmlSystemGetDriverVersion(char *out_version, unsigned capacity) {
  if (state->starts <= 0) return UNINITIALIZED;
  (void)snprintf(out_version, capacity, "580.12.34");
  return 0;
}

rdl_nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, rdl_nvml_device *out_device) {
  if (state->starts <= 0) return UNINITIALIZED;
  for (int k = 0; k < STANDIN_DEVICES; k++) {
    char own[STANDIN_BUS_ID];
    (void)snprintf(own, sizeof own, STANDIN_BUS, (unsigned)k);
    if (strcmp(own, bus_id) != 0) continue;
    *out_device = &devices[k];
    return 0;
  }
  return NOT_FOUND;
}

static rdl_nvml_result give(rdl_nvml_device device, unsigned value, unsigned *out_value) {
  rdl_nvml_result result = begin(device);
  if (result == 0) *out_value = value;
  return result;
}

rdl_nvml_result nvmlDeviceGetPowerUsage(rdl_nvml_device device, unsigned *out_milliwatts) {
  return give(device, 312456, out_milliwatts);
}

rdl_nvml_result nvmlDeviceGetClockInfo(rdl_nvml_device device, rdl_nvml_clock which,
                                       unsigned *out_megahertz) {
  return give(device, which == RDL_NVML_CLOCK_SM ? 1980 : 1, out_megahertz);
}

rdl_nvml_result nvmlDeviceGetTemperature(rdl_nvml_device device, rdl_nvml_sensor which,
                                         unsigned *out_degrees) {
  return give(device, which == RDL_NVML_TEMPERATURE_GPU ? 41 : 1, out_degrees);
}

rdl_nvml_result nvmlDeviceGetCurrPcieLinkGeneration(rdl_nvml_device device,
                                                    unsigned *out_generation) {
  return give(device, 5, out_generation);
}

rdl_nvml_result nvmlDeviceGetCurrPcieLinkWidth(rdl_nvml_device device, unsigned *out_lanes) {
  return give(device, 16, out_lanes);
}

rdl_nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(rdl_nvml_device device,
                                                          unsigned long long *out_reasons) {
  *out_reasons = state->reasons;
  return begin(device);
}
