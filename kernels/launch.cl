/* SPDX-License-Identifier: Apache-2.0 */
/* Where a launch begins, but on devices that end loops (limited.cl). */

RDL_OUTLINE void rdl_describe(RDL_GLOBAL rdl_u8 *heap) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  RDL_GLOBAL rdl_image_info *info = (RDL_GLOBAL rdl_image_info *)(heap + control->image_info);
  info->abi_version = RDL_ABI_VERSION;
  info->record_size = sizeof(rdl_record);
  info->side_size = sizeof(rdl_side);
  info->node_size = sizeof(rdl_node);
  info->event_size = sizeof(rdl_event_record);
  info->worker_size = sizeof(rdl_worker);
  info->message_size = sizeof(rdl_message);
  info->control_size = sizeof(rdl_control);
  info->tasks = RDL_TASK_COUNT;
  info->lanes = RDL_LANES;
  rdl_describe_tasks((RDL_GLOBAL rdl_task_info *)(heap + control->task_infos));
}

#if !defined(RDL_LOOP_TURNS) /* see limited.cl */

#if defined(RDL_WARP)
#if defined(RDL_GROUPS)
/* The first blocks are one worker each, with the numbers of the blocks; the warps of the others
   follow, in the order of theirs. All blocks of a launch are there, so who has come says nothing.
 */
RDL_FN rdl_u32 rdl_worker_number(RDL_GLOBAL const rdl_u8 *heap) {
  rdl_u32 wide = ((RDL_GLOBAL const rdl_control *)heap)->wide, block = rdl_block_id();
  return block < wide ? block : wide + (block - wide) * RDL_WARPS + rdl_part_of_group();
}
RDL_FN rdl_u32 rdl_is_wide_block(RDL_GLOBAL const rdl_u8 *heap) {
  return rdl_block_id() < ((RDL_GLOBAL const rdl_control *)heap)->wide;
}
#else
/* Among the workers that were launched; a block may bring some more than were asked for. */
RDL_FN rdl_u32 rdl_worker_number(RDL_GLOBAL const rdl_u8 *heap) {
  (void)heap;
  return rdl_block_id() * RDL_WARPS + rdl_part_of_group();
}
#endif
#endif

RDL_FN void rdl_worker_comes(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap) {
  RDL_GLOBAL rdl_control *control = (RDL_GLOBAL rdl_control *)heap;
  rdl_u32 come = rdl_fetch_add(&control->registered, 1u);
#if defined(RDL_GROUPS)
  rdl_worker_open(rdl, heap, rdl_worker_number(heap));
#else
  rdl_worker_open(rdl, heap, come & ~RDL_LAUNCH_CLOSED);
#endif
  if (come & RDL_LAUNCH_CLOSED) rdl->leaving = 3;
}

#if RDL_LANES == 1

RDL_FN void rdl_work_for(RDL_GLOBAL rdl_u8 *heap) {
  rdl_cx rdl;
  rdl_worker_comes(&rdl, heap);
  rdl_worker_loop(&rdl);
  rdl_worker_close(&rdl);
}

RDL_KERNEL void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  if (purpose == RDL_LAUNCH_DESCRIBE)
    rdl_describe(heap);
  else if (purpose == RDL_LAUNCH_RUN)
    rdl_work_for(heap);
}

#else

RDL_APART void rdl_leader_opens(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap) {
  rdl_worker_comes(rdl, heap);
  rdl_plan(rdl);
  rdl_adopt_overflow(rdl, rdl->worker); /* what it put out at the end of its last launch */
}

RDL_APART void rdl_leader_closes(rdl_cx *rdl) {
  rdl_worker_close(rdl);
}

