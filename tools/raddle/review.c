/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/raddle/review.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/compile_log.h"
#include "backends/common/join.h"
#include "backends/common/process.h"
#include "backends/common/reason.h"
#include "backends/host/device.h"

#define LIMIT_NS    120000000000u
#define LONGEST_LOG ((size_t)1 << 20)

/* A compiler, and the options that make it look and write nothing. */
typedef struct looker {
  rdl_host_compiler compiler;
  const char *const *options; /* ends in NULL */
} looker;

/* Designated initialisers came with it. Warnings are of no interest: other compilers have others.
 */
static const char *const cxx_options[] = {"-std=gnu++20", "-fsyntax-only", "-w", "-x", "c++", NULL};

/*
 * A task comes back to its resume point by a jump past everything before it, so gcc sees a local
 * that is read there without a value: from -O1 on, and without the passes that take an unknown
 * value for the one that it would have on the other way. It gives no false alarm on the tasks of
 * this project; clang's -Wconditional-uninitialized does, for arrays that a loop fills. Neither
 * sees a structure that is copied whole, such as a handle.
 */
static const char *const local_options[] = {"-std=gnu11",
                                            "-O1",
                                            "-fno-inline-functions-called-once",
                                            "-fno-tree-ccp",
                                            "-fno-tree-copy-prop",
                                            "-fno-tree-dominator-opts",
                                            "-fno-tree-forwprop",
                                            "-fno-tree-fre",
                                            "-fno-strict-aliasing",
                                            "-Wuninitialized",
                                            "-Wmaybe-uninitialized",
                                            "-ftrack-macro-expansion=0",
                                            "-fno-diagnostics-show-caret",
                                            "-S",
                                            "-o",
                                            "/dev/null",
                                            "-x",
                                            "c",
                                            NULL};
#define MOST_OPTIONS (sizeof local_options / sizeof local_options[0])

__attribute__((format(printf, 2, 3))) static void skip(review_look *look, const char *format, ...);

static void skip(review_look *look, const char *format, ...) {
  va_list values;
  va_start(values, format);
  (void)vsnprintf(look->skipped, sizeof look->skipped, format, values);
  va_end(values);
}

/* The first program that is there: of a variable that is set, only what it names. */
static bool find_program(rdl_host_compiler *compiler, const char *const *variables,
                         const char *const *usual) {
  memset(compiler, 0, sizeof *compiler);
  for (; *variables; variables++) {
    const char *named = getenv(*variables);
    if (named && *named) return rdl__host_take_command(compiler, named);
  }
  for (; *usual; usual++)
    if (rdl__host_take_command(compiler, *usual)) return true;
  return false;
}

/* posix_spawn wants pointers that it could write through, and does not. */
static char *word_of(const char *text) {
  union {
    const char *in;
    char *out;
  } word = {text};
  return word.out;
}

/* Reads `text` from its input. False: it could not be run; the look is skipped. What it wrote is
 * freed with rdl__process_free. */
static bool run(const looker *l, const rdl_joined *text, rdl_process *out, review_look *look) {
  char *command[RDL_HOST_LONGEST_COMMAND + MOST_OPTIONS + 2];
  rdl_reason why = {""};
  size_t count = 0;
  for (size_t i = 0; l->compiler.command[i]; i++)
    command[count++] = l->compiler.command[i];
  for (size_t i = 0; l->options[i]; i++)
    command[count++] = word_of(l->options[i]);
  command[count++] = word_of("-");
  command[count] = NULL;
  *out = (rdl_process){.command = command,
                       .input = text->text,
                       .input_size = text->length,
                       .limit_ns = LIMIT_NS,
                       .output.most = LONGEST_LOG};
  if (rdl__process_run(out, &why) != RDL_OK) {
    skip(look, "%.600s", why.text);
    return false;
  }
  if (out->ending == RDL_ENDED_BY_ITSELF) return true;
  skip(look, "%.300s was ended, or did not end", command[0]);
  rdl__process_free(out);
  return false;
}

static const char *output_of(const rdl_process *process) {
  return process->output.bytes ? process->output.bytes : "";
}

