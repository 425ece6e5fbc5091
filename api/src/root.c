/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roots: the futures in the host's own slots. The host makes their records itself, so that a handle
 * is good on the device before the message that starts the future has been read. A slot goes back
 * to the host's stack when the outcome is taken, or through the `returned` ring when it was
 * detached.
 */
#include <stddef.h>
#include <string.h>

#include "api/src/core.h"

/* Frees what the future needed on the device for its arguments, then the slot. */
static void free_slot(rdl_context *cx, uint32_t slot) {
  rdl__root *root = &cx->roots[slot];
  rdl__unstage(cx, root->staging);
  root->staging = NULL;
  root->state = RDL__ROOT_FREE;
  if (rdl_load_relaxed(&cx->records[slot].generation) == 0u) return; /* wrapped: retired */
  cx->free_roots[cx->free_root_count++] = slot;
}

/* Roots that end together stand in a list: the end of one may be the end of those that it waited
 * for, and a chain of them is longer than a stack is deep. */
static void end_later(rdl_context *cx, uint32_t slot, uint32_t *list) {
  cx->roots[slot].next = *list;
  *list = slot;
}

/* A handle of the host's becomes stale. Of a root that ran since the last launch ended the host's
 * copy has an old ticket, but the outcome the last. */
static void end_record(rdl_context *cx, uint32_t slot) {
  rdl_record *record = &cx->records[slot];
  if (cx->window && rdl__root_done(cx, slot, cx->roots[slot].generation))
    record->wait = cx->posts[slot].wait;
  rdl_store_release(&record->wait, (rdl_load_relaxed(&record->wait) & RDL_TICKET_MASK) | RDL_FREE);
  rdl_store_release(&record->generation, cx->roots[slot].generation + 1u);
  if (!rdl__say_freed(cx, slot)) rdl__wrote(cx, record, sizeof *record);
}

static void end_taken(rdl_context *cx, uint32_t slot, uint32_t *list) {
  end_record(cx, slot);
  end_later(cx, slot, list);
}

/* A root that was released rather than taken may have closed its list and not yet posted its
 * outcome: then the device, which knows, frees the slot. */
static void let_go(rdl_context *cx, uint32_t slot, uint32_t *list) {
  uint32_t generation = cx->roots[slot].generation;
  rdl_message message = {.kind = RDL_SAY_RELEASE, .slot = slot, .generation = generation};
  cx->taken_roots--;
  if (rdl__root_done(cx, slot, generation))
    end_taken(cx, slot, list);
  else if (rdl__try_say(cx, &message))
    cx->roots[slot].state = RDL__ROOT_DETACHED;
  /* else the mailbox is full: the slot stays taken until the context is closed */
}

static void let_all_go(rdl_context *cx, const rdl_future *futures, uint32_t count, uint32_t *list) {
  uint32_t k;
  for (k = 0; k < count; k++) {
    uint32_t slot = futures[k].index & RDL_MAX_SLOTS;
    if (slot > cx->options.roots) continue;
    if (--cx->roots[slot].gates == 0 && cx->roots[slot].state == RDL__ROOT_TAKEN)
      let_go(cx, slot, list);
  }
}

/* The root has seen what it waited for, or never will: those that were taken meanwhile can go. */
static void pass_gate(rdl_context *cx, uint32_t slot, uint32_t *list) {
  rdl__after *after = cx->roots[slot].after;
  struct rdl_gate_args gate;
  if (!after) return;
  cx->roots[slot].after = NULL;
  memcpy(&gate, cx->outcomes[slot].gate, sizeof gate);
  let_all_go(cx, after->list + gate.row, gate.count, list);
  if (--after->roots) return;
  let_all_go(cx, after->list, after->common, list);
  rdl__after_free(cx, after);
}

static void end_all(rdl_context *cx, uint32_t list) {
  while (list) {
    uint32_t slot = list;
    list = cx->roots[slot].next;
    pass_gate(cx, slot, &list);
    free_slot(cx, slot);
  }
}

/* The host is done with the root: its outcome was taken or it never started. */
void rdl__root_free(rdl_context *cx, uint32_t slot) {
  uint32_t list = 0;
  cx->roots_alive--;
  if (!cx->roots[slot].after && !cx->roots[slot].gates) { /* alone, as most are */
    end_record(cx, slot);
    free_slot(cx, slot);
    return;
  }
  pass_gate(cx, slot, &list);
  if (cx->roots[slot].gates) {
    cx->roots[slot].state = RDL__ROOT_TAKEN;
    cx->taken_roots++;
  } else {
    end_taken(cx, slot, &list);
  }
  end_all(cx, list);
}

