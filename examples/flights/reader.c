/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that inflate the files. Each has a ring of blocks in device memory: it inflates into a
 * block, cuts the text behind its last whole line, sends it if the device does not share it, and
 * signals the event that its task `stream` awaits; the task that parses the block signals the
 * block's own event when it is done with it. So the device parses one part of a file while the host
 * inflates the next.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "flights.h"

#define INPUT_BYTES 65536u

/* One file on its way through the blocks. */
struct inflating {
  struct reading *reading;
  const struct file *file;
  FILE *stream;
  z_stream z;
  bool first;     /* no chunk of the file was sent yet: it begins with the header */
  bool ended;     /* all text is out */
  uint32_t block; /* that is being filled */
  uint32_t used;  /* bytes in it */
  unsigned char input[INPUT_BYTES];
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reading *r, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(r->error, sizeof r->error, format, values);
  va_end(values);
  return false;
}

/* ---- blocks ---- */

static struct block *block_at(const struct flights *f, uint32_t number) {
  return (struct block *)f->block.data + number;
}

static unsigned char *text_at(const struct flights *f, uint32_t block) {
  return (unsigned char *)f->text.data + (size_t)block * CHUNK_BYTES;
}

/* The next block of the ring, as soon as its last text has been parsed. */
static bool take_block(struct reading *r, uint32_t *out_block) {
  struct flights *f = r->flights;
  uint32_t block = r->index * BLOCKS + r->filled % BLOCKS;
  uint32_t times = r->filled / BLOCKS;
  if (times && rdl_event_wait_count(f->context, block_at(f, block)->free, times, RDL_FOREVER))
    return fail(r, "waiting for a block: %s", rdl_error_text());
  *out_block = block;
  return true;
}

/* Hands a block to the device. */
static bool send_block(struct reading *r, uint32_t block, uint32_t table, uint32_t from,
                       uint32_t bytes) {
  struct flights *f = r->flights;
  struct world *world = f->world.data;
  struct block *b = block_at(f, block);
  uint32_t chunk = 0;
  bool room = true;
  if (table < TABLES) {
    pthread_mutex_lock(&f->lock);
    room = f->chunks[table] < world->table[table].capacity;
    if (room) chunk = f->chunks[table]++;
    pthread_mutex_unlock(&f->lock);
  }
  if (!room) return fail(r, "%s holds more text than its last bytes say", file_of(table)->name);
  b->table = table;
  b->chunk = chunk;
  b->bytes = bytes;
  b->text = f->text.address + (uint64_t)block * CHUNK_BYTES + from;
  if (memory_send(&f->text, text_at(f, block) + from, bytes) ||
      memory_send(&f->block, b, offsetof(struct block, free)) ||
      rdl_event_signal(f->context, world->reader[r->index].full, 1))
    return fail(r, "handing over a block: %s", rdl_error_text());
  r->filled++;
  r->text_bytes += bytes;
  return true;
}

/* ---- one file ---- */

static bool refill(struct inflating *in) {
  struct flights *f = in->reading->flights;
  size_t got = fread(in->input, 1, INPUT_BYTES, in->stream);
  if (got == 0)
    return fail(in->reading, "%s: %s", in->file->name,
                ferror(in->stream) ? strerror(errno) : "the file is cut off");
  in->z.next_in = in->input;
  in->z.avail_in = (uInt)got;
  pthread_mutex_lock(&f->lock);
  f->bytes_read += got;
  pthread_mutex_unlock(&f->lock);
  return true;
}

/* Processor time of this thread: with more threads than cores, wall-clock time would count the
 * others'. */
static double own_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Inflates until the block is full or the text ends. */
static bool fill_block(struct inflating *in) {
  struct reading *r = in->reading;
  in->z.next_out = text_at(r->flights, in->block) + in->used;
  in->z.avail_out = CHUNK_BYTES - in->used;
  while (in->z.avail_out && !in->ended) {
    int code;
    double before;
    if (!in->z.avail_in && !refill(in)) return false;
    before = own_seconds();
    code = inflate(&in->z, Z_NO_FLUSH);
    r->inflate_seconds += own_seconds() - before;
    in->ended = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END)
      return fail(r, "%s: not a good gzip file (%s)", in->file->name,
                  in->z.msg ? in->z.msg : zError(code));
  }
  in->used = CHUNK_BYTES - in->z.avail_out;
  return true;
}

/* Length of the header line, which must be the one that the tasks are written for. */
static bool check_header(struct inflating *in, uint32_t *out_length) {
  size_t length = strlen(in->file->header);
  const unsigned char *text = text_at(in->reading->flights, in->block);
  if (in->used <= length || memcmp(text, in->file->header, length) != 0 || text[length] != '\n')
    return fail(in->reading, "%s: the first line is not '%s'", in->file->name, in->file->header);
  *out_length = (uint32_t)length + 1u;
  return true;
}

