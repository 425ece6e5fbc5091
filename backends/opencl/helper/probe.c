/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the probes of a device, one after the other, and notes what each one found before the next
 * begins: the driver may end this process at any of them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/opencl/helper/verbs.h"
#include "backends/opencl/probe_jobs.h"
#include "backends/opencl/probe_list.h"

static int note_begin(const rdl_cl_probe *probe) {
  char text[64];
  int length = snprintf(text, sizeof text, RDL_PROBE_BEGINS "%s", probe->name);
  return rdl__cl_send_note(text, (size_t)length);
}

static int note_rows(const rdl_report *report, size_t first) {
  for (size_t i = first; i < report->count; i++) {
    char line[RDL_REPORT_LINE];
    if (!rdl__cl_send_note(line, rdl__report_line(&report->rows[i], line))) return 0;
  }
  return 1;
}

/* A driver that hangs takes this process with it, and the next one goes on behind this probe. */
static int run_probe(rdl_cl_bench *bench, const rdl_cl_probe *probe) {
  size_t before = bench->report->count;
  if (!note_begin(probe)) return 0;
  (void)alarm(probe->seconds);
  rdl__cl_before_probe(probe->name);
  rdl__probe_run(bench, probe);
  (void)alarm(0);
  return note_rows(bench->report, before);
}

static rdl_status reopen(rdl_cl_bench *bench) {
  const rdl_cl *cl = bench->cl;
  cl_device_id id = bench->id;
  rdl_report *report = bench->report;
  rdl__bench_close(bench);
  return rdl__bench_open(bench, cl, id, report);
}

/* What one probe broke is not there for the next. */
static rdl_status run_probes(rdl_cl_bench *bench, size_t first) {
  rdl_status status = RDL_OK;
  for (size_t i = first; i < rdl__probe_count && status == RDL_OK; i++) {
    if (!run_probe(bench, &rdl__probes[i])) return RDL_IO;
    if (bench->why.text[0]) status = reopen(bench);
  }
  return status;
}

rdl_status rdl__cl_do_probe(const rdl_cl *cl, cl_device_id device, rdl_parcel_reader *request,
                            rdl_parcel *answer, rdl_reason *why) {
  static rdl_report report;
  static rdl_cl_bench bench;
  size_t length;
  uint64_t first = rdl__parcel_take_number(request);
  const char *rows = rdl__parcel_take(request, &length);
  rdl_status status;
  (void)answer; /* the notes are the answer */
  rdl__report_read(&report, rows, length);
  status = rdl__bench_open(&bench, cl, device, &report);
  if (status == RDL_OK) status = run_probes(&bench, (size_t)first);
  if (status != RDL_OK) *why = bench.why;
  rdl__bench_close(&bench);
  return status;
}
