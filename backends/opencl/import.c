/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program has made with OpenCL itself, in the cl_context that it opened this device
 * in. Kernels know it by its address, like memory of Raddle's own (a probe has seen to it that an
 * address holds where its buffer is no argument); a kernel tells that of a cl_mem. Of SVM, the
 * driver wants a list of what a kernel reaches by pointers that are no arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"
#include "backends/opencl/status.h"

/* ---- where a cl_mem is ---- */

static rdl_status need_locate(rdl_backend_device *device, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  rdl_status status = RDL_OK;
  if (!device->support) status = rdl__cl_support_build(device, why);
  if (status == RDL_OK && !device->locate)
    status = RDL_CL_MAKE(why, code, device->locate,
                         cl->clCreateKernel(device->support->program, "rdl_locate", &code));
  if (status == RDL_OK && !device->place)
    status = RDL_CL_MAKE(
        why, code, device->place,
        cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof(cl_ulong), NULL, &code));
  return status;
}

/* To the driver this is a kernel that may have written the buffer: it brings the buffer to this
 * device, and what is done with it later comes behind what tasks did. */
static rdl_status locate(rdl_backend_device *device, cl_mem buffer, uint64_t *out_address,
                         rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  const size_t one = 1;
  cl_ulong address = 0;
  rdl_status status = RDL_CL(why, cl->clSetKernelArg(device->locate, 0, sizeof(cl_mem), &buffer));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clSetKernelArg(device->locate, 1, sizeof(cl_mem), &device->place));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueNDRangeKernel(device->queue, device->locate, 1, NULL, &one,
                                                    &one, 0, NULL, NULL));
  if (status == RDL_OK)
    status = RDL_CL(why, cl->clEnqueueReadBuffer(device->queue, device->place, CL_TRUE, 0,
                                                 sizeof address, &address, 0, NULL, NULL));
  if (status == RDL_OK && !address)
    status = rdl__fail(RDL_UNSUPPORTED, why, "The device gave no address for the cl_mem.");
  *out_address = address;
  return status;
}

void rdl__cl_locate_free(rdl_backend_device *device) {
  if (device->locate) (void)device->cl->clReleaseKernel(device->locate);
  if (device->place) (void)device->cl->clReleaseMemObject(device->place);
}

/* ---- a cl_mem ---- */

static rdl_status check_buffer(rdl_backend_device *device, cl_mem memory, size_t *out_bytes,
                               rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_mem_object_type type = 0;
  cl_context context = NULL;
  rdl_status status =
      RDL_CL(why, cl->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL));
  if (status == RDL_OK)
    status = RDL_CL(
        why, cl->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL));
  if (status == RDL_OK)
    status = RDL_CL(
        why, cl->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof *out_bytes, out_bytes, NULL));
  if (status != RDL_OK) return status;
  if (context != device->context)
    return rdl__fail(RDL_INVALID, why,
                     "The cl_mem belongs to another cl_context than this context works in. Open "
                     "the context with the cl_context that made it, and its device, in the options "
                     "native_context and native_device.");
  if (type != CL_MEM_OBJECT_BUFFER)
    return rdl__fail(RDL_INVALID, why,
                     "The cl_mem is no buffer, but an object of type %#x: tasks reach memory by "
                     "addresses, and images and pipes have none.",
                     (unsigned)type);
  return RDL_OK;
}

static rdl_status import_buffer(rdl_backend_device *device, const rdl_import *import,
                                rdl_cl_block *block, size_t *out_bytes, rdl_reason *why) {
  cl_mem memory = import->memory;
  rdl_status status = check_buffer(device, memory, out_bytes, why);
  if (status != RDL_OK) return status;
  if (import->bytes > *out_bytes)
    return rdl__fail(RDL_INVALID, why, "The cl_mem has %zu bytes, and not %zu.", *out_bytes,
                     import->bytes);
  if (import->bytes) *out_bytes = import->bytes;
  if (!device->holds_addresses)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "On this device an address of a cl_mem holds only while that is an argument "
                     "of the kernel ('raddle devices -v': addresses), and a kernel of tasks has no "
                     "arguments for it.");
  status = need_locate(device, why);
  if (status == RDL_OK) status = locate(device, memory, &block->address, why);
  if (status == RDL_OK) status = RDL_CL(why, device->cl->clRetainMemObject(memory));
  if (status == RDL_OK) block->buffer = memory;
  return status;
}

/* ---- shared virtual memory ---- */

/* A buffer over the memory tells whether it is SVM of this cl_context, and large enough: there is
 * no other question that OpenCL answers about a pointer. */
