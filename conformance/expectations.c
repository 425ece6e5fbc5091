/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of platforms, and what the caller insists on. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conformance/run.h"

#define MOST_EXPECTATIONS 128u

static bool has_part(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text; text++)
    if (strncasecmp(text, part, length) == 0) return true;
  return false;
}

/* The file of the platform that the device of this run belongs to. */
static const char *file_of_platform(void) {
  static const char *const platforms[][2] = {{"pocl", "pocl.txt"},
                                             {"rusticl", "rusticl.txt"},
                                             {"oclgrind", "oclgrind.txt"},
                                             {"intel", "intel.txt"},
                                             {"nvidia", "nvidia.txt"}};
  size_t k;
  if (strcmp(run_device.backend, "host") == 0) return "host.txt";
  if (strcmp(run_device.backend, "cuda") == 0) return "cuda.txt";
  for (k = 0; k < sizeof platforms / sizeof platforms[0]; k++)
    if (has_part(run_device.platform, platforms[k][0])) return platforms[k][1];
  return "opencl.txt";
}

static bool is_blank(const char *line) {
  return line[0] == '#' || line[strspn(line, " \t\n")] == '\0';
}

/* "pattern | unsupported | reason": NULL, or what is wrong with it. A pattern that fits no case is
 * a slip, or of a case that is gone. */
static const char *parse(const char *line, expectation *out) {
  char kind[32] = "";
  int fields = sscanf(line, " %63[^ |] | %31[^ |] | %191[^\n]", out->pattern, kind, out->reason);
  out->unsupported = strcmp(kind, "unsupported") == 0;
  if (fields != 3 || (!out->unsupported && strcmp(kind, "expected-failure") != 0))
    return "is not 'PATTERN | unsupported | reason' or 'PATTERN | expected-failure | reason'";
  return run_matches_any(out->pattern) ? NULL : "fits no case; --list lists them";
}

static expectation known[MOST_EXPECTATIONS];
static size_t known_count;

static bool read_lines(FILE *file, const char *path) {
  char line[512];
  unsigned number = 0;
  const char *wrong;
  while (fgets(line, sizeof line, file)) {
    number++;
    if (is_blank(line)) continue;
    wrong = known_count == MOST_EXPECTATIONS ? "is one too many" : parse(line, &known[known_count]);
    if (wrong) {
      fprintf(stderr, "raddle-conformance: %s:%u: this line %s\n", path, number, wrong);
      return false;
    }
    known_count++;
  }
  return true;
}

/* A folder without a file of this platform says that nothing is known of it. */
bool run_load_expectations(const char *folder) {
  char path[4608];
  FILE *file;
  bool good;
  if (!folder) folder = suite_path("expectations");
  snprintf(path, sizeof path, "%s/%s", folder, file_of_platform());
  file = fopen(path, "r");
  if (!file && errno == ENOENT && access(folder, X_OK) == 0) return true;
  if (!file) {
    fprintf(stderr, "raddle-conformance: %s: %s\n", path, strerror(errno));
    return false;
  }
  good = read_lines(file, path);
  fclose(file);
  return good;
}

const expectation *run_expects(const char *case_name) {
  size_t k;
  for (k = 0; k < known_count; k++)
    if (fnmatch(known[k].pattern, case_name, 0) == 0) return &known[k];
  return NULL;
}

/* ---- RADDLE_REQUIRE ---- */

/* The next selector of the list with commas between; false when there is none left. */
static bool next_required(const char **list, char *selector, size_t size) {
  size_t length;
  if (!*list) return false;
  *list += strspn(*list, ",");
  length = strcspn(*list, ",");
  snprintf(selector, size, "%.*s", (int)length, *list);
  *list += length;
  return length != 0;
}

bool run_requires(const char *selector) {
  const char *list = getenv("RADDLE_REQUIRE");
  char required[256];
  while (next_required(&list, required, sizeof required))
    if (strcasecmp(required, selector) == 0) return true;
  return false;
}

bool run_has_required_devices(void) {
  const char *list = getenv("RADDLE_REQUIRE");
  char required[256];
  rdl_context_info info;
  bool all = true;
  while (next_required(&list, required, sizeof required)) {
    if (run_describe(required, &info) == RDL_OK) continue;
    printf("RADDLE_REQUIRE wants '%s', which cannot be used: %s\n", required, rdl_error_text());
    all = false;
  }
  return all;
}
