/* SPDX-License-Identifier: Apache-2.0 */
/* Spawning roots: one, many with a handle each, or a batch under one handle. */
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

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
  if (options->member_after && !options->member_after_offsets)
    return rdl__error(RDL_INVALID, "rdl_spawn_options: member_after is there, but "
                                   "member_after_offsets is NULL");
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

#define ROOM_LOOK_NS 200000u

/* A slot for each, or for none. */
static bool take_slots(rdl_context *cx, size_t count, uint32_t *out_slots) {
  size_t k;
  for (k = 0; k < count; k++) {
    out_slots[k] = rdl__root_take(cx);
    if (out_slots[k]) continue;
    rdl__roots_put_back(cx, out_slots, k);
    return false;
  }
  return true;
}

/* Slots, at once or within the time the caller gives; who waits holds none. Where a look at all
 * roots takes long it is taken less often, so that a caller who waits burns no core. The lock is
 * held. */
static rdl_status take_roots(rdl_context *cx, size_t count, uint64_t deadline,
                             uint32_t *out_slots) {
  bool in_time = deadline != 0u;
  uint64_t next;
  for (;;) {
    if (cx->closing) return rdl__error(RDL_CLOSED, "the context is closing");
    if (cx->lost) return rdl__error_why(cx->lost, &cx->lost_why);
    if (count <= cx->usable_roots && take_slots(cx, count, out_slots)) return RDL_OK;
    if (count > cx->usable_roots)
      return rdl__error(RDL_AGAIN,
                        "%zu handles need as many roots, there is room for %u: spawn a batch under "
                        "one handle, or raise the option `%s`",
                        count, cx->usable_roots,
                        cx->usable_roots < cx->options.roots ? "frame_bytes" : "roots");
    if (!in_time) return rdl__no_root(cx);
    next = rdl__deadline_ns(ROOM_LOOK_NS + 20u * cx->look_ns);
    rdl__pause(cx, next < deadline ? next : deadline);
    in_time = rdl__now_ns() < deadline;
  }
}

static uint64_t room_deadline(const rdl_spawn_options *options) {
  return options && options->room_ns ? rdl__deadline_ns(options->room_ns) : 0u;
}

/* Before the root is known to the device. */
static void mark_local(rdl_context *cx, uint32_t slot, const rdl_spawn_options *options) {
  rdl_u32 *word = &cx->records[slot].task;
  if (!options || !options->local) return;
  rdl_store_relaxed(word, rdl_load_relaxed(word) | RDL_TASK_LOCAL);
  cx->sides[slot].home = 0;
  rdl__wrote(cx, &cx->sides[slot].home, sizeof cx->sides[slot].home);
}

/* One root and what it waits for. `staging` becomes the root's when it has started. The lock is
 * held. */
static rdl_status start_root(rdl_context *cx, const rdl__known_task *task, const void *args,
                             const rdl_spawn_options *options, rdl__staging *staging,
                             rdl__root_state state, uint32_t *out_slot) {
  struct rdl_gate_args gate;
  rdl__after *after = NULL;
  uint32_t slot = 0;
  rdl_status status = rdl__after_new(cx, options, 1, &after);
  if (status) return status;
  status = take_roots(cx, 1, room_deadline(options), &slot);
  if (status) {
    rdl__after_free(cx, after);
    return status;
  }
  rdl__root_fill(cx, slot, task, args, state, rdl__after_gate(cx, after, options, 0, &gate));
  mark_local(cx, slot, options);
  status = rdl__after_keep(cx, after, options, &slot, 1); /* late: the wait gave up the lock */
  if (!status) status = rdl__root_start(cx, slot);
  if (status) {
    rdl__roots_abandon(cx, &slot, 1);
    return status;
  }
  cx->roots[slot].staging = staging;
  cx->host_spawned++;
  *out_slot = slot;
  return RDL_OK;
}

rdl_status rdl__spawn_own(rdl_context *cx, const char *name, const void *args, uint32_t *out_slot) {
  rdl__known_task task = *rdl__own_task(cx, name);
  return start_root(cx, &task, args, NULL, NULL, RDL__ROOT_HELD, out_slot);
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
  if (options && options->member_after_offsets)
    return rdl__error(RDL_INVALID, "rdl_spawn: one task has no other members to wait for: "
                                   "`member_after` goes with rdl_spawn_many");
  pthread_mutex_lock(&cx->lock);
  status = rdl__task_find(module, task_name, &task);
  if (!status) status = check_args(&task, args, args_size);
  if (!status)
    status = start_root(cx, &task, args, options, NULL,
                        out_future ? RDL__ROOT_HELD : RDL__ROOT_DETACHED, &slot);
  if (!status && out_future) *out_future = rdl__root_handle(cx, slot);
  pthread_mutex_unlock(&cx->lock);
  return status;
}

