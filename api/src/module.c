/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and the image made of them. A new module is compiled together with those already there;
 * only when that has succeeded does the context change over to the new image, between two launches.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"
#include "api/src/image.h"
#include "backends/common/file.h"
#include "backends/common/reason.h"

static void module_free(rdl_module *module) {
  if (!module) return;
  rdl__task_list_finish(&module->tasks);
  free(module->name);
  free(module->text);
  free(module);
}

static rdl_module *module_new(rdl_context *cx, const char *name, const char *text, size_t length) {
  rdl_module *module = calloc(1, sizeof *module);
  if (!module) return NULL;
  module->context = cx;
  module->name = strdup(name);
  module->text = malloc(length + 1);
  module->length = length;
  if (!module->name || !module->text) {
    module_free(module);
    return NULL;
  }
  memcpy(module->text, text, length);
  module->text[length] = '\0';
  return module;
}

/* ---- the image ---- */

/* An image that was compiled ahead of files with these names, none of which fits. Only the host
 * takes such images, so elsewhere none is missed. */
static const rdl_prebuilt *find_stale(const rdl_context *cx, const rdl__image_module *parts,
                                      size_t count) {
  const rdl_prebuilt *found = NULL;
  rdl__text files = {0};
  size_t k;
  if (!cx->options.prebuilt_count || strcmp(cx->backend->name, "host") != 0) return NULL;
  rdl__image_files(parts, count, &files);
  for (k = 0; k < cx->options.prebuilt_count && files.bytes && !files.failed; k++) {
    const rdl_prebuilt *image = cx->options.prebuilt[k];
    if (image->name && image->files && strcmp(image->files, files.bytes) == 0) found = image;
  }
  rdl__text_finish(&files);
  return found;
}

/* `*out_stale` is such an image, or NULL. */
static rdl_status make_text(rdl_context *cx, rdl_module *const *modules, size_t count,
                            rdl__image *image, const rdl_prebuilt **out_stale, rdl_reason *why) {
  rdl__image_module *parts = calloc(count, sizeof *parts);
  rdl_status status;
  size_t k;
  if (!parts) return RDL_OUT_OF_MEMORY;
  for (k = 0; k < count; k++)
    parts[k] = (rdl__image_module){modules[k]->name, modules[k]->text, modules[k]->length,
                                   &modules[k]->tasks};
  status = rdl__image_make(parts, count, image, why);
  for (k = 0; k < cx->options.prebuilt_count && !status; k++)
    if (strcmp(cx->options.prebuilt[k]->hash, image->text.hash) == 0)
      image->text.prebuilt = cx->options.prebuilt[k]->launch;
  if (!status && !image->text.prebuilt) *out_stale = find_stale(cx, parts, count);
  free(parts);
  return status;
}

