/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Raddle's protocol cannot do without, and nothing else: the host makes records, one worker
 * parks each behind an event, wakes it, parks it behind its predecessors, and posts outcomes that
 * the host takes. Every step that another worker, a cancel or a deadline could take at the same
 * time is a locked operation, as in Raddle; there are no queues, no rooms, no order, no failures,
 * and the task is known when the program is compiled. One chain runs at a time, so all state is
 * static.
 */
#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = PEER_CELLS > PEER_CHAIN ? PEER_CELLS : PEER_CHAIN, BLOCK = 256, CLOSED = -1 };
enum { READY = 1, WAITING = 4, TICKET = 16 };

/* As large as Raddle's, so that as many lines travel between the cores. */
struct record {
  _Alignas(64) atomic_uint wait;
  atomic_int waiters; /* a list through `next`, or CLOSED */
  unsigned next;
  unsigned ticket;
  unsigned resume;
  int before[2]; /* records that it awaits; 0 = none */
};

struct outcome {
  _Alignas(64) atomic_uint done;
  unsigned value;
};

static struct record records[MOST + 1];
static struct outcome outcomes[MOST + 1];
static int submitted[MOST];                /* records in the order in which they start */
static _Alignas(64) atomic_long published; /* the host writes it */
static _Alignas(64) atomic_long started;   /* the worker writes this and what follows */
static atomic_long held;
static atomic_int waiters_of_gate;
static _Alignas(64) atomic_int gate;
static long count;
static unsigned step; /* what a future adds to the sum of those before it */

/* Both threads may have been put on one core. */
static void relax(void) {
  sched_yield();
}

/* The record waits from here on, with a new ticket. */
static void park(struct record *record) {
  unsigned was = record->ticket | READY;
  record->ticket += TICKET;
  atomic_compare_exchange_strong(&record->wait, &was, record->ticket | WAITING);
}

/* 0 = the list is closed. */
static int join(atomic_int *list, int id) {
  int head = atomic_load_explicit(list, memory_order_acquire);
  do {
    if (head == CLOSED) return 0;
    records[id].next = (unsigned)head;
  } while (!atomic_compare_exchange_weak(list, &head, id));
  return 1;
}

static void wake(struct record *record) {
  unsigned waiting = record->ticket | WAITING;
  atomic_compare_exchange_strong(&record->wait, &waiting, record->ticket | READY);
}

/* Runs on until it must wait, and then what waits for it. */
static void run(int id) {
  while (id > 0) {
    struct record *record = &records[id];
    for (; record->resume < 2; record->resume++) {
      int before = record->before[record->resume];
      if (!before || atomic_load_explicit(&records[before].waiters, memory_order_acquire) == CLOSED)
        continue;
      park(record);
      if (join(&records[before].waiters, id)) return;
      wake(record);
    }
    unsigned value = 0;
    for (int k = 0; k < 2; k++)
      if (record->before[k]) value += outcomes[record->before[k]].value;
    struct outcome *outcome = &outcomes[id];
    outcome->value = value ? value + step : 1;
    id = atomic_exchange(&record->waiters, CLOSED);
    atomic_store_explicit(&outcome->done, 1, memory_order_release);
    for (int waiter = id; waiter > 0;) { /* all but the last run at once */
      int next = (int)records[waiter].next;
      wake(&records[waiter]);
      if (!next) {
        id = waiter;
        break;
      }
      run(waiter);
      waiter = next;
    }
  }
}

static void *work(void *nothing) {
  long at = 0;
  while (at < count) {
    long end = atomic_load_explicit(&published, memory_order_acquire);
    while (at < end) {
      long first = at;
      if (!atomic_compare_exchange_strong(&started, &first, at + 1)) continue;
      park(&records[submitted[at]]);
      join(&waiters_of_gate, submitted[at]);
      at++;
    }
    relax();
  }
  atomic_store_explicit(&held, at, memory_order_release);
  while (!atomic_load_explicit(&gate, memory_order_acquire))
    relax();
  int turned = 0; /* who came first is woken first */
  for (int id = atomic_exchange(&waiters_of_gate, 0), next; id; id = next) {
    next = (int)records[id].next;
    records[id].next = (unsigned)turned;
    turned = id;
  }
  for (int id = turned, next; id; id = next) {
    next = (int)records[id].next;
    wake(&records[id]);
    run(id);
  }
  return nothing;
}

