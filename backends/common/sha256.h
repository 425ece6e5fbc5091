/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). */
#ifndef RDL_COMMON_SHA256_H
#define RDL_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct rdl__sha256 {
  uint32_t state[8];
  uint64_t bytes; /* so far */
  unsigned char block[64];
} rdl__sha256;

void rdl__sha256_init(rdl__sha256 *hash);
void rdl__sha256_add(rdl__sha256 *hash, const void *data, size_t length);

/* Writes 64 lower-case digits and a zero byte. The hash must be initialised again before more is
 * added. */
void rdl__sha256_hex(rdl__sha256 *hash, char out_hex[65]);

#endif
