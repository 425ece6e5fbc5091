/* SPDX-License-Identifier: Apache-2.0 */
/* The least of a device that a build needs: also of one that tasks do not run on. */
#ifndef RDL_OPENCL_BARE_DEVICE_H
#define RDL_OPENCL_BARE_DEVICE_H

#include "backends/opencl/device.h"

/* The first device of a platform whose name holds `platform`, with the cache in `folder`; 0 = there
 * is none, or `why` says what went wrong. It is never closed. */
int bare_device_open(const char *platform, const char *options, const char *folder,
                     struct rdl_backend_device *out_device, rdl_reason *why);

/* The status of a build of one piece called `name`, whose image is let go. Its hash is the text. */
rdl_status bare_device_build(struct rdl_backend_device *device, const char *name, const char *text,
                             rdl_reason *why);

#endif
