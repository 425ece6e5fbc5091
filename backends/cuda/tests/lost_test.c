/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is told when the device is lost, on a driver that stands in for NVIDIA's and
 * whose launches do by hand what the scheduler would:
 *
 *   lost_test DRIVER DOCUMENT HEADERS ERROR HOW
 *
 * ERROR is CUDA's number of the error. HOW the context is opened: plain, checked by the option,
 * checked by the variable, or in epoch mode, which has no window. The table of DOCUMENT says what
 * each call gives then; each is made, and each function of HEADERS that can fail must stand there.
 */
#include <dlfcn.h>
#include <glob.h>
#include <raddle/raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tests/unit.h"
#include "backends/cuda/api.h"
#include "backends/cuda/tests/standin.h"
#include "kernels/dialect.h"
/* The dialect's types come first. */
#include "kernels/abi.h"

static const char tasks_text[] =
    "struct lost_args { uint n; };\n"
    "struct lost_large { uint words[8]; };\n"
    "RDL_TASK(ended, uint, struct lost_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_RETURN(args->n);\n"
    "  RDL_END();\n"
    "}\n"
    "RDL_TASK(large, struct lost_large, struct lost_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_END();\n"
    "}\n"
    "RDL_TASK(root, uint, struct lost_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_RETURN(args->n);\n"
    "  RDL_END();\n"
    "}\n"
    "RDL_TASK(culprit, uint, struct lost_args, RDL_NONE) {\n"
    "  RDL_BEGIN();\n"
    "  RDL_RETURN(args->n);\n"
    "  RDL_END();\n"
    "}\n";

enum { OWN = 3, ENDED = OWN, LARGE, ROOT, CULPRIT, TASKS };
enum { WORKER = 2, GENERATION = 77 }; /* of the future of `culprit`, which the device has made */

static standin *state;
static const char *document, *headers, *error_name;
static int error, checked;
static const char *how;

/* ---- what the device does ---- */

static const rdl_task_info infos[TASKS] = {
    [0] = {.args_size = 32},
    [1] = {.args_size = 24},
    [2] = {.args_size = 16},
    [ENDED] = {.args_size = 4, .result_size = 4},
    [LARGE] = {.args_size = 4, .result_size = 32},
    [ROOT] = {.args_size = 4, .result_size = 4},
    [CULPRIT] = {.args_size = 4, .result_size = 4},
};

static void describe(unsigned char *heap, const rdl_control *control) {
  const rdl_image_info info = {.abi_version = RDL_ABI_VERSION,
                               .record_size = sizeof(rdl_record),
                               .side_size = sizeof(rdl_side),
                               .node_size = sizeof(rdl_node),
                               .event_size = sizeof(rdl_event_record),
                               .worker_size = sizeof(rdl_worker),
                               .message_size = sizeof(rdl_message),
                               .control_size = sizeof(rdl_control),
                               .tasks = TASKS,
                               .lanes = 32};
  memcpy(heap + control->image_info, &info, sizeof info);
  memcpy(heap + control->task_infos, infos, sizeof infos);
}

static rdl_running *shown_by(const rdl_control *control, uint32_t worker) {
  return (rdl_running *)(uintptr_t)control->shown + worker; /* NOLINT(performance-no-int-to-ptr) */
}

/* A child of `root`, and this launch ends with it. */
static void run_culprit(const rdl_control *control) {
  rdl_running *shown = shown_by(control, WORKER);
  state->traps = error;
  if (!control->shown) return;
  shown->generation = GENERATION;
  shown->task = CULPRIT;
  shown->segment = 1;
  rdl_store_release(&shown->slot, control->slots - 1u);
}

static rdl_outcome *posts_of(unsigned char *heap, const rdl_control *control) {
  if (!control->window) return (rdl_outcome *)(void *)(heap + control->outcomes);
  return (rdl_outcome *)(uintptr_t)control->posts; /* NOLINT(performance-no-int-to-ptr) */
}

