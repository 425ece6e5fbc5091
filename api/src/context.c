/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing contexts. */
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

#define MOST_CONTEXTS    255u
#define MOST_FRAME_BYTES (60ull << 30) /* blocks are numbered in 32 bits, in units of 16 bytes */
/* A quarter of a second: deadlocks are searched for between launches, and found within a second. */
#define LONGEST_NS 250000000u

/* Numbers of open contexts: the top byte of their handles. The only state that contexts share; one
 * bit a number, and where the next search begins, so that a number is not reused at once. */
static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static bool number_taken[MOST_CONTEXTS + 1];
static uint32_t last_number;
static uint32_t opened;

static rdl_status take_number(rdl_context *cx) {
  uint32_t k;
  pthread_mutex_lock(&numbers_lock);
  for (k = 0; k < MOST_CONTEXTS && !cx->number; k++) {
    uint32_t number = (last_number + k) % MOST_CONTEXTS + 1u;
    if (!number_taken[number]) cx->number = number;
  }
  if (cx->number) {
    number_taken[cx->number] = true;
    last_number = cx->number;
    /* Contexts start at different generations, all in the lower half: a slot whose generations are
       used up is not used again. */
    cx->base_generation = 1u + (opened++ * 0x01000193u & 0x7fffffffu);
  }
  pthread_mutex_unlock(&numbers_lock);
  return cx->number ? RDL_OK
                    : rdl__error(RDL_AGAIN, "%u contexts are open: close one", MOST_CONTEXTS);
}

static void give_number(uint32_t number) {
  pthread_mutex_lock(&numbers_lock);
  number_taken[number] = false;
  pthread_mutex_unlock(&numbers_lock);
}

/* Contexts that were closed while a segment did not end. Their devices are not opened again until
 * it does, for what holds them would hold up whatever came. */
static pthread_mutex_t abandoned_lock = PTHREAD_MUTEX_INITIALIZER;
static rdl_context *abandoned;

/* The context's own lock is held. */
static void abandon(rdl_context *cx) {
  rdl__tell_held(cx, &cx->abandoned_why);
  cx->options.log = NULL; /* the program's, and it may be gone */
  cx->abandoned = true;
  pthread_mutex_lock(&abandoned_lock);
  cx->next_abandoned = abandoned;
  abandoned = cx;
  pthread_mutex_unlock(&abandoned_lock);
}

static void forget_abandoned(const rdl_context *cx) {
  rdl_context **at = &abandoned;
  pthread_mutex_lock(&abandoned_lock);
  while (*at != cx)
    at = &(*at)->next_abandoned;
  *at = cx->next_abandoned;
  pthread_mutex_unlock(&abandoned_lock);
}

static rdl_status check_not_held(const rdl_context *cx) {
  rdl_status status = RDL_OK;
  const rdl_context *held;
  pthread_mutex_lock(&abandoned_lock);
  for (held = abandoned; held && !status; held = held->next_abandoned)
    if (held->backend == cx->backend && held->device_index == cx->device_index)
      status = rdl__error(RDL_BUSY,
                          "device %s is held by a segment that did not end when its context was "
                          "closed%s%s: to use this device the process must be restarted. Other "
                          "devices can be opened",
                          cx->device_info.selector, held->abandoned_why.bytes ? ": " : "",
                          held->abandoned_why.bytes ? held->abandoned_why.bytes : "");
  pthread_mutex_unlock(&abandoned_lock);
  return status;
}

/* ---- options ---- */

#define MOST_WIDE_BLOCKS 65535u

static rdl_status check_options(const rdl_context_options *o, const char *selector) {
  size_t k;
  if (o->size != sizeof *o)
    return rdl__error(RDL_INVALID,
                      "rdl_context_options: size is %zu, not %zu: start from "
                      "RDL_CONTEXT_OPTIONS_INIT",
                      o->size, sizeof *o);
  for (k = 0; k < sizeof o->reserved / sizeof o->reserved[0]; k++)
    if (o->reserved[k]) return rdl__error(RDL_INVALID, "rdl_context_options: reserved is not 0");
  if (o->reserved_word) return rdl__error(RDL_INVALID, "rdl_context_options: reserved is not 0");
  if (o->wide_blocks > MOST_WIDE_BLOCKS)
    return rdl__error(RDL_INVALID, "rdl_context_options: wide_blocks is %u, and at most %u",
                      o->wide_blocks, MOST_WIDE_BLOCKS);
  if (o->mode > RDL_MODE_APART)
    return rdl__error(RDL_INVALID, "rdl_context_options: mode is %u, and no rdl_mode", o->mode);
  if ((o->native_device && !o->native_context) ||
      (o->native_context && !o->native_device && !selector))
    return rdl__error(RDL_INVALID,
                      "rdl_context_options: native_context and native_device are given together, "
                      "and one of them is NULL. Without native_device a selector names the device");
  if (o->prebuilt_count && !o->prebuilt)
    return rdl__error(RDL_INVALID, "rdl_context_options: prebuilt is NULL, its count is not 0");
  if (o->slots > RDL_MOST_SLOTS / 2u || o->roots > RDL_MOST_SLOTS / 2u)
    return rdl__error(RDL_INVALID, "rdl_context_options: at most %u slots and as many roots",
                      RDL_MOST_SLOTS / 2u);
  if (o->frame_bytes > MOST_FRAME_BYTES)
    return rdl__error(RDL_INVALID, "rdl_context_options: at most %llu frame_bytes",
                      (unsigned long long)MOST_FRAME_BYTES);
  if (o->events >= RDL_MAX_SLOTS)
    return rdl__error(RDL_INVALID, "rdl_context_options: at most %u events", RDL_MAX_SLOTS - 1u);
  return RDL_OK;
}

