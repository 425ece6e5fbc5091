/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of the mailbox. The lock makes the host one producer. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

/* Acquire pairs with the device's release: the cells before it have been read. */
uint32_t rdl__heard(const rdl_context *cx) {
  return rdl_load_acquire(cx->window ? &cx->window->heard : &cx->control->mailbox.head);
}

/* The line of the word belongs to the device, which writes it again and again: it is read only when
 * the ring would be full by what was read last. */
bool rdl__may_say(rdl_context *cx, uint32_t count) {
  uint32_t size = cx->control->mailbox.mask + 1u;
  if (cx->mailbox_tail - cx->mailbox_head + count > size) cx->mailbox_head = rdl__heard(cx);
  return cx->mailbox_tail - cx->mailbox_head + count <= size;
}

void rdl__put_message(rdl_context *cx, const rdl_message *message) {
  rdl_message *cell = &cx->messages[cx->mailbox_tail & cx->control->mailbox.mask];
  memcpy(cell, message, offsetof(rdl_message, sequence)); /* which the device is looking at */
  rdl_store_release(&cell->sequence, ++cx->mailbox_tail);
  if (!cx->window) rdl__wrote(cx, cell, sizeof *cell);
}

bool rdl__try_say(rdl_context *cx, const rdl_message *message) {
  if (!rdl__say_written(cx) || !rdl__may_say(cx, 1u)) return false;
  rdl__put_message(cx, message);
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
  *list = (rdl__list){memory, cx->mailbox_tail, cx->lists};
  cx->lists = list;
}

void rdl__lists_collect(rdl_context *cx, bool all) {
  rdl__list **at = &cx->lists;
  rdl_u32 head = rdl__heard(cx);
  while (*at) {
    rdl__list *list = *at;
    if (!all && (int32_t)(head - list->tail) < 0) {
      at = &list->next;
      continue;
    }
    *at = list->next;
    if (list->memory != (void *)list) {
      rdl__memory_release_now(cx, list->memory);
      free(list);
    } else {
      rdl__memory_release_now(cx, list);
    }
  }
}
