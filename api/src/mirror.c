/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices whose memory the host does not share. The core works on a copy of the heap, and this file
 * keeps the two alike: before a launch what the host has written goes to the device, after it what
 * the host looks at comes back. While a launch runs both sides go on writing, each to words that
 * the other leaves alone meanwhile; what the host wrote then is noted like everything else it
 * writes, and stands when the device's part comes back.
 *
 * Words of the device's are seen as the last launch left them: a root is done when the launch in
 * which it ended is over, and a message waits for the next launch. For those there may be a window,
 * see window.c.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

/* ---- what the host has written ---- */

/* Neighbours are noted as one: roots are filled in a row, and each writes to the same few tables.
 */
#define LOOK_BACK 8u

static bool extend(rdl_transfer *last, const void *memory, size_t offset, size_t bytes) {
  size_t end = offset + bytes, last_end = last->offset + last->bytes;
  if (last->memory != memory || offset > last_end || end < last->offset) return false;
  if (offset < last->offset) last->offset = offset;
  last->bytes = (end > last_end ? end : last_end) - last->offset;
  last->host = (unsigned char *)last->memory + last->offset;
  return true;
}

static bool make_room(rdl_context *cx) {
  size_t room = cx->written_room ? 2u * cx->written_room : 256u;
  rdl_transfer *written;
  if (cx->written_count < cx->written_room) return true;
  written = realloc(cx->written, room * sizeof *written);
  if (!written) return false;
  cx->written = written;
  cx->written_room = room;
  return true;
}

/* A program may write for long and start nothing: what is noted then goes to the device at rest. */
#define MOST_NOTED 16384u

static void send_early(rdl_context *cx) {
  rdl_reason why = {""};
  rdl_status status;
  if (cx->launched || cx->written_count < MOST_NOTED) return;
  status = rdl__push(cx, &why);
  if (status) rdl__lose_device(cx, status, &why);
}

void rdl__note_written(rdl_context *cx, void *memory, const void *at, size_t bytes) {
  size_t offset = (size_t)((const unsigned char *)at - (unsigned char *)memory);
  size_t k, least = cx->written_count > LOOK_BACK ? cx->written_count - LOOK_BACK : 0u;
  if (!bytes) return;
  for (k = cx->written_count; k > least; k--)
    if (extend(&cx->written[k - 1u], memory, offset, bytes)) return;
  send_early(cx);
  if (make_room(cx))
    cx->written[cx->written_count++] =
        (rdl_transfer){memory, offset, bytes, (unsigned char *)memory + offset};
  else
    cx->written_lost = true;
}

void rdl__forget_written(rdl_context *cx, const void *memory) {
  size_t k, kept = 0;
  for (k = 0; k < cx->written_count; k++)
    if (cx->written[k].memory != memory) cx->written[kept++] = cx->written[k];
  cx->written_count = kept;
}

void rdl__memory_release_now(rdl_context *cx, void *memory) {
  if (memory) rdl__forget_written(cx, memory);
  cx->backend->release(cx->device, memory);
}

/* What stands in the window may be words for this memory: it stays until the device has read them.
   The host's copy of it is of no use any more, and so notes that. */
void rdl__memory_release(rdl_context *cx, void *memory) {
  if (!memory || !cx->window || rdl__heard(cx) == cx->mailbox_tail) {
    rdl__memory_release_now(cx, memory);
    return;
  }
  rdl__forget_written(cx, memory);
  rdl__list_keep(cx, memory, memory);
}

rdl_status rdl__memory_take(rdl_context *cx, uint64_t bytes, void **out_memory) {
  rdl_reason why = {""};
  rdl_status status = RDL_OK;
  if (rdl__apart(cx)) status = rdl__service_hold(cx, rdl__deadline_ns(cx->options.close_ns));
  if (status) return status;
  if (bytes < sizeof(rdl__list)) bytes = sizeof(rdl__list); /* see rdl__memory_release */
  status = cx->backend->allocate(cx->device, bytes, out_memory, &why);
  if (rdl__apart(cx)) rdl__service_release(cx);
  return rdl__device_error(cx, status, &why);
}

rdl_status rdl__push(rdl_context *cx, rdl_reason *why) {
  rdl_status status;
  if (!rdl__apart(cx)) return RDL_OK;
  if (cx->written_lost) {
    snprintf(why->text, sizeof why->text,
             "the host had no memory left to note what the device must be told: close the context");
    return RDL_OUT_OF_MEMORY;
  }
  status = cx->backend->write(cx->device, cx->written, cx->written_count, why);
  if (!status) cx->written_count = 0;
  return status;
}

/* ---- what the device has written ---- */

