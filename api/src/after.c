/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the roots of one call wait for before they start: futures that were there before, and other
 * members of the same call by their positions. The positions form a graph, in which a cycle is
 * found here, before anything is started.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

/* ---- the graph of a call ---- */

#define UNSEEN        UINT32_MAX
#define FINISHED      (UINT32_MAX - 1u)
#define LONGEST_CYCLE 8u

/* A walk over the members, depth first. */
typedef struct walk {
  const uint32_t *offsets;
  const uint32_t *positions;
  uint32_t *at;    /* by member: the position to look at next, UNSEEN or FINISHED */
  uint32_t *path;  /* members that were begun and are not finished */
  uint32_t length; /* of the path */
} walk;

static void begin(walk *w, uint32_t member) {
  w->at[member] = w->offsets[member];
  w->path[w->length++] = member;
}

/* The last of the path waits for `member`, which stands on it too. */
static rdl_status report_cycle(const walk *w, uint32_t member) {
  const char *link = " waits for ";
  char text[512];
  size_t used = (size_t)snprintf(text, sizeof text, "member %u", member);
  uint32_t k = w->length - 1u, shown;
  while (w->path[k] != member)
    k--;
  for (k++, shown = 0; k < w->length && shown < LONGEST_CYCLE; k++, shown++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", link, w->path[k]);
    link = ", which waits for ";
  }
  if (k < w->length) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%u others", link, w->length - k);
    link = ", the last of which waits for ";
  }
  snprintf(text + used, sizeof text - used, "%s%u", link, member);
  return rdl__error(RDL_INVALID, "rdl_spawn_many: a cycle, so nothing was started: %s", text);
}

/* Everything that `member` waits for, directly or not. */
static rdl_status walk_from(walk *w, uint32_t member) {
  begin(w, member);
  while (w->length) {
    uint32_t last = w->path[w->length - 1u];
    if (w->at[last] == w->offsets[last + 1u]) {
      w->at[last] = FINISHED;
      w->length--;
    } else {
      uint32_t next = w->positions[w->at[last]++];
      if (w->at[next] == UNSEEN)
        begin(w, next);
      else if (w->at[next] != FINISHED)
        return report_cycle(w, next);
    }
  }
  return RDL_OK;
}

static rdl_status check_cycles(const rdl_spawn_options *options, uint32_t count) {
  walk w = {.offsets = options->member_after_offsets, .positions = options->member_after};
  rdl_status status = RDL_OK;
  uint32_t k;
  w.at = malloc(2u * (size_t)count * sizeof *w.at);
  if (!w.at) return rdl__error(RDL_OUT_OF_MEMORY, "spawning: out of host memory");
  w.path = w.at + count;
  for (k = 0; k < count; k++)
    w.at[k] = UNSEEN;
  for (k = 0; k < count && !status; k++)
    if (w.at[k] == UNSEEN) status = walk_from(&w, k);
  free(w.at);
  return status;
}

static rdl_status check_rows(const rdl_spawn_options *options, uint32_t count) {
  const uint32_t *offsets = options->member_after_offsets;
  uint32_t k, e;
  if (offsets[0])
    return rdl__error(RDL_INVALID, "member_after_offsets[0] is %u, not 0", offsets[0]);
  for (k = 0; k < count; k++)
    if (offsets[k + 1u] < offsets[k])
      return rdl__error(RDL_INVALID, "member_after_offsets[%u] is %u, less than the %u before it",
                        k + 1u, offsets[k + 1u], offsets[k]);
  if (offsets[count] >= FINISHED)
    return rdl__error(RDL_INVALID, "member_after has %u positions: too many", offsets[count]);
  if (offsets[count] && !options->member_after)
    return rdl__error(RDL_INVALID, "member_after is NULL, and its offsets end at %u",
                      offsets[count]);
  for (k = 0; k < count; k++)
    for (e = offsets[k]; e < offsets[k + 1u]; e++)
      if (options->member_after[e] >= count)
        return rdl__error(RDL_INVALID,
                          "member_after[%u] is %u: member %u cannot wait for that, there are %u "
                          "members",
                          e, options->member_after[e], k, count);
  return RDL_OK;
}

