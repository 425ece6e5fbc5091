/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HST 4: every allocation fails in turn. The library is linked in with its allocating calls renamed
 * (--wrap), so that they come here; the suite itself knows only the public interface and cannot do
 * this. Each round runs the same program with the n-th allocation failing, or all from the n-th on.
 * A round may fail with RDL_OUT_OF_MEMORY or get by without the memory; it may not crash, hang,
 * give another error or keep anything.
 */
#include <raddle/raddle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/prebuilt.h"

#define SECOND 1000000000ull

/* ---- the allocator that fails ---- */

static long countdown; /* allocations until one fails; below 0 = none does */
static bool for_good;  /* all that follow fail too */
static long failures;
static long live;

/* The linker gives the names. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
/* NOLINTEND(bugprone-reserved-identifier) */

static bool fails(void) {
  long left = __atomic_sub_fetch(&countdown, 1, __ATOMIC_RELAXED);
  bool now = left == 0 || (for_good && left < 0 && left > -1000000000);
  if (now) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
  return now;
}

static void *count(void *memory) {
  if (memory) __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
  return memory;
}

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size) {
  return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  void *moved = fails() ? NULL : __real_realloc(memory, size);
  return memory ? moved : count(moved);
}

char *__wrap_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = __wrap_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

void __wrap_free(void *memory) {
  if (memory) __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
  __real_free(memory);
}

/* ---- the program ---- */

typedef struct task_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint32_t n;
  uint32_t k;
} task_args;

static rdl_status use_futures(rdl_context *cx, rdl_module *tasks) {
  task_args fib = {.n = 7}, leaves[40] = {{.n = 1}}, sleep = {.k = 500};
  rdl_spawn_options after = RDL_SPAWN_OPTIONS_INIT, members = after;
  static const uint32_t offsets[41] = {[40] = 1}, last[1] = {0}; /* 39 waits for 0 */
  rdl_future f, g, many[40];
  uint32_t value = 0;
  rdl_status status = rdl_spawn(tasks, "hst_fib", &fib, sizeof fib, NULL, &f);
  after.after = &f;
  after.after_count = 1;
  if (!status) status = rdl_spawn(tasks, "hst_sleep", &sleep, sizeof sleep, &after, &g);
  if (!status) status = rdl_future_get(cx, g, &value, sizeof value, 20 * SECOND);
  if (!status) status = rdl_future_get(cx, f, &value, sizeof value, 20 * SECOND);
  if (!status && value != 13) status = RDL_INTERNAL;
  members.member_after_offsets = offsets;
  members.member_after = last;
  if (!status)
    status =
        rdl_spawn_many(tasks, "hst_leaf", leaves, sizeof fib, sizeof fib, 40, &members, many, NULL);
  if (!status) status = rdl_future_get_many(cx, many, 40, NULL, 0, 20 * SECOND);
  if (!status)
    status = rdl_spawn_many(tasks, "hst_leaf", leaves, sizeof fib, sizeof fib, 40, NULL, NULL, &g);
  if (!status) status = rdl_future_get(cx, g, NULL, 0, 20 * SECOND);
  return status;
}

/* Results that, in epoch mode, are fetched behind the outcomes that tell of them. */
static rdl_status use_large(rdl_context *cx, rdl_module *tasks) {
  enum { MANY = 40, WORDS = 128 };
  static task_args args[MANY];
  static uint32_t words[WORDS];
  rdl_future many[MANY];
  rdl_status status;
  uint32_t k, w;
  for (k = 0; k < MANY; k++)
    args[k].n = 5u * k;
  status = rdl_spawn_many(tasks, "hst_large", args, sizeof args[0], sizeof args[0], MANY, NULL,
                          many, NULL);
  for (k = 0; !status && k < MANY; k++) {
    status = rdl_future_get(cx, many[k], words, sizeof words, 20 * SECOND);
    for (w = 0; !status && w < WORDS; w++)
      if (words[w] != 5u * k + w) status = RDL_INTERNAL;
  }
  return status;
}

/* Many timers at once, so that the host's table of them has to grow. */
static rdl_status use_timers(rdl_context *cx, rdl_module *tasks) {
  static task_args sleeps[200];
  rdl_future batch;
  rdl_status status;
  int k;
  for (k = 0; k < 200; k++)
    sleeps[k].k = 2000;
  status = rdl_spawn_many(tasks, "hst_sleep", sleeps, sizeof sleeps[0], sizeof sleeps[0], 200, NULL,
                          NULL, &batch);
  return status ? status : rdl_future_get(cx, batch, NULL, 0, 20 * SECOND);
}

static rdl_status use_import(rdl_context *cx) {
  static uint32_t word;
  rdl_import import = RDL_IMPORT_INIT;
  rdl_buffer *buffer = NULL;
  rdl_status status;
  import.kind = RDL_IMPORT_HOST;
  import.memory = &word;
  import.bytes = sizeof word;
  status = rdl_buffer_import(cx, &import, &buffer);
  if (!status) status = rdl_buffer_sync(buffer);
  rdl_buffer_destroy(buffer);
  return status;
}

