/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool that everybody writes first: one queue, one mutex, one condition variable, W threads.
 * The main thread submits and waits until the queue has run empty.
 */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>

struct task {
  void (*run)(struct task *task);
  uint32_t *cells;
  long round;
  long i;
  struct task *next;
};

/* Everything below is guarded by the mutex. */
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  pthread_cond_t finished;
  struct task *head;
  struct task *tail;
  long left; /* tasks that have not ended */
  bool stopping;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .filled = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

static pthread_t *workers;
static int worker_count;

static struct task *take(void) {
  while (!pool.head && !pool.stopping)
    pthread_cond_wait(&pool.filled, &pool.mutex);
  struct task *task = pool.head;
  if (task) pool.head = task->next;
  return task;
}

static void *work(void *unused) {
  (void)unused;
  pthread_mutex_lock(&pool.mutex);
  for (struct task *task = take(); task; task = take()) {
    pthread_mutex_unlock(&pool.mutex);
    task->run(task);
    pthread_mutex_lock(&pool.mutex);
    if (--pool.left == 0) pthread_cond_signal(&pool.finished);
  }
  pthread_mutex_unlock(&pool.mutex);
  return NULL;
}

static void submit(struct task *task) {
  pthread_mutex_lock(&pool.mutex);
  task->next = NULL;
  if (pool.head)
    pool.tail->next = task;
  else
    pool.head = task;
  pool.tail = task;
  pool.left++;
  pthread_mutex_unlock(&pool.mutex);
  pthread_cond_signal(&pool.filled);
}

static void wait_for_all(void) {
  pthread_mutex_lock(&pool.mutex);
  while (pool.left > 0)
    pthread_cond_wait(&pool.finished, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
}

static void open_pool(int count) {
  worker_count = count;
  workers = peer_alloc((size_t)count, sizeof *workers);
  for (int i = 0; i < count; i++)
    if (pthread_create(&workers[i], NULL, work, NULL)) peer_fail("a thread did not start");
}

static void close_pool(void) {
  pthread_mutex_lock(&pool.mutex);
  pool.stopping = true;
  pthread_mutex_unlock(&pool.mutex);
  pthread_cond_broadcast(&pool.filled);
  for (int i = 0; i < worker_count; i++)
    pthread_join(workers[i], NULL);
  free(workers);
}

static void run_indep(struct task *task) {
  peer_indep_run(task->cells, task->i);
}

static void run_fan(struct task *task) {
  peer_fan_run(peer_fan_over(task->cells), task->round, task->i);
}

static void run_join(struct task *task) {
  peer_fan_join(peer_fan_over(task->cells), task->round);
}

static void run_increment(struct task *task) {
  task->i++;
}

static void indep(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_INDEP);
  uint64_t start = peer_now();
  struct task *tasks = peer_alloc(PEER_INDEP, sizeof *tasks);
  for (long i = 0; i < PEER_INDEP; i++) {
    tasks[i] = (struct task){.run = run_indep, .cells = cells, .i = i};
    submit(&tasks[i]);
  }
  wait_for_all();
  free(tasks);
  round->ns = peer_now() - start;
  peer_check_indep(round, cells);
  free(cells);
}

static void fan(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_FAN_CELLS);
  uint64_t start = peer_now();
  struct task *tasks = peer_alloc(PEER_FAN_WIDTH, sizeof *tasks);
  for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
    for (long i = 0; i < PEER_FAN_WIDTH; i++) {
      tasks[i] = (struct task){.run = run_fan, .cells = cells, .round = r, .i = i};
      submit(&tasks[i]);
    }
    wait_for_all();
    tasks[0] = (struct task){.run = run_join, .cells = cells, .round = r};
    submit(&tasks[0]);
    wait_for_all();
  }
  free(tasks);
  round->ns = peer_now() - start;
  peer_check_fan(round, cells);
  free(cells);
}

static void roundtrip(struct peer_round *round) {
  struct task task = {.run = run_increment};
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
    submit(&task);
    wait_for_all();
  }
  round->ns = peer_now() - start;
  peer_check_roundtrip(round, task.i);
}

/* Two tasks that wait for their turn on condition variables: waiting blocks the worker. */
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed[2];
  long turn;
  long handovers;
  long waits;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .changed = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER}};

static void run_player(struct task *task) {
  for (long k = 0; k < PEER_HANDOVERS; k++) {
    pthread_mutex_lock(&table.mutex);
    while (table.turn != task->i) {
      table.waits++;
      pthread_cond_wait(&table.changed[task->i], &table.mutex);
    }
    table.handovers++;
    table.turn = !task->i;
    pthread_cond_signal(&table.changed[table.turn]);
    pthread_mutex_unlock(&table.mutex);
  }
}

static void pingpong(struct peer_round *round) {
  struct task tasks[2] = {{.run = run_player, .i = 0}, {.run = run_player, .i = 1}};
  table.turn = table.handovers = table.waits = 0;
  uint64_t start = peer_now();
  submit(&tasks[0]);
  submit(&tasks[1]);
  wait_for_all();
  round->ns = peer_now() - start;
  round->suspended = table.waits;
  peer_check_pingpong(round, table.handovers);
}

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .why_not = "the queue knows no order between tasks"},
    {.name = "wavefront", .why_not = "the queue knows no order between tasks"},
    {.name = "fib", .why_not = "a task that waited for its children would block its worker"},
    {.name = "tree", .why_not = "a task that waited for its children would block its worker"},
    {.name = "pingpong",
     .run = pingpong,
     .min_workers = 2,
     .why_not = "a waiting task blocks its worker, so two tasks need two workers"},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {
      .name = "floor-queue", .shapes = shapes, .open = open_pool, .close = close_pool};
  return peer_main(argc, argv, &peer);
}
