/* SPDX-License-Identifier: Apache-2.0 */
/* raddle run: one future of one task, with arguments from the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/common/file.h"
#include "backends/common/reason.h"
#include "tools/raddle/command.h"
#include "tools/raddle/layout.h"
#include "tools/raddle/run_events.h"
#include "tools/raddle/values.h"
#include "tools/tasks/task_files.h"

#define MOST_WORKERS 1024u
#define MOST_TOLD    8u /* fields of a note */
#define MOST_SECONDS 1000000000.0

/* Device memory that an argument points to. */
typedef struct memory {
  value_place place;
  const char *wanted; /* "zeros:BYTES" or "file:PATH" */
  rdl_buffer *buffer;
} memory;

typedef struct run_state {
  char **paths;
  size_t path_count;
  const char *task_name;
  const char *device;
  uint32_t workers;
  uint64_t timeout_ns;
  bool json;
  const char **assignments;
  size_t assignment_count;
  const char **saves; /* "FIELD=PATH" */
  size_t save_count;
  task_files files;
  const rdl__task *task;
  size_t module; /* position among the files, from 0 */
  layout args;
  layout result;
  unsigned char *bytes; /* of the arguments */
  bool *given;          /* by byte: members of a union are given together */
  memory *memories;
  size_t memory_count;
  run_event *events;
  size_t event_count;
  rdl_context *context;
  rdl_task_description sizes;
  unsigned char *outcome; /* the bytes of the result */
  double seconds;
} run_state;

/* ---- what is asked for ---- */

static int misused(const rdl_reason *why) {
  return command_misused("run", "%s", why->text);
}

static int tell_tasks(const run_state *s, rdl_reason *why) {
  for (size_t m = 1; m < s->files.count; m++)
    for (size_t i = 0; i < s->files.tasks[m].count && strlen(why->text) < 1000; i++)
      rdl__reason_append(why, " %s", s->files.tasks[m].tasks[i].name);
  return misused(why);
}

/* A file with one task needs no name. */
static int find_task(run_state *s) {
  rdl_reason why = {""};
  size_t found = 0;
  for (size_t m = 1; m < s->files.count; m++)
    for (size_t i = 0; i < s->files.tasks[m].count; i++) {
      const rdl__task *task = &s->files.tasks[m].tasks[i];
      if (s->task_name && strcmp(task->name, s->task_name) != 0) continue;
      s->task = task;
      s->module = m - 1;
      found++;
    }
  if (found == 1) return EXIT_OK;
  if (s->task_name)
    (void)rdl__fail(RDL_NOT_FOUND, &why, "there is no task '%s'; there are:", s->task_name);
  else
    (void)rdl__fail(RDL_NOT_FOUND, &why, "which --task? There are:");
  return tell_tasks(s, &why);
}

static int read_files(run_state *s) {
  rdl_reason why = {""};
  int code = EXIT_FAILED;
  rdl_status status = task_files_read(s->paths, s->path_count, &s->files, &why);
  if (status) return command_refused("run", status, why.text);
  code = find_task(s);
  if (code) return code;
  if (layout_read(&s->files, s->task->args, &s->args, &why)) {
    fprintf(stderr, "raddle run: the arguments of %s cannot be read: %s\n", s->task->name,
            why.text);
    return EXIT_FAILED;
  }
  return EXIT_OK;
}

static bool allocate(run_state *s) {
  s->bytes = calloc(1, s->args.size + (size_t)1);
  s->given = calloc(s->args.size + (size_t)1, sizeof *s->given);
  s->memories = calloc(s->assignment_count + 1, sizeof *s->memories);
  s->events = calloc(s->assignment_count + 1, sizeof *s->events);
  if (s->bytes && s->given && s->memories && s->events) return true;
  fprintf(stderr, "raddle run: out of memory\n");
  return false;
}

static const char *name_of(const layout_field *f) {
  return *f->path ? f->path : "VALUE";
}

static bool is_memory(const char *value) {
  return strncmp(value, "zeros:", 6) == 0 || strncmp(value, "file:", 5) == 0;
}

static void mark_given(run_state *s, const value_place *place) {
  size_t size = layout_kind_size(place->field->kind);
  memset(s->given + place->field->offset + place->first * size, true, place->count * size);
}

