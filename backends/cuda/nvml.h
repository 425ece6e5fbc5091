/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a GPU fares just now, as NVIDIA's management library tells it: power, clock, temperature, its
 * link, and what slows it down. That library comes with the driver and is opened at run time. Where
 * it is absent, or does not know something, that is not told, and nothing else is different.
 * nvml_check.c compares these declarations with nvml.h where that is installed.
 */
#ifndef RDL_CUDA_NVML_H
#define RDL_CUDA_NVML_H

#include "backends/common/report.h"

typedef int rdl_nvml_result;                   /* nvmlReturn_t */
typedef struct nvmlDevice_st *rdl_nvml_device; /* NOLINT: its name there */
typedef unsigned rdl_nvml_clock;               /* nvmlClockType_t */
typedef unsigned rdl_nvml_sensor;              /* nvmlTemperatureSensors_t */

#define RDL_NVML_CLOCK_SM        1
#define RDL_NVML_TEMPERATURE_GPU 0

/* X(bit, name behind nvmlClocksThrottleReason, what is said). Idle is no reason to say anything. */
#define RDL_NVML_REASONS(X)                                                                        \
  X(0x1, GpuIdle, "")                                                                              \
  X(0x2, ApplicationsClocksSetting, "set clocks")                                                  \
  X(0x4, SwPowerCap, "power cap")                                                                  \
  X(0x8, HwSlowdown, "hardware")                                                                   \
  X(0x10, SyncBoost, "sync boost")                                                                 \
  X(0x20, SwThermalSlowdown, "heat")                                                               \
  X(0x40, HwThermalSlowdown, "heat, by hardware")                                                  \
  X(0x80, HwPowerBrakeSlowdown, "power brake")                                                     \
  X(0x100, DisplayClockSetting, "display")

/* Adds what is known of the GPU at this place of the PCI bus. Any thread. */
void rdl__nvml_report(rdl_report *report, const char *bus_id);

#endif
