/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA context to work in: the one that the program gives, else the one that is current in the
 * thread that opens the device, if it is of that device, else the primary one, which is also the
 * CUDA runtime's. None is made. So what the program allocates is memory of the same context.
 */
#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* The device of the current context; -1 without one. */
static rdl_cu_device current_device(const rdl_cu *cu) {
  rdl_cu_device id = -1;
  return cu->cuCtxGetDevice(&id) == 0 ? id : -1;
}

static rdl_status retain(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_status status =
      RDL_CU(cu, NULL, why, cu->cuDevicePrimaryCtxRetain(&device->context, device->id));
  device->retained = status == RDL_OK;
  return status;
}

static void release(rdl_backend_device *device) {
  if (device->retained) (void)device->cu->cuDevicePrimaryCtxRelease(device->id);
  device->retained = 0;
}

/* A context of the program's lives as long as the program says. The primary one is held, for then
 * it outlives whoever made it. */
static rdl_status adopt(rdl_backend_device *device, rdl_cu_context context, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  unsigned flags = 0;
  int is_active = 0;
  (void)cu->cuDevicePrimaryCtxGetState(device->id, &flags, &is_active);
  if (is_active) {
    rdl_status status = retain(device, why);
    if (status != RDL_OK || device->context == context) return status;
    release(device);
  }
  device->context = context;
  return RDL_OK;
}

static rdl_status adopt_given(rdl_backend_device *device, rdl_cu_context context, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_context popped;
  rdl_cu_device id;
  rdl_status status = RDL_CU(cu, NULL, why, cu->cuCtxPushCurrent(context));
  if (status != RDL_OK) return status;
  id = current_device(cu);
  (void)cu->cuCtxPopCurrent(&popped);
  if (id != device->id)
    return rdl__fail(RDL_INVALID, why,
                     "The CUcontext in native_context is not one of %s: open the device that it "
                     "was made for.",
                     device->name);
  return adopt(device, context, why);
}

rdl_status rdl__cu_connect(rdl_backend_device *device, void *native, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_context current = NULL;
  if (native) return adopt_given(device, native, why);
  if (cu->cuCtxGetCurrent(&current) == 0 && current && current_device(cu) == device->id)
    return adopt(device, current, why);
  return retain(device, why);
}

void rdl__cu_disconnect(rdl_backend_device *device) {
  release(device);
  device->context = NULL;
}

rdl_status rdl__cu_enter(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  int lost = __atomic_load_n(&device->lost, __ATOMIC_RELAXED);
  if (lost) return rdl__cu_is_lost(cu, lost, why);
  return RDL_CU(cu, &device->lost, why, cu->cuCtxPushCurrent(device->context));
}

int rdl__cu_enter_to_free(rdl_backend_device *device) {
  return device->context && device->cu->cuCtxPushCurrent(device->context) == 0;
}

void rdl__cu_leave(rdl_backend_device *device) {
  rdl_cu_context popped;
  (void)device->cu->cuCtxPopCurrent(&popped);
}