/* Parts of the heap that come back together. */
#define MOST_PARTS 8u

typedef struct parts {
  rdl_transfer list[MOST_PARTS];
  size_t count;
  size_t bytes;
} parts;

static void add(rdl_context *cx, parts *p, uint64_t offset, uint64_t bytes) {
  if (bytes) p->list[p->count++] = (rdl_transfer){cx->heap, (size_t)offset, (size_t)bytes, NULL};
  p->bytes += (size_t)bytes;
}

/* What the host has written since the launch began is newer than what came. */
static void keep_written(rdl_context *cx, const rdl_transfer *part) {
  size_t k, end = part->offset + part->bytes;
  for (k = 0; k < cx->written_count; k++) {
    const rdl_transfer *w = &cx->written[k];
    size_t from = w->offset > part->offset ? w->offset : part->offset;
    size_t to = w->offset + w->bytes < end ? w->offset + w->bytes : end;
    if (w->memory == part->memory && from < to)
      memcpy((unsigned char *)part->host + (from - part->offset), cx->heap + from, to - from);
  }
}

/* Callers look at outcomes without the lock: the generation comes last. */
static void settle_outcomes(rdl_context *cx, const rdl_transfer *part) {
  const rdl_outcome *arrived = part->host;
  rdl_outcome *outcomes = (rdl_outcome *)(void *)(cx->heap + part->offset);
  size_t k, count = part->bytes / sizeof *arrived;
  for (k = 0; k < count; k++) {
    const rdl_outcome *from = &arrived[k];
    rdl_outcome *to = &outcomes[k];
    memcpy(&to->cause, &from->cause, sizeof *to - offsetof(rdl_outcome, cause));
    if (rdl_load_relaxed(&to->generation) != from->generation)
      rdl_store_release(&to->generation, from->generation);
  }
}

static void settle(rdl_context *cx, const parts *p) {
  size_t k;
  for (k = 0; k < p->count; k++) {
    const rdl_transfer *part = &p->list[k];
    keep_written(cx, part);
    if (part->offset == cx->control->outcomes + sizeof(rdl_outcome))
      settle_outcomes(cx, part);
    else
      memcpy(cx->heap + part->offset, part->host, part->bytes);
  }
}

static rdl_status fetch(rdl_context *cx, parts *p, rdl_reason *why) {
  unsigned char *to;
  rdl_status status;
  size_t k;
  if (p->bytes > cx->arrived_room) {
    free(cx->arrived);
    cx->arrived_room = 0;
    cx->arrived = malloc(2u * p->bytes);
    if (!cx->arrived) {
      snprintf(why->text, sizeof why->text,
               "out of host memory for %zu bytes of the device's: close the context", p->bytes);
      return RDL_OUT_OF_MEMORY;
    }
    cx->arrived_room = 2u * p->bytes;
  }
  to = cx->arrived;
  for (k = 0; k < p->count; k++) {
    p->list[k].host = to;
    to += p->list[k].bytes;
  }
  status = cx->backend->read(cx->device, p->list, p->count, why);
  if (!status) settle(cx, p);
  return status;
}

static void add_table(rdl_context *cx, parts *p, uint64_t at, uint64_t first, uint64_t end,
                      size_t size) {
  if (end > first) add(cx, p, at + first * size, (end - first) * size);
}

/* Slots that have come back to the host. */
static void add_returned(rdl_context *cx, parts *p) {
  const rdl_ring *ring = &cx->control->returned;
  uint32_t from = ring->head & ring->mask, count = ring->tail - ring->head;
  uint32_t straight = ring->mask + 1u - from;
  if (count < straight) straight = count;
  add_table(cx, p, ring->cells, from, (uint64_t)from + straight, sizeof(rdl_cell));
  add_table(cx, p, ring->cells, 0, count - straight, sizeof(rdl_cell));
}

static void add_task_slots(rdl_context *cx, parts *p, uint64_t at, size_t size) {
  add_table(cx, p, at, cx->options.roots + 1ull, rdl__fresh(cx, RDL_POOL_SLOTS), size);
}

/* Results that do not fit into an outcome lie where their roots have their frames; only those that
 * have just arrived are wanted, and lie close together as a rule. */
static void add_results(rdl_context *cx, parts *p, const uint32_t *before) {
  uint64_t first = UINT64_MAX, end = 0;
  uint32_t slot;
  for (slot = 1; slot < cx->fresh_root; slot++) {
    const rdl__root *root = &cx->roots[slot];
    const rdl_outcome *outcome = &cx->outcomes[slot];
    uint64_t at = (uint64_t)outcome->result[0] * RDL_UNIT;
    if (outcome->generation == before[slot] || outcome->generation != root->generation) continue;
    if (root->result_size <= RDL_INLINE_SIZE || !at || outcome->cause) continue;
    if (at < first) first = at;
    if (at + root->result_size > end) end = at + root->result_size;
  }
  if (end) add(cx, p, first, end - first);
}

