/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed root tells the program: who failed, why, and what to do. */
#include <stdio.h>

#include "api/src/core.h"

/* The device's statuses have the numbers of the host's. */
#define SAME(name) _Static_assert((unsigned)RDL_##name == RDL_S_##name, "RDL_S_" #name)
SAME(OK);
SAME(INVALID);
SAME(STALE);
SAME(TIMEOUT);
SAME(CANCELLED);
SAME(FAILED);
SAME(DEADLOCK);
SAME(OUT_OF_SLOTS);
SAME(LOOP_BUDGET);
SAME(PERMISSION);

/* A name has at most RDL__NAME_MAX bytes. */
static void put_name(rdl_context *cx, uint32_t slot, char *name, size_t size) {
  const rdl__root *root = &cx->roots[slot];
  uint32_t number = root->task & RDL_TASK_MASK;
  if (root->state == RDL__ROOT_PROMISE || root->state == RDL__ROOT_KEPT)
    snprintf(name, size, "the future of rdl_future_create");
  else
    snprintf(name, size, "%s %s", root->batch ? "a member of a batch of" : "task",
             number < cx->task_count ? cx->tasks[number].name : "?");
}

static rdl_status tell_code(rdl_context *cx, uint32_t slot, const char *name, uint32_t code) {
  if (cx->roots[slot].state == RDL__ROOT_KEPT)
    return rdl__error(RDL_FAILED, "the host completed the future as failed, with code %u", code);
  return rdl__error(RDL_FAILED,
                    "%s failed with code %u%s, given to RDL_FAIL there or in a task that it "
                    "awaited",
                    name, code, code == RDL_CODE_MOST ? " or one above it" : "");
}

/* What most often leads to a status that a task gets for a handle. */
static const char *likely_mistake(rdl_status status) {
  if (status == RDL_INVALID)
    return "there, or in a task that it awaited, a handle is all zero, made up, of another "
           "context, or of a future that has not ended, or RDL_RESULT or RDL_TAKE names a type "
           "larger than the result, or an await for any was given no futures (n = 0). RDL_RESULT, "
           "RDL_TAKE and RDL_DROP need an await of the future first, an RDL_TRY_SPAWN that finds "
           "no room gives a handle of zeros, and a local variable loses its handle at every "
           "await: keep it in self";
  if (status == RDL_STALE)
    return "there, or in a task that it awaited, a handle refers to something that no longer "
           "exists. RDL_TAKE, RDL_DROP and RDL_DETACH end the handle of a child, and so does the "
           "end of its parent; reset and destroy end that of an event. Keep what others still have "
           "the handle of";
  if (status == RDL_PERMISSION)
    return "there, or in a task that it awaited, RDL_TAKE, RDL_DROP or RDL_DETACH was given a "
           "future that another one has spawned. Only its parent may; others read the result with "
           "RDL_RESULT";
  if (status == RDL_CANCELLED)
    return "it, or one that it awaited, was cancelled: by rdl_future_cancel or RDL_CANCEL, or "
           "because its parent failed or was cancelled. A task that is to go on when another one "
           "is cancelled awaits that with RDL_AWAIT_CATCH";
  return rdl_status_text(status);
}

rdl_status rdl__tell_failure(rdl_context *cx, uint32_t slot) {
  uint32_t cause = cx->posts[slot].cause;
  rdl_status status = (rdl_status)RDL_CAUSE_STATUS(cause);
  char name[128];
  if (status == RDL_OK) return RDL_OK;
  put_name(cx, slot, name, sizeof name);
  if (status == RDL_FAILED) return tell_code(cx, slot, name, RDL_CAUSE_CODE(cause));
  if (status == RDL_OUT_OF_SLOTS)
    return rdl__error(
        status,
        "%s: no slot, or no memory for a frame, was left and nothing could free one. "
        "Free children that have ended with RDL_TAKE or RDL_DROP, let others go with "
        "RDL_DETACH, spawn less ahead with RDL_TRY_SPAWN, or raise the option `slots` "
        "(now %u) or, if states or results are large, `frame_bytes` (now %llu)",
        name, cx->options.slots, (unsigned long long)cx->options.frame_bytes);
  if (status == RDL_LOOP_BUDGET)
    return rdl__error(
        status,
        "%s: a segment there, or in a task that it awaited, made more turns of its loops than the "
        "%u that this device's driver gives all loops of a kernel together; what it has written is "
        "not to be believed. Divide the loop with RDL_YIELD, or spawn tasks for parts of it: each "
        "segment begins with all turns, and a loop that is only passed by takes one. Other devices "
        "have no such limit",
        name, cx->facts.loop_budget);
  if (status == RDL_DEADLOCK)
    return rdl__error(status, "%s waited for what could never come: %s", name,
                      cx->deadlock_text[0] ? cx->deadlock_text : "see the log");
  return rdl__error(status, "%s ended with %s: %s", name, rdl_status_name(status),
                    likely_mistake(status));
}
