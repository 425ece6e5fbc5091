/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tasks/task_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/file.h"
#include "backends/common/reason.h"

static rdl_status read_file(const char *path, task_files *files, size_t at, rdl_reason *why) {
  size_t length = 0;
  rdl_status status;
  files->texts[at] = rdl__file_read(path, &length);
  if (!files->texts[at]) return rdl__file_unread(path, errno, why);
  status = rdl__scan(path, files->texts[at], length, 0, &files->tasks[at], why);
  files->modules[at] = (rdl__image_module){path, files->texts[at], length, &files->tasks[at]};
  return status;
}

rdl_status task_files_read(char *const *paths, size_t count, task_files *out, rdl_reason *why) {
  rdl_status status;
  *out = (task_files){.count = count + 1};
  out->modules = calloc(out->count, sizeof *out->modules);
  out->texts = calloc(out->count, sizeof *out->texts);
  out->tasks = calloc(out->count, sizeof *out->tasks);
  if (!out->modules || !out->texts || !out->tasks)
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "out of memory");
  status = rdl__image_own_module(&out->tasks[0], &out->modules[0], why);
  for (size_t i = 0; i < count && !status; i++)
    status = read_file(paths[i], out, i + 1, why);
  return status;
}

void task_files_finish(task_files *files) {
  for (size_t i = 0; files->texts && i < files->count; i++)
    free(files->texts[i]);
  for (size_t i = 0; files->tasks && i < files->count; i++)
    rdl__task_list_finish(&files->tasks[i]);
  free(files->modules);
  free(files->texts);
  free(files->tasks);
  *files = (task_files){0};
}
