/* SPDX-License-Identifier: Apache-2.0 */
/* A context: one open device with its scheduler, its memory and its modules. Contexts are
 * independent of each other; several may be open at once, also on one device.
 * A child of fork has none of the threads that a context needs, of Raddle's or of a driver's: it
 * uses no context of its parent's, nor closes one, and opens none on an OpenCL device of which its
 * parent has opened any. It may begin another program with exec. */
#ifndef RDL_CONTEXT_H
#define RDL_CONTEXT_H

#include <raddle/device.h>
#include <raddle/export.h>
#include <raddle/handle.h>
#include <raddle/log.h>
#include <raddle/prebuilt.h>
#include <raddle/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdl_context rdl_context;

/*
 * How the host and a launch talk.
 * RDL_MODE_RESIDENT: they share memory while the launch runs. A message of the host reaches a
 * running launch within a microsecond, and a result is seen when it is written. RDL_MODE_EPOCH:
 * what the host says waits for the next launch, and what the device has done is seen when the
 * launch is over, which is when there is nothing left to do or its quantum is. Every device can.
 * RDL_MODE_APART stands between the two: the device's memory is its own, but messages and outcomes
 * go through a small window of the host's, which both see while the launch runs. So a message
 * arrives, and a result is seen, within microseconds. What the host asks of memory itself waits for
 * the launch's end, which it brings about: buffers, deadlines of awaits, counts of events.
 */
typedef enum rdl_mode {
  RDL_MODE_DEFAULT, /* resident where the device can, else apart where it can, else epoch */
  RDL_MODE_RESIDENT,
  RDL_MODE_EPOCH,
  RDL_MODE_APART
} rdl_mode;

/* Beside a context the program may use the device itself. A launch ends after `quantum_ns` and the
 * segments that run then, and what others have queued meanwhile comes before the next one: on PoCL
 * a kernel, a blocking copy or a clFinish of the program's own waits for at most that long.
 *
 * Start from RDL_CONTEXT_OPTIONS_INIT. 0 or NULL in a field means its default. quantum_ns, park_ns
 * and spin_ns are at most 250 ms, more counts as that: deadlocks are found between launches.
 * Each slot, root and event serves 2^31 to 2^32 times and then no more, for no handle may come
 * twice: those that are left serve on, and a context that has used up all of them has no room. With
 * 1,000 slots and 0.1 us a future that is after two days and a half without a pause; programs that
 * run so long raise `slots`, or open a new context. */
typedef struct rdl_context_options {
  size_t size;            /* sizeof(rdl_context_options) */
  uint32_t workers;       /* default: as many as run at once, on cuda half of that, 8 on each
                             multiprocessor; more than run are clamped, with a warning */
  uint32_t lanes;         /* lanes a worker; default 1, on cuda 32. A device can have those that its
                             capability barrier_lanes lists, the host 1, or for tests 32,
                             which are threads and slow: else RDL_UNSUPPORTED */
  uint32_t slots;         /* futures spawned by tasks that may live at once; default 262,144, and
                             at least 1,025 for each worker */
  uint32_t roots;         /* futures spawned by the host that may live at once; default 65,536 */
  uint32_t events;        /* events that may exist at once; default 16,384 */
  uint32_t flat;          /* not 0: what is awaited and has not started runs at once */
  uint32_t segment_limit; /* a worker leaves its launch after this many segments; for tests */
  uint32_t mode;          /* rdl_mode; one that the device has not is RDL_UNSUPPORTED */
  uint64_t frame_bytes;   /* memory for arguments, states and large results; default 256 MiB,
                             128 where memory is apart, and at most a quarter of the largest
                             allocation.   It is reserved, and used only as far as it is touched */
  uint64_t quantum_ns;    /* longest stretch of one launch, the last segment apart; default 8 ms,
                             2 ms where memory is apart */
  uint64_t park_ns;       /* time without work before the device is left; default 300 us */
  uint64_t spin_ns;       /* a waiting thread spins this long before it sleeps; default 20 us;
                             RDL_NO_SPIN = not at all */
  uint64_t close_ns;      /* longest time rdl_context_close takes; default 10 s */
  uint64_t watchdog_ns;   /* a segment that runs for longer is named in a warning of the log, once;
                             default 2 s, RDL_FOREVER = never */
  const char *cache_dir;  /* where compiled images are kept; default $XDG_CACHE_HOME/raddle or
                             ~/.cache/raddle; "" = nowhere */
  const rdl_prebuilt *const *prebuilt; /* images compiled ahead (raddle_add_tasks),
                                host only; they and the array must outlive the context */
  size_t prebuilt_count;
  rdl_log_fn log; /* default: none */
  void *log_user;
  void *native_context;   /* a context of the driver's that the program has, to work in, so that
                             memory made in it can be imported (raddle/import.h). opencl: a
                             cl_context, of which one reference more is held until the context is
                             closed; default: one of Raddle's own. cuda: a CUcontext, which outlives
                             the context; default: the one that is current, if it is of the device,
                             else the primary one, which the CUDA runtime also uses, and which is
                             then kept until the process ends */
  void *native_device;    /* with it, and only then: the device of it to open, a cl_device_id. The
                             selector is NULL, or names that device. NULL: the selector names it */
  uint32_t loop_turns;    /* host only, for tests: run as on a device whose driver ends the loops of
                             a kernel after so many turns; implies epoch mode */
  uint32_t checked;       /* not 0: where memory is apart, workers show which task they run, and so
                             that is named when the device is lost to a trap or a segment does not
                             end; elsewhere, but in epoch mode, it is in any case. Costs each segment
                             some writes over the bus. Default: RADDLE_CHECKED, else 0 */
  uint32_t wide_blocks;   /* where workers are warps, on cuda: so many blocks of four warps are one
                             worker each, with all of their lanes for tasks that have RDL_GROUP, and
                             run the others as well. Default: a quarter of the blocks, one at least;
                             more than there are are clamped, with a warning. Without such a task, or
                             elsewhere, it means nothing */
  uint32_t reserved_word; /* 0 */
  uint64_t reserved[3];   /* 0 */
} rdl_context_options;

