/* SPDX-License-Identifier: Apache-2.0 */
/* HST 3: silence, options, selectors and task files that are not good. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/harness.h"

#define TASKS "hst.task.c"

/* Whatever goes wrong, the library prints nothing. */
void HST_3_silent(void) {
  FILE *output = tmpfile();
  int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  rdl_context *cx = NULL;
  rdl_module *module;
  bed b;
  long printed;
  CHECK(output && out >= 0 && err >= 0);
  b = bed_open(TASKS);
  fflush(stdout);
  dup2(fileno(output), STDOUT_FILENO);
  dup2(fileno(output), STDERR_FILENO);
  (void)!rdl_context_open("nowhere", &cx);
  (void)!rdl_context_open("opencl:nowhere", &cx);
  (void)!rdl_module_load(b.cx, "/no/such/file", &module);
  (void)!rdl_module_load(b.cx, "no/such/file", &module);
  (void)!rdl_module_load_text(b.cx, "broken.task.c", "int x = ;", 9, &module);
  (void)!rdl_module_load_text(b.cx, "broken.task.c", "#error no\n", 10, &module);
  rdl_future_cancel(b.cx, (rdl_future){1, 1});
  CHECK_END(&b, START(&b, "hst_wait_event", .e = {0, 0}), RDL_INVALID, 0);
  fflush(NULL);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  fseek(output, 0, SEEK_END);
  printed = ftell(output);
  if (printed) {
    char text[500] = "";
    rewind(output);
    (void)!fread(text, 1, sizeof text - 1, output);
    test_fail(__FILE__, __LINE__, "the library printed %ld bytes: %s", printed, text);
  }
  CHECK_EQ(8, RUN(&b, "hst_leaf", .n = 8));
  bed_close(&b);
}

static void check_refused(const rdl_context_options *options) {
  rdl_context *cx = (rdl_context *)(uintptr_t)8;
  CHECK_STATUS(RDL_INVALID, rdl_context_open_with(settings.selector, options, &cx));
  CHECK(cx == NULL);
  CHECK(rdl_error_text()[0]);
}

void HST_3_options(void) {
  rdl_context_options options = bed_options();
  size_t k;
  for (k = 0; k < sizeof options.reserved / sizeof options.reserved[0]; k++) {
    options = bed_options();
    options.reserved[k] = 1;
    check_refused(&options);
  }
  options = bed_options();
  options.mode = RDL_MODE_APART + 1u;
  check_refused(&options);
  options = bed_options();
  options.size = 0;
  check_refused(&options);
  options = bed_options();
  options.prebuilt_count = 1;
  options.prebuilt = NULL;
  check_refused(&options);
  options = bed_options();
  options.slots = UINT32_MAX;
  check_refused(&options);
  options = bed_options();
  options.roots = UINT32_MAX;
  check_refused(&options);
  options = bed_options();
  options.events = UINT32_MAX;
  check_refused(&options);
}

/* Each mode is had, and told, or refused by its name. */
void HST_3_modes(void) {
  static const char *const names[] = {"RDL_MODE_DEFAULT", "RDL_MODE_RESIDENT", "RDL_MODE_EPOCH",
                                      "RDL_MODE_APART"};
  uint32_t mode;
  for (mode = RDL_MODE_RESIDENT; mode <= RDL_MODE_APART; mode++) {
    rdl_context_options options = bed_options();
    rdl_context_info info = {.size = sizeof info};
    rdl_context *cx = NULL;
    rdl_status status;
    options.mode = mode;
    status = rdl_context_open_with(settings.selector, &options, &cx);
    if (status) {
      CHECK_STATUS(RDL_UNSUPPORTED, status);
      CHECK_CONTAINS(rdl_error_text(), names[mode]);
      CHECK(mode != RDL_MODE_EPOCH);
      continue;
    }
    CHECK_OK(rdl_context_describe(cx, &info));
    CHECK_EQ(mode, info.mode);
    CHECK_OK(rdl_context_close(cx));
  }
}

/* Small and odd values are used, or refused with a reason; nothing else. */
static void try_options(const rdl_context_options *options) {
  rdl_context *cx = NULL;
  rdl_module *module = NULL;
  rdl_future f;
  task_args args = {.n = 6};
  uint32_t value = 0;
  rdl_context_options with = *options;
  rdl_status status = rdl_context_open_with(settings.selector, &with, &cx);
  if (!status) status = rdl_module_load(cx, suite_path(TASKS), &module);
  if (!status) status = rdl_spawn(module, "hst_fib", &args, sizeof args, NULL, &f);
  if (!status) status = rdl_future_get(cx, f, &value, sizeof value, PATIENCE_NS);
  if (status == RDL_OK)
    CHECK_EQ(8, value);
  else
    CHECK(status == RDL_AGAIN || status == RDL_OUT_OF_MEMORY || status == RDL_INVALID ||
          status == RDL_OUT_OF_SLOTS || status == RDL_UNSUPPORTED);
  CHECK(status == RDL_OK || rdl_error_text()[0]);
  CHECK_OK(rdl_context_close(cx));
}