static uint32_t or_default(uint32_t value, uint32_t fallback) {
  return value ? value : fallback;
}

static uint64_t or_default64(uint64_t value, uint64_t fallback) {
  return value ? value : fallback;
}

static uint64_t stretch(uint64_t ns, uint64_t fallback) {
  ns = or_default64(ns, fallback);
  return ns > LONGEST_NS ? LONGEST_NS : ns;
}

static bool is_checked_by_variable(void) {
  const char *value = getenv("RADDLE_CHECKED");
  return value && *value && strcmp(value, "0") != 0;
}

static rdl_status take_options(rdl_context *cx, const rdl_context_options *given) {
  rdl_context_options *o = &cx->options;
  *o = (rdl_context_options)RDL_CONTEXT_OPTIONS_INIT;
  if (given) *o = *given;
  o->roots = or_default(o->roots, 65536u);
  o->events = or_default(o->events, 16384u);
  o->park_ns = stretch(o->park_ns, 300000u);
  o->spin_ns = stretch(o->spin_ns, 20000u);
  o->close_ns = or_default64(o->close_ns, 10u * (uint64_t)RDL__NS_PER_SECOND);
  if (is_checked_by_variable()) o->checked = 1;
  o->watchdog_ns = or_default64(o->watchdog_ns, 2u * (uint64_t)RDL__NS_PER_SECOND);
  if (!o->cache_dir) return RDL_OK;
  cx->cache_dir = strdup(o->cache_dir);
  o->cache_dir = cx->cache_dir;
  return cx->cache_dir ? RDL_OK
                       : rdl__error(RDL_OUT_OF_MEMORY, "opening a context: out of host memory");
}

/* ---- building up ---- */

/* With fewer slots for each worker they count as few, and none keeps what others may need. */
#define SLOTS_A_WORKER 1025u

static uint32_t usual_slots(const rdl_context *cx) {
  uint64_t wanted = (uint64_t)SLOTS_A_WORKER * cx->workers;
  if (wanted < 262144u) return 262144u;
  return wanted < RDL_MOST_SLOTS / 2u ? (uint32_t)wanted : RDL_MOST_SLOTS / 2u;
}

/* A heap that is shared comes page by page as it is touched; elsewhere all of it is taken at once.
 */
static uint64_t usual_frame_bytes(const rdl_context *cx) {
  uint64_t most = cx->facts.max_allocation / 4u;
  uint64_t usual = rdl__apart(cx) ? 128u << 20 : 256u << 20;
  uint64_t held =
      cx->workers * (uint64_t)(4u << 20); /* what workers keep for their next segments */
  if (held > usual) usual = held;
  return usual < most ? usual : most;
}

/* Every device can run in epoch mode, if that is asked for. */
static rdl_status take_mode(rdl_context *cx) {
  uint32_t asked = cx->options.mode;
  if (asked == RDL_MODE_EPOCH || (!cx->facts.shared && !cx->facts.window))
    cx->mode = RDL_MODE_EPOCH;
  else
    cx->mode = cx->facts.shared ? RDL_MODE_RESIDENT : RDL_MODE_APART;
  if (asked == RDL_MODE_DEFAULT || asked == cx->mode) return RDL_OK;
  if (asked == RDL_MODE_RESIDENT)
    return rdl__error(
        RDL_UNSUPPORTED,
        "device %s cannot run in mode RDL_MODE_RESIDENT: host and running kernels see "
        "no writes of each other. Leave `mode` 0",
        cx->device_info.selector);
  return rdl__error(RDL_UNSUPPORTED,
                    "device %s cannot run in mode RDL_MODE_APART: all of its memory is shared with "
                    "the host while a kernel runs, or none. Leave `mode` 0",
                    cx->device_info.selector);
}

