/* SPDX-License-Identifier: Apache-2.0 */
/* HST 3: every argument of every function, wrong in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/harness.h"

#define TASKS "hst.task.c"

/* "function.parameter", made from the public headers. */
static const char *const parameters[] = {
#include "conformance_parameters.inc"
};
#define PARAMETERS (sizeof parameters / sizeof parameters[0])

static bool tried[PARAMETERS];

/* Everything of which a bad call must change nothing. */
typedef struct world {
  bed b;
  rdl_future done;    /* gives 5 */
  rdl_future promise; /* open */
  rdl_event event;
  rdl_buffer *buffer;
  rdl_stats before;
} world;

static void note(const char *parameter) {
  size_t k;
  for (k = 0; k < PARAMETERS; k++)
    if (strcmp(parameters[k], parameter) == 0) {
      tried[k] = true;
      return;
    }
  test_fail(__FILE__, __LINE__, "%s is not a parameter of the public interface", parameter);
}

static void check_unchanged(world *w, int line) {
  rdl_stats now = bed_stats(&w->b);
  if (now.spawned != w->before.spawned || now.live != w->before.live ||
      now.roots_alive != w->before.roots_alive || now.segments != w->before.segments)
    test_fail(__FILE__, line,
              "a bad call changed the counters: spawned %llu, live %llu, roots %llu",
              (unsigned long long)now.spawned, (unsigned long long)now.live,
              (unsigned long long)now.roots_alive);
}

static void bad(world *w, int line, const char *parameter, rdl_status expected, rdl_status actual) {
  note(parameter);
  check_status(__FILE__, line, parameter, expected, actual);
  if (!rdl_error_text()[0]) test_fail(__FILE__, line, "%s: the error text is empty", parameter);
  check_unchanged(w, line);
}

#define BAD(parameter, expected, call) bad(w, __LINE__, (parameter), (expected), (call))

static world open_world(void) {
  world w = {.b = bed_open(TASKS)};
  w.done = START(&w.b, "hst_leaf", .n = 5);
  CHECK_OK(rdl_future_wait(w.b.cx, &w.done, 1, PATIENCE_NS));
  CHECK_OK(rdl_future_create(w.b.cx, &w.promise));
  w.event = new_event(&w.b, 1, 0);
  CHECK_OK(rdl_buffer_create(w.b.cx, 64, &w.buffer));
  w.before = bed_stats(&w.b);
  return w;
}