void HST_3_odd_options(void) {
  rdl_context_options options;
  options = bed_options(), options.slots = 1;
  try_options(&options);
  options = bed_options(), options.roots = 1;
  try_options(&options);
  options = bed_options(), options.events = 1;
  try_options(&options);
  options = bed_options(), options.frame_bytes = 1;
  try_options(&options);
  options = bed_options(), options.frame_bytes = 10000;
  try_options(&options);
  options = bed_options(), options.frame_bytes = UINT64_MAX;
  try_options(&options);
  options = bed_options(), options.frame_bytes = 1ull << 50;
  try_options(&options);
  options = bed_options(), options.quantum_ns = 1;
  try_options(&options);
  options = bed_options(), options.quantum_ns = UINT64_MAX;
  try_options(&options);
  options = bed_options(), options.park_ns = 1;
  try_options(&options);
  options = bed_options(), options.spin_ns = UINT64_MAX;
  try_options(&options);
  options = bed_options(), options.lanes = 32;
  try_options(&options);
  options = bed_options(), options.cache_dir = "/proc/no/such/folder";
  try_options(&options);
  options = bed_options(), options.cache_dir = "/dev/null";
  try_options(&options);
}

void HST_3_selectors(void) {
  static const char *const bad[] = {"abacus", "hos",     "hostt",    "host:1",         "opencl:999",
                                    ":",      "opencl:", "opencl::", "opencl:nothing", "cuda:999",
                                    " host",  "HOST ",   "opencl:-1"};
  char large[5000];
  rdl_context *cx;
  size_t k;
  for (k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    rdl_status status;
    cx = (rdl_context *)(uintptr_t)8;
    status = rdl_context_open(bad[k], &cx);
    if (status != RDL_NOT_FOUND && status != RDL_UNAVAILABLE && status != RDL_INVALID)
      test_fail(__FILE__, __LINE__, "selector '%s' gave %s", bad[k], rdl_status_name(status));
    CHECK(cx == NULL);
    CHECK(rdl_error_text()[0]);
    if (status == RDL_NOT_FOUND) CHECK_CONTAINS(rdl_error_text(), "host");
  }
  memset(large, 'x', sizeof large);
  large[sizeof large - 1] = '\0';
  CHECK_STATUS(RDL_NOT_FOUND, rdl_context_open(large, &cx));
  setenv("RADDLE_DEVICE", "abacus", 1);
  CHECK_STATUS(RDL_NOT_FOUND, rdl_context_open(NULL, &cx));
  CHECK_CONTAINS(rdl_error_text(), "abacus");
  setenv("RADDLE_DEVICE", settings.selector, 1);
  CHECK_OK(rdl_context_open(NULL, &cx));
  CHECK_OK(rdl_context_close(cx));
}

/* ---- task files ---- */

static const char good_file[] = "RDL_TASK(fine, uint, RDL_NONE, RDL_NONE)\n"
                                "{\n"
                                "  RDL_BEGIN();\n"
                                "  RDL_RETURN(7);\n"
                                "  RDL_END();\n"
                                "}\n";

typedef struct bad_file {
  const char *text;
  const char *place; /* what the message begins with */
} bad_file;