static void obey(unsigned char *heap, rdl_control *control, const rdl_message *message) {
  rdl_outcome *post = posts_of(heap, control) + message->slot;
  const rdl_record *record =
      (const rdl_record *)(const void *)(heap + control->records) + message->slot;
  int whole = message->kind == RDL_SAY_START; /* and no record has come before it */
  uint32_t number = (whole ? message->value : record->task) & RDL_TASK_MASK;
  if (message->kind == RDL_SAY_WRITE)
    memcpy((void *)(uintptr_t)message->address, message->words, 4u * message->count); /* NOLINT */
  if (message->kind == RDL_SAY_ROOTS) run_culprit(control); /* nothing else starts so here */
  if (message->kind != RDL_SAY_ROOT && !whole) return;
  if (number == ROOT) run_culprit(control);
  if (number != ENDED && number != LARGE) return;
  post->cause = 0;
  post->result[0] = 7u;
  if (number == LARGE)
    post->result[0] = whole ? (uint32_t)(message->address >> 32) : record->result[0];
  post->wait = record->wait;
  rdl_store_release(&post->generation, message->generation);
}

static void read_messages(unsigned char *heap, rdl_control *control, rdl_window *window) {
  const rdl_message *messages = (const rdl_message *)(const void *)(window + 1);
  uint32_t at = control->mailbox.head;
  if (!window) messages = (const rdl_message *)(const void *)(heap + control->mailbox.messages);
  for (;; at++) {
    const rdl_message *message = &messages[at & control->mailbox.mask];
    if (rdl_load_acquire(&message->sequence) != at + 1u) break;
    obey(heap, control, message);
  }
  control->mailbox.head = at;
  if (window) rdl_store_release(&window->heard, at);
}

static void act(unsigned char *heap, unsigned purpose) {
  rdl_control *control = (rdl_control *)(void *)heap;
  rdl_window *window = (rdl_window *)(uintptr_t)control->window; /* NOLINT */
  if (purpose == RDL_LAUNCH_DESCRIBE) describe(heap, control);
  if (purpose == RDL_LAUNCH_RUN) read_messages(heap, control, window);
}

/* ---- a program ---- */

#define SECOND 1000000000ull

static rdl_context *cx;
static rdl_module *module;
static rdl_buffer *buffer, *imported;
static rdl_event event, deaf;
static rdl_future ended, second_ended, third_ended, fourth_ended, large, root, second_root, promise;
static _Alignas(4096) unsigned char page[4096];
static const uint32_t args = 7;

#define MUST(call) must((call), #call)

static void must(rdl_status status, const char *call) {
  if (status == RDL_OK) return;
  print_error("%s: %s: %s\n", call, rdl_status_name(status), rdl_error_text());
  fail();
}

static rdl_future spawn(const char *task) {
  rdl_future f;
  MUST(rdl_spawn(module, task, &args, sizeof args, NULL, &f));
  return f;
}

static rdl_future spawn_and_wait(const char *task) {
  rdl_future f = spawn(task);
  MUST(rdl_future_wait(cx, &f, 1, 10 * SECOND));
  return f;
}

static rdl_status import(rdl_buffer **out_buffer) {
  rdl_import what = RDL_IMPORT_INIT;
  what.kind = RDL_IMPORT_HOST;
  what.memory = page;
  what.bytes = sizeof page;
  return rdl_buffer_import(cx, &what, out_buffer);
}

static void open_program(void) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  options.checked = strcmp(how, "checked") == 0;
  if (strcmp(how, "epoch") == 0) options.mode = RDL_MODE_EPOCH;
  options.cache_dir = "";
  options.slots = 1000;
  options.roots = 100;
  options.events = 100;
  options.frame_bytes = 1u << 20;
  MUST(rdl_context_open_with("cuda:0", &options, &cx));
  MUST(rdl_module_load_text(cx, "lost.task.c", tasks_text, sizeof tasks_text - 1, &module));
  MUST(rdl_buffer_create(cx, 4096, &buffer));
  MUST(import(&imported));
  MUST(rdl_event_create(cx, 1, 0, &event));
  MUST(rdl_event_create(cx, 1, RDL_EVENT_DEVICE, &deaf));
  MUST(rdl_future_create(cx, &promise));
  ended = spawn_and_wait("ended");
  second_ended = spawn_and_wait("ended");
  third_ended = spawn_and_wait("ended");
  fourth_ended = spawn_and_wait("ended");
  large = spawn_and_wait("large");
}

