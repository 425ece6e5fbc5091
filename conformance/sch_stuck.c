/* SPDX-License-Identifier: Apache-2.0 */
/* SCH 8 and 9: what is stuck says why, and holds up nothing else. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/harness.h"
#include "conformance/run.h"

#define TASKS "sch.task.c"

/* ---- dumps ---- */

#define DUMP_MAX 262144u

typedef struct dump {
  char text[DUMP_MAX];
  size_t used;
  uint32_t lines;
} dump;

static void take_line(void *user, const char *line, size_t length) {
  dump *d = user;
  CHECK_EQ(strlen(line), length);
  CHECK(line[length - 1] == '\n' && !memchr(line, '\n', length - 1));
  CHECK(d->used + length < DUMP_MAX);
  memcpy(d->text + d->used, line, length + 1);
  d->used += length;
  d->lines++;
}

static dump *take_dump(bed *b) {
  static dump d;
  d.used = d.lines = 0;
  CHECK_OK(rdl_context_dump(b->cx, take_line, &d));
  CHECK(d.lines);
  return &d;
}

static const char *handle_text(rdl_future f) {
  static char text[64];
  snprintf(text, sizeof text, "{%#x, %u}", f.index, f.generation);
  return text;
}

/* The line that begins with this future. */
static const char *line_of(const dump *d, rdl_future f) {
  static char line[1024];
  char start[80];
  const char *at;
  snprintf(start, sizeof start, "\nfuture %s ", handle_text(f));
  at = strstr(d->text, start);
  if (!at) test_fail(__FILE__, __LINE__, "no line begins with '%s' in:\n%s", start + 1, d->text);
  snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
  return line;
}

#define CHECK_LINE(d, f, part) CHECK_CONTAINS(line_of((d), (f)), (part))

/* Each way to wait is told by its name, with what is waited for, and by whom it was spawned. */
void SCH_8_dump(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 3, 0);
  rdl_future promise, roots[8];
  dump *d;
  uint32_t k;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  roots[0] = START(&b, "sch_wait", .f = promise);
  roots[1] = START(&b, "sch_wait", .f = roots[0]);
  roots[2] = START(&b, "sch_wait_event", .e = event);
  roots[3] = START(&b, "sch_parent", .e = event, .n = 2);
  roots[4] = START(&b, "sch_returns", .e = event, .n = 3);
  roots[5] = START(&b, "sch_wait_set", .f = promise, .g = roots[2]);
  roots[6] = START(&b, "sch_wait_set", .f = promise, .g = roots[2], .k = 1);
  roots[7] = START(&b, "sch_wait_for", .e = event, .k = 600000000);
  bed_await_suspended(&b, 12);
  d = take_dump(&b);
  CHECK_CONTAINS(d->text, ": 14 futures live, ");
  CHECK(!strstr(d->text, "approximate"));
  CHECK_LINE(d, promise, "of rdl_future_create waits for rdl_future_complete, for about ");
  CHECK_LINE(d, roots[0], "of sch_wait (");
  CHECK_LINE(d, roots[0], "sch.task.c:");
  CHECK_LINE(d, roots[0], "; spawned by the host");
  CHECK_LINE(d, roots[1], "waits for future ");
  CHECK_LINE(d, roots[1], handle_text(roots[0]));
  CHECK_LINE(d, roots[1], " of sch_wait (");
  CHECK_LINE(d, roots[2], ", which stands at 0 of 3, for about ");
  CHECK_LINE(d, roots[3], "waits for its children, of which 2 live, for about ");
  CHECK_LINE(d, roots[4], "has returned, and waits for 3 children");
  CHECK_LINE(d, roots[5], "waits for a set of futures, 2 of which have not ended, {");
  CHECK_LINE(d, roots[6], "waits for a set of futures, 2 of which have not ended, {");
  CHECK_LINE(d, roots[7], ", at most ");
  CHECK_CONTAINS(d->text, "; spawned by sch_parent (");
  CHECK_CONTAINS(d->text, "; spawned by sch_returns (");
  CHECK_OK(rdl_event_signal(b.cx, event, 3));
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0));
  CHECK_OK(rdl_future_wait(b.cx, roots, 8, PATIENCE_NS)); /* some read the results of others */
  for (k = 0; k < 8; k++)
    get(&b, roots[k]);
  CHECK_OK(rdl_future_get(b.cx, promise, NULL, 0, PATIENCE_NS));
  CHECK_CONTAINS(take_dump(&b)->text, ": 0 futures live, 0 done");
  bed_close(&b);
}

