/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor under any scheduler that lives in one resident PoCL kernel: a fixed list of tasks,
 * taken by a counter, that spins until the tasks before have run. Nothing is created, nothing
 * suspends.
 *
 * PoCL gives each of its threads one block of groups, so there are as many groups as threads.
 */
#include "floor.cl.h"
#include "opencl.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

enum {
  CELLS = PEER_INDEP, /* the largest shape */
  LINE_WORDS = 32,    /* keeps two words that both sides write on different cache lines */
};
static const cl_uint spin_bound = 2000000000; /* some seconds */

static struct opencl cl;

static void open_pocl(int workers) {
  cl = opencl_open(workers, floor_source, CELLS);
}

static void close_pocl(void) {
  opencl_close(&cl);
}

/* Memory that the host and a running kernel share. Zeroed. */
static cl_uint *share_words(size_t count) {
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
  cl_uint *words = clSVMAlloc(cl.context, flags, count * sizeof *words, 0);
  if (!words) peer_fail("PoCL has no shared memory");
  memset(words, 0, count * sizeof *words);
  return words;
}

static void start_groups(cl_kernel kernel, int groups) {
  const size_t one = 1;
  size_t all = (size_t)groups;
  CL_EXPECT(clEnqueueNDRangeKernel(cl.queue, kernel, 1, NULL, &all, &one, 0, NULL, NULL));
  CL_EXPECT(clFlush(cl.queue));
}

/* Runs the whole list of one shape; the caller frees the cells. */
static uint32_t *run_list(struct peer_round *round, const char *name, cl_uint count) {
  cl_uint *done = share_words(count);
  cl_uint *next = share_words(LINE_WORDS);
  cl_kernel kernel = opencl_kernel(&cl, name);
  opencl_clear(&cl);
  CL_EXPECT(clSetKernelArg(kernel, 0, sizeof(cl_mem), &cl.cells));
  CL_EXPECT(clSetKernelArgSVMPointer(kernel, 1, done));
  CL_EXPECT(clSetKernelArgSVMPointer(kernel, 2, next));
  CL_EXPECT(clSetKernelArg(kernel, 3, sizeof count, &count));
  uint64_t start = peer_now();
  start_groups(kernel, round->workers);
  CL_EXPECT(clFinish(cl.queue));
  round->ns = peer_now() - start;
  round->suspended = 0;
  clReleaseKernel(kernel);
  clSVMFree(cl.context, next);
  clSVMFree(cl.context, done);
  return opencl_read(&cl, CELLS);
}

static void indep(struct peer_round *round) {
  uint32_t *cells = run_list(round, "indep", PEER_INDEP);
  peer_check_indep(round, cells);
  free(cells);
}

static void chain(struct peer_round *round) {
  uint32_t *cells = run_list(round, "chain", PEER_CHAIN);
  peer_check_chain(round, cells);
  free(cells);
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = run_list(round, "wavefront", PEER_CELLS);
  peer_check_wavefront(round, cells);
  free(cells);
}

static void fan(struct peer_round *round) {
  uint32_t *cells = run_list(round, "fan", PEER_FAN_TASKS + PEER_FAN_ROUNDS);
  peer_check_fan(round, cells);
  free(cells);
}

/* Starts the kernel of two words, each on its own cache line. */
static cl_uint *start_pair(const char *name, int groups, cl_uint count) {
  cl_uint *words = share_words(2UL * LINE_WORDS);
  cl_kernel kernel = opencl_kernel(&cl, name);
  CL_EXPECT(clSetKernelArgSVMPointer(kernel, 0, words));
  CL_EXPECT(clSetKernelArgSVMPointer(kernel, 1, words + LINE_WORDS));
  CL_EXPECT(clSetKernelArg(kernel, 2, sizeof count, &count));
  CL_EXPECT(clSetKernelArg(kernel, 3, sizeof spin_bound, &spin_bound));
  start_groups(kernel, groups);
  clReleaseKernel(kernel);
  return words;
}

static void pingpong(struct peer_round *round) {
  uint64_t start = peer_now();
  cl_uint *words = start_pair("pingpong", 2, PEER_HANDOVERS);
  CL_EXPECT(clFinish(cl.queue));
  round->ns = peer_now() - start;
  round->suspended = 0;
  peer_check_pingpong(round, words[LINE_WORDS]);
  clSVMFree(cl.context, words);
}

/* Sends one request and waits for its answer. */
static bool ask(cl_uint *words, cl_uint request) {
  __atomic_store_n(words, request, __ATOMIC_RELEASE);
  for (cl_uint spins = 0; spins < spin_bound; spins++)
    if (__atomic_load_n(words + LINE_WORDS, __ATOMIC_ACQUIRE) == request) return true;
  return false;
}

/* The first request waits for the kernel to start, so it comes before the measured ones. */
static void roundtrip(struct peer_round *round) {
  long answers = 0;
  cl_uint *words = start_pair("roundtrip", 1, PEER_ROUNDTRIPS + 1);
  bool running = ask(words, 1);
  uint64_t start = peer_now();
  for (cl_uint k = 0; running && k < PEER_ROUNDTRIPS; k++) {
    running = ask(words, k + 2);
    answers += running;
  }
  round->ns = peer_now() - start;
  round->suspended = 0;
  CL_EXPECT(clFinish(cl.queue));
  peer_check_roundtrip(round, answers);
  clSVMFree(cl.context, words);
}

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .run = chain},
    {.name = "wavefront", .run = wavefront},
    {.name = "fib", .why_not = "a fixed list cannot hold tasks that are spawned while it runs"},
    {.name = "tree", .why_not = "a fixed list cannot hold tasks that are spawned while it runs"},
    {.name = "pingpong",
     .run = pingpong,
     .min_workers = 2,
     .why_not = "two groups that spin for each other need two workers"},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {
      .name = "floor", .shapes = shapes, .open = open_pocl, .close = close_pocl};
  return peer_main(argc, argv, &peer);
}
