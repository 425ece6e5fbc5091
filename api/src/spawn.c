/* SPDX-License-Identifier: Apache-2.0 */
/* Spawning roots: one, many with a handle each, or a batch under one handle. */
#include <string.h>

#include "api/src/core.h"

/* The arguments of Raddle's own tasks; they mirror kernels/tasks.cl. */
typedef struct batch_args {
  rdl_ptr address;
  uint32_t count;
  uint32_t task;
  uint32_t words;
  uint32_t stride;
  uint32_t step;
  uint32_t pad;
} batch_args;

typedef struct gate_args {
  rdl_ptr futures;
  uint32_t count;
  uint32_t root;
  uint32_t ticket;
  uint32_t pad;
} gate_args;

static rdl_status check_options(const rdl_spawn_options *options) {
  size_t k;
  if (!options) return RDL_OK;
  if (options->size != sizeof *options)
    return rdl__error(RDL_INVALID,
                      "rdl_spawn_options: size is %zu, not %zu: start from "
                      "RDL_SPAWN_OPTIONS_INIT",
                      options->size, sizeof *options);
  if (options->after_count && !options->after)
    return rdl__error(RDL_INVALID, "rdl_spawn_options: after_count is %zu, but after is NULL",
                      options->after_count);
  if (options->after_count > UINT32_MAX)
    return rdl__error(RDL_INVALID, "rdl_spawn_options: after_count is too large");
  if (options->pad) return rdl__error(RDL_INVALID, "rdl_spawn_options: pad is not 0");
  for (k = 0; k < sizeof options->reserved / sizeof options->reserved[0]; k++)
    if (options->reserved[k])
      return rdl__error(RDL_INVALID, "rdl_spawn_options: reserved is not 0");
  return RDL_OK;
}

static rdl_status check_args(const rdl__known_task *task, const void *args, size_t args_size) {
  if (args_size != task->info.args_size)
    return rdl__error(RDL_INVALID,
                      "task %s takes %u bytes of arguments, not %zu (declared at %s:%u)",
                      task->name, task->info.args_size, args_size, task->file, task->line);
  if (args_size && !args)
    return rdl__error(RDL_INVALID, "the arguments of task %s are NULL", task->name);
  return RDL_OK;
}

/* A slot, at once or within the time the caller gives. The lock is held. */
static rdl_status take_root(rdl_context *cx, uint64_t deadline, uint32_t *out_slot) {
  bool in_time = deadline != 0u;
  for (;;) {
    if (cx->closing) return rdl__error(RDL_CLOSED, "the context is closing");
    if (cx->lost) return rdl__error_why(RDL_DEVICE_LOST, &cx->lost_why);
    *out_slot = rdl__root_take(cx);
    if (*out_slot) return RDL_OK;
    if (!in_time)
      return rdl__error(RDL_AGAIN,
                        "all %u roots are in use: take or release finished futures, or "
                        "raise the option `roots`",
                        cx->usable_roots);
    rdl__pause(cx, rdl__deadline(200000u));
    in_time = rdl__now() < deadline;
  }
}

/* A slot that was taken and not filled. */
static void put_back(rdl_context *cx, uint32_t slot) {
  cx->free_roots[cx->free_root_count++] = slot;
}

static uint64_t room_deadline(const rdl_spawn_options *options) {
  return options && options->room_ns ? rdl__deadline(options->room_ns) : 0u;
}

rdl_status rdl__spawn_own(rdl_context *cx, const char *name, const void *args, void *staging,
                          rdl__root_state state, uint64_t deadline, uint32_t *out_slot) {
  uint32_t slot;
  rdl_status status = take_root(cx, deadline, &slot);
  if (status) return status;
  rdl__root_fill(cx, slot, rdl__own_task(cx, name), args, state, false);
  cx->roots[slot].staging = staging;
  cx->host_spawned++;
  if (out_slot) *out_slot = slot;
  return rdl__root_start(cx, slot, RDL_SAY_ROOT);
}

/* Memory for `bytes`, filled from `from`, that the device can read. */
static rdl_status stage(rdl_context *cx, const void *from, size_t bytes, void **out_memory) {
  rdl_reason why = {""};
  rdl_status status = cx->backend->allocate(cx->device, bytes, out_memory, &why);
  if (status) return rdl__error_why(status, &why);
  memcpy(*out_memory, from, bytes);
  return RDL_OK;
}

/* Handles of roots must be good now; what a task gave to the host is looked at by the gate. */
static rdl_status check_after(rdl_context *cx, const rdl_spawn_options *options) {
  size_t k;
  for (k = 0; k < options->after_count; k++) {
    rdl_future f = options->after[k];
    uint32_t slot = f.index & RDL_MAX_SLOTS;
    rdl_status status = RDL_OK;
    if (f.index >> 24 != cx->number || !f.generation || !slot || slot >= cx->control->slots)
      return rdl__error(RDL_INVALID, "after[%zu] is not a future of this context", k);
    if (slot <= cx->options.roots) status = rdl__root_find(cx, f, &slot);
    if (status) return status;
  }
  return RDL_OK;
}

