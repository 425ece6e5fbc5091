/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first half of the flights example: what the tables look like in device memory, and the tasks
 * that fill them. queries.task.c, which is loaded behind this file, asks the questions.
 *
 *   read_tables                      one root
 *     stream (one a reader)          waits for each block of text that the host has inflated
 *       parse_... (one a block)      turns a block into rows of columns, and text into codes
 *   load                             one root, awaits read_tables
 *     merge (one a dictionary)       one set of codes from those of all blocks, in the texts' order
 *     remap (one a range of chunks)  writes the merged codes into the columns
 *     index_... (one a small table)  finds a row by its key, for the joins
 *
 * Text that has at most CHUNK_BYTES and whole lines is a chunk. Row i of chunk c is row
 * c * CHUNK_ROWS + i of its table, so that chunks are parsed without knowing of each other; rows
 * behind the last one of a chunk are not used. Every column has 16 bits. The structures are
 * mirrored in flights.h, which explains why nothing is shared by an #include.
 */

#define CHUNK_ROWS  16384u
#define MAX_READERS 4u
#define BAD_LINE    64u
#define NO_NUMBER   (-32768) /* null in a column of numbers */
#define NO_CODE     0xffffu  /* null in a column of codes */
#define DATES       416u     /* a date is 32 * month + day, and at most 12 * 32 + 31 */
#define HOURS       24u
#define FIRST_YEAR  1864 /* of planes: their ages fit into 30 bands of five years */
#define THIS_YEAR   2013

/* What a task may fail with; flights.h tells the user what each means. */
enum { BAD_FIELD = 1, TOO_MANY_ROWS, TOO_MANY_VALUES, NO_ROOM, OTHER_LAYOUT, READER_STOPPED };

enum { FLIGHTS, AIRLINES, PLANES, WEATHER, TABLES, STREAM_ENDS, STREAM_BROKEN };
enum { CARRIER, TAILNUM, ORIGIN, DEST, NAME, MAKER, DICTIONARIES };
enum { DEP, ARR, AIR, NUMBER, MEASURES };

/* Columns of the four tables. */
enum {
  F_DATE,
  F_SCHED,
  F_DEP,
  F_ARR,
  F_CARRIER,
  F_NUMBER,
  F_TAILNUM,
  F_ORIGIN,
  F_DEST,
  F_AIR,
  F_DISTANCE,
  COLUMNS
};
enum { A_CARRIER, A_NAME };
enum { P_TAILNUM, P_YEAR, P_MAKER };
enum { W_ORIGIN, W_DATE, W_HOUR, W_VISIB, W_WIND };

#define MAX_WORDS 4u /* a text has up to eight bytes a word: 8 for codes, 32 for names */

/* Distinct texts and their codes. A key is the text in big-endian words, so that keys compare as
 * their texts do. `slots` is a hash table of codes + 1; `map` leads to the merged codes. */
struct dictionary {
  rdl_u32 count;
  rdl_u32 capacity;
  rdl_u32 slot_count; /* a power of two, at least twice the capacity */
  rdl_u32 words;
  rdl_ptr keys;
  rdl_ptr slots;
  rdl_ptr map;
};

/* A place for the text of one chunk at a time. Its dictionaries grow over all chunks that pass. */
struct block {
  rdl_u32 table;
  rdl_u32 chunk;
  rdl_u32 bytes;
  rdl_u32 pad;
  rdl_ptr text;
  rdl_event free; /* counts the chunks that the block is done with */
  struct dictionary dictionary[DICTIONARIES];
};

struct chunk {
  rdl_u32 rows;
  rdl_u32 block;
  rdl_u32 bad_column; /* that could not be read, from 1; 0 = none */
  rdl_u32 pad;
  rdl_i32 low[MEASURES];
  rdl_i32 high[MEASURES];
  rdl_u8 bad_line[BAD_LINE]; /* its beginning; ends with 0 */
};

struct table {
  rdl_ptr chunks;
  rdl_u32 count; /* of chunks */
  rdl_u32 capacity;
  rdl_ptr column[COLUMNS];
};

struct reader {
  rdl_event full; /* counts the blocks that the host has filled */
  rdl_u32 first_block;
  rdl_u32 blocks; /* used one after the other, round and round */
};

