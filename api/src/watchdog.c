/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments that do not end. A launch that lasts for much more than a quantum is held by one, for
 * workers leave together. From then on its workers are asked questions, each a number, which they
 * answer between two segments: who does not is in one, and says in the heap for which future.
 */
#include "api/src/core.h"

/* A question is asked so often, */
#define WATCH_NS 50000000u
/* and none in a launch that is over by then. */
#define SLACK_NS 10000000u

static void forget_all(rdl_context *cx) {
  uint32_t k;
  for (k = 0; k < cx->workers; k++)
    cx->watched_workers[k] = (rdl__watched){0};
}

void rdl__watch_begin(rdl_context *cx, uint32_t workers) {
  uint64_t now = rdl__now_ns();
  cx->launched_ns = now;
  cx->launched_workers = workers;
  cx->question = 0;
  cx->next_watch = now + 2u * cx->options.quantum_ns + SLACK_NS;
  rdl_store_relaxed(&cx->control->now, rdl__as_ms(now));
  cx->told_overdue = false;
  if (cx->shown) forget_all(cx);
}

static void warn(rdl_context *cx, uint32_t worker, const rdl__running *runs, uint64_t ns) {
  rdl__text text = {0};
  rdl__text_print(&text, "worker %u has been running one segment of ", worker);
  rdl__tell_running(cx, runs, &text);
  rdl__text_print(&text, ", for ");
  rdl__tell_ns(ns, &text);
  rdl__text_print(&text, ". A loop that lasts long needs RDL_YIELD%s in it",
                  rdl__apart(cx) ? "" : ", or a look at RDL_CANCELLED,");
  if (text.bytes) rdl__log(cx, RDL_LOG_WARNING, "%s", text.bytes);
  rdl__text_finish(&text);
}

/* ---- launches that cannot be looked into ---- */

#define MOST_NAMED 3u

uint64_t rdl__overdue_ns(const rdl_context *cx) {
  uint64_t lasts = rdl__now_ns() - cx->launched_ns;
  if (!rdl__apart(cx) || !cx->launched) return 0;
  return lasts > 2u * cx->options.quantum_ns + WATCH_NS ? lasts : 0u;
}

/* One of what the host has started, or of what that has started, does not come to an end. */
static void tell_launch(rdl_context *cx, uint64_t ns, rdl__text *out) {
  rdl__text_print(out, "a launch has been running for ");
  rdl__tell_ns(ns, out);
  rdl__text_print(out, "; it held ");
  rdl__tell_roots(cx, out);
}

/* In checked mode each worker shows what it runs, and how many segments it had run before. What it
 * shows at two looks it has run from the one to the other. */
static void look_at_shown(rdl_context *cx, uint32_t worker, uint64_t now) {
  rdl__watched *watched = &cx->watched_workers[worker];
  rdl__running runs;
  if (!rdl__running_on(cx, worker, &runs))
    *watched = (rdl__watched){.answered = 0};
  else if (!watched->since || runs.segment != watched->answered)
    *watched = (rdl__watched){.answered = runs.segment, .since = now};
  else if (!watched->told && now - watched->since >= cx->options.watchdog_ns) {
    watched->told = true;
    warn(cx, worker, &runs, now - watched->since);
  }
}

static uint32_t look_at_all_shown(rdl_context *cx, uint64_t now) {
  uint32_t k, held = 0;
  for (k = 0; cx->shown && k < cx->launched_workers; k++) {
    look_at_shown(cx, k, now);
    held += cx->watched_workers[k].since != 0u;
  }
  return held;
}

static void watch_apart(rdl_context *cx, uint64_t now) {
  uint64_t ns = now - cx->launched_ns;
  rdl__text text = {0};
  if (look_at_all_shown(cx, now)) return; /* they are told one by one */
  if (cx->told_overdue || ns < cx->options.watchdog_ns) return;
  cx->told_overdue = true;
  tell_launch(cx, ns, &text);
  if (text.bytes)
    rdl__log(cx, RDL_LOG_WARNING,
             "%s: one segment, of one of these or of what they spawned, does not end. A loop that "
             "lasts long needs RDL_YIELD in it",
             text.bytes);
  rdl__text_finish(&text);
}

/* ---- launches that can ---- */

/* The future whose segment keeps the worker from answering; 0 = none. */
static uint32_t held_by(const rdl_context *cx, uint32_t worker) {
  const rdl_worker *state = &cx->worker_states[worker];
  uint32_t answered = rdl_load_acquire(&state->answered);
  if (answered == cx->question || answered == RDL_HAS_LEFT) return 0;
  return rdl_load_relaxed(&state->running);
}

