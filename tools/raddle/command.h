/* SPDX-License-Identifier: Apache-2.0 */
/* What the sub-commands of `raddle` share: their table's entry and their exit codes. */
#ifndef RADDLE_COMMAND_H
#define RADDLE_COMMAND_H

/* Exit codes. */
#define EXIT_OK      0
#define EXIT_FAILED  1 /* something failed, or a result was wrong */
#define EXIT_MISUSED 2 /* the command line was not understood */

typedef struct command {
  const char *name;
  const char *summary; /* one line of `raddle --help` */
  /* argv[0] is the command's own name; returns the exit code. */
  int (*run)(int argc, char **argv);
} command;

int command_bench(int argc, char **argv);
int command_devices(int argc, char **argv);

/* Says on standard error what was not understood and where the help is; returns EXIT_MISUSED. */
__attribute__((format(printf, 2, 3))) int command_misused(const char *name, const char *format,
                                                          ...);

/* Says on standard error what failed, with the library's own words; returns EXIT_FAILED. */
int command_failed(const char *what);

#endif
