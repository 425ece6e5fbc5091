/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages from the host. One ring, written by the host alone and read by the worker that holds the
 * try-lock; nobody waits for it. A message that cannot be done yet stays where it is.
 */

/* A root's record was made by the host; it only has to be put where a worker will find it. */
RDL_OUTLINE rdl_u32 rdl_start_root(rdl_cx *rdl, rdl_u32 slot) {
  rdl_u32 wait = rdl_load_acquire(&rdl->records[slot].wait) & ~RDL_CANCEL_BIT;
  if ((wait & RDL_STATE_MASK) != RDL_READY) return 1; /* flat mode: claimed by who awaits it */
#if defined(RDL_GROUPS)
  if (rdl_is_for_group(rdl, slot)) {
    rdl_send(rdl, slot, wait);
    return 1;
  }
#endif
  return rdl_roots_push(rdl, slot, wait);
}

RDL_OUTLINE rdl_u32 rdl_start_roots(rdl_cx *rdl, const rdl_message *message) {
  RDL_GLOBAL const rdl_u32 *slots = (RDL_GLOBAL const rdl_u32 *)(rdl_address)message->address;
  RDL_GLOBAL rdl_u32 *done = &rdl->control->mailbox.done;
  while (*done < message->count && rdl_one_more(rdl)) {
    if (!rdl_start_root(rdl, slots[*done])) return 0;
    ++*done;
  }
  return *done == message->count;
}

/* Between the closing of a root's list and the posting of its outcome the finisher still works on
   the slot: then the message is looked at again. */
RDL_FN rdl_u32 rdl_release_root(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation) {
  RDL_GLOBAL rdl_record *record = rdl->records + slot;
  if (rdl_load_acquire(&record->generation) != generation) return 1;
  if (!(rdl_fetch_or(&record->waiters, RDL_DETACHED_BIT) & RDL_LIST_CLOSED)) return 1;
  if (rdl_hear(&rdl->posts[slot].generation) != generation) return 0;
  rdl_slot_free(rdl, slot);
  return 1;
}

/* A future without code ends as the host says. */
RDL_FN void rdl_complete_by_host(rdl_cx *rdl, const rdl_message *message) {
  RDL_GLOBAL rdl_record *record = rdl->records + message->slot;
  rdl_u32 wait = rdl_load_acquire(&record->wait);
  rdl_u32 k;
  if (rdl_load_acquire(&record->generation) != message->generation) return;
  if ((wait & RDL_STATE_MASK) != RDL_WAITING) return;
  if (rdl_cas(&record->wait, wait, rdl_with_state(wait, RDL_RUNNING)) != wait) return;
  rdl_store_relaxed(&record->cause, message->value);
  for (k = 0; k < 4u; k++)
    record->result[k] = message->words[k];
  rdl_note_end(rdl, message->slot);
}

/* ---- what comes through a window ---- */

/* The record of a new root, as the host writes it where memory is shared (rdl__root_fill). The
   generation comes first: who reads the future that had the slot before sees that it is gone. The
   wait word and the open list come last. */
RDL_FN void rdl_make_root(rdl_cx *rdl, const rdl_message *message) {
  RDL_GLOBAL rdl_record *record = rdl->records + message->slot;
  RDL_GLOBAL rdl_word *args = rdl_block(rdl, (rdl_u32)message->address);
  rdl_u32 task = message->value, k;
  rdl_u32 state = (task & RDL_TASK_WAITED) ? RDL_WAITING : RDL_READY;
  rdl_u32 ticket = (rdl_load_relaxed(&record->wait) & RDL_TICKET_MASK) + RDL_TICKET_ONE;
  rdl_store_release(&record->generation, message->generation);
  rdl_store_relaxed(&record->resume, 0u);
  record->owner = 0;
  record->first_child = RDL_NIL;
  rdl_store_relaxed(&record->cause, 0u);
  record->frame = (rdl_u32)message->address;
  record->result[0] = (rdl_u32)(message->address >> 32);
  rdl_store_relaxed(&record->task, task);
  rdl_store_relaxed(&record->children, RDL_CODE_RUNS);
  record->result[RDL_WORD_BORN] = rdl_next_born(rdl);
  if (task & RDL_TASK_WAITED) record->result[RDL_WORD_SINCE] = rdl_load_relaxed(&rdl->control->now);
  for (k = 0; k < message->count; k++)
    rdl_store_relaxed((RDL_GLOBAL rdl_u32 *)(args + k), message->words[k]);
  rdl_store_release(&record->wait, ticket | state);
  rdl_store_release(&record->waiters, (task & RDL_TASK_ANSWERS) ? RDL_NIL : RDL_DETACHED_BIT);
}

/* A root that was made and found no place in the queue is not made twice. */
RDL_FN rdl_u32 rdl_make_and_start(rdl_cx *rdl, const rdl_message *message) {
  RDL_GLOBAL rdl_mailbox *box = &rdl->control->mailbox;
  if (!box->done) rdl_make_root(rdl, message);
  box->done = 1;
  return rdl_start_root(rdl, message->slot);
}

RDL_FN void rdl_write_words(const rdl_message *message) {
  RDL_GLOBAL rdl_u32 *to = (RDL_GLOBAL rdl_u32 *)(rdl_address)message->address;
  rdl_u32 k;
  for (k = 0; k < message->count; k++)
    rdl_store_relaxed(to + k, message->words[k]);
}

