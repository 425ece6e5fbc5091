/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL loader, the drivers that it finds, and the devices that they have. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/file.h"
#include "tools/raddle/doctor.h"

#define LOADER       "libOpenCL.so.1"
#define VENDORS      "/etc/OpenCL/vendors"
#define LIMIT_NS     60000000000u
#define LONGEST_TEXT ((size_t)64 << 10)

/* ---- what may crash, in a process of its own ---- */

/* The drivers print to standard error what they like; what the doctor says to itself is output. */
int doctor_try_library(const char *library) {
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL)) return EXIT_OK;
  printf("%s\n", dlerror());
  return EXIT_FAILED;
}

/* Four functions of OpenCL 1.0, declared here so that the command needs no header of it. */
typedef int32_t platform_ids(uint32_t room, void **out_platforms, uint32_t *out_count);
typedef int32_t platform_text(void *platform, uint32_t what, size_t size, void *out,
                              size_t *out_size);
typedef int32_t device_ids(void *platform, uint64_t type, uint32_t room, void **out_devices,
                           uint32_t *out_count);

#define PLATFORM_NAME  0x0902u
#define ALL_DEVICES    0xffffffffu
#define MOST_PLATFORMS 32u

/* ISO C has no cast from a data pointer to a function's. */
static bool find_function(void *loader, const char *name, void *out, size_t size) {
  void *symbol = dlsym(loader, name);
  memcpy(out, &symbol, size);
  return symbol != NULL;
}

