/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the core share. One lock a context guards all host-side state; words in the
 * heap that the device also touches are read and written through kernels/dialect.h.
 *
 * Threads: callers of the API, and one service thread a context, which alone makes driver calls
 * that may block, except while a module is loaded or memory is taken that is apart from the host's:
 * then the service thread rests. Callers launch themselves where the driver only hands over.
 */
#ifndef RDL_SRC_CORE_H
#define RDL_SRC_CORE_H

#include <pthread.h>
#include <raddle/backend.h>
#include <raddle/raddle.h>
#include <stdbool.h>

#include "api/src/error.h"
#include "api/src/scan.h"
#include "api/src/text.h"
#include "backends/common/clock.h"
#include "kernels/dialect.h"
/* The dialect's types come first. */
#include "kernels/abi.h"

#define RDL__NS_PER_SECOND 1000000000u

/* A root as the host sees it. */
typedef enum rdl__root_state {
  RDL__ROOT_FREE,
  RDL__ROOT_HELD,     /* somebody has the handle */
  RDL__ROOT_DETACHED, /* nobody has: the device gives the slot back */
  RDL__ROOT_PROMISE,  /* held, and completed by the host */
  RDL__ROOT_KEPT,     /* the same, completed: the message is on its way or done */
  RDL__ROOT_TAKEN     /* its outcome was taken, and others still wait for it in their gates */
} rdl__root_state;

/* The futures that the roots of one call wait for before they start. */
typedef struct rdl__after {
  rdl_future *list; /* device memory: those that all wait for, then a row for each root */
  uint32_t common;  /* length of the first part */
  uint32_t roots;   /* that have not gone through their gates */
} rdl__after;

typedef struct rdl__staging rdl__staging;

typedef struct rdl__root {
  uint32_t generation;
  uint32_t state;       /* rdl__root_state */
  uint32_t args_words;  /* of its task */
  uint32_t result_size; /* the same */
  uint32_t task;        /* task word; of a batch: its members' */
  bool batch;
  bool listed;    /* seen before in the list that is looked through; false without the lock */
  bool cancelled; /* by the host */
  rdl__staging *staging; /* the arguments of a batch, as long as it lives */
  rdl__after *after;     /* what it waits for; NULL when it has gone through its gate */
  uint32_t gates;        /* times that others wait for it in their gates */
  uint32_t next;         /* of the roots that end together */
} rdl__root;

typedef struct rdl__timer {
  uint64_t due; /* CLOCK_MONOTONIC, ns */
  uint32_t slot;
  uint32_t wait; /* wait word the future must still have */
} rdl__timer;

typedef struct rdl__list {
  void *memory;  /* itself, if it lies in the host's copy of that */
  uint32_t tail; /* of the mailbox, behind the message */
  struct rdl__list *next;
} rdl__list;

/* A thread that sleeps until a root is done. On its own stack, linked while it sleeps. */
typedef struct rdl__sleeper {
  uint32_t slot;
  uint32_t generation;
  bool awake;
  struct rdl__sleeper *next;
} rdl__sleeper;

/* What is known of a worker in the launch that is under way. */
typedef struct rdl__watched {
  uint32_t answered; /* the last question it had seen when it was looked at; where workers show what
                        they run, how many segments it had run */
  uint64_t since; /* when the next one was asked: it runs one segment at least since then; 0 = no */
  bool told;      /* of this segment */
} rdl__watched;

/* What a worker runs, as far as it says so. */
typedef struct rdl__running {
  uint32_t slot;
  uint32_t generation;
  uint32_t task;    /* word, or its number */
  uint32_t segment; /* another number in the next segment, where that is known */
} rdl__running;

/* A task as the spawning functions need it. */
typedef struct rdl__known_task {
  const char *name;
  const char *file;
  uint32_t line;
  uint32_t word; /* number and classes of blocks */
  rdl_task_info info;
} rdl__known_task;

struct rdl_module {
  rdl_context *context;
  char *name;
  char *text;
  size_t length;
  rdl__task_list tasks;
  uint32_t first_task; /* number of its first task in the image */
};

struct rdl_buffer {
  rdl_context *context;
  void *memory; /* the backend's name for it */
  rdl_ptr address;
  size_t bytes;
  bool imported; /* the program's memory */
  rdl_buffer *next;
  rdl_buffer *previous;
};

