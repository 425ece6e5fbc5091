/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is ready in the ring of a worker that a segment holds would wait for its end. From the first
 * question of a launch on (watchdog.c) a future starts by a swap of its word. Who has not answered
 * yet is in a segment that began before, and sees the question before it starts another. So the
 * host may swap words, too: one that it gives a new ticket is its own, whatever ring its old entry
 * stands in, and goes to the others as a message. What a held worker runs it can mark as cancelled.
 *
 * Left are futures that no entry of the ring names: those that have yielded, that are LOCAL to the
 * worker, and that wait there for room.
 */
#include "api/src/core.h"

static bool has_answered(const rdl_context *cx, uint32_t worker) {
  return rdl_load_acquire(&cx->worker_states[worker].answered) != 0u;
}

/* No worker starts a future without a swap any more. One that has come but not answered, and runs
 * no segment, may be about to. */
static bool all_are_careful(rdl_context *cx, uint32_t *out_held) {
  uint32_t come = rdl_load_ordered(&cx->control->registered) & ~RDL_LAUNCH_CLOSED;
  uint32_t k;
  *out_held = 0;
  for (k = 0; k < come && k < cx->launched_workers; k++) {
    if (rdl__held_ns(cx, k)) ++*out_held;
    if (!has_answered(cx, k) && !rdl__held_ns(cx, k)) return false;
  }
  return true;
}

/* Asked after the word was read: who runs nothing any more has changed it before. */
static bool runs(const rdl_context *cx, uint32_t slot) {
  uint32_t k;
  for (k = 0; k < cx->launched_workers; k++)
    if (rdl_load_acquire(&cx->worker_states[k].running) == slot) return true;
  return false;
}

static bool stays(const rdl_context *cx, uint32_t slot) {
  return (rdl_load_relaxed(&cx->records[slot].task) & RDL_TASK_LOCAL) && cx->sides[slot].home;
}

/* False when the mailbox is full. It is looked at first, for what has been taken must be sent. */
static bool take(rdl_context *cx, const rdl_entry *entry, uint32_t slot, uint32_t wait) {
  rdl_record *record = &cx->records[slot];
  uint32_t word = rdl_load_acquire(&record->wait);
  rdl_message message = {.kind = RDL_SAY_RUN, .slot = slot};
  if ((word & ~RDL_CANCEL_BIT) != wait || (wait & RDL_STATE_MASK) != RDL_READY) return true;
  if (rdl_load_acquire(&entry->wait) != wait) return true;
  if (runs(cx, slot) || stays(cx, slot)) return true;
  if (!rdl__may_say(cx, 1u)) return false;
  if (rdl_cas(&record->wait, word, word + RDL_TICKET_ONE) != word) return true;
  message.generation = wait + RDL_TICKET_ONE;
  return rdl__try_say(cx, &message);
}

/* The owner may push meanwhile, the slot first. So the word is read before the slot, and once more
 * after the record: else slot and word could be of two entries, and name a future that is READY and
 * stands in no queue yet, because it has just been woken (conformance/model/rescue.py). */
static void take_ring(rdl_context *cx, const rdl_entry *ring) {
  uint32_t k;
  for (k = 0; k < RDL_LOCAL_RING; k++) {
    uint32_t wait = rdl_load_acquire(&ring[k].wait);
    uint32_t slot = rdl_load_acquire(&ring[k].slot);
    if (slot && slot < cx->control->slots && !take(cx, &ring[k], slot, wait)) return;
  }
}

/* Who would take the host's message may be held, too, or have left: the running future gets its
 * mark from the host, as from another worker (rdl_cancel). */
static void cancel_running(rdl_context *cx, uint32_t slot) {
  uint32_t word = rdl_load_acquire(&cx->records[slot].wait);
  uint32_t state = word & RDL_STATE_MASK;
  if (state != RDL_READY && state != RDL_QUEUED && state != RDL_RUNNING) return;
  if (rdl_load_relaxed(&cx->records[slot].task) & RDL_TASK_CANCELLED) return;
  (void)rdl_cas(&cx->records[slot].wait, word, word | RDL_CANCEL_BIT); /* else in 50 ms */
}

void rdl__cancel_held(rdl_context *cx) {
  uint32_t k;
  for (k = 0; k < cx->launched_workers; k++) {
    uint32_t slot = rdl_load_acquire(&cx->worker_states[k].running);
    bool asked = slot <= cx->options.roots && cx->roots[slot].cancelled;
    if (slot && (asked || cx->closing) && rdl__held_ns(cx, k)) cancel_running(cx, slot);
  }
}

void rdl__rescue(rdl_context *cx) {
  const rdl_entry *rings = (const rdl_entry *)(const void *)(cx->heap + cx->control->rings);
  uint32_t held, k;
  if (!cx->question || !all_are_careful(cx, &held)) return;
  if (!held || held == cx->launched_workers) return;
  for (k = 0; k < cx->launched_workers; k++)
    if (rdl__held_ns(cx, k)) take_ring(cx, rings + (size_t)k * RDL_LOCAL_RING);
}