static int print_platforms(void *loader) {
  platform_ids *list = NULL;
  platform_text *text = NULL;
  device_ids *devices = NULL;
  void *platforms[MOST_PLATFORMS];
  uint32_t count = 0;
  if (!find_function(loader, "clGetPlatformIDs", &list, sizeof list) ||
      !find_function(loader, "clGetPlatformInfo", &text, sizeof text) ||
      !find_function(loader, "clGetDeviceIDs", &devices, sizeof devices))
    return EXIT_FAILED;
  if (list(MOST_PLATFORMS, platforms, &count) != 0) return EXIT_OK;
  for (uint32_t i = 0; i < count && i < MOST_PLATFORMS; i++) {
    char name[256] = "";
    uint32_t found = 0;
    (void)text(platforms[i], PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (devices(platforms[i], ALL_DEVICES, 0, NULL, &found) != 0) found = 0;
    printf("%u %s\n", found, name);
  }
  return EXIT_OK;
}

int doctor_list_platforms(void) {
  void *loader = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
  if (loader) return print_platforms(loader);
  printf("%s\n", dlerror());
  return EXIT_FAILED;
}

/* posix_spawn wants pointers that it could write through, and does not. */
static char *word_of(const char *text) {
  union {
    const char *in;
    char *out;
  } word = {text};
  return word.out;
}

/* False: it could not even be started, and then there is nothing to tell. */
static bool call_self(const char *option, const char *value, rdl_process *out) {
  char path[4096];
  char *words[] = {path, word_of("doctor"), word_of(option), word_of(value), NULL};
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  rdl_reason why;
  if (length <= 0) return false;
  path[length] = '\0';
  *out = (rdl_process){.command = words,
                       .limit_ns = LIMIT_NS,
                       .output.most = LONGEST_TEXT,
                       .errors.most = LONGEST_TEXT};
  return rdl__process_run(out, &why) == RDL_OK;
}

/* What it said, without the end of the line. */
static const char *said(rdl_process *process) {
  if (!process->output.bytes) return "";
  process->output.bytes[strcspn(process->output.bytes, "\n")] = '\0';
  return process->output.bytes;
}

/* "crashed (SIGSEGV)", or NULL when it ended by itself. */
static const char *how_badly(const rdl_process *process, char *out, size_t size) {
  if (process->ending == RDL_ENDED_BY_SIGNAL)
    (void)snprintf(out, size, "crashed (%s)", rdl__process_signal(process->code).text);
  else if (process->ending == RDL_ENDED_BY_LIMIT)
    (void)snprintf(out, size, "did not end in %u s", (unsigned)(LIMIT_NS / 1000000000u));
  else
    return NULL;
  return out;
}

/* ---- drivers ---- */

static void look_at_library(doctor *d, const char *file, const char *library) {
  rdl_process process;
  char badly[64];
  finding *f;
  if (!call_self("--try-library", library, &process)) return;
  if (how_badly(&process, badly, sizeof badly)) {
    f = doctor_find(d, SEVERITY_ERROR, "driver-crashes");
    DOCTOR_SAY(f->what, "the driver %s of %s %s when it was loaded", library, file, badly);
    DOCTOR_SAY(f->why, "every program that asks OpenCL for devices ends in the same way");
    DOCTOR_SAY(f->cure, "update the driver, or remove %s until there is one that works", file);
  } else if (process.code != EXIT_OK) {
    f = doctor_find(d, SEVERITY_ERROR, "driver-library");
    DOCTOR_SAY(f->what, "%s names the driver %s, which cannot be opened: %s", file, library,
               said(&process));
    DOCTOR_SAY(f->why, "the loader leaves its devices out without a word");
    DOCTOR_SAY(f->cure, "install the package that brings %s, or remove %s", library, file);
  }
  rdl__process_free(&process);
}

/* What all drivers are called, for who looks for one of them. */
typedef struct drivers {
  char names[4096];
  size_t count;
} drivers;

static void look_at_driver(doctor *d, const char *path, drivers *all) {
  size_t size = 0, used = strlen(all->names);
  char *text = rdl__file_read(path, &size);
  finding *f;
  all->count++;
  if (text) {
    char *library = text + strspn(text, " \t\r\n");
    library[strcspn(library, " \t\r\n")] = '\0';
    (void)snprintf(all->names + used, sizeof all->names - used, "%s ", library);
    look_at_library(d, path, library);
    free(text);
    return;
  }
  f = doctor_find(d, SEVERITY_ERROR, "driver-file");
  DOCTOR_SAY(f->what, "%s cannot be read: %s", path, strerror(errno));
  DOCTOR_SAY(f->why, "the loader leaves the devices of this driver out without a word");
  DOCTOR_SAY(f->cure, "chmod a+r %s", path);
}

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), n = strlen(end);
  return length > n && strcmp(text + length - n, end) == 0;
}

static void look_at_folder(doctor *d, const char *path, drivers *all) {
  struct dirent **entries = NULL;
  int count = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char file[4096];
    int put = snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
    if (put > 0 && (size_t)put < sizeof file && ends_in(file, ".icd")) look_at_driver(d, file, all);
    free(entries[i]);
  }
  free(entries);
}

static bool look_at_loader(doctor *d) {
  rdl_process process;
  char badly[64];
  finding *f;
  bool good = true;
  if (!call_self("--try-library", LOADER, &process)) return true;
  if (process.code != EXIT_OK || how_badly(&process, badly, sizeof badly)) {
    f = doctor_find(d, SEVERITY_ERROR, "loader");
    DOCTOR_SAY(f->what, "there is no OpenCL loader: %s", said(&process));
    DOCTOR_SAY(f->why, "no OpenCL device can be used, only the host");
    DOCTOR_SAY(f->cure, "on Debian, apt install ocl-icd-libopencl1, and a driver: for the CPU "
                        "pocl-opencl-icd");
    good = false;
  }
  rdl__process_free(&process);
  return good;
}