#define RDL_CONTEXT_OPTIONS_INIT RDL_SIZED(rdl_context_options)
#define RDL_NO_SPIN              1u

/* Opens the device that `selector` names (see raddle/device.h); NULL: $RADDLE_DEVICE if that is
 * set, else the best usable device: of CUDA, of OpenCL, the host. On success the caller owns
 * `*out_context` and closes it; on failure it is NULL.
 * Blocks while the driver starts. Any thread.
 * RDL_NOT_FOUND no device has this name; RDL_UNAVAILABLE its driver is missing; RDL_UNSUPPORTED it
 * lacks something, which the text names; RDL_INVALID also: several devices have this name, or
 * native_device is not a device here; RDL_OUT_OF_MEMORY; RDL_AGAIN 255 contexts are open; RDL_BUSY
 * a context on this device was closed while a segment did not end, and it still runs: only a new
 * process can use the device. */
RDL_API RDL_MUST_CHECK rdl_status rdl_context_open(const char *selector, rdl_context **out_context);

/* The same with options; NULL options are the defaults. */
RDL_API RDL_MUST_CHECK rdl_status rdl_context_open_with(const char *selector,
                                                        const rdl_context_options *options,
                                                        rdl_context **out_context);

/* Ends all work, wakes waiting threads with RDL_CLOSED, frees everything and makes the context,
 * its modules and its buffers invalid. Takes NULL. No other call on the context may begin any more.
 * Blocks until the running segments have ended.
 * A compiler that runs for a load is ended, and the load gives RDL_CLOSED.
 * RDL_TIMEOUT: a segment did not end in time; the text names its task. Then the device and the
 * memory it still uses are kept until it ends or the process does, the device is not opened again
 * before (RDL_BUSY), and the handle is invalid all the same. The process can exit. */
RDL_API rdl_status rdl_context_close(rdl_context *context);

typedef struct rdl_context_info {
  size_t size; /* sizeof(rdl_context_info), set by the caller */
  rdl_device_info device;
  uint32_t workers; /* that run; a wide block is one */
  uint32_t lanes;
  uint32_t mode; /* RDL_MODE_RESIDENT, RDL_MODE_APART or RDL_MODE_EPOCH */
  uint32_t slots;
  uint32_t roots;
  uint32_t events;
  uint32_t bytes_per_future; /* record and one node, without arguments and state */
  uint64_t heap_bytes;       /* reserved for tables and frames */
  uint32_t wide_blocks;      /* workers that have all lanes of a block for tasks with RDL_GROUP; 0
                                where there are none, or as long as no such task is loaded */
  uint32_t reserved;
} rdl_context_info;

/* Any thread; does not block. */
RDL_API RDL_MUST_CHECK rdl_status rdl_context_describe(rdl_context *context,
                                                       rdl_context_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
