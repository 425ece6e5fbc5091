/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the host backend share. */
#ifndef RDL_HOST_DEVICE_H
#define RDL_HOST_DEVICE_H

#include <pthread.h>
#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/cache.h"

/* Lanes of an emulated warp, and warps of a block, as on CUDA. */
#define RDL_HOST_WARP  32u
#define RDL_HOST_WARPS 4u

#define RDL_HOST_LONGEST_COMMAND 16u /* words of a compiler command before our own */

typedef void rdl_host_entry(unsigned char *heap, unsigned purpose);

/* The C compiler of this machine, found once when the device is opened. */
typedef struct rdl_host_compiler {
  char words[1024];                         /* the command, cut into words by zero bytes */
  char *command[RDL_HOST_LONGEST_COMMAND];  /* the words, command[0] being a path; NULL = none */
  char options[1024];                       /* $RADDLE_CFLAGS, likewise */
  char *user[RDL_HOST_LONGEST_COMMAND + 3]; /* ends in NULL */
  char pretences[2][40];                    /* options for what the host pretends to be */
  char key[1024];                           /* options as they stand in a cache key */
  char version[128];                        /* first line of --version */
  char missing[512];                        /* why there is none */
} rdl_host_compiler;

struct rdl_backend_image {
  void *library; /* NULL: compiled ahead */
  rdl_host_entry *entry;
};

/* Threads that sleep between launches. Everything below `lock` is guarded by it. */
typedef struct rdl_host_workers {
  pthread_mutex_t lock;
  pthread_cond_t start; /* a launch has begun, or the threads shall end */
  pthread_cond_t done;  /* the last worker of a launch has returned */
  rdl_host_entry *entry;
  unsigned char *heap;
  uint32_t purpose;
  uint32_t wanted;   /* workers of the current launch that have not begun */
  uint32_t running;  /* workers of the current launch that have not returned */
  uint32_t stopping; /* 1 = the threads shall end */
  /* Belongs to the thread that opened the device. */
  uint32_t count; /* threads that exist */
  pthread_t *threads;
} rdl_host_workers;

struct rdl_backend_device {
  rdl_cache cache;
  rdl_host_compiler compiler;
  rdl_host_workers workers;
  char name[128];
  uint64_t clock_hz;
  uint32_t most_workers;
  uint32_t epoch;      /* the workers' memory is apart from the host's */
  uint32_t window;     /* but for a window */
  uint32_t loop_turns; /* see rdl_backend_options */
  uint32_t lanes;      /* 1, or RDL_HOST_WARP: each thread of `workers` runs a block of warps */
  const bool *stop;    /* the same */
};

/* compiler.c */
void rdl__host_find_compiler(rdl_host_compiler *compiler);
/* From here on it compiles images of a loop-limited device, or for emulated warps. */
void rdl__host_limit_loops(rdl_host_compiler *compiler, uint32_t turns);
void rdl__host_emulate_warps(rdl_host_compiler *compiler);
/* Stores `text`, a program with options, as the compiler's command: 1 when the program exists. */
int rdl__host_take_command(rdl_host_compiler *compiler, const char *text);
/* Compiles `source` to the shared object `object`. On failure `*out_log` holds what the compiler
 * said (to be freed, may be NULL) and `why` what went wrong if it was not the text. RDL_CLOSED:
 * `stop` became true. */
rdl_status rdl__host_compile(const rdl_host_compiler *compiler, const char *source,
                             const char *object, const bool *stop, char **out_log, rdl_reason *why);

/* program.c */
rdl_status rdl__host_build(rdl_backend_device *device, const rdl_image_text *text,
                           rdl_backend_image **out_image, rdl_reason *why);
void rdl__host_discard(rdl_backend_device *device, rdl_backend_image *image);

/* memory.c */
rdl_status rdl__host_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                              rdl_reason *why);
rdl_status rdl__host_allocate_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                                     rdl_reason *why);
void rdl__host_release(rdl_backend_device *device, void *memory);
unsigned char *rdl__host_seen(const void *memory); /* what the workers see of it */
uint64_t rdl__host_address(rdl_backend_device *device, const void *memory);
rdl_status rdl__host_import(rdl_backend_device *device, const rdl_import *import,
                            rdl_backend_import *out_import, rdl_reason *why);
rdl_status rdl__host_sync(rdl_backend_device *device, void *memory, rdl_reason *why);
void rdl__host_drop(rdl_backend_device *device, void *memory);
rdl_status rdl__host_write(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                           rdl_reason *why);
rdl_status rdl__host_read(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                          rdl_reason *why);

/* launch.c */
rdl_status rdl__host_start_workers(rdl_host_workers *workers, uint32_t count, rdl_reason *why);
void rdl__host_stop_workers(rdl_host_workers *workers);
rdl_status rdl__host_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                            uint32_t purpose, uint32_t workers, rdl_reason *why);
rdl_status rdl__host_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why);

#endif
