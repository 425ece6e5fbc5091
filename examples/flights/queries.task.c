/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second half of the flights example: the fourteen queries of QUERIES.md. Each is a root, q01
 * to q14, which awaits the root `load`, cuts the chunks of flights into parts, spawns a task for
 * each part, awaits them, merges what they found and writes the answer. q11 and q14 spawn more,
 * depending on what the first step has found.
 *
 * Answers are cells of 64-bit integers. A mean is two cells, sum and count; the host divides.
 */

#define MAX_PARTS 32u
#define NO_VALUE  ((rdl_i64)-0x7fffffffffffffffl - 1)
#define BANDS     30u /* of plane ages */

enum { PICK_MONTH, PICK_DAY, PICK_ORIGIN, PICK_CARRIER, PICK_NUMBER, PICKS };

struct answer {
  rdl_u32 rows;
  rdl_u32 cells;
  rdl_u32 capacity; /* of cells */
  rdl_u32 pad;
  rdl_ptr cell;
};

/* One query's notes in device memory. The host fills in world, answer and work, the root the rest.
 */
struct plan {
  rdl_ptr world;
  rdl_ptr work; /* memory for what the parts find */
  rdl_u64 work_bytes;
  rdl_u64 stride; /* bytes of it for each part */
  rdl_u32 parts;
  rdl_u32 level; /* q14: what is being picked */
  rdl_u32 pick[PICKS];
  rdl_u32 routes; /* q11: as many as are in route */
  rdl_u32 route[10];
  rdl_u32 pad;
  struct answer answer;
};

struct query_args {
  rdl_future load;
  rdl_ptr plan;
};

struct part_args {
  rdl_ptr plan;
  rdl_u32 part;
  rdl_u32 route; /* q11 only */
};

struct query_state {
  rdl_u32 k;
  rdl_u32 pad;
  rdl_future part[MAX_PARTS];
};

#define PLAN(args) RDL_AT(struct plan, (args)->plan)

/* ---- what parts have in common ---- */

/* Sum, count of values and count of rows: what most groups come to. */
struct group {
  rdl_i64 sum;
  rdl_u32 rows;
  rdl_u32 known; /* rows whose value is not null */
};

/* The rows of one part, and the columns of flights. */
struct scan {
  RDL_GLOBAL const struct world *world;
  RDL_GLOBAL const struct chunk *chunks;
  rdl_u32 from; /* chunks */
  rdl_u32 to;
  RDL_GLOBAL const rdl_u16 *date;
  RDL_GLOBAL const rdl_i16 *sched;
  RDL_GLOBAL const rdl_i16 *dep;
  RDL_GLOBAL const rdl_i16 *arr;
  RDL_GLOBAL const rdl_u16 *carrier;
  RDL_GLOBAL const rdl_i16 *number;
  RDL_GLOBAL const rdl_u16 *tailnum;
  RDL_GLOBAL const rdl_u16 *origin;
  RDL_GLOBAL const rdl_u16 *dest;
  RDL_GLOBAL const rdl_i16 *air;
  RDL_GLOBAL const rdl_i16 *distance;
};

#define SCAN(s, c, row, end)                                                                       \
  for (c = (s).from; c < (s).to; c++)                                                              \
    for (row = (c)*CHUNK_ROWS, end = row + (s).chunks[c].rows; row < end; row++)

RDL_FN void scan_open(struct scan *s, RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u64 chunks = w->table[FLIGHTS].count;
  s->world = w;
  s->chunks = CHUNKS(w, FLIGHTS);
  s->from = (rdl_u32)(part * chunks / plan->parts);
  s->to = (rdl_u32)((part + 1u) * chunks / plan->parts);
  s->date = CODES(w, FLIGHTS, F_DATE);
  s->sched = NUMBERS(w, FLIGHTS, F_SCHED);
  s->dep = NUMBERS(w, FLIGHTS, F_DEP);
  s->arr = NUMBERS(w, FLIGHTS, F_ARR);
  s->carrier = CODES(w, FLIGHTS, F_CARRIER);
  s->number = NUMBERS(w, FLIGHTS, F_NUMBER);
  s->tailnum = CODES(w, FLIGHTS, F_TAILNUM);
  s->origin = CODES(w, FLIGHTS, F_ORIGIN);
  s->dest = CODES(w, FLIGHTS, F_DEST);
  s->air = NUMBERS(w, FLIGHTS, F_AIR);
  s->distance = NUMBERS(w, FLIGHTS, F_DISTANCE);
}

RDL_FN rdl_ptr part_work(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  return plan->work + part * plan->stride;
}

RDL_FN RDL_GLOBAL struct group *part_groups(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  return RDL_AT(struct group, part_work(plan, part));
}

RDL_FN RDL_GLOBAL rdl_u32 *part_counts(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  return RDL_AT(rdl_u32, part_work(plan, part));
}

RDL_FN void part_clear(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  RDL_GLOBAL rdl_u64 *words = RDL_AT(rdl_u64, part_work(plan, part));
  rdl_u64 k;
  for (k = 0; k < plan->stride / 8u; k++)
    words[k] = 0;
}

/* Cuts the chunks into parts, each with `bytes` of memory, for each of `times` runs over them. Few
 * chunks or little memory make fewer parts; none at all if not even one fits. */