/* How long something waits is known, and so is who spawned what was let go. */
void SCH_8_dump_since(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future f = START(&b, "sch_wait_event", .e = event);
  const char *about;
  char *unit;
  dump *d;
  get_none(&b, START(&b, "sch_leave", .e = event));
  bed_await_suspended(&b, 2);
  sleep_ns(1200u * MS);
  d = take_dump(&b);
  about = strstr(line_of(d, f), "for about ");
  CHECK(about);
  CHECK_BETWEEN(1100, strtoul(about + strlen("for about "), &unit, 10), 9999);
  CHECK(strncmp(unit, " ms", 3) == 0);
  CHECK_CONTAINS(d->text, "; spawned by sch_leave (");
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(3, get(&b, f));
  bed_close(&b);
}

/* A future that waits for room says so. */
void SCH_8_dump_room(void) {
  rdl_context_options options = bed_options();
  rdl_event event;
  rdl_future f;
  bed b;
  options.slots = 16;
  b = bed_open_with(TASKS, &options);
  event = new_event(&b, 1, 0);
  f = START(&b, "sch_wait_room", .e = event);
  bed_await_suspended(&b, 17);
  CHECK_LINE(take_dump(&b), f, "waits for room for what its next segment may spawn");
  CHECK_OK(rdl_future_cancel(b.cx, f));
  CHECK_END(&b, f, RDL_CANCELLED, 0);
  bed_close(&b);
}

/* Of many that do the same a few are shown. */
void SCH_8_dump_many(void) {
  enum { MANY = SCALED(200000, 5000) };
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future parent = START(&b, "sch_parent", .e = event, .n = MANY);
  rdl_future batch = start_many(&b, "sch_wait_event", 5, (task_args){.e = event});
  char more[64];
  dump *d;
  bed_await_suspended(&b, MANY + 6);
  d = take_dump(&b);
  snprintf(more, sizeof more, "and %u more that do the same", MANY - 4u);
  CHECK_CONTAINS(d->text, more);
  CHECK_CONTAINS(d->text, "and 1 more that does the same");
  CHECK_EQ(13, d->lines);
  CHECK_LINE(d, parent, "of sch_parent (");
  CHECK_LINE(d, batch, "of a batch of sch_wait_event (");
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(1, get(&b, parent));
  get_none(&b, batch);
  bed_close(&b);
}

/* While tasks run all the time, dumps come one after the other and disturb nothing. */
void SCH_8_dump_busy(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future busy[3], fib = START(&b, "sch_fib", .n = SCALED(18, 12));
  uint32_t k;
  for (k = 0; k < 3; k++)
    busy[k] = START(&b, "sch_busy", .at = m.at);
  for (k = 0; k < 50; k++)
    CHECK_LINE(take_dump(&b), busy[k % 3], "of sch_busy (");
  CHECK_EQ(SCALED(2584, 144), get(&b, fib));
  word_set(&m, 0, 1);
  for (k = 0; k < 3; k++)
    CHECK_EQ(5, get(&b, busy[k]));
  bed_close(&b);
}

/* ---- SCH 9 ---- */

typedef struct warnings {
  char last[2048];
  uint32_t count;
} warnings;

static void note_warning(void *user, rdl_log_level level, const char *text) {
  warnings *w = user;
  if (level != RDL_LOG_WARNING) return;
  snprintf(w->last, sizeof w->last, "%s", text);
  __atomic_fetch_add(&w->count, 1u, __ATOMIC_RELEASE);
}