/* Members stand by what they are about, and not by size. */
struct rdl_context { /* NOLINT(clang-analyzer-optin.performance.Padding) */
  const rdl_backend *backend;
  rdl_backend_device *device;
  size_t device_index; /* of the backend's */
  rdl_backend_facts facts;
  rdl_device_info device_info;
  rdl_context_options options; /* with defaults filled in */
  char *cache_dir;
  uint32_t number;  /* 1 .. 255; top byte of handles */
  uint32_t workers; /* at most; wide blocks make them fewer */
  uint32_t wide;    /* blocks that are one worker each; the image has tasks for them. Also read
                       without the lock */
  rdl_mode mode;    /* the one it runs in */

  pthread_mutex_t lock;
  pthread_cond_t service_news; /* to the service thread: messages, closing, modules */
  pthread_cond_t host_news;    /* to callers: outcomes, launches that ended, closing */
  pthread_t service;
  bool service_started;
  bool launched; /* a launch is under way */
  bool parked;   /* the service thread sleeps: wake it */
  bool closing;
  bool building;   /* an image is being compiled, or memory imported: without the lock, the service
                      held */
  bool describing; /* a launch without workers is under way, by who builds */
  rdl_status lost; /* not RDL_OK: the device failed, or memory to follow it; `lost_why` says how */
  rdl_reason lost_why;
  bool abandoned; /* closed with a launch that did not end: the service thread destroys it */
  rdl__text abandoned_why;
  rdl_context *next_abandoned;
  uint32_t holds; /* callers that keep the service thread from launching */
  uint32_t users; /* callers inside a waiting function */
  rdl__sleeper *sleepers;
  bool watched; /* one of the sleepers looks at the device */

  /* Where host and device do not share memory: what the host has written since the last launch
   * began, and room for what comes back. */
  rdl_transfer *written;
  size_t written_count;
  size_t written_room;
  unsigned char *arrived;
  size_t arrived_room;
  bool written_lost; /* no memory was left to note it */

  /* Heap: pointers to its tables. */
  unsigned char *heap;
  uint64_t heap_bytes;
  rdl_control *control;
  rdl_record *records;
  rdl_side *sides;
  rdl_node *nodes;
  rdl_event_record *event_records;
  rdl_outcome *outcomes;
  rdl_outcome *posts; /* those that the device writes: in the window, where there is one */
  rdl_message *messages;
  rdl_worker *worker_states;
  rdl_step *steps;       /* on a loop-limited device: one a worker; else NULL */
  uint64_t frames;       /* offset of the space for frames */
  uint32_t frames_first; /* the same in units */

  uint32_t mailbox_head; /* of the mailbox, when it was last read */
  uint32_t mailbox_tail;

  /* Where there is a window (window.c). */
  rdl_window *window;           /* else NULL */
  rdl_transfer *said;           /* by cell of the mailbox: what a RDL_SAY_WRITE there brings */
  rdl_u32 freed[RDL_SAY_WORDS]; /* slots and generations for the next RDL_SAY_FREED */
  uint32_t freed_count;         /* pairs */
  bool paused;                  /* the launch has been told RDL_SAY_PAUSE */
  const rdl_running *shown;     /* by worker: what it runs, in checked mode; else NULL */

  /* Roots. */
  rdl__root *roots; /* by slot; [0] unused */
  uint32_t *free_roots;
  uint32_t free_root_count;
  uint32_t fresh_root;   /* next slot never used */
  uint32_t usable_roots; /* last slot with room for a frame */
  uint32_t taken_roots;  /* in the state TAKEN */
  uint64_t look_ns;      /* how long the last look at all roots took */
  uint32_t root_frames;  /* units: where the roots' frames start */
  uint32_t root_stride;  /* units a root */
  uint32_t base_generation;
  uint32_t born; /* order of spawning, taken from the device's in blocks */
  uint32_t born_end;

  /* Events. */
  uint32_t *free_events;
  uint32_t free_event_count;
  uint32_t fresh_event;

  /* Modules and the image. */
  rdl_module **modules; /* [0] is Raddle's own */
  size_t module_count;
  rdl_backend_image *image;
  rdl__known_task *tasks;
  uint32_t task_count;

  rdl_buffer *buffers;
  rdl__list *lists; /* of slots, on their way through the mailbox */
  rdl__staging *spare_staging;

  rdl__timer *timers; /* binary heap by `due` */
  size_t timer_count;
  size_t timer_room;

