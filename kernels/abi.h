/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What host and device both read. Every structure has 32- and 64-bit members only, its padding is
 * written out, and its size is asserted here and compared by the device when an image is loaded.
 *
 * The heap of a context is one block of memory. Its first bytes are `rdl_control`, which holds the
 * offsets of all other tables. Slots, nodes and events are numbered from 1; 0 means none.
 *
 * Wait word of a future (`rdl_record.wait`): state in bits 0-2, a cancel request in bit 3, a ticket
 * above. The ticket belongs to the slot, not to the future: it rises at every wait and at every new
 * life of the slot, so a compare-and-swap on an old value
 * does not hit a new wait (unless 2^28 waits of the slot lie between).
 */
#ifndef RDL_ABI_H
#define RDL_ABI_H

#define RDL_ABI_VERSION 3u

#define RDL_NIL        0u
#define RDL_MAX_SLOTS  0x00ffffffu /* 24 bits of a handle; the other 8 name the context */
#define RDL_MOST_SLOTS 0x00fffe00u /* that a context has; numbers beyond are of private futures */

/* States of a future. */
#define RDL_FREE 0u
#define RDL_READY                                                                                  \
  1u /* in a ring, or running; in flat mode: may be claimed by who knows the ticket */
#define RDL_QUEUED 2u /* linked into a list until a taker has unlinked it, or running since */
#define RDL_RUNNING                                                                                \
  3u /* has gone on after a wait that never was; in flat mode: every one that runs */
#define RDL_WAITING  4u
#define RDL_RETURNED 5u /* its code has ended, a child has not */
#define RDL_DONE     6u

#define RDL_STATE_MASK  7u
#define RDL_CANCEL_BIT  8u
#define RDL_TICKET_ONE  16u
#define RDL_TICKET_MASK 0xfffffff0u

/* Head of a list of waiters: a node's index, or one of these. */
#define RDL_LIST_CLOSED 0x80000000u /* nothing will wake this list any more: the future is done */
#define RDL_DETACHED_BIT                                                                           \
  0x40000000u /* nobody will ask for the result; the finisher frees the slot */
#define RDL_NODE_MASK 0x3fffffffu

/* `rdl_record.task`: number of the task, classes of its blocks, flags. */
#define RDL_TASK_MASK      0x00000fffu
#define RDL_TASK_WORD      0x000fffffu /* number and classes, without the flags */
#define RDL_FRAME_SHIFT    12u
#define RDL_RESULT_SHIFT   16u
#define RDL_CLASS_MASK     0xfu
#define RDL_CLASS_NONE     0xfu
#define RDL_TASK_HOST      0x00100000u /* slot and blocks belong to the host */
#define RDL_TASK_LOCAL     0x00200000u /* stays with the worker that started it */
#define RDL_TASK_CANCELLED 0x00400000u /* a cancel request was delivered: ends as CANCELLED */
#define RDL_TASK_ANSWERS   0x00800000u /* the host asked for the outcome: post it */
#define RDL_TASK_PASSES    0x01000000u /* fails when a child fails that nobody awaited (batches) */
#define RDL_TASK_WAITED    0x02000000u /* has waited before its first segment: not to be claimed */
#define RDL_TASK_IN_SET                                                                            \
  0x04000000u /* in the word a spawn is given: a private task (privates.h)                         \
               */
#define RDL_MAX_TASKS 4096u

/* Children of a batch, at most. Of 64 dispatches up to two fair ones open a batch: what these hold
   must be done before the next two, or members of ever more batches stand beside each other and
   none of their slots comes free. */
#define RDL_BATCH_MOST 16u

/* Frame and result blocks have 16 << class bytes; they are addressed in units of 16 bytes. */
#define RDL_CLASSES     10u
#define RDL_UNIT        16u
#define RDL_MAX_BLOCK   8192u
#define RDL_INLINE_SIZE 16u /* results up to this size live in the record */

#define RDL_PRIVATE_WORDS 9u /* of arguments and state of a private task (privates.h) */

/* Cause of an end: status in the low byte, the code of a task's own failure above. */
#define RDL_CAUSE_STATUS(c) ((c)&0xffu)
#define RDL_CAUSE_CODE(c)   ((c) >> 8)
#define RDL_CODE_MOST       0x00ffffffu /* stands for itself and for all larger ones */

