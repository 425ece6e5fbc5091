/* SPDX-License-Identifier: Apache-2.0 */
/* A work-group is a worker, and each of its work-items a lane. No callbacks and no user events:
 * drivers get those wrong. What has been launched is asked for, or waited for. */
#include <sched.h>
#include <time.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/status.h"
#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

/* A launch without work is over in 10 to 20 us, and the shortest sleep takes 75 us: so the
 * processor is first only offered to others. */
#define YIELD_NS          20000u
#define SHORTEST_SLEEP_NS 20000u
#define LONGEST_SLEEP_NS  1000000u

static rdl_status set_buffer(rdl_backend_device *device, cl_kernel kernel, const void *heap,
                             rdl_reason *why) {
  cl_mem buffer = rdl__cl_block_of(heap)->buffer;
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the handle itself is passed */
  return RDL_CL(why, device->cl->clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
}

static rdl_status set_arguments(rdl_backend_device *device, cl_kernel kernel, void *heap,
                                uint32_t purpose, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  const cl_uint wide_purpose = purpose;
  rdl_status status = device->epoch ? set_buffer(device, kernel, heap, why)
                                    : RDL_CL(why, cl->clSetKernelArgSVMPointer(kernel, 0, heap));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clSetKernelArg(kernel, 1, sizeof wide_purpose, &wide_purpose));
  return status;
}

static rdl_status enqueue(rdl_backend_device *device, cl_kernel kernel, uint32_t workers,
                          cl_event *event, rdl_reason *why) {
  const size_t local = device->lanes, global = workers * local;
  return RDL_CL(why, device->cl->clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global,
                                                        &local, 0, NULL, event));
}

/* On a loop-limited device: scheduler and segments in turn, as often as a worker may run a segment.
 * Each kernel begins with all its turns. */
static rdl_status start_steps(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                              uint32_t workers, rdl_reason *why) {
  const rdl_control *control = heap;
  uint32_t left = control->segment_limit ? control->segment_limit : 1u;
  rdl_status status = set_arguments(device, image->kernel, heap, RDL_LAUNCH_RUN, why);
  for (; left && status == RDL_OK; left--) {
    status = enqueue(device, image->kernel, workers, NULL, why);
    if (status == RDL_OK)
      status = enqueue(device, image->segments, workers, left > 1u ? NULL : &device->launch, why);
  }
  return status;
}

static rdl_status start(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                        uint32_t purpose, uint32_t workers, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  int steps = image->segments && purpose == RDL_LAUNCH_RUN;
  cl_kernel kernel;
  rdl_status status;
  if (!workers || workers > device->workers)
    return rdl__fail(RDL_INVALID, why, "A launch has 1 to %u workers here, not %u.",
                     (unsigned)device->workers, (unsigned)workers);
  if (device->launch) return rdl__fail(RDL_BUSY, why, "The launch before this one has not ended.");
  if (image->svm_changes != device->svm_changes) {
    status = rdl__cl_tell_svm(device, image, why);
    if (status != RDL_OK) return status;
  }
  kernel = image->segments ? image->segments : image->kernel; /* which may be new by now */
  status = set_arguments(device, kernel, heap, purpose, why);
  if (status == RDL_OK)
    status = steps ? start_steps(device, image, heap, workers, why)
                   : enqueue(device, kernel, workers, &device->launch, why);
  device->launched_ns = rdl__now_ns();
  /* Without a flush some drivers start nothing until somebody waits. */
  if (status == RDL_OK) status = RDL_CL(why, cl->clFlush(device->queue));
  return status;
}

rdl_status rdl__cl_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                          uint32_t purpose, uint32_t workers, rdl_reason *why) {
  rdl_status status;
  if (device->epoch) (void)pthread_mutex_lock(device->apart);
  status = start(device, image, heap, purpose, workers, why);
  if (device->epoch) (void)pthread_mutex_unlock(device->apart);
  return status;
}

/* RDL_TIMEOUT while the launch runs; it is forgotten when it has ended, well or badly. */
static rdl_status look(rdl_backend_device *device, rdl_reason *why) {
  cl_int state = CL_QUEUED;
  rdl_status status =
      RDL_CL(why, device->cl->clGetEventInfo(device->launch, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof state, &state, NULL));
  if (status == RDL_OK && state > CL_COMPLETE) return RDL_TIMEOUT;
  if (status == RDL_OK && state < 0)
    status = rdl__fail(RDL_DEVICE_LOST, why,
                       "The device ended a launch with %s (%d). Open a new context.",
                       rdl__cl_name(state), (int)state);
  (void)device->cl->clReleaseEvent(device->launch);
  device->launch = NULL;
  return status;
}

static void pass_time(uint64_t lasted_ns, uint64_t ns) {
  struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  if (lasted_ns < YIELD_NS)
    (void)sched_yield();
  else
    (void)nanosleep(&pause, NULL);
}

rdl_status rdl__cl_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why) {
  uint64_t start = rdl__now_ns();
  uint64_t deadline = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
  uint64_t pause = SHORTEST_SLEEP_NS;
  rdl_status status;
  if (!device->launch) return RDL_OK;
  /* Its result says nothing that the event does not say. */
  if (timeout_ns == UINT64_MAX) (void)device->cl->clWaitForEvents(1, &device->launch);
  while ((status = look(device, why)) == RDL_TIMEOUT) {
    uint64_t now = rdl__now_ns();
    if (!timeout_ns || now >= deadline)
      return rdl__fail(RDL_TIMEOUT, why, "The launch has not ended yet.");
    uint64_t lasted = now - device->launched_ns;
    pass_time(lasted, pause < deadline - now ? pause : deadline - now);
    if (lasted >= YIELD_NS) pause = pause * 2 < LONGEST_SLEEP_NS ? pause * 2 : LONGEST_SLEEP_NS;
  }
  return status;
}