static void close_world(world *w) {
  CHECK_EQ(5, get(&w->b, w->done));
  CHECK_OK(rdl_future_complete(w->b.cx, w->promise, NULL, 0, 0));
  CHECK_OK(rdl_future_get(w->b.cx, w->promise, NULL, 0, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(w->b.cx, w->event, 0));
  bed_close(&w->b);
}

static void try_buffers(world *w) {
  rdl_context *cx = w->b.cx;
  rdl_buffer *none = w->buffer;
  char bytes[64] = "unchanged";
  BAD("rdl_buffer_create.context", RDL_INVALID, rdl_buffer_create(NULL, 4, &none));
  CHECK(none == NULL);
  none = w->buffer;
  BAD("rdl_buffer_create.bytes", RDL_OUT_OF_MEMORY, rdl_buffer_create(cx, SIZE_MAX / 2, &none));
  CHECK(none == NULL);
  BAD("rdl_buffer_create.out_buffer", RDL_INVALID, rdl_buffer_create(cx, 4, NULL));
  BAD("rdl_buffer_write.buffer", RDL_INVALID, rdl_buffer_write(NULL, 0, bytes, 4));
  BAD("rdl_buffer_write.offset", RDL_INVALID, rdl_buffer_write(w->buffer, 65, bytes, 0));
  BAD("rdl_buffer_write.offset", RDL_INVALID, rdl_buffer_write(w->buffer, SIZE_MAX, bytes, 4));
  BAD("rdl_buffer_write.from", RDL_INVALID, rdl_buffer_write(w->buffer, 0, NULL, 4));
  BAD("rdl_buffer_write.bytes", RDL_INVALID, rdl_buffer_write(w->buffer, 61, bytes, 4));
  BAD("rdl_buffer_write.bytes", RDL_INVALID, rdl_buffer_write(w->buffer, 1, bytes, SIZE_MAX));
  BAD("rdl_buffer_read.buffer", RDL_INVALID, rdl_buffer_read(NULL, 0, bytes, 4));
  BAD("rdl_buffer_read.offset", RDL_INVALID, rdl_buffer_read(w->buffer, SIZE_MAX, bytes, 4));
  BAD("rdl_buffer_read.to", RDL_INVALID, rdl_buffer_read(w->buffer, 0, NULL, 4));
  BAD("rdl_buffer_read.bytes", RDL_INVALID, rdl_buffer_read(w->buffer, 0, bytes, 65));
  CHECK(strcmp(bytes, "unchanged") == 0);
  rdl_buffer_destroy(NULL);
  note("rdl_buffer_destroy.buffer");
  CHECK_EQ(0, rdl_buffer_address(NULL));
  note("rdl_buffer_address.buffer");
  CHECK_EQ(0, rdl_buffer_size(NULL));
  note("rdl_buffer_size.buffer");
  CHECK(rdl_buffer_data(NULL) == NULL);
  note("rdl_buffer_data.buffer");
}

static void try_imports(world *w) {
  rdl_buffer *none = w->buffer;
  rdl_import import = RDL_IMPORT_INIT;
  uint32_t word = 7;
  import.kind = RDL_IMPORT_HOST;
  import.memory = &word;
  import.bytes = sizeof word;
  BAD("rdl_buffer_import.context", RDL_INVALID, rdl_buffer_import(NULL, &import, &none));
  CHECK(none == NULL);
  none = w->buffer;
  BAD("rdl_buffer_import.import", RDL_INVALID, rdl_buffer_import(w->b.cx, NULL, &none));
  CHECK(none == NULL);
  BAD("rdl_buffer_import.out_buffer", RDL_INVALID, rdl_buffer_import(w->b.cx, &import, NULL));
  BAD("rdl_buffer_sync.buffer", RDL_INVALID, rdl_buffer_sync(NULL));
  CHECK_OK(rdl_buffer_sync(w->buffer));
  CHECK_EQ(7, word);
}

static void count_line(void *user, const char *line, size_t length) {
  size_t *count = user;
  if (line[0] && length) ++*count;
}

static void try_contexts(world *w) {
  rdl_context *none = w->b.cx;
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context_info info = {.size = sizeof info};
  rdl_stats stats = {.size = sizeof stats};
  size_t count = 0;
  rdl_device_info device;
  BAD("rdl_context_open.selector", RDL_NOT_FOUND, rdl_context_open("abacus", &none));
  CHECK(none == NULL);
  BAD("rdl_context_open.out_context", RDL_INVALID, rdl_context_open("host", NULL));
  none = w->b.cx;
  BAD("rdl_context_open_with.selector", RDL_NOT_FOUND,
      rdl_context_open_with("host:9", NULL, &none));
  CHECK(none == NULL);
  options.size--;
  BAD("rdl_context_open_with.options", RDL_INVALID, rdl_context_open_with("host", &options, &none));
  BAD("rdl_context_open_with.out_context", RDL_INVALID, rdl_context_open_with("host", NULL, NULL));
  CHECK_OK(rdl_context_close(NULL));
  note("rdl_context_close.context");
  BAD("rdl_context_describe.context", RDL_INVALID, rdl_context_describe(NULL, &info));
  BAD("rdl_context_describe.out_info", RDL_INVALID, rdl_context_describe(w->b.cx, NULL));
  info.size = 4;
  BAD("rdl_context_describe.out_info", RDL_INVALID, rdl_context_describe(w->b.cx, &info));
  BAD("rdl_context_stats.context", RDL_INVALID, rdl_context_stats(NULL, &stats));
  BAD("rdl_context_stats.out_stats", RDL_INVALID, rdl_context_stats(w->b.cx, NULL));
  stats.size = 0;
  BAD("rdl_context_stats.out_stats", RDL_INVALID, rdl_context_stats(w->b.cx, &stats));
  BAD("rdl_context_dump.context", RDL_INVALID, rdl_context_dump(NULL, count_line, &count));
  BAD("rdl_context_dump.write", RDL_INVALID, rdl_context_dump(w->b.cx, NULL, &count));
  CHECK_EQ(0, count);
  note("rdl_context_dump.user"); /* the program's own */
  BAD("rdl_devices.infos", RDL_INVALID, rdl_devices(NULL, 1, &count));
  BAD("rdl_devices.out_count", RDL_INVALID, rdl_devices(&device, 1, NULL));
  CHECK_OK(rdl_devices(NULL, 0, &count));
  CHECK(count >= 1);
  note("rdl_devices.capacity");
}

static void try_capabilities(world *w) {
  rdl_capability row;
  size_t count = 0;
  BAD("rdl_device_capabilities.selector", RDL_NOT_FOUND,
      rdl_device_capabilities("abacus", 0, &row, 1, &count));
  BAD("rdl_device_capabilities.flags", RDL_INVALID,
      rdl_device_capabilities("host", ~RDL_REPROBE, &row, 1, &count));
  BAD("rdl_device_capabilities.out", RDL_INVALID,
      rdl_device_capabilities("host", 0, NULL, 1, &count));
  BAD("rdl_device_capabilities.out_count", RDL_INVALID,
      rdl_device_capabilities("host", 0, &row, 1, NULL));
  CHECK_EQ(0, count);
  CHECK_OK(rdl_device_capabilities("host", RDL_REPROBE, &row, 1, &count));
  CHECK(count > 1);
  CHECK(strcmp(row.name, "usable") == 0 && strcmp(row.value, "yes") == 0);
  CHECK_OK(rdl_device_capabilities("host", 0, NULL, 0, &count));
  CHECK(count > 1);
  note("rdl_device_capabilities.capacity");
}

static void try_events(world *w) {
  rdl_context *cx = w->b.cx;
  rdl_event e = w->event, none = {7, 7}, made_up = {0xffffffffu, 5}, old = e;
  old.generation--;
  if (!old.generation) old.generation--;
  BAD("rdl_event_create_many.context", RDL_INVALID, rdl_event_create_many(NULL, 1, 1, 0, &none));
  BAD("rdl_event_create_many.count", RDL_INVALID, rdl_event_create_many(cx, 0, 1, 0, &none));
  BAD("rdl_event_create_many.count", RDL_AGAIN, rdl_event_create_many(cx, SIZE_MAX, 1, 0, &none));
  BAD("rdl_event_create_many.target", RDL_INVALID, rdl_event_create_many(cx, 1, 0, 0, &none));
  BAD("rdl_event_create_many.flags", RDL_INVALID, rdl_event_create_many(cx, 1, 1, 2, &none));
  BAD("rdl_event_create_many.out_events", RDL_INVALID, rdl_event_create_many(cx, 1, 1, 0, NULL));
  BAD("rdl_event_create.context", RDL_INVALID, rdl_event_create(NULL, 1, 0, &none));
  BAD("rdl_event_create.target", RDL_INVALID, rdl_event_create(cx, 0, 0, &none));
  BAD("rdl_event_create.flags", RDL_INVALID, rdl_event_create(cx, 1, 0xff, &none));
  BAD("rdl_event_create.out_event", RDL_INVALID, rdl_event_create(cx, 1, 0, NULL));
  BAD("rdl_event_signal.context", RDL_INVALID, rdl_event_signal(NULL, e, 1));
  BAD("rdl_event_signal.event", RDL_INVALID, rdl_event_signal(cx, made_up, 1));
  BAD("rdl_event_signal.event", RDL_STALE, rdl_event_signal(cx, old, 1));
  BAD("rdl_event_signal.n", RDL_INVALID, rdl_event_signal(cx, e, 0));
  BAD("rdl_event_seal.context", RDL_INVALID, rdl_event_seal(NULL, e));
  BAD("rdl_event_seal.event", RDL_INVALID, rdl_event_seal(cx, made_up));
  BAD("rdl_event_wait.context", RDL_INVALID, rdl_event_wait(NULL, e, 0));
  BAD("rdl_event_wait.event", RDL_INVALID, rdl_event_wait(cx, made_up, 0));
  BAD("rdl_event_wait.timeout_ns", RDL_TIMEOUT, rdl_event_wait(cx, e, 0));
  BAD("rdl_event_wait_count.context", RDL_INVALID, rdl_event_wait_count(NULL, e, 1, 0));
  BAD("rdl_event_wait_count.event", RDL_INVALID, rdl_event_wait_count(cx, made_up, 1, 0));
  BAD("rdl_event_wait_count.n", RDL_INVALID, rdl_event_wait_count(cx, e, 0, 0));
  BAD("rdl_event_wait_count.timeout_ns", RDL_TIMEOUT, rdl_event_wait_count(cx, e, 1, 0));
  BAD("rdl_event_reset.context", RDL_INVALID, rdl_event_reset(NULL, &e));
  BAD("rdl_event_reset.event", RDL_INVALID, rdl_event_reset(cx, NULL));
  BAD("rdl_event_reset.event", RDL_INVALID, rdl_event_reset(cx, &made_up));
  BAD("rdl_event_destroy.context", RDL_INVALID, rdl_event_destroy(NULL, e));
  BAD("rdl_event_destroy.event", RDL_INVALID, rdl_event_destroy(cx, made_up));
  BAD("rdl_event_destroy.event", RDL_STALE, rdl_event_destroy(cx, old));
}

static void try_spawn(world *w) {
  rdl_module *m = w->b.tasks;
  task_args a = {.n = 1};
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_future f = {3, 3};
  BAD("rdl_spawn.module", RDL_INVALID, rdl_spawn(NULL, "hst_leaf", &a, sizeof a, NULL, &f));
  CHECK_EQ(0, f.index);
  BAD("rdl_spawn.task", RDL_INVALID, rdl_spawn(m, NULL, &a, sizeof a, NULL, &f));
  BAD("rdl_spawn.task", RDL_NOT_FOUND, rdl_spawn(m, "hst_lea", &a, sizeof a, NULL, &f));
  CHECK_CONTAINS(rdl_error_text(), "hst_leaf");
  BAD("rdl_spawn.task", RDL_NOT_FOUND, rdl_spawn(m, "", &a, sizeof a, NULL, &f));
  BAD("rdl_spawn.args", RDL_INVALID, rdl_spawn(m, "hst_leaf", NULL, sizeof a, NULL, &f));
  BAD("rdl_spawn.args_size", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a - 4, NULL, &f));
  BAD("rdl_spawn.args_size", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a + 4, NULL, &f));
  BAD("rdl_spawn.args_size", RDL_INVALID, rdl_spawn(m, "hst_leaf", NULL, 0, NULL, &f));
  options.size++;
  BAD("rdl_spawn.options", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a, &options, &f));
  options = (rdl_spawn_options)RDL_SPAWN_OPTIONS_INIT;
  options.after_count = 1;
  BAD("rdl_spawn.options", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a, &options, &f));
  options.after = &(rdl_future){0, 0};
  BAD("rdl_spawn.options", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a, &options, &f));
  options = (rdl_spawn_options)RDL_SPAWN_OPTIONS_INIT;
  options.pad = 1;
  BAD("rdl_spawn.options", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a, &options, &f));
  options = (rdl_spawn_options)RDL_SPAWN_OPTIONS_INIT;
  options.reserved[3] = 1;
  BAD("rdl_spawn.options", RDL_INVALID, rdl_spawn(m, "hst_leaf", &a, sizeof a, &options, &f));
  note("rdl_spawn.out_future"); /* NULL is good: the future runs detached */
}

