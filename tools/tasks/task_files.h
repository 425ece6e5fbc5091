/* SPDX-License-Identifier: Apache-2.0 */
/* Task files as the programs in tools/ read them: without a device, and without a context. */
#ifndef RADDLE_TASK_FILES_H
#define RADDLE_TASK_FILES_H

#include "api/src/image.h"

/* Zeroed: none. Entry 0 is Raddle's own module; the files follow in their order. */
typedef struct task_files {
  size_t count;
  rdl__image_module *modules;
  char **texts;
  rdl__task_list *tasks;
} task_files;

/* Reads and scans the files. On failure `why` says what is wrong, in the form that rdl_module_load
 * has for it; task_files_finish is called in any case. */
rdl_status task_files_read(char *const *paths, size_t count, task_files *out, rdl_reason *why);

/* Takes a zeroed one. */
void task_files_finish(task_files *files);

#endif
