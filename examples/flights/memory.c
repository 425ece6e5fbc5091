/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the device that the host fills or looks at. Where both share it, `data` is that memory,
 * and sending and fetching do nothing. Elsewhere `data` is a copy: what the host writes there is
 * sent before a task may look, and what tasks write is fetched after a future that was waited for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flights.h"

bool memory_new(struct flights *f, size_t bytes, struct memory *out) {
  *out = (struct memory){0};
  if (rdl_buffer_create(f->context, bytes, &out->buffer)) {
    complain("memory for the tables");
    return false;
  }
  out->address = rdl_buffer_address(out->buffer);
  return true;
}

bool memory_new_seen(struct flights *f, size_t bytes, struct memory *out) {
  if (!memory_new(f, bytes, out)) return false;
  out->data = rdl_buffer_data(out->buffer);
  if (out->data) return true;
  out->data = out->copy = calloc(1, bytes);
  if (!out->copy) fprintf(stderr, "flights: out of memory\n");
  return out->copy != NULL;
}

rdl_status memory_send(const struct memory *m, const void *from, size_t bytes) {
  rdl_status status;
  if (!m->copy) return RDL_OK;
  do
    status = rdl_buffer_write(m->buffer, (size_t)((const char *)from - m->copy), from, bytes);
  while (status == RDL_TIMEOUT); /* a chunk may take a slow device longer */
  return status;
}

rdl_status memory_fetch(const struct memory *m) {
  if (!m->copy) return RDL_OK;
  return rdl_buffer_read(m->buffer, 0, m->copy, rdl_buffer_size(m->buffer));
}
