/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/kernels.h"
#include "api/src/lanes.h"
#include "api/src/lex.h"
#include "api/src/mentions.h"
#include "backends/common/sha256.h"
#include "kernels/dialect.h"

#include "kernels/abi.h" /* its types are the dialect's */

#define OWN_MODULE "tasks.cl"
/* What calls the dispatch. */
static const char *const last_texts[] = {"main.cl", "pack_run.cl", "private_run.cl", "row.cl",
                                         "lead.cl", "launch.cl",   "limited.cl"};
#define LAST_TEXTS (sizeof last_texts / sizeof last_texts[0])

/* What messages call the generated pieces. */
#define HEADS_NAME "raddle-heads"
#define TAIL_NAME  "raddle-dispatch"
#define FRONT_NAME "raddle-front"

rdl_status rdl__image_own_module(rdl__task_list *tasks, rdl__image_module *out_module,
                                 rdl_reason *why) {
  const struct rdl_kernel_text *texts, *own;
  rdl_status status = rdl__kernels(&texts, why);
  *out_module = (rdl__image_module){.name = OWN_MODULE, .tasks = tasks};
  *tasks = (rdl__task_list){0};
  if (status) return status;
  own = rdl__kernels_find(texts, OWN_MODULE);
  if (!own) {
    snprintf(why->text, sizeof why->text, "%s is missing in the library", OWN_MODULE);
    return RDL_INTERNAL;
  }
  out_module->text = (const char *)own->text;
  out_module->length = own->size;
  return rdl__scan(own->name, out_module->text, out_module->length, RDL__SCAN_OWN, tasks, why);
}

/* ---- checks over all modules ---- */

typedef struct place {
  const rdl__image_module *module;
  const rdl__task *task;
  uint32_t number;
  bool wide;   /* run by all lanes of a worker */
  bool packed; /* many at once, one in each lane */
  bool hosts;  /* it spawns private tasks */
} place;

/* By name; equal names in the order of loading, so that the later one is reported. */
static int compare_places(const void *left, const void *right) {
  const place *a = left;
  const place *b = right;
  int order = strcmp(a->task->name, b->task->name);
  if (order) return order;
  if (a->module != b->module) return a->module < b->module ? -1 : 1;
  return 0;
}

/* The same name at the same place: most likely the same file, loaded once more. */
static bool same_file(const place *first, const place *second) {
  return first->task->line == second->task->line &&
         strcmp(first->module->name, second->module->name) == 0;
}

static rdl_status report_twice(const place *first, const place *second, rdl_reason *why) {
  if (same_file(first, second)) {
    snprintf(why->text, sizeof why->text,
             "%.1900s:%u:%u: task '%s': this file is loaded already; keep its first module and "
             "spawn from that",
             second->module->name, second->task->line, second->task->column, second->task->name);
    return RDL_COMPILE;
  }
  snprintf(why->text, sizeof why->text,
           "%.1300s:%u:%u: task '%s' is also defined in %.1300s, line %u; rename one of them",
           second->module->name, second->task->line, second->task->column, second->task->name,
           first->module->name, first->task->line);
  return RDL_COMPILE;
}

static rdl_status report_too_many(const rdl__image_module *module, size_t count, rdl_reason *why) {
  snprintf(why->text, sizeof why->text,
           "%.1900s:1:1: with this file the image has %zu tasks and can number %u; load fewer",
           module->name, count, RDL_MAX_TASKS);
  return RDL_COMPILE;
}

static rdl_status report_memory(rdl_reason *why) {
  snprintf(why->text, sizeof why->text, "out of memory while writing the text of the image");
  return RDL_OUT_OF_MEMORY;
}

static rdl_status count_tasks(const rdl__image_module *modules, size_t count, uint32_t *out_count,
                              rdl_reason *why) {
  size_t tasks = 0;
  for (size_t m = 0; m < count; m++) {
    tasks += modules[m].tasks->count;
    if (tasks > RDL_MAX_TASKS) return report_too_many(&modules[m], tasks, why);
  }
  *out_count = (uint32_t)tasks;
  return RDL_OK;
}