/* None waits for another any more before the first is free. */
void rdl__roots_abandon(rdl_context *cx, const uint32_t *slots, size_t count) {
  uint32_t list = 0;
  size_t k;
  for (k = 0; k < count; k++)
    pass_gate(cx, slots[k], &list);
  end_all(cx, list);
  for (k = 0; k < count; k++) {
    if (cx->roots[slots[k]].state == RDL__ROOT_DETACHED) cx->roots_alive++; /* was not counted */
    rdl__root_free(cx, slots[k]);
  }
}

/* Takes back the slots of detached futures that have ended. */
void rdl__roots_collect(rdl_context *cx) {
  rdl_ring *ring = &cx->control->returned;
  rdl_cell *cells = (rdl_cell *)(void *)(cx->heap + ring->cells);
  if (rdl__apart(cx) && cx->launched) return; /* all that can be seen has been taken */
  for (;;) {
    rdl_cell *cell = &cells[ring->head & ring->mask];
    uint32_t list = 0;
    if (rdl_load_acquire(&cell->sequence) != ring->head + 1u) return;
    end_later(cx, cell->slot, &list);
    end_all(cx, list);
    rdl_store_release(&cell->sequence, ring->head + ring->mask + 1u);
    rdl__wrote(cx, &cell->sequence, sizeof cell->sequence);
    ring->head++;
    rdl__wrote(cx, &ring->head, sizeof ring->head);
  }
}

static bool has_passed(rdl_context *cx, uint32_t slot, uint32_t gate) {
  return (rdl_load_acquire(&cx->records[slot].task) & RDL_TASK_MASK) != gate ||
         rdl__root_done(cx, slot, cx->roots[slot].generation);
}

/* Roots that run on after their gates, and done ones that nobody takes, have no more need of what
 * they waited for. Asked for only when no root is free, because it looks at all of them. */
static void collect_passed(rdl_context *cx) {
  uint32_t gate = rdl__own_task(cx, "rdl_gate")->word & RDL_TASK_MASK;
  uint64_t begin = rdl__now_ns();
  uint32_t slot, list = 0;
  for (slot = 1; slot < cx->fresh_root; slot++)
    if (cx->roots[slot].after && has_passed(cx, slot, gate)) pass_gate(cx, slot, &list);
  end_all(cx, list);
  cx->look_ns = rdl__now_ns() - begin;
}

static uint32_t take_free(rdl_context *cx) {
  while (cx->free_root_count) {
    uint32_t slot = cx->free_roots[--cx->free_root_count];
    if (slot <= cx->usable_roots) return slot; /* a larger frame may have taken others' places */
  }
  return 0;
}

uint32_t rdl__root_take(rdl_context *cx) {
  uint32_t slot;
  if (!cx->free_root_count) rdl__roots_collect(cx);
  slot = take_free(cx);
  if (slot) return slot;
  if (cx->fresh_root > cx->usable_roots) {
    if (!cx->taken_roots) return 0;
    collect_passed(cx);
    return take_free(cx);
  }
  slot = cx->fresh_root++;
  rdl_store_relaxed(&cx->records[slot].waiters, RDL_LIST_CLOSED);
  rdl_store_release(&cx->records[slot].generation, cx->base_generation);
  return slot;
}

rdl_status rdl__no_root(rdl_context *cx) {
  static const char way_out[] = "take or release finished futures, or raise the option";
  if (cx->usable_roots < cx->options.roots)
    return rdl__error(RDL_AGAIN,
                      "all %u roots that there is room for are in use: %s `frame_bytes` "
                      "(now %llu), which is too small for all %u roots",
                      cx->usable_roots, way_out, (unsigned long long)cx->options.frame_bytes,
                      cx->options.roots);
  return rdl__error(RDL_AGAIN, "all %u roots are in use: %s `roots`", cx->usable_roots, way_out);
}

void rdl__roots_put_back(rdl_context *cx, const uint32_t *slots, size_t count) {
  while (count)
    cx->free_roots[cx->free_root_count++] = slots[--count];
}

uint32_t rdl__block_units(uint32_t word, uint32_t shift) {
  uint32_t size_class = (word >> shift) & RDL_CLASS_MASK;
  return size_class == RDL_CLASS_NONE ? 0u : 1u << size_class;
}

#define RDL__GATE_BYTES (sizeof(rdl_outcome) - offsetof(rdl_outcome, frame))

/* The root is a gate until it has seen what it waits for, and then becomes its task. */
static uint32_t put_gate(rdl_context *cx, uint32_t slot, uint32_t word,
                         const struct rdl_gate_args *gate) {
  rdl_record *record = &cx->records[slot];
  struct rdl_gate_args args = *gate;
  args.task = word & RDL_TASK_WORD;
  memcpy(cx->outcomes[slot].gate, &args, sizeof args);
  cx->outcomes[slot].frame = record->frame;
  rdl__wrote(cx, &cx->outcomes[slot].frame, RDL__GATE_BYTES);
  record->frame = (uint32_t)(((unsigned char *)cx->outcomes[slot].gate - cx->heap) / RDL_UNIT);
  return (word & ~RDL_TASK_WORD) | rdl__own_task(cx, "rdl_gate")->word;
}

