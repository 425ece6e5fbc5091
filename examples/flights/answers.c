/* SPDX-License-Identifier: Apache-2.0 */
/* The answers as text. Tasks give cells of integers; here stands what each column of each query
 * means, and how it is written (QUERIES.md). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flights.h"

/* How a column is written. MEAN takes two cells, the others one. CODE + d is a text of dictionary
 * d, LABEL a name from the query's list, LEVEL a name or number as the level of q14 says. */
enum { INTEGER, MEAN, DATE, LABEL, LEVEL, CODE };

struct column {
  const char *name;
  unsigned kind;
};

#define LABELS       6
#define MOST_COLUMNS 9

struct query {
  const char *name;
  const char *labels[LABELS];
  struct column column[MOST_COLUMNS + 1]; /* ends with a NULL name */
};

static const struct query queries[QUERIES] = {
    {"q01_filters",
     {"long_late", "early_jfk"},
     {{"filter", LABEL},
      {"flights", INTEGER},
      {"sum_dep_delay", INTEGER},
      {"sum_arr_delay", INTEGER},
      {"sum_air_time", INTEGER},
      {"sum_distance", INTEGER}}},
    {"q02_carrier_delay",
     {0},
     {{"carrier", CODE + CARRIER},
      {"flights", INTEGER},
      {"arrived", INTEGER},
      {"mean_arr_delay", MEAN},
      {"median_arr_delay", INTEGER},
      {"p90_arr_delay", INTEGER}}},
    {"q03_origin_month",
     {0},
     {{"origin", CODE + ORIGIN},
      {"month", INTEGER},
      {"flights", INTEGER},
      {"departed", INTEGER},
      {"mean_dep_delay", MEAN}}},
    {"q04_airline_names",
     {0},
     {{"name", CODE + NAME},
      {"flights", INTEGER},
      {"cancelled", INTEGER},
      {"cancelled_percent", MEAN},
      {"mean_dep_delay", MEAN},
      {"sum_distance", INTEGER}}},
    {"q05_manufacturers",
     {0},
     {{"manufacturer", CODE + MAKER},
      {"planes", INTEGER},
      {"flights", INTEGER},
      {"mean_arr_delay", MEAN},
      {"p90_arr_delay", INTEGER}}},
    {"q06_plane_age",
     {0},
     {{"age_from", INTEGER},
      {"age_to", INTEGER},
      {"flights", INTEGER},
      {"mean_dep_delay", MEAN},
      {"mean_arr_delay", MEAN}}},
    {"q07_worst_flights",
     {0},
     {{"date", DATE},
      {"sched_dep_time", INTEGER},
      {"carrier", CODE + CARRIER},
      {"flight", INTEGER},
      {"tailnum", CODE + TAILNUM},
      {"origin", CODE + ORIGIN},
      {"dest", CODE + DEST},
      {"dep_delay", INTEGER},
      {"arr_delay", INTEGER}}},
    {"q08_days",
     {0},
     {{"date", DATE}, {"flights", INTEGER}, {"cancelled", INTEGER}, {"mean_dep_delay", MEAN}}},
    {"q09_visibility",
     {"0-1", "1-3", "3-10", "10+", "none"},
     {{"miles", LABEL},
      {"flights", INTEGER},
      {"cancelled", INTEGER},
      {"cancelled_percent", MEAN},
      {"mean_dep_delay", MEAN},
      {"p90_dep_delay", INTEGER}}},
    {"q10_wind",
     {"0-4", "5-9", "10-14", "15-19", "20+", "none"},
     {{"origin", CODE + ORIGIN}, {"knots", LABEL}, {"flights", INTEGER}, {"mean_dep_delay", MEAN}}},
    {"q11_busiest_routes",
     {0},
     {{"origin", CODE + ORIGIN},
      {"dest", CODE + DEST},
      {"flights", INTEGER},
      {"median_air_time", INTEGER},
      {"p90_arr_delay", INTEGER},
      {"worst_date", DATE},
      {"worst_arrived", INTEGER},
      {"worst_sum_arr_delay", INTEGER},
      {"worst_mean_arr_delay", MEAN}}},
    {"q12_tail_numbers",
     {0},
     {{"tail_numbers", INTEGER},
      {"in_planes", INTEGER},
      {"flights_with", INTEGER},
      {"flights_without", INTEGER}}},
    {"q13_busiest_planes",
     {0},
     {{"tailnum", CODE + TAILNUM},
      {"manufacturer", CODE + MAKER},
      {"year", INTEGER},
      {"flights", INTEGER},
      {"destinations", INTEGER},
      {"sum_distance", INTEGER}}},
    {"q14_drill_down",
     {"month", "day", "origin", "carrier", "flight"},
     {{"level", LABEL},
      {"worst", LEVEL},
      {"arrived", INTEGER},
      {"sum_arr_delay", INTEGER},
      {"mean_arr_delay", MEAN}}},
};

/* ---- one cell ---- */

#define CELL_ROOM 48

/* QUERIES.md, "Means": rounded half away from zero, from integers alone. */
static void write_mean(int64_t sum, int64_t count, char *text) {
  uint64_t size, n, hundredths;
  text[0] = '\0';
  if (count <= 0) return;
  n = (uint64_t)count;
  size = sum < 0 ? (uint64_t)-sum : (uint64_t)sum;
  hundredths = (200u * size + n) / (2u * n);
  snprintf(text, CELL_ROOM, "%s%" PRIu64 ".%02u", sum < 0 && hundredths ? "-" : "",
           hundredths / 100u, (unsigned)(hundredths % 100u));
}

