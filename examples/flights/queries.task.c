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
  rdl_u64 stride; /* bytes of it for each part: */
  rdl_u32 groups; /* so many groups, */
  rdl_u32 counts; /* then so many counts, */
  rdl_u32 words;  /* then so many words of sets */
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

RDL_FN rdl_u32 texts(RDL_GLOBAL const struct plan *plan, rdl_u32 dictionary) {
  return WORLD(plan->world)->dictionary[dictionary].count;
}

/* ---- what parts find ---- */

/* Sum, count of values and count of rows: what most groups come to. */
struct group {
  rdl_i64 sum;
  rdl_u32 rows;
  rdl_u32 known; /* rows whose value is not null */
};

/* What a part has found, or several together: in most queries only one of the three. */
struct found {
  RDL_GLOBAL struct group *group;
  RDL_GLOBAL rdl_u32 *count;
  RDL_GLOBAL rdl_u32 *set;
};

/* Cuts the chunks into parts, each with memory for so many groups, counts and words of sets, for
 * each of `times` runs over them. Few chunks or little memory make fewer parts; none at all if not
 * even one fits. */
RDL_FN rdl_u32 plan_parts(RDL_GLOBAL struct plan *plan, rdl_u64 groups, rdl_u64 counts,
                          rdl_u64 words, rdl_u32 times) {
  rdl_u32 chunks = WORLD(plan->world)->table[FLIGHTS].count;
  plan->groups = (rdl_u32)groups;
  plan->counts = (rdl_u32)counts;
  plan->words = (rdl_u32)words;
  plan->stride = (groups * sizeof(struct group) + 4u * (counts + words) + 63u) / 64u * 64u;
  plan->parts = chunks / 4u + 1u < MAX_PARTS ? chunks / 4u + 1u : MAX_PARTS;
  while (plan->parts && plan->parts * times * plan->stride > plan->work_bytes)
    plan->parts--;
  return plan->parts;
}

RDL_FN struct found found_by(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  rdl_ptr at = plan->work + part * plan->stride;
  struct found f;
  f.group = RDL_AT(struct group, at);
  f.count = RDL_AT(rdl_u32, at + plan->groups * sizeof(struct group));
  f.set = f.count + plan->counts;
  return f;
}

RDL_FN struct found nothing_yet(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  RDL_GLOBAL rdl_u64 *word = RDL_AT(rdl_u64, plan->work + part * plan->stride);
  rdl_u64 k, words = plan->stride / 8u;
  for (k = 0; k < words; k++)
    word[k] = 0;
  return found_by(plan, part);
}

RDL_FN void add_value(RDL_GLOBAL struct group *g, rdl_i32 value) {
  g->rows++;
  if (value == NO_NUMBER) return;
  g->known++;
  g->sum += value;
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

RDL_FN void merge_groups(RDL_GLOBAL struct group *to, RDL_GLOBAL const struct group *from,
                         rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++) {
    to[k].sum += from[k].sum;
    to[k].rows += from[k].rows;
    to[k].known += from[k].known;
  }
}

RDL_FN void merge_counts(RDL_GLOBAL rdl_u32 *to, RDL_GLOBAL const rdl_u32 *from, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] += from[k];
}

RDL_FN void merge_sets(RDL_GLOBAL rdl_u32 *to, RDL_GLOBAL const rdl_u32 *from, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] |= from[k];
}

/* Adds what the parts of a run have found to what the first of them has. */
RDL_FN struct found merged(RDL_GLOBAL const struct plan *plan, rdl_u32 first) {
  struct found all = found_by(plan, first), one;
  rdl_u32 p;
  for (p = 1; p < plan->parts; p++) {
    one = found_by(plan, first + p);
    merge_groups(all.group, one.group, plan->groups);
    merge_counts(all.count, one.count, plan->counts);
    merge_sets(all.set, one.set, plan->words);
  }
  return all;
}

/* ---- what parts read ---- */

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

