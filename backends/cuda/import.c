/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the program's: the device's, in the CUDA context that this device works in, and the
 * process's, whose pages are locked so that kernels reach them over the bus.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/status.h"

/* What the driver says of an address; RDL_CUDA_INVALID_VALUE where it does not know it. */
static rdl_status ask(rdl_backend_device *device, rdl_cu_pointer_attribute what,
                      rdl_cu_address address, void *out_value, int *out_is_known, rdl_reason *why) {
  rdl_cu_result code = device->cu->cuPointerGetAttribute(out_value, what, address);
  *out_is_known = code == 0;
  if (code == RDL_CUDA_INVALID_VALUE) return RDL_OK;
  return rdl__cu_check(device->cu, &device->lost, code, "cuPointerGetAttribute", why);
}

/* 0 = the driver does not know the address. Managed memory is the device's, wherever it is just
 * now. */
static rdl_status ask_type(rdl_backend_device *device, rdl_cu_address address, unsigned *out_type,
                           rdl_reason *why) {
  unsigned is_managed = 0;
  int is_known = 0;
  rdl_status status =
      ask(device, RDL_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address, out_type, &is_known, why);
  if (!is_known) *out_type = 0;
  if (!is_known || *out_type == RDL_CU_MEMORYTYPE_DEVICE) return status;
  status = ask(device, RDL_CU_POINTER_ATTRIBUTE_IS_MANAGED, address, &is_managed, &is_known, why);
  if (is_known && is_managed) *out_type = RDL_CU_MEMORYTYPE_DEVICE;
  return status;
}

/* ---- memory of the device's ---- */

static rdl_status check_owner(rdl_backend_device *device, rdl_cu_address address, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_context context = NULL;
  rdl_cu_device id = -1;
  int ordinal = -1, is_known = 0;
  rdl_status status =
      ask(device, RDL_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address, &ordinal, &is_known, why);
  if (status == RDL_OK && (!is_known || cu->cuDeviceGet(&id, ordinal) != 0 || id != device->id))
    status = rdl__fail(RDL_INVALID, why,
                       "%#llx is memory of CUDA device %d, and this context is on %s: open a "
                       "context on that device, or copy the memory to this one.",
                       address, ordinal, device->name);
  if (status == RDL_OK)
    status = ask(device, RDL_CU_POINTER_ATTRIBUTE_CONTEXT, address, &context, &is_known, why);
  /* What comes from a memory pool belongs to no context. */
  if (status == RDL_OK && is_known && context && context != device->context)
    status = rdl__fail(RDL_INVALID, why,
                       "%#llx is memory of another CUDA context than this context works in. Open "
                       "the context with the CUcontext that made it in the option native_context, "
                       "or while that is current.",
                       address);
  return status;
}

static rdl_status check_range(rdl_backend_device *device, rdl_cu_address address, size_t bytes,
                              rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_address from = 0;
  size_t whole = 0, left;
  rdl_status status =
      RDL_CU(cu, &device->lost, why, cu->cuMemGetAddressRange(&from, &whole, address));
  if (status != RDL_OK) return status;
  left = whole - (size_t)(address - from);
  if (bytes <= left) return RDL_OK;
  return rdl__fail(RDL_INVALID, why, "From %#llx on there are %zu bytes, and not %zu.", address,
                   left, bytes);
}

static rdl_status import_pointer(rdl_backend_device *device, const rdl_import *import,
                                 rdl_cu_block *block, rdl_reason *why) {
  rdl_cu_address address = (uintptr_t)import->memory;
  unsigned type = 0;
  rdl_status status = ask_type(device, address, &type, why);
  if (status == RDL_OK && type != RDL_CU_MEMORYTYPE_DEVICE)
    return rdl__fail(
        RDL_INVALID, why, "%#llx is no CUdeviceptr of memory of the device's.%s", address,
        type == RDL_CU_MEMORYTYPE_HOST ? " It is the process's: RDL_IMPORT_HOST." : "");
  if (status == RDL_OK) status = check_owner(device, address, why);
  if (status == RDL_OK) status = check_range(device, address, import->bytes, why);
  block->address = address;
  return status;
}

