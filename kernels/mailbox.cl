/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from the host. One ring, written by the host alone and read by the worker that holds the
 * try-lock; nobody waits for it. A message that cannot be done yet stays where it is.
 */

/* A root's record was made by the host; it only has to be put where a worker will find it. */
RDL_FN rdl_u32 rdl_start_root(rdl_cx *rdl, rdl_u32 slot) {
  rdl_u32 wait = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
  if ((wait & RDL_STATE_MASK) != RDL_READY) return 1; /* flat mode: claimed by who awaits it */
  return rdl_roots_push(rdl, slot, wait);
}

RDL_FN rdl_u32 rdl_start_roots(rdl_cx *rdl, RDL_GLOBAL rdl_message *message) {
  RDL_GLOBAL const rdl_u32 *slots = (RDL_GLOBAL const rdl_u32 *)(rdl_address)message->address;
  while (message->done < message->count && rdl_one_more(rdl)) {
    if (!rdl_start_root(rdl, slots[message->done])) return 0;
    message->done++;
  }
  return message->done == message->count;
}

/* Between the closing of a root's list and the posting of its outcome the finisher still works on
   the slot: then the message is looked at again. */
RDL_FN rdl_u32 rdl_release_root(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  if (rdl_load_acquire(&record->generation) != generation) return 1;
  if (!(rdl_fetch_or(&record->waiters, RDL_DETACHED_BIT) & RDL_LIST_CLOSED)) return 1;
  if (rdl_load_acquire(&rdl->outcomes[slot].generation) != generation) return 0;
  rdl_slot_free(rdl, slot);
  return 1;
}

/* A future without code ends as the host says. */
RDL_FN void rdl_complete_by_host(rdl_cx *rdl, RDL_GLOBAL rdl_message *message) {
  RDL_GLOBAL rdl_record *record = rdl->records + message->slot;
  rdl_u32 wait = rdl_load_acquire(&record->wait);
  rdl_u32 k;
  if (rdl_load_acquire(&record->generation) != message->generation) return;
  if ((wait & RDL_STATE_MASK) != RDL_WAITING) return;
  if (rdl_cas(&record->wait, wait, rdl_with_state(wait, RDL_RUNNING)) != wait) return;
  rdl_store_relaxed(&record->cause, message->value);
  for (k = 0; k < 4u; k++)
    record->result[k] = message->result[k];
  rdl_note_end(rdl, message->slot);
}

/* 0 = not yet. */
RDL_FN rdl_u32 rdl_obey(rdl_cx *rdl, RDL_GLOBAL rdl_message *message) {
  rdl_u32 kind = message->kind;
  rdl_event e;
  e.index = message->slot;
  e.generation = message->generation;
  if (kind == RDL_SAY_ROOT) {
    rdl_prefetch(rdl->heap + message->address);
    rdl_prefetch(rdl->outcomes + message->slot);
    return rdl_start_root(rdl, message->slot);
  }
  if (kind == RDL_SAY_ROOTS) return rdl_start_roots(rdl, message);
  if (kind == RDL_SAY_RELEASE) return rdl_release_root(rdl, message->slot, message->generation);
  if (kind == RDL_SAY_SIGNAL)
    rdl_event_signal(rdl, e, message->value);
  else if (kind == RDL_SAY_CANCEL)
    rdl_cancel(rdl, message->slot, message->generation);
  else if (kind == RDL_SAY_COMPLETE)
    rdl_complete_by_host(rdl, message);
  else if (kind == RDL_SAY_WAKE)
    rdl_wake(rdl, message->slot, message->generation, message->value);
  else if (kind == RDL_SAY_ROOM && rdl_load_relaxed(&rdl->control->room))
    rdl_note_room(rdl, RDL_ROOM_WAKE);
  else if (kind == RDL_SAY_RUN)
    rdl_ring_push(rdl, message->slot, message->generation);
  return 1;
}

#define RDL_MESSAGES_AT_ONCE 64u

RDL_FN rdl_u32 rdl_drain_mailbox(rdl_cx *rdl) {
  RDL_GLOBAL rdl_mailbox *box = &rdl->control->mailbox;
  RDL_GLOBAL rdl_message *messages = (RDL_GLOBAL rdl_message *)(rdl->heap + box->messages);
  rdl_u32 head = rdl_load_relaxed(&box->head);
  rdl_u32 done = 0;
  if (rdl_load_acquire(&messages[head & box->mask].sequence) != head + 1u) return 0;
  if (rdl_exchange(&box->lock, 1u)) return 0;
  head = rdl_load_relaxed(&box->head);
  while (done < RDL_MESSAGES_AT_ONCE) {
    RDL_GLOBAL rdl_message *message = &messages[head & box->mask];
    if (rdl_load_acquire(&message->sequence) != head + 1u || !rdl_obey(rdl, message)) break;
    head++;
    done++;
    rdl_store_release(&box->head, head);
  }
  rdl_store_release(&box->lock, 0u);
  return done;
}