/* The statuses a device can give, by the numbers of rdl_status (asserted on the host). */
#define RDL_S_OK           0u
#define RDL_S_INVALID      1u
#define RDL_S_STALE        2u
#define RDL_S_TIMEOUT      9u
#define RDL_S_CANCELLED    11u
#define RDL_S_FAILED       12u
#define RDL_S_DEADLOCK     13u
#define RDL_S_OUT_OF_SLOTS 14u
#define RDL_S_LOOP_BUDGET  16u
#define RDL_S_PERMISSION   17u

#ifndef RDL_HANDLES_DEFINED /* the public header of the host has them too */
#define RDL_HANDLES_DEFINED
/* Handles. `index` holds the slot (24 bits) and the context's number (8 bits). */
typedef struct rdl_future {
  rdl_u32 index;
  rdl_u32 generation;
} rdl_future;

typedef struct rdl_event {
  rdl_u32 index;
  rdl_u32 generation;
} rdl_event;
#endif

/* 64 bytes, the hot part of a future. */
typedef struct rdl_record {
  rdl_u32 wait;       /* by compare-and-swap only, from everybody */
  rdl_u32 generation; /* written by who frees the slot */
  rdl_u32 waiters;    /* list of nodes; exchange closes it */
  rdl_u32 children; /* RDL_CODE_RUNS until the code has ended, plus children the owner has counted,
                       minus those that have ended; RDL_CHILDREN_AWAITED */
  rdl_u32 task;     /* written at birth and by the future's own segments */
  rdl_u32 resume;   /* resume point, and children not yet counted; 0 = not started */
  rdl_u32 owner;    /* slot of the parent, 0 for roots */
  rdl_u32 first_child;      /* the list of children belongs to the owner's running segment */
  rdl_u32 next_sibling;     /* detached: task word of who had spawned it */
  rdl_u32 previous_sibling; /* detached: its own slot */
  rdl_u32 cause; /* done: why it ended. waiting: why it was woken, written by who won the wake */
  rdl_u32 frame; /* block of arguments and state, in units */
  rdl_u32 result[4];
} rdl_record;

/* Words of `rdl_record.result` that say something else until the future ends. */
#define RDL_WORD_SINCE  1u /* rdl_control.now when it began to wait */
#define RDL_WORD_AWAITS 2u /* what it waits for: slot, or event | RDL_AWAITS_EVENT, or a tag */
#define RDL_WORD_BORN   3u /* order of spawning, for "the youngest" */

/* 32 bytes, the cold part. */
typedef struct rdl_side {
  rdl_u32 link;         /* next in a free chain or in a queue's list */
  rdl_u32 timer_link;   /* 0 = not on the timer list; RDL_TIMER_LISTED and the next one */
  rdl_u32 timer_ticket; /* stored (release) after the time */
  rdl_u32 home;         /* worker of a LOCAL future, plus one */
  rdl_u64 timer_ns;     /* from now */
  rdl_u32 chunk; /* free: the next chunk, and how many items this one has. In use with several */
  rdl_u32 chunk_size; /* lanes: what it waits for (rdl_keep_await), or the next one to be freed */
} rdl_side;

#define RDL_CHILDREN_AWAITED 0x80000000u
#define RDL_CODE_RUNS        0x40000000u

/* Parts of `rdl_record.resume`. */
#define RDL_RESUME_MASK   0x00000fffu
#define RDL_SPAWNED_SHIFT 12u
#define RDL_SPAWNED_MOST  0x000fffffu

#define RDL_TIMER_LISTED    0x80000000u
#define RDL_AWAITS_EVENT    0x80000000u
#define RDL_AWAITS_TAG      0x40000000u /* of what is neither a future nor an event: */
#define RDL_AWAITS_ROOM     0x40000001u
#define RDL_AWAITS_CHILDREN 0x40000002u
#define RDL_AWAITS_SET      0x40000003u

/* One wait of one future for one thing. Those with the number of a slot are the slot's own, the
   others come from a pool. */
typedef struct rdl_node {
  rdl_u32 next;
  rdl_u32 who; /* slot that waits, MEMBER: the COUNTER's node; 0 in a slot's own: it is free */
  rdl_u32 ticket;
  rdl_u32 kind;
  rdl_u32 value; /* event: count waited for; future: its generation; COUNTER: open members + 1;
                    room: the worker to go on at, plus one */
  rdl_u32 size;  /* nodes from here to the list's end (a hint for sweeping) */
} rdl_node;

