/* SPDX-License-Identifier: Apache-2.0 */
/* Which OpenCL devices there are, and whether Raddle can run on them. */
#include <stdio.h>
#include <string.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"

#define MOST_PLATFORMS 16u

size_t rdl__cl_list(const rdl_cl *cl, rdl_cl_device out_devices[RDL_CL_MOST_DEVICES]) {
  cl_platform_id platforms[MOST_PLATFORMS];
  cl_uint platform_count = 0;
  size_t count = 0;
  if (cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) return 0;
  if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
  for (cl_uint p = 0; p < platform_count; p++) {
    cl_device_id ids[RDL_CL_MOST_DEVICES];
    cl_uint id_count = 0;
    if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, RDL_CL_MOST_DEVICES, ids, &id_count) !=
        CL_SUCCESS)
      continue;
    if (id_count > RDL_CL_MOST_DEVICES) id_count = RDL_CL_MOST_DEVICES;
    for (cl_uint d = 0; d < id_count && count < RDL_CL_MOST_DEVICES; d++)
      out_devices[count++] = (rdl_cl_device){platforms[p], ids[d]};
  }
  return count;
}

/* 0 for what the device does not know: questions came with versions. All numbers that are asked for
 * have 4 or 8 bytes, and the machine is little-endian or the answer has 8. */
uint64_t rdl__cl_number(const rdl_cl *cl, cl_device_id device, cl_device_info what) {
  union {
    cl_uint narrow;
    cl_ulong wide;
  } value = {.wide = 0};
  size_t size = 0;
  if (cl->clGetDeviceInfo(device, what, sizeof value, &value, &size) != CL_SUCCESS) return 0;
  return size == sizeof value.narrow ? value.narrow : value.wide;
}

static void device_text(const rdl_cl *cl, cl_device_id device, cl_device_info what, char *out,
                        size_t capacity) {
  char text[1024] = "";
  if (cl->clGetDeviceInfo(device, what, sizeof text - 1, text, NULL) != CL_SUCCESS) text[0] = 0;
  rdl__copy_text(out, capacity, text[0] ? text : "unknown");
}

/* "Portable Computing Language, OpenCL 3.0 PoCL 3.1": name and version, as far as they fit. */
static void platform_text(const rdl_cl *cl, cl_platform_id platform, char *out, size_t capacity) {
  char name[256] = "", version[1024] = "", both[1400];
  (void)cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
  (void)cl->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
  (void)snprintf(both, sizeof both, "%s, %s", name[0] ? name : "unknown platform", version);
  rdl__copy_text(out, capacity, both);
}

/* "OpenCL 3.0 ..." is 300. */
unsigned rdl__cl_version(const rdl_cl *cl, cl_device_id device) {
  char text[256];
  unsigned major = 0, minor = 0;
  device_text(cl, device, CL_DEVICE_VERSION, text, sizeof text);
  /* NOLINTNEXTLINE(cert-err34-c): a text of another form leaves zeros */
  if (sscanf(text, "OpenCL %u.%u", &major, &minor) != 2) return 0;
  return major * 100 + minor * 10;
}

/* What no probe could make up for. All else is found by trying when the device is opened. */
static const char *what_is_missing(const rdl_cl *cl, cl_device_id device) {
  if (!rdl__cl_number(cl, device, CL_DEVICE_AVAILABLE))
    return "availability (its driver says that it cannot be used now)";
  if (!rdl__cl_number(cl, device, CL_DEVICE_COMPILER_AVAILABLE)) return "a compiler in the driver";
  if (rdl__cl_number(cl, device, CL_DEVICE_ADDRESS_BITS) != 64) return "64-bit addresses";
  if (!(rdl__cl_number(cl, device, CL_DEVICE_ENDIAN_LITTLE))) return "little-endian memory";
  if (rdl__cl_version(cl, device) < 120) return "OpenCL 1.2";
  return NULL;
}

void rdl__cl_describe(const rdl_cl *cl, const rdl_cl_device *device, size_t index,
                      rdl_device_info *out_info) {
  const char *missing = what_is_missing(cl, device->id);
  memset(out_info, 0, sizeof *out_info);
  (void)snprintf(out_info->selector, sizeof out_info->selector, "opencl:%zu", index);
  rdl__copy_text(out_info->backend, sizeof out_info->backend, "opencl");
  device_text(cl, device->id, CL_DEVICE_NAME, out_info->name, sizeof out_info->name);
  device_text(cl, device->id, CL_DRIVER_VERSION, out_info->driver, sizeof out_info->driver);
  platform_text(cl, device->platform, out_info->platform, sizeof out_info->platform);
  out_info->compute_units = (uint32_t)rdl__cl_number(cl, device->id, CL_DEVICE_MAX_COMPUTE_UNITS);
  out_info->native = device->id;
  out_info->usable = missing == NULL;
  rdl__copy_text(out_info->missing, sizeof out_info->missing, missing ? missing : "");
}
