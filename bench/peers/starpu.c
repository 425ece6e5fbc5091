/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StarPU on its CPU workers; the main thread only submits. Dependencies are declared between tasks,
 * which costs less than deriving them from data handles. The policy is `eager`: on few workers no
 * other was faster.
 */
#include "peer.h"

#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What a task gets. `round` is used by the fan alone. */
struct job {
  uint32_t *cells;
  long round;
  long i;
};

static char home[] = "/tmp/peer-starpu-XXXXXX";

/* StarPU leaves performance files behind; they go into a folder of their own, which is removed. */
static void open_starpu(int workers) {
  if (!mkdtemp(home)) peer_fail("there is no room for a folder in /tmp");
  setenv("STARPU_HOME", home, 1);
  setenv("STARPU_SILENT", "1", 1);
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = workers;
  conf.ncuda = 0;
  conf.nopencl = 0;
  conf.sched_policy_name = "eager";
  if (starpu_init(&conf)) peer_fail("StarPU did not start");
}

static void close_starpu(void) {
  starpu_shutdown();
  char command[sizeof home + 16];
  snprintf(command, sizeof command, "rm -rf %s", home);
  if (system(command)) fprintf(stderr, "%s is left over\n", home);
}

static void submit(struct starpu_task *task) {
  if (starpu_task_submit(task)) peer_fail("StarPU refused a task");
}

/* A task that others name as their dependency is kept until they are done: the caller frees it. */
static struct starpu_task *create(struct starpu_codelet *codelet, void *argument, bool keep) {
  struct starpu_task *task = starpu_task_create();
  if (!task) peer_fail("out of memory");
  task->cl = codelet;
  task->cl_arg = argument;
  task->destroy = !keep;
  return task;
}

static struct job *make_jobs(uint32_t *cells, long count) {
  struct job *jobs = peer_alloc((size_t)count, sizeof *jobs);
  for (long i = 0; i < count; i++)
    jobs[i] = (struct job){.cells = cells, .i = i};
  return jobs;
}

static struct starpu_task **make_tasks(long count) {
  return peer_alloc((size_t)count, sizeof(struct starpu_task *));
}

static void finish(struct peer_round *round, uint64_t start, struct starpu_task **tasks,
                   long count) {
  starpu_task_wait_for_all();
  for (long i = 0; i < count; i++)
    starpu_task_destroy(tasks[i]);
  round->ns = peer_now() - start;
}

static void run_indep(void *buffers[], void *argument) {
  (void)buffers;
  struct job *job = argument;
  peer_indep_run(job->cells, job->i);
}

static void run_chain(void *buffers[], void *argument) {
  (void)buffers;
  struct job *job = argument;
  peer_chain_run(job->cells, job->i);
}

static void run_wavefront(void *buffers[], void *argument) {
  (void)buffers;
  struct job *job = argument;
  peer_wavefront_run(job->cells, job->i);
}

static void run_fan(void *buffers[], void *argument) {
  (void)buffers;
  struct job *job = argument;
  peer_fan_run(peer_fan_over(job->cells), job->round, job->i);
}

static void run_join(void *buffers[], void *argument) {
  (void)buffers;
  struct job *job = argument;
  peer_fan_join(peer_fan_over(job->cells), job->round);
}

static void run_increment(void *buffers[], void *argument) {
  (void)buffers;
  ++*(long *)argument;
}

static struct starpu_codelet indep_codelet = {.cpu_funcs = {run_indep}};
static struct starpu_codelet chain_codelet = {.cpu_funcs = {run_chain}};
static struct starpu_codelet wavefront_codelet = {.cpu_funcs = {run_wavefront}};
static struct starpu_codelet fan_codelet = {.cpu_funcs = {run_fan}};
static struct starpu_codelet join_codelet = {.cpu_funcs = {run_join}};
static struct starpu_codelet increment_codelet = {.cpu_funcs = {run_increment}};

static void indep(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_INDEP);
  struct job *jobs = make_jobs(cells, PEER_INDEP);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_INDEP; i++)
    submit(create(&indep_codelet, jobs + i, false));
  finish(round, start, NULL, 0);
  peer_check_indep(round, cells);
  free(jobs);
  free(cells);
}

static void chain(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CHAIN);
  struct job *jobs = make_jobs(cells, PEER_CHAIN);
  struct starpu_task **tasks = make_tasks(PEER_CHAIN);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_CHAIN; i++) {
    tasks[i] = create(&chain_codelet, jobs + i, true);
    if (i) starpu_task_declare_deps_array(tasks[i], 1, &tasks[i - 1]);
    submit(tasks[i]);
  }
  finish(round, start, tasks, PEER_CHAIN);
  peer_check_chain(round, cells);
  free(tasks);
  free(jobs);
  free(cells);
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CELLS);
  struct job *jobs = make_jobs(cells, PEER_CELLS);
  struct starpu_task **tasks = make_tasks(PEER_CELLS);
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_CELLS; i++) {
    struct starpu_task *before[2];
    unsigned count = 0;
    if (i >= PEER_SIDE) before[count++] = tasks[i - PEER_SIDE];
    if (i % PEER_SIDE) before[count++] = tasks[i - 1];
    tasks[i] = create(&wavefront_codelet, jobs + i, true);
    if (count) starpu_task_declare_deps_array(tasks[i], count, before);
    submit(tasks[i]);
  }
  finish(round, start, tasks, PEER_CELLS);
  peer_check_wavefront(round, cells);
  free(tasks);
  free(jobs);
  free(cells);
}

