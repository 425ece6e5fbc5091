/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the CUDA driver, and for NVRTC, in tests: two devices whose memory is this
 * process's. What is queued in a stream is done when somebody synchronizes or asks, as late as it
 * may be.
 *
 * NVRTC makes of a text its options and the text. The text says what else happens:
 *
 *   @error   does not compile: an error in line 3 of "../some where/user.task.c"
 *   @segv    the compiler crashes
 *   @hang    the compiler does not end
 *   @trap    each launch ends with CUDA_ERROR_LAUNCH_FAILED, and all calls from then on
 *
 * A launch does what the test says (`acts`), or stores its purpose in the first word of the heap,
 * and the number of its blocks in the second one. rdl_scatter and rdl_gather do what they do.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/api.h"
#include "backends/cuda/device.h"
#include "backends/cuda/tests/standin.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern standin standin_state;
standin standin_state = {.architecture = 90, .blocks = 4};
static standin *const state = &standin_state;

/* ---- objects ---- */

struct CUctx_st {
  int device;
};
struct CUstream_st {
  int unused;
};
struct CUfunc_st {
  const char *name;
  rdl_cu_module module;
};
static const char *const kernels[] = {"rdl_launch", "rdl_scatter", "rdl_gather"};
struct CUmod_st {
  char *text;
  struct CUfunc_st functions[sizeof kernels / sizeof kernels[0]];
};

/* One that is made anew has another address than the one before. */
static struct CUctx_st primary[STANDIN_DEVICES][2] = {{{0}, {0}}, {{1}, {1}}};
static int lives[STANDIN_DEVICES]; /* of a device: 1 + which of the two there is; 0 = none */
EXPORT extern struct CUctx_st standin_context;
struct CUctx_st standin_context = {0}; /* as if the program had made it */

static __thread rdl_cu_context stack[64];
static __thread int depth;

static int sticky;
static pid_t process; /* that initialised it: others are told that none has */

static rdl_cu_context current(void) {
  return depth ? stack[depth - 1] : NULL;
}

/* What a call that may fail begins with. */
static rdl_cu_result begin(void) {
  if (getpid() != process) return RDL_CUDA_NOT_INITIALIZED;
  if (sticky) return sticky;
  if (!state->fail_in || --state->fail_in) return 0;
  state->failed = 1;
  return state->fails_with;
}

/* The same of one that works in a context. */
static rdl_cu_result begin_within(void) {
  if (!current()) {
    state->misuse++;
    return RDL_CUDA_INVALID_CONTEXT;
  }
  return begin();
}

#define BEGIN(how)                                                                                 \
  do {                                                                                             \
    rdl_cu_result begun_ = how();                                                                  \
    if (begun_) return begun_;                                                                     \
  } while (0)

/* ---- what the driver knows of memory ---- */

typedef struct range {
  unsigned char *from;
  size_t bytes;
  rdl_cu_context context;
  unsigned type;
  unsigned managed; /* 1 = the host's just now */
} range;

#define MOST_RANGES 256
static range ranges[MOST_RANGES];

static range *range_of(rdl_cu_address address) {
  for (range *r = ranges; r < ranges + MOST_RANGES; r++)
    if (r->from && address - (uintptr_t)r->from < r->bytes) return r;
  return NULL;
}

/* 0 = a part of it is known already. */
static int know(void *from, size_t bytes, unsigned type) {
  range *unused = NULL;
  for (range *r = ranges; r < ranges + MOST_RANGES; r++) {
    if (!r->from) unused = r;
    if (r->from && r->from < (unsigned char *)from + bytes &&
        (unsigned char *)from < r->from + r->bytes)
      return 0;
  }
  if (!unused) return 0;
  *unused = (range){from, bytes, current(), type, 0};
  return 1;
}

static void forget(void *from) {
  range *r = range_of((uintptr_t)from);
  if (r && r->from == from)
    r->from = NULL;
  else
    state->misuse++;
}

/* ---- the queue ---- */

