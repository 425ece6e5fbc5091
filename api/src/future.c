/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes of roots: waiting, taking, releasing, cancelling, and futures that the host completes.
 */
#include <string.h>

#include "api/src/core.h"

static const unsigned char *result_of(rdl_context *cx, uint32_t slot) {
  const rdl_outcome *outcome = &cx->posts[slot];
  if (cx->roots[slot].result_size <= RDL_INLINE_SIZE) return (const unsigned char *)outcome->result;
  return cx->heap + (uint64_t)outcome->result[0] * RDL_UNIT;
}

/* The root is done and the lock is held. */
static rdl_status take(rdl_context *cx, uint32_t slot, void *result, size_t result_size) {
  uint32_t size = cx->roots[slot].result_size;
  rdl_status status = rdl__tell_failure(cx, slot);
  if (!status && result && size > result_size)
    return rdl__error(RDL_TOO_SMALL,
                      "the result has %u bytes, the buffer %zu; the future can still "
                      "be taken",
                      size, result_size);
  if (!status && result) memcpy(result, result_of(cx, slot), size);
  rdl__root_free(cx, slot);
  return status;
}

static uint64_t deadline_of(uint64_t timeout_ns) {
  return timeout_ns ? rdl__deadline_ns(timeout_ns) : 0u;
}

