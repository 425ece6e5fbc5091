/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles only when api.h, symbols.def and nvrtc.def say what the toolkit's headers say. */
#include <cuda.h>
#include <nvrtc.h>

#include "backends/cuda/api.h"

#define SAME_SIZE(own, theirs)                                                                     \
  _Static_assert(sizeof(own) == sizeof(theirs) && _Alignof(own) == _Alignof(theirs), #own)
SAME_SIZE(rdl_cu_result, CUresult);
SAME_SIZE(rdl_cu_device, CUdevice);
SAME_SIZE(rdl_cu_attribute, CUdevice_attribute);
SAME_SIZE(rdl_cu_function_attribute, CUfunction_attribute);
SAME_SIZE(rdl_cu_pointer_attribute, CUpointer_attribute);
SAME_SIZE(rdl_cu_address, CUdeviceptr);
SAME_SIZE(rdl_cu_context, CUcontext);
SAME_SIZE(rdl_cu_stream, CUstream);
SAME_SIZE(rdl_cu_module, CUmodule);
SAME_SIZE(rdl_cu_function, CUfunction);
SAME_SIZE(rdl_nvrtc_result, nvrtcResult);
SAME_SIZE(rdl_nvrtc_program, nvrtcProgram);

#define NUMBER(value, name) _Static_assert((int)(name) == (value), #name);
RDL_CU_NUMBERS(NUMBER)
#undef NUMBER
#define NUMBER(number, name, status, sticky, advice)                                               \
  _Static_assert((int)CUDA_ERROR_##name == (number), #name);
RDL_CU_ERRORS(NUMBER)
#undef NUMBER
_Static_assert((int)NVRTC_ERROR_COMPILATION == RDL_NVRTC_ERROR_COMPILATION, "compilation");

/* The same prototypes, with the toolkit's types in the place of ours. The names of functions are
 * macros there, which stand for the newest version of each. */
#define rdl_cu_result             CUresult
#define rdl_cu_device             CUdevice
#define rdl_cu_attribute          CUdevice_attribute
#define rdl_cu_function_attribute CUfunction_attribute
#define rdl_cu_pointer_attribute  CUpointer_attribute
#define rdl_cu_address            CUdeviceptr
#define rdl_cu_context            CUcontext
#define rdl_cu_stream             CUstream
#define rdl_cu_module             CUmodule
#define rdl_cu_function           CUfunction
#define rdl_nvrtc_result          nvrtcResult
#define rdl_nvrtc_program         nvrtcProgram

#define RDL_CU_SYMBOL(name, version, needed, parameters)                                           \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), CUresult parameters), #name);      \
  _Static_assert((version) <= CUDA_VERSION, #name);
#include "backends/cuda/symbols.def"
#undef RDL_CU_SYMBOL

#define RDL_NVRTC_SYMBOL(name, parameters)                                                         \
  _Static_assert(__builtin_types_compatible_p(__typeof__(name), nvrtcResult parameters), #name);
#include "backends/cuda/nvrtc.def"
#undef RDL_NVRTC_SYMBOL