#define RDL_NODE_PLAIN   0u
#define RDL_NODE_MEMBER  1u
#define RDL_NODE_COUNTER 2u
#define RDL_NODE_LOCAL   4u /* in kind: the future that waits is a LOCAL one */
#define RDL_SWEEP_SHIFT  8u /* kind holds log2 of the list size at which to sweep it */

typedef struct rdl_event_record {
  rdl_u32 generation;
  rdl_u32 waiters;
  rdl_u32 count;
  rdl_u32 lowest; /* no waiter wants less than this */
  rdl_u32 target;
  rdl_u32 flags; /* host: RDL_EVENT_* */
  rdl_u32 noted; /* in a worker's list of signalled events: RDL_EVENT_NOTED and the next one */
  rdl_u32 pad;
} rdl_event_record;

#define RDL_EVENT_NOTED 0x80000000u

/* Entry of the worker's ring and of the global ring. */
typedef struct rdl_entry {
  rdl_u32 slot;
  rdl_u32 wait; /* the wait word it was queued with: other now = stale */
} rdl_entry;

typedef struct rdl_cell {
  rdl_u32 sequence;
  rdl_u32 slot;
  rdl_u32 wait;
  rdl_u32 pad;
} rdl_cell;

/* Bounded ring, try-only; `cells` is a power of two. Of roots: one producer, many consumers; of
   slots on their way back to the host: the other way round. */
typedef struct rdl_ring {
  rdl_u32 head;
  rdl_u32 pad0[15];
  rdl_u32 tail;
  rdl_u32 pad1[15];
  rdl_u64 cells;
  rdl_u32 mask;
  rdl_u32 pad2[13];
} rdl_ring;

/* Items come from `fresh` first and from chunks of freed ones later. */
typedef struct rdl_pool {
  rdl_u32 chunks; /* list of chunks; taken whole by exchange */
  rdl_u32 fresh;  /* first item never used; beyond the limit when none is left */
  rdl_u32 limit;  /* one past the last */
  rdl_u32 takes;  /* begun: from then on `chunks` may look empty and not be */
  rdl_u32 taken;  /* over: what the taker did not keep is back */
  rdl_u32 pad[11];
} rdl_pool;

#define RDL_LARGEST_CHUNK 64u

#define RDL_POOL_SLOTS  0u
#define RDL_POOL_NODES  1u
#define RDL_POOL_FRAMES 2u /* one a class from here; they share `fresh` of this one */
#define RDL_POOLS       (RDL_POOL_FRAMES + RDL_CLASSES)

/* What a worker holds of a pool between two launches. */
typedef struct rdl_stash {
  rdl_u32 head; /* freed items, linked */
  rdl_u32 freed;
  rdl_u32 next; /* items never used: next .. end */
  rdl_u32 end;
  rdl_u32 left; /* all of them together */
  rdl_u32 rest; /* loop-limited devices: chunks that are to go back, and RDL_REST_TAKEN */
} rdl_stash;

#define RDL_REST_TAKEN 0x80000000u

/* Counters of a worker, totals since the context was opened. */
typedef struct rdl_counters {
  rdl_u64 spawned;
  rdl_u64 finished;
  rdl_u64 failed;
  rdl_u64 cancelled;
  rdl_u64 segments;
  rdl_u64 suspended; /* awaits that gave up the worker */
  rdl_u64 yielded;
  rdl_u64 woken;
  rdl_u64 spilled;
  rdl_u64 adopted; /* entries taken from other workers' overflow */
  rdl_u64 claimed; /* flat mode */
  rdl_u64 pad[5];
} rdl_counters;

#define RDL_LOCAL_RING 1024u

typedef struct rdl_worker {
  rdl_u32 inbox; /* list for this worker alone */
  rdl_u32 pad0[15];
  rdl_u32 overflow; /* list for whoever comes first */
  rdl_u32 pad1[15];
  rdl_u32 backlog; /* chains of waiters still to be woken, in a row through their first nodes */
  rdl_u32 unwind;  /* RETURNED futures whose children are still to be cancelled */
  rdl_u32 turn;    /* where the fair order stands: a short launch must not begin it anew */
  rdl_u32 held_back;
  rdl_u32 starved; /* the future of this worker that waits for room, */
  rdl_u32 starved_ticket;
  rdl_u32 starved_for; /* and how many dispatches have been made since */
  rdl_u32 running;     /* the future whose segment runs; 0 = none does */
  rdl_u32 answered;    /* the last question in rdl_control.stop that it has seen, or RDL_HAS_LEFT */
  rdl_u32 pad2[7];
  rdl_counters counters;
  rdl_stash stashes[RDL_POOLS];
  rdl_u32 pad3[8]; /* neighbours share no cache line */
} rdl_worker;

