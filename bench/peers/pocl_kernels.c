/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One PoCL kernel a task: what OpenCL itself offers. Each launch sets the task's number, and events
 * order the launches of an out-of-order queue.
 */
#include "opencl.h"
#include "peer.h"
#include "pocl_kernels.cl.h"

#include <stdlib.h>

enum { CELLS = PEER_INDEP }; /* the largest shape */

static struct opencl cl;
static cl_command_queue unordered;
static cl_command_queue sides[2]; /* one for each side of the hand-over */

static void open_pocl(int workers) {
  cl = opencl_open(workers, pocl_kernels_source, CELLS);
  unordered = opencl_queue(&cl, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (int i = 0; i < 2; i++)
    sides[i] = opencl_queue(&cl, 0);
}

static void close_pocl(void) {
  clReleaseCommandQueue(unordered);
  for (int i = 0; i < 2; i++)
    clReleaseCommandQueue(sides[i]);
  opencl_close(&cl);
}

/* A kernel whose first argument, the cells, is set. */
static cl_kernel create_kernel(const char *name) {
  cl_kernel kernel = opencl_kernel(&cl, name);
  CL_EXPECT(clSetKernelArg(kernel, 0, sizeof(cl_mem), &cl.cells));
  return kernel;
}

/* One task, after `count` events. */
static void launch(cl_command_queue queue, cl_kernel kernel, long number, cl_uint count,
                   const cl_event *before, cl_event *out_done) {
  const size_t one = 1;
  cl_uint i = (cl_uint)number;
  CL_EXPECT(clSetKernelArg(kernel, 1, sizeof i, &i));
  CL_EXPECT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, count, count ? before : NULL,
                                   out_done));
}

/* One task after the one whose event is *last, which it replaces by its own. */
static void launch_next(cl_command_queue queue, cl_kernel kernel, long number, cl_event *last) {
  cl_event before = *last;
  launch(queue, kernel, number, before ? 1 : 0, &before, last);
  if (before) clReleaseEvent(before);
}

static void release_events(cl_event *events, long count) {
  for (long i = 0; i < count; i++)
    clReleaseEvent(events[i]);
}

static void indep(struct peer_round *round) {
  cl_kernel kernel = create_kernel("indep");
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_INDEP; i++)
    launch(unordered, kernel, i, 0, NULL, NULL);
  CL_EXPECT(clFinish(unordered));
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, PEER_INDEP);
  peer_check_indep(round, cells);
  free(cells);
  clReleaseKernel(kernel);
}

static void chain(struct peer_round *round) {
  cl_kernel kernel = create_kernel("chain");
  cl_event last = NULL;
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_CHAIN; i++)
    launch_next(unordered, kernel, i, &last);
  CL_EXPECT(clFinish(unordered));
  clReleaseEvent(last);
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, PEER_CHAIN);
  peer_check_chain(round, cells);
  free(cells);
  clReleaseKernel(kernel);
}

static void wavefront(struct peer_round *round) {
  cl_kernel kernel = create_kernel("wavefront");
  cl_event *done = peer_alloc(PEER_CELLS, sizeof(cl_event));
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_CELLS; i++) {
    cl_event before[2];
    cl_uint count = 0;
    if (i >= PEER_SIDE) before[count++] = done[i - PEER_SIDE];
    if (i % PEER_SIDE) before[count++] = done[i - 1];
    launch(unordered, kernel, i, count, before, &done[i]);
  }
  CL_EXPECT(clFinish(unordered));
  release_events(done, PEER_CELLS);
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, PEER_CELLS);
  peer_check_wavefront(round, cells);
  free(cells);
  free(done);
  clReleaseKernel(kernel);
}

/* A kernel cannot wait for another one, so each hand-over is a kernel of its own, and two in-order
   queues take turns. They are flushed now and then, so that the work starts before the end. */
static void pingpong(struct peer_round *round) {
  enum { BETWEEN_FLUSHES = 256 };
  cl_kernel kernel = create_kernel("increment");
  cl_event last = NULL;
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long k = 1; k <= 2L * PEER_HANDOVERS; k++) {
    launch_next(sides[k % 2], kernel, 0, &last);
    if (k % BETWEEN_FLUSHES && k < 2L * PEER_HANDOVERS) continue;
    CL_EXPECT(clFlush(sides[0]));
    CL_EXPECT(clFlush(sides[1]));
  }
  CL_EXPECT(clWaitForEvents(1, &last));
  clReleaseEvent(last);
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, 1);
  peer_check_pingpong(round, cells[0]);
  free(cells);
  clReleaseKernel(kernel);
}

static void fan(struct peer_round *round) {
  cl_kernel task = create_kernel("fan");
  cl_kernel join = create_kernel("join");
  cl_event *done = peer_alloc(PEER_FAN_WIDTH, sizeof(cl_event));
  cl_event joined = NULL;
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
    for (long i = 0; i < PEER_FAN_WIDTH; i++)
      launch(unordered, task, r * PEER_FAN_WIDTH + i, joined ? 1 : 0, &joined, &done[i]);
    if (joined) clReleaseEvent(joined);
    launch(unordered, join, r, PEER_FAN_WIDTH, done, &joined);
    release_events(done, PEER_FAN_WIDTH);
  }
  CL_EXPECT(clFinish(unordered));
  clReleaseEvent(joined);
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, PEER_FAN_CELLS);
  peer_check_fan(round, cells);
  free(cells);
  free(done);
  clReleaseKernel(join);
  clReleaseKernel(task);
}

static void roundtrip(struct peer_round *round) {
  cl_kernel kernel = create_kernel("increment");
  opencl_clear(&cl);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
    launch(cl.queue, kernel, 0, 0, NULL, NULL);
    CL_EXPECT(clFinish(cl.queue));
  }
  round->ns = peer_now() - start;
  uint32_t *cells = opencl_read(&cl, 1);
  peer_check_roundtrip(round, cells[0]);
  free(cells);
  clReleaseKernel(kernel);
}

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .run = chain},
    {.name = "wavefront", .run = wavefront},
    {.name = "fib", .why_not = "PoCL cannot launch kernels from a kernel"},
    {.name = "tree", .why_not = "PoCL cannot launch kernels from a kernel"},
    {.name = "pingpong", .run = pingpong},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {
      .name = "pocl-kernels", .shapes = shapes, .open = open_pocl, .close = close_pocl};
  return peer_main(argc, argv, &peer);
}
