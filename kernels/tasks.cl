/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that Raddle itself is made of, written in the dialect like any other module.
 */

/* A batch of equal tasks whose arguments stand in a row. More than RDL_BATCH_MOST become batches of
   so many (of batches of so many, ...), so that several workers build and count them, each in
   records of its own. */
struct rdl_batch_state {
  rdl_u32 next;
  rdl_u32 open; /* children since they were last awaited */
  rdl_u32 failure;
};

/* Children that a batch may have at once: with what is below them they take a quarter of all slots,
   so that the members have room for children of their own. */
RDL_FN rdl_u32 rdl_batch_window(rdl_cx *rdl, const struct rdl_batch_args *args) {
  rdl_u32 window = rdl->control->task_slots / 4u / args->step;
  return window ? window : 1u;
}

RDL_FN void rdl_note_failure(rdl_cx *rdl, struct rdl_batch_state *self) {
  if (!self->failure) self->failure = rdl->caught;
}

/* Frees the children, all of which have ended. */
RDL_FN void rdl_reap(rdl_cx *rdl) {
  rdl_u32 cause;
  rdl->cancel_from = RDL_NIL;
  rdl_free_children(rdl, rdl->slot, rdl->task, rdl->self->first_child, &cause);
}

RDL_FN rdl_u32 rdl_batch_spawn(rdl_cx *rdl, const struct rdl_batch_args *args, rdl_u32 at);

RDL_TASK(rdl_batch, RDL_NONE, struct rdl_batch_args, struct rdl_batch_state) {
  rdl_u32 outcome;
  RDL_BEGIN();
  rdl_mark_task(rdl, RDL_TASK_PASSES);
  while (self->next < args->count) {
    if (self->open < rdl_batch_window(rdl, args) &&
        rdl_batch_spawn(rdl, args, self->next) == RDL_SPAWNED) {
      self->next += args->step;
      self->open++;
    } else if (rdl->self->first_child) {
      RDL_AWAIT_CHILDREN_CATCH(outcome);
      if (RDL_CANCELLED()) RDL_EXIT();
      if (rdl_live_children(rdl)) RDL_END_WITH_(rdl->caught); /* the batch itself is told to end */
      if (outcome) rdl_note_failure(rdl, self);
      rdl_reap(rdl);
      self->open = 0;
    } else {
      RDL_AWAIT_ROOM();
    }
    if (self->next / args->step % RDL_BATCH_MOST == 0u && self->next < args->count) RDL_YIELD();
  }
  if (self->failure) { /* to end with a failure cancels children, and these go on */
    RDL_AWAIT_CHILDREN_CATCH(outcome);
    if (RDL_CANCELLED()) RDL_EXIT();
    RDL_END_WITH_(self->failure);
  }
  RDL_END();
}

/* One child: a member, or a batch of up to `step` members. */
RDL_FN rdl_u32 rdl_batch_spawn(rdl_cx *rdl, const struct rdl_batch_args *args, rdl_u32 at) {
  rdl_u32 outcome, left = args->count - at;
  rdl_future child;
  rdl_ptr from = args->address + (rdl_u64)at * args->stride;
  RDL_GLOBAL const rdl_word *words = RDL_AT(const rdl_word, from);
  RDL_GLOBAL rdl_word *frame;
  rdl_u32 slot, k;
  if (args->step > 1u) {
    RDL_TRY_SPAWN(outcome, child, rdl_batch, from, left < args->step ? left : args->step,
                  args->task, args->words, args->stride, args->step / RDL_BATCH_MOST, 0u);
    return outcome;
  }
  slot = rdl_slot_new(rdl, args->task);
  if (!slot) return RDL_FULL;
  frame = rdl_block(rdl, rdl->new_frame);
  for (k = 0; k < args->words; k++)
    frame[k] = words[k];
  child = rdl_child_start(rdl, slot, args->task);
  return child.index ? RDL_SPAWNED : RDL_FULL;
}

/* What a root is before it starts when the host named futures that must be done first: it waits for
   one after the other and then becomes the task that it was spawned as. The first failure among
   them is its own. Its frame lies with the outcome that it does not have yet. */
struct rdl_gate_state {
  rdl_u32 next;
  rdl_u32 failure;
};

typedef char rdl_gate_fits_into_rdl_outcome
    [RDL_FRAME_BYTES(struct rdl_gate_args, struct rdl_gate_state, 0u) == 32u ? 1 : -1];

RDL_FN rdl_future rdl_gate_future(const struct rdl_gate_args *args, rdl_u32 at) {
  return RDL_AT(const rdl_future,
                args->list)[at < args->common ? at : args->row + (at - args->common)];
}

/* Suspends at the point where a task begins (rdl_commit_start). A cancel that comes meanwhile leads
   here once more. */
#define RDL_BECOME_(task)                                                                          \
  do {                                                                                             \
    if (rdl_poll_plain(rdl, RDL_WANT_YIELD)) return RDL_ENDED;                                     \
    rdl->threshold = (task);                                                                       \
    rdl->timeout = RDL_NEVER;                                                                      \
    rdl->resume = 0;                                                                               \
    return RDL_SUSPENDED;                                                                          \
  } while (0)

RDL_TASK(rdl_gate, RDL_NONE, struct rdl_gate_args, struct rdl_gate_state) {
  rdl_u32 outcome;
  RDL_BEGIN();
  while (self->next < args->common + args->count && !RDL_CANCELLED()) {
    RDL_AWAIT_CATCH(outcome, rdl_gate_future(args, self->next));
    if (outcome && !self->failure) self->failure = rdl->caught;
    self->next++;
  }
  if (RDL_CANCELLED()) RDL_EXIT();
  if (self->failure) RDL_END_WITH_(self->failure);
  RDL_BECOME_(args->task);
  RDL_END();
}

/* The host waits for an event by waiting for this future. */
RDL_TASK(rdl_watch, RDL_NONE, struct rdl_watch_args, RDL_NONE) {
  RDL_BEGIN();
  if (args->count)
    RDL_AWAIT_COUNT(args->event, args->count);
  else
    RDL_AWAIT_EVENT(args->event);
  RDL_END();
}