/* Memory and events are made when the device is open. A task may take address 0 for "none", so 0
 * may be written out. */
static int assign_address(run_state *s, const value_place *place, const char *value) {
  if (strcmp(value, "0") == 0) return EXIT_OK;
  if (!is_memory(value))
    return command_misused(
        "run",
        "%s is device memory, and '%.200s' is none: give zeros:BYTES for some of "
        "zeros, file:PATH for the bytes of a file, or 0 for none",
        name_of(place->field), value);
  s->memories[s->memory_count++] = (memory){*place, value, NULL};
  return EXIT_OK;
}

static int assign(run_state *s, const char *assignment) {
  value_place place;
  const char *value;
  rdl_reason why = {""};
  if (values_find(&s->args, assignment, &place, &value, &why)) return misused(&why);
  mark_given(s, &place);
  if (place.field->kind == LAYOUT_PTR) return assign_address(s, &place, value);
  if (place.field->kind == LAYOUT_EVENT)
    return run_event_read(&place, value, &s->events[s->event_count++], &why) ? misused(&why)
                                                                             : EXIT_OK;
  if (values_store(&place, value, s->bytes, &why)) {
    rdl__reason_append(&why, " (in '%.300s')", assignment);
    return misused(&why);
  }
  return EXIT_OK;
}

/* How many elements of the field were given, and the first that was not. */
static uint32_t count_given(const run_state *s, const layout_field *f, uint32_t *out_missing) {
  uint32_t count = 0, all = f->count ? f->count : 1;
  *out_missing = all;
  for (uint32_t k = all; k--;) {
    bool given = s->given[f->offset + k * layout_kind_size(f->kind)];
    count += given;
    if (!given) *out_missing = k;
  }
  return count;
}

/* A task that follows the address 0 ends this program, or the device. */
static int refuse_missing_memory(const run_state *s) {
  for (size_t i = 0; i < s->args.count; i++) {
    const layout_field *f = &s->args.fields[i];
    char element[16] = "";
    uint32_t missing = 0;
    if (f->kind != LAYOUT_PTR || count_given(s, f, &missing) == (f->count ? f->count : 1)) continue;
    if (f->count) (void)snprintf(element, sizeof element, "[%u]", missing);
    return command_misused("run",
                           "%s%s is device memory: give zeros:BYTES or file:PATH, as in "
                           "--arg %s%s%szeros:64, or 0 for none",
                           name_of(f), element, f->path, element, *f->path || f->count ? "=" : "");
  }
  return EXIT_OK;
}

static void tell_missing(const run_state *s) {
  size_t missing = 0;
  for (size_t i = 0; i < s->args.count; i++) {
    uint32_t first = 0;
    if (count_given(s, &s->args.fields[i], &first) || missing++ >= MOST_TOLD) continue;
    fprintf(stderr, "%s %s", missing == 1 ? "raddle run: not given, and so zero:" : ",",
            name_of(&s->args.fields[i]));
  }
  if (missing > MOST_TOLD) fprintf(stderr, " and %zu more", missing - MOST_TOLD);
  if (missing) fprintf(stderr, "\n");
}

static int assign_all(run_state *s) {
  int code = allocate(s) ? EXIT_OK : EXIT_FAILED;
  for (size_t i = 0; i < s->assignment_count && !code; i++)
    code = assign(s, s->assignments[i]);
  if (!code) code = refuse_missing_memory(s);
  if (!code) tell_missing(s);
  return code;
}

/* ---- memory ---- */

static int tell_unwritten(const char *path) {
  fprintf(stderr, "raddle run: cannot write %s: %s\n", path, strerror(errno));
  return EXIT_FAILED;
}

static rdl_status make_buffer(run_state *s, memory *m, const void *bytes, size_t size) {
  rdl_status status = rdl_buffer_create(s->context, size, &m->buffer);
  rdl_ptr address;
  if (status) return status;
  if (bytes) status = rdl_buffer_write(m->buffer, 0, bytes, size);
  if (status) return status;
  address = rdl_buffer_address(m->buffer);
  for (uint32_t k = 0; k < m->place.count; k++)
    memcpy(s->bytes + m->place.field->offset + (m->place.first + k) * sizeof address, &address,
           sizeof address);
  return RDL_OK;
}

