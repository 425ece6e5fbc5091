/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/status.h"

#include <string.h>

#include "backends/common/reason.h"

/* X(code, status, advice) */
#define CODES(X)                                                                                   \
  X(CL_DEVICE_NOT_FOUND, RDL_UNAVAILABLE, "")                                                      \
  X(CL_DEVICE_NOT_AVAILABLE, RDL_UNAVAILABLE, "")                                                  \
  X(CL_COMPILER_NOT_AVAILABLE, RDL_UNSUPPORTED, "The driver has no compiler.")                     \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE, RDL_OUT_OF_MEMORY, "")                                       \
  X(CL_OUT_OF_RESOURCES, RDL_OUT_OF_MEMORY, "")                                                    \
  X(CL_OUT_OF_HOST_MEMORY, RDL_OUT_OF_MEMORY, "")                                                  \
  X(CL_BUILD_PROGRAM_FAILURE, RDL_COMPILE, "")                                                     \
  X(CL_LINK_PROGRAM_FAILURE, RDL_COMPILE, "")                                                      \
  X(CL_COMPILE_PROGRAM_FAILURE, RDL_COMPILE, "")                                                   \
  X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, RDL_DEVICE_LOST, "Open a new context.")          \
  X(CL_INVALID_BUILD_OPTIONS, RDL_UNSUPPORTED, "")                                                 \
  X(CL_INVALID_OPERATION, RDL_UNSUPPORTED, "")                                                     \
  X(CL_INVALID_BINARY, RDL_IO, "")                                                                 \
  X(CL_INVALID_VALUE, RDL_INTERNAL, "")                                                            \
  X(CL_INVALID_MEM_OBJECT, RDL_INVALID, "Is it a cl_mem, and not released?")                       \
  X(CL_INVALID_BUFFER_SIZE, RDL_INVALID, "")                                                       \
  X(CL_INVALID_HOST_PTR, RDL_INVALID, "")                                                          \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET, RDL_INVALID,                                                  \
    "The sub-buffer begins where this device cannot (CL_DEVICE_MEM_BASE_ADDR_ALIGN).")             \
  X(CL_INVALID_PLATFORM, RDL_INTERNAL, "")                                                         \
  X(CL_INVALID_DEVICE, RDL_INTERNAL, "")                                                           \
  X(CL_INVALID_CONTEXT, RDL_INTERNAL, "")                                                          \
  X(CL_INVALID_QUEUE_PROPERTIES, RDL_UNSUPPORTED, "")                                              \
  X(CL_INVALID_COMMAND_QUEUE, RDL_DEVICE_LOST, "Open a new context.")                              \
  X(CL_INVALID_PROGRAM, RDL_INTERNAL, "")                                                          \
  X(CL_INVALID_PROGRAM_EXECUTABLE, RDL_INTERNAL, "")                                               \
  X(CL_INVALID_KERNEL_NAME, RDL_COMPILE, "The text has no such kernel.")                           \
  X(CL_INVALID_KERNEL_DEFINITION, RDL_COMPILE, "")                                                 \
  X(CL_INVALID_KERNEL, RDL_INTERNAL, "")                                                           \
  X(CL_INVALID_ARG_INDEX, RDL_COMPILE, "The kernel's parameters are not the expected ones.")       \
  X(CL_INVALID_ARG_VALUE, RDL_INTERNAL, "")                                                        \
  X(CL_INVALID_ARG_SIZE, RDL_COMPILE, "The kernel's parameters are not the expected ones.")        \
  X(CL_INVALID_KERNEL_ARGS, RDL_INTERNAL, "")                                                      \
  X(CL_INVALID_WORK_GROUP_SIZE, RDL_UNSUPPORTED, "")                                               \
  X(CL_INVALID_GLOBAL_WORK_SIZE, RDL_UNSUPPORTED, "")                                              \
  X(CL_INVALID_EVENT, RDL_INTERNAL, "")

rdl_status rdl__cl_check(cl_int code, const char *call, rdl_reason *why) {
  static const struct {
    cl_int code;
    rdl_status status;
    const char *advice;
  } table[] = {
#define ROW(code, status, advice) {code, status, advice},
      CODES(ROW)
#undef ROW
  };
  rdl_status status = RDL_INTERNAL;
  const char *advice = "";
  const char *arrow = strstr(call, "->");
  if (code == CL_SUCCESS) return RDL_OK;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (table[i].code != code) continue;
    status = table[i].status;
    advice = table[i].advice;
  }
  if (arrow) call = arrow + 2;
  return rdl__fail(status, why, "%.*s failed: %s (%d).%s%s", (int)strcspn(call, "("), call,
                   rdl__cl_name(code), (int)code, *advice ? " " : "", advice);
}

const char *rdl__cl_name(cl_int code) {
  switch (code) {
#define NAME(code, status, advice)                                                                 \
  case code:                                                                                       \
    return #code;
    CODES(NAME)
#undef NAME
  default:
    return "unknown error";
  }
}
