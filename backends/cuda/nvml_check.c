/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles only when nvml.h and nvml.def say what the management library's own header says. */
#include <nvml.h>

#include "backends/cuda/nvml.h"

/* Some have a successor that older drivers lack; they are there all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SAME_SIZE(own, theirs)                                                                     \
  _Static_assert(sizeof(own) == sizeof(theirs) && _Alignof(own) == _Alignof(theirs), #own)
SAME_SIZE(rdl_nvml_result, nvmlReturn_t);
SAME_SIZE(rdl_nvml_device, nvmlDevice_t);
SAME_SIZE(rdl_nvml_clock, nvmlClockType_t);
SAME_SIZE(rdl_nvml_sensor, nvmlTemperatureSensors_t);
_Static_assert((int)NVML_SUCCESS == 0, "success");
_Static_assert((int)NVML_CLOCK_SM == RDL_NVML_CLOCK_SM, "clock");
_Static_assert((int)NVML_TEMPERATURE_GPU == RDL_NVML_TEMPERATURE_GPU, "temperature");

#define REASON(bit, name, words) _Static_assert(nvmlClocksThrottleReason##name == (bit), #name);
RDL_NVML_REASONS(REASON)
#undef REASON

/* The same prototypes, with its own types in the place of ours. */
#define rdl_nvml_device nvmlDevice_t
#define rdl_nvml_clock  nvmlClockType_t
#define rdl_nvml_sensor nvmlTemperatureSensors_t
#define RDL_NVML_SYMBOL(name, parameters)                                                          \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), nvmlReturn_t parameters), #name);
#include "backends/cuda/nvml.def"
#undef RDL_NVML_SYMBOL
