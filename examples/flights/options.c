/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#include <stdio.h>
#include <unistd.h>

#include "flights.h"

static const char purpose[] =
    "Reads every flight that left New York City in 2013 from gzipped CSV files, and asks fourteen\n"
    "questions about them at once, each a tree of futures on the device.";

bool options_read(int argc, char **argv, struct options *o, int *out_code) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const example_option list[] = {
      EXAMPLE_PLACE_OPTIONS(o->place),
      {.name = "scale",
       .value = "N",
       .help = "read the flights N times",
       .number = &o->scale,
       .least = 1,
       .most = 100},
      {.name = "readers",
       .value = "N",
       .help = "threads that inflate",
       .number = &o->readers,
       .least = 1,
       .most = MAX_READERS},
      {.name = "data", .value = "DIR", .help = "where the csv.gz files are", .text = &o->data},
      {.name = "tsv", .value = "DIR", .help = "also write the tables there", .text = &o->tsv},
  };
  *o = (struct options){.scale = 1};
  o->readers = cores < 1 ? 1 : cores > (long)MAX_READERS ? MAX_READERS : (unsigned)cores;
  snprintf(o->own_data, sizeof o->own_data, "%s", example_task_file("flights-data"));
  o->data = o->own_data;
  return example_options(argc, argv, purpose, list, sizeof list / sizeof *list, out_code);
}