static const bad_file bad_files[] = {
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_RETURN(missing);\n  "
     "RDL_END();\n}\n",
     "bad.task.c:4:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  uint x = ;\n  RDL_END();\n}\n",
     "bad.task.c:4:"},
    {"struct s { uint a; };\nRDL_TASK(t, uint, struct s, RDL_NONE)\n{\n  RDL_BEGIN();\n"
     "  RDL_RETURN(args->b);\n  RDL_END();\n}\n",
     "bad.task.c:5:"},
    {"\n\nRDL_TASK(t, struct nowhere, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:3:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_RETURN(1);\n}\n",
     "bad.task.c:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_RETURN(1);\n  RDL_END();\n}\n",
     "bad.task.c:"},
    {"RDL_TASK(t, uint, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n", "bad.task.c:1:"},
    {"#if 1\nRDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n#endif\n",
     "bad.task.c:2:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n"
     "RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:6:"},
    {"RDL_TASK(fine, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:1:"},
    {"struct big { uint w[4000]; };\nRDL_TASK(t, uint, struct big, RDL_NONE)\n{\n  RDL_BEGIN();\n"
     "  RDL_END();\n}\n",
     "bad.task.c:2:"},
    {"#error not today\n", "bad.task.c:1:"},
    /* A parenthesis or semicolon is missing: the compiler gets as far as Raddle's own text. */
    {"struct s { rdl_future f; };\nRDL_TASK(t, uint, RDL_NONE, struct s)\n{\n  RDL_BEGIN();\n"
     "  RDL_SPAWN(self->f, fine;\n  RDL_END();\n}\n",
     "bad.task.c:5:"},
    {"struct s { rdl_future f; };\nRDL_TASK(t, uint, RDL_NONE, struct s)\n{\n  RDL_BEGIN();\n"
     "  RDL_AWAIT(self->f;\n  RDL_RETURN(1);\n  RDL_END();\n}\n",
     "bad.task.c:5:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_RETURN(1;\n  RDL_END();\n}\n",
     "bad.task.c:4:"},
    {"struct s { rdl_future f; };\nRDL_TASK(t, uint, RDL_NONE, struct s)\n{\n  RDL_BEGIN();\n"
     "  RDL_AWAIT(self->f)\n  RDL_RETURN(1);\n  RDL_END();\n}\n",
     "bad.task.c:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n"
     "struct s { uint n; }\n",
     "bad.task.c:6:20:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  /* no end", "bad.task.c:"},
    {"uint helper(uint x)\n{\n  return x + ;\n}\n"
     "RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:3:"},
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n"
     "#include <stdio.h>\n",
     "bad.task.c:6:2: #include is not allowed in a task file"},
    {"RDL_TASK_LANES(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:1:1: RDL_TASK_LANES takes 5 arguments"},
    {"struct big { uint w[2047]; };\nRDL_TASK_LANES(t, uint, RDL_NONE, RDL_NONE, struct big)\n{\n"
     "  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:2:"},
    /* What compiles on one device and not on another, or what a compiler says of it is no help. */
    {"RDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  printf(\"hello\\n\");\n"
     "  RDL_RETURN(1);\n  RDL_END();\n}\n",
     "bad.task.c:4:3: a task cannot call printf of the C library"},
    {"void *malloc(ulong n);\nRDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n"
     "  RDL_RETURN(malloc(4) != 0);\n  RDL_END();\n}\n",
     "bad.task.c:5:14: a task cannot call malloc of the C library"},
    {"uint calls = 0;\nRDL_TASK(t, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n"
     "  RDL_RETURN(calls++);\n  RDL_END();\n}\n",
     "bad.task.c:1:6: 'calls' is a variable at file level"},
    {"struct s { rdl_future f; };\nRDL_TASK(t, uint, RDL_NONE, struct s)\n{\n  RDL_BEGIN();\n"
     "  RDL_SPAWN(self->f, nobody);\n  RDL_RETURN(1);\n  RDL_END();\n}\n",
     "bad.task.c:5:22: there is no task 'nobody'"},
    {"struct s { rdl_future f; };\nRDL_TASK(t, uint, RDL_NONE, struct s)\n{\n  RDL_BEGIN();\n"
     "  RDL_SPAWN(self->f, late);\n  RDL_RETURN(1);\n  RDL_END();\n}\n"
     "RDL_TASK(late, uint, RDL_NONE, RDL_NONE)\n{\n  RDL_BEGIN();\n  RDL_END();\n}\n",
     "bad.task.c:5:22: task 'late' is not known here: it is defined further down, on line 9; write "
     "RDL_DECLARE(late, uint, RDL_NONE, RDL_NONE) before"},
    /* No task has a result so large. */
    {"struct big { uint w[2049]; };\nstruct s { rdl_future f; };\n"
     "RDL_TASK(t, uint, struct s, RDL_NONE)\n{\n  RDL_BEGIN();\n"
     "  RDL_RETURN(RDL_RESULT(struct big, args->f).w[0]);\n  RDL_END();\n}\n",
     "bad.task.c:6:"},
};

/* "file:line:column" at the beginning. */
static void check_place(const char *text, const char *place) {
  unsigned line = 0, column = 0;
  if (strncmp(text, place, strlen(place)) != 0)
    test_fail(__FILE__, __LINE__, "the text does not begin with %s but: %.200s", place, text);
  if (sscanf(text, "bad.task.c:%u:%u", &line, &column) != 2 || !line || !column)
    test_fail(__FILE__, __LINE__, "no file:line:column in: %.200s", text);
}

static void check_fine(bed *b, rdl_module *module) {
  rdl_future f;
  CHECK_OK(rdl_spawn(module, "fine", NULL, 0, NULL, &f));
  CHECK_EQ(7, get(b, f));
}