/* Roots that the host has taken: their handles are good no more. */
RDL_FN void rdl_free_roots(rdl_cx *rdl, const rdl_message *message) {
  rdl_u32 k;
  for (k = 0; k < message->count; k++) {
    RDL_GLOBAL rdl_record *record = rdl->records + message->words[2u * k];
    rdl_store_release(&record->wait, rdl_with_state(rdl_load_relaxed(&record->wait), RDL_FREE));
    rdl_store_release(&record->generation, message->words[2u * k + 1u]);
  }
}

RDL_FN rdl_u32 rdl_obey_window(rdl_cx *rdl, const rdl_message *message) {
  rdl_u32 kind = message->kind;
  if (kind == RDL_SAY_START) return rdl_make_and_start(rdl, message);
  if (kind == RDL_SAY_MAKE)
    rdl_make_root(rdl, message);
  else if (kind == RDL_SAY_WRITE)
    rdl_write_words(message);
  else if (kind == RDL_SAY_FREED)
    rdl_free_roots(rdl, message);
  return kind != RDL_SAY_PAUSE;
}

/* The lock is held. */
RDL_FN void rdl_hear_stop(rdl_cx *rdl) {
  rdl_u32 stop = rdl_hear(&rdl->window->stop);
  if (stop != rdl_load_relaxed(&rdl->control->stop)) rdl_store_release(&rdl->control->stop, stop);
}

/* Does the host ask for something? Who finds another one at the window goes on. */
RDL_FN void rdl_look_through_window(rdl_cx *rdl) {
  RDL_GLOBAL rdl_u32 *lock = &rdl->control->mailbox.lock;
  if (!RDL_MAY_WINDOW || !rdl->window || rdl_load_relaxed(lock) || rdl_exchange(lock, 1u)) return;
  rdl_hear_stop(rdl);
  rdl_store_release(lock, 0u);
}

/* ---- all together ---- */

/* 0 = not yet. */
RDL_OUTLINE rdl_u32 rdl_obey(rdl_cx *rdl, const rdl_message *message) {
  rdl_u32 kind = message->kind;
  rdl_event e;
  e.index = message->slot;
  e.generation = message->generation;
  if (RDL_MAY_WINDOW && kind >= RDL_SAY_MAKE) return rdl_obey_window(rdl, message);
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

/* Of a message in the window the device reads each word once. */
RDL_FN void rdl_read_message(rdl_cx *rdl, RDL_GLOBAL const rdl_message *from, rdl_message *to) {
  volatile RDL_GLOBAL const rdl_message *seen = from;
  rdl_u32 k;
  if (!RDL_MAY_WINDOW || !rdl->window) {
    *to = *from;
    return;
  }
  to->kind = seen->kind;
  to->slot = seen->slot;
  to->address = seen->address;
  to->generation = seen->generation;
  to->value = seen->value;
  to->count = seen->count;
  for (k = 0; k < RDL_SAY_WORDS; k++)
    to->words[k] = seen->words[k];
}

#define RDL_MESSAGES_AT_ONCE 64u

/* The lock is held. Returns how many messages were obeyed. */
RDL_FN rdl_u32 rdl_obey_some(rdl_cx *rdl, RDL_GLOBAL rdl_message *messages) {
  RDL_GLOBAL rdl_mailbox *box = &rdl->control->mailbox;
  rdl_u32 head = rdl_load_relaxed(&box->head);
  rdl_u32 done = 0;
  while (done < RDL_MESSAGES_AT_ONCE) {
    RDL_GLOBAL rdl_message *message = &messages[head & box->mask];
    rdl_message copy;
    if (rdl_hear(&message->sequence) != head + 1u) break;
    rdl_read_message(rdl, message, &copy);
    if (!rdl_obey(rdl, &copy)) break;
    head++;
    done++;
    box->done = 0;
    rdl_store_release(&box->head, head);
  }
  return done;
}

/* A look at a window is dear, so one worker at a time takes it; elsewhere it comes before the lock.
 */
RDL_OUTLINE rdl_u32 rdl_drain_mailbox(rdl_cx *rdl) {
  RDL_GLOBAL rdl_mailbox *box = &rdl->control->mailbox;
  RDL_GLOBAL rdl_message *messages = (RDL_GLOBAL rdl_message *)(rdl->heap + box->messages);
  rdl_u32 windowed = RDL_MAY_WINDOW && rdl->window;
  rdl_u32 head = rdl_load_relaxed(&box->head);
  rdl_u32 done;
  if (windowed) {
    if (rdl_load_relaxed(&box->lock)) return 0;
    messages = (RDL_GLOBAL rdl_message *)(rdl->window + 1);
  } else if (rdl_load_acquire(&messages[head & box->mask].sequence) != head + 1u) {
    return 0;
  }
  if (rdl_exchange(&box->lock, 1u)) return 0;
  if (windowed) rdl_hear_stop(rdl);
  done = rdl_obey_some(rdl, messages);
  if (windowed && done) rdl_tell(&rdl->window->heard, rdl_load_relaxed(&box->head));
  rdl_store_release(&box->lock, 0u);
  return done;
}
