/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/jobs.h"

void rdl__cl_build_request_add(rdl_parcel *parcel, const rdl_cl_build_request *request) {
  rdl__parcel_add_text(parcel, request->options);
  rdl__parcel_add(parcel, request->source, request->length);
  rdl__parcel_add_text(parcel, request->kernel);
  rdl__parcel_add_text(parcel, request->other);
  rdl__parcel_add_number(parcel, request->local_size);
  rdl__parcel_add_number(parcel, request->purpose);
  rdl__parcel_add_number(parcel, request->wants_binary);
}

void rdl__cl_build_request_take(rdl_parcel_reader *reader, rdl_cl_build_request *out_request) {
  out_request->options = rdl__parcel_take(reader, NULL);
  out_request->source = rdl__parcel_take(reader, &out_request->length);
  out_request->kernel = rdl__parcel_take(reader, NULL);
  out_request->other = rdl__parcel_take(reader, NULL);
  out_request->local_size = rdl__parcel_take_number(reader);
  out_request->purpose = rdl__parcel_take_number(reader);
  out_request->wants_binary = rdl__parcel_take_number(reader);
}