/* Names that are refused elsewhere are this file's own here, or the compiler does not see them. */
static const char own_file[] =
    "#define KEEP static\n"
    "#define LATER own_late\n"
    "#define DROP(x)\n"
    "#define SAY(x) printf(x)\n"
    "struct own_pair { uint free; uint time; };\n"
    "struct own_state { rdl_future f; };\n"
    "typedef struct own_pair own_pair;\n"
    "enum { OWN_ONE = 1 };\n"
    "KEEP uint puts(uint x);\n"
    "RDL_FN uint malloc(uint n) { return n + OWN_ONE; }\n"
    "KEEP uint puts(uint x) { return x; }\n"
    "RDL_DECLARE(own_late, uint, RDL_NONE, RDL_NONE)\n"
    "RDL_TASK(own, uint, RDL_NONE, struct own_state)\n{\n"
    "  own_pair pair = {.free = 1, .time = 2};\n"
    "  RDL_BEGIN();\n"
    "  /* printf(\"no\"); */ // RDL_SPAWN(self->f, nobody);\n"
    "  DROP(printf(\"no\"));\n"
    "  DROP(RDL_SPAWN(self->f, nobody));\n"
    "#ifdef OWN_NOWHERE\n"
    "  exit(1);\n"
    "  RDL_SPAWN(self->f, nobody);\n"
    "#endif\n"
    "  RDL_SPAWN(self->f, LATER);\n"
    "  RDL_AWAIT(self->f);\n"
    "  RDL_RETURN(malloc(2) + puts(1) + (pair.free) + (pair.time) + RDL_RESULT(uint, self->f));\n"
    "  RDL_END();\n}\n"
    "RDL_TASK(own_late, uint, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(5); RDL_END(); }\n";

static void note_image(void *user, rdl_log_level level, const char *text) {
  if (level == RDL_LOG_DEBUG) (void)snprintf(user, 200, "%s", text);
}

/* The log counts the tasks of the program, not Raddle's own with them. */
void HST_3_own_names(void) {
  char noted[200] = "";
  rdl_context_options options = bed_options();
  rdl_module *module;
  rdl_future f;
  bed b;
  options.log = note_image;
  options.log_user = noted;
  b = bed_open_with(NULL, &options);
  CHECK_OK(rdl_module_load_text(b.cx, "own.task.c", own_file, strlen(own_file), &module));
  CHECK_CONTAINS(noted, "an image of 2 tasks was ");
  CHECK_OK(rdl_spawn(module, "own", NULL, 0, NULL, &f));
  CHECK_EQ(12, get(&b, f));
  bed_close(&b);
}

/* A bad file is told with its place, and the context goes on with what it had. */
void HST_3_bad_files(void) {
  bed b = bed_open(NULL);
  rdl_module *good, *module;
  size_t k;
  CHECK_OK(rdl_module_load_text(b.cx, "good.task.c", good_file, strlen(good_file), &good));
  for (k = 0; k < sizeof bad_files / sizeof bad_files[0]; k++) {
    rdl_status status;
    module = good;
    status = rdl_module_load_text(b.cx, "bad.task.c", bad_files[k].text, strlen(bad_files[k].text),
                                  &module);
    if (status != RDL_COMPILE)
      test_fail(__FILE__, __LINE__, "bad file %zu gave %s: %s", k, rdl_status_name(status),
                rdl_error_text());
    CHECK(module == NULL);
    check_place(rdl_error_text(), bad_files[k].place);
    check_fine(&b, good);
  }
  CHECK_STATUS(RDL_NOT_FOUND, rdl_module_load(b.cx, "no/such.task.c", &module));
  CHECK_CONTAINS(rdl_error_text(), "no/such.task.c: ");
  CHECK_CONTAINS(rdl_error_text(), "the current directory, which is /");
  bed_close(&b);
}

/* A file cut off anywhere is told or taken, and harms nothing. */
void HST_3_cut_files(void) {
  bed b = bed_open(NULL);
  rdl_module *good, *module;
  size_t length;
  CHECK_OK(rdl_module_load_text(b.cx, "good.task.c", good_file, strlen(good_file), &good));
  for (length = 0; length < strlen(good_file); length += 9) {
    rdl_status status = rdl_module_load_text(b.cx, "bad.task.c", good_file, length, &module);
    if (status != RDL_COMPILE && !(status == RDL_OK && length == 0))
      test_fail(__FILE__, __LINE__, "the first %zu bytes gave %s", length, rdl_status_name(status));
  }
  check_fine(&b, good);
  bed_close(&b);
}

/* A second module comes while futures of the first live. */
void HST_3_second_module(void) {
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, 1, 0);
  rdl_future waits = START(&b, "hst_wait_event", .e = event, .n = 12);
  rdl_module *good;
  bed_await_suspended(&b, 1);
  CHECK_OK(rdl_module_load_text(b.cx, "good.task.c", good_file, strlen(good_file), &good));
  check_fine(&b, good);
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_EQ(12, get(&b, waits));
  CHECK_EQ(55, RUN(&b, "hst_fib", .n = 10));
  bed_close(&b);
}
