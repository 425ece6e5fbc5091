/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a context, from its opening on. */
#ifndef RDL_STATS_H
#define RDL_STATS_H

#include <raddle/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdl_stats {
  size_t size; /* sizeof(rdl_stats), set by the caller */
  uint64_t spawned;
  uint64_t finished; /* ended well */
  uint64_t failed;
  uint64_t cancelled;
  uint64_t live; /* spawned - finished - failed - cancelled */
  uint64_t segments;
  uint64_t suspended; /* awaits that gave the worker up */
  uint64_t yielded;
  uint64_t woken;
  uint64_t spilled; /* put out for other workers */
  uint64_t stolen;  /* taken from other workers */
  uint64_t claimed; /* run at once because they were awaited (flat mode) */
  uint64_t launches;
  uint64_t parks;
  uint64_t roots_alive;      /* roots whose handle has not been ended */
  uint64_t roots_alive_most; /* most of them at once */
  uint32_t exact;            /* 1 = taken between two launches; 0 = some workers were running */
  uint32_t pad;
} rdl_stats;

/* Any thread; does not block. */
RDL_API RDL_MUST_CHECK rdl_status rdl_context_stats(rdl_context *context, rdl_stats *out_stats);

#ifdef __cplusplus
}
#endif

#endif
