/* SPDX-License-Identifier: Apache-2.0 */
/* text/counter.cu, as the build embeds it. */
#ifndef RDL_CUDA_COUNTER_H
#define RDL_CUDA_COUNTER_H

#include "backends/common/kernel_text.h"

extern const struct rdl_kernel_text rdl__counter_texts[];
extern const unsigned rdl__counter_text_count;
extern const char rdl__counter_hash[];

#endif
