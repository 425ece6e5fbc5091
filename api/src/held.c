/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch has on it, in words, for who asks why it does not end or how it ended: the futures
 * that the host has started and that have not ended, and, where that is known, what its workers
 * run. Of many that run the same task one is named. All of it is read from the host's own memory,
 * so it is there also when the device is lost.
 */
#include <stdio.h>

#include "api/src/core.h"

#define MOST_KINDS 8u

/* Those of one task. */
typedef struct kind {
  uint32_t task; /* word */
  bool batch;
  uint32_t count;
  uint32_t worker; /* the first one, */
  rdl_future future;
} kind;

typedef struct kinds {
  uint32_t count; /* of all, also of those in none of these */
  uint32_t used;
  kind list[MOST_KINDS];
} kinds;

static void sort_in(kinds *all, const kind *like) {
  uint32_t k;
  all->count++;
  for (k = 0; k < all->used; k++) {
    kind *known = &all->list[k];
    if (known->task != like->task || known->batch != like->batch) continue;
    known->count++;
    return;
  }
  if (k == MOST_KINDS) return;
  all->list[all->used] = *like;
  all->list[all->used++].count = 1;
}

static uint32_t told(const kinds *all) {
  uint32_t k, sum = 0;
  for (k = 0; k < all->used; k++)
    sum += all->list[k].count;
  return sum;
}

static void tell_future(const kind *k, rdl__text *out) {
  rdl__text_print(out, "{%#x, %u}", k->future.index, k->future.generation);
}

/* ---- the host's futures ---- */

static bool may_run(const rdl_context *cx, uint32_t slot) {
  const rdl__root *root = &cx->roots[slot];
  return (root->state == RDL__ROOT_HELD || root->state == RDL__ROOT_DETACHED ||
          root->state == RDL__ROOT_TAKEN) &&
         !rdl__root_done(cx, slot, root->generation);
}

static void tell_root_kind(const rdl_context *cx, const kind *k, rdl__text *out) {
  if (k->count > 1u) rdl__text_print(out, "%u of ", k->count);
  rdl__text_print(out, "%stask ", k->batch ? "a batch of " : "");
  rdl__tell_task(cx, k->task, out);
  rdl__text_print(out, k->count > 1u ? ", one of them " : ", future ");
  tell_future(k, out);
}

void rdl__tell_roots(rdl_context *cx, rdl__text *out) {
  kinds all = {.count = 0};
  uint32_t slot, k;
  for (slot = 1; slot < cx->fresh_root; slot++) {
    kind like = {.task = cx->roots[slot].task & RDL_TASK_MASK, .batch = cx->roots[slot].batch};
    if (!may_run(cx, slot)) continue;
    like.future = rdl__root_handle(cx, slot);
    sort_in(&all, &like);
  }
  if (!all.count) {
    rdl__text_print(out, "nothing that the host has started and may still ask for");
    return;
  }
  rdl__text_print(out, "%u future%s that the host has started: ", all.count,
                  all.count > 1u ? "s" : "");
  for (k = 0; k < all.used; k++) {
    if (k) rdl__text_print(out, "; ");
    tell_root_kind(cx, &all.list[k], out);
  }
  if (all.count > told(&all)) rdl__text_print(out, "; and %u of others", all.count - told(&all));
}

/* ---- workers ---- */

/* A slot, a generation and a task that fit together, unless the worker writes them just now. */
bool rdl__running_on(const rdl_context *cx, uint32_t worker, rdl__running *out) {
  if (cx->shown) {
    const rdl_running *shown = &cx->shown[worker];
    out->slot = rdl_load_acquire(&shown->slot);
    out->generation = rdl_load_relaxed(&shown->generation);
    out->task = rdl_load_relaxed(&shown->task);
    out->segment = rdl_load_relaxed(&shown->segment);
  } else if (rdl__apart(cx)) {
    return false; /* what is in the heap is of the launch before */
  } else {
    out->slot = rdl_load_relaxed(&cx->worker_states[worker].running);
    if (out->slot >= cx->control->slots) return false;
    out->generation = rdl_load_relaxed(&cx->records[out->slot].generation);
    out->task = rdl_load_relaxed(&cx->records[out->slot].task);
    out->segment = 0;
  }
  if (!out->slot || out->slot >= cx->control->slots) return false;
  if (out->slot <= cx->options.roots) out->task = cx->roots[out->slot].task;
  return true;
}

void rdl__tell_running(const rdl_context *cx, const rdl__running *running, rdl__text *out) {
  rdl__text_print(out, "task ");
  rdl__tell_task(cx, running->task, out);
  rdl__text_print(out, ", future {%#x, %u}", running->slot | cx->number << 24, running->generation);
}

static void tell_worker_kind(const rdl_context *cx, const kind *k, rdl__text *out) {
  if (k->count > 1u)
    rdl__text_print(out, "%u workers ran task ", k->count);
  else
    rdl__text_print(out, "worker %u ran task ", k->worker);
  rdl__tell_task(cx, k->task, out);
  rdl__text_print(out, ", ");
  if (k->count > 1u) rdl__text_print(out, "one of them, worker %u, ", k->worker);
  rdl__text_print(out, "future ");
  tell_future(k, out);
}

bool rdl__tell_workers(const rdl_context *cx, rdl__text *out) {
  kinds all = {.count = 0};
  uint32_t worker, k;
  for (worker = 0; worker < cx->launched_workers; worker++) {
    rdl__running runs;
    kind like = {.worker = worker};
    if (!rdl__running_on(cx, worker, &runs)) continue;
    like.task = runs.task & RDL_TASK_MASK;
    like.future = (rdl_future){runs.slot | cx->number << 24, runs.generation};
    sort_in(&all, &like);
  }
  for (k = 0; k < all.used; k++) {
    if (k) rdl__text_print(out, "; ");
    tell_worker_kind(cx, &all.list[k], out);
  }
  if (all.count > told(&all))
    rdl__text_print(out, "; and %u workers ran others", all.count - told(&all));
  return all.count != 0u;
}

/* ---- the device is lost ---- */

/* Only a device with a window can tell more, and only when it was asked to. */
static bool could_tell_more(const rdl_context *cx) {
  return cx->lost == RDL_DEVICE_LOST && cx->window && !cx->shown;
}

void rdl__tell_lost(rdl_context *cx, const rdl_reason *why, rdl__text *out) {
  rdl__text_print(out, "%s When it was lost ", why->text);
  rdl__text_print(out, rdl__tell_workers(cx, out) ? ". It held " : "it held ");
  rdl__tell_roots(cx, out);
  if (could_tell_more(cx))
    rdl__text_print(out, ". One of these, or of what they have spawned, may be the cause: with the "
                         "option `checked` of the context, or RADDLE_CHECKED=1, the tasks that ran "
                         "are named");
}
