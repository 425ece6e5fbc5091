/* SPDX-License-Identifier: Apache-2.0 */
/* raddle check: compiles task files on the devices of the machine and says what they hold. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/raddle/command.h"
#include "tools/raddle/layout.h"
#include "tools/raddle/review.h"
#include "tools/tasks/task_files.h"

/* A task, and where it stands. */
typedef struct known_task {
  const rdl__task *task;
  const char *file;
  size_t module; /* position among the files, from 0 */
} known_task;

/* What one device made of the files. */
typedef struct trial {
  const char *selector;
  rdl_device_info device;
  double seconds; /* for compiling, or for reading the image from the cache */
  uint32_t lanes;
  char loops[96]; /* turns of all loops of a segment that the device runs: a number, or "none" */
  char nesting[96];
  char *error;                 /* NULL: all is well */
  rdl_task_description *tasks; /* in the order of the list */
} trial;

typedef struct check {
  char **paths;
  size_t path_count;
  const char **selectors;
  size_t selector_count;
  bool json;
  task_files files;
  rdl__image image;
  known_task *tasks;
  size_t task_count;
  trial *trials;
  size_t trial_count;
  review review;
} check;

/* ---- the tasks ---- */

/* Raddle's own module is none of the user's. */
static bool list_tasks(check *c) {
  size_t count = 0;
  for (size_t m = 1; m < c->files.count; m++)
    count += c->files.tasks[m].count;
  c->tasks = calloc(count + 1, sizeof *c->tasks);
  for (size_t m = 1; c->tasks && m < c->files.count; m++)
    for (size_t i = 0; i < c->files.tasks[m].count; i++)
      c->tasks[c->task_count++] =
          (known_task){&c->files.tasks[m].tasks[i], c->files.modules[m].name, m - 1};
  return c->tasks != NULL;
}

/* What every device would refuse is told once. */
static rdl_status read_files(check *c, rdl_reason *why) {
  rdl_status status = task_files_read(c->paths, c->path_count, &c->files, why);
  if (!status) status = rdl__image_make(c->files.modules, c->files.count, &c->image, why);
  return status;
}

/* ---- the devices ---- */

