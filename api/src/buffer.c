/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers. Where host and device share memory a copy is a memcpy; elsewhere, and of memory that is
 * the program's, it waits until no launch runs. */
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

void rdl__buffer_link(rdl_context *cx, rdl_buffer *buffer) {
  buffer->next = cx->buffers;
  if (cx->buffers) cx->buffers->previous = buffer;
  cx->buffers = buffer;
}

void rdl__buffer_unlink(rdl_context *cx, rdl_buffer *buffer) {
  if (buffer->next) buffer->next->previous = buffer->previous;
  if (buffer->previous)
    buffer->previous->next = buffer->next;
  else
    cx->buffers = buffer->next;
}

rdl_status rdl_buffer_create(rdl_context *cx, size_t bytes, rdl_buffer **out_buffer) {
  rdl_status status = RDL_OK;
  rdl_buffer *buffer;
  RDL__NEED(out_buffer);
  *out_buffer = NULL;
  RDL__NEED(cx);
  buffer = calloc(1, sizeof *buffer);
  if (!buffer) return rdl__error(RDL_OUT_OF_MEMORY, "rdl_buffer_create: out of host memory");
  buffer->context = cx;
  buffer->bytes = bytes;
  if (bytes > cx->facts.max_allocation) {
    free(buffer);
    return rdl__error(RDL_OUT_OF_MEMORY,
                      "a buffer of %zu bytes: the device gives at most %llu in one "
                      "piece",
                      bytes, (unsigned long long)cx->facts.max_allocation);
  }
  pthread_mutex_lock(&cx->lock);
  if (bytes) status = rdl__memory_take(cx, bytes, &buffer->memory);
  if (buffer->memory) buffer->address = rdl__address(cx, buffer->memory);
  if (!status) rdl__buffer_link(cx, buffer);
  pthread_mutex_unlock(&cx->lock);
  if (status)
    free(buffer);
  else
    *out_buffer = buffer;
  return status;
}

/* Closing frees what is linked, so that comes first, and waits for the rest. */
static void release(rdl_buffer *buffer) {
  rdl_context *cx = buffer->context;
  pthread_mutex_lock(&cx->lock);
  rdl__buffer_unlink(cx, buffer);
  cx->users++;
  pthread_mutex_unlock(&cx->lock);
  cx->backend->release(cx->device, buffer->memory);
  pthread_mutex_lock(&cx->lock);
  rdl__leave(cx);
  pthread_mutex_unlock(&cx->lock);
}

void rdl_buffer_destroy(rdl_buffer *buffer) {
  if (!buffer) return;
  if (!buffer->imported)
    release(buffer);
  else if (!rdl__import_drop(buffer))
    return; /* closing the context does */
  free(buffer);
}

rdl_ptr rdl_buffer_address(const rdl_buffer *buffer) {
  return buffer ? buffer->address : 0u;
}

size_t rdl_buffer_size(const rdl_buffer *buffer) {
  return buffer ? buffer->bytes : 0u;
}

/* The host reaches it through the backend. */
static bool is_remote(const rdl_buffer *buffer) {
  return buffer->imported || rdl__apart(buffer->context);
}

void *rdl_buffer_data(rdl_buffer *buffer) {
  return buffer && !is_remote(buffer) ? buffer->memory : NULL;
}

static rdl_status check_range(const rdl_buffer *buffer, size_t offset, size_t bytes) {
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    return rdl__error(RDL_INVALID, "%zu bytes at offset %zu lie outside a buffer of %zu bytes",
                      bytes, offset, buffer->bytes);
  return RDL_OK;
}

typedef rdl_status transfer_fn(rdl_backend_device *device, const rdl_transfer *transfers,
                               size_t count, rdl_reason *why);

static rdl_status transfer(const rdl_buffer *buffer, size_t offset, void *host, size_t bytes,
                           transfer_fn *way) {
  rdl_context *cx = buffer->context;
  rdl_transfer one = {buffer->memory, offset, bytes, host};
  rdl_reason why = {""};
  rdl_status status;
  pthread_mutex_lock(&cx->lock);
  status = rdl__service_hold(cx, rdl__deadline_ns(cx->options.close_ns));
  if (!status) {
    status = way(cx->device, &one, 1, &why);
    rdl__service_release(cx);
    status = rdl__device_error(cx, status, &why);
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_buffer_write(rdl_buffer *buffer, size_t offset, const void *from, size_t bytes) {
  rdl_status status;
  RDL__NEED(buffer);
  if (bytes) RDL__NEED(from);
  status = check_range(buffer, offset, bytes);
  if (status || !bytes) return status;
  if (is_remote(buffer))
    return transfer(buffer, offset, (void *)(uintptr_t)from, bytes,
                    buffer->context->backend->write);
  memcpy((char *)buffer->memory + offset, from, bytes);
  return RDL_OK;
}

rdl_status rdl_buffer_read(const rdl_buffer *buffer, size_t offset, void *to, size_t bytes) {
  rdl_status status;
  RDL__NEED(buffer);
  if (bytes) RDL__NEED(to);
  status = check_range(buffer, offset, bytes);
  if (status || !bytes) return status;
  if (is_remote(buffer)) return transfer(buffer, offset, to, bytes, buffer->context->backend->read);
  memcpy(to, (const char *)buffer->memory + offset, bytes);
  return RDL_OK;
}
