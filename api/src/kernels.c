/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/kernels.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/file.h"

#define FOLDER_VARIABLE "RADDLE_KERNELS"

static pthread_once_t read_once = PTHREAD_ONCE_INIT;

/* Written by the one call that reads, and constant from then on. */
static struct {
  const struct rdl_kernel_text *texts;
  rdl_status status;
  rdl_reason why;
} kernels;

static rdl_status report(rdl_status status, const char *path, const char *what) {
  snprintf(kernels.why.text, sizeof kernels.why.text,
           FOLDER_VARIABLE " is set, but the kernel text %.1500s cannot be read: %.200s", path,
           what);
  return status;
}

static rdl_status read_text(const char *folder, struct rdl_kernel_text *text) {
  char path[4096];
  char *bytes;
  size_t size = 0;
  if (snprintf(path, sizeof path, "%s/%s", folder, text->name) >= (int)sizeof path)
    return report(RDL_IO, folder, "the path is too long");
  bytes = rdl__file_read(path, &size);
  if (!bytes) return report(errno == ENOMEM ? RDL_OUT_OF_MEMORY : RDL_IO, path, strerror(errno));
  text->text = (const unsigned char *)bytes;
  text->size = size;
  return RDL_OK;
}

static rdl_status read_all(const char *folder) {
  struct rdl_kernel_text *texts = calloc(rdl__kernel_text_count, sizeof *texts);
  rdl_status status = texts ? RDL_OK : report(RDL_OUT_OF_MEMORY, folder, "out of memory");
  for (unsigned i = 0; i < rdl__kernel_text_count && !status; i++) {
    texts[i].name = rdl__kernel_texts[i].name;
    status = read_text(folder, &texts[i]);
  }
  kernels.texts = texts; /* also what was read before a failure: it is never freed */
  return status;
}

static void read_kernels(void) {
  const char *folder = getenv(FOLDER_VARIABLE);
  if (folder && *folder)
    kernels.status = read_all(folder);
  else
    kernels.texts = rdl__kernel_texts;
}

rdl_status rdl__kernels(const struct rdl_kernel_text **out_texts, rdl_reason *why) {
  pthread_once(&read_once, read_kernels);
  *out_texts = kernels.texts;
  if (kernels.status) *why = kernels.why;
  return kernels.status;
}

const struct rdl_kernel_text *rdl__kernels_find(const struct rdl_kernel_text *texts,
                                                const char *name) {
  for (unsigned i = 0; i < rdl__kernel_text_count; i++)
    if (strcmp(texts[i].name, name) == 0) return &texts[i];
  return NULL;
}
