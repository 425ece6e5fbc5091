/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread: it launches the device while there is work (a caller whose message ends a
 * rest may be faster), looks after timers and sleeping callers while a launch runs, and sleeps
 * without burning time when there is nothing to do.
 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "api/src/core.h"

/* While a launch runs the device is looked at again and again: by a caller that sleeps until its
 * root is done, or else by the service thread, which then looks for timers alone. */
#define LOOK_FOR_TIMERS_NS 250000u

/* The device has been without work for so long before deadlocks are searched for. */
#define QUIET_NS 10000000u

static bool worker_has_work(const rdl_worker *worker) {
  return rdl_load_acquire(&worker->inbox) || rdl_load_acquire(&worker->overflow) ||
         worker->backlog || worker->unwind;
}

static bool is_between_steps(const rdl_step *step) {
  return step->phase || step->noted || step->busy;
}

bool rdl__work_pending(rdl_context *cx) {
  const rdl_control *c = cx->control;
  uint32_t k;
  if (rdl__heard(cx) != cx->mailbox_tail) return true;
  if (rdl_load_acquire(&c->roots.head) != rdl_load_acquire(&c->roots.tail)) return true;
  if (rdl_load_acquire(&c->groups) || rdl_load_acquire(&c->groups_before)) return true;
  for (k = 0; k < cx->workers; k++)
    if (worker_has_work(&cx->worker_states[k]) || (cx->steps && is_between_steps(&cx->steps[k])))
      return true;
  return false;
}

static bool may_launch(rdl_context *cx) {
  return cx->image && !cx->holds && !cx->lost && !cx->closing && rdl__work_pending(cx);
}

static bool may_search(rdl_context *cx) {
  return cx->image && cx->search_deadlocks && !cx->holds && !cx->lost;
}

static void look_around(rdl_context *cx) {
  rdl__watch(cx);
  if (!rdl__apart(cx) || !cx->launched) rdl__timers_collect(cx);
  rdl__timers_fire(cx);
  rdl__sleepers_wake(cx);
}

/* The first cause stands. */
void rdl__lose_device(rdl_context *cx, rdl_status status, const rdl_reason *why) {
  rdl__text text = {0};
  if (!cx->lost) {
    cx->lost = status == RDL_OUT_OF_MEMORY ? status : RDL_DEVICE_LOST;
    rdl__tell_lost(cx, why, &text);
    (void)snprintf(cx->lost_why.text, sizeof cx->lost_why.text, "%s",
                   text.bytes ? text.bytes : why->text);
    rdl__log(cx, RDL_LOG_ERROR, "%s", cx->lost_why.text);
    rdl__text_finish(&text);
  }
  pthread_cond_broadcast(&cx->host_news);
}

rdl_status rdl__device_error(const rdl_context *cx, rdl_status status, const rdl_reason *why) {
  if (!status) return RDL_OK;
  return rdl__error_why(status, cx->lost && status == cx->lost ? &cx->lost_why : why);
}

static void prepare_launch(rdl_context *cx, uint32_t workers) {
  rdl_control *c = cx->control;
  rdl_store_relaxed(&c->registered, 0u);
  rdl_store_relaxed(&c->blocks, 0u);
  rdl_store_relaxed(&c->idle, 0u);
  rdl_store_relaxed(&c->expired, 0u);
  rdl_store_relaxed(&c->arrived, 0u);
  rdl_store_relaxed(&c->parked, 0u);
  rdl_store_relaxed(&c->hungry, 0u);
  rdl_store_relaxed(&c->stop, 0u);
  rdl__set_stop(cx, 0u);
  rdl__wrote(cx, c, offsetof(rdl_control, hungry) + sizeof c->hungry);
  rdl__watch_begin(cx, workers);
}

/* Of the warps that a launch has, each of a wide block makes one worker with its neighbours. */
uint32_t rdl__workers_with(const rdl_context *cx, uint32_t wide) {
  uint32_t in_blocks = wide * cx->facts.block_workers;
  return wide + (cx->workers > in_blocks ? cx->workers - in_blocks : 0u);
}

/* The lock is held, and given up only where the driver may keep the caller until the launch ends.
 */