static int fill_memory(run_state *s, memory *m) {
  const char *wanted = strchr(m->wanted, ':') + 1;
  char *bytes = NULL, *end = NULL;
  size_t size = 0;
  rdl_reason why;
  if (*m->wanted == 'f') {
    bytes = rdl__file_read(wanted, &size);
    if (!bytes) return command_refused("run", rdl__file_unread(wanted, errno, &why), why.text);
  } else {
    errno = 0;
    size = strtoull(wanted, &end, 0);
    if (*wanted < '0' || *wanted > '9' || *end || errno)
      return command_misused("run", "'%s' is no number of bytes", wanted);
  }
  rdl_status status = make_buffer(s, m, bytes, size);
  free(bytes);
  return status ? command_failed("making device memory") : EXIT_OK;
}

static const memory *find_memory(const run_state *s, const char *save, size_t length) {
  for (size_t i = 0; i < s->memory_count; i++) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): values_find has found the field */
    const char *path = s->memories[i].place.field->path;
    if (strlen(path) == length && memcmp(path, save, length) == 0) return &s->memories[i];
  }
  return NULL;
}

static int check_saves(const run_state *s) {
  for (size_t i = 0; i < s->save_count; i++) {
    size_t length = strcspn(s->saves[i], "=");
    if (s->saves[i][length] != '=' || !s->saves[i][length + 1] ||
        !find_memory(s, s->saves[i], length))
      return command_misused("run",
                             "--save is FIELD=FILE, with a field that --arg gives memory; '%s' is "
                             "not",
                             s->saves[i]);
  }
  return EXIT_OK;
}

static int save(const run_state *s, const char *text) {
  size_t length = strcspn(text, "=");
  const memory *m = find_memory(s, text, length);
  size_t size = rdl_buffer_size(m->buffer);
  void *bytes = malloc(size ? size : 1u);
  if (!bytes) return command_failed("allocating memory");
  if (rdl_buffer_read(m->buffer, 0, bytes, size)) {
    free(bytes);
    return command_failed("reading a buffer");
  }
  FILE *file = fopen(text + length + 1, "wb");
  bool whole = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file) != 0) whole = false;
  free(bytes);
  return whole ? EXIT_OK : tell_unwritten(text + length + 1);
}

/* ---- the future ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What this program reads in the file is worth nothing when a device has it otherwise. */
static int compare_sizes(run_state *s) {
  rdl_reason why;
  if (s->sizes.args_size != s->args.size) {
    fprintf(stderr,
            "raddle run: the arguments of %s have %u bytes, and read from the file they have %u; "
            "is the file laid out by an #if?\n",
            s->task->name, s->sizes.args_size, s->args.size);
    return EXIT_FAILED;
  }
  if (layout_read(&s->files, s->task->result, &s->result, &why) == RDL_OK &&
      s->sizes.result_size != s->result.size)
    layout_finish(&s->result); /* the bytes are printed as they are */
  return EXIT_OK;
}

static rdl_status open_device(run_state *s, rdl_module **out_module) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_status status;
  options.workers = s->workers;
  options.log = command_log;
  options.log_user = (void *)&command_run;
  options.close_ns = 2000000000u; /* a task that never ends is left to the end of the program */
  status = rdl_context_open_with(s->device, &options, &s->context);
  for (size_t i = 0; i < s->path_count && !status; i++) {
    rdl_module *module = NULL;
    status = rdl_module_load(s->context, s->paths[i], &module);
    if (i == s->module) *out_module = module;
  }
  s->sizes.size = sizeof s->sizes;
  if (!status) status = rdl_module_task(*out_module, s->task->name, &s->sizes);
  return status;
}

static int prepare(run_state *s, rdl_module **out_module) {
  int code;
  rdl_status status = open_device(s, out_module);
  if (status) return command_refused("run", status, rdl_error_text());
  code = compare_sizes(s);
  for (size_t i = 0; i < s->memory_count && !code; i++)
    code = fill_memory(s, &s->memories[i]);
  for (size_t i = 0; i < s->event_count && !code; i++)
    if (run_event_make(&s->events[i], s->context, s->bytes)) code = command_failed("making events");
  s->outcome = calloc(1, s->sizes.result_size + (size_t)1);
  return s->outcome ? code : EXIT_FAILED;
}