  /* Counters. */
  rdl_stats settled; /* the workers', when the last launch ended */
  uint64_t launches;
  uint64_t parks;
  uint64_t host_spawned;
  uint64_t roots_alive;
  uint64_t roots_alive_most;
  /* Deadlocks. */
  uint8_t
      *search_marks; /* two bytes a slot, and room to walk: made early, for a search when memory */
  uint32_t *search_stack; /* is short must not fail; touched only as far as slots are used */
  uint32_t *search_waits; /* by slot: its wait word when it was last found dead */
  bool search_deadlocks;  /* something changed since the last search */
  uint64_t next_search;   /* while others run: not before this time */
  bool solo;              /* the next launch has one worker */
  uint64_t
      room_segments;   /* segments run when those who wait for room were last told to look again */
  uint32_t room_fails; /* so many were last told that there is none; 0 = nobody has been */
  uint64_t room_failed_ns;
  char deadlock_text[3072]; /* the last deadlock that was broken */

  /* The launch that is under way (watchdog.c). */
  uint64_t launched_ns;
  uint32_t launched_workers;
  uint32_t question; /* the last one that its workers were asked; 0 = none */
  uint64_t asked_ns;
  bool told_overdue;
  bool crowded; /* RDL_FLAG_CROWDED, for threads that look without the lock */
  uint64_t next_watch;
  rdl__watched *watched_workers;
};

/* time.c */
/* Makes this thread's sleeps end on time, for Linux lets them last 50 us longer unless told. */
int rdl__sharpen_sleep(void); /* what to give to rdl__restore_sleep */
void rdl__restore_sleep(int slack);
/* False when the deadline has passed. The lock is held. */
bool rdl__wait_until(pthread_cond_t *news, pthread_mutex_t *lock, uint64_t deadline);

/* A caller waits for news, as above; closing waits until it has left. The lock is held. */
bool rdl__pause(rdl_context *cx, uint64_t deadline);
void rdl__leave(rdl_context *cx); /* undoes one `users++` of a call that gives up the lock */

/* context.c: by the service thread, when the launch that was not waited for has ended after all */
void rdl__context_end_abandoned(rdl_context *cx);

/* log.c */
__attribute__((format(printf, 3, 4))) void rdl__log(rdl_context *cx, rdl_log_level level,
                                                    const char *format, ...);

/* device.c */
/* `native` is NULL, or what the driver calls the device. */
rdl_status rdl__select(const char *selector, const void *native, const rdl_backend **out_backend,
                       size_t *out_index, rdl_device_info *out_info);
/* The same, also for a device that Raddle cannot use. */
rdl_status rdl__find_device(const char *selector, const rdl_backend **out_backend,
                            size_t *out_index, rdl_device_info *out_info);

/* Items of a pool from here on were never used. */
static inline uint32_t rdl__fresh(const rdl_context *cx, uint32_t pool) {
  uint32_t fresh = rdl_load_relaxed(&cx->control->pools[pool].fresh);
  uint32_t limit = cx->control->pools[pool].limit;
  return fresh < limit ? fresh : limit;
}

/* heap.c */
rdl_status rdl__heap_create(rdl_context *cx);
/* Between two launches only: one item, or what the workers took with them when they left. A worker
 * that left before anybody waited for room kept it, and a launch of another worker alone could not
 * reach it. */
void rdl__pool_give_back(rdl_context *cx, uint32_t pool, uint32_t item);
void rdl__stashes_return(rdl_context *cx);

/* mirror.c: the host's copy of memory that it does not share with the device. Everywhere else all
 * of this does nothing. The lock is held. */
static inline bool rdl__apart(const rdl_context *cx) {
  return cx->mode != RDL_MODE_RESIDENT;
}
/* While a launch runs nothing is heard of it, and it hears nothing. */
static inline bool rdl__epoch(const rdl_context *cx) {
  return cx->mode == RDL_MODE_EPOCH;
}
void rdl__note_written(rdl_context *cx, void *memory, const void *at, size_t bytes);
/* The host has written `bytes` bytes at `at`, in the heap or in other memory of the device. */
static inline void rdl__wrote(rdl_context *cx, const void *at, size_t bytes) {
  if (rdl__apart(cx)) rdl__note_written(cx, cx->heap, at, bytes);
}
static inline void rdl__wrote_in(rdl_context *cx, void *memory, size_t bytes) {
  if (rdl__apart(cx)) rdl__note_written(cx, memory, memory, bytes);
}
/* The memory is about to be freed. */
void rdl__forget_written(rdl_context *cx, const void *memory);
rdl_status rdl__push(rdl_context *cx, rdl_reason *why); /* before a launch */
rdl_status rdl__pull(rdl_context *cx,
                     rdl_reason *why); /* after one: what the host always looks at */
