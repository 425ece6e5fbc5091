/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the device, and for the host a copy of which no page exists before it is touched.
 *
 * What goes from one to the other goes through locked pages: copies from and to those are queued
 * one behind the other, and the host waits once for all that fit.
 */
#include <string.h>
#include <sys/mman.h>

#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* ---- blocks ---- */

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
                  cu->cuMemsetD8Async(address, 0, bytes ? bytes : 1u, device->stream));
  if (status == RDL_OK)
    status = RDL_CU(cu, &device->lost, why, cu->cuStreamSynchronize(device->stream));
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

void rdl__cu_release(rdl_backend_device *device, void *memory) {
  if (!memory) return;
  if (rdl__cu_enter_to_free(device)) {
    (void)device->cu->cuMemFree(rdl__cu_block_of(memory)->address);
    rdl__cu_leave(device);
  }
  rdl__cu_block_unmap(memory);
}

uint64_t rdl__cu_address_of(rdl_backend_device *device, const void *memory) {
  (void)device;
  return rdl__cu_block_of(memory)->address;
}

/* ---- transfers ---- */

/* Where each transfer begins in the locked pages, so that copies are of whole words. */
#define ALIGNMENT 16u

typedef struct batch {
  rdl_backend_device *device;
  int is_write;
  size_t used; /* bytes of the locked pages */
} batch;

/* As much of a transfer as one round moves. */
typedef struct part {
  const rdl_transfer *transfer;
  size_t from;
  size_t bytes;
} part;

static rdl_status queue(const batch *b, const part *p, rdl_reason *why) {
  rdl_backend_device *device = b->device;
  const rdl_cu *cu = device->cu;
  const rdl_transfer *t = p->transfer;
  rdl_cu_address there = rdl__cu_block_of(t->memory)->address + t->offset + p->from;
  unsigned char *here = device->staging + b->used;
  if (!b->is_write)
    return RDL_CU(cu, &device->lost, why,
                  cu->cuMemcpyDtoHAsync(here, there, p->bytes, device->stream));
  memcpy(here, (const unsigned char *)t->host + p->from, p->bytes);
  return RDL_CU(cu, &device->lost, why,
                cu->cuMemcpyHtoDAsync(there, here, p->bytes, device->stream));
}

static void take_in(const rdl_backend_device *device, const part *p, size_t at) {
  memcpy((unsigned char *)p->transfer->host + p->from, device->staging + at, p->bytes);
}

static size_t rounded(size_t bytes) {
  return (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
}

/* Transfers that a round takes, at most: what has come is taken in from a list. */
#define MOST_PARTS 1024u

/* One round: from `*k`, `*from` on, as much as fits. */
static rdl_status move_some(batch *b, const rdl_transfer *transfers, size_t count, size_t *k,
                            size_t *from, rdl_reason *why) {
  part parts[MOST_PARTS];
  size_t n = 0, at = 0;
  rdl_status status = RDL_OK;
  b->used = 0;
  while (*k < count && n < MOST_PARTS && b->used < RDL_CU_STAGING && status == RDL_OK) {
    size_t left = transfers[*k].bytes - *from, room = RDL_CU_STAGING - b->used;
    part *p = &parts[n];
    *p = (part){&transfers[*k], *from, left < room ? left : room};
    if (p->bytes) status = queue(b, p, why);
    n++;
    b->used += rounded(p->bytes);
    *from += p->bytes;
    if (p->bytes == left) {
      ++*k;
      *from = 0;
    }
  }
  /* Also after a failure: what is queued uses the pages. */
  rdl_status end = RDL_CU(b->device->cu, &b->device->lost, status == RDL_OK ? why : NULL,
                          b->device->cu->cuStreamSynchronize(b->device->stream));
  if (status == RDL_OK) status = end;
  if (b->is_write || status != RDL_OK) return status;
  for (size_t i = 0; i < n; i++) {
    take_in(b->device, &parts[i], at);
    at += rounded(parts[i].bytes);
  }
  return RDL_OK;
}

static rdl_status move(rdl_backend_device *device, int is_write, const rdl_transfer *transfers,
                       size_t count, rdl_reason *why) {
  batch b = {.device = device, .is_write = is_write};
  size_t k = 0, from = 0;
  rdl_status status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  (void)pthread_mutex_lock(&device->transfers);
  while (k < count && status == RDL_OK)
    status = move_some(&b, transfers, count, &k, &from, why);
  (void)pthread_mutex_unlock(&device->transfers);
  rdl__cu_leave(device);
  return status;
}

rdl_status rdl__cu_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                         rdl_reason *why) {
  return move(device, 1, transfers, count, why);
}

rdl_status rdl__cu_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                        rdl_reason *why) {
  return move(device, 0, transfers, count, why);
}
