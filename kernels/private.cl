/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the dialect in a private task that a lane runs, and the same of its host (see
 * privates.h). A private task is compiled twice: here `rdl` is an rdl_px, which stands in
 * registers, where the task is an ordinary future it is the worker's rdl_cx.
 */
#if defined(RDL_PRIVATE)

/* A lane that runs private futures. */
typedef struct rdl_px {
  rdl_privates *set;
  rdl_private *mine;
  rdl_u32 entry;
  rdl_u32 context;
  rdl_u32 limit; /* what is free from here on is not there before the lanes meet again */
  rdl_u32 resume;
  rdl_u32 status;
  rdl_u32 cause;
  rdl_u32 caught;
  rdl_u32 misuse;
  rdl_u32 want;
  rdl_u32 target;
  rdl_u32 generation; /* of the handle that is awaited */
  rdl_u64 timeout;
  const rdl_u32 *host_wait; /* the host's word, for who asks whether it was cancelled */
  rdl_u32 told;             /* a member of a row was */
  rdl_u32 crowded;          /* few entries are free: who is woken does not run at once */
  rdl_private_counts counts;
} rdl_px;

/* Lanes of a warp go different ways between two meetings: what another one writes is read anew. */
RDL_FN rdl_u32 rdl_private_peek(const rdl_u32 *p) {
  return *(volatile const rdl_u32 *)p;
}

RDL_FN rdl_u32 rdl_private_is_done(const rdl_private *future) {
  return rdl_private_peek(&future->waiter) & RDL_PRIVATE_DONE;
}

RDL_FN rdl_u32 rdl_private_cause(const rdl_private *future) {
  return future->word & RDL_PRIVATE_FAILED ? future->frame[0] : RDL_S_OK;
}

/* The number in a handle; RDL_PRIVATES or more: it is none of a private future. */
RDL_FN rdl_u32 rdl_private_number(rdl_u32 context, rdl_future f) {
  return f.index - (context | RDL_PRIVATE_FIRST);
}

/* What a handle names: RDL_PRIVATE_NONE = nothing in this set, and then `*status` tells why. */
RDL_FN rdl_u32 rdl_private_named(const rdl_privates *set, rdl_u32 context, rdl_future f,
                                 rdl_u32 *status) {
  rdl_u32 entry = rdl_private_number(context, f);
  *status = entry < RDL_PRIVATES ? RDL_S_STALE : RDL_S_INVALID;
  if (entry >= RDL_PRIVATES || set->all[entry].generation != f.generation) return RDL_PRIVATE_NONE;
  *status = RDL_S_OK;
  return entry;
}

RDL_FN void rdl_private_push(rdl_privates *set, rdl_u32 entry) {
  set->ready[rdl_add_local(&set->tail, 1u) % RDL_PRIVATE_RING] = (rdl_u8)entry;
}

RDL_FN void rdl_private_free(rdl_privates *set, rdl_u32 entry) {
  rdl_private *future = set->all + entry;
  future->word = 0;
  future->generation++;
  set->free[rdl_add_local(&set->free_tail, 1u) % RDL_PRIVATE_RING] = (rdl_u8)entry;
}

/* ---- birth ---- */

RDL_FN void rdl_private_fill(rdl_private *future, rdl_u32 word, rdl_u32 owner, rdl_u32 next,
                             const rdl_word *words, rdl_u32 count) {
  rdl_u32 k;
  future->word = word | RDL_PRIVATE_USED;
  future->waiter = 0;
  future->live = 1;
  future->status = 0;
  future->first_child = RDL_PRIVATE_NONE;
  future->next_sibling = (rdl_u8)next;
  future->owner = (rdl_u8)owner;
  future->link = 0;
  for (k = 0; k < RDL_PRIVATE_WORDS; k++)
    if (k < count) future->frame[k] = words[k];
}

/* RDL_PRIVATE_NONE = there is no room. */
RDL_FN rdl_u32 rdl_private_take(rdl_privates *set, rdl_u32 limit) {
  rdl_u32 at = rdl_add_local(&set->free_head, 1u);
  if ((rdl_i32)(at - limit) < 0) return set->free[at % RDL_PRIVATE_RING];
  (void)rdl_add_local(&set->free_head, 0u - 1u);
  return RDL_PRIVATE_NONE;
}