RDL_FN rdl_u32 plan_parts(RDL_GLOBAL struct plan *plan, rdl_u64 bytes, rdl_u32 times) {
  rdl_u32 chunks = WORLD(plan->world)->table[FLIGHTS].count;
  plan->parts = chunks / 4u + 1u < MAX_PARTS ? chunks / 4u + 1u : MAX_PARTS;
  plan->stride = (bytes + 63u) / 64u * 64u;
  while (plan->parts && plan->parts * times * plan->stride > plan->work_bytes)
    plan->parts--;
  return plan->parts;
}

RDL_FN void add_value(RDL_GLOBAL struct group *g, rdl_i32 value) {
  g->rows++;
  if (value == NO_NUMBER) return;
  g->known++;
  g->sum += value;
}

/* Adds the groups of all parts of a run, whose first part is given, to those of the first. */
RDL_FN RDL_GLOBAL struct group *merge_groups(RDL_GLOBAL const struct plan *plan, rdl_u32 first,
                                             rdl_u32 count) {
  RDL_GLOBAL struct group *to = part_groups(plan, first);
  rdl_u32 p, k;
  for (p = 1; p < plan->parts; p++) {
    RDL_GLOBAL const struct group *from = part_groups(plan, first + p);
    for (k = 0; k < count; k++) {
      to[k].sum += from[k].sum;
      to[k].rows += from[k].rows;
      to[k].known += from[k].known;
    }
  }
  return to;
}

/* The same for counts, which stand `offset` words behind the start of each part's memory. */
RDL_FN RDL_GLOBAL rdl_u32 *merge_counts(RDL_GLOBAL const struct plan *plan, rdl_u32 first,
                                        rdl_u32 offset, rdl_u32 count) {
  RDL_GLOBAL rdl_u32 *to = part_counts(plan, first) + offset;
  rdl_u32 p, k;
  for (p = 1; p < plan->parts; p++) {
    RDL_GLOBAL const rdl_u32 *from = part_counts(plan, first + p) + offset;
    for (k = 0; k < count; k++)
      to[k] += from[k];
  }
  return to;
}

/* A set of small numbers has a bit for each. */
RDL_FN rdl_u32 set_words(rdl_u32 members) {
  return (members + 31u) / 32u;
}

RDL_FN void set_add(RDL_GLOBAL rdl_u32 *set, rdl_u32 member) {
  set[member / 32u] |= 1u << member % 32u;
}

RDL_FN rdl_u32 set_has(RDL_GLOBAL const rdl_u32 *set, rdl_u32 member) {
  return set[member / 32u] >> member % 32u & 1u;
}

RDL_FN RDL_GLOBAL rdl_u32 *merge_sets(RDL_GLOBAL const struct plan *plan, rdl_u32 offset,
                                      rdl_u32 words) {
  RDL_GLOBAL rdl_u32 *to = part_counts(plan, 0) + offset;
  rdl_u32 p, k;
  for (p = 1; p < plan->parts; p++) {
    RDL_GLOBAL const rdl_u32 *from = part_counts(plan, p) + offset;
    for (k = 0; k < words; k++)
      to[k] |= from[k];
  }
  return to;
}

/* ---- histograms ---- */

/* A histogram of a measure has a place for null, then one for each value from the lowest on. */
RDL_FN rdl_u32 places(RDL_GLOBAL const struct world *w, rdl_u32 which) {
  return w->low[which] > w->high[which] ? 1u : (rdl_u32)(w->high[which] - w->low[which]) + 2u;
}

RDL_FN rdl_u32 place_of(rdl_i32 value, rdl_i32 low) {
  return value == NO_NUMBER ? 0u : (rdl_u32)(value - low) + 1u;
}

struct spread {
  rdl_i64 sum;
  rdl_i64 known;
  rdl_i64 rows;
  rdl_i64 median;
  rdl_i64 p90;
};

/* The value with this rank, from 0. */
RDL_FN rdl_i64 ranked(RDL_GLOBAL const rdl_u32 *count, rdl_i32 low, rdl_i64 rank) {
  rdl_u32 k = 1;
  for (; rank >= count[k]; k++)
    rank -= count[k];
  return low + (rdl_i64)k - 1;
}

RDL_FN void spread_of(struct spread *s, RDL_GLOBAL const struct world *w, rdl_u32 which,
                      RDL_GLOBAL const rdl_u32 *count) {
  rdl_u32 k, n = places(w, which);
  rdl_i32 low = w->low[which];
  s->sum = s->known = 0;
  for (k = 1; k < n; k++) {
    s->known += count[k];
    s->sum += (low + (rdl_i64)k - 1) * count[k];
  }
  s->rows = s->known + count[0];
  s->median = s->p90 = NO_VALUE;
  if (!s->known) return;
  s->median = ranked(count, low, (s->known + 1) / 2 - 1);
  s->p90 = ranked(count, low, (9 * s->known + 9) / 10 - 1);
}

/* ---- answers and order ---- */

RDL_FN void put(RDL_GLOBAL struct plan *plan, rdl_i64 value) {
  RDL_GLOBAL struct answer *a = &plan->answer;
  if (a->cells < a->capacity) RDL_AT(rdl_i64, a->cell)[a->cells] = value;
  a->cells++;
}

RDL_FN void put_mean(RDL_GLOBAL struct plan *plan, rdl_i64 sum, rdl_i64 count) {
  put(plan, sum);
  put(plan, count);
}

/* A sum of no values is null. */
RDL_FN void put_sum(RDL_GLOBAL struct plan *plan, rdl_i64 sum, rdl_i64 count) {
  put(plan, count ? sum : NO_VALUE);
}

