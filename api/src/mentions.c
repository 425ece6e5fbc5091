/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/mentions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/src/reserved.h"

/* The modules up to `last`, whose text an image has before what the last one mentions. */
typedef struct scope {
  const rdl__image_module *modules;
  size_t count;
  size_t last;
  rdl_reason *why;
} scope;

__attribute__((format(printf, 3, 4))) static rdl_status
refuse(const scope *s, const rdl__mention *mention, const char *format, ...) {
  int used = snprintf(s->why->text, sizeof s->why->text,
                      "%.1300s:%u:%u: ", s->modules[s->last].name, mention->line, mention->column);
  va_list values;
  va_start(values, format);
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started in the line above */
  (void)vsnprintf(s->why->text + used, sizeof s->why->text - (size_t)used, format, values);
  va_end(values);
  return RDL_COMPILE;
}

static bool is_own(const scope *s, const char *name) {
  for (size_t m = 0; m <= s->last; m++) {
    const rdl__task_list *list = s->modules[m].tasks;
    for (size_t i = 0; i < list->mention_count; i++)
      if (list->mentions[i].kind == RDL__OWN && strcmp(list->mentions[i].name, name) == 0)
        return true;
  }
  return false;
}

static const rdl__task *find_task(const scope *s, const char *name, size_t *out_module) {
  for (size_t m = 0; m < s->count; m++) {
    const rdl__task_list *list = s->modules[m].tasks;
    for (size_t i = 0; i < list->count; i++) {
      *out_module = m;
      if (strcmp(list->tasks[i].name, name) == 0) return &list->tasks[i];
    }
  }
  return NULL;
}

static rdl_status refuse_early(const scope *s, const rdl__mention *mention, const rdl__task *task) {
  const char *lanes = task->lane_state ? "_LANES" : task->is_private ? "_PRIVATE" : "";
  if (task->declared)
    return refuse(s, mention,
                  "task '%s' is not known here: its RDL_DECLARE%s comes further down, on line %u; "
                  "move it to before this task",
                  task->name, lanes, task->declared);
  return refuse(s, mention,
                "task '%s' is not known here: it is defined further down, on line %u; write "
                "RDL_DECLARE%s(%s, %.300s, %.300s, %.300s%s%.300s) before this task, after the "
                "types that it names",
                task->name, task->line, lanes, task->name, task->result, task->args, task->state,
                task->lane_state ? ", " : "", task->lane_state ? task->lane_state : "");
}

/* What a private task spawns stands where it does (kernels/privates.h). */
static rdl_status check_private(const scope *s, const rdl__mention *mention,
                                const rdl__task *spawned) {
  const rdl__task_list *list = s->modules[s->last].tasks;
  for (size_t i = 0; i < list->count && !spawned->is_private; i++) {
    const rdl__task *task = &list->tasks[i];
    if (task->is_private && mention->line >= task->begin_line && mention->line <= task->end_line)
      return refuse(s, mention,
                    "task '%s' is private and can spawn private tasks only: define '%s' with "
                    "RDL_TASK_PRIVATE, or spawn it from a task that is not private",
                    task->name, spawned->name);
  }
  return RDL_OK;
}

static rdl_status check_spawned(const scope *s, const rdl__mention *mention) {
  size_t module = 0;
  const rdl__task *task = find_task(s, mention->name, &module);
  uint32_t known = !task ? 0 : task->declared ? task->declared : task->line;
  if (task && (module < s->last || (module == s->last && known <= mention->line)))
    return check_private(s, mention, task);
  if (is_own(s, mention->name) || is_own(s, mention->before)) return RDL_OK;
  if (task && module == s->last) return refuse_early(s, mention, task);
  if (task)
    return refuse(s, mention,
                  "task '%s' is not known here: it is defined in %.1300s, which comes after this "
                  "file; put that file first",
                  task->name, s->modules[module].name);
  return refuse(s, mention,
                "there is no task '%s', neither in this file nor in one that was loaded before; "
                "correct the name, or load the file that defines the task first",
                mention->name);
}

static rdl_status check_called(const scope *s, const rdl__mention *mention) {
  if (is_own(s, mention->name)) return RDL_OK;
  return refuse(s, mention, "a task cannot call %s of the C library: %s", mention->name,
                rdl__instead_of(mention->name));
}

static rdl_status check_variable(const scope *s, const rdl__mention *mention) {
  if (is_own(s, mention->name) || is_own(s, mention->before)) return RDL_OK;
  return refuse(s, mention,
                "'%s' is a variable at file level, which not every device has; what a task keeps "
                "belongs in its state (self->%s), what it is given in its arguments, what tasks "
                "share in a buffer (RDL_AT), and a constant in an enum or a #define",
                mention->name, mention->name);
}

static rdl_status check(const scope *s, const rdl__mention *mention) {
  switch (mention->kind) {
  case RDL__SPAWNED:
    return check_spawned(s, mention);
  case RDL__CALLED:
    return check_called(s, mention);
  case RDL__VARIABLE:
    return check_variable(s, mention);
  case RDL__OWN:
    break;
  }
  return RDL_OK;
}

rdl_status rdl__check_mentions(const rdl__image_module *modules, size_t count, rdl_reason *why) {
  rdl_status status = RDL_OK;
  scope s = {.modules = modules, .count = count, .why = why};
  for (; s.last < count; s.last++) {
    const rdl__task_list *list = modules[s.last].tasks;
    for (size_t i = 0; i < list->mention_count && !status; i++)
      status = check(&s, &list->mentions[i]);
    if (status) break;
  }
  return status;
}
