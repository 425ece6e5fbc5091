/* SPDX-License-Identifier: Apache-2.0 */
/* In place of helper/no_fault.c: a driver that crashes, exits or hangs in the probes named. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/opencl/helper/verbs.h"

static int is_named(const char *variable, const char *name) {
  const char *named = getenv(variable);
  return named && strcmp(named, name) == 0;
}

void rdl__cl_before_probe(const char *name) {
  if (is_named("PROBE_CRASHES", name)) {
    (void)signal(SIGSEGV, SIG_DFL); /* also where a sanitizer would catch it */
    (void)raise(SIGSEGV);
  }
  if (is_named("PROBE_EXITS", name)) _exit(8);
  if (is_named("PROBE_HANGS", name)) {
    (void)alarm(1); /* the limit, sooner */
    for (;;)
      (void)pause();
  }
}
