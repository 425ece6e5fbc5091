/* SPDX-License-Identifier: Apache-2.0 */
/* What the sub-commands of `raddle` share: their table's entry, their options, exit codes and
 * output. */
#ifndef RADDLE_COMMAND_H
#define RADDLE_COMMAND_H

#include <raddle/raddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes. */
#define EXIT_OK      0
#define EXIT_FAILED  1 /* something failed, or a result was wrong */
#define EXIT_MISUSED 2 /* the command line was not understood */
#define EXIT_WARNED  3 /* nothing failed, and something should be seen to */

/* One option of a command. The help, the man page and the completion speak of what stands here. */
typedef struct command_option {
  const char *name;  /* "--device" */
  const char *value; /* what the help calls its value, "SELECTOR"; NULL: it has none */
  const char *about; /* lines, without the last one's end; NULL: nobody is told */
} command_option;

typedef struct command {
  const char *name;
  const char *summary;           /* one line of `raddle --help` */
  const char *usage;             /* behind "usage: raddle " */
  const char *about;             /* what the help says before the options */
  const command_option *options; /* ends with one without a name; without --help, which all have */
  const char *more;              /* what it says behind them; may be NULL */
  /* argv[0] is the command's own name; returns the exit code. */
  int (*run)(int argc, char **argv);
} command;

extern const command command_bench;
extern const command command_check;
extern const command command_devices;
extern const command command_doctor;
extern const command command_run;

/* ---- options ---- */

/* A command line that is read from front to back. */
typedef struct command_line {
  const command *command;
  int argc;
  char **argv;
  int at;            /* start at 1 */
  bool operands;     /* the rest are operands */
  const char *value; /* of the option, or the operand itself */
} command_line;

enum { COMMAND_END = -1, COMMAND_OPERAND = -2, COMMAND_WRONG = -3 };

/* The number of the next option in the table, or one of the three above; after COMMAND_WRONG the
 * user has been told, and the exit code is EXIT_MISUSED. A value stands in the next word, or behind
 * a =. What follows "--" are operands. */
int command_next(command_line *line);

/* A whole number from `least` to `most`, in digits. */
bool command_number(const char *text, uint32_t least, uint32_t most, uint32_t *out);

/* ---- output ---- */

/* Says on standard error what was not understood and where the help is; returns EXIT_MISUSED. */
__attribute__((format(printf, 2, 3))) int command_misused(const char *name, const char *format,
                                                          ...);

/* Says on standard error what failed, with the library's own words; returns EXIT_FAILED. */
int command_failed(const char *what);

/* Says on standard error why it goes no further; returns EXIT_FAILED. What is wrong in a task file
 * begins with its place there, as compilers have it, anything else with the command's name. */
int command_refused(const char *name, rdl_status status, const char *why);

/* An rdl_log_fn that says warnings and errors on standard error; `of` is the command. */
void command_log(void *of, rdl_log_level level, const char *text);

/* Prints text behind `indent` columns, which the first line has already, broken at spaces. */
void command_print_text(const char *text, int indent);

/* A string of JSON, with its quotes. */
void command_print_json(FILE *file, const char *text);

/* ---- devices ---- */

/* All devices of the machine, best first, to be freed; NULL: the user has been told why. */
rdl_device_info *command_find_devices(size_t *out_count);

/* What a device can do: room for all that this version tells. */
typedef struct command_capabilities {
  rdl_capability rows[128];
  size_t count;
} command_capabilities;

/* False: the device does not tell, and rdl_error_text() says why. Blocks while it is probed, for
 * some seconds the first time. */
bool command_find_capabilities(const char *selector, uint32_t flags, command_capabilities *out);

/* The text of a row, "" when there is none. */
const char *command_capability(const command_capabilities *c, const char *name);

#endif