static void try_spawn_many(world *w) {
  rdl_module *m = w->b.tasks;
  task_args a[2] = {{.n = 1}, {.n = 2}};
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  rdl_future f[2], batch = {3, 3};
  size_t size = sizeof a[0];
  const char *t = "hst_leaf";
  BAD("rdl_spawn_many.module", RDL_INVALID,
      rdl_spawn_many(NULL, t, a, size, size, 2, NULL, NULL, &batch));
  CHECK_EQ(0, batch.index);
  BAD("rdl_spawn_many.task", RDL_INVALID,
      rdl_spawn_many(m, NULL, a, size, size, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.task", RDL_NOT_FOUND,
      rdl_spawn_many(m, "no", a, size, size, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.args", RDL_INVALID,
      rdl_spawn_many(m, t, NULL, size, size, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.args_size", RDL_INVALID,
      rdl_spawn_many(m, t, a, size - 1, size, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.stride", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size - 4, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.stride", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size + 1, 2, NULL, NULL, &batch));
  BAD("rdl_spawn_many.count", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 0, NULL, NULL, &batch));
  BAD("rdl_spawn_many.count", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, SIZE_MAX, NULL, NULL, &batch));
  options.size = 0;
  BAD("rdl_spawn_many.options", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, &options, NULL, &batch));
  options = (rdl_spawn_options)RDL_SPAWN_OPTIONS_INIT;
  options.member_after_offsets = (const uint32_t[]){0, 1, 2};
  BAD("rdl_spawn_many.options", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, &options, f, NULL));
  options.member_after = (const uint32_t[]){1, 0};
  BAD("rdl_spawn_many.options", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, &options, f, NULL));
  BAD("rdl_spawn_many.options", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, &options, NULL, &batch));
  BAD("rdl_spawn_many.out_futures", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, NULL, f, &batch));
  BAD("rdl_spawn_many.out_batch", RDL_INVALID,
      rdl_spawn_many(m, t, a, size, size, 2, NULL, f, &batch));
}

