/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: memory of the device that tasks reach by address. */
#ifndef RDL_BUFFER_H
#define RDL_BUFFER_H

#include <raddle/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdl_buffer rdl_buffer;

/* Memory of `bytes` bytes, zeroed, aligned to 64. 0 bytes are a buffer without memory. The caller
 * destroys it, or the context does when it is closed. Any thread.
 * Where memory is apart (rdl_mode) it waits until no launch runs. RDL_OUT_OF_MEMORY: the text says
 * what the device can give. RDL_TIMEOUT: the launch did not end within the option close_ns. */
RDL_API RDL_MUST_CHECK rdl_status rdl_buffer_create(rdl_context *context, size_t bytes,
                                                    rdl_buffer **out_buffer);

/* Frees the memory. No task may use it any more. Takes NULL. Imported memory (raddle/import.h) is
 * given back to the program instead, when no launch runs; when a launch does not end within the
 * option close_ns, closing the context does it. */
RDL_API void rdl_buffer_destroy(rdl_buffer *buffer);

/* What goes into task arguments. 0 for NULL and for an empty buffer. */
RDL_API rdl_ptr rdl_buffer_address(const rdl_buffer *buffer);

RDL_API size_t rdl_buffer_size(const rdl_buffer *buffer);

/* Copies between host memory and the buffer. What a task wrote before a future that the host has
 * waited for is seen; ordering against tasks that run is the caller's. Where memory is apart
 * (rdl_mode) a copy waits until no launch runs: at most a quantum and the longest segment; so does
 * one of imported memory.
 * RDL_INVALID: outside the buffer, and nothing was copied. RDL_TIMEOUT: the launch did not end
 * within the option close_ns. */
RDL_API RDL_MUST_CHECK rdl_status rdl_buffer_write(rdl_buffer *buffer, size_t offset,
                                                   const void *from, size_t bytes);
RDL_API RDL_MUST_CHECK rdl_status rdl_buffer_read(const rdl_buffer *buffer, size_t offset, void *to,
                                                  size_t bytes);

/* Host address of the memory, for as long as the buffer lives. NULL for NULL, an empty buffer,
 * imported memory, and where host and device share no memory (rdl_mode). */
RDL_API void *rdl_buffer_data(rdl_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