/* Runs the image once so that it tells the sizes that its compiler gave to everything. */
static rdl_status describe(rdl_context *cx, rdl_backend_image *image, uint32_t tasks,
                           rdl_reason *why) {
  rdl_status status;
  pthread_mutex_lock(&cx->lock);
  cx->describing = true;
  status = rdl__push(cx, why);
  pthread_mutex_unlock(&cx->lock);
  if (!status)
    status = cx->backend->launch(cx->device, image, cx->heap, RDL_LAUNCH_DESCRIBE, 1, why);
  if (!status) status = cx->backend->wait(cx->device, RDL_FOREVER, why);
  pthread_mutex_lock(&cx->lock);
  if (!status) status = rdl__pull_part(cx, cx->control->image_info, sizeof(rdl_image_info), why);
  if (!status)
    status = rdl__pull_part(cx, cx->control->task_infos, tasks * sizeof(rdl_task_info), why);
  cx->describing = false;
  pthread_cond_broadcast(&cx->host_news);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

static rdl_status check_layout(rdl_context *cx, uint32_t tasks, rdl_reason *why) {
  const rdl_image_info *info = (const void *)(cx->heap + cx->control->image_info);
  bool same = info->abi_version == RDL_ABI_VERSION && info->record_size == sizeof(rdl_record) &&
              info->side_size == sizeof(rdl_side) && info->node_size == sizeof(rdl_node) &&
              info->event_size == sizeof(rdl_event_record) &&
              info->worker_size == sizeof(rdl_worker) &&
              info->message_size == sizeof(rdl_message) &&
              info->control_size == sizeof(rdl_control) && info->tasks == tasks;
  if (same) return RDL_OK;
  snprintf(why->text, sizeof why->text,
           "the device's compiler lays structures out differently than "
           "the host's: record %u/%zu, control %u/%zu bytes. Please report the device's name",
           info->record_size, sizeof(rdl_record), info->control_size, sizeof(rdl_control));
  return RDL_UNSUPPORTED;
}

static uint32_t class_of(uint32_t bytes) {
  uint32_t size_class = 0;
  while ((16u << size_class) < bytes)
    size_class++;
  return size_class;
}

static uint32_t whole_words(uint32_t bytes) {
  return bytes ? (bytes + 3u) / 4u * 4u : 4u; /* RDL_NONE has one word */
}

static uint32_t frame_bytes(const rdl_task_info *info) {
  uint32_t bytes = whole_words(info->args_size) + whole_words(info->state_size);
  if (info->lane_state_size) bytes += info->width * whole_words(info->lane_state_size);
  return bytes;
}

static void fill_task(rdl__known_task *task, const rdl__task *scanned, const rdl_module *module,
                      uint32_t number, const rdl_task_info *info) {
  uint32_t frame = class_of(frame_bytes(info));
  uint32_t result =
      info->result_size > RDL_INLINE_SIZE ? class_of(info->result_size) : RDL_CLASS_NONE;
  task->name = scanned->name;
  task->file = module->name;
  task->line = scanned->line;
  task->info = *info;
  task->word = number | frame << RDL_FRAME_SHIFT | result << RDL_RESULT_SHIFT;
}

static rdl__known_task *list_tasks(rdl_context *cx, rdl_module *const *modules, size_t count,
                                   uint32_t total) {
  const rdl_task_info *infos = (const void *)(cx->heap + cx->control->task_infos);
  rdl__known_task *tasks = calloc(total, sizeof *tasks);
  uint32_t number = 0;
  size_t k, t;
  if (!tasks) return NULL;
  for (k = 0; k < count; k++) {
    /* The numbers of those before stay, and other threads spawn from them meanwhile. */
    if (k + 1 == count) modules[k]->first_task = number;
    for (t = 0; t < modules[k]->tasks.count; t++, number++)
      fill_task(&tasks[number], &modules[k]->tasks.tasks[t], modules[k], number, &infos[number]);
  }
  return tasks;
}

/* Every root's slot has a place for the largest frame and result of the image. A larger one than
 * before needs a new region; roots that live keep their place in the old one. */
static void place_root_frames(rdl_context *cx, uint32_t stride) {
  rdl_pool *pool = &cx->control->pools[RDL_POOL_FRAMES];
  uint32_t fresh = rdl__fresh(cx, RDL_POOL_FRAMES);
  uint32_t free_units = pool->limit - fresh;
  uint32_t roots = cx->options.roots;
  if (stride <= cx->root_stride) return;
  if ((uint64_t)roots * stride > free_units / 2u) roots = free_units / 2u / stride;
  if (roots < cx->options.roots)
    rdl__log(cx, RDL_LOG_WARNING, "frame_bytes has room for the frames of %u roots, not of %u",
             roots, cx->options.roots);
  cx->usable_roots = roots;
  if ((uint64_t)(roots + 1u) * stride > free_units) return; /* not even one: all calls say AGAIN */
  cx->root_frames = fresh;                                  /* slot 0 has a place nobody uses */
  cx->root_stride = stride;
  pool->fresh = fresh + (roots + 1u) * stride;
  rdl__wrote(cx, &pool->fresh, sizeof pool->fresh);
}

/* Blocks that are one worker each, with all of their lanes: by the option, or a quarter. A task of
 * a whole group is one that has more lanes than a worker. */
static void divide_blocks(rdl_context *cx) {
  uint32_t asked = cx->options.wide_blocks, each = cx->facts.block_workers, blocks, wide, k;
  bool wanted = false;
  for (k = 0; k < cx->task_count && each > 1u; k++)
    wanted = wanted || cx->tasks[k].info.width > cx->facts.lanes;
  if (!wanted || cx->wide) return;
  blocks = (cx->workers + each - 1u) / each;
  wide = asked ? asked : blocks < 4u ? 1u : blocks / 4u;
  if (wide > blocks) {
    rdl__log(cx, RDL_LOG_WARNING,
             "%u wide blocks were asked for; %u workers are %u blocks, and so many are wide", asked,
             cx->workers, blocks);
    wide = blocks;
  }
  __atomic_store_n(&cx->wide, wide, __ATOMIC_RELAXED);
}

static void adopt_tasks(rdl_context *cx, rdl__known_task *tasks, uint32_t count) {
  uint32_t k, stride = 1;
  cx->control->reserve = 1;
  cx->control->class_set = 0;
  for (k = 0; k < count; k++) {
    uint32_t frame = (tasks[k].word >> RDL_FRAME_SHIFT) & RDL_CLASS_MASK;
    uint32_t result = (tasks[k].word >> RDL_RESULT_SHIFT) & RDL_CLASS_MASK;
    uint32_t units = rdl__block_units(tasks[k].word, RDL_FRAME_SHIFT) +
                     rdl__block_units(tasks[k].word, RDL_RESULT_SHIFT);
    if (units > stride) stride = units;
    if (tasks[k].info.spawns > cx->control->reserve) cx->control->reserve = tasks[k].info.spawns;
    cx->control->class_set |= 1u << frame;
    if (result != RDL_CLASS_NONE) cx->control->class_set |= 1u << result;
  }
  place_root_frames(cx, stride);
  rdl__wrote(cx, &cx->control->reserve, sizeof cx->control->reserve);
  rdl__wrote(cx, &cx->control->class_set, sizeof cx->control->class_set);
  free(cx->tasks);
  cx->tasks = tasks;
  cx->task_count = count;
  divide_blocks(cx);
}

#define STALE_TEXT                                                                                 \
  "the image '%s', compiled ahead of %s, does not fit: a task file or Raddle was changed since; "  \
  "build the program anew"

/* `count` of its tasks are not Raddle's own. The lock is not held: the program's function may take
 * its time. */
static rdl_status build_image(rdl_context *cx, const rdl__image *image, uint32_t count,
                              const rdl_prebuilt *stale, rdl_backend_image **out_built,
                              rdl_reason *why) {
  uint64_t begin = rdl__now_ns();
  rdl_status status;
  if (stale) rdl__log(cx, RDL_LOG_WARNING, STALE_TEXT, stale->name, stale->files);
  status = cx->backend->build(cx->device, &image->text, out_built, why);
  if (!status)
    rdl__log(cx, RDL_LOG_DEBUG, "an image of %u task%s was %s in %llu us", count,
             count == 1 ? "" : "s",
             image->text.prebuilt ? "found compiled ahead" : "compiled, or found in the cache,",
             (unsigned long long)((rdl__now_ns() - begin) / 1000u));
  if (status && stale && why->text[0])
    rdl__reason_append(why, "\n" STALE_TEXT, stale->name, stale->files);
  return status;
}

/* Compiles the image of `modules` and lists its tasks. Without the lock: it may take seconds, and
 * other calls on the context go on. */
static rdl_status compile(rdl_context *cx, rdl_module *const *modules, size_t count,
                          rdl_backend_image **out_built, rdl__known_task **out_tasks,
                          uint32_t *out_total, rdl_reason *why) {
  rdl__image image = {0};
  const rdl_prebuilt *stale = NULL;
  rdl_status status = make_text(cx, modules, count, &image, &stale, why);
  *out_total = image.task_count;
  if (!status)
    status = build_image(cx, &image, image.task_count - (uint32_t)modules[0]->tasks.count, stale,
                         out_built, why);
  rdl__image_finish(&image);
  if (!status) status = describe(cx, *out_built, *out_total, why);
  if (!status) status = check_layout(cx, *out_total, why);
  if (status) return status;
  *out_tasks = list_tasks(cx, modules, count, *out_total);
  return *out_tasks ? RDL_OK : RDL_OUT_OF_MEMORY;
}

/* Builds the image of `modules` and changes over to it. The service is held; the lock is held on
 * entry and on return. Nobody else builds meanwhile, so the list of modules stands still. */
static rdl_status build(rdl_context *cx, rdl_module *const *modules, size_t count,
                        rdl_reason *why) {
  rdl_backend_image *built = NULL;
  rdl__known_task *tasks = NULL;
  uint32_t total = 0;
  rdl_status status;
  cx->building = true;
  cx->users++;
  pthread_mutex_unlock(&cx->lock);
  status = compile(cx, modules, count, &built, &tasks, &total, why);
  pthread_mutex_lock(&cx->lock);
  rdl__leave(cx);
  cx->building = false;
  pthread_cond_broadcast(&cx->host_news);
  if (status) {
    cx->backend->discard(cx->device, built);
    return status;
  }
  cx->backend->discard(cx->device, cx->image);
  cx->image = built;
  adopt_tasks(cx, tasks, total);
  return RDL_OK;
}

void rdl__build_turn(rdl_context *cx) {
  while (cx->building)
    rdl__pause(cx, RDL_FOREVER);
}

/* Adds a module to the context. The lock is held and the service is held. */
static rdl_status add(rdl_context *cx, rdl_module *module, rdl_reason *why) {
  size_t count = cx->module_count + 1;
  rdl_module **modules = malloc(count * sizeof(rdl_module *));
  rdl_status status;
  if (!modules) return RDL_OUT_OF_MEMORY;
  if (cx->module_count) memcpy(modules, cx->modules, cx->module_count * sizeof(rdl_module *));
  modules[count - 1] = module;
  status = build(cx, modules, count, why);
  if (status) {
    free(modules);
    return status;
  }
  free(cx->modules);
  cx->modules = modules;
  cx->module_count = count;
  return RDL_OK;
}

/* Raddle's own module is taken in but not compiled yet: the first user's module brings the first
 * image, so that opening a context needs no compiler. */
rdl_status rdl__modules_open(rdl_context *cx) {
  rdl_reason why = {""};
  rdl__image_module own = {0};
  rdl__task_list tasks = {0};
  rdl_status status = rdl__image_own_module(&tasks, &own, &why);
  rdl_module *module;
  if (status) return rdl__error_why(status, &why);
  module = module_new(cx, own.name, own.text, own.length);
  cx->modules = module ? calloc(1, sizeof(rdl_module *)) : NULL;
  if (!cx->modules) {
    rdl__task_list_finish(&tasks);
    module_free(module);
    return rdl__error(RDL_OUT_OF_MEMORY, "opening a context: out of host memory");
  }
  module->tasks = tasks;
  cx->modules[0] = module;
  cx->module_count = 1;
  return RDL_OK;
}

void rdl__modules_close(rdl_context *cx) {
  size_t k;
  if (cx->image) cx->backend->discard(cx->device, cx->image);
  for (k = 0; k < cx->module_count; k++)
    module_free(cx->modules[k]);
  free(cx->modules);
  free(cx->tasks);
}

/* Raddle's own tasks alone, for a context that uses events before it has a module. */
rdl_status rdl__image_need(rdl_context *cx) {
  rdl_reason why = {""};
  rdl_status status;
  if (cx->image) return RDL_OK;
  status = rdl__service_hold(cx, RDL_FOREVER);
  if (status) return status;
  rdl__build_turn(cx); /* behind the hold, which gives up the lock */
  if (!cx->image) status = build(cx, cx->modules, cx->module_count, &why);
  rdl__service_release(cx);
  return status ? rdl__error_why(status, &why) : RDL_OK;
}

/* ---- loading ---- */

/* A resume point has twelve bits in the record. */
static rdl_status check_points(const rdl_module *module) {
  size_t k;
  for (k = 0; k < module->tasks.count; k++) {
    const rdl__task *task = &module->tasks.tasks[k];
    if (task->resume_points > RDL_RESUME_MASK)
      return rdl__error(RDL_COMPILE,
                        "%s:%u:%u: task %s has %u words that may suspend, and at most %u "
                        "can be told apart: divide it",
                        module->name, task->line, task->column, task->name, task->resume_points,
                        RDL_RESUME_MASK);
  }
  return RDL_OK;
}

/* Conditions that stand around and in what a word of a task is made of, the kernel's own too. */
#define NESTING_OF_WORDS 10u

/* Some drivers follow conditions only so deep and leave out what stands deeper, without a word.
 * There every resume point of a task is one more, and so is every level of the choice among all
 * tasks. */
static rdl_status check_nesting(const rdl_context *cx, const rdl_module *module) {
  uint32_t most = cx->facts.nesting, choice = 0;
  size_t k, tasks = module->tasks.count;
  for (k = 0; k < cx->module_count; k++)
    tasks += cx->modules[k]->tasks.count;
  while (((size_t)1 << choice) < tasks)
    choice++;
  for (k = 0; most && k < module->tasks.count; k++) {
    const rdl__task *task = &module->tasks.tasks[k];
    uint32_t deep = choice + task->resume_points + task->nesting + NESTING_OF_WORDS;
    if (deep > most)
      return rdl__error(
          RDL_UNSUPPORTED,
          "%s:%u:%u: task %s, with %u words that may suspend and statements %u deep, among %zu "
          "tasks: that makes conditions %u deep, and the compiler of %s gets those wrong that are "
          "deeper than %u (the capabilities `switch_cases` and `nesting`). Divide the task",
          module->name, task->line, task->column, task->name, task->resume_points, task->nesting,
          tasks, deep, cx->device_info.selector, most);
  }
  return RDL_OK;
}

/* A segment takes room for all that it may spawn, item by item. */
static rdl_status check_spawns(const rdl_context *cx, const rdl_module *module) {
  size_t k;
  for (k = 0; cx->facts.loop_budget && k < module->tasks.count; k++) {
    const rdl__task *task = &module->tasks.tasks[k];
    if (task->spawns + task->lane_spawns > cx->facts.loop_budget / 16u)
      return rdl__error(RDL_UNSUPPORTED,
                        "%s:%u:%u: task %s spawns up to %u futures in a segment, and with %u turns "
                        "of all loops a kernel of %s has room for %u: use RDL_TRY_SPAWN and "
                        "RDL_AWAIT_ROOM",
                        module->name, task->line, task->column, task->name,
                        task->spawns + task->lane_spawns, cx->facts.loop_budget,
                        cx->device_info.selector, cx->facts.loop_budget / 16u);
  }
  return RDL_OK;
}

/* The lock is held. The turn comes behind the hold, which gives up the lock: two that came out of
 * it together would both build. */
static rdl_status load_held(rdl_context *cx, rdl_module *module) {
  rdl_reason why = {""};
  rdl_status status;
  if (cx->closing) return rdl__error(RDL_CLOSED, "the context is closing");
  status = rdl__service_hold(cx, rdl__deadline_ns(cx->options.close_ns));
  if (status) return status;
  rdl__build_turn(cx);
  if (cx->closing) {
    status = rdl__error(RDL_CLOSED, "the context is closing");
  } else if (!(status = check_nesting(cx, module)) && !(status = check_spawns(cx, module))) {
    status = add(cx, module, &why);
    if (status == RDL_OUT_OF_MEMORY && !why.text[0])
      snprintf(why.text, sizeof why.text, "loading %s: out of host memory", module->name);
    if (status) rdl__error_why(status, &why);
  }
  rdl__service_release(cx);
  return status;
}

static rdl_status load(rdl_context *cx, rdl_module *module) {
  rdl_reason why = {""};
  rdl_status status =
      rdl__scan(module->name, module->text, module->length, 0, &module->tasks, &why);
  if (status) return rdl__error_why(status, &why);
  status = check_points(module);
  if (status) return status;
  pthread_mutex_lock(&cx->lock);
  status = load_held(cx, module);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

rdl_status rdl_module_load_text(rdl_context *cx, const char *name, const char *text, size_t length,
                                rdl_module **out_module) {
  rdl_module *module;
  rdl_status status;
  RDL__NEED(out_module);
  *out_module = NULL;
  RDL__NEED(cx);
  RDL__NEED(name);
  RDL__NEED(text);
  module = module_new(cx, name, text, length);
  if (!module) return rdl__error(RDL_OUT_OF_MEMORY, "loading %s: out of host memory", name);
  status = load(cx, module);
  if (status) {
    module_free(module);
    return status;
  }
  *out_module = module;
  return RDL_OK;
}

static rdl_status report_file(const char *path, int error) {
  rdl_reason why;
  rdl_status status = rdl__file_unread(path, error, &why);
  return rdl__error(status, "%s", why.text);
}

rdl_status rdl_module_load(rdl_context *cx, const char *path, rdl_module **out_module) {
  size_t length = 0;
  rdl_status status;
  char *text;
  RDL__NEED(out_module);
  *out_module = NULL;
  RDL__NEED(cx);
  RDL__NEED(path);
  text = rdl__file_read(path, &length);
  if (!text) return report_file(path, errno);
  status = rdl_module_load_text(cx, path, text, length, out_module);
  free(text);
  return status;
}

/* ---- finding tasks ---- */

static rdl_status no_such_task(const rdl_module *module, const char *name) {
  char known[512] = "";
  size_t used = 0, k;
  for (k = 0; k < module->tasks.count && used < sizeof known - 70; k++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
                             module->tasks.tasks[k].name);
  return rdl__error(RDL_NOT_FOUND, "%s has no task '%s'; it has: %s", module->name, name, known);
}

rdl_status rdl__task_find(rdl_module *module, const char *name, rdl__known_task *out_task) {
  size_t k;
  for (k = 0; k < module->tasks.count; k++) {
    if (strcmp(module->tasks.tasks[k].name, name) != 0) continue;
    *out_task = module->context->tasks[module->first_task + k];
    return RDL_OK;
  }
  return no_such_task(module, name);
}

const rdl__known_task *rdl__own_task(rdl_context *cx, const char *name) {
  uint32_t k;
  for (k = 0; k < cx->task_count; k++) /* they come first */
    if (strcmp(cx->tasks[k].name, name) == 0) return &cx->tasks[k];
  return NULL;
}

rdl_status rdl_module_task(rdl_module *module, const char *name,
                           rdl_task_description *out_description) {
  rdl__known_task task = {0};
  rdl_status status;
  RDL__NEED(module);
  RDL__NEED(name);
  RDL__NEED(out_description);
  if (out_description->size != sizeof *out_description)
    return rdl__error(RDL_INVALID, "rdl_module_task: size is %zu, not %zu", out_description->size,
                      sizeof *out_description);
  pthread_mutex_lock(&module->context->lock);
  status = rdl__task_find(module, name, &task);
  if (!status) {
    out_description->args_size = task.info.args_size;
    out_description->state_size = task.info.state_size;
    out_description->result_size = task.info.result_size;
    out_description->spawns = task.info.spawns;
    out_description->resume_points = task.info.resume_points;
    out_description->line = task.line;
    out_description->lane_state_size = task.info.lane_state_size;
  }
  pthread_mutex_unlock(&module->context->lock);
  return status;
}