static bool is_warned(const warnings *w, uint64_t ns) {
  uint64_t end = now_ns() + ns;
  while (!__atomic_load_n(&w->count, __ATOMIC_ACQUIRE)) {
    if (now_ns() > end) return false;
    sleep_ns(1u * MS);
  }
  return true;
}

static rdl_context_options held_options(warnings *w) {
  rdl_context_options options = bed_options();
  options.log = note_warning;
  options.log_user = w;
  options.watchdog_ns = 300u * MS;
  options.close_ns = 400u * MS;
  return options;
}

/* Everything that one worker less does as well. */
static void check_goes_on(bed *b, rdl_event event) {
  rdl_future waits = START(b, "sch_wait_event", .e = event);
  CHECK_EQ(55, RUN(b, "sch_fib", .n = 10));
  CHECK_EQ(4, RUN(b, "sch_sleep", .k = 2000));
  CHECK_OK(rdl_event_signal(b->cx, event, 1));
  CHECK_EQ(3, get(b, waits));
  get_none(b, start_many(b, "sch_leaf", 1000, (task_args){.n = 0}));
}

/* Launches that the test itself cuts short leave the held worker alone. */
static void need_whole_launches(void) {
  if (settings.segment_limit)
    test_skip("a worker that has left a launch does not come back while another one is held");
}

/* One worker runs a segment that does not end: the watchdog names it once, so do waits that time
 * out, and all else goes on, also when a call wanted the device to rest. */
void SCH_9_one_held(void) {
  static warnings told;
  rdl_context_options options = held_options(&told);
  bed b = bed_open_with(TASKS, &options);
  memory m = memory_new(&b, 2), busy = memory_new(&b, 1);
  rdl_event event = new_event(&b, 1, 0), other = new_event(&b, 1, 0);
  rdl_future hold = START(&b, "sch_hold", .at = m.at), turns;
  uint64_t begin = now_ns();
  uint32_t k;
  need_whole_launches();
  need_resident(&b);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  turns = START(&b, "sch_busy", .at = busy.at);
  check_goes_on(&b, event);
  CHECK(is_warned(&told, PATIENCE_NS));
  CHECK_BETWEEN(300u * MS, now_ns() - begin, PATIENCE_NS);
  CHECK_CONTAINS(told.last, "one segment of task sch_hold (");
  CHECK_CONTAINS(told.last, "sch.task.c:");
  CHECK_CONTAINS(told.last, handle_text(hold));
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &hold, 1, 20u * MS));
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, other, 20u * MS));
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_reset(b.cx, &other));
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  for (k = 0; k < 20; k++)
    CHECK_EQ(55, RUN(&b, "sch_fib", .n = 10));
  sleep_ns(700u * MS);
  CHECK_EQ(1, told.count);
  word_set(&busy, 0, 1);
  CHECK_EQ(5, get(&b, turns));
  word_set(&m, 1, 1);
  CHECK_EQ(1, get(&b, hold));
  CHECK_OK(rdl_event_reset(b.cx, &event));
  check_goes_on(&b, event);
  bed_close(&b);
}

/* Also then all futures are told, with the worker that runs one. */
void SCH_9_dump(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 2);
  rdl_future hold = START(&b, "sch_hold", .at = m.at), behind = START(&b, "sch_wait", .f = hold);
  const char *runs;
  dump *d;
  if (SANITIZED) test_skip("looks at words that the device changes, which a sanitizer reports");
  need_resident(&b);
  CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
  for (;;) { /* the other one may not have got so far */
    d = take_dump(&b);
    CHECK_CONTAINS(d->text, "so that the lines are approximate");
    if (b.workers == 1 || strstr(line_of(d, behind), "waits for future ")) break;
    sleep_ns(1u * MS);
  }
  runs = line_of(d, hold);
  CHECK_CONTAINS(runs, "of sch_hold (");
  CHECK_CONTAINS(runs, " runs on worker ");
  sleep_ns(400u * MS);
  CHECK_LINE(take_dump(&b), hold, ", one segment for at least ");
  word_set(&m, 1, 1);
  CHECK_EQ(2, get(&b, behind)); /* it reads the result of the other one */
  CHECK_EQ(1, get(&b, hold));
  bed_close(&b);
}