typedef struct operation {
  enum { COPY, FILL, LAUNCH, SCATTER, GATHER } kind;
  int traps;
  rdl_cu_stream stream;
  void *to;
  const void *from;
  size_t bytes;
  unsigned purpose, blocks;
} operation;

#define MOST_QUEUED 4096
static operation queued[MOST_QUEUED];
static int queued_count;

static rdl_cu_result put(operation what) {
  if (queued_count == MOST_QUEUED) return RDL_CUDA_OUT_OF_MEMORY;
  queued[queued_count++] = what;
  return 0;
}

static void run_launch(const operation *launch) {
  unsigned *words = launch->to;
  if (launch->traps) {
    sticky = RDL_CUDA_LAUNCH_FAILED;
    return;
  }
  if (state->acts) {
    state->acts(launch->to, launch->purpose);
  } else {
    words[0] = launch->purpose;
    words[1] = launch->blocks;
  }
  if (launch->purpose == 0 && state->traps) sticky = state->traps;
}

static void move_pieces(const operation *o) {
  unsigned char *pages = o->to;
  const rdl_cu_piece *list = (const rdl_cu_piece *)(const void *)pages;
  for (const rdl_cu_piece *p = list; p < list + o->blocks; p++) {
    void *there = (void *)(uintptr_t)p->there; /* NOLINT(performance-no-int-to-ptr) */
    if (o->kind == SCATTER)
      memcpy(there, pages + p->at, p->bytes);
    else
      memcpy(pages + p->at, there, p->bytes);
  }
}

static void run(const operation *o) {
  if (o->kind == COPY) memcpy(o->to, o->from, o->bytes);
  if (o->kind == FILL) memset(o->to, 0, o->bytes);
  if (o->kind == LAUNCH) run_launch(o);
  if (o->kind == SCATTER || o->kind == GATHER) move_pieces(o);
}

/* A launch that runs has the device: no other kernel begins. */
static int is_held(const operation *o) {
  return state->runs && (o->kind == LAUNCH || o->kind == SCATTER || o->kind == GATHER);
}

/* As far as it comes, in one stream or (NULL) all of them: what is held holds up what is behind it
 * in its stream. */
static rdl_cu_result run_queue(rdl_cu_stream stream) {
  rdl_cu_stream held[MOST_QUEUED];
  int kept = 0, left = 0;
  for (int k = 0; k < queued_count; k++) {
    const operation o = queued[k];
    int waits = sticky || is_held(&o) || (stream && o.stream != stream);
    for (int h = 0; h < kept && !waits; h++)
      waits = held[h] == o.stream;
    if (!waits) {
      run(&o);
      continue;
    }
    left += !stream || o.stream == stream;
    held[kept] = o.stream;
    queued[kept++] = o;
  }
  queued_count = kept;
  if (sticky) return sticky;
  return left ? RDL_CUDA_NOT_READY : 0;
}

/* ---- the driver ---- */

/* NOLINTBEGIN(performance-no-int-to-ptr): addresses of the device are those of this process */

static rdl_cu_result cu_init(unsigned flags) {
  process = getpid();
  return flags ? RDL_CUDA_INVALID_VALUE : 0;
}

static rdl_cu_result driver_version(int *out_version) {
  *out_version = 13000;
  return 0;
}

