/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of slots, nodes and blocks. Every worker keeps a stash, so that the common case touches
 * nothing that is shared. Stashes trade chunks of linked items with the pool: a chunk is pushed by
 * compare-and-swap and the whole list of chunks is taken by exchange, so no address can return
 * between a read and a swap (ABA). The taker keeps one chunk and gives the rest back.
 */

RDL_FN RDL_GLOBAL rdl_u32 *rdl_pool_link(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item) {
  if (pool == RDL_POOL_SLOTS) return &rdl->sides[item].link;
  if (pool == RDL_POOL_NODES) return &rdl->nodes[item].next;
  return (RDL_GLOBAL rdl_u32 *)(rdl->heap + (rdl_u64)item * RDL_UNIT);
}

/* Distance of two neighbours: blocks are numbered in units of 16 bytes. */
RDL_FN rdl_u32 rdl_pool_step(rdl_u32 pool) {
  return pool < RDL_POOL_FRAMES ? 1u : 1u << (pool - RDL_POOL_FRAMES);
}

/* Items that are taken from the pool at once: of large blocks few, for every worker holds some. */
#define RDL_CHUNK_UNITS 1024u

RDL_FN rdl_u32 rdl_pool_chunk(rdl_cx *rdl, rdl_u32 pool) {
  rdl_u32 most = RDL_CHUNK_UNITS / rdl_pool_step(pool);
  return rdl->chunk < most ? rdl->chunk : most;
}

/* The first item of a chunk also says which chunk comes next in the pool and how many items this
   one has, in words that nobody reads while the item is free. */
RDL_FN RDL_GLOBAL rdl_u32 *rdl_pool_next(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item) {
  if (pool == RDL_POOL_SLOTS) return &rdl->sides[item].chunk;
  if (pool == RDL_POOL_NODES) return &rdl->nodes[item].who;
  return rdl_pool_link(rdl, pool, item) + 1;
}

RDL_FN RDL_GLOBAL rdl_u32 *rdl_pool_count(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item) {
  if (pool == RDL_POOL_SLOTS) return &rdl->sides[item].chunk_size;
  if (pool == RDL_POOL_NODES) return &rdl->nodes[item].ticket;
  return rdl_pool_link(rdl, pool, item) + 2;
}

/* Puts chunks back that were taken from the list. Nearly always the list is still empty; else only
   the few chunks that came meanwhile are walked. */
RDL_OUTLINE void rdl_pool_give_back(rdl_cx *rdl, rdl_u32 pool, rdl_u32 rest) {
  RDL_GLOBAL rdl_u32 *chunks = &rdl->control->pools[pool].chunks;
  while (rest && rdl_cas(chunks, RDL_NIL, rest) != RDL_NIL) {
    rdl_u32 newer = rdl_exchange(chunks, RDL_NIL);
    rdl_u32 last = newer;
    RDL_GLOBAL rdl_u32 *next;
    if (!newer) continue;
    while (*(next = rdl_pool_next(rdl, pool, last)))
      last = *next;
    *next = rest;
    rest = newer;
  }
}

/* One chunk comes into the stash, behind the few items that are still there. */
RDL_OUTLINE rdl_u32 rdl_pool_refill_freed(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_GLOBAL rdl_pool *from = &rdl->control->pools[pool];
  rdl_u32 chunk, count;
  if (!rdl_load_acquire(&from->chunks)) return 0;
  rdl_fetch_add(&from->takes, 1u);
  chunk = rdl_exchange(&from->chunks, RDL_NIL);
  if (chunk) rdl_pool_give_back(rdl, pool, *rdl_pool_next(rdl, pool, chunk));
  rdl_fetch_add(&from->taken, 1u);
  if (!chunk) return 0;
  count = *rdl_pool_count(rdl, pool, chunk);
  stash->freed += count;
  stash->left += count;
  if (stash->head) {
    RDL_GLOBAL rdl_u32 *link = rdl_pool_link(rdl, pool, stash->head);
    while (*link)
      link = rdl_pool_link(rdl, pool, *link);
    *link = chunk;
  } else {
    stash->head = chunk;
  }
  return 1;
}

