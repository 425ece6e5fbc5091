/* SPDX-License-Identifier: Apache-2.0 */
/* What the library asks its helper program to do, as both read it. */
#ifndef RDL_OPENCL_JOBS_H
#define RDL_OPENCL_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "backends/opencl/parcel.h"

/* Verb "build". The answer: the build log; and when it is RDL_OK the binary, empty where the driver
 * gives none that it takes back. */
typedef struct rdl_cl_build_request {
  const char *options;
  const char *source;
  size_t length;
  const char *kernel;
  const char *other;   /* a second kernel that the text may have; "" = there is none */
  uint64_t local_size; /* of the one work-group that is launched, */
  uint64_t purpose;    /* and the kernel's second argument; the first one is zeroed memory */
  uint64_t wants_binary;
} rdl_cl_build_request;

void rdl__cl_build_request_add(rdl_parcel *parcel, const rdl_cl_build_request *request);
/* The texts stay in the parcel. */
void rdl__cl_build_request_take(rdl_parcel_reader *reader, rdl_cl_build_request *out_request);

#endif
