/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cases are written with. A case is a function without arguments that runs in a process of
 * its own; it returns when it has passed, and leaves through test_fail or test_skip otherwise. It
 * knows the public interface and the settings below, and nothing else of Raddle.
 */
#ifndef RDL_CONFORMANCE_HARNESS_H
#define RDL_CONFORMANCE_HARNESS_H

#include <raddle/raddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How this run was asked for. */
typedef struct test_settings {
  const char *selector;
  uint32_t workers; /* 0 = the device's own number */
  uint32_t lanes;   /* 0 = the same */
  uint32_t segment_limit;
  uint32_t
      loop_turns; /* of a loop-limited device, which the host pretends to be; 0 = it does not */
  uint32_t flat;
  uint32_t epoch;
  uint32_t apart;
  uint32_t scale;    /* percent */
  uint32_t patience; /* seconds */
  uint64_t seed;
  const char *name; /* of the case that runs */
} test_settings;

extern test_settings settings;

/* In nanoseconds, as 64 bits: more than four seconds of them are a usual product. */
#define MS 1000000ull
#define US 1000ull

/* Long enough for everything that ends at all, also on a busy machine under a sanitizer, and longer
 * on a device that is so slow that --scale was asked for. */
#define PATIENCE_NS (1000u * MS * settings.patience * (settings.scale < 100u ? 5u : 1u))

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The larger number, or the smaller one where every memory access is watched. */
#define SCALED(plain, sanitized) (SANITIZED ? (sanitized) : (plain))

/* Every case of cases.def. */
#define CASE(group, number, what, where, speed, modes) void group##_##number##_##what(void);
#include "conformance/cases.def"
#undef CASE

/* The larger number, or the smaller one where each launch is only a few segments long: there all
 * that is ready is put out and taken up again by every launch. */
#define UNLESS_CUT(whole, cut) (settings.segment_limit || settings.loop_turns ? (cut) : (whole))

/* The part of `count` that --scale asks for, at least one: for devices that are very slow. */
uint32_t suite_scale(uint32_t count);

/* ---- ends of a case ---- */

__attribute__((noreturn, format(printf, 3, 4))) void test_fail(const char *file, int line,
                                                               const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void test_skip(const char *reason, ...);

/* ---- checks ---- */

void check_equal(const char *file, int line, const char *what, uint64_t expected, uint64_t actual);
void check_between(const char *file, int line, const char *what, uint64_t least, uint64_t actual,
                   uint64_t most);
void check_status(const char *file, int line, const char *call, rdl_status expected,
                  rdl_status actual);
void check_contains(const char *file, int line, const char *text, const char *part);

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) test_fail(__FILE__, __LINE__, "%s is false", #condition);                    \
  } while (0)
#define CHECK_EQ(expected, actual)                                                                 \
  check_equal(__FILE__, __LINE__, #actual, (uint64_t)(expected), (uint64_t)(actual))
#define CHECK_BETWEEN(least, actual, most)                                                         \
  check_between(__FILE__, __LINE__, #actual, (uint64_t)(least), (uint64_t)(actual),                \
                (uint64_t)(most))
#define CHECK_STATUS(expected, call) check_status(__FILE__, __LINE__, #call, (expected), (call))
#define CHECK_OK(call)               CHECK_STATUS(RDL_OK, call)
#define CHECK_CONTAINS(text, part)   check_contains(__FILE__, __LINE__, (text), (part))

/* ---- a context with the tasks of a group ---- */

/* The arguments of nearly all tasks of the suite; the task files declare the same structure under
 * the name of their group. One structure for all keeps calls short: what a task does not use is 0.
 */
typedef struct task_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint32_t n;
  uint32_t k;
} task_args;

typedef struct bed {
  rdl_context *cx;
  rdl_module *tasks;
  uint32_t workers;
} bed;

/* Options of this run, for a case to add its own. */
rdl_context_options bed_options(void);

/* Opens the device of this run, or another, and loads a task file of the suite; NULL loads none.
 * Skips the case when the device cannot do this, or when another device is not there; but fails it
 * when RADDLE_REQUIRE names it. */
bed bed_open(const char *task_file);
bed bed_open_with(const char *task_file, const rdl_context_options *options);
bed bed_open_on(const char *selector, const char *task_file, const rdl_context_options *options);

/* Turns that the device of this run gives all loops of a kernel together; 0 = as many as there are.
 */
uint32_t device_loop_turns(void);

/* Loads a task file from memory. */
rdl_module *bed_load(bed *b, const char *name, const char *text);

/* Waits until nothing lives any more, checks that the counters balance, and closes. */
void bed_close(bed *b);

/* Only waits and checks. */
void bed_settle(bed *b);

/* Waits until the device is left, so that the counters are exact. */
rdl_stats bed_stats(bed *b);

/* Waits until exact counters show that `count` awaits (in all) have given up their workers. */
void bed_await_suspended(bed *b, uint64_t count);

/* Path of a task file of the suite, or of another of its files; good until the next call. */
const char *suite_path(const char *file);

/* ---- tasks ---- */

rdl_future start(bed *b, const char *task, task_args args);
#define START(b, task, ...) start((b), (task), (task_args){__VA_ARGS__})

uint32_t get(bed *b, rdl_future future); /* takes a result of 4 bytes; fails the case otherwise */
void get_none(bed *b, rdl_future future);
#define RUN(b, task, ...) get((b), START((b), (task), __VA_ARGS__))

/* Starts `count` tasks whose `n` counts from 0; one handle for all. */
rdl_future start_many(bed *b, const char *task, size_t count, task_args args);

/* Checks that the future ends with this status (and code), and takes it. */
void check_end(const char *file, int line, bed *b, rdl_future future, rdl_status status,
               uint32_t code);
#define CHECK_END(b, future, status, code)                                                         \
  check_end(__FILE__, __LINE__, (b), (future), (status), (code))

rdl_event new_event(bed *b, uint32_t target, uint32_t flags);

/* ---- memory that tasks and the host share ---- */

typedef struct memory {
  rdl_buffer *buffer;
  uint32_t *words; /* NULL where the host does not share the device's memory */
  rdl_ptr at;
  size_t count;
} memory;

memory memory_new(bed *b, size_t words);
uint32_t word_at(const memory *m, size_t index); /* while tasks run */
void word_set(memory *m, size_t index, uint32_t value);
/* All of it at once, while no task uses it. What memory_load gives stands until its next call. */
const uint32_t *memory_load(const memory *m);
void memory_store(memory *m, const uint32_t *words); /* NULL: zeros */
/* The n-th two words: a handle. */
void pair_set(memory *m, size_t n, uint32_t index, uint32_t generation);
/* The case needs host and device to see each other's writes while a launch runs: skips elsewhere.
 */
void need_resident(const bed *b);
/* Looks at the word, without any call of Raddle, until it has the value. False after `ns`. */
bool word_becomes(const memory *m, size_t index, uint32_t value, uint64_t ns);

/* ---- time and chance ---- */

uint64_t now_ns(void);
void sleep_ns(uint64_t ns);
uint64_t cpu_ns(void);                /* used by this process */
uint32_t chance(uint32_t below);      /* the same numbers for the same seed */
uint32_t mix(uint32_t x, uint32_t y); /* as in the task files */

#endif
