/* SPDX-License-Identifier: Apache-2.0 */
/* POR 3 and 4: the cache of compiled images, and machines without a driver. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/harness.h"

/* ---- POR 3 ---- */

/* A task file of its own for each run, so that nothing that this process holds is taken for it. */
static void answer_file(char *text, size_t size, uint32_t answer) {
  snprintf(text, size,
           "RDL_TASK(answer, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_RETURN(%uu);\n"
           "  RDL_END();\n}\n",
           answer);
}

static void check_answer(const char *cache_dir, uint32_t answer) {
  rdl_context_options options = bed_options();
  rdl_module *module;
  rdl_future f;
  char text[256];
  bed b;
  options.cache_dir = cache_dir;
  answer_file(text, sizeof text, answer);
  b = bed_open_with(NULL, &options);
  CHECK_OK(rdl_module_load_text(b.cx, "answer.task.c", text, strlen(text), &module));
  CHECK_OK(rdl_spawn(module, "answer", NULL, 0, NULL, &f));
  CHECK_EQ(answer, get(&b, f));
  bed_close(&b);
}

static char *new_folder(char *path, size_t size) {
  const char *base = getenv("TMPDIR");
  snprintf(path, size, "%s/raddle-conformance-XXXXXX", base ? base : "/tmp");
  CHECK(mkdtemp(path) != NULL);
  return path;
}

/* Calls `change` for every file in the folder and below; gives their number. */
static unsigned each_file(const char *folder, void (*change)(const char *path)) {
  DIR *dir = opendir(folder);
  struct dirent *entry;
  unsigned count = 0;
  CHECK(dir);
  while ((entry = readdir(dir))) {
    char path[4096];
    struct stat info;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path);
    if (lstat(path, &info)) continue;
    if (S_ISDIR(info.st_mode)) {
      count += each_file(path, change);
    } else {
      count++;
      if (change) change(path);
    }
  }
  closedir(dir);
  return count;
}

static void remove_file(const char *path) {
  CHECK(unlink(path) == 0);
}

static void remove_folder(const char *folder) {
  DIR *dir;
  struct dirent *entry;
  each_file(folder, remove_file);
  dir = opendir(folder);
  CHECK(dir);
  while ((entry = readdir(dir))) {
    char path[4096];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    remove_folder(path);
  }
  closedir(dir);
  rmdir(folder);
}

static void truncate_file(const char *path) {
  struct stat info;
  CHECK(stat(path, &info) == 0);
  CHECK(truncate(path, info.st_size / 2) == 0);
}

static void empty_file(const char *path) {
  CHECK(truncate(path, 0) == 0);
}

static void flip_bytes(const char *path) {
  FILE *file = fopen(path, "r+b");
  long size, k;
  CHECK(file);
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  for (k = 0; k < 20 && size > 0; k++) {
    long at = (long)chance((uint32_t)size);
    int c;
    fseek(file, at, SEEK_SET);
    c = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(c ^ 0x55, file);
  }
  fclose(file);
}

static void fill_with_noise(const char *path) {
  FILE *file = fopen(path, "wb");
  int k;
  CHECK(file);
  for (k = 0; k < 5000; k++)
    fputc((int)chance(256), file);
  fclose(file);
}

static void lengthen_file(const char *path) {
  FILE *file = fopen(path, "ab");
  CHECK(file);
  fputs("more", file);
  fclose(file);
}

static void open_to_others(const char *path) {
  CHECK(chmod(path, 0666) == 0);
}

/* Broken entries are not used: the answer is right all the same. */
void POR_3_broken_files(void) {
  static void (*const changes[])(const char *) = {truncate_file,   empty_file,    flip_bytes,
                                                  fill_with_noise, lengthen_file, open_to_others};
  char folder[4096];
  size_t k;
  new_folder(folder, sizeof folder);
  check_answer(folder, 42);
  CHECK(each_file(folder, NULL) > 0);
  check_answer(folder, 42);
  for (k = 0; k < sizeof changes / sizeof changes[0]; k++) {
    CHECK(each_file(folder, changes[k]) > 0);
    check_answer(folder, 42);
  }
  remove_folder(folder);
}

/* Other text is another entry, whatever the file is called. */
void POR_3_other_source(void) {
  char folder[4096];
  uint32_t k;
  new_folder(folder, sizeof folder);
  for (k = 0; k < 3; k++) {
    check_answer(folder, 100 + k);
    check_answer(folder, 100);
  }
  remove_folder(folder);
}

/* An entry that stands under another's name is not taken for it. */
static char swap_from[4096];

static void copy_over(const char *path) {
  char block[4096];
  FILE *from = fopen(swap_from, "rb"), *to;
  size_t n;
  if (strcmp(path, swap_from) == 0) {
    fclose(from);
    return;
  }
  to = fopen(path, "wb");
  CHECK(from && to);
  while ((n = fread(block, 1, sizeof block, from)) > 0)
    CHECK_EQ(n, fwrite(block, 1, n, to));
  fclose(from);
  fclose(to);
}

static void remember(const char *path) {
  snprintf(swap_from, sizeof swap_from, "%s", path);
}

void POR_3_wrong_name(void) {
  char folder[4096];
  new_folder(folder, sizeof folder);
  check_answer(folder, 7);
  each_file(folder, remember);
  check_answer(folder, 8);
  each_file(folder, copy_over);
  check_answer(folder, 7);
  check_answer(folder, 8);
  remove_folder(folder);
}

