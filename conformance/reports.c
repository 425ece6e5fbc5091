/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that public reports gave: what went wrong in other systems, and in drivers, must go right
 * here. Each is named after the promise that it would break. */
#include <pthread.h>
#include <stdlib.h>

#include "conformance/harness.h"

#define TASKS "rep.task.c"

static void shuffle(uint32_t *list, uint32_t count) {
  uint32_t k;
  for (k = 0; k < count; k++)
    list[k] = k;
  for (k = count; k > 1; k--) {
    uint32_t other = chance(k), kept = list[other];
    list[other] = list[k - 1];
    list[k - 1] = kept;
  }
}

/* ---- FUT 6: a chain of five, one of which fails ---- */

enum { LINKS = 5 };

typedef enum link_kind { LINK_PLAIN, LINK_CATCHES, LINK_AFTER, LINK_KINDS } link_kind;

typedef struct chain {
  rdl_future links[LINKS];
  rdl_event events[LINKS];
} chain;

/* A link that is started `after` another does not wait by itself, and never starts after a failure:
 * then nobody may wait for its event. */
static rdl_future start_link(bed *b, chain *c, const link_kind *kinds, uint32_t k, uint32_t code) {
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.n = code, .k = kinds[k] == LINK_CATCHES};
  rdl_future f;
  c->events[k] = new_event(b, 1, RDL_EVENT_DEVICE);
  args.d = c->events[k];
  if (k && kinds[k] == LINK_AFTER) {
    options.after = &c->links[k - 1];
    options.after_count = 1;
  } else if (k) {
    args.f = c->links[k - 1];
    if (kinds[k - 1] != LINK_AFTER) args.e = c->events[k - 1];
  }
  CHECK_OK(rdl_spawn(b->tasks, "rep_link", &args, sizeof args, &options, &f));
  return f;
}

/* From the failing link on all report its code, and nobody waits for ever. The last is asked first:
 * it must not be the asking that ends the others. */
static void run_chain(bed *b, const link_kind *kinds, uint32_t failing) {
  uint32_t code = 1000u + chance(1000000u), k;
  chain c;
  for (k = 0; k < LINKS; k++)
    c.links[k] = start_link(b, &c, kinds, k, k == failing ? code : 0u);
  for (k = LINKS; k-- > failing;)
    CHECK_END(b, c.links[k], RDL_FAILED, code);
  for (k = 0; k < failing; k++)
    CHECK_EQ(7, get(b, c.links[k]));
  for (k = 0; k < LINKS; k++)
    CHECK_OK(rdl_event_destroy(b->cx, c.events[k]));
}

void FUT_6_chain_of_five(void) {
  bed b = bed_open(TASKS);
  link_kind kinds[LINKS];
  uint32_t failing, kind, turn, k;
  for (failing = 0; failing < LINKS; failing++) {
    for (kind = 0; kind < LINK_KINDS; kind++) {
      for (k = 0; k < LINKS; k++)
        kinds[k] = (link_kind)kind;
      run_chain(&b, kinds, failing);
    }
    for (turn = 0; turn < 10; turn++) {
      for (k = 0; k < LINKS; k++)
        kinds[k] = (link_kind)chance(LINK_KINDS);
      run_chain(&b, kinds, failing);
    }
  }
  bed_close(&b);
}

/* Who fails before it signals leaves waiters of an event, and those leave more. */
void SCH_8_failed_signaller(void) {
  bed b = bed_open(TASKS);
  rdl_event events[LINKS];
  rdl_future links[LINKS];
  uint32_t k;
  for (k = 0; k < LINKS; k++)
    events[k] = new_event(&b, 1, RDL_EVENT_DEVICE);
  for (k = LINKS; k-- > 0;)
    links[k] = START(&b, "rep_relay", .e = events[k ? k - 1 : 0], .d = events[k], .n = k ? 0 : 55);
  CHECK_END(&b, links[0], RDL_FAILED, 55);
  for (k = LINKS; k-- > 1;)
    CHECK_END(&b, links[k], RDL_DEADLOCK, 0);
  bed_close(&b);
}

/* ---- SCH 3: what waits for the host stops nobody else ---- */

enum { OTHERS = 64, OTHER_TURNS = 50 };

typedef struct promises {
  bed b;
  uint32_t count;
  rdl_future *promises, *waiters;
  rdl_future others[OTHERS];
} promises;

/* Every third waiter has not started: the host gave the promise as what it comes after. */
static void start_waiter(promises *p, uint32_t k) {
  rdl_spawn_options options = RDL_SPAWN_OPTIONS_INIT;
  task_args args = {.f = p->promises[k], .n = k};
  CHECK_OK(rdl_future_create(p->b.cx, &p->promises[k]));
  args.f = p->promises[k];
  options.after = &p->promises[k];
  options.after_count = k % 3 == 2;
  CHECK_OK(rdl_spawn(p->b.tasks, "rep_await", &args, sizeof args, &options, &p->waiters[k]));
}