static rdl_status open_device(rdl_context *cx, const char *selector) {
  rdl_backend_options asked = {cx->options.workers,
                               cx->options.lanes,
                               cx->options.cache_dir,
                               cx->options.mode == RDL_MODE_EPOCH,
                               cx->options.mode == RDL_MODE_APART,
                               cx->options.native_context,
                               cx->options.loop_turns,
                               &cx->closing};
  rdl_reason why = {""};
  rdl_status status = rdl__select(selector, cx->options.native_device, &cx->backend,
                                  &cx->device_index, &cx->device_info);
  if (!status) status = check_not_held(cx);
  if (status) return status;
  status = cx->backend->open(cx->device_index, &asked, &cx->device, &why);
  if (status) return rdl__error_why(status, &why);
  cx->backend->facts(cx->device, &cx->facts);
  status = take_mode(cx);
  if (status) return status;
  cx->options.quantum_ns = stretch(cx->options.quantum_ns, rdl__apart(cx) ? 2000000u : 8000000u);
  cx->workers = or_default(cx->options.workers, cx->facts.max_workers);
  if (cx->workers > cx->facts.max_workers) {
    rdl__log(cx, RDL_LOG_WARNING,
             "%u workers were asked for; the limit of %s is %u, and so many run", cx->workers,
             cx->device_info.selector, cx->facts.max_workers);
    cx->workers = cx->facts.max_workers;
  }
  cx->options.slots = or_default(cx->options.slots, usual_slots(cx));
  cx->options.frame_bytes = or_default64(cx->options.frame_bytes, usual_frame_bytes(cx));
  return RDL_OK;
}

static rdl_status make_host_tables(rdl_context *cx) {
  size_t roots = 1u + (size_t)cx->options.roots;
  cx->roots = calloc(roots, sizeof *cx->roots);
  cx->free_roots = malloc(roots * sizeof *cx->free_roots);
  cx->free_events = malloc((1u + (size_t)cx->options.events) * sizeof *cx->free_events);
  cx->search_marks = malloc(2u * (size_t)cx->control->slots);
  cx->search_stack = malloc(cx->control->slots * sizeof *cx->search_stack);
  cx->search_waits = calloc(cx->control->slots, sizeof *cx->search_waits);
  cx->watched_workers = calloc(cx->workers, sizeof *cx->watched_workers);
  cx->fresh_root = 1;
  cx->fresh_event = 1;
  cx->usable_roots = cx->options.roots;
  cx->root_frames = cx->frames_first;
  if (cx->roots && cx->free_roots && cx->free_events && cx->search_marks && cx->search_stack &&
      cx->search_waits && cx->watched_workers)
    return RDL_OK;
  return rdl__error(RDL_OUT_OF_MEMORY, "opening a context: out of host memory for %u roots",
                    cx->options.roots);
}

static rdl_status make_locks(rdl_context *cx) {
  pthread_condattr_t attributes;
  int failed = pthread_mutex_init(&cx->lock, NULL);
  failed |= pthread_condattr_init(&attributes);
  failed |= pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  failed |= pthread_cond_init(&cx->service_news, &attributes);
  failed |= pthread_cond_init(&cx->host_news, &attributes);
  pthread_condattr_destroy(&attributes);
  return failed ? rdl__error(RDL_OUT_OF_MEMORY, "opening a context: no lock could be made")
                : RDL_OK;
}

static void stop_service(rdl_context *cx) {
  pthread_mutex_lock(&cx->lock);
  __atomic_store_n(&cx->closing, true, __ATOMIC_RELAXED); /* threads that spin look at it */
  if (cx->control) rdl__set_stop(cx, RDL_STOP_NOW);
  pthread_cond_signal(&cx->service_news);
  pthread_cond_broadcast(&cx->host_news);
  while (cx->users)
    pthread_cond_wait(&cx->host_news, &cx->lock);
  pthread_mutex_unlock(&cx->lock);
}

/* Whether the device was left before the time was over; else the context is abandoned. */
static bool device_left(rdl_context *cx) {
  uint64_t deadline = rdl__deadline_ns(cx->options.close_ns);
  bool in_time = true;
  pthread_mutex_lock(&cx->lock);
  while (cx->launched && in_time)
    in_time = rdl__wait_until(&cx->host_news, &cx->lock, deadline);
  in_time = !cx->launched;
  if (in_time) {
    pthread_mutex_unlock(&cx->lock);
    return true;
  }
  abandon(cx);
  rdl__error_note("a segment did not end within %llu ms%s%s: the device and its memory stay in use "
                  "until it ends or the process does. Until then the device is not opened again",
                  (unsigned long long)(cx->options.close_ns / 1000000u),
                  cx->abandoned_why.bytes ? ": " : "",
                  cx->abandoned_why.bytes ? cx->abandoned_why.bytes : "");
  pthread_detach(cx->service);
  pthread_mutex_unlock(&cx->lock); /* from here on the context is the service thread's */
  return false;
}

