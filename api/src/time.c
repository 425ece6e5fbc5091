/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include "api/src/core.h"

int rdl__sharpen_sleep(void) {
  int slack = prctl(PR_GET_TIMERSLACK, 0ul, 0ul, 0ul, 0ul);
  (void)prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
  return slack;
}

void rdl__restore_sleep(int slack) {
  if (slack > 0) (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0ul, 0ul, 0ul);
}

bool rdl__wait_until(pthread_cond_t *news, pthread_mutex_t *lock, uint64_t deadline) {
  struct timespec t;
  if (deadline == RDL_FOREVER) {
    pthread_cond_wait(news, lock);
    return true;
  }
  t.tv_sec = (time_t)(deadline / RDL__NS_PER_SECOND);
  t.tv_nsec = (long)(deadline % RDL__NS_PER_SECOND);
  return pthread_cond_timedwait(news, lock, &t) != ETIMEDOUT;
}

bool rdl__pause(rdl_context *cx, uint64_t deadline) {
  bool in_time;
  cx->users++;
  in_time = rdl__wait_until(&cx->host_news, &cx->lock, deadline);
  rdl__leave(cx);
  return in_time;
}

/* The lock is held. */
void rdl__leave(rdl_context *cx) {
  cx->users--;
  if (cx->closing) pthread_cond_broadcast(&cx->host_news);
}