static rdl_status check_names(const rdl__image_module *modules, size_t count, uint32_t tasks,
                              rdl_reason *why) {
  place *places = calloc(tasks + (size_t)1, sizeof *places);
  rdl_status status = RDL_OK;
  size_t n = 0;
  if (!places) return report_memory(why);
  for (size_t m = 0; m < count; m++)
    for (size_t i = 0; i < modules[m].tasks->count; i++)
      places[n++] = (place){.module = &modules[m], .task = &modules[m].tasks->tasks[i]};
  qsort(places, n, sizeof *places, compare_places);
  for (size_t i = 1; i < n && !status; i++)
    if (strcmp(places[i - 1].task->name, places[i].task->name) == 0)
      status = report_twice(&places[i - 1], &places[i], why);
  free(places);
  return status;
}

/* ---- generated text ---- */

static void print_heads(rdl__text *out, const rdl__task_list *tasks, uint32_t number) {
  for (size_t i = 0; i < tasks->count; i++) {
    const rdl__task *task = &tasks->tasks[i];
    rdl__text_print(out, "#define RDL_ID_%s %uu\n", task->name, number + (uint32_t)i);
    rdl__text_print(out, "#define RDL_HEAD_%s RDL_HEAD_%s_\n", task->name,
                    task->declared ? "DECLARED" : "HERE");
    rdl__text_print(out, "#define RDL_WIDTH_%s %s\n", task->name,
                    task->group ? "RDL_GROUP_LANES" : "RDL_LANES");
  }
}

/* A tree of comparisons, because a long `switch` is wrong on some devices. Recursion is as deep as
 * the tree: 12 for 4096 tasks. */
static void print_choice(rdl__text *out, const place *places, uint32_t from, uint32_t to, int depth,
                         const char *form) {
  int indent = 2 * depth;
  if (to - from == 1) {
    rdl__text_print(out, "%*show = %s_%s(rdl);\n", indent, "", places[from].task->name, form);
    return;
  }
  uint32_t middle = from + (to - from) / 2;
  rdl__text_print(out, "%*sif (task < %uu) {\n", indent, "", places[middle].number);
  print_choice(out, places, from, middle, depth + 1, form);
  rdl__text_print(out, "%*s} else {\n", indent, "");
  print_choice(out, places, middle, to, depth + 1, form);
  rdl__text_print(out, "%*s}\n", indent, "");
}

static void print_description(rdl__text *out, const place *places, uint32_t count) {
  rdl__text_print(out, "RDL_FN void rdl_describe_tasks(RDL_GLOBAL rdl_task_info *infos)\n{\n");
  for (uint32_t i = 0; i < count; i++) {
    const rdl__task *task = places[i].task;
    rdl__text_print(out, "  RDL_INFO(%s, %uu", task->name, task->spawns);
    if (task->lane_spawns)
      rdl__text_print(out, " + %uu * RDL_WIDTH_%s", task->lane_spawns, task->name);
    rdl__text_print(out, ", %uu)\n", task->resume_points);
    if (task->lane_state) rdl__text_print(out, "  RDL_LANES_INFO(%s)\n", task->name);
    if (!places[i].wide) rdl__text_print(out, "  RDL_ALONE_INFO(%s)\n", task->name);
  }
  rdl__text_print(out, "}\n");
}

static void print_run(rdl__text *out, const char *name, const place *places, uint32_t count) {
  rdl__text_print(out, "RDL_FN rdl_u32 %s(rdl_cx *rdl, rdl_u32 task)\n{\n", name);
  if (count) {
    rdl__text_print(out, "  rdl_u32 how;\n");
    print_choice(out, places, 0, count, 1, "run");
    rdl__text_print(out, "  return how;\n}\n");
  } else {
    rdl__text_print(out, "  (void)rdl, (void)task;\n  return RDL_ENDED;\n}\n");
  }
}