static void launch(rdl_context *cx) {
  rdl_reason why = {""};
  uint32_t most = cx->solo ? 1u : cx->workers, workers = most;
  rdl_status status;
  cx->control->wide = cx->wide && cx->solo ? 1u : cx->wide;
  if (!cx->solo) workers = rdl__workers_with(cx, cx->wide);
  cx->solo = false;
  cx->control->workers = workers;
  prepare_launch(cx, workers);
  cx->launched = true;
  cx->launches++;
  status = rdl__push(cx, &why);
  if (!cx->facts.launches_promptly) pthread_mutex_unlock(&cx->lock);
  if (!status)
    status = cx->backend->launch(cx->device, cx->image, cx->heap, RDL_LAUNCH_RUN, most, &why);
  if (!cx->facts.launches_promptly) pthread_mutex_lock(&cx->lock);
  if (!status) return;
  cx->launched = false;
  rdl__lose_device(cx, status, &why);
}

#define ABANDONED_NS 10000000u

/* Nobody waits any more, and the process may be at its end, and with it the driver: that is asked
 * nothing until the workers have left. */
static bool is_given_up(const rdl_context *cx) {
  uint32_t k;
  if (rdl__apart(cx)) return cx->abandoned; /* nobody knows whether they have */
  for (k = 0; cx->abandoned && k < cx->launched_workers; k++)
    if (rdl_load_relaxed(&cx->worker_states[k].running)) return true;
  return false;
}

/* RDL_TIMEOUT after a while. The lock is not held. */
static rdl_status wait_for_device(rdl_context *cx, bool given_up, uint64_t ns, rdl_reason *why) {
  struct timespec pause = {0, ABANDONED_NS};
  if (!given_up) return cx->backend->wait(cx->device, ns, why);
  nanosleep(&pause, NULL);
  return RDL_TIMEOUT;
}

#define OVERDUE_NS 100000000u
#define AIM_NS     50000000u

/* Fewer make every launch so dear, with all that it transfers, that hardly anything goes on. */
#define LEAST_SEGMENTS 16u

/* Nobody can end a launch of epoch mode but its workers, who look at the clock only after many
 * segments, or have none. When one lasted far too long, how many segments fit into a short time is
 * learned from it. */
static void adjust_segments(rdl_context *cx, uint64_t segments) {
  rdl_control *c = cx->control;
  uint64_t ns = rdl__now_ns() - cx->launched_ns, limit = c->segment_limit;
  uint64_t most = cx->options.segment_limit, least = cx->steps ? 1u : LEAST_SEGMENTS;
  if (ns > OVERDUE_NS && segments) {
    limit = segments * AIM_NS / (ns * cx->launched_workers);
    if (limit < least) limit = least;
  } else if (cx->steps && !rdl__work_pending(cx)) {
    limit = limit > 1u ? limit / 2u : 1u; /* kernels without work cost as much as those with some */
  } else if (limit && !rdl_load_relaxed(&c->parked) && ns < AIM_NS) {
    limit *= 2u; /* also where nothing ran: futures that only looked for room count as well */
  }
  if (most && limit > most) limit = most;
  if (limit == c->segment_limit) return;
  c->segment_limit = limit < UINT32_MAX ? (uint32_t)limit : 0u;
  rdl__wrote(cx, &c->segment_limit, sizeof c->segment_limit);
}

/* The scheduler divides its work so that this does not happen; if it did, nothing in the heap could
 * be believed. */
static rdl_status check_overrun(const rdl_context *cx, rdl_reason *why) {
  if (!rdl_load_relaxed(&cx->control->overrun)) return RDL_OK;
  snprintf(why->text, sizeof why->text,
           "the scheduler used up the %u turns that %s gives the loops of a kernel: close the "
           "context, and please report what it ran",
           cx->facts.loop_budget, cx->device_info.selector);
  return RDL_INTERNAL;
}

/* From the launch that is under way to its end. The lock is given up while the device runs. */
static void see_through(rdl_context *cx) {
  rdl_reason why = {""};
  uint64_t look = 0, before = cx->settled.segments;
  rdl_status status;
  bool given_up;
  for (;;) {
    bool alone = cx->sleepers && !cx->watched; /* nobody else would see what they wait for */
    if (alone) look = rdl__next_look(look);
    given_up = is_given_up(cx);
    pthread_mutex_unlock(&cx->lock);
    status = wait_for_device(cx, given_up, alone ? look : LOOK_FOR_TIMERS_NS, &why);
    pthread_mutex_lock(&cx->lock);
    if (status != RDL_TIMEOUT) break;
    look_around(cx);
  }
  cx->launched = false;
  rdl__unsay(cx);
  if (!status) status = rdl__pull(cx, &why);
  if (!status) status = check_overrun(cx, &why);
  rdl__stats_settle(cx);
  if (rdl__epoch(cx)) adjust_segments(cx, cx->settled.segments - before);
  if (status) rdl__lose_device(cx, status, &why);
  look_around(cx);
  rdl__roots_collect(cx);
  rdl__lists_collect(cx, false);
  cx->search_deadlocks = true;
  if (cx->holds || cx->closing) pthread_cond_broadcast(&cx->host_news);
}