/* Before the next question. */
static void look_at(rdl_context *cx, uint32_t worker, uint64_t now) {
  rdl__watched *watched = &cx->watched_workers[worker];
  uint32_t answered = rdl_load_relaxed(&cx->worker_states[worker].answered);
  uint32_t slot = held_by(cx, worker);
  if (!slot)
    *watched = (rdl__watched){.answered = answered};
  else if (!watched->since || answered != watched->answered)
    *watched = (rdl__watched){.answered = answered, .since = cx->asked_ns};
  else if (!watched->told && now - watched->since >= cx->options.watchdog_ns) {
    rdl__running runs;
    watched->told = true;
    if (rdl__running_on(cx, worker, &runs)) warn(cx, worker, &runs, now - watched->since);
  }
}

static bool somebody_is_held(const rdl_context *cx) {
  uint32_t k;
  if (rdl__apart(cx)) return false;
  for (k = 0; k < cx->launched_workers; k++)
    if (rdl__held_ns(cx, k)) return true;
  return false;
}

void rdl__set_stop(rdl_context *cx, uint32_t stop) {
  rdl_store_release(cx->window ? &cx->window->stop : &cx->control->stop, stop);
}

/* Where one is held the others would only wait for it. */
void rdl__ask_workers(rdl_context *cx) {
  uint32_t stop = cx->question << RDL_QUESTION_SHIFT;
  if (cx->closing)
    stop |= RDL_STOP_NOW;
  else if ((cx->holds || cx->paused) && !somebody_is_held(cx))
    stop |= RDL_STOP_TOGETHER;
  rdl__set_stop(cx, stop);
}

void rdl__watch(rdl_context *cx) {
  uint64_t now;
  uint32_t k;
  if (!cx->launched) return;
  now = rdl__now_ns();
  if (now < cx->next_watch) return;
  if (rdl__apart(cx)) {
    watch_apart(cx, now);
    cx->next_watch = now + WATCH_NS;
    return;
  }
  if (!cx->question) forget_all(cx);
  for (k = 0; cx->question && k < cx->launched_workers; k++)
    look_at(cx, k, now);
  rdl_store_relaxed(&cx->control->now, rdl__as_ms(now));
  cx->next_watch = now + WATCH_NS;
  rdl__cancel_held(cx);
  if (!cx->closing) rdl__rescue(cx);
  cx->question++;
  cx->asked_ns = now;
  rdl__ask_workers(cx);
}

/* Since when the worker is known to run what it runs now; 0 = it goes on, or nobody can tell. */
static uint64_t held_since(const rdl_context *cx, uint32_t worker) {
  const rdl__watched *watched = &cx->watched_workers[worker];
  rdl__running runs;
  if (!cx->launched || worker >= cx->launched_workers) return 0;
  if (cx->shown)
    return rdl__running_on(cx, worker, &runs) && runs.segment == watched->answered ? watched->since
                                                                                   : 0u;
  if (rdl__apart(cx) || !cx->question || !held_by(cx, worker)) return 0;
  return watched->since;
}

uint64_t rdl__held_ns(const rdl_context *cx, uint32_t worker) {
  uint64_t since = held_since(cx, worker);
  return since ? rdl__now_ns() - since : 0u;
}

/* Workers that are held; 0 = none is known. */
static uint32_t tell_held_workers(rdl_context *cx, rdl__text *out) {
  uint32_t k, held = 0;
  for (k = 0; k < cx->workers; k++) {
    uint64_t ns = rdl__held_ns(cx, k);
    rdl__running runs;
    if (!ns || !rdl__running_on(cx, k, &runs) || held++ >= MOST_NAMED) continue;
    rdl__text_print(out, "%sworker %u has been running one segment of task ", held > 1 ? ", " : "",
                    k);
    rdl__tell_task(cx, runs.task, out);
    rdl__text_print(out, " for ");
    rdl__tell_ns(ns, out);
  }
  if (held > MOST_NAMED) rdl__text_print(out, ", and %u more", held - MOST_NAMED);
  return held;
}

void rdl__tell_held(rdl_context *cx, rdl__text *out) {
  uint64_t overdue = rdl__overdue_ns(cx);
  rdl__watch(cx);
  if (!tell_held_workers(cx, out) && overdue) tell_launch(cx, overdue, out);
}