/* Where a worker of a loop-limited device stands with its future (limited.cl). */
#define RDL_PHASE_NONE      0u
#define RDL_PHASE_RUN       1u /* its segment comes next */
#define RDL_PHASE_ENDED     2u /* the code has ended, */
#define RDL_PHASE_ENDING    3u /* and the children are told */
#define RDL_PHASE_SUSPENDED 4u
#define RDL_PHASE_LOOKS     5u /* it looks for room before its segment */

/* What a worker of a loop-limited device keeps from kernel to kernel: whatever would be settled at
   once elsewhere. Words are those of rdl_cx. */
typedef struct rdl_step {
  rdl_u32 phase;
  rdl_u32 cut;   /* the segment used up its loops: what it has come to is not to be believed */
  rdl_u32 noted; /* something that was noted is not served yet */
  rdl_u32 busy;  /* futures stand in the ring or the FIFO of the worker */
  rdl_u32 slot;
  rdl_u32 wait;
  rdl_u32 resume;
  rdl_u32 spawned;
  rdl_u32 status;
  rdl_u32 cause;
  rdl_u32 misuse;
  rdl_u32 want;
  rdl_future target;
  rdl_u32 threshold;
  rdl_u32 set_size;
  rdl_u64 set_words; /* from the start of the heap; 0 = it awaits no set */
  rdl_u64 timeout;
  rdl_u32 told;
  rdl_u32 again;
  rdl_u32 returned;   /* ENDING: a child has not ended */
  rdl_u32 born_first; /* children that the segment has spawned, oldest first, */
  rdl_u32 born_last;  /* linked through rdl_side.link */
  rdl_u32 signalled;  /* events, linked through `noted` */
  rdl_u32 ended;
  rdl_u32 woken;
  rdl_u32 woken_last;
  rdl_u32 looking;
  rdl_u32 cancels;
  rdl_u32 cancel_from;
  rdl_u32 cancel_owner;
  rdl_u32 room;
  rdl_u32 room_version;
  rdl_u32 given;
  rdl_u32 low;
  rdl_u32 top;
  rdl_u32 bottom;
  rdl_u32 fifo_head;
  rdl_u32 fifo_tail;
  rdl_u32 next;
  rdl_u32 next_wait;
  rdl_u32 next_row;
  rdl_u32 born;
  rdl_u32 born_end;
  rdl_u32 quiet;   /* looks in a row by which all were idle, but for what they keep back */
  rdl_u32 pad[17]; /* neighbours share no cache line */
} rdl_step;

/* Host to device, 64 bytes. */
typedef struct rdl_message {
  rdl_u32 kind;
  rdl_u32 slot;
  rdl_u64 address;
  rdl_u32 generation;
  rdl_u32 value;
  rdl_u32 count;
  rdl_u32 words[8];
  rdl_u32 sequence; /* stored last (release): one more than the message's position */
} rdl_message;

#define RDL_SAY_NOTHING 0u /* it was taken back */
#define RDL_SAY_ROOT    1u /* start the future in `slot`, whose frame is at `address` in the heap */
#define RDL_SAY_ROOTS   2u /* start the `count` futures whose slots stand at `address` */
#define RDL_SAY_SIGNAL  3u /* event `slot`, by `value` */
#define RDL_SAY_CANCEL  4u /* future `slot` */
#define RDL_SAY_RELEASE 5u /* future `slot`: nobody will ask for its outcome */
#define RDL_SAY_COMPLETE                                                                           \
  6u                    /* future `slot` of the host ends with cause `value`, result `words`       \
                         */
#define RDL_SAY_WAKE 7u /* future `slot`, if its wait word is `generation`, with cause `value` */
#define RDL_SAY_ROOM 8u /* futures that wait for room look again */
#define RDL_SAY_RUN                                                                                \
  9u /* future `slot`, which stands in no queue, while its word is `generation`                    \
      */
/* From here on only through a window, while a launch runs: what the host would have written to
   memory that it shared. */
