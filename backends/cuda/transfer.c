/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes between host and device goes through locked pages, in a stream of its own: it need not
 * wait for the end of a launch. Large pieces are copies, queued one behind the other. Each copy
 * costs some microseconds, so many small pieces are the work of one kernel (text/front.cu), which
 * reads from the locked pages, or writes to them, over the bus. The host waits once for all that
 * fit.
 */
#include <string.h>

#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* Where a piece begins in the locked pages, so that copies are of whole words. */
#define ALIGNMENT 16u

/* Of a round; they are listed in front of the locked pages. */
#define MOST_PARTS 1024u
#define LIST       (MOST_PARTS * sizeof(rdl_cu_piece))

/* A kernel instead of copies: so many transfers, at least, of so many bytes, at most, in pieces of
 * what a block moves at once. */
#define FEW_TRANSFERS 4u
#define SMALL         65536u
#define PIECE         ((size_t)8 * RDL_CU_MOVERS)

/* As much of a transfer as one round moves, or one block of the kernel. */
typedef struct part {
  const rdl_transfer *transfer;
  size_t from, bytes;
  size_t at; /* in the locked pages */
  int is_small;
} part;

typedef struct round {
  rdl_backend_device *device;
  const rdl_backend_image *mover; /* whose kernels move what is small; NULL = none */
  int is_write;
  part parts[MOST_PARTS];
  size_t count;
} round;

