/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/tests/image_cache_test.h"
#include "backends/opencl/device.h"

/* Devices that are no CPU do, and tests run on PoCL. */
void keep_binaries(rdl_backend_device *device) {
  device->keeps_binaries = 1;
}
