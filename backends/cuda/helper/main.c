/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/common/file.h"
#include "backends/common/reason.h"
#include "backends/cuda/helper/helper.h"
#include "backends/cuda/nvrtc.h"

typedef struct helper_job {
  rdl_nvrtc_symbols nvrtc;
  rdl_nvrtc_program program;
  int output; /* where the answer goes; what a library prints does not */
} helper_job;

static int answer(const helper_job *job, int code, const char *bytes, size_t size) {
  while (size) {
    ssize_t put = write(job->output, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 1;
    bytes += put;
    size -= (size_t)put;
  }
  return code;
}

static int answer_text(const helper_job *job, int code, const char *text) {
  return answer(job, code, text, strlen(text));
}

static int answer_log(const helper_job *job) {
  size_t size = 0;
  char *log = NULL;
  int code = RDL_CU_HELPER_ERRORS;
  if (job->nvrtc.nvrtcGetProgramLogSize(job->program, &size) == 0) log = calloc(1, size + 1);
  if (log && job->nvrtc.nvrtcGetProgramLog(job->program, log) == 0)
    code = answer_text(job, RDL_CU_HELPER_ERRORS, log);
  free(log);
  return code;
}

typedef rdl_nvrtc_result (*get_size)(rdl_nvrtc_program program, size_t *out_size);
typedef rdl_nvrtc_result (*get_bytes)(rdl_nvrtc_program program, char *out_bytes);

/* -1 = there is none of this kind. */
static int answer_binary(const helper_job *job, get_size size_of, get_bytes bytes_of) {
  size_t size = 0;
  char *bytes = NULL;
  int code = -1;
  if (size_of(job->program, &size) == 0 && size) bytes = malloc(size);
  if (bytes && bytes_of(job->program, bytes) == 0)
    code = answer(job, RDL_CU_HELPER_MADE, bytes, size);
  free(bytes);
  return code;
}

static int compile(helper_job *job, const char *text, int count, char **options) {
  const rdl_nvrtc_symbols *nvrtc = &job->nvrtc;
  rdl_nvrtc_result result = nvrtc->nvrtcCreateProgram(&job->program, text, "raddle", 0, NULL, NULL);
  int code;
  if (result == 0)
    result = nvrtc->nvrtcCompileProgram(job->program, count, (const char *const *)options);
  if (result == RDL_NVRTC_ERROR_COMPILATION) return answer_log(job);
  if (result != 0) {
    rdl_reason why;
    (void)rdl__fail(RDL_COMPILE, &why,
                    "NVRTC failed with its error %d. RADDLE_NVRTC names another one.", result);
    return answer_text(job, RDL_CU_HELPER_FAILED, why.text);
  }
  code = answer_binary(job, nvrtc->nvrtcGetCUBINSize, nvrtc->nvrtcGetCUBIN);
  if (code < 0) code = answer_binary(job, nvrtc->nvrtcGetPTXSize, nvrtc->nvrtcGetPTX);
  return code < 0 ? answer_text(job, RDL_CU_HELPER_FAILED, "NVRTC gave no code.") : code;
}

int main(int argc, char **argv) {
  helper_job job = {.output = dup(STDOUT_FILENO)};
  rdl_reason why = {""};
  size_t size;
  char *text;
  int code;
  if (argc < 2 || job.output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 2;
  if (!rdl__nvrtc_load(argv[1], &job.nvrtc, &why))
    return answer_text(&job, RDL_CU_HELPER_FAILED, why.text);
  text = rdl__file_read_open(stdin, &size);
  if (!text) return answer_text(&job, RDL_CU_HELPER_FAILED, "The text could not be read.");
  code = compile(&job, text, argc - 2, argv + 2);
  if (job.program) (void)job.nvrtc.nvrtcDestroyProgram(&job.program);
  free(text);
  return code;
}