/* ---- memory of the process ---- */

/* Pages that this backend has locked. The driver locks a page once in a process, so imports of the
 * same memory share them, also those of other devices. */
typedef struct rdl_cu_pages {
  struct rdl_cu_pages *next;
  uintptr_t from, to;
  size_t uses;
} rdl_cu_pages;

static struct {
  pthread_mutex_t lock;
  rdl_cu_pages *first;
} locked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static rdl_cu_pages *find_locked(uintptr_t from, uintptr_t to) {
  rdl_cu_pages *p = locked.first;
  while (p && (from < p->from || to > p->to))
    p = p->next;
  return p;
}

static rdl_status lock_pages(rdl_backend_device *device, uintptr_t from, uintptr_t to,
                             rdl_cu_pages **out_pages, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_pages *made = malloc(sizeof *made);
  rdl_cu_result code;
  if (!made) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for an import.");
  *made = (rdl_cu_pages){.next = locked.first, .from = from, .to = to, .uses = 1};
  code = cu->cuMemHostRegister((void *)from, to - from, /* NOLINT(performance-no-int-to-ptr) */
                               RDL_CU_MEMHOSTREGISTER_PORTABLE | RDL_CU_MEMHOSTREGISTER_DEVICEMAP);
  if (code == 0) {
    *out_pages = locked.first = made;
    return RDL_OK;
  }
  free(made);
  if (code == RDL_CUDA_HOST_MEMORY_ALREADY_REGISTERED)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "A part of the pages from %#llx to %#llx is locked for CUDA already, by "
                     "another import or by the program, and CUDA locks a page once. Give memory "
                     "that is imported pages of its own (aligned_alloc), or lock all of it.",
                     (unsigned long long)from, (unsigned long long)to);
  return rdl__cu_check(cu, &device->lost, code, "cuMemHostRegister", why);
}

static void unlock_pages(rdl_backend_device *device, rdl_cu_pages *old) {
  rdl_cu_pages **link = &locked.first;
  if (--old->uses) return;
  while (*link != old)
    link = &(*link)->next;
  *link = old->next;
  if (rdl__cu_enter_to_free(device)) {
    (void)device->cu->cuMemHostUnregister(
        (void *)old->from); /* NOLINT(performance-no-int-to-ptr) */
    rdl__cu_leave(device);
  }
  free(old);
}

/* That all of it is one allocation or registration; a driver that does not tell these of memory of
 * the host's knows both ends at least. */
static rdl_status is_one(rdl_backend_device *device, uintptr_t at, size_t bytes, int *out_is_one,
                         rdl_reason *why) {
  rdl_cu_address from = 0;
  size_t whole = 0;
  unsigned type = 0;
  int is_known = 0;
  rdl_status status =
      ask(device, RDL_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at, &from, &is_known, why);
  if (status == RDL_OK && is_known)
    status = ask(device, RDL_CU_POINTER_ATTRIBUTE_RANGE_SIZE, at, &whole, &is_known, why);
  if (status == RDL_OK && is_known) {
    *out_is_one = at - from < whole && bytes <= whole - (at - from);
    return RDL_OK;
  }
  if (status == RDL_OK) status = ask_type(device, at + bytes - 1u, &type, why);
  *out_is_one = status == RDL_OK && type == RDL_CU_MEMORYTYPE_HOST;
  return status;
}

/* Memory that the program has locked, or had from CUDA, needs no pages of ours: `*out_is_locked`
 * tells that all of it is that. */
static rdl_status is_locked(rdl_backend_device *device, uintptr_t at, size_t bytes,
                            int *out_is_locked, rdl_reason *why) {
  unsigned type = 0;
  rdl_status status = ask_type(device, at, &type, why);
  *out_is_locked = 0;
  if (status == RDL_OK && type == RDL_CU_MEMORYTYPE_DEVICE)
    return rdl__fail(RDL_INVALID, why,
                     "%#llx is memory of the device's: import it as RDL_IMPORT_CUDA_POINTER.",
                     (unsigned long long)at);
  if (status != RDL_OK || !type) return status;
  return is_one(device, at, bytes, out_is_locked, why);
}