/* Turns what is left of the range of fresh items into freed ones. */
RDL_OUTLINE void rdl_stash_link_fresh(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  for (; stash->next < stash->end; stash->next += rdl_pool_step(pool)) {
    *rdl_pool_link(rdl, pool, stash->next) = stash->head;
    stash->head = stash->next;
    stash->freed++;
  }
}

/* Slots that were never used: a handle made up for one of them must not look good. On a
   loop-limited device they stay as they are, of generation 0, until they are (rdl_slot_new). */
#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_slots_begin(rdl_cx *rdl, rdl_u32 slot, rdl_u32 end) {
  (void)rdl;
  (void)slot;
  (void)end;
}
#else
RDL_FN void rdl_slots_begin(rdl_cx *rdl, rdl_u32 slot, rdl_u32 end) {
  for (; slot < end; slot++) {
    rdl_store_relaxed(&rdl->records[slot].waiters, RDL_LIST_CLOSED);
    rdl_store_beside_release(&rdl->records[slot].generation, rdl->control->base_generation);
  }
  rdl_note_freed(rdl);
}

#endif

RDL_FN rdl_u32 rdl_least(rdl_u32 a, rdl_u32 b) {
  return a < b ? a : b;
}

/* Up to `want` items of `step` units that were never used; returns how many. As long as there is
   more than all workers could take at once each adds what it takes, for thousands that come to a
   launch together would swap for long. Who had looked long before may add too much: what is left up
   to the limit is its own, and from then on `fresh` is beyond the limit, and nothing is left. */
RDL_FN rdl_u32 rdl_fresh_take(rdl_cx *rdl, RDL_GLOBAL rdl_pool *from, rdl_u32 step, rdl_u32 want,
                              rdl_u32 *first) {
  rdl_u32 limit = from->limit, fresh = rdl_load_relaxed(&from->fresh), seen, take;
  if (want * step <= RDL_CHUNK_UNITS && fresh < limit &&
      (limit - fresh) / RDL_CHUNK_UNITS > rdl->control->workers) {
    fresh = rdl_fetch_add(&from->fresh, want * step);
    *first = fresh;
    return fresh < limit ? rdl_least(want, (limit - fresh) / step) : 0u;
  }
  for (;;) {
    if (fresh >= limit) return 0;
    take = (limit - fresh) / step;
    if (take > want) take = want;
    if (!take) return 0;
    seen = rdl_cas(&from->fresh, fresh, fresh + take * step);
    *first = fresh;
    if (seen == fresh) return take;
    fresh = seen;
  }
}

RDL_OUTLINE rdl_u32 rdl_pool_refill_fresh(rdl_cx *rdl, rdl_u32 pool, rdl_u32 want) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  rdl_u32 source = pool < RDL_POOL_FRAMES ? pool : RDL_POOL_FRAMES;
  RDL_GLOBAL rdl_pool *from = &rdl->control->pools[source];
  rdl_u32 step = rdl_pool_step(pool);
  rdl_u32 fresh, take;
  rdl_stash_link_fresh(rdl, pool); /* a stash has one range at a time */
  take = rdl_fresh_take(rdl, from, step, want, &fresh);
  if (!take) return 0;
  stash->next = fresh;
  stash->end = fresh + take * step;
  stash->left += take;
  if (pool == RDL_POOL_SLOTS) rdl_slots_begin(rdl, stash->next, stash->end);
  return 1;
}

/* Looks at a pool that seems empty while another worker holds the list of chunks: some 50 ns as a
   rule, a slice of the system's if it was stopped there. */
#if defined(RDL_LOOP_TURNS)
#define RDL_LOOKS_AT_EMPTY 64u
#else
#define RDL_LOOKS_AT_EMPTY 1000000u
#endif

