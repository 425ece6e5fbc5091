/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `raddle doctor` share. */
#ifndef RADDLE_DOCTOR_H
#define RADDLE_DOCTOR_H

#include "backends/common/process.h"
#include "tools/raddle/command.h"

typedef enum severity {
  SEVERITY_INFO,    /* of a driver or device that nobody needs here, for another one is used */
  SEVERITY_WARNING, /* Raddle works, and less well than it could */
  SEVERITY_ERROR    /* a device, or Raddle itself, cannot be used */
} severity;

typedef struct finding {
  severity severity;
  const char *name; /* one word, for programs */
  bool spare;       /* a warning that is only information where another device is used */
  char what[512];
  char why[768];  /* why it matters */
  char cure[768]; /* what to do */
} finding;

enum { DOCTOR_MOST = 64 };

typedef struct doctor {
  finding findings[DOCTOR_MOST];
  size_t count;
  bool usable_opencl; /* an OpenCL device that Raddle can use */
  bool good_choice;   /* the device that programs take has no finding that is spare */
  const char *root;   /* goes before /dev, /sys and /proc; "" but in tests */
} doctor;

/* The next finding, to be filled in; the last one again when there are too many. */
finding *doctor_find(doctor *d, severity s, const char *name);

/* Fills one of its texts; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) void doctor_say(char *field, size_t size, const char *format,
                                                      ...);
#define DOCTOR_SAY(field, ...) doctor_say((field), sizeof(field), __VA_ARGS__)

/* ---- doctor_drivers.c: the loader, its drivers and their devices ---- */

void doctor_look_at_drivers(doctor *d);
void doctor_look_at_devices(doctor *d);

/* How the doctor calls itself: what it tries there may crash. */
int doctor_try_library(const char *library);
int doctor_list_platforms(void);

/* ---- doctor_system.c: what the system grants ---- */

/* Behind the drivers: whether one of them is for a GPU that is there, and whether there is a device
 * without a compiler. */
void doctor_look_at_gpus(doctor *d, const char *drivers);
void doctor_look_at_nodes(doctor *d);
void doctor_look_at_compiler(doctor *d);
void doctor_look_at_cache(doctor *d);

#endif
