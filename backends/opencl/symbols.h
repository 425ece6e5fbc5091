/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL loader, opened at run time: this library starts on machines that have none. */
#ifndef RDL_OPENCL_SYMBOLS_H
#define RDL_OPENCL_SYMBOLS_H

#include <CL/cl.h>
#include <raddle/backend.h>

typedef struct rdl_cl {
#define RDL_CL_SYMBOL(name) __typeof__(name) *name;
#include "backends/opencl/symbols.def"
#undef RDL_CL_SYMBOL
} rdl_cl;

/* The functions of libOpenCL.so.1, looked up once in a process. NULL without a loader; `why` then
 * says what is missing. Any thread. */
const rdl_cl *rdl__cl_symbols(rdl_reason *why);

/* The same from the library named; 0 = `why` says what is missing. */
int rdl__cl_load_symbols(const char *library, rdl_cl *out_symbols, rdl_reason *why);

/* Lets the loader read its lists of drivers, which it does once. The one by Khronos cuts the value
 * of OCL_ICD_FILENAMES at its colons where it stands: it is made whole again, or processes that are
 * started later would find the first driver alone. */
void rdl__cl_read_drivers(const rdl_cl *cl);

#endif
