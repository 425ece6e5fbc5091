/* SPDX-License-Identifier: Apache-2.0 */
/* The command line program: finds the sub-command, prints help, and runs it. */
#include <string.h>

#include "tools/raddle/command.h"

/* THE list of sub-commands, in the order of the help. */
static const command *const commands[] = {
    &command_devices, &command_doctor, &command_check, &command_run, &command_bench,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to) {
  fprintf(to, "usage: raddle COMMAND [OPTION...]\n\n");
  for (int i = 0; i < COMMANDS; i++)
    fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fprintf(to, "\n'raddle COMMAND --help' tells more of one command; 'raddle --version' prints the\n"
              "version of the library and the hash of its device code. 'man raddle' has it all.\n");
}

static int version(void) {
  printf("raddle %s\ndevice code %s\n", rdl_version(), rdl_kernel_hash());
  return EXIT_OK;
}

/* ---- the help of a command ---- */

/* The others are for the command's calls of itself. */
static bool is_told(const command_option *o) {
  return o->about != NULL;
}

static int print_name(const command_option *o) {
  return printf("  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
}

static int width_of(const command_option *o) {
  return (int)(strlen(o->name) + (o->value ? strlen(o->value) + 1 : 0)) + 2;
}

static void print_option(const command_option *o, int width) {
  const char *rest = o->about;
  int column = print_name(o);
  while (*rest) {
    size_t length = strcspn(rest, "\n");
    printf("%*s%.*s\n", width - column, "", (int)length, rest);
    rest += length + (rest[length] == '\n');
    column = 0;
  }
}

static int help(const command *c) {
  static const command_option own = {"--help", NULL, "print this text"};
  int width = width_of(&own);
  for (const command_option *o = c->options; o->name; o++)
    if (is_told(o) && width_of(o) > width) width = width_of(o);
  printf("usage: raddle %s\n\n%s\n\n", c->usage, c->about);
  for (const command_option *o = c->options; o->name; o++)
    if (is_told(o)) print_option(o, width + 2);
  print_option(&own, width + 2);
  if (c->more) printf("\n%s\n", c->more);
  return EXIT_OK;
}

static bool asks_for_help(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  return false;
}

static int run(const command *c, int argc, char **argv) {
  return asks_for_help(argc, argv) ? help(c) : c->run(argc, argv);
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
    if (strcmp(word, commands[i]->name) == 0) return run(commands[i], argc - 1, argv + 1);
  return command_misused("", "there is no command '%s'", word);
}