RDL_FN void rdl_group_opens(rdl_cx *rdl, RDL_GLOBAL rdl_u8 *heap) {
  rdl->gathered = rdl->wide = rdl->over = rdl->scratch_used = 0;
  rdl->cancelled = rdl->free_head = rdl->free_next = rdl->may_spawn = 0;
  rdl->misuse = rdl->cause = rdl->caught = rdl->which = rdl->status = 0;
  rdl->dropped = rdl->signals = RDL_NIL;
  rdl->found = rdl->last = rdl->unseen = rdl->whole = rdl->idle_rounds = rdl->looks = 0;
  rdl->idle_since = 0;
  rdl->set = 0;
  rdl->set_words = 0;
#if defined(RDL_NEAR)
  rdl->packed = rdl->handed = 0;
#endif
#if defined(RDL_GROUPS)
  rdl->sent = RDL_NIL;
#endif
  if (rdl_leads(rdl))
    rdl_leader_opens(rdl_led(rdl), heap);
  else
    rdl_tables_open(rdl, heap);
}

#if defined(RDL_WARP)

/* What a warp has of its block's shared memory beside its leader's rdl_cx, which is there, too: the
   memory that is called local belongs to a thread, and one word of one lane takes as much of the
   cache there as the same word of eight. Scratch of all warps lies together, for a task of a whole
   group has all of it. */
typedef struct rdl_warp_memory {
  rdl_group group;
  rdl_stage stage;
} rdl_warp_memory;

/* The leaders' own come first. */
#if defined(RDL_PRIVATE)
#define RDL_LEADERS_BYTES ((sizeof(rdl_cx) + sizeof(rdl_privates)) * RDL_WARPS)
#else
#define RDL_LEADERS_BYTES (sizeof(rdl_cx) * RDL_WARPS)
#endif
#define RDL_BLOCK_BYTES                                                                            \
  (RDL_LEADERS_BYTES + (RDL_SCRATCH_USED + sizeof(rdl_warp_memory)) * RDL_WARPS)

#if defined(RDL_EMULATED)
#define RDL_THREAD_KERNEL RDL_FN void rdl_launch_thread
#define rdl_block_memory  rdl_here->memory
#else
#define RDL_THREAD_KERNEL RDL_KERNEL RDL_KERNEL_SHAPE void rdl_launch
#define rdl_block_memory  rdl_shared_memory

/* As much of it a launch needs: more than a kernel can declare where frames are large. */
extern "C" {
__device__ rdl_u32 rdl_shared_bytes = RDL_BLOCK_BYTES;
}
#endif

/* The parts of a worker whose leader is in this part of the block. */
RDL_FN void rdl_parts_open(rdl_cx *rdl, rdl_u32 part) {
  rdl_u8 *scratch = (rdl_u8 *)rdl_block_memory + RDL_LEADERS_BYTES;
  rdl_warp_memory *mine = (rdl_warp_memory *)(scratch + RDL_WARPS * RDL_SCRATCH_USED) + part;
  rdl->group = &mine->group;
  rdl->stage = mine->stage.words;
  rdl->scratch = scratch + part * RDL_SCRATCH_USED;
}

#if defined(RDL_GROUPS)
/* Before any thread of the block leaves. */
RDL_FN void rdl_block_opens(void) {
  if (rdl_thread_id() == 0u) rdl_width = 32u;
  rdl_block_barrier();
}
#endif

RDL_THREAD_KERNEL(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  rdl_cx follower = {0};
  rdl_cx *rdl = &follower;
  rdl_u32 lane = rdl_thread_id() % 32u;
  rdl_u32 part = rdl_part_of_group();
  if (purpose == RDL_LAUNCH_DESCRIBE && rdl_block_id() == 0u && rdl_thread_id() == 0u)
    rdl_describe(heap);
  if (purpose != RDL_LAUNCH_RUN) return;
#if defined(RDL_GROUPS)
  rdl_block_opens();
  if (rdl_is_wide_block(heap)) {
    lane = rdl_thread_id();
    part = 0;
  }
#endif
  if (rdl_worker_number(heap) >= ((RDL_GLOBAL const rdl_control *)heap)->workers) return;
  if (lane == 0u) {
    rdl = rdl_led(rdl);
    *rdl = follower;
  }
  rdl->lane = lane;
#if defined(RDL_GROUPS)
  rdl->has_block = rdl_is_wide_block(heap);
#endif
  rdl_parts_open(rdl, part);
  rdl_group_opens(rdl, heap);
#if defined(RDL_GROUPS)
  if (lane >= 32u) {
    rdl_join_loop(rdl);
    return;
  }
#endif
  rdl_group_loop(rdl);
  if (rdl_leads(rdl)) rdl_leader_closes(rdl_led(rdl));
}

