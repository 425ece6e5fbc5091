/* SPDX-License-Identifier: Apache-2.0 */
/* Memory straight from the system: it is zero, and no page of it costs anything until it is
 * touched, so a heap may be larger than what will be used of it. Where their memory is to be apart
 * the workers have a block of their own behind each, but for a window. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/common/reason.h"
#include "backends/host/device.h"

/* What is known of a block is kept in front of it; a whole page keeps the block aligned to one. */
#define FRONT 4096u

typedef struct block_front {
  size_t whole;        /* bytes, with this */
  unsigned char *seen; /* what the workers see; where it is shared the block itself, or what the
                          program has */
} block_front;

static block_front *front_of(const void *memory) {
  return (block_front *)(void *)((unsigned char *)(uintptr_t)memory - FRONT);
}

static unsigned char *map(size_t bytes) {
  void *block =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? NULL : block;
}

static rdl_status allocate(size_t bytes, uint32_t apart, void **out_memory, rdl_reason *why) {
  size_t whole = bytes + FRONT;
  unsigned char *block, *workers;
  errno = ENOMEM;
  block = whole > bytes ? map(whole) : NULL;
  workers = block && apart ? map(bytes ? bytes : 1u) : block + FRONT;
  if (!block || !workers) {
    int error = errno;
    if (block) (void)munmap(block, whole);
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The system has no %zu bytes of memory to give: %s.",
                     bytes, strerror(error));
  }
  *(block_front *)(void *)block = (block_front){whole, workers};
  *out_memory = block + FRONT;
  return RDL_OK;
}

rdl_status rdl__host_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                              rdl_reason *why) {
  return allocate(bytes, device->epoch, out_memory, why);
}

rdl_status rdl__host_allocate_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                                     rdl_reason *why) {
  (void)device;
  return allocate(bytes, 0, out_memory, why);
}

void rdl__host_release(rdl_backend_device *device, void *memory) {
  block_front front;
  (void)device;
  if (!memory) return;
  front = *front_of(memory);
  if (front.seen != memory)
    (void)munmap(front.seen, front.whole > FRONT ? front.whole - FRONT : 1u);
  (void)munmap(front_of(memory), front.whole);
}

unsigned char *rdl__host_seen(const void *memory) {
  return front_of(memory)->seen;
}

uint64_t rdl__host_address(rdl_backend_device *device, const void *memory) {
  (void)device;
  return (uintptr_t)rdl__host_seen(memory);
}

/* Of imported memory there is a front and nothing behind it. */
rdl_status rdl__host_import(rdl_backend_device *device, const rdl_import *import,
                            rdl_backend_import *out_import, rdl_reason *why) {
  unsigned char *block;
  (void)device;
  if (import->kind != RDL_IMPORT_HOST)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "The host imports memory of this process, RDL_IMPORT_HOST, and nothing that "
                     "OpenCL or CUDA made.");
  if ((uintptr_t)import->memory > UINTPTR_MAX - import->bytes)
    return rdl__fail(RDL_INVALID, why, "%zu bytes from %p on go past the end of all addresses.",
                     import->bytes, import->memory);
  block = map(FRONT);
  if (!block) return rdl__fail(RDL_OUT_OF_MEMORY, why, "The system has no page of memory to give.");
  *(block_front *)(void *)block = (block_front){FRONT, import->memory};
  *out_import = (rdl_backend_import){block + FRONT, (uintptr_t)import->memory, import->bytes};
  return RDL_OK;
}

/* Threads that have ended a launch have told what they wrote. */
rdl_status rdl__host_sync(rdl_backend_device *device, void *memory, rdl_reason *why) {
  (void)device;
  (void)memory;
  (void)why;
  return RDL_OK;
}

void rdl__host_drop(rdl_backend_device *device, void *memory) {
  (void)device;
  (void)munmap(front_of(memory), FRONT);
}

rdl_status rdl__host_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                           rdl_reason *why) {
  (void)device;
  (void)why;
  for (size_t k = 0; k < count; k++)
    memcpy(rdl__host_seen(transfers[k].memory) + transfers[k].offset, transfers[k].host,
           transfers[k].bytes);
  return RDL_OK;
}

rdl_status rdl__host_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                          rdl_reason *why) {
  (void)device;
  (void)why;
  for (size_t k = 0; k < count; k++)
    memcpy(transfers[k].host, rdl__host_seen(transfers[k].memory) + transfers[k].offset,
           transfers[k].bytes);
  return RDL_OK;
}
