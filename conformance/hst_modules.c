/* SPDX-License-Identifier: Apache-2.0 */
/* HST 1 and 3: modules that come while a context is in use, and one that is too large. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "hst.task.c"

/* ---- HST 3: frames that are larger than those before ---- */

#define LARGE_WORDS 2000u
static const char large_file[] = "struct large_args {\n"
                                 "  uint n[2000];\n"
                                 "};\n"
                                 "RDL_TASK(large_same, uint, struct large_args, RDL_NONE) {\n"
                                 "  uint k, wrong = 0;\n"
                                 "  RDL_BEGIN();\n"
                                 "  for (k = 0; k < 2000; k++)\n"
                                 "    if (args->n[k] != args->n[0]) wrong++;\n"
                                 "  if (wrong) RDL_FAIL(wrong);\n"
                                 "  RDL_RETURN(args->n[0]);\n"
                                 "  RDL_END();\n"
                                 "}\n";

static void run_leaves(bed *b, uint32_t count) {
  task_args *args = calloc(count, sizeof *args);
  rdl_future *futures = calloc(count, sizeof *futures);
  uint32_t *results = calloc(count, sizeof *results);
  uint32_t k;
  CHECK(args && futures && results);
  for (k = 0; k < count; k++)
    args[k].n = k;
  CHECK_OK(rdl_spawn_many(b->tasks, "hst_leaf", args, sizeof *args, sizeof *args, count, NULL,
                          futures, NULL));
  CHECK_OK(rdl_future_get_many(b->cx, futures, count, results, sizeof *results, PATIENCE_NS));
  for (k = 0; k < count; k++)
    CHECK_EQ(k, results[k]);
  free(args);
  free(futures);
  free(results);
}

/* As many as there is room for; how many that were. */
static uint32_t run_large(bed *b, rdl_module *large, uint32_t most) {
  rdl_future *futures = calloc(most, sizeof *futures);
  uint32_t args[LARGE_WORDS], count, k;
  CHECK(futures);
  for (count = 0; count < most; count++) {
    rdl_status status;
    for (k = 0; k < LARGE_WORDS; k++)
      args[k] = count;
    status = rdl_spawn(large, "large_same", args, sizeof args, NULL, &futures[count]);
    if (status == RDL_AGAIN) {
      rdl_future promise;
      CHECK_CONTAINS(rdl_error_text(), "raise the option `frame_bytes`");
      CHECK_STATUS(RDL_AGAIN, rdl_future_create(b->cx, &promise));
      CHECK_CONTAINS(rdl_error_text(), "raise the option `frame_bytes`");
      break;
    }
    CHECK_OK(status);
  }
  for (k = 0; k < count; k++)
    CHECK_EQ(k, get(b, futures[k]));
  free(futures);
  return count;
}

/* Each of the many roots that were used before would need a larger frame now, and there is memory
 * for a part of them only: no two get the same. */
void HST_3_larger_module(void) {
  rdl_context_options options = bed_options();
  uint32_t count = UNLESS_CUT(20000, 5000), first;
  rdl_module *large;
  bed b;
  options.roots = count;
  options.slots = 1000;
  options.frame_bytes = 32u << 20;
  b = bed_open_with(TASKS, &options);
  run_leaves(&b, count);
  large = bed_load(&b, "large.task.c", large_file);
  first = run_large(&b, large, count);
  CHECK_BETWEEN(500, first, 4096); /* 4,096 would fill all memory */
  CHECK_BETWEEN(500, run_large(&b, large, count), first);
  run_leaves(&b, 500);
  bed_close(&b);
}

/* ---- HST 3: as many words that suspend as can be told apart, and one more ---- */

#define MOST_POINTS 4095u

/* Line 4 is the task's. */
static char *points_file(uint32_t points) {
  size_t room = 400u + (size_t)points * 32u, used;
  char *text = malloc(room);
  uint32_t k;
  CHECK(text);
  used = (size_t)snprintf(text, room,
                          "struct points_state {\n"
                          "  uint k;\n"
                          "};\n"
                          "RDL_TASK(points, uint, RDL_NONE, struct points_state) {\n"
                          "  RDL_BEGIN();\n");
  for (k = 0; k < points; k++)
    used += (size_t)snprintf(text + used, room - used, "  RDL_YIELD(); self->k++;\n");
  snprintf(text + used, room - used, "  RDL_RETURN(self->k);\n  RDL_END();\n}\n");
  return text;
}

void HST_3_resume_points(void) {
  bed b = bed_open(NULL);
  rdl_module *module = NULL;
  char *text = points_file(MOST_POINTS + 1);
  CHECK_STATUS(RDL_COMPILE,
               rdl_module_load_text(b.cx, "points.task.c", text, strlen(text), &module));
  CHECK(module == NULL);
  CHECK_CONTAINS(rdl_error_text(), "points.task.c:4:");
  CHECK_CONTAINS(rdl_error_text(), "4095");
  free(text);
  bed_close(&b);
}

