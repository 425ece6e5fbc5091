/* SPDX-License-Identifier: Apache-2.0 */
/* Memory straight from the system: it is zero, and no page of it costs anything until it is
 * touched, so a heap may be larger than what will be used of it. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/common/reason.h"
#include "backends/host/device.h"

/* The size is kept in front of the block; a whole page keeps the block aligned to one. */
#define FRONT 4096u

rdl_status rdl__host_allocate(rdl_backend_device *device, size_t bytes, void **out_memory,
                              rdl_reason *why) {
  size_t whole = bytes + FRONT;
  unsigned char *block = MAP_FAILED;
  (void)device;
  if (whole > bytes)
    block = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (block == MAP_FAILED)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "The system has no %zu bytes of memory to give: %s.",
                     bytes, strerror(whole > bytes ? errno : ENOMEM));
  memcpy(block, &whole, sizeof whole);
  *out_memory = block + FRONT;
  return RDL_OK;
}

void rdl__host_release(rdl_backend_device *device, void *memory) {
  unsigned char *block = memory;
  size_t whole;
  (void)device;
  if (!memory) return;
  block -= FRONT;
  memcpy(&whole, block, sizeof whole);
  (void)munmap(block, whole);
}
