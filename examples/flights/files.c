/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the data set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flights.h"

/* The small ones first: then they never hold up the end. flights is read once for each copy. */
static const struct file files[] = {
    {AIRLINES, "airlines.csv.gz", "carrier,name"},
    {PLANES, "planes.csv.gz", "tailnum,year,manufacturer"},
    {WEATHER, "weather.csv.gz", "origin,month,day,hour,visib,wind_knots"},
    {FLIGHTS, "flights.csv.gz",
     "month,day,sched_dep_time,dep_delay,arr_delay,carrier,flight,tailnum,origin,dest,air_time,"
     "distance"},
};
#define SMALL_FILES 3u

const struct file *file_at(const struct flights *f, uint32_t number) {
  if (number < SMALL_FILES) return &files[number];
  return number < SMALL_FILES + f->options.scale ? &files[SMALL_FILES] : NULL;
}

const struct file *file_of(unsigned table) {
  size_t k = 0;
  while (files[k].table != table)
    k++;
  return &files[k];
}

bool file_path(const struct flights *f, const struct file *file, char *path, size_t room) {
  int length = snprintf(path, room, "%s/%s", f->options.data, file->name);
  if (length > 0 && (size_t)length < room) return true;
  fprintf(stderr, "flights: the name of the data folder is too long\n");
  return false;
}

static bool read_sizes(FILE *stream, uint64_t *out_bytes, uint64_t *out_text) {
  unsigned char tail[4];
  long end;
  if (fseek(stream, -4, SEEK_END) != 0 || fread(tail, 1, 4, stream) != 4) return false;
  end = ftell(stream);
  if (end < 0) return false;
  *out_bytes = (uint64_t)end;
  *out_text = tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
  return true;
}

bool file_sizes(const struct flights *f, const struct file *file, uint64_t *out_bytes,
                uint64_t *out_text) {
  char path[4096];
  FILE *stream;
  bool fine;
  if (!file_path(f, file, path, sizeof path)) return false;
  stream = fopen(path, "rb");
  if (!stream) {
    fprintf(stderr, "flights: %s: %s; --data names the folder\n", path, strerror(errno));
    return false;
  }
  fine = read_sizes(stream, out_bytes, out_text);
  fclose(stream);
  if (!fine) fprintf(stderr, "flights: %s is too short for a gzip file\n", path);
  return fine;
}
