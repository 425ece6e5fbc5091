/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA context to work in: the one that the program gives, else the one that is current in the
 * thread that opens the device, if it is of that device, else the primary one, which is also the
 * CUDA runtime's. None is made. So what the program allocates is memory of the same context.
 *
 * A primary context that nobody else had asked for is kept until the process ends: when its last
 * count goes, the driver takes it down, and that and making it anew take a third of a second. What
 * the program gives, or has made current, is the program's, and nothing of it is kept.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* The device of the current context; -1 without one. */
static rdl_cu_device current_device(const rdl_cu *cu) {
  rdl_cu_device id = -1;
  return cu->cuCtxGetDevice(&id) == 0 ? id : -1;
}

/* ---- primary contexts that are kept ---- */

#define MOST_DEVICES 64

/* One count of the driver's stands behind `context`, however many open devices work in it. */
typedef struct kept {
  rdl_cu_context context; /* NULL = none is held */
  uint32_t users;         /* open devices */
  int is_dead;            /* no call works in it any more: it goes with its last user */
} kept;

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static kept all_kept[MOST_DEVICES];
static pid_t keeper; /* the process whose they are */

/* What is kept of the device, and the lock is held then; NULL for one beyond the table. A child of
 * fork has neither its parent's contexts nor their counts: it begins with none, and is told what
 * the driver says to it. */
static kept *lock_kept(const rdl_backend_device *device) {
  pid_t self = getpid();
  if (device->id < 0 || device->id >= MOST_DEVICES) return NULL;
  (void)pthread_mutex_lock(&kept_lock);
  if (keeper != self) memset(all_kept, 0, sizeof all_kept);
  keeper = self;
  return &all_kept[device->id];
}

static void unlock_kept(void) {
  (void)pthread_mutex_unlock(&kept_lock);
}

static void let_go(rdl_backend_device *device, kept *k) {
  (void)device->cu->cuDevicePrimaryCtxRelease(device->id);
  *k = (kept){.context = NULL};
}

/* Nobody holds the primary context; or somebody does, and the program has reset it. */
static int is_inactive(const rdl_backend_device *device) {
  unsigned flags = 0;
  int is_active = 1;
  (void)device->cu->cuDevicePrimaryCtxGetState(device->id, &flags, &is_active);
  return !is_active;
}

/* One count for this device alone. */
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

/* The lock is held. The count becomes that of the process. */
static rdl_status share(rdl_backend_device *device, kept *k, rdl_reason *why) {
  if (k->context && !k->users && is_inactive(device)) let_go(device, k);
  device->found = k->context != NULL;
  if (!k->context) {
    rdl_status status = retain(device, why);
    if (status != RDL_OK) return status;
    k->context = device->context;
    device->retained = 0;
  }
  device->context = k->context;
  device->shares = 1;
  k->users++;
  return RDL_OK;
}

static rdl_status share_kept(rdl_backend_device *device, rdl_reason *why) {
  kept *k = lock_kept(device);
  rdl_status status;
  if (!k) return retain(device, why);
  status = share(device, k, why);
  unlock_kept();
  return status;
}

static void leave_kept(rdl_backend_device *device) {
  kept *k = device->shares ? lock_kept(device) : NULL;
  device->shares = 0;
  if (!k) return;
  if (k->users && k->context == device->context) {
    k->is_dead |= __atomic_load_n(&device->lost, __ATOMIC_RELAXED) != 0;
    if (--k->users == 0 && k->is_dead) let_go(device, k);
  }
  unlock_kept();
}

int rdl__cu_renew(rdl_backend_device *device) {
  kept *k = device->shares && device->found ? lock_kept(device) : NULL;
  int is_alone;
  if (!k) return 0;
  is_alone = k->users == 1;
  k->is_dead |= is_alone;
  unlock_kept();
  return is_alone;
}

/* ---- which one it is ---- */

/* 1 = it is the kept one, 0 = it is another, -1 = none is kept. */
static int is_kept(const rdl_backend_device *device, rdl_cu_context context) {
  const kept *k = lock_kept(device);
  int found = -1;
  if (!k) return -1;
  if (k->context) found = k->context == context;
  unlock_kept();
  return found;
}

/* A context of the program's lives as long as the program says, and is not counted. The primary one
 * is held as long as the device is open, for then it outlives whoever made it. */
static rdl_status adopt(rdl_backend_device *device, rdl_cu_context context, rdl_reason *why) {
  int kept_one = is_kept(device, context);
  if (kept_one > 0) return share_kept(device, why);
  if (kept_one < 0 && !is_inactive(device)) {
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
  return share_kept(device, why);
}

void rdl__cu_disconnect(rdl_backend_device *device) {
  leave_kept(device);
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