static rdl_status pull_rest(rdl_context *cx, const uint32_t *before, rdl_reason *why) {
  parts p = {.count = 0};
  add_returned(cx, &p);
  if (before) add_results(cx, &p, before);
  if (cx->control->timers || cx->timer_count) {
    add_task_slots(cx, &p, cx->control->records, sizeof(rdl_record));
    add_table(cx, &p, cx->control->sides, 1, cx->fresh_root, sizeof(rdl_side));
    add_task_slots(cx, &p, cx->control->sides, sizeof(rdl_side));
  }
  return fetch(cx, &p, why);
}

/* An outcome whose result has not come has not come. */
static void take_back(rdl_context *cx, const uint32_t *before) {
  uint32_t slot;
  for (slot = 1; before && slot < cx->fresh_root; slot++)
    if (cx->roots[slot].result_size > RDL_INLINE_SIZE) cx->outcomes[slot].generation = before[slot];
}

static void add_always(rdl_context *cx, parts *p) {
  const rdl_control *c = cx->control;
  add(cx, p, 0, sizeof *c);
  add_table(cx, p, c->workers_at, 0, cx->workers, sizeof(rdl_worker));
  if (c->steps) add_table(cx, p, c->steps, 0, cx->workers, sizeof(rdl_step));
  add_table(cx, p, c->records, 1, cx->fresh_root, sizeof(rdl_record));
  if (!cx->window) add_table(cx, p, c->outcomes, 1, cx->fresh_root, sizeof(rdl_outcome));
  add_table(cx, p, c->events, 1, cx->fresh_event, sizeof(rdl_event_record));
}

/* Generations of the outcomes; those in a window come by themselves. */
static rdl_status note_outcomes(rdl_context *cx, uint32_t **out_before, rdl_reason *why) {
  uint32_t slot;
  *out_before = NULL;
  if (cx->window) return RDL_OK;
  *out_before = calloc(cx->fresh_root, sizeof **out_before);
  if (!*out_before) {
    snprintf(why->text, sizeof why->text,
             "out of host memory for a look at %u roots: close the context", cx->fresh_root);
    return RDL_OUT_OF_MEMORY;
  }
  for (slot = 1; slot < cx->fresh_root; slot++)
    (*out_before)[slot] = cx->outcomes[slot].generation;
  return RDL_OK;
}

rdl_status rdl__pull(rdl_context *cx, rdl_reason *why) {
  parts p = {.count = 0};
  uint32_t *before;
  rdl_status status;
  if (!rdl__apart(cx)) return RDL_OK;
  status = note_outcomes(cx, &before, why);
  if (status) return status;
  add_always(cx, &p);
  status = fetch(cx, &p, why);
  if (!status) status = pull_rest(cx, before, why);
  if (status) take_back(cx, before);
  free(before);
  return status;
}

rdl_status rdl__pull_tables(rdl_context *cx, rdl_reason *why) {
  const rdl_control *c = cx->control;
  parts p = {.count = 0};
  if (!rdl__apart(cx)) return RDL_OK;
  add_task_slots(cx, &p, c->records, sizeof(rdl_record));
  add_table(cx, &p, c->sides, 1, cx->fresh_root, sizeof(rdl_side));
  add_task_slots(cx, &p, c->sides, sizeof(rdl_side));
  /* The slots' own nodes, as far as slots are used, and those of the pool. */
  add_table(cx, &p, c->nodes, 1, cx->fresh_root, sizeof(rdl_node));
  add_task_slots(cx, &p, c->nodes, sizeof(rdl_node));
  add_table(cx, &p, c->nodes, c->slots, rdl__fresh(cx, RDL_POOL_NODES), sizeof(rdl_node));
  return fetch(cx, &p, why);
}

rdl_status rdl__pull_frames(rdl_context *cx, rdl_reason *why) {
  uint64_t end = (uint64_t)rdl__fresh(cx, RDL_POOL_FRAMES) * RDL_UNIT;
  return rdl__pull_part(cx, cx->frames, end > cx->frames ? end - cx->frames : 0u, why);
}

rdl_status rdl__pull_part(rdl_context *cx, uint64_t offset, uint64_t bytes, rdl_reason *why) {
  parts p = {.count = 0};
  if (!rdl__apart(cx)) return RDL_OK;
  add(cx, &p, offset, bytes);
  return fetch(cx, &p, why);
}