void doctor_look_at_drivers(doctor *d) {
  const char *path = getenv("OCL_ICD_VENDORS");
  const char *libraries = getenv("OCL_ICD_FILENAMES");
  drivers all = {"", 0};
  struct stat info;
  bool loader = look_at_loader(d);
  if (!path || !*path) path = VENDORS;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    look_at_folder(d, path, &all);
  else if (ends_in(path, ".icd"))
    look_at_driver(d, path, &all);
  if (libraries && *libraries) {
    size_t used = strlen(all.names);
    (void)snprintf(all.names + used, sizeof all.names - used, "%s ", libraries);
    all.count++;
  }
  if (loader && !all.count) {
    finding *f = doctor_find(d, SEVERITY_ERROR, "drivers");
    DOCTOR_SAY(f->what, "the OpenCL loader has no drivers: there is no .icd file in %s", path);
    DOCTOR_SAY(f->why, "there is no OpenCL device without a driver, only the host");
    DOCTOR_SAY(f->cure, "install one; on Debian, apt install pocl-opencl-icd makes a device of the "
                        "CPU");
  }
  doctor_look_at_gpus(d, all.names);
}

/* ---- platforms ---- */

static void look_at_platform(doctor *d, const char *name) {
  bool rusticl = strcmp(name, "rusticl") == 0;
  finding *f = doctor_find(d, SEVERITY_WARNING, "platform-empty");
  f->spare = true;
  DOCTOR_SAY(f->what, "the OpenCL platform %s has no device", name);
  DOCTOR_SAY(f->why, "its driver is installed, and nothing can be run on it");
  if (rusticl)
    DOCTOR_SAY(f->cure, "set RUSTICL_ENABLE to the drivers that it may use: radeonsi, iris, or "
                        "llvmpipe for the CPU");
  else
    DOCTOR_SAY(f->cure, "look whether its hardware is there and you may use it, or remove the "
                        "driver");
}

/* False: to ask the drivers here would end this program. */
static bool look_at_platforms(doctor *d) {
  rdl_process process;
  char badly[64];
  char *rest = NULL;
  bool good = true;
  if (!call_self("--list-platforms", NULL, &process)) return true;
  if (how_badly(&process, badly, sizeof badly)) {
    finding *f = doctor_find(d, SEVERITY_ERROR, "drivers-crash");
    DOCTOR_SAY(f->what, "a program that asked OpenCL for its platforms and devices %s", badly);
    DOCTOR_SAY(f->why, "every program that looks for devices ends in the same way, those of Raddle "
                       "too");
    DOCTOR_SAY(f->cure, "find the driver: set OCL_ICD_VENDORS to one .icd file after the other");
    good = false;
  }
  for (char *line = process.output.bytes ? strtok_r(process.output.bytes, "\n", &rest) : NULL;
       line && process.code == EXIT_OK; line = strtok_r(NULL, "\n", &rest))
    if (strncmp(line, "0 ", 2) == 0) look_at_platform(d, line + 2);
  rdl__process_free(&process);
  return good;
}

/* ---- devices ---- */

/* What is known of drivers beyond what they say: parts of the texts of platform and device. */
typedef struct bad_driver {
  const char *platform;
  const char *device;
  const char *what;
  const char *why;
  const char *cure;
  bool crawls; /* to probe it would take many minutes */
} bad_driver;

static const bad_driver bad_drivers[] = {
    {"rusticl", "llvmpipe", "is Mesa's llvmpipe",
     "without a word it ends loops after 65,535 turns in a launch, and takes wrong branches beyond "
     "79 levels",
     "use PoCL for the CPU; on Debian, apt install pocl-opencl-icd", false},
    {"Clover", "", "is Mesa's Clover", "it is OpenCL 1.1 and no longer developed",
     "use rusticl of a newer Mesa, or the vendor's driver", false},
    {"Oclgrind", "", "is Oclgrind",
     "it interprets kernels to find their errors, many times slower than a device runs them",
     "leave it to tests: set OCL_ICD_VENDORS only there", true},
};

