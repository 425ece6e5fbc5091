/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/file.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 65536u

/* To the end of the file, which may be a pipe: its size is known when it has been read. */
static char *read_stream(FILE *file, size_t *out_size) {
  size_t room = FIRST_ROOM, used = 0;
  char *bytes = malloc(room + 1u);
  while (bytes) {
    char *more;
    used += fread(bytes + used, 1, room - used, file);
    if (used < room) break;
    room *= 2u;
    more = realloc(bytes, room + 1u);
    if (!more) free(bytes);
    bytes = more;
  }
  if (bytes) bytes[used] = '\0';
  *out_size = used;
  return bytes;
}

char *rdl__file_read_open(FILE *file, size_t *out_size) {
  char *bytes;
  int error;
  errno = 0;
  bytes = read_stream(file, out_size);
  error = bytes ? errno : ENOMEM;
  if (bytes && !ferror(file)) error = 0;
  if (!error) return bytes;
  free(bytes);
  errno = error;
  return NULL;
}

char *rdl__file_read(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rbe");
  char *bytes;
  int error;
  if (!file) return NULL;
  bytes = rdl__file_read_open(file, out_size);
  error = errno;
  (void)fclose(file);
  errno = error;
  return bytes;
}