static rdl_status need_pages(rdl_backend_device *device, uintptr_t at, size_t bytes,
                             rdl_cu_pages **out_pages, rdl_reason *why) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = at / page * page, to = (at + bytes + page - 1u) / page * page;
  rdl_cu_pages *pages = find_locked(from, to);
  int is_ready = 0;
  rdl_status status;
  if (pages) {
    pages->uses++;
    *out_pages = pages;
    return RDL_OK;
  }
  status = is_locked(device, at, bytes, &is_ready, why);
  if (status != RDL_OK || is_ready) return status;
  return lock_pages(device, from, to, out_pages, why);
}

static rdl_status import_host(rdl_backend_device *device, const rdl_import *import,
                              rdl_cu_block *block, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  uintptr_t at = (uintptr_t)import->memory;
  rdl_status status;
  if (import->bytes > UINTPTR_MAX - at - 65536u)
    return rdl__fail(RDL_INVALID, why, "%zu bytes from %p on go past the end of memory.",
                     import->bytes, import->memory);
  (void)pthread_mutex_lock(&locked.lock);
  status = need_pages(device, at, import->bytes, &block->pages, why);
  if (status == RDL_OK)
    status = RDL_CU(cu, &device->lost, why,
                    cu->cuMemHostGetDevicePointer(&block->address, import->memory, 0));
  if (status != RDL_OK && block->pages) unlock_pages(device, block->pages);
  (void)pthread_mutex_unlock(&locked.lock);
  return status;
}

/* ---- all of it ---- */

static rdl_status import_any(rdl_backend_device *device, const rdl_import *import,
                             rdl_cu_block *block, rdl_reason *why) {
  rdl_status status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status =
      (import->kind == RDL_IMPORT_HOST ? import_host : import_pointer)(device, import, block, why);
  rdl__cu_leave(device);
  return status;
}

rdl_status rdl__cu_import(rdl_backend_device *device, const rdl_import *import,
                          rdl_backend_import *out_import, rdl_reason *why) {
  void *memory = NULL;
  rdl_status status;
  if (import->kind != RDL_IMPORT_HOST && import->kind != RDL_IMPORT_CUDA_POINTER)
    return rdl__fail(RDL_UNSUPPORTED, why,
                     "A CUDA device imports memory of its own, RDL_IMPORT_CUDA_POINTER, and memory "
                     "of this process, RDL_IMPORT_HOST, and nothing that OpenCL made.");
  status = rdl__cu_block_map(0, 0, &memory, why);
  if (status != RDL_OK) return status;
  status = import_any(device, import, rdl__cu_block_of(memory), why);
  if (status == RDL_OK)
    *out_import = (rdl_backend_import){memory, rdl__cu_block_of(memory)->address, import->bytes};
  else
    rdl__cu_block_unmap(memory);
  return status;
}

/* What a launch has written is there for all when it has ended, and it has: the driver is asked
 * once more, for all that was in the stream. */
rdl_status rdl__cu_sync(rdl_backend_device *device, void *memory, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_status status = rdl__cu_enter(device, why);
  (void)memory;
  if (status != RDL_OK) return status;
  status = RDL_CU(cu, &device->lost, why, cu->cuStreamSynchronize(device->stream));
  rdl__cu_leave(device);
  return status;
}

void rdl__cu_drop(rdl_backend_device *device, void *memory) {
  rdl_cu_pages *pages = rdl__cu_block_of(memory)->pages;
  (void)pthread_mutex_lock(&locked.lock);
  if (pages) unlock_pages(device, pages);
  (void)pthread_mutex_unlock(&locked.lock);
  rdl__cu_block_unmap(memory);
}
