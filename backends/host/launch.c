/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch hands the same call to `wanted` threads. A thread takes part by counting `wanted` down,
 * so it does not matter which threads wake first, and those that are not needed sleep on.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/host/device.h"

static void *worker_main(void *argument) {
  rdl_host_workers *workers = argument;
  (void)pthread_mutex_lock(&workers->lock);
  for (;;) {
    while (!workers->wanted && !workers->stopping)
      (void)pthread_cond_wait(&workers->start, &workers->lock);
    if (workers->stopping) break;
    workers->wanted--;
    rdl_host_entry *entry = workers->entry;
    unsigned char *heap = workers->heap;
    uint32_t purpose = workers->purpose;
    (void)pthread_mutex_unlock(&workers->lock);
    entry(heap, purpose);
    (void)pthread_mutex_lock(&workers->lock);
    if (--workers->running == 0) (void)pthread_cond_signal(&workers->done);
  }
  (void)pthread_mutex_unlock(&workers->lock);
  return NULL;
}

/* A wait with a time limit must not depend on somebody setting the clock of the day. */
static void init_monotonic(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(condition, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

rdl_status rdl__host_start_workers(rdl_host_workers *workers, uint32_t count, rdl_reason *why) {
  sigset_t all, before;
  int error = 0;
  (void)pthread_mutex_init(&workers->lock, NULL);
  (void)pthread_cond_init(&workers->start, NULL);
  init_monotonic(&workers->done);
  workers->threads = calloc(count, sizeof *workers->threads);
  if (!workers->threads) {
    rdl__host_stop_workers(workers);
    return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for %u workers.", (unsigned)count);
  }
  /* Signals are for the program's own threads. */
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  while (workers->count < count && !error) {
    error = pthread_create(&workers->threads[workers->count], NULL, worker_main, workers);
    if (!error) workers->count++;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error) return RDL_OK;
  rdl__host_stop_workers(workers);
  return rdl__fail(RDL_OUT_OF_MEMORY, why, "The system gives no thread for worker %u of %u: %s.",
                   (unsigned)workers->count + 1, (unsigned)count, strerror(error));
}

void rdl__host_stop_workers(rdl_host_workers *workers) {
  (void)pthread_mutex_lock(&workers->lock);
  workers->stopping = 1;
  (void)pthread_cond_broadcast(&workers->start);
  (void)pthread_mutex_unlock(&workers->lock);
  for (uint32_t i = 0; i < workers->count; i++)
    (void)pthread_join(workers->threads[i], NULL);
  free(workers->threads);
  (void)pthread_cond_destroy(&workers->done);
  (void)pthread_cond_destroy(&workers->start);
  (void)pthread_mutex_destroy(&workers->lock);
}

rdl_status rdl__host_launch(rdl_backend_device *device, rdl_backend_image *image, void *heap,
                            uint32_t purpose, uint32_t workers, rdl_reason *why) {
  rdl_host_workers *all = &device->workers;
  rdl_status status = RDL_OK;
  uint32_t threads = device->lanes > 1 ? (workers + RDL_HOST_WARPS - 1u) / RDL_HOST_WARPS : workers;
  if (!workers || threads > all->count)
    return rdl__fail(RDL_INVALID, why, "A launch has 1 to %u workers here, not %u.",
                     (unsigned)device->most_workers, (unsigned)workers);
  (void)pthread_mutex_lock(&all->lock);
  if (all->running) {
    status = rdl__fail(RDL_BUSY, why, "The launch before this one has not ended.");
  } else {
    all->entry = image->entry;
    all->heap = rdl__host_seen(heap);
    all->purpose = purpose;
    all->wanted = threads;
    all->running = threads;
    if (threads == 1)
      (void)pthread_cond_signal(&all->start);
    else
      (void)pthread_cond_broadcast(&all->start);
  }
  (void)pthread_mutex_unlock(&all->lock);
  return status;
}

static struct timespec time_of(uint64_t ns) {
  return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

rdl_status rdl__host_wait(rdl_backend_device *device, uint64_t timeout_ns, rdl_reason *why) {
  rdl_host_workers *all = &device->workers;
  uint64_t deadline = timeout_ns ? rdl__deadline_ns(timeout_ns) : 0;
  struct timespec until = time_of(deadline);
  int error = 0;
  uint32_t running;
  (void)pthread_mutex_lock(&all->lock);
  while (all->running && timeout_ns && !error) {
    if (deadline == UINT64_MAX)
      (void)pthread_cond_wait(&all->done, &all->lock);
    else
      error = pthread_cond_timedwait(&all->done, &all->lock, &until);
  }
  running = all->running;
  (void)pthread_mutex_unlock(&all->lock);
  if (!running) return RDL_OK;
  return rdl__fail(RDL_TIMEOUT, why, "%u workers have not returned yet.", (unsigned)running);
}
