/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an image: the device code of Raddle, the modules of a context in the order in which
 * they were loaded, and between them what ties them together (numbers of tasks, their heads, the
 * dispatch). */
#ifndef RDL_SRC_IMAGE_H
#define RDL_SRC_IMAGE_H

#include <raddle/backend.h>
#include <stddef.h>
#include <stdint.h>

#include "api/src/scan.h"
#include "api/src/text.h"

/* Borrowed: what it points to must outlive the images made from it. */
typedef struct rdl__image_module {
  const char *name; /* of its file, for messages */
  const char *text;
  size_t length;
  const rdl__task_list *tasks; /* as rdl__scan found them in the text */
} rdl__image_module;

typedef struct rdl__image {
  rdl_image_text text; /* for a backend; points into the rest */
  uint32_t task_count; /* task i of module m has number (tasks of the modules before m) + i */
  rdl_text_piece *pieces;
  rdl__text front; /* what stands before all; empty = nothing */
  rdl__text heads; /* the generated pieces lie in these two */
  rdl__text tail;
  char hash[65];
} rdl__image;

/* Raddle's own module, which goes before all others. `*tasks` is filled here, is what the module
 * refers to, and is the caller's to finish. */
rdl_status rdl__image_own_module(rdl__task_list *tasks, rdl__image_module *out_module,
                                 rdl_reason *why);

/* Makes the image of `modules`, the first of which is Raddle's own. The hash is over the texts and
 * the file names without their folders, so it is the same wherever the files lie. RDL_COMPILE: two
 * modules have a task of the same name, there are more tasks than an image can number, or a module
 * mentions what is not there (mentions.h); `why` begins with file:line:column. RDL_OUT_OF_MEMORY.
 * On failure `*out` is empty. */
rdl_status rdl__image_make(const rdl__image_module *modules, size_t count, rdl__image *out,
                           rdl_reason *why);

/* Takes an empty or zeroed one. */
void rdl__image_finish(rdl__image *image);

/* Adds the names of the files behind Raddle's own module, without their folders, as rdl_prebuilt
 * has them. */
void rdl__image_files(const rdl__image_module *modules, size_t count, rdl__text *out);

/* Adds all pieces to `out` as one C text, each behind a line mark. */
void rdl__image_write(const rdl_image_text *text, rdl__text *out);

#endif