static void try_takers(world *w) {
  rdl_context *cx = w->b.cx;
  rdl_future done = w->done, open = w->promise, bad_one = {0xffffffffu, 9}, two[2];
  rdl_future_result outcome = {.size = sizeof outcome};
  uint32_t value = 77;
  two[0] = done;
  two[1] = bad_one;
  BAD("rdl_future_get.context", RDL_INVALID, rdl_future_get(NULL, done, &value, 4, 0));
  BAD("rdl_future_get.future", RDL_INVALID, rdl_future_get(cx, bad_one, &value, 4, 0));
  BAD("rdl_future_get.result_size", RDL_TOO_SMALL, rdl_future_get(cx, done, &value, 3, 0));
  BAD("rdl_future_get.timeout_ns", RDL_TIMEOUT, rdl_future_get(cx, open, &value, 4, 0));
  note("rdl_future_get.result"); /* NULL is good: nobody wants it */
  BAD("rdl_future_get_many.context", RDL_INVALID, rdl_future_get_many(NULL, two, 1, &value, 4, 0));
  BAD("rdl_future_get_many.futures", RDL_INVALID, rdl_future_get_many(cx, NULL, 1, &value, 4, 0));
  BAD("rdl_future_get_many.futures", RDL_INVALID, rdl_future_get_many(cx, two, 2, NULL, 4, 0));
  BAD("rdl_future_get_many.stride", RDL_TOO_SMALL, rdl_future_get_many(cx, two, 1, &value, 3, 0));
  BAD("rdl_future_get_many.timeout_ns", RDL_TIMEOUT,
      rdl_future_get_many(cx, &open, 1, &value, 16, 0));
  CHECK_OK(rdl_future_get_many(cx, NULL, 0, NULL, 0, 0));
  note("rdl_future_get_many.count");
  note("rdl_future_get_many.results"); /* NULL is good */
  BAD("rdl_future_wait.context", RDL_INVALID, rdl_future_wait(NULL, two, 1, 0));
  BAD("rdl_future_wait.futures", RDL_INVALID, rdl_future_wait(cx, NULL, 1, 0));
  BAD("rdl_future_wait.futures", RDL_INVALID, rdl_future_wait(cx, two, 2, 0));
  BAD("rdl_future_wait.timeout_ns", RDL_TIMEOUT, rdl_future_wait(cx, &open, 1, 0));
  CHECK_OK(rdl_future_wait(cx, NULL, 0, 0));
  note("rdl_future_wait.count");
  BAD("rdl_future_outcome.context", RDL_INVALID, rdl_future_outcome(NULL, done, 0, &outcome));
  BAD("rdl_future_outcome.future", RDL_INVALID, rdl_future_outcome(cx, bad_one, 0, &outcome));
  BAD("rdl_future_outcome.timeout_ns", RDL_TIMEOUT, rdl_future_outcome(cx, open, 0, &outcome));
  BAD("rdl_future_outcome.out_result", RDL_INVALID, rdl_future_outcome(cx, done, 0, NULL));
  outcome.size = 1;
  BAD("rdl_future_outcome.out_result", RDL_INVALID, rdl_future_outcome(cx, done, 0, &outcome));
  CHECK_EQ(77, value);
}