/* Bytes of the block up to its last line's end. A last line without an end is given one. */
static bool cut_block(struct inflating *in, uint32_t from, uint32_t *out_end) {
  unsigned char *text = text_at(in->reading->flights, in->block);
  uint32_t end = in->used;
  if (in->ended && end > from && end < CHUNK_BYTES && text[end - 1u] != '\n') {
    text[end] = '\n';
    in->used = ++end;
  }
  while (end > from && text[end - 1u] != '\n')
    end--;
  if (end < in->used && in->used - end > LONGEST_LINE)
    return fail(in->reading, "%s has a line of more than %u characters", in->file->name,
                LONGEST_LINE);
  *out_end = end;
  return true;
}

/* Sends the whole lines of the block, and begins the next block with the rest. */
static bool pass_on(struct inflating *in) {
  struct reading *r = in->reading;
  const unsigned char *text = text_at(r->flights, in->block);
  uint32_t from = 0, end = 0, next = 0, rest;
  if (in->first && !check_header(in, &from)) return false;
  if (!cut_block(in, from, &end)) return false;
  in->first = false;
  rest = in->used - end;
  in->used = rest;
  if (end == from) return true; /* a header and no lines */
  if (!send_block(r, in->block, in->file->table, from, end - from)) return false;
  if (in->ended && !rest) return true;
  if (!take_block(r, &next)) return false;
  memcpy(text_at(r->flights, next), text + end, rest);
  in->block = next;
  return true;
}

static bool inflate_file(struct inflating *in) {
  if (!take_block(in->reading, &in->block)) return false;
  while (!in->ended || in->used)
    if (!fill_block(in) || !pass_on(in)) return false;
  return true;
}

static bool read_file(struct reading *r, const struct file *file) {
  struct inflating in = {.reading = r, .file = file, .first = true};
  char path[4096];
  bool fine;
  if (!file_path(r->flights, file, path, sizeof path)) return fail(r, "no path");
  in.stream = fopen(path, "rb");
  if (!in.stream) return fail(r, "%s: %s", path, strerror(errno));
  if (inflateInit2(&in.z, 16 + MAX_WBITS) == Z_OK) {
    fine = inflate_file(&in);
    inflateEnd(&in.z);
  } else {
    fine = fail(r, "no memory to inflate with");
  }
  fclose(in.stream);
  return fine;
}

/* ---- threads ---- */

static const struct file *next_file(struct flights *f) {
  const struct file *file;
  pthread_mutex_lock(&f->lock);
  file = file_at(f, f->next_file++);
  pthread_mutex_unlock(&f->lock);
  return file;
}

/* The last reader tells the tasks how many chunks each table has. */
static bool leave(struct reading *r) {
  struct flights *f = r->flights;
  struct world *world = f->world.data;
  bool last;
  pthread_mutex_lock(&f->lock);
  last = --f->readers_left == 0;
  pthread_mutex_unlock(&f->lock);
  if (!last) return true;
  for (unsigned t = 0; t < TABLES; t++)
    world->table[t].count = f->chunks[t];
  if (memory_send(&f->world, world->table, sizeof world->table))
    return fail(r, "telling how much was read: %s", rdl_error_text());
  return true;
}

static void *run(void *argument) {
  struct reading *r = argument;
  const struct file *file;
  uint32_t block = 0;
  bool fine = true, told;
  while (fine && (file = next_file(r->flights)))
    fine = read_file(r, file);
  fine = leave(r) && fine;
  told = take_block(r, &block) && send_block(r, block, fine ? STREAM_ENDS : STREAM_BROKEN, 0, 0);
  if (!told) (void)rdl_future_cancel(r->flights->context, r->flights->read_tables);
  return NULL;
}

bool readers_start(struct flights *f) {
  f->readers_left = f->options.readers;
  for (unsigned k = 0; k < f->options.readers; k++) {
    struct reading *r = &f->reading[k];
    r->flights = f;
    r->index = k;
    r->started = pthread_create(&r->thread, NULL, run, r) == 0;
    if (!r->started) {
      fprintf(stderr, "flights: cannot start a thread\n");
      return false;
    }
  }
  return true;
}

bool readers_join(struct flights *f) {
  bool fine = true;
  for (unsigned k = 0; k < f->options.readers; k++) {
    struct reading *r = &f->reading[k];
    if (!r->started) continue;
    pthread_join(r->thread, NULL);
    r->started = false;
    if (!r->error[0]) continue;
    fprintf(stderr, "flights: %s\n", r->error);
    fine = false;
  }
  return fine;
}