/* Working memory costs a device workers, where they share what it has: an image without a task that
 * names it has next to none. */
static bool names_scratch(const rdl__image_module *modules, size_t count) {
  for (size_t m = 0; m < count; m++) {
    rdl__lexer lexer;
    rdl__token token;
    rdl__lexer_init(&lexer, modules[m].text, modules[m].length);
    do {
      rdl__lexer_next(&lexer, &token);
      if (token.kind == RDL__TOKEN_WORD && rdl__token_is(&token, "RDL_SCRATCH")) return true;
    } while (token.kind != RDL__TOKEN_END && token.kind != RDL__TOKEN_BROKEN);
  }
  return false;
}

static bool is_private(const place *p) {
  return p->task->is_private;
}

/* Neither waits nor spawns. */
static bool is_row(const place *p) {
  return p->task->is_private && !p->task->resume_points && !p->task->spawns;
}

/* A batch may be one of private tasks. */
static bool may_host(const place *p) {
  return p->hosts || strcmp(p->task->name, "rdl_batch") == 0;
}

/* A function that tells something of a task: a bit for each. */
static void print_bits(rdl__text *out, const char *name, const place *places, uint32_t count,
                       bool (*has_bit)(const place *)) {
  rdl__text_print(out, "RDL_FN rdl_u32 %s(rdl_u32 task)\n{\n  rdl_u32 bits = 0u;\n", name);
  for (uint32_t from = 0; from < count; from += 32u) {
    uint32_t bits = 0;
    for (uint32_t i = from; i < count && i < from + 32u; i++)
      if (has_bit(&places[i])) bits |= 1u << (i - from);
    if (bits)
      rdl__text_print(out, "  if (task / 32u == %uu) bits = 0x%xu;\n", from / 32u, (unsigned)bits);
  }
  rdl__text_print(out, "  return bits >> task %% 32u & 1u;\n}\n");
}

static bool is_wide(const place *p) {
  return p->wide;
}

static bool is_group(const place *p) {
  return p->task->group != 0;
}

static bool is_packed(const place *p) {
  return p->packed;
}

static bool is_alone(const place *p) {
  return !p->wide;
}

static bool is_of_warp(const place *p) {
  return p->wide && !p->task->group;
}

static const char *spawned_by(const place *p, size_t *at) {
  const rdl__task_list *list = p->module->tasks;
  for (; *at < list->mention_count; ++*at) {
    const rdl__mention *mention = &list->mentions[*at];
    if (mention->kind == RDL__SPAWNED && mention->line >= p->task->begin_line &&
        mention->line <= p->task->end_line)
      return list->mentions[(*at)++].name;
  }
  return NULL;
}

/* Copies those that are to be run in one place. */
static uint32_t choose(const place *places, uint32_t count, bool (*belongs)(const place *),
                       place *some) {
  uint32_t chosen = 0;
  for (uint32_t i = 0; i < count; i++)
    if (belongs(&places[i])) some[chosen++] = places[i];
  return chosen;
}

/* Members of rows are given where their arguments stand. */
static void print_rows(rdl__text *out, const place *some, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (is_row(&some[i])) rdl__text_print(out, "RDL_ROW_RUNNER(%s)\n", some[i].task->name);
  rdl__text_print(out, "RDL_FN void rdl_run_row(rdl_px *rdl, rdl_u32 task, const rdl_word *words)\n"
                       "{\n");
  for (uint32_t i = 0; i < count; i++)
    if (is_row(&some[i]))
      rdl__text_print(out, "  if (task == %uu) %s_run_row(rdl, words);\n", some[i].number,
                      some[i].task->name);
  rdl__text_print(out, "}\n");
}