/* For the host only: a driver's compiler may take minutes for such a file. */
void HST_3_most_points(void) {
  bed b = bed_open(NULL);
  char *text = points_file(MOST_POINTS);
  rdl_module *module = bed_load(&b, "points.task.c", text);
  rdl_future f;
  free(text);
  CHECK_OK(rdl_spawn(module, "points", NULL, 0, NULL, &f));
  CHECK_EQ(MOST_POINTS, get(&b, f));
  bed_close(&b);
}

/* ---- HST 3: macros by names that Raddle's own text uses ---- */

static const char named_file[] =
    "#define k 4u\n"
    "#define count (k + 1u)\n"
    "#define task(x) ((x) + count)\n"
    "#define heap 1u\n"
    "#define words 2u\n"
    "#define value 3u\n"
    "#define infos 4u\n"
    "#define args_size 5u\n"
    "#define printf(x) (x)\n"
    "struct named_args {\n"
    "  uint n;\n"
    "};\n"
    "struct named_state {\n"
    "  rdl_future f;\n"
    "};\n"
    "RDL_TASK(named_leaf, uint, struct named_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_RETURN(task(args->n) + printf(heap));\n"
    "  RDL_END();\n"
    "}\n"
    "RDL_TASK(named, uint, struct named_args, struct named_state) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_SPAWN(self->f, named_leaf, .n = args->n + words + value + infos + args_size);\n"
    "  RDL_AWAIT(self->f);\n"
    "  RDL_RETURN(RDL_RESULT(uint, self->f));\n"
    "  RDL_END();\n"
    "}\n";

void HST_3_macro_names(void) {
  bed b = bed_open(TASKS);
  rdl_module *named = bed_load(&b, "named.task.c", named_file);
  uint32_t args[1] = {100};
  rdl_future f;
  CHECK_OK(rdl_spawn(named, "named", args, sizeof args, NULL, &f));
  CHECK_EQ(120, get(&b, f));
  bed_load(&b, "second.task.c",
           "RDL_TASK(plain, RDL_NONE, RDL_NONE, RDL_NONE) {\n"
           "  RDL_BEGIN();\n"
           "  RDL_END();\n"
           "}\n");
  CHECK_OK(rdl_spawn(named, "named", args, sizeof args, NULL, &f));
  CHECK_EQ(120, get(&b, f));
  bed_close(&b);
}

/* ---- HST 1: loading beside other calls ---- */

static const char second_file[] = "struct second_args {\n"
                                  "  uint n[3];\n"
                                  "};\n"
                                  "RDL_TASK(second, uint, struct second_args, RDL_NONE) {\n"
                                  "  RDL_BEGIN();\n"
                                  "  RDL_RETURN(args->n[2]);\n"
                                  "  RDL_END();\n"
                                  "}\n";

static void *spawn_with_patience(void *argument) {
  bed *b = argument;
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = 7};
  rdl_future f;
  options.room_ns = RDL_FOREVER; /* compiling may take long */
  CHECK_OK(rdl_spawn(b->tasks, "hst_leaf", &args, sizeof args, &options, &f));
  CHECK_EQ(7, get(b, f));
  return NULL;
}

enum { BLOCKS = 2048 };

/* Blocks of all sizes up to 4,096 bytes: where what the second module replaced was, they are now.
 */
static void take_host_memory(void **blocks) {
  size_t k;
  for (k = 0; k < BLOCKS; k++) {
    size_t size = 16u * (1u + k % 256u);
    blocks[k] = malloc(size);
    CHECK(blocks[k]);
    memset(blocks[k], 0x41, size);
  }
}

/* The task of a spawn that waits for room is still known when a module came meanwhile. */
void HST_1_load_while_spawning(void) {
  rdl_context_options options = bed_options();
  uint32_t args[3] = {1, 2, 3};
  rdl_module *second;
  rdl_future promise, f;
  pthread_t thread;
  void *blocks[BLOCKS];
  bed b;
  size_t k;
  options.roots = 1;
  options.slots = 16;
  options.frame_bytes = 1u << 20;
  b = bed_open_with(TASKS, &options);
  CHECK_OK(rdl_future_create(b.cx, &promise));
  CHECK_EQ(0, pthread_create(&thread, NULL, spawn_with_patience, &b));
  sleep_ns(20u * MS);
  second = bed_load(&b, "second.task.c", second_file);
  take_host_memory(blocks);
  CHECK_OK(rdl_future_release(b.cx, promise));
  pthread_join(thread, NULL);
  for (k = 0; k < BLOCKS; k++)
    free(blocks[k]);
  bed_settle(&b);
  CHECK_OK(rdl_spawn(second, "second", args, sizeof args, NULL, &f));
  CHECK_EQ(3, get(&b, f));
  bed_close(&b);
}

