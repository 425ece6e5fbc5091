/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: files of tasks. All modules of a context are compiled together with the scheduler into
 * one image; loading another one rebuilds it while no segment runs, and what is suspended
 * resumes. */
#ifndef RDL_MODULE_H
#define RDL_MODULE_H

#include <raddle/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdl_module rdl_module;

/* Compiles a task file into the context; a path is relative to the current directory. The module
 * belongs to the context and lives as long. Blocks while the compiler runs; the result is cached on
 * disk. Any thread. RDL_COMPILE: the text begins with file:line:column of the first error, or says
 * how the compiler ended that named none; the context keeps the modules it had. RDL_NOT_FOUND or
 * RDL_IO: the file could not be read. RDL_UNAVAILABLE: there is no compiler, and the text says what
 * to install. */
RDL_API RDL_MUST_CHECK rdl_status rdl_module_load(rdl_context *context, const char *path,
                                                  rdl_module **out_module);

/* The same from memory; `name` stands for the file in messages. The text is copied. */
RDL_API RDL_MUST_CHECK rdl_status rdl_module_load_text(rdl_context *context, const char *name,
                                                       const char *text, size_t length,
                                                       rdl_module **out_module);

typedef struct rdl_task_description {
  size_t size;          /* sizeof(rdl_task_description), set by the caller */
  uint32_t args_size;   /* bytes; 0 = takes none */
  uint32_t state_size;  /* bytes that live across its awaits */
  uint32_t result_size; /* bytes; 0 = gives none */
  uint32_t spawns;      /* room it asks for before a segment */
  uint32_t resume_points;
  uint32_t line;            /* where it is declared */
  uint32_t lane_state_size; /* bytes that live across its awaits in each lane; 0 = none */
} rdl_task_description;

/* RDL_NOT_FOUND: the module has no task of this name; the text lists those it has. Does not block.
 */
RDL_API RDL_MUST_CHECK rdl_status rdl_module_task(rdl_module *module, const char *task,
                                                  rdl_task_description *out_description);

#ifdef __cplusplus
}
#endif

#endif
