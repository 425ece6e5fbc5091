/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where raddle-opencl-helper lies, first of all in $RADDLE_BUILD_HELPER. Then the place is found
 * from where the library's code lies, so that an installed tree can be moved:
 *
 *   LIBRARY/raddle/        beside libraddle.so, installed or in the build tree
 *   PROGRAM/               beside the program, for one that has the library linked in
 *   PROGRAM/../lib/raddle  the same program in bin/ of an installed tree or of the build tree
 *   the folder that the library was configured for
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/reason.h"
#include "backends/opencl/helper.h"

#define NAME "raddle-opencl-helper"

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
static int look(const char *folder, const char *below, char out_path[RDL_CL_HELPER_PATH],
                rdl_reason *why) {
  int length = snprintf(out_path, RDL_CL_HELPER_PATH, "%s%s/" NAME, folder, below);
  if (length > 0 && (size_t)length < RDL_CL_HELPER_PATH && is_program(out_path)) return 1;
  rdl__reason_append(why, "\n  %s%s", folder, below);
  return 0;
}

static int look_around(char out_path[RDL_CL_HELPER_PATH], rdl_reason *why) {
  char folder[PATH_MAX];
  if (library_folder(folder) && look(folder, "/raddle", out_path, why)) return 1;
  if (folder_of("/proc/self/exe", folder) &&
      (look(folder, "", out_path, why) || look(folder, "/../lib/raddle", out_path, why)))
    return 1;
  return look(RDL_CL_HELPER_FOLDER, "", out_path, why);
}

rdl_status rdl__cl_find_helper(char out_path[RDL_CL_HELPER_PATH], rdl_reason *why) {
  const char *named = getenv("RADDLE_BUILD_HELPER");
  if (named && *named) {
    rdl__copy_text(out_path, RDL_CL_HELPER_PATH, named);
    if (is_program(out_path)) return RDL_OK;
    return rdl__fail(RDL_UNAVAILABLE, why,
                     "RADDLE_BUILD_HELPER names %.500s, which is not a program. It has to be the "
                     "path of " NAME ", which is installed with the library; without the variable "
                     "it is looked for there.",
                     named);
  }
  (void)rdl__fail(RDL_UNAVAILABLE, why,
                  "OpenCL drivers compile in a process of their own, and its program " NAME
                  " is in none of these folders:");
  if (look_around(out_path, why)) {
    rdl__reason_clear(why);
    return RDL_OK;
  }
  rdl__reason_append(why,
                     "\nInstall it with the library, or name its path in RADDLE_BUILD_HELPER.");
  return RDL_UNAVAILABLE;
}
