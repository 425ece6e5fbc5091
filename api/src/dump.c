/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all futures do, in words. A pass over the slots sorts the live ones into groups of those
 * that do the same; of each group a few are told one by one. Between two launches all of it fits
 * together. While a launch runs on, words change under the pass: then indices are checked and lists
 * walked for a limited number of steps.
 */
#include <stdlib.h>

#include "api/src/core.h"

#define MOST_GROUPS 128u
#define SHOWN       4u /* of a group */
#define PATIENCE_NS 100000000u

typedef enum doing {
  DOES_RUN,
  DOES_STAND_READY,
  DOES_WAIT,
  DOES_WAIT_FOR_HOST, /* a promise */
  WAS_LEFT,           /* when the device was lost */
  HAS_RETURNED
} doing;

typedef struct group {
  doing what;
  uint32_t task;
  uint32_t awaits; /* an event, a tag, or the task of the awaited future */
  uint32_t spawner;
  uint32_t count;
  uint32_t slots[SHOWN]; /* the first ones */
} group;

/* What is known of a slot from elsewhere. */
typedef struct note {
  uint64_t due;     /* of its deadline; 0 = none */
  uint32_t missing; /* waits for a set: members that have not ended */
  uint32_t member;  /* one of them */
  uint32_t worker;  /* that runs it, plus one */
} note;

typedef struct dump {
  rdl_context *cx;
  rdl__text *out;
  note *notes; /* by slot */
  uint32_t slots;
  uint32_t steps; /* left for walking lists */
  uint64_t now;
  uint64_t live;
  uint64_t done; /* and not freed by who may ask for the result */
  uint64_t left; /* live, in none of the groups */
  uint32_t group_count;
  group groups[MOST_GROUPS];
} dump;

static uint32_t next_slot(const dump *d, uint32_t slot) {
  return slot + 1u == d->cx->fresh_root ? d->cx->options.roots + 1u : slot + 1u;
}

/* The heap cannot be looked into: what the host has of it is as the last launch left it. */
static bool is_blind(const dump *d) {
  return rdl__apart(d->cx) && (d->cx->launched || d->cx->lost);
}

static uint32_t state_of(const dump *d, uint32_t slot) {
  if (is_blind(d) && slot < d->cx->fresh_root &&
      rdl__root_done(d->cx, slot, d->cx->roots[slot].generation))
    return RDL_DONE;
  return rdl_load_relaxed(&d->cx->records[slot].wait) & RDL_STATE_MASK;
}

static bool is_live(uint32_t state) {
  return state != RDL_FREE && state != RDL_DONE && state <= RDL_DONE;
}

static uint32_t awaits_of(const dump *d, uint32_t slot) {
  return rdl_load_relaxed(&d->cx->records[slot].result[RDL_WORD_AWAITS]);
}

/* ---- what is known from elsewhere ---- */

static void note_workers(dump *d) {
  uint32_t k;
  for (k = 0; (d->cx->launched || d->cx->lost) && k < d->cx->launched_workers; k++) {
    rdl__running runs;
    if (rdl__running_on(d->cx, k, &runs) && runs.slot < d->slots)
      d->notes[runs.slot].worker = k + 1u;
  }
}

static void note_deadlines(dump *d) {
  size_t k;
  if (!is_blind(d)) rdl__timers_collect(d->cx);
  for (k = 0; k < d->cx->timer_count; k++) {
    const rdl__timer *timer = &d->cx->timers[k];
    if (timer->slot < d->slots &&
        rdl_load_relaxed(&d->cx->records[timer->slot].wait) == timer->wait)
      d->notes[timer->slot].due = timer->due;
  }
}

/* The future that waits through this node, if it does so for a set; 0 otherwise. */
static uint32_t set_waiter(const dump *d, uint32_t index) {
  const rdl_node *node = &d->cx->nodes[index];
  uint32_t limit = d->cx->control->pools[RDL_POOL_NODES].limit;
  if ((node->kind & 3u) == RDL_NODE_MEMBER) {
    if (node->who >= limit) return 0;
    node = &d->cx->nodes[node->who];
  }
  if (!node->who || node->who >= d->slots) return 0;
  if (rdl_load_relaxed(&d->cx->records[node->who].wait) != node->ticket) return 0;
  return awaits_of(d, node->who) == RDL_AWAITS_SET ? node->who : 0u;
}

