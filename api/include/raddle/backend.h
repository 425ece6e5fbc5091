/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For backend authors. A backend brings mechanism and nothing else: it finds devices, gives memory
 * to host and device, turns kernel text into something that can be launched,
 * launches it and waits for its end. What the kernel does, and what the host does with it, is
 * common to all.
 *
 * backends/ADDING.md walks through a new one; backends/host is the one to copy.
 */
#ifndef RDL_BACKEND_H
#define RDL_BACKEND_H

#include <raddle/device.h>
#include <raddle/import.h>
#include <raddle/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every call that can fail takes one of these last. On failure it holds one to a few sentences for
 * the user: what failed, with the driver's own words, and what to do. */
typedef struct rdl_reason {
  char text[4096];
} rdl_reason;

typedef struct rdl_backend_device rdl_backend_device; /* an open device */
typedef struct rdl_backend_image rdl_backend_image;   /* compiled text, ready to launch */

/* What the core must know of an open device. */
typedef struct rdl_backend_facts {
  uint32_t max_workers; /* workers that run at the same time */
  uint32_t lanes;       /* work-items or threads a worker */
  uint64_t clock_hz;    /* rate of rdl_clock() in the kernel; 0 = the device has no clock */
  uint64_t max_allocation;
  uint32_t shared; /* host and device see each other's writes to memory while a launch runs. 0: what
                      `allocate` gives is the host's copy, see `write` and `read` */
  uint32_t window; /* without shared memory: `allocate_window` gives some that is, and `read` may
                      be called at any time */
  uint32_t loop_budget; /* turns that all loops of a worker have together in one launch, after which
                           the device ends them and says nothing; 0 = none */
  uint32_t nesting; /* conditions within each other that the device follows, a switch counting as
                       many as it has cases; 0 = no limit was found */
  uint32_t block_workers;     /* workers whose lanes can all run one task of a whole group together:
                                 the first blocks of a launch do when the heap says so; 0 = one */
  uint32_t shares_cores;      /* workers run on the cores that the host's threads run on */
  uint32_t launches_promptly; /* `launch` hands over and returns, so that any thread may call it; 0
                                 = it may run the whole launch, as some drivers do in a flush */
  char compiler[128];         /* compiler or driver version: part of the key of cached images */
} rdl_backend_facts;

/* A piece of an image's text. `name` and `first_line` are what error messages shall say; a place in
 * a piece of Raddle's `own` only when there is none in a user's file. */
typedef struct rdl_text_piece {
  const char *name;
  const char *text;
  size_t length;
  uint32_t first_line;
  uint32_t own;
} rdl_text_piece;

/* The text of an image. Pieces are joined in order, each after a line mark. `prebuilt` is not NULL
 * when the same tasks were compiled ahead (raddle_add_tasks); only the host backend takes it. */
typedef struct rdl_image_text {
  const rdl_text_piece *pieces;
  size_t count;
  const char *hash; /* of all pieces, hexadecimal */
  void (*prebuilt)(unsigned char *heap, unsigned purpose);
} rdl_image_text;

typedef struct rdl_backend_options {
  uint32_t workers;      /* asked for; 0 = as many as run at the same time */
  uint32_t lanes;        /* asked for; 0 = what suits the device */
  const char *cache_dir; /* NULL = the user's cache; "" = no cache */
  uint32_t epoch;        /* not 0: without shared memory, also where the device has it */
  uint32_t apart; /* not 0: the same, but with a window; devices that have none may ignore it */
  void *native_context; /* the driver's, to work in; NULL = what the backend chooses */
  uint32_t loop_turns;  /* not 0: as if the device had this loop budget; host only */
  const bool *stop;     /* becomes true when the context closes: a compiler is then ended, and who
                           waits for it gets RDL_CLOSED. As long as the device is open */
} rdl_backend_options;

/* Memory of the program's, as `import` has taken it in. */
typedef struct rdl_backend_import {
  void *memory;     /* for `sync`, `drop`, `write` and `read`: a name, not an address */
  uint64_t address; /* that kernels know it by */
  size_t bytes;
} rdl_backend_import;

/* `bytes` bytes from `offset` on of memory that `allocate` or `import` gave, and where they are on
 * the host. */
typedef struct rdl_transfer {
  void *memory;
  size_t offset;
  size_t bytes;
  void *host;
} rdl_transfer;