/* True: it is no use to probe the device. */
static bool look_at_driver_version(doctor *d, const rdl_device_info *info) {
  bool crawls = false;
  for (size_t i = 0; i < sizeof bad_drivers / sizeof bad_drivers[0]; i++) {
    const bad_driver *b = &bad_drivers[i];
    finding *f;
    if (!strstr(info->platform, b->platform) || !strstr(info->name, b->device)) continue;
    f = doctor_find(d, SEVERITY_WARNING, "driver-bad");
    f->spare = true;
    DOCTOR_SAY(f->what, "%s (%s) %s", info->selector, info->driver, b->what);
    DOCTOR_SAY(f->why, "%s", b->why);
    DOCTOR_SAY(f->cure, "%s", b->cure);
    crawls = crawls || b->crawls;
  }
  return crawls;
}

static void look_at_usable(doctor *d, const rdl_device_info *info) {
  finding *f;
  if (info->usable) {
    if (strcmp(info->backend, "host") != 0) d->usable_opencl = true;
    return;
  }
  f = doctor_find(d, SEVERITY_WARNING, "device-unusable");
  f->spare = true;
  DOCTOR_SAY(f->what, "%s (%s) lacks %s", info->selector, info->name, info->missing);
  DOCTOR_SAY(f->why, "Raddle cannot run on it");
  DOCTOR_SAY(f->cure, "a newer driver may have it; 'raddle devices -v' tells all that it has");
}

/* PoCL has a thread for each compute unit. */
static void look_at_threads(doctor *d, const rdl_device_info *info) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  finding *f;
  if (!strstr(info->platform, "PoCL") || cores < 1) return;
  if (info->compute_units == (uint32_t)cores) return;
  f = doctor_find(d, SEVERITY_WARNING, "pocl-threads");
  DOCTOR_SAY(f->what, "PoCL runs %u threads, and this machine has %ld cores", info->compute_units,
             cores);
  DOCTOR_SAY(f->why, "%s",
             info->compute_units > (uint32_t)cores
                 ? "threads beyond the cores take turns, and whoever waits for one "
                   "that has none waits long"
                 : "the other cores stay idle");
  DOCTOR_SAY(f->cure, "unset POCL_MAX_PTHREAD_COUNT and POCL_CPU_MAX_CU_COUNT, if they are set");
}

/* "none" or a number, and perhaps more. */
static unsigned long number_of(const command_capabilities *c, const char *name) {
  return strtoul(command_capability(c, name), NULL, 10);
}

static void look_at_capabilities(doctor *d, const rdl_device_info *info,
                                 const command_capabilities *c) {
  unsigned long groups = number_of(c, "resident_groups");
  unsigned long turns = number_of(c, "loop_budget");
  const char *probes = command_capability(c, "probes");
  finding *f;
  if (groups && groups < info->compute_units) {
    f = doctor_find(d, SEVERITY_WARNING, "residency");
    DOCTOR_SAY(f->what,
               "%s says that it has %u compute units, and was seen to run %lu work-groups "
               "at once",
               info->selector, info->compute_units, groups);
    DOCTOR_SAY(f->why, "more workers than that only wait for one another");
    DOCTOR_SAY(f->cure,
               "nothing, if it was busy: 'raddle devices --reprobe' looks again. Else give "
               "no more workers than %lu",
               groups);
  }
  if (turns) {
    f = doctor_find(d, SEVERITY_WARNING, "loop-budget");
    DOCTOR_SAY(f->what, "%s ends all loops of a kernel after %lu turns together", info->selector,
               turns);
    DOCTOR_SAY(f->why, "a task that loops longer in one segment fails with RDL_LOOP_BUDGET, and to "
                       "start kernels for a segment or two each takes milliseconds");
    DOCTOR_SAY(f->cure, "keep the segments of tasks short there: await or yield in long loops");
  }
  if (strncmp(command_capability(c, "resume_points"), "wrong", 5) == 0) {
    f = doctor_find(d, SEVERITY_WARNING, "resume-points");
    DOCTOR_SAY(f->what, "the compiler of %s is wrong about segments that begin inside loops",
               info->selector);
    DOCTOR_SAY(f->why, "some tasks would give wrong results, so the device is refused");
    DOCTOR_SAY(f->cure, "a newer driver, of which 'raddle devices --reprobe' asks anew; or another "
                        "device");
  }
  if (*probes) {
    f = doctor_find(d, SEVERITY_WARNING, "probes");
    DOCTOR_SAY(f->what, "%s could not be probed: %s", info->selector, probes);
    DOCTOR_SAY(f->why, "what its driver claims has to be believed");
    DOCTOR_SAY(f->cure, "install the whole of Raddle, its helper program too, or see "
                        "RADDLE_BUILD_HELPER");
  }
}

