/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of a context: one block, its tables one behind the other. It comes zeroed and is touched
 * as it is used, so a large one costs address space only. */
#include <string.h>

#include "api/src/core.h"

#define CACHE_LINE 64u

/* To hand one future over costs two cores 0.2-0.5 us for its record, frame and links: what runs for
 * longer is worth it. */
#define GRAIN_NS 500u

/* At the end of a launch workers wait for each other's segments for so long, and then go on without
 * the one that does not come, until a stretch is over. */
#define MEETING_NS 100000000u
#define STRETCH_NS 500000000u

/* Segments of a launch in epoch mode on a device without a clock, until launches have shown how
 * many it should have: a device that interprets its kernels takes 0.1 ms and more for each. */
#define FIRST_SEGMENTS 256u
/* Of the loop by which a kernel sees whether its driver still lets loops go on. A compiler may take
 * a turn or two out of it, and does so where the loop's condition stands at its end. */
#define FEW_TURNS 4u

/* The same on a loop-limited device, where each segment of a worker takes two kernels. */
#define FIRST_STEPS 4u

/* Room for `count` items at the end of what is planned so far; returns their offset. */
static uint64_t plan(uint64_t *bytes, uint64_t count, uint64_t size) {
  uint64_t at = *bytes;
  *bytes += (count * size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  return at;
}

static uint32_t power_of_two(uint32_t at_least) {
  uint32_t n = 1;
  while (n < at_least)
    n *= 2;
  return n;
}

static void plan_tables(rdl_context *cx, rdl_control *c, uint64_t *bytes) {
  const rdl_context_options *o = &cx->options;
  uint64_t slots = 1ull + o->roots + o->slots;
  *bytes = 0;
  plan(bytes, 1, sizeof(rdl_control));
  c->workers_at = plan(bytes, cx->workers, sizeof(rdl_worker));
  if (cx->facts.loop_budget) c->steps = plan(bytes, cx->workers, sizeof(rdl_step));
  c->offers = plan(bytes, (cx->workers + 127u) / 128u, 4u * sizeof(rdl_u32)); /* four at a time */
  c->rings = plan(bytes, (uint64_t)cx->workers * RDL_LOCAL_RING, sizeof(rdl_entry));
  c->records = plan(bytes, slots, sizeof(rdl_record));
  c->sides = plan(bytes, slots, sizeof(rdl_side));
  c->nodes = plan(bytes, c->pools[RDL_POOL_NODES].limit, sizeof(rdl_node));
  c->events = plan(bytes, 1ull + o->events, sizeof(rdl_event_record));
  c->outcomes = plan(bytes, 1ull + o->roots, sizeof(rdl_outcome));
  c->image_info = plan(bytes, 1, sizeof(rdl_image_info));
  c->task_infos = plan(bytes, RDL_MAX_TASKS, sizeof(rdl_task_info));
  c->zeros = plan(bytes, 1, RDL_MAX_BLOCK);
  if (cx->facts.lanes > 1) c->privates = plan(bytes, slots, sizeof(rdl_u32));
  c->roots.cells = plan(bytes, c->roots.mask + 1ull, sizeof(rdl_cell));
  c->returned.cells = plan(bytes, c->returned.mask + 1ull, sizeof(rdl_cell));
  c->mailbox.messages = plan(bytes, rdl__has_window(cx) ? 0u : RDL__MESSAGES, sizeof(rdl_message));
  cx->frames = plan(bytes, o->frame_bytes, 1);
}

/* Small heaps have small chunks, so that no worker hoards what another needs. */
static uint32_t chunk_for(uint32_t slots, uint32_t workers) {
  uint32_t chunk = slots / (16u * workers);
  return chunk < 1u ? 1u : chunk > RDL_LARGEST_CHUNK ? RDL_LARGEST_CHUNK : chunk;
}

/* Nothing is left for the threads of the host. */
static bool is_crowded(const rdl_context *cx) {
  return cx->facts.shares_cores && cx->workers >= cx->device_info.compute_units;
}

static void fill_control(rdl_context *cx, rdl_control *c) {
  const rdl_context_options *o = &cx->options;
  c->workers = cx->workers;
  c->context = cx->number << 24;
  c->slots = 1u + o->roots + o->slots;
  c->task_slots = o->slots;
  c->event_count = 1u + o->events;
  c->chunk = chunk_for(o->slots, cx->workers);
  c->segment_limit = o->segment_limit;
  c->flags = (o->flat ? RDL_FLAG_FLAT : 0u) | (is_crowded(cx) ? RDL_FLAG_CROWDED : 0u);
  c->base_generation = cx->base_generation;
  c->reserve = 1;
  c->pools[RDL_POOL_SLOTS].fresh = 1u + o->roots;
  c->pools[RDL_POOL_SLOTS].limit = c->slots;
  c->pools[RDL_POOL_NODES].fresh = c->slots; /* those before are the slots' own */
  c->pools[RDL_POOL_NODES].limit = 3u * c->slots + 128u * cx->workers + o->events;
  c->roots.mask = power_of_two(2u * o->roots + 2u) - 1u;
  c->returned.mask = c->roots.mask;
  c->mailbox.mask = RDL__MESSAGES - 1u;
  if (cx->facts.clock_hz) {
    double ticks_per_ns = (double)cx->facts.clock_hz / 1e9;
    c->quantum = (rdl_u64)((double)o->quantum_ns * ticks_per_ns);
    c->patience = rdl__epoch(cx) ? 0u : (rdl_u64)((double)o->park_ns * ticks_per_ns);
    /* The processors of a GPU's own have nothing better to do than to take whatever there is. */
    c->grain = cx->facts.shares_cores ? (rdl_u64)((double)GRAIN_NS * ticks_per_ns) : 0u;
    c->meeting = rdl__epoch(cx) ? 0u : (rdl_u64)((double)MEETING_NS * ticks_per_ns);
    c->stretch = (rdl_u64)((double)STRETCH_NS * ticks_per_ns);
  } else { /* a round is 64 dispatches or 16 looks around; about 4 us either way */
    c->round_limit = (rdl_u32)(o->quantum_ns / 4000u) + 1u;
    c->idle_rounds = rdl__epoch(cx) ? 32u : (rdl_u32)(o->park_ns / 250u) + 32u;
    c->meeting = rdl__epoch(cx) ? 0u : MEETING_NS / 20u;
    c->stretch = STRETCH_NS / 4000u;
    if (rdl__epoch(cx) && !o->segment_limit) c->segment_limit = FIRST_SEGMENTS;
  }
  c->row.next = RDL_ROW_CLOSED;
  c->few = FEW_TURNS;
  if (cx->facts.loop_budget && !o->segment_limit) c->segment_limit = FIRST_STEPS;
}

static void number_cells(rdl_context *cx, const rdl_ring *ring) {
  rdl_cell *cells = (rdl_cell *)(void *)(cx->heap + ring->cells);
  rdl_u32 k;
  for (k = 0; k <= ring->mask; k++)
    cells[k].sequence = k;
  rdl__wrote(cx, cells, (ring->mask + (size_t)1) * sizeof *cells);
}

rdl_status rdl__heap_create(rdl_context *cx) {
  rdl_control control;
  rdl_reason why = {""};
  rdl_status status;
  void *memory = NULL;
  memset(&control, 0, sizeof control);
  fill_control(cx, &control);
  plan_tables(cx, &control, &cx->heap_bytes);
  cx->frames_first = (uint32_t)((cx->frames + RDL_UNIT - 1) / RDL_UNIT);
  control.pools[RDL_POOL_FRAMES].fresh = cx->frames_first;
  control.pools[RDL_POOL_FRAMES].limit = (uint32_t)(cx->heap_bytes / RDL_UNIT);
  if (cx->heap_bytes / RDL_UNIT >= UINT32_MAX)
    return rdl__error(RDL_INVALID,
                      "a heap of %llu bytes is larger than 64 GiB: lower slots, roots "
                      "or frame_bytes",
                      (unsigned long long)cx->heap_bytes);
  status = cx->backend->allocate(cx->device, cx->heap_bytes, &memory, &why);
  if (status) return rdl__error_why(status, &why);
  cx->heap = memory;
  cx->messages = (rdl_message *)(void *)(cx->heap + control.mailbox.messages);
  cx->posts = (rdl_outcome *)(void *)(cx->heap + control.outcomes);
  status = rdl__window_create(cx, &control, &why);
  if (status) return rdl__error_why(status, &why);
  cx->control = memory;
  cx->crowded = (control.flags & RDL_FLAG_CROWDED) != 0u;
  *cx->control = control;
  rdl__wrote(cx, cx->control, sizeof control);
  cx->worker_states = (rdl_worker *)(void *)(cx->heap + control.workers_at);
  if (control.steps) cx->steps = (rdl_step *)(void *)(cx->heap + control.steps);
  cx->records = (rdl_record *)(void *)(cx->heap + control.records);
  cx->sides = (rdl_side *)(void *)(cx->heap + control.sides);
  cx->nodes = (rdl_node *)(void *)(cx->heap + control.nodes);
  cx->event_records = (rdl_event_record *)(void *)(cx->heap + control.events);
  cx->outcomes = (rdl_outcome *)(void *)(cx->heap + control.outcomes);
  number_cells(cx, &control.roots);
  number_cells(cx, &control.returned);
  return RDL_OK;
}

/* Words of a free item, as kernels/pool.cl uses them. */
typedef struct item_words {
  rdl_u32 *link;
  rdl_u32 *next;
  rdl_u32 *count;
} item_words;

static item_words words_of(const rdl_context *cx, uint32_t pool, uint32_t item) {
  if (pool == RDL_POOL_SLOTS) {
    rdl_side *side = &cx->sides[item];
    return (item_words){&side->link, &side->chunk, &side->chunk_size};
  }
  if (pool == RDL_POOL_NODES) {
    rdl_node *node = &cx->nodes[item];
    return (item_words){&node->next, &node->who, &node->ticket};
  }
  rdl_u32 *block = (rdl_u32 *)(void *)(cx->heap + (uint64_t)item * RDL_UNIT);
  return (item_words){block, block + 1, block + 2};
}

void rdl__pool_give_back(rdl_context *cx, uint32_t pool, uint32_t item) {
  rdl_u32 *chunks = &cx->control->pools[pool].chunks;
  item_words words = words_of(cx, pool, item);
  *words.link = RDL_NIL;
  *words.next = *chunks;
  *words.count = 1;
  *chunks = item;
  rdl__wrote(cx, words.link, sizeof *words.link);
  rdl__wrote(cx, words.next, sizeof *words.next);
  rdl__wrote(cx, words.count, sizeof *words.count);
  rdl__wrote(cx, chunks, sizeof *chunks);
}

void rdl__stashes_return(rdl_context *cx) {
  uint32_t worker, pool, next;
  for (worker = 0; worker < cx->workers; worker++)
    for (pool = 0; pool < RDL_POOLS; pool++) {
      rdl_stash *stash = &cx->worker_states[worker].stashes[pool];
      uint32_t step = pool < RDL_POOL_FRAMES ? 1u : 1u << (pool - RDL_POOL_FRAMES);
      for (; stash->head; stash->head = next) {
        next = *words_of(cx, pool, stash->head).link;
        rdl__pool_give_back(cx, pool, stash->head);
      }
      for (; stash->next < stash->end; stash->next += step)
        rdl__pool_give_back(cx, pool, stash->next);
      stash->freed = stash->left = 0;
      rdl__wrote(cx, stash, sizeof *stash);
    }
}