RDL_FN struct scan scan_of(RDL_GLOBAL const struct plan *plan, rdl_u32 part) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u64 chunks = w->table[FLIGHTS].count;
  struct scan s;
  s.world = w;
  s.chunks = CHUNKS(w, FLIGHTS);
  s.from = (rdl_u32)(part * chunks / plan->parts);
  s.to = (rdl_u32)((part + 1u) * chunks / plan->parts);
  s.date = CODES(w, FLIGHTS, F_DATE);
  s.sched = NUMBERS(w, FLIGHTS, F_SCHED);
  s.dep = NUMBERS(w, FLIGHTS, F_DEP);
  s.arr = NUMBERS(w, FLIGHTS, F_ARR);
  s.carrier = CODES(w, FLIGHTS, F_CARRIER);
  s.number = NUMBERS(w, FLIGHTS, F_NUMBER);
  s.tailnum = CODES(w, FLIGHTS, F_TAILNUM);
  s.origin = CODES(w, FLIGHTS, F_ORIGIN);
  s.dest = CODES(w, FLIGHTS, F_DEST);
  s.air = NUMBERS(w, FLIGHTS, F_AIR);
  s.distance = NUMBERS(w, FLIGHTS, F_DISTANCE);
  return s;
}

/* For each row of the part. */
#define SCAN(s, row) ROWS_OF((s).chunks, (s).from, (s).to, row)

RDL_FN rdl_u32 plane_of(RDL_GLOBAL const struct world *w, rdl_u32 tailnum) {
  return tailnum == NO_CODE ? 0u : RDL_AT(const rdl_u32, w->plane_of)[tailnum];
}

/* What a column of the weather says of the hour in which a flight was to leave. */
RDL_FN rdl_i32 weather_of(const struct scan *s, RDL_GLOBAL const rdl_i16 *column, rdl_u32 row) {
  rdl_u32 slot = weather_slot(s->origin[row], s->date[row], (rdl_u32)s->sched[row] / 100u);
  rdl_u32 hour = RDL_AT(const rdl_u32, s->world->weather_of)[slot];
  return hour ? column[hour - 1u] : NO_NUMBER;
}

/* ---- histograms ---- */

/* A histogram of a measure has a place for null, then one for each value from the lowest on. */
struct histogram {
  rdl_i32 low;
  rdl_u32 places;
};

RDL_FN struct histogram histogram_of(RDL_GLOBAL const struct world *w, rdl_u32 which) {
  struct histogram h = {w->low[which], 1};
  if (w->low[which] <= w->high[which]) h.places = (rdl_u32)(w->high[which] - w->low[which]) + 2u;
  return h;
}

RDL_FN rdl_u32 place_of(struct histogram h, rdl_i32 value) {
  return value == NO_NUMBER ? 0u : (rdl_u32)(value - h.low) + 1u;
}

struct spread {
  rdl_i64 sum;
  rdl_i64 known;
  rdl_i64 rows;
  rdl_i64 median;
  rdl_i64 p90;
};

/* The value with this rank, from 0. */
RDL_FN rdl_i64 ranked(struct histogram h, RDL_GLOBAL const rdl_u32 *count, rdl_i64 rank) {
  rdl_u32 k = 1;
  for (; rank >= count[k]; k++)
    rank -= count[k];
  return h.low + (rdl_i64)k - 1;
}

RDL_FN struct spread spread_of(struct histogram h, RDL_GLOBAL const rdl_u32 *count) {
  struct spread s = {0, 0, 0, NO_VALUE, NO_VALUE};
  rdl_u32 k;
  for (k = 1; k < h.places; k++) {
    s.known += count[k];
    s.sum += (h.low + (rdl_i64)k - 1) * count[k];
  }
  s.rows = s.known + count[0];
  if (!s.known) return s;
  s.median = ranked(h, count, (s.known + 1) / 2 - 1);
  s.p90 = ranked(h, count, (9 * s.known + 9) / 10 - 1);
  return s;
}