#define RDL_SAY_MAKE                                                                               \
  10u /* the record in `slot`, its task word `value`; the low half of `address` is its frame, the  \
         high half its result block, and `count` words of arguments go to the frame */
#define RDL_SAY_START 11u /* the same, and start it */
#define RDL_SAY_WRITE 12u /* `count` of the words to `address` */
#define RDL_SAY_FREED 13u /* `count` pairs: a root's slot that is free, and its new generation */
#define RDL_SAY_PAUSE 14u /* what comes behind this one is for the next launch */

#define RDL_SAY_WORDS 8u
#define RDL_SAY_PAIRS 4u

/* The device looks for the next message's sequence: one line brings it and the news of it. */
typedef struct rdl_mailbox {
  rdl_u32 head; /* device */
  rdl_u32 lock; /* device: who drains */
  rdl_u32 done; /* device: how far the message at `head` has come, if that is a long one */
  rdl_u32 pad0[13];
  rdl_u64 messages; /* from the start of the heap; not used with a window */
  rdl_u32 mask;
  rdl_u32 pad1[13];
} rdl_mailbox;

/* Device to host: the outcome of the future in the host's slot of the same number, 64 bytes. With a
   window the first half is there, the second in the heap. */
typedef struct rdl_outcome {
  rdl_u32 generation; /* stored last (release) */
  rdl_u32 cause;
  rdl_u32 result[4];
  rdl_u32 frame;   /* of the task that the gate below becomes */
  rdl_u32 wait;    /* the future's last wait word: the slot's next life goes on from its ticket */
  rdl_u32 gate[8]; /* frame of the gate that the future goes through before it starts: a block */
} rdl_outcome;

/* Memory of the host that a launch reaches while it runs, though the heap is apart. The ring of
   messages stands behind it, and the outcomes behind that. A look takes a microsecond, so one
   worker at a time looks, and passes on what it has seen. */
typedef struct rdl_window {
  rdl_u32 heard; /* device: what rdl_mailbox.head is there */
  rdl_u32 pad0[15];
  rdl_u32 stop; /* host: rdl_control.stop, which is the device's copy */
  rdl_u32 pad1[15];
} rdl_window;

/* What a worker runs, in checked mode, by worker behind the outcomes in the window: there the host
   still reads it when a launch has ended badly. */
typedef struct rdl_running {
  rdl_u32 slot; /* stored last (release); 0 = nothing */
  rdl_u32 generation;
  rdl_u32 task;    /* word */
  rdl_u32 segment; /* segments that the worker had run before */
} rdl_running;

/* Sizes of one task, reported by the image. */
typedef struct rdl_task_info {
  rdl_u32 args_size;
  rdl_u32 state_size;
  rdl_u32 result_size;
  rdl_u32 spawns; /* spawns in its text or declared: the room it needs before a segment */
  rdl_u32 resume_points;
  rdl_u32 width;
  rdl_u32 lane_state_size; /* of one lane; 0 = none */
  rdl_u32 pad;
} rdl_task_info;

/* What the image says of itself: sizes of the structures as its compiler lays them out. */
typedef struct rdl_image_info {
  rdl_u32 abi_version;
  rdl_u32 record_size;
  rdl_u32 side_size;
  rdl_u32 node_size;
  rdl_u32 event_size;
  rdl_u32 worker_size;
  rdl_u32 message_size;
  rdl_u32 control_size;
  rdl_u32 tasks;
  rdl_u32 lanes;
  rdl_u32 pad[6];
} rdl_image_info;

/* In rdl_control.registered: somebody has left the launch, and who comes now leaves at once. */
#define RDL_LAUNCH_CLOSED 0x80000000u

/* A batch of private tasks that neither wait nor spawn: whoever has no work takes some of its
   members (kernels/row.cl). `next` is written last when it opens, and read first. */
typedef struct rdl_row {
  rdl_u32 next;  /* the first that nobody has taken; RDL_ROW_CLOSED or more: there is none */
  rdl_u32 owner; /* slot of the batch, by compare-and-swap; 0 = nobody's */
  rdl_u32 count;
  rdl_u32 chunk; /* members that are taken at once */
  rdl_u32 task;
  rdl_u32 stride;
  rdl_u64 address;
  rdl_u32 failure; /* the first of a member */
  rdl_u32 pad0[7];
  rdl_u32 done; /* members that have ended, or never will start */
  rdl_u32 pad1[15];
} rdl_row;