/* What is left to be moved. */
typedef struct rest {
  const rdl_transfer *transfers;
  size_t count;
  size_t from; /* of the first one */
} rest;

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static size_t rounded(size_t bytes) {
  return (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
}

/* Takes from the rest as much as fits. */
static void fill(round *r, rest *left) {
  size_t used = 0;
  r->count = 0;
  while (left->count && r->count < MOST_PARTS && used < RDL_CU_STAGING) {
    const rdl_transfer *t = left->transfers;
    int is_small = r->mover && t->bytes <= SMALL;
    size_t bytes = least(t->bytes - left->from, RDL_CU_STAGING - used);
    if (is_small) bytes = least(bytes, PIECE);
    r->parts[r->count++] = (part){t, left->from, bytes, LIST + used, is_small};
    used += rounded(bytes);
    left->from += bytes;
    if (left->from < t->bytes) continue;
    left->transfers++;
    left->count--;
    left->from = 0;
  }
}

static rdl_cu_address address_of(const part *p) {
  return rdl__cu_block_of(p->transfer->memory)->address + p->transfer->offset + p->from;
}

static rdl_status queue_copy(const round *r, const part *p, rdl_reason *why) {
  rdl_backend_device *device = r->device;
  const rdl_cu *cu = device->cu;
  unsigned char *here = device->staging + p->at;
  if (!p->bytes) return RDL_OK;
  if (r->is_write)
    return RDL_CU(cu, &device->lost, why,
                  cu->cuMemcpyHtoDAsync(address_of(p), here, p->bytes, device->beside));
  return RDL_CU(cu, &device->lost, why,
                cu->cuMemcpyDtoHAsync(here, address_of(p), p->bytes, device->beside));
}

static rdl_status queue_mover(const round *r, unsigned pieces, rdl_reason *why) {
  rdl_backend_device *device = r->device;
  const rdl_cu *cu = device->cu;
  void *parameters[] = {&device->staging_address};
  if (!pieces) return RDL_OK;
  return RDL_CU(cu, &device->lost, why,
                cu->cuLaunchKernel(r->is_write ? r->mover->scatter : r->mover->gather, pieces, 1, 1,
                                   RDL_CU_MOVERS, 1, 1, 0, device->beside, parameters, NULL));
}

/* Parts in no order: of what two of them write, both have the same bytes. */
static rdl_status queue(const round *r, rdl_reason *why) {
  rdl_cu_piece *list = (rdl_cu_piece *)(void *)r->device->staging;
  unsigned pieces = 0;
  rdl_status status = RDL_OK;
  for (size_t k = 0; k < r->count && status == RDL_OK; k++) {
    const part *p = &r->parts[k];
    if (p->is_small && p->bytes)
      list[pieces++] = (rdl_cu_piece){address_of(p), (uint32_t)p->at, (uint32_t)p->bytes};
    else
      status = queue_copy(r, p, why);
  }
  return status == RDL_OK ? queue_mover(r, pieces, why) : status;
}

static void put_in(const round *r) {
  for (const part *p = r->parts; p < r->parts + r->count; p++)
    memcpy(r->device->staging + p->at, (const unsigned char *)p->transfer->host + p->from,
           p->bytes);
}

static void take_out(const round *r) {
  for (const part *p = r->parts; p < r->parts + r->count; p++)
    memcpy((unsigned char *)p->transfer->host + p->from, r->device->staging + p->at, p->bytes);
}

static rdl_status run(const round *r, rdl_reason *why) {
  rdl_backend_device *device = r->device;
  const rdl_cu *cu = device->cu;
  rdl_status status, end;
  if (r->is_write) put_in(r);
  status = queue(r, why);
  /* Also after a failure: what is queued uses the pages. */
  end = RDL_CU(cu, &device->lost, status == RDL_OK ? why : NULL,
               cu->cuStreamSynchronize(device->beside));
  if (status == RDL_OK) status = end;
  if (status == RDL_OK && !r->is_write) take_out(r);
  return status;
}

/* Beside a launch, which has the whole device, a kernel would wait for its end, and copies do not.
 */
static const rdl_backend_image *mover_for(const rdl_backend_device *device, size_t count) {
  int is_free = !__atomic_load_n(&device->launched, __ATOMIC_RELAXED);
  return is_free && count >= FEW_TRANSFERS ? device->mover : NULL;
}

static rdl_status move(rdl_backend_device *device, int is_write, const rdl_transfer *transfers,
                       size_t count, rdl_reason *why) {
  round r = {.device = device, .is_write = is_write};
  rest left = {transfers, count, 0};
  rdl_status status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  (void)pthread_mutex_lock(&device->transfers);
  while (left.count && status == RDL_OK) {
    r.mover = mover_for(device, count);
    fill(&r, &left);
    status = run(&r, why);
  }
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

/* ---- resources ---- */

rdl_status rdl__cu_transfers_begin(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  void *pages = NULL;
  rdl_status status = RDL_CU(cu, &device->lost, why,
                             cu->cuStreamCreate(&device->beside, RDL_CU_STREAM_NON_BLOCKING));
  if (status == RDL_OK)
    status =
        RDL_CU(cu, &device->lost, why,
               cu->cuMemHostAlloc(&pages, LIST + RDL_CU_STAGING,
                                  RDL_CU_MEMHOSTALLOC_PORTABLE | RDL_CU_MEMHOSTALLOC_DEVICEMAP));
  device->staging = pages;
  if (status == RDL_OK)
    status = RDL_CU(cu, &device->lost, why,
                    cu->cuMemHostGetDevicePointer(&device->staging_address, pages, 0));
  return status;
}

void rdl__cu_transfers_end(rdl_backend_device *device) {
  if (device->staging) (void)device->cu->cuMemFreeHost(device->staging);
  if (device->beside) (void)device->cu->cuStreamDestroy(device->beside);
}

void rdl__cu_transfers_by(rdl_backend_device *device, const rdl_backend_image *image) {
  (void)pthread_mutex_lock(&device->transfers);
  device->mover = image;
  (void)pthread_mutex_unlock(&device->transfers);
}

void rdl__cu_transfers_without(rdl_backend_device *device, const rdl_backend_image *image) {
  (void)pthread_mutex_lock(&device->transfers);
  if (device->mover == image) device->mover = NULL;
  (void)pthread_mutex_unlock(&device->transfers);
}
