/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/parcel.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096u

void rdl__parcel_free(rdl_parcel *parcel) {
  free(parcel->bytes);
  memset(parcel, 0, sizeof *parcel);
}

static int make_room(rdl_parcel *parcel, size_t size) {
  size_t room = parcel->room ? parcel->room : FIRST_ROOM;
  unsigned char *bytes;
  while (room - parcel->size < size)
    room *= 2;
  if (room == parcel->room) return 1;
  bytes = realloc(parcel->bytes, room);
  if (!bytes) return 0;
  parcel->bytes = bytes;
  parcel->room = room;
  return 1;
}

void rdl__parcel_add(rdl_parcel *parcel, const void *bytes, size_t size) {
  const uint64_t length = size;
  if (parcel->failed) return;
  if (!make_room(parcel, sizeof length + size + 1)) {
    rdl__parcel_free(parcel);
    parcel->failed = 1;
    return;
  }
  memcpy(parcel->bytes + parcel->size, &length, sizeof length);
  parcel->size += sizeof length;
  if (size) memcpy(parcel->bytes + parcel->size, bytes, size);
  parcel->size += size;
  parcel->bytes[parcel->size++] = 0;
}

void rdl__parcel_add_text(rdl_parcel *parcel, const char *text) {
  rdl__parcel_add(parcel, text, strlen(text));
}

void rdl__parcel_add_number(rdl_parcel *parcel, uint64_t number) {
  rdl__parcel_add(parcel, &number, sizeof number);
}

rdl_parcel_reader rdl__parcel_read(const void *bytes, size_t size) {
  return (rdl_parcel_reader){.at = bytes, .left = size};
}

/* The field's length, with its length and zero byte taken off the front; 0 = there is none. */
static int open_field(rdl_parcel_reader *reader, size_t *out_size) {
  uint64_t length;
  if (reader->failed || reader->left <= sizeof length) return 0;
  memcpy(&length, reader->at, sizeof length);
  if (length > reader->left - sizeof length - 1 || reader->at[sizeof length + length]) return 0;
  reader->at += sizeof length;
  reader->left -= sizeof length + (size_t)length + 1;
  *out_size = (size_t)length;
  return 1;
}

const char *rdl__parcel_take(rdl_parcel_reader *reader, size_t *out_size) {
  const char *field;
  size_t size = 0;
  if (out_size) *out_size = 0;
  if (!open_field(reader, &size)) {
    reader->failed = 1;
    return "";
  }
  field = (const char *)reader->at;
  reader->at += size + 1;
  if (out_size) *out_size = size;
  return field;
}

uint64_t rdl__parcel_take_number(rdl_parcel_reader *reader) {
  uint64_t number = 0;
  size_t size;
  const char *field = rdl__parcel_take(reader, &size);
  if (size == sizeof number)
    memcpy(&number, field, sizeof number);
  else
    reader->failed = 1;
  return number;
}