typedef struct rdl_backend {
  const char *name; /* first part of a selector */

  /* Lists the devices of this backend. Fills up to `capacity` entries and stores how many there
   * are. A driver that is not installed means 0 devices and RDL_OK; `why` then says what is
   * missing. */
  rdl_status (*enumerate)(rdl_device_info *infos, size_t capacity, size_t *out_count,
                          rdl_reason *why);

  /* What the device that `enumerate` lists at `index` can do, also when Raddle cannot use it; the
   * rest is as in rdl_device_capabilities. Results of probes are kept in `cache_dir`, which is as
   * in the options. */
  rdl_status (*capabilities)(size_t index, const char *cache_dir, uint32_t flags,
                             rdl_capability *out, size_t capacity, size_t *out_count,
                             rdl_reason *why);

  /* Opens the device that `enumerate` lists at `index`. */
  rdl_status (*open)(size_t index, const rdl_backend_options *options,
                     rdl_backend_device **out_device, rdl_reason *why);

  /* Takes NULL. No launch is under way. */
  void (*close)(rdl_backend_device *device);

  void (*facts)(rdl_backend_device *device, rdl_backend_facts *out_facts);

  /* Memory, zeroed as far as it is touched, aligned to 64 bytes. Where facts.shared is set, host
   * and device both work on it; else `*out_memory` is where the host keeps its copy, the device has
   * its own, and nothing goes from one to the other by itself. */
  rdl_status (*allocate)(rdl_backend_device *device, size_t bytes, void **out_memory,
                         rdl_reason *why);

  /* Memory of the host's, zeroed and aligned to 64 bytes, that kernels reach while they run: each
   * side sees what the other has written before a word that it stores with release and the other
   * loads with acquire, in kernels rdl_tell and rdl_hear. Asked for once, before the first launch,
   * and small: each look of a kernel may go over a bus. Only where facts.window is set. */
  rdl_status (*allocate_window)(rdl_backend_device *device, size_t bytes, void **out_memory,
                                rdl_reason *why);

  /* What `allocate` or `allocate_window` gave. Takes NULL. */
  void (*release)(rdl_backend_device *device, void *memory);

  /* The address that kernels know the memory by. */
  uint64_t (*address)(rdl_backend_device *device, const void *memory);

  /* Takes in memory that the program has; kinds that the backend does not know are
   * RDL_UNSUPPORTED, and `why` names those that it does. No launch is under way, nor one in `sync`
   * and `drop`. The core has checked all but `memory` and `bytes` for what they are. */
  rdl_status (*import)(rdl_backend_device *device, const rdl_import *import,
                       rdl_backend_import *out_import, rdl_reason *why);

  /* What kernels have written there is seen by whatever else the program uses, and the reverse. */
  rdl_status (*sync)(rdl_backend_device *device, void *memory, rdl_reason *why);

  /* Gives it back: undoes `import`, and frees nothing of the program's. */
  void (*drop)(rdl_backend_device *device, void *memory);

  /* From the host to the device and back; only where facts.shared is 0 or the memory is imported,
   * and while no launch is under way. All is done when they return. Where facts.window is set
   * `read` is also called while one runs, by a thread beside the one in `wait`: what a worker had
   * written before it told of it in the window has arrived by then. */
  rdl_status (*write)(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                      rdl_reason *why);
  rdl_status (*read)(rdl_backend_device *device, const rdl_transfer *transfers, size_t count,
                     rdl_reason *why);

  /* Compiles the text, or takes the result from the cache. RDL_COMPILE: `why` begins with
   * file:line:column of the first error in a user's file, or says how the compiler ended that named
   * none. Compilers that may crash are kept out of this process. Blocks. No launch is under way. */
  rdl_status (*build)(rdl_backend_device *device, const rdl_image_text *text,
                      rdl_backend_image **out_image, rdl_reason *why);
  void (*discard)(rdl_backend_device *device, rdl_backend_image *image); /* takes NULL */

  /* Starts `workers` workers of `rdl_launch(heap, purpose)`. One launch at a time. Everything that
   * was written before is visible to them. */
  rdl_status (*launch)(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                       uint32_t purpose, uint32_t workers, rdl_reason *why);

  /* RDL_OK when no launch runs any more: everything it wrote is then visible. RDL_TIMEOUT after
   * `timeout_ns`; 0 only looks. Called by one thread at a time, not always the one that launched.
   */
  rdl_status (*wait)(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why);
} rdl_backend;

#endif
