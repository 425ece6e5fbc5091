/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the example share. The first part mirrors the structures of flights.task.c and
 * queries.task.c: task files are compiled for the device and include nothing, so host programs
 * state such structures again, with the fixed-width members that both sides lay out alike.
 * read_tables compares the sizes.
 */
#ifndef FLIGHTS_H
#define FLIGHTS_H

#include <pthread.h>
#include <raddle/raddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/example.h"

/* ---- as in the task files ---- */

#define CHUNK_BYTES 262144u /* text of a chunk, at most */
#define CHUNK_ROWS  16384u
#define MAX_READERS 4u
#define BAD_LINE    64u
#define DATES       416u
#define HOURS       24u
#define NO_VALUE    INT64_MIN

enum { BAD_FIELD = 1, TOO_MANY_ROWS, TOO_MANY_VALUES, NO_ROOM, OTHER_LAYOUT, READER_STOPPED };
enum { FLIGHTS, AIRLINES, PLANES, WEATHER, TABLES, STREAM_ENDS, STREAM_BROKEN };
enum { CARRIER, TAILNUM, ORIGIN, DEST, NAME, MAKER, DICTIONARIES };
enum { MEASURES = 4, COLUMNS = 11, PICKS = 5, ROUTES = 10 };

struct dictionary {
  uint32_t count;
  uint32_t capacity;
  uint32_t slot_count;
  uint32_t words;
  rdl_ptr keys;
  rdl_ptr slots;
  rdl_ptr map;
};

struct block {
  uint32_t table;
  uint32_t chunk;
  uint32_t bytes;
  uint32_t pad;
  rdl_ptr text;
  rdl_event free;
  struct dictionary dictionary[DICTIONARIES];
};

struct chunk {
  uint32_t rows;
  uint32_t block;
  uint32_t bad_column;
  uint32_t pad;
  int32_t low[MEASURES];
  int32_t high[MEASURES];
  unsigned char bad_line[BAD_LINE];
};

struct table {
  rdl_ptr chunks;
  uint32_t count;
  uint32_t capacity;
  rdl_ptr column[COLUMNS];
};

struct reader {
  rdl_event full;
  uint32_t first_block;
  uint32_t blocks;
};

struct world {
  uint32_t size;
  uint32_t readers;
  uint32_t blocks;
  uint32_t pad;
  struct table table[TABLES];
  struct dictionary dictionary[DICTIONARIES];
  struct reader reader[MAX_READERS];
  rdl_ptr block;
  rdl_ptr airline_of;
  rdl_ptr plane_of;
  rdl_ptr weather_of;
  int32_t low[MEASURES];
  int32_t high[MEASURES];
};

#define WORLD_SIZE (sizeof(struct world) + sizeof(struct block) + sizeof(struct chunk))

struct answer {
  uint32_t rows;
  uint32_t cells;
  uint32_t capacity;
  uint32_t pad;
  rdl_ptr cell;
};

struct plan {
  rdl_ptr world;
  rdl_ptr work;
  uint64_t work_bytes;
  uint64_t stride;
  uint32_t groups;
  uint32_t counts;
  uint32_t words;
  uint32_t parts;
  uint32_t level;
  uint32_t pick[PICKS];
  uint32_t routes;
  uint32_t route[ROUTES];
  uint32_t pad;
  struct answer answer;
};

struct world_args {
  rdl_ptr world;
};

struct load_args {
  rdl_ptr world;
  rdl_future text;
};

struct query_args {
  rdl_future load;
  rdl_ptr plan;
};

/* ---- the program ---- */

#define QUERIES 14
#define BLOCKS  8u /* that each reader fills in turn */
#define LONGEST_LINE                                                                               \
  1024u /* so a chunk but the last of a file has CHUNK_BYTES less this, or more */
#define WORK_BYTES   (8u << 20)
#define ANSWER_CELLS 4096u