/* Brings the stash to `want` items if the pool can. It cannot when it had nothing at a time when
   nobody was taking: every take that had begun by the end of the look was over before it began. */
RDL_OUTLINE rdl_u32 rdl_pool_fill(rdl_cx *rdl, rdl_u32 pool, rdl_u32 want) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_GLOBAL rdl_pool *from = &rdl->control->pools[pool];
  rdl_u32 looks = 0;
  while (stash->left < want) {
    rdl_u32 missing = want - stash->left;
    rdl_u32 taken = rdl_load_acquire(&from->taken);
    if (missing < rdl_pool_chunk(rdl, pool)) missing = rdl_pool_chunk(rdl, pool);
    if (rdl_pool_refill_freed(rdl, pool) || rdl_pool_refill_fresh(rdl, pool, missing)) continue;
    if (rdl_load_ordered(&from->takes) == taken || ++looks == RDL_LOOKS_AT_EMPTY) return 0;
    rdl_relax();
  }
  return 1;
}

/* ---- within a segment of a loop-limited device, where nothing loops ---- */

/* The list of chunks is taken whole, and what of it is not kept goes back behind the segment. */
RDL_FN rdl_u32 rdl_grab_freed(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_GLOBAL rdl_pool *from = &rdl->control->pools[pool];
  rdl_u32 chunk = stash->rest & ~RDL_REST_TAKEN, count;
  if (!stash->rest && rdl_load_acquire(&from->chunks)) {
    rdl_fetch_add(&from->takes, 1u);
    chunk = rdl_exchange(&from->chunks, RDL_NIL);
    stash->rest = RDL_REST_TAKEN;
  }
  if (!chunk) return 0;
  stash->rest = RDL_REST_TAKEN | *rdl_pool_next(rdl, pool, chunk);
  count = *rdl_pool_count(rdl, pool, chunk);
  stash->freed += count;
  stash->left += count;
  if (stash->head) /* the only one */
    *rdl_pool_link(rdl, pool, stash->head) = chunk;
  else
    stash->head = chunk;
  return 1;
}

RDL_FN rdl_u32 rdl_grab_fresh(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_GLOBAL rdl_pool *from = &rdl->control->pools[pool < RDL_POOL_FRAMES ? pool : RDL_POOL_FRAMES];
  rdl_u32 step = rdl_pool_step(pool), fresh = rdl_load_relaxed(&from->fresh);
  rdl_u32 take = rdl_pool_chunk(rdl, pool);
  rdl_u32 there = fresh < from->limit ? (from->limit - fresh) / step : 0u;
  if (take > there) take = there;
  if (!take || stash->next != stash->end) return 0;
  if (rdl_cas(&from->fresh, fresh, fresh + take * step) != fresh) return 0;
  stash->next = fresh;
  stash->end = fresh + take * step;
  stash->left += take;
  return 1;
}

/* Brings a chunk into a stash that has no item, or the only one of two. Two workers may want the
   same: then one of them tries once more. */
RDL_FN void rdl_pool_grab(rdl_cx *rdl, rdl_u32 pool) {
  if (rdl_grab_freed(rdl, pool) || rdl_grab_fresh(rdl, pool)) return;
  rdl_grab_fresh(rdl, pool);
}

/* What segments did not keep goes back. */
RDL_FN void rdl_grabs_return(rdl_cx *rdl) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++) {
    RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
    if (!stash->rest) continue;
    rdl_pool_give_back(rdl, pool, stash->rest & ~RDL_REST_TAKEN);
    rdl_fetch_add(&rdl->control->pools[pool].taken, 1u);
    stash->rest = 0;
    if (rdl_load_ordered(&rdl->control->room)) rdl->room |= RDL_ROOM_WAKE;
  }
}

/* ---- what is near ---- */