struct world {
  rdl_u32 size; /* of this structure, a block and a chunk, as the host sees them */
  rdl_u32 readers;
  rdl_u32 blocks;
  rdl_u32 pad;
  struct table table[TABLES];
  struct dictionary dictionary[DICTIONARIES];
  struct reader reader[MAX_READERS];
  rdl_ptr block;
  rdl_ptr airline_of; /* carrier code -> row of airlines + 1, 0 = none */
  rdl_ptr plane_of;   /* tailnum code -> row of planes + 1 */
  rdl_ptr weather_of; /* (origin code, date, hour) -> row of weather + 1 */
  rdl_i32 low[MEASURES];
  rdl_i32 high[MEASURES];
};

#define WORLD_SIZE (sizeof(struct world) + sizeof(struct block) + sizeof(struct chunk))

#define WORLD(p)         RDL_AT(struct world, (p))
#define BLOCK(w, i)      (RDL_AT(struct block, (w)->block) + (i))
#define CHUNKS(w, t)     RDL_AT(struct chunk, (w)->table[t].chunks)
#define NUMBERS(w, t, c) RDL_AT(rdl_i16, (w)->table[t].column[c])
#define CODES(w, t, c)   RDL_AT(rdl_u16, (w)->table[t].column[c])

/* For each row of some chunks, or of a table, with its number in `row`. */
#define ROWS_OF(chunks, from, to, row)                                                             \
  for (rdl_u32 chunk_ = (from); chunk_ < (to); chunk_++)                                           \
    for (rdl_u32 row = chunk_ * CHUNK_ROWS, end_ = row + (chunks)[chunk_].rows; row < end_; row++)
#define EACH_ROW(w, t, row) ROWS_OF(CHUNKS(w, t), 0u, (w)->table[t].count, row)

/* ---- dictionaries ---- */

/* The parts of a dictionary that a loop wants in registers. */
struct lookup {
  RDL_GLOBAL rdl_u64 *keys;
  RDL_GLOBAL rdl_u16 *slots;
  rdl_u32 mask;
  rdl_u32 count;
  rdl_u32 capacity;
  rdl_u32 full; /* not 0: a text found no place */
};

RDL_FN void lookup_open(struct lookup *l, RDL_GLOBAL const struct dictionary *d) {
  l->keys = RDL_AT(rdl_u64, d->keys);
  l->slots = RDL_AT(rdl_u16, d->slots);
  l->mask = d->slot_count - 1u;
  l->count = d->count;
  l->capacity = d->capacity;
  l->full = 0;
}

RDL_FN rdl_u32 hash_of(const rdl_u64 *key, rdl_u32 words) {
  rdl_u64 h = 0;
  rdl_u32 k;
  for (k = 0; k < words; k++)
    h = (h ^ key[k]) * (rdl_u64)0x9E3779B97F4A7C15ul;
  return (rdl_u32)(h >> 40);
}

