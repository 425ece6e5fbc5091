/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device, and for the host a copy of which no page exists before it is touched. A
 * window is locked pages of the host's, which kernels reach over the bus while they run. */
#include <string.h>
#include <sys/mman.h>

#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* A whole page keeps what is behind it aligned. */
#define FRONT 4096u

rdl_cu_block *rdl__cu_block_of(const void *memory) {
  return (rdl_cu_block *)(void *)((unsigned char *)(uintptr_t)memory - FRONT);
}

rdl_status rdl__cu_block_map(size_t bytes, rdl_cu_address address, void **out_memory,
                             rdl_reason *why) {
  size_t whole = bytes + FRONT;
  rdl_cu_block *made =
      mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The host has no memory for a copy of %zu bytes.",
                     bytes);
  *made = (rdl_cu_block){.whole = whole, .address = address};
  *out_memory = (unsigned char *)made + FRONT;
  return RDL_OK;
}

void rdl__cu_block_unmap(void *memory) {
  rdl_cu_block *old = rdl__cu_block_of(memory);
  (void)munmap(old, old->whole);
}

static rdl_status make(rdl_backend_device *device, size_t bytes, void **out_memory,
                       rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_address address = 0;
  rdl_status status = RDL_CU(cu, &device->lost, why, cu->cuMemAlloc(&address, bytes ? bytes : 1u));
  if (status != RDL_OK) return status;
  status = RDL_CU(cu, &device->lost, why,
                  cu->cuMemsetD8Async(address, 0, bytes ? bytes : 1u, device->beside));
  if (status == RDL_OK)
    status = RDL_CU(cu, &device->lost, why, cu->cuStreamSynchronize(device->beside));
  if (status == RDL_OK) status = rdl__cu_block_map(bytes, address, out_memory, why);
  if (status != RDL_OK) (void)cu->cuMemFree(address);
  return status;
}

rdl_status rdl__cu_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                            rdl_reason *why) {
  rdl_status status;
  if (bytes > device->max_allocation)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The device has %llu bytes of memory, and not %zu.",
                     (unsigned long long)device->max_allocation, bytes);
  status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status = make(device, bytes, out_memory, why);
  rdl__cu_leave(device);
  return status;
}

/* ---- windows ---- */

static rdl_status make_window(rdl_backend_device *device, size_t whole, void **out_memory,
                              rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_address address = 0;
  void *made = NULL;
  rdl_status status =
      RDL_CU(cu, &device->lost, why,
             cu->cuMemHostAlloc(&made, whole,
                                RDL_CU_MEMHOSTALLOC_PORTABLE | RDL_CU_MEMHOSTALLOC_DEVICEMAP));
  if (status != RDL_OK) return status;
  status = RDL_CU(cu, &device->lost, why, cu->cuMemHostGetDevicePointer(&address, made, 0));
  if (status != RDL_OK) {
    (void)cu->cuMemFreeHost(made);
    return status;
  }
  memset(made, 0, whole);
  *(rdl_cu_block *)made =
      (rdl_cu_block){.whole = whole, .address = address + FRONT, .is_window = 1};
  *out_memory = (unsigned char *)made + FRONT;
  return RDL_OK;
}

rdl_status rdl__cu_allocate_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                                   rdl_reason *why) {
  rdl_status status;
  if (bytes > SIZE_MAX - FRONT)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The host has no %zu bytes for a window.", bytes);
  status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status = make_window(device, bytes + FRONT, out_memory, why);
  rdl__cu_leave(device);
  return status;
}

/* ---- both ---- */

/* A window goes with its front. Should the context not be there any more the driver has freed it,
 * or keeps it. */
static void free_within(rdl_backend_device *device, void *memory) {
  rdl_cu_block *old = rdl__cu_block_of(memory);
  if (!rdl__cu_enter_to_free(device)) return;
  if (old->is_window)
    (void)device->cu->cuMemFreeHost(old);
  else
    (void)device->cu->cuMemFree(old->address);
  rdl__cu_leave(device);
}

void rdl__cu_release(rdl_backend_device *device, void *memory) {
  int is_window;
  if (!memory) return;
  is_window = rdl__cu_block_of(memory)->is_window;
  free_within(device, memory);
  if (!is_window) rdl__cu_block_unmap(memory);
}

uint64_t rdl__cu_address_of(rdl_backend_device *device, const void *memory) {
  (void)device;
  return rdl__cu_block_of(memory)->address;
}