/* Who waits for a set with this future in it. */
static void note_members(dump *d, uint32_t slot) {
  uint32_t limit = d->cx->control->pools[RDL_POOL_NODES].limit;
  uint32_t node = rdl_load_relaxed(&d->cx->records[slot].waiters);
  if (node & RDL_LIST_CLOSED) return;
  for (node &= RDL_NODE_MASK; node && node < limit && d->steps; node = d->cx->nodes[node].next) {
    uint32_t waiter = set_waiter(d, node);
    d->steps--;
    if (!waiter) continue;
    d->notes[waiter].missing++;
    d->notes[waiter].member = slot;
  }
}

/* ---- groups ---- */

static bool is_own(const dump *d, uint32_t word, const char *name) {
  return (word & RDL_TASK_MASK) == (rdl__own_task(d->cx, name)->word & RDL_TASK_MASK);
}

#define BY_HOST UINT32_MAX

/* The word of the task that spawned it, or BY_HOST. Members of a batch come from the host. */
static uint32_t spawner_of(const dump *d, uint32_t slot) {
  const rdl_record *record = &d->cx->records[slot];
  uint32_t word;
  if (slot <= d->cx->options.roots) return BY_HOST;
  if (rdl_load_relaxed(&record->waiters) & RDL_DETACHED_BIT)
    word = record->next_sibling;
  else
    word = record->owner < d->slots ? rdl__task_of(d->cx, record->owner) : BY_HOST;
  return word == BY_HOST || is_own(d, word, "rdl_batch") ? BY_HOST : word & RDL_TASK_MASK;
}

static doing doing_of(const dump *d, uint32_t slot, uint32_t state) {
  if (is_blind(d) && d->notes[slot].worker) return DOES_RUN;
  if (is_blind(d) && d->cx->lost && !rdl__is_promise(d->cx, slot)) return WAS_LEFT;
  if (state == RDL_RETURNED) return HAS_RETURNED;
  if (state == RDL_WAITING) return rdl__is_promise(d->cx, slot) ? DOES_WAIT_FOR_HOST : DOES_WAIT;
  return d->notes[slot].worker ? DOES_RUN : DOES_STAND_READY;
}

/* What is the same for all of a group. */
static uint32_t awaited_kind(const dump *d, uint32_t slot) {
  uint32_t awaits = awaits_of(d, slot);
  if (awaits & (RDL_AWAITS_EVENT | RDL_AWAITS_TAG) || awaits >= d->slots) return awaits;
  return rdl__task_of(d->cx, awaits) & RDL_TASK_MASK;
}

static group *group_for(dump *d, const group *like) {
  uint32_t k;
  for (k = 0; k < d->group_count; k++) {
    group *g = &d->groups[k];
    if (g->what == like->what && g->task == like->task && g->awaits == like->awaits &&
        g->spawner == like->spawner)
      return g;
  }
  if (k == MOST_GROUPS) return NULL;
  d->groups[d->group_count++] = *like;
  return &d->groups[k];
}

static void sort_in(dump *d, uint32_t slot, uint32_t state) {
  group like = {.what = doing_of(d, slot, state)};
  group *g;
  like.task = rdl__task_of(d->cx, slot) & RDL_TASK_MASK;
  like.awaits = like.what == DOES_WAIT ? awaited_kind(d, slot) : 0u;
  like.spawner = spawner_of(d, slot);
  g = group_for(d, &like);
  d->live++;
  if (!g)
    d->left++;
  else if (g->count++ < SHOWN)
    g->slots[g->count - 1u] = slot;
}

static void sort_all(dump *d) {
  uint32_t slot;
  for (slot = 1; slot < d->slots; slot = next_slot(d, slot)) {
    uint32_t state = state_of(d, slot);
    if (is_live(state)) note_members(d, slot);
    if (state == RDL_DONE) d->done++;
  }
  for (slot = 1; slot < d->slots; slot = next_slot(d, slot)) {
    uint32_t state = state_of(d, slot);
    if (is_live(state)) sort_in(d, slot, state);
  }
}

/* ---- words ---- */