/* With memory apart the device's count may not be written, and is good enough as it was last seen.
 */
static uint32_t next_born(rdl_context *cx) {
  if (rdl__apart(cx)) return cx->control->born;
  if (cx->born == cx->born_end) {
    cx->born = rdl_fetch_add(&cx->control->born, 64u);
    cx->born_end = cx->born + 64u;
  }
  return cx->born++;
}

/* The record of a new root. The wait word and the open list come last: from then on tasks that have
 * the handle may await it. */
void rdl__root_fill(rdl_context *cx, uint32_t slot, const rdl__known_task *task, const void *args,
                    rdl__root_state state, const struct rdl_gate_args *gate) {
  rdl_record *record = &cx->records[slot];
  rdl__root *root = &cx->roots[slot];
  uint32_t word = (task ? task->word : RDL_CLASS_NONE << RDL_RESULT_SHIFT) | RDL_TASK_HOST;
  uint32_t ticket = (rdl_load_relaxed(&record->wait) & RDL_TICKET_MASK) + RDL_TICKET_ONE;
  uint32_t frame = cx->root_frames + slot * cx->root_stride;
  /* Of a slot that was never used the launch before knew nothing. */
  if (!record->generation) record->generation = cx->base_generation;
  root->generation = record->generation;
  root->state = state;
  root->task = word;
  root->batch = root->cancelled = false;
  root->gates = 0;
  root->after = NULL;
  root->args_words = task ? (task->info.args_size + 3u) / 4u : 0u;
  root->result_size = task ? task->info.result_size : RDL_INLINE_SIZE;
  if (state != RDL__ROOT_DETACHED) word |= RDL_TASK_ANSWERS;
  if (!task) word |= RDL_TASK_WAITED;
  rdl_store_relaxed(&record->resume, 0u);
  record->owner = 0;
  record->first_child = 0;
  record->cause = 0;
  record->frame = frame;
  record->result[0] = frame + rdl__block_units(word, RDL_FRAME_SHIFT);
  if (gate) word = put_gate(cx, slot, word, gate);
  rdl_store_relaxed(&record->task, word);
  rdl_store_relaxed(&record->children, RDL_CODE_RUNS);
  record->result[RDL_WORD_BORN] = next_born(cx);
  if (!task) record->result[RDL_WORD_SINCE] = rdl__as_ms(rdl__now_ns());
  if (task && task->info.args_size)
    memcpy(cx->heap + (uint64_t)frame * RDL_UNIT, args, task->info.args_size);
  rdl_store_relaxed(&record->wait, ticket | (task ? RDL_READY : RDL_WAITING));
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
    return rdl__error(RDL_INVALID, "{%#x, %u} is not a future that this context gave to the host%s",
                      future.index, future.generation, RDL__IF_ZERO(future, "the spawn"));
  if (!rdl__root_held(cx, slot, future.generation))
    return rdl__error(RDL_STALE, "future %u, handle {%#x, %u}, was taken or released before", slot,
                      future.index, future.generation);
  *out_slot = slot;
  return RDL_OK;
}

/* As a write like any other, which comes before the message that needs it. */
void rdl__root_note(rdl_context *cx, uint32_t slot) {
  uint64_t frame = cx->root_frames + (uint64_t)slot * cx->root_stride;
  rdl__wrote(cx, &cx->records[slot], sizeof cx->records[slot]);
  rdl__wrote(cx, cx->heap + frame * RDL_UNIT, (size_t)cx->root_stride * RDL_UNIT);
}

void rdl__root_known(rdl_context *cx, uint32_t slot) {
  if (!rdl__say_root(cx, slot, RDL_SAY_MAKE)) rdl__root_note(cx, slot);
}

rdl_status rdl__root_start(rdl_context *cx, uint32_t slot) {
  if (rdl__say_root(cx, slot, RDL_SAY_START)) return RDL_OK;
  rdl__root_note(cx, slot);
  return rdl__root_say(cx, slot, RDL_SAY_ROOT);
}

rdl_status rdl__root_say(rdl_context *cx, uint32_t slot, uint32_t kind) {
  rdl_message message = {.kind = kind, .slot = slot, .generation = cx->roots[slot].generation};
  if (kind == RDL_SAY_ROOT) message.address = (uint64_t)cx->records[slot].frame * RDL_UNIT;
  return rdl__say(cx, &message);
}
