/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of the mailbox. The lock makes the host one producer. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

/* The line of `head` belongs to the device, which writes it at every message: it is read only when
 * the ring would be full by what was read last. Acquire pairs with the device's release of `head`:
 * the cell has been read. */
bool rdl__may_say(rdl_context *cx) {
  rdl_mailbox *box = &cx->control->mailbox;
  rdl_u32 tail = rdl_load_relaxed(&box->tail);
  if (tail - cx->mailbox_head > box->mask) cx->mailbox_head = rdl_load_acquire(&box->head);
  return tail - cx->mailbox_head <= box->mask;
}

bool rdl__try_say(rdl_context *cx, const rdl_message *message) {
  rdl_mailbox *box = &cx->control->mailbox;
  rdl_message *messages = (rdl_message *)(void *)(cx->heap + box->messages);
  rdl_u32 tail = rdl_load_relaxed(&box->tail);
  rdl_message *cell;
  if (!rdl__may_say(cx)) return false;
  cell = &messages[tail & box->mask];
  memcpy(cell, message, offsetof(rdl_message, sequence)); /* which the device is looking at */
  rdl_store_release(&cell->sequence, tail + 1u);
  rdl_store_relaxed(&box->tail, tail + 1u);
  rdl__wrote(cx, cell, sizeof *cell);
  rdl__wrote(cx, &box->tail, sizeof box->tail);
  if (cx->parked) rdl__service_call(cx);
  return true;
}

rdl_status rdl__say(rdl_context *cx, const rdl_message *message) {
  while (!rdl__try_say(cx, message)) {
    if (cx->closing) return rdl__error(RDL_CLOSED, "the context is closing");
    if (cx->lost) return rdl__error_why(cx->lost, &cx->lost_why);
    /* The ring is full: the device empties it within a quantum. */
    rdl__pause(cx, rdl__deadline_ns(100000u));
  }
  return RDL_OK;
}

rdl__list *rdl__list_new(void) {
  return calloc(1, sizeof(rdl__list));
}

void rdl__list_keep(rdl_context *cx, rdl__list *list, void *memory) {
  *list = (rdl__list){memory, rdl_load_relaxed(&cx->control->mailbox.tail), cx->lists};
  cx->lists = list;
}

void rdl__lists_collect(rdl_context *cx, bool all) {
  rdl__list **at = &cx->lists;
  rdl_u32 head = rdl_load_acquire(&cx->control->mailbox.head);
  while (*at) {
    rdl__list *list = *at;
    if (!all && (int32_t)(head - list->tail) < 0) {
      at = &list->next;
      continue;
    }
    *at = list->next;
    rdl__memory_release(cx, list->memory);
    free(list);
  }
}