RDL_FN rdl_future rdl_private_handle(const rdl_privates *set, rdl_u32 context, rdl_u32 entry) {
  rdl_future f;
  f.index = context | (RDL_PRIVATE_FIRST + entry);
  f.generation = set->all[entry].generation;
  return f;
}

RDL_FN rdl_future rdl_spawn(rdl_px *rdl, rdl_u32 task, const rdl_word *words, rdl_u32 count) {
  rdl_privates *set = rdl->set;
  rdl_u32 entry = RDL_PRIVATE_NONE;
  if (!(task & RDL_TASK_IN_SET)) /* behind a macro, where the library does not look */
    rdl->misuse = RDL_S_INVALID;
  else
    entry = rdl_private_take(set, rdl->limit);
  if (entry == RDL_PRIVATE_NONE) return rdl_no_future();
  rdl_private_fill(set->all + entry, task & RDL_TASK_MASK, rdl->entry, rdl->mine->first_child,
                   words, count);
  rdl->mine->first_child = (rdl_u8)entry;
  (void)rdl_add_local(&rdl->mine->live, 1u);
  rdl_private_push(set, entry);
  rdl->counts.spawned++;
  return rdl_private_handle(set, rdl->context, entry);
}

/* ---- words of a lane ---- */

RDL_FN rdl_u32 rdl_leaves(rdl_px *rdl, rdl_u32 over) {
  (void)rdl;
  return !over;
}

RDL_FN rdl_u32 rdl_catch(rdl_px *rdl) {
  rdl->caught = rdl->status;
  rdl->status = 0;
  return RDL_CAUSE_STATUS(rdl->caught);
}

/* Those that live of a list of children are told to end, for their owner has failed or was told:
   who has not started never does, the others see it at their next await. */
RDL_FN void rdl_private_cancel_list(rdl_privates *set, rdl_u32 child) {
  for (; child != RDL_PRIVATE_NONE; child = set->all[child].next_sibling)
    if (!rdl_private_is_done(set->all + child))
      atomicOr(&set->all[child].live, RDL_PRIVATE_CANCELLED);
}

/* What passes from children that nobody awaited to their owner. */
RDL_FN rdl_u32 rdl_private_missed(const rdl_privates *set, rdl_u32 child) {
  rdl_u32 cause = 0;
  for (; child != RDL_PRIVATE_NONE; child = set->all[child].next_sibling) {
    rdl_u32 ended = rdl_private_cause(set->all + child);
    if (ended && !cause && rdl_passes(0u, ended)) cause = ended;
  }
  return cause;
}

/* 1 = it is told that it is to end, once, and its children are told before it goes on. */
RDL_FN rdl_u32 rdl_private_is_told(rdl_px *rdl) {
  rdl_u32 live = rdl_private_peek(&rdl->mine->live);
  if (!rdl->set->cancelled && !(live & RDL_PRIVATE_CANCELLED)) return 0;
  if (rdl->mine->word & RDL_PRIVATE_TOLD) return 0;
  rdl->mine->word |= RDL_PRIVATE_TOLD;
  rdl_private_cancel_list(rdl->set, rdl->mine->first_child);
  rdl->status = RDL_S_CANCELLED;
  return 1;
}

/* A long segment asks the host's own word: nobody else of the warp can tell it anything. */
RDL_FN rdl_u32 rdl_was_cancelled(rdl_px *rdl) {
  rdl_u32 asked = rdl_load_relaxed(rdl->host_wait) & RDL_CANCEL_BIT;
  if (!rdl->mine) { /* a member of a row */
    rdl->told |= asked;
    return rdl->told != 0u;
  }
  if (asked) atomicOr(&rdl->mine->live, RDL_PRIVATE_CANCELLED);
  (void)rdl_private_is_told(rdl);
  return (rdl->mine->word & RDL_PRIVATE_TOLD) != 0u;
}