static bool list_trials(check *c) {
  size_t count = 0;
  rdl_device_info *infos = NULL;
  if (!c->selector_count) {
    infos = command_find_devices(&count);
    if (!infos) return false;
  }
  c->trials = calloc(c->selector_count + count + 1, sizeof *c->trials);
  for (size_t i = 0; c->trials && i < c->selector_count; i++)
    c->trials[c->trial_count++].selector = c->selectors[i];
  for (size_t i = 0; c->trials && i < count; i++) {
    if (!infos[i].usable) continue;
    c->trials[c->trial_count].device = infos[i];
    c->trials[c->trial_count].selector = c->trials[c->trial_count].device.selector;
    c->trial_count++;
  }
  free(infos);
  return c->trials != NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static rdl_status load(const check *c, rdl_context *context, rdl_module **modules, trial *t) {
  double start = now();
  rdl_status status = RDL_OK;
  for (size_t i = 0; i < c->path_count && !status; i++)
    status = rdl_module_load(context, c->paths[i], &modules[i]);
  t->seconds = now() - start;
  return status;
}

static rdl_status describe(const check *c, rdl_module **modules, trial *t) {
  rdl_status status = RDL_OK;
  for (size_t i = 0; i < c->task_count && !status; i++) {
    t->tasks[i].size = sizeof t->tasks[i];
    status = rdl_module_task(modules[c->tasks[i].module], c->tasks[i].task->name, &t->tasks[i]);
  }
  return status;
}

/* The first word of a capability is the answer. */
static void copy_answer(char *to, size_t size, const char *value) {
  size_t length = strcspn(value, " ");
  (void)snprintf(to, size, "%.*s", length ? (int)length : 1, length ? value : "-");
}

/* What the device limits. It is no reason to fail when it does not tell. */
static void find_limits(trial *t) {
  command_capabilities *c = calloc(1, sizeof *c);
  if (c) (void)command_find_capabilities(t->selector, 0, c);
  copy_answer(t->loops, sizeof t->loops, c ? command_capability(c, "loop_budget") : "");
  copy_answer(t->nesting, sizeof t->nesting, c ? command_capability(c, "nesting") : "");
  free(c);
}

/* The context closes whatever has come of it. */
static void try_device(const check *c, trial *t) {
  rdl_context *context = NULL;
  rdl_context_info info = {.size = sizeof info};
  rdl_module **modules = calloc(c->path_count, sizeof(rdl_module *));
  rdl_status status = RDL_OUT_OF_MEMORY;
  t->tasks = calloc(c->task_count, sizeof *t->tasks);
  if (modules && t->tasks) status = rdl_context_open(t->selector, &context);
  if (!status) status = rdl_context_describe(context, &info);
  if (!status) status = load(c, context, modules, t);
  if (!status) status = describe(c, modules, t);
  t->lanes = info.lanes;
  if (status) t->error = strdup(modules && t->tasks ? rdl_error_text() : "out of memory");
  (void)rdl_context_close(context);
  free(modules);
  if (!status) find_limits(t);
}

/* ---- the table ---- */

static void print_tasks(const check *c, const trial *t) {
  int name = (int)strlen("task");
  for (size_t i = 0; i < c->task_count; i++)
    if ((int)strlen(c->tasks[i].task->name) > name) name = (int)strlen(c->tasks[i].task->name);
  printf("%-*s  arguments  state  lane state  result  spawns  resume points  line\n", name, "task");
  for (size_t i = 0; i < c->task_count; i++) {
    const rdl_task_description *d = &t->tasks[i];
    printf("%-*s  %9u  %5u  %10u  %6u  %6u  %13u  %s:%u\n", name, c->tasks[i].task->name,
           d->args_size, d->state_size, d->lane_state_size, d->result_size, d->spawns,
           d->resume_points, c->tasks[i].file, d->line);
  }
}

static bool same_tasks(const check *c, const trial *a, const trial *b) {
  return memcmp(a->tasks, b->tasks, c->task_count * sizeof *a->tasks) == 0;
}

/* The tasks are told once, and again for a device that has them otherwise. */
static void print_all_tasks(const check *c) {
  const trial *told = NULL;
  for (size_t i = 0; i < c->trial_count; i++) {
    const trial *t = &c->trials[i];
    if (t->error || (told && same_tasks(c, told, t))) continue;
    if (told) printf("\non %s:\n", t->selector);
    print_tasks(c, t);
    if (!told) told = t;
  }
  if (told) printf("\n");
}

static void print_trials(const check *c) {
  int width = (int)strlen("selector");
  for (size_t i = 0; i < c->trial_count; i++)
    if ((int)strlen(c->trials[i].selector) > width) width = (int)strlen(c->trials[i].selector);
  printf("%-*s  compiles  seconds  lanes  nesting  loop turns\n", width, "selector");
  for (size_t i = 0; i < c->trial_count; i++) {
    const trial *t = &c->trials[i];
    if (t->error)
      printf("%-*s  no\n", width, t->selector);
    else
      printf("%-*s  yes       %7.2f  %5u  %7s  %10s\n", width, t->selector, t->seconds, t->lanes,
             t->nesting, t->loops);
  }
}

/* Errors and warnings go where a compiler's go. */
static void print_findings(const check *c) {
  fflush(stdout);
  for (size_t i = 0; i < c->trial_count; i++)
    if (c->trials[i].error)
      fprintf(stderr, "\non %s:\n%s\n", c->trials[i].selector, c->trials[i].error);
  for (int i = 0; i < REVIEW_LOOKS; i++) {
    const review_look *look = &c->review.looks[i];
    if (look->findings.length) fprintf(stderr, "\n%s:\n%s", look->wrong, look->findings.bytes);
    if (look->skipped[0]) fprintf(stderr, "\nnot looked at %s: %s\n", look->name, look->skipped);
  }
}

/* ---- JSON ---- */

static void print_number(const char *name, uint32_t value) {
  printf(", \"%s\": %u", name, value);
}

static void print_text(const char *name, const char *text) {
  printf("\"%s\": ", name);
  command_print_json(stdout, text);
}

static void print_field_json(const layout_field *f) {
  printf("{");
  print_text("path", f->path);
  printf(", ");
  print_text("kind", layout_kind_name(f->kind));
  print_number("offset", f->offset);
  print_number("count", f->count);
  printf("}");
}

/* What is not understood here is no error of the task's: it says why in place of its fields. */
static void print_type_json(const check *c, const char *name, const char *type) {
  layout l;
  rdl_reason why = {""};
  rdl_status status = layout_read(&c->files, type, &l, &why);
  printf(", \"%s\": {", name);
  print_text("type", type);
  printf(", ");
  print_text("unknown", status ? why.text : "");
  print_number("size", l.size);
  printf(", \"fields\": [");
  for (size_t i = 0; i < l.count; i++) {
    if (i) printf(", ");
    print_field_json(&l.fields[i]);
  }
  printf("]}");
  layout_finish(&l);
}

static void print_task_json(const check *c, const known_task *task, const rdl_task_description *d) {
  printf("{");
  print_text("name", task->task->name);
  printf(", ");
  print_text("file", task->file);
  print_number("line", d->line);
  print_number("args_size", d->args_size);
  print_number("state_size", d->state_size);
  print_number("lane_state_size", d->lane_state_size);
  print_number("result_size", d->result_size);
  print_number("spawns", d->spawns);
  print_number("resume_points", d->resume_points);
  print_type_json(c, "args", task->task->args);
  print_type_json(c, "state", task->task->state);
  if (task->task->lane_state) print_type_json(c, "lane_state", task->task->lane_state);
  print_type_json(c, "result", task->task->result);
  printf("}");
}

static void print_trial_json(const check *c, const trial *t) {
  printf("{");
  print_text("selector", t->selector);
  printf(", \"compiles\": %s, ", t->error ? "false" : "true");
  if (t->error) {
    print_text("error", t->error);
    printf("}\n");
    return;
  }
  printf("\"seconds\": %.3f, \"lanes\": %u, ", t->seconds, t->lanes);
  print_text("nesting", t->nesting);
  printf(", ");
  print_text("loop_turns", t->loops);
  printf(", \"tasks\": [");
  for (size_t i = 0; i < c->task_count; i++) {
    if (i) printf(", ");
    print_task_json(c, &c->tasks[i], &t->tasks[i]);
  }
  printf("]}\n");
}

static void print_json(const check *c) {
  for (size_t i = 0; i < c->trial_count; i++)
    print_trial_json(c, &c->trials[i]);
  for (int i = 0; i < REVIEW_LOOKS && c->review.looks[i].name; i++) {
    const review_look *look = &c->review.looks[i];
    printf("{");
    print_text("look", look->name);
    printf(", ");
    print_text("findings", look->findings.length ? look->findings.bytes : "");
    printf(", ");
    print_text("skipped", look->skipped);
    printf("}\n");
  }
}

/* ---- the command ---- */

enum { OPTION_DEVICE, OPTION_JSON };

static const command_option offered[] = {
    [OPTION_DEVICE] = {"--device", "SELECTOR",
                       "a device to compile on; may be given several times. Default: all that are\n"
                       "usable"},
    [OPTION_JSON] = {"--json", NULL, "print one object a line: a device each, then what was found"},
    {NULL, NULL, NULL},
};

static int take_option(int option, const char *value, check *c) {
  if (option == COMMAND_WRONG) return EXIT_MISUSED;
  if (option == OPTION_DEVICE) c->selectors[c->selector_count++] = value;
  if (option == OPTION_JSON) c->json = true;
  return EXIT_OK;
}

static int read_options(int argc, char **argv, check *c) {
  command_line line = {.command = &command_check, .argc = argc, .argv = argv, .at = 1};
  int code = EXIT_OK;
  for (int option; !code && (option = command_next(&line)) != COMMAND_END;) {
    if (option == COMMAND_OPERAND)
      c->paths[c->path_count++] = argv[line.at - 1];
    else
      code = take_option(option, line.value, c);
  }
  if (!code && !c->path_count) code = command_misused("check", "which task file?");
  return code;
}

static int verdict(const check *c) {
  int code = EXIT_OK;
  for (int i = 0; i < REVIEW_LOOKS; i++)
    if (c->review.looks[i].findings.length) code = EXIT_WARNED;
  for (size_t i = 0; i < c->trial_count; i++)
    if (c->trials[i].error) code = EXIT_FAILED;
  return code;
}

/* What no device takes has errors enough: compilers would only tell the same once more. */
static bool any_took_them(const check *c) {
  bool any = !c->trial_count;
  for (size_t i = 0; i < c->trial_count; i++)
    any = any || !c->trials[i].error;
  return any;
}

static int check_files(check *c) {
  rdl_reason why = {""};
  rdl_status status = read_files(c, &why);
  if (status) return command_refused("check", status, why.text);
  if (!list_tasks(c) || !list_trials(c)) return EXIT_FAILED;
  for (size_t i = 0; i < c->trial_count; i++)
    try_device(c, &c->trials[i]);
  if (any_took_them(c)) review_run(&c->image.text, &c->review);
  if (c->json) {
    print_json(c);
  } else {
    print_all_tasks(c);
    print_trials(c);
    print_findings(c);
  }
  return verdict(c);
}

static void finish(check *c) {
  for (size_t i = 0; i < c->trial_count; i++) {
    free(c->trials[i].error);
    free(c->trials[i].tasks);
  }
  review_finish(&c->review);
  free(c->trials);
  free(c->tasks);
  rdl__image_finish(&c->image);
  task_files_finish(&c->files);
  free(c->selectors);
  free(c->paths);
}

static int run(int argc, char **argv) {
  check c = {.paths = calloc((size_t)argc, sizeof(char *)),
             .selectors = calloc((size_t)argc, sizeof(char *))};
  int code = EXIT_FAILED;
  if (c.paths && c.selectors) code = read_options(argc, argv, &c);
  if (code == EXIT_OK) code = check_files(&c);
  finish(&c);
  return code;
}

const command command_check = {
    .name = "check",
    .summary = "compile task files on every device and say what they hold",
    .usage = "check FILE... [--device SELECTOR]... [--json]",
    .about =
        "Compiles the task files, loaded in this order, on every usable device, and lists their\n"
        "tasks with the sizes of their types in bytes. Where compilers are found, they also look\n"
        "whether the files are C++20, as CUDA will want them, and for local variables that are\n"
        "used across an await. Of each device it says how deep conditions were seen to nest, and\n"
        "how many turns the loops of a segment may take together: on a device that limits them\n"
        "a longer segment fails, and tasks of more resume points than it can nest are refused.\n\n"
        "Ends with 0 when all is well, 1 when a device refused the files, and 3 when all\n"
        "devices took them and something else was found.",
    .options = offered,
    .run = run,
};
