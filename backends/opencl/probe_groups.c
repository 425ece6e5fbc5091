/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of what runs at the same time: work-groups beside each other, and the host beside them. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/common/clock.h"
#include "backends/opencl/probe_derive.h"
#include "backends/opencl/probe_list.h"
#include "backends/opencl/status.h"

/* ---- order ---- */

/* As in order.cl. */
#define RACES         256u
#define PAIRS         16u
#define PLACES        (64u + 32u * PAIRS)
#define RESULTS       (PLACES + 32u * RACES * PAIRS)
#define ORDER_WORDS   (RESULTS + 2u * RACES * PAIRS)
#define KINDS         3u
#define ORDER_REPEATS 3u

_Static_assert(ORDER_WORDS <= RDL_BENCH_WORDS, "the races fit into the buffer");

static const char *const kind_names[KINDS] = {"message passing", "store buffer", "load buffer"};

/* What both sides of one place saw that no order allows. */
static int is_forbidden(uint32_t kind, uint32_t first, uint32_t second) {
  if (kind == 0) return second == 1; /* the flag, and not the data */
  if (kind == 1) return !first && !second;
  return first && second;
}

static uint32_t count_forbidden(const rdl_cl_bench *bench, uint32_t kind) {
  uint32_t count = 0;
  for (uint32_t place = 0; place < RACES * PAIRS; place++)
    if (is_forbidden(kind, bench->host[RESULTS + 2 * place], bench->host[RESULTS + 2 * place + 1]))
      count++;
  return count;
}

static rdl_status race(rdl_cl_bench *bench, cl_kernel kernel, const rdl_order_form *form) {
  for (uint32_t i = 0; i < KINDS * ORDER_REPEATS; i++) {
    uint32_t kind = i % KINDS, forbidden;
    rdl_bench_launch launch = {.a = kind, .b = PAIRS, .groups = (size_t)2 * PAIRS, .local = 1};
    rdl_status status = rdl__bench_run_zeroed(bench, kernel, &launch, ORDER_WORDS);
    if (status != RDL_OK) return status;
    forbidden = count_forbidden(bench, kind);
    if (!forbidden) continue;
    rdl__report_add(bench->report, 1, form->row, "wrong (%s: %u of %u)", kind_names[kind],
                    (unsigned)forbidden, RACES * PAIRS);
    return RDL_OK;
  }
  rdl__report_add(bench->report, 1, form->row, "right (%s)", form->options);
  return RDL_OK;
}

/* Races can refute an order and never prove it: the strongest that stands is taken, and what is
 * weaker is not tried then. */
static rdl_status try_order(rdl_cl_bench *bench, const rdl_order_form *form) {
  const char *options;
  cl_kernel kernel = NULL;
  rdl_status status;
  if (rdl__derive_order(bench->report, &options) != RDL_CL_ORDER_NONE) return RDL_OK;
  if (form->nvidia && !rdl__bench_is_nvidia(bench)) return RDL_OK;
  status = rdl__bench_kernel(bench, form->options, "dialect.h", "order.cl", &kernel);
  if (status == RDL_COMPILE) {
    rdl__report_add(bench->report, 1, form->row, "none (%s does not compile)", form->options);
    return RDL_OK;
  }
  if (status == RDL_OK) status = race(bench, kernel, form);
  if (kernel) (void)bench->cl->clReleaseKernel(kernel);
  return status;
}

rdl_status rdl__probe_order_c11_cl30(rdl_cl_bench *bench) {
  return try_order(bench, &rdl__order_forms[0]);
}

rdl_status rdl__probe_order_c11_cl20(rdl_cl_bench *bench) {
  return try_order(bench, &rdl__order_forms[1]);
}

rdl_status rdl__probe_order_ptx(rdl_cl_bench *bench) {
  return try_order(bench, &rdl__order_forms[2]);
}

rdl_status rdl__probe_order_mem_fence(rdl_cl_bench *bench) {
  return try_order(bench, &rdl__order_forms[3]);
}

/* ---- work-groups at the same time ---- */

/* Threads of a CPU device that has more of them than the machine has cores take turns: everyone
 * must have been there before the first gives up. */
#define LONG_PATIENCE_NS 400000000u
#define PATIENCE_NS      50000000u
#define MOST_GROUPS      8192u
#define SAW              64u /* where meet.cl puts what each saw */

static rdl_status meet_once(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                            uint32_t *most) {
  rdl_status status = rdl__bench_run_zeroed(bench, kernel, launch, SAW + launch->groups);
  if (status != RDL_OK) return status;
  for (size_t i = 0; i < launch->groups; i++)
    if (bench->host[SAW + i] > *most) *most = bench->host[SAW + i];
  return RDL_OK;
}

/* A busy machine may keep a group away, and never lets one more in: so the most of several launches
 * is what counts. Where a loop budget ends the waiting early there is time for more of them. */
