/* SPDX-License-Identifier: Apache-2.0 */
/* Futures in words, for the texts of errors, warnings and dumps. */
#include "api/src/core.h"

static const rdl__known_task *known(const rdl_context *cx, uint32_t word) {
  uint32_t number = word & RDL_TASK_MASK;
  return number < cx->task_count ? &cx->tasks[number] : NULL;
}

void rdl__tell_task(const rdl_context *cx, uint32_t word, rdl__text *out) {
  const rdl__known_task *task = known(cx, word);
  if (task)
    rdl__text_print(out, "%s (%s:%u)", task->name, task->file, task->line);
  else
    rdl__text_print(out, "a task that is not known");
}

void rdl__tell_handle(const rdl_context *cx, uint32_t slot, rdl__text *out) {
  rdl__text_print(out, "{%#x, %u}", slot | cx->number << 24,
                  rdl_load_relaxed(&cx->records[slot].generation));
}

void rdl__tell_ns(uint64_t ns, rdl__text *out) {
  if (ns < 10u * (uint64_t)RDL__NS_PER_SECOND)
    rdl__text_print(out, "%llu ms", (unsigned long long)(ns / 1000000u));
  else
    rdl__text_print(out, "%llu s", (unsigned long long)(ns / RDL__NS_PER_SECOND));
}

/* A root is called what it was spawned as, also while it is in its gate. */
uint32_t rdl__task_of(const rdl_context *cx, uint32_t slot) {
  if (slot <= cx->options.roots) return cx->roots[slot].task;
  return rdl_load_relaxed(&cx->records[slot].task);
}

void rdl__tell_future(const rdl_context *cx, uint32_t slot, rdl__text *out) {
  bool root = slot <= cx->options.roots;
  rdl__text_print(out, "future ");
  rdl__tell_handle(cx, slot, out);
  if (rdl__is_promise(cx, slot)) {
    rdl__text_print(out, " of rdl_future_create");
  } else {
    rdl__text_print(out, root && cx->roots[slot].batch ? " of a batch of " : " of ");
    rdl__tell_task(cx, rdl__task_of(cx, slot), out);
  }
}

bool rdl__is_promise(const rdl_context *cx, uint32_t slot) {
  return slot < cx->fresh_root &&
         (cx->roots[slot].state == RDL__ROOT_PROMISE || cx->roots[slot].state == RDL__ROOT_KEPT);
}

static void tell_event(const rdl_context *cx, uint32_t slot, uint32_t index, rdl__text *out) {
  const rdl_event_record *event = &cx->event_records[index];
  const rdl_node *node = &cx->nodes[slot];
  rdl__text_print(out, "event {%#x, %u}, which stands at %u of %u", index | cx->number << 24,
                  rdl_load_relaxed(&event->generation), rdl_load_relaxed(&event->count),
                  rdl_load_relaxed(&event->target));
  /* The wait has the slot's own node, but where that still stands in an older list. */
  if (node->who == slot && node->ticket == rdl_load_relaxed(&cx->records[slot].wait) &&
      node->value != rdl_load_relaxed(&event->target))
    rdl__text_print(out, ", to reach %u", node->value);
}

/* The words may be of another wait than the state, where a launch runs: they only must not lead
 * anywhere outside. */
void rdl__tell_wait(const rdl_context *cx, uint32_t slot, rdl__text *out) {
  const rdl_record *record = &cx->records[slot];
  uint32_t awaits = rdl_load_relaxed(&record->result[RDL_WORD_AWAITS]);
  uint32_t children = rdl_load_relaxed(&record->children);
  if (awaits == RDL_AWAITS_CHILDREN)
    rdl__text_print(out, "its children, of which %u live",
                    children & ~(RDL_CHILDREN_AWAITED | RDL_CODE_RUNS));
  else if (awaits == RDL_AWAITS_ROOM)
    rdl__text_print(out, "room for what its next segment may spawn");
  else if (awaits == RDL_AWAITS_SET)
    rdl__text_print(out, "a set of futures");
  else if (awaits & RDL_AWAITS_EVENT && (awaits & RDL_MAX_SLOTS) < cx->fresh_event)
    tell_event(cx, slot, awaits & RDL_MAX_SLOTS, out);
  else if (awaits && awaits < cx->control->slots)
    rdl__tell_future(cx, awaits, out);
  else
    rdl__text_print(out, "something that is not known");
}
