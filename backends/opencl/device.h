/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the OpenCL backend share. */
#ifndef RDL_OPENCL_DEVICE_H
#define RDL_OPENCL_DEVICE_H

#include <CL/cl.h>
#include <pthread.h>
#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/cache.h"
#include "backends/opencl/symbols.h"

struct rdl_backend_image {
  cl_program program;
  cl_kernel kernel;
  uint64_t svm_changes; /* as of the device, when the kernel was told */
  cl_kernel segments;   /* on a loop-limited device: follows `kernel` in each step, and describes */
};

/* What is known of memory that is apart from the host's, or the program's: it lies in front of the
 * host's copy, or of nothing. A whole page keeps that aligned. */
typedef struct rdl_cl_block {
  size_t whole;  /* bytes mapped, with the front */
  cl_mem buffer; /* NULL: `svm` */
  void *svm;
  uint64_t address;
} rdl_cl_block;

#define RDL_CL_FRONT 4096u

/* What goes to the device together, see apart.c. */
typedef struct rdl_cl_patch {
  uint32_t *words;
  cl_mem buffer;
  size_t room; /* words */
} rdl_cl_patch;

struct rdl_backend_device {
  const rdl_cl *cl;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue; /* in order */
  cl_event launch;        /* of the launch under way, else NULL */
  uint64_t launched_ns;   /* when it was launched */
  const bool *stop;       /* see rdl_backend_options */
  rdl_cache cache;
  cl_svm_mem_flags svm_flags;
  uint32_t epoch; /* 1 = memory is apart from the host's, see apart.c */
  pthread_mutex_t
      *apart; /* held by who uses what follows, and in epoch mode by all that starts a kernel */
  pthread_mutex_t own_apart;  /* the same, where a driver takes several devices at once */
  rdl_backend_image *support; /* the kernel for that; NULL until something needs it */
  cl_kernel locate;           /* another of its program, see import.c, with its answer's place */
  cl_mem place;
  void **svm_list; /* imported; changes only between launches */
  size_t svm_count;
  uint64_t svm_changes;
  rdl_cl_patch patch;
  uint32_t holds_addresses; /* an address is good also where its buffer is no argument */
  uint32_t is_cpu;
  uint32_t launches_promptly; /* see rdl_backend_facts */
  uint32_t keeps_binaries;    /* 1 = images are cached on disk, see program.c */
  uint32_t workers;
  uint32_t lanes; /* work-items of a worker's work-group */
  uint64_t clock_hz;
  uint64_t max_allocation;
  uint32_t loop_budget; /* see rdl_backend_facts */
  uint32_t nesting;     /* see rdl_backend_facts */
  const char *options;  /* for the compiler */
  char option_text[160];
  char name[128];
  char compiler[260]; /* driver and platform, with their versions */
};

/* discover.c */
typedef struct rdl_cl_device {
  cl_platform_id platform;
  cl_device_id id;
} rdl_cl_device;

#define RDL_CL_MOST_DEVICES 64u

/* All devices of all platforms, in the loader's order; there are none without a driver. */
size_t rdl__cl_list(const rdl_cl *cl, rdl_cl_device out_devices[RDL_CL_MOST_DEVICES]);
void rdl__cl_describe(const rdl_cl *cl, const rdl_cl_device *device, size_t index,
                      rdl_device_info *out_info);
unsigned rdl__cl_version(const rdl_cl *cl, cl_device_id device); /* "OpenCL 3.0 ..." is 300 */
uint64_t rdl__cl_number(const rdl_cl *cl, cl_device_id device, cl_device_info what);

/* program.c */
/* What the compiler said, to be freed; NULL without memory, or when the driver does not tell. */
char *rdl__cl_build_log(const rdl_cl *cl, cl_device_id device, cl_program program);
rdl_status rdl__cl_build(rdl_backend_device *device, const rdl_image_text *text,
                         rdl_backend_image **out_image, rdl_reason *why);
void rdl__cl_discard(rdl_backend_device *device, rdl_backend_image *image);
/* Its kernel is made anew, as if it had not been told anything. */
rdl_status rdl__cl_renew_kernel(rdl_backend_device *device, rdl_backend_image *image,
                                rdl_reason *why);
/* Whether the compiler takes this processor's own instructions; the answer is kept in the cache. */
int rdl__cl_takes_processor(rdl_backend_device *device);

/* memory.c */
rdl_status rdl__cl_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                            rdl_reason *why);
void rdl__cl_release(rdl_backend_device *device, void *memory);
uint64_t rdl__cl_address(rdl_backend_device *device, const void *memory);

/* apart.c: the same, and more, where memory is apart from the host's */
rdl_status rdl__cl_support_build(rdl_backend_device *device, rdl_reason *why);
rdl_status rdl__cl_apart_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                                  rdl_reason *why);
void rdl__cl_apart_release(rdl_backend_device *device, void *memory);
rdl_cl_block *rdl__cl_block_of(const void *memory);
/* Maps `block->whole` bytes that begin with it, and gives the address behind the front; or NULL. */
void *rdl__cl_block_map(const rdl_cl_block *block, rdl_reason *why);
void rdl__cl_block_unmap(void *memory);
void rdl__cl_patch_free(rdl_backend_device *device);
rdl_status rdl__cl_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                         rdl_reason *why);
rdl_status rdl__cl_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                        rdl_reason *why);

/* import.c: memory of the program's */
rdl_status rdl__cl_import(rdl_backend_device *device, const rdl_import *import,
                          rdl_backend_import *out_import, rdl_reason *why);
rdl_status rdl__cl_sync(rdl_backend_device *device, void *memory, rdl_reason *why);
void rdl__cl_drop(rdl_backend_device *device, void *memory);
void rdl__cl_locate_free(rdl_backend_device *device);
/* Tells an image's kernel which SVM there is now. Before a launch. */
rdl_status rdl__cl_tell_svm(rdl_backend_device *device, rdl_backend_image *image, rdl_reason *why);

/* launch.c */
rdl_status rdl__cl_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                          uint32_t purpose, uint32_t workers, rdl_reason *why);
rdl_status rdl__cl_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why);

#endif
