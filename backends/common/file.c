/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/common/reason.h"

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

rdl_status rdl__file_unread(const char *path, int error, rdl_reason *why) {
  char folder[PATH_MAX];
  bool nowhere = error == ENOENT || error == ENOTDIR;
  rdl_status status = error == ENOENT ? RDL_NOT_FOUND : RDL_IO;
  if (error == ENOMEM)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "cannot read %.1000s: out of memory", path);
  (void)rdl__fail(status, why, "cannot read %.1000s: %s", path, strerror(error));
  if (nowhere && *path != '/' && getcwd(folder, sizeof folder))
    rdl__reason_append(
        why,
        ". A relative path starts from the current directory, which is %.800s: run it "
        "elsewhere, or give an absolute path",
        folder);
  return status;
}