/* What became ready on the held worker itself runs on another one, once, also when the segment ends
 * just then. */
void SCH_9_behind(void) {
  enum { BEHIND = 300, ROUNDS = SCALED(12, 4) };
  static warnings told;
  rdl_context_options options = held_options(&told);
  bed b = bed_open_with(TASKS, &options);
  memory busy = memory_new(&b, 1);
  rdl_future turns = START(&b, "sch_busy", .at = busy.at);
  uint32_t k;
  need_whole_launches();
  need_resident(&b);
  for (k = 0; k < ROUNDS; k++) {
    memory m = memory_new(&b, 3);
    rdl_future parent = START(&b, "sch_stands_before", .at = m.at, .n = BEHIND);
    CHECK(word_becomes(&m, 0, 1, PATIENCE_NS));
    if (k % 3 == 0)
      CHECK(word_becomes(&m, 2, BEHIND, PATIENCE_NS));
    else
      sleep_ns(60u * MS + chance(120) * MS);
    word_set(&m, 1, 1);
    CHECK_EQ(BEHIND, get(&b, parent));
    CHECK_EQ(BEHIND, word_at(&m, 2));
  }
  word_set(&busy, 0, 1);
  CHECK_EQ(5, get(&b, turns));
  bed_close(&b);
}

/* News that come together: the worker that reads them wakes one future, and then begins a segment
 * that does not end. What it has woken goes on elsewhere. */
void SCH_9_woken(void) {
  enum { ROUNDS = SCALED(40, 10) };
  static warnings told;
  rdl_context_options options = held_options(&told);
  bed b = bed_open_with(TASKS, &options);
  uint32_t k;
  need_whole_launches();
  need_resident(&b);
  for (k = 0; k < ROUNDS; k++) {
    rdl_event event = new_event(&b, 1, 0);
    rdl_future waits = START(&b, "sch_wait_event", .e = event), hold;
    memory m = memory_new(&b, 2);
    bed_await_suspended(&b, k + 1);
    sleep_ns(chance(4) * MS); /* the workers may have left */
    CHECK_OK(rdl_event_signal(b.cx, event, 1));
    hold = START(&b, "sch_hold", .at = m.at);
    CHECK_EQ(3, get(&b, waits));
    word_set(&m, 1, 1);
    CHECK_EQ(1, get(&b, hold));
  }
  bed_close(&b);
}

/* Short launches, so that workers come while others leave: who begins a segment without end is
 * never left alone with what stands behind it. */
void SCH_9_late(void) {
  enum { BEHIND = 20, ROUNDS = SCALED(30, 10) };
  static warnings told;
  rdl_context_options options = held_options(&told);
  uint32_t k;
  bed b;
  options.quantum_ns = 100u * US;
  b = bed_open_with(TASKS, &options);
  need_whole_launches();
  need_resident(&b);
  for (k = 0; k < ROUNDS; k++) {
    memory m = memory_new(&b, 3), busy = memory_new(&b, 1);
    rdl_future turns = START(&b, "sch_busy", .at = busy.at), parent;
    sleep_ns(chance(300) * US);
    parent = START(&b, "sch_stands_before", .at = m.at, .n = BEHIND);
    CHECK(word_becomes(&m, 2, BEHIND, PATIENCE_NS));
    word_set(&m, 1, 1);
    word_set(&busy, 0, 1);
    CHECK_EQ(BEHIND, get(&b, parent));
    CHECK_EQ(5, get(&b, turns));
  }
  bed_close(&b);
}