/* Waiters and others, in a random order. */
static void start_mixed(promises *p) {
  uint32_t *order = calloc(p->count + OTHERS, sizeof *order), k;
  CHECK(order);
  shuffle(order, p->count + OTHERS);
  for (k = 0; k < p->count + OTHERS; k++)
    if (order[k] < p->count)
      start_waiter(p, order[k]);
    else
      p->others[order[k] - p->count] = START(&p->b, "rep_yields", .n = OTHER_TURNS);
  free(order);
}

static void start_waiters_first(promises *p) {
  uint32_t k;
  for (k = 0; k < p->count; k++)
    start_waiter(p, k);
  for (k = 0; k < OTHERS; k++)
    p->others[k] = START(&p->b, "rep_yields", .n = OTHER_TURNS);
}

static void check_others(promises *p) {
  uint32_t sum = 1, k;
  for (k = 0; k < OTHER_TURNS; k++)
    sum = mix(sum, k);
  for (k = 0; k < OTHERS; k++)
    CHECK_EQ(sum, get(&p->b, p->others[k]));
}

static void complete_all(promises *p) {
  uint32_t *order = calloc(p->count, sizeof *order), value, k;
  CHECK(order);
  for (k = 0; k < p->count; k++)
    CHECK_STATUS(RDL_AGAIN, rdl_future_peek(p->b.cx, p->waiters[k], &value, sizeof value));
  shuffle(order, p->count);
  for (k = 0; k < p->count; k++) {
    value = order[k] * 3u;
    CHECK_OK(rdl_future_complete(p->b.cx, p->promises[order[k]], &value, sizeof value, 0));
  }
  for (k = 0; k < p->count; k++) {
    CHECK_EQ(mix(k * 3u, k), get(&p->b, p->waiters[k]));
    CHECK_EQ(k * 3u, get(&p->b, p->promises[k]));
  }
  free(order);
}

static void run_promises(bed *b, uint32_t count, void (*start_all)(promises *p)) {
  promises p = {.b = *b, .count = count};
  p.promises = calloc(count, sizeof *p.promises);
  p.waiters = calloc(count, sizeof *p.waiters);
  CHECK(p.promises && p.waiters);
  start_all(&p);
  check_others(&p);
  complete_all(&p);
  free(p.promises);
  free(p.waiters);
}

void SCH_3_promises(void) {
  uint32_t counts[] = {1, 16, suite_scale(1000)};
  bed b = bed_open(TASKS);
  size_t k;
  for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    run_promises(&b, counts[k], start_waiters_first);
    run_promises(&b, counts[k], start_mixed);
  }
  bed_close(&b);
}

/* ---- EVT 6: after the wait the payload is the new one ---- */

enum { ROUNDS = 100000, PAYLOAD = 8 };

static void check_payload(const memory *m, uint32_t at, uint32_t round) {
  uint32_t words[PAYLOAD], k;
  CHECK_OK(rdl_buffer_read(m->buffer, (size_t)at * sizeof words, words, sizeof words));
  for (k = 0; k < PAYLOAD; k++)
    if (words[k] != mix(round, k))
      test_fail(__FILE__, __LINE__, "in round %u word %u is %u, expected %u", round, k, words[k],
                mix(round, k));
}

/* Every round is asked for, and writes where the one before did. There are fewer where each takes a
 * launch. */
void EVT_6_always_new(void) {
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, PAYLOAD);
  uint32_t whole = m.words ? UNLESS_CUT(SCALED(ROUNDS, 5000), 20000) : 20000;
  uint32_t rounds = suite_scale(whole), round;
  rdl_event asked = new_event(&b, rounds, 0), told = new_event(&b, rounds, RDL_EVENT_DEVICE);
  rdl_future f =
      START(&b, "rep_publish", .at = m.at, .e = asked, .d = told, .n = rounds, .k = PAYLOAD);
  for (round = 1; round <= rounds; round++) {
    CHECK_OK(rdl_event_signal(b.cx, asked, 1));
    CHECK_OK(rdl_event_wait_count(b.cx, told, round, PATIENCE_NS));
    check_payload(&m, 0, round);
  }
  CHECK_EQ(rounds + 1, get(&b, f));
  bed_close(&b);
}

