/* SPDX-License-Identifier: Apache-2.0 */
/* Every word of the dialect once: what does not compile in one of the languages is found here. */
struct words_args {
  rdl_ptr numbers;
  rdl_event event;
  uint n;
  float factor;
};
struct words_state {
  rdl_future set[3];
  rdl_future one;
  uint at;
  uint outcome;
  uint sum[100];
};
struct large {
  uint values[64];
};

struct words_lane {
  rdl_future child;
  float sum;
  uchar odd[3];
};

RDL_DECLARE(leaf, struct large, RDL_NONE, RDL_NONE)
RDL_DECLARE_LANES(lanes, float, struct words_args, RDL_NONE, struct words_lane)

RDL_TASK(words, struct large, struct words_args, struct words_state) {
  uint outcome;
  struct large result;
  RDL_BEGIN();
  RDL_SPAWNS(3);
  for (self->at = 0; self->at < 3; self->at++) {
    RDL_TRY_SPAWN(outcome, self->set[self->at], leaf);
    if (outcome == RDL_FULL) RDL_AWAIT_ROOM();
  }
  RDL_SPAWN(self->one, words, args->numbers, args->event, args->n - 1u, args->factor);
  RDL_AWAIT(self->one);
  RDL_AWAIT_CATCH(self->outcome, self->one);
  RDL_AWAIT_FOR(self->outcome, self->one, 1000u);
  RDL_AWAIT_ALL(self->set, 3u);
  RDL_AWAIT_ALL_CATCH(self->outcome, self->set, 3u);
  RDL_AWAIT_ALL_FOR(self->outcome, self->set, 3u, 1000u);
  RDL_AWAIT_ANY(self->at, self->set, 3u);
  RDL_AWAIT_ANY_CATCH(self->outcome, self->at, self->set, 3u);
  RDL_AWAIT_ANY_FOR(self->outcome, self->at, self->set, 3u, 1000u);
  RDL_AWAIT_FIRST(self->at, self->set, 3u);
  RDL_AWAIT_CHILDREN();
  RDL_AWAIT_CHILDREN_CATCH(self->outcome);
  RDL_AWAIT_COUNT(args->event, 2u);
  RDL_AWAIT_COUNT_FOR(self->outcome, args->event, 2u, 1000u);
  RDL_AWAIT_EVENT(args->event);
  RDL_AWAIT_EVENT_CATCH(self->outcome, args->event);
  RDL_AWAIT_EVENT_FOR(self->outcome, args->event, 1000u);
  RDL_SLEEP(1000u);
  RDL_YIELD();
  if (self->outcome) RDL_FAIL(RDL_FAILURE_CODE());
  if (RDL_CANCELLED()) RDL_EXIT();
  RDL_TAKE(result, struct large, self->set[0]);
  result.values[0] += RDL_RESULT(struct large, self->set[1]).values[1];
  RDL_DROP(self->set[1]);
  RDL_DETACH(self->set[2]);
  RDL_CANCEL(self->one);
  RDL_SIGNAL(args->event, RDL_EVENT_COUNT(args->event));
  self->one = RDL_SELF();
  {
    RDL_GLOBAL uint *numbers = RDL_AT(uint, args->numbers);
    RDL_SCRATCH(uint, scratch, 4);
    scratch[0] = rdl_atomic_load(numbers) + rdl_atomic_add(numbers, 1u);
    scratch[1] = rdl_atomic_min(numbers, 1u) + rdl_atomic_max(numbers, 1u);
    scratch[2] = rdl_atomic_or(numbers, 1u) + rdl_atomic_exchange(numbers, 1u);
    scratch[3] = rdl_atomic_cas(numbers, 1u, 2u) + rdl_lane() + rdl_lanes();
    rdl_sync();
    scratch[0] += rdl_broadcast_u32(scratch[1], 0u) + rdl_reduce_add_u32(scratch[2]);
    scratch[0] += rdl_reduce_min_u32(scratch[1]) + rdl_reduce_max_u32(scratch[3]);
    scratch[0] += rdl_scan_add_u32(scratch[1]) + (uint)rdl_ballot(scratch[0]);
    if (rdl_reduce_add_f32(args->factor) > 1.0f) rdl_atomic_store(numbers, scratch[0]);
    RDL_SPAWN(self->one, lanes);
  }
  RDL_RETURN(result);
  RDL_END();
}

RDL_TASK(leaf, struct large, RDL_NONE, RDL_NONE) {
  RDL_BEGIN();
  RDL_END();
}

/* The words about lanes that have no place above. */
RDL_TASK_LANES(lanes, float, struct words_args, RDL_NONE, struct words_lane) {
  uint outcome;
  RDL_BEGIN();
  RDL_SPAWN_LANES(mine->child, args->n > rdl_lane(), lanes, .n = args->n - 1u);
  RDL_AWAIT(rdl_broadcast_future(mine->child, 0u));
  mine->sum += rdl_broadcast_f32(args->factor, 0u) + rdl_scan_add_f32(args->factor);
  mine->odd[2] = rdl_reduce_min_f32(mine->sum) < rdl_reduce_max_f32(mine->sum);
  RDL_TRY_SPAWN_LANES(outcome, mine->child, mine->odd[2], lanes);
  if (outcome == RDL_FULL) RDL_AWAIT_ROOM_LANES();
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(mine->sum);
  RDL_END();
}