static rdl_cu_result error_name(rdl_cu_result code, const char **out_name) {
  static const struct {
    int code;
    const char *name;
  } names[] = {
#define NAME(number, name, status, sticky, advice) {number, "CUDA_ERROR_" #name},
      RDL_CU_ERRORS(NAME)
#undef NAME
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (names[k].code == code) *out_name = names[k].name;
  return 0;
}

static rdl_cu_result device_count(int *out_count) {
  *out_count = STANDIN_DEVICES;
  return 0;
}

static rdl_cu_result device_get(rdl_cu_device *out_device, int ordinal) {
  *out_device = ordinal;
  return 0;
}

static rdl_cu_result device_name(char *out_name, int capacity, rdl_cu_device device) {
  (void)snprintf(out_name, (size_t)capacity, "Stand-in %d", device);
  return 0;
}

static rdl_cu_result bus_id(char *out_id, int capacity, rdl_cu_device device) {
  (void)snprintf(out_id, (size_t)capacity, STANDIN_BUS, (unsigned)device);
  return 0;
}

static rdl_cu_result total_memory(size_t *out_bytes, rdl_cu_device device) {
  (void)device;
  *out_bytes = (size_t)1 << 30;
  return 0;
}

static rdl_cu_result attribute(int *out_value, rdl_cu_attribute what, rdl_cu_device device) {
  int architecture = device ? 60 : state->architecture;
  *out_value = 0;
  switch (what) {
  case RDL_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *out_value = STANDIN_UNITS;
    break;
  case RDL_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    *out_value = 2048;
    break;
  case RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *out_value = architecture / 10;
    break;
  case RDL_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *out_value = architecture % 10;
    break;
  case RDL_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case RDL_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    *out_value = 1;
    break;
  default:
    break;
  }
  return 0;
}

static rdl_cu_result primary_state(rdl_cu_device device, unsigned *out_flags, int *out_active) {
  *out_flags = 0;
  *out_active = lives[device] > 0;
  return 0;
}

static void primary_end(rdl_cu_device device) {
  lives[device] = 0;
  if (state->heals) sticky = 0;
}

/* Which of the two comes next: not the one that was there before. */
static int next_life[STANDIN_DEVICES];

static rdl_cu_result primary_retain(rdl_cu_context *out_context, rdl_cu_device device) {
  BEGIN(begin);
  state->counted++;
  state->retained[device]++;
  if (!lives[device]) {
    lives[device] = 1 + next_life[device];
    next_life[device] ^= 1;
    state->made++;
  }
  *out_context = &primary[device][lives[device] - 1];
  return 0;
}

static rdl_cu_result primary_release(rdl_cu_device device) {
  state->counted++;
  if (state->retained[device]-- <= 0) state->misuse++;
  if (state->retained[device] == 0) primary_end(device);
  return 0;
}

/* Counts stay. */
static rdl_cu_result primary_reset(rdl_cu_device device) {
  primary_end(device);
  return 0;
}

/* One of a device that has been taken down, or that has another now. */
static int is_gone(rdl_cu_context context) {
  for (int device = 0; device < STANDIN_DEVICES; device++)
    for (int k = 0; k < 2; k++)
      if (context == &primary[device][k]) return lives[device] != k + 1;
  return 0;
}

static rdl_cu_result context_current(rdl_cu_context *out_context) {
  *out_context = current();
  return 0;
}

/* What gives back memory needs it. */
static rdl_cu_result context_push(rdl_cu_context context) {
  if (getpid() != process) return RDL_CUDA_NOT_INITIALIZED;
  if (!context || depth == 64) return RDL_CUDA_INVALID_CONTEXT;
  if (is_gone(context)) return RDL_CUDA_CONTEXT_IS_DESTROYED;
  stack[depth++] = context;
  state->contexts_pushed++;
  return 0;
}

static rdl_cu_result context_pop(rdl_cu_context *out_context) {
  if (!depth) {
    state->misuse++;
    return RDL_CUDA_INVALID_CONTEXT;
  }
  *out_context = stack[--depth];
  state->contexts_pushed--;
  return 0;
}

static rdl_cu_result context_device(rdl_cu_device *out_device) {
  if (!current()) return RDL_CUDA_INVALID_CONTEXT;
  *out_device = current()->device;
  return 0;
}

static rdl_cu_result memory_alloc(rdl_cu_address *out_address, size_t bytes) {
  void *memory;
  BEGIN(begin_within);
  memory = malloc(bytes);
  if (!memory) return RDL_CUDA_OUT_OF_MEMORY;
  memset(memory, 0xee, bytes);
  *out_address = (uintptr_t)memory;
  state->memories++;
  return know(memory, bytes, RDL_CU_MEMORYTYPE_DEVICE) ? 0 : RDL_CUDA_OUT_OF_MEMORY;
}

/* Waits for what is queued, as the driver does. */
static rdl_cu_result memory_free(rdl_cu_address address) {
  if (!current()) state->misuse++;
  (void)run_queue(NULL);
  forget((void *)(uintptr_t)address);
  free((void *)(uintptr_t)address);
  state->memories--;
  return 0;
}

static rdl_cu_result host_alloc(void **out_memory, size_t bytes, unsigned flags) {
  BEGIN(begin_within);
  if (flags & ~(unsigned)(RDL_CU_MEMHOSTALLOC_PORTABLE | RDL_CU_MEMHOSTALLOC_DEVICEMAP))
    return RDL_CUDA_INVALID_VALUE;
  *out_memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(*out_memory, 0xee, bytes);
  state->pages++;
  return know(*out_memory, bytes, RDL_CU_MEMORYTYPE_HOST) ? 0 : RDL_CUDA_OUT_OF_MEMORY;
}

static rdl_cu_result host_free(void *memory) {
  if (!current()) state->misuse++;
  (void)run_queue(NULL);
  forget(memory);
  free(memory);
  state->pages--;
  return 0;
}

/* Whole pages, and each once. */
static rdl_cu_result host_register(void *memory, size_t bytes, unsigned flags) {
  BEGIN(begin_within);
  if (flags != (RDL_CU_MEMHOSTREGISTER_PORTABLE | RDL_CU_MEMHOSTREGISTER_DEVICEMAP) ||
      (uintptr_t)memory % 4096 || bytes % 4096)
    return RDL_CUDA_INVALID_VALUE;
  if (!know(memory, bytes, RDL_CU_MEMORYTYPE_HOST)) return RDL_CUDA_HOST_MEMORY_ALREADY_REGISTERED;
  state->registered++;
  return 0;
}

static rdl_cu_result host_unregister(void *memory) {
  if (!current()) state->misuse++;
  forget(memory);
  state->registered--;
  return 0;
}

static rdl_cu_result host_address(rdl_cu_address *out_address, void *memory, unsigned flags) {
  const range *r = range_of((uintptr_t)memory);
  BEGIN(begin_within);
  if (!r || r->type != RDL_CU_MEMORYTYPE_HOST || flags) return RDL_CUDA_INVALID_VALUE;
  *out_address = (uintptr_t)memory;
  return 0;
}

static rdl_cu_result address_range(rdl_cu_address *out_from, size_t *out_bytes,
                                   rdl_cu_address address) {
  const range *r = range_of(address);
  BEGIN(begin_within);
  if (!r || r->type != RDL_CU_MEMORYTYPE_DEVICE) return RDL_CUDA_INVALID_VALUE;
  *out_from = (uintptr_t)r->from;
  *out_bytes = r->bytes;
  return 0;
}

static rdl_cu_result pointer_attribute(void *out_value, rdl_cu_pointer_attribute what,
                                       rdl_cu_address address) {
  static const unsigned host = RDL_CU_MEMORYTYPE_HOST;
  const range *r = range_of(address);
  BEGIN(begin_within);
  if (!r || (state->no_ranges && what >= RDL_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR))
    return RDL_CUDA_INVALID_VALUE;
  switch (what) {
  case RDL_CU_POINTER_ATTRIBUTE_CONTEXT:
    memcpy(out_value, &r->context, sizeof(rdl_cu_context));
    return 0;
  case RDL_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    memcpy(out_value, r->managed ? &host : &r->type, sizeof r->type);
    return 0;
  case RDL_CU_POINTER_ATTRIBUTE_IS_MANAGED:
    memcpy(out_value, &r->managed, sizeof r->managed);
    return 0;
  case RDL_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    memcpy(out_value, &r->context->device, sizeof r->context->device);
    return 0;
  case RDL_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    memcpy(out_value, &r->from, sizeof r->from);
    return 0;
  case RDL_CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    memcpy(out_value, &r->bytes, sizeof r->bytes);
    return 0;
  default:
    return RDL_CUDA_INVALID_VALUE;
  }
}

static rdl_cu_result fill(rdl_cu_address to, unsigned char value, size_t bytes,
                          rdl_cu_stream stream) {
  BEGIN(begin_within);
  if (!stream || value) return RDL_CUDA_INVALID_VALUE;
  return put(
      (operation){.kind = FILL, .stream = stream, .to = (void *)(uintptr_t)to, .bytes = bytes});
}

static rdl_cu_result copy(void *to, const void *from, size_t bytes, rdl_cu_stream stream) {
  BEGIN(begin_within);
  if (!stream || !bytes) return RDL_CUDA_INVALID_VALUE;
  state->copies++;
  return put((operation){.kind = COPY, .stream = stream, .to = to, .from = from, .bytes = bytes});
}

static rdl_cu_result copy_in(rdl_cu_address to, const void *from, size_t bytes,
                             rdl_cu_stream stream) {
  return copy((void *)(uintptr_t)to, from, bytes, stream);
}

static rdl_cu_result copy_out(void *to, rdl_cu_address from, size_t bytes, rdl_cu_stream stream) {
  return copy(to, (const void *)(uintptr_t)from, bytes, stream);
}

/* ---- what only a program beside Raddle uses ---- */

static rdl_cu_result context_create(rdl_cu_context *out_context, unsigned flags,
                                    rdl_cu_device device) {
  rdl_cu_context made;
  if (flags) return RDL_CUDA_INVALID_VALUE;
  made = calloc(1, sizeof *made);
  if (!made) return RDL_CUDA_OUT_OF_MEMORY;
  made->device = device;
  *out_context = made;
  return context_push(made);
}

static rdl_cu_result context_destroy(rdl_cu_context context) {
  if (current() == context) state->misuse++;
  free(context);
  return 0;
}

static rdl_cu_result managed_alloc(rdl_cu_address *out_address, size_t bytes, unsigned flags) {
  rdl_cu_result code = flags == 1 ? memory_alloc(out_address, bytes) : RDL_CUDA_INVALID_VALUE;
  if (code == 0) range_of(*out_address)->managed = 1;
  return code;
}

static rdl_cu_result copy_in_at_once(rdl_cu_address to, const void *from, size_t bytes) {
  BEGIN(begin_within);
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}

static rdl_cu_result copy_out_at_once(void *to, rdl_cu_address from, size_t bytes) {
  BEGIN(begin_within);
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return 0;
}

static rdl_cu_result fill_words(rdl_cu_address to, unsigned value, size_t count) {
  BEGIN(begin_within);
  for (size_t k = 0; k < count; k++)
    ((unsigned *)(uintptr_t)to)[k] = value;
  return 0;
}

/* ---- streams, modules and launches ---- */

static rdl_cu_result stream_create(rdl_cu_stream *out_stream, unsigned flags) {
  BEGIN(begin_within);
  if (flags != RDL_CU_STREAM_NON_BLOCKING) return RDL_CUDA_INVALID_VALUE;
  *out_stream = calloc(1, sizeof **out_stream);
  state->streams++;
  return 0;
}

static rdl_cu_result stream_destroy(rdl_cu_stream stream) {
  if (!current()) state->misuse++;
  free(stream);
  state->streams--;
  return 0;
}

static rdl_cu_result stream_query(rdl_cu_stream stream) {
  BEGIN(begin_within);
  return run_queue(stream);
}

/* A test that waits here for a launch that runs would wait for ever. */
static rdl_cu_result stream_synchronize(rdl_cu_stream stream) {
  rdl_cu_result code;
  code = run_queue(stream);
  if (code == RDL_CUDA_NOT_READY) state->misuse++;
  BEGIN(begin_within);
  return code;
}

static rdl_cu_result module_load(rdl_cu_module *out_module, const void *image) {
  rdl_cu_module module;
  BEGIN(begin_within);
  module = calloc(1, sizeof *module);
  if (!module) return RDL_CUDA_OUT_OF_MEMORY;
  module->text = strdup(image);
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
    module->functions[k] = (struct CUfunc_st){kernels[k], module};
  *out_module = module;
  state->modules++;
  return 0;
}

static rdl_cu_result module_unload(rdl_cu_module module) {
  if (!current()) state->misuse++;
  free(module->text);
  free(module);
  state->modules--;
  return 0;
}

static rdl_cu_result module_function(rdl_cu_function *out_function, rdl_cu_module module,
                                     const char *name) {
  BEGIN(begin_within);
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
    if (strcmp(name, kernels[k]) == 0) {
      *out_function = &module->functions[k];
      return 0;
    }
  return RDL_CUDA_NOT_FOUND;
}

static rdl_cu_result function_load(rdl_cu_function function) {
  (void)function;
  BEGIN(begin_within);
  state->loaded++;
  return 0;
}

static rdl_cu_result function_attribute(int *out_value, rdl_cu_function_attribute what,
                                        rdl_cu_function function) {
  (void)what;
  (void)function;
  BEGIN(begin_within);
  *out_value = 128;
  return 0;
}

static rdl_cu_result function_set_attribute(rdl_cu_function function,
                                            rdl_cu_function_attribute what, int value) {
  BEGIN(begin_within);
  if (strcmp(function->name, "rdl_launch") != 0 || value != (int)STANDIN_SHARED ||
      what != RDL_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return RDL_CUDA_INVALID_VALUE;
  return 0;
}

static rdl_cu_result module_global(rdl_cu_address *out_address, size_t *out_bytes,
                                   rdl_cu_module module, const char *name) {
  static const uint32_t shared = STANDIN_SHARED;
  (void)module;
  BEGIN(begin_within);
  if (strcmp(name, "rdl_shared_bytes") != 0) return RDL_CUDA_NOT_FOUND;
  *out_address = (uintptr_t)&shared;
  *out_bytes = sizeof shared;
  return 0;
}

static rdl_cu_result occupancy(int *out_blocks, rdl_cu_function function, int threads,
                               size_t shared) {
  (void)function;
  BEGIN(begin_within);
  if (threads != 128 || shared != STANDIN_SHARED) return RDL_CUDA_INVALID_VALUE;
  *out_blocks = state->blocks;
  return 0;
}

static rdl_cu_result launch(rdl_cu_function function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared, rdl_cu_stream stream, void **parameters) {
  rdl_cu_address heap;
  BEGIN(begin_within);
  if (!stream || strcmp(function->name, "rdl_launch") != 0 || grid_y != 1 || grid_z != 1 ||
      block_y != 1 || block_z != 1)
    return RDL_CUDA_INVALID_VALUE;
  if (grid_x > (unsigned)state->blocks * STANDIN_UNITS)
    return RDL_CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
  memcpy(&heap, parameters[0], sizeof heap);
  memcpy(&state->purpose, parameters[1], sizeof state->purpose);
  state->grid = grid_x;
  state->block = block_x;
  state->shared = shared;
  state->launches++;
  return put((operation){.kind = LAUNCH,
                         .stream = stream,
                         .to = (void *)(uintptr_t)heap,
                         .purpose = state->purpose,
                         .blocks = grid_x,
                         .traps = strstr(function->module->text, "@trap") != NULL});
}

static rdl_cu_result launch_mover(rdl_cu_function function, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared, rdl_cu_stream stream,
                                  void **parameters, void **extra) {
  rdl_cu_address pages;
  BEGIN(begin_within);
  if (!stream || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || shared || extra ||
      !grid_x || block_x != RDL_CU_MOVERS || strcmp(function->name, "rdl_launch") == 0)
    return RDL_CUDA_INVALID_VALUE;
  memcpy(&pages, parameters[0], sizeof pages);
  state->moves++;
  return put((operation){.kind = strcmp(function->name, "rdl_gather") == 0 ? GATHER : SCATTER,
                         .stream = stream,
                         .to = (void *)(uintptr_t)pages,
                         .blocks = grid_x});
}

/* NOLINTEND(performance-no-int-to-ptr) */

typedef void (*any_function)(void);

/* With an older version the driver gives the function's older form, of other parameters. */
static const struct {
  const char *name;
  int version;
  any_function function;
} functions[] = {
#define FUNCTION(name, version, function)                                                          \
  { name, version, (any_function)(function) }
    FUNCTION("cuInit", 2000, cu_init),
    FUNCTION("cuDriverGetVersion", 2020, driver_version),
    FUNCTION("cuGetErrorName", 6000, error_name),
    FUNCTION("cuDeviceGetCount", 2000, device_count),
    FUNCTION("cuDeviceGet", 2000, device_get),
    FUNCTION("cuDeviceGetName", 2000, device_name),
    FUNCTION("cuDeviceGetPCIBusId", 4010, bus_id),
    FUNCTION("cuDeviceTotalMem", 3020, total_memory),
    FUNCTION("cuDeviceGetAttribute", 2000, attribute),
    FUNCTION("cuDevicePrimaryCtxGetState", 7000, primary_state),
    FUNCTION("cuDevicePrimaryCtxRetain", 7000, primary_retain),
    FUNCTION("cuDevicePrimaryCtxRelease", 11000, primary_release),
    FUNCTION("cuDevicePrimaryCtxReset", 11000, primary_reset),
    FUNCTION("cuCtxGetCurrent", 4000, context_current),
    FUNCTION("cuCtxPushCurrent", 4000, context_push),
    FUNCTION("cuCtxPopCurrent", 4000, context_pop),
    FUNCTION("cuCtxGetDevice", 2000, context_device),
    FUNCTION("cuMemAlloc", 3020, memory_alloc),
    FUNCTION("cuMemFree", 3020, memory_free),
    FUNCTION("cuMemHostAlloc", 2020, host_alloc),
    FUNCTION("cuMemFreeHost", 2000, host_free),
    FUNCTION("cuMemHostRegister", 6050, host_register),
    FUNCTION("cuMemHostUnregister", 4000, host_unregister),
    FUNCTION("cuMemHostGetDevicePointer", 3020, host_address),
    FUNCTION("cuMemGetAddressRange", 3020, address_range),
    FUNCTION("cuPointerGetAttribute", 4000, pointer_attribute),
    FUNCTION("cuMemsetD8Async", 3020, fill),
    FUNCTION("cuMemcpyHtoDAsync", 3020, copy_in),
    FUNCTION("cuMemcpyDtoHAsync", 3020, copy_out),
    FUNCTION("cuCtxCreate", 3020, context_create),
    FUNCTION("cuCtxDestroy", 4000, context_destroy),
    FUNCTION("cuMemAllocManaged", 6000, managed_alloc),
    FUNCTION("cuMemcpyHtoD", 3020, copy_in_at_once),
    FUNCTION("cuMemcpyDtoH", 3020, copy_out_at_once),
    FUNCTION("cuMemsetD32", 3020, fill_words),
    FUNCTION("cuStreamCreate", 2000, stream_create),
    FUNCTION("cuStreamDestroy", 4000, stream_destroy),
    FUNCTION("cuStreamQuery", 2000, stream_query),
    FUNCTION("cuStreamSynchronize", 2000, stream_synchronize),
    FUNCTION("cuModuleLoadData", 2000, module_load),
    FUNCTION("cuModuleUnload", 2000, module_unload),
    FUNCTION("cuModuleGetFunction", 2000, module_function),
    FUNCTION("cuFuncLoad", 12040, function_load),
    FUNCTION("cuFuncGetAttribute", 2020, function_attribute),
    FUNCTION("cuFuncSetAttribute", 9000, function_set_attribute),
    FUNCTION("cuModuleGetGlobal", 3020, module_global),
    FUNCTION("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, occupancy),
    FUNCTION("cuLaunchKernel", 4000, launch_mover),
    FUNCTION("cuLaunchCooperativeKernel", 9000, launch),
#undef FUNCTION
};

EXPORT rdl_cu_result cuGetProcAddress_v2(const char *name, void **out_function, int version,
                                         uint64_t flags, int *out_found);

EXPORT rdl_cu_result cuGetProcAddress_v2(const char *name, void **out_function, int version,
                                         uint64_t flags, int *out_found) {
  *out_found = 0;
  *out_function = NULL;
  if (flags != RDL_CU_GET_PROC_ADDRESS_LEGACY_STREAM) return RDL_CUDA_INVALID_VALUE;
  for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++)
    if (strcmp(functions[k].name, name) == 0 && version >= functions[k].version)
      memcpy(out_function, &functions[k].function, sizeof *out_function);
  return *out_function ? 0 : RDL_CUDA_NOT_FOUND;
}

/* ---- NVRTC ---- */

struct _nvrtcProgram {
  char *text;
  char *made;
  const char *log;
};

#define RDL_NVRTC_SYMBOL(name, parameters) EXPORT rdl_nvrtc_result name parameters;
#include "backends/cuda/nvrtc.def"
#undef RDL_NVRTC_SYMBOL

rdl_nvrtc_result nvrtcVersion(int *out_major, int *out_minor) {
  *out_major = 13;
  *out_minor = 0;
  return 0;
}

rdl_nvrtc_result nvrtcGetNumSupportedArchs(int *out_count) {
  *out_count = 2;
  return 0;
}

rdl_nvrtc_result nvrtcGetSupportedArchs(int *out_archs) {
  out_archs[0] = 75;
  out_archs[1] = 90;
  return 0;
}

rdl_nvrtc_result nvrtcCreateProgram(rdl_nvrtc_program *out_program, const char *text,
                                    const char *name, int headers, const char *const *header_texts,
                                    const char *const *header_names) {
  (void)name;
  (void)header_texts;
  (void)header_names;
  *out_program = calloc(1, sizeof **out_program);
  if (!*out_program || headers) return 1;
  (*out_program)->text = strdup(text);
  return 0;
}

rdl_nvrtc_result nvrtcDestroyProgram(rdl_nvrtc_program *program) {
  free((*program)->text);
  free((*program)->made);
  free(*program);
  *program = NULL;
  return 0;
}

rdl_nvrtc_result nvrtcCompileProgram(rdl_nvrtc_program program, int count,
                                     const char *const *options) {
  size_t size = strlen(program->text) + 1;
  program->log = "";
  if (strstr(program->text, "@error")) {
    program->log = "../some where/user.task.c(3): error: fake is undefined\n"
                   "  heap[0] = fake;\n"
                   "            ^\n\n";
    return RDL_NVRTC_ERROR_COMPILATION;
  }
  if (strstr(program->text, "@segv")) {
    (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler of its own */
    (void)raise(SIGSEGV);
  }
  while (strstr(program->text, "@hang"))
    (void)pause();
  for (int k = 0; k < count; k++)
    size += strlen(options[k]) + 1;
  program->made = calloc(1, size);
  if (!program->made) return 1;
  for (int k = 0; k < count; k++) {
    strcat(program->made, options[k]); /* NOLINT: there is room */
    strcat(program->made, "\n");       /* NOLINT */
  }
  strcat(program->made, program->text); /* NOLINT */
  return 0;
}

rdl_nvrtc_result nvrtcGetProgramLogSize(rdl_nvrtc_program program, size_t *out_size) {
  *out_size = strlen(program->log) + 1;
  return 0;
}

rdl_nvrtc_result nvrtcGetProgramLog(rdl_nvrtc_program program, char *out_log) {
  memcpy(out_log, program->log, strlen(program->log) + 1);
  return 0;
}

/* There is a cubin of `sm_90`, and none of `compute_90`. */
static int has_cubin(rdl_nvrtc_program program) {
  return strstr(program->made, "=sm_") != NULL;
}

rdl_nvrtc_result nvrtcGetCUBINSize(rdl_nvrtc_program program, size_t *out_size) {
  *out_size = has_cubin(program) ? strlen(program->made) : 0;
  return 0;
}

rdl_nvrtc_result nvrtcGetCUBIN(rdl_nvrtc_program program, char *out_binary) {
  memcpy(out_binary, program->made, strlen(program->made));
  return 0;
}

rdl_nvrtc_result nvrtcGetPTXSize(rdl_nvrtc_program program, size_t *out_size) {
  return nvrtcGetCUBINSize(program, out_size) || *out_size
             ? 1
             : (*out_size = strlen(program->made) + 1, 0);
}

rdl_nvrtc_result nvrtcGetPTX(rdl_nvrtc_program program, char *out_binary) {
  memcpy(out_binary, program->made, strlen(program->made) + 1);
  return 0;
}