/*
 * A StarPU task cannot wait for its children. The parent makes two children and a sum that depends
 * on both, and its own end is held back until the sum is there.
 */
struct fib_job {
  int n;
  long value;
  struct fib_job *children[2];
  struct starpu_task *task;
};

static void run_fib(void *buffers[], void *argument);
static struct starpu_codelet fib_codelet = {.cpu_funcs = {run_fib}};

static struct fib_job *create_fib(int n) {
  struct fib_job *job = peer_alloc(1, sizeof *job);
  job->n = n;
  job->task = create(&fib_codelet, job, false);
  return job;
}

static void run_sum(void *buffers[], void *argument) {
  (void)buffers;
  struct fib_job *job = argument;
  job->value = job->children[0]->value + job->children[1]->value;
  free(job->children[0]);
  free(job->children[1]);
}

static struct starpu_codelet sum_codelet = {.cpu_funcs = {run_sum}};

static void release_parent(void *argument) {
  struct fib_job *job = argument;
  starpu_task_end_dep_release(job->task);
}

static void run_fib(void *buffers[], void *argument) {
  (void)buffers;
  struct fib_job *job = argument;
  job->value = job->n;
  if (job->n < 2) return;
  struct starpu_task *children[2];
  for (int i = 0; i < 2; i++) {
    job->children[i] = create_fib(job->n - 1 - i);
    children[i] = job->children[i]->task;
  }
  struct starpu_task *sum = create(&sum_codelet, job, false);
  sum->callback_func = release_parent;
  sum->callback_arg = job;
  starpu_task_end_dep_add(job->task, 1);
  starpu_task_declare_deps_array(sum, 2, children);
  submit(sum);
  submit(children[0]);
  submit(children[1]);
}

static void fib(struct peer_round *round) {
  uint64_t start = peer_now();
  struct fib_job *job = create_fib(round->n);
  submit(job->task);
  finish(round, start, NULL, 0);
  peer_check_fib(round, job->value);
  free(job);
}

static void submit_fan(struct job *jobs, struct starpu_task **tasks) {
  struct starpu_task *join = NULL;
  for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
    struct starpu_task **own = tasks + r * (PEER_FAN_WIDTH + 1);
    for (long i = 0; i <= PEER_FAN_WIDTH; i++) {
      struct job *job = jobs + r * (PEER_FAN_WIDTH + 1) + i;
      job->round = r;
      job->i = i;
      own[i] = create(i < PEER_FAN_WIDTH ? &fan_codelet : &join_codelet, job, true);
      if (i == PEER_FAN_WIDTH)
        starpu_task_declare_deps_array(own[i], PEER_FAN_WIDTH, own);
      else if (join)
        starpu_task_declare_deps_array(own[i], 1, &join);
      submit(own[i]);
    }
    join = own[PEER_FAN_WIDTH];
  }
}

static void fan(struct peer_round *round) {
  enum { TASKS = PEER_FAN_TASKS + PEER_FAN_ROUNDS };
  uint32_t *cells = peer_cells(PEER_FAN_CELLS);
  struct job *jobs = make_jobs(cells, TASKS);
  struct starpu_task **tasks = make_tasks(TASKS);
  uint64_t start = peer_now();
  submit_fan(jobs, tasks);
  finish(round, start, tasks, TASKS);
  peer_check_fan(round, cells);
  free(tasks);
  free(jobs);
  free(cells);
}

static void roundtrip(struct peer_round *round) {
  long runs = 0;
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
    struct starpu_task *task = create(&increment_codelet, &runs, false);
    task->synchronous = 1;
    submit(task);
  }
  round->ns = peer_now() - start;
  peer_check_roundtrip(round, runs);
}

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .run = chain},
    {.name = "wavefront", .run = wavefront},
    {.name = "fib", .run = fib, PEER_SIZED_FIB},
    {.name = "tree", .why_not = "a StarPU task cannot wait for tasks that it starts"},
    {.name = "pingpong", .why_not = "a StarPU task cannot wait for another one once it runs"},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = NULL},
};

int main(int argc, char **argv) {
  static const struct peer peer = {
      .name = "starpu", .shapes = shapes, .open = open_starpu, .close = close_starpu};
  return peer_main(argc, argv, &peer);
}