/* ---- answers and order ---- */

RDL_FN void put_row(RDL_GLOBAL struct plan *plan, const rdl_i64 *cell, rdl_u32 cells) {
  RDL_GLOBAL struct answer *a = &plan->answer;
  rdl_u32 k;
  for (k = 0; k < cells; k++, a->cells++)
    if (a->cells < a->capacity) RDL_AT(rdl_i64, a->cell)[a->cells] = cell[k];
  a->rows++;
}

#define PUT_ROW(plan, values...)                                                                   \
  do {                                                                                             \
    const rdl_i64 cell_[] = {values};                                                              \
    put_row((plan), cell_, (rdl_u32)(sizeof cell_ / sizeof cell_[0]));                             \
  } while (0)

/* Cells of a row. A sum of no values is null. */
#define MEAN(sum, count)       (sum), (count)
#define SUM(sum, count)        ((count) ? (rdl_i64)(sum) : NO_VALUE)
#define CODE_OR_NULL(code)     ((code) == NO_CODE ? NO_VALUE : (rdl_i64)(code))
#define NUMBER_OR_NULL(number) ((number) == NO_NUMBER ? NO_VALUE : (rdl_i64)(number))

RDL_FN rdl_u32 answer_fits(RDL_GLOBAL const struct plan *plan) {
  return plan->answer.cells <= plan->answer.capacity;
}

/* The first `limit` at most of the keys, by weight, the largest first; of equals, the smallest key.
 */
struct best {
  rdl_u32 limit;
  rdl_u32 count;
  rdl_u32 key[20];
  rdl_i64 weight[20];
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

/* The first of the groups with the largest sum; `n` if none has a value. */
RDL_FN rdl_u32 largest_sum(RDL_GLOBAL const struct group *group, rdl_u32 n) {
  rdl_u32 found = n, k;
  for (k = 0; k < n; k++)
    if (group[k].known && (found == n || group[k].sum > group[found].sum)) found = k;
  return found;
}

/* ---- what the bodies of queries have in common; `plan` is the query's ---- */

/* A task for each part. */
#define SPAWN_PARTS(task, route)                                                                   \
  for (self->k = 0; self->k < plan->parts; self->k++)                                              \
  RDL_SPAWN(self->part[self->k], task, args->plan, self->k, (route))

/* The same after the memory for what they find was cut, and until all have ended. */
#define RUN_PARTS(task, groups, counts, words)                                                     \
  if (!plan_parts(plan, (groups), (counts), (words), 1)) RDL_FAIL(NO_ROOM);                        \
  SPAWN_PARTS(task, 0u);                                                                           \
  RDL_AWAIT_CHILDREN()

#define RETURN_ANSWER()                                                                            \
  if (!answer_fits(plan)) RDL_FAIL(NO_ROOM);                                                       \
  RDL_RETURN(plan->answer.rows)

/* ---- q01: filters ---- */

/* For each of the two filters, a group of each of four columns. */
RDL_FN void q01_add(RDL_GLOBAL struct group *group, const struct scan *s, rdl_u32 row) {
  add_value(group, s->dep[row]);
  add_value(group + 1, s->arr[row]);
  add_value(group + 2, s->air[row]);
  add_value(group + 3, s->distance[row]);
}

RDL_FN rdl_u32 code_of_text(RDL_GLOBAL const struct world *w, rdl_u32 dictionary, rdl_u64 key) {
  RDL_GLOBAL const struct dictionary *d = w->dictionary + dictionary;
  rdl_u32 k;
  for (k = 0; k < d->count; k++)
    if (RDL_AT(const rdl_u64, d->keys)[k] == key) return k;
  return NO_CODE;
}

#define TEXT_JFK ((rdl_u64)('J' << 16 | 'F' << 8 | 'K') << 40)

RDL_TASK(q01_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  rdl_u32 jfk;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  jfk = code_of_text(s.world, ORIGIN, TEXT_JFK);
  SCAN(s, row) {
    if (s.distance[row] >= 1000 && s.arr[row] >= 60) q01_add(f.group, &s, row);
    if (s.origin[row] == jfk && s.sched[row] < 800 && s.dep[row] <= 0 && s.dep[row] != NO_NUMBER)
      q01_add(f.group + 4, &s, row);
  }
  RDL_END();
}

RDL_FN void q01_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 k;
  for (k = 0; k < 2u; k++) {
    RDL_GLOBAL const struct group *g = f.group + 4u * k;
    PUT_ROW(plan, k, g[0].rows, SUM(g[0].sum, g[0].known), SUM(g[1].sum, g[1].known),
            SUM(g[2].sum, g[2].known), SUM(g[3].sum, g[3].known));
  }
}

