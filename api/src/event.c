/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of events. The host numbers them; the device keeps their counts. */
#include "api/src/core.h"

#define SEALED 2u /* beside RDL_EVENT_DEVICE in rdl_event_record.flags */

/* The lock is held. */
static rdl_status find(rdl_context *cx, rdl_event event, rdl_event_record **out_record) {
  uint32_t index = event.index & RDL_MAX_SLOTS;
  if (event.index >> 24 != cx->number || index == 0 || index >= cx->fresh_event ||
      !event.generation)
    return rdl__error(RDL_INVALID, "{%#x, %u} is not an event of this context%s", event.index,
                      event.generation, RDL__IF_ZERO(event, "rdl_event_create"));
  if (rdl_load_acquire(&cx->event_records[index].generation) != event.generation)
    return rdl__error(RDL_STALE, "event %u, handle {%#x, %u}, was reset or destroyed", index,
                      event.index, event.generation);
  *out_record = &cx->event_records[index];
  return RDL_OK;
}

static rdl_event make(rdl_context *cx, uint32_t target, uint32_t flags) {
  uint32_t index =
      cx->free_event_count ? cx->free_events[--cx->free_event_count] : cx->fresh_event++;
  rdl_event_record *record = &cx->event_records[index];
  rdl_event event;
  if (!record->generation) record->generation = cx->base_generation;
  record->target = target;
  rdl_store_relaxed(&record->flags, flags);
  rdl_store_relaxed(&record->count, 0u);
  rdl_store_relaxed(&record->waiters, 0u);
  rdl_store_release(&record->lowest, UINT32_MAX);
  rdl__wrote(cx, record, sizeof *record);
  event.index = index | cx->number << 24;
  event.generation = record->generation;
  return event;
}