static void *spawn_again_and_again(void *argument) {
  bed *b = argument;
  uint32_t k;
  for (k = 0; k < 200; k++) {
    CHECK_EQ(k, RUN(b, "hst_leaf", .n = k));
    sleep_ns(1u * MS);
  }
  return NULL;
}

/* What a spawn looks at stays as it is while another module is compiled. */
void HST_1_load_beside_spawns(void) {
  uint32_t args[3] = {1, 2, 3};
  rdl_module *second;
  pthread_t thread;
  rdl_future f;
  bed b = bed_open(TASKS);
  CHECK_EQ(0, pthread_create(&thread, NULL, spawn_again_and_again, &b));
  sleep_ns(5u * MS);
  second = bed_load(&b, "second.task.c", second_file);
  CHECK_OK(rdl_spawn(second, "second", args, sizeof args, NULL, &f));
  CHECK_EQ(3, get(&b, f));
  pthread_join(thread, NULL);
  bed_close(&b);
}

typedef struct loader {
  bed *b;
  uint64_t ns; /* that loading took */
  uint32_t done;
} loader;

static void *load_slowly(void *argument) {
  loader *l = argument;
  uint64_t begin = now_ns();
  bed_load(l->b, "second.task.c", second_file);
  l->ns = now_ns() - begin;
  __atomic_store_n(&l->done, 1u, __ATOMIC_RELEASE);
  return NULL;
}

/* A macro that stands for RDL_NONE means it, also one of a file before and for a declared task. */
void HST_3_none_by_macro(void) {
  static const char first[] = "#define NOTHING RDL_NONE\n"
                              "#define NO_STATE() NOTHING\n"
                              "RDL_DECLARE(none_all, NOTHING, NOTHING, NO_STATE())\n"
                              "RDL_TASK(none_all, NOTHING, NOTHING, NO_STATE()) {\n"
                              "  RDL_BEGIN();\n"
                              "  RDL_END();\n"
                              "}\n";
  static const char second[] = "struct none_some_args { uint n; };\n"
                               "#define SOME struct none_some_args\n"
                               "RDL_TASK(none_some, uint, SOME, NOTHING) {\n"
                               "  RDL_BEGIN();\n"
                               "  RDL_RETURN(args->n);\n"
                               "  RDL_END();\n"
                               "}\n";
  rdl_task_description task = {.size = sizeof task};
  bed b = bed_open(NULL);
  rdl_module *all = bed_load(&b, "first.task.c", first),
             *some = bed_load(&b, "second.task.c", second);
  uint32_t value = 7;
  rdl_future f;
  CHECK_OK(rdl_module_task(all, "none_all", &task));
  CHECK_EQ(0, task.args_size);
  CHECK_EQ(0, task.state_size);
  CHECK_EQ(0, task.result_size);
  CHECK_OK(rdl_spawn(all, "none_all", NULL, 0, NULL, &f));
  get_none(&b, f);
  CHECK_OK(rdl_module_task(some, "none_some", &task));
  CHECK_EQ(4, task.args_size);
  CHECK_EQ(0, task.state_size);
  CHECK_EQ(4, task.result_size);
  CHECK_OK(rdl_spawn(some, "none_some", &value, sizeof value, NULL, &f));
  CHECK_EQ(7, get(&b, f));
  bed_close(&b);
}

static uint64_t time_calls(bed *b) {
  uint64_t begin = now_ns();
  rdl_stats s = {.size = sizeof s};
  rdl_event event;
  CHECK_OK(rdl_context_stats(b->cx, &s));
  CHECK_OK(rdl_event_create(b->cx, 1, 0, &event));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b->cx, event, 0));
  return now_ns() - begin;
}

/* Nothing waits until a module is compiled but what needs it. */
void HST_1_load_beside_calls(void) {
  rdl_context_options options = bed_options();
  loader l = {0};
  uint64_t longest = 0;
  pthread_t thread;
  bed b;
  options.cache_dir = ""; /* so that there is something to wait for */
  b = bed_open_with(NULL, &options);
  l.b = &b;
  CHECK_EQ(0, pthread_create(&thread, NULL, load_slowly, &l));
  while (!__atomic_load_n(&l.done, __ATOMIC_ACQUIRE)) {
    uint64_t ns = time_calls(&b);
    if (ns > longest) longest = ns;
    sleep_ns(10u * MS); /* a compiler may take half a minute, and each time takes an event */
  }
  pthread_join(thread, NULL);
  CHECK_BETWEEN(0, longest, l.ns / 2);
  bed_close(&b);
}