RDL_FN rdl_u32 put_end_of_row(RDL_GLOBAL struct plan *plan) {
  return ++plan->answer.rows;
}

RDL_FN rdl_u32 answer_fits(RDL_GLOBAL const struct plan *plan) {
  return plan->answer.cells <= plan->answer.capacity;
}

/* The first `limit` at most of the keys, by weight, the largest first; of equals, the smallest key.
 */
struct best {
  rdl_u32 count;
  rdl_u32 limit;
  rdl_u32 key[32];
  rdl_i64 weight[32];
};

RDL_FN void best_add(struct best *b, rdl_u32 key, rdl_i64 weight) {
  rdl_u32 at;
  if (b->count == b->limit) {
    if (b->weight[b->count - 1u] >= weight) return;
    b->count--;
  }
  for (at = b->count++; at > 0 && b->weight[at - 1u] < weight; at--) {
    b->key[at] = b->key[at - 1u];
    b->weight[at] = b->weight[at - 1u];
  }
  b->key[at] = key;
  b->weight[at] = weight;
}

RDL_FN rdl_u32 texts(RDL_GLOBAL const struct plan *plan, rdl_u32 dictionary) {
  return WORLD(plan->world)->dictionary[dictionary].count;
}

RDL_FN rdl_u32 plane_of(RDL_GLOBAL const struct world *w, rdl_u32 tailnum) {
  return tailnum == NO_CODE ? 0u : RDL_AT(const rdl_u32, w->plane_of)[tailnum];
}

RDL_FN rdl_u32 weather_of(const struct scan *s, rdl_u32 row) {
  rdl_u32 slot = weather_slot(s->origin[row], s->date[row], (rdl_u32)s->sched[row] / 100u);
  return RDL_AT(const rdl_u32, s->world->weather_of)[slot];
}

/* ---- q01: filters ---- */

struct filter_sums {
  rdl_i64 flights[2];
  rdl_i64 sum[2][4];
  rdl_i64 known[2][4];
};

RDL_FN void q01_add(struct filter_sums *f, rdl_u32 which, const struct scan *s, rdl_u32 row) {
  rdl_i32 value[4], k;
  value[0] = s->dep[row];
  value[1] = s->arr[row];
  value[2] = s->air[row];
  value[3] = s->distance[row];
  f->flights[which]++;
  for (k = 0; k < 4; k++) {
    if (value[k] == NO_NUMBER) continue;
    f->sum[which][k] += value[k];
    f->known[which][k]++;
  }
}

RDL_FN rdl_u32 code_of_text(RDL_GLOBAL const struct world *w, rdl_u32 dictionary, rdl_u64 key) {
  RDL_GLOBAL const struct dictionary *d = w->dictionary + dictionary;
  rdl_u32 k;
  for (k = 0; k < d->count; k++)
    if (RDL_AT(const rdl_u64, d->keys)[k] == key) return k;
  return NO_CODE;
}

#define TEXT_JFK ((rdl_u64)('J' << 16 | 'F' << 8 | 'K') << 40)

RDL_TASK(q01_part, struct filter_sums, struct part_args, RDL_NONE) {
  struct filter_sums found = {{0}, {{0}}, {{0}}};
  struct scan s;
  rdl_u32 c, row, end, jfk;
  RDL_BEGIN();
  scan_open(&s, PLAN(args), args->part);
  jfk = code_of_text(s.world, ORIGIN, TEXT_JFK);
  SCAN(s, c, row, end) {
    if (s.distance[row] >= 1000 && s.arr[row] >= 60) q01_add(&found, 0, &s, row);
    if (s.origin[row] == jfk && s.sched[row] < 800 && s.dep[row] <= 0 && s.dep[row] != NO_NUMBER)
      q01_add(&found, 1, &s, row);
  }
  RDL_RETURN(found);
  RDL_END();
}

RDL_FN void q01_put(RDL_GLOBAL struct plan *plan, RDL_GLOBAL const struct filter_sums *f) {
  rdl_u32 which, k;
  for (which = 0; which < 2u; which++) {
    put(plan, which);
    put(plan, f->flights[which]);
    for (k = 0; k < 4u; k++)
      put_sum(plan, f->sum[which][k], f->known[which][k]);
    put_end_of_row(plan);
  }
}

RDL_FN void q01_merge(RDL_GLOBAL struct filter_sums *to,
                      RDL_GLOBAL const struct filter_sums *from) {
  rdl_u32 which, k;
  for (which = 0; which < 2u; which++) {
    to->flights[which] += from->flights[which];
    for (k = 0; k < 4u; k++) {
      to->sum[which][k] += from->sum[which][k];
      to->known[which][k] += from->known[which][k];
    }
  }
}

RDL_TASK(q01, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, sizeof(struct filter_sums), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q01_part, args->plan, self->k, 0u);
  RDL_AWAIT_ALL(self->part, plan->parts);
  part_clear(plan, 0);
  for (self->k = 0; self->k < plan->parts; self->k++)
    q01_merge(RDL_AT(struct filter_sums, plan->work),
              &RDL_RESULT(struct filter_sums, self->part[self->k]));
  q01_put(plan, RDL_AT(struct filter_sums, plan->work));
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q02: mean, median and p90 by carrier ---- */

