/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/beside/busy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* So many trees at once that the device has work while the host takes a result and starts the next,
   and so small ones that all of them find slots. */
enum { TREES = 4, SIZE = 22, RESULT = 17711 };

enum { LAUNCHES_AT_START = 3, LOOKS_AT_START = 50000 };

static const uint64_t patience = UINT64_C(60000000000);

struct busy {
  rdl_context *context;
  rdl_module *module;
  pthread_t thread;
  int started;       /* there is a thread */
  atomic_int stops;  /* the thread shall end */
  atomic_int status; /* why it has ended by itself, an rdl_status */
};

static rdl_status spawn_tree(const busy *b, rdl_future *out_tree) {
  const uint32_t n = SIZE;
  return rdl_spawn(b->module, "busy", &n, sizeof n, NULL, out_tree);
}

static rdl_status take_tree(const busy *b, rdl_future tree) {
  uint32_t value = 0;
  rdl_status status = rdl_future_get(b->context, tree, &value, sizeof value, patience);
  return status || value == RESULT ? status : RDL_INTERNAL;
}

/* Takes the oldest tree and plants the next in its place, until it shall end. */
static void *keep_busy(void *user) {
  busy *b = user;
  rdl_future trees[TREES];
  rdl_status status = RDL_OK;
  unsigned planted = 0, taken = 0;
  while (!status && (planted < TREES || !atomic_load(&b->stops))) {
    if (planted - taken == TREES) status = take_tree(b, trees[taken++ % TREES]);
    if (!status) status = spawn_tree(b, &trees[planted % TREES]);
    if (!status) planted++;
  }
  while (!status && taken < planted)
    status = take_tree(b, trees[taken++ % TREES]);
  if (status) /* the text is this thread's */
    fprintf(stderr, "failed: a tree of tasks: %s: %s\n", rdl_status_name(status), rdl_error_text());
  atomic_store(&b->status, (int)status);
  return NULL;
}

static rdl_status wait_for_launches(busy *b) {
  struct timespec pause = {0, 200000};
  for (int i = 0; i < LOOKS_AT_START; i++) {
    rdl_status status = (rdl_status)atomic_load(&b->status);
    if (status) return status;
    if (busy_launches(b) >= LAUNCHES_AT_START) return RDL_OK;
    nanosleep(&pause, NULL);
  }
  return RDL_TIMEOUT;
}

static rdl_status start(busy *b, const char *selector, uint64_t quantum_ns, uint32_t workers) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  options.quantum_ns = quantum_ns;
  options.workers = workers;
  rdl_status status = rdl_context_open_with(selector, &options, &b->context);
  if (!status) status = rdl_module_load(b->context, BUSY_TASKS, &b->module);
  if (status) return status;
  if (pthread_create(&b->thread, NULL, keep_busy, b) != 0) return RDL_OUT_OF_MEMORY;
  b->started = 1;
  return wait_for_launches(b);
}

rdl_status busy_start(const char *selector, uint64_t quantum_ns, uint32_t workers,
                      busy **out_busy) {
  busy *b = calloc(1, sizeof *b);
  if (!b) return RDL_OUT_OF_MEMORY;
  rdl_status status = start(b, selector, quantum_ns, workers);
  if (!status)
    *out_busy = b;
  else
    (void)busy_stop(b);
  return status;
}

uint64_t busy_launches(const busy *b) {
  rdl_stats stats = {.size = sizeof stats};
  return rdl_context_stats(b->context, &stats) ? 0 : stats.launches;
}

rdl_status busy_stop(busy *b) {
  atomic_store(&b->stops, 1);
  if (b->started) pthread_join(b->thread, NULL);
  rdl_status status = (rdl_status)atomic_load(&b->status);
  rdl_status closed = rdl_context_close(b->context);
  free(b);
  return status ? status : closed;
}
