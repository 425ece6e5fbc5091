/* SPDX-License-Identifier: Apache-2.0 */
/* From the table of what probes found to what the backend acts on. */
#ifndef RDL_OPENCL_PROBE_DERIVE_H
#define RDL_OPENCL_PROBE_DERIVE_H

#include "backends/common/report.h"
#include "backends/opencl/probe.h"

/* The ways to hand over, strongest first. `row` is the name of the probe's row. */
typedef struct rdl_order_form {
  const char *row;
  const char *options;
  rdl_cl_order order;
  uint32_t nvidia; /* tried on NVIDIA's devices only: other compilers do not survive it */
} rdl_order_form;

#define RDL_ORDER_FORMS 4u
extern const rdl_order_form rdl__order_forms[RDL_ORDER_FORMS];

/* The strongest that was right, and its options for the compiler. */
rdl_cl_order rdl__derive_order(const rdl_report *report, const char **out_options);

/* Everything; `claimed_allocation` is the driver's word for the largest. */
void rdl__derive(const rdl_report *report, uint64_t claimed_allocation, rdl_cl_abilities *out);

#endif
