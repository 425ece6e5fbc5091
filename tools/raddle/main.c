/* SPDX-License-Identifier: Apache-2.0 */
/* The command line program: finds the sub-command and runs it. */
#include <raddle/raddle.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/raddle/command.h"

/* THE list of sub-commands, in the order of the help. */
static const command commands[] = {
    {"devices", "list the devices of this machine and what they lack", command_devices},
    {"bench", "measure this machine, beside other runtimes if they are there", command_bench},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

int command_misused(const char *name, const char *format, ...) {
  va_list values;
  fprintf(stderr, "raddle%s%s: ", *name ? " " : "", name);
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fprintf(stderr, "\nTry 'raddle%s%s --help'.\n", *name ? " " : "", name);
  return EXIT_MISUSED;
}

int command_failed(const char *what) {
  const char *why = rdl_error_text();
  fprintf(stderr, "raddle: %s failed%s%s\n", what, *why ? ": " : "", why);
  return EXIT_FAILED;
}

static void print_usage(FILE *to) {
  fprintf(to, "usage: raddle COMMAND [OPTION...]\n\n");
  for (int i = 0; i < COMMANDS; i++)
    fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fprintf(to, "\n'raddle COMMAND --help' tells more of one command; 'raddle --version' prints the\n"
              "version of the library and the hash of its device code.\n");
}

static int version(void) {
  printf("raddle %s\ndevice code %s\n", rdl_version(), rdl_kernel_hash());
  return EXIT_OK;
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : NULL;
  if (!word) {
    print_usage(stderr);
    return EXIT_MISUSED;
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    print_usage(stdout);
    return EXIT_OK;
  }
  if (strcmp(word, "--version") == 0) return version();
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(word, commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  return command_misused("", "there is no command '%s'", word);
}
