/* SPDX-License-Identifier: Apache-2.0 */
/* From OpenCL's error codes to ours, in one table. */
#ifndef RDL_OPENCL_STATUS_H
#define RDL_OPENCL_STATUS_H

#include <CL/cl.h>
#include <raddle/backend.h>

/* RDL_OK, or a failure whose reason names the function in `call` (the text of the whole call). */
rdl_status rdl__cl_check(cl_int code, const char *call, rdl_reason *why);

/* "CL_OUT_OF_RESOURCES", or "unknown error". */
const char *rdl__cl_name(cl_int code);

/* A call that returns its code. */
#define RDL_CL(why, call) rdl__cl_check((call), #call, (why))

/* A call that returns an object and stores its code in the variable `code`. */
#define RDL_CL_MAKE(why, code, object, call)                                                       \
  ((object) = (call), rdl__cl_check((code), #call, (why)))

#endif
