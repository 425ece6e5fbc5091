/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RDL_COMMON_FILE_H
#define RDL_COMMON_FILE_H

#include <stddef.h>
#include <stdio.h>

/* The whole file, a zero byte behind it, to be freed by the caller. NULL with `errno` set when it
 * cannot be read; ENOMEM: out of memory. */
char *rdl__file_read(const char *path, size_t *out_size);

/* The same of what is left of an open one, which may be a pipe. */
char *rdl__file_read_open(FILE *file, size_t *out_size);

#endif
