/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "conformance/prebuilt.h"
#include "conformance/run.h"

test_settings settings;

uint32_t suite_scale(uint32_t count) {
  uint32_t part = (uint32_t)((uint64_t)count * settings.scale / 100u);
  return part ? part : 1u;
}

/* ---- ends of a case ---- */

void test_fail(const char *file, int line, const char *format, ...) {
  va_list list;
  printf("%s:%d: ", file, line);
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  printf("\n");
  fflush(stdout);
  _Exit(1); /* threads of the case and of the library may still run */
}

void test_skip(const char *reason, ...) {
  va_list list;
  va_start(list, reason);
  vprintf(reason, list);
  va_end(list);
  printf("\n");
  fflush(stdout);
  _Exit(TEST_SKIPPED);
}

/* ---- checks ---- */

void check_equal(const char *file, int line, const char *what, uint64_t expected, uint64_t actual) {
  if (expected == actual) return;
  test_fail(file, line, "%s is %llu, expected %llu", what, (unsigned long long)actual,
            (unsigned long long)expected);
}

void check_between(const char *file, int line, const char *what, uint64_t least, uint64_t actual,
                   uint64_t most) {
  if (least <= actual && actual <= most) return;
  test_fail(file, line, "%s is %llu, expected %llu to %llu", what, (unsigned long long)actual,
            (unsigned long long)least, (unsigned long long)most);
}

void check_status(const char *file, int line, const char *call, rdl_status expected,
                  rdl_status actual) {
  if (expected == actual) return;
  test_fail(file, line, "%s gave %s, expected %s; the last error text is: %s", call,
            rdl_status_name(actual), rdl_status_name(expected), rdl_error_text());
}

void check_contains(const char *file, int line, const char *text, const char *part) {
  if (strstr(text, part)) return;
  test_fail(file, line, "\"%s\" does not contain \"%s\"", text, part);
}

/* ---- a context with the tasks of a group ---- */

/* Beside this program, where it was built; else where it was installed. */
static const char *suite_folder(void) {
  static char folder[4096];
  char program[2048];
  ssize_t length = folder[0] ? 0 : readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return folder;
  program[length] = '\0';
  *strrchr(program, '/') = '\0';
  snprintf(folder, sizeof folder, "%s/conformance", program);
  if (access(folder, F_OK))
    snprintf(folder, sizeof folder, "%s/%s", program, CONFORMANCE_INSTALLED);
  return folder;
}

const char *suite_path(const char *file) {
  static char path[4352];
  snprintf(path, sizeof path, "%s/%s", suite_folder(), file);
  return path;
}

rdl_context_options bed_options(void) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  options.workers = settings.workers;
  options.lanes = settings.lanes;
  options.segment_limit = settings.segment_limit;
  options.loop_turns = settings.loop_turns;
  options.flat = settings.flat;
  options.mode = settings.apart   ? RDL_MODE_APART
                 : settings.epoch ? RDL_MODE_EPOCH
                                  : RDL_MODE_DEFAULT;
  return options;
}

static void no_device(const char *selector, rdl_status status) {
  if (run_requires(selector))
    test_fail(__FILE__, __LINE__, "RADDLE_REQUIRE wants %s, but: %s", selector, rdl_error_text());
  if (strcmp(selector, settings.selector) == 0 && status != RDL_UNSUPPORTED)
    test_fail(__FILE__, __LINE__, "the device of this run is not there: %s", rdl_error_text());
  test_skip("no device '%s' (%s): %s", selector, rdl_status_name(status), rdl_error_text());
}

bed bed_open_on(const char *selector, const char *task_file, const rdl_context_options *options) {
  bed b = {0};
  rdl_context_options with = *options;
  if (!selector || strcmp(selector, settings.selector) != 0)
    with.lanes = 0; /* it was asked of the other one */
  rdl_context_info info = {.size = sizeof info};
  rdl_status status;
  conformance_use_prebuilt(&with);
  status = rdl_context_open_with(selector, &with, &b.cx);
  if (status == RDL_UNAVAILABLE || status == RDL_NOT_FOUND || status == RDL_UNSUPPORTED)
    no_device(selector ? selector : "of a native context", status);
  CHECK_OK(status);
  CHECK_OK(rdl_context_describe(b.cx, &info));
  b.workers = info.workers;
  if (task_file) CHECK_OK(rdl_module_load(b.cx, suite_path(task_file), &b.tasks));
  return b;
}