/* ---- many ---- */

/* So many roots start together while the next ones are still being filled. */
#define ROOTS_AT_ONCE 256u

typedef struct many {
  const rdl__known_task *task;
  const char *args;
  size_t stride;
  size_t count;
  const rdl_spawn_options *options;
  rdl__after *after;
  uint32_t *slots;
  rdl_ptr list; /* of the slots, as the device finds it; with a window it needs none: 0 */
} many;

/* While the lock was given up a module with larger frames may have taken the places of some. */
static rdl_status check_places(rdl_context *cx, const uint32_t *slots, size_t count) {
  size_t k;
  for (k = 0; k < count; k++)
    if (slots[k] > cx->usable_roots)
      return rdl__error(RDL_AGAIN,
                        "another thread has loaded a module whose frames leave room for "
                        "%u roots: raise the option `frame_bytes`",
                        cx->usable_roots);
  return RDL_OK;
}

static rdl_status start_one_of(rdl_context *cx, const many *m, size_t position) {
  uint32_t slot = m->slots[position];
  rdl_status status = check_places(cx, &slot, 1); /* the lock may have been given up */
  if (status) {
    rdl__roots_put_back(cx, &slot, 1);
    return status;
  }
  rdl__root_fill(cx, slot, m->task, m->args + position * m->stride, RDL__ROOT_HELD, NULL);
  mark_local(cx, slot, m->options);
  status = rdl__root_start(cx, slot);
  if (status)
    rdl__roots_abandon(cx, &slot, 1);
  else
    cx->host_spawned++;
  return status;
}

/* As start_some, through a window: each has a message of its own, which brings its record. */
static rdl_status start_singly(rdl_context *cx, const many *m, size_t first, size_t count) {
  rdl_status status = RDL_OK;
  size_t k, done;
  for (done = 0; done < count && !status; done++)
    status = start_one_of(cx, m, first + done);
  if (!status) return RDL_OK;
  rdl__roots_put_back(cx, m->slots + first + done, count - done);
  for (k = 0; k + 1u < done; k++)
    (void)rdl__root_release(cx, m->slots[first + k]);
  return status;
}

/* Fills the roots from `first` on and starts them. The lock is held. */
static rdl_status start_some(rdl_context *cx, const many *m, size_t first, size_t count) {
  uint32_t *slots = m->slots + first;
  rdl_message message = {.kind = RDL_SAY_ROOTS,
                         .count = (uint32_t)count,
                         .address = m->list ? m->list + first * sizeof *slots : 0u};
  struct rdl_gate_args gate;
  rdl_status status = check_places(cx, slots, count);
  size_t k;
  if (status) {
    rdl__roots_put_back(cx, slots, count);
    rdl__after_free(cx, m->after);
    return status;
  }
  for (k = 0; k < count; k++) {
    rdl__root_fill(cx, slots[k], m->task, m->args + (first + k) * m->stride, RDL__ROOT_HELD,
                   rdl__after_gate(cx, m->after, m->options, first + k, &gate));
    mark_local(cx, slots[k], m->options);
    rdl__root_note(cx, slots[k]);
  }
  status = rdl__after_keep(cx, m->after, m->options, slots, count);
  for (k = 0; cx->window && k < count && !status; k++)
    status = rdl__root_say(cx, slots[k], RDL_SAY_ROOT);
  if (!cx->window && !status) status = rdl__say(cx, &message);
  if (status)
    rdl__roots_abandon(cx, slots, count);
  else
    cx->host_spawned += count;
  return status;
}

/* Those that wait for each other start together. A block behind the first fails only with the whole
 * context, or for want of places: the ones before it run, and nobody will ask for them. The lock is
 * held. */
