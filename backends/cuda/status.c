/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/status.h"

#include <string.h>

#include "backends/common/reason.h"

typedef struct error {
  rdl_cu_result code;
  rdl_status status;
  int sticky;
  const char *advice;
} error;

static const error *find(rdl_cu_result code) {
  static const error unknown = {0, RDL_INTERNAL, 0, ""};
  static const error table[] = {
#define ROW(number, name, status, sticky, advice) {number, RDL_##status, sticky, advice},
      RDL_CU_ERRORS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].code == code) return &table[i];
  return &unknown;
}

/* The driver tells also those that the table does not have. */
static const char *name_of(const rdl_cu *cu, rdl_cu_result code) {
  const char *name = NULL;
  return cu->cuGetErrorName(code, &name) == 0 && name ? name : "unknown error";
}

/* What a program can do: the driver keeps such an error until the process ends. */
#define START_ANEW                                                                                 \
  " No other call works on this device in this process: end the process and start it anew."

rdl_status rdl__cu_check(const rdl_cu *cu, int *lost, rdl_cu_result code, const char *call,
                         rdl_reason *why) {
  const char *arrow = strstr(call, "->");
  const error *found;
  if (code == 0) return RDL_OK;
  found = find(code);
  if (arrow) call = arrow + 2;
  if (found->sticky && lost) __atomic_store_n(lost, code, __ATOMIC_RELAXED);
  return rdl__fail(found->status, why, "%.*s failed: %s (%d).%s%s%s", (int)strcspn(call, "("), call,
                   name_of(cu, code), code, *found->advice ? " " : "", found->advice,
                   found->sticky ? START_ANEW : "");
}

rdl_status rdl__cu_is_lost(const rdl_cu *cu, rdl_cu_result code, rdl_reason *why) {
  const error *found = find(code);
  return rdl__fail(RDL_DEVICE_LOST, why, "The device was lost before, with %s (%d).%s%s" START_ANEW,
                   name_of(cu, code), code, *found->advice ? " " : "", found->advice);
}