/* The worst of a level of q14 is a number, or a text of the level's dictionary. */
static void write_level(const struct flights *f, int64_t level, int64_t value, char *text) {
  if (level == 2)
    world_text(f, ORIGIN, value, text);
  else if (level == 3)
    world_text(f, CARRIER, value, text);
  else
    snprintf(text, CELL_ROOM, "%" PRId64, value);
}

/* Writes a cell and gives how many integers it took. `row` is where the row's cells begin. */
static unsigned write_cell(const struct flights *f, const struct query *q, unsigned kind,
                           const int64_t *row, const int64_t *cell, char *text) {
  text[0] = '\0';
  if (kind == MEAN) {
    write_mean(cell[0], cell[1], text);
    return 2;
  }
  if (*cell == NO_VALUE) return 1;
  if (kind >= CODE)
    world_text(f, kind - CODE, *cell, text);
  else if (kind == DATE)
    snprintf(text, CELL_ROOM, "2013-%02d-%02d", (int)(*cell / 32), (int)(*cell % 32));
  else if (kind == LABEL)
    snprintf(text, CELL_ROOM, "%s", q->labels[*cell]);
  else if (kind == LEVEL)
    write_level(f, *row, *cell, text);
  else
    snprintf(text, CELL_ROOM, "%" PRId64, *cell);
  return 1;
}

/* ---- tables of text ---- */

struct text_table {
  unsigned rows;
  unsigned columns;
  char (*cell)[CELL_ROOM];
};

static bool text_table_make(const struct flights *f, unsigned number, struct text_table *out) {
  const struct query *q = &queries[number];
  const struct plan *plan = (const struct plan *)f->plan.data + number;
  const int64_t *cell = (const int64_t *)f->cell.data + (size_t)number * ANSWER_CELLS;
  *out = (struct text_table){.rows = plan->answer.rows};
  while (q->column[out->columns].name)
    out->columns++;
  out->cell = calloc((size_t)out->rows * out->columns + 1u, sizeof *out->cell);
  if (!out->cell) {
    fprintf(stderr, "flights: out of memory\n");
    return false;
  }
  for (unsigned r = 0; r < out->rows; r++) {
    const int64_t *row = cell;
    for (unsigned c = 0; c < out->columns; c++)
      cell += write_cell(f, q, q->column[c].kind, row, cell, out->cell[r * out->columns + c]);
  }
  return true;
}

static void write_rows(const struct query *q, const struct text_table *table, FILE *stream) {
  for (unsigned c = 0; c < table->columns; c++)
    fprintf(stream, "%s%s", c ? "\t" : "", q->column[c].name);
  fputc('\n', stream);
  for (unsigned r = 0; r < table->rows; r++)
    for (unsigned c = 0; c < table->columns; c++)
      fprintf(stream, "%s%c", table->cell[r * table->columns + c],
              c + 1u < table->columns ? '\t' : '\n');
}

static bool write_file(const struct flights *f, unsigned number, const char *folder) {
  const struct query *q = &queries[number];
  struct text_table table;
  char path[4096];
  FILE *stream;
  bool fine;
  if (!text_table_make(f, number, &table)) return false;
  snprintf(path, sizeof path, "%s/%s.tsv", folder, q->name);
  stream = fopen(path, "wb");
  if (stream) write_rows(q, &table, stream);
  fine = stream && !ferror(stream);
  if (stream && fclose(stream) != 0) fine = false;
  if (!fine) fprintf(stderr, "flights: cannot write %s: %s\n", path, strerror(errno));
  free(table.cell);
  return fine;
}

bool answers_write(const struct flights *f, const char *folder) {
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "flights: cannot make the folder %s: %s\n", folder, strerror(errno));
    return false;
  }
  for (unsigned k = 0; k < QUERIES; k++)
    if (!write_file(f, k, folder)) return false;
  return true;
}

/* ---- for people ---- */

#define MOST_ROWS 40u /* of a table on the screen; longer ones are cut to SOME_ROWS */
#define SOME_ROWS 10u

static bool is_text(unsigned kind) {
  return kind >= CODE || kind == LABEL || kind == DATE;
}

static int width_of(const struct query *q, const struct text_table *table, unsigned column,
                    unsigned rows) {
  size_t width = strlen(q->column[column].name);
  for (unsigned r = 0; r < rows; r++) {
    size_t length = strlen(table->cell[r * table->columns + column]);
    if (length > width) width = length;
  }
  return (int)width;
}

static void print_cell(const struct query *q, unsigned column, int width, const char *text) {
  bool last = !q->column[column + 1u].name;
  if (!is_text(q->column[column].kind))
    printf("  %*s", width, text);
  else
    printf("  %-*s", last ? 0 : width, text);
  if (last) putchar('\n');
}

static void print_table(const struct query *q, const struct text_table *table) {
  unsigned rows = table->rows > MOST_ROWS ? SOME_ROWS : table->rows;
  int width[MOST_COLUMNS];
  printf("\n%s\n", q->name);
  for (unsigned c = 0; c < table->columns; c++)
    width[c] = width_of(q, table, c, rows);
  for (unsigned c = 0; c < table->columns; c++)
    print_cell(q, c, width[c], q->column[c].name);
  for (unsigned r = 0; r < rows; r++)
    for (unsigned c = 0; c < table->columns; c++)
      print_cell(q, c, width[c], table->cell[r * table->columns + c]);
  if (rows < table->rows) printf("  ... and %u rows more (all with --tsv)\n", table->rows - rows);
}

bool answers_print(const struct flights *f) {
  for (unsigned k = 0; k < QUERIES; k++) {
    struct text_table table;
    if (!text_table_make(f, k, &table)) return false;
    print_table(&queries[k], &table);
    free(table.cell);
  }
  return true;
}

const char *query_name(unsigned number) {
  return queries[number].name;
}
