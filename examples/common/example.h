/* SPDX-License-Identifier: Apache-2.0 */
/* What the example programs share: where their task file is, their options, their exit codes. */
#ifndef RDL_EXAMPLE_H
#define RDL_EXAMPLE_H

#include <raddle/raddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes. */
#define EXAMPLE_OK        0
#define EXAMPLE_FAILED    1 /* something failed, or the answer is wrong */
#define EXAMPLE_USAGE     2 /* an option was not understood */
#define EXAMPLE_NO_DEVICE 3 /* the device is not there */

/* Path of a task file that lies beside the running program. Never NULL; valid until the next call.
 */
const char *example_task_file(const char *name);

/* An option `--name VALUE`: one of `text` and `number` says where the value goes. Or an option
 * `--name` alone: `flag` says what becomes true. */
typedef struct example_option {
  const char *name;  /* without the dashes */
  const char *value; /* what the help calls the value */
  const char *help;
  const char **text;
  uint32_t *number;
  bool *flag;
  uint32_t least; /* of a number */
  uint32_t most;
} example_option;

/* Reads the command line: true = go on. Otherwise `*out_code` is the exit code, and the help or
 * what was wrong has been printed. `--help` is there without being listed. */
bool example_options(int argc, char **argv, const char *purpose, const example_option *options,
                     size_t count, int *out_code);

/* Where an example runs. */
typedef struct example_place {
  const char *device; /* NULL = $RADDLE_DEVICE, else the best one found */
  uint32_t workers;   /* 0 = as many as the device has */
  bool epoch;         /* sharing no memory, also where the device can */
} example_place;

/* The options for it, in a list of example_option. */
/* clang-format off */
#define EXAMPLE_PLACE_OPTIONS(place)                                                               \
  {.name = "device", .value = "NAME", .help = "host, opencl:0, opencl:pocl ...",                   \
   .text = &(place).device},                                                                       \
  {.name = "workers", .value = "N", .help = "0 = all", .number = &(place).workers, .most = 1024},  \
  {.name = "epoch", .help = "share no memory with the device", .flag = &(place).epoch}
/* clang-format on */

rdl_status example_open(const example_place *place, rdl_context **out_context);

/* Prints the failed call's own words and returns the exit code for it. `context` is NULL when it
 * could not be opened. */
int example_fail(const char *program, const rdl_context *context, rdl_status status);

/* Seconds of a clock that never goes back. */
double example_seconds(void);

#endif