static rdl_status spawn_and_get(run_state *s, rdl_module *module) {
  rdl_future future;
  double start = now();
  rdl_status status =
      rdl_spawn(module, s->task->name, s->args.size ? s->bytes : NULL, s->args.size, NULL, &future);
  if (!status)
    status = rdl_future_get(s->context, future, s->outcome, s->sizes.result_size, s->timeout_ns);
  s->seconds = now() - start;
  return status;
}

/* ---- the result ---- */

static void print_raw(const run_state *s) {
  for (uint32_t i = 0; i < s->sizes.result_size; i++)
    printf("%02x", s->outcome[i]);
}

static void print_result(const run_state *s) {
  if (!s->result.count && s->sizes.result_size) {
    print_raw(s);
    printf("\n");
  }
  for (size_t i = 0; i < s->result.count; i++) {
    const layout_field *f = &s->result.fields[i];
    if (*f->path) printf("%s = ", f->path);
    values_print(stdout, f, s->outcome, false);
    printf("\n");
  }
}

static void print_result_json(const run_state *s) {
  bool scalar = s->result.count == 1 && !*s->result.fields[0].path;
  if (!s->result.count) {
    printf(s->sizes.result_size ? "\"" : "null");
    if (s->sizes.result_size) print_raw(s);
    if (s->sizes.result_size) printf("\"");
    return;
  }
  if (!scalar) printf("{");
  for (size_t i = 0; i < s->result.count; i++) {
    const layout_field *f = &s->result.fields[i];
    if (i) printf(", ");
    if (!scalar) command_print_json(stdout, f->path);
    if (!scalar) printf(": ");
    values_print(stdout, f, s->outcome, true);
  }
  if (!scalar) printf("}");
}

static void print_json(const run_state *s, rdl_status status) {
  rdl_context_info info = {.size = sizeof info};
  if (rdl_context_describe(s->context, &info)) info.workers = 0;
  printf("{\"task\": \"%s\", \"device\": ", s->task->name);
  command_print_json(stdout, info.device.selector);
  printf(", \"workers\": %u, \"seconds\": %.6f, \"status\": \"%s\", \"result\": ", info.workers,
         s->seconds, rdl_status_name(status));
  if (status)
    printf("null");
  else
    print_result_json(s);
  printf(", \"error\": ");
  command_print_json(stdout, status ? rdl_error_text() : "");
  printf(", \"events\": ");
  run_events_print_json(s->events, s->event_count, s->context, s->bytes);
  printf("}\n");
}

static int run_task(run_state *s) {
  rdl_module *module = NULL;
  rdl_status status;
  int code = prepare(s, &module);
  if (code) return code;
  status = spawn_and_get(s, module);
  if (s->json)
    print_json(s, status);
  else if (status)
    fprintf(stderr, "%s: %s\n", rdl_status_name(status), rdl_error_text());
  else
    print_result(s);
  if (!s->json) run_events_tell(s->events, s->event_count, s->context, s->bytes);
  if (status) return EXIT_FAILED;
  for (size_t i = 0; i < s->save_count && !code; i++)
    code = save(s, s->saves[i]);
  return code;
}

/* ---- the command ---- */

enum {
  OPTION_TASK,
  OPTION_ARG,
  OPTION_DEVICE,
  OPTION_WORKERS,
  OPTION_TIMEOUT,
  OPTION_SAVE,
  OPTION_JSON
};

