/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a helper lies: first of all where the environment says. Then the place is found from where
 * the library's code lies, so that an installed tree can be moved:
 *
 *   LIBRARY/raddle/        beside libraddle.so, installed or in the build tree
 *   PROGRAM/               beside the program, for one that has the library linked in
 *   PROGRAM/../lib/raddle  the same program in bin/ of an installed tree or of the build tree
 *   the folder that the library was configured for
 */
#include "backends/common/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/reason.h"

static int is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* The folder of a file, symbolic links resolved; 0 = there is no such file. */
static int folder_of(const char *file, char out_folder[PATH_MAX]) {
  char *slash;
  if (!realpath(file, out_folder)) return 0;
  slash = strrchr(out_folder, '/');
  if (!slash) return 0;
  *slash = 0;
  return 1;
}

/* Where the code of this file was loaded from. */
static int library_folder(char out_folder[PATH_MAX]) {
  static const char here = 0;
  Dl_info info;
  return dladdr(&here, &info) && info.dli_fname && folder_of(info.dli_fname, out_folder);
}

/* 1 = it is there; else the place is noted in `why`. */
static int look(const char *name, const char *folder, const char *below,
                char out_path[RDL_HELPER_PATH], rdl_reason *why) {
  int length = snprintf(out_path, RDL_HELPER_PATH, "%s%s/%s", folder, below, name);
  if (length > 0 && (size_t)length < RDL_HELPER_PATH && is_program(out_path)) return 1;
  rdl__reason_append(why, "\n  %s%s", folder, below);
  return 0;
}

static int look_around(const char *name, char out_path[RDL_HELPER_PATH], rdl_reason *why) {
  char folder[PATH_MAX];
  if (library_folder(folder) && look(name, folder, "/raddle", out_path, why)) return 1;
  if (folder_of("/proc/self/exe", folder) && (look(name, folder, "", out_path, why) ||
                                              look(name, folder, "/../lib/raddle", out_path, why)))
    return 1;
  return look(name, RDL_HELPER_FOLDER, "", out_path, why);
}

rdl_status rdl__helper_find(const rdl_helper *helper, char out_path[RDL_HELPER_PATH],
                            rdl_reason *why) {
  const char *named = getenv(helper->variable);
  if (named && *named) {
    rdl__copy_text(out_path, RDL_HELPER_PATH, named);
    if (is_program(out_path)) return RDL_OK;
    return rdl__fail(RDL_UNAVAILABLE, why,
                     "%s names %.500s, which is not a program. It has to be the path of %s, which "
                     "is installed with the library; without the variable it is looked for there.",
                     helper->variable, named, helper->name);
  }
  (void)rdl__fail(RDL_UNAVAILABLE, why,
                  "%s in a process of its own, and its program %s is in none of these folders:",
                  helper->purpose, helper->name);
  if (look_around(helper->name, out_path, why)) {
    rdl__reason_clear(why);
    return RDL_OK;
  }
  rdl__reason_append(why, "\nInstall it with the library, or name its path in %s.",
                     helper->variable);
  return RDL_UNAVAILABLE;
}

#define LONGEST_LIMIT_S 86400ul

rdl_status rdl__helper_limit(uint64_t seconds, uint64_t *out_ns, rdl_reason *why) {
  const char *text = getenv("RADDLE_BUILD_TIMEOUT");
  unsigned long asked = (unsigned long)seconds;
  if (text && *text) {
    char *end;
    errno = 0;
    asked = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || !asked || asked > LONGEST_LIMIT_S)
      return rdl__fail(RDL_INVALID, why,
                       "RADDLE_BUILD_TIMEOUT is '%.100s', and not a number of seconds from 1 to "
                       "%lu.",
                       text, LONGEST_LIMIT_S);
  }
  *out_ns = (uint64_t)asked * 1000000000u;
  return RDL_OK;
}

void rdl__helper_put_ending(const rdl_process *process, rdl_reason *why) {
  switch (process->ending) {
  case RDL_ENDED_BY_SIGNAL:
    rdl__reason_append(why, "crashed with %s%s", rdl__process_signal(process->code).text,
                       process->code == SIGKILL ? " (perhaps memory ran out)" : "");
    break;
  case RDL_ENDED_BY_LIMIT:
    rdl__reason_append(why, "did not end within %llu s",
                       (unsigned long long)(process->limit_ns / 1000000000u));
    break;
  case RDL_ENDED_BY_ITSELF:
    rdl__reason_append(why, "ended its process with exit status %d", process->code);
    break;
  case RDL_ENDED_SOMEHOW:
    rdl__reason_append(why, "ended its process (how is not known, for this program ignores SIGCHLD "
                            "or waits for every child)");
    break;
  }
}
