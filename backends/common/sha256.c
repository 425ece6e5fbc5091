/* SPDX-License-Identifier: Apache-2.0 */
/* Written from the formulas of FIPS 180-4; docs/decisions says why it is not a library. */
#include "backends/common/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, unsigned n) {
  return (x >> n) | (x << (32 - n));
}

static void spread(const unsigned char *block, uint32_t w[64]) {
  for (size_t i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (size_t i = 16; i < 64; i++) {
    uint32_t near = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ (w[i - 2] >> 10);
    uint32_t far = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ (w[i - 15] >> 3);
    w[i] = near + w[i - 7] + far + w[i - 16];
  }
}

static void take_block(uint32_t state[8], const unsigned char *block) {
  uint32_t w[64], v[8];
  spread(block, w);
  memcpy(v, state, sizeof v);
  for (size_t i = 0; i < 64; i++) {
    uint32_t high = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25);
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t one = v[7] + high + choice + round_constants[i] + w[i];
    uint32_t low = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22);
    uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += one;
    v[0] = one + low + majority;
  }
  for (size_t i = 0; i < 8; i++)
    state[i] += v[i];
}

void rdl__sha256_init(rdl_sha256 *hash) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memset(hash, 0, sizeof *hash);
  memcpy(hash->state, start, sizeof start);
}

void rdl__sha256_add(rdl_sha256 *hash, const void *bytes, size_t size) {
  const unsigned char *from = bytes;
  size_t used = (size_t)(hash->length % 64);
  hash->length += size;
  while (size) {
    size_t part = 64 - used < size ? 64 - used : size;
    memcpy(hash->block + used, from, part);
    used += part;
    from += part;
    size -= part;
    if (used < 64) return;
    take_block(hash->state, hash->block);
    used = 0;
  }
}

void rdl__sha256_end(rdl_sha256 *hash, unsigned char out_digest[RDL_SHA256_SIZE]) {
  static const unsigned char padding[64] = {0x80};
  unsigned char bits[8];
  size_t used = (size_t)(hash->length % 64);
  for (size_t i = 0; i < 8; i++)
    bits[i] = (unsigned char)((hash->length * 8) >> (56 - 8 * i));
  rdl__sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
  rdl__sha256_add(hash, bits, sizeof bits);
  for (size_t i = 0; i < RDL_SHA256_SIZE; i++)
    out_digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void rdl__sha256_hex(const unsigned char digest[RDL_SHA256_SIZE], char out_hex[RDL_SHA256_HEX]) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < RDL_SHA256_SIZE; i++) {
    out_hex[2 * i] = digits[digest[i] >> 4];
    out_hex[2 * i + 1] = digits[digest[i] & 15];
  }
  out_hex[RDL_SHA256_HEX - 1] = 0;
}
