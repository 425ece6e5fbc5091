/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a task file cannot use as it likes: some device's language has them already, or none
 * but the host's has them. */
#ifndef RDL_SRC_RESERVED_H
#define RDL_SRC_RESERVED_H

#include <stdbool.h>

/* Whether `name` is a function or type of OpenCL C. Drivers make macros of many of them, so that a
 * task of that name compiles on the host and fails elsewhere with names nobody wrote. */
bool rdl__reserved_in_opencl(const char *name);

/* What to do in place of calling this function of the C library; NULL when the name is another. */
const char *rdl__instead_of(const char *name);

#endif