void POR_3_no_cache(void) {
  char folder[4096], below[4200];
  new_folder(folder, sizeof folder);
  check_answer("", 5);
  snprintf(below, sizeof below, "%s/a/b/c", folder);
  check_answer(below, 6);
  check_answer("/proc/no/such/folder", 5);
  remove_folder(folder);
}

/* Two processes fill one cache at the same time. */
void POR_3_race(void) {
  enum { PROCESSES = 2 };
  char folder[4096];
  pid_t children[PROCESSES];
  int k, status;
  new_folder(folder, sizeof folder);
  for (k = 0; k < PROCESSES; k++) {
    children[k] = fork();
    CHECK(children[k] >= 0);
    if (children[k] == 0) {
      check_answer(folder, 11);
      _exit(0);
    }
  }
  for (k = 0; k < PROCESSES; k++) {
    CHECK_EQ(children[k], waitpid(children[k], &status, 0));
    CHECK_EQ(0, status);
  }
  check_answer(folder, 11);
  remove_folder(folder);
}

/* ---- POR 4 ---- */

static void check_host_only(void) {
  static rdl_device_info infos[16];
  rdl_context *cx = NULL;
  size_t count = 0, k;
  bool host = false;
  CHECK_OK(rdl_devices(infos, 16, &count));
  CHECK_BETWEEN(1, count, 16);
  for (k = 0; k < count; k++) {
    CHECK(infos[k].selector[0] && infos[k].backend[0] && infos[k].name[0]);
    if (strcmp(infos[k].backend, "host") == 0) host = true;
    CHECK(strcmp(infos[k].backend, "opencl") != 0);
  }
  CHECK(host);
  CHECK_STATUS(RDL_UNAVAILABLE, rdl_context_open("opencl", &cx));
  CHECK(cx == NULL && rdl_error_text()[0]);
  CHECK_STATUS(RDL_UNAVAILABLE, rdl_context_open("opencl:0", &cx));
  CHECK_STATUS(RDL_UNAVAILABLE, rdl_context_open("opencl:pocl", &cx));
  CHECK_CONTAINS(rdl_error_text(), "OpenCL");
  unsetenv("RADDLE_DEVICE");
  CHECK_OK(rdl_context_open(NULL, &cx));
  CHECK_OK(rdl_context_close(cx));
}

/* The OpenCL loader is there and knows of no driver; one with a driver built in finds it anyway. */
void POR_4_no_driver(void) {
  static rdl_device_info infos[16];
  size_t count = 0, k;
  setenv("OCL_ICD_VENDORS", "/no/such/folder", 1);
  setenv("OPENCL_VENDOR_PATH", "/no/such/folder", 1);
  unsetenv("OCL_ICD_FILENAMES");
  CHECK_OK(rdl_devices(infos, 16, &count));
  for (k = 0; k < count && k < 16; k++)
    if (strcmp(infos[k].backend, "opencl") == 0)
      test_skip("this OpenCL loader finds %s without a folder of drivers", infos[k].name);
  check_host_only();
}

/* Not even the loader can be opened: this process starts itself again where it finds a false one.
 */
void POR_4_no_loader(void) {
  char folder[4096], path[4200], limit[16];
  FILE *file;
  pid_t child;
  int status = 0;
  if (getenv("CONFORMANCE_NO_LOADER")) {
    check_host_only();
    return;
  }
  new_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/libOpenCL.so.1", folder);
  file = fopen(path, "w");
  CHECK(file);
  fputs("not a library\n", file);
  fclose(file);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setenv("LD_LIBRARY_PATH", folder, 1);
    setenv("CONFORMANCE_NO_LOADER", "1", 1);
    snprintf(limit, sizeof limit, "%u", settings.segment_limit);
    execl("/proc/self/exe", "raddle-conformance", "--device", "host", "--segment-limit", limit,
          "--child", settings.name, (char *)NULL);
    _exit(127);
  }
  CHECK_EQ(child, waitpid(child, &status, 0));
  remove_folder(folder);
  if (status) test_fail(__FILE__, __LINE__, "the process without a loader ended with %#x", status);
}

/* What is listed can be opened by the name under which it is listed. */
void POR_4_listed(void) {
  static rdl_device_info infos[16], again[16];
  size_t count = 0, k, twice = 0;
  CHECK_OK(rdl_devices(infos, 16, &count));
  CHECK_OK(rdl_devices(again, 16, &twice));
  CHECK_EQ(count, twice);
  for (k = 0; k < count && k < 16; k++) {
    rdl_context_info info = {.size = sizeof info};
    rdl_context *cx = NULL;
    CHECK(strcmp(infos[k].selector, again[k].selector) == 0);
    if (!infos[k].usable) {
      CHECK(infos[k].missing[0]);
      CHECK_STATUS(RDL_UNSUPPORTED, rdl_context_open(infos[k].selector, &cx));
      continue;
    }
    CHECK_OK(rdl_context_open(infos[k].selector, &cx));
    CHECK_OK(rdl_context_describe(cx, &info));
    CHECK(strcmp(info.device.selector, infos[k].selector) == 0);
    CHECK(info.workers >= 1 && info.lanes >= 1 && info.heap_bytes > 0);
    CHECK_OK(rdl_context_close(cx));
  }
}
