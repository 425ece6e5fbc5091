/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private futures: those of tasks that a file defines with RDL_TASK_PRIVATE. Where a worker is a
 * warp their records and frames stand in the block's shared memory, in the worker's set, and the
 * lanes run one each. A set belongs to one future, its host, which has spawned the first of them;
 * only the set's own futures and its host know their handles. So nothing outside the warp sees
 * them, and none of what happens to them goes to memory that is far.
 *
 * A set moves: where the worker leaves, or begins with that of another host, it is written to two
 * blocks of the heap, and comes back with its host, on whatever worker that goes on
 * (private_run.cl).
 */
#if defined(RDL_WARP) && defined(RDL_PRIVATE_TASKS) && defined(__CUDA_ARCH__)
/* There a multiprocessor has the shared memory that as many warps as usual need. */
#if __CUDA_ARCH__ >= 900
#define RDL_PRIVATE 1

#define RDL_PRIVATES     248u /* of a set, at the same time */
#define RDL_PRIVATE_RING 256u /* a power of two with room for all */

/* Handles say RDL_PRIVATE_FIRST + n, where no slot is; in the set's own lists n is a byte. */
#define RDL_PRIVATE_FIRST (RDL_MOST_SLOTS + 1u)
#define RDL_PRIVATE_HOST  254u
#define RDL_PRIVATE_NONE  255u

/* `rdl_private.word`: number of the task, resume point, flags. */
#define RDL_PRIVATE_RESUME_SHIFT 12u
#define RDL_PRIVATE_FAILED       0x01000000u /* its cause stands where the result would */
#define RDL_PRIVATE_TOLD         0x02000000u /* a cancel was delivered */
#define RDL_PRIVATE_LOOSE        0x04000000u /* of a batch: nobody has its handle */
#define RDL_PRIVATE_WAITS        0x08000000u
#define RDL_PRIVATE_USED         0x20000000u

#define RDL_PRIVATE_DONE      0x80000000u /* in `waiter` */
#define RDL_PRIVATE_CANCELLED 0x80000000u /* in `live`: its owner has failed, or was told */

/* An odd number of words: neighbours that lanes look at stand in different banks. */
typedef struct rdl_private {
  rdl_u32 word;   /* written by who runs it, and by who wakes it */
  rdl_u32 waiter; /* the first, plus one; RDL_PRIVATE_DONE: it has ended. By exchange and swap */
  rdl_u32 live;   /* its code, until that has ended, and children that live */
  rdl_u32 generation;
  rdl_u32 status; /* what it is told when it goes on */
  rdl_u8 first_child;
  rdl_u8 next_sibling;
  rdl_u8 owner;
  rdl_u8 link;                      /* the next that waits for the same, plus one */
  rdl_u32 frame[RDL_PRIVATE_WORDS]; /* at its end the result */
} rdl_private;

/* What the lanes leave to the leader. */
typedef struct rdl_private_counts {
  rdl_u32 segments;
  rdl_u32 spawned;
  rdl_u32 finished;
  rdl_u32 failed;
  rdl_u32 cancelled;
  rdl_u32 suspended;
  rdl_u32 yielded;
} rdl_private_counts;

/* Saved and read back by 16 bytes. */
typedef struct rdl_privates {
  rdl_u32 host; /* slot whose they are; 0 = nobody's */
  rdl_u32 head; /* ready, and the newest runs first: from here */
  rdl_u32 tail;
  rdl_u32 free_head;
  rdl_u32 free_tail;
  rdl_u32 live;       /* that have not ended */
  rdl_u32 host_waits; /* for this one, plus one */
  rdl_u32 over;       /* it has ended */
  rdl_u32 cancelled;  /* none starts any more */
  rdl_u32 failure;    /* the first of a member of the batch */
  rdl_u32 host_child; /* the first of the host's */
  rdl_u32 host_link;
  /* Members of a batch, which is the host, that have not been made yet. */
  rdl_u32 members;
  rdl_u32 member_word;
  rdl_u32 member_words;
  rdl_u32 member_stride;
  rdl_u64 member_at;
  rdl_u32 moved; /* where it was saved: the second block */
  rdl_private_counts counts;
  rdl_u32 zeros[RDL_INLINE_SIZE / 4u];
  rdl_u8 ready[RDL_PRIVATE_RING];
  rdl_u8 free[RDL_PRIVATE_RING];
  rdl_private all[RDL_PRIVATES];
} __align__(16) rdl_privates;

typedef char rdl_a_set_fits_into_two_blocks[sizeof(rdl_privates) <= 2u * RDL_MAX_BLOCK ? 1 : -1];
#endif
#endif
