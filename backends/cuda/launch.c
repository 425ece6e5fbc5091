/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp is a worker. The launch is cooperative, for then all blocks are there together or it is
 * refused; it is asked for, never waited for, because the driver's own waiting keeps a core busy.
 */
#include <sched.h>
#include <time.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* A launch without work is over in 10 us, and the shortest sleep takes 60 us or so: the processor
 * is first only offered to others. */
#define YIELD_NS          50000u
#define SHORTEST_SLEEP_NS 20000u
#define LONGEST_SLEEP_NS  250000u

static rdl_status start(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                        uint32_t purpose, uint32_t workers, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_address address = rdl__cu_address_of(device, heap);
  void *parameters[] = {&address, &purpose};
  unsigned blocks = (workers + RDL_CU_WARPS - 1u) / RDL_CU_WARPS;
  rdl_status status;
  __atomic_store_n(&device->launched, 1u, __ATOMIC_RELAXED);
  status =
      RDL_CU(cu, &device->lost, why,
             cu->cuLaunchCooperativeKernel(image->kernel, blocks, 1, 1, RDL_CU_LANES * RDL_CU_WARPS,
                                           1, 1, image->shared_bytes, device->stream, parameters));
  if (status != RDL_OK) __atomic_store_n(&device->launched, 0u, __ATOMIC_RELAXED);
  device->launched_ns = rdl__now_ns();
  return status;
}

rdl_status rdl__cu_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                          uint32_t purpose, uint32_t workers, rdl_reason *why) {
  rdl_status status;
  if (!workers || workers > device->workers)
    return rdl__fail(RDL_INVALID, why, "A launch has 1 to %u workers here, not %u.",
                     (unsigned)device->workers, (unsigned)workers);
  if (__atomic_load_n(&device->launched, __ATOMIC_RELAXED))
    return rdl__fail(RDL_BUSY, why, "The launch before this one has not ended.");
  status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status = start(device, image, heap, purpose, workers, why);
  rdl__cu_leave(device);
  return status;
}

/* RDL_TIMEOUT while the launch runs; it is forgotten when it has ended, well or badly. */
static rdl_status look(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_result code = cu->cuStreamQuery(device->stream);
  if (code == RDL_CUDA_NOT_READY) return RDL_TIMEOUT;
  __atomic_store_n(&device->launched, 0u, __ATOMIC_RELAXED);
  return rdl__cu_check(cu, &device->lost, code, "a launch", why);
}

static void pass_time(uint64_t lasted_ns, uint64_t ns) {
  struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  if (lasted_ns < YIELD_NS)
    (void)sched_yield();
  else
    (void)nanosleep(&pause, NULL);
}

static rdl_status wait_for(rdl_backend_device *device, uint64_t deadline, rdl_reason *why) {
  uint64_t pause = SHORTEST_SLEEP_NS;
  rdl_status status;
  while ((status = look(device, why)) == RDL_TIMEOUT) {
    uint64_t now = rdl__now_ns();
    if (now >= deadline) return rdl__fail(RDL_TIMEOUT, why, "The launch has not ended yet.");
    uint64_t lasted = now - device->launched_ns;
    pass_time(lasted, pause < deadline - now ? pause : deadline - now);
    if (lasted >= YIELD_NS) pause = pause * 2 < LONGEST_SLEEP_NS ? pause * 2 : LONGEST_SLEEP_NS;
  }
  return status;
}

rdl_status rdl__cu_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why) {
  rdl_status status;
  if (!__atomic_load_n(&device->launched, __ATOMIC_RELAXED)) return RDL_OK;
  status = rdl__cu_enter(device, why);
  if (status != RDL_OK) {
    /* Whatever ran has ended with the device. */
    __atomic_store_n(&device->launched, 0u, __ATOMIC_RELAXED);
    return status;
  }
  status = wait_for(device, timeout_ns ? rdl__deadline_ns(timeout_ns) : 0, why);
  rdl__cu_leave(device);
  return status;
}