/* The private ones. Where none are there is no such text. */
static void print_private(rdl__text *out, const place *places, uint32_t count, place *some) {
  uint32_t found = choose(places, count, is_private, some);
  if (!found) return;
  rdl__text_print(out, "#if defined(RDL_PRIVATE)\n");
  for (uint32_t i = 0; i < found; i++)
    rdl__text_print(out, "RDL_PRIVATE_RUNNER(%s)\n", some[i].task->name);
  rdl__text_print(out, "RDL_FN rdl_u32 rdl_run_private(rdl_px *rdl, rdl_u32 task)\n{\n"
                       "  rdl_u32 how;\n");
  print_choice(out, some, 0, found, 1, "run_private");
  rdl__text_print(out, "  return how;\n}\n");
  print_rows(out, some, found);
  print_bits(out, "rdl_is_row_task", places, count, is_row);
  print_bits(out, "rdl_is_private_task", places, count, is_private);
  print_bits(out, "rdl_may_host", places, count, may_host);
  rdl__text_print(out, "#endif\n");
}

static const place *find_place(const place *places, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(places[i].task->name, name) == 0) return &places[i];
  return NULL;
}

/* Tasks that are packed: their numbers, as far as the compiler finds what they spawn small. What
 * stands behind a macro's name is not looked for. */
static void print_packs(rdl__text *out, const place *places, uint32_t count) {
  rdl__text_print(out, "RDL_FN rdl_u32 rdl_packs(rdl_u32 task)\n{\n  rdl_u32 bits = 0u;\n");
  for (uint32_t i = 0; i < count; i++) {
    const char *child;
    size_t at = 0;
    uint32_t named = 0;
    if (!places[i].packed) continue;
    rdl__text_print(out, "  if (task / 32u == %uu && RDL_PACKS(%s)", i / 32u, places[i].task->name);
    for (; (child = spawned_by(&places[i], &at)); named++)
      rdl__text_print(
          out, find_place(places, count, child) ? " && RDL_PACKS(%s)" : " && 0 /* %s */", child);
    if (named != places[i].task->spawns) rdl__text_print(out, " && 0"); /* some stand in an #if */
    rdl__text_print(out, ") bits |= 0x%xu;\n", (unsigned)(1u << i % 32u));
  }
  rdl__text_print(out, "  return bits >> task %% 32u & 1u;\n}\n");
}

/* On a worker of several lanes the tasks of all lanes stand apart from the others: around the words
 * that bring lanes together every branch must be one that all of them take. */
static rdl_status print_runs(rdl__text *out, const place *places, uint32_t count) {
  place *some = calloc(count + (size_t)1, sizeof *some);
  if (!some) return RDL_OUT_OF_MEMORY;
  rdl__text_print(out, "#if RDL_LANES == 1\n");
  print_run(out, "rdl_run_task", places, count);
  rdl__text_print(out, "#else\n");
  print_run(out, "rdl_run_alone", some, choose(places, count, is_alone, some));
  if (choose(places, count, is_group, some)) {
    rdl__text_print(out, "#if defined(RDL_GROUPS)\n");
    print_run(out, "rdl_run_group", some, choose(places, count, is_group, some));
    print_run(out, "rdl_run_together", some, choose(places, count, is_of_warp, some));
    print_bits(out, "rdl_is_group", places, count, is_group);
    rdl__text_print(out, "#else\n");
  }
  print_run(out, "rdl_run_together", some, choose(places, count, is_wide, some));
  if (choose(places, count, is_group, some)) rdl__text_print(out, "#endif\n");
  print_run(out, "rdl_run_packed", some, choose(places, count, is_packed, some));
  print_bits(out, "rdl_is_wide", places, count, is_wide);
  print_packs(out, places, count);
  print_private(out, places, count, some);
  rdl__text_print(out, "typedef union rdl_stage {\n  rdl_word words[1];\n");
  for (uint32_t i = 0; i < count; i++)
    if (places[i].wide) rdl__text_print(out, "  RDL_STAGE(%s)\n", places[i].task->name);
  rdl__text_print(out, "} rdl_stage;\n#endif\n");
  free(some);
  return RDL_OK;
}

