/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlocks, searched for between two launches, when the heap stands still.
 *
 * A future is *movable* when it is ready, when the host, a deadline or an event that may still be
 * signalled can wake it, or when it waits for a movable one. What waits and is not movable is dead:
 * it lies on a cycle, or behind one, or behind an event that nobody is left to signal. Only the
 * core (cycles and such events) is told DEADLOCK; the rest gets the failure from those it waits
 * for.
 *
 * Where the host calls again and again the device is never at rest, and what nobody can move now a
 * task that the host is about to spawn may move: then only waits that were dead at the last search
 * too are told, and those that wait for room look when the host has stopped for a moment. What
 * messages on their way will move counts as movable.
 *
 * Waiting for room counts as movable. When nothing else is, one worker alone lets all who wait for
 * room look again: several might each hold a part of what one needs. If that did not help either,
 * the youngest of them fails, and while that does not help, twice as many each time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

#define SEARCH_EVERY_NS 250000000u
#define LONGEST_STORY   12u

/* So many at most are told one by one that there is no room. */
#define MOST_FAIL_AT_ONCE 64u

/* Work that has got by for so long without a failure for want of room is not what failed before. */
#define QUIET_NS 1000000000u

typedef struct search {
  rdl_context *cx;
  uint8_t *movable; /* by slot */
  uint8_t *seen;    /* by slot: whether a walk came by */
  uint32_t *stack;
  uint32_t depth;
  uint32_t slots; /* one past the last slot in use */
  bool by_host;   /* something movable does not wait for room */
  bool by_task;   /* something movable can run code */
  bool traffic;   /* messages are on their way */
  bool sent;      /* somebody was told */
  char *story;
  size_t story_size;
} search;

static uint32_t state_of(const search *s, uint32_t slot) {
  return rdl_load_relaxed(&s->cx->records[slot].wait) & RDL_STATE_MASK;
}

static uint32_t next_slot(const search *s, uint32_t slot) {
  return slot + 1u == s->cx->fresh_root ? s->cx->options.roots + 1u : slot + 1u;
}

static bool open_list(const search *s, uint32_t slot) {
  uint32_t state = state_of(s, slot);
  return state != RDL_FREE && state != RDL_DONE;
}

static void push(search *s, uint32_t slot) {
  if (!slot || slot >= s->slots || s->movable[slot] || !open_list(s, slot)) return;
  s->movable[slot] = 1;
  s->stack[s->depth++] = slot;
}

/* Whom a node would wake. */
static uint32_t waiter_of(const search *s, uint32_t index) {
  const rdl_node *node = &s->cx->nodes[index];
  if ((node->kind & 3u) == RDL_NODE_MEMBER) node = &s->cx->nodes[node->who];
  if (rdl_load_relaxed(&s->cx->records[node->who].wait) != node->ticket) return 0;
  return node->who;
}

static void push_waiters(search *s, uint32_t list) {
  uint32_t node;
  if (list & RDL_LIST_CLOSED) return;
  for (node = list & RDL_NODE_MASK; node; node = s->cx->nodes[node].next)
    push(s, waiter_of(s, node));
}

/* The end of a child moves an owner that waits for its children, or has only them left. */
static void push_owner(search *s, uint32_t owner) {
  if (!owner) return;
  if (state_of(s, owner) != RDL_WAITING ||
      rdl_load_relaxed(&s->cx->records[owner].result[RDL_WORD_AWAITS]) == RDL_AWAITS_CHILDREN)
    push(s, owner);
}

/* Everything that what is movable will move. */
static void spread(search *s) {
  while (s->depth) {
    uint32_t slot = s->stack[--s->depth];
    push_waiters(s, rdl_load_relaxed(&s->cx->records[slot].waiters));
    if (!(rdl_load_relaxed(&s->cx->records[slot].waiters) & RDL_DETACHED_BIT))
      push_owner(s, s->cx->records[slot].owner);
  }
}

static void push_events(search *s) {
  uint32_t k;
  for (k = 1; k < s->cx->fresh_event; k++) {
    const rdl_event_record *event = &s->cx->event_records[k];
    if (rdl_load_relaxed(&event->flags) && !s->by_task) continue;
    push_waiters(s, rdl_load_relaxed(&event->waiters));
  }
}