static rdl_status meet(rdl_cl_bench *bench, cl_kernel kernel, const rdl_bench_launch *launch,
                       uint64_t patience_ns, uint32_t *most) {
  uint64_t until = rdl__deadline_ns(patience_ns);
  rdl_status status = meet_once(bench, kernel, launch, most);
  while (status == RDL_OK && *most < launch->groups && rdl__now_ns() < until)
    status = meet_once(bench, kernel, launch, most);
  return status;
}

/* As many groups as there are compute units, which are likely to come and get time to. Then one
 * more, and twice as many until some do not come: nobody waits long for those, for they most likely
 * never will. */
static rdl_status count_resident(rdl_cl_bench *bench, cl_kernel kernel, size_t local,
                                 uint32_t *out_most) {
  rdl_bench_launch launch = {.a = 2, .groups = 1, .local = local};
  uint64_t units = rdl__cl_number(bench->cl, bench->id, CL_DEVICE_MAX_COMPUTE_UNITS);
  uint64_t patience_ns = LONG_PATIENCE_NS;
  size_t groups = units < MOST_GROUPS ? (size_t)units : MOST_GROUPS;
  rdl_status status = RDL_OK;
  *out_most = 1;
  while (status == RDL_OK && groups <= MOST_GROUPS) {
    launch.groups = 1;
    launch.a = 2;
    launch.b = rdl__bench_turns_for(bench, kernel, launch, patience_ns);
    launch.groups = launch.a = (uint32_t)groups;
    status = meet(bench, kernel, &launch, patience_ns, out_most);
    if (*out_most < groups) break;
    groups = groups == units ? groups + 1 : 2 * groups;
    patience_ns = PATIENCE_NS;
  }
  return status;
}

rdl_status rdl__probe_resident_groups(rdl_cl_bench *bench) {
  cl_kernel kernel = NULL;
  uint32_t narrow = 1, wide = 1;
  rdl_status status =
      rdl__bench_kernel(bench, rdl__bench_options(bench), "dialect.h", "meet.cl", &kernel);
  if (status != RDL_OK) return status;
  status = count_resident(bench, kernel, 1, &narrow);
  if (status == RDL_OK) status = count_resident(bench, kernel, 32, &wide);
  (void)bench->cl->clReleaseKernel(kernel);
  if (status != RDL_OK) return status;
  rdl__report_add(bench->report, 1, "resident_groups", "%u", (unsigned)narrow);
  rdl__report_add(bench->report, 1, "resident_groups_32", "%u", (unsigned)wide);
  return RDL_OK;
}

/* ---- host and running kernel ---- */

#define ECHO_ROUNDS   8u
#define ECHO_LAUNCHES 8u
#define ECHO_GOOD     3u
#define ECHO_NS       300000000u
#define ECHO_WORDS    64u

/* As in echo.cl. */
enum { SAYS = 0, ANSWERS = 16, IS_HERE = 32 };

/* Memory that both sides use while the kernel runs. */
typedef struct meeting {
  uint32_t *words;
  cl_mem buffer; /* NULL = shared virtual memory */
  void *svm;
} meeting;

static int wait_for(const uint32_t *word, uint32_t value, uint64_t until_ns) {
  const _Atomic uint32_t *seen = (const _Atomic uint32_t *)word;
  while (atomic_load_explicit(seen, memory_order_acquire) != value) {
    if (rdl__now_ns() > until_ns) return 0;
    (void)sched_yield();
  }
  return 1;
}

/* How many of the host's numbers came back while the kernel ran. */
static uint32_t talk(uint32_t *words) {
  uint64_t until = rdl__now_ns() + ECHO_NS;
  uint32_t round = 0;
  if (!wait_for(&words[IS_HERE], 1, until)) return 0;
  while (round < ECHO_ROUNDS) {
    atomic_store_explicit((_Atomic uint32_t *)&words[SAYS], round + 1, memory_order_release);
    if (!wait_for(&words[ANSWERS], round + 1, until)) break;
    round++;
  }
  return round;
}

static rdl_status set_memory(rdl_cl_bench *bench, cl_kernel kernel, const meeting *place) {
  if (place->svm)
    return RDL_CL(&bench->why, bench->cl->clSetKernelArgSVMPointer(kernel, 0, place->svm));
  return RDL_CL(&bench->why, bench->cl->clSetKernelArg(kernel, 0, sizeof(cl_mem), &place->buffer));
}

static rdl_status echo_once(rdl_cl_bench *bench, cl_kernel kernel, const meeting *place,
                            const rdl_bench_launch *launch, uint32_t *out_rounds) {
  rdl_status status = set_memory(bench, kernel, place);
  *out_rounds = 0;
  memset(place->words, 0, ECHO_WORDS * sizeof place->words[0]);
  if (status == RDL_OK) status = rdl__bench_start(bench, kernel, launch, NULL);
  if (status != RDL_OK) return status;
  *out_rounds = talk(place->words);
  return RDL_CL(&bench->why, bench->cl->clFinish(bench->queue));
}

/* As many turns as take ECHO_NS with this memory, of which some tools check every use. Nobody talks
 * to the kernel meanwhile. */