/* Between two launches: every table, and the frames as far as they are used. */
rdl_status rdl__pull_tables(rdl_context *cx, rdl_reason *why);
rdl_status rdl__pull_frames(rdl_context *cx, rdl_reason *why);
rdl_status rdl__pull_part(rdl_context *cx, uint64_t offset, uint64_t bytes, rdl_reason *why);

/* window.c: what the host writes while a launch runs, and messages of it refer to, goes as messages
 * before them. Where there is no window all of this does nothing. The lock is held. */
static inline bool rdl__has_window(const rdl_context *cx) {
  return cx->mode == RDL_MODE_APART;
}
rdl_status rdl__window_create(rdl_context *cx, rdl_control *control, rdl_reason *why);
/* A launch runs that reads what is said now. */
static inline bool rdl__hears(const rdl_context *cx) {
  return cx->window && cx->launched && !cx->paused;
}
/* Says what has been noted as written. False when the mailbox has no room for that and one more. */
bool rdl__say_written(rdl_context *cx);
/* The same of a root that was filled. False when there was no room, or it is to be noted. */
bool rdl__say_root(rdl_context *cx, uint32_t slot, uint32_t kind);
/* The root's record is free. True when the device will be told by a message. */
bool rdl__say_freed(rdl_context *cx, uint32_t slot);
/* A launch has ended: what it has not read of all this is noted as written again. */
void rdl__unsay(rdl_context *cx);
/* Large results, which are in the heap, of roots that are done; others are left out. */
rdl_status rdl__fetch_results(rdl_context *cx, const rdl_future *futures, size_t count);

/* Where the device finds memory that the backend gave. */
static inline rdl_ptr rdl__address(rdl_context *cx, const void *memory) {
  return cx->backend->address(cx->device, memory);
}
/* Memory from the backend. Where it is apart the device must not run meanwhile: the lock is given
 * up, and RDL_TIMEOUT names what runs too long. */
rdl_status rdl__memory_take(rdl_context *cx, uint64_t bytes, void **out_memory);
/* Memory goes back to the backend, at once or when no message speaks of it any more. Takes NULL. */
void rdl__memory_release(rdl_context *cx, void *memory);
void rdl__memory_release_now(rdl_context *cx, void *memory);

/* buffer.c: one of the context's from here on, and no longer; the lock is held */
void rdl__buffer_link(rdl_context *cx, rdl_buffer *buffer);
void rdl__buffer_unlink(rdl_context *cx, rdl_buffer *buffer);

/* import.c: the buffer's memory goes back to the program, and it is unlinked; not while a launch
 * does not end */
bool rdl__import_drop(rdl_buffer *buffer);

/* staging.c; the lock is held */
rdl_status rdl__stage(rdl_context *cx, const void *from, uint64_t bytes,
                      rdl__staging **out_staging);
rdl_ptr rdl__staged(rdl_context *cx, const rdl__staging *staging); /* 0 of NULL */
void rdl__unstage(rdl_context *cx, rdl__staging *staging);         /* takes NULL */
void rdl__staging_close(rdl_context *cx);

#define RDL__MESSAGES 4096u /* that the mailbox holds */

/* mailbox.c; the lock is held, and may be given up for a moment while the ring is full */
rdl_status rdl__say(rdl_context *cx, const rdl_message *message);
bool rdl__try_say(rdl_context *cx, const rdl_message *message);
bool rdl__may_say(rdl_context *cx, uint32_t count); /* the ring has room for so many */
/* Puts a message into the ring, which has room, and nothing else. */
void rdl__put_message(rdl_context *cx, const rdl_message *message);
uint32_t rdl__heard(const rdl_context *cx); /* how far the device has read */

/* Memory of the device that messages refer to: it is freed when all messages said so far have been
 * read. `list` comes from rdl__list_new, so that to keep it cannot fail. */
rdl__list *rdl__list_new(void);
void rdl__list_keep(rdl_context *cx, rdl__list *list, void *memory);
void rdl__lists_collect(rdl_context *cx, bool all);

/* root.c: size of the block of a task's frame (RDL_FRAME_SHIFT) or result (RDL_RESULT_SHIFT) */
uint32_t rdl__block_units(uint32_t word, uint32_t shift);