static char story[65536];

static void take_line(void *user, const char *line, size_t length) {
  (void)user;
  assert_true(strlen(story) + length < sizeof story);
  strcat(story, line); /* NOLINT: there is room */
}

static void assert_contains(const char *text, const char *words) {
  if (!strstr(text, words)) fail_msg("no '%s' in: %s", words, text);
}

static void assert_tells(const char *text) {
  assert_contains(text, error_name);
  assert_contains(text,
                  "2 futures that the host has started: 2 of task root (lost.task.c:12), one");
  if (checked)
    assert_contains(text, "When it was lost worker 2 ran task culprit (lost.task.c:17), future {");
  else
    assert_contains(text, "When it was lost it held 2 futures");
  assert_int_equal(strcmp(how, "plain") == 0, strstr(text, "RADDLE_CHECKED=1") != NULL);
}

/* Everything that runs is told by the call that finds the device lost, by those that come later,
 * and in a dump. */
static void the_story_is_told(void **unused) {
  const uint32_t two[2] = {1, 2};
  rdl_future roots[2];
  char handle[64];
  (void)unused;
  open_program();
  /* Both by one call: after the first one alone the device may be lost. */
  MUST(rdl_spawn_many(module, "root", two, sizeof two[0], sizeof two[0], 2, NULL, roots, NULL));
  root = roots[0];
  second_root = roots[1];
  assert_int_equal(rdl_future_get(cx, root, NULL, 0, 10 * SECOND), RDL_DEVICE_LOST);
  assert_tells(rdl_error_text());
  assert_int_equal(rdl_buffer_read(buffer, 0, page, 4), RDL_DEVICE_LOST);
  assert_tells(rdl_error_text());
  MUST(rdl_context_dump(cx, take_line, NULL));
  assert_tells(story);
  (void)snprintf(handle, sizeof handle, "future {%#x, %u} of root (", root.index, root.generation);
  assert_contains(story, handle);
  assert_contains(story, "had not ended when the device was lost; spawned by the host");
  if (checked) assert_contains(story, "\nworker 2 ran task culprit (lost.task.c:17), future {");
}

/* ---- the table ---- */

typedef struct call {
  const char *name, *what; /* as in the table */
  rdl_status (*make)(void);
} call;