static void tell_set(const dump *d, uint32_t slot) {
  const note *n = &d->notes[slot];
  rdl__text_print(d->out, "a set of futures");
  if (!n->missing) return;
  rdl__text_print(d->out, ", %u of which have not ended, {%#x, ...} of ", n->missing,
                  n->member | d->cx->number << 24);
  rdl__tell_task(d->cx, rdl__task_of(d->cx, n->member), d->out);
}

/* How long ago, where it is known: the clock of the device's words stands still in a launch. */
static void tell_since(const dump *d, uint32_t slot) {
  uint32_t since = rdl_load_relaxed(&d->cx->records[slot].result[RDL_WORD_SINCE]);
  int32_t ms = (int32_t)(rdl__as_ms(d->now) - since);
  rdl__text_print(d->out, ", for about ");
  rdl__tell_ns(ms > 0 ? (uint64_t)ms * 1000000u : 0u, d->out);
}

static void tell_deadline(const dump *d, uint32_t slot) {
  uint64_t due = d->notes[slot].due;
  if (!due) return;
  rdl__text_print(d->out, ", at most ");
  rdl__tell_ns(due > d->now ? due - d->now : 0u, d->out);
  rdl__text_print(d->out, " more");
}

static void tell_waiting(const dump *d, uint32_t slot) {
  rdl__text_print(d->out, "waits for ");
  if (awaits_of(d, slot) == RDL_AWAITS_SET)
    tell_set(d, slot);
  else
    rdl__tell_wait(d->cx, slot, d->out);
  tell_since(d, slot);
  tell_deadline(d, slot);
}

static void tell_running(const dump *d, uint32_t slot) {
  uint32_t worker = d->notes[slot].worker - 1u;
  uint64_t held = rdl__held_ns(d->cx, worker);
  rdl__text_print(d->out, "%s on worker %u", d->cx->lost ? "ran" : "runs", worker);
  if (!held) return;
  rdl__text_print(d->out, ", one segment for at least ");
  rdl__tell_ns(held, d->out);
}

static void tell_doing(const dump *d, const group *g, uint32_t slot) {
  const rdl_record *record = &d->cx->records[slot];
  if (g->what == DOES_RUN) tell_running(d, slot);
  if (g->what == DOES_STAND_READY)
    rdl__text_print(d->out, "%s",
                    rdl_load_relaxed(&record->resume) ? "is ready to go on" : "is ready to start");
  if (g->what == DOES_WAIT) tell_waiting(d, slot);
  if (g->what == WAS_LEFT) rdl__text_print(d->out, "had not ended when the device was lost");
  if (g->what == DOES_WAIT_FOR_HOST) {
    rdl__text_print(d->out, "waits for rdl_future_complete");
    tell_since(d, slot);
  }
  if (g->what == HAS_RETURNED)
    rdl__text_print(d->out, "has returned, and waits for %u children to end",
                    rdl_load_relaxed(&record->children) & ~RDL_CHILDREN_AWAITED);
}

static void tell_one(const dump *d, const group *g, uint32_t slot) {
  rdl__tell_future(d->cx, slot, d->out);
  rdl__text_print(d->out, " ");
  tell_doing(d, g, slot);
  rdl__text_print(d->out, "; spawned by ");
  if (g->spawner == BY_HOST)
    rdl__text_print(d->out, "the host");
  else
    rdl__tell_task(d->cx, g->spawner, d->out);
  rdl__text_print(d->out, "\n");
}

/* Futures that are no roots, where the host sees nothing else of those. */
static void tell_shown(const dump *d) {
  uint32_t k;
  for (k = 0; d->cx->shown && is_blind(d) && k < d->cx->launched_workers; k++) {
    rdl__running runs;
    uint64_t held = rdl__held_ns(d->cx, k);
    if (!rdl__running_on(d->cx, k, &runs) || runs.slot < d->slots) continue;
    rdl__text_print(d->out, "worker %u %s ", k, d->cx->lost ? "ran" : "runs");
    rdl__tell_running(d->cx, &runs, d->out);
    if (held) {
      rdl__text_print(d->out, ", one segment for at least ");
      rdl__tell_ns(held, d->out);
    }
    rdl__text_print(d->out, "\n");
  }
}