RDL_FN rdl_u32 same_key(RDL_GLOBAL const rdl_u64 *a, const rdl_u64 *b, rdl_u32 words) {
  rdl_u32 k;
  for (k = 0; k < words; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

/* The code of a key, a new one if it was not there. An empty text is null. */
RDL_FN rdl_u16 code_of(struct lookup *l, const rdl_u64 *key, rdl_u32 words) {
  rdl_u32 at = hash_of(key, words) & l->mask, code, k;
  if (!key[0]) return NO_CODE;
  for (; l->slots[at]; at = (at + 1u) & l->mask) {
    code = l->slots[at] - 1u;
    if (same_key(l->keys + code * words, key, words)) return (rdl_u16)code;
  }
  if (l->count == l->capacity) {
    l->full = 1;
    return NO_CODE;
  }
  code = l->count++;
  for (k = 0; k < words; k++)
    l->keys[code * words + k] = key[k];
  l->slots[at] = (rdl_u16)(code + 1u);
  return (rdl_u16)code;
}

/* ---- reading text ---- */

/* Every line of a chunk ends with a newline, which is stepped over only when its row has been read:
 * what cannot be read never leads out of the text. */
struct parser {
  RDL_GLOBAL const rdl_u8 *text;
  RDL_GLOBAL const rdl_u8 *at;
  RDL_GLOBAL const rdl_u8 *end;
  RDL_GLOBAL const rdl_u8 *bad; /* where reading failed */
};

RDL_FN void parser_open(struct parser *p, RDL_GLOBAL const struct block *block) {
  p->text = RDL_AT(const rdl_u8, block->text);
  p->at = p->text;
  p->end = p->text + block->bytes;
  p->bad = 0;
}

RDL_FN void expect(struct parser *p, rdl_u32 holds) {
  if (!holds && !p->bad) p->bad = p->at;
}

RDL_FN void step_over(struct parser *p, rdl_u8 mark) {
  if (*p->at == mark)
    p->at++;
  else
    expect(p, 0);
}

/* Digits as they come; a number has at most five, and none at all is told apart by the caller. */
RDL_FN rdl_u32 digits(struct parser *p) {
  RDL_GLOBAL const rdl_u8 *from = p->at;
  rdl_u32 value = 0, digit = *p->at - 48u;
  for (; digit <= 9u; digit = *p->at - 48u) {
    value = value * 10u + digit;
    p->at++;
  }
  expect(p, p->at - from <= 5 && value <= 32767u);
  return value;
}

RDL_FN rdl_i16 number(struct parser *p) {
  RDL_GLOBAL const rdl_u8 *from = p->at;
  rdl_u32 minus = *from == '-', value;
  if (*from == ',' || *from == '\n') return NO_NUMBER;
  p->at += minus;
  value = digits(p);
  expect(p, p->at != from + minus);
  return (rdl_i16)(minus ? -(rdl_i32)value : (rdl_i32)value);
}

/* A number and the comma behind it; it must be there and lie within the bounds. */
RDL_FN rdl_i16 number_within(struct parser *p, rdl_i32 low, rdl_i32 high) {
  rdl_i16 value = number(p);
  expect(p, value >= low && value <= high);
  step_over(p, ',');
  return value;
}

RDL_FN rdl_i16 number_or_null(struct parser *p) {
  rdl_i16 value = number(p);
  step_over(p, ',');
  return value;
}

/* 12.34 as 1234. */
RDL_FN rdl_i16 hundredths(struct parser *p) {
  RDL_GLOBAL const rdl_u8 *from = p->at;
  rdl_u32 value;
  if (*from == ',') return NO_NUMBER;
  value = 100u * digits(p);
  expect(p, p->at != from);
  step_over(p, '.');
  from = p->at;
  value += digits(p);
  expect(p, p->at == from + 2 && value <= 32767u);
  return (rdl_i16)value;
}

/* Text up to the next comma or newline, as the key of a dictionary. */
RDL_FN void text(struct parser *p, rdl_u64 *key, rdl_u32 words) {
  rdl_u32 room = 8u * words, n = 0, k;
  rdl_u8 c = *p->at;
  for (k = 0; k < words; k++)
    key[k] = 0;
  for (; c != ',' && c != '\n' && n < room; c = *++p->at) {
    key[n / 8u] = key[n / 8u] << 8 | c;
    n++;
  }
  expect(p, c == ',' || c == '\n');
  if (n % 8u) key[n / 8u] <<= 8u * (8u - n % 8u);
}

RDL_FN rdl_u16 code_or_null(struct parser *p, struct lookup *l) {
  rdl_u64 key[1];
  text(p, key, 1);
  return code_of(l, key, 1);
}

/* The code of a text that must be there. */
RDL_FN rdl_u16 code(struct parser *p, struct lookup *l) {
  rdl_u64 key[1];
  text(p, key, 1);
  expect(p, key[0] != 0);
  return code_of(l, key, 1);
}

/* A text of up to 32 characters at the end of its line. */
RDL_FN rdl_u16 code_of_name(struct parser *p, struct lookup *l) {
  rdl_u64 key[MAX_WORDS];
  text(p, key, MAX_WORDS);
  expect(p, key[0] != 0);
  return code_of(l, key, MAX_WORDS);
}

/* ---- one chunk ---- */

struct parse_args {
  rdl_ptr world;
  rdl_u32 block;
  rdl_u32 pad;
};

/* What parsing one chunk works on. */
struct job {
  RDL_GLOBAL struct world *world;
  RDL_GLOBAL struct block *block;
  RDL_GLOBAL struct chunk *chunk;
  struct parser parser;
  rdl_u32 row;
  rdl_u32 last; /* first row that is not the chunk's */
  rdl_u32 failure;
  rdl_i32 low[MEASURES];
  rdl_i32 high[MEASURES];
};

RDL_FN void job_open(struct job *job, const struct parse_args *args) {
  rdl_u32 k;
  job->world = WORLD(args->world);
  job->block = BLOCK(job->world, args->block);
  job->chunk = CHUNKS(job->world, job->block->table) + job->block->chunk;
  job->chunk->block = args->block;
  job->row = job->block->chunk * CHUNK_ROWS;
  job->last = job->row + CHUNK_ROWS;
  job->failure = 0;
  for (k = 0; k < MEASURES; k++) {
    job->low[k] = 32767;
    job->high[k] = NO_NUMBER;
  }
  parser_open(&job->parser, job->block);
}

RDL_FN rdl_u32 job_goes_on(const struct job *job) {
  return job->parser.at < job->parser.end && job->row < job->last && !job->parser.bad;
}

RDL_FN void measure(struct job *job, rdl_u32 which, rdl_i32 value) {
  if (value == NO_NUMBER) return;
  if (value < job->low[which]) job->low[which] = value;
  if (value > job->high[which]) job->high[which] = value;
}

/* Columns are counted only when something is wrong with one. */
RDL_FN void note_bad_field(struct job *job) {
  RDL_GLOBAL const rdl_u8 *at = job->parser.bad;
  rdl_u32 k;
  job->chunk->bad_column = 1;
  for (; at > job->parser.text && at[-1] != '\n'; at--)
    if (at[-1] == ',') job->chunk->bad_column++;
  for (k = 0; k < BAD_LINE - 1u && at[k] != '\n'; k++)
    job->chunk->bad_line[k] = at[k];
  job->chunk->bad_line[k] = 0;
}

RDL_FN void job_close(struct job *job) {
  rdl_u32 k;
  if (job->parser.bad) {
    job->failure = BAD_FIELD;
    note_bad_field(job);
  } else if (job->parser.at < job->parser.end && !job->failure) {
    job->failure = TOO_MANY_ROWS;
  }
  job->chunk->rows = job->row - job->block->chunk * CHUNK_ROWS;
  for (k = 0; k < MEASURES; k++) {
    job->chunk->low[k] = job->low[k];
    job->chunk->high[k] = job->high[k];
  }
}

RDL_FN void lookup_close(struct job *job, const struct lookup *l, rdl_u32 dictionary) {
  job->block->dictionary[dictionary].count = l->count;
  if (l->full) job->failure = TOO_MANY_VALUES;
}

struct flight_texts {
  struct lookup carrier;
  struct lookup tailnum;
  struct lookup origin;
  struct lookup dest;
};

RDL_FN void parse_flight(struct job *job, struct flight_texts *t) {
  struct parser *p = &job->parser;
  rdl_u32 row = job->row;
  rdl_i16 month = number_within(p, 1, 12);
  rdl_i16 day = number_within(p, 1, 31);
  rdl_i16 value = number_within(p, 0, 2359);
  CODES(job->world, FLIGHTS, F_DATE)[row] = (rdl_u16)(32 * month + day);
  NUMBERS(job->world, FLIGHTS, F_SCHED)[row] = value;
  value = number_or_null(p);
  NUMBERS(job->world, FLIGHTS, F_DEP)[row] = value;
  measure(job, DEP, value);
  value = number_or_null(p);
  NUMBERS(job->world, FLIGHTS, F_ARR)[row] = value;
  measure(job, ARR, value);
  CODES(job->world, FLIGHTS, F_CARRIER)[row] = code(p, &t->carrier);
  step_over(p, ',');
  value = number_within(p, 0, 32767);
  NUMBERS(job->world, FLIGHTS, F_NUMBER)[row] = value;
  measure(job, NUMBER, value);
  CODES(job->world, FLIGHTS, F_TAILNUM)[row] = code_or_null(p, &t->tailnum);
  step_over(p, ',');
  CODES(job->world, FLIGHTS, F_ORIGIN)[row] = code(p, &t->origin);
  step_over(p, ',');
  CODES(job->world, FLIGHTS, F_DEST)[row] = code(p, &t->dest);
  step_over(p, ',');
  value = number_or_null(p);
  NUMBERS(job->world, FLIGHTS, F_AIR)[row] = value;
  measure(job, AIR, value);
  value = number(p);
  expect(p, value >= 0);
  NUMBERS(job->world, FLIGHTS, F_DISTANCE)[row] = value;
}

RDL_FN void parse_flights_chunk(struct job *job) {
  RDL_GLOBAL struct dictionary *d = job->block->dictionary;
  struct flight_texts t;
  lookup_open(&t.carrier, d + CARRIER);
  lookup_open(&t.tailnum, d + TAILNUM);
  lookup_open(&t.origin, d + ORIGIN);
  lookup_open(&t.dest, d + DEST);
  for (; job_goes_on(job); job->row++) {
    parse_flight(job, &t);
    step_over(&job->parser, '\n');
  }
  lookup_close(job, &t.carrier, CARRIER);
  lookup_close(job, &t.tailnum, TAILNUM);
  lookup_close(job, &t.origin, ORIGIN);
  lookup_close(job, &t.dest, DEST);
}

RDL_FN void parse_airlines_chunk(struct job *job) {
  struct lookup carrier, name;
  lookup_open(&carrier, job->block->dictionary + CARRIER);
  lookup_open(&name, job->block->dictionary + NAME);
  for (; job_goes_on(job); job->row++) {
    CODES(job->world, AIRLINES, A_CARRIER)[job->row] = code(&job->parser, &carrier);
    step_over(&job->parser, ',');
    CODES(job->world, AIRLINES, A_NAME)[job->row] = code_of_name(&job->parser, &name);
    step_over(&job->parser, '\n');
  }
  lookup_close(job, &carrier, CARRIER);
  lookup_close(job, &name, NAME);
}

RDL_FN void parse_planes_chunk(struct job *job) {
  struct parser *p = &job->parser;
  struct lookup tailnum, maker;
  lookup_open(&tailnum, job->block->dictionary + TAILNUM);
  lookup_open(&maker, job->block->dictionary + MAKER);
  for (; job_goes_on(job); job->row++) {
    rdl_i16 year;
    CODES(job->world, PLANES, P_TAILNUM)[job->row] = code(p, &tailnum);
    step_over(p, ',');
    year = number_or_null(p);
    expect(p, year == NO_NUMBER || (year >= FIRST_YEAR && year <= THIS_YEAR));
    NUMBERS(job->world, PLANES, P_YEAR)[job->row] = year;
    CODES(job->world, PLANES, P_MAKER)[job->row] = code_of_name(p, &maker);
    step_over(p, '\n');
  }
  lookup_close(job, &tailnum, TAILNUM);
  lookup_close(job, &maker, MAKER);
}

RDL_FN void parse_weather_chunk(struct job *job) {
  struct parser *p = &job->parser;
  struct lookup origin;
  lookup_open(&origin, job->block->dictionary + ORIGIN);
  for (; job_goes_on(job); job->row++) {
    rdl_i16 month, day;
    CODES(job->world, WEATHER, W_ORIGIN)[job->row] = code(p, &origin);
    step_over(p, ',');
    month = number_within(p, 1, 12);
    day = number_within(p, 1, 31);
    CODES(job->world, WEATHER, W_DATE)[job->row] = (rdl_u16)(32 * month + day);
    NUMBERS(job->world, WEATHER, W_HOUR)[job->row] = number_within(p, 0, HOURS - 1u);
    NUMBERS(job->world, WEATHER, W_VISIB)[job->row] = hundredths(p);
    step_over(p, ',');
    NUMBERS(job->world, WEATHER, W_WIND)[job->row] = number(p);
    step_over(p, '\n');
  }
  lookup_close(job, &origin, ORIGIN);
}

/* The block is given back also when its chunk failed: the host never waits for it in vain. */
RDL_TASK(parse_flights, rdl_u32, struct parse_args, RDL_NONE) {
  struct job job;
  RDL_BEGIN();
  job_open(&job, args);
  parse_flights_chunk(&job);
  job_close(&job);
  RDL_SIGNAL(job.block->free, 1u);
  if (job.failure) RDL_FAIL(job.failure);
  RDL_RETURN(job.chunk->rows);
  RDL_END();
}

RDL_TASK(parse_small_table, rdl_u32, struct parse_args, RDL_NONE) {
  struct job job;
  RDL_BEGIN();
  job_open(&job, args);
  if (job.block->table == AIRLINES) parse_airlines_chunk(&job);
  if (job.block->table == PLANES) parse_planes_chunk(&job);
  if (job.block->table == WEATHER) parse_weather_chunk(&job);
  job_close(&job);
  RDL_SIGNAL(job.block->free, 1u);
  if (job.failure) RDL_FAIL(job.failure);
  RDL_RETURN(job.chunk->rows);
  RDL_END();
}

/* ---- all chunks ---- */

struct stream_args {
  rdl_ptr world;
  rdl_u32 reader;
  rdl_u32 pad;
};

struct stream_state {
  rdl_u32 next; /* blocks taken so far */
  rdl_future chunk;
};

RDL_FN rdl_u32 stream_block(const struct stream_args *args, rdl_u32 next) {
  RDL_GLOBAL const struct reader *r = WORLD(args->world)->reader + args->reader;
  return r->first_block + next % r->blocks;
}

/* Follows one thread of the host: whenever that has filled a block, a task parses it. */
RDL_TASK(stream, rdl_u32, struct stream_args, struct stream_state) {
  rdl_u32 block, table;
  RDL_BEGIN();
  for (;;) {
    RDL_AWAIT_COUNT(WORLD(args->world)->reader[args->reader].full, self->next + 1u);
    block = stream_block(args, self->next);
    table = BLOCK(WORLD(args->world), block)->table;
    if (table >= TABLES) break;
    if (table == FLIGHTS)
      RDL_SPAWN(self->chunk, parse_flights, args->world, block, 0u);
    else
      RDL_SPAWN(self->chunk, parse_small_table, args->world, block, 0u);
    self->next++;
  }
  RDL_AWAIT_CHILDREN();
  block = stream_block(args, self->next);
  if (BLOCK(WORLD(args->world), block)->table == STREAM_BROKEN) RDL_FAIL(READER_STOPPED);
  RDL_RETURN(self->next);
  RDL_END();
}

struct world_args {
  rdl_ptr world;
};

struct read_state {
  rdl_u32 k;
  rdl_future stream;
};

/* Gives the count of chunks. */
RDL_TASK(read_tables, rdl_u32, struct world_args, struct read_state) {
  rdl_u32 t, chunks = 0;
  RDL_BEGIN();
  RDL_SPAWNS(4);
  if (WORLD(args->world)->size != WORLD_SIZE) RDL_FAIL(OTHER_LAYOUT);
  for (self->k = 0; self->k < WORLD(args->world)->readers; self->k++)
    RDL_SPAWN(self->stream, stream, args->world, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  for (t = 0; t < TABLES; t++)
    chunks += WORLD(args->world)->table[t].count;
  RDL_RETURN(chunks);
  RDL_END();
}

/* ---- merging dictionaries ---- */

struct merge_args {
  rdl_ptr world;
  rdl_u32 dictionary;
  rdl_u32 pad;
};

/* All keys of all blocks, in the order in which they turn up. */
RDL_FN rdl_u32 merge_keys(RDL_GLOBAL struct world *w, rdl_u32 which, struct lookup *all) {
  rdl_u32 words = w->dictionary[which].words, b, c, k;
  rdl_u64 key[MAX_WORDS];
  for (b = 0; b < w->blocks; b++) {
    RDL_GLOBAL const struct dictionary *d = BLOCK(w, b)->dictionary + which;
    for (c = 0; c < d->count; c++) {
      for (k = 0; k < words; k++)
        key[k] = RDL_AT(const rdl_u64, d->keys)[c * words + k];
      RDL_AT(rdl_u16, d->map)[c] = code_of(all, key, words);
    }
  }
  return all->full;
}

RDL_FN rdl_u32 key_before(const struct lookup *l, rdl_u32 words, rdl_u32 a, rdl_u32 b) {
  rdl_u32 k;
  for (k = 0; k < words; k++)
    if (l->keys[a * words + k] != l->keys[b * words + k])
      return l->keys[a * words + k] < l->keys[b * words + k];
  return 0;
}

RDL_FN void sink(RDL_GLOBAL rdl_u16 *order, rdl_u32 at, rdl_u32 n, const struct lookup *l,
                 rdl_u32 words) {
  rdl_u16 moved = order[at];
  rdl_u32 child;
  for (; (child = 2u * at + 1u) < n; at = child) {
    if (child + 1u < n && key_before(l, words, order[child], order[child + 1u])) child++;
    if (!key_before(l, words, moved, order[child])) break;
    order[at] = order[child];
  }
  order[at] = moved;
}

/* Heap sort: order[r] becomes the code whose key has rank r. */
RDL_FN void sort_codes(RDL_GLOBAL rdl_u16 *order, const struct lookup *l, rdl_u32 words) {
  rdl_u32 k, n = l->count;
  for (k = 0; k < n; k++)
    order[k] = (rdl_u16)k;
  for (k = n / 2u; k > 0; k--)
    sink(order, k - 1u, n, l, words);
  for (k = n; k > 1u; k--) {
    rdl_u16 largest = order[0];
    order[0] = order[k - 1u];
    order[k - 1u] = largest;
    sink(order, 0, k - 1u, l, words);
  }
}

/* Renames every code to its rank, so that codes compare as texts do. The merged dictionary's slots
 * are not needed any more and hold the ranks; its keys have room for a second, sorted copy. */
RDL_FN void rank_codes(RDL_GLOBAL struct world *w, rdl_u32 which, const struct lookup *all) {
  RDL_GLOBAL struct dictionary *merged = w->dictionary + which;
  RDL_GLOBAL const rdl_u16 *order = RDL_AT(const rdl_u16, merged->map);
  RDL_GLOBAL rdl_u64 *sorted = all->keys + merged->capacity * merged->words;
  rdl_u32 words = merged->words, b, c, k;
  for (c = 0; c < all->count; c++) {
    all->slots[order[c]] = (rdl_u16)c;
    for (k = 0; k < words; k++)
      sorted[c * words + k] = all->keys[order[c] * words + k];
  }
  for (k = 0; k < all->count * words; k++)
    all->keys[k] = sorted[k];
  for (b = 0; b < w->blocks; b++) {
    RDL_GLOBAL const struct dictionary *d = BLOCK(w, b)->dictionary + which;
    RDL_GLOBAL rdl_u16 *map = RDL_AT(rdl_u16, d->map);
    for (c = 0; c < d->count; c++)
      map[c] = all->slots[map[c]];
  }
  merged->count = all->count;
}

RDL_TASK(merge, rdl_u32, struct merge_args, RDL_NONE) {
  RDL_GLOBAL struct world *w = WORLD(args->world);
  struct lookup all;
  RDL_BEGIN();
  lookup_open(&all, w->dictionary + args->dictionary);
  if (merge_keys(w, args->dictionary, &all)) RDL_FAIL(TOO_MANY_VALUES);
  sort_codes(RDL_AT(rdl_u16, w->dictionary[args->dictionary].map), &all,
             w->dictionary[args->dictionary].words);
  rank_codes(w, args->dictionary, &all);
  RDL_RETURN(all.count);
  RDL_END();
}

struct remap_args {
  rdl_ptr world;
  rdl_u32 table;
  rdl_u32 from; /* chunks */
  rdl_u32 to;
  rdl_u32 pad;
};

RDL_FN void remap_column(RDL_GLOBAL struct world *w, rdl_u32 table, rdl_u32 chunk, rdl_u32 column,
                         rdl_u32 dictionary) {
  RDL_GLOBAL const struct chunk *c = CHUNKS(w, table) + chunk;
  RDL_GLOBAL rdl_u16 *codes = CODES(w, table, column) + chunk * CHUNK_ROWS;
  RDL_GLOBAL const rdl_u16 *map =
      RDL_AT(const rdl_u16, BLOCK(w, c->block)->dictionary[dictionary].map);
  rdl_u32 k;
  for (k = 0; k < c->rows; k++)
    if (codes[k] != NO_CODE) codes[k] = map[codes[k]];
}

RDL_FN void remap_chunk(RDL_GLOBAL struct world *w, rdl_u32 table, rdl_u32 chunk) {
  if (table == FLIGHTS) {
    remap_column(w, table, chunk, F_CARRIER, CARRIER);
    remap_column(w, table, chunk, F_TAILNUM, TAILNUM);
    remap_column(w, table, chunk, F_ORIGIN, ORIGIN);
    remap_column(w, table, chunk, F_DEST, DEST);
  } else if (table == AIRLINES) {
    remap_column(w, table, chunk, A_CARRIER, CARRIER);
    remap_column(w, table, chunk, A_NAME, NAME);
  } else if (table == PLANES) {
    remap_column(w, table, chunk, P_TAILNUM, TAILNUM);
    remap_column(w, table, chunk, P_MAKER, MAKER);
  } else {
    remap_column(w, table, chunk, W_ORIGIN, ORIGIN);
  }
}

RDL_TASK(remap, RDL_NONE, struct remap_args, RDL_NONE) {
  rdl_u32 chunk;
  RDL_BEGIN();
  for (chunk = args->from; chunk < args->to; chunk++)
    remap_chunk(WORLD(args->world), args->table, chunk);
  RDL_END();
}

/* ---- indexes for the joins ---- */

RDL_TASK(index_airlines, RDL_NONE, struct world_args, RDL_NONE) {
  RDL_GLOBAL struct world *w = WORLD(args->world);
  RDL_BEGIN();
  EACH_ROW(w, AIRLINES, row) {
    RDL_AT(rdl_u32, w->airline_of)[CODES(w, AIRLINES, A_CARRIER)[row]] = row + 1u;
  }
  RDL_END();
}

RDL_TASK(index_planes, RDL_NONE, struct world_args, RDL_NONE) {
  RDL_GLOBAL struct world *w = WORLD(args->world);
  RDL_BEGIN();
  EACH_ROW(w, PLANES, row) {
    RDL_AT(rdl_u32, w->plane_of)[CODES(w, PLANES, P_TAILNUM)[row]] = row + 1u;
  }
  RDL_END();
}

RDL_FN rdl_u32 weather_slot(rdl_u32 origin, rdl_u32 date, rdl_u32 hour) {
  return (origin * DATES + date) * HOURS + hour;
}

RDL_TASK(index_weather, RDL_NONE, struct world_args, RDL_NONE) {
  RDL_GLOBAL struct world *w = WORLD(args->world);
  RDL_GLOBAL rdl_u32 *row_of = RDL_AT(rdl_u32, w->weather_of);
  rdl_u32 hour;
  RDL_BEGIN();
  EACH_ROW(w, WEATHER, row) {
    hour = (rdl_u32)NUMBERS(w, WEATHER, W_HOUR)[row];
    row_of[weather_slot(CODES(w, WEATHER, W_ORIGIN)[row], CODES(w, WEATHER, W_DATE)[row], hour)] =
        row + 1u;
  }
  RDL_END();
}

/* ---- loading ---- */

struct load_args {
  rdl_ptr world;
  rdl_future text; /* read_tables */
};

struct load_state {
  rdl_u32 k;
  rdl_u32 from;
  rdl_future child;
};

RDL_FN rdl_u32 remap_step(RDL_GLOBAL const struct world *w, rdl_u32 table) {
  return w->table[table].count / 16u + 1u;
}

/* Counts the rows, and finds the bounds of what the queries count in histograms. */
RDL_FN rdl_u32 sum_up(RDL_GLOBAL struct world *w) {
  RDL_GLOBAL const struct chunk *chunk = CHUNKS(w, FLIGHTS);
  rdl_u32 c, k, rows = 0;
  for (k = 0; k < MEASURES; k++) {
    w->low[k] = 32767;
    w->high[k] = NO_NUMBER;
  }
  for (c = 0; c < w->table[FLIGHTS].count; c++) {
    rows += chunk[c].rows;
    for (k = 0; k < MEASURES; k++) {
      if (chunk[c].low[k] < w->low[k]) w->low[k] = chunk[c].low[k];
      if (chunk[c].high[k] > w->high[k]) w->high[k] = chunk[c].high[k];
    }
  }
  return rows;
}

/* Gives the rows of flights. */
RDL_TASK(load, rdl_u32, struct load_args, struct load_state) {
  RDL_GLOBAL struct world *w = WORLD(args->world);
  rdl_u32 to;
  RDL_BEGIN();
  RDL_SPAWNS(64);
  RDL_AWAIT(args->text);
  for (self->k = 0; self->k < DICTIONARIES; self->k++)
    RDL_SPAWN(self->child, merge, args->world, self->k, 0u);
  RDL_AWAIT_CHILDREN();
  for (self->k = 0; self->k < TABLES; self->k++) {
    for (self->from = 0; self->from < w->table[self->k].count; self->from = to) {
      to = self->from + remap_step(w, self->k);
      if (to > w->table[self->k].count) to = w->table[self->k].count;
      RDL_SPAWN(self->child, remap, args->world, self->k, self->from, to, 0u);
    }
  }
  RDL_AWAIT_CHILDREN();
  RDL_SPAWN(self->child, index_airlines, args->world);
  RDL_SPAWN(self->child, index_planes, args->world);
  RDL_SPAWN(self->child, index_weather, args->world);
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(sum_up(w));
  RDL_END();
}
