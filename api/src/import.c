/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that are made of memory which the program has. What it is, only the backend knows. */
#include <stdlib.h>

#include "api/src/core.h"

/* From here to `end_use` no launch runs, nobody else builds or imports, and the lock is given up:
 * a driver takes its time. */
static rdl_status begin_use(rdl_context *cx) {
  rdl_status status;
  pthread_mutex_lock(&cx->lock);
  status = rdl__service_hold(cx, rdl__deadline_ns(cx->options.close_ns));
  if (!status) {
    rdl__build_turn(cx);
    cx->building = true;
    cx->users++;
  }
  pthread_mutex_unlock(&cx->lock);
  return status;
}

typedef void change_fn(rdl_context *cx, rdl_buffer *buffer);

/* `change`, which may be NULL, is done to the buffer before closing the context may go on. */
static void end_use(rdl_context *cx, rdl_buffer *buffer, change_fn *change) {
  pthread_mutex_lock(&cx->lock);
  if (change) change(cx, buffer);
  cx->building = false;
  pthread_cond_broadcast(&cx->host_news);
  rdl__service_release(cx);
  rdl__leave(cx);
  pthread_mutex_unlock(&cx->lock);
}

static rdl_status check_import(const rdl_import *import) {
  size_t k;
  if (import->size != sizeof *import)
    return rdl__error(RDL_INVALID, "rdl_import: size is %zu, not %zu: start from RDL_IMPORT_INIT",
                      import->size, sizeof *import);
  for (k = 0; k < sizeof import->reserved / sizeof import->reserved[0]; k++)
    if (import->reserved[k]) return rdl__error(RDL_INVALID, "rdl_import: reserved is not 0");
  if (import->pad) return rdl__error(RDL_INVALID, "rdl_import: pad is not 0");
  if (import->kind < RDL_IMPORT_HOST || import->kind > RDL_IMPORT_CUDA_POINTER)
    return rdl__error(RDL_INVALID, "rdl_import: kind is %u, and no rdl_import_kind", import->kind);
  if (!import->memory) return rdl__error(RDL_INVALID, "rdl_import: memory is NULL");
  if (!import->bytes && import->kind != RDL_IMPORT_CL_MEM)
    return rdl__error(RDL_INVALID,
                      "rdl_import: bytes is 0: only a cl_mem knows its own size, so say how many "
                      "there are");
  return RDL_OK;
}

static rdl_status take_in(rdl_buffer *buffer, const rdl_import *import) {
  rdl_context *cx = buffer->context;
  rdl_backend_import got = {NULL, 0, 0};
  rdl_reason why = {""};
  rdl_status status = begin_use(cx);
  if (status) return status;
  status = cx->backend->import(cx->device, import, &got, &why);
  buffer->imported = true;
  buffer->memory = got.memory;
  buffer->address = got.address;
  buffer->bytes = got.bytes;
  end_use(cx, buffer, status ? NULL : rdl__buffer_link);
  return status ? rdl__error_why(status, &why) : RDL_OK;
}

rdl_status rdl_buffer_import(rdl_context *cx, const rdl_import *import, rdl_buffer **out_buffer) {
  rdl_status status;
  rdl_buffer *buffer;
  RDL__NEED(out_buffer);
  *out_buffer = NULL;
  RDL__NEED(cx);
  RDL__NEED(import);
  status = check_import(import);
  if (status) return status;
  buffer = calloc(1, sizeof *buffer);
  if (!buffer) return rdl__error(RDL_OUT_OF_MEMORY, "rdl_buffer_import: out of host memory");
  buffer->context = cx;
  status = take_in(buffer, import);
  if (status)
    free(buffer);
  else
    *out_buffer = buffer;
  return status;
}

rdl_status rdl_buffer_sync(rdl_buffer *buffer) {
  rdl_reason why = {""};
  rdl_status status;
  rdl_context *cx;
  RDL__NEED(buffer);
  cx = buffer->context;
  status = begin_use(cx);
  if (status) return status;
  if (buffer->imported) status = cx->backend->sync(cx->device, buffer->memory, &why);
  end_use(cx, buffer, NULL);
  return status ? rdl__error_why(status, &why) : RDL_OK;
}

bool rdl__import_drop(rdl_buffer *buffer) {
  rdl_context *cx = buffer->context;
  rdl_reason why = {""};
  if (begin_use(cx)) return false;
  (void)cx->backend->sync(cx->device, buffer->memory, &why);
  cx->backend->drop(cx->device, buffer->memory);
  end_use(cx, buffer, rdl__buffer_unlink);
  return true;
}
