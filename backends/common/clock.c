/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/clock.h"

#include <pthread.h>
#include <time.h>

uint64_t rdl__now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t rdl__deadline_ns(uint64_t timeout_ns) {
  uint64_t now = rdl__now_ns();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

#if defined(__x86_64__)

struct reading {
  uint64_t ns;
  uint64_t ticks;
};

/* The two clocks as close together as five tries bring them: an interruption between the two calls
 * would otherwise be taken for a difference in rate. */
static struct reading read_both(void) {
  struct reading best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t before = rdl__now_ns();
    uint64_t ticks = __builtin_ia32_rdtsc();
    uint64_t after = rdl__now_ns();
    if (after - before >= least) continue;
    least = after - before;
    best.ns = before + least / 2;
    best.ticks = ticks;
  }
  return best;
}

static uint64_t counter_hz;

static void measure(void) {
  struct timespec pause = {0, 2000000};
  struct reading start = read_both();
  (void)nanosleep(&pause, NULL);
  struct reading end = read_both();
  double seconds = (double)(end.ns - start.ns) * 1e-9;
  counter_hz = (uint64_t)((double)(end.ticks - start.ticks) / seconds);
}

uint64_t rdl__counter_hz(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, measure);
  return counter_hz;
}

#else

uint64_t rdl__counter_hz(void) {
  return 1000000000u;
}

#endif
