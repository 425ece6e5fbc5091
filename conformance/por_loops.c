/* SPDX-License-Identifier: Apache-2.0 */
/* POR 1: loops and states that drivers cut off, and that compilers have got wrong or died of. */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/harness.h"

#define TASKS "rep.task.c"
#define LOOPS "lim.task.c"

/* ---- POR 1: loops of many turns. Some drivers end a loop after 65,535 of them, and say nothing.
 */

enum { TURNS = 100000 };

static uint32_t sum_of(uint32_t turns) {
  uint32_t sum = 1, k;
  for (k = 0; k < turns; k++)
    sum = mix(sum, k);
  return sum;
}

/* What so many turns give, few of them in each segment. */
static void check_turns(const char *file, const char *task, uint32_t turns, uint32_t piece) {
  bed b = bed_open(file);
  CHECK_EQ(sum_of(turns), RUN(&b, task, .n = turns, .k = piece));
  bed_close(&b);
}

/* All turns in one segment: exact, but where the device gives a kernel fewer; there the future
 * fails with the status that says so. Half of what the device gives is exact everywhere. */
static void check_long(const char *task, uint32_t piece) {
  uint32_t turns = suite_scale(TURNS), most = device_loop_turns();
  bed b = bed_open(LOOPS);
  rdl_future f = START(&b, task, .n = turns, .k = piece);
  uint32_t sum = 0;
  if (most && most <= turns) {
    CHECK_STATUS(RDL_LOOP_BUDGET, rdl_future_get(b.cx, f, &sum, sizeof sum, PATIENCE_NS));
    CHECK_CONTAINS(rdl_error_text(), task);
    CHECK_CONTAINS(rdl_error_text(), "RDL_YIELD");
    turns = most / 2;
    f = START(&b, task, .n = turns, .k = piece);
  }
  CHECK_EQ(sum_of(turns), get(&b, f));
  bed_close(&b);
}

void POR_1_long_loop(void) {
  check_long("lim_turns", 0);
}

void POR_1_two_loops(void) {
  check_long("lim_two_loops", 0);
}

void POR_1_nested_loops(void) {
  check_long("lim_nested", 100);
}

void POR_1_many_yields(void) {
  check_turns(TASKS, "rep_yields", suite_scale(TURNS), 0);
}

void POR_1_many_awaits(void) {
  check_turns(TASKS, "rep_awaits", suite_scale(TURNS), 0);
}

/* Many times as many turns as a launch may have, but few in each segment: right everywhere. */
void POR_1_pieces(void) {
  check_turns(LOOPS, "lim_pieces", suite_scale(10 * TURNS), 1000);
}

/* ---- POR 1: loops that compilers have got wrong, or died of ---- */

void POR_1_formulas(void) {
  bed b = bed_open(TASKS);
  uint32_t n, k, sum;
  for (n = 0; n < 2000; n = 2 * n + 1) {
    for (sum = 0, k = 0; k < n; k++)
      sum += k + 3 * (k * k) + 5 * (k * (k + 1) / 2);
    CHECK_EQ(sum, RUN(&b, "rep_formulas", .n = n));
  }
  bed_close(&b);
}

static uint32_t three_loops(int most_x, int most_y, int most_z) {
  uint32_t sum = 1;
  int x, y, z;
  for (x = -most_x; x <= most_x; x++) {
    for (y = -most_y; y <= most_y; y++)
      for (z = -most_z; z <= most_z; z++)
        sum = mix(sum, (uint32_t)(100 * x + 10 * y + z));
    sum++;
  }
  return sum;
}

void POR_1_three_loops(void) {
  bed b = bed_open(TASKS);
  uint32_t n;
  for (n = 0; n < 64; n++) {
    uint32_t x = n / 16, y = n / 4 % 4, z = n % 4;
    CHECK_EQ(three_loops((int)x - 1, (int)y - 1, (int)z - 1),
             RUN(&b, "rep_three_loops", .n = 100 * x + 10 * y + z));
  }
  bed_close(&b);
}

void POR_1_scatter(void) {
  enum { SIDE = 24, RADIUS = 4 }; /* the first as in the task file */
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, (size_t)SIDE * SIDE);
  uint32_t words[SIDE * SIDE], k;
  get_none(
      &b, start_many(&b, "rep_scatter", (size_t)SIDE * SIDE, (task_args){.at = m.at, .k = RADIUS}));
  CHECK_OK(rdl_buffer_read(m.buffer, 0, words, sizeof words));
  for (k = 0; k < SIDE * SIDE; k++)
    CHECK_EQ((2 * RADIUS + 1) * (2 * RADIUS + 1), words[k]);
  bed_close(&b);
}

static int compare_falling(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

void POR_1_sort(void) {
  bed b = bed_open(TASKS);
  uint32_t words[100], n, k, sum;
  for (n = 0; n <= 100; n += 10) {
    uint32_t seed = chance(UINT32_MAX);
    for (k = 0; k < n; k++)
      words[k] = mix(seed, k) % 1000u;
    qsort(words, n, sizeof words[0], compare_falling);
    for (sum = 1, k = 0; k < n; k++)
      sum = mix(sum, words[k]);
    CHECK_EQ(sum, RUN(&b, "rep_sort", .n = n, .k = seed));
  }
  bed_close(&b);
}

/* ---- POR 1: tasks of many states. Some drivers follow conditions 80 deep, and no deeper. ---- */

static uint32_t word_of(uint32_t task, uint32_t state) {
  return (task * 1000u + state + 1u) * 2654435761u;
}

static void write_states(FILE *file, uint32_t task, uint32_t states) {
  uint32_t k;
  fprintf(file,
          "RDL_TASK(states_%u, uint, RDL_NONE, struct states_state) {\n"
          "  RDL_BEGIN();\n",
          task);
  for (k = 0; k < states; k++)
    fprintf(file, "  self->sum = (self->sum ^ %uu) * 16777619u;\n  RDL_YIELD();\n",
            word_of(task, k));
  fputs("  RDL_RETURN(self->sum);\n"
        "  RDL_END();\n"
        "}\n",
        file);
}

static void check_states(bed *b, rdl_module *module, uint32_t task, uint32_t states) {
  uint32_t sum = 0, k;
  char name[32];
  rdl_future f;
  for (k = 0; k < states; k++)
    sum = (sum ^ word_of(task, k)) * 16777619u;
  snprintf(name, sizeof name, "states_%u", task);
  CHECK_OK(rdl_spawn(module, name, NULL, 0, NULL, &f));
  CHECK_EQ(sum, get(b, f));
}

static void run_states(uint32_t tasks, uint32_t states) {
  bed b = bed_open(NULL);
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  rdl_module *module;
  rdl_status status;
  uint32_t k;
  CHECK(file);
  fputs("struct states_state {\n"
        "  uint sum;\n"
        "};\n",
        file);
  for (k = 0; k < tasks; k++)
    write_states(file, k, states);
  fclose(file);
  status = rdl_module_load_text(b.cx, "states.task.c", text, length, &module);
  free(text);
  if (status == RDL_UNSUPPORTED) { /* by name, which is as good */
    CHECK_CONTAINS(rdl_error_text(), "states_0");
    CHECK_CONTAINS(rdl_error_text(), "`nesting`");
    bed_close(&b);
    return;
  }
  CHECK_OK(status);
  for (k = 0; k < tasks; k++)
    check_states(&b, module, k, states);
  bed_close(&b);
}

void POR_1_states(void) {
  run_states(1, 320);
}

void POR_1_tasks_with_states(void) {
  run_states(64, 5);
}
