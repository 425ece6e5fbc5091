/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL = there is no such function. */
typedef struct rdl_nvml {
#define RDL_NVML_SYMBOL(name, parameters) rdl_nvml_result(*name) parameters;
#include "backends/cuda/nvml.def"
#undef RDL_NVML_SYMBOL
} rdl_nvml;

static rdl_nvml nvml;

/* The function pointer is filled by way of its bytes: ISO C has no cast from a data pointer. */
static void find(void *library, const char *name, void *out_function, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(out_function, &symbol, size < sizeof symbol ? size : sizeof symbol);
}

/* The library stays open, as the driver's does. */
static void load_once(void) {
  const char *named = getenv("RADDLE_NVML");
  void *library = dlopen(named && *named ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
#define RDL_NVML_SYMBOL(name, parameters) find(library, #name, &nvml.name, sizeof nvml.name);
#include "backends/cuda/nvml.def"
#undef RDL_NVML_SYMBOL
}

/* ---- what is told ---- */

typedef rdl_nvml_result number_fn(rdl_nvml_device device, unsigned *out_number);

static void report_number(rdl_report *report, const char *name, const char *unit, number_fn *ask,
                          rdl_nvml_device device) {
  unsigned number = 0;
  if (ask && ask(device, &number) == 0) rdl__report_add(report, 0, name, "%u%s", number, unit);
}

static void report_power(rdl_report *report, rdl_nvml_device device) {
  unsigned milliwatts = 0;
  if (nvml.nvmlDeviceGetPowerUsage && nvml.nvmlDeviceGetPowerUsage(device, &milliwatts) == 0)
    rdl__report_add(report, 0, "power", "%u.%u W", milliwatts / 1000u, milliwatts % 1000u / 100u);
}

static rdl_nvml_result ask_clock(rdl_nvml_device device, unsigned *out_megahertz) {
  return nvml.nvmlDeviceGetClockInfo(device, RDL_NVML_CLOCK_SM, out_megahertz);
}

static rdl_nvml_result ask_temperature(rdl_nvml_device device, unsigned *out_degrees) {
  return nvml.nvmlDeviceGetTemperature(device, RDL_NVML_TEMPERATURE_GPU, out_degrees);
}

static void append(char *text, size_t size, const char *words) {
  size_t length = strlen(text);
  (void)snprintf(text + length, size - length, "%s%s", length ? ", " : "", words);
}

/* A newer driver has reasons that are not known here: they are told as a number. */
static void name_reasons(unsigned long long reasons, char *out_text, size_t size) {
  unsigned long long known = 0;
  char rest[32];
#define REASON(bit, name, words)                                                                   \
  known |= (bit);                                                                                  \
  if (*(words) && (reasons & (bit))) append(out_text, size, words);
  RDL_NVML_REASONS(REASON)
#undef REASON
  if (!(reasons & ~known)) return;
  (void)snprintf(rest, sizeof rest, "%#llx", reasons & ~known);
  append(out_text, size, rest);
}

static void report_throttled(rdl_report *report, rdl_nvml_device device) {
  unsigned long long reasons = 0;
  char text[80] = "";
  if (!nvml.nvmlDeviceGetCurrentClocksThrottleReasons ||
      nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) != 0)
    return;
  name_reasons(reasons, text, sizeof text);
  if (*text)
    rdl__report_add(report, 0, "throttled", "yes (%s)", text);
  else
    rdl__report_add(report, 0, "throttled", "no");
}

static void report_driver(rdl_report *report) {
  char version[80] = "";
  if (nvml.nvmlSystemGetDriverVersion &&
      nvml.nvmlSystemGetDriverVersion(version, sizeof version) == 0)
    rdl__report_add(report, 0, "driver_version", "%s", version);
}

static void report_device(rdl_report *report, rdl_nvml_device device) {
  report_power(report, device);
  report_number(report, "sm_clock", " MHz", nvml.nvmlDeviceGetClockInfo ? ask_clock : NULL, device);
  report_number(report, "temperature", " C", nvml.nvmlDeviceGetTemperature ? ask_temperature : NULL,
                device);
  report_number(report, "pcie_generation", "", nvml.nvmlDeviceGetCurrPcieLinkGeneration, device);
  report_number(report, "pcie_lanes", "", nvml.nvmlDeviceGetCurrPcieLinkWidth, device);
  report_throttled(report, device);
}

/* Started and ended for each question: the library counts, so a program that uses it, too, is not
 * disturbed, and nothing of it is held between two questions. */
void rdl__nvml_report(rdl_report *report, const char *bus_id) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  rdl_nvml_device device = NULL;
  (void)pthread_once(&once, load_once);
  if (!nvml.nvmlInit_v2 || !nvml.nvmlShutdown || nvml.nvmlInit_v2() != 0) return;
  report_driver(report);
  if (*bus_id && nvml.nvmlDeviceGetHandleByPciBusId_v2 &&
      nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id, &device) == 0)
    report_device(report, device);
  (void)nvml.nvmlShutdown();
}