rdl_status rdl_future_get(rdl_context *cx, rdl_future future, void *result, size_t result_size,
                          uint64_t timeout_ns) {
  uint32_t slot;
  rdl_status status;
  RDL__NEED(cx);
  pthread_mutex_lock(&cx->lock);
  status = rdl__root_find(cx, future, &slot);
  if (!status) status = rdl__await_root(cx, slot, future.generation, deadline_of(timeout_ns));
  if (!status) status = rdl__root_find(cx, future, &slot); /* another thread may have been faster */
  if (!status && result) status = rdl__fetch_results(cx, &future, 1);
  if (!status) status = take(cx, slot, result, result_size);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* The lock is held. Most of a long list is done when the first one is; those before `*out_sure`
 * were seen before the lock was given up for the last time. */
static rdl_status wait_for_all(rdl_context *cx, const rdl_future *futures, size_t count,
                               uint64_t timeout_ns, size_t *out_sure) {
  uint64_t deadline = deadline_of(timeout_ns);
  rdl_status status = RDL_OK;
  size_t k;
  *out_sure = 0;
  for (k = 0; k < count && !status; k++) {
    uint32_t slot;
    status = rdl__root_find(cx, futures[k], &slot);
    if (status || rdl__root_done(cx, slot, futures[k].generation)) continue;
    status = rdl__await_root(cx, slot, futures[k].generation, deadline);
    *out_sure = k + 1u;
  }
  return status;
}

rdl_status rdl_future_wait(rdl_context *cx, const rdl_future *futures, size_t count,
                           uint64_t timeout_ns) {
  rdl_status status;
  size_t sure;
  RDL__NEED(cx);
  if (count) RDL__NEED(futures);
  pthread_mutex_lock(&cx->lock);
  status = wait_for_all(cx, futures, count, timeout_ns, &sure);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* Looks through the list with marks at the roots. The lock is held, and all are there. */
static rdl_status check_repeats(rdl_context *cx, const rdl_future *futures, size_t count) {
  size_t seen, k;
  for (seen = 0; seen < count; seen++) {
    bool *listed = &cx->roots[futures[seen].index & RDL_MAX_SLOTS].listed;
    if (*listed) break;
    *listed = true;
  }
  for (k = 0; k < seen; k++)
    cx->roots[futures[k].index & RDL_MAX_SLOTS].listed = false;
  if (seen == count) return RDL_OK;
  return rdl__error(RDL_INVALID,
                    "future %u, handle {%#x, %u}, is in the list twice, the second time as number "
                    "%zu; nothing was taken",
                    futures[seen].index & RDL_MAX_SLOTS, futures[seen].index,
                    futures[seen].generation, seen);
}

/* Before the first one is taken: the first `sure` must still be there, none may stand twice in the
 * list, and all results must fit. The lock is held. */
static rdl_status check_results(rdl_context *cx, const rdl_future *futures, size_t count,
                                size_t sure, const void *results, size_t stride) {
  uint32_t slot;
  size_t k;
  for (k = 0; k < sure; k++) {
    rdl_status status = rdl__root_find(cx, futures[k], &slot);
    if (status) return status;
  }
  if (count > 1) {
    rdl_status status = check_repeats(cx, futures, count);
    if (status) return status;
  }
  for (k = 0; results && k < count; k++) {
    slot = futures[k].index & RDL_MAX_SLOTS;
    if (cx->roots[slot].result_size > stride)
      return rdl__error(RDL_TOO_SMALL,
                        "result %zu has %u bytes, the stride is %zu; nothing was taken", k,
                        cx->roots[slot].result_size, stride);
  }
  return RDL_OK;
}

rdl_status rdl_future_get_many(rdl_context *cx, const rdl_future *futures, size_t count,
                               void *results, size_t stride, uint64_t timeout_ns) {
  rdl_status first = RDL_OK;
  rdl_reason why = {""};
  rdl_status status;
  size_t k, sure;
  RDL__NEED(cx);
  if (count) RDL__NEED(futures);
  pthread_mutex_lock(&cx->lock);
  status = wait_for_all(cx, futures, count, timeout_ns, &sure);
  if (!status) status = check_results(cx, futures, count, sure, results, stride);
  if (!status && results) status = rdl__fetch_results(cx, futures, count);
  for (k = 0; k < count && !status; k++) {
    uint32_t slot = futures[k].index & RDL_MAX_SLOTS;
    rdl_status one = take(cx, slot, results ? (char *)results + k * stride : NULL, stride);
    if (!one || first) continue;
    first = one;
    memcpy(why.text, rdl_error_text(), sizeof why.text);
  }
  pthread_mutex_unlock(&cx->lock);
  if (status) return status;
  return first ? rdl__error_why(first, &why) : RDL_OK;
}

rdl_status rdl_future_outcome(rdl_context *cx, rdl_future future, uint64_t timeout_ns,
                              rdl_future_result *out_result) {
  uint32_t slot;
  rdl_status status;
  size_t sure;
  RDL__NEED(cx);
  RDL__NEED(out_result);
  if (out_result->size != sizeof *out_result)
    return rdl__error(RDL_INVALID, "rdl_future_outcome: size is %zu, not %zu", out_result->size,
                      sizeof *out_result);
  pthread_mutex_lock(&cx->lock);
  status = wait_for_all(cx, &future, 1, timeout_ns, &sure);
  if (!status) status = rdl__root_find(cx, future, &slot);
  if (!status) {
    uint32_t cause = cx->posts[slot].cause;
    out_result->status = (rdl_status)RDL_CAUSE_STATUS(cause);
    out_result->code = RDL_CAUSE_CODE(cause);
    out_result->bytes = cx->roots[slot].result_size;
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_future_peek(rdl_context *cx, rdl_future future, void *result, size_t result_size) {
  uint32_t slot;
  rdl_status status;
  RDL__NEED(cx);
  RDL__NEED(result);
  pthread_mutex_lock(&cx->lock);
  status = rdl__root_find(cx, future, &slot);
  if (!status && !rdl__root_done(cx, slot, future.generation)) {
    if (cx->lost)
      status = rdl__error_why(cx->lost, &cx->lost_why);
    else
      status = rdl__error(RDL_AGAIN, "the future is not done yet");
  }
  if (!status) status = rdl__tell_failure(cx, slot);
  if (!status && cx->roots[slot].result_size > result_size)
    status = rdl__error(RDL_TOO_SMALL, "the result has %u bytes, the buffer %zu",
                        cx->roots[slot].result_size, result_size);
  if (!status) status = rdl__fetch_results(cx, &future, 1);
  if (!status) memcpy(result, result_of(cx, slot), cx->roots[slot].result_size);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* A promise that nobody completed has no code that would end it: it is cancelled on its way, last,
 * so that who awaits it finds it gone, as with any future that is released, and not by chance how
 * it ended. A root that others wait for in their gates is kept until they have gone through. */
rdl_status rdl__root_release(rdl_context *cx, uint32_t slot) {
  rdl__root_state state = (rdl__root_state)cx->roots[slot].state;
  rdl_status status = RDL_OK;
  if (rdl__root_done(cx, slot, cx->roots[slot].generation)) {
    rdl__root_free(cx, slot);
    return RDL_OK;
  }
  /* Before the lock is given up: only one may release it. */
  cx->roots[slot].state = cx->roots[slot].gates ? RDL__ROOT_TAKEN : RDL__ROOT_DETACHED;
  if (cx->roots[slot].gates) cx->taken_roots++;
  cx->roots_alive--;
  if (state == RDL__ROOT_PROMISE) status = rdl__image_need(cx);
  if (!status && cx->roots[slot].state == RDL__ROOT_DETACHED)
    status = rdl__root_say(cx, slot, RDL_SAY_RELEASE);
  if (!status && state == RDL__ROOT_PROMISE) status = rdl__root_say(cx, slot, RDL_SAY_CANCEL);
  if (!status) {
    pthread_cond_broadcast(&cx->host_news); /* somebody may wait for it */
    return RDL_OK;
  }
  if (cx->roots[slot].state == RDL__ROOT_TAKEN) cx->taken_roots--;
  cx->roots[slot].state = state;
  cx->roots_alive++;
  return status;
}

rdl_status rdl_future_release(rdl_context *cx, rdl_future future) {
  uint32_t slot;
  rdl_status status;
  RDL__NEED(cx);
  pthread_mutex_lock(&cx->lock);
  status = rdl__root_find(cx, future, &slot);
  if (!status) status = rdl__root_release(cx, slot);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_future_cancel(rdl_context *cx, rdl_future future) {
  uint32_t slot;
  rdl_status status;
  RDL__NEED(cx);
  pthread_mutex_lock(&cx->lock);
  status = rdl__root_find(cx, future, &slot);
  if (!status && !rdl__root_done(cx, slot, future.generation)) {
    status = rdl__image_need(cx);
    if (!status) status = rdl__root_find(cx, future, &slot); /* the lock may have been given up */
    if (!status) cx->roots[slot].cancelled = true;
    if (!status) status = rdl__root_say(cx, slot, RDL_SAY_CANCEL);
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_future_create(rdl_context *cx, rdl_future *out_future) {
  rdl_status status = RDL_OK;
  uint32_t slot;
  RDL__NEED(out_future);
  *out_future = (rdl_future){0, 0};
  RDL__NEED(cx);
  pthread_mutex_lock(&cx->lock);
  slot = rdl__root_take(cx);
  if (slot) {
    rdl__root_fill(cx, slot, NULL, NULL, RDL__ROOT_PROMISE, NULL);
    rdl__root_known(cx, slot);
    cx->host_spawned++;
    *out_future = rdl__root_handle(cx, slot);
  } else {
    status = rdl__no_root(cx);
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

static rdl_status complete(rdl_context *cx, rdl_future future, const void *result,
                           size_t result_size, uint32_t code) {
  rdl_message message = {.kind = RDL_SAY_COMPLETE, .generation = future.generation};
  rdl_status status = rdl__root_find(cx, future, &message.slot);
  rdl__root *root;
  if (status) return status;
  root = &cx->roots[message.slot];
  if (root->state == RDL__ROOT_KEPT) return rdl__error(RDL_BUSY, "the future was completed before");
  if (root->state != RDL__ROOT_PROMISE)
    return rdl__error(RDL_INVALID, "the future runs a task: only one of rdl_future_create can be "
                                   "completed by the host");
  message.value = code ? RDL_S_FAILED | code << 8 : RDL_S_OK;
  if (result_size) memcpy(message.words, result, result_size);
  root->state = RDL__ROOT_KEPT; /* before the lock is given up: only one may complete it */
  root->result_size = (uint32_t)result_size;
  status = rdl__image_need(cx);
  if (!status) status = rdl__say(cx, &message);
  if (status) root->state = RDL__ROOT_PROMISE;
  return status;
}

rdl_status rdl_future_complete(rdl_context *cx, rdl_future future, const void *result,
                               size_t result_size, uint32_t code) {
  rdl_status status;
  RDL__NEED(cx);
  if (result_size) RDL__NEED(result);
  if (result_size > RDL_INLINE_SIZE)
    return rdl__error(RDL_INVALID, "a result of the host has at most %u bytes, not %zu",
                      RDL_INLINE_SIZE, result_size);
  if (code >> 24) return rdl__error(RDL_INVALID, "code %u is not below 2^24", code);
  pthread_mutex_lock(&cx->lock);
  status = complete(cx, future, result, result_size, code);
  pthread_mutex_unlock(&cx->lock);
  return status;
}
