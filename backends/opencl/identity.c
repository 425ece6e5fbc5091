/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/identity.h"

#include <string.h>

#include "backends/common/reason.h"
#include "backends/opencl/device.h"

static void device_text(const rdl_cl *cl, cl_device_id device, cl_device_info what, char *out,
                        size_t capacity) {
  char text[1024] = "";
  if (cl->clGetDeviceInfo(device, what, sizeof text - 1, text, NULL) != CL_SUCCESS) text[0] = 0;
  rdl__copy_text(out, capacity, text);
}

static void platform_text(const rdl_cl *cl, cl_device_id device, cl_platform_info what, char *out,
                          size_t capacity) {
  char text[1024] = "";
  cl_platform_id platform = NULL;
  if (cl->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL) !=
          CL_SUCCESS ||
      cl->clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
    text[0] = 0;
  rdl__copy_text(out, capacity, text);
}

void rdl__cl_identify(const rdl_cl *cl, cl_device_id device, rdl_cl_identity *out_identity) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  size_t count = rdl__cl_list(cl, devices);
  memset(out_identity, 0, sizeof *out_identity);
  platform_text(cl, device, CL_PLATFORM_NAME, out_identity->platform,
                sizeof out_identity->platform);
  platform_text(cl, device, CL_PLATFORM_VERSION, out_identity->version,
                sizeof out_identity->version);
  device_text(cl, device, CL_DEVICE_NAME, out_identity->name, sizeof out_identity->name);
  device_text(cl, device, CL_DRIVER_VERSION, out_identity->driver, sizeof out_identity->driver);
  for (size_t i = 0; i < count; i++)
    if (devices[i].id == device) out_identity->index = i;
}

static int is_same(const rdl_cl_identity *a, const rdl_cl_identity *b) {
  return strcmp(a->platform, b->platform) == 0 && strcmp(a->version, b->version) == 0 &&
         strcmp(a->name, b->name) == 0 && strcmp(a->driver, b->driver) == 0 && a->index == b->index;
}

rdl_status rdl__cl_find_device(const rdl_cl *cl, const rdl_cl_identity *identity,
                               cl_device_id *out_device, rdl_reason *why) {
  rdl_cl_device devices[RDL_CL_MOST_DEVICES];
  size_t count = rdl__cl_list(cl, devices);
  rdl_cl_identity found = {.index = 0};
  if (identity->index < count) {
    rdl__cl_identify(cl, devices[identity->index].id, &found);
    if (is_same(identity, &found)) {
      *out_device = devices[identity->index].id;
      return RDL_OK;
    }
  }
  return rdl__fail(
      RDL_UNAVAILABLE, why,
      "A process of its own, in which the OpenCL driver shall compile, sees %zu devices "
      "and at place %llu '%s' (%s, %s), not '%s' (%s, %s). The environment that the "
      "OpenCL loader reads has to be the same from a program's start on.",
      count, (unsigned long long)identity->index, found.name, found.driver, found.platform,
      identity->name, identity->driver, identity->platform);
}

void rdl__cl_identity_add(rdl_parcel *parcel, const rdl_cl_identity *identity) {
  rdl__parcel_add_text(parcel, identity->platform);
  rdl__parcel_add_text(parcel, identity->version);
  rdl__parcel_add_text(parcel, identity->name);
  rdl__parcel_add_text(parcel, identity->driver);
  rdl__parcel_add_number(parcel, identity->index);
}

static void take_text(rdl_parcel_reader *reader, char *out, size_t capacity) {
  rdl__copy_text(out, capacity, rdl__parcel_take(reader, NULL));
}

void rdl__cl_identity_take(rdl_parcel_reader *reader, rdl_cl_identity *out_identity) {
  take_text(reader, out_identity->platform, sizeof out_identity->platform);
  take_text(reader, out_identity->version, sizeof out_identity->version);
  take_text(reader, out_identity->name, sizeof out_identity->name);
  take_text(reader, out_identity->driver, sizeof out_identity->driver);
  out_identity->index = rdl__parcel_take_number(reader);
}
