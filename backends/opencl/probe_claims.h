/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RDL_OPENCL_PROBE_CLAIMS_H
#define RDL_OPENCL_PROBE_CLAIMS_H

#include "backends/common/report.h"
#include "backends/opencl/device.h"

/* Adds what the driver claims of a device. No kernel is run. */
void rdl__cl_claims(const rdl_cl *cl, cl_device_id id, rdl_report *report);

#endif
