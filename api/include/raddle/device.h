/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of this machine. Listing them opens no context and needs no driver: a machine without
 * any still has the host.
 *
 * A selector names one of them:
 *
 *   host, cuda, opencl   a backend: its first device that Raddle can use
 *   cuda:0, opencl:0     a backend and a number, in the order of its driver
 *   opencl:pocl          a backend and whole words of the device's name or platform, in any case
 *                        and unchanged: "pocl" and "portable computing", but not "poc" or "table"
 *
 * Words that fit several devices which differ are refused, and so is what fits none: the error text
 * lists the devices that there are. Devices that Raddle cannot use do not count beside one that it
 * can, and of devices with the same name and platform the first is taken. */
#ifndef RDL_DEVICE_H
#define RDL_DEVICE_H

#include <raddle/export.h>
#include <raddle/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdl_device_info {
  char selector[32];  /* opens exactly this device: "host", "opencl:pocl"; with a number where no
                         word tells it apart */
  char backend[16];   /* "host", "opencl", "cuda" */
  char name[128];     /* as its driver says */
  char platform[128]; /* vendor's platform and version */
  char driver[128];
  uint32_t compute_units;
  uint32_t usable;   /* 0 = Raddle cannot run on it; `missing` says what it lacks */
  char missing[128]; /* empty when usable */
  void *native;      /* what its driver calls it: opencl, the cl_device_id; NULL of the host */
} rdl_device_info;

/* Stores up to `capacity` devices, best first, and how many there are in `*out_count`. `infos` may
 * be NULL with capacity 0. Any thread; does not block for long (drivers are loaded the first time).
 * Returns RDL_INVALID for a NULL it cannot do without. */
RDL_API RDL_MUST_CHECK rdl_status rdl_devices(rdl_device_info *infos, size_t capacity,
                                              size_t *out_count);

/* One thing that a device can do, or how much of it, as a name and a text whose first word is the
 * answer: "loop_budget" "65535", "clock" "none (it does not compile)". docs/capabilities.md has the
 * names. */
typedef struct rdl_capability {
  char name[32];
  char value[96];
  uint32_t probed; /* 1 = Raddle tried it; 0 = the driver claims it */
} rdl_capability;

/* Flags of a question for capabilities. */
#define RDL_REPROBE 1u /* try everything again, whatever the cache holds */

/* What the device of a selector can do; NULL as in rdl_context_open. It may be one that Raddle
 * cannot use: "usable" then says why. Stores up to `capacity` rows, and how many there are in
 * `*out_count`; 64 are enough for every device of this version. `out` may be NULL with capacity 0.
 *
 * Much of it is tried on the device. The first time that takes some seconds, in a process of its
 * own, and a driver that crashes or hangs there costs one answer; then the answers come from the
 * cache. Any thread; blocks. Where nothing can be tried there are the driver's claims, and "probes"
 * says why. Returns RDL_INVALID for a NULL it cannot do without, unknown flags, or a selector that
 * fits several devices, RDL_NOT_FOUND or RDL_UNAVAILABLE for one that fits none. */
RDL_API RDL_MUST_CHECK rdl_status rdl_device_capabilities(const char *selector, uint32_t flags,
                                                          rdl_capability *out, size_t capacity,
                                                          size_t *out_count);

#ifdef __cplusplus
}
#endif

#endif
