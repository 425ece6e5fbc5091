/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the workers' counters. They are plain words of the device's, so they are added up when a
 * launch has ended; while the next one runs the sums of the last stand for it, marked as not exact.
 */
#include "api/src/core.h"

void rdl__stats_settle(rdl_context *cx) {
  rdl_stats *stats = &cx->settled;
  uint32_t k;
  *stats = (rdl_stats){.size = sizeof *stats};
  for (k = 0; k < cx->workers; k++) {
    const rdl_counters *c = &cx->worker_states[k].counters;
    stats->spawned += c->spawned;
    stats->finished += c->finished;
    stats->failed += c->failed;
    stats->cancelled += c->cancelled;
    stats->segments += c->segments;
    stats->suspended += c->suspended;
    stats->yielded += c->yielded;
    stats->woken += c->woken;
    stats->spilled += c->spilled;
    stats->stolen += c->adopted;
    stats->claimed += c->claimed;
  }
}

void rdl__stats_read(rdl_context *cx, rdl_stats *stats) {
  *stats = cx->settled;
  stats->size = sizeof *stats;
  stats->spawned += cx->host_spawned;
  stats->live = stats->spawned - stats->finished - stats->failed - stats->cancelled;
  stats->launches = cx->launches;
  stats->parks = cx->parks;
  stats->roots_alive = cx->roots_alive;
  stats->roots_alive_most = cx->roots_alive_most;
  stats->exact = !cx->launched;
}

rdl_status rdl_context_stats(rdl_context *cx, rdl_stats *out_stats) {
  RDL__NEED(cx);
  RDL__NEED(out_stats);
  if (out_stats->size != sizeof *out_stats)
    return rdl__error(RDL_INVALID, "rdl_context_stats: size is %zu, not %zu", out_stats->size,
                      sizeof *out_stats);
  pthread_mutex_lock(&cx->lock);
  rdl__stats_read(cx, out_stats);
  pthread_mutex_unlock(&cx->lock);
  return RDL_OK;
}