/* ---- C++20 ---- */

static bool takes_cxx(const looker *l, review_look *look) {
  static const rdl_joined nothing = {.length = 0};
  rdl_process process;
  bool good;
  if (!run(l, &nothing, &process, look)) return false;
  good = process.code == 0;
  if (!good) skip(look, "%.300s knows no C++20", l->compiler.command[0]);
  rdl__process_free(&process);
  return good;
}

static void look_at_cxx(const rdl_joined *text, review_look *look) {
  static const char *const variables[] = {"RADDLE_CXX", "CXX", NULL};
  static const char *const usual[] = {"c++", "g++", "clang++", NULL};
  looker l = {.options = cxx_options};
  rdl_process process;
  rdl_reason why;
  if (!find_program(&l.compiler, variables, usual)) {
    skip(look, "no C++ compiler was found: neither RADDLE_CXX nor CXX names one, and c++, g++ and "
               "clang++ are not in PATH");
    return;
  }
  if (!takes_cxx(&l, look) || !run(&l, text, &process, look)) return;
  if (process.code != 0) {
    (void)rdl__compile_log(output_of(&process), text, &why);
    rdl__text_print(&look->findings, "%s\n", why.text);
  }
  rdl__process_free(&process);
}

/* ---- locals ---- */

static bool is_of_user(const rdl_image_text *image, const char *line) {
  for (size_t i = 0; i < image->count; i++) {
    const rdl_text_piece *piece = &image->pieces[i];
    size_t length = strlen(piece->name);
    if (!piece->own && strncmp(line, piece->name, length) == 0 && line[length] == ':') return true;
  }
  return false;
}

/* "FILE:LINE:COLUMN: warning: 'NAME' may be used uninitialized [-W...]" */
static void take_warning(const rdl_image_text *image, const char *line, review_look *look) {
  static const char mark[] = ": warning: '";
  const char *at = strstr(line, mark);
  const char *name = at ? at + strlen(mark) : NULL;
  const char *end = name ? strchr(name, '\'') : NULL;
  if (!end || !strstr(end, "uninitialized") || !is_of_user(image, line)) return;
  rdl__text_print(&look->findings,
                  "%.*s: warning: the local '%.*s' may have no value here: locals lose theirs at "
                  "every await, so keep it in the state\n",
                  (int)(at - line), line, (int)(end - name), name);
}

static void look_at_locals(const rdl_image_text *image, const rdl_joined *text, review_look *look) {
  static const char *const none[] = {NULL};
  static const char *const usual[] = {"gcc", NULL};
  looker l = {.options = local_options};
  rdl_process process;
  char nothing[1] = "";
  char *rest = nothing;
  if (!find_program(&l.compiler, none, usual)) {
    skip(look, "gcc is not in PATH");
    return;
  }
  if (!run(&l, text, &process, look)) return;
  if (process.code != 0) skip(look, "%.300s does not compile the text", l.compiler.command[0]);
  if (process.output.bytes) rest = process.output.bytes;
  for (char *line = strtok_r(rest, "\n", &rest); line && process.code == 0;
       line = strtok_r(NULL, "\n", &rest))
    take_warning(image, line, look);
  rdl__process_free(&process);
}

/* ---- both ---- */

void review_run(const rdl_image_text *image, review *out) {
  rdl_joined text;
  *out = (review){{{"C++20", "not C++20, which CUDA devices take", {NULL, 0, 0, false}, ""},
                   {"locals", "used across an await", {NULL, 0, 0, false}, ""}}};
  if (rdl__join(image, &text, NULL) != RDL_OK) {
    for (int i = 0; i < REVIEW_LOOKS; i++)
      skip(&out->looks[i], "memory is short");
    return;
  }
  look_at_cxx(&text, &out->looks[0]);
  look_at_locals(image, &text, &out->looks[1]);
  rdl__join_free(&text);
}

void review_finish(review *r) {
  for (int i = 0; i < REVIEW_LOOKS; i++)
    rdl__text_finish(&r->looks[i].findings);
}