/* The top of a stash is kept without links: to follow one takes as long as hundreds of
   instructions. Such items are among those that are left, and not among the freed ones. */
#if defined(RDL_NEAR)
/* Its place among those that are near, or RDL_NEAR_POOLS. */
RDL_FN rdl_u32 rdl_near_pool(rdl_u32 pool) {
  if (pool == RDL_POOL_SLOTS) return 0u;
  if (pool < RDL_POOL_FRAMES || pool >= RDL_POOL_FRAMES + RDL_NEAR_POOLS - 1u)
    return RDL_NEAR_POOLS;
  return pool - RDL_POOL_FRAMES + 1u;
}
RDL_FN rdl_u32 rdl_near_put(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 k = rdl_near_pool(pool);
  if (k == RDL_NEAR_POOLS || near->tail[k] - near->head[k] == RDL_NEAR) return 0;
  near->items[k][near->tail[k]++ % RDL_NEAR] = item;
  return 1;
}
RDL_FN rdl_u32 rdl_near_take(rdl_cx *rdl, rdl_u32 pool) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 k = rdl_near_pool(pool);
  if (k == RDL_NEAR_POOLS || near->tail[k] == near->head[k]) return RDL_NIL;
  return near->items[k][--near->tail[k] % RDL_NEAR];
}
/* Beside a slot stands what its next life begins with. */
RDL_FN rdl_u32 rdl_near_put_slot(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation, rdl_u32 wait) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 at = near->tail[0] % RDL_NEAR;
  if (!rdl_near_put(rdl, RDL_POOL_SLOTS, slot)) return 0;
  near->generations[at] = generation;
  near->waits[at] = wait;
  return 1;
}
RDL_FN rdl_u32 rdl_near_take_slot(rdl_cx *rdl) {
  RDL_LOCAL rdl_near *near = &rdl->group->near;
  rdl_u32 slot = rdl_near_take(rdl, RDL_POOL_SLOTS);
  if (!slot) return RDL_NIL;
  rdl->new_generation = near->generations[near->tail[0] % RDL_NEAR];
  rdl->new_wait = near->waits[near->tail[0] % RDL_NEAR];
  return slot;
}
/* All of them go where the others are. */
RDL_OUTLINE void rdl_near_unload(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  rdl_u32 item;
  while ((item = rdl_near_take(rdl, pool))) {
    *rdl_pool_link(rdl, pool, item) = stash->head;
    stash->head = item;
    stash->freed++;
  }
}
RDL_FN void rdl_near_unload_all(rdl_cx *rdl) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++)
    rdl_near_unload(rdl, pool);
}
#else
#define rdl_near_put(rdl, pool, item)                  0u
#define rdl_near_take(rdl, pool)                       RDL_NIL
#define rdl_near_put_slot(rdl, slot, generation, wait) 0u
#define rdl_near_take_slot(rdl)                        RDL_NIL
#define rdl_near_unload(rdl, pool)                     (void)0
#define rdl_near_unload_all(rdl)                       (void)0
#endif

/* What is left may be less than the next segments need. */
RDL_FN void rdl_stash_judge(rdl_cx *rdl, RDL_HELD const rdl_stash *stash) {
  if (stash->left < 2u * rdl->reserve) rdl->low = 1;
}
RDL_FN void rdl_stash_less(rdl_cx *rdl, RDL_HELD rdl_stash *stash) {
  stash->left--;
  rdl_stash_judge(rdl, stash);
}

/* One of those that are not near; it still counts among what is left. */
RDL_FN rdl_u32 rdl_stash_take(rdl_cx *rdl, rdl_u32 pool) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  rdl_u32 item = stash->head;
  if (item) {
    stash->head = *rdl_pool_link(rdl, pool, item);
    stash->freed--;
  } else {
    item = stash->next;
    stash->next += rdl_pool_step(pool);
  }
  return item;
}

