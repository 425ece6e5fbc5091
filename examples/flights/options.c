/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flights.h"

static const char help[] =
    "usage: flights [OPTION...]\n"
    "\n"
    "Reads every flight that left New York City in 2013 from gzipped CSV files, and asks\n"
    "fourteen questions about them at once, each a tree of futures on the device.\n"
    "\n"
    "  --device SEL   opencl:pocl, host, opencl:0, ... (default: $RADDLE_DEVICE, else the best)\n"
    "  --scale N      read the flights N times, 1 to 100 (default 1)\n"
    "  --workers N    workers of the device (default: as many as run at once)\n"
    "  --readers N    threads that inflate, 1 to 4 (default: one a core)\n"
    "  --data DIR     where the four csv.gz files are\n"
    "                 (default: " FLIGHTS_DIR "/data)\n"
    "  --tsv DIR      also write the tables there as tab-separated files\n"
    "  --help         this text\n";

static bool read_count(const char *name, const char *text, unsigned most, unsigned *out) {
  char *end = NULL;
  unsigned long value;
  errno = 0;
  value = strtoul(text, &end, 10);
  if (errno || *end || end == text || *text == '-' || value < 1 || value > most) {
    fprintf(stderr, "flights: %s takes a number from 1 to %u, not '%s'\n", name, most, text);
    return false;
  }
  *out = (unsigned)value;
  return true;
}

static bool read_option(const char *name, const char *value, struct options *o) {
  if (strcmp(name, "--scale") == 0) return read_count(name, value, 100, &o->scale);
  if (strcmp(name, "--workers") == 0) return read_count(name, value, 4096, &o->workers);
  if (strcmp(name, "--readers") == 0) return read_count(name, value, MAX_READERS, &o->readers);
  if (strcmp(name, "--device") == 0) o->device = value;
  if (strcmp(name, "--data") == 0) o->data = value;
  if (strcmp(name, "--tsv") == 0) o->tsv = value;
  return true;
}

static bool is_option(const char *name) {
  static const char *const names[] = {"--scale",   "--workers", "--readers",
                                      "--device",  "--data",    "--tsv"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

bool options_read(int argc, char **argv, struct options *o, int *out_exit) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  *o = (struct options){.data = FLIGHTS_DIR "/data", .scale = 1};
  o->readers = cores < 1 ? 1 : cores > (long)MAX_READERS ? MAX_READERS : (unsigned)cores;
  *out_exit = 2;
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
      fputs(help, stdout);
      *out_exit = 0;
      return false;
    }
    if (!is_option(argv[k])) {
      fprintf(stderr, "flights: unknown option '%s'; see flights --help\n", argv[k]);
      return false;
    }
    if (k + 1 == argc) {
      fprintf(stderr, "flights: %s needs a value; see flights --help\n", argv[k]);
      return false;
    }
    if (!read_option(argv[k], argv[k + 1], o)) return false;
    k++;
  }
  return true;
}