#if defined(RDL_EMULATED)

typedef struct rdl_emulated_thread {
  rdl_emulated_block *block;
  rdl_u8 *heap;
  rdl_u32 purpose;
  rdl_u32 number;
  pthread_t thread;
} rdl_emulated_thread;

RDL_FN void *rdl_emulate_thread(void *argument) {
  rdl_emulated_thread *one = (rdl_emulated_thread *)argument;
  rdl_here = one->block;
  rdl_thread = one->number;
  rdl_launch_thread(one->heap, one->purpose);
  return 0;
}

/* A block. Its memory begins with anything, as on CUDA. Where the system gives no thread or memory
   at the moment it is asked again. */
RDL_KERNEL void rdl_launch(rdl_u8 *heap, rdl_u32 purpose) {
  rdl_control *control = (rdl_control *)heap;
  rdl_emulated_block block;
  rdl_emulated_thread threads[RDL_WARPS * RDL_LANES];
  rdl_u32 k;
  if (purpose == RDL_LAUNCH_NOTHING) return;
  block.number = purpose == RDL_LAUNCH_RUN ? rdl_fetch_add(&control->blocks, 1u) : 0u;
  while (!(block.memory = malloc(RDL_BLOCK_BYTES)))
    sched_yield();
  for (k = 0; k < RDL_BLOCK_BYTES; k++)
    ((rdl_u8 *)block.memory)[k] = 0xee;
  (void)pthread_barrier_init(&block.all, 0, RDL_WARPS * RDL_LANES);
  for (k = 0; k < RDL_WARPS; k++)
    (void)pthread_barrier_init(&block.warps[k], 0, RDL_LANES);
  for (k = 0; k < RDL_WARPS * RDL_LANES; k++) {
    rdl_emulated_thread *one = &threads[k];
    one->block = &block;
    one->heap = heap;
    one->purpose = purpose;
    one->number = k;
    while (pthread_create(&one->thread, 0, rdl_emulate_thread, one))
      sched_yield();
  }
  for (k = 0; k < RDL_WARPS * RDL_LANES; k++)
    (void)pthread_join(threads[k].thread, 0);
  for (k = 0; k < RDL_WARPS; k++)
    (void)pthread_barrier_destroy(&block.warps[k]);
  (void)pthread_barrier_destroy(&block.all);
  free(block.memory);
}

#endif

#else

/* Memory of a group is declared nowhere else than at the head of a kernel. */
RDL_KERNEL RDL_KERNEL_SHAPE void rdl_launch(RDL_GLOBAL rdl_u8 *heap, rdl_u32 purpose) {
  RDL_LOCAL rdl_group group;
  RDL_LOCAL rdl_stage stage;
  RDL_LOCAL rdl_u64 scratch[RDL_SCRATCH_USED / 8u];
  rdl_cx rdl = {0}; /* in all lanes: what one has not set, PoCL's compiler takes for anything, and
                       then mixes it into what the leader has */
  rdl.lane = rdl_lane();
  if (purpose == RDL_LAUNCH_DESCRIBE && rdl_leads(&rdl)) rdl_describe(heap);
  if (purpose != RDL_LAUNCH_RUN) return;
  rdl.group = &group;
  rdl.stage = stage.words;
  rdl.scratch = (RDL_LOCAL rdl_u8 *)scratch;
  rdl_group_opens(&rdl, heap);
  rdl_group_loop(&rdl);
  if (rdl_leads(&rdl)) rdl_leader_closes(&rdl);
}

#endif

#endif /* RDL_LANES */

#endif /* RDL_LOOP_TURNS */
