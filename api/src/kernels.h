/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel text that images are made of: what is embedded in the library or, for developers of
 * the scheduler, the files of the same names in the folder that $RADDLE_KERNELS names. */
#ifndef RDL_SRC_KERNELS_H
#define RDL_SRC_KERNELS_H

#include <raddle/backend.h>

#include "backends/common/kernel_text.h"

/* Gives rdl__kernel_text_count texts in the order in which compilers must see them; they live as
 * long as the process. The environment and the files are read by the first call alone, so that all
 * images of a process agree. Any thread. RDL_IO: a file is missing or cannot be read, and `why`
 * names it; RDL_OUT_OF_MEMORY. */
rdl_status rdl__kernels(const struct rdl_kernel_text **out_texts, rdl_reason *why);

/* The text of this name, or NULL. */
const struct rdl_kernel_text *rdl__kernels_find(const struct rdl_kernel_text *texts,
                                                const char *name);

#endif
