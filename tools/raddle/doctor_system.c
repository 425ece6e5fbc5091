/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs and their nodes, the C compiler, the cache. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/cache.h"
#include "backends/common/file.h"
#include "backends/host/device.h"
#include "tools/raddle/doctor.h"

/* ---- GPUs ---- */

/* A vendor's number in /sys, parts of the names that its drivers' libraries have, and what brings
 * one. */
typedef struct gpu_vendor {
  const char *id;
  const char *name;
  const char *libraries[4];
  const char *cure;
} gpu_vendor;

static const gpu_vendor gpu_vendors[] = {
    {"0x10de",
     "NVIDIA",
     {"nvidia", NULL},
     "if the NVIDIA driver is installed: mkdir -p /etc/OpenCL/vendors; echo libnvidia-opencl.so.1 "
     "> "
     "/etc/OpenCL/vendors/nvidia.icd. In a container, give it the driver's `compute` capability"},
    {"0x1002",
     "AMD",
     {"amdocl", "Rusticl", NULL},
     "install ROCm's OpenCL driver, or Mesa's rusticl (Debian: mesa-opencl-icd)"},
    {"0x8086",
     "Intel",
     {"igdrcl", "Rusticl", NULL},
     "install Intel's driver (Debian: intel-opencl-icd), or Mesa's rusticl"},
};

static bool file_begins(const char *folder, const char *name, const char *text) {
  char path[4096];
  size_t size = 0;
  bool same;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  char *bytes = rdl__file_read(path, &size);
  same = bytes && strncmp(bytes, text, strlen(text)) == 0;
  free(bytes);
  return same;
}

/* Class 0x03 is that of display controllers, and GPUs without a display are 0x0302. */
static bool has_gpu(const doctor *d, const gpu_vendor *vendor) {
  char pattern[4096];
  glob_t found = {.gl_pathc = 0};
  bool any = false;
  (void)snprintf(pattern, sizeof pattern, "%s/sys/bus/pci/devices/*", d->root);
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc && !any; i++)
      any = file_begins(found.gl_pathv[i], "vendor", vendor->id) &&
            file_begins(found.gl_pathv[i], "class", "0x03");
  globfree(&found);
  if (any || strcmp(vendor->name, "NVIDIA") != 0) return any;
  (void)snprintf(pattern, sizeof pattern, "%s/proc/driver/nvidia/version", d->root);
  return access(pattern, F_OK) == 0;
}

void doctor_look_at_gpus(doctor *d, const char *drivers) {
  for (size_t i = 0; i < sizeof gpu_vendors / sizeof gpu_vendors[0]; i++) {
    const gpu_vendor *v = &gpu_vendors[i];
    bool driver = false;
    finding *f;
    for (size_t k = 0; v->libraries[k]; k++)
      if (strstr(drivers, v->libraries[k])) driver = true;
    if (driver || !has_gpu(d, v)) continue;
    f = doctor_find(d, SEVERITY_ERROR, "gpu-driver");
    DOCTOR_SAY(f->what, "there is a GPU of %s, and no OpenCL driver for it", v->name);
    DOCTOR_SAY(f->why, "the loader finds drivers by their .icd files only, so nothing can use it");
    DOCTOR_SAY(f->cure, "%s", v->cure);
  }
}

/* ---- nodes ---- */

static void look_at_node(doctor *d, const char *path) {
  finding *f;
  if (access(path, R_OK | W_OK) == 0 || errno != EACCES) return;
  f = doctor_find(d, SEVERITY_ERROR, "device-permission");
  DOCTOR_SAY(f->what, "you may not use %s", path);
  DOCTOR_SAY(f->why, "the driver of that device finds none, or none that works");
  DOCTOR_SAY(f->cure,
             "as root: usermod -aG $(stat -c %%G %s) YOU, then log in anew; in a container, "
             "pass the group on",
             path);
}

void doctor_look_at_nodes(doctor *d) {
  static const char *const nodes[] = {"/dev/dri/renderD*", "/dev/kfd", "/dev/nvidia[0-9]*",
                                      "/dev/nvidiactl", "/dev/nvidia-uvm"};
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
    char pattern[4096];
    glob_t found = {.gl_pathc = 0};
    (void)snprintf(pattern, sizeof pattern, "%s%s", d->root, nodes[i]);
    if (glob(pattern, 0, NULL, &found) == 0)
      for (size_t k = 0; k < found.gl_pathc; k++)
        look_at_node(d, found.gl_pathv[k]);
    globfree(&found);
  }
}

/* ---- the compiler ---- */

/* What the text of an image includes. */
static const char sample[] = "#include <sched.h>\n#include <stdint.h>\n#include <time.h>\n"
                             "int main(void) { return 0; }\n";