#define RDL_ROW_CLOSED 0x80000000u

typedef struct rdl_control {
  /* Set by the host before a launch; the device reads. */
  rdl_u32 workers;
  rdl_u32 context;       /* number of the context, shifted to bits 24-31 */
  rdl_u32 slots;         /* one past the last slot */
  rdl_u32 event_count;   /* one past the last event */
  rdl_u32 chunk;         /* items a worker takes from or gives to a pool at once */
  rdl_u32 segment_limit; /* a worker leaves after this many segments; 0 = none */
  rdl_u32 flags;
  rdl_u32 round_limit; /* without a clock: rounds of 64 dispatches or 16 empty looks in a quantum */
  rdl_u64 quantum;     /* ticks */
  rdl_u64 patience;    /* ticks without work before the device parks */
  rdl_u64 grain; /* ticks: a future that runs for less is not worth taking from another worker;
                    0 = no clock, so every one is */
  rdl_u32 stop;  /* the host asks the workers to leave: RDL_STOP_* */
  rdl_u32 idle_rounds; /* without a clock: empty rounds before the device parks */
  rdl_u32 reserve;     /* the most that one segment of the image spawns, at least 1 */
  rdl_u32 class_set;   /* classes of blocks that the image's tasks use, a bit each */
  /* Offsets of the tables from the start of the heap. */
  rdl_u64 records;
  rdl_u64 sides;
  rdl_u64 nodes;
  rdl_u64 events;
  rdl_u64 workers_at;
  rdl_u64 rings; /* a worker's ready futures: RDL_LOCAL_RING entries each */
  rdl_u64 outcomes;
  rdl_u64 image_info;
  rdl_u64 task_infos;
  rdl_u64 zeros;           /* what a result is read from that is not there */
  rdl_u32 base_generation; /* of a slot that was never used */
  rdl_u32 task_slots;      /* slots that are not the host's */
  rdl_u32 broken;          /* device: some wait has ended before what it waited for */
  rdl_u32 now;             /* milliseconds of the host's clock, as of this launch */
  rdl_u64 meeting;         /* ticks, or looks without a clock: so long a worker waits for others to
                              arrive; then one of them is held */
  rdl_u64 stretch;         /* what is a quantum then */
  rdl_u32 full;            /* 1 = who finds no room is told so, and does not wait */
  rdl_u32 scarce;          /* device: some future has waited for room */
  /* State of the launch: from here on each group has a cache line of its own. */
  rdl_u32 registered; /* workers that have come */
  rdl_u32 blocks;     /* emulated blocks that have come */
  rdl_u32 pad1[14];
  rdl_u32 idle;     /* workers without work, and those that have left */
  rdl_u32 expired;  /* workers whose quantum is over */
  rdl_u32 parked;   /* all were idle for long enough */
  rdl_u32 arrived;  /* workers that begin no segment any more, and those that have left */
  rdl_u32 overrun;  /* loop-limited devices: the scheduler itself used up its loops */
  rdl_u32 few;      /* loop-limited devices: the turns of a loop that shows whether loops go on */
  rdl_u32 without;  /* loop-limited devices: workers that last found nothing to run */
  rdl_u32 wide;     /* host: the first so many blocks of warps are one worker each */
  rdl_u64 steps;    /* loop-limited devices: one a worker */
  rdl_u64 offers;   /* words of a bit a worker: its overflow may hold something */
  rdl_u64 window;   /* where the device has the window; 0 = there is none */
  rdl_u64 posts;    /* the same of its outcomes */
  rdl_u32 hungry;   /* somebody has no work: spill */
  rdl_u32 offered;  /* rises with each offer: who has looked in vain since looks no more */
  rdl_u64 shown;    /* where the device has the rdl_running of worker 0; 0 = nobody asks for them */
  rdl_u64 privates; /* a word a slot: where its private futures are saved (privates.h); 0 = no
                       device of such */
  rdl_u32 pad3[10];
  rdl_u32 room; /* list of nodes of futures that wait for room */
  rdl_u32 pad4[15];
  rdl_u32 freed; /* rises when a pool gets something back */
  rdl_u32 asked; /* `freed` when all who waited had last looked in vain */
  rdl_u32 pad7[14];
  rdl_u32 timers; /* list through rdl_side.timer_link; the host takes it */
  rdl_u32 pad5[15];
  rdl_u32 born; /* order of spawning, taken in blocks */
  rdl_u32 pad6[15];
  rdl_u32 groups;        /* list for workers that run tasks of a whole group */
  rdl_u32 groups_before; /* what stood there when this one was last empty */
  rdl_u32 pad8[14];
  rdl_row row;
  rdl_pool pools[RDL_POOLS];
  rdl_ring roots;
  rdl_ring returned; /* the host's slots whose futures were detached, on their way back */
  rdl_mailbox mailbox;
} rdl_control;

