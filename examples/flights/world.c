/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device for all that the tasks work on. Buffers are as large as the files could
 * need; what is never touched takes no memory. The context frees them when it is closed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flights.h"

/* Room for distinct texts, and 64-bit words a text. */
static const struct {
  uint32_t capacity;
  uint32_t words;
} sizes[DICTIONARIES] = {
    [CARRIER] = {1024, 1}, [TAILNUM] = {8192, 1}, [ORIGIN] = {64, 1},
    [DEST] = {1024, 1},    [NAME] = {1024, 4},    [MAKER] = {1024, 4},
};

static const unsigned columns[TABLES] = {
    [FLIGHTS] = 11, [AIRLINES] = 2, [PLANES] = 3, [WEATHER] = 5};

static struct world *world_of(const struct flights *f) {
  return f->world.data;
}

/* ---- tables ---- */

/* Every chunk but the last of a file holds at least this. */
static uint32_t chunks_of(uint64_t text_bytes) {
  return (uint32_t)(text_bytes / (CHUNK_BYTES - LONGEST_LINE)) + 1u;
}

/* Neighbouring columns start at different places of a page: in a cache, equal rows of many columns
 * would else fall on the same few lines. */
#define COLUMN_SKEW 320u

static bool build_table(struct flights *f, unsigned t, uint32_t capacity) {
  struct table *table = &world_of(f)->table[t];
  size_t stride = (size_t)capacity * CHUNK_ROWS * 2u + COLUMN_SKEW;
  struct memory memory;
  if (!memory_new_seen(f, (size_t)capacity * sizeof(struct chunk), &f->chunk[t])) return false;
  table->chunks = f->chunk[t].address;
  table->capacity = capacity;
  if (!memory_new(f, stride * columns[t], &memory)) return false;
  for (unsigned k = 0; k < columns[t]; k++)
    table->column[k] = memory.address + k * stride;
  return true;
}

static bool build_tables(struct flights *f) {
  const struct file *file;
  uint32_t capacity[TABLES] = {0};
  for (uint32_t k = 0; (file = file_at(f, k)); k++) {
    uint64_t bytes, text;
    if (!file_sizes(f, file, &bytes, &text)) return false;
    capacity[file->table] += chunks_of(text);
    f->file_bytes += bytes;
  }
  for (unsigned t = 0; t < TABLES; t++)
    if (!build_table(f, t, capacity[t])) return false;
  return true;
}

/* ---- dictionaries ---- */

/* Memory of `copies` dictionaries of one kind, side by side, and what they have in common. */
static bool build_kind(struct flights *f, unsigned kind, uint32_t copies,
                       struct dictionary *out_first) {
  uint32_t capacity = sizes[kind].capacity;
  struct memory keys, slots, map;
  *out_first = (struct dictionary){
      .capacity = capacity, .slot_count = 2u * capacity, .words = sizes[kind].words};
  if (!memory_new(f, (size_t)copies * capacity * sizes[kind].words * 8u, &keys)) return false;
  if (!memory_new(f, (size_t)copies * 2u * capacity * 2u, &slots)) return false;
  if (!memory_new(f, (size_t)copies * capacity * 2u, &map)) return false;
  out_first->keys = keys.address;
  out_first->slots = slots.address;
  out_first->map = map.address;
  return true;
}

/* Each block has a dictionary of its own; the merged one comes last. Its keys lie apart, because
 * the host looks at them, and have a second place, for sorting them. */
static bool build_dictionaries(struct flights *f, unsigned kind) {
  struct world *world = world_of(f);
  struct block *block = f->block.data;
  struct dictionary first;
  size_t bytes = 2u * (size_t)sizes[kind].capacity * sizes[kind].words * 8u;
  if (!build_kind(f, kind, world->blocks + 1u, &first)) return false;
  if (!memory_new_seen(f, bytes, &f->key[kind])) return false;
  for (uint32_t b = 0; b <= world->blocks; b++) {
    bool merged = b == world->blocks;
    struct dictionary *d = merged ? &world->dictionary[kind] : &block[b].dictionary[kind];
    *d = first;
    d->keys += (uint64_t)b * first.capacity * first.words * 8u;
    if (merged) d->keys = f->key[kind].address;
    d->slots += (uint64_t)b * first.slot_count * 2u;
    d->map += (uint64_t)b * first.capacity * 2u;
  }
  return true;
}

/* ---- blocks ---- */

static bool build_blocks(struct flights *f) {
  struct world *world = world_of(f);
  uint32_t readers = f->options.readers;
  rdl_event events[MAX_READERS * BLOCKS + MAX_READERS];
  struct block *block;
  world->readers = readers;
  world->blocks = readers * BLOCKS;
  if (!memory_new_seen(f, world->blocks * sizeof(struct block), &f->block)) return false;
  if (!memory_new_seen(f, (size_t)world->blocks * CHUNK_BYTES, &f->text)) return false;
  if (rdl_event_create_many(f->context, world->blocks + readers, 1, 0, events)) {
    complain("events");
    return false;
  }
  world->block = f->block.address;
  block = f->block.data;
  for (uint32_t b = 0; b < world->blocks; b++)
    block[b].free = events[b];
  for (uint32_t r = 0; r < readers; r++)
    world->reader[r] = (struct reader){events[world->blocks + r], r * BLOCKS, BLOCKS};
  return true;
}