static void tell_group(const dump *d, const group *g) {
  uint32_t k;
  for (k = 0; k < g->count && k < SHOWN; k++)
    tell_one(d, g, g->slots[k]);
  if (g->count > SHOWN)
    rdl__text_print(d->out, "and %u more that %s the same\n", g->count - SHOWN,
                    g->count - SHOWN == 1u ? "does" : "do");
}

static void tell_context(const dump *d) {
  const rdl_context *cx = d->cx;
  rdl__text_print(d->out, "context %u on %s: %llu futures live, %llu done and not taken or freed",
                  cx->number, cx->device_info.selector, (unsigned long long)d->live,
                  (unsigned long long)d->done);
  if (cx->lost) rdl__text_print(d->out, "; the device is lost: %s", cx->lost_why.text);
  if (cx->launched) {
    rdl__text_print(d->out, "; while a launch runs, for ");
    rdl__tell_ns(d->now - cx->launched_ns, d->out);
    rdl__text_print(d->out, ", so that the lines are approximate");
    if (rdl__apart(d->cx))
      rdl__text_print(d->out, ": the host's own futures, as the launch before left them");
  }
  rdl__text_print(d->out, "\n");
}

/* The lock is held. */
static rdl_status describe(rdl_context *cx, rdl__text *out) {
  dump *d = calloc(1, sizeof *d);
  bool done = false;
  uint32_t k;
  if (!d) return RDL_OUT_OF_MEMORY;
  d->cx = cx;
  d->out = out;
  d->now = rdl__now_ns();
  d->slots = rdl__fresh(cx, RDL_POOL_SLOTS);
  if (is_blind(d)) d->slots = cx->fresh_root; /* of the others nothing is known */
  d->steps = cx->control->pools[RDL_POOL_NODES].limit;
  d->notes = calloc(d->slots, sizeof *d->notes);
  if (d->notes) {
    note_workers(d);
    note_deadlines(d);
    sort_all(d);
    tell_context(d);
    for (k = 0; k < d->group_count; k++)
      tell_group(d, &d->groups[k]);
    tell_shown(d);
    if (d->left)
      rdl__text_print(out, "and %llu futures that do something else\n",
                      (unsigned long long)d->left);
    done = !out->failed;
  }
  free(d->notes);
  free(d);
  return done ? RDL_OK : RDL_OUT_OF_MEMORY;
}

/* A worker is known to be held: the launch would not end. */
static bool is_held(rdl_context *cx) {
  uint32_t k;
  rdl__watch(cx);
  if (rdl__overdue_ns(cx)) return true;
  for (k = 0; k < cx->workers; k++)
    if (rdl__held_ns(cx, k)) return true;
  return false;
}

static bool hold(rdl_context *cx) {
  if (is_held(cx)) return false;
  return !rdl__service_hold(cx, rdl__deadline_ns(2u * cx->options.quantum_ns + PATIENCE_NS));
}

static void write_lines(const rdl__text *text, rdl_write_fn write, void *user) {
  char *line = text->bytes;
  char *end;
  for (; line && *line; line = end) {
    char behind;
    for (end = line; *end && *end != '\n'; end++) {
    }
    if (*end) end++;
    behind = *end;
    *end = '\0';
    write(user, line, (size_t)(end - line));
    *end = behind;
  }
}

rdl_status rdl_context_dump(rdl_context *cx, rdl_write_fn write, void *user) {
  rdl__text text = {0};
  rdl_reason why = {""};
  rdl_status status = RDL_OK;
  bool held;
  RDL__NEED(cx);
  RDL__NEED(write);
  pthread_mutex_lock(&cx->lock);
  held = hold(cx);
  if (held && !cx->lost) status = rdl__pull_tables(cx, &why);
  if (status)
    status = rdl__error_why(status, &why);
  else if (cx->closing)
    status = rdl__error(RDL_CLOSED, "the context is closing");
  else
    status = describe(cx, &text);
  if (held) rdl__service_release(cx);
  pthread_mutex_unlock(&cx->lock);
  if (!status) write_lines(&text, write, user);
  rdl__text_finish(&text);
  if (status == RDL_OUT_OF_MEMORY)
    return rdl__error(status, "rdl_context_dump: out of host memory");
  return status;
}
