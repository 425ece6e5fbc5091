/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RDL_COMMON_IMAGE_CACHE_TEST_H
#define RDL_COMMON_IMAGE_CACHE_TEST_H

#include <raddle/backend.h>

/* Each backend's own: makes an open device keep its images in the cache where it would not. */
void keep_binaries(rdl_backend_device *device);

#endif