/* Every worker runs a segment that does not end. */
static bed hold_all(memory *m, const rdl_context_options *options) {
  bed b = bed_open_with(TASKS, options);
  uint64_t end = now_ns() + PATIENCE_NS;
  uint32_t k;
  need_resident(&b);
  *m = memory_new(&b, 2);
  for (k = 0; k < b.workers; k++)
    START(&b, "sch_hold", .at = m->at);
  while (word_at(m, 0) < b.workers) {
    if (now_ns() > end) test_fail(__FILE__, __LINE__, "only %u workers are held", word_at(m, 0));
    sleep_ns(1u * MS);
  }
  return b;
}

static void check_other_device(void) {
  static const char *const others[] = {"host", "opencl:pocl"};
  rdl_context *cx = NULL;
  rdl_status status;
  size_t k;
  for (k = 0; k < 2; k++) {
    if (strcmp(others[k], settings.selector) == 0) continue;
    status = rdl_context_open(others[k], &cx);
    if (status == RDL_BUSY) continue; /* the same device by another name */
    if (status == RDL_NOT_FOUND || status == RDL_UNAVAILABLE) continue;
    CHECK_OK(status);
    CHECK_OK(rdl_context_close(cx));
  }
}

/* Every worker is held by a task that looks for a cancel: nobody is left to take the host's
 * message, and the others end when the context closes. */
void SCH_9_cancels(void) {
  static warnings told;
  rdl_context_options options = held_options(&told);
  bed b = bed_open_with(TASKS, &options);
  memory m = memory_new(&b, 2);
  rdl_future all[64];
  uint32_t k;
  need_resident(&b);
  if (b.workers > 64) test_skip("holds 64 workers at most");
  for (k = 0; k < b.workers; k++)
    all[k] = START(&b, "sch_looks", .at = m.at);
  CHECK(word_becomes(&m, 0, b.workers, PATIENCE_NS));
  CHECK_OK(rdl_future_cancel(b.cx, all[0]));
  CHECK_END(&b, all[0], RDL_CANCELLED, 0);
  CHECK_EQ(1, word_at(&m, 1));
  CHECK_OK(rdl_context_close(b.cx));
}

/* Waits time out, closing gives up in time, and then the device is refused, and no other is. When
 * the segments end after all, it is free again. */
void SCH_9_all_held(void) {
  static warnings told;
  rdl_context_options options = held_options(&told);
  rdl_status status = RDL_BUSY;
  rdl_context *cx = NULL;
  uint64_t begin;
  rdl_future behind;
  memory m;
  bed b = hold_all(&m, &options);
  behind = START(&b, "sch_leaf", .n = 1);
  begin = now_ns();
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &behind, 1, 200u * MS));
  CHECK_BETWEEN(200u * MS, now_ns() - begin, 1200u * MS);
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  begin = now_ns();
  CHECK_STATUS(RDL_TIMEOUT, rdl_context_close(b.cx));
  CHECK_BETWEEN(400u * MS, now_ns() - begin, 1600u * MS);
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  CHECK_STATUS(RDL_BUSY, rdl_context_open(settings.selector, &cx));
  CHECK(cx == NULL);
  CHECK_CONTAINS(rdl_error_text(), "the process must be restarted");
  CHECK_CONTAINS(rdl_error_text(), "one segment of task sch_hold (");
  check_other_device();
  word_set(&m, 1, 1);
  begin = now_ns();
  while (status == RDL_BUSY && now_ns() - begin < PATIENCE_NS) {
    status = rdl_context_open(settings.selector, &cx);
    sleep_ns(1u * MS);
  }
  CHECK_OK(status);
  CHECK_OK(rdl_context_close(cx));
}

/* ---- who it is that does not end, where the host cannot look into a launch ---- */

/* Words that the host changes while tasks look at them, also where memory is apart. */
typedef struct seen {
  rdl_ptr at;
  uint32_t *words; /* NULL = they are the memory's */
  memory shared;
} seen;

