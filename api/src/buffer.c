/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers. Where host and device share memory a copy is a memcpy; elsewhere it waits until no
 * launch runs. */
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

static void link_buffer(rdl_context *cx, rdl_buffer *buffer) {
  pthread_mutex_lock(&cx->lock);
  buffer->next = cx->buffers;
  if (cx->buffers) cx->buffers->previous = buffer;
  cx->buffers = buffer;
  pthread_mutex_unlock(&cx->lock);
}

static void unlink_buffer(rdl_context *cx, rdl_buffer *buffer) {
  pthread_mutex_lock(&cx->lock);
  if (buffer->next) buffer->next->previous = buffer->previous;
  if (buffer->previous)
    buffer->previous->next = buffer->next;
  else
    cx->buffers = buffer->next;
  pthread_mutex_unlock(&cx->lock);
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
  if (bytes) {
    pthread_mutex_lock(&cx->lock);
    status = rdl__memory_take(cx, bytes, &buffer->memory);
    pthread_mutex_unlock(&cx->lock);
  }
  if (status) {
    free(buffer);
    return status;
  }
  link_buffer(cx, buffer);
  *out_buffer = buffer;
  return RDL_OK;
}

void rdl_buffer_destroy(rdl_buffer *buffer) {
  if (!buffer) return;
  unlink_buffer(buffer->context, buffer);
  buffer->context->backend->release(buffer->context->device, buffer->memory);
  free(buffer);
}

rdl_ptr rdl_buffer_address(const rdl_buffer *buffer) {
  return buffer && buffer->memory ? rdl__address(buffer->context, buffer->memory) : 0u;
}

size_t rdl_buffer_size(const rdl_buffer *buffer) {
  return buffer ? buffer->bytes : 0u;
}

void *rdl_buffer_data(rdl_buffer *buffer) {
  return buffer && !rdl__apart(buffer->context) ? buffer->memory : NULL;
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
    if (status) status = rdl__error_why(status, &why);
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
  if (rdl__apart(buffer->context))
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
  if (rdl__apart(buffer->context))
    return transfer(buffer, offset, to, bytes, buffer->context->backend->read);
  memcpy(to, (const char *)buffer->memory + offset, bytes);
  return RDL_OK;
}