static void look_at_sample(doctor *d, const rdl_host_compiler *compiler) {
  static char options[][12] = {"-x", "c", "-c", "-o", "/dev/null", "-"};
  const size_t option_count = sizeof options / sizeof options[0];
  char *words[RDL_HOST_LONGEST_COMMAND + sizeof options / sizeof options[0] + 1] = {NULL};
  rdl_process process = {.command = words,
                         .input = sample,
                         .input_size = sizeof sample - 1,
                         .limit_ns = 60000000000u,
                         .output.most = (size_t)64 << 10};
  rdl_reason why = {""};
  size_t count = 0;
  finding *f;
  for (; compiler->command[count]; count++)
    words[count] = compiler->command[count];
  for (size_t i = 0; i < option_count; i++)
    words[count++] = options[i];
  bool ran = rdl__process_run(&process, &why) == RDL_OK;
  if (ran && process.ending == RDL_ENDED_BY_ITSELF && process.code == 0) {
    rdl__process_free(&process);
    return;
  }
  f = doctor_find(d, d->usable_opencl ? SEVERITY_WARNING : SEVERITY_ERROR, "compiler-broken");
  DOCTOR_SAY(f->what, "the C compiler %s does not compile an empty program: %.300s",
             compiler->command[0], ran && process.output.bytes ? process.output.bytes : why.text);
  DOCTOR_SAY(f->why, "the device `host` compiles task files with it");
  DOCTOR_SAY(f->cure, "on Debian, apt install gcc libc6-dev; or name another in RADDLE_CC");
  if (ran) rdl__process_free(&process);
}

void doctor_look_at_compiler(doctor *d) {
  rdl_host_compiler *compiler = calloc(1, sizeof *compiler);
  finding *f;
  if (!compiler) return;
  rdl__host_find_compiler(compiler);
  if (compiler->command[0]) {
    look_at_sample(d, compiler);
  } else {
    f = doctor_find(d, d->usable_opencl ? SEVERITY_WARNING : SEVERITY_ERROR, "compiler");
    DOCTOR_SAY(f->what, "no C compiler was found. %s", compiler->missing);
    DOCTOR_SAY(f->why, "the device `host` runs only what was compiled ahead%s",
               d->usable_opencl ? "" : ", and there is no other device");
    DOCTOR_SAY(f->cure, "on Debian, apt install gcc libc6-dev; or name one in RADDLE_CC");
  }
  free(compiler);
}

/* ---- the cache ---- */

static finding *find_cache(doctor *d) {
  finding *f = doctor_find(d, SEVERITY_WARNING, "cache");
  DOCTOR_SAY(f->why, "every program compiles its task files anew, which takes seconds");
  return f;
}

/* The folder itself, or the nearest one above it that is there, in which it would be made. */
static bool find_existing(char *path, struct stat *out_info) {
  while (stat(path, out_info) != 0) {
    char *slash = strrchr(path, '/');
    if (!slash || errno == EACCES) return false;
    slash[slash == path] = '\0';
    if (slash == path && stat(path, out_info) != 0) return false;
  }
  return true;
}

static void look_at_folder(doctor *d, const char *folder) {
  char path[RDL_CACHE_PATH];
  struct stat info;
  finding *f;
  memcpy(path, folder, sizeof path);
  bool there = find_existing(path, &info);
  bool whole = there && strcmp(path, folder) == 0;
  if (there && !S_ISDIR(info.st_mode)) {
    f = find_cache(d);
    DOCTOR_SAY(f->what, "the cache's folder would be %s, and %s is a file", folder, path);
    DOCTOR_SAY(f->cure, "move it away, or set XDG_CACHE_HOME to another folder");
  } else if (whole && (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))) {
    f = find_cache(d);
    DOCTOR_SAY(f->what, "the cache %s belongs to user %u with mode %03o, and you are user %u",
               folder, (unsigned)info.st_uid, (unsigned)(info.st_mode & 0777), (unsigned)geteuid());
    DOCTOR_SAY(f->cure, "a cache that others can write to is not used: chown it to yourself and "
                        "chmod go-w it, or set XDG_CACHE_HOME to another folder");
  } else if (!there || access(path, W_OK | X_OK) != 0) {
    f = find_cache(d);
    DOCTOR_SAY(f->what, "the cache %s cannot be written to: %s", folder, strerror(errno));
    DOCTOR_SAY(f->cure, "chmod u+rwx %s, or set XDG_CACHE_HOME to another folder", path);
  }
}

void doctor_look_at_cache(doctor *d) {
  rdl_cache *cache = calloc(1, sizeof *cache);
  finding *f;
  if (!cache) return;
  rdl__cache_open(cache, NULL);
  if (cache->folder[0]) {
    look_at_folder(d, cache->folder);
  } else {
    f = find_cache(d);
    DOCTOR_SAY(f->what, "there is no place for a cache: neither XDG_CACHE_HOME nor HOME is set");
    DOCTOR_SAY(f->cure, "set one of them to a folder that you can write to");
  }
  free(cache);
}