static rdl_status check_svm(rdl_backend_device *device, const rdl_import *import, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  cl_int code = CL_SUCCESS;
  cl_bool is_svm = CL_FALSE;
  cl_mem over;
  if (!rdl__cl_number(cl, device->id, CL_DEVICE_SVM_CAPABILITIES))
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "The device has no shared virtual memory: import a cl_mem.");
  over = cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, import->bytes,
                            import->memory, &code);
  if (code == CL_SUCCESS) {
    code = cl->clGetMemObjectInfo(over, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm, NULL);
    (void)cl->clReleaseMemObject(over);
  }
  if (code == CL_SUCCESS && is_svm) return RDL_OK;
  return rdl__fail(RDL_INVALID, why,
                   "%p is not the address of %zu bytes that clSVMAlloc gave in the cl_context of "
                   "this context%s%s. A context works in the program's cl_context when that is "
                   "given in the options native_context and native_device.",
                   import->memory, import->bytes, code == CL_SUCCESS ? "" : ": ",
                   code == CL_SUCCESS ? "" : rdl__cl_name(code));
}

static rdl_status list_svm(rdl_backend_device *device, void *svm, rdl_reason *why) {
  size_t room = device->svm_count + 1u;
  void **list = realloc(device->svm_list, room * sizeof(void *));
  if (!list) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for a list of SVM.");
  list[device->svm_count++] = svm;
  device->svm_list = list;
  device->svm_changes++;
  return RDL_OK;
}

static void unlist_svm(rdl_backend_device *device, const void *svm) {
  size_t k = 0;
  while (device->svm_list[k] != svm)
    k++;
  device->svm_list[k] = device->svm_list[--device->svm_count];
  device->svm_changes++;
}

static rdl_status import_svm(rdl_backend_device *device, const rdl_import *import,
                             rdl_cl_block *block, size_t *out_bytes, rdl_reason *why) {
  rdl_status status = check_svm(device, import, why);
  if (status == RDL_OK) status = list_svm(device, import->memory, why);
  block->svm = import->memory;
  block->address = (uintptr_t)import->memory;
  *out_bytes = import->bytes;
  return status;
}

/* An empty list cannot be told to a kernel, but a new kernel has one. */
rdl_status rdl__cl_tell_svm(rdl_backend_device *device, rdl_backend_image *image, rdl_reason *why) {
  const rdl_cl *cl = device->cl;
  rdl_status status;
  if (device->svm_count)
    status =
        RDL_CL(why, cl->clSetKernelExecInfo(image->segments ? image->segments : image->kernel,
                                            CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                            device->svm_count * sizeof(void *), device->svm_list));
  else
    status = rdl__cl_renew_kernel(device, image, why);
  if (status == RDL_OK) image->svm_changes = device->svm_changes;
  return status;
}

/* ---- all of it ---- */

rdl_status rdl__cl_import(rdl_backend_device *device, const rdl_import *import,
                          rdl_backend_import *out_import, rdl_reason *why) {
  rdl_cl_block block = {.whole = RDL_CL_FRONT};
  size_t bytes = 0;
  void *memory;
  rdl_status status;
  if (import->kind != RDL_IMPORT_SVM && import->kind != RDL_IMPORT_CL_MEM)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "An OpenCL device imports a cl_mem or what clSVMAlloc gave, and no other "
                     "memory of the process. A cl_mem may be made over that with "
                     "CL_MEM_USE_HOST_PTR.");
  memory = rdl__cl_block_map(&block, why);
  if (!memory) return RDL_OUT_OF_MEMORY;
  (void)pthread_mutex_lock(device->apart);
  status = (import->kind == RDL_IMPORT_SVM ? import_svm : import_buffer)(
      device, import, rdl__cl_block_of(memory), &bytes, why);
  (void)pthread_mutex_unlock(device->apart);
  if (status == RDL_OK)
    *out_import = (rdl_backend_import){memory, rdl__cl_block_of(memory)->address, bytes};
  else
    rdl__cl_block_unmap(memory);
  return status;
}

rdl_status rdl__cl_sync(rdl_backend_device *device, void *memory, rdl_reason *why) {
  rdl_cl_block *block = rdl__cl_block_of(memory);
  uint64_t address = block->address;
  rdl_status status = RDL_OK;
  (void)pthread_mutex_lock(device->apart);
  if (block->buffer) status = locate(device, block->buffer, &address, why);
  (void)pthread_mutex_unlock(device->apart);
  if (status == RDL_OK && address != block->address)
    status = rdl__fail(RDL_DEVICE_LOST, why,
                       "The driver has moved a cl_mem that was imported from %#llx to %#llx. "
                       "Open a new context.",
                       (unsigned long long)block->address, (unsigned long long)address);
  return status;
}

void rdl__cl_drop(rdl_backend_device *device, void *memory) {
  rdl_cl_block *block = rdl__cl_block_of(memory);
  (void)pthread_mutex_lock(device->apart);
  if (block->buffer) (void)device->cl->clReleaseMemObject(block->buffer);
  if (block->svm) unlist_svm(device, block->svm);
  (void)pthread_mutex_unlock(device->apart);
  rdl__cl_block_unmap(memory);
}