static void look_at_device(doctor *d, const rdl_device_info *info) {
  command_capabilities *c;
  look_at_usable(d, info);
  look_at_threads(d, info);
  if (look_at_driver_version(d, info) || strcmp(info->backend, "host") == 0) return;
  c = calloc(1, sizeof *c);
  if (c && command_find_capabilities(info->selector, 0, c)) look_at_capabilities(d, info, c);
  free(c);
}

/* A device with one finding that is spare is a spare one, and all that is found of it is so. */
static bool mark_spare(doctor *d, size_t first) {
  bool spare = false;
  for (size_t i = first; i < d->count; i++)
    spare = spare || d->findings[i].spare;
  for (size_t i = first; i < d->count; i++)
    d->findings[i].spare = spare;
  return spare;
}

/* Whether programs take this device: the one that the user has named, else the first of OpenCL. The
 * host alone is taken for want of another, and does not make others spare. */
static bool is_taken(const rdl_device_info *info, bool is_first) {
  const char *selector = getenv("RADDLE_DEVICE");
  if (!info->usable) return false;
  if (!selector || !*selector || strcmp(selector, "opencl") == 0) return is_first;
  return strcmp(selector, info->selector) == 0;
}

static void lower_spare(doctor *d) {
  for (size_t i = 0; i < d->count && d->good_choice; i++)
    if (d->findings[i].spare && d->findings[i].severity == SEVERITY_WARNING)
      d->findings[i].severity = SEVERITY_INFO;
}

static bool fits(const char *selector, const rdl_device_info *infos, size_t count) {
  command_capabilities *c = calloc(1, sizeof *c);
  bool good = false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(infos[i].selector, selector) == 0 || strcmp(infos[i].backend, selector) == 0)
      good = true;
  if (!good) good = c && command_find_capabilities(selector, 0, c);
  free(c);
  return good;
}

static void look_at_choice(doctor *d, const rdl_device_info *infos, size_t count) {
  const char *selector = getenv("RADDLE_DEVICE");
  finding *f;
  if (!selector || !*selector || fits(selector, infos, count)) return;
  f = doctor_find(d, SEVERITY_ERROR, "device-choice");
  DOCTOR_SAY(f->what, "RADDLE_DEVICE is %s: %s", selector, rdl_error_text());
  DOCTOR_SAY(f->why, "programs that leave the choice of a device to it open none");
  DOCTOR_SAY(f->cure, "unset it, or set it to a selector that 'raddle devices' lists");
}

void doctor_look_at_devices(doctor *d) {
  size_t count = 0;
  rdl_device_info *infos;
  if (!look_at_platforms(d)) return;
  infos = command_find_devices(&count);
  for (size_t i = 0; infos && i < count; i++) { /* the best comes first */
    size_t before = d->count;
    bool had_one = d->usable_opencl;
    look_at_device(d, &infos[i]);
    if (!mark_spare(d, before) && is_taken(&infos[i], !had_one && d->usable_opencl))
      d->good_choice = true;
  }
  lower_spare(d);
  if (infos) look_at_choice(d, infos, count);
  free(infos);
}
