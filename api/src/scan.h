/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tasks in a task file. The compiler cannot tell which there are, because the dialect has
 * no function pointers: the dispatch over tasks is written from what is found here. */
#ifndef RDL_SRC_SCAN_H
#define RDL_SRC_SCAN_H

#include <raddle/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RDL__NAME_MAX 63u

typedef struct rdl__task {
  char name[RDL__NAME_MAX + 1];
  uint32_t line; /* where the name stands in RDL_TASK */
  uint32_t column;
  uint32_t begin_line;  /* of RDL_BEGIN */
  uint32_t end_line;    /* of RDL_END */
  uint32_t declared;    /* line of the RDL_DECLARE before it; 0 = none */
  uint32_t spawns;      /* words that spawn, and what RDL_SPAWNS adds */
  uint32_t lane_spawns; /* words that spawn one a lane */
  uint32_t resume_points;
  uint32_t group;   /* line of its RDL_GROUP; 0 = none */
  uint32_t nesting; /* how deep its statements stand in each other, as far as is known */
  /* The types as they stand there, without comments and needless spaces. */
  char *result;
  char *args;
  char *state;
  char *lane_state; /* NULL but in an RDL_TASK_LANES */
  bool is_private;  /* an RDL_TASK_PRIVATE */
} rdl__task;

/* What can be judged only beside the other files of an image: a name that is wrong here may have
 * been given a meaning by a macro or a task of a file before. */
typedef enum rdl__mention_kind {
  RDL__OWN,     /* a macro, or a function that is called like one of the C library */
  RDL__SPAWNED, /* a task, in a word that spawns */
  RDL__CALLED,  /* a function of the C library */
  RDL__VARIABLE /* one at file level */
} rdl__mention_kind;

typedef struct rdl__mention {
  rdl__mention_kind kind;
  uint32_t line; /* where the name stands */
  uint32_t column;
  char name[RDL__NAME_MAX + 1];
  char before[RDL__NAME_MAX + 1]; /* a word before it that may be a macro and change everything */
} rdl__mention;

typedef struct rdl__task_list {
  rdl__task *tasks; /* in the order of the file */
  size_t count;
  size_t capacity;
  rdl__mention *mentions; /* in the order of the file */
  size_t mention_count;
  size_t mention_capacity;
} rdl__task_list;

#define RDL__SCAN_OWN 1u /* Raddle's own file: names may begin with rdl_ */

/* Reads `text` and stores its tasks in `*out`, which rdl__task_list_finish frees. `file` is what
 * messages call it. RDL_COMPILE: `why` begins with file:line:column and tells what to do.
 * RDL_OUT_OF_MEMORY. On failure `*out` is empty. */
rdl_status rdl__scan(const char *file, const char *text, size_t length, unsigned flags,
                     rdl__task_list *out, rdl_reason *why);

/* Frees what the list holds and makes it empty. Takes an empty or zeroed one. */
void rdl__task_list_finish(rdl__task_list *list);

#endif