/* While others run: what is at rest for long enough is searched without this. */
static bool search_is_due(const rdl_context *cx) {
  return cx->search_deadlocks && rdl__now_ns() >= cx->next_search;
}

/* The service thread sleeps and has messages now. To wake it and have it wake the device would be
 * two sleeps of threads one after the other: the caller launches itself where it may. */
void rdl__service_call(rdl_context *cx) {
  if (cx->facts.launches_promptly && !cx->launched && may_launch(cx) && !search_is_due(cx))
    launch(cx);
  pthread_cond_signal(&cx->service_news);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* When to search for deadlocks now that nothing is ready. Futures that wait for room depend on the
 * search, so they get it at once; others most often wait for the host, whose next call would have
 * to wait for the search to end. */
static uint64_t search_time(rdl_context *cx) {
  return rdl_load_relaxed(&cx->control->room) ? 0u : rdl__deadline_ns(QUIET_NS);
}

/* Nothing is ready on the device: sleeps until a message, a timer, or the end. */
static void sleep_parked(rdl_context *cx) {
  uint64_t search = search_time(cx);
  cx->parks++;
  pthread_cond_broadcast(&cx->host_news);
  while (!cx->closing) {
    uint64_t wake = RDL_FOREVER;
    rdl__timers_fire(cx);
    if (cx->launched || may_launch(cx)) break;
    if (may_search(cx) && rdl__now_ns() >= search)
      rdl__break_deadlocks(cx);
    else {
      if (!cx->lost) wake = rdl__timers_next(cx);
      if (may_search(cx)) wake = earlier(wake, search);
      cx->parked = true;
      rdl__wait_until(&cx->service_news, &cx->lock, wake);
      cx->parked = false;
    }
  }
}

static void *serve(void *argument) {
  rdl_context *cx = argument;
  bool abandoned;
  (void)rdl__sharpen_sleep();
  pthread_mutex_lock(&cx->lock);
  while (!cx->closing || cx->launched) {
    if (!cx->launched && may_launch(cx)) {
      if (search_is_due(cx)) rdl__break_deadlocks(cx);
      if (may_launch(cx)) launch(cx); /* the search may have found the device lost */
    }
    if (cx->launched)
      see_through(cx);
    else if (!cx->closing)
      sleep_parked(cx);
  }
  abandoned = cx->abandoned;
  pthread_mutex_unlock(&cx->lock);
  if (abandoned) rdl__context_end_abandoned(cx);
  return NULL;
}

/* Signals are for the program's own threads. */
rdl_status rdl__service_start(rdl_context *cx) {
  sigset_t all, before;
  int error;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&cx->service, NULL, serve, cx);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error)
    return rdl__error(RDL_OUT_OF_MEMORY, "the service thread could not be started: is the limit of "
                                         "threads or memory reached?");
  cx->service_started = true;
  return RDL_OK;
}

static rdl_status tell_hold_failed(rdl_context *cx) {
  rdl__text held = {0};
  rdl__tell_held(cx, &held);
  rdl__error_note("a running segment did not end in time: %s",
                  held.bytes ? held.bytes : "try again, or give it RDL_YIELD");
  rdl__text_finish(&held);
  return RDL_TIMEOUT;
}

/* Closing has its own time for the launch, which begins when no caller waits any more. */
rdl_status rdl__service_hold(rdl_context *cx, uint64_t deadline) {
  bool in_time = true;
  cx->holds++;
  if (cx->launched) rdl__ask_workers(cx);
  while ((cx->launched || cx->describing) && in_time && !cx->closing)
    in_time = rdl__pause(cx, deadline);
  if (!cx->launched && !cx->describing) return RDL_OK;
  rdl__service_release(cx);
  if (cx->closing)
    return rdl__error(RDL_CLOSED, "the context was closed while this call waited for the device");
  return tell_hold_failed(cx);
}

/* Where a launch goes on that could not be ended, its workers do, too. */
void rdl__service_release(rdl_context *cx) {
  if (--cx->holds) return;
  if (cx->launched) rdl__ask_workers(cx);
  pthread_cond_signal(&cx->service_news);
}
