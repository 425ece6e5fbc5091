/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the task dialect. docs/tasks.md tells users what each does; here stands how. A task
 * is a function that returns RDL_SUSPENDED with a resume point, or RDL_ENDED. Resume points come
 * from __COUNTER__, counted from the task's own base, so two awaits may stand on one line and the
 * numbers stay the same when the image is rebuilt with other modules.
 */

/* What a catching await tells, by the names that the host has for them. */
enum {
  RDL_OK = RDL_S_OK,
  RDL_INVALID = RDL_S_INVALID,
  RDL_STALE = RDL_S_STALE,
  RDL_TIMEOUT = RDL_S_TIMEOUT,
  RDL_CANCELLED = RDL_S_CANCELLED,
  RDL_FAILED = RDL_S_FAILED,
  RDL_DEADLOCK = RDL_S_DEADLOCK,
  RDL_OUT_OF_SLOTS = RDL_S_OUT_OF_SLOTS,
  RDL_LOOP_BUDGET = RDL_S_LOOP_BUDGET,
  RDL_PERMISSION = RDL_S_PERMISSION
};

typedef rdl_u64 rdl_ptr;
typedef struct rdl_none {
  rdl_u32 nothing;
} rdl_none;
#define RDL_NONE rdl_none

/* The size that the host is told. A type is known as RDL_NONE by its first word when all macros are
   replaced, for a macro of the file may stand for it. */
#define RDL_NOTHING_rdl_none           ~, 0u
#define RDL_SECOND_(one, two, rest...) two
#define RDL_SECOND_OF_(list...)        RDL_SECOND_(list)
#define RDL_BYTES_(type)               RDL_SECOND_OF_(RDL_NOTHING_##type, (rdl_u32)sizeof(type), ~)

#define RDL_WORDS(type) ((rdl_u32)((sizeof(type) + 3u) / 4u))
#define RDL_CLASS_OF(n)                                                                            \
  ((n) <= 16u     ? 0u                                                                             \
   : (n) <= 32u   ? 1u                                                                             \
   : (n) <= 64u   ? 2u                                                                             \
   : (n) <= 128u  ? 3u                                                                             \
   : (n) <= 256u  ? 4u                                                                             \
   : (n) <= 512u  ? 5u                                                                             \
   : (n) <= 1024u ? 6u                                                                             \
   : (n) <= 2048u ? 7u                                                                             \
   : (n) <= 4096u ? 8u                                                                             \
                  : 9u)
#define RDL_RESULT_CLASS(type)                                                                     \
  (sizeof(type) <= RDL_INLINE_SIZE ? RDL_CLASS_NONE : RDL_CLASS_OF(sizeof(type)))
/* Arguments, state, and behind them the words that each lane keeps for itself. */
#define RDL_FRAME_BYTES(A, S, lanes) (4u * (RDL_WORDS(A) + RDL_WORDS(S) + (lanes)))

/* The types of a task and its word. The array's name is what a user reads when a limit is passed.
 */
#define RDL_TYPES_(name, R, A, S, flags, lanes)                                                    \
  typedef R name##_result;                                                                         \
  typedef A name##_args;                                                                           \
  typedef S name##_state;                                                                          \
  typedef char name##_arguments_and_state_exceed_8192_bytes                                        \
      [RDL_FRAME_BYTES(A, S, lanes) <= RDL_MAX_BLOCK ? 1 : -1];                                    \
  typedef char name##_result_exceeds_8192_bytes[sizeof(R) <= RDL_MAX_BLOCK ? 1 : -1];              \
  enum {                                                                                           \
    rdl_args_size_of_##name = RDL_BYTES_(A),                                                       \
    rdl_state_size_of_##name = RDL_BYTES_(S),                                                      \
    rdl_result_size_of_##name = RDL_BYTES_(R),                                                     \
    name##_task_word = RDL_ID_##name |                                                             \
                       RDL_CLASS_OF(RDL_FRAME_BYTES(A, S, lanes)) << RDL_FRAME_SHIFT |             \
                       RDL_RESULT_CLASS(R) << RDL_RESULT_SHIFT | (flags)                           \
  };