static rdl_status use_events(rdl_context *cx, rdl_module *tasks) {
  task_args args = {.n = 3};
  rdl_buffer *buffer = NULL;
  rdl_future f, promise;
  rdl_status status = rdl_event_create(cx, 1, 0, &args.e);
  if (!status) status = rdl_spawn(tasks, "hst_wait_event", &args, sizeof args, NULL, &f);
  if (!status) status = rdl_event_signal(cx, args.e, 1);
  if (!status) status = rdl_event_wait(cx, args.e, 20 * SECOND);
  if (!status) status = rdl_future_get(cx, f, NULL, 0, 20 * SECOND);
  if (!status) status = rdl_event_destroy(cx, args.e);
  if (!status) status = rdl_future_create(cx, &promise);
  if (!status) status = rdl_future_complete(cx, promise, &args.n, 4, 0);
  if (!status) status = rdl_future_get(cx, promise, NULL, 0, 20 * SECOND);
  if (!status) status = rdl_buffer_create(cx, 1000, &buffer);
  if (!status) rdl_buffer_destroy(buffer);
  return status ? status : use_import(cx);
}

/* A cycle, for what is only allocated when a deadlock is looked for. */
static rdl_status use_deadlock(rdl_context *cx, rdl_module *tasks) {
  task_args args = {.n = 3};
  rdl_future f;
  rdl_status status = rdl_event_create(cx, 1, RDL_EVENT_DEVICE, &args.e);
  if (!status) status = rdl_spawn(tasks, "hst_wait_event", &args, sizeof args, NULL, &f);
  if (!status) status = rdl_future_get(cx, f, NULL, 0, 20 * SECOND);
  return status == RDL_DEADLOCK ? RDL_OK : status;
}

static rdl_mode mode;

static rdl_status run(void) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context *cx = NULL;
  rdl_module *tasks = NULL;
  rdl_status status, closed;
  options.workers = 2;
  options.mode = mode;
  options.slots = options.roots = options.events = 1000;
  options.frame_bytes = 4 << 20;
  options.cache_dir = "";
  conformance_use_prebuilt(&options);
  status = rdl_context_open_with("host", &options, &cx);
  if (!status) status = rdl_module_load(cx, CONFORMANCE_TASKS "/hst.task.c", &tasks);
  if (!status) status = use_futures(cx, tasks);
  if (!status) status = use_large(cx, tasks);
  if (!status) status = use_timers(cx, tasks);
  if (!status) status = use_events(cx, tasks);
  if (!status) status = use_deadlock(cx, tasks);
  closed = rdl_context_close(cx);
  return status ? status : closed;
}

/* ---- rounds ---- */

static int complain(long n, rdl_status status, const char *what) {
  printf("allocation %ld%s: %s (%s: %s)\n", n, for_good ? " and all after it" : "", what,
         rdl_status_name(status), rdl_error_text());
  return 1;
}

/* 0 = go on, 1 = wrong, -1 = there was no n-th allocation. */
static int round_with(long n, bool all) {
  long before = live;
  rdl_status status;
  failures = 0;
  for_good = all;
  __atomic_store_n(&countdown, n, __ATOMIC_SEQ_CST);
  alarm(60);
  status = run();
  alarm(0);
  __atomic_store_n(&countdown, -2000000000L, __ATOMIC_SEQ_CST);
  if (!failures) return status ? complain(n, status, "nothing failed, and yet") : -1;
  if (status != RDL_OK && status != RDL_OUT_OF_MEMORY)
    return complain(n, status, "gave the wrong status");
  if (live != before) {
    printf("%ld pieces of memory are left\n", live - before);
    return complain(n, status, "left memory behind");
  }
  return 0;
}

/* allocation [epoch|apart] [ROUND]: a round to begin with, to look at one failure by itself. */
int main(int argc, char **argv) {
  int epoch = argc > 1 && strcmp(argv[1], "epoch") == 0;
  int apart = argc > 1 && strcmp(argv[1], "apart") == 0;
  int named = epoch || apart;
  long first = argc > 1 + named ? atol(argv[1 + named]) : 1;
  long n;
  int all, result;
  setenv("OCL_ICD_VENDORS", "/no/such/folder", 1); /* drivers are not the subject */
  setvbuf(stdout, NULL, _IOLBF, 0);
  mode = epoch ? RDL_MODE_EPOCH : apart ? RDL_MODE_APART : RDL_MODE_DEFAULT;
  countdown = -2000000000L;
  if (run() != RDL_OK) return complain(0, RDL_INTERNAL, "does not even run");
  for (all = 0; all < 2; all++) {
    for (n = first, result = 0; result == 0; n++)
      result = round_with(n, all);
    if (result > 0) return 1;
    printf("%s: %ld allocations failed in turn\n", all ? "all that follow" : "one", n - 2);
    if (first == 1 && n < 20) return complain(n, RDL_INTERNAL, "too few allocations were seen");
  }
  return 0;
}