static void try_futures(world *w) {
  rdl_context *cx = w->b.cx;
  rdl_future done = w->done, open = w->promise, bad_one = {0xffffffffu, 9}, none;
  unsigned char bytes[32] = {0};
  BAD("rdl_future_peek.context", RDL_INVALID, rdl_future_peek(NULL, done, bytes, 4));
  BAD("rdl_future_peek.future", RDL_INVALID, rdl_future_peek(cx, bad_one, bytes, 4));
  BAD("rdl_future_peek.future", RDL_AGAIN, rdl_future_peek(cx, open, bytes, 16));
  BAD("rdl_future_peek.result", RDL_INVALID, rdl_future_peek(cx, done, NULL, 4));
  BAD("rdl_future_peek.result_size", RDL_TOO_SMALL, rdl_future_peek(cx, done, bytes, 3));
  BAD("rdl_future_release.context", RDL_INVALID, rdl_future_release(NULL, done));
  BAD("rdl_future_release.future", RDL_INVALID, rdl_future_release(cx, bad_one));
  BAD("rdl_future_cancel.context", RDL_INVALID, rdl_future_cancel(NULL, open));
  BAD("rdl_future_cancel.future", RDL_INVALID, rdl_future_cancel(cx, bad_one));
  BAD("rdl_future_create.context", RDL_INVALID, rdl_future_create(NULL, &none));
  BAD("rdl_future_create.out_future", RDL_INVALID, rdl_future_create(cx, NULL));
  BAD("rdl_future_complete.context", RDL_INVALID, rdl_future_complete(NULL, open, bytes, 4, 0));
  BAD("rdl_future_complete.future", RDL_INVALID, rdl_future_complete(cx, bad_one, bytes, 4, 0));
  BAD("rdl_future_complete.future", RDL_INVALID, rdl_future_complete(cx, done, bytes, 4, 0));
  BAD("rdl_future_complete.result", RDL_INVALID, rdl_future_complete(cx, open, NULL, 4, 0));
  BAD("rdl_future_complete.result_size", RDL_INVALID, rdl_future_complete(cx, open, bytes, 17, 0));
  BAD("rdl_future_complete.code", RDL_INVALID, rdl_future_complete(cx, open, bytes, 4, 1u << 24));
}

