/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: counters that tasks and host threads signal and wait for. An event fires when its count
 * reaches its target; the count never falls, so one may also wait for any count. All functions may
 * be called from any thread. In a context without a module the first call that signals or waits
 * compiles Raddle's own tasks, as loading a module does, whatever its time limit. A host thread
 * that waits for one takes a root meanwhile: RDL_AGAIN when none is free; RDL_DEADLOCK when nobody
 * is left that could signal it.
 */
#ifndef RDL_EVENT_H
#define RDL_EVENT_H

#include <raddle/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The host promises not to signal it: waiters are then reported as deadlocked when no task is left
 * that could. */
#define RDL_EVENT_DEVICE 1u

/* Makes `count` events that fire at `target` signals (at least 1). */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_create_many(rdl_context *context, size_t count,
                                                        uint32_t target, uint32_t flags,
                                                        rdl_event *out_events);
RDL_API RDL_MUST_CHECK rdl_status rdl_event_create(rdl_context *context, uint32_t target,
                                                   uint32_t flags, rdl_event *out_event);

/* Adds `n` to the count. What this thread wrote before is visible to whoever waited. Does not
 * block. RDL_PERMISSION: the event is RDL_EVENT_DEVICE or sealed. */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_signal(rdl_context *context, rdl_event event,
                                                   uint32_t n);

/* The host will not signal it any more. */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_seal(rdl_context *context, rdl_event event);

/* Waits until the event has fired, or until its count is at least `n`. A timeout of 0 only looks;
 * where memory is apart (rdl_mode) it sees what the last launch, or a wait, has left. */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_wait(rdl_context *context, rdl_event event,
                                                 uint64_t timeout_ns);
RDL_API RDL_MUST_CHECK rdl_status rdl_event_wait_count(rdl_context *context, rdl_event event,
                                                       uint32_t n, uint64_t timeout_ns);

/* Sets the count to zero and renews `*event`: copies of the old handle are stale. RDL_BUSY:
 * somebody waits for it, and nothing changed. Blocks until the running segments have ended;
 * RDL_TIMEOUT when that takes longer than the option close_ns. */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_reset(rdl_context *context, rdl_event *event);

/* Ends the event; who waits for it resumes with RDL_STALE. Blocks like rdl_event_reset. */
RDL_API RDL_MUST_CHECK rdl_status rdl_event_destroy(rdl_context *context, rdl_event event);

#ifdef __cplusplus
}
#endif

#endif