RDL_FN rdl_u32 rdl_poll_plain(rdl_px *rdl, rdl_u32 want) {
  rdl->status = 0;
  rdl->want = want;
  return rdl_private_is_told(rdl);
}

/* Of what it awaits, which has ended: whose it is is looked at again behind that, for another lane
   may drop it just now. */
RDL_FN rdl_u32 rdl_private_outcome(rdl_px *rdl) {
  const rdl_private *target = rdl->set->all + rdl->target;
  rdl_u32 cause;
  rdl_fence_block();
  cause = rdl_private_cause(target);
  rdl_fence_block();
  return rdl_private_peek(&target->generation) == rdl->generation ? cause : RDL_S_STALE;
}

RDL_FN rdl_u32 rdl_poll_future(rdl_px *rdl, rdl_future f) {
  rdl->status = 0;
  rdl->want = RDL_WANT_FUTURE;
  if (rdl_private_is_told(rdl)) return 1;
  rdl->target = rdl_private_named(rdl->set, rdl->context, f, &rdl->status);
  if (rdl->target == RDL_PRIVATE_NONE) return 1;
  rdl->generation = f.generation;
  if (!rdl_private_is_done(rdl->set->all + rdl->target)) return 0;
  rdl->status = rdl_private_outcome(rdl);
  return 1;
}

RDL_FN const rdl_word *rdl_private_result(rdl_privates *set, rdl_u32 context, rdl_future f,
                                          rdl_u32 size, rdl_u32 *misuse) {
  rdl_u32 status, entry = rdl_private_named(set, context, f, &status);
  if (!status && (!rdl_private_is_done(set->all + entry) || size > RDL_INLINE_SIZE))
    status = RDL_S_INVALID;
  if (status) *misuse = status;
  if (status || (set->all[entry].word & RDL_PRIVATE_FAILED)) return set->zeros;
  return set->all[entry].frame;
}

RDL_FN const rdl_word *rdl_result_at(rdl_px *rdl, rdl_future f, rdl_u32 size) {
  return rdl_private_result(rdl->set, rdl->context, f, size, &rdl->misuse);
}

/* Out of the list of its owner's children, whose first is `first`; returns what is that now. */
RDL_FN rdl_u32 rdl_private_unlink(rdl_privates *set, rdl_u32 first, rdl_u32 entry) {
  rdl_u32 next = set->all[entry].next_sibling, at;
  if (first == entry) return next;
  for (at = first; at != RDL_PRIVATE_NONE; at = set->all[at].next_sibling)
    if (set->all[at].next_sibling == entry) set->all[at].next_sibling = (rdl_u8)next;
  return first;
}

/* A child that has ended; RDL_PRIVATE_NONE = it is none, and `*misuse` tells. */
RDL_FN rdl_u32 rdl_private_child(const rdl_privates *set, rdl_u32 context, rdl_u32 owner,
                                 rdl_future f, rdl_u32 *misuse) {
  rdl_u32 status, entry = rdl_private_named(set, context, f, &status);
  if (!status && set->all[entry].owner != owner) status = RDL_S_PERMISSION;
  if (!status && !rdl_private_is_done(set->all + entry)) status = RDL_S_INVALID;
  if (!status) return entry;
  *misuse = status;
  return RDL_PRIVATE_NONE;
}

RDL_FN void rdl_free_child(rdl_px *rdl, rdl_future f) {
  rdl_u32 entry = rdl_private_child(rdl->set, rdl->context, rdl->entry, f, &rdl->misuse);
  if (entry == RDL_PRIVATE_NONE) return;
  rdl->mine->first_child = (rdl_u8)rdl_private_unlink(rdl->set, rdl->mine->first_child, entry);
  rdl_private_free(rdl->set, entry);
}

/* ---- running a private task ---- */

