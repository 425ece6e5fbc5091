/* SPDX-License-Identifier: Apache-2.0 */
/* text/front.cu, as the build embeds it. */
#ifndef RDL_CUDA_COUNTER_H
#define RDL_CUDA_COUNTER_H

#include "backends/common/kernel_text.h"

extern const struct rdl_kernel_text rdl__front_texts[];
extern const unsigned rdl__front_text_count;
extern const char rdl__front_hash[];

#endif
