/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a task must not have because some device's language has them already. */
#ifndef RDL_SRC_RESERVED_H
#define RDL_SRC_RESERVED_H

#include <stdbool.h>

/* Whether `name` is a function or type of OpenCL C. Drivers make macros of many of them, so that a
 * task of that name compiles on the host and fails elsewhere with names nobody wrote. */
bool rdl__reserved_in_opencl(const char *name);

#endif
