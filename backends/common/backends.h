/* SPDX-License-Identifier: Apache-2.0 */
/* The backends that this build has, in the order in which they are looked at. */
#ifndef RDL_COMMON_BACKENDS_H
#define RDL_COMMON_BACKENDS_H

#include <raddle/backend.h>

extern const rdl_backend *const rdl__backends[];
extern const unsigned rdl__backend_count;

/* One line a backend. Those that the build leaves out are declared, too, and defined nowhere. */
extern const rdl_backend rdl__backend_host;
extern const rdl_backend rdl__backend_cuda;
extern const rdl_backend rdl__backend_opencl;

/* `allocate_window` of a backend whose devices have none. */
rdl_status rdl__no_window(rdl_backend_device *device, size_t bytes, void **out_memory,
                          rdl_reason *why);

#endif