static const command_option offered[] = {
    [OPTION_TASK] = {"--task", "TASK", "the task to run; default: the only one that there is"},
    [OPTION_ARG] =
        {"--arg", "FIELD=VALUE",
         "an argument by its name: a=1, pair.b=-2, v=1,2,3, v[2]=3, points[1].x=0.5. Of a\n"
         "task whose arguments are one scalar or have one: VALUE alone. Device memory\n"
         "(rdl_ptr) must be given: FIELD=zeros:BYTES, FIELD=file:PATH, or FIELD=0 for\n"
         "none. FIELD=event:TARGET is a new event that only tasks signal; its count is\n"
         "told at the end. Anything else that is not given is zero"},
    [OPTION_DEVICE] = {"--device", "SELECTOR",
                       "host, opencl:pocl, ... ('raddle devices' lists them); default: the best"},
    [OPTION_WORKERS] = {"--workers", "N", "default: as many as run at once"},
    [OPTION_TIMEOUT] = {"--timeout", "SECONDS",
                        "how long to wait for the result; default: for ever"},
    [OPTION_SAVE] = {"--save", "FIELD=FILE",
                     "write the device memory that --arg gave to FIELD into FILE at the end"},
    [OPTION_JSON] = {"--json", NULL, "print one object: status, result, time, counts of events"},
    {NULL, NULL, NULL},
};

static bool read_seconds(const char *text, uint64_t *out_ns) {
  char *end = NULL;
  double seconds = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
  if (!end || *end || !(seconds >= 0 && seconds <= MOST_SECONDS)) return false;
  *out_ns = (uint64_t)(seconds * 1e9);
  return true;
}

static int take_option(int option, const char *value, run_state *s) {
  switch (option) {
  case OPTION_TASK:
    s->task_name = value;
    break;
  case OPTION_ARG:
    s->assignments[s->assignment_count++] = value;
    break;
  case OPTION_DEVICE:
    s->device = value;
    break;
  case OPTION_WORKERS:
    if (command_number(value, 1, MOST_WORKERS, &s->workers)) break;
    return command_misused("run", "--workers is a number from 1 to %u, not '%s'", MOST_WORKERS,
                           value);
  case OPTION_TIMEOUT:
    if (read_seconds(value, &s->timeout_ns)) break;
    return command_misused("run", "--timeout is a number of seconds, not '%s'", value);
  case OPTION_SAVE:
    s->saves[s->save_count++] = value;
    break;
  case OPTION_JSON:
    s->json = true;
    break;
  default:
    return EXIT_MISUSED;
  }
  return EXIT_OK;
}

static int read_options(int argc, char **argv, run_state *s) {
  command_line line = {.command = &command_run, .argc = argc, .argv = argv, .at = 1};
  int code = EXIT_OK;
  for (int option; !code && (option = command_next(&line)) != COMMAND_END;) {
    if (option == COMMAND_OPERAND)
      s->paths[s->path_count++] = argv[line.at - 1];
    else
      code = take_option(option, line.value, s);
  }
  if (!code && !s->path_count) code = command_misused("run", "which task file?");
  return code;
}

/* Buffers and modules end with the context. A task that runs on is told of by the result alone. */
static void finish(run_state *s) {
  (void)rdl_context_close(s->context);
  free(s->outcome);
  free(s->events);
  free(s->memories);
  free(s->given);
  free(s->bytes);
  layout_finish(&s->args);
  layout_finish(&s->result);
  task_files_finish(&s->files);
  free(s->saves);
  free(s->assignments);
  free(s->paths);
}

static int run(int argc, char **argv) {
  run_state s = {.paths = calloc((size_t)argc, sizeof(char *)),
                 .assignments = calloc((size_t)argc, sizeof(char *)),
                 .saves = calloc((size_t)argc, sizeof(char *)),
                 .timeout_ns = RDL_FOREVER};
  int code = EXIT_FAILED;
  if (s.paths && s.assignments && s.saves) code = read_options(argc, argv, &s);
  if (code == EXIT_OK) code = read_files(&s);
  if (code == EXIT_OK) code = assign_all(&s);
  if (code == EXIT_OK) code = check_saves(&s);
  if (code == EXIT_OK) code = run_task(&s);
  finish(&s);
  return code;
}

const command command_run = {
    .name = "run",
    .summary = "run one task of a task file and print its result",
    .usage = "run FILE... [--task TASK] [--arg FIELD=VALUE]... [--device SELECTOR]\n"
             "                  [--workers N] [--timeout SECONDS] [--save FIELD=FILE]... [--json]",
    .about =
        "Loads the task files in this order, runs one future of a task and prints its result:\n"
        "a scalar alone, a structure as one line `name = value` a field.\n\n"
        "Ends with 0 when the task ended well, 1 when it or something before it failed, and 2\n"
        "when there is no such task, field or value.",
    .options = offered,
    .run = run,
};
