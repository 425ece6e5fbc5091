/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roots: the futures in the host's own slots. The host makes their records itself, so that a handle
 * is good on the device before the message that starts the future has been read. A slot goes back
 * to the host's stack when the outcome is taken, or through the `returned` ring when it was
 * detached.
 */
#include <string.h>

#include "api/src/core.h"

static void recycle(rdl_context *cx, uint32_t slot);

/* A handle of the host's becomes stale. */
static void end_taken(rdl_context *cx, uint32_t slot) {
  rdl_record *record = &cx->records[slot];
  rdl_store_release(&record->wait, (rdl_load_relaxed(&record->wait) & RDL_TICKET_MASK) | RDL_FREE);
  rdl_store_release(&record->generation, record->generation + 1u);
  recycle(cx, slot);
}

/* A root that was released rather than taken may have closed its list and not yet posted its
 * outcome: then the device, which knows, frees the slot. */
static void let_go(rdl_context *cx, uint32_t slot) {
  uint32_t generation = cx->roots[slot].generation;
  rdl_message message = {.kind = RDL_SAY_RELEASE, .slot = slot, .generation = generation};
  if (rdl__root_done(cx, slot, generation))
    end_taken(cx, slot);
  else if (rdl__try_say(cx, &message))
    cx->roots[slot].state = RDL__ROOT_DETACHED;
  /* else the mailbox is full: the slot stays taken until the context is closed */
}

/* The gate has seen what it waited for: those that were taken meanwhile can go. */
static void open_gate(rdl_context *cx, rdl__root *gate) {
  const rdl_future *futures = gate->staging;
  uint32_t k;
  for (k = 0; k < gate->gated_by; k++) {
    uint32_t slot = futures[k].index & RDL_MAX_SLOTS;
    if (slot > cx->options.roots || cx->roots[slot].generation != futures[k].generation) continue;
    if (--cx->roots[slot].gates == 0 && cx->roots[slot].state == RDL__ROOT_TAKEN) let_go(cx, slot);
  }
  gate->gated_by = 0;
}

/* Frees what a future needed on the device for its arguments, then the slot. */
static void recycle(rdl_context *cx, uint32_t slot) {
  rdl__root *root = &cx->roots[slot];
  if (root->gated_by) open_gate(cx, root);
  if (root->staging) cx->backend->release(cx->device, root->staging);
  root->staging = NULL;
  root->state = RDL__ROOT_FREE;
  if (rdl_load_relaxed(&cx->records[slot].generation) == 0u) return; /* wrapped: retired */
  cx->free_roots[cx->free_root_count++] = slot;
}

/* The host is done with the root: its outcome was taken or it never started. */
void rdl__root_free(rdl_context *cx, uint32_t slot) {
  cx->roots_alive--;
  if (cx->roots[slot].gates)
    cx->roots[slot].state = RDL__ROOT_TAKEN;
  else
    end_taken(cx, slot);
}

/* Takes back the slots of detached futures that have ended. */
void rdl__roots_collect(rdl_context *cx) {
  rdl_ring *ring = &cx->control->returned;
  rdl_cell *cells = (rdl_cell *)(void *)(cx->heap + ring->cells);
  for (;;) {
    rdl_cell *cell = &cells[ring->head & ring->mask];
    if (rdl_load_acquire(&cell->sequence) != ring->head + 1u) return;
    recycle(cx, cell->slot);
    rdl_store_release(&cell->sequence, ring->head + ring->mask + 1u);
    ring->head++;
  }
}

uint32_t rdl__root_take(rdl_context *cx) {
  uint32_t slot;
  if (!cx->free_root_count) rdl__roots_collect(cx);
  while (cx->free_root_count) {
    slot = cx->free_roots[--cx->free_root_count];
    if (slot <= cx->usable_roots) return slot; /* a larger frame may have taken others' places */
  }
  if (cx->fresh_root > cx->usable_roots) return 0;
  slot = cx->fresh_root++;
  rdl_store_relaxed(&cx->records[slot].waiters, RDL_LIST_CLOSED);
  rdl_store_release(&cx->records[slot].generation, cx->base_generation);
  return slot;
}