RDL_TASK(q02_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL rdl_u32 *count = part_counts(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end, width;
  rdl_i32 low;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  width = places(s.world, ARR);
  low = s.world->low[ARR];
  SCAN(s, c, row, end) {
    count[s.carrier[row] * width + place_of(s.arr[row], low)]++;
  }
  RDL_END();
}

RDL_FN void q02_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 carriers = texts(plan, CARRIER), width = places(w, ARR), k;
  RDL_GLOBAL const rdl_u32 *count = merge_counts(plan, 0, 0, carriers * width);
  struct spread s;
  for (k = 0; k < carriers; k++) {
    spread_of(&s, w, ARR, count + k * width);
    if (!s.rows) continue;
    put(plan, k);
    put(plan, s.rows);
    put(plan, s.known);
    put_mean(plan, s.sum, s.known);
    put(plan, s.median);
    put(plan, s.p90);
    put_end_of_row(plan);
  }
}

RDL_TASK(q02, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 4u * (rdl_u64)texts(plan, CARRIER) * places(WORLD(plan->world), ARR), 1))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q02_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q02_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q03: departures by origin and month ---- */

RDL_TASK(q03_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  SCAN(s, c, row, end) {
    add_value(group + s.origin[row] * 13u + s.date[row] / 32u, s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q03_put(RDL_GLOBAL struct plan *plan) {
  rdl_u32 groups = 13u * texts(plan, ORIGIN), k;
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, groups);
  for (k = 0; k < groups; k++) {
    if (!group[k].rows) continue;
    put(plan, k / 13u);
    put(plan, k % 13u);
    put(plan, group[k].rows);
    put(plan, group[k].known);
    put_mean(plan, group[k].sum, group[k].known);
    put_end_of_row(plan);
  }
}

RDL_TASK(q03, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 13u * (rdl_u64)texts(plan, ORIGIN) * sizeof(struct group), 1))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q03_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q03_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q04: carriers joined with their names ---- */

/* Two groups a carrier: departure delays and distances. */
RDL_TASK(q04_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  SCAN(s, c, row, end) {
    add_value(group + 2u * s.carrier[row], s.dep[row]);
    add_value(group + 2u * s.carrier[row] + 1u, s.distance[row]);
  }
  RDL_END();
}

RDL_FN rdl_u32 airline_name(RDL_GLOBAL const struct world *w, rdl_u32 carrier) {
  rdl_u32 row = RDL_AT(const rdl_u32, w->airline_of)[carrier];
  return row ? CODES(w, AIRLINES, A_NAME)[row - 1u] : NO_CODE;
}

/* Of the carriers that are left, the one with most flights; of equals, the first by name. */
RDL_FN rdl_u32 q04_next(RDL_GLOBAL const struct plan *plan, RDL_GLOBAL const struct group *group) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 found = NO_CODE, k;
  for (k = 0; k < texts(plan, CARRIER); k++) {
    if (!group[2u * k].rows || airline_name(w, k) == NO_CODE) continue;
    if (found == NO_CODE || group[2u * k].rows > group[2u * found].rows ||
        (group[2u * k].rows == group[2u * found].rows &&
         airline_name(w, k) < airline_name(w, found)))
      found = k;
  }
  return found;
}

RDL_FN void q04_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL struct group *group = merge_groups(plan, 0, 2u * texts(plan, CARRIER));
  rdl_u32 carrier;
  while ((carrier = q04_next(plan, group)) != NO_CODE) {
    RDL_GLOBAL struct group *dep = group + 2u * carrier;
    rdl_u32 cancelled = dep->rows - dep->known;
    put(plan, airline_name(WORLD(plan->world), carrier));
    put(plan, dep->rows);
    put(plan, cancelled);
    put_mean(plan, 100 * (rdl_i64)cancelled, dep->rows);
    put_mean(plan, dep->sum, dep->known);
    put(plan, dep[1].sum);
    put_end_of_row(plan);
    dep->rows = 0;
  }
}

RDL_TASK(q04, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 2u * (rdl_u64)texts(plan, CARRIER) * sizeof(struct group), 1))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q04_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q04_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q05: makers of planes ---- */

/* A histogram a maker, then the set of tailnums that flew. */
RDL_TASK(q05_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL rdl_u32 *count = part_counts(PLAN(args), args->part);
  RDL_GLOBAL rdl_u32 *seen;
  RDL_GLOBAL const rdl_u16 *maker;
  struct scan s;
  rdl_u32 c, row, end, width, plane;
  rdl_i32 low;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  width = places(s.world, ARR);
  low = s.world->low[ARR];
  seen = count + texts(PLAN(args), MAKER) * width;
  maker = CODES(s.world, PLANES, P_MAKER);
  SCAN(s, c, row, end) {
    plane = plane_of(s.world, s.tailnum[row]);
    if (!plane) continue;
    count[maker[plane - 1u] * width + place_of(s.arr[row], low)]++;
    set_add(seen, s.tailnum[row]);
  }
  RDL_END();
}

RDL_FN rdl_u32 q05_planes(RDL_GLOBAL const struct plan *plan, RDL_GLOBAL const rdl_u32 *seen,
                          rdl_u32 maker) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 k, n = 0;
  for (k = 0; k < texts(plan, TAILNUM); k++)
    if (set_has(seen, k) && CODES(w, PLANES, P_MAKER)[plane_of(w, k) - 1u] == maker) n++;
  return n;
}

