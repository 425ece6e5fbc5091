/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done in a process of its own, because the compilers of drivers crash, hang and exit.
 *
 * The process runs raddle-opencl-helper (helper/main.c), which finds the same device and does one
 * of the jobs of its table, a verb. What the driver prints there reaches none of the program's
 * streams.
 */
#ifndef RDL_OPENCL_HELPER_H
#define RDL_OPENCL_HELPER_H

#include <raddle/backend.h>
#include <stdint.h>

#include "backends/common/process.h"
#include "backends/opencl/identity.h"
#include "backends/opencl/parcel.h"

/* The first field of a request and of an answer. The form of an answer does not change with the
 * version, so that a helper of another version can say so. */
#define RDL_CL_REQUEST "raddle-opencl-helper request"
#define RDL_CL_ANSWER  "raddle-opencl-helper answer 1"

/* In front of what the verb answers notes may come, each a field behind this one: what it had found
 * when its process ended early. */
#define RDL_CL_NOTE "raddle-opencl-helper note"

typedef struct rdl_cl_answer {
  rdl_parcel_reader body;  /* what the verb answered; `at` is NULL when no answer came */
  rdl_parcel_reader notes; /* the fields of its notes; one that was cut off is none */
  rdl_ending ending;       /* of the process */
  int code;
  uint32_t passing; /* 1 = no answer came for want of time or because somebody killed the process:
                       the next time one may come */
  char *bytes;
} rdl_cl_answer;

/* The next note, or NULL behind the last. */
const char *rdl__cl_note_take(rdl_cl_answer *answer, size_t *out_size);

/*
 * Runs `verb` with the fields of `request` and waits for its end, at most for `limit_ns`; 0 = what
 * RADDLE_BUILD_TIMEOUT says, else RDL_CL_BUILD_TIMEOUT_S; and no longer than `stop`, which may be
 * NULL, is false. Blocks. Any thread.
 *
 * Returns what the verb returned. Where it gave no answer: RDL_COMPILE when the driver crashed,
 * hung or ended the process, RDL_CLOSED when it was stopped, RDL_UNAVAILABLE when the helper is not
 * there, is of another version or does not see the device. `out_answer` is to be freed in every
 * case.
 */
rdl_status rdl__cl_helper_run(const rdl_cl_identity *device, const char *verb,
                              const rdl_parcel *request, uint64_t limit_ns, const bool *stop,
                              rdl_cl_answer *out_answer, rdl_reason *why);

/* Takes a zeroed one. */
void rdl__cl_answer_free(rdl_cl_answer *answer);

#define RDL_CL_BUILD_TIMEOUT_S 120u

#endif
