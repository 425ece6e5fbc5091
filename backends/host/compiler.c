/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C compiler that turns kernel text into a shared object.
 *
 *   RADDLE_CC      the compiler, with options if need be; else CC; else cc, gcc, clang from PATH
 *   RADDLE_CFLAGS  options added behind our own, "-g -O0" for a debugger
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/process.h"
#include "backends/common/reason.h"
#include "backends/host/device.h"

/*
 * -O3: 4 % fewer instructions a future than -O2, for a sixth more time to compile.
 * -fno-strict-aliasing: frames and results are moved as 32-bit words.
 * -ffp-contract=off: the same sums as on the other devices, also where there is fused arithmetic.
 * The -Werror= ones are errors in OpenCL C anyway, and here they would fail later and worse.
 * Warnings that compilers give unasked are seen only in the log of a failed build.
 */
static const char *const our_options[] = {"-std=gnu11",
                                          "-O3",
                                          "-g1",
                                          "-fPIC",
                                          "-shared",
                                          "-fno-strict-aliasing",
                                          "-ffp-contract=off",
                                          "-Werror=implicit-function-declaration",
                                          "-Werror=implicit-int",
                                          "-Werror=int-conversion",
                                          "-Werror=incompatible-pointer-types"};
#define OUR_OPTIONS (sizeof our_options / sizeof our_options[0])

/* No text should take this long; a compiler that hangs must not hang its user. */
#define COMPILE_LIMIT_NS 120000000000u
#define VERSION_LIMIT_NS 10000000000u

#define LONGEST_LOG ((size_t)1 << 20)

/* Cuts a copy of `text` into words at white space; there is no quoting. Returns how many. */
static size_t cut(const char *text, char *copy, size_t size, char **words, size_t capacity) {
  size_t count = 0;
  char *rest = NULL;
  rdl__copy_text(copy, size, text);
  for (char *word = strtok_r(copy, " \t\n", &rest); word && count < capacity;
       word = strtok_r(NULL, " \t\n", &rest))
    words[count++] = word;
  return count;
}

static int is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Where the shell would find `name`. */
static int find_in_path(const char *name, char *out_path, size_t size) {
  const char *folders = getenv("PATH");
  if (strchr(name, '/')) {
    rdl__copy_text(out_path, size, name);
    return is_program(out_path);
  }
  while (folders && *folders) {
    size_t length = strcspn(folders, ":");
    int put = snprintf(out_path, size, "%.*s/%s", (int)length, length ? folders : ".", name);
    if (put > 0 && (size_t)put < size && is_program(out_path)) return 1;
    folders += length + (folders[length] == ':');
  }
  return 0;
}

int rdl__host_take_command(rdl_host_compiler *compiler, const char *text) {
  char path[sizeof compiler->words / 2];
  char words[sizeof compiler->words / 2];
  size_t count = cut(text, words, sizeof words, compiler->command, RDL_HOST_LONGEST_COMMAND - 1);
  if (!count || !find_in_path(compiler->command[0], path, sizeof path)) {
    compiler->command[0] = NULL;
    return 0;
  }
  compiler->command[count] = NULL;
  rdl__copy_text(compiler->words, sizeof path, path);
  compiler->command[0] = compiler->words;
  memcpy(compiler->words + sizeof path, words, sizeof words);
  for (size_t i = 1; i < count; i++)
    compiler->command[i] = compiler->words + sizeof path + (compiler->command[i] - words);
  return 1;
}

static void choose(rdl_host_compiler *compiler) {
  static const char *const variables[] = {"RADDLE_CC", "CC"};
  static const char *const usual[] = {"cc", "gcc", "clang"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    const char *named = getenv(variables[i]);
    if (!named || !*named) continue;
    if (!rdl__host_take_command(compiler, named))
      (void)snprintf(compiler->missing, sizeof compiler->missing,
                     "The host backend compiles tasks with a C compiler, and %s=%.200s names a "
                     "program that is not there. Set %s to a C compiler, or unset it.",
                     variables[i], named, variables[i]);
    return;
  }
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
    if (rdl__host_take_command(compiler, usual[i])) return;
  (void)snprintf(
      compiler->missing, sizeof compiler->missing,
      "The host backend compiles tasks with a C compiler, and there is none: neither cc, "
      "gcc nor clang is in PATH. Install one (Debian: apt install gcc libc6-dev), or "
      "name one in RADDLE_CC.");
}

static void note_options(rdl_host_compiler *compiler) {
  const char *flags = getenv("RADDLE_CFLAGS");
  size_t count = cut(flags ? flags : "", compiler->options, sizeof compiler->options,
                     compiler->user, RDL_HOST_LONGEST_COMMAND);
  size_t used = 0;
  compiler->user[count] = NULL;
  for (size_t i = 0; compiler->command[0] && compiler->command[i] && used < sizeof compiler->key;
       i++)
    used += (size_t)snprintf(compiler->key + used, sizeof compiler->key - used, "%s ",
                             compiler->command[i]);
  for (size_t i = 0; i < OUR_OPTIONS && used < sizeof compiler->key; i++)
    used +=
        (size_t)snprintf(compiler->key + used, sizeof compiler->key - used, "%s ", our_options[i]);
  for (size_t i = 0; i < count && used < sizeof compiler->key; i++)
    used += (size_t)snprintf(compiler->key + used, sizeof compiler->key - used, "%s ",
                             compiler->user[i]);
}

