/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this backend knows of the CUDA driver and of NVRTC, declared here, so that the build needs
 * no toolkit. Names are Raddle's own: api_check.c compares them with cuda.h and nvrtc.h where those
 * are installed.
 */
#ifndef RDL_CUDA_API_H
#define RDL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int rdl_cu_result;             /* CUresult */
typedef int rdl_cu_device;             /* CUdevice */
typedef int rdl_cu_attribute;          /* CUdevice_attribute */
typedef int rdl_cu_function_attribute; /* CUfunction_attribute */
typedef int rdl_cu_pointer_attribute;  /* CUpointer_attribute */
typedef unsigned long long rdl_cu_address;
typedef struct CUctx_st *rdl_cu_context;
typedef struct CUstream_st *rdl_cu_stream;
typedef struct CUmod_st *rdl_cu_module;
typedef struct CUfunc_st *rdl_cu_function;

/* X(value, name of the driver's): the numbers that are used, or that status.c knows. */
#define RDL_CU_NUMBERS(X)                                                                          \
  X(1, CU_GET_PROC_ADDRESS_LEGACY_STREAM)                                                          \
  X(1, CU_STREAM_NON_BLOCKING)                                                                     \
  X(1, CU_MEMHOSTALLOC_PORTABLE)                                                                   \
  X(2, CU_MEMHOSTALLOC_DEVICEMAP)                                                                  \
  X(1, CU_MEMHOSTREGISTER_PORTABLE)                                                                \
  X(2, CU_MEMHOSTREGISTER_DEVICEMAP)                                                               \
  X(1, CU_POINTER_ATTRIBUTE_CONTEXT)                                                               \
  X(2, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)                                                           \
  X(8, CU_POINTER_ATTRIBUTE_IS_MANAGED)                                                            \
  X(9, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)                                                        \
  X(11, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)                                                     \
  X(12, CU_POINTER_ATTRIBUTE_RANGE_SIZE)                                                           \
  X(1, CU_MEMORYTYPE_HOST)                                                                         \
  X(2, CU_MEMORYTYPE_DEVICE)                                                                       \
  X(16, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)                                                  \
  X(17, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)                                                   \
  X(19, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY)                                                   \
  X(20, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)                                                          \
  X(39, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)                                        \
  X(75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                                              \
  X(76, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                                              \
  X(88, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)                                                \
  X(95, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)                                                    \
  X(2, CU_COMPUTEMODE_PROHIBITED)                                                                  \
  X(4, CU_FUNC_ATTRIBUTE_NUM_REGS)                                                                 \
  X(8, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)

/* X(number, name behind CUDA_ERROR_, status, sticky, advice). After a sticky one no call in this
 * process works on the context any more. */
#define RDL_CU_ERRORS(X)                                                                           \
  X(1, INVALID_VALUE, INTERNAL, 0, "")                                                             \
  X(2, OUT_OF_MEMORY, OUT_OF_MEMORY, 0, "")                                                        \
  X(3, NOT_INITIALIZED, UNAVAILABLE, 0, "")                                                        \
  X(4, DEINITIALIZED, UNAVAILABLE, 0, "The process is ending, and the driver has ended before.")   \
  X(34, STUB_LIBRARY, UNAVAILABLE, 0,                                                              \
    "The libcuda.so.1 that was found is the toolkit's, which is there to link with. Install the "  \
    "driver, or take the toolkit's folder `stubs` out of LD_LIBRARY_PATH.")                        \
  X(46, DEVICE_UNAVAILABLE, UNAVAILABLE, 0,                                                        \
    "Another process has the device for itself, or its compute mode (nvidia-smi -c) lets none "    \
    "in.")                                                                                         \
  X(100, NO_DEVICE, UNAVAILABLE, 0, "Is one hidden by CUDA_VISIBLE_DEVICES?")                      \
  X(101, INVALID_DEVICE, UNAVAILABLE, 0, "")                                                       \
  X(200, INVALID_IMAGE, COMPILE, 0, "")                                                            \
  X(201, INVALID_CONTEXT, INVALID, 0, "Is native_context a CUcontext, and not destroyed?")         \
  X(209, NO_BINARY_FOR_GPU, COMPILE, 0, "")                                                        \
  X(214, ECC_UNCORRECTABLE, DEVICE_LOST, 1, "The device's memory is failing: see nvidia-smi -q.")  \
  X(218, INVALID_PTX, COMPILE, 0, "")                                                              \
  X(220, NVLINK_UNCORRECTABLE, DEVICE_LOST, 1, "")                                                 \
  X(222, UNSUPPORTED_PTX_VERSION, COMPILE, 0,                                                      \
    "NVRTC is newer than the driver: update the driver, or name an older NVRTC in RADDLE_NVRTC.")  \
  X(304, OPERATING_SYSTEM, UNAVAILABLE, 0, "")                                                     \
  X(500, NOT_FOUND, COMPILE, 0, "The text has no such kernel.")                                    \
  X(600, NOT_READY, TIMEOUT, 0, "")                                                                \
  X(700, ILLEGAL_ADDRESS, DEVICE_LOST, 1, "A task reached for memory that is not its own.")        \
  X(701, LAUNCH_OUT_OF_RESOURCES, UNSUPPORTED, 0, "")                                              \
  X(702, LAUNCH_TIMEOUT, DEVICE_LOST, 1,                                                           \
    "The device also drives a screen, and the driver ends what runs too long.")                    \
  X(709, CONTEXT_IS_DESTROYED, DEVICE_LOST, 1,                                                     \
    "The program has destroyed or reset the CUDA context that Raddle worked in.")                  \
  X(710, ASSERT, DEVICE_LOST, 1, "")                                                               \
  X(712, HOST_MEMORY_ALREADY_REGISTERED, UNSUPPORTED, 0, "")                                       \
  X(714, HARDWARE_STACK_ERROR, DEVICE_LOST, 1, "")                                                 \
  X(715, ILLEGAL_INSTRUCTION, DEVICE_LOST, 1, "")                                                  \
  X(716, MISALIGNED_ADDRESS, DEVICE_LOST, 1,                                                       \
    "A task reached for a value at an address that is no multiple of its size.")                   \
  X(717, INVALID_ADDRESS_SPACE, DEVICE_LOST, 1, "")                                                \
  X(718, INVALID_PC, DEVICE_LOST, 1, "")                                                           \
  X(719, LAUNCH_FAILED, DEVICE_LOST, 1, "A task trapped, or the device failed.")                   \
  X(720, COOPERATIVE_LAUNCH_TOO_LARGE, UNSUPPORTED, 0, "Ask for fewer workers.")                   \
  X(800, NOT_PERMITTED, UNSUPPORTED, 0, "")                                                        \
  X(801, NOT_SUPPORTED, UNSUPPORTED, 0, "")                                                        \
  X(802, SYSTEM_NOT_READY, UNAVAILABLE, 0, "")                                                     \
  X(803, SYSTEM_DRIVER_MISMATCH, UNAVAILABLE, 0, "The driver was updated: restart the machine.")   \
  X(804, COMPAT_NOT_SUPPORTED_ON_DEVICE, UNAVAILABLE, 0, "")                                       \
  X(999, UNKNOWN, INTERNAL, 0, "")

enum {
#define NUMBER(value, name) RDL_##name = (value),
  RDL_CU_NUMBERS(NUMBER)
#undef NUMBER
#define NUMBER(number, name, status, sticky, advice) RDL_CUDA_##name = (number),
      RDL_CU_ERRORS(NUMBER)
#undef NUMBER
};

typedef int rdl_nvrtc_result;                    /* nvrtcResult */
typedef struct _nvrtcProgram *rdl_nvrtc_program; /* NOLINT: its name there */
#define RDL_NVRTC_ERROR_COMPILATION 6

#endif
