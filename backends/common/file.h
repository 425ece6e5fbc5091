/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RDL_COMMON_FILE_H
#define RDL_COMMON_FILE_H

#include <raddle/backend.h>
#include <stddef.h>
#include <stdio.h>

/* The whole file, a zero byte behind it, to be freed by the caller. NULL with `errno` set when it
 * cannot be read; ENOMEM: out of memory. */
char *rdl__file_read(const char *path, size_t *out_size);

/* The same of what is left of an open one, which may be a pipe. */
char *rdl__file_read_open(FILE *file, size_t *out_size);

/* Says why a file that the user named could not be read: `error` is the errno of rdl__file_read. A
 * relative path that leads nowhere is told with the folder in which it was looked for.
 * RDL_NOT_FOUND, RDL_IO or RDL_OUT_OF_MEMORY. */
rdl_status rdl__file_unread(const char *path, int error, rdl_reason *why);

#endif