/* The rest of root.c; the lock is held. */
uint32_t rdl__root_take(rdl_context *cx); /* 0 = none is free */
rdl_status rdl__no_root(rdl_context *cx); /* RDL_AGAIN, and the option that is too small */
/* `gate` is NULL for a root that waits for nothing; its `task` is filled in here. */
void rdl__root_fill(rdl_context *cx, uint32_t slot, const rdl__known_task *task, const void *args,
                    rdl__root_state state, const struct rdl_gate_args *gate);
void rdl__root_free(rdl_context *cx, uint32_t slot);
void rdl__roots_put_back(rdl_context *cx, const uint32_t *slots, size_t count); /* only taken */
/* Roots that were filled and did not start. */
void rdl__roots_abandon(rdl_context *cx, const uint32_t *slots, size_t count);
void rdl__roots_collect(rdl_context *cx);
/* Ends the text about a handle that is not good: what gives handles of zeros. */
#define RDL__IF_ZERO(handle, maker)                                                                \
  ((handle).index || (handle).generation ? ""                                                      \
                                         : ": all zero: " maker                                    \
                                           " failed, or its status was not checked")

rdl_status rdl__root_find(rdl_context *cx, rdl_future future, uint32_t *out_slot);
/* Nobody has taken or released it. */
static inline bool rdl__root_held(const rdl_context *cx, uint32_t slot, uint32_t generation) {
  const rdl__root *root = &cx->roots[slot];
  return root->generation == generation && root->state != RDL__ROOT_FREE &&
         root->state != RDL__ROOT_DETACHED && root->state != RDL__ROOT_TAKEN;
}
static inline bool rdl__root_done(const rdl_context *cx, uint32_t slot, uint32_t generation) {
  return rdl_load_acquire(&cx->posts[slot].generation) == generation;
}
/* What was filled in has been written. */
void rdl__root_note(rdl_context *cx, uint32_t slot);
/* A root that was filled: the device knows it before it reads what is said from here on. */
void rdl__root_known(rdl_context *cx, uint32_t slot);
/* The same, and starts it. */
rdl_status rdl__root_start(rdl_context *cx, uint32_t slot);
rdl_status rdl__root_say(rdl_context *cx, uint32_t slot, uint32_t kind);
rdl_future rdl__root_handle(rdl_context *cx, uint32_t slot);

/* after.c: what the roots of a call wait for. Checked first, without the lock: RDL_INVALID, or
 * RDL_OUT_OF_MEMORY. */
rdl_status rdl__after_check(const rdl_spawn_options *options, size_t count);
/* The rest with the lock held. `*out_after` is NULL when they wait for nothing. */
rdl_status rdl__after_new(rdl_context *cx, const rdl_spawn_options *options, size_t count,
                          rdl__after **out_after);
/* What the root at `position` waits for, or NULL; stored in `*gate`. */
const struct rdl_gate_args *rdl__after_gate(rdl_context *cx, const rdl__after *after,
                                            const rdl_spawn_options *options, size_t position,
                                            struct rdl_gate_args *gate);
/* The roots are filled: from here on `after` is theirs, and they keep what they wait for. Does not
 * give up the lock. RDL_STALE or RDL_INVALID when a future of `options->after` is not there:
 * nothing is kept, and `after` is freed. */
rdl_status rdl__after_keep(rdl_context *cx, rdl__after *after, const rdl_spawn_options *options,
                           const uint32_t *slots, size_t count);
void rdl__after_free(rdl_context *cx, rdl__after *after);

/* future.c: a root that is held is no longer; the lock is held, and may be given up */
rdl_status rdl__root_release(rdl_context *cx, uint32_t slot);

/* failure.c: the status of a root that is done, and for the thread's text why, when it failed */
rdl_status rdl__tell_failure(rdl_context *cx, uint32_t slot);

/* wait.c; the lock is held, and given up while it waits */
rdl_status rdl__await_root(rdl_context *cx, uint32_t slot, uint32_t generation, uint64_t deadline);
void rdl__sleepers_wake(rdl_context *cx); /* whose root is done */

/* Nanoseconds to the next look at a running launch, from those to the last one; 0 = the first. */
uint64_t rdl__next_look(uint64_t look);

/* module.c */
rdl_status rdl__modules_open(rdl_context *cx);
void rdl__modules_close(rdl_context *cx);
rdl_status rdl__image_need(rdl_context *cx); /* the lock is held */
/* Waits until nobody else builds. The lock is held, and the service is. */
void rdl__build_turn(rdl_context *cx);
/* A copy: the table moves when another module is loaded, the numbers of tasks stay. */
rdl_status rdl__task_find(rdl_module *module, const char *name, rdl__known_task *out_task);
const rdl__known_task *rdl__own_task(rdl_context *cx, const char *name);

