/* SPDX-License-Identifier: Apache-2.0 */
/* Reads command lines, and prints what all commands print alike. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/raddle/command.h"

#define LINE_WIDTH 100

/* ---- options ---- */

static int find_option(const command *c, const char *word, size_t length) {
  for (int i = 0; c->options[i].name; i++)
    if (strlen(c->options[i].name) == length && memcmp(c->options[i].name, word, length) == 0)
      return i;
  return COMMAND_WRONG;
}

/* A value that looks like an option most likely is one, and the value was forgotten. */
static int take_value(command_line *line, int option, const char *behind) {
  const command_option *o = &line->command->options[option];
  const char *value = *behind ? behind + 1 : NULL;
  if (!o->value) {
    if (!value) return option;
    (void)command_misused(line->command->name, "%s takes no value", o->name);
    return COMMAND_WRONG;
  }
  if (!value && line->at < line->argc) {
    value = line->argv[line->at++];
    if (strncmp(value, "--", 2) == 0) value = NULL;
  }
  if (value && *value) {
    line->value = value;
    return option;
  }
  (void)command_misused(line->command->name, "%s needs a value", o->name);
  return COMMAND_WRONG;
}

int command_next(command_line *line) {
  const char *word;
  size_t length;
  int option;
  if (line->at >= line->argc) return COMMAND_END;
  line->value = word = line->argv[line->at++];
  if (line->operands || word[0] != '-' || !word[1]) return COMMAND_OPERAND;
  if (strcmp(word, "--") == 0) {
    line->operands = true;
    return command_next(line);
  }
  length = strcspn(word, "=");
  option = find_option(line->command, word, length);
  if (option >= 0) return take_value(line, option, word + length);
  (void)command_misused(line->command->name, "'%s' was not understood", word);
  return COMMAND_WRONG;
}

bool command_number(const char *text, uint32_t least, uint32_t most, uint32_t *out) {
  char *end = NULL;
  unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
  *out = (uint32_t)value;
  return end && !*end && value >= least && value <= most;
}

/* ---- output ---- */

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

int command_refused(const char *name, rdl_status status, const char *why) {
  if (status != RDL_COMPILE) fprintf(stderr, "raddle %s: ", name);
  fprintf(stderr, "%s\n", why);
  return EXIT_FAILED;
}

/* One call, for several threads may have something to say at once. */
void command_log(void *of, rdl_log_level level, const char *text) {
  const command *c = of;
  if (level >= RDL_LOG_WARNING) fprintf(stderr, "raddle %s: %s\n", c->name, text);
}

void command_print_text(const char *text, int indent) {
  size_t room = LINE_WIDTH - (size_t)indent;
  while (strlen(text) > room) {
    size_t end = room;
    while (end && text[end] != ' ')
      end--;
    if (!end) end = room;
    printf("%.*s\n%*s", (int)end, text, indent, "");
    text += end + strspn(text + end, " ");
  }
  printf("%s\n", text);
}

void command_print_json(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}
