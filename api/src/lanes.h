/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks are run by all lanes of a worker: those that name lanes themselves, or through the
 * functions and macros that they use. All others are run by one lane alone, so that what they do to
 * memory happens once. */
#ifndef RDL_SRC_LANES_H
#define RDL_SRC_LANES_H

#include "api/src/image.h"

/* Sets `wide[k]` for the task of number k, in the order of the modules and their tasks; the others
 * are left as they are. RDL_OUT_OF_MEMORY. */
rdl_status rdl__find_wide(const rdl__image_module *modules, size_t count, bool *wide);

/* Sets `unpacked[k]` for tasks of which a worker does not run one in each lane at the same time
 * (kernels/pack.cl): all that name more than a few words, or that loop, or may, and spawn. */
rdl_status rdl__find_unpacked(const rdl__image_module *modules, size_t count, bool *unpacked);

/* Sets `marks[k]` for tasks that name more than a private task may (kernels/private.cl), themselves
 * or through functions and macros. */
rdl_status rdl__find_not_private(const rdl__image_module *modules, size_t count, bool *marks);

#endif
