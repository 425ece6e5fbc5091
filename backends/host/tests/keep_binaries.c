/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/tests/image_cache_test.h"

/* The host always does. */
void keep_binaries(rdl_backend_device *device) {
  (void)device;
}