static rdl_status get_ended(void) {
  uint32_t value = 0;
  rdl_status status = rdl_future_get(cx, ended, &value, sizeof value, SECOND);
  if (status == RDL_OK) assert_int_equal(value, 7);
  return status;
}
static rdl_status get_large(void) {
  uint32_t words[8];
  return rdl_future_get(cx, large, words, sizeof words, SECOND);
}
static rdl_status get_root(void) {
  return rdl_future_get(cx, root, NULL, 0, RDL_FOREVER);
}
static rdl_status get_many_ended(void) {
  uint32_t value = 0;
  return rdl_future_get_many(cx, &second_ended, 1, &value, sizeof value, SECOND);
}
static rdl_status get_many_roots(void) {
  return rdl_future_get_many(cx, &root, 1, NULL, 0, RDL_FOREVER);
}
static rdl_status wait_ended(void) {
  return rdl_future_wait(cx, &third_ended, 1, SECOND);
}
static rdl_status wait_root(void) {
  return rdl_future_wait(cx, &root, 1, RDL_FOREVER);
}
static rdl_status look_at_root(void) {
  return rdl_future_wait(cx, &root, 1, 0);
}
static rdl_status outcome_of(rdl_future f) {
  rdl_future_result result = {.size = sizeof result};
  return rdl_future_outcome(cx, f, RDL_FOREVER, &result);
}
static rdl_status outcome_ended(void) {
  return outcome_of(third_ended);
}
static rdl_status outcome_root(void) {
  return outcome_of(root);
}
static rdl_status peek_ended(void) {
  uint32_t value;
  return rdl_future_peek(cx, third_ended, &value, sizeof value);
}
static rdl_status peek_large(void) {
  uint32_t words[8];
  return rdl_future_peek(cx, large, words, sizeof words);
}
static rdl_status peek_root(void) {
  uint32_t value;
  return rdl_future_peek(cx, root, &value, sizeof value);
}
static rdl_status release_ended(void) {
  return rdl_future_release(cx, fourth_ended);
}
static rdl_status release_root(void) {
  return rdl_future_release(cx, second_root);
}
static rdl_status cancel_root(void) {
  return rdl_future_cancel(cx, root);
}
static rdl_status create_future(void) {
  rdl_future f;
  return rdl_future_create(cx, &f);
}
static rdl_status complete_future(void) {
  return rdl_future_complete(cx, promise, NULL, 0, 0);
}
static rdl_status spawn_one(void) {
  rdl_future f;
  return rdl_spawn(module, "ended", &args, sizeof args, NULL, &f);
}
static rdl_status spawn_many(void) {
  rdl_future f;
  return rdl_spawn_many(module, "ended", &args, sizeof args, sizeof args, 1, NULL, NULL, &f);
}
static rdl_status load_file(void) {
  static const char path[] = "/tmp/raddle-lost-test.task.c";
  rdl_module *more = NULL;
  rdl_status status;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fputs("RDL_TASK(more, uint, RDL_NONE, RDL_NONE) {\n  RDL_BEGIN();\n  RDL_END();\n}\n",
              file);
  (void)fclose(file);
  status = rdl_module_load(cx, path, &more);
  (void)remove(path);
  return status;
}
static rdl_status load_text(void) {
  static const char text[] = "RDL_TASK(more, uint, RDL_NONE, RDL_NONE) {\n  RDL_BEGIN();\n"
                             "  RDL_END();\n}\n";
  rdl_module *more = NULL;
  return rdl_module_load_text(cx, "more.task.c", text, sizeof text - 1, &more);
}
static rdl_status look_at_task(void) {
  rdl_task_description description = {.size = sizeof description};
  return rdl_module_task(module, "ended", &description);
}
static rdl_status create_events(void) {
  rdl_event events[2];
  return rdl_event_create_many(cx, 2, 1, 0, events);
}
static rdl_status create_event(void) {
  rdl_event e;
  return rdl_event_create(cx, 1, 0, &e);
}
static rdl_status signal_event(void) {
  return rdl_event_signal(cx, event, 1);
}
static rdl_status seal_event(void) {
  return rdl_event_seal(cx, deaf);
}
static rdl_status wait_event(void) {
  return rdl_event_wait(cx, event, RDL_FOREVER);
}
static rdl_status wait_count(void) {
  return rdl_event_wait_count(cx, event, 1, RDL_FOREVER);
}
static rdl_status look_at_event(void) {
  return rdl_event_wait(cx, event, 0);
}
static rdl_status reset_event(void) {
  return rdl_event_reset(cx, &event);
}
static rdl_status destroy_event(void) {
  return rdl_event_destroy(cx, event);
}
static rdl_status create_buffer(void) {
  rdl_buffer *more = NULL;
  return rdl_buffer_create(cx, 64, &more);
}
static rdl_status import_buffer(void) {
  rdl_buffer *more = NULL;
  return import(&more);
}
static rdl_status write_buffer(void) {
  return rdl_buffer_write(buffer, 0, page, 4);
}
static rdl_status read_buffer(void) {
  return rdl_buffer_read(buffer, 0, page, 4);
}
static rdl_status read_imported(void) {
  unsigned char bytes[4];
  return rdl_buffer_read(imported, 0, bytes, 4);
}
static rdl_status sync_imported(void) {
  return rdl_buffer_sync(imported);
}
static rdl_status dump_context(void) {
  story[0] = '\0';
  return rdl_context_dump(cx, take_line, NULL);
}
static rdl_status read_stats(void) {
  rdl_stats stats = {.size = sizeof stats};
  return rdl_context_stats(cx, &stats);
}
static rdl_status describe_context(void) {
  rdl_context_info info = {.size = sizeof info};
  return rdl_context_describe(cx, &info);
}
static rdl_status list_devices(void) {
  size_t count = 0;
  return rdl_devices(NULL, 0, &count);
}
static rdl_status list_capabilities(void) {
  size_t count = 0;
  return rdl_device_capabilities("cuda:0", 0, NULL, 0, &count);
}
static rdl_status open_while_open(void) {
  rdl_context *more = NULL;
  return rdl_context_open("cuda:0", &more);
}
static rdl_status open_with_while_open(void) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context *more = NULL;
  return rdl_context_open_with("cuda:0", &options, &more);
}
static rdl_status close_context(void) {
  rdl_buffer_destroy(buffer);
  rdl_buffer_destroy(imported);
  return rdl_context_close(cx);
}