/* spawn.c: a root of one of Raddle's own tasks, held by the caller; the lock is held */
rdl_status rdl__spawn_own(rdl_context *cx, const char *name, const void *args, uint32_t *out_slot);

/* service.c */
rdl_status rdl__service_start(rdl_context *cx);
/* Asks the running launch to end and waits for it: no new one begins until the release. */
rdl_status rdl__service_hold(rdl_context *cx, uint64_t deadline);
void rdl__service_release(rdl_context *cx);
bool rdl__work_pending(rdl_context *cx);
/* The device failed: whoever waits is told why. The lock is held. */
void rdl__lose_device(rdl_context *cx, rdl_status status, const rdl_reason *why);
/* What a call of the backend's has given: of a lost device the whole story. The lock is held. */
rdl_status rdl__device_error(const rdl_context *cx, rdl_status status, const rdl_reason *why);
void rdl__service_call(rdl_context *cx); /* parked, and there is a message; the lock is held */

/* timer.c; the lock is held */
void rdl__timers_collect(rdl_context *cx);
void rdl__timers_fire(rdl_context *cx);
uint64_t rdl__timers_next(rdl_context *cx); /* RDL_FOREVER when there is none */

/* deadlock.c: between two launches; the lock is held */
void rdl__break_deadlocks(rdl_context *cx);

/* describe.c: futures in words; the lock is held. What a future waits for is told between two
 * launches, when its words stand still. */
void rdl__tell_task(const rdl_context *cx, uint32_t word, rdl__text *out); /* name and place */
void rdl__tell_handle(const rdl_context *cx, uint32_t slot, rdl__text *out);
void rdl__tell_ns(uint64_t ns, rdl__text *out);
void rdl__tell_future(const rdl_context *cx, uint32_t slot, rdl__text *out); /* handle and task */
uint32_t rdl__task_of(const rdl_context *cx, uint32_t slot); /* word; of a gate: what it becomes */
bool rdl__is_promise(const rdl_context *cx, uint32_t slot);  /* made by rdl_future_create */
void rdl__tell_wait(const rdl_context *cx, uint32_t slot, rdl__text *out);

/* watchdog.c; the lock is held */
static inline uint32_t rdl__as_ms(uint64_t ns) { /* what rdl_control.now counts */
  return (uint32_t)(ns / 1000000u);
}
uint32_t rdl__workers_with(const rdl_context *cx, uint32_t wide); /* so many wide blocks */
void rdl__watch_begin(rdl_context *cx, uint32_t workers);         /* a launch begins */
void rdl__watch(rdl_context *cx);                                 /* called often while it runs */
uint64_t rdl__held_ns(const rdl_context *cx, uint32_t worker); /* in one segment; 0 = it goes on */
void rdl__set_stop(rdl_context *cx, uint32_t stop);            /* rdl_control.stop */
void rdl__ask_workers(rdl_context *cx); /* to leave, if somebody wants them to, and to answer */
/* What holds the launch up: the tasks that run for long, or nothing when none does. */
void rdl__tell_held(rdl_context *cx, rdl__text *out);
/* Where the host cannot look into a launch: for how long one has run that should be over; else 0.
 */
uint64_t rdl__overdue_ns(const rdl_context *cx);

/* held.c: the futures that the host has started and that have not ended, as far as it knows */
void rdl__tell_roots(rdl_context *cx, rdl__text *out);
/* False when the worker runs nothing, or when the host does not see what. */
bool rdl__running_on(const rdl_context *cx, uint32_t worker, rdl__running *out);
void rdl__tell_running(const rdl_context *cx, const rdl__running *running, rdl__text *out);
/* What all workers of the last launch ran, which has ended badly; false = nothing is known. */
bool rdl__tell_workers(const rdl_context *cx, rdl__text *out);
/* Why the device was lost, and how things stood then; `lost` has been set. */
void rdl__tell_lost(rdl_context *cx, const rdl_reason *why, rdl__text *out);

/* rescue.c: what is ready in the rings of held workers goes to others; the lock is held */
void rdl__rescue(rdl_context *cx);
/* Marks what held workers run, if it was cancelled or the context closes. */
void rdl__cancel_held(rdl_context *cx);

/* stats.c: the lock is held */
void rdl__stats_settle(rdl_context *cx); /* a launch has ended */
void rdl__stats_read(rdl_context *cx, rdl_stats *stats);

#endif