rdl_status rdl__after_check(const rdl_spawn_options *options, size_t count) {
  rdl_status status;
  if (!options || !options->member_after_offsets) return RDL_OK;
  status = check_rows(options, (uint32_t)count);
  return status ? status : check_cycles(options, (uint32_t)count);
}

/* ---- what the device reads ---- */

static uint32_t row_total(const rdl_spawn_options *options, size_t count) {
  return options->member_after_offsets ? options->member_after_offsets[count] : 0u;
}

rdl_status rdl__after_new(rdl_context *cx, const rdl_spawn_options *options, size_t count,
                          rdl__after **out_after) {
  rdl__after *after;
  rdl_status status;
  uint64_t total;
  void *list = NULL;
  *out_after = NULL;
  if (!options) return RDL_OK;
  total = options->after_count + row_total(options, count);
  if (!total) return RDL_OK;
  if (total > UINT32_MAX)
    return rdl__error(RDL_INVALID, "rdl_spawn_options: after and member_after are too long");
  after = calloc(1, sizeof *after);
  if (!after) return rdl__error(RDL_OUT_OF_MEMORY, "spawning: out of host memory");
  status = rdl__memory_take(cx, total * sizeof(rdl_future), &list);
  if (status) {
    free(after);
    return status;
  }
  after->list = list;
  after->common = (uint32_t)options->after_count;
  *out_after = after;
  return RDL_OK;
}

void rdl__after_free(rdl_context *cx, rdl__after *after) {
  if (!after) return;
  rdl__memory_release(cx, after->list);
  free(after);
}

const struct rdl_gate_args *rdl__after_gate(rdl_context *cx, const rdl__after *after,
                                            const rdl_spawn_options *options, size_t position,
                                            struct rdl_gate_args *gate) {
  const uint32_t *offsets;
  if (!after) return NULL;
  offsets = options->member_after_offsets;
  *gate = (struct rdl_gate_args){.list = rdl__address(cx, after->list), .common = after->common};
  if (offsets) {
    gate->row = after->common + offsets[position];
    gate->count = offsets[position + 1u] - offsets[position];
  }
  return gate->common || gate->count ? gate : NULL;
}

/* Handles of roots must be good now; what a task gave to the host is looked at by the gate. */
static rdl_status check_common(rdl_context *cx, const rdl_spawn_options *options) {
  size_t k;
  for (k = 0; k < options->after_count; k++) {
    rdl_future f = options->after[k];
    uint32_t slot = f.index & RDL_MAX_SLOTS;
    rdl_status status = RDL_OK;
    if (f.index >> 24 != cx->number || !f.generation || !slot || slot >= cx->control->slots)
      return rdl__error(RDL_INVALID, "after[%zu] is not a future of this context%s", k,
                        RDL__IF_ZERO(f, "the spawn"));
    if (slot <= cx->options.roots) status = rdl__root_find(cx, f, &slot);
    if (status) return status;
  }
  return RDL_OK;
}

/* What is waited for keeps its slot even when the host takes it. */
static void keep(rdl_context *cx, rdl_future f) {
  uint32_t slot = f.index & RDL_MAX_SLOTS;
  if (slot <= cx->options.roots) cx->roots[slot].gates++;
}

rdl_status rdl__after_keep(rdl_context *cx, rdl__after *after, const rdl_spawn_options *options,
                           const uint32_t *slots, size_t count) {
  uint32_t rows, k;
  rdl_status status;
  if (!after) return RDL_OK;
  status = check_common(cx, options);
  if (status) {
    rdl__after_free(cx, after);
    return status;
  }
  rows = row_total(options, count);
  if (after->common) memcpy(after->list, options->after, after->common * sizeof(rdl_future));
  for (k = 0; k < rows; k++)
    after->list[after->common + k] = rdl__root_handle(cx, slots[options->member_after[k]]);
  rdl__wrote_in(cx, after->list, (after->common + (size_t)rows) * sizeof(rdl_future));
  for (k = 0; k < after->common + rows; k++)
    keep(cx, after->list[k]);
  for (k = 0; k < count; k++) {
    struct rdl_gate_args gate;
    if (!rdl__after_gate(cx, after, options, k, &gate)) continue;
    cx->roots[slots[k]].after = after;
    after->roots++;
  }
  return RDL_OK;
}