static void push_ready(search *s) {
  uint32_t slot;
  for (slot = 1; slot < s->slots; slot = next_slot(s, slot)) {
    uint32_t state = state_of(s, slot);
    bool promise = slot < s->cx->fresh_root && s->cx->roots[slot].state == RDL__ROOT_PROMISE;
    if (state == RDL_READY || state == RDL_QUEUED || state == RDL_RUNNING) push(s, slot);
    if (promise && state == RDL_WAITING) push(s, slot);
  }
}

static void push_timers(search *s) {
  size_t k;
  for (k = 0; k < s->cx->timer_count; k++) {
    uint32_t slot = s->cx->timers[k].slot;
    if (rdl_load_relaxed(&s->cx->records[slot].wait) == s->cx->timers[k].wait) push(s, slot);
  }
}

/* A promise that was completed, a wait that a deadline ends, and the like. */
static void push_messages(search *s) {
  const rdl_context *cx = s->cx;
  rdl_u32 at;
  for (at = rdl__heard(cx); at != cx->mailbox_tail; at++) {
    const rdl_message *message = &cx->messages[at & cx->control->mailbox.mask];
    s->traffic = true;
    if (message->kind == RDL_SAY_CANCEL || message->kind == RDL_SAY_COMPLETE ||
        message->kind == RDL_SAY_WAKE)
      push(s, message->slot);
    if (message->kind == RDL_SAY_SIGNAL) {
      const rdl_event_record *event = &s->cx->event_records[message->slot & RDL_MAX_SLOTS];
      push_waiters(s, rdl_load_relaxed(&event->waiters));
    }
  }
}

static bool any_task_movable(const search *s) {
  uint32_t slot;
  for (slot = 1; slot < s->slots; slot = next_slot(s, slot))
    if (s->movable[slot]) return true;
  return false;
}

static void mark_movable(search *s) {
  push_ready(s);
  push_messages(s);
  push_timers(s);
  push_events(s); /* those the host may signal */
  spread(s);
  s->by_host = any_task_movable(s);
  push_waiters(s, rdl_load_relaxed(&s->cx->control->room));
  spread(s);
  s->by_task = any_task_movable(s);
  if (!s->by_task) return;
  push_events(s); /* and those that a task may */
  spread(s);
}

/* ---- the dead ---- */

static bool dead(const search *s, uint32_t slot) {
  uint32_t state = state_of(s, slot);
  return !s->movable[slot] && (state == RDL_WAITING || state == RDL_RETURNED);
}

/* In traffic, what was not dead at the last search has just come to this wait, and may move. */
static void spare_the_new(search *s) {
  uint32_t *last = s->cx->search_waits;
  uint32_t slot;
  for (slot = 1; slot < s->slots; slot = next_slot(s, slot)) {
    uint32_t wait = dead(s, slot) ? rdl_load_relaxed(&s->cx->records[slot].wait) : 0u;
    if (s->traffic && wait != last[slot]) push(s, slot);
    last[slot] = wait;
  }
  spread(s);
}

static uint32_t live_child(const search *s, uint32_t slot) {
  uint32_t child = s->cx->records[slot].first_child;
  while (child && !open_list(s, child))
    child = s->cx->records[child].next_sibling;
  return child;
}

/* What a dead future waits for, if that is one future; 0 for events and sets. */
static uint32_t waits_for(const search *s, uint32_t slot) {
  uint32_t awaits = rdl_load_relaxed(&s->cx->records[slot].result[RDL_WORD_AWAITS]);
  if (state_of(s, slot) == RDL_RETURNED || awaits == RDL_AWAITS_CHILDREN)
    return live_child(s, slot);
  return awaits & (RDL_AWAITS_EVENT | RDL_AWAITS_TAG) ? 0u : awaits;
}

__attribute__((format(printf, 2, 3))) static void tell(search *s, const char *format, ...) {
  size_t used = strlen(s->story);
  va_list values;
  va_start(values, format);
  vsnprintf(s->story + used, s->story_size - used, format, values);
  va_end(values);
}

static const char *separator(const search *s) {
  return s->story[0] ? "; " : "";
}

static const rdl__known_task *task_of(const search *s, uint32_t slot) {
  static const rdl__known_task unknown = {.name = "?", .file = "?"};
  uint32_t number = rdl__task_of(s->cx, slot) & RDL_TASK_MASK;
  return number < s->cx->task_count ? &s->cx->tasks[number] : &unknown;
}

static void tell_future(search *s, uint32_t slot) {
  const rdl__known_task *task = task_of(s, slot);
  tell(s, "%s (future %u, %s:%u)", task->name, slot, task->file, task->line);
}