RDL_TASK(q01, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q01_part, 8u, 0u, 0u);
  q01_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q02: mean, median and p90 by carrier ---- */

RDL_TASK(q02_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct histogram arr;
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  arr = histogram_of(s.world, ARR);
  SCAN(s, row) {
    f.count[s.carrier[row] * arr.places + place_of(arr, s.arr[row])]++;
  }
  RDL_END();
}

RDL_FN void q02_put(RDL_GLOBAL struct plan *plan, struct found f) {
  struct histogram arr = histogram_of(WORLD(plan->world), ARR);
  rdl_u32 k;
  for (k = 0; k < texts(plan, CARRIER); k++) {
    struct spread s = spread_of(arr, f.count + k * arr.places);
    if (s.rows) PUT_ROW(plan, k, s.rows, s.known, MEAN(s.sum, s.known), s.median, s.p90);
  }
}

RDL_TASK(q02, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q02_part, 0u,
            (rdl_u64)texts(plan, CARRIER) * histogram_of(WORLD(plan->world), ARR).places, 0u);
  q02_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q03: departures by origin and month ---- */

RDL_TASK(q03_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  SCAN(s, row) {
    add_value(f.group + s.origin[row] * 13u + s.date[row] / 32u, s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q03_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 k;
  for (k = 0; k < plan->groups; k++) {
    RDL_GLOBAL const struct group *g = f.group + k;
    if (g->rows) PUT_ROW(plan, k / 13u, k % 13u, g->rows, g->known, MEAN(g->sum, g->known));
  }
}

RDL_TASK(q03, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q03_part, 13u * texts(plan, ORIGIN), 0u, 0u);
  q03_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q04: carriers joined with their names ---- */

/* Two groups a carrier: departure delays and distances. */
RDL_TASK(q04_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  SCAN(s, row) {
    add_value(f.group + 2u * s.carrier[row], s.dep[row]);
    add_value(f.group + 2u * s.carrier[row] + 1u, s.distance[row]);
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

RDL_FN void q04_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 carrier;
  while ((carrier = q04_next(plan, f.group)) != NO_CODE) {
    RDL_GLOBAL struct group *dep = f.group + 2u * carrier;
    rdl_i64 cancelled = dep->rows - dep->known;
    PUT_ROW(plan, airline_name(WORLD(plan->world), carrier), dep->rows, cancelled,
            MEAN(100 * cancelled, dep->rows), MEAN(dep->sum, dep->known), dep[1].sum);
    dep->rows = 0;
  }
}

RDL_TASK(q04, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q04_part, 2u * texts(plan, CARRIER), 0u, 0u);
  q04_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q05: makers of planes ---- */

/* A histogram a maker, and the set of tailnums that flew. */
RDL_TASK(q05_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL const rdl_u16 *maker;
  struct histogram arr;
  struct found f;
  struct scan s;
  rdl_u32 plane;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  arr = histogram_of(s.world, ARR);
  maker = CODES(s.world, PLANES, P_MAKER);
  SCAN(s, row) {
    plane = plane_of(s.world, s.tailnum[row]);
    if (!plane) continue;
    f.count[maker[plane - 1u] * arr.places + place_of(arr, s.arr[row])]++;
    set_add(f.set, s.tailnum[row]);
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

RDL_FN void q05_put(RDL_GLOBAL struct plan *plan, struct found f) {
  struct histogram arr = histogram_of(WORLD(plan->world), ARR);
  struct best best = {.limit = 10};
  struct spread s;
  rdl_u32 k;
  for (k = 0; k < texts(plan, MAKER); k++) {
    s = spread_of(arr, f.count + k * arr.places);
    if (s.rows) best_add(&best, k, s.rows);
  }
  for (k = 0; k < best.count; k++) {
    s = spread_of(arr, f.count + best.key[k] * arr.places);
    PUT_ROW(plan, best.key[k], q05_planes(plan, f.set, best.key[k]), s.rows, MEAN(s.sum, s.known),
            s.p90);
  }
}

RDL_TASK(q05, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q05_part, 0u,
            (rdl_u64)texts(plan, MAKER) * histogram_of(WORLD(plan->world), ARR).places,
            set_words(texts(plan, TAILNUM)));
  q05_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q06: ages of planes ---- */

/* For each band of ages, a group of departure delays and one of arrival delays. */
RDL_TASK(q06_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL const rdl_i16 *year;
  struct found f;
  struct scan s;
  rdl_u32 plane, band;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  year = NUMBERS(s.world, PLANES, P_YEAR);
  SCAN(s, row) {
    plane = plane_of(s.world, s.tailnum[row]);
    if (!plane || year[plane - 1u] == NO_NUMBER) continue;
    band = (rdl_u32)(THIS_YEAR - year[plane - 1u]) / 5u;
    add_value(f.group + 2u * band, s.dep[row]);
    add_value(f.group + 2u * band + 1u, s.arr[row]);
  }
  RDL_END();
}

RDL_FN void q06_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 k;
  for (k = 0; k < BANDS; k++) {
    RDL_GLOBAL const struct group *g = f.group + 2u * k;
    if (g->rows)
      PUT_ROW(plan, 5u * k, 5u * k + 4u, g->rows, MEAN(g[0].sum, g[0].known),
              MEAN(g[1].sum, g[1].known));
  }
}

RDL_TASK(q06, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q06_part, 2u * BANDS, 0u, 0u);
  q06_put(plan, merged(plan, 0));
  RETURN_ANSWER();
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

/* What this one finds fits into its result. */
RDL_TASK(q07_part, struct worst, struct part_args, RDL_NONE) {
  struct worst found;
  struct scan s;
  RDL_BEGIN();
  found.count = 0;
  s = scan_of(PLAN(args), args->part);
  SCAN(s, row) {
    if (s.arr[row] != NO_NUMBER) worst_add(&found, &s, row);
  }
  RDL_RETURN(found);
  RDL_END();
}

RDL_FN void q07_put(RDL_GLOBAL struct plan *plan, const struct scan *s, rdl_u32 row) {
  PUT_ROW(plan, s->date[row], s->sched[row], s->carrier[row], s->number[row],
          CODE_OR_NULL(s->tailnum[row]), s->origin[row], s->dest[row], NUMBER_OR_NULL(s->dep[row]),
          s->arr[row]);
}

RDL_TASK(q07, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  struct worst all;
  struct scan s;
  rdl_u32 p, k;
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  if (!plan_parts(plan, 0u, 0u, 0u, 1)) RDL_FAIL(NO_ROOM);
  SPAWN_PARTS(q07_part, 0u);
  RDL_AWAIT_ALL(self->part, plan->parts);
  all.count = 0;
  s = scan_of(plan, 0);
  for (p = 0; p < plan->parts; p++)
    for (k = 0; k < RDL_RESULT(struct worst, self->part[p]).count; k++)
      worst_add(&all, &s, RDL_RESULT(struct worst, self->part[p]).row[k]);
  for (k = 0; k < all.count; k++)
    q07_put(plan, &s, all.row[k]);
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q08: days ---- */

RDL_TASK(q08_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  SCAN(s, row) {
    add_value(f.group + s.date[row], s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q08_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 k;
  for (k = 0; k < DATES; k++) {
    RDL_GLOBAL const struct group *g = f.group + k;
    if (g->rows) PUT_ROW(plan, k, g->rows, g->rows - g->known, MEAN(g->sum, g->known));
  }
}

RDL_TASK(q08, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q08_part, DATES, 0u, 0u);
  q08_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q09: visibility, from the join with the weather ---- */

RDL_FN rdl_u32 visibility_band(rdl_i32 visibility) {
  if (visibility == NO_NUMBER) return 4;
  return visibility < 100 ? 0u : visibility < 300 ? 1u : visibility < 1000 ? 2u : 3u;
}

RDL_TASK(q09_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL const rdl_i16 *visib;
  struct histogram dep;
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  visib = NUMBERS(s.world, WEATHER, W_VISIB);
  dep = histogram_of(s.world, DEP);
  SCAN(s, row) {
    f.count[visibility_band(weather_of(&s, visib, row)) * dep.places + place_of(dep, s.dep[row])]++;
  }
  RDL_END();
}

RDL_FN void q09_put(RDL_GLOBAL struct plan *plan, struct found f) {
  struct histogram dep = histogram_of(WORLD(plan->world), DEP);
  rdl_u32 k;
  for (k = 0; k < 5u; k++) {
    struct spread s = spread_of(dep, f.count + k * dep.places);
    rdl_i64 cancelled = s.rows - s.known;
    if (s.rows)
      PUT_ROW(plan, k, s.rows, cancelled, MEAN(100 * cancelled, s.rows), MEAN(s.sum, s.known),
              s.p90);
  }
}

RDL_TASK(q09, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q09_part, 0u, 5u * histogram_of(WORLD(plan->world), DEP).places, 0u);
  q09_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q10: wind ---- */

RDL_FN rdl_u32 wind_band(rdl_i32 knots) {
  if (knots == NO_NUMBER) return 5;
  return knots >= 20 ? 4u : knots < 0 ? 0u : (rdl_u32)knots / 5u;
}

RDL_TASK(q10_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL const rdl_i16 *wind;
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  wind = NUMBERS(s.world, WEATHER, W_WIND);
  SCAN(s, row) {
    add_value(f.group + 6u * s.origin[row] + wind_band(weather_of(&s, wind, row)), s.dep[row]);
  }
  RDL_END();
}

RDL_FN void q10_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 k;
  for (k = 0; k < plan->groups; k++) {
    RDL_GLOBAL const struct group *g = f.group + k;
    if (g->rows) PUT_ROW(plan, k / 6u, k % 6u, g->rows, MEAN(g->sum, g->known));
  }
}

RDL_TASK(q10, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q10_part, 6u * texts(plan, ORIGIN), 0u, 0u);
  q10_put(plan, merged(plan, 0));
  RETURN_ANSWER();
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
  struct found f;
  struct scan s;
  rdl_u32 dests;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  dests = texts(PLAN(args), DEST);
  SCAN(s, row) {
    f.count[s.origin[row] * dests + s.dest[row]]++;
  }
  RDL_END();
}

RDL_FN void q11_choose(RDL_GLOBAL struct plan *plan, struct found f) {
  struct best best = {.limit = ROUTES};
  rdl_u32 k;
  for (k = 0; k < plan->counts; k++)
    if (f.count[k]) best_add(&best, k, f.count[k]);
  plan->routes = best.count;
  for (k = 0; k < best.count; k++)
    plan->route[k] = best.key[k];
}

/* For one route, a group for each date, a histogram of arr_delay and one of air_time. */
RDL_TASK(q11_part, RDL_NONE, struct part_args, RDL_NONE) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  struct histogram arr, air;
  struct found f;
  struct scan s;
  rdl_u32 origin, dest;
  RDL_BEGIN();
  f = nothing_yet(plan, args->route * plan->parts + args->part);
  s = scan_of(plan, args->part);
  arr = histogram_of(s.world, ARR);
  air = histogram_of(s.world, AIR);
  origin = plan->route[args->route] / texts(plan, DEST);
  dest = plan->route[args->route] % texts(plan, DEST);
  SCAN(s, row) {
    if (s.dest[row] != dest || s.origin[row] != origin) continue;
    add_value(f.group + s.date[row], s.arr[row]);
    f.count[place_of(arr, s.arr[row])]++;
    f.count[arr.places + place_of(air, s.air[row])]++;
  }
  RDL_END();
}

RDL_FN struct route_found q11_find(RDL_GLOBAL const struct plan *plan, struct found f) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  struct spread arr = spread_of(histogram_of(w, ARR), f.count);
  struct spread air = spread_of(histogram_of(w, AIR), f.count + histogram_of(w, ARR).places);
  struct route_found found = {arr.rows, air.median, arr.p90, NO_VALUE, 0, 0};
  rdl_u32 worst = largest_sum(f.group, DATES);
  if (worst == DATES) return found;
  found.date = worst;
  found.arrived = f.group[worst].known;
  found.sum = f.group[worst].sum;
  return found;
}

/* One route: parts of its own. */
RDL_TASK(q11_route, struct route_found, struct part_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  SPAWN_PARTS(q11_part, args->route);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(q11_find(plan, merged(plan, args->route * plan->parts)));
  RDL_END();
}

RDL_FN void q11_put(RDL_GLOBAL struct plan *plan, rdl_u32 route,
                    RDL_GLOBAL const struct route_found *found) {
  PUT_ROW(plan, plan->route[route] / texts(plan, DEST), plan->route[route] % texts(plan, DEST),
          found->flights, found->median_air, found->p90_arr, found->date, found->arrived,
          SUM(found->sum, found->arrived), MEAN(found->sum, found->arrived));
}

RDL_TASK(q11, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  rdl_u32 k;
  RDL_BEGIN();
  RDL_SPAWNS(64);
  RDL_AWAIT(args->load);
  RUN_PARTS(q11_count, 0u, (rdl_u64)texts(plan, ORIGIN) * texts(plan, DEST), 0u);
  q11_choose(plan, merged(plan, 0));
  if (!plan_parts(plan, DATES, histogram_of(w, ARR).places + histogram_of(w, AIR).places, 0u,
                  ROUTES))
    RDL_FAIL(NO_ROOM);
  for (self->k = 0; self->k < plan->routes; self->k++)
    RDL_SPAWN(self->part[self->k], q11_route, args->plan, 0u, self->k);
  RDL_AWAIT_ALL(self->part, plan->routes);
  for (k = 0; k < plan->routes; k++)
    q11_put(plan, k, &RDL_RESULT(struct route_found, self->part[k]));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q12: tail numbers ---- */

/* Flights with and without a tailnum, and the set of tailnums. */
RDL_TASK(q12_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  SCAN(s, row) {
    f.count[s.tailnum[row] == NO_CODE]++;
    if (s.tailnum[row] != NO_CODE) set_add(f.set, s.tailnum[row]);
  }
  RDL_END();
}

RDL_FN void q12_put(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 known = 0, planes = 0, k;
  for (k = 0; k < texts(plan, TAILNUM); k++) {
    if (!set_has(f.set, k)) continue;
    known++;
    planes += plane_of(WORLD(plan->world), k) != 0u;
  }
  PUT_ROW(plan, known, planes, f.count[0], f.count[1]);
}

RDL_TASK(q12, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q12_part, 0u, 2u, set_words(texts(plan, TAILNUM)));
  q12_put(plan, merged(plan, 0));
  RETURN_ANSWER();
  RDL_END();
}

/* ---- q13: the busiest planes ---- */

/* For each tailnum, a group of distances and a set of destinations. */
RDL_TASK(q13_part, RDL_NONE, struct part_args, RDL_NONE) {
  struct found f;
  struct scan s;
  rdl_u32 words;
  RDL_BEGIN();
  f = nothing_yet(PLAN(args), args->part);
  s = scan_of(PLAN(args), args->part);
  words = set_words(texts(PLAN(args), DEST));
  SCAN(s, row) {
    if (s.tailnum[row] == NO_CODE) continue;
    add_value(f.group + s.tailnum[row], s.distance[row]);
    set_add(f.set + s.tailnum[row] * words, s.dest[row]);
  }
  RDL_END();
}

RDL_FN void q13_put_row(RDL_GLOBAL struct plan *plan, struct found f, rdl_u32 tailnum) {
  RDL_GLOBAL const struct world *w = WORLD(plan->world);
  RDL_GLOBAL const rdl_u32 *seen = f.set + tailnum * set_words(texts(plan, DEST));
  rdl_u32 plane = plane_of(w, tailnum), dests = 0, k;
  rdl_u32 maker = plane ? CODES(w, PLANES, P_MAKER)[plane - 1u] : NO_CODE;
  rdl_i32 year = plane ? NUMBERS(w, PLANES, P_YEAR)[plane - 1u] : NO_NUMBER;
  for (k = 0; k < texts(plan, DEST); k++)
    dests += set_has(seen, k);
  PUT_ROW(plan, tailnum, CODE_OR_NULL(maker), NUMBER_OR_NULL(year), f.group[tailnum].rows, dests,
          f.group[tailnum].sum);
}

RDL_FN void q13_put(RDL_GLOBAL struct plan *plan, struct found f) {
  struct best best = {.limit = 20};
  rdl_u32 k;
  for (k = 0; k < plan->groups; k++)
    if (f.group[k].rows) best_add(&best, k, f.group[k].rows);
  for (k = 0; k < best.count; k++)
    q13_put_row(plan, f, best.key[k]);
}

RDL_TASK(q13, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  RUN_PARTS(q13_part, texts(plan, TAILNUM), 0u,
            (rdl_u64)texts(plan, TAILNUM) * set_words(texts(plan, DEST)));
  q13_put(plan, merged(plan, 0));
  RETURN_ANSWER();
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
  struct found f;
  struct scan s;
  rdl_u32 k, level = plan->level, pick[PICKS];
  RDL_BEGIN();
  f = nothing_yet(plan, args->part);
  s = scan_of(plan, args->part);
  for (k = 0; k < PICKS; k++)
    pick[k] = plan->pick[k];
  SCAN(s, row) {
    if (q14_within(&s, pick, level, row)) add_value(f.group + q14_key(&s, level, row), s.arr[row]);
  }
  RDL_END();
}

/* Picks the worst of the level and goes to the next; 0 = no flight is left that arrived. */
RDL_FN rdl_u32 q14_pick(RDL_GLOBAL struct plan *plan, struct found f) {
  rdl_u32 worst = largest_sum(f.group, plan->groups);
  RDL_GLOBAL const struct group *g = f.group + worst;
  if (worst == plan->groups) return 0;
  PUT_ROW(plan, plan->level, worst, g->known, g->sum, MEAN(g->sum, g->known));
  plan->pick[plan->level++] = worst;
  return 1;
}

RDL_TASK(q14, rdl_u32, struct query_args, struct query_state) {
  RDL_GLOBAL struct plan *plan = PLAN(args);
  RDL_BEGIN();
  RDL_SPAWNS(32);
  RDL_AWAIT(args->load);
  for (plan->level = 0; plan->level < PICKS;) {
    RUN_PARTS(q14_part, q14_groups(plan), 0u, 0u);
    if (!q14_pick(plan, merged(plan, 0))) break;
  }
  RETURN_ANSWER();
  RDL_END();
}