RDL_FN void q05_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 makers = texts(plan, MAKER), width = places(w, ARR), k;
  RDL_GLOBAL const rdl_u32 *count = merge_counts(plan, 0, 0, makers * width);
  RDL_GLOBAL const rdl_u32 *seen =
      merge_sets(plan, makers * width, set_words(texts(plan, TAILNUM)));
  struct spread s;
  struct best best;
  best.count = 0;
  best.limit = 10;
  for (k = 0; k < makers; k++) {
    spread_of(&s, w, ARR, count + k * width);
    if (s.rows) best_add(&best, k, s.rows);
  }
  for (k = 0; k < best.count; k++) {
    spread_of(&s, w, ARR, count + best.key[k] * width);
    put(plan, best.key[k]);
    put(plan, q05_planes(plan, seen, best.key[k]));
    put(plan, s.rows);
    put_mean(plan, s.sum, s.known);
    put(plan, s.p90);
    put_end_of_row(plan);
  }
}

RDL_FN rdl_u64 q05_bytes(RDL_GLOBAL const struct plan *plan) {
  return 4u * ((rdl_u64)texts(plan, MAKER) * places(WORLD(plan->world), ARR) +
               set_words(texts(plan, TAILNUM)));
}

RDL_TASK(q05, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, q05_bytes(plan), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q05_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q05_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q06: ages of planes ---- */

/* For each band of ages, a group of departure delays and one of arrival delays. */
RDL_TASK(q06_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  RDL_GLOBAL const rdl_i16 *year;
  struct scan s;
  rdl_u32 c, row, end, plane, band;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  year = NUMBERS(s.world, PLANES, P_YEAR);
  SCAN(s, c, row, end) {
    plane = plane_of(s.world, s.tailnum[row]);
    if (!plane || year[plane - 1u] == NO_NUMBER) continue;
    band = (rdl_u32)(THIS_YEAR - year[plane - 1u]) / 5u;
    add_value(group + 2u * band, s.dep[row]);
    add_value(group + 2u * band + 1u, s.arr[row]);
  }
  RDL_END();
}

RDL_FN void q06_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, 2u * BANDS);
  rdl_u32 k;
  for (k = 0; k < BANDS; k++, group += 2) {
    if (!group->rows) continue;
    put(plan, 5u * k);
    put(plan, 5u * k + 4u);
    put(plan, group->rows);
    put_mean(plan, group[0].sum, group[0].known);
    put_mean(plan, group[1].sum, group[1].known);
    put_end_of_row(plan);
  }
}

