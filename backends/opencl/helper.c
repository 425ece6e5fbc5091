/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/helper.h"

#include <raddle/version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/helper.h"
#include "backends/common/process.h"
#include "backends/common/reason.h"

#define LONGEST_ANSWER ((size_t)1 << 30)
#define LONGEST_ERRORS ((size_t)1 << 16)
#define LAST_WORDS     1500u /* bytes, so that the reason has room for the rest */

/* ---- answer ---- */

void rdl__cl_answer_free(rdl_cl_answer *answer) {
  free(answer->bytes);
  memset(answer, 0, sizeof *answer);
}

const char *rdl__cl_note_take(rdl_cl_answer *answer, size_t *out_size) {
  rdl_parcel_reader at = answer->notes;
  const char *note;
  if (strcmp(rdl__parcel_take(&at, NULL), RDL_CL_NOTE) != 0) return NULL;
  note = rdl__parcel_take(&at, out_size);
  if (at.failed) return NULL;
  answer->notes = at;
  return note;
}

/* How far the helper came. */
enum progress { STRANGER, BEGAN, ANSWERED };

/* A whole answer counts, however the process ended behind it; and so does each whole note. */
static enum progress read_answer(rdl_process *process, rdl_cl_answer *out_answer,
                                 rdl_status *out_status, rdl_reason *why) {
  rdl_parcel_reader reader = rdl__parcel_read(process->output.bytes, process->output.size);
  rdl_parcel_reader notes;
  const char *body, *text;
  uint64_t status;
  size_t size;
  out_answer->bytes = process->output.bytes;
  process->output.bytes = NULL;
  out_answer->ending = process->ending;
  out_answer->code = process->code;
  if (strcmp(rdl__parcel_take(&reader, NULL), RDL_CL_ANSWER) != 0) return STRANGER;
  out_answer->notes = notes = reader;
  while (rdl__cl_note_take(out_answer, NULL)) {
  }
  reader = out_answer->notes;
  out_answer->notes = notes;
  status = rdl__parcel_take_number(&reader);
  text = rdl__parcel_take(&reader, NULL);
  body = rdl__parcel_take(&reader, &size);
  if (reader.failed || status > UINT8_MAX) return BEGAN;
  *out_status = (rdl_status)status;
  rdl__reason_clear(why);
  rdl__reason_append(why, "%s", text);
  out_answer->body = rdl__parcel_read(body, size);
  return ANSWERED;
}

/* ---- no answer ---- */

/* The end of what was printed, from the beginning of a line on where there is one. */
static void put_last_words(const rdl_process *process, rdl_reason *why) {
  const char *words = process->errors.bytes ? process->errors.bytes : "";
  size_t length = process->errors.size;
  while (length && strchr(" \t\r\n", words[length - 1]))
    length--;
  while (length && strchr(" \t\r\n", *words)) {
    words++;
    length--;
  }
  if (length > LAST_WORDS) {
    const char *line;
    words += length - LAST_WORDS;
    length = LAST_WORDS;
    line = memchr(words, '\n', length);
    if (line && line + 1 < words + length) {
      length -= (size_t)(line + 1 - words);
      words = line + 1;
    }
  }
  if (length) rdl__reason_append(why, " What was printed last:\n%.*s", (int)length, words);
}

static rdl_status explain_stranger(const rdl_process *process, rdl_reason *why) {
  rdl__reason_clear(why);
  rdl__reason_append(why, "%.500s, in which OpenCL drivers compile, ", process->command[0]);
  rdl__helper_put_ending(process, why);
  rdl__reason_append(why, " before it had begun. Is it the raddle-opencl-helper that was installed "
                          "with the library, and does it start?");
  return RDL_UNAVAILABLE;
}

static rdl_status explain_crash(const rdl_cl_identity *device, const rdl_process *process,
                                rdl_reason *why) {
  rdl__reason_clear(why);
  rdl__reason_append(why, "The OpenCL driver ");
  rdl__helper_put_ending(process, why);
  rdl__reason_append(why,
                     " while it compiled and tried a kernel for %s (driver %s, %s). That was in a "
                     "process of its own: this program and its contexts are unharmed. ",
                     device->name, device->driver, device->platform);
  rdl__reason_append(why, process->ending == RDL_ENDED_BY_LIMIT
                              ? "RADDLE_BUILD_TIMEOUT=SECONDS gives it more time. "
                              : "");
  rdl__reason_append(why, "What the compiler cannot take is found by leaving out parts of the task "
                          "file; another version of the driver, or another device, may take it.");
  return RDL_COMPILE;
}

/* ---- run ---- */

static void write_request(rdl_parcel *parcel, const rdl_cl_identity *device, const char *verb,
                          const rdl_parcel *request, uint64_t limit_ns) {
  rdl__parcel_add_text(parcel, RDL_CL_REQUEST);
  rdl__parcel_add_text(parcel, rdl_version());
  rdl__parcel_add_number(parcel, limit_ns);
  rdl__parcel_add_text(parcel, verb);
  rdl__cl_identity_add(parcel, device);
  rdl__parcel_add(parcel, request->bytes, request->size);
  if (request->failed) {
    rdl__parcel_free(parcel);
    parcel->failed = 1;
  }
}

static int is_passing(const rdl_process *process) {
  return process->ending == RDL_ENDED_BY_LIMIT ||
         (process->ending == RDL_ENDED_BY_SIGNAL && process->code == SIGKILL);
}

static rdl_status run(const rdl_cl_identity *device, rdl_process *process,
                      rdl_cl_answer *out_answer, rdl_reason *why) {
  rdl_status status = rdl__process_run(process, why);
  enum progress progress;
  if (status != RDL_OK) return status;
  progress = read_answer(process, out_answer, &status, why);
  if (progress == STRANGER) status = explain_stranger(process, why);
  if (progress == BEGAN) status = explain_crash(device, process, why);
  out_answer->passing = progress != ANSWERED && is_passing(process);
  /* Oclgrind prints why it refuses a kernel, and puts it nowhere else. */
  if (status != RDL_OK) put_last_words(process, why);
  rdl__process_free(process);
  return status;
}

rdl_status rdl__cl_helper_run(const rdl_cl_identity *device, const char *verb,
                              const rdl_parcel *request, uint64_t limit_ns, const bool *stop,
                              rdl_cl_answer *out_answer, rdl_reason *why) {
  static const rdl_helper helper = {.name = "raddle-opencl-helper",
                                    .variable = "RADDLE_BUILD_HELPER",
                                    .purpose = "OpenCL drivers compile"};
  char path[RDL_HELPER_PATH];
  char *command[] = {path, NULL};
  rdl_parcel parcel = {.bytes = NULL};
  rdl_process process = {.command = command,
                         .stop = stop,
                         .output = {.most = LONGEST_ANSWER},
                         .errors = {.most = LONGEST_ERRORS, .keep_end = 1}};
  rdl_status status = RDL_OK;
  memset(out_answer, 0, sizeof *out_answer);
  process.limit_ns = limit_ns;
  if (!limit_ns) status = rdl__helper_limit(RDL_CL_BUILD_TIMEOUT_S, &process.limit_ns, why);
  if (status == RDL_OK) status = rdl__helper_find(&helper, path, why);
  if (status != RDL_OK) return status;
  write_request(&parcel, device, verb, request, process.limit_ns);
  process.input = parcel.bytes;
  process.input_size = parcel.size;
  if (parcel.failed)
    status = rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left to hand a text to the compiler.");
  else
    status = run(device, &process, out_answer, why);
  rdl__parcel_free(&parcel);
  return status;
}