static rdl_status choose_turns(rdl_cl_bench *bench, cl_kernel kernel, const meeting *place,
                               rdl_bench_launch *launch) {
  uint64_t least = UINT64_MAX;
  double turns;
  rdl_status status;
  launch->b = rdl__bench_turns_for(bench, kernel, *launch, ECHO_NS / 100);
  status = set_memory(bench, kernel, place);
  memset(place->words, 0, ECHO_WORDS * sizeof place->words[0]);
  for (int i = 0; i < 3 && status == RDL_OK; i++) { /* a busy machine lengthens some */
    uint64_t start = rdl__now_ns();
    status = rdl__bench_start(bench, kernel, launch, NULL);
    if (status == RDL_OK) status = RDL_CL(&bench->why, bench->cl->clFinish(bench->queue));
    if (rdl__now_ns() - start < least) least = rdl__now_ns() - start;
  }
  if (least < ECHO_NS / 100) least = ECHO_NS / 100;
  turns = (double)launch->b * ECHO_NS / (double)least;
  launch->b = turns < rdl__bench_most_turns(bench) ? (uint32_t)turns : rdl__bench_most_turns(bench);
  return status;
}

/* One launch that works may be chance, and one that does not may have been held up: so some must,
 * of more. No more are tried where not a single number came back. */
static rdl_status echo(rdl_cl_bench *bench, cl_kernel kernel, const meeting *place) {
  const char *by = place->svm ? "svm" : "mapped";
  rdl_bench_launch launch = {.a = UINT32_MAX, .groups = 1, .local = 1};
  uint32_t launches = 0, good = 0, answered = 0;
  rdl_status status = choose_turns(bench, kernel, place, &launch);
  launch.a = ECHO_ROUNDS;
  if (status != RDL_OK) return status;
  while (launches < ECHO_LAUNCHES && good < ECHO_GOOD && (answered || launches < 4)) {
    uint32_t rounds = 0;
    status = echo_once(bench, kernel, place, &launch, &rounds);
    if (status != RDL_OK) return status;
    launches++;
    good += rounds == ECHO_ROUNDS;
    answered += rounds;
  }
  if (good == ECHO_GOOD)
    rdl__report_add(bench->report, 1, "shared", "%s", by);
  else
    rdl__report_add(bench->report, 1, "shared", "none (%s: %u of %u numbers came back)", by,
                    (unsigned)answered, (unsigned)(launches * ECHO_ROUNDS));
  return status;
}

static rdl_status echo_in_svm(rdl_cl_bench *bench, cl_kernel kernel, uint64_t svm) {
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
  meeting place = {.buffer = NULL};
  rdl_status status;
  if (svm & CL_DEVICE_SVM_ATOMICS) flags |= CL_MEM_SVM_ATOMICS;
  place.svm = bench->cl->clSVMAlloc(bench->context, flags, ECHO_WORDS * sizeof(uint32_t), 64);
  if (!place.svm)
    return rdl__fail(RDL_OUT_OF_MEMORY, &bench->why, "clSVMAlloc gave no fine-grained memory.");
  place.words = place.svm;
  status = echo(bench, kernel, &place);
  bench->cl->clSVMFree(bench->context, place.svm);
  return status;
}

static rdl_status echo_in_mapped(rdl_cl_bench *bench, cl_kernel kernel) {
  const rdl_cl *cl = bench->cl;
  const size_t bytes = ECHO_WORDS * sizeof(uint32_t);
  cl_int code = CL_SUCCESS;
  meeting place = {.svm = NULL};
  rdl_status status =
      RDL_CL_MAKE(&bench->why, code, place.buffer,
                  cl->clCreateBuffer(bench->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                     bytes, NULL, &code));
  if (status != RDL_OK) return status;
  status = RDL_CL_MAKE(&bench->why, code, place.words,
                       cl->clEnqueueMapBuffer(bench->queue, place.buffer, CL_TRUE,
                                              CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL,
                                              &code));
  if (status == RDL_OK) {
    status = echo(bench, kernel, &place);
    (void)cl->clEnqueueUnmapMemObject(bench->queue, place.buffer, place.words, 0, NULL, NULL);
    (void)cl->clFinish(bench->queue);
  }
  (void)cl->clReleaseMemObject(place.buffer);
  return status;
}

rdl_status rdl__probe_shared(rdl_cl_bench *bench) {
  uint64_t svm = rdl__cl_number(bench->cl, bench->id, CL_DEVICE_SVM_CAPABILITIES);
  cl_kernel kernel = NULL;
  rdl_status status =
      rdl__bench_kernel(bench, rdl__bench_options(bench), "dialect.h", "echo.cl", &kernel);
  if (status != RDL_OK) return status;
  if (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) status = echo_in_svm(bench, kernel, svm);
  if (status == RDL_OK && !rdl__report_is(bench->report, "shared", "svm"))
    status = echo_in_mapped(bench, kernel);
  (void)bench->cl->clReleaseKernel(kernel);
  return status;
}