RDL_TASK(q06, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 2u * BANDS * sizeof(struct group), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q06_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q06_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q07: the worst arrivals ---- */

#define WORST 20u

struct worst {
  rdl_u32 count;
  rdl_u32 row[WORST];
};

#define ORDER_BY(a, b)                                                                             \
  if ((a) != (b)) return (a) < (b)

RDL_FN rdl_u32 worse(const struct scan *s, rdl_u32 a, rdl_u32 b) {
  ORDER_BY(s->arr[b], s->arr[a]);
  ORDER_BY(s->date[a], s->date[b]);
  ORDER_BY(s->sched[a], s->sched[b]);
  ORDER_BY(s->carrier[a], s->carrier[b]);
  ORDER_BY(s->number[a], s->number[b]);
  ORDER_BY(s->origin[a], s->origin[b]);
  return s->dest[a] < s->dest[b];
}

RDL_FN void worst_add(struct worst *w, const struct scan *s, rdl_u32 row) {
  rdl_u32 at;
  if (w->count == WORST) {
    if (!worse(s, row, w->row[WORST - 1u])) return;
    w->count--;
  }
  for (at = w->count++; at > 0 && worse(s, row, w->row[at - 1u]); at--)
    w->row[at] = w->row[at - 1u];
  w->row[at] = row;
}

RDL_TASK(q07_part, struct worst, struct part_args, RDL_NONE) {
  struct worst found;
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  found.count = 0;
  scan_open(&s, PLAN(args), args->part);
  SCAN(s, c, row, end) {
    if (s.arr[row] != NO_NUMBER) worst_add(&found, &s, row);
  }
  RDL_RETURN(found);
  RDL_END();
}

RDL_FN void put_number(RDL_GLOBAL struct plan *plan, rdl_i32 value) {
  put(plan, value == NO_NUMBER ? NO_VALUE : value);
}

RDL_FN void put_code(RDL_GLOBAL struct plan *plan, rdl_u32 code) {
  put(plan, code == NO_CODE ? NO_VALUE : (rdl_i64)code);
}

RDL_FN void q07_put(RDL_GLOBAL struct plan *plan, const struct scan *s, rdl_u32 row) {
  put(plan, s->date[row]);
  put(plan, s->sched[row]);
  put(plan, s->carrier[row]);
  put(plan, s->number[row]);
  put_code(plan, s->tailnum[row]);
  put(plan, s->origin[row]);
  put(plan, s->dest[row]);
  put_number(plan, s->dep[row]);
  put(plan, s->arr[row]);
  put_end_of_row(plan);
}

RDL_TASK(q07, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  struct worst all;
  struct scan s;
  rdl_u32 p, k;
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 0, 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q07_part, args->plan, self->k, 0u);
  RDL_AWAIT_ALL(self->part, plan->parts);
  all.count = 0;
  scan_open(&s, plan, 0);
  for (p = 0; p < plan->parts; p++)
    for (k = 0; k < RDL_RESULT(struct worst, self->part[p]).count; k++)
      worst_add(&all, &s, RDL_RESULT(struct worst, self->part[p]).row[k]);
  for (k = 0; k < all.count; k++)
    q07_put(plan, &s, all.row[k]);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q08: days ---- */

RDL_TASK(q08_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  SCAN(s, c, row, end) {
    add_value(group + s.date[row], s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q08_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, DATES);
  rdl_u32 k;
  for (k = 0; k < DATES; k++) {
    if (!group[k].rows) continue;
    put(plan, k);
    put(plan, group[k].rows);
    put(plan, group[k].rows - group[k].known);
    put_mean(plan, group[k].sum, group[k].known);
    put_end_of_row(plan);
  }
}

RDL_TASK(q08, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, DATES * sizeof(struct group), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q08_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q08_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q09: visibility, from the join with the weather ---- */

RDL_FN rdl_u32 visibility_band(const struct scan *s, RDL_GLOBAL const rdl_i16 *visib, rdl_u32 row) {
  rdl_u32 hour = weather_of(s, row);
  rdl_i32 value = hour ? visib[hour - 1u] : NO_NUMBER;
  if (value == NO_NUMBER) return 4;
  return value < 100 ? 0u : value < 300 ? 1u : value < 1000 ? 2u : 3u;
}

RDL_TASK(q09_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL rdl_u32 *count = part_counts(PLAN(args), args->part);
  RDL_GLOBAL const rdl_i16 *visib;
  struct scan s;
  rdl_u32 c, row, end, width;
  rdl_i32 low;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  visib = NUMBERS(s.world, WEATHER, W_VISIB);
  width = places(s.world, DEP);
  low = s.world->low[DEP];
  SCAN(s, c, row, end) {
    count[visibility_band(&s, visib, row) * width + place_of(s.dep[row], low)]++;
  }
  RDL_END();
}

RDL_FN void q09_put(RDL_GLOBAL struct plan *plan) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 width = places(w, DEP), k;
  RDL_GLOBAL const rdl_u32 *count = merge_counts(plan, 0, 0, 5u * width);
  struct spread s;
  for (k = 0; k < 5u; k++) {
    spread_of(&s, w, DEP, count + k * width);
    if (!s.rows) continue;
    put(plan, k);
    put(plan, s.rows);
    put(plan, s.rows - s.known);
    put_mean(plan, 100 * (s.rows - s.known), s.rows);
    put_mean(plan, s.sum, s.known);
    put(plan, s.p90);
    put_end_of_row(plan);
  }
}

RDL_TASK(q09, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 4u * 5u * (rdl_u64)places(WORLD(plan->world), DEP), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q09_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q09_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q10: wind ---- */

RDL_FN rdl_u32 wind_band(const struct scan *s, RDL_GLOBAL const rdl_i16 *wind, rdl_u32 row) {
  rdl_u32 hour = weather_of(s, row);
  rdl_i32 knots = hour ? wind[hour - 1u] : NO_NUMBER;
  if (knots == NO_NUMBER) return 5;
  return knots >= 20 ? 4u : knots < 0 ? 0u : (rdl_u32)knots / 5u;
}

RDL_TASK(q10_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  RDL_GLOBAL const rdl_i16 *wind;
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  wind = NUMBERS(s.world, WEATHER, W_WIND);
  SCAN(s, c, row, end) {
    add_value(group + 6u * s.origin[row] + wind_band(&s, wind, row), s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q10_put(RDL_GLOBAL struct plan *plan) {
  rdl_u32 groups = 6u * texts(plan, ORIGIN), k;
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, groups);
  for (k = 0; k < groups; k++) {
    if (!group[k].rows) continue;
    put(plan, k / 6u);
    put(plan, k % 6u);
    put(plan, group[k].rows);
    put_mean(plan, group[k].sum, group[k].known);
    put_end_of_row(plan);
  }
}

RDL_TASK(q10, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 6u * (rdl_u64)texts(plan, ORIGIN) * sizeof(struct group), 1))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q10_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q10_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q11: the busiest routes, then the worst day of each ---- */

#define ROUTES 10u

struct route_found {
  rdl_i64 flights;
  rdl_i64 median_air;
  rdl_i64 p90_arr;
  rdl_i64 date;
  rdl_i64 arrived;
  rdl_i64 sum;
};

RDL_TASK(q11_count, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL rdl_u32 *count = part_counts(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end, dests;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  dests = texts(PLAN(args), DEST);
  SCAN(s, c, row, end) {
    count[s.origin[row] * dests + s.dest[row]]++;
  }
  RDL_END();
}

RDL_FN void q11_choose(RDL_GLOBAL struct plan *plan) {
  rdl_u32 routes = texts(plan, ORIGIN) * texts(plan, DEST), k;
  RDL_GLOBAL const rdl_u32 *count = merge_counts(plan, 0, 0, routes);
  struct best best;
  best.count = 0;
  best.limit = ROUTES;
  for (k = 0; k < routes; k++)
    if (count[k]) best_add(&best, k, count[k]);
  plan->routes = best.count;
  for (k = 0; k < best.count; k++)
    plan->route[k] = best.key[k];
}

/* A part's memory for one route: a group for each date, a histogram of arr_delay, one of air_time.
 */
RDL_FN rdl_u64 q11_bytes(RDL_GLOBAL const struct plan *plan) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  return DATES * sizeof(struct group) + 4u * (places(w, ARR) + places(w, AIR));
}

RDL_TASK(q11_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  rdl_u32 at = args->route * plan->parts + args->part;
  RDL_GLOBAL struct group *day = part_groups(plan, at);
  RDL_GLOBAL rdl_u32 *arr, *air;
  struct scan s;
  rdl_u32 c, row, end, origin, dest;
  rdl_i32 low_arr, low_air;
  RDL_BEGIN();
  part_clear(plan, at);
  scan_open(&s, plan, args->part);
  arr = RDL_AT(rdl_u32, part_work(plan, at) + DATES * sizeof(struct group));
  air = arr + places(s.world, ARR);
  low_arr = s.world->low[ARR];
  low_air = s.world->low[AIR];
  origin = plan->route[args->route] / texts(plan, DEST);
  dest = plan->route[args->route] % texts(plan, DEST);
  SCAN(s, c, row, end) {
    if (s.dest[row] != dest || s.origin[row] != origin) continue;
    add_value(day + s.date[row], s.arr[row]);
    arr[place_of(s.arr[row], low_arr)]++;
    air[place_of(s.air[row], low_air)]++;
  }
  RDL_END();
}

RDL_FN void q11_find(RDL_GLOBAL const struct plan *plan, rdl_u32 first, struct route_found *found) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 offset = DATES * sizeof(struct group) / 4u, width = places(w, ARR), k, worst = DATES;
  RDL_GLOBAL const struct group *day = merge_groups(plan, first, DATES);
  RDL_GLOBAL const rdl_u32 *arr = merge_counts(plan, first, offset, width + places(w, AIR));
  struct spread s;
  spread_of(&s, w, AIR, arr + width);
  found->median_air = s.median;
  spread_of(&s, w, ARR, arr);
  found->flights = s.rows;
  found->p90_arr = s.p90;
  for (k = 0; k < DATES; k++)
    if (day[k].known && (worst == DATES || day[k].sum > day[worst].sum)) worst = k;
  found->date = worst == DATES ? NO_VALUE : (rdl_i64)worst;
  found->arrived = worst == DATES ? 0 : (rdl_i64)day[worst].known;
  found->sum = worst == DATES ? 0 : day[worst].sum;
}

/* One route: parts of its own. */
RDL_TASK(q11_route, struct route_found, struct part_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  struct route_found found;
  RDL_BEGIN();
  RDL_SPAWNS(32);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q11_part, args->plan, self->k, args->route);
  RDL_AWAIT_CHILDREN();
  q11_find(plan, args->route * plan->parts, &found);
  RDL_RETURN(found);
  RDL_END();
}

RDL_FN void q11_put(RDL_GLOBAL struct plan *plan, rdl_u32 route,
                    RDL_GLOBAL const struct route_found *found) {
  put(plan, plan->route[route] / texts(plan, DEST));
  put(plan, plan->route[route] % texts(plan, DEST));
  put(plan, found->flights);
  put(plan, found->median_air);
  put(plan, found->p90_arr);
  put(plan, found->date);
  put(plan, found->arrived);
  put_sum(plan, found->sum, found->arrived);
  put_mean(plan, found->sum, found->arrived);
  put_end_of_row(plan);
}

RDL_TASK(q11, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  rdl_u32 k;
  RDL_BEGIN();
  RDL_SPAWNS(64);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 4u * (rdl_u64)texts(plan, ORIGIN) * texts(plan, DEST), 1))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q11_count, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q11_choose(plan);
  if (!plan_parts(plan, q11_bytes(plan), ROUTES)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->routes; self->k++)
    RDL_SPAWN(self->part[self->k], q11_route, args->plan, 0u, self->k);
  RDL_AWAIT_ALL(self->part, plan->routes);
  for (k = 0; k < plan->routes; k++)
    q11_put(plan, k, &RDL_RESULT(struct route_found, self->part[k]));
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q12: tail numbers ---- */

/* Flights with and without a tailnum, then the set of tailnums. */
RDL_TASK(q12_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL rdl_u32 *count = part_counts(PLAN(args), args->part);
  struct scan s;
  rdl_u32 c, row, end;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  SCAN(s, c, row, end) {
    count[s.tailnum[row] == NO_CODE]++;
    if (s.tailnum[row] != NO_CODE) set_add(count + 2, s.tailnum[row]);
  }
  RDL_END();
}

RDL_FN void q12_put(RDL_GLOBAL struct plan *plan) {
  rdl_u32 n = texts(plan, TAILNUM), known = 0, planes = 0, k;
  RDL_GLOBAL const rdl_u32 *flights = merge_counts(plan, 0, 0, 2u);
  RDL_GLOBAL const rdl_u32 *seen = merge_sets(plan, 2u, set_words(n));
  for (k = 0; k < n; k++) {
    if (!set_has(seen, k)) continue;
    known++;
    planes += plane_of(WORLD(plan->world), k) != 0u;
  }
  put(plan, known);
  put(plan, planes);
  put(plan, flights[0]);
  put(plan, flights[1]);
  put_end_of_row(plan);
}

RDL_TASK(q12, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 4u * (2u + set_words(texts(plan, TAILNUM))), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q12_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q12_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q13: the busiest planes ---- */

/* A group of distances for each tailnum, then a set of destinations for each. */
RDL_TASK(q13_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct group *group = part_groups(PLAN(args), args->part);
  RDL_GLOBAL rdl_u32 *dests;
  struct scan s;
  rdl_u32 c, row, end, words;
  RDL_BEGIN();
  part_clear(PLAN(args), args->part);
  scan_open(&s, PLAN(args), args->part);
  dests = (RDL_GLOBAL rdl_u32 *)(group + texts(PLAN(args), TAILNUM));
  words = set_words(texts(PLAN(args), DEST));
  SCAN(s, c, row, end) {
    if (s.tailnum[row] == NO_CODE) continue;
    add_value(group + s.tailnum[row], s.distance[row]);
    set_add(dests + s.tailnum[row] * words, s.dest[row]);
  }
  RDL_END();
}

RDL_FN void q13_put_row(RDL_GLOBAL struct plan *plan, RDL_GLOBAL const struct group *group,
                        RDL_GLOBAL const rdl_u32 *dests, rdl_u32 tailnum) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 plane = plane_of(w, tailnum), n = texts(plan, DEST), count = 0, k;
  for (k = 0; k < n; k++)
    count += set_has(dests + tailnum * set_words(n), k);
  put(plan, tailnum);
  put_code(plan, plane ? CODES(w, PLANES, P_MAKER)[plane - 1u] : NO_CODE);
  put_number(plan, plane ? NUMBERS(w, PLANES, P_YEAR)[plane - 1u] : NO_NUMBER);
  put(plan, group[tailnum].rows);
  put(plan, count);
  put(plan, group[tailnum].sum);
  put_end_of_row(plan);
}

RDL_FN void q13_put(RDL_GLOBAL struct plan *plan) {
  rdl_u32 n = texts(plan, TAILNUM), k;
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, n);
  RDL_GLOBAL const rdl_u32 *dests =
      merge_sets(plan, n * ((rdl_u32)sizeof(struct group) / 4u), n * set_words(texts(plan, DEST)));
  struct best best;
  best.count = 0;
  best.limit = 20;
  for (k = 0; k < n; k++)
    if (group[k].rows) best_add(&best, k, group[k].rows);
  for (k = 0; k < best.count; k++)
    q13_put_row(plan, group, dests, best.key[k]);
}

