/* SPDX-License-Identifier: Apache-2.0 */
/* What tells a device from all others, in this process and in one that it starts. */
#ifndef RDL_OPENCL_IDENTITY_H
#define RDL_OPENCL_IDENTITY_H

#include <raddle/backend.h>
#include <stdint.h>

#include "backends/opencl/parcel.h"
#include "backends/opencl/symbols.h"

typedef struct rdl_cl_identity {
  char platform[256]; /* name */
  char version[256];  /* of the platform */
  char name[256];
  char driver[256]; /* version */
  uint64_t index;   /* among all devices: tells those of one kind apart */
} rdl_cl_identity;

void rdl__cl_identify(const rdl_cl *cl, cl_device_id device, rdl_cl_identity *out_identity);

/* The device in this process. RDL_UNAVAILABLE: it is not here. */
rdl_status rdl__cl_find_device(const rdl_cl *cl, const rdl_cl_identity *identity,
                               cl_device_id *out_device, rdl_reason *why);

void rdl__cl_identity_add(rdl_parcel *parcel, const rdl_cl_identity *identity);
void rdl__cl_identity_take(rdl_parcel_reader *reader, rdl_cl_identity *out_identity);

#endif
