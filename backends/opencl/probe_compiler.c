/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of what compilers get wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/probe.h"
#include "backends/opencl/probe_list.h"

#define PLAIN "-cl-std=CL1.2"

/* Makes a kernel of an embedded text, and runs it once. */
static rdl_status run_once(rdl_cl_bench *bench, const char *options, const char *first,
                           const char *name, const rdl_bench_launch *launch, size_t words) {
  cl_kernel kernel = NULL;
  rdl_status status = rdl__bench_kernel(bench, options, first, name, &kernel);
  if (status != RDL_OK) return status;
  status = rdl__bench_run(bench, kernel, launch, words);
  (void)bench->cl->clReleaseKernel(kernel);
  return status;
}

/* ---- turns of loops ---- */

#define TURNS       200000u
#define INNER_TURNS 200u

static rdl_status count_turns(rdl_cl_bench *bench, const char *name, uint32_t *out_turns) {
  rdl_bench_launch launch = {.a = TURNS, .b = INNER_TURNS, .groups = 1, .local = 1};
  rdl_status status;
  bench->host[0] = 1;
  status = run_once(bench, PLAIN, NULL, name, &launch, 2);
  *out_turns = bench->host[1];
  return status;
}

/* The inner loop's turns are counted, and the outer's use up the budget, too: so the single loop
 * tells the budget, and the nested one only whether there is one. */
rdl_status rdl__probe_loop_budget(rdl_cl_bench *bench) {
  uint32_t single = 0, nested = 0;
  rdl_status status = count_turns(bench, "loop.cl", &single);
  if (status == RDL_OK) status = count_turns(bench, "loops.cl", &nested);
  if (status != RDL_OK) return status;
  if (single == TURNS && nested == TURNS)
    rdl__report_add(bench->report, 1, "loop_budget", "none");
  else
    rdl__report_add(bench->report, 1, "loop_budget", "%u",
                    (unsigned)(single < TURNS ? single : nested));
  return RDL_OK;
}

/* ---- switch and nesting ---- */

#define MOST_CASES    320u
#define CASE_TEXT     96u
#define ANSWERS       512u  /* where results lie in the words */
#define CASE_OPERANDS 1024u /* one word a case, its number */

typedef char *write_cases(char *to, uint32_t cases);

/* No two cases do the same, and what they do is not a constant: no table can take their place. */
static char *write_switch(char *to, uint32_t cases) {
  to += sprintf(to, "  switch (words[i]) {\n");
  for (uint32_t k = 0; k < cases; k++)
    to += sprintf(to, "  case %uu: r = operands[%u] * %uu + 7u; break;\n", (unsigned)k, (unsigned)k,
                  (unsigned)(k + 3));
  return to + sprintf(to, "  }\n");
}

/* Each condition reads a word of its own, so the compiler cannot make a switch of them. Without
 * braces, of which clang nests no more than 256. */
static char *write_nest(char *to, uint32_t cases) {
  for (uint32_t k = 0; k < cases; k++)
    to += sprintf(to, "  %sif (operands[%u] == words[i]) r = operands[%u] * %uu + 7u;\n",
                  k ? "else " : "", (unsigned)k, (unsigned)k, (unsigned)(k + 3));
  return to;
}

static char *case_text(write_cases *write, uint32_t cases) {
  char *text = malloc((size_t)cases * CASE_TEXT + 512);
  char *to = text;
  if (!text) return NULL;
  to += sprintf(to,
                "__kernel void probe(__global uint *words, uint a, uint b) {\n"
                "  volatile __global uint *operands = words + %u;\n"
                "  uint i = (uint)get_global_id(0), r = 5u;\n",
                CASE_OPERANDS);
  to = write(to, cases);
  (void)sprintf(to, "  words[%uu + i] = r;\n}\n", ANSWERS);
  return text;
}

static rdl_status run_cases(rdl_cl_bench *bench, const char *text, uint32_t cases,
                            uint32_t *out_right) {
  rdl_bench_launch launch = {.groups = cases, .local = 1};
  cl_kernel kernel = NULL;
  rdl_status status = rdl__bench_kernel_of(bench, PLAIN, text, &kernel);
  if (status != RDL_OK) return status;
  memset(bench->host, 0, (CASE_OPERANDS + MOST_CASES) * sizeof bench->host[0]);
  for (uint32_t k = 0; k < cases; k++)
    bench->host[k] = bench->host[CASE_OPERANDS + k] = k;
  status = rdl__bench_run(bench, kernel, &launch, CASE_OPERANDS + MOST_CASES);
  (void)bench->cl->clReleaseKernel(kernel);
  for (*out_right = 0; *out_right < cases; (*out_right)++)
    if (bench->host[ANSWERS + *out_right] != *out_right * (*out_right + 3) + 7) break;
  return status;
}

/* RDL_COMPILE: so many are too many for the compiler. */
static rdl_status try_cases(rdl_cl_bench *bench, write_cases *write, uint32_t cases,
                            uint32_t *most) {
  char *text = case_text(write, cases);
  uint32_t right = 0;
  rdl_status status;
  if (!text) return rdl__fail(RDL_OUT_OF_MEMORY, &bench->why, "No memory is left for a text.");
  status = run_cases(bench, text, cases, &right);
  free(text);
  if (status == RDL_OK && right > *most) *most = right;
  return status;
}