struct options {
  example_place place;
  const char *data;
  char own_data[4096]; /* the folder beside the program */
  const char *tsv;     /* NULL = no files */
  unsigned scale;
  unsigned readers;
};

/* Memory of the device, as the tasks and as the host see it: memory.c. */
struct memory {
  rdl_buffer *buffer;
  rdl_ptr address;
  void *data; /* NULL = the host does not look */
  char *copy; /* NULL = host and device share it */
};

/* One thread that inflates files into its own blocks. */
struct reading {
  struct flights *flights;
  unsigned index;
  pthread_t thread;
  bool started;
  uint32_t filled;        /* blocks so far */
  double inflate_seconds; /* of the processor */
  uint64_t text_bytes;
  char error[256]; /* empty = all well */
};

struct flights {
  struct options options;
  rdl_context *context;
  rdl_module *loading;
  rdl_module *queries;
  struct memory world;
  struct memory block;
  struct memory chunk[TABLES];
  struct memory text;              /* of all blocks, CHUNK_BYTES each */
  struct memory key[DICTIONARIES]; /* of the merged dictionaries */
  struct memory plan;
  struct memory cell;

  pthread_mutex_t lock; /* guards the rest of this group, which the readers change */
  uint32_t next_file;
  uint32_t chunks[TABLES];
  uint32_t readers_left;
  uint64_t bytes_read;

  uint64_t file_bytes; /* of all files together, copies included */
  struct reading reading[MAX_READERS];
  rdl_future read_tables;
  rdl_future load;
  rdl_future query[QUERIES];
  double started, read_done, loaded, answered, written; /* seconds of the clock */
  double startup_seconds;
};

/* options.c: false when the program shall end, with `*out_code` as its exit code. */
bool options_read(int argc, char **argv, struct options *options, int *out_code);

/* memory.c. The first two are false after a message. */
bool memory_new(struct flights *f, size_t bytes, struct memory *out);
bool memory_new_seen(struct flights *f, size_t bytes, struct memory *out); /* by the host, too */
/* What the host has written at `from`, inside `data`, before a task looks at it. Where memory is
 * not shared this waits until no task runs. */
rdl_status memory_send(const struct memory *m, const void *from, size_t bytes);
/* All that tasks have written, before the host looks at it. */
rdl_status memory_fetch(const struct memory *m);

/* world.c: the memory of all tables, dictionaries, blocks and plans. False after a message. */
bool world_build(struct flights *f);
/* The host's copies. The context frees the device's memory when it is closed. */
void world_free(struct flights *f);
/* Lets the host see what the queries have written. False after a message. */
bool world_fetch(const struct flights *f);
/* Text of a code. `room` is at least 33. */
void world_text(const struct flights *f, unsigned dictionary, int64_t code, char *text);
/* Where and why a chunk could not be parsed, if one could not. */
void world_explain(const struct flights *f);

/* files.c: the files that are read, in order. */
struct file {
  unsigned table;
  const char *name;
  const char *header;
};
const struct file *file_at(const struct flights *f, uint32_t number); /* NULL behind the last */
const struct file *file_of(unsigned table);
bool file_path(const struct flights *f, const struct file *file, char *path, size_t room);
/* Bytes of the file and of its text, as the end of a gzip file tells. */
bool file_sizes(const struct flights *f, const struct file *file, uint64_t *out_bytes,
                uint64_t *out_text);

/* reader.c: starts the threads; ends them and tells of their errors (false). */
bool readers_start(struct flights *f);
bool readers_join(struct flights *f);

/* answers.c: the tables as text. */
const char *query_name(unsigned number);
bool answers_write(const struct flights *f, const char *folder);
bool answers_print(const struct flights *f);

/* report.c */
void progress_compiling(bool done);
void progress_show(struct flights *f, bool done);
bool summary_print(const struct flights *f, uint32_t rows);
/* Prints what Raddle says about a failed call. */
void complain(const char *what);

#endif