uint32_t device_loop_turns(void) {
  static rdl_capability rows[64];
  size_t count = 0, k;
  if (settings.loop_turns) return settings.loop_turns;
  CHECK_OK(rdl_device_capabilities(settings.selector, 0, rows, 64, &count));
  for (k = 0; k < count && k < 64; k++)
    if (strcmp(rows[k].name, "loop_budget") == 0) return (uint32_t)strtoul(rows[k].value, NULL, 10);
  return 0;
}

bed bed_open_with(const char *task_file, const rdl_context_options *options) {
  return bed_open_on(settings.selector, task_file, options);
}

bed bed_open(const char *task_file) {
  rdl_context_options options = bed_options();
  return bed_open_with(task_file, &options);
}

rdl_module *bed_load(bed *b, const char *name, const char *text) {
  rdl_module *module;
  CHECK_OK(rdl_module_load_text(b->cx, name, text, strlen(text), &module));
  return module;
}

static bool quiet(const rdl_stats *stats) {
  return stats->exact && stats->live == 0 && stats->roots_alive == 0;
}

void bed_settle(bed *b) {
  uint64_t end = now_ns() + PATIENCE_NS;
  rdl_stats s = {.size = sizeof s};
  for (;;) {
    CHECK_OK(rdl_context_stats(b->cx, &s));
    if (quiet(&s)) break;
    if (now_ns() > end)
      test_fail(
          __FILE__, __LINE__,
          "counters do not come to rest: exact %u, live %llu, roots alive %llu; spawned %llu, "
          "finished %llu, failed %llu, cancelled %llu",
          s.exact, (unsigned long long)s.live, (unsigned long long)s.roots_alive,
          (unsigned long long)s.spawned, (unsigned long long)s.finished,
          (unsigned long long)s.failed, (unsigned long long)s.cancelled);
    sleep_ns(200u * US);
  }
  CHECK_EQ(s.spawned, s.finished + s.failed + s.cancelled);
}

void bed_close(bed *b) {
  bed_settle(b);
  CHECK_OK(rdl_context_close(b->cx));
  b->cx = NULL;
}

rdl_stats bed_stats(bed *b) {
  uint64_t end = now_ns() + PATIENCE_NS;
  rdl_stats s = {.size = sizeof s};
  do {
    CHECK_OK(rdl_context_stats(b->cx, &s));
    if (s.exact) return s;
    sleep_ns(100u * US);
  } while (now_ns() < end);
  test_fail(__FILE__, __LINE__, "the device was never left, so the counters were never exact");
}

void bed_await_suspended(bed *b, uint64_t count) {
  uint64_t end = now_ns() + PATIENCE_NS;
  while (bed_stats(b).suspended < count) {
    if (now_ns() > end)
      test_fail(__FILE__, __LINE__, "%llu awaits have suspended, expected %llu",
                (unsigned long long)bed_stats(b).suspended, (unsigned long long)count);
    sleep_ns(200u * US);
  }
}

/* ---- tasks ---- */

rdl_future start(bed *b, const char *task, task_args args) {
  rdl_future future;
  rdl_status status = rdl_spawn(b->tasks, task, &args, sizeof args, NULL, &future);
  if (status)
    test_fail(__FILE__, __LINE__, "starting %s gave %s: %s", task, rdl_status_name(status),
              rdl_error_text());
  return future;
}

uint32_t get(bed *b, rdl_future future) {
  uint32_t value = 0;
  CHECK_OK(rdl_future_get(b->cx, future, &value, sizeof value, PATIENCE_NS));
  return value;
}

void get_none(bed *b, rdl_future future) {
  CHECK_OK(rdl_future_get(b->cx, future, NULL, 0, PATIENCE_NS));
}