static rdl_status print_tail(rdl__text *out, const place *places, uint32_t count) {
  rdl_status status;
  for (uint32_t i = 0; i < count; i++) {
    const rdl__task *task = places[i].task;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are as many places as tasks */
    const char *form = task->lane_state ? "RDL_LANES_RUNNER"
                       : places[i].wide ? "RDL_RUNNER"
                                        : "RDL_ALONE_RUNNER";
    rdl__text_print(out, "%s(%s)\n", form, task->name);
  }
  rdl__text_print(out, "#define RDL_TASK_COUNT %uu\n", count);
  status = print_runs(out, places, count);
  print_description(out, places, count);
  return status;
}

/* A macro of a user's file may have any name, also one that the text behind the file uses. */
static void print_ends(rdl__text *out, const rdl__image_module *modules, size_t count) {
  for (size_t m = 1; m < count; m++) {
    const rdl__task_list *list = modules[m].tasks;
    for (size_t i = 0; i < list->mention_count; i++)
      if (list->mentions[i].kind == RDL__OWN)
        rdl__text_print(out, "#undef %s\n", list->mentions[i].name);
  }
}

static void list_places(const rdl__image_module *modules, size_t count, const bool *wide,
                        const bool *unpacked, place *places) {
  uint32_t n = 0;
  for (size_t m = 0; m < count; m++)
    for (size_t i = 0; i < modules[m].tasks->count; i++, n++)
      places[n] = (place){.module = &modules[m],
                          .task = &modules[m].tasks->tasks[i],
                          .number = n,
                          .wide = wide[n],
                          .packed = m > 0 && !wide[n] && !unpacked[n]};
  for (uint32_t i = 0; i < n; i++) {
    const char *child;
    size_t at = 0;
    while ((child = spawned_by(&places[i], &at))) {
      const place *spawned = find_place(places, n, child);
      if (spawned && is_private(spawned)) places[i].hosts = true;
    }
    if (places[i].hosts) places[i].packed = false;
  }
}

static rdl_status write_tail(const rdl__image_module *modules, size_t count, rdl__image *image,
                             rdl_reason *why) {
  place *places = calloc(image->task_count + (size_t)1, sizeof *places);
  bool *wide = calloc(image->task_count + (size_t)1, sizeof *wide);
  bool *unpacked = calloc(image->task_count + (size_t)1, sizeof *unpacked);
  rdl_status status = RDL_OUT_OF_MEMORY;
  if (places && wide && unpacked) status = rdl__find_wide(modules, count, wide);
  if (!status) status = rdl__find_unpacked(modules, count, unpacked);
  if (!status) {
    list_places(modules, count, wide, unpacked, places);
    print_ends(&image->tail, modules, count);
    rdl__text_print(&image->tail, "#define RDL_SCRATCH_USED %s\n",
                    names_scratch(modules, count) ? "RDL_SCRATCH_BYTES" : "8u");
    status = print_tail(&image->tail, places, image->task_count);
  }
  free(places);
  free(wide);
  free(unpacked);
  return status || image->tail.failed ? report_memory(why) : RDL_OK;
}

/* ---- private tasks ---- */

static rdl_status refuse_private(const rdl__image_module *module, const rdl__task *task,
                                 rdl_reason *why) {
  snprintf(why->text, sizeof why->text,
           "%.1300s:%u:%u: task '%s' is private, and names a word that private tasks do not have, "
           "itself or through a function or macro: they may spawn private tasks, await one future "
           "at a time, yield, read, take and drop results, and fail; make it an RDL_TASK, or leave "
           "the word out",
           module->name, task->line, task->column, task->name);
  return RDL_COMPILE;
}

