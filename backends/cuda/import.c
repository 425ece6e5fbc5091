/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program's: this backend takes none in. */
#include "backends/common/reason.h"
#include "backends/cuda/device.h"

rdl_status rdl__cu_import(rdl_backend_device *device, const rdl_import *import,
                          rdl_backend_import *out_import, rdl_reason *why) {
  (void)import;
  (void)out_import;
  return rdl__fail(RDL_UNSUPPORTED, why,
                   "Memory of the program's cannot be imported on %s: the cuda backend takes in no "
                   "kind of it. Copy it into a buffer (raddle/buffer.h).",
                   device->name);
}

rdl_status rdl__cu_sync(rdl_backend_device *device, void *memory, rdl_reason *why) {
  (void)memory;
  return rdl__cu_import(device, NULL, NULL, why);
}

void rdl__cu_drop(rdl_backend_device *device, void *memory) {
  (void)device;
  (void)memory;
}
