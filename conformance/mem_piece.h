/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the MEM cases: memory that a program has made. A piece of it is of one of the kinds that
 * there are, and the program gets at it in its own way, never through Raddle.
 */
#ifndef RDL_CONFORMANCE_MEM_PIECE_H
#define RDL_CONFORMANCE_MEM_PIECE_H

#include "conformance/cuda.h"
#include "conformance/opencl.h"

#define MEM_TASKS "mem.task.c"

enum { WORDS = 1000 };

/* The device of this run, and the program's own objects on it. */
typedef struct program {
  bool is_opencl, is_cuda;
  opencl_program own;
  cuda_program cuda;
} program;

program program_open(void);
void program_close(program *p);

/* A context that works in the program's cl_context or CUDA context, with the tasks of the group. */
rdl_context_options program_options(const program *p);
bed program_bed(const program *p);

/* The context is refused as RDL_INVALID, with `part` in the text. */
void not_opened(const rdl_context_options *options, const char *selector, const char *part);

/* Where memory comes from. */
typedef enum origin {
  HOST,
  SVM_FINE,
  SVM_COARSE,
  CL_PLAIN,
  CL_OVER_HOST,
  CL_ALLOC_HOST,
  CL_PART,
  CUDA_PLAIN,
  CUDA_PART,
  CUDA_MANAGED,
  ORIGINS
} origin;

typedef struct piece { /* of WORDS words */
  const program *owner;
  origin origin;
  uint32_t *words;     /* HOST and SVM: the memory; CL_OVER_HOST: what the cl_mem is over */
  cl_object memory;    /* CL_... */
  cl_object whole;     /* CL_PART: what it is a part of */
  cu_pointer at;       /* CUDA_... */
  uint32_t references; /* of the cl_mem, before Raddle sees it */
} piece;

/* What the device has of these, in their order; the count. */
size_t origins_of(const program *p, origin *origins);

piece piece_new(const program *p, origin from);
void piece_free(piece *e); /* checks that nobody else holds it, or has freed it */

void piece_fill(const piece *e, uint32_t first); /* word n becomes first + n */
void piece_load(const piece *e, uint32_t words[WORDS]);
void piece_holds(const piece *e, uint32_t first); /* checks that word n is first + n */
uint32_t sum_from(uint32_t first);                /* of such words */

/* ---- with Raddle ---- */

rdl_import import_of(const piece *e);
rdl_buffer *import_piece(bed *b, const piece *e);

/* A task adds n to all words; what they were in sum. */
uint32_t add_to(bed *b, rdl_buffer *buffer, uint32_t n);

/* Tasks read what the program wrote, the program what tasks wrote, and both what the calls of the
 * host move. */
void use_piece(bed *b, const piece *e);

/* The import gives this status, with `part` in the text, and nothing else happens. */
void refused(bed *b, const rdl_import *import, rdl_status expected, const char *part);

#define REFUSED(b, status, part, ...)                                                              \
  do {                                                                                             \
    rdl_import wrong = {.size = sizeof wrong, __VA_ARGS__};                                        \
    refused((b), &wrong, (status), (part));                                                        \
  } while (0)

#endif