static void try_modules(world *w) {
  rdl_context *cx = w->b.cx;
  rdl_module *m = w->b.tasks;
  rdl_task_description task = {.size = sizeof task};
  const char *path = suite_path(TASKS);
  BAD("rdl_module_load.context", RDL_INVALID, rdl_module_load(NULL, path, &m));
  CHECK(m == NULL);
  BAD("rdl_module_load.path", RDL_INVALID, rdl_module_load(cx, NULL, &m));
  BAD("rdl_module_load.path", RDL_NOT_FOUND, rdl_module_load(cx, "/no/such.task.c", &m));
  CHECK_CONTAINS(rdl_error_text(), "/no/such.task.c");
  BAD("rdl_module_load.path", RDL_IO, rdl_module_load(cx, "/", &m));
  BAD("rdl_module_load.out_module", RDL_INVALID, rdl_module_load(cx, path, NULL));
  m = w->b.tasks;
  BAD("rdl_module_load_text.context", RDL_INVALID, rdl_module_load_text(NULL, "a", "x", 1, &m));
  CHECK(m == NULL);
  BAD("rdl_module_load_text.name", RDL_INVALID, rdl_module_load_text(cx, NULL, "x", 1, &m));
  BAD("rdl_module_load_text.text", RDL_INVALID, rdl_module_load_text(cx, "a", NULL, 1, &m));
  BAD("rdl_module_load_text.out_module", RDL_INVALID, rdl_module_load_text(cx, "a", "x", 1, NULL));
  note("rdl_module_load_text.length"); /* part of a file: see HST-3.bad_files */
  m = w->b.tasks;
  BAD("rdl_module_task.module", RDL_INVALID, rdl_module_task(NULL, "hst_leaf", &task));
  BAD("rdl_module_task.task", RDL_INVALID, rdl_module_task(m, NULL, &task));
  BAD("rdl_module_task.task", RDL_NOT_FOUND, rdl_module_task(m, "hst", &task));
  CHECK_CONTAINS(rdl_error_text(), "hst_fib");
  BAD("rdl_module_task.out_description", RDL_INVALID, rdl_module_task(m, "hst_leaf", NULL));
  task.size = 12;
  BAD("rdl_module_task.out_description", RDL_INVALID, rdl_module_task(m, "hst_leaf", &task));
}