/* Together: who comes first goes on until all have come, so that a segment that does not end holds
   up nobody else. Now: each after its segment, for the context closes. */
#define RDL_STOP_TOGETHER 1u
#define RDL_STOP_NOW      2u
/* The number of a question, from 1 on, stands above: not to leave, only to answer between two
   segments. Who does not is held by one, and the host takes others out of its ring: from the first
   question of a launch on a future starts by a swap of its word, as in flat mode. */
#define RDL_QUESTION_SHIFT 2u
#define RDL_HAS_LEFT       0xffffffffu /* also a worker that is yet to come */

#define RDL_FLAG_FLAT 1u
/* Workers on all cores of the host: an idle one gives its core away. */
#define RDL_FLAG_CROWDED 2u

/* ---- arguments of Raddle's own tasks (tasks.cl), which the host fills in ---- */

/* `count` members whose arguments stand `stride` bytes apart from `address` on. */
struct rdl_batch_args {
  rdl_u64 address;
  rdl_u32 count;
  rdl_u32 task;  /* task word of the members */
  rdl_u32 words; /* of their arguments */
  rdl_u32 stride;
  rdl_u32 step; /* members below each child: a power of RDL_BATCH_MOST */
  rdl_u32 pad;
};

/* The futures at `list` that a root waits for: the first `common`, then `count` from `row` on. */
struct rdl_gate_args {
  rdl_u64 list;
  rdl_u32 common;
  rdl_u32 row;
  rdl_u32 count;
  rdl_u32 task; /* task word of what the root becomes; its frame is rdl_outcome.frame */
};

struct rdl_watch_args {
  rdl_event event;
  rdl_u32 count; /* 0 = until the event fires */
  rdl_u32 pad;
};

/* What a launch is for. NOTHING comes back at once: with it a driver compiles all that it compiles
   for a launch. No other text than this one gives the number a meaning, either. */
#define RDL_LAUNCH_RUN      0u
#define RDL_LAUNCH_DESCRIBE 1u
#define RDL_LAUNCH_NOTHING  0xffffffffu

#define RDL_SIZE_IS(type, size) typedef char type##_size_is_##size[sizeof(type) == size ? 1 : -1]
RDL_SIZE_IS(rdl_record, 64);
RDL_SIZE_IS(rdl_side, 32);
RDL_SIZE_IS(rdl_node, 24);
RDL_SIZE_IS(rdl_event_record, 32);
RDL_SIZE_IS(rdl_entry, 8);
RDL_SIZE_IS(rdl_cell, 16);
RDL_SIZE_IS(rdl_ring, 192);
RDL_SIZE_IS(rdl_pool, 64);
RDL_SIZE_IS(rdl_stash, 24);
RDL_SIZE_IS(rdl_counters, 128);
RDL_SIZE_IS(rdl_worker, 640);
RDL_SIZE_IS(rdl_step, 256);
RDL_SIZE_IS(rdl_message, 64);
RDL_SIZE_IS(rdl_mailbox, 128);
RDL_SIZE_IS(rdl_outcome, 64);
RDL_SIZE_IS(rdl_window, 128);
RDL_SIZE_IS(rdl_running, 16);
RDL_SIZE_IS(rdl_control, 2112);
RDL_SIZE_IS(rdl_task_info, 32);
RDL_SIZE_IS(rdl_image_info, 64);

/* Structures without a typedef: in tasks.cl it is the task's own. */
#define RDL_ARGS_SIZE_IS(name, size)                                                               \
  typedef char name##_size_is_##size[sizeof(struct name) == size ? 1 : -1]
RDL_ARGS_SIZE_IS(rdl_batch_args, 32);
RDL_ARGS_SIZE_IS(rdl_gate_args, 24);
RDL_ARGS_SIZE_IS(rdl_watch_args, 16);

#endif