/* Where the mailbox is full, the next search tells. */
static void say_deadlock(search *s, uint32_t slot) {
  rdl_message message = {.kind = RDL_SAY_WAKE, .slot = slot, .value = RDL_S_DEADLOCK};
  message.generation = rdl_load_relaxed(&s->cx->records[slot].wait);
  if ((message.generation & RDL_STATE_MASK) == RDL_WAITING)
    s->sent |= rdl__try_say(s->cx, &message);
}

/* The cycle through `start`: every future of it that waits is told. */
static void break_cycle(search *s, uint32_t start) {
  uint32_t slot = start, told = 0;
  tell(s, "%s", separator(s));
  do {
    if (told++ < LONGEST_STORY) {
      tell_future(s, slot);
      tell(s, " waits for ");
    }
    say_deadlock(s, slot);
    slot = waits_for(s, slot);
  } while (slot != start);
  if (told > LONGEST_STORY) tell(s, "%u more, the last of them for ", told - LONGEST_STORY);
  tell_future(s, start);
}

#define ON_THE_WAY 1u
#define WALKED     2u

/* Follows what each waits for. A walk that meets itself has found a cycle. */
static bool walk(search *s, uint32_t start) {
  uint32_t slot = start;
  bool found;
  while (slot && dead(s, slot) && !s->seen[slot]) {
    s->seen[slot] = ON_THE_WAY;
    slot = waits_for(s, slot);
  }
  found = slot && dead(s, slot) && s->seen[slot] == ON_THE_WAY;
  if (found) break_cycle(s, slot);
  for (slot = start; slot && s->seen[slot] == ON_THE_WAY; slot = waits_for(s, slot))
    s->seen[slot] = WALKED;
  return found;
}

static bool break_event(search *s, uint32_t slot) {
  uint32_t awaits = rdl_load_relaxed(&s->cx->records[slot].result[RDL_WORD_AWAITS]);
  if (state_of(s, slot) != RDL_WAITING || !(awaits & RDL_AWAITS_EVENT)) return false;
  tell(s, "%s", separator(s));
  tell_future(s, slot);
  tell(s, " waits for event %u, which nobody is left to signal", awaits & RDL_MAX_SLOTS);
  say_deadlock(s, slot);
  return true;
}

static void break_dead(search *s) {
  uint32_t slot;
  bool some = false, any = false;
  for (slot = 1; slot < s->slots; slot = next_slot(s, slot)) {
    if (!dead(s, slot)) continue;
    any = true;
    if (break_event(s, slot)) some = true;
    if (!s->seen[slot] && walk(s, slot)) some = true;
  }
  if (some || !any) return;
  tell(s, "some futures wait for each other in sets");
  for (slot = 1; slot < s->slots; slot = next_slot(s, slot))
    if (dead(s, slot)) say_deadlock(s, slot);
}

/* ---- room ---- */

static uint32_t born(const search *s, uint32_t slot) {
  return s->cx->records[slot].result[RDL_WORD_BORN];
}