static void fill(int id, const int *before) {
  struct record *record = &records[id];
  record->ticket += TICKET;
  record->resume = 0;
  record->before[0] = before[0];
  record->before[1] = before[1];
  atomic_store_explicit(&outcomes[id].done, 0, memory_order_relaxed);
  atomic_store_explicit(&record->waiters, 0, memory_order_relaxed);
  atomic_store_explicit(&record->wait, record->ticket | READY, memory_order_release);
}

/* The record of future i is i + 1. `place` gives the future that starts as the k-th. */
static void gated(struct peer_round *round, long futures, long (*place)(long k),
                  void (*before_of)(long i, int *before), uint32_t *cells) {
  pthread_t worker;
  count = futures;
  round->suspended = PEER_NOT_COUNTED;
  atomic_store(&published, 0);
  atomic_store(&started, 0);
  atomic_store(&held, 0);
  atomic_store(&gate, 0);
  atomic_store(&waiters_of_gate, 0);
  if (pthread_create(&worker, NULL, work, NULL)) peer_fail("no thread");
  uint64_t start = peer_now();
  for (long k = 0; k < futures; k++) {
    int before[2] = {0, 0};
    long i = place(k);
    before_of(i, before);
    fill((int)i + 1, before);
    submitted[k] = (int)i + 1;
    if ((k + 1) % BLOCK == 0 || k + 1 == futures)
      atomic_store_explicit(&published, k + 1, memory_order_release);
  }
  while (atomic_load_explicit(&held, memory_order_acquire) < futures)
    relax();
  atomic_store_explicit(&gate, 1, memory_order_release);
  while (!atomic_load_explicit(&outcomes[futures].done, memory_order_acquire))
    relax();
  for (long i = 0; i < futures; i++)
    cells[i] = outcomes[i + 1].value;
  round->ns = peer_now() - start;
  pthread_join(worker, NULL);
}

/* The orders in which Raddle's benchmark submits them. */
static long last_first(long k) {
  return PEER_CHAIN - 1 - k;
}

static long by_columns(long k) {
  return k % PEER_SIDE * PEER_SIDE + PEER_SIDE - 1 - k / PEER_SIDE;
}

static void before_in_chain(long i, int *before) {
  before[0] = (int)i;
}

static void before_in_wavefront(long i, int *before) {
  before[0] = i >= PEER_SIDE ? (int)i - PEER_SIDE + 1 : 0;
  before[1] = i % PEER_SIDE ? (int)i : 0;
}

static void chain(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CHAIN);
  step = 1;
  gated(round, PEER_CHAIN, last_first, before_in_chain, cells);
  peer_check_chain(round, cells);
  free(cells);
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CELLS);
  step = 0;
  gated(round, PEER_CELLS, by_columns, before_in_wavefront, cells);
  peer_check_wavefront(round, cells);
  free(cells);
}

static const char only_gated[] = "only futures that wait for an event and for each other";
static const char one_worker[] = "its worker takes no locks against a second one";

static const struct peer_shape shapes[] = {
    {.name = "indep", .why_not = only_gated},
    {.name = "chain", .run = chain, .max_workers = 1, .why_not = one_worker},
    {.name = "wavefront", .run = wavefront, .max_workers = 1, .why_not = one_worker},
    {.name = "fib", .why_not = only_gated},
    {.name = "tree", .why_not = only_gated},
    {.name = "pingpong", .why_not = only_gated},
    {.name = "fan", .why_not = only_gated},
    {.name = "roundtrip", .why_not = only_gated},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {.name = "floor-protocol", .shapes = shapes};
  return peer_main(argc, argv, &peer);
}
