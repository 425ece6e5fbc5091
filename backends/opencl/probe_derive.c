/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/probe_derive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t rdl__cl_lanes[RDL_CL_LANES] = {1, 7, 8, 32, 64};

/* Whether C11's words are there is found by trying them: PoCL calls its language 1.2 and has them,
 * NVIDIA's driver has them and reports less. */
const rdl_order_form rdl__order_forms[RDL_ORDER_FORMS] = {
    {"order_c11_cl30", "-cl-std=CL3.0", RDL_CL_ORDER_C11, 0},
    {"order_c11_cl20", "-cl-std=CL2.0", RDL_CL_ORDER_C11, 0},
    {"order_ptx", "-cl-std=CL1.2 -DRDL_PTX", RDL_CL_ORDER_PTX, 1},
    {"order_mem_fence", "-cl-std=CL1.2", RDL_CL_ORDER_FENCE, 0},
};

rdl_cl_order rdl__derive_order(const rdl_report *report, const char **out_options) {
  for (size_t i = 0; i < RDL_ORDER_FORMS; i++) {
    if (!rdl__report_is(report, rdl__order_forms[i].row, "right")) continue;
    *out_options = rdl__order_forms[i].options;
    return rdl__order_forms[i].order;
  }
  *out_options = "";
  return RDL_CL_ORDER_NONE;
}

/* A kernel that stays and looks for news would use up its turns by that alone. */
static rdl_cl_shared derive_shared(const rdl_report *report) {
  if (!rdl__report_is(report, "loop_budget", "none")) return RDL_CL_SHARED_NONE;
  if (rdl__report_is(report, "shared", "svm")) return RDL_CL_SHARED_SVM;
  return rdl__report_is(report, "shared", "mapped") ? RDL_CL_SHARED_MAPPED : RDL_CL_SHARED_NONE;
}

static void derive_clock(const rdl_report *report, rdl_cl_abilities *out) {
  out->clock_hz = rdl__report_number(report, "clock_hz", 0);
  if (rdl__report_is(report, "clock", "cycles")) out->clock = RDL_CL_CLOCK_CYCLES;
  if (rdl__report_is(report, "clock", "timer")) out->clock = RDL_CL_CLOCK_TIMER;
  if (!out->clock_hz) out->clock = RDL_CL_CLOCK_NONE;
  if (!out->clock) out->clock_hz = 0;
}

static rdl_cl_address derive_addresses(const rdl_report *report) {
  if (!rdl__report_is(report, "addresses", "stable")) return RDL_CL_ADDRESS_NONE;
  return rdl__report_is(report, "addresses_free", "usable") ? RDL_CL_ADDRESS_FREE
                                                            : RDL_CL_ADDRESS_BOUND;
}

/* "1 8 64": the local sizes in a list. */
static uint32_t derive_lanes(const rdl_report *report) {
  const char *at = rdl__report_find(report, "barrier_lanes");
  uint32_t lanes = 0;
  while (at && *at >= '0' && *at <= '9') {
    char *end;
    unsigned long size = strtoul(at, &end, 10);
    for (uint32_t i = 0; i < RDL_CL_LANES; i++)
      if (rdl__cl_lanes[i] == size) lanes |= 1u << i;
    at = end + strspn(end, " ");
  }
  return lanes;
}

/* The least that the standard lets a device claim. */
#define CAREFUL_ALLOCATION ((uint64_t)128 << 20)

/* The claim, unless it was tried and refused. */
static uint64_t derive_allocation(const rdl_report *report, uint64_t claimed) {
  const char *text = rdl__report_find(report, "max_allocation");
  uint64_t found = rdl__report_number(report, "max_allocation", 0);
  if (!found) return claimed < CAREFUL_ALLOCATION ? claimed : CAREFUL_ALLOCATION;
  return strstr(text, "refused") ? found : claimed;
}

static uint32_t number32(const rdl_report *report, const char *name, uint32_t otherwise) {
  uint64_t number = rdl__report_number(report, name, otherwise);
  return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* A device whose loops could not be counted has the smallest budget that is known. */
#define CAREFUL_BUDGET 65535u

void rdl__derive(const rdl_report *report, uint64_t claimed_allocation, rdl_cl_abilities *out) {
  const char *order = NULL;
  memset(out, 0, sizeof *out);
  out->order = rdl__derive_order(report, &order);
  derive_clock(report, out);
  if (out->clock)
    (void)snprintf(out->options, sizeof out->options, "%s -DRDL_CLOCK=%d", order, (int)out->clock);
  else
    rdl__copy_text(out->options, sizeof out->options, order);
  if (out->order == RDL_CL_ORDER_NONE) out->options[0] = '\0';
  out->shared = derive_shared(report);
  out->resident_groups = number32(report, "resident_groups", 1);
  out->resident_groups_32 = number32(report, "resident_groups_32", 1);
  out->loop_budget = rdl__report_is(report, "loop_budget", "none")
                         ? 0
                         : number32(report, "loop_budget", CAREFUL_BUDGET);
  out->switch_cases = number32(report, "switch_cases", 0);
  out->nesting = number32(report, "nesting", 0);
  out->resume_points = (uint32_t)rdl__report_is(report, "resume_points", "right");
  out->atomics32 = (uint32_t)rdl__report_is(report, "atomics32", "exact");
  out->atomics64 = (uint32_t)rdl__report_is(report, "atomics64", "exact");
  out->addresses = derive_addresses(report);
  out->max_allocation = derive_allocation(report, claimed_allocation);
  out->lanes = derive_lanes(report);
  out->same_layout = (uint32_t)rdl__report_is(report, "layout", "same");
  out->struct_copies = (uint32_t)rdl__report_is(report, "struct_copy", "right");
  out->word_copies = (uint32_t)rdl__report_is(report, "word_copy", "right");
}