RDL_FN rdl_u64 q13_bytes(RDL_GLOBAL const struct plan *plan) {
  return (rdl_u64)texts(plan, TAILNUM) * (sizeof(struct group) + 4u * set_words(texts(plan, DEST)));
}

RDL_TASK(q13, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, q13_bytes(plan), 1)) RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->parts; self->k++)
    RDL_SPAWN(self->part[self->k], q13_part, args->plan, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  q13_put(plan);
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}

/* ---- q14: down to the worst flight ---- */

/* What the rows are grouped by at a level. */
RDL_FN rdl_u32 q14_key(const struct scan *s, rdl_u32 level, rdl_u32 row) {
  if (level == PICK_MONTH) return s->date[row] / 32u;
  if (level == PICK_DAY) return s->date[row] % 32u;
  if (level == PICK_ORIGIN) return s->origin[row];
  if (level == PICK_CARRIER) return s->carrier[row];
  return (rdl_u32)s->number[row];
}

RDL_FN rdl_u32 q14_groups(RDL_GLOBAL const struct plan *plan) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  if (plan->level == PICK_MONTH) return 13;
  if (plan->level == PICK_DAY) return 32;
  if (plan->level == PICK_ORIGIN) return texts(plan, ORIGIN);
  if (plan->level == PICK_CARRIER) return texts(plan, CARRIER);
  return w->high[NUMBER] < 0 ? 1u : (rdl_u32)w->high[NUMBER] + 1u;
}

