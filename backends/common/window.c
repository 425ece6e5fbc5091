/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/backends.h"
#include "backends/common/reason.h"

rdl_status rdl__no_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                          rdl_reason *why) {
  (void)device;
  (void)bytes;
  (void)out_memory;
  return rdl__fail(RDL_UNSUPPORTED, why,
                   "The device has no memory that host and running kernels both see.");
}