static void try_texts(void) {
  const char *const last_good = rdl_status_name(RDL_INTERNAL);
  CHECK_CONTAINS(last_good, "RDL_INTERNAL");
  CHECK_CONTAINS(rdl_status_name((rdl_status)12345), "unknown");
  note("rdl_status_name.status");
  CHECK(rdl_status_text((rdl_status)12345) != NULL);
  CHECK(rdl_status_text(RDL_BUSY)[0]);
  note("rdl_status_text.status");
  CHECK(rdl_version()[0]);
  note("rdl_version.");
  CHECK_EQ(64, strlen(rdl_kernel_hash()));
  note("rdl_kernel_hash.");
  CHECK(rdl_error_text() != NULL);
  note("rdl_error_text.");
}

void HST_3_arguments(void) {
  world w = open_world();
  size_t k;
  try_buffers(&w);
  try_imports(&w);
  try_contexts(&w);
  try_capabilities(&w);
  try_events(&w);
  try_spawn(&w);
  try_spawn_many(&w);
  try_takers(&w);
  try_futures(&w);
  try_modules(&w);
  try_texts();
  for (k = 0; k < PARAMETERS; k++)
    if (!tried[k])
      test_fail(__FILE__, __LINE__, "%s is never tried with a bad value", parameters[k]);
  close_world(&w);
}
