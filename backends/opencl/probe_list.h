/* SPDX-License-Identifier: Apache-2.0 */
/* The probes, as functions, and as one run over all of them. */
#ifndef RDL_OPENCL_PROBE_LIST_H
#define RDL_OPENCL_PROBE_LIST_H

#include "backends/opencl/probe_bench.h"

/* Each adds its rows to bench->report, or fails with bench->why. */
#define RDL_CL_PROBE(name, seconds) rdl_status rdl__probe_##name(rdl_cl_bench *bench);
#include "backends/opencl/probes.def"
#undef RDL_CL_PROBE

typedef struct rdl_cl_probe {
  const char *name;
  rdl_status (*run)(rdl_cl_bench *bench);
  uint32_t seconds;
} rdl_cl_probe;

extern const rdl_cl_probe rdl__probes[];
extern const size_t rdl__probe_count;

/* Runs one, and adds a row that says why when it fails. */
void rdl__probe_run(rdl_cl_bench *bench, const rdl_cl_probe *probe);

#endif