/* Puts what stands in `pretences` behind the user's options. */
static void pretend(rdl_host_compiler *compiler) {
  size_t used = strlen(compiler->key), count = 0;
  while (compiler->user[count])
    count++;
  for (size_t i = 0; i < 2 && used < sizeof compiler->key; i++) {
    compiler->user[count++] = compiler->pretences[i];
    used += (size_t)snprintf(compiler->key + used, sizeof compiler->key - used, "%s ",
                             compiler->pretences[i]);
  }
  compiler->user[count] = NULL;
}

void rdl__host_limit_loops(rdl_host_compiler *compiler, uint32_t turns) {
  (void)snprintf(compiler->pretences[0], sizeof compiler->pretences[0], "-DRDL_LOOP_TURNS=%uu",
                 (unsigned)turns);
  (void)snprintf(compiler->pretences[1], sizeof compiler->pretences[1], "-DRDL_LOOPS_COUNTED");
  pretend(compiler);
}

void rdl__host_emulate_warps(rdl_host_compiler *compiler) {
  (void)snprintf(compiler->pretences[0], sizeof compiler->pretences[0], "-DRDL_LANES=%uu",
                 RDL_HOST_WARP);
  (void)snprintf(compiler->pretences[1], sizeof compiler->pretences[1], "-DRDL_EMULATED");
  pretend(compiler);
}

/* One of which nobody knows how it ended has to be judged by what it made. */
static int succeeded(const rdl_process *process) {
  return process->ending == RDL_ENDED_SOMEHOW ||
         (process->ending == RDL_ENDED_BY_ITSELF && process->code == 0);
}

/* A compiler that does not tell its version is used all the same. */
static void ask_version(rdl_host_compiler *compiler) {
  static char option[] = "--version";
  char *command[RDL_HOST_LONGEST_COMMAND + 2u];
  rdl_process process = {
      .command = command, .limit_ns = VERSION_LIMIT_NS, .output.most = LONGEST_LOG};
  size_t count = 0;
  while (compiler->command[count]) {
    command[count] = compiler->command[count];
    count++;
  }
  command[count] = option;
  command[count + 1] = NULL;
  rdl__copy_text(compiler->version, sizeof compiler->version, "unknown");
  if (rdl__process_run(&process, NULL) != RDL_OK) return;
  if (succeeded(&process) && process.output.size) {
    process.output.bytes[strcspn(process.output.bytes, "\n")] = 0;
    rdl__copy_text(compiler->version, sizeof compiler->version, process.output.bytes);
  }
  rdl__process_free(&process);
}

void rdl__host_find_compiler(rdl_host_compiler *compiler) {
  memset(compiler, 0, sizeof *compiler);
  choose(compiler);
  note_options(compiler);
  if (compiler->command[0])
    ask_version(compiler);
  else
    rdl__copy_text(compiler->version, sizeof compiler->version, "none");
}

/* posix_spawn wants pointers that it could write through, and does not. */
static char *word_of(const char *text) {
  union {
    const char *in;
    char *out;
  } word = {text};
  return word.out;
}

static void make_command(const rdl_host_compiler *compiler, const char *source, const char *object,
                         char **command) {
  size_t count = 0;
  for (size_t i = 0; compiler->command[i]; i++)
    command[count++] = compiler->command[i];
  for (size_t i = 0; i < OUR_OPTIONS; i++)
    command[count++] = word_of(our_options[i]);
  for (size_t i = 0; compiler->user[i]; i++)
    command[count++] = compiler->user[i];
  command[count++] = word_of("-x");
  command[count++] = word_of("c");
  command[count++] = word_of(source);
  command[count++] = word_of("-o");
  command[count++] = word_of(object);
  command[count++] = word_of("-lm");
  command[count] = NULL;
}

/* What there is to go by when a compiler fails without a word. */
static void explain_silence(char *const *command, int code, rdl_reason *why) {
  (void)rdl__fail(
      RDL_COMPILE, why,
      "The compiler said nothing and ended with exit status %d. Is it a C compiler? The "
      "command was:",
      code);
  for (size_t i = 0; command[i]; i++)
    rdl__reason_append(why, " %s", command[i]);
}

static rdl_status explain(const rdl_process *process, rdl_reason *why) {
  const char *log = process->output.bytes ? process->output.bytes : "";
  if (process->ending == RDL_ENDED_BY_LIMIT)
    return rdl__fail(RDL_COMPILE, why, "%s did not finish within %u seconds.", process->command[0],
                     (unsigned)(COMPILE_LIMIT_NS / 1000000000u));
  if (process->ending == RDL_ENDED_BY_SIGNAL)
    return rdl__fail(RDL_COMPILE, why, "%s was ended by %s.", process->command[0],
                     rdl__process_signal(process->code).text);
  if (!log[strspn(log, " \t\r\n")])
    explain_silence(process->command, process->code, why);
  else
    rdl__reason_clear(why);
  return RDL_COMPILE;
}

rdl_status rdl__host_compile(const rdl_host_compiler *compiler, const char *source,
                             const char *object, const bool *stop, char **out_log,
                             rdl_reason *why) {
  char *command[(size_t)2 * RDL_HOST_LONGEST_COMMAND + OUR_OPTIONS + 8];
  rdl_process process = {
      .command = command, .limit_ns = COMPILE_LIMIT_NS, .stop = stop, .output.most = LONGEST_LOG};
  rdl_status status;
  *out_log = NULL;
  if (!compiler->command[0]) return rdl__fail(RDL_UNAVAILABLE, why, "%s", compiler->missing);
  make_command(compiler, source, object, command);
  status = rdl__process_run(&process, why);
  if (status != RDL_OK) return status;
  *out_log = process.output.bytes;
  return succeeded(&process) ? RDL_OK : explain(&process, why);
}