/* In this order: the last one closes the context. */
static const call calls[] = {
    {"rdl_future_get", "ended, 16 bytes or less", get_ended},
    {"rdl_future_get", "ended, a larger result", get_large},
    {"rdl_future_get", "not ended", get_root},
    {"rdl_future_get_many", "ended, 16 bytes or less", get_many_ended},
    {"rdl_future_get_many", "not ended", get_many_roots},
    {"rdl_future_wait", "ended", wait_ended},
    {"rdl_future_wait", "not ended", wait_root},
    {"rdl_future_wait", "not ended, a time of 0", look_at_root},
    {"rdl_future_outcome", "ended", outcome_ended},
    {"rdl_future_outcome", "not ended", outcome_root},
    {"rdl_future_peek", "ended, 16 bytes or less", peek_ended},
    {"rdl_future_peek", "ended, a larger result", peek_large},
    {"rdl_future_peek", "not ended", peek_root},
    {"rdl_future_release", "ended", release_ended},
    {"rdl_future_release", "not ended", release_root},
    {"rdl_future_cancel", "not ended", cancel_root},
    {"rdl_future_create", "", create_future},
    {"rdl_future_complete", "", complete_future},
    {"rdl_spawn", "", spawn_one},
    {"rdl_spawn_many", "", spawn_many},
    {"rdl_module_load", "", load_file},
    {"rdl_module_load_text", "", load_text},
    {"rdl_module_task", "", look_at_task},
    {"rdl_event_create", "", create_event},
    {"rdl_event_create_many", "", create_events},
    {"rdl_event_signal", "", signal_event},
    {"rdl_event_seal", "", seal_event},
    {"rdl_event_wait", "not fired", wait_event},
    {"rdl_event_wait", "not fired, a time of 0", look_at_event},
    {"rdl_event_wait_count", "not reached", wait_count},
    {"rdl_event_reset", "", reset_event},
    {"rdl_event_destroy", "", destroy_event},
    {"rdl_buffer_create", "", create_buffer},
    {"rdl_buffer_import", "", import_buffer},
    {"rdl_buffer_write", "", write_buffer},
    {"rdl_buffer_read", "", read_buffer},
    {"rdl_buffer_read", "the program's memory", read_imported},
    {"rdl_buffer_sync", "", sync_imported},
    {"rdl_context_dump", "", dump_context},
    {"rdl_context_stats", "", read_stats},
    {"rdl_context_describe", "", describe_context},
    {"rdl_devices", "", list_devices},
    {"rdl_device_capabilities", "", list_capabilities},
    {"rdl_context_open", "", open_while_open},
    {"rdl_context_open_with", "", open_with_while_open},
    {"rdl_context_close", "", close_context},
};
#define CALLS (sizeof calls / sizeof calls[0])

