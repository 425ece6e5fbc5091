/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/helper.h"
#include "backends/common/process.h"
#include "backends/common/reason.h"
#include "backends/cuda/helper/helper.h"

/* ---- which one ---- */

/* The function pointer is filled by way of its bytes: ISO C has no cast from a data pointer. */
static int find(void *library, const char *name, void *out_function, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(out_function, &symbol, size < sizeof symbol ? size : sizeof symbol);
  return symbol != NULL;
}

int rdl__nvrtc_load(const char *library, rdl_nvrtc_symbols *out_symbols, rdl_reason *why) {
  const char *absent = NULL;
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    rdl__reason_append(why, "\n  %s", dlerror());
    return 0;
  }
#define RDL_NVRTC_SYMBOL(name, parameters)                                                         \
  if (!find(opened, #name, &out_symbols->name, sizeof out_symbols->name)) absent = #name;
#include "backends/cuda/nvrtc.def"
#undef RDL_NVRTC_SYMBOL
  if (!absent) return 1;
  rdl__reason_append(why, "\n  %s is too old: it has no %s", library, absent);
  (void)dlclose(opened);
  return 0;
}

/* The helper has to open the same file, whatever the loader of this process went by. */
static void note_path(rdl_nvrtc_symbols *symbols, const char *library, rdl_nvrtc *out_nvrtc) {
  Dl_info info;
  void *symbol;
  memcpy(&symbol, &symbols->nvrtcVersion, sizeof symbol);
  rdl__copy_text(out_nvrtc->path, sizeof out_nvrtc->path,
                 dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : library);
}

static int newest_arch(const rdl_nvrtc_symbols *symbols) {
  int count = 0, newest = 0;
  int *archs = NULL;
  if (symbols->nvrtcGetNumSupportedArchs(&count) == 0 && count > 0)
    archs = calloc((size_t)count, sizeof *archs);
  if (archs && symbols->nvrtcGetSupportedArchs(archs) == 0)
    for (int i = 0; i < count; i++)
      if (archs[i] > newest) newest = archs[i];
  free(archs);
  return newest;
}

static int try_library(const char *library, rdl_nvrtc *out_nvrtc, rdl_reason *why) {
  rdl_nvrtc_symbols symbols;
  if (!rdl__nvrtc_load(library, &symbols, why)) return 0;
  note_path(&symbols, library, out_nvrtc);
  out_nvrtc->newest = newest_arch(&symbols);
  return symbols.nvrtcVersion(&out_nvrtc->major, &out_nvrtc->minor) == 0 && out_nvrtc->newest;
}

static int try_folder(const char *folder, const char *below, const char *name, rdl_nvrtc *out_nvrtc,
                      rdl_reason *why) {
  char path[RDL_NVRTC_PATH];
  if (!folder || !*folder) return 0;
  (void)snprintf(path, sizeof path, "%s%s/%s", folder, below, name);
  return try_library(path, out_nvrtc, why);
}

/* Where the loader looks, then the toolkit's folders. */
static int try_name(const char *name, rdl_nvrtc *out_nvrtc, rdl_reason *why) {
  return try_library(name, out_nvrtc, why) ||
         try_folder(getenv("CUDA_PATH"), "/lib64", name, out_nvrtc, why) ||
         try_folder(getenv("CUDA_HOME"), "/lib64", name, out_nvrtc, why) ||
         try_folder("/usr/local/cuda/lib64", "", name, out_nvrtc, why);
}

#define NEWEST_KNOWN 13
#define OLDEST_KNOWN 12

/* What an NVRTC of a later generation makes, the driver does not take for sure: so one of the
 * driver's own generation or an earlier one comes first. */
static int try_all(int driver_major, rdl_nvrtc *out_nvrtc, rdl_reason *why) {
  int first = driver_major < NEWEST_KNOWN ? driver_major : NEWEST_KNOWN;
  for (int major = first; major >= OLDEST_KNOWN; major--) {
    char name[32];
    (void)snprintf(name, sizeof name, "libnvrtc.so.%d", major);
    if (try_name(name, out_nvrtc, why)) return 1;
  }
  return try_name("libnvrtc.so", out_nvrtc, why);
}

rdl_status rdl__nvrtc_find(int driver_version, rdl_nvrtc *out_nvrtc, rdl_reason *why) {
  const char *named = getenv("RADDLE_NVRTC");
  int major = driver_version / 1000;
  int found;
  memset(out_nvrtc, 0, sizeof *out_nvrtc);
  (void)rdl__fail(
      RDL_UNAVAILABLE, why,
      "NVRTC, the compiler for NVIDIA GPUs, is not there. It comes with the CUDA "
      "toolkit, and alone as NVIDIA's package cuda-nvrtc-%d-0. Where it lies elsewhere, "
      "name its path in RADDLE_NVRTC. Tried:",
      major < NEWEST_KNOWN ? major : NEWEST_KNOWN);
  found = named && *named ? try_library(named, out_nvrtc, why) : try_all(major, out_nvrtc, why);
  if (!found) return RDL_UNAVAILABLE;
  rdl__reason_clear(why);
  return RDL_OK;
}

/* ---- compile ---- */

#define MOST_OPTIONS   16u
#define LONGEST_RESULT ((size_t)1 << 30)
#define LONGEST_ERRORS ((size_t)1 << 16)

/* ptxas takes half a minute for the scheduler's text on a slow processor. */
#define BUILD_TIMEOUT_S 300u

static rdl_status explain(const rdl_process *process, rdl_reason *why) {
  int is_late = process->ending == RDL_ENDED_BY_LIMIT;
  rdl__reason_clear(why);
  rdl__reason_append(why, "NVRTC ");
  rdl__helper_put_ending(process, why);
  rdl__reason_append(why,
                     " while it compiled the tasks. That was in a process of its own (%.500s): "
                     "this program and its contexts are unharmed.%s %.1000s",
                     process->command[0],
                     is_late ? " RADDLE_BUILD_TIMEOUT=SECONDS gives it more time." : "",
                     process->errors.bytes ? process->errors.bytes : "");
  return RDL_COMPILE;
}

static char *take_output(rdl_process *process) {
  char *bytes = process->output.bytes;
  process->output.bytes = NULL;
  return bytes;
}

static rdl_status take_result(rdl_process *process, rdl_nvrtc_binary *out_binary, char **out_log,
                              rdl_reason *why) {
  const char *words = process->output.bytes ? process->output.bytes : "";
  if (process->ending == RDL_ENDED_BY_ITSELF && process->code == RDL_CU_HELPER_MADE &&
      process->output.size) {
    out_binary->size = process->output.size;
    out_binary->bytes = take_output(process);
    return RDL_OK;
  }
  if (process->ending == RDL_ENDED_BY_ITSELF && process->code == RDL_CU_HELPER_ERRORS) {
    *out_log = take_output(process);
    return rdl__fail(RDL_COMPILE, why, "NVRTC did not compile the tasks, and does not say why.");
  }
  if (process->ending == RDL_ENDED_BY_ITSELF && process->code == RDL_CU_HELPER_FAILED)
    return rdl__fail(RDL_COMPILE, why, "%s", words);
  return explain(process, why);
}

rdl_status rdl__nvrtc_compile(const rdl_nvrtc *nvrtc, const char *options, const char *text,
                              size_t length, const bool *stop, rdl_nvrtc_binary *out_binary,
                              char **out_log, rdl_reason *why) {
  static const rdl_helper helper = {
      .name = "raddle-cuda-helper", .variable = "RADDLE_CUDA_HELPER", .purpose = "NVRTC compiles"};
  char path[RDL_HELPER_PATH], library[RDL_NVRTC_PATH], words[512];
  char *command[MOST_OPTIONS + 3] = {path, library};
  char *rest = words;
  size_t count = 2;
  rdl_process process = {.command = command,
                         .input = text,
                         .input_size = length,
                         .stop = stop,
                         .output = {.most = LONGEST_RESULT},
                         .errors = {.most = LONGEST_ERRORS, .keep_end = 1}};
  rdl_status status = rdl__helper_limit(BUILD_TIMEOUT_S, &process.limit_ns, why);
  *out_log = NULL;
  if (status == RDL_OK) status = rdl__helper_find(&helper, path, why);
  if (status != RDL_OK) return status;
  rdl__copy_text(library, sizeof library, nvrtc->path);
  rdl__copy_text(words, sizeof words, options);
  for (char *word; count < MOST_OPTIONS + 2 && (word = strtok_r(rest, " ", &rest));)
    command[count++] = word;
  status = rdl__process_run(&process, why);
  if (status != RDL_OK) return status;
  status = take_result(&process, out_binary, out_log, why);
  rdl__process_free(&process);
  return status;
}
