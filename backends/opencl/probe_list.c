/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/probe_list.h"

#include <string.h>

const rdl_cl_probe rdl__probes[] = {
#define RDL_CL_PROBE(name, seconds) {#name, rdl__probe_##name, seconds},
#include "backends/opencl/probes.def"
#undef RDL_CL_PROBE
};
const size_t rdl__probe_count = sizeof rdl__probes / sizeof rdl__probes[0];

void rdl__probe_run(rdl_cl_bench *bench, const rdl_cl_probe *probe) {
  rdl__reason_clear(&bench->why);
  if (probe->run(bench) != RDL_OK)
    rdl__report_add(bench->report, 1, probe->name, "failed (%s)", bench->why.text);
}