rdl_future start_many(bed *b, const char *task, size_t count, task_args args) {
  task_args *all = calloc(count, sizeof *all);
  rdl_future batch;
  size_t k;
  CHECK(all);
  for (k = 0; k < count; k++) {
    all[k] = args;
    all[k].n = (uint32_t)k;
  }
  CHECK_OK(
      rdl_spawn_many(b->tasks, task, all, sizeof *all, sizeof *all, count, NULL, NULL, &batch));
  free(all);
  return batch;
}

void check_end(const char *file, int line, bed *b, rdl_future future, rdl_status status,
               uint32_t code) {
  rdl_future_result outcome = {.size = sizeof outcome};
  check_status(file, line, "rdl_future_outcome", RDL_OK,
               rdl_future_outcome(b->cx, future, PATIENCE_NS, &outcome));
  check_status(file, line, "the future", status, outcome.status);
  if (status == RDL_FAILED) check_equal(file, line, "its code", code, outcome.code);
  check_status(file, line, "rdl_future_get", status, rdl_future_get(b->cx, future, NULL, 0, 0));
}

rdl_event new_event(bed *b, uint32_t target, uint32_t flags) {
  rdl_event event;
  CHECK_OK(rdl_event_create(b->cx, target, flags, &event));
  return event;
}

/* ---- memory that tasks and the host share ---- */

void need_resident(const bed *b) {
  rdl_context_info info = {.size = sizeof info};
  CHECK_OK(rdl_context_describe(b->cx, &info));
  if (info.mode != RDL_MODE_RESIDENT)
    test_skip(
        "the host sees nothing of a launch whose memory is apart, nor the launch of the host");
}

memory memory_new(bed *b, size_t words) {
  memory m = {.count = words};
  CHECK_OK(rdl_buffer_create(b->cx, words * sizeof(uint32_t), &m.buffer));
  m.words = rdl_buffer_data(m.buffer);
  m.at = rdl_buffer_address(m.buffer);
  return m;
}

uint32_t word_at(const memory *m, size_t index) {
  uint32_t word;
  CHECK(index < m->count);
  if (m->words) return __atomic_load_n(&m->words[index], __ATOMIC_ACQUIRE);
  CHECK_OK(rdl_buffer_read(m->buffer, index * sizeof word, &word, sizeof word));
  return word;
}

void word_set(memory *m, size_t index, uint32_t value) {
  CHECK(index < m->count);
  if (m->words)
    __atomic_store_n(&m->words[index], value, __ATOMIC_RELEASE);
  else
    CHECK_OK(rdl_buffer_write(m->buffer, index * sizeof value, &value, sizeof value));
}

static uint32_t *copy_room(size_t words) {
  static uint32_t *copy;
  static size_t room;
  if (words <= room) return copy;
  free(copy);
  copy = malloc(words * sizeof *copy);
  CHECK(copy);
  room = words;
  return copy;
}

const uint32_t *memory_load(const memory *m) {
  uint32_t *copy;
  if (m->words) return m->words;
  copy = copy_room(m->count);
  CHECK_OK(rdl_buffer_read(m->buffer, 0, copy, m->count * sizeof *copy));
  return copy;
}

void memory_store(memory *m, const uint32_t *words) {
  if (!words) words = memset(copy_room(m->count), 0, m->count * sizeof *words);
  CHECK_OK(rdl_buffer_write(m->buffer, 0, words, m->count * sizeof *words));
}

void pair_set(memory *m, size_t n, uint32_t index, uint32_t generation) {
  word_set(m, 2 * n, index);
  word_set(m, 2 * n + 1, generation);
}

bool word_becomes(const memory *m, size_t index, uint32_t value, uint64_t ns) {
  uint64_t end = now_ns() + ns;
  while (word_at(m, index) != value) {
    if (now_ns() > end) return false;
    sleep_ns(50u * US);
  }
  return true;
}

/* ---- time and chance ---- */

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_ns(uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (nanosleep(&t, &t)) {
  }
}

uint64_t cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

uint32_t chance(uint32_t below) {
  static uint64_t state;
  uint64_t z;
  if (!state) state = settings.seed | 1u;
  state += 0x9e3779b97f4a7c15u;
  z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ (z >> 31)) % below);
}

uint32_t mix(uint32_t x, uint32_t y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}
