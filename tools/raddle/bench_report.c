/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements are told as: JSON, one object a line, and a table for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/raddle/bench.h"
#include "tools/raddle/command.h"

static FILE *json_file;
static bool table = true;
static bool headed;

bool bench_report_open(const char *json) {
  if (!json) return true;
  table = strcmp(json, "-") != 0;
  json_file = table ? fopen(json, "w") : stdout;
  return json_file != NULL;
}

bool bench_report_close(void) {
  bool good = fflush(stdout) == 0;
  if (json_file && json_file != stdout && fclose(json_file) != 0) good = false;
  json_file = NULL;
  return good;
}

static int compare_values(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bench_spread bench_spread_of(double *values, uint32_t count) {
  if (!count) return (bench_spread){0, 0, 0};
  qsort(values, count, sizeof *values, compare_values);
  double middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
  return (bench_spread){middle, values[0], values[count - 1]};
}

static double ratio_of(const bench_line *line) {
  return line->ours.median > 0 ? line->theirs.median / line->ours.median : 0;
}

static void put_json(FILE *file, const bench_line *line) {
  fprintf(file, "{\"shape\": \"%s\", \"device\": ", line->shape->name);
  command_print_json(file, line->device);
  fprintf(file, ", \"workers\": %u, \"n\": %u, \"ns_per_future\": %.3f", line->workers,
          line->futures, line->ours.median);
  fprintf(file, ", \"ns_min\": %.3f, \"ns_max\": %.3f, \"suspended\": %.0f", line->ours.least,
          line->ours.most, line->suspended);
  if (line->since_signal > 0) fprintf(file, ", \"ns_since_signal\": %.3f", line->since_signal);
  if (line->p50 > 0) fprintf(file, ", \"p50_ns\": %.1f, \"p99_ns\": %.1f", line->p50, line->p99);
  if (line->n) fprintf(file, ", \"size\": %u", line->n);
  if (line->record_bytes)
    fprintf(file, ", \"bytes_per_future\": %u, \"frame_bytes\": %u", line->record_bytes,
            line->frame_bytes);
  fprintf(file, ", \"peer\": ");
  if (!line->peer) {
    fprintf(file, "null, \"peer_ns\": null, \"ratio\": null}\n");
    return;
  }
  command_print_json(file, line->peer);
  fprintf(file, ", \"peer_ns\": %.3f, \"peer_min\": %.3f, \"peer_max\": %.3f, \"ratio\": %.3f}\n",
          line->theirs.median, line->theirs.least, line->theirs.most, ratio_of(line));
}

static void put_extras(const bench_line *line) {
  if (line->n) printf("  (n is %u: %u futures)", line->n, line->futures);
  if (line->since_signal > 0) printf("  (%.1f ns since the signal)", line->since_signal);
  if (line->p50 > 0) printf("  (p50 %.1f, p99 %.1f ns)", line->p50, line->p99);
  if (line->record_bytes)
    printf("  (%u bytes a future, %u of frame)", line->record_bytes, line->frame_bytes);
}

/* A GPU's figures are below a nanosecond. */
static void put_ns(double ns) {
  printf(" %10.*f", ns < 10 ? 3 : 1, ns);
}

static void put_row(const bench_line *line) {
  if (!headed)
    printf("%-10s %-14s %2s %10s %10s %10s %9s  %-13s %10s %7s\n", "shape", "device", "w", "ns",
           "min", "max", "suspended", "peer", "peer ns", "ratio");
  headed = true;
  printf("%-10s %-14s %2u", line->shape->name, line->device, line->workers);
  put_ns(line->ours.median);
  put_ns(line->ours.least);
  put_ns(line->ours.most);
  printf(" %9.0f", line->suspended);
  if (line->peer) {
    printf("  %-13s", line->peer);
    put_ns(line->theirs.median);
    printf(" %7.2f", ratio_of(line));
  }
  put_extras(line);
  printf("\n");
  fflush(stdout);
}

void bench_report_line(const bench_line *line) {
  if (json_file) put_json(json_file, line);
  if (table) put_row(line);
}