static seen seen_new(bed *b) {
  static _Alignas(4096) uint32_t page[1024];
  rdl_context_info info = {.size = sizeof info};
  rdl_import import = RDL_IMPORT_INIT;
  rdl_buffer *buffer;
  seen s = {.words = NULL};
  CHECK_OK(rdl_context_describe(b->cx, &info));
  if (info.mode != RDL_MODE_APART) {
    need_resident(b);
    s.shared = memory_new(b, 2);
    s.at = s.shared.at;
    return s;
  }
  import.kind = RDL_IMPORT_HOST;
  import.memory = page;
  import.bytes = sizeof page;
  CHECK_OK(rdl_buffer_import(b->cx, &import, &buffer));
  s.at = rdl_buffer_address(buffer);
  s.words = page;
  return s;
}

static void let_end(seen *s) {
  if (s->words)
    __atomic_store_n(&s->words[1], 1u, __ATOMIC_RELEASE);
  else
    word_set(&s->shared, 1, 1);
}

/* A child of the host's future does not end: `name` is told, in the log, by a wait and in a dump.
 */
static void hold_child(uint32_t checked, const char *name) {
  static warnings told;
  rdl_context_options options = held_options(&told);
  rdl_future parent;
  bed b;
  seen s;
  options.checked = checked;
  b = bed_open_with(TASKS, &options);
  need_whole_launches();
  s = seen_new(&b);
  parent = START(&b, "sch_stands_before", .at = s.at);
  CHECK(is_warned(&told, PATIENCE_NS));
  CHECK_CONTAINS(told.last, name);
  CHECK_CONTAINS(told.last, "sch.task.c:");
  CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &parent, 1, 20u * MS));
  CHECK_CONTAINS(rdl_error_text(), name);
  if (checked) CHECK_CONTAINS(take_dump(&b)->text, "sch_hold (");
  sleep_ns(700u * MS);
  CHECK_EQ(1, told.count);
  let_end(&s);
  CHECK_EQ(0, get(&b, parent));
  CHECK_EQ(55, RUN(&b, "sch_fib", .n = 10));
  bed_close(&b);
}

void SCH_9_checked(void) {
  hold_child(1, "one segment of task sch_hold (");
}

/* Then the host's own future is all that is known where memory is apart. */
void SCH_9_unchecked(void) {
  bed b = bed_open(NULL);
  rdl_context_info info = {.size = sizeof info};
  CHECK_OK(rdl_context_describe(b.cx, &info));
  CHECK_OK(rdl_context_close(b.cx));
  hold_child(0, info.mode == RDL_MODE_APART
                    ? "; it held 1 future that the host has started: task sch_stands_before ("
                    : "one segment of task sch_hold (");
}

/* ---- the process ends all the same ---- */

#define EXIT_NS (SCALED(5000u, 20000u) * MS)

/* True when it has ended by itself, in time, with status 0. */
static void check_ends(pid_t child) {
  uint64_t end = now_ns() + EXIT_NS;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (now_ns() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      test_fail(__FILE__, __LINE__, "the process did not end within %llu ms",
                (unsigned long long)(EXIT_NS / MS));
    }
    sleep_ns(5u * MS);
  }
  if (WIFSIGNALED(status))
    test_fail(__FILE__, __LINE__, "the process was ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status) == TEST_SKIPPED) _Exit(TEST_SKIPPED); /* it has said why */
  CHECK_EQ(0, WEXITSTATUS(status));
}

__attribute__((noreturn)) static void end_while_held(bool close_first) {
  static warnings told;
  rdl_context_options options = held_options(&told);
  memory m;
  bed b = hold_all(&m, &options);
  if (close_first) CHECK_STATUS(RDL_TIMEOUT, rdl_context_close(b.cx));
  exit(0);
}

void SCH_9_exit(void) {
  int closed;
  if (SANITIZED) test_skip("keeps memory in use on purpose, which a leak check reports");
  for (closed = 0; closed < 2; closed++) {
    pid_t child;
    fflush(stdout);
    child = fork(); /* nothing of this process has started a thread yet */
    CHECK(child >= 0);
    if (child == 0) end_while_held(closed);
    check_ends(child);
  }
}