/* 1 if a row is within what the levels above have picked. */
RDL_FN rdl_u32 q14_within(const struct scan *s, const rdl_u32 *pick, rdl_u32 level, rdl_u32 row) {
  rdl_u32 k;
  for (k = 0; k < level; k++)
    if (q14_key(s, k, row) != pick[k]) return 0;
  return 1;
}

RDL_TASK(q14_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_GLOBAL struct group *group = part_groups(plan, args->part);
  struct scan s;
  rdl_u32 c, row, end, k, level = plan->level, pick[PICKS];
  RDL_BEGIN();
  part_clear(plan, args->part);
  scan_open(&s, plan, args->part);
  for (k = 0; k < PICKS; k++)
    pick[k] = plan->pick[k];
  SCAN(s, c, row, end) {
    if (q14_within(&s, pick, level, row)) add_value(group + q14_key(&s, level, row), s.arr[row]);
  }
  RDL_END();
}

/* Picks the worst of the level and goes to the next; 0 = no flight is left that arrived. */
RDL_FN rdl_u32 q14_pick(RDL_GLOBAL struct plan *plan) {
  rdl_u32 n = q14_groups(plan), worst = n, k;
  RDL_GLOBAL const struct group *group = merge_groups(plan, 0, n);
  for (k = 0; k < n; k++)
    if (group[k].known && (worst == n || group[k].sum > group[worst].sum)) worst = k;
  if (worst == n) return 0;
  put(plan, plan->level);
  put(plan, worst);
  put(plan, group[worst].known);
  put(plan, group[worst].sum);
  put_mean(plan, group[worst].sum, group[worst].known);
  put_end_of_row(plan);
  plan->pick[plan->level++] = worst;
  return 1;
}

RDL_TASK(q14, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  for (plan->level = 0; plan->level < PICKS;) {
    if (!plan_parts(plan, q14_groups(plan) * sizeof(struct group), 1)) RDL_FAIL(NO_ROOM);
    for (self->k = 0; self->k < plan->parts; self->k++)
      RDL_SPAWN(self->part[self->k], q14_part, args->plan, self->k, 0u);
    RDL_AWAIT_CHILDREN();
    if (!q14_pick(plan)) break;
  }
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);
  RDL_RETURN(plan->answer.rows);
  RDL_END();
}