#define RDL_LANES_TYPES_(name, R, A, S, L)                                                         \
  typedef L name##_lane_state;                                                                     \
  RDL_TYPES_(name, R, A, S, 0u, RDL_WIDTH_##name *RDL_WORDS(L))

/* The scanner defines RDL_HEAD_name as one of these, whether or not the task was declared before.
 */
#define RDL_HEAD_HERE_(types) types
#define RDL_HEAD_DECLARED_(types)

/* Of a private task, which a lane runs as well (privates.h): its function takes what either has. */
#define RDL_PRIVATE_LIMITS_(name, R, A, S)                                                         \
  typedef char name##_arguments_and_state_exceed_36_private_bytes                                  \
      [RDL_WORDS(A) + RDL_WORDS(S) <= RDL_PRIVATE_WORDS ? 1 : -1];                                 \
  typedef char name##_result_exceeds_16_private_bytes[sizeof(R) <= RDL_INLINE_SIZE ? 1 : -1];
#if defined(RDL_PRIVATE)
#define RDL_PRIVATE_TYPES_(name, R, A, S)                                                          \
  RDL_TYPES_(name, R, A, S, RDL_TASK_IN_SET, 0u) RDL_PRIVATE_LIMITS_(name, R, A, S)
#define RDL_PRIVATE_FUNCTION_(name)                                                                \
  template <class rdl_runner>                                                                      \
  RDL_FN rdl_u32 name##_task(rdl_runner *rdl, const name##_args *args, name##_state *self,         \
                             name##_result *rdl_out RDL_KNOWS_WIDTH_(name))
#else
#define RDL_PRIVATE_TYPES_(name, R, A, S)                                                          \
  RDL_TYPES_(name, R, A, S, 0u, 0u) RDL_PRIVATE_LIMITS_(name, R, A, S)
#define RDL_PRIVATE_FUNCTION_(name) RDL_FUNCTION_(name)
#endif

#define RDL_FUNCTION_(name)                                                                        \
  RDL_FN rdl_u32 name##_task(rdl_cx *rdl, const name##_args *args, name##_state *self,             \
                             name##_result *rdl_out RDL_KNOWS_WIDTH_(name))
#define RDL_LANES_FUNCTION_(name)                                                                  \
  RDL_FN rdl_u32 name##_task(rdl_cx *rdl, const name##_args *args, name##_state *self,             \
                             name##_lane_state *mine,                                              \
                             name##_result *rdl_out RDL_KNOWS_WIDTH_(name))

#define RDL_DECLARE(name, R, A, S)                                                                 \
  RDL_TYPES_(name, R, A, S, 0u, 0u)                                                                \
  RDL_FUNCTION_(name);
#define RDL_DECLARE_LANES(name, R, A, S, L)                                                        \
  RDL_LANES_TYPES_(name, R, A, S, L)                                                               \
  RDL_LANES_FUNCTION_(name);

#define RDL_DECLARE_PRIVATE(name, R, A, S)                                                         \
  RDL_PRIVATE_TYPES_(name, R, A, S)                                                                \
  RDL_PRIVATE_FUNCTION_(name);

#define RDL_TASK(name, R, A, S)                                                                    \
  RDL_HEAD_##name(RDL_TYPES_(name, R, A, S, 0u, 0u)) RDL_FUNCTION_(name)
#define RDL_TASK_PRIVATE(name, R, A, S)                                                            \
  RDL_HEAD_##name(RDL_PRIVATE_TYPES_(name, R, A, S)) RDL_PRIVATE_FUNCTION_(name)
#define RDL_TASK_LANES(name, R, A, S, L)                                                           \
  RDL_HEAD_##name(RDL_LANES_TYPES_(name, R, A, S, L)) RDL_LANES_FUNCTION_(name)

#define RDL_BEGIN()                                                                                \
  enum { rdl_base_ = __COUNTER__ };                                                                \
  (void)args;                                                                                      \
  (void)self;                                                                                      \
  (void)rdl_out;                                                                                   \
  switch (rdl->resume) {                                                                           \
  case 0:;

#define RDL_END()                                                                                  \
  }                                                                                                \
  return RDL_ENDED

#define RDL_EXIT() return RDL_ENDED
#define RDL_RETURN(value)                                                                          \
  do {                                                                                             \
    *rdl_out = (value);                                                                            \
    return RDL_ENDED;                                                                              \
  } while (0)
#define RDL_END_WITH_(why)                                                                         \
  do {                                                                                             \
    rdl->cause = (why);                                                                            \
    return RDL_ENDED;                                                                              \
  } while (0)
#define RDL_FAIL(code) RDL_END_WITH_(rdl_failure((rdl_u64)(code)))

/* `point` is taken once: where the counter is an expression, each use of it counts. */
#define RDL_POINT_(point)                                                                          \
  enum { rdl_point_ = point - rdl_base_ };                                                         \
  rdl->resume = (rdl_u32)rdl_point_;                                                               \
  return RDL_SUSPENDED;                                                                            \
  case rdl_point_:

/* ---- await ---- */

#define RDL_OR_FAIL_()                                                                             \
  if (rdl->status) RDL_END_WITH_(rdl->status)
#define RDL_CAUGHT_(outcome) (outcome) = rdl_catch(rdl)

#if defined(RDL_WARP)
/* Like the next one, but a segment that the leader runs alone goes on at once. In OpenCL no lane
   may go another way than the others, as far as a compiler can see (0015). */
#define RDL_AWAIT_POINT_(poll, settle, limit, ending, point)                                       \
  do {                                                                                             \
    if (rdl_leaves(rdl, (poll))) {                                                                 \
      rdl->timeout = (limit);                                                                      \
      RDL_POINT_(point);                                                                           \
    }                                                                                              \
    ending;                                                                                        \
  } while (0)
#elif RDL_LANES > 1
/* All lanes leave, for only the leader knows whether they must: if the await is over before it
   began they come back at once. What the future is woken with is settled by then (lanes.cl). */
#define RDL_AWAIT_POINT_(poll, settle, limit, ending, point)                                       \
  do {                                                                                             \
    rdl->over = (poll);                                                                            \
    rdl->timeout = (limit);                                                                        \
    RDL_POINT_(point);                                                                             \
    ending;                                                                                        \
  } while (0)
#else
#define RDL_AWAIT_POINT_(poll, settle, limit, ending, point)                                       \
  do {                                                                                             \
    if (!(poll)) {                                                                                 \
      rdl->timeout = (limit);                                                                      \
      RDL_POINT_(point);                                                                           \
      settle;                                                                                      \
    }                                                                                              \
    ending;                                                                                        \
  } while (0)
#endif

#define RDL_AWAIT(f)                                                                               \
  RDL_AWAIT_POINT_(rdl_poll_future(rdl, (f)), rdl_settle_future(rdl, (f)), RDL_NEVER,              \
                   RDL_OR_FAIL_(), __COUNTER__)
#define RDL_AWAIT_CATCH(outcome, f)                                                                \
  RDL_AWAIT_POINT_(rdl_poll_future(rdl, (f)), rdl_settle_future(rdl, (f)), RDL_NEVER,              \
                   RDL_CAUGHT_(outcome), __COUNTER__)
#define RDL_AWAIT_FOR(outcome, f, ns)                                                              \
  RDL_AWAIT_POINT_(rdl_poll_future(rdl, (f)), rdl_settle_future(rdl, (f)), (rdl_u64)(ns),          \
                   RDL_CAUGHT_(outcome), __COUNTER__)

/* A set stands in the state or in the arguments, which are elsewhere once the task has returned. */
#define RDL_SET_(poll)                                                                             \
  (poll) || rdl_set_in_frame(rdl, (rdl_address)args, (rdl_u32)sizeof *args, (rdl_address)self,     \
                             (rdl_u32)sizeof *self)
#define RDL_POLL_ALL_(futures, n) RDL_SET_(rdl_poll_all(rdl, (futures), (n)))
#define RDL_POLL_ANY_(futures, n) RDL_SET_(rdl_poll_any(rdl, (futures), (n)))

#define RDL_AWAIT_ALL(futures, n)                                                                  \
  RDL_AWAIT_POINT_(RDL_POLL_ALL_(futures, n), rdl_settle_all(rdl, (futures), (n)), RDL_NEVER,      \
                   RDL_OR_FAIL_(), __COUNTER__)
#define RDL_AWAIT_ALL_CATCH(outcome, futures, n)                                                   \
  RDL_AWAIT_POINT_(RDL_POLL_ALL_(futures, n), rdl_settle_all(rdl, (futures), (n)), RDL_NEVER,      \
                   RDL_CAUGHT_(outcome), __COUNTER__)
#define RDL_AWAIT_ALL_FOR(outcome, futures, n, ns)                                                 \
  RDL_AWAIT_POINT_(RDL_POLL_ALL_(futures, n), rdl_settle_all(rdl, (futures), (n)), (rdl_u64)(ns),  \
                   RDL_CAUGHT_(outcome), __COUNTER__)

#define RDL_AWAIT_ANY(index, futures, n)                                                           \
  RDL_AWAIT_POINT_(RDL_POLL_ANY_(futures, n), rdl_settle_any(rdl, (futures), (n)), RDL_NEVER,      \
                   (index) = rdl->which;                                                           \
                   RDL_OR_FAIL_(), __COUNTER__)
#define RDL_AWAIT_ANY_CATCH(outcome, index, futures, n)                                            \
  RDL_AWAIT_POINT_(RDL_POLL_ANY_(futures, n), rdl_settle_any(rdl, (futures), (n)), RDL_NEVER,      \
                   (index) = rdl->which;                                                           \
                   RDL_CAUGHT_(outcome), __COUNTER__)
#define RDL_AWAIT_ANY_FOR(outcome, index, futures, n, ns)                                          \
  RDL_AWAIT_POINT_(RDL_POLL_ANY_(futures, n), rdl_settle_any(rdl, (futures), (n)), (rdl_u64)(ns),  \
                   (index) = rdl->which;                                                           \
                   RDL_CAUGHT_(outcome), __COUNTER__)
#define RDL_AWAIT_FIRST(index, futures, n)                                                         \
  RDL_AWAIT_POINT_(RDL_POLL_ANY_(futures, n), rdl_settle_any(rdl, (futures), (n)), RDL_NEVER,      \
                   (index) = rdl->which;                                                           \
                   rdl_cancel_others(rdl, (futures), (n)); RDL_OR_FAIL_(), __COUNTER__)

/* A child that counted itself off for an earlier wait may wake a later one too soon: look again. */
#if RDL_LANES > 1
#define RDL_CHILDREN_POINT_(ending, point)                                                         \
  RDL_AWAIT_POINT_(rdl_poll_children(rdl), , RDL_NEVER, ending, point)
#else
#define RDL_CHILDREN_POINT_(ending, point)                                                         \
  do {                                                                                             \
    while (!rdl_poll_children(rdl)) {                                                              \
      rdl->timeout = RDL_NEVER;                                                                    \
      RDL_POINT_(point);                                                                           \
      if (rdl->status) break;                                                                      \
    }                                                                                              \
    ending;                                                                                        \
  } while (0)
#endif
#define RDL_AWAIT_CHILDREN()              RDL_CHILDREN_POINT_(RDL_OR_FAIL_(), __COUNTER__)
#define RDL_AWAIT_CHILDREN_CATCH(outcome) RDL_CHILDREN_POINT_(RDL_CAUGHT_(outcome), __COUNTER__)

#define RDL_AWAIT_COUNT(e, n)                                                                      \
  RDL_AWAIT_POINT_(rdl_poll_count(rdl, (e), (n), 0u), rdl_settle(rdl), RDL_NEVER, RDL_OR_FAIL_(),  \
                   __COUNTER__)
#define RDL_AWAIT_COUNT_FOR(outcome, e, n, ns)                                                     \
  RDL_AWAIT_POINT_(rdl_poll_count(rdl, (e), (n), 0u), rdl_settle(rdl), (rdl_u64)(ns),              \
                   RDL_CAUGHT_(outcome), __COUNTER__)
#define RDL_AWAIT_EVENT(e)                                                                         \
  RDL_AWAIT_POINT_(rdl_poll_event(rdl, (e)), rdl_settle(rdl), RDL_NEVER, RDL_OR_FAIL_(),           \
                   __COUNTER__)
#define RDL_AWAIT_EVENT_CATCH(outcome, e)                                                          \
  RDL_AWAIT_POINT_(rdl_poll_event(rdl, (e)), rdl_settle(rdl), RDL_NEVER, RDL_CAUGHT_(outcome),     \
                   __COUNTER__)
#define RDL_AWAIT_EVENT_FOR(outcome, e, ns)                                                        \
  RDL_AWAIT_POINT_(rdl_poll_event(rdl, (e)), rdl_settle(rdl), (rdl_u64)(ns), RDL_CAUGHT_(outcome), \
                   __COUNTER__)

#define RDL_SLEEP(ns)                                                                              \
  RDL_AWAIT_POINT_(rdl_poll_sleep(rdl), rdl_settle_sleep(rdl), rdl_sleep_limit((rdl_u64)(ns)),     \
                   RDL_OR_FAIL_(), __COUNTER__)
#define RDL_YIELD()                                                                                \
  RDL_AWAIT_POINT_(rdl_poll_plain(rdl, RDL_WANT_YIELD), rdl_settle(rdl), RDL_NEVER,                \
                   RDL_OR_FAIL_(), __COUNTER__)
/* rdl_suspend fetches what the stashes lack. */
#if RDL_LANES > 1
#define RDL_ROOM_POINT_(spawns, point)                                                             \
  RDL_AWAIT_POINT_(rdl_poll_room(rdl, spawns), , RDL_NEVER, RDL_OR_FAIL_(), point)
#else
#define RDL_ROOM_POINT_(spawns, point)                                                             \
  do {                                                                                             \
    rdl->again = 0;                                                                                \
    while (!rdl_poll_room(rdl, spawns)) {                                                          \
      rdl->timeout = RDL_NEVER;                                                                    \
      RDL_POINT_(point);                                                                           \
      if (rdl->status) break;                                                                      \
      rdl->again = 1;                                                                              \
    }                                                                                              \
    RDL_OR_FAIL_();                                                                                \
  } while (0)
#endif
#define RDL_AWAIT_ROOM()       RDL_ROOM_POINT_(1u, __COUNTER__)
#define RDL_AWAIT_ROOM_LANES() RDL_ROOM_POINT_(rdl_lanes(), __COUNTER__)

/* ---- spawn ---- */

#define RDL_FULL    0u
#define RDL_SPAWNED 1u

#define RDL_NEW_(name, init...)                                                                    \
  union {                                                                                          \
    name##_args rdl_value_;                                                                        \
    rdl_word rdl_words_[RDL_WORDS(name##_args)];                                                   \
  } rdl_new_ = {.rdl_value_ = {init}}

/* `dst` is looked at once: it may be the next place of an array. */
#define RDL_TRY_SPAWN(outcome, dst, name, init...)                                                 \
  do {                                                                                             \
    RDL_NEW_(name, init);                                                                          \
    (outcome) = ((dst) = rdl_spawn(rdl, (rdl_u32)name##_task_word, rdl_new_.rdl_words_,            \
                                   RDL_WORDS(name##_args)))                                        \
                        .index                                                                     \
                    ? RDL_SPAWNED                                                                  \
                    : RDL_FULL;                                                                    \
  } while (0)
#define RDL_SPAWN(dst, name, init...)                                                              \
  do {                                                                                             \
    rdl_u32 rdl_spawned_;                                                                          \
    RDL_TRY_SPAWN(rdl_spawned_, dst, name, init);                                                  \
    if (rdl_spawned_ == RDL_FULL) RDL_END_WITH_(RDL_S_OUT_OF_SLOTS);                               \
  } while (0)

/* The outcome is the same in all lanes: every lane that wants a child has one, or none has. */
#define RDL_TRY_SPAWN_LANES(outcome, dst, predicate, name, init...)                                \
  do {                                                                                             \
    rdl_u32 rdl_wanted_ = (predicate) ? 1u : 0u;                                                   \
    RDL_NEW_(name, init);                                                                          \
    (dst) = rdl_spawn_lanes(rdl, &rdl_wanted_, (rdl_u32)name##_task_word, rdl_new_.rdl_words_,     \
                            RDL_WORDS(name##_args));                                               \
    (outcome) = rdl_wanted_;                                                                       \
  } while (0)
#define RDL_SPAWN_LANES(dst, predicate, name, init...)                                             \
  do {                                                                                             \
    rdl_u32 rdl_spawned_;                                                                          \
    RDL_TRY_SPAWN_LANES(rdl_spawned_, dst, predicate, name, init);                                 \
    if (rdl_spawned_ == RDL_FULL) RDL_END_WITH_(RDL_S_OUT_OF_SLOTS);                               \
  } while (0)

/* A turn of a loop, for the suite: the host, which cannot end a loop as other devices do, counts
   them where it stands for such a device. */
#define RDL_TURN_() rdl_turn(rdl)

/* Room that the loops of a task want beside the spawns in its text: read by the scanner. */
#define RDL_SPAWNS(n)
/* The task is one of a whole group: read by the scanner, which defines RDL_WIDTH_name. */
#define RDL_GROUP()

/* ---- results, handles, events, memory ---- */

/* The size of `type`, which no task has a result of when it is too large: that does not compile. */
#define RDL_SIZE_(type)                                                                            \
  ((rdl_u32)(sizeof(type) * sizeof(char[sizeof(type) <= RDL_MAX_BLOCK ? 1 : -1])))
#define RDL_RESULT(type, f) (*(RDL_GLOBAL const type *)rdl_result_at(rdl, (f), RDL_SIZE_(type)))
#define RDL_TAKE(dst, type, f)                                                                     \
  do {                                                                                             \
    rdl_future rdl_taken_ = (f);                                                                   \
    (dst) = RDL_RESULT(type, rdl_taken_);                                                          \
    rdl_free_child(rdl, rdl_taken_);                                                               \
  } while (0)
#define RDL_DROP(f)        rdl_free_child(rdl, (f))
#define RDL_DETACH(f)      rdl_detach(rdl, (f))
#define RDL_CANCEL(f)      rdl_cancel_handle(rdl, (f))
#define RDL_CANCELLED()    rdl_was_cancelled(rdl)
#define RDL_SELF()         rdl_handle_of(rdl, rdl->slot)
#define RDL_FAILURE_CODE() RDL_CAUSE_CODE(rdl->caught)
#define RDL_SIGNAL(e, n)   rdl_signal(rdl, (e), (n))
#define RDL_EVENT_COUNT(e) rdl_event_count(rdl, (e))
#define RDL_AT(type, p)    ((RDL_GLOBAL type *)(rdl_address)(p))
#if RDL_LANES > 1
#define RDL_SCRATCH(type, name, n)                                                                 \
  RDL_LOCAL type *name = (RDL_LOCAL type *)rdl_scratch_of(                                         \
      rdl,                                                                                         \
      (rdl_u32)(sizeof(type[n]) * sizeof(char[sizeof(type[n]) <= RDL_SCRATCH_MOST ? 1 : -1])))
#else
#define RDL_SCRATCH(type, name, n) type name[n]
#endif

/* ---- functions behind the words ---- */

RDL_FN rdl_u32 rdl_failure(rdl_u64 code) {
  return RDL_S_FAILED | (code < RDL_CODE_MOST ? (rdl_u32)code : RDL_CODE_MOST) << 8;
}

RDL_FN rdl_u32 rdl_catch(rdl_cx *rdl) {
  rdl->caught = rdl->status;
  rdl->status = 0;
  return RDL_CAUSE_STATUS(rdl->caught);
}

#if defined(RDL_WARP)
/* Of a segment of all lanes all leave, whether the await is over or not. A lane of a pack has room
   for one round of spawns: the leader goes on with a future that might make more. */
RDL_FN rdl_u32 rdl_leaves(rdl_cx *rdl, rdl_u32 over) {
  rdl->over = over && rdl->wide;
  if (rdl->packed && over && rdl->has_spawned) {
    rdl->handed = 1;
    return 1;
  }
  return !over || rdl->wide;
}
#endif

RDL_FN rdl_u32 rdl_is_done(rdl_cx *rdl, rdl_future f) {
  return rdl_load_acquire(&rdl->records[rdl_slot_of(f.index)].waiters) & RDL_LIST_CLOSED;
}

/* The cause of a future that is done, between two looks at its generation. */
RDL_FN rdl_u32 rdl_cause_of(rdl_cx *rdl, rdl_future f) {
  RDL_GLOBAL rdl_record *record = rdl->records + rdl_slot_of(f.index);
  rdl_u32 status = rdl_handle_status(rdl, f);
  rdl_u32 cause;
  if (status) return status; /* a made-up handle has no record */
  cause = rdl_load_acquire(&record->cause);
  return rdl_load_acquire(&record->generation) == f.generation ? cause : RDL_S_STALE;
}

/* What every poll begins with: 1 = the await is over before it began, rdl->status tells how. */
RDL_FN rdl_u32 rdl_poll_begins(rdl_cx *rdl, rdl_u32 want) {
  rdl->status = 0;
  rdl->want = want;
#if RDL_LANES > 1
  if (rdl->wide) return 0; /* looked for when all lanes have ended the segment (lead.cl) */
#endif
#if defined(RDL_PACK)
  if (rdl->packed) { /* the leader sees to it */
    rdl->handed |= rdl_cancel_requested(rdl);
    return 0;
  }
#endif
  return rdl_cancel_requested(rdl) && rdl_deliver_cancel(rdl);
}

/* Where the set of an await stands in the frame; lanes' states are looked at when the task has
   returned. Returns 0: the task suspends. */
RDL_FN rdl_u32 rdl_set_in_frame(rdl_cx *rdl, rdl_address args, rdl_u32 args_size, rdl_address self,
                                rdl_u32 self_size) {
  RDL_GLOBAL const rdl_word *frame = rdl_block(rdl, rdl->frame);
  rdl_address in_args = (rdl_address)rdl->set - args;
  rdl_address in_self = (rdl_address)rdl->set - self;
  if (!rdl_leads(rdl)) return 0;
  rdl->set_words = 0;
  if (in_args < args_size) rdl->set_words = frame + in_args / 4u;
  if (in_self < self_size) rdl->set_words = frame + (args_size + 3u) / 4u + in_self / 4u;
#if RDL_LANES > 1
  if (!rdl->set_words) rdl->misuse = RDL_S_INVALID; /* there is no other place that outlives it */
#endif
  return 0;
}

/* The same for the state of a lane, where the frame is all that is left. Its lanes have one each.
 */
#if defined(RDL_LOOP_TURNS)
RDL_FN void rdl_set_in_lanes(rdl_cx *rdl, rdl_address mine, rdl_u32 size,
                             RDL_GLOBAL const rdl_word *lanes) {
  rdl_address in_mine = (rdl_address)rdl->set - mine;
  if (in_mine < size) rdl->set_words = lanes + in_mine / 4u;
}
#else
RDL_FN void rdl_set_in_lanes(rdl_cx *rdl, rdl_address mine, rdl_u32 size,
                             RDL_GLOBAL const rdl_word *lanes) {
  (void)rdl;
  (void)mine;
  (void)size;
  (void)lanes;
}
#endif

/* With 0 the task suspends whatever there is. */
RDL_FN rdl_u32 rdl_poll_plain(rdl_cx *rdl, rdl_u32 want) {
#if defined(RDL_PACK)
  if (rdl->packed) return rdl_poll_begins(rdl, want);
#endif
  if (!rdl_leads(rdl)) return 0;
  return rdl_poll_begins(rdl_led(rdl), want);
}

/* After a resumption the status is what the future was woken with. */
RDL_FN void rdl_settle(rdl_cx *rdl) {
  (void)rdl;
}

RDL_FN rdl_u32 rdl_poll_future_of(rdl_cx *rdl, rdl_future f) {
  RDL_GLOBAL const rdl_record *record = rdl->records + rdl_slot_of(f.index);
  rdl_first_look seen;
  if (rdl_poll_begins(rdl, RDL_WANT_FUTURE)) return 1;
#if defined(RDL_PRIVATE)
  if (rdl_is_private(rdl, f) && !rdl->packed && !rdl->wide) return rdl_poll_private(rdl, f);
#endif
  rdl->status = rdl_handle_names(rdl, f) ? RDL_S_OK : RDL_S_INVALID;
  if (rdl->status) return 1;
  seen = rdl_look(rdl, rdl_slot_of(f.index));
  rdl->target = f;
#if RDL_LANES > 1
  rdl->own_child = seen.own;
#endif
#if defined(RDL_PACK)
  if (rdl->handed && rdl->packed) return 0;
#endif
  if (seen.generation != f.generation)
    rdl->status = RDL_S_STALE;
  else if (!(seen.waiters & RDL_LIST_CLOSED))
    return 0;
  else
    rdl->status = seen.own ? rdl_load_relaxed(&record->cause) : rdl_cause_of(rdl, f);
  return 1;
}
RDL_OUTLINE rdl_u32 rdl_poll_future_led(rdl_cx *rdl, rdl_future f) {
  return rdl_poll_future_of(rdl, f);
}
RDL_FN rdl_u32 rdl_poll_future(rdl_cx *rdl, rdl_future f) {
#if defined(RDL_PACK)
  if (rdl->packed) return rdl_poll_future_of(rdl, f);
#endif
  return rdl_leads(rdl) ? rdl_poll_future_led(rdl_led(rdl), f) : 0u;
}

/* As a rule it is the one whose end has woken this one just now (rdl_close_list). */
RDL_OUTLINE void rdl_settle_future(rdl_cx *rdl, rdl_future f) {
#if RDL_LANES > 1
  if (!rdl->status && rdl->heard.index == f.index && rdl->heard.generation == f.generation) {
    rdl->status = rdl->heard_cause;
    return;
  }
#endif
  if (!rdl->status) rdl->status = rdl_cause_of(rdl, f);
}

RDL_FN void rdl_settle_all(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n && !rdl->status; k++)
    rdl->status = rdl_cause_of(rdl, set[k]);
}

RDL_OUTLINE rdl_u32 rdl_poll_all_led(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  rdl_u32 k;
  if (rdl_poll_begins(rdl, RDL_WANT_ALL)) return 1;
  rdl->set = set;
  rdl->set_size = n;
  for (k = 0; k < n; k++) {
    rdl->status = rdl_handle_status(rdl, set[k]);
    if (rdl->status) return 1;
    if (!rdl_is_done(rdl, set[k])) return 0;
  }
  rdl_settle_all(rdl, set, n);
  return 1;
}
RDL_FN rdl_u32 rdl_poll_all(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  return rdl_leads(rdl) ? rdl_poll_all_led(rdl_led(rdl), set, n) : 0u;
}

/* 1 = this one ends the wait for any, and the status tells how. */
RDL_FN rdl_u32 rdl_settle_member(rdl_cx *rdl, rdl_future f) {
  rdl_u32 done = 0;
  rdl->status = rdl_handle_status(rdl, f);
  if (rdl->status != RDL_S_INVALID) { /* a made-up handle has no record */
    done = rdl_is_done(rdl, f);       /* before the generation: the slot may be reborn */
    rdl->status = rdl_handle_status(rdl, f);
  }
  if (!rdl->status && done) rdl->status = rdl_cause_of(rdl, f);
  return rdl->status || done;
}

RDL_OUTLINE void rdl_settle_any(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  rdl_u32 k;
  rdl->which = n;
  for (k = 0; k < n && !rdl->status; k++) {
    if (!rdl_settle_member(rdl, set[k])) continue;
    rdl->which = k;
    return;
  }
}

RDL_OUTLINE rdl_u32 rdl_poll_any_led(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  rdl->which = n;
  if (rdl_poll_begins(rdl, RDL_WANT_ANY)) return 1;
  rdl->set = set;
  rdl->set_size = n;
  rdl->status = n ? RDL_S_OK : RDL_S_INVALID;
  rdl_settle_any(rdl, set, n);
  return rdl->which < n || rdl->status;
}
RDL_FN rdl_u32 rdl_poll_any(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  return rdl_leads(rdl) ? rdl_poll_any_led(rdl_led(rdl), set, n) : 0u;
}

RDL_FN rdl_u32 rdl_poll_sleep(rdl_cx *rdl) {
  if (!rdl_leads(rdl)) return 0;
  rdl = rdl_led(rdl);
  rdl->set_size = 0;
  return rdl_poll_begins(rdl, RDL_WANT_ANY);
}

/* Without a limit nothing would end a sleep, and that would be a deadlock. */
RDL_FN rdl_u64 rdl_sleep_limit(rdl_u64 ns) {
  return ns == RDL_NEVER ? RDL_NEVER - 1u : ns;
}

RDL_FN void rdl_settle_sleep(rdl_cx *rdl) {
  if (rdl->status == RDL_S_TIMEOUT) rdl->status = 0;
}

/* The bit that says that the owner waits is taken back first: children that are spawned later must
   not wake it. */
RDL_OUTLINE rdl_u32 rdl_poll_children_led(rdl_cx *rdl) {
  rdl_u32 child;
  child = rdl->self->first_child;
  if (rdl_poll_begins(rdl, RDL_WANT_CHILDREN)) return 1;
  if (rdl_children_settle(rdl)) {
    rdl_count_children(rdl);
    return 0;
  }
#if defined(RDL_PRIVATE)
  if (rdl_private_children_live(rdl)) return 0; /* they come before the wait */
#endif
  for (; child && !rdl->status; child = rdl->records[child].next_sibling)
    rdl->status = rdl->records[child].cause;
#if defined(RDL_PRIVATE)
  if (!rdl->status) rdl->status = rdl_private_children_cause(rdl);
#endif
  return 1;
}
RDL_FN rdl_u32 rdl_poll_children(rdl_cx *rdl) {
  return rdl_leads(rdl) ? rdl_poll_children_led(rdl_led(rdl)) : 0u;
}

RDL_FN rdl_u32 rdl_poll_count_of(rdl_cx *rdl, rdl_event e, rdl_u32 count, rdl_u32 until_target) {
  RDL_GLOBAL rdl_event_record *event = rdl_event_at(rdl, e);
  if (rdl_poll_begins(rdl, RDL_WANT_EVENT)) return 1;
  rdl->status = rdl_event_status(rdl, e);
  if (rdl->status) return 1;
  rdl->target.index = e.index;
  rdl->target.generation = e.generation;
  rdl->threshold = until_target ? event->target : count;
#if defined(RDL_PACK)
  if (rdl->handed && rdl->packed) return 0;
#endif
  return rdl_load_acquire(&event->count) >= rdl->threshold;
}
RDL_OUTLINE rdl_u32 rdl_poll_count_led(rdl_cx *rdl, rdl_event e, rdl_u32 count,
                                       rdl_u32 until_target) {
  return rdl_poll_count_of(rdl, e, count, until_target);
}
RDL_FN rdl_u32 rdl_poll_count(rdl_cx *rdl, rdl_event e, rdl_u32 count, rdl_u32 until_target) {
#if defined(RDL_PACK)
  if (rdl->packed) return rdl_poll_count_of(rdl, e, count, until_target);
#endif
  return rdl_leads(rdl) ? rdl_poll_count_led(rdl_led(rdl), e, count, until_target) : 0u;
}

RDL_FN rdl_u32 rdl_poll_event(rdl_cx *rdl, rdl_event e) {
  return rdl_poll_count(rdl, e, 0u, 1u);
}

RDL_FN rdl_u32 rdl_poll_room(rdl_cx *rdl, rdl_u32 spawns) {
  if (!rdl_leads(rdl)) return 0;
  rdl = rdl_led(rdl);
  if (rdl_poll_begins(rdl, RDL_WANT_ROOM)) return 1;
  rdl->threshold = spawns;
  return rdl_has_room(rdl, spawns);
}

#if RDL_LANES > 1
/* The slot that the leader takes next. While all lanes run a segment it takes none but by their
   words and gives none back, so each lane can go through its stash beside it; RDL_NIL = no room. */
RDL_FN rdl_u32 rdl_foresee(rdl_cx *rdl) {
  rdl_u32 slot = rdl->free_head;
  if (!rdl->may_spawn) return RDL_NIL;
  rdl->may_spawn--;
  if (slot)
    rdl->free_head = rdl->sides[slot].link;
  else
    slot = rdl->free_next++;
  return slot;
}

/* The lanes of a warp run on while the leader makes what they all have the handle of: they wait for
   it. Those of a work-group cannot meet here (0015), and look at nothing that is not made yet. */
#if defined(RDL_WARP)
#define rdl_lanes_meet() rdl_barrier()
#else
#define rdl_lanes_meet() (void)0
#endif
#endif

RDL_OUTLINE rdl_future rdl_spawn_led(rdl_cx *rdl, rdl_u32 task, const rdl_word *words,
                                     rdl_u32 count) {
  RDL_GLOBAL rdl_word *frame;
  rdl_u32 slot, k;
#if defined(RDL_PRIVATE)
  rdl_future inside = rdl_no_future();
  if ((task & RDL_TASK_IN_SET) && !rdl->wide) inside = rdl_private_spawn(rdl, task, words, count);
  if (inside.index) return inside;
  task &= ~RDL_TASK_IN_SET;
#endif
  slot = rdl_slot_new(rdl, task);
  if (!slot) return rdl_no_future();
  frame = rdl_block(rdl, rdl->new_frame);
  for (k = 0; k < count; k++)
    frame[k] = words[k];
  return rdl_child_start(rdl, slot, task);
}

RDL_FN rdl_future rdl_spawn(rdl_cx *rdl, rdl_u32 task, const rdl_word *words, rdl_u32 count) {
#if RDL_LANES > 1
  rdl_future f;
  if (rdl->wide) {
    rdl_u32 slot = rdl_foresee(rdl);
    if (!slot) return rdl_no_future();
    f = rdl_no_future();
    if (rdl_leads(rdl)) f = rdl_spawn_led(rdl_led(rdl), task, words, count);
    rdl_lanes_meet(); /* at one place: threads of one warp may not come to a block's by two */
    return rdl_leads(rdl) ? f : rdl_handle_of(rdl, slot);
  }
#endif
#if defined(RDL_PACK)
  if (rdl->packed) return rdl_spawn_packed(rdl, task, words, count);
#endif
  return rdl_spawn_led(rdl_led(rdl), task, words, count);
}

#if RDL_LANES == 1
/* One child for each lane that wants one, all or none: with one lane, a spawn or nothing. What the
   lane wants becomes what all have got. */
RDL_FN rdl_future rdl_spawn_lanes(rdl_cx *rdl, rdl_u32 *wanted, rdl_u32 task, const rdl_word *words,
                                  rdl_u32 count) {
  rdl_future f = *wanted ? rdl_spawn(rdl, task, words, count) : rdl_no_future();
  *wanted = *wanted && !f.index ? RDL_FULL : RDL_SPAWNED;
  return f;
}
#endif

/* A handle that names a child of the running future. */
RDL_FN rdl_u32 rdl_child_of(rdl_cx *rdl, rdl_future f) {
  rdl_u32 status = rdl_handle_status(rdl, f);
  rdl_u32 slot = rdl_slot_of(f.index);
  if (!status && rdl->records[slot].owner != rdl->slot) status = RDL_S_PERMISSION;
  if (!status && rdl->records[slot].previous_sibling == slot) status = RDL_S_STALE; /* detached */
  if (status) rdl->misuse = status;
  return status ? RDL_NIL : slot;
}

/* A type larger than the result would read what belongs to others. Up to RDL_INLINE_SIZE bytes are
   in the record or in a block of at least so many, so that only larger types are compared: the size
   is a constant, and small results pay nothing. */
RDL_FN rdl_u32 rdl_is_larger(rdl_cx *rdl, rdl_u32 task, rdl_u32 size) {
  if (size <= RDL_INLINE_SIZE) return 0u;
  return size > rdl_task_info_of(rdl, task)->result_size;
}

RDL_FN RDL_GLOBAL const rdl_word *rdl_result_at(rdl_cx *rdl, rdl_future f, rdl_u32 size) {
  RDL_GLOBAL const rdl_record *record = rdl->records + rdl_slot_of(f.index);
  rdl_u32 status = RDL_S_INVALID;
  rdl_first_look seen;
#if defined(RDL_PRIVATE)
  if (rdl_is_private(rdl, f) && !rdl->packed && !rdl->wide)
    return rdl_private_result_at(rdl_led(rdl), f, size);
#endif
  if (rdl_handle_names(rdl, f)) {
    seen = rdl_look(rdl, rdl_slot_of(f.index));
    if (seen.generation != f.generation)
      status = RDL_S_STALE;
    else if ((seen.waiters & RDL_LIST_CLOSED) && !rdl_is_larger(rdl, seen.task, size))
      status = RDL_S_OK;
  }
  if (status) {
    rdl->misuse = status;
    return (RDL_GLOBAL const rdl_word *)(rdl->heap + rdl->control->zeros);
  }
  if (rdl_block_class(seen.task, RDL_RESULT_SHIFT) == RDL_CLASS_NONE)
    return (RDL_GLOBAL const rdl_word *)record->result;
  return rdl_block(rdl, record->result[0]);
}

#if RDL_LANES > 1
/* Other lanes may still read the result, and go through what is free. */
RDL_FN void rdl_slot_drop(rdl_cx *rdl, rdl_u32 slot) {
  if (!rdl->wide) {
    rdl_slot_free(rdl, slot);
    return;
  }
  rdl->records[slot].previous_sibling = slot; /* no child any more, should the handle come again */
  rdl->sides[slot].chunk = rdl->dropped;
  rdl->dropped = slot;
}
#else
#define rdl_slot_drop rdl_slot_free
#endif

/* For what the leader does for all lanes. A segment that was cut off parts with no child. */
RDL_FN rdl_u32 rdl_own_child(rdl_cx *rdl, rdl_future f) {
  return rdl_leads(rdl) && !rdl_is_cut(rdl) ? rdl_child_of(rdl, f) : RDL_NIL;
}

RDL_OUTLINE void rdl_free_child(rdl_cx *rdl, rdl_future f) {
  rdl_u32 slot;
#if defined(RDL_PRIVATE)
  if (rdl_is_private(rdl, f) && !rdl->wide) {
    rdl_private_drop(rdl, f);
    return;
  }
#endif
  slot = rdl_own_child(rdl, f);
  if (!slot) return;
  if (!rdl_is_done(rdl, f)) {
    rdl->misuse = RDL_S_INVALID;
    return;
  }
  rdl_unlink_child(rdl, slot);
  rdl_slot_drop(rdl, slot);
}

/* The bit and the closing of the list are read-modify-writes of one word: either the finisher sees
   that it must free the slot, or the owner sees that it must. */
RDL_OUTLINE void rdl_detach(rdl_cx *rdl, rdl_future f) {
  rdl_u32 slot = rdl_own_child(rdl, f);
  if (!slot) return;
  rdl_unlink_child(rdl, slot);
  rdl->records[slot].previous_sibling = slot;  /* no longer a child, should the handle come again */
  rdl->records[slot].next_sibling = rdl->task; /* for who asks where it came from */
  if (rdl_fetch_or(&rdl->records[slot].waiters, RDL_DETACHED_BIT) & RDL_LIST_CLOSED)
    rdl_slot_drop(rdl, slot);
  else if (rdl->spawned)
    rdl->spawned--;
  else
    rdl_fetch_add(&rdl->self->children, 0xffffffffu);
}

RDL_FN void rdl_cancel_handle(rdl_cx *rdl, rdl_future f) {
  rdl_u32 status = rdl_handle_status(rdl, f);
  if (!rdl_leads(rdl)) return;
  if (status == RDL_S_INVALID) rdl->misuse = status;
  if (!status && !rdl_is_cut(rdl)) rdl_cancel(rdl, rdl_slot_of(f.index), f.generation);
}

RDL_FN void rdl_cancel_others(rdl_cx *rdl, const rdl_future *set, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    if (k != rdl->which) rdl_cancel_handle(rdl, set[k]);
}

#if defined(RDL_GROUPS)
RDL_FN RDL_LOCAL const rdl_u32 *rdl_gather(rdl_cx *rdl, rdl_u32 v);
#endif
#if defined(RDL_WARP)
/* The lanes meet here, and learn of a cancel that has come. */
RDL_FN void rdl_hear_cancel(rdl_cx *rdl) {
#if defined(RDL_GROUPS)
  if (rdl_lanes() != 32u) {
    (void)rdl_gather(rdl, 0u);
    return;
  }
#endif
  if (rdl_leads(rdl) && rdl_cancel_requested(rdl)) rdl->cancelled = 1;
  rdl->cancelled = rdl_shuffle(rdl->cancelled, 0u);
}
#endif

RDL_FN rdl_u32 rdl_was_cancelled(rdl_cx *rdl) {
#if RDL_LANES > 1
  if (rdl->wide) { /* the lanes must agree: a request counts that had come when they last met */
#if defined(RDL_WARP)
    rdl_hear_cancel(rdl);
#endif
    if (rdl_leads(rdl) && rdl->cancelled && !rdl->group->told) {
      rdl->group->told = 1;
      rdl->group->told_child = rdl->self->first_child;
    }
    return rdl->cancelled;
  }
#endif
  if (rdl_cancel_requested(rdl)) rdl_deliver_cancel(rdl);
  return (rdl->task & RDL_TASK_CANCELLED) != 0u;
}

#if RDL_LANES > 1
/* Who waits for it shall see what every lane has written before: it is signalled when all lanes
   have ended the segment. Returns 0 when there is no room to note it. */
RDL_FN rdl_u32 rdl_note_signal(rdl_cx *rdl, rdl_event e, rdl_u32 n) {
  RDL_GLOBAL rdl_node *node;
  rdl_u32 index;
  if (!rdl->stashes[RDL_POOL_NODES].left && !rdl_pool_fill(rdl, RDL_POOL_NODES, 1u)) return 0;
  index = rdl_pool_take(rdl, RDL_POOL_NODES);
  node = rdl->nodes + index;
  node->next = rdl->signals;
  node->ticket = e.index;
  node->value = e.generation;
  node->size = n;
  rdl->signals = index;
  return 1;
}
#endif

/* What a segment wrote that was cut off is not to be believed, and so nobody is told of it. */
RDL_OUTLINE void rdl_signal(rdl_cx *rdl, rdl_event e, rdl_u32 n) {
  rdl_u32 status;
  if (!rdl_leads(rdl) || rdl_is_cut(rdl)) return;
#if RDL_LANES > 1
  if (rdl->wide) {
    status = rdl_event_status(rdl, e);
    if (!status && !rdl_note_signal(rdl, e, n)) status = RDL_S_OUT_OF_SLOTS;
    if (status) rdl->misuse = status;
    return;
  }
#endif
  status = rdl_event_signal(rdl, e, n);
  if (status) rdl->misuse = status;
}

RDL_FN rdl_u32 rdl_event_count(rdl_cx *rdl, rdl_event e) {
  return rdl_event_status(rdl, e) ? 0u : rdl_load_acquire(&rdl_event_at(rdl, e)->count);
}

/* ---- lanes ---- */

/* With one lane every word of all lanes is the identity, and in lanes.cl stands what they are with
   more. They are macros because they want to know the worker. */
#define rdl_sync()                    rdl_sync_of(rdl)
#define rdl_broadcast_u32(v, lane)    rdl_broadcast_u32_of(rdl, (v), (lane))
#define rdl_broadcast_f32(v, lane)    rdl_broadcast_f32_of(rdl, (v), (lane))
#define rdl_broadcast_future(f, lane) rdl_broadcast_future_of(rdl, (f), (lane))
#define rdl_reduce_add_u32(v)         rdl_reduce_add_u32_of(rdl, (v))
#define rdl_reduce_add_f32(v)         rdl_reduce_add_f32_of(rdl, (v))
#define rdl_reduce_min_u32(v)         rdl_reduce_min_u32_of(rdl, (v))
#define rdl_reduce_min_f32(v)         rdl_reduce_min_f32_of(rdl, (v))
#define rdl_reduce_max_u32(v)         rdl_reduce_max_u32_of(rdl, (v))
#define rdl_reduce_max_f32(v)         rdl_reduce_max_f32_of(rdl, (v))
/* Exclusive: the sum of the lanes before this one. */
#define rdl_scan_add_u32(v) rdl_scan_add_u32_of(rdl, (v))
#define rdl_scan_add_f32(v) rdl_scan_add_f32_of(rdl, (v))
#define rdl_ballot(p)       rdl_ballot_of(rdl, (p))
/* The 64 lanes that `first` is one of. */
#define rdl_ballot_from(p, first) rdl_ballot_from_of(rdl, (p), (first))

#if RDL_LANES == 1

RDL_FN void rdl_sync_of(rdl_cx *rdl) {
  (void)rdl;
}
RDL_FN rdl_u32 rdl_broadcast_u32_of(rdl_cx *rdl, rdl_u32 v, rdl_u32 lane) {
  (void)rdl, (void)lane;
  return v;
}
RDL_FN float rdl_broadcast_f32_of(rdl_cx *rdl, float v, rdl_u32 lane) {
  (void)rdl, (void)lane;
  return v;
}
RDL_FN rdl_future rdl_broadcast_future_of(rdl_cx *rdl, rdl_future f, rdl_u32 lane) {
  (void)rdl, (void)lane;
  return f;
}
RDL_FN rdl_u32 rdl_of_one_lane_u32(rdl_cx *rdl, rdl_u32 v) {
  (void)rdl;
  return v;
}
RDL_FN float rdl_of_one_lane_f32(rdl_cx *rdl, float v) {
  (void)rdl;
  return v;
}
#define rdl_reduce_add_u32_of rdl_of_one_lane_u32
#define rdl_reduce_min_u32_of rdl_of_one_lane_u32
#define rdl_reduce_max_u32_of rdl_of_one_lane_u32
#define rdl_reduce_add_f32_of rdl_of_one_lane_f32
#define rdl_reduce_min_f32_of rdl_of_one_lane_f32
#define rdl_reduce_max_f32_of rdl_of_one_lane_f32
RDL_FN rdl_u32 rdl_scan_add_u32_of(rdl_cx *rdl, rdl_u32 v) {
  (void)rdl, (void)v;
  return 0u;
}
RDL_FN float rdl_scan_add_f32_of(rdl_cx *rdl, float v) {
  (void)rdl, (void)v;
  return 0.0f;
}
RDL_FN rdl_u64 rdl_ballot_of(rdl_cx *rdl, rdl_u32 predicate) {
  (void)rdl;
  return predicate ? 1u : 0u;
}
RDL_FN rdl_u64 rdl_ballot_from_of(rdl_cx *rdl, rdl_u32 predicate, rdl_u32 first) {
  (void)rdl;
  return predicate && first < 64u ? 1u : 0u;
}

#endif

/* ---- atomics on memory of the tasks' own; all are acquire and release ---- */

RDL_FN rdl_u32 rdl_atomic_load(RDL_GLOBAL const rdl_u32 *p) {
  return rdl_load_acquire(p);
}
RDL_FN void rdl_atomic_store(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  rdl_store_release(p, v);
}
RDL_FN rdl_u32 rdl_atomic_add(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return rdl_fetch_add(p, v);
}
RDL_FN rdl_u32 rdl_atomic_min(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return rdl_fetch_min(p, v);
}
RDL_FN rdl_u32 rdl_atomic_max(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old = rdl_load_relaxed(p);
  for (;;) {
    rdl_u32 seen = rdl_cas(p, old, old > v ? old : v);
    if (seen == old) return old;
    old = seen;
  }
}
RDL_FN rdl_u32 rdl_atomic_or(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return rdl_fetch_or(p, v);
}
RDL_FN rdl_u32 rdl_atomic_exchange(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return rdl_exchange(p, v);
}
RDL_FN rdl_u32 rdl_atomic_cas(RDL_GLOBAL rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  return rdl_cas(p, expected, v);
}

/* ---- running a task ---- */

#if RDL_LANES > 1 /* the leader brings arguments and state to where all lanes read them */
#define RDL_STAGE_SPACE_ RDL_LOCAL
#define RDL_STAGED_(at)  rdl->stage
#else
#define RDL_STAGE_SPACE_ RDL_GLOBAL
#define RDL_STAGED_(at)  (at)
#endif

RDL_FN void rdl_words_in(rdl_word *to, RDL_GLOBAL const rdl_word *from, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] = from[k];
}

RDL_FN void rdl_words_staged(rdl_word *to, RDL_STAGE_SPACE_ const rdl_word *from, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] = from[k];
}

RDL_FN void rdl_words_out(RDL_GLOBAL rdl_word *to, const rdl_word *from, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] = from[k];
}

RDL_FN void rdl_words_clear(rdl_word *to, rdl_u32 n) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k] = 0;
}

/* The state of a lane lies word-major, word w of lane l at w * width + l, so that lanes which move
   the same word touch neighbours. */
RDL_FN void rdl_lane_in(rdl_cx *rdl, rdl_word *to, RDL_GLOBAL const rdl_word *from, rdl_u32 n,
                        rdl_u32 width) {
  rdl_u32 k;
  if (!rdl->resume) {
    rdl_words_clear(to, n);
    return;
  }
  for (k = 0; k < n; k++)
    to[k] = from[k * width + rdl_lane()];
}

RDL_FN void rdl_lane_out(RDL_GLOBAL rdl_word *to, const rdl_word *from, rdl_u32 n, rdl_u32 width) {
  rdl_u32 k;
  for (k = 0; k < n; k++)
    to[k * width + rdl_lane()] = from[k];
}

#define RDL_FRAME_IN_(name, words_in, from)                                                        \
  union {                                                                                          \
    name##_args value;                                                                             \
    rdl_word words[RDL_WORDS(name##_args)];                                                        \
  } args;                                                                                          \
  union {                                                                                          \
    name##_state value;                                                                            \
    rdl_word words[RDL_WORDS(name##_state)];                                                       \
  } self;                                                                                          \
  union {                                                                                          \
    name##_result value;                                                                           \
    rdl_word words[RDL_WORDS(name##_result)];                                                      \
  } out;                                                                                           \
  RDL_GLOBAL rdl_word *frame = rdl_block(rdl, rdl->frame);                                         \
  words_in(args.words, from, RDL_WORDS(name##_args));                                              \
  if (rdl->resume)                                                                                 \
    words_in(self.words, from + RDL_WORDS(name##_args), RDL_WORDS(name##_state));                  \
  else                                                                                             \
    rdl_words_clear(self.words, RDL_WORDS(name##_state));                                          \
  rdl_words_clear(out.words, RDL_WORDS(name##_result))
#define RDL_STATE_OUT_(name)                                                                       \
  if (rdl_leads(rdl))                                                                              \
  rdl_words_out(frame + RDL_WORDS(name##_args), self.words, RDL_WORDS(name##_state))
#define RDL_RESULT_OUT_(name)                                                                      \
  if (!rdl->cause && rdl_leads(rdl))                                                               \
  rdl_words_out(rdl_own_result(rdl, RDL_RESULT_CLASS(name##_result)), out.words,                   \
                RDL_WORDS(name##_result))

/* Where the running future's result goes, whose class the compiler knows. */
RDL_FN RDL_GLOBAL rdl_word *rdl_own_result(rdl_cx *rdl, rdl_u32 size_class) {
  if (size_class == RDL_CLASS_NONE) return (RDL_GLOBAL rdl_word *)rdl->self->result;
  return rdl_block(rdl, rdl->self->result[0]);
}

/* One a task: frame in, a segment, state or result out. Returns how the segment ends. The copies go
   word by word through a union, which is the one form that all compilers get right. */
#define RDL_RUNNER_(name, words_in, from)                                                          \
  RDL_FN rdl_u32 name##_run(rdl_cx *rdl) {                                                         \
    RDL_FRAME_IN_(name, words_in, from);                                                           \
    if (name##_task(rdl, &args.value, &self.value, &out.value RDL_TELLS_WIDTH_(name)) ==           \
        RDL_SUSPENDED) {                                                                           \
      RDL_STATE_OUT_(name);                                                                        \
      return RDL_SUSPENDED;                                                                        \
    }                                                                                              \
    RDL_RESULT_OUT_(name);                                                                         \
    return RDL_ENDED;                                                                              \
  }

/* Small enough for a pack: a frame that is near, and no block for the result. */
#define RDL_PACKS(name)                                                                            \
  ((name##_task_word >> RDL_FRAME_SHIFT & RDL_CLASS_MASK) < RDL_NEAR_POOLS - 1u &&                 \
   (name##_task_word >> RDL_RESULT_SHIFT & RDL_CLASS_MASK) == RDL_CLASS_NONE &&                    \
   RDL_WIDTH_##name == RDL_LANES)

#define RDL_RUNNER(name)       RDL_RUNNER_(name, rdl_words_staged, RDL_STAGED_(frame))
#define RDL_ALONE_RUNNER(name) RDL_RUNNER_(name, rdl_words_in, frame) /* no other lane reads it */

/* The same for a task whose lanes have states of their own. */
#define RDL_LANES_RUNNER(name)                                                                     \
  RDL_FN rdl_u32 name##_run(rdl_cx *rdl) {                                                         \
    RDL_GLOBAL rdl_word *lanes;                                                                    \
    union {                                                                                        \
      name##_lane_state value;                                                                     \
      rdl_word words[RDL_WORDS(name##_lane_state)];                                                \
    } mine;                                                                                        \
    RDL_FRAME_IN_(name, rdl_words_staged, RDL_STAGED_(frame));                                     \
    lanes = frame + RDL_WORDS(name##_args) + RDL_WORDS(name##_state);                              \
    rdl_lane_in(rdl, mine.words, lanes, RDL_WORDS(name##_lane_state), RDL_WIDTH_##name);           \
    if (name##_task(rdl, &args.value, &self.value, &mine.value,                                    \
                    &out.value RDL_TELLS_WIDTH_(name)) == RDL_SUSPENDED) {                         \
      RDL_STATE_OUT_(name);                                                                        \
      rdl_lane_out(lanes, mine.words, RDL_WORDS(name##_lane_state), RDL_WIDTH_##name);             \
      rdl_set_in_lanes(rdl, (rdl_address)mine.words, (rdl_u32)sizeof mine, lanes);                 \
      return RDL_SUSPENDED;                                                                        \
    }                                                                                              \
    RDL_RESULT_OUT_(name);                                                                         \
    return RDL_ENDED;                                                                              \
  }

#define RDL_INFO(name, spawn_count, points)                                                        \
  infos[RDL_ID_##name].args_size = rdl_args_size_of_##name;                                        \
  infos[RDL_ID_##name].state_size = rdl_state_size_of_##name;                                      \
  infos[RDL_ID_##name].result_size = rdl_result_size_of_##name;                                    \
  infos[RDL_ID_##name].lane_state_size = 0;                                                        \
  infos[RDL_ID_##name].spawns = (spawn_count);                                                     \
  infos[RDL_ID_##name].resume_points = (points);                                                   \
  infos[RDL_ID_##name].width = RDL_WIDTH_##name;
#define RDL_ALONE_INFO(name) infos[RDL_ID_##name].width = 1u;
#define RDL_STAGE(name)      rdl_word name##_words[RDL_WORDS(name##_args) + RDL_WORDS(name##_state)];
#define RDL_LANES_INFO(name) infos[RDL_ID_##name].lane_state_size = sizeof(name##_lane_state);
