/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the CUDA backend share. */
#ifndef RDL_CUDA_DEVICE_H
#define RDL_CUDA_DEVICE_H

#include <pthread.h>
#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/cache.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/symbols.h"

/* A warp is a worker, and so many are a block. The kernel text is told as RDL_WARPS. */
#define RDL_CU_LANES 32u
#define RDL_CU_WARPS 4u

/* Workers on a multiprocessor: without a wish, and at most. */
#define RDL_CU_USUAL 8u
#define RDL_CU_MOST  16u

#define RDL_CU_CLOCK_HZ 1000000000u /* of %globaltimer, which the dialect's clock is */

struct rdl_backend_image {
  rdl_cu_module module;
  rdl_cu_function kernel;
  uint32_t shared_bytes;           /* of shared memory that a block of it takes */
  rdl_cu_function scatter, gather; /* see transfer.c */
};

struct rdl_backend_device {
  const rdl_cu *cu;
  rdl_nvrtc nvrtc;
  rdl_cu_device id;
  rdl_cu_context context; /* the program's, or the primary one; see context.c */
  uint32_t retained;      /* 1 = one count of the primary context is this device's */
  uint32_t shares;        /* 1 = it works in the primary context that the process keeps, */
  uint32_t found;         /* and 1 = which was there before */
  rdl_cu_stream stream;   /* does not wait for the program's */
  uint32_t launched;      /* 1 = a launch is under way; atomic */
  uint64_t launched_ns;   /* when it was launched */
  int lost;               /* the sticky code that ended the device, or 0; atomic */
  const bool *stop;       /* see rdl_backend_options */
  rdl_cache cache;
  pthread_mutex_t transfers;      /* held by who uses the next four */
  rdl_cu_stream beside;           /* of transfers: does not wait for launches either */
  unsigned char *staging;         /* locked pages that they go through */
  rdl_cu_address staging_address; /* for kernels */
  const rdl_backend_image *mover; /* whose kernels move small pieces; NULL = none is there */
  uint32_t units;                 /* multiprocessors */
  uint32_t workers;
  uint32_t window; /* kernels reach some of the host's memory while they run: not in epoch mode */
  uint64_t clock_hz;
  uint64_t max_allocation;
  char arch[24];     /* for NVRTC: "sm_90", or "compute_90" with a device that it does not know */
  char options[256]; /* for NVRTC, with spaces between */
  char name[128];
  char compiler[128]; /* NVRTC's version and the driver's */
};

/* discover.c */
int rdl__cu_number(const rdl_cu *cu, rdl_cu_device id, int what); /* 0 for what it does not know */
uint32_t rdl__cu_most_workers(const rdl_cu *cu, rdl_cu_device id, uint32_t units);
/* How many devices there are, 0 also when the driver fails; `why` then says how. */
size_t rdl__cu_count(const rdl_cu *cu, rdl_reason *why);
void rdl__cu_describe(const rdl_cu *cu, size_t index, rdl_device_info *out_info);
rdl_status rdl__cu_capabilities(size_t index, const char *cache_dir, uint32_t flags,
                                rdl_capability *out, size_t capacity, size_t *out_count,
                                rdl_reason *why);

/* context.c */
/* Finds the context to work in; `native` is the program's, or NULL. */
rdl_status rdl__cu_connect(rdl_backend_device *device, void *native, rdl_reason *why);
void rdl__cu_disconnect(rdl_backend_device *device);
/* What was just connected is of no use. Not 0 when another try may find better: the context was
 * kept from before, and nobody else works in it, so what ails it is old. The program's kernels may
 * have trapped in it, or the program has reset it. */
int rdl__cu_renew(rdl_backend_device *device);
/* Between these two the context is current in this thread. A device that is lost is not entered. */
rdl_status rdl__cu_enter(rdl_backend_device *device, rdl_reason *why);
/* The same for what gives back, also of one that is lost. 0 = it could not be entered. */
int rdl__cu_enter_to_free(rdl_backend_device *device);
void rdl__cu_leave(rdl_backend_device *device);

/* memory.c */
/* Lies in front of what the core calls memory; of memory of the program's there is a front and
 * nothing behind it. */
typedef struct rdl_cu_block {
  size_t whole; /* bytes mapped, with the front */
  rdl_cu_address address;
  int is_window;              /* locked pages, and this lies in the first */
  struct rdl_cu_pages *pages; /* import.c: those that were locked for it, or NULL */
} rdl_cu_block;

/* `*out_memory` is behind the front; RDL_OUT_OF_MEMORY. */
rdl_status rdl__cu_block_map(size_t bytes, rdl_cu_address address, void **out_memory,
                             rdl_reason *why);
void rdl__cu_block_unmap(void *memory);
rdl_cu_block *rdl__cu_block_of(const void *memory);

rdl_status rdl__cu_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                            rdl_reason *why);
rdl_status rdl__cu_allocate_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                                   rdl_reason *why);
void rdl__cu_release(rdl_backend_device *device, void *memory);
uint64_t rdl__cu_address_of(rdl_backend_device *device, const void *memory);

/* transfer.c */
#define RDL_CU_STAGING ((size_t)4 << 20)
#define RDL_CU_MOVERS  128u /* threads that move a piece */

/* What a block of rdl_scatter or rdl_gather moves (text/front.cu). */
typedef struct rdl_cu_piece {
  uint64_t there; /* on the device */
  uint32_t at;    /* in the locked pages */
  uint32_t bytes;
} rdl_cu_piece;

/* The context is current. `end` also takes what `begin` left half done. */
rdl_status rdl__cu_transfers_begin(rdl_backend_device *device, rdl_reason *why);
void rdl__cu_transfers_end(rdl_backend_device *device);
/* From now on small pieces are moved by the image's kernels; and no longer, if they were. */
void rdl__cu_transfers_by(rdl_backend_device *device, const rdl_backend_image *image);
void rdl__cu_transfers_without(rdl_backend_device *device, const rdl_backend_image *image);
rdl_status rdl__cu_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                         rdl_reason *why);
rdl_status rdl__cu_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                        rdl_reason *why);

/* import.c */
rdl_status rdl__cu_import(rdl_backend_device *device, const rdl_import *import,
                          rdl_backend_import *out_import, rdl_reason *why);
rdl_status rdl__cu_sync(rdl_backend_device *device, void *memory, rdl_reason *why);
void rdl__cu_drop(rdl_backend_device *device, void *memory);

/* program.c */
rdl_status rdl__cu_build(rdl_backend_device *device, const rdl_image_text *text,
                         rdl_backend_image **out_image, rdl_reason *why);
void rdl__cu_discard(rdl_backend_device *device, rdl_backend_image *image);

/* launch.c */
rdl_status rdl__cu_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                          uint32_t purpose, uint32_t workers, rdl_reason *why);
rdl_status rdl__cu_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why);

#endif
