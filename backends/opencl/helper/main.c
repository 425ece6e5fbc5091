/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raddle-opencl-helper: what libraddle asks of an OpenCL driver and would not survive. A request
 * comes in on standard input, the answer goes out on standard output; see ../helper.h.
 */
#include <raddle/version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/common/file.h"
#include "backends/common/reason.h"
#include "backends/opencl/helper.h"
#include "backends/opencl/helper/verbs.h"

static const struct {
  const char *name;
  rdl_cl_verb *verb;
} verbs[] = {
    {"build", rdl__cl_do_build},
    {"probe", rdl__cl_do_probe},
};

static rdl_cl_verb *find_verb(const char *name) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, name) == 0) return verbs[i].verb;
  return NULL;
}

static FILE *output;

/* Takes standard output for the answer alone: drivers print there, too, and that joins what they
 * print on standard error. */
static FILE *take_output(void) {
  int file = dup(STDOUT_FILENO);
  if (file < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
  return fdopen(file, "w");
}

/* The library waits for the limit and kills. This is for the case that it is no longer there: the
 * thread that waits has ended, or had before it could be watched. */
static void limit_self(uint64_t limit_ns) {
  struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)alarm((unsigned)(limit_ns / 1000000000u) + 5u);
}

static rdl_status work(rdl_parcel_reader *request, rdl_parcel *answer, rdl_reason *why) {
  const char *name = rdl__parcel_take(request, NULL);
  rdl_cl_verb *verb = find_verb(name);
  rdl_cl_identity identity = {.index = 0};
  rdl_parcel_reader body;
  cl_device_id device = NULL;
  const char *bytes;
  size_t size;
  const rdl_cl *cl;
  rdl_status status;
  rdl__cl_identity_take(request, &identity);
  bytes = rdl__parcel_take(request, &size);
  if (request->failed || !verb)
    return rdl__fail(RDL_INTERNAL, why, "The helper does not know '%.50s'.", name);
  cl = rdl__cl_symbols(why);
  if (!cl) return RDL_UNAVAILABLE;
  status = rdl__cl_find_device(cl, &identity, &device, why);
  if (status != RDL_OK) return status;
  body = rdl__parcel_read(bytes, size);
  status = verb(cl, device, &body, answer, why);
  if (body.failed || answer->failed)
    return rdl__fail(RDL_INTERNAL, why, "The helper could not read or write for '%.50s'.", name);
  return status;
}

static rdl_status serve(rdl_parcel_reader *request, rdl_parcel *answer, rdl_reason *why) {
  const char *version = rdl__parcel_take(request, NULL);
  if (strcmp(version, rdl_version()) != 0)
    return rdl__fail(RDL_UNAVAILABLE, why,
                     "raddle-opencl-helper is of version %s and the library of version %s. Install "
                     "both together, or name the right helper in RADDLE_BUILD_HELPER.",
                     rdl_version(), version);
  limit_self(rdl__parcel_take_number(request));
  return work(request, answer, why);
}

static int put(rdl_parcel *parcel) {
  int done = !parcel->failed && fwrite(parcel->bytes, 1, parcel->size, output) == parcel->size &&
             fflush(output) == 0;
  rdl__parcel_free(parcel);
  return done;
}

int rdl__cl_send_note(const char *text, size_t length) {
  rdl_parcel parcel = {.bytes = NULL};
  rdl__parcel_add_text(&parcel, RDL_CL_NOTE);
  rdl__parcel_add(&parcel, text, length);
  return put(&parcel);
}

/* From here on who ends without an answer has met a driver. */
static int begin_answer(void) {
  rdl_parcel parcel = {.bytes = NULL};
  rdl__parcel_add_text(&parcel, RDL_CL_ANSWER);
  return put(&parcel);
}

static int end_answer(rdl_status status, const rdl_parcel *body, const rdl_reason *why) {
  rdl_parcel parcel = {.bytes = NULL};
  rdl__parcel_add_number(&parcel, (uint64_t)status);
  rdl__parcel_add_text(&parcel, status == RDL_OK ? "" : why->text);
  rdl__parcel_add(&parcel, body->bytes, body->size);
  return put(&parcel);
}

int main(void) {
  size_t size = 0;
  char *bytes = isatty(STDIN_FILENO) ? NULL : rdl__file_read_open(stdin, &size);
  rdl_parcel_reader request = rdl__parcel_read(bytes, bytes ? size : 0);
  rdl_parcel answer = {.bytes = NULL};
  rdl_reason why = {.text = ""};
  rdl_status status;
  output = take_output();
  if (!output || strcmp(rdl__parcel_take(&request, NULL), RDL_CL_REQUEST) != 0) {
    (void)fputs("raddle-opencl-helper is started by libraddle, to compile for OpenCL devices.\n",
                stderr);
    return 2;
  }
  if (!begin_answer()) return 1;
  status = serve(&request, &answer, &why);
  /* No handler of a driver at the exit: the answer has been given. */
  _exit(end_answer(status, &answer, &why) ? 0 : 1);
}
