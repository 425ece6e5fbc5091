/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the arguments of batches, which the device reads while it builds them. What one batch
 * gives back the next one takes: the pages of new memory cost a tenth of what a batch of short
 * tasks takes. */
#include <stddef.h>
#include <string.h>

#include "api/src/core.h"

#define SPARE_MOST (64u << 20)

struct rdl__staging {
  uint64_t bytes; /* of `data` */
  uint64_t pad[7];
  unsigned char data[];
};

/* The spare one, if it is large enough and not far too large. */
static rdl__staging *take_spare(rdl_context *cx, uint64_t bytes) {
  rdl__staging *spare = cx->spare_staging;
  if (!spare || spare->bytes < bytes || spare->bytes / 16u > bytes) return NULL;
  cx->spare_staging = NULL;
  return spare;
}

rdl_status rdl__stage(rdl_context *cx, const void *from, uint64_t bytes,
                      rdl__staging **out_staging) {
  rdl__staging *staging = take_spare(cx, bytes);
  void *memory = NULL;
  rdl_status status;
  *out_staging = NULL;
  if (!staging) {
    status = rdl__memory_take(cx, sizeof *staging + bytes, &memory);
    if (status) return status;
    staging = memory;
    staging->bytes = bytes;
  }
  memcpy(staging->data, from, bytes);
  rdl__wrote_in(cx, staging, sizeof *staging + bytes);
  *out_staging = staging;
  return RDL_OK;
}

rdl_ptr rdl__staged(rdl_context *cx, const rdl__staging *staging) {
  return staging ? rdl__address(cx, staging) + offsetof(rdl__staging, data) : 0u;
}

/* The larger one of two stays, if that keeps no more from the program than a batch of a million
 * does. */
void rdl__unstage(rdl_context *cx, rdl__staging *staging) {
  rdl__staging *spare = cx->spare_staging;
  if (!staging) return;
  if (staging->bytes <= SPARE_MOST && (!spare || spare->bytes < staging->bytes)) {
    cx->spare_staging = staging;
    staging = spare;
  }
  rdl__memory_release(cx, staging);
}

void rdl__staging_close(rdl_context *cx) {
  rdl__memory_release(cx, cx->spare_staging);
  cx->spare_staging = NULL;
}
