/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4): names of cache entries, checksums of their contents, hashes of texts. */
#ifndef RDL_COMMON_SHA256_H
#define RDL_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define RDL_SHA256_SIZE 32u
#define RDL_SHA256_HEX  65u /* 64 digits and the zero */

typedef struct rdl_sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes taken in so far */
  unsigned char block[64];
} rdl_sha256;

void rdl__sha256_init(rdl_sha256 *hash);
void rdl__sha256_add(rdl_sha256 *hash, const void *bytes, size_t size);
void rdl__sha256_end(rdl_sha256 *hash, unsigned char out_digest[RDL_SHA256_SIZE]);

/* Lower-case hexadecimal digits. */
void rdl__sha256_hex(const unsigned char digest[RDL_SHA256_SIZE], char out_hex[RDL_SHA256_HEX]);

#endif
