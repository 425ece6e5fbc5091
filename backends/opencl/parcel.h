/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library and its helper program send each other: a row of fields, each with its length.
 * Both are of one version and one machine, so numbers are as they are in memory.
 *
 * Errors are kept: a parcel that ran out of memory, or a reader that found less than it was asked
 * for, stays failed, so that only the end has to be looked at.
 */
#ifndef RDL_OPENCL_PARCEL_H
#define RDL_OPENCL_PARCEL_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed one is empty. */
typedef struct rdl_parcel {
  unsigned char *bytes;
  size_t size;
  size_t room;
  uint32_t failed; /* 1 = memory ran out, and the parcel is empty */
} rdl_parcel;

void rdl__parcel_add(rdl_parcel *parcel, const void *bytes, size_t size);
void rdl__parcel_add_text(rdl_parcel *parcel, const char *text);
void rdl__parcel_add_number(rdl_parcel *parcel, uint64_t number);
void rdl__parcel_free(rdl_parcel *parcel);

typedef struct rdl_parcel_reader {
  const unsigned char *at;
  size_t left;
  uint32_t failed; /* 1 = a field was missing, cut off, or of another kind */
} rdl_parcel_reader;

rdl_parcel_reader rdl__parcel_read(const void *bytes, size_t size);

/* The next field, which stays in the parcel and has a zero byte behind it. Never NULL: a field that
 * is missing is empty. `out_size` may be NULL. */
const char *rdl__parcel_take(rdl_parcel_reader *reader, size_t *out_size);
uint64_t rdl__parcel_take_number(rdl_parcel_reader *reader);

#endif