static uint32_t blocks_of(uint32_t word, uint32_t shift) {
  uint32_t size_class = (word >> shift) & RDL_CLASS_MASK;
  return size_class == RDL_CLASS_NONE ? 0u : 1u << size_class;
}

/* The record of a new root. The wait word and the open list come last: from then on tasks that have
 * the handle may await it. A gated root waits until the device wakes it. */
void rdl__root_fill(rdl_context *cx, uint32_t slot, const rdl__known_task *task, const void *args,
                    rdl__root_state state, bool gated) {
  rdl_record *record = &cx->records[slot];
  rdl__root *root = &cx->roots[slot];
  uint32_t word = (task ? task->word : RDL_CLASS_NONE << RDL_RESULT_SHIFT) | RDL_TASK_HOST;
  uint32_t ticket = (rdl_load_relaxed(&record->wait) & RDL_TICKET_MASK) + RDL_TICKET_ONE;
  bool waits = gated || !task;
  uint32_t frame = cx->root_frames + slot * cx->root_stride;
  root->generation = record->generation;
  root->state = state;
  root->task = word;
  root->gates = 0;
  root->gated_by = 0;
  root->result_size = task ? task->info.result_size : RDL_INLINE_SIZE;
  if (state != RDL__ROOT_DETACHED) word |= RDL_TASK_ANSWERS;
  if (waits) word |= RDL_TASK_WAITED;
  rdl_store_relaxed(&record->resume, 0u);
  record->owner = 0;
  record->first_child = 0;
  record->cause = 0;
  record->frame = frame;
  record->result[0] = frame + blocks_of(word, RDL_FRAME_SHIFT);
  rdl_store_relaxed(&record->task, word);
  rdl_store_relaxed(&record->children, RDL_CODE_RUNS);
  cx->sides[slot].born = rdl_fetch_add(&cx->control->born, 1u);
  cx->sides[slot].home = 0;
  if (task && task->info.args_size)
    memcpy(cx->heap + (uint64_t)frame * RDL_UNIT, args, task->info.args_size);
  rdl_store_relaxed(&record->wait, ticket | (waits ? RDL_WAITING : RDL_READY));
  rdl_store_release(&record->waiters, state == RDL__ROOT_DETACHED ? RDL_DETACHED_BIT : RDL_NIL);
  if (state == RDL__ROOT_DETACHED) return;
  if (++cx->roots_alive > cx->roots_alive_most) cx->roots_alive_most = cx->roots_alive;
}

rdl_future rdl__root_handle(rdl_context *cx, uint32_t slot) {
  rdl_future f = {slot | cx->number << 24, cx->roots[slot].generation};
  return f;
}

rdl_status rdl__root_find(rdl_context *cx, rdl_future future, uint32_t *out_slot) {
  uint32_t slot = future.index & RDL_MAX_SLOTS;
  if (future.index >> 24 != cx->number || slot == 0 || slot > cx->options.roots ||
      !future.generation)
    return rdl__error(RDL_INVALID, "{%#x, %u} is not a future that this context gave to the host",
                      future.index, future.generation);
  if (cx->roots[slot].generation != future.generation || cx->roots[slot].state == RDL__ROOT_FREE ||
      cx->roots[slot].state == RDL__ROOT_DETACHED || cx->roots[slot].state == RDL__ROOT_TAKEN)
    return rdl__error(RDL_STALE, "the future {%#x, %u} was taken or released before", future.index,
                      future.generation);
  *out_slot = slot;
  return RDL_OK;
}

bool rdl__root_done(rdl_context *cx, uint32_t slot, uint32_t generation) {
  return rdl_load_acquire(&cx->outcomes[slot].generation) == generation;
}

rdl_status rdl__root_start(rdl_context *cx, uint32_t slot, uint32_t kind) {
  rdl_message message = {.kind = kind, .slot = slot, .generation = cx->roots[slot].generation};
  return rdl__say(cx, &message);
}
