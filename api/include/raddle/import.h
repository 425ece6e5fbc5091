/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the program's own as a buffer: a task reaches it by the address that rdl_buffer_address
 * gives, like any other.
 *
 * It stays the program's. Raddle never frees it, and keeps no copy of it. The program keeps it
 * alive until the buffer is destroyed, or the context is closed with RDL_OK, which does the same;
 * a segment that never ends (RDL_TIMEOUT when the context is closed) leaves it in use. Of a cl_mem
 * one reference more is held until then.
 *
 * Who sees what:
 * - A task sees what was in the memory before it was spawned: of OpenCL memory, what commands wrote
 *   that had ended then; of CUDA memory, what kernels and copies of any stream did.
 * - Once the host has waited for a future, what it wrote is in the memory: for this process where
 *   it is RDL_IMPORT_HOST, or RDL_IMPORT_SVM of fine grain; for OpenCL commands, and for mapping,
 *   and for CUDA's streams, after rdl_buffer_sync or rdl_buffer_destroy, for only then the kernel
 *   has ended that wrote it.
 * - Against tasks that run meanwhile, order is the program's affair, as for all buffers. Neither
 *   OpenCL nor CUDA orders anything between the program's queues and Raddle's.
 */
#ifndef RDL_IMPORT_H
#define RDL_IMPORT_H

#include <raddle/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What `memory` of an rdl_import is. */
typedef enum rdl_import_kind {
  RDL_IMPORT_HOST = 1,    /* address of any memory of this process. Devices: host; cuda, where its
                             pages are locked until the buffer is destroyed */
  RDL_IMPORT_SVM,         /* address that clSVMAlloc gave. Devices: opencl, with such memory */
  RDL_IMPORT_CL_MEM,      /* the cl_mem itself: a buffer or a sub-buffer. Devices: opencl */
  RDL_IMPORT_CUDA_POINTER /* a CUdeviceptr, what cudaMalloc gave, or an address within. Devices:
                             cuda */
} rdl_import_kind;

/* Start from RDL_IMPORT_INIT. */
typedef struct rdl_import {
  size_t size;   /* sizeof(rdl_import) */
  uint32_t kind; /* rdl_import_kind */
  uint32_t pad;  /* 0 */
  void *memory;
  size_t bytes;         /* from the beginning of the memory on; 0 = all of a cl_mem */
  uint64_t reserved[4]; /* 0 */
} rdl_import;

#define RDL_IMPORT_INIT                                                                            \
  { .size = sizeof(rdl_import) }

/* Makes a buffer of memory that is there. Its bytes stay as they are. What OpenCL made belongs to a
 * cl_context, and the context must have been opened in that one (option native_context). The same
 * memory may be imported several times, also into several contexts. The caller destroys the buffer,
 * or the context does when it is closed.
 * rdl_buffer_read and rdl_buffer_write work, and wait until no launch runs. rdl_buffer_data gives
 * NULL: the program has its own way to the memory.
 * A cl_mem that was made for reading, or for writing, is that for tasks, too. SVM of coarse grain
 * is mapped and unmapped by the program, and is not mapped while tasks use it.
 * A CUDA pointer is memory of the device and of the CUDA context that the context works in, which
 * is the primary one, as the CUDA runtime's, unless the program says otherwise (option
 * native_context), or of a pool of the device's. Of host memory CUDA locks whole pages, and each
 * once: memory that is imported has pages of its own, or the program has locked all of it itself.
 * Waits until no launch runs and no module is being compiled, and the first cl_mem until the driver
 * has compiled a short kernel.
 * Any thread.
 * RDL_UNSUPPORTED: not memory that this device can take, and the text says which it takes.
 * RDL_INVALID: NULL, 0 bytes, more than there are, of another cl_context or CUDA context, or not a
 * buffer.
 * RDL_TIMEOUT: the launch did not end within the option close_ns. A cl_mem that was released, or
 * never was one, is not recognised: OpenCL's loader follows it, and may crash. */
RDL_API RDL_MUST_CHECK rdl_status rdl_buffer_import(rdl_context *context, const rdl_import *import,
                                                    rdl_buffer **out_buffer);

/* Ends a launch that runs, so that memory changes hands: what tasks wrote before is there for the
 * program's own commands, on any device of its cl_context and in any stream, and what those had
 * written for the tasks to come. Of a buffer that was not imported it only ends the launch. A few
 * microseconds, or a quantum and the longest segment; while a module is being compiled, until that
 * is done. Any thread. RDL_TIMEOUT: the launch did not end within the option close_ns. RDL_CLOSED:
 * the context was closed meanwhile. RDL_DEVICE_LOST: the driver failed. */
RDL_API RDL_MUST_CHECK rdl_status rdl_buffer_sync(rdl_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