static rdl_status check_private(const rdl__image_module *modules, size_t count, uint32_t tasks,
                                rdl_reason *why) {
  bool *marks = calloc(tasks + (size_t)1, sizeof *marks);
  rdl_status status = marks ? rdl__find_not_private(modules, count, marks) : RDL_OUT_OF_MEMORY;
  size_t k = 0;
  if (status) status = report_memory(why);
  for (size_t m = 0; m < count && !status; m++)
    for (size_t i = 0; i < modules[m].tasks->count && !status; i++, k++)
      if (modules[m].tasks->tasks[i].is_private && marks[k])
        status = refuse_private(&modules[m], &modules[m].tasks->tasks[i], why);
  free(marks);
  return status;
}

static bool has_groups(const rdl__image_module *modules, size_t count) {
  for (size_t m = 0; m < count; m++)
    for (size_t i = 0; i < modules[m].tasks->count; i++)
      if (modules[m].tasks->tasks[i].group) return true;
  return false;
}

/* What of the kernels is compiled only where there are such tasks: for those of a whole group, and
 * for private ones, with the most that one spawns. Beside working memory a set of these would not
 * fit. */
static void print_front(rdl__text *out, const rdl__image_module *modules, size_t count) {
  uint32_t most = 1;
  bool some = false;
  for (size_t m = 0; m < count; m++)
    for (size_t i = 0; i < modules[m].tasks->count; i++) {
      const rdl__task *task = &modules[m].tasks->tasks[i];
      if (!task->is_private) continue;
      some = true;
      if (task->spawns > most) most = task->spawns;
    }
  if (has_groups(modules, count)) rdl__text_print(out, "#define RDL_GROUP_TASKS 1\n");
  if (some && !names_scratch(modules, count))
    rdl__text_print(out, "#define RDL_PRIVATE_TASKS 1\n#define RDL_PRIVATE_SPAWNS %uu\n", most);
}

/* ---- pieces ---- */

static void add_piece(rdl__image *image, const char *name, const char *text, size_t length,
                      bool own) {
  image->pieces[image->text.count++] =
      (rdl_text_piece){.name = name, .text = text, .length = length, .first_line = 1, .own = own};
}

static void add_kernel(rdl__image *image, const struct rdl_kernel_text *kernel) {
  add_piece(image, kernel->name, (const char *)kernel->text, kernel->size, true);
}

/* A byte order mark is legal at the beginning of a file only, and here the text stands in the
 * middle. */
static void add_module(rdl__image *image, const rdl__image_module *module, bool own) {
  size_t mark = rdl__lexer_mark(module->text, module->length);
  add_piece(image, module->name, module->text + mark, module->length - mark, own);
}

/* The heads of all modules lie in one text, whose address is known only when it is complete. */
static rdl_status add_modules(rdl__image *image, const rdl__image_module *modules, size_t count,
                              size_t *ends, rdl_reason *why) {
  uint32_t number = 0;
  size_t from = 0;
  for (size_t m = 0; m < count; m++) {
    print_heads(&image->heads, modules[m].tasks, number);
    number += (uint32_t)modules[m].tasks->count;
    ends[m] = image->heads.length;
  }
  if (image->heads.failed) return report_memory(why);
  for (size_t m = 0; m < count; m++) {
    add_piece(image, HEADS_NAME, image->heads.bytes + from, ends[m] - from, true);
    add_module(image, &modules[m], m == 0);
    from = ends[m];
  }
  return RDL_OK;
}

static bool is_last(const struct rdl_kernel_text *kernel) {
  for (size_t i = 0; i < LAST_TEXTS; i++)
    if (strcmp(kernel->name, last_texts[i]) == 0) return true;
  return false;
}

