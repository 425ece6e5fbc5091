/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of the helper. */
#ifndef RDL_OPENCL_HELPER_VERBS_H
#define RDL_OPENCL_HELPER_VERBS_H

#include <raddle/backend.h>

#include "backends/opencl/parcel.h"
#include "backends/opencl/symbols.h"

/* Does what `request` asks for and adds to `answer`, which is sent whatever is returned. A field
 * that is missing is looked for behind the verb: it only has to end. Objects need not be released
 * on failure, for the process ends. */
typedef rdl_status rdl_cl_verb(const rdl_cl *cl, cl_device_id device, rdl_parcel_reader *request,
                               rdl_parcel *answer, rdl_reason *why);

/* Sends something before the answer, for the case that none will come. 0 = nobody reads. */
int rdl__cl_send_note(const char *text, size_t length);

/* build.c */
rdl_cl_verb rdl__cl_do_build;

/* probe.c */
rdl_cl_verb rdl__cl_do_probe;

/* no_fault.c: called before each probe. Tests link another one, which crashes or hangs. */
void rdl__cl_before_probe(const char *name);

#endif