/* The caller has seen to it that there is one. */
RDL_OUTLINE rdl_u32 rdl_pool_take(rdl_cx *rdl, rdl_u32 pool) {
  rdl_u32 item = rdl_near_take(rdl, pool);
  if (!item) item = rdl_stash_take(rdl, pool);
  rdl_stash_less(rdl, &rdl->stashes[pool]);
  return item;
}

/* Gives `count` freed items of the stash to the pool, as one chunk. */
RDL_OUTLINE void rdl_pool_flush(rdl_cx *rdl, rdl_u32 pool, rdl_u32 count) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  RDL_GLOBAL rdl_u32 *chunks = &rdl->control->pools[pool].chunks;
  rdl_u32 head = stash->head;
  rdl_u32 tail = head;
  rdl_u32 k, seen, old;
  if (!count || !head) return;
  for (k = 1; k < count; k++)
    tail = *rdl_pool_link(rdl, pool, tail);
  stash->head = *rdl_pool_link(rdl, pool, tail);
  stash->freed -= count;
  stash->left -= count;
  *rdl_pool_link(rdl, pool, tail) = RDL_NIL;
  *rdl_pool_count(rdl, pool, head) = count;
  old = rdl_load_relaxed(chunks);
  for (;;) {
    *rdl_pool_next(rdl, pool, head) = old;
    seen = rdl_cas(chunks, old, head);
    if (seen == old) break;
    old = seen;
  }
  rdl_stash_judge(rdl, stash);
}

RDL_FN void rdl_note_room(rdl_cx *rdl, rdl_u32 what) {
  rdl->room |= what;
  rdl->noted |= RDL_NOTED_ROOM;
}

/* Back into the stash. Whether it is too full now is looked at behind the segment. */
RDL_OUTLINE void rdl_pool_put(rdl_cx *rdl, rdl_u32 pool, rdl_u32 item) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
  stash->left++;
  rdl->given |= 1u << pool;
  if (rdl_near_put(rdl, pool, item)) return;
  *rdl_pool_link(rdl, pool, item) = stash->head;
  stash->head = item;
  stash->freed++;
  if (stash->freed > rdl->keep) rdl_note_room(rdl, RDL_ROOM_FULL);
}

/* The stash has what one segment needs: `spawns` slots, and twice as many blocks of every class the
   image uses, for frame and result of a task may be of one class. */
RDL_FN rdl_u32 rdl_pool_each(rdl_cx *rdl, rdl_u32 pool) {
  if (pool == RDL_POOL_SLOTS) return 1u;
  if (pool == RDL_POOL_NODES) return 0u;
  return (rdl->class_set >> (pool - RDL_POOL_FRAMES)) & 1u ? 2u : 0u;
}

/* The same of a slot, whose next life begins with `generation` behind `wait`. */
RDL_FN void rdl_slot_put(rdl_cx *rdl, rdl_u32 slot, rdl_u32 generation, rdl_u32 wait) {
  RDL_HELD rdl_stash *stash = &rdl->stashes[RDL_POOL_SLOTS];
  stash->left++;
  rdl->given |= 1u << RDL_POOL_SLOTS;
  if (rdl_near_put_slot(rdl, slot, generation, wait)) return;
  (void)generation, (void)wait;
  *rdl_pool_link(rdl, RDL_POOL_SLOTS, slot) = stash->head;
  stash->head = slot;
  stash->freed++;
  if (stash->freed > rdl->keep) rdl_note_room(rdl, RDL_ROOM_FULL);
}

RDL_OUTLINE rdl_u32 rdl_has_room(rdl_cx *rdl, rdl_u32 spawns) {
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++)
    if (rdl->stashes[pool].left < rdl_pool_each(rdl, pool) * spawns) return 0;
  return 1;
}

/* Room for one segment, out of the pools. A wait for one thing takes the slot's own node; only
   where that still stands in a list one of the pool is wanted. A wait for a set looks for itself.
 */