/* Up to how many cases all are right: the first wrong one tells. Where loops have a limit cases
 * have one, too, and the compiler takes seconds for many: few come first there. Elsewhere many do;
 * and fewer follow where the compiler refuses. */
static rdl_status probe_cases(rdl_cl_bench *bench, const char *row, write_cases *write) {
  static const uint32_t rising[] = {64, 96, 128, MOST_CASES}, falling[] = {MOST_CASES, 128, 96, 64};
  const int limited = !rdl__report_is(bench->report, "loop_budget", "none");
  uint32_t most = 0;
  for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
    uint32_t cases = limited ? rising[i] : falling[i];
    rdl_status status = try_cases(bench, write, cases, &most);
    if (status != RDL_OK && status != RDL_COMPILE) return status;
    if (limited ? most < cases : status == RDL_OK && most >= 64) break;
  }
  rdl__report_add(bench->report, 1, row, "%u", (unsigned)most);
  return RDL_OK;
}

rdl_status rdl__probe_switch_cases(rdl_cl_bench *bench) {
  return probe_cases(bench, "switch_cases", write_switch);
}

rdl_status rdl__probe_nesting(rdl_cl_bench *bench) {
  return probe_cases(bench, "nesting", write_nest);
}

typedef uint32_t rdl_u32;
typedef uint64_t rdl_u64;

/* ---- loops with several ways in ---- */

#define RESUME_GLOBAL
#define RESUME_VARIANT words[5]
#include "backends/opencl/probes/resume.h"

#define RESUME_OPTIONS PLAIN " -Drdl_u32=uint -DRESUME_GLOBAL=__global -DRESUME_VARIANT=%uu"
#define RESUME_WORDS   6u
#define RESUME_STEPS   48u

/* A compiler that is wrong need not be so each time: Mesa 22.3 got one text right in 5 of 25
 * compilations. */
#define RESUME_VARIANTS 8u

/* Segment by segment, until the task is over; sets `*out_right` to 0 at the first that differs. */
static rdl_status compare_segments(rdl_cl_bench *bench, cl_kernel kernel, uint32_t variant,
                                   uint32_t seed, uint32_t *out_right) {
  rdl_bench_launch launch = {.groups = 1, .local = 1};
  uint32_t here[RESUME_WORDS] = {0, 0, 0, seed, 0, variant};
  rdl_status status = RDL_OK;
  memcpy(bench->host, here, sizeof here);
  for (uint32_t k = 0; k < RESUME_STEPS && *out_right && here[0] != RESUME_OVER; k++) {
    here[4] = resume_segment(here);
    status = rdl__bench_run(bench, kernel, &launch, RESUME_WORDS);
    if (status != RDL_OK) return status;
    *out_right = memcmp(bench->host, here, sizeof here) == 0;
  }
  return status;
}

static rdl_status compare_variant(rdl_cl_bench *bench, uint32_t variant, uint32_t *out_right) {
  char options[160];
  cl_kernel kernel = NULL;
  rdl_status status;
  (void)snprintf(options, sizeof options, RESUME_OPTIONS, (unsigned)variant);
  status = rdl__bench_kernel(bench, options, "resume.h", "resume.cl", &kernel);
  if (status != RDL_OK) return status;
  for (uint32_t seed = 0; seed < 4 && *out_right && status == RDL_OK; seed++)
    status = compare_segments(bench, kernel, variant, seed, out_right);
  (void)bench->cl->clReleaseKernel(kernel);
  return status;
}

rdl_status rdl__probe_resume_points(rdl_cl_bench *bench) {
  uint32_t right = 1;
  rdl_status status = RDL_OK;
  for (uint32_t k = 0; k < RESUME_VARIANTS && right && status == RDL_OK; k++)
    status = compare_variant(bench, k, &right);
  if (status == RDL_OK)
    rdl__report_add(bench->report, 1, "resume_points", right ? "right" : "wrong");
  return status;
}

/* ---- structures ---- */

#define LAYOUT_TYPES PLAIN " -Drdl_u32=uint -Drdl_u64=ulong"
#include "backends/opencl/probes/layout.h"

rdl_status rdl__probe_layout(rdl_cl_bench *bench) {
  static const struct {
    const char *member;
    uint32_t size, place;
  } here[] = {
#define ROW(type, member) {#type "." #member, sizeof(type), offsetof(type, member)},
      LAYOUTS(ROW)
#undef ROW
  };
  const size_t count = sizeof here / sizeof here[0];
  rdl_bench_launch launch = {.groups = 1, .local = 1};
  rdl_status status = run_once(bench, LAYOUT_TYPES, "layout.h", "layout.cl", &launch, 2 * count);
  if (status != RDL_OK) return status;
  for (size_t i = 0; i < count; i++) {
    const uint32_t *there = &bench->host[2 * i];
    if (there[0] == here[i].size && there[1] == here[i].place) continue;
    rdl__report_add(bench->report, 1, "layout", "differs (%s: at %u of %u, not %u of %u)",
                    here[i].member, (unsigned)there[1], (unsigned)there[0], (unsigned)here[i].place,
                    (unsigned)here[i].size);
    return RDL_OK;
  }
  rdl__report_add(bench->report, 1, "layout", "same");
  return RDL_OK;
}