static char table[65536];

static void read_table(void) {
  FILE *file = fopen(document, "r");
  assert_non_null(file);
  table[fread(table, 1, sizeof table - 1, file)] = '\0';
  (void)fclose(file);
}

static int count_rows(void) {
  int rows = 0;
  for (const char *at = table; (at = strstr(at, "\n| `rdl_")); at++)
    rows++;
  return rows;
}

static void every_call_gives_what_the_table_says(void **unused) {
  int wrong = 0;
  (void)unused;
  read_table();
  for (size_t k = 0; k < CALLS; k++) {
    const char *name = rdl_status_name(calls[k].make());
    char row[256];
    (void)snprintf(row, sizeof row, "\n| `%s` | %s%s`%s` |", calls[k].name, calls[k].what,
                   *calls[k].what ? " | " : "| ", name);
    if (strstr(table, row)) continue;
    print_error("the table does not have this row: %s\n", row + 1);
    wrong++;
  }
  assert_int_equal(wrong, 0);
  assert_int_equal(count_rows(), CALLS);
}

static int stands_there(const char *name) {
  for (size_t k = 0; k < CALLS; k++)
    if (strcmp(calls[k].name, name) == 0) return 1;
  return 0;
}

/* The functions of one header that return a status. */
static int count_functions(const char *path) {
  static char text[65536];
  static const char mark[] = "rdl_status rdl_";
  FILE *file = fopen(path, "r");
  int count = 0;
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  for (const char *at = text; (at = strstr(at, mark)); at++) {
    char name[64];
    const char *begin = at + strlen("rdl_status ");
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "("), begin);
    if (!stands_there(name)) fail_msg("%s of %s is not in the table", name, path);
    count++;
  }
  return count;
}

static void every_function_stands_there(void **unused) {
  static const char *const names[] = {"buffer", "context", "device", "dump", "event",
                                      "future", "import",  "module", "stats"};
  char path[512];
  int count = 0;
  (void)unused;
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    (void)snprintf(path, sizeof path, "%s/%s.h", headers, names[k]);
    count += count_functions(path);
  }
  assert_true(count >= 35);
}

/* Large results come with the launch there, which the table does not speak of. */
static void all_is_freed(void **unused) {
  (void)unused;
  MUST(close_context());
  assert_int_equal(state->memories + state->pages + state->registered + state->streams, 0);
  assert_int_equal(state->modules + state->contexts_pushed + state->retained[0] + state->misuse, 0);
}

static void take_arguments(char **argv) {
  static char name[32];
  document = argv[2];
  headers = argv[3];
  error = atoi(argv[4]); /* NOLINT(cert-err34-c) */
  how = argv[5];
  (void)snprintf(name, sizeof name, "(%s)", argv[4]);
  error_name = name;
  checked = strcmp(how, "checked") == 0 || strcmp(how, "variable") == 0;
  if (strcmp(how, "variable") == 0) (void)setenv("RADDLE_CHECKED", "1", 1);
  (void)setenv("RADDLE_CUDA_DRIVER", argv[1], 1);
  (void)setenv("RADDLE_NVRTC", argv[1], 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_stands_there),
      cmocka_unit_test(the_story_is_told),
      cmocka_unit_test(every_call_gives_what_the_table_says),
  };
  const struct CMUnitTest epoch_tests[] = {
      cmocka_unit_test(the_story_is_told),
      cmocka_unit_test(all_is_freed),
  };
  void *library;
  if (argc != 6) return 1;
  take_arguments(argv);
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 1;
  state = dlsym(library, "standin_state");
  state->acts = act;
  if (strcmp(how, "epoch") == 0)
    return cmocka_run_group_tests_name("lost in epoch mode", epoch_tests, NULL, NULL);
  return cmocka_run_group_tests_name("lost", tests, NULL, NULL);
}