RDL_OUTLINE rdl_u32 rdl_make_room(rdl_cx *rdl, rdl_u32 spawns) {
  rdl_u32 enough = 1;
  rdl_u32 pool;
  rdl->low = 0;
  for (pool = 0; pool < RDL_POOLS; pool++) {
    rdl_u32 want = rdl_pool_each(rdl, pool) * (spawns < rdl->reserve ? rdl->reserve : spawns);
    if (pool == RDL_POOL_NODES) want = rdl_load_relaxed(&rdl->nodes[rdl->slot].who) ? 1u : 0u;
    if (rdl->stashes[pool].left >= want || rdl_pool_fill(rdl, pool, want)) continue;
    rdl->low = 1;
    if (pool == RDL_POOL_NODES) enough = 0;
  }
  return enough && rdl_has_room(rdl, spawns);
}

/* ---- what goes back ---- */

/* Gives `count` items in chunks of the usual size. */
RDL_FN void rdl_pool_flush_all(rdl_cx *rdl, rdl_u32 pool, rdl_u32 count) {
  while (count) {
    rdl_u32 part = count < 2u * rdl->chunk ? count : rdl->chunk;
    rdl_pool_flush(rdl, pool, part);
    count -= part;
  }
}

/* Stashes that got something and are too full give to their pools, down to half of what they may
   hold; when this worker was asked to keep nothing, all give all they have. While somebody waits
   for room only what a segment was promised is kept back. Returns 1 when others are to be told.
   Nobody is told of nodes: each future that waits for room may hold one, so a word would wake them
   all, whose nodes come back here, without end. */
RDL_FN rdl_u32 rdl_pools_give(rdl_cx *rdl, rdl_u32 wanted) {
  rdl_u32 some = 0;
  rdl_u32 pool;
  for (pool = 0; pool < RDL_POOLS; pool++) {
    RDL_HELD rdl_stash *stash = &rdl->stashes[pool];
    rdl_u32 keep = wanted && pool != RDL_POOL_NODES ? rdl->reserve : rdl->keep;
    rdl_u32 full;
    if (wanted || (rdl->room & RDL_ROOM_RETURN)) rdl_near_unload(rdl, pool);
    full = ((rdl->given >> pool) & 1u) && stash->freed > keep;
    if (rdl->room & RDL_ROOM_RETURN) {
      rdl_stash_link_fresh(rdl, pool);
      keep = 0;
    } else if (full) {
      keep = keep / 2u < rdl->reserve ? rdl->reserve : keep / 2u;
    } else {
      continue;
    }
    if (stash->freed > keep && pool != RDL_POOL_NODES && (full || (rdl->room & RDL_ROOM_TELL)))
      some = 1;
    rdl_pool_flush_all(rdl, pool, stash->freed - keep);
  }
  return some;
}

/* THE place where room goes back, and where those who wait for room are told: the version first,
   then an ordered look at the list, against the waiter's push of its node and second look at the
   version (rdl_wait_for_room). Who looks again is taken off the list here and woken next. */
RDL_OUTLINE void rdl_serve_room(rdl_cx *rdl) {
  RDL_GLOBAL rdl_control *control = rdl->control;
  rdl_u32 wanted = rdl_load_relaxed(&control->room);
  rdl_u32 wake = rdl->room & RDL_ROOM_WAKE;
  if ((rdl->room || wanted) && rdl_pools_give(rdl, wanted)) {
    rdl_fetch_add(&control->freed, 1u);
    if (rdl_load_ordered(&control->room)) wake = 1;
  }
  if ((rdl->room & RDL_ROOM_LOOK) && rdl_load_ordered(&control->freed) != rdl->room_version)
    wake = 1;
  rdl->room = rdl->given = 0;
  if (!wake) return;
  rdl->looking = rdl_exchange(&control->room, RDL_NIL);
  rdl->noted |= RDL_NOTED_WAKES;
}