static int compare_ages(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* How much older than the newest a future is that waits for room. */
static uint32_t age(const search *s, uint32_t slot) {
  return s->cx->control->born - born(s, slot);
}

/* Ages of all that wait for room, ascending; returns how many there are. */
static uint32_t list_ages(search *s) {
  uint32_t node, count = 0;
  for (node = s->cx->control->room; node && count < s->slots; node = s->cx->nodes[node].next) {
    uint32_t slot = waiter_of(s, node);
    if (slot) s->stack[count++] = age(s, slot);
  }
  qsort(s->stack, count, sizeof *s->stack, compare_ages);
  return count;
}

/* Those of at most this age are told that there is no room; returns the youngest. */
static uint32_t tell_no_room(search *s, uint32_t most) {
  rdl_context *cx = s->cx;
  rdl_message message = {.kind = RDL_SAY_WAKE, .value = RDL_S_OUT_OF_SLOTS};
  uint32_t node, youngest = 0;
  for (node = cx->control->room; node; node = cx->nodes[node].next) {
    uint32_t slot = waiter_of(s, node);
    if (!slot || age(s, slot) > most) continue;
    if (!youngest || age(s, slot) < age(s, youngest)) youngest = slot;
    message.slot = slot;
    message.generation = rdl_load_relaxed(&cx->records[slot].wait);
    rdl__try_say(cx, &message); /* what finds no place is told the next time */
  }
  return youngest;
}

/* What fails only frees what others use up again at once, as in work of unbounded width: then all
 * that wait are told, and who finds no room in this time does not begin to wait. */
static void fail_all(rdl_context *cx, bool all) {
  rdl_store_relaxed(&cx->control->full, all);
  rdl__wrote(cx, &cx->control->full, sizeof cx->control->full);
}

/* First the youngest fails. While that does not help, twice as many fail each time, and after
 * MOST_FAIL_AT_ONCE all: so an end is near however many there are. */
static void fail_youngest(search *s, uint32_t count) {
  rdl_context *cx = s->cx;
  rdl_message message = {.kind = RDL_SAY_ROOM};
  uint32_t many = cx->room_fails ? 2u * cx->room_fails : 1u, youngest;
  if (many > MOST_FAIL_AT_ONCE) {
    fail_all(cx, true);
    rdl__try_say(cx, &message);
    youngest = tell_no_room(s, s->stack[0]);
    many = count;
  } else {
    cx->room_fails = many;
    if (many > count) many = count;
    youngest = tell_no_room(s, s->stack[many - 1u]);
  }
  cx->room_failed_ns = rdl__now_ns();
  cx->room_segments = UINT64_MAX; /* the others look again first */
  rdl__log(
      cx, RDL_LOG_WARNING,
      "no slot is left and all futures wait for one: %u of %u that wait end with "
      "RDL_OUT_OF_SLOTS, the youngest of task %s (%s:%u). Spawn less ahead of what is awaited, "
      "free what has ended (RDL_TAKE, RDL_DROP), or raise the option `slots` (now %u)",
      many, count, task_of(s, youngest)->name, task_of(s, youngest)->file,
      task_of(s, youngest)->line, cx->options.slots);
}

/* Nobody waits for room. */
static void room_is_there(rdl_context *cx) {
  if (cx->control->full) fail_all(cx, false);
  if (cx->room_fails && rdl__now_ns() - cx->room_failed_ns > QUIET_NS) cx->room_fails = 0;
}

static void break_room(search *s) {
  rdl_context *cx = s->cx;
  rdl_message message = {.kind = RDL_SAY_ROOM};
  uint32_t count = list_ages(s);
  rdl_reason why = {""};
  rdl_stats stats;
  if (!count) {
    room_is_there(cx);
    return;
  }
  rdl__stats_read(cx, &stats);
  if (stats.segments != cx->room_segments) {
    cx->room_segments = stats.segments;
    cx->solo = !rdl__work_pending(cx); /* beside others one worker alone would hold those up */
    if (!rdl__pull_frames(cx, &why)) rdl__stashes_return(cx);
    rdl__try_say(cx, &message);
    return;
  }
  if (s->by_host) return; /* what the host or a deadline moves may still free slots */
  fail_youngest(s, count);
}

/* ---- all together ---- */

static bool nothing_lives(rdl_context *cx) {
  rdl_stats stats;
  rdl__stats_read(cx, &stats);
  return stats.live == 0;
}

static bool half_done(rdl_context *cx) {
  uint32_t k;
  for (k = 0; k < cx->workers; k++)
    if (cx->worker_states[k].backlog || cx->worker_states[k].unwind ||
        (cx->steps && (cx->steps[k].noted || cx->steps[k].phase == RDL_PHASE_ENDING)))
      return true;
  return false;
}

void rdl__break_deadlocks(rdl_context *cx) {
  char story[sizeof cx->deadlock_text] = "";
  search s = {.cx = cx, .story = story, .story_size = sizeof story};
  rdl_reason why = {""};
  rdl_status status;
  cx->search_deadlocks = false;
  cx->next_search = rdl__now_ns() + SEARCH_EVERY_NS;
  if (half_done(cx)) return;
  if (nothing_lives(cx)) {
    room_is_there(cx);
    return;
  }
  status = rdl__pull_tables(cx, &why);
  if (status) {
    rdl__lose_device(cx, status, &why);
    return;
  }
  rdl__timers_collect(cx);
  s.slots = rdl__fresh(cx, RDL_POOL_SLOTS);
  s.movable = cx->search_marks;
  s.seen = s.movable + s.slots;
  s.stack = cx->search_stack;
  memset(s.movable, 0, 2u * (size_t)s.slots);
  mark_movable(&s);
  spare_the_new(&s);
  break_dead(&s);
  if (s.sent) {
    memcpy(cx->deadlock_text, story, sizeof story);
    rdl__log(cx, RDL_LOG_ERROR, "deadlock: %s", story);
  } else if (!s.traffic) {
    break_room(&s);
  }
}