/* Roots that a gate waits for keep their slot even when the host takes them. */
static void hold_for_gate(rdl_context *cx, const rdl_spawn_options *options) {
  size_t k;
  for (k = 0; k < options->after_count; k++) {
    uint32_t slot = options->after[k].index & RDL_MAX_SLOTS;
    if (slot <= cx->options.roots) cx->roots[slot].gates++;
  }
}

/* The gate wakes the root, which waits with `ticket`. All that the two say of each other is written
 * before the gate can run. The lock is held. */
static rdl_status start_behind_gate(rdl_context *cx, uint32_t slot, uint32_t gate,
                                    const rdl_spawn_options *options) {
  gate_args args = {.count = (uint32_t)options->after_count, .root = slot};
  void *staging = NULL;
  rdl_status status =
      stage(cx, options->after, options->after_count * sizeof(rdl_future), &staging);
  if (status) {
    put_back(cx, gate);
    return status;
  }
  args.futures = (rdl_ptr)(uintptr_t)staging;
  args.ticket = rdl_load_relaxed(&cx->records[slot].wait) & ~RDL_CANCEL_BIT;
  rdl__root_fill(cx, gate, rdl__own_task(cx, "rdl_gate"), &args, RDL__ROOT_DETACHED, false);
  rdl_store_relaxed(&cx->sides[slot].awaits, gate);
  cx->roots[gate].staging = staging;
  cx->roots[gate].gated_by = args.count;
  hold_for_gate(cx, options);
  cx->host_spawned++;
  return rdl__root_start(cx, gate, RDL_SAY_ROOT);
}

static void mark_local(rdl_context *cx, uint32_t slot, const rdl_spawn_options *options) {
  rdl_u32 *word = &cx->records[slot].task;
  if (options && options->local) rdl_store_relaxed(word, rdl_load_relaxed(word) | RDL_TASK_LOCAL);
}

/* The lock is held. On failure the slot is free again. */
/* The root and, when it is to wait for others, the root of its gate: both or none. The lock is
 * held. */
static rdl_status take_roots(rdl_context *cx, const rdl_spawn_options *options, bool gated,
                             uint32_t *out_slot, uint32_t *out_gate) {
  uint64_t deadline = room_deadline(options);
  rdl_status status = take_root(cx, deadline, out_slot);
  if (status || !gated) return status;
  status = take_root(cx, deadline, out_gate);
  if (status) {
    put_back(cx, *out_slot);
    return status;
  }
  status = check_after(cx, options); /* last: the waits gave up the lock */
  if (status) {
    put_back(cx, *out_slot);
    put_back(cx, *out_gate);
  }
  return status;
}

/* The lock is held. When the first message cannot be sent the slot is free again. */
static rdl_status spawn_root(rdl_context *cx, const rdl__known_task *task, const void *args,
                             const rdl_spawn_options *options, bool detached, uint32_t *out_slot) {
  bool gated = options && options->after_count;
  rdl__root_state state = detached && !gated ? RDL__ROOT_DETACHED : RDL__ROOT_HELD;
  uint32_t slot = 0, gate = 0;
  rdl_status status = take_roots(cx, options, gated, &slot, &gate);
  if (status) return status;
  *out_slot = slot;
  rdl__root_fill(cx, slot, task, args, state, gated);
  mark_local(cx, slot, options);
  status =
      gated ? start_behind_gate(cx, slot, gate, options) : rdl__root_start(cx, slot, RDL_SAY_ROOT);
  if (status) {
    if (state == RDL__ROOT_DETACHED) cx->roots_alive++; /* root_free counts it off */
    rdl__root_free(cx, slot);
    return status;
  }
  cx->host_spawned++;
  if (!detached || !gated) return RDL_OK;
  cx->roots[slot].state = RDL__ROOT_DETACHED;
  cx->roots_alive--;
  return rdl__root_start(cx, slot, RDL_SAY_RELEASE);
}