rdl_status rdl_event_create_many(rdl_context *cx, size_t count, uint32_t target, uint32_t flags,
                                 rdl_event *out_events) {
  rdl_status status = RDL_OK;
  size_t k, free_now;
  RDL__NEED(cx);
  RDL__NEED(out_events);
  if (!count) return rdl__error(RDL_INVALID, "rdl_event_create_many: count is 0");
  if (!target) return rdl__error(RDL_INVALID, "rdl_event_create: target is 0");
  if (flags & ~RDL_EVENT_DEVICE) return rdl__error(RDL_INVALID, "rdl_event_create: unknown flags");
  pthread_mutex_lock(&cx->lock);
  free_now = cx->free_event_count + (size_t)(cx->options.events + 1u - cx->fresh_event);
  if (count > free_now)
    status = rdl__error(RDL_AGAIN,
                        "%zu events wanted, %zu of %u left: destroy some, or raise the "
                        "option `events`",
                        count, free_now, cx->options.events);
  for (k = 0; k < count && !status; k++)
    out_events[k] = make(cx, target, flags);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_event_create(rdl_context *cx, uint32_t target, uint32_t flags,
                            rdl_event *out_event) {
  RDL__NEED(out_event);
  *out_event = (rdl_event){0, 0};
  return rdl_event_create_many(cx, 1, target, flags, out_event);
}

rdl_status rdl_event_signal(rdl_context *cx, rdl_event event, uint32_t n) {
  rdl_message message = {.kind = RDL_SAY_SIGNAL, .generation = event.generation, .value = n};
  rdl_event_record *record = NULL;
  rdl_status status;
  RDL__NEED(cx);
  if (!n) return rdl__error(RDL_INVALID, "rdl_event_signal: n is 0");
  pthread_mutex_lock(&cx->lock);
  status = find(cx, event, &record);
  if (!status && rdl_load_relaxed(&record->flags))
    status =
        rdl__error(RDL_PERMISSION, "the event is RDL_EVENT_DEVICE or sealed: only tasks signal it");
  message.slot = event.index;
  if (!status) status = rdl__image_need(cx);
  if (!status) status = rdl__say(cx, &message);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_event_seal(rdl_context *cx, rdl_event event) {
  rdl_event_record *record = NULL;
  rdl_status status;
  RDL__NEED(cx);
  pthread_mutex_lock(&cx->lock);
  status = find(cx, event, &record);
  if (!status) {
    rdl_fetch_or(&record->flags, SEALED);
    rdl__wrote(cx, &record->flags, sizeof record->flags);
    cx->search_deadlocks = true; /* who waits for it may be deadlocked now */
    pthread_cond_signal(&cx->service_news);
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* Where the event stands, for the text of a wait that has ended without it. */
static rdl_status tell_count(rdl_context *cx, rdl_event event, uint32_t count, rdl_status why,
                             const char *text) {
  rdl_event_record *record = NULL;
  rdl_status status;
  rdl__text held = {0};
  pthread_mutex_lock(&cx->lock);
  status = find(cx, event, &record);
  if (!status) {
    uint32_t target = rdl_load_relaxed(&record->target);
    if (why == RDL_TIMEOUT) rdl__tell_held(cx, &held);
    status =
        rdl__error(why,
                   "event %u, handle {%#x, %u}, stands at %u, its target is %u, and %u was waited "
                   "for: %s%s%s",
                   event.index & RDL_MAX_SLOTS, event.index, event.generation,
                   rdl_load_relaxed(&record->count), target, count ? count : target, text,
                   held.bytes ? "; " : "", held.bytes ? held.bytes : "");
  }
  pthread_mutex_unlock(&cx->lock);
  rdl__text_finish(&held);
  return status;
}

static rdl_status wait_for_watcher(rdl_context *cx, rdl_future watcher, rdl_event event,
                                   uint32_t count, uint64_t timeout_ns) {
  rdl_status status = rdl_future_get(cx, watcher, NULL, 0, timeout_ns);
  if (status == RDL_TIMEOUT) {
    rdl_future_cancel(cx, watcher);
    rdl_future_release(cx, watcher);
    return tell_count(cx, event, count, status, "it did not come in time");
  }
  if (status == RDL_DEADLOCK)
    return tell_count(
        cx, event, count, status,
        "no task is left that could signal it, and the host said that it will not. "
        "Compare the signals of the tasks, also of those that failed, with the count");
  if (status == RDL_STALE)
    return rdl__error(status,
                      "event %u, handle {%#x, %u}, was reset or destroyed while this thread waited",
                      event.index & RDL_MAX_SLOTS, event.index, event.generation);
  return status;
}

/* Where the host sees counts when a launch has ended it has heard by now of this one: who looks
 * next finds it. The lock is held. */
static void learn(rdl_context *cx, rdl_event event, uint32_t count) {
  rdl_event_record *record = NULL;
  if (!cx->window || find(cx, event, &record)) return;
  if (!count) count = rdl_load_relaxed(&record->target);
  if (rdl_load_relaxed(&record->count) < count) rdl_store_relaxed(&record->count, count);
}

/* The host waits as a task does: one of Raddle's own awaits the event for it. */
static rdl_status watch(rdl_context *cx, rdl_event event, uint32_t count, uint64_t timeout_ns) {
  struct rdl_watch_args args = {event, count, 0};
  rdl_event_record *record = NULL;
  uint32_t slot = 0;
  rdl_future watcher = {0, 0};
  rdl_status status;
  bool fired = false;
  pthread_mutex_lock(&cx->lock);
  status = find(cx, event, &record);
  if (!status)
    fired = rdl_load_acquire(&record->count) >= (count ? count : rdl_load_relaxed(&record->target));
  if (!status && !fired && cx->lost) status = rdl__error_why(cx->lost, &cx->lost_why);
  if (!status && !fired && !timeout_ns)
    status = rdl__error(RDL_TIMEOUT, "the event has not fired yet");
  if (!status && !fired) status = rdl__image_need(cx);
  if (!status && !fired) {
    status = rdl__spawn_own(cx, "rdl_watch", &args, &slot);
    if (!status) watcher = rdl__root_handle(cx, slot);
  }
  cx->users++;
  pthread_mutex_unlock(&cx->lock);
  if (!status && !fired) status = wait_for_watcher(cx, watcher, event, count, timeout_ns);
  pthread_mutex_lock(&cx->lock);
  if (!status && !fired) learn(cx, event, count);
  rdl__leave(cx);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_event_wait(rdl_context *cx, rdl_event event, uint64_t timeout_ns) {
  RDL__NEED(cx);
  return watch(cx, event, 0u, timeout_ns);
}

rdl_status rdl_event_wait_count(rdl_context *cx, rdl_event event, uint32_t n, uint64_t timeout_ns) {
  RDL__NEED(cx);
  if (!n) return rdl__error(RDL_INVALID, "rdl_event_wait_count: n is 0");
  return watch(cx, event, n, timeout_ns);
}

/* ---- reset and end: between two launches, so that no signal is half done ---- */

static bool waits(const rdl_context *cx, const rdl_node *node) {
  return rdl_load_relaxed(&cx->records[node->who].wait) == node->ticket;
}

static bool has_waiter(const rdl_context *cx, const rdl_event_record *record) {
  uint32_t node;
  for (node = rdl_load_relaxed(&record->waiters); node; node = cx->nodes[node].next)
    if (waits(cx, &cx->nodes[node])) return true;
  return false;
}

/* Tells the waiters and gives the nodes back to their pool. */
static rdl_status dismiss(rdl_context *cx, rdl_event_record *record) {
  rdl_status status = RDL_OK;
  while (record->waiters && !status) {
    uint32_t index = record->waiters;
    rdl_node *node = &cx->nodes[index];
    rdl_message message = {
        .kind = RDL_SAY_WAKE, .slot = node->who, .generation = node->ticket, .value = RDL_S_STALE};
    if (waits(cx, node) && !rdl__try_say(cx, &message))
      status = rdl__error(RDL_AGAIN, "the event has more waiters than the device can be told of at "
                                     "once: try again");
    if (status) continue;
    record->waiters = node->next;
    if (index < cx->control->slots) {
      node->who = RDL_NIL; /* the slot's own */
      rdl__wrote(cx, &node->who, sizeof node->who);
    } else {
      rdl__pool_give_back(cx, RDL_POOL_NODES, index);
    }
  }
  rdl__wrote(cx, record, sizeof *record);
  return status;
}

/* The lock and the service are held. */
static rdl_status renew(rdl_context *cx, rdl_event event, bool even_with_waiters) {
  rdl_event_record *record = NULL;
  rdl_reason why = {""};
  rdl_status status = find(cx, event, &record);
  if (status) return status;
  if (record->waiters) status = rdl__pull_tables(cx, &why);
  if (status) return rdl__device_error(cx, status, &why);
  if (!even_with_waiters && has_waiter(cx, record))
    return rdl__error(RDL_BUSY, "the event has waiters and was not reset");
  status = dismiss(cx, record);
  if (status) return status;
  rdl_store_relaxed(&record->count, 0u);
  rdl_store_relaxed(&record->lowest, UINT32_MAX);
  rdl_store_release(&record->generation, event.generation + 1u);
  rdl__wrote(cx, record, sizeof *record);
  if (even_with_waiters && event.generation + 1u)
    cx->free_events[cx->free_event_count++] = event.index & RDL_MAX_SLOTS;
  return RDL_OK;
}

/* What the host said before is done first: a signal that is followed by a reset wakes its waiters.
 */
static void wait_for_messages(rdl_context *cx, uint64_t deadline) {
  rdl_u32 tail = cx->mailbox_tail;
  while (cx->image && !cx->closing && !cx->lost && rdl__now_ns() < deadline &&
         (int32_t)(rdl__heard(cx) - tail) < 0)
    rdl__pause(cx, rdl__deadline_ns(100000u));
}

static rdl_status renew_alone(rdl_context *cx, rdl_event event, bool even_with_waiters) {
  uint64_t deadline = rdl__deadline_ns(cx->options.close_ns);
  rdl_status status;
  pthread_mutex_lock(&cx->lock);
  do { /* more waiters than the mailbox holds are told in rounds */
    wait_for_messages(cx, deadline);
    status = rdl__service_hold(cx, deadline);
    if (status) break;
    status = renew(cx, event, even_with_waiters);
    rdl__service_release(cx);
  } while (status == RDL_AGAIN && !cx->closing && rdl__now_ns() < deadline);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_event_reset(rdl_context *cx, rdl_event *event) {
  rdl_status status;
  RDL__NEED(cx);
  RDL__NEED(event);
  status = renew_alone(cx, *event, false);
  if (!status) event->generation++;
  return status;
}

rdl_status rdl_event_destroy(rdl_context *cx, rdl_event event) {
  RDL__NEED(cx);
  return renew_alone(cx, event, true);
}