/* The device runs ahead and the host reads behind it. */
void EVT_6_stream(void) {
  uint32_t rounds = suite_scale(SCALED(ROUNDS, 20000)), round;
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, (size_t)rounds * PAYLOAD);
  rdl_event told = new_event(&b, rounds, RDL_EVENT_DEVICE);
  rdl_future f = START(&b, "rep_stream", .at = m.at, .d = told, .n = rounds, .k = PAYLOAD);
  for (round = 1; round <= rounds; round++) {
    CHECK_OK(rdl_event_wait_count(b.cx, told, round, PATIENCE_NS));
    check_payload(&m, round - 1, round);
  }
  CHECK_EQ(rounds + 1, get(&b, f));
  bed_close(&b);
}

/* ---- EVT 2: one event counts what many signal ---- */

enum { SIGNALLERS = 1000, THREADS = 4 };

typedef struct signaller {
  bed *b;
  rdl_event event;
  uint32_t count;
} signaller;

static void *signal_on_host(void *argument) {
  signaller *s = argument;
  uint32_t k;
  for (k = 0; k < s->count; k++)
    CHECK_OK(rdl_event_signal(s->b->cx, s->event, 1));
  return NULL;
}

static rdl_future start_signallers(bed *b, rdl_event event, uint32_t each) {
  return start_many(b, "rep_signal", SIGNALLERS, (task_args){.e = event, .k = each});
}

/* Of a hundred thousand signals none is lost, and none counts twice. */
void EVT_2_many_signals(void) {
  uint32_t each = suite_scale(80), own = suite_scale(5000), k;
  uint32_t total = each * SIGNALLERS + own * THREADS + 1;
  bed b = bed_open(TASKS);
  rdl_event event = new_event(&b, total, 0);
  signaller signallers[THREADS];
  pthread_t threads[THREADS];
  rdl_future tasks, waiters[THREADS];
  for (k = 0; k < THREADS; k++)
    waiters[k] = START(&b, "rep_await_count", .e = event, .n = total / THREADS * (k + 1));
  tasks = start_signallers(&b, event, each);
  for (k = 0; k < THREADS; k++) {
    signallers[k] = (signaller){&b, event, own};
    CHECK_EQ(0, pthread_create(&threads[k], NULL, signal_on_host, &signallers[k]));
  }
  for (k = 0; k < THREADS; k++)
    pthread_join(threads[k], NULL);
  get_none(&b, tasks);
  CHECK_OK(rdl_event_wait_count(b.cx, event, total - 1, PATIENCE_NS));
  CHECK_STATUS(RDL_TIMEOUT, rdl_event_wait(b.cx, event, 2u * MS));
  CHECK_OK(rdl_event_signal(b.cx, event, 1));
  CHECK_OK(rdl_event_wait(b.cx, event, PATIENCE_NS));
  for (k = 0; k < THREADS; k++)
    CHECK_BETWEEN(total / THREADS * (k + 1), get(&b, waiters[k]), total);
  bed_close(&b);
}

/* ---- HST 1: calls that a driver may hold back until nothing runs ---- */

static void use_second_context(void) {
  rdl_context_options options = bed_options();
  bed b;
  options.slots = options.roots = options.events = 100;
  options.frame_bytes = 1 << 20;
  b = bed_open_with(TASKS, &options);
  CHECK_EQ(mix(1, 0), RUN(&b, "rep_yields", .n = 1));
  bed_close(&b);
}

static void use_buffer(bed *b) {
  enum { WORDS = 1 << 18 };
  memory m = memory_new(b, WORDS);
  uint32_t value = 5;
  CHECK_OK(rdl_buffer_write(m.buffer, (WORDS - 1) * sizeof value, &value, sizeof value));
  value = 0;
  CHECK_OK(rdl_buffer_read(m.buffer, (WORDS - 1) * sizeof value, &value, sizeof value));
  CHECK_EQ(5, value);
  rdl_buffer_destroy(m.buffer);
}

/* Memory, events and contexts come and go on a device that never rests. */
void HST_1_beside_work(void) {
  bed b = bed_open(TASKS);
  rdl_event end = new_event(&b, 1, 0);
  rdl_future busy[16];
  uint32_t k;
  for (k = 0; k < 16; k++)
    busy[k] = START(&b, "rep_busy", .e = end);
  for (k = 0; k < 10; k++) {
    rdl_event event = new_event(&b, 1, 0);
    use_buffer(&b);
    use_second_context();
    CHECK_OK(rdl_event_destroy(b.cx, event));
  }
  for (k = 0; k < 16; k++)
    CHECK_STATUS(RDL_TIMEOUT, rdl_future_wait(b.cx, &busy[k], 1, 0));
  CHECK_OK(rdl_event_signal(b.cx, end, 1));
  for (k = 0; k < 16; k++)
    CHECK_EQ(1, get(&b, busy[k]));
  bed_close(&b);
}