#define RDL_PRIVATE_RUNNER(name)                                                                   \
  RDL_FN rdl_u32 name##_run_private(rdl_px *rdl) {                                                 \
    rdl_private *mine = rdl->mine;                                                                 \
    rdl_u32 k;                                                                                     \
    union {                                                                                        \
      name##_args value;                                                                           \
      rdl_word words[RDL_WORDS(name##_args)];                                                      \
    } args;                                                                                        \
    union {                                                                                        \
      name##_state value;                                                                          \
      rdl_word words[RDL_WORDS(name##_state)];                                                     \
    } self;                                                                                        \
    union {                                                                                        \
      name##_result value;                                                                         \
      rdl_word words[RDL_WORDS(name##_result)];                                                    \
    } out;                                                                                         \
    for (k = 0; k < RDL_WORDS(name##_args); k++)                                                   \
      args.words[k] = mine->frame[k];                                                              \
    for (k = 0; k < RDL_WORDS(name##_state); k++)                                                  \
      self.words[k] = rdl->resume ? mine->frame[RDL_WORDS(name##_args) + k] : 0u;                  \
    for (k = 0; k < RDL_WORDS(name##_result); k++)                                                 \
      out.words[k] = 0;                                                                            \
    if (name##_task(rdl, &args.value, &self.value, &out.value RDL_TELLS_WIDTH_(name)) ==           \
        RDL_SUSPENDED) {                                                                           \
      for (k = 0; k < RDL_WORDS(name##_state); k++)                                                \
        mine->frame[RDL_WORDS(name##_args) + k] = self.words[k];                                   \
      return RDL_SUSPENDED;                                                                        \
    }                                                                                              \
    for (k = 0; k < RDL_WORDS(name##_result); k++)                                                 \
      mine->frame[k] = out.words[k];                                                               \
    return RDL_ENDED;                                                                              \
  }

/* The same for a member of a row, which neither waits nor spawns, and of whose result nobody hears.
 */
#define RDL_ROW_RUNNER(name)                                                                       \
  RDL_FN void name##_run_row(rdl_px *rdl, const rdl_word *words) {                                 \
    rdl_u32 k;                                                                                     \
    union {                                                                                        \
      name##_args value;                                                                           \
      rdl_word words[RDL_WORDS(name##_args)];                                                      \
    } args;                                                                                        \
    name##_state self = {};                                                                        \
    name##_result out = {};                                                                        \
    for (k = 0; k < RDL_WORDS(name##_args); k++)                                                   \
      args.words[k] = rdl_args_size_of_##name ? words[k] : 0u;                                     \
    (void)name##_task(rdl, &args.value, &self, &out RDL_TELLS_WIDTH_(name));                       \
  }

/* ---- the host ---- */

RDL_FN rdl_u32 rdl_may_host(rdl_u32 task);

#define RDL_PRIVATE_POOL (RDL_POOL_FRAMES + RDL_CLASSES - 1u) /* of the largest blocks */

/* Where its set is saved: the first of two blocks. */
RDL_FN rdl_u32 *rdl_private_place(rdl_cx *rdl, rdl_u32 slot) {
  return (rdl_u32 *)(rdl->heap + rdl->control->privates) + slot;
}

/* The blocks that the next set to be saved goes to. Whoever has a set has them. */
RDL_OUTLINE rdl_u32 rdl_private_has_place(rdl_cx *rdl) {
  rdl_u32 k;
  for (k = 0; k < 2u; k++) {
    if (rdl->places[k]) continue;
    if (!rdl->stashes[RDL_PRIVATE_POOL].left && !rdl_pool_fill(rdl, RDL_PRIVATE_POOL, 1u)) return 0;
    rdl->places[k] = rdl_pool_take(rdl, RDL_PRIVATE_POOL);
  }
  return 1;
}

RDL_FN void rdl_private_keep_place(rdl_cx *rdl, rdl_u32 first, rdl_u32 second) {
  rdl_u32 k;
  for (k = 0; k < 2u; k++) {
    rdl_u32 unit = k ? second : first;
    if (!unit) continue;
    if (rdl->places[k])
      rdl_pool_put(rdl, RDL_PRIVATE_POOL, unit);
    else
      rdl->places[k] = unit;
  }
}

/* The worker leaves: it keeps none. */
RDL_OUTLINE void rdl_private_put_places(rdl_cx *rdl) {
  rdl_u32 k;
  for (k = 0; k < 2u; k++) {
    if (rdl->places[k]) rdl_pool_put(rdl, RDL_PRIVATE_POOL, rdl->places[k]);
    rdl->places[k] = RDL_NIL;
  }
}

RDL_FN void rdl_private_copy(void *to, const void *from, rdl_u32 bytes) {
  rdl_u32 k;
  for (k = 0; k < bytes / 16u; k++)
    ((uint4 *)to)[k] = ((const uint4 *)from)[k];
}

#define RDL_PRIVATE_REST ((rdl_u32)sizeof(rdl_privates) - RDL_MAX_BLOCK)

/* Its host goes elsewhere, or the worker does. */
RDL_OUTLINE void rdl_private_save(rdl_cx *rdl) {
  rdl_privates *set = rdl_privates_of();
  set->moved = rdl->places[1];
  rdl_private_copy(rdl_block(rdl, rdl->places[0]), set, RDL_MAX_BLOCK);
  rdl_private_copy(rdl_block(rdl, rdl->places[1]), (const rdl_u8 *)set + RDL_MAX_BLOCK,
                   RDL_PRIVATE_REST);
  *rdl_private_place(rdl, set->host) = rdl->places[0];
  set->host = RDL_NIL;
  rdl->places[0] = rdl->places[1] = RDL_NIL;
}

RDL_OUTLINE void rdl_private_load(rdl_cx *rdl, rdl_u32 first) {
  rdl_privates *set = rdl_privates_of();
  if (set->host) rdl_private_save(rdl);
  rdl_private_copy(set, rdl_block(rdl, first), RDL_MAX_BLOCK);
  rdl_private_copy((rdl_u8 *)set + RDL_MAX_BLOCK, rdl_block(rdl, set->moved), RDL_PRIVATE_REST);
  *rdl_private_place(rdl, rdl->slot) = RDL_NIL;
  rdl_private_keep_place(rdl, first, set->moved);
  rdl->numbered = 1;
}

/* An empty one. Generations go on from set to set; those of two workers begin far apart. */
RDL_FN void rdl_private_clear(rdl_cx *rdl) {
  rdl_privates *set = rdl_privates_of();
  rdl_u32 k, first = (rdl->worker + 1u) * 2654435761u + (rdl_u32)rdl_clock();
  for (k = 0; k < RDL_PRIVATES; k++) {
    set->free[k] = (rdl_u8)k;
    set->all[k].generation = rdl->numbered ? set->all[k].generation + 1u : first;
    set->all[k].word = 0;
  }
  rdl->numbered = 1;
  set->head = set->tail = set->free_head = 0;
  set->free_tail = RDL_PRIVATES;
  set->live = set->host_waits = set->over = set->cancelled = set->failure = set->members = 0;
  set->host_child = RDL_PRIVATE_NONE;
  for (k = 0; k < RDL_INLINE_SIZE / 4u; k++)
    set->zeros[k] = 0;
  set->host = rdl->slot;
}

/* One that spawns private futures behind a macro or a function is none that the library knows. */
RDL_FN rdl_u32 rdl_is_host(rdl_cx *rdl) {
  return rdl_may_host(rdl->task & RDL_TASK_MASK);
}

/* The set of the running future; 0 = it has none. */
RDL_OUTLINE rdl_privates *rdl_private_set(rdl_cx *rdl) {
  rdl_privates *set = rdl_privates_of();
  rdl_u32 first;
  if (!rdl_is_host(rdl)) return 0;
  if (set->host == rdl->slot) return set;
  first = *rdl_private_place(rdl, rdl->slot);
  if (!first) return 0;
  rdl_private_load(rdl, first);
  return set;
}

/* The same, or a new one; 0 = it is no host, there is no room, or each worker shows what it runs:
   then a private task is spawned as any other. */
RDL_OUTLINE rdl_privates *rdl_private_open(rdl_cx *rdl) {
  rdl_privates *set = rdl_private_set(rdl);
  if (set) return set;
  set = rdl_privates_of();
  if (rdl->shown || !rdl_is_host(rdl)) return 0;
  if (set->host) rdl_private_save(rdl);
  if (!rdl_private_has_place(rdl)) return 0;
  rdl_private_clear(rdl);
  return set;
}

/* The host is led, and the lanes wait. Its index is 0 when there is no room. */
RDL_OUTLINE rdl_future rdl_private_spawn(rdl_cx *rdl, rdl_u32 task, const rdl_word *words,
                                         rdl_u32 count) {
  rdl_privates *set = rdl_private_open(rdl);
  rdl_u32 entry = set ? rdl_private_take(set, set->free_tail) : RDL_PRIVATE_NONE;
  if (entry == RDL_PRIVATE_NONE) return rdl_no_future();
  rdl_private_fill(set->all + entry, task & RDL_TASK_MASK, RDL_PRIVATE_HOST, set->host_child, words,
                   count);
  set->host_child = entry;
  set->live++;
  rdl_private_push(set, entry);
  rdl->counters.spawned++;
  return rdl_private_handle(set, rdl->context, entry);
}

/* The host is told to end, and its private children with it. */
RDL_OUTLINE void rdl_private_tell(rdl_cx *rdl) {
  rdl_privates *set = rdl_private_set(rdl);
  if (set) rdl_private_cancel_list(set, set->host_child);
}

/* Of an await of all children: those of its set end before the host waits in any other way
   (rdl_privates_first), and then the first failure among them counts as of others. */
RDL_FN rdl_u32 rdl_private_children_live(rdl_cx *rdl) {
  rdl_privates *set = rdl_private_set(rdl);
  return set && set->live;
}

RDL_FN rdl_u32 rdl_private_children_cause(rdl_cx *rdl) {
  rdl_privates *set = rdl_private_set(rdl);
  rdl_u32 child = set ? set->host_child : RDL_PRIVATE_NONE, cause = 0;
  for (; child != RDL_PRIVATE_NONE && !cause; child = set->all[child].next_sibling)
    cause = rdl_private_cause(set->all + child);
  return cause;
}

RDL_FN rdl_u32 rdl_is_private(rdl_cx *rdl, rdl_future f) {
  return rdl_private_number(rdl->context, f) < RDL_PRIVATES;
}

/* As rdl_poll_future, of a private one. */
RDL_OUTLINE rdl_u32 rdl_poll_private(rdl_cx *rdl, rdl_future f) {
  rdl_privates *set = rdl_private_set(rdl);
  rdl_u32 entry = RDL_PRIVATE_NONE;
  rdl->want = RDL_WANT_PRIVATE;
  rdl->target = f;
  rdl->status = RDL_S_INVALID;
  if (set) entry = rdl_private_named(set, rdl->context, f, &rdl->status);
  if (entry == RDL_PRIVATE_NONE) return 1;
  if (!rdl_private_is_done(set->all + entry)) return 0;
  rdl->status = rdl_private_cause(set->all + entry);
  return 1;
}

RDL_OUTLINE const rdl_word *rdl_private_result_at(rdl_cx *rdl, rdl_future f, rdl_u32 size) {
  rdl_privates *set = rdl_private_set(rdl);
  if (set) return rdl_private_result(set, rdl->context, f, size, &rdl->misuse);
  rdl->misuse = RDL_S_INVALID;
  return (const rdl_word *)(rdl->heap + rdl->control->zeros);
}

RDL_OUTLINE void rdl_private_drop(rdl_cx *rdl, rdl_future f) {
  rdl_privates *set = rdl_private_set(rdl);
  rdl_u32 entry = RDL_PRIVATE_NONE;
  rdl->misuse = set ? rdl->misuse : RDL_S_INVALID;
  if (set) entry = rdl_private_child(set, rdl->context, RDL_PRIVATE_HOST, f, &rdl->misuse);
  if (entry == RDL_PRIVATE_NONE) return;
  set->host_child = rdl_private_unlink(set, set->host_child, entry);
  rdl_private_free(set, entry);
}

#endif
