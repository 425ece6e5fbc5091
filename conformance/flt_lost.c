/* SPDX-License-Identifier: Apache-2.0 */
/* FLT 9: the driver ends a launch for what a task did, and with it all that the device knows. What
 * the host says then names the task, or what it had started. */
#include <stdio.h>
#include <string.h>

#include "conformance/harness.h"

/* Not in a file with others, for it is of one kind of device only. */
static const char text[] = "struct lost_args { rdl_ptr at; uint which; };\n"
                           "struct lost_state { rdl_future f; };\n"
                           "RDL_TASK(lost_culprit, RDL_NONE, struct lost_args, RDL_NONE) {\n"
                           "  RDL_BEGIN();\n"
                           "  if (args->which == 2) {\n"
                           "    asm volatile(\"trap;\");\n"
                           "  } else {\n"
                           "    *RDL_AT(volatile uint, args->at) = 7;\n"
                           "  }\n"
                           "  RDL_END();\n"
                           "}\n"
                           "RDL_TASK(lost_parent, uint, struct lost_args, struct lost_state) {\n"
                           "  RDL_BEGIN();\n"
                           "  RDL_SPAWN(self->f, lost_culprit, .at = args->at, "
                           ".which = args->which);\n"
                           "  RDL_AWAIT(self->f);\n"
                           "  RDL_RETURN(1);\n"
                           "  RDL_END();\n"
                           "}\n"
                           "RDL_TASK(lost_before, uint, struct lost_args, struct lost_state) {\n"
                           "  RDL_BEGIN();\n"
                           "  RDL_RETURN(args->which);\n"
                           "  RDL_END();\n"
                           "}\n";

struct lost_args {
  rdl_ptr at;
  uint32_t which, pad;
};

typedef struct lines {
  char text[16384];
  size_t used;
} lines;

static void take_line(void *user, const char *line, size_t length) {
  lines *l = user;
  CHECK(l->used + length < sizeof l->text);
  memcpy(l->text + l->used, line, length + 1);
  l->used += length;
}

static rdl_future spawn(rdl_module *module, const char *task, const struct lost_args *args) {
  rdl_future f;
  CHECK_OK(rdl_spawn(module, task, args, sizeof *args, NULL, &f));
  return f;
}

static void check_story(const char *story, uint32_t checked, const char *error) {
  CHECK_CONTAINS(story, error);
  CHECK_CONTAINS(story, "1 future that the host has started: task lost_parent (lost.task.c:");
  if (checked)
    CHECK_CONTAINS(story, " ran task lost_culprit (lost.task.c:3), ");
  else
    CHECK_CONTAINS(story, "RADDLE_CHECKED=1");
}

/* What has ended before stays good, and all that is asked afterwards tells the story. */
static void lose(uint32_t which, uint32_t checked, const char *error) {
  rdl_context_options options = bed_options();
  struct lost_args args = {0, which, 0};
  static lines dump;
  rdl_module *module;
  rdl_future before, parent;
  rdl_buffer *buffer;
  uint32_t value = 0;
  bed b;
  options.checked = checked;
  b = bed_open_with(NULL, &options);
  module = bed_load(&b, "lost.task.c", text);
  CHECK_OK(rdl_buffer_create(b.cx, 4096, &buffer));
  before = spawn(module, "lost_before", &args);
  CHECK_OK(rdl_future_wait(b.cx, &before, 1, PATIENCE_NS));
  if (which == 1) args.at = rdl_buffer_address(buffer) + 2;
  parent = spawn(module, "lost_parent", &args);
  CHECK_STATUS(RDL_DEVICE_LOST, rdl_future_get(b.cx, parent, &value, sizeof value, PATIENCE_NS));
  check_story(rdl_error_text(), checked, error);
  CHECK_STATUS(RDL_DEVICE_LOST, rdl_buffer_read(buffer, 0, &value, sizeof value));
  check_story(rdl_error_text(), checked, error);
  CHECK_OK(rdl_context_dump(b.cx, take_line, &dump));
  check_story(dump.text, checked, error);
  CHECK_CONTAINS(dump.text, "of lost_parent (lost.task.c:");
  CHECK_OK(rdl_future_get(b.cx, before, &value, sizeof value, 0));
  CHECK_EQ(which, value);
  CHECK_OK(rdl_context_close(b.cx));
}

void FLT_9_null(void) {
  lose(0, 0, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

void FLT_9_null_checked(void) {
  lose(0, 1, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

void FLT_9_misaligned(void) {
  lose(1, 0, "CUDA_ERROR_MISALIGNED_ADDRESS");
}

void FLT_9_misaligned_checked(void) {
  lose(1, 1, "CUDA_ERROR_MISALIGNED_ADDRESS");
}

void FLT_9_trap(void) {
  lose(2, 0, "CUDA_ERROR_LAUNCH_FAILED");
}

void FLT_9_trap_checked(void) {
  lose(2, 1, "CUDA_ERROR_LAUNCH_FAILED");
}
