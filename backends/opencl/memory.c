/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory, zeroed. OpenCL does not zero it, and a heap is large: where pages can be
 * had fresh from the system they are not touched. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/status.h"

#define ALIGNMENT 64u

/* From here on it is worth asking for fresh pages instead of writing zeros. */
#define LARGE ((size_t)1 << 20)

/*
 * A CPU device's memory comes from malloc in this process: private pages, which the system replaces
 * by zeros when they are given up. Were they anything else (shared, locked), giving them up fails
 * or leaves them as they are, and the marks in the first and the last page would show it. Returns 1
 * when all whole pages of the block read as zero.
 */
static int renew_pages(unsigned char *first, size_t bytes) {
  volatile unsigned char *marks[2] = {first, first + bytes - 1};
  *marks[0] = 1;
  *marks[1] = 1;
  if (madvise(first, bytes, MADV_DONTNEED) != 0) return 0;
  return *marks[0] == 0 && *marks[1] == 0;
}

static void zero_cpu_memory(unsigned char *memory, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t front = (page - (size_t)((uintptr_t)memory % page)) % page;
  size_t whole = bytes > front ? (bytes - front) / page * page : 0;
  if (bytes < LARGE || !whole || !renew_pages(memory + front, whole)) {
    memset(memory, 0, bytes);
    return;
  }
  memset(memory, 0, front);
  memset(memory + front + whole, 0, bytes - front - whole);
}

static rdl_status zero_device_memory(rdl_backend_device *device, void *memory, size_t bytes,
                                     rdl_reason *why) {
  const cl_uchar zero = 0;
  rdl_status status = RDL_CL(
      why, device->cl->clEnqueueSVMMemFill(device->queue, memory, &zero, 1, bytes, 0, NULL, NULL));
  return status != RDL_OK ? status : RDL_CL(why, device->cl->clFinish(device->queue));
}

rdl_status rdl__cl_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                            rdl_reason *why) {
  rdl_status status = RDL_OK;
  void *memory = NULL;
  if (device->epoch) return rdl__cl_apart_allocate(device, bytes, out_memory, why);
  if (bytes <= device->max_allocation)
    memory = device->cl->clSVMAlloc(device->context, CL_MEM_READ_WRITE | device->svm_flags,
                                    bytes ? bytes : 1, ALIGNMENT);
  if (!memory)
    return rdl__fail(RDL_OUT_OF_MEMORY, why,
                     "clSVMAlloc gave no memory for %zu bytes; the device says that it gives up to "
                     "%llu at once.",
                     bytes, (unsigned long long)device->max_allocation);
  if (device->is_cpu)
    zero_cpu_memory(memory, bytes);
  else
    status = zero_device_memory(device, memory, bytes, why);
  if (status == RDL_OK)
    *out_memory = memory;
  else
    device->cl->clSVMFree(device->context, memory);
  return status;
}

uint64_t rdl__cl_address(rdl_backend_device *device, const void *memory) {
  return device->epoch ? rdl__cl_block_of(memory)->address : (uintptr_t)memory;
}

void rdl__cl_release(rdl_backend_device *device, void *memory) {
  if (device->epoch)
    rdl__cl_apart_release(device, memory);
  else if (memory)
    device->cl->clSVMFree(device->context, memory);
}