static rdl_status write_pieces(rdl__image *image, const rdl__image_module *modules, size_t count,
                               size_t *ends, rdl_reason *why) {
  const struct rdl_kernel_text *texts;
  rdl_status status = rdl__kernels(&texts, why);
  if (status) return status;
  print_front(&image->front, modules, count);
  if (image->front.failed) return report_memory(why);
  if (image->front.length)
    add_piece(image, FRONT_NAME, image->front.bytes, image->front.length, true);
  for (unsigned i = 0; i < rdl__kernel_text_count; i++) {
    const struct rdl_kernel_text *kernel = &texts[i];
    if (strcmp(kernel->name, OWN_MODULE) != 0 && !is_last(kernel)) add_kernel(image, kernel);
  }
  status = add_modules(image, modules, count, ends, why);
  if (!status) status = write_tail(modules, count, image, why);
  if (status) return status;
  add_piece(image, TAIL_NAME, image->tail.bytes, image->tail.length, true);
  for (size_t i = 0; i < LAST_TEXTS; i++)
    add_kernel(image, rdl__kernels_find(texts, last_texts[i]));
  return RDL_OK;
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void rdl__image_files(const rdl__image_module *modules, size_t count, rdl__text *out) {
  for (size_t m = 1; m < count; m++)
    rdl__text_print(out, "%s%s", m > 1 ? ", " : "", file_name(modules[m].name));
}

/* Lengths are hashed too, so that no text can pass for another one that is cut elsewhere. */
static void hash_pieces(rdl__image *image) {
  rdl_sha256 hash;
  unsigned char digest[RDL_SHA256_SIZE];
  char length[32];
  rdl__sha256_init(&hash);
  for (size_t i = 0; i < image->text.count; i++) {
    const rdl_text_piece *piece = &image->pieces[i];
    const char *name = file_name(piece->name);
    snprintf(length, sizeof length, "%zu", piece->length);
    rdl__sha256_add(&hash, name, strlen(name) + 1);
    rdl__sha256_add(&hash, length, strlen(length) + 1);
    rdl__sha256_add(&hash, piece->text, piece->length);
  }
  rdl__sha256_end(&hash, digest);
  rdl__sha256_hex(digest, image->hash);
}

static rdl_status build(rdl__image *image, const rdl__image_module *modules, size_t count,
                        rdl_reason *why) {
  size_t *ends = calloc(count + 1, sizeof *ends);
  rdl_status status;
  image->pieces = calloc(rdl__kernel_text_count + 2 * count + 2, sizeof *image->pieces);
  if (image->pieces && ends)
    status = write_pieces(image, modules, count, ends, why);
  else
    status = report_memory(why);
  free(ends);
  if (status) return status;
  hash_pieces(image);
  image->text.pieces = image->pieces;
  return RDL_OK;
}

rdl_status rdl__image_make(const rdl__image_module *modules, size_t count, rdl__image *out,
                           rdl_reason *why) {
  uint32_t tasks = 0;
  rdl_status status;
  *out = (rdl__image){0};
  status = count_tasks(modules, count, &tasks, why);
  if (!status) status = check_names(modules, count, tasks, why);
  if (!status) status = rdl__check_mentions(modules, count, why);
  if (!status) status = check_private(modules, count, tasks, why);
  if (status) return status;
  out->task_count = tasks;
  status = build(out, modules, count, why);
  if (status) rdl__image_finish(out);
  out->text.hash = out->hash;
  return status;
}

void rdl__image_finish(rdl__image *image) {
  free(image->pieces);
  rdl__text_finish(&image->front);
  rdl__text_finish(&image->heads);
  rdl__text_finish(&image->tail);
  *image = (rdl__image){0};
}

/* ---- as one text ---- */

static void write_name(const char *name, rdl__text *out) {
  for (; *name; name++) {
    if (*name == '"' || *name == '\\') rdl__text_add(out, "\\", 1);
    rdl__text_add(out, *name == '\n' ? " " : name, 1);
  }
}

void rdl__image_write(const rdl_image_text *text, rdl__text *out) {
  for (size_t i = 0; i < text->count; i++) {
    const rdl_text_piece *piece = &text->pieces[i];
    rdl__text_print(out, "\n#line %u \"", piece->first_line);
    write_name(piece->name, out);
    rdl__text_print(out, "\"\n");
    rdl__text_add(out, piece->text, piece->length);
  }
  rdl__text_add(out, "\n", 1);
}