static rdl_status start_many(rdl_context *cx, many *m) {
  size_t first, k, step = ROOTS_AT_ONCE;
  rdl_status status = rdl__after_new(cx, m->options, m->count, &m->after);
  if (!status) status = take_roots(cx, m->count, room_deadline(m->options), m->slots);
  if (status) {
    rdl__after_free(cx, m->after);
    return status;
  }
  if (m->list) rdl__wrote_in(cx, m->slots, m->count * sizeof *m->slots);
  if (m->after) step = m->count;
  for (first = 0; first < m->count && !status; first += step) {
    if (step > m->count - first) step = m->count - first;
    status =
        cx->window && !m->after ? start_singly(cx, m, first, step) : start_some(cx, m, first, step);
  }
  if (!status) return RDL_OK;
  rdl__roots_put_back(cx, m->slots + first, m->count - first);
  for (k = 0; k + step < first; k++)
    (void)rdl__root_release(cx, m->slots[k]);
  return status;
}

/* The list of slots is the device's until the last message about it has been read. */
static rdl_status start_listed(rdl_context *cx, many *m) {
  void *slots = NULL;
  rdl__list *list = rdl__list_new();
  rdl_status status;
  if (!list) return rdl__error(RDL_OUT_OF_MEMORY, "spawning: out of host memory");
  status = rdl__memory_take(cx, m->count * sizeof(uint32_t), &slots);
  if (status) {
    free(list);
    return status;
  }
  m->slots = slots;
  m->list = rdl__address(cx, slots);
  status = start_many(cx, m);
  rdl__list_keep(cx, list, slots);
  return status;
}

static rdl_status spawn_with_handles(rdl_context *cx, many *m, rdl_future *out_futures) {
  uint32_t *own = NULL;
  rdl_status status;
  size_t k;
  if (cx->window) {
    m->slots = own = malloc(m->count * sizeof *own);
    if (!own) return rdl__error(RDL_OUT_OF_MEMORY, "spawning: out of host memory");
  }
  status = own ? start_many(cx, m) : start_listed(cx, m);
  for (k = 0; k < m->count && !status; k++)
    out_futures[k] = rdl__root_handle(cx, m->slots[k]);
  free(own);
  return status;
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
  struct rdl_batch_args batch = {.count = (uint32_t)count,
                                 .task = task->word,
                                 .words = (task->info.args_size + 3u) / 4u,
                                 .stride = (uint32_t)stride,
                                 .step = first_step(count)};
  rdl__known_task own = *rdl__own_task(cx, "rdl_batch");
  uint32_t slot = 0;
  rdl__staging *staging = NULL;
  rdl_status status;
  if (options && options->local)
    return rdl__error(RDL_INVALID, "rdl_spawn_many: the members of a batch go where there is room: "
                                   "`local` goes with out_futures");
  if (task->info.args_size) {
    status = rdl__stage(cx, args, (count - 1) * stride + task->info.args_size, &staging);
    if (status) return status;
  }
  batch.address = rdl__staged(cx, staging);
  status = start_root(cx, &own, &batch, options, staging,
                      out_batch ? RDL__ROOT_HELD : RDL__ROOT_DETACHED, &slot);
  if (status) {
    rdl__unstage(cx, staging);
    return status;
  }
  cx->roots[slot].task = task->word;
  cx->roots[slot].batch = true;
  if (out_batch) *out_batch = rdl__root_handle(cx, slot);
  return status;
}

static rdl_status check_count(size_t count) {
  if (!count) return rdl__error(RDL_INVALID, "rdl_spawn_many: count is 0");
  if (count > UINT32_MAX / 2) return rdl__error(RDL_INVALID, "rdl_spawn_many: count is too large");
  return RDL_OK;
}

static rdl_status check_many(const rdl__known_task *task, const void *args, size_t args_size,
                             size_t stride) {
  rdl_status status = check_args(task, args, args_size);
  if (status) return status;
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
  if (!status) status = check_count(count);
  if (!status && !out_futures && options && options->member_after_offsets)
    status = rdl__error(RDL_INVALID, "rdl_spawn_many: only members with a handle each can wait for "
                                     "each other: `member_after` goes with out_futures");
  if (!status) status = rdl__after_check(options, count);
  if (status) return status;
  pthread_mutex_lock(&cx->lock);
  status = rdl__task_find(module, task_name, &task);
  if (!status) status = check_many(&task, args, args_size, stride);
  if (!status && out_futures)
    status = spawn_with_handles(
        cx,
        &(many){.task = &task, .args = args, .stride = stride, .count = count, .options = options},
        out_futures);
  else if (!status)
    status = spawn_batch(cx, &task, args, stride, count, options, out_batch);
  pthread_mutex_unlock(&cx->lock);
  return status;
}