/* ---- joins and queries ---- */

static bool build_indexes(struct flights *f) {
  struct world *world = world_of(f);
  struct memory airline, plane, weather;
  if (!memory_new(f, (size_t)sizes[CARRIER].capacity * 4u, &airline)) return false;
  if (!memory_new(f, (size_t)sizes[TAILNUM].capacity * 4u, &plane)) return false;
  if (!memory_new(f, (size_t)sizes[ORIGIN].capacity * DATES * HOURS * 4u, &weather)) return false;
  world->airline_of = airline.address;
  world->plane_of = plane.address;
  world->weather_of = weather.address;
  return true;
}

static bool build_plans(struct flights *f) {
  struct memory work;
  struct plan *plan;
  if (!memory_new_seen(f, QUERIES * sizeof(struct plan), &f->plan)) return false;
  if (!memory_new_seen(f, (size_t)QUERIES * ANSWER_CELLS * 8u, &f->cell)) return false;
  if (!memory_new(f, (size_t)QUERIES * WORK_BYTES, &work)) return false;
  plan = f->plan.data;
  for (unsigned q = 0; q < QUERIES; q++)
    plan[q] = (struct plan){
        .world = f->world.address,
        .work = work.address + (uint64_t)q * WORK_BYTES,
        .work_bytes = WORK_BYTES,
        .answer = {.capacity = ANSWER_CELLS,
                   .cell = f->cell.address + (uint64_t)q * ANSWER_CELLS * 8u},
    };
  return true;
}

/* What was filled in above. */
static bool send_all(const struct flights *f) {
  rdl_status status = memory_send(&f->world, f->world.data, sizeof(struct world));
  if (!status)
    status = memory_send(&f->block, f->block.data, world_of(f)->blocks * sizeof(struct block));
  if (!status) status = memory_send(&f->plan, f->plan.data, QUERIES * sizeof(struct plan));
  if (status) complain("sending the tables");
  return !status;
}

bool world_build(struct flights *f) {
  if (!memory_new_seen(f, sizeof(struct world), &f->world)) return false;
  world_of(f)->size = WORLD_SIZE;
  if (!build_blocks(f)) return false;
  for (unsigned kind = 0; kind < DICTIONARIES; kind++)
    if (!build_dictionaries(f, kind)) return false;
  return build_tables(f) && build_indexes(f) && build_plans(f) && send_all(f);
}

void world_free(struct flights *f) {
  free(f->world.copy);
  free(f->block.copy);
  free(f->text.copy);
  free(f->plan.copy);
  free(f->cell.copy);
  for (unsigned t = 0; t < TABLES; t++)
    free(f->chunk[t].copy);
  for (unsigned d = 0; d < DICTIONARIES; d++)
    free(f->key[d].copy);
}

/* ---- looking at it ---- */

bool world_fetch(const struct flights *f) {
  rdl_status status = memory_fetch(&f->plan);
  if (!status) status = memory_fetch(&f->cell);
  for (unsigned d = 0; d < DICTIONARIES && !status; d++)
    status = memory_fetch(&f->key[d]);
  if (status) complain("fetching the answers");
  return !status;
}

void world_text(const struct flights *f, unsigned dictionary, int64_t code, char *text) {
  unsigned words = sizes[dictionary].words;
  const uint64_t *key = (const uint64_t *)f->key[dictionary].data + (size_t)code * words;
  for (unsigned k = 0; k < 8u * words; k++)
    text[k] = (char)(key[k / 8u] >> (56u - 8u * (k % 8u)) & 0xffu);
  text[(size_t)8u * words] = '\0';
}

/* Name of a column, counted from 1, in a header. */
static void print_column(const char *header, uint32_t column) {
  for (; column > 1; column--)
    header += strcspn(header, ",") + 1u;
  fprintf(stderr, "%.*s", (int)strcspn(header, ","), header);
}

static void explain_chunk(const struct file *file, const struct chunk *chunk) {
  fprintf(stderr, "flights: %s: cannot read ", file->name);
  print_column(file->header, chunk->bad_column);
  fprintf(stderr, " in the line '%s'\n", (const char *)chunk->bad_line);
}

void world_explain(const struct flights *f) {
  for (unsigned t = 0; t < TABLES; t++) {
    const struct chunk *chunk = f->chunk[t].data;
    if (memory_fetch(&f->chunk[t])) complain("fetching what was wrong");
    for (uint32_t c = 0; c < f->chunks[t]; c++) {
      if (!chunk[c].bad_column) continue;
      explain_chunk(file_of(t), &chunk[c]);
      return;
    }
  }
}