rdl_status rdl_spawn(rdl_module *module, const char *task_name, const void *args, size_t args_size,
                     const rdl_spawn_options *options, rdl_future *out_future) {
  rdl__known_task task = {0};
  rdl_context *cx;
  rdl_status status;
  uint32_t slot;
  if (out_future) *out_future = (rdl_future){0, 0};
  RDL__NEED(module);
  RDL__NEED(task_name);
  cx = module->context;
  status = check_options(options);
  if (status) return status;
  pthread_mutex_lock(&cx->lock);
  status = rdl__task_find(module, task_name, &task);
  if (!status) status = check_args(&task, args, args_size);
  if (!status) status = spawn_root(cx, &task, args, options, !out_future, &slot);
  if (!status && out_future) *out_future = rdl__root_handle(cx, slot);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* ---- many ---- */

static void free_roots_of(rdl_context *cx, const rdl_future *futures, size_t count) {
  size_t k;
  for (k = 0; k < count; k++)
    rdl__root_free(cx, futures[k].index & RDL_MAX_SLOTS);
}

/* Fills the roots first and starts them by one message, whose list of slots lives as long as the
 * last of them. The lock is held. */
static rdl_status spawn_with_handles(rdl_context *cx, const rdl__known_task *task, const void *args,
                                     size_t stride, size_t count, const rdl_spawn_options *options,
                                     rdl_future *out_futures) {
  rdl_message message = {.kind = RDL_SAY_ROOTS, .count = (uint32_t)count};
  uint64_t deadline = room_deadline(options);
  rdl_reason why = {""};
  void *slots = NULL;
  rdl_status status = cx->backend->allocate(cx->device, count * sizeof(uint32_t), &slots, &why);
  uint32_t slot = 0;
  size_t k;
  if (status) return rdl__error_why(status, &why);
  for (k = 0; k < count; k++) {
    status = take_root(cx, deadline, &slot);
    if (status) break;
    rdl__root_fill(cx, slot, task, (const char *)args + k * stride, RDL__ROOT_HELD, false);
    mark_local(cx, slot, options);
    out_futures[k] = rdl__root_handle(cx, slot);
    ((uint32_t *)slots)[k] = slot;
  }
  message.address = (rdl_ptr)(uintptr_t)slots;
  if (!status) status = rdl__say_list(cx, &message, slots);
  if (status) {
    free_roots_of(cx, out_futures, k);
    memset(out_futures, 0, count * sizeof *out_futures);
    cx->backend->release(cx->device, slots);
    return status;
  }
  cx->host_spawned += count;
  return RDL_OK;
}

static uint32_t first_step(size_t count) {
  uint64_t step = 1;
  while (step * RDL_BATCH_MOST < count)
    step *= RDL_BATCH_MOST;
  return (uint32_t)step;
}

static rdl_status spawn_batch(rdl_context *cx, const rdl__known_task *task, const void *args,
                              size_t stride, size_t count, const rdl_spawn_options *options,
                              rdl_future *out_batch) {
  batch_args batch = {.count = (uint32_t)count,
                      .task = task->word,
                      .words = (task->info.args_size + 3u) / 4u,
                      .stride = (uint32_t)stride,
                      .step = first_step(count)};
  uint32_t slot = 0;
  void *staging = NULL;
  rdl_status status;
  if (options && options->local)
    return rdl__error(RDL_INVALID, "rdl_spawn_many: the members of a batch go where there is room: "
                                   "`local` goes with out_futures");
  if (task->info.args_size) {
    status = stage(cx, args, (count - 1) * stride + task->info.args_size, &staging);
    if (status) return status;
  }
  batch.address = (rdl_ptr)(uintptr_t)staging;
  status = rdl__spawn_own(cx, "rdl_batch", &batch, staging,
                          out_batch ? RDL__ROOT_HELD : RDL__ROOT_DETACHED, room_deadline(options),
                          &slot);
  if (status && !slot) cx->backend->release(cx->device, staging);
  if (!status && out_batch) *out_batch = rdl__root_handle(cx, slot);
  return status;
}

static rdl_status check_many(const rdl__known_task *task, const void *args, size_t args_size,
                             size_t stride, size_t count) {
  rdl_status status = check_args(task, args, args_size);
  if (status) return status;
  if (!count) return rdl__error(RDL_INVALID, "rdl_spawn_many: count is 0");
  if (count > UINT32_MAX / 2) return rdl__error(RDL_INVALID, "rdl_spawn_many: count is too large");
  if (stride < args_size || stride % 4u || stride > UINT32_MAX)
    return rdl__error(RDL_INVALID,
                      "rdl_spawn_many: a stride of %zu does not fit arguments of %zu "
                      "bytes (it is a multiple of 4)",
                      stride, args_size);
  return RDL_OK;
}

rdl_status rdl_spawn_many(rdl_module *module, const char *task_name, const void *args,
                          size_t args_size, size_t stride, size_t count,
                          const rdl_spawn_options *options, rdl_future *out_futures,
                          rdl_future *out_batch) {
  rdl__known_task task = {0};
  rdl_context *cx;
  rdl_status status;
  if (out_batch) *out_batch = (rdl_future){0, 0};
  RDL__NEED(module);
  RDL__NEED(task_name);
  if (out_futures && out_batch)
    return rdl__error(RDL_INVALID, "rdl_spawn_many: ask for out_futures or out_batch, not both");
  cx = module->context;
  status = check_options(options);
  if (status) return status;
  if (options && options->after_count)
    return rdl__error(RDL_INVALID, "rdl_spawn_many: `after` goes with rdl_spawn");
  pthread_mutex_lock(&cx->lock);
  status = rdl__task_find(module, task_name, &task);
  if (!status) status = check_many(&task, args, args_size, stride, count);
  if (!status && out_futures)
    status = spawn_with_handles(cx, &task, args, stride, count, options, out_futures);
  else if (!status)
    status = spawn_batch(cx, &task, args, stride, count, options, out_batch);
  pthread_mutex_unlock(&cx->lock);
  return status;
}
