/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the n-th allocation fail. The test must be linked with --wrap for malloc, calloc, realloc.
 */
#ifndef RDL_TESTS_FAILING_MEMORY_H
#define RDL_TESTS_FAILING_MEMORY_H

#include <stddef.h>

/* Allocations that still succeed; negative = all of them. */
static long allocations_left = -1;

/* The linker gives these names. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static int allocation_fails(void) {
  if (allocations_left < 0) return 0;
  return allocations_left == 0 || allocations_left-- == 0;
}

void *__wrap_malloc(size_t size) {
  return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  return allocation_fails() ? NULL : __real_realloc(memory, size);
}

/* NOLINTEND(bugprone-reserved-identifier) */

#endif
