/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futures: running instances of tasks. The host spawns roots; tasks spawn children.
 *
 * A root's outcome is kept until the host takes it: rdl_future_get consumes it, rdl_future_release
 * says that nobody will. Every handle the host asked for is ended by one of the two.
 * All functions here may be called from any thread.
 */
#ifndef RDL_FUTURE_H
#define RDL_FUTURE_H

#include <raddle/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from RDL_SPAWN_OPTIONS_INIT. */
typedef struct rdl_spawn_options {
  size_t size; /* sizeof(rdl_spawn_options) */
  /* Futures that must be done before it starts; before any member starts, for rdl_spawn_many. If
   * one has failed or was cancelled it never starts, and ends in the same way: as the first such of
   * the list, when all are done. They may be taken as soon as the call has returned; until then,
   * and as long as somebody waits for them, they use their roots. */
  const rdl_future *after;
  size_t after_count;
  /* For rdl_spawn_many with out_futures: members that wait for other members of the same call, in
   * the same way. Member k waits for those at the positions member_after[member_after_offsets[k]]
   * to member_after[member_after_offsets[k + 1] - 1]. There are count + 1 offsets; they begin with
   * 0 and never fall. NULL: no member waits for another. */
  const uint32_t *member_after_offsets;
  const uint32_t *member_after;
  uint64_t room_ns;     /* no free root: wait this long for one. Default 0: RDL_AGAIN at once */
  uint32_t local;       /* not 0: stays with the worker that starts it */
  uint32_t pad;         /* 0 */
  uint64_t reserved[4]; /* 0 */
} rdl_spawn_options;

#define RDL_SPAWN_OPTIONS_INIT RDL_SIZED(rdl_spawn_options)

/* Starts one task. `args` are copied (`args_size` must be the size that the task declares; NULL and
 * 0 for a task without). `options` may be NULL. `out_future` may be NULL: then the future runs
 * detached and frees itself. Does not block, but for options->room_ns. RDL_NOT_FOUND no such task;
 * RDL_INVALID wrong size of arguments, or a handle in `after`; RDL_AGAIN no free root. */
RDL_API RDL_MUST_CHECK rdl_status rdl_spawn(rdl_module *module, const char *task, const void *args,
                                            size_t args_size, const rdl_spawn_options *options,
                                            rdl_future *out_future);

/* Starts `count` of one task, whose arguments lie `stride` bytes apart (a multiple of 4) and are
 * copied before the call returns. At most one of the two outputs:
 * `out_batch`: one future that is done when all are, and fails with the first failure among them;
 * cancelling it cancels all. The members have no handles of their own and need no roots.
 * `out_futures`: `count` handles, each to be ended like any other.
 * With neither all run detached. Nothing is started on failure, unless the context is closed or
 * another thread loads a module with larger frames meanwhile: then some may run on, released. Who
 * waits for roots holds none. Statuses as for rdl_spawn; RDL_AGAIN at once for more handles than
 * there are roots; RDL_INVALID also for a count of 0, both outputs, or options that do not fit: a
 * position that is no member's, or members that wait for each other in a cycle, which the text
 * names. */
RDL_API RDL_MUST_CHECK rdl_status rdl_spawn_many(rdl_module *module, const char *task,
                                                 const void *args, size_t args_size, size_t stride,
                                                 size_t count, const rdl_spawn_options *options,
                                                 rdl_future *out_futures, rdl_future *out_batch);

/* Waits for the outcome and takes it. On RDL_OK the result is in `result` and the handle is
 * ended; `result_size` may be larger than the result, and `result` NULL when there is none or
 * nobody wants it. The handle is also ended when the future failed: RDL_FAILED (the code is in the
 * text and in rdl_future_outcome before), RDL_CANCELLED, RDL_DEADLOCK, RDL_OUT_OF_SLOTS. The handle
 * stays good after RDL_TIMEOUT and RDL_TOO_SMALL (nothing is lost). RDL_STALE ended before;
 * RDL_INVALID not a handle of this context. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_get(rdl_context *context, rdl_future future,
                                                 void *result, size_t result_size,
                                                 uint64_t timeout_ns);

/* The same for `count` futures, into results `stride` bytes apart. All are ended on return, but for
 * RDL_TIMEOUT and errors of arguments, when none is: RDL_TOO_SMALL, RDL_INVALID, also for a handle
 * that is in the list twice, RDL_STALE. Otherwise the status is that of the first that failed.
 */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_get_many(rdl_context *context,
                                                      const rdl_future *futures, size_t count,
                                                      void *results, size_t stride,
                                                      uint64_t timeout_ns);

/* Waits until all are done, and takes nothing. RDL_OK also when some failed. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_wait(rdl_context *context, const rdl_future *futures,
                                                  size_t count, uint64_t timeout_ns);

typedef struct rdl_future_result {
  size_t size;       /* sizeof(rdl_future_result), set by the caller */
  rdl_status status; /* RDL_OK, or why it failed */
  uint32_t code;     /* with RDL_FAILED: what the task gave to RDL_FAIL, at most 2^24 - 1 */
  uint32_t bytes;    /* size of the result */
} rdl_future_result;

/* Waits for the outcome and tells it without taking it. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_outcome(rdl_context *context, rdl_future future,
                                                     uint64_t timeout_ns,
                                                     rdl_future_result *out_result);

/* Copies the result if there is one by now: RDL_AGAIN otherwise. Takes nothing. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_peek(rdl_context *context, rdl_future future,
                                                  void *result, size_t result_size);

/* Nobody will ask for the outcome any more: the future runs on and frees itself. A task that awaits
 * it goes on with RDL_STALE then. What rdl_future_create made and nobody completed ends at once. */
RDL_API rdl_status rdl_future_release(rdl_context *context, rdl_future future);

/* Asks a future to end: one that has not started never does, one that waits resumes with
 * RDL_CANCELLED, one that runs sees it at its next await. Its children are cancelled too. The
 * outcome is still to be taken. Cancelling what is done changes nothing. Does not block. */
RDL_API rdl_status rdl_future_cancel(rdl_context *context, rdl_future future);

/* A future without a task, which the host completes. Tasks await it like any other. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_create(rdl_context *context, rdl_future *out_future);

/* In a context without a module the first call compiles Raddle's own tasks, as loading one does.
 * Completes a future of rdl_future_create: with a result of up to 16 bytes, or, if `code` is not 0,
 * as failed with that code (below 2^24). Once: RDL_BUSY the second time. */
RDL_API RDL_MUST_CHECK rdl_status rdl_future_complete(rdl_context *context, rdl_future future,
                                                      const void *result, size_t result_size,
                                                      uint32_t code);

#ifdef __cplusplus
}
#endif

#endif