/* As in word_copy.cl and struct_copy.cl. */
union frame {
  struct {
    uint32_t a;
    uint32_t b[4];
    uint64_t c;
    uint32_t d;
  } s;
  uint32_t w[10];
};

#define FRAME_WORDS 10u
#define PAIR_FROM   28u
#define PAIR_TO     32u
#define COPY_WORDS  64u
#define CHANGE      0x80000001u

static rdl_status probe_copy(rdl_cl_bench *bench, const char *row, const char *text) {
  rdl_bench_launch launch = {.a = CHANGE, .b = 2, .groups = 1, .local = 1};
  union frame f = {.s = {11, {22, 33, 44, 55}, 0x123456789abcdefu, 66}};
  rdl_status status;
  memset(bench->host, 0, COPY_WORDS * sizeof bench->host[0]);
  memcpy(bench->host, &f, sizeof f);
  bench->host[PAIR_FROM] = 77;
  bench->host[PAIR_FROM + 1] = 88;
  status = run_once(bench, PLAIN, NULL, text, &launch, COPY_WORDS);
  if (status != RDL_OK) return status;
  f.s.a += CHANGE;
  f.s.b[f.s.a & 3u] += CHANGE;
  f.s.d += 1;
  f.s.c += CHANGE;
  f.s.d ^= CHANGE;
  for (uint32_t k = 0; k < FRAME_WORDS; k++) {
    if (k == offsetof(union frame, s.c) / 4 - 1) continue; /* padding before c */
    if (k == FRAME_WORDS - 1) continue;                    /* padding behind d */
    if (bench->host[16 + k] == f.w[k]) continue;
    rdl__report_add(bench->report, 1, row, "wrong (word %u is %08x, not %08x)", (unsigned)k,
                    (unsigned)bench->host[16 + k], (unsigned)f.w[k]);
    return RDL_OK;
  }
  if (bench->host[PAIR_TO] == 77 + CHANGE && bench->host[PAIR_TO + 1] == 88)
    rdl__report_add(bench->report, 1, row, "right");
  else
    rdl__report_add(bench->report, 1, row, "wrong (a pair is %08x %08x)",
                    (unsigned)bench->host[PAIR_TO], (unsigned)bench->host[PAIR_TO + 1]);
  return RDL_OK;
}

rdl_status rdl__probe_word_copy(rdl_cl_bench *bench) {
  return probe_copy(bench, "word_copy", "word_copy.cl");
}

rdl_status rdl__probe_struct_copy(rdl_cl_bench *bench) {
  return probe_copy(bench, "struct_copy", "struct_copy.cl");
}

/* ---- barriers ---- */

#define BARRIER_TURNS  20u
#define BARRIER_GROUPS 3u

/* Sums of the loop in which the leader hands out turn * factor + group. */
static uint32_t sum_of(uint32_t factor, uint32_t group, uint32_t lane) {
  return factor * (BARRIER_TURNS * (BARRIER_TURNS - 1) / 2) + BARRIER_TURNS * (group + lane);
}

static int barriers_are_right(const rdl_cl_bench *bench, uint32_t local) {
  for (uint32_t i = 0; i < BARRIER_GROUPS * local; i++) {
    const uint32_t *sums = &bench->host[(size_t)4 * i];
    uint32_t group = i / local, lane = i % local;
    if (sums[0] != sum_of(3, group, lane) || sums[1] != sum_of(5, group, lane) ||
        sums[2] != sum_of(7, group, lane) || sums[3] != 3 * BARRIER_TURNS)
      return 0;
  }
  return 1;
}

rdl_status rdl__probe_barrier_lanes(rdl_cl_bench *bench) {
  uint64_t most = rdl__cl_number(bench->cl, bench->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  char right[64] = "";
  size_t used = 0;
  cl_kernel kernel = NULL;
  rdl_status status = rdl__bench_kernel(bench, PLAIN, NULL, "barrier.cl", &kernel);
  if (status != RDL_OK) return status;
  for (uint32_t i = 0; i < RDL_CL_LANES && rdl__cl_lanes[i] <= most; i++) {
    uint32_t local = rdl__cl_lanes[i];
    rdl_bench_launch launch = {.a = BARRIER_TURNS, .groups = BARRIER_GROUPS, .local = local};
    if (rdl__bench_run_zeroed(bench, kernel, &launch, (size_t)4 * BARRIER_GROUPS * local) != RDL_OK)
      continue; /* refused: not a size to use */
    if (barriers_are_right(bench, local))
      used += (size_t)snprintf(right + used, sizeof right - used, "%s%u", used ? " " : "",
                               (unsigned)local);
  }
  (void)bench->cl->clReleaseKernel(kernel);
  rdl__report_add(bench->report, 1, "barrier_lanes", "%s", used ? right : "none");
  return RDL_OK;
}