static void free_buffers(rdl_context *cx) {
  while (cx->buffers)
    rdl_buffer_destroy(cx->buffers);
}

static void free_staging(rdl_context *cx) {
  uint32_t slot;
  for (slot = 1; cx->roots && slot < cx->fresh_root; slot++) {
    rdl__root *root = &cx->roots[slot];
    rdl__unstage(cx, root->staging);
    if (root->after && --root->after->roots == 0) rdl__after_free(cx, root->after);
  }
  rdl__staging_close(cx);
}

/* Takes a context at any stage of its making. */
static void destroy(rdl_context *cx) {
  if (cx->device) {
    free_staging(cx);
    free_buffers(cx);
    rdl__modules_close(cx);
    if (cx->control) rdl__lists_collect(cx, true); /* the last: what was freed may be kept there */
    cx->backend->release(cx->device, cx->heap);
    cx->backend->release(cx->device, cx->window);
    cx->backend->close(cx->device);
  }
  pthread_mutex_destroy(&cx->lock);
  pthread_cond_destroy(&cx->service_news);
  pthread_cond_destroy(&cx->host_news);
  if (cx->number) give_number(cx->number);
  free(cx->roots);
  free(cx->free_roots);
  free(cx->free_events);
  free(cx->search_marks);
  free(cx->search_stack);
  free(cx->search_waits);
  free(cx->watched_workers);
  rdl__text_finish(&cx->abandoned_why);
  free(cx->timers);
  free(cx->written);
  free(cx->arrived);
  free(cx->said);
  free(cx->cache_dir);
  free(cx);
}

void rdl__context_end_abandoned(rdl_context *cx) {
  forget_abandoned(cx);
  destroy(cx);
}

static rdl_status build_up(rdl_context *cx, const char *selector,
                           const rdl_context_options *options) {
  rdl_status status = take_options(cx, options);
  if (!status) status = take_number(cx);
  if (!status) status = open_device(cx, selector);
  if (!status) status = rdl__heap_create(cx);
  if (!status) status = make_host_tables(cx);
  if (!status) status = rdl__modules_open(cx);
  if (!status) status = rdl__service_start(cx);
  return status;
}

rdl_status rdl_context_open_with(const char *selector, const rdl_context_options *options,
                                 rdl_context **out_context) {
  rdl_context *cx;
  rdl_status status;
  RDL__NEED(out_context);
  *out_context = NULL;
  status = options ? check_options(options, selector) : RDL_OK;
  if (status) return status;
  cx = calloc(1, sizeof *cx);
  if (!cx) return rdl__error(RDL_OUT_OF_MEMORY, "opening a context: out of host memory");
  status = make_locks(cx);
  if (status) {
    free(cx);
    return status;
  }
  status = build_up(cx, selector, options);
  if (status) {
    destroy(cx);
    return status;
  }
  rdl__log(cx, RDL_LOG_INFO, "device %s (%s) runs %u workers", cx->device_info.selector,
           cx->device_info.name, cx->workers);
  *out_context = cx;
  return RDL_OK;
}

rdl_status rdl_context_open(const char *selector, rdl_context **out_context) {
  return rdl_context_open_with(selector, NULL, out_context);
}

rdl_status rdl_context_close(rdl_context *cx) {
  if (!cx) return RDL_OK;
  stop_service(cx);
  if (!device_left(cx)) return RDL_TIMEOUT;
  pthread_join(cx->service, NULL);
  destroy(cx);
  return RDL_OK;
}

rdl_status rdl_context_describe(rdl_context *cx, rdl_context_info *out_info) {
  RDL__NEED(cx);
  RDL__NEED(out_info);
  if (out_info->size != sizeof *out_info)
    return rdl__error(RDL_INVALID, "rdl_context_describe: size is %zu, not %zu", out_info->size,
                      sizeof *out_info);
  out_info->device = cx->device_info;
  out_info->wide_blocks = __atomic_load_n(&cx->wide, __ATOMIC_RELAXED);
  out_info->workers = rdl__workers_with(cx, out_info->wide_blocks);
  out_info->lanes = cx->facts.lanes;
  out_info->mode = (uint32_t)cx->mode;
  out_info->slots = cx->options.slots;
  out_info->roots = cx->options.roots;
  out_info->events = cx->options.events;
  out_info->bytes_per_future = (uint32_t)(sizeof(rdl_record) + sizeof(rdl_side) + sizeof(rdl_node));
  out_info->heap_bytes = cx->heap_bytes;
  out_info->reserved = 0;
  return RDL_OK;
}
