/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that knows the language. Everything below this file is written once and compiled as
 * OpenCL C, as C11 (the host backend) and as CUDA C++. Words that are shared between workers are
 * plain 32-bit members of the structures in abi.h; while they are shared they are touched only
 * through the functions here, whose names carry order (acquire, release, acq_rel for every
 * read-modify-write).
 *
 * The kernel text includes nothing but the C library's headers for C11, so it can be handed to a
 * driver's compiler as one string.
 */
#ifndef RDL_DIALECT_H
#define RDL_DIALECT_H

/*
 * RDL_FN      every function.
 * RDL_OUTLINE in place of it on the few functions where many paths meet: NVIDIA's optimiser would
 *             copy them to each caller and those again, and take minutes and gigabytes for it.
 *
 * rdl_see     what a look at all of a record gives: on CUDA a copy, by loads that are all on their
 *             way at once; elsewhere its address. RDL_SEEN(seen, word) is a word of it, read
 * without order.
 *
 * Read-modify-writes that take part of the order of rdl_cas and its like, where a GPU pays for each
 * part: `_release`, `_acquire`; and `_covered`, behind a read-modify-write of the same worker whose
 * outcome it has seen: what had to be released was released by that one, whose own effect is there,
 * for on a GPU all of them are done in one place, the second-level cache, before they give an
 * outcome. Elsewhere each of them is rdl_cas, or its like.
 *
 * rdl_hear    the load (acquire) of a word that the host writes while a launch runs, and rdl_tell
 * the store (release) of one that it reads; RDL_MAY_WINDOW: such words may lie in a window.
 */

/* Lanes of a worker: the image is compiled for one width, 64 at most. Where a worker is a warp, and
   the image has tasks of a whole group, these are run by all warps of a block (RDL_GROUPS), and
   `rdl_width` is the number of lanes of what the block runs: 32, or all. */
#ifndef RDL_LANES
#define RDL_LANES 1u
#endif

#if defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF /* the same sums as everywhere else */

#define RDL_FN     static
#define RDL_KERNEL __kernel
#define RDL_GLOBAL __global
#define RDL_LOCAL  __local
typedef uchar rdl_u8;
typedef ushort rdl_u16;
typedef uint rdl_u32;
typedef ulong rdl_u64;
typedef char rdl_i8;
typedef short rdl_i16;
typedef int rdl_i32;
typedef long rdl_i64;
typedef ulong rdl_address;

#if defined(__NV_CL_C_VERSION)
#define RDL_OUTLINE static __attribute__((noinline))
#else
#define RDL_OUTLINE static
#endif

#if __OPENCL_C_VERSION__ >= 200 /* C11 atomics: the strongest form that compiles is taken */

#define RDL_ATOM(p) ((volatile __global atomic_uint *)(p))

RDL_FN rdl_u32 rdl_load_relaxed(RDL_GLOBAL const rdl_u32 *p) {
  return atomic_load_explicit(RDL_ATOM(p), memory_order_relaxed, memory_scope_device);
}
RDL_FN rdl_u32 rdl_load_acquire(RDL_GLOBAL const rdl_u32 *p) {
  return atomic_load_explicit(RDL_ATOM(p), memory_order_acquire, memory_scope_device);
}
RDL_FN void rdl_store_relaxed(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  atomic_store_explicit(RDL_ATOM(p), v, memory_order_relaxed, memory_scope_device);
}
RDL_FN void rdl_store_release(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  atomic_store_explicit(RDL_ATOM(p), v, memory_order_release, memory_scope_device);
}
RDL_FN rdl_u32 rdl_exchange(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return atomic_exchange_explicit(RDL_ATOM(p), v, memory_order_acq_rel, memory_scope_device);
}
RDL_FN rdl_u32 rdl_fetch_add(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return atomic_fetch_add_explicit(RDL_ATOM(p), v, memory_order_acq_rel, memory_scope_device);
}
RDL_FN rdl_u32 rdl_fetch_or(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return atomic_fetch_or_explicit(RDL_ATOM(p), v, memory_order_acq_rel, memory_scope_device);
}
RDL_FN rdl_u32 rdl_fetch_and(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return atomic_fetch_and_explicit(RDL_ATOM(p), v, memory_order_acq_rel, memory_scope_device);
}
RDL_FN rdl_u32 rdl_fetch_min(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  return atomic_fetch_min_explicit(RDL_ATOM(p), v, memory_order_acq_rel, memory_scope_device);
}
/* Returns what stood there; the store happened when that equals `expected`. */
RDL_FN rdl_u32 rdl_cas(RDL_GLOBAL rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  rdl_u32 old = expected;
  atomic_compare_exchange_strong_explicit(RDL_ATOM(p), &old, v, memory_order_acq_rel,
                                          memory_order_acquire, memory_scope_device);
  return old;
}

#else /* OpenCL C 1.2: relaxed atomics of work-group scope, so a fence stands on both sides */

#define RDL_ATOM(p) ((volatile __global uint *)(p))
#if defined(RDL_PTX) /* NVIDIA's compiler: its mem_fence orders one work-group's accesses only */
#define RDL_FENCE_() __asm__ volatile("fence.acq_rel.gpu;" : : : "memory")
#else
#define RDL_FENCE_() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

RDL_FN rdl_u32 rdl_load_relaxed(RDL_GLOBAL const rdl_u32 *p) {
  return *(volatile __global const uint *)p;
}
RDL_FN rdl_u32 rdl_load_acquire(RDL_GLOBAL const rdl_u32 *p) {
  rdl_u32 v = *(volatile __global const uint *)p;
  RDL_FENCE_();
  return v;
}
RDL_FN void rdl_store_relaxed(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  *RDL_ATOM(p) = v;
}
RDL_FN void rdl_store_release(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  *RDL_ATOM(p) = v;
}
RDL_FN rdl_u32 rdl_exchange(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_xchg(RDL_ATOM(p), v);
  RDL_FENCE_();
  return v;
}
RDL_FN rdl_u32 rdl_fetch_add(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_add(RDL_ATOM(p), v);
  RDL_FENCE_();
  return v;
}
RDL_FN rdl_u32 rdl_fetch_or(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_or(RDL_ATOM(p), v);
  RDL_FENCE_();
  return v;
}
RDL_FN rdl_u32 rdl_fetch_and(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_and(RDL_ATOM(p), v);
  RDL_FENCE_();
  return v;
}
RDL_FN rdl_u32 rdl_fetch_min(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_min(RDL_ATOM(p), v);
  RDL_FENCE_();
  return v;
}
RDL_FN rdl_u32 rdl_cas(RDL_GLOBAL rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  RDL_FENCE_();
  v = atomic_cmpxchg(RDL_ATOM(p), expected, v);
  RDL_FENCE_();
  return v;
}

#endif

#if RDL_LANES > 1 /* a worker is a work-group, and each of its work-items a lane */
#define RDL_APART        static __attribute__((noinline)) /* of the leader alone: see 0015 */
#define RDL_KERNEL_SHAPE __attribute__((reqd_work_group_size(RDL_LANES, 1, 1)))
RDL_FN rdl_u32 rdl_lane(void) {
  return (rdl_u32)get_local_id(0);
}
/* No lane goes on before all are here, and each then sees what the others have written. */
RDL_FN void rdl_barrier(void) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
RDL_FN void rdl_raise_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  atomic_max((volatile RDL_LOCAL uint *)p, v);
}
RDL_FN rdl_u32 rdl_add_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  return atomic_add((volatile RDL_LOCAL uint *)p, v);
}
RDL_FN rdl_u32 rdl_exchange_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  return atomic_xchg((volatile RDL_LOCAL uint *)p, v);
}
#endif

#if defined(RDL_CLOCK) && RDL_CLOCK == 2 /* NVIDIA's, in nanoseconds and the same everywhere */
RDL_FN rdl_u64 rdl_clock(void) {
  rdl_u64 now;
  __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#elif defined(RDL_CLOCK) /* the device has a cycle counter the compiler can read */
RDL_FN rdl_u64 rdl_clock(void) {
  return (rdl_u64)__builtin_readcyclecounter();
}
#else
RDL_FN rdl_u64 rdl_clock(void) {
  return 0;
}
#endif

#if defined(RDL_X86)
RDL_FN void rdl_relax(void) { /* an idle hardware thread leaves its core's units to the other one */
  __asm__ volatile("pause");
}
RDL_FN void rdl_prefetch(RDL_GLOBAL const void *p) {
  __asm__ volatile("prefetcht0 (%0)" : : "r"(p));
}
#else
RDL_FN void rdl_relax(void) {}
RDL_FN void rdl_prefetch(RDL_GLOBAL const void *p) {
  (void)p;
}
#endif

#if defined(RDL_X86) && defined(__linux__)
RDL_FN void rdl_give_way(void) { /* sched_yield: a kernel on a CPU is a thread like any other */
  rdl_u64 result = 24;
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}
#else
RDL_FN void rdl_give_way(void) {}
#endif

#define RDL_MAY_WINDOW 0 /* no driver promises it */
RDL_FN rdl_u32 rdl_hear(RDL_GLOBAL const rdl_u32 *p) {
  return rdl_load_acquire(p);
}
RDL_FN void rdl_tell(RDL_GLOBAL rdl_u32 *p, rdl_u32 v) {
  rdl_store_release(p, v);
}

RDL_FN rdl_u32 rdl_read_anew(RDL_GLOBAL const rdl_u32 *p) { /* no compiler knows it from before */
  return *(volatile __global const uint *)p;
}
RDL_FN rdl_u32 rdl_group_id(void) { /* number of the worker among those of this launch */
  return (rdl_u32)get_group_id(0);
}
RDL_FN rdl_u32 rdl_lowest_bit(rdl_u32 bits) { /* its place; there is one */
  return 31u - (rdl_u32)clz(bits & (0u - bits));
}

/* ---- mathematics in single precision ---- */

RDL_FN float rdl_sqrt(float x) {
  return sqrt(x);
}
RDL_FN float rdl_fabs(float x) {
  return fabs(x);
}
RDL_FN float rdl_floor(float x) {
  return floor(x);
}
RDL_FN float rdl_ceil(float x) {
  return ceil(x);
}
RDL_FN float rdl_sin(float x) {
  return sin(x);
}
RDL_FN float rdl_cos(float x) {
  return cos(x);
}
RDL_FN float rdl_exp(float x) {
  return exp(x);
}
RDL_FN float rdl_log(float x) {
  return log(x);
}
RDL_FN float rdl_pow(float x, float y) {
  return pow(x, y);
}
RDL_FN float rdl_fmin(float x, float y) {
  return fmin(x, y);
}
RDL_FN float rdl_fmax(float x, float y) {
  return fmax(x, y);
}

#elif defined(__CUDACC__)

#define RDL_FN      static __device__
#define RDL_OUTLINE static __device__ __noinline__
#define RDL_KERNEL  extern "C" __global__
#define RDL_GLOBAL
#define RDL_LOCAL
typedef unsigned char rdl_u8;
typedef unsigned short rdl_u16;
typedef unsigned int rdl_u32;
typedef unsigned long long rdl_u64;
typedef signed char rdl_i8;
typedef short rdl_i16;
typedef int rdl_i32;
typedef long long rdl_i64;
typedef unsigned long long rdl_address;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong; /* as in glibc's headers, which nvcc includes before this */

RDL_FN rdl_u32 rdl_load_relaxed(const rdl_u32 *p) {
  rdl_u32 v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(v)
               : "l"(__cvta_generic_to_global(p))
               : "memory");
  return v;
}
RDL_FN rdl_u32 rdl_load_acquire(const rdl_u32 *p) {
  rdl_u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(v)
               : "l"(__cvta_generic_to_global(p))
               : "memory");
  return v;
}
RDL_FN void rdl_store_relaxed(rdl_u32 *p, rdl_u32 v) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
}
RDL_FN void rdl_store_release(rdl_u32 *p, rdl_u32 v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
}
RDL_FN rdl_u32 rdl_exchange(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_fetch_add(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_fetch_or(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_fetch_and(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.and.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_fetch_min(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.min.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_cas(rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(expected), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u64 rdl_clock(void) { /* in nanoseconds and the same everywhere */
  rdl_u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
RDL_FN void rdl_relax(void) {
  __nanosleep(100);
}
RDL_FN void rdl_sleep_ns(rdl_u32 ns) { /* so long, or up to twice that, or not at all */
  __nanosleep(ns);
}
RDL_FN void rdl_prefetch(const void *p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(p)));
}
RDL_FN void rdl_give_way(void) {}
RDL_FN rdl_u32 rdl_lowest_bit(rdl_u32 bits) {
  return (rdl_u32)__ffs((int)bits) - 1u;
}

/* ---- all of a record at once ---- */

RDL_FN void rdl_load4_relaxed(const rdl_u32 *p, rdl_u32 *v) {
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "l"(__cvta_generic_to_global(p))
               : "memory");
}
RDL_FN void rdl_load4_acquire(const rdl_u32 *p, rdl_u32 *v) {
  asm volatile("ld.acquire.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "l"(__cvta_generic_to_global(p))
               : "memory");
}
RDL_FN void rdl_store4_relaxed(rdl_u32 *p, rdl_u32 a, rdl_u32 b, rdl_u32 c, rdl_u32 d) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

RDL_FN rdl_u32 rdl_cas_release(rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.release.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(expected), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_cas_acquire(rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(expected), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_cas_covered(rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(expected), "r"(v)
               : "memory");
  return old;
}
RDL_FN rdl_u32 rdl_fetch_add_covered(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(v)
               : "memory");
  return old;
}
/* All that this worker has written comes before all that it writes from here on. */
RDL_FN void rdl_fence(void) {
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

#if RDL_LANES > 1 /* a worker is a warp; RDL_WARPS of them share a block, and each has its own     \
                     part of the block's shared memory */
#define RDL_WARP  1
#define RDL_APART static __device__ __noinline__
#ifndef RDL_WARPS
#define RDL_WARPS 4u
#endif
#ifndef RDL_BLOCKS /* blocks that must fit on a multiprocessor: bounds the registers of a thread   \
                    */
#define RDL_BLOCKS 2u
#endif
#define RDL_KERNEL_SHAPE __launch_bounds__(32u * RDL_WARPS, RDL_BLOCKS)
#define RDL_ALL_LANES    0xffffffffu

typedef char rdl_a_warp_has_32_lanes[RDL_LANES == 32u ? 1 : -1];

RDL_FN rdl_u32 rdl_thread_id(void) {
  return threadIdx.x;
}
RDL_FN rdl_u32 rdl_block_id(void) {
  return blockIdx.x;
}
RDL_FN void rdl_warp_barrier(void) {
  __syncwarp();
}
/* What this thread has written comes before what it writes from here on, as its block sees it. */
RDL_FN void rdl_fence_block(void) {
  asm volatile("fence.acq_rel.cta;" : : : "memory");
}
RDL_FN rdl_u32 rdl_warp_lane(void) {
  return threadIdx.x % 32u;
}
/* The lanes of each warp come to it together: a leader may have gone another way before. */
RDL_FN void rdl_block_barrier(void) {
  __syncwarp();
  __syncthreads();
}
#if defined(RDL_GROUP_TASKS)
static __shared__ rdl_u32 rdl_width;
#endif
RDL_FN void rdl_raise_local(rdl_u32 *p, rdl_u32 v) {
  atomicMax(p, v);
}
RDL_FN rdl_u32 rdl_add_local(rdl_u32 *p, rdl_u32 v) {
  return atomicAdd(p, v);
}
RDL_FN rdl_u32 rdl_exchange_local(rdl_u32 *p, rdl_u32 v) {
  return atomicExch(p, v);
}
RDL_FN rdl_u32 rdl_shuffle(rdl_u32 v, rdl_u32 lane) {
  return __shfl_sync(RDL_ALL_LANES, v, (int)lane);
}
RDL_FN rdl_u32 rdl_shuffle_xor(rdl_u32 v, rdl_u32 bits) {
  return __shfl_xor_sync(RDL_ALL_LANES, v, (int)bits);
}
/* From the lane `by` below; the lowest `by` lanes keep their own. */
RDL_FN rdl_u32 rdl_shuffle_up(rdl_u32 v, rdl_u32 by) {
  return __shfl_up_sync(RDL_ALL_LANES, v, by);
}
/* Of this multiprocessor, for differences. */
RDL_FN rdl_u32 rdl_cycles(void) {
  rdl_u32 now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  return now;
}
RDL_FN rdl_u32 rdl_vote(rdl_u32 predicate) {
  return __ballot_sync(RDL_ALL_LANES, (int)predicate);
}
#endif

#define RDL_MAY_WINDOW 1
RDL_FN rdl_u32 rdl_hear(const rdl_u32 *p) {
  rdl_u32 v;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
RDL_FN void rdl_tell(rdl_u32 *p, rdl_u32 v) {
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}

RDL_FN float rdl_sqrt(float x) {
  return sqrtf(x);
}
RDL_FN float rdl_fabs(float x) {
  return fabsf(x);
}
RDL_FN float rdl_floor(float x) {
  return floorf(x);
}
RDL_FN float rdl_ceil(float x) {
  return ceilf(x);
}
RDL_FN float rdl_sin(float x) {
  return sinf(x);
}
RDL_FN float rdl_cos(float x) {
  return cosf(x);
}
RDL_FN float rdl_exp(float x) {
  return expf(x);
}
RDL_FN float rdl_log(float x) {
  return logf(x);
}
RDL_FN float rdl_pow(float x, float y) {
  return powf(x, y);
}
RDL_FN float rdl_fmin(float x, float y) {
  return fminf(x, y);
}
RDL_FN float rdl_fmax(float x, float y) {
  return fmaxf(x, y);
}

#else /* C11, gcc or clang */

#include <sched.h>
#include <stdint.h>
#include <time.h>

#define RDL_FN      static inline
#define RDL_OUTLINE static inline
#define RDL_KERNEL
#define RDL_GLOBAL
#define RDL_LOCAL
typedef uint8_t rdl_u8;
typedef uint16_t rdl_u16;
typedef uint32_t rdl_u32;
typedef uint64_t rdl_u64;
typedef int8_t rdl_i8;
typedef int16_t rdl_i16;
typedef int32_t rdl_i32;
typedef int64_t rdl_i64;
typedef uintptr_t rdl_address;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

RDL_FN rdl_u32 rdl_load_relaxed(const rdl_u32 *p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
RDL_FN rdl_u32 rdl_load_acquire(const rdl_u32 *p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
RDL_FN void rdl_store_relaxed(rdl_u32 *p, rdl_u32 v) {
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
RDL_FN void rdl_store_release(rdl_u32 *p, rdl_u32 v) {
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
}
RDL_FN rdl_u32 rdl_exchange(rdl_u32 *p, rdl_u32 v) {
  return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);
}
RDL_FN rdl_u32 rdl_fetch_add(rdl_u32 *p, rdl_u32 v) {
  return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
RDL_FN rdl_u32 rdl_fetch_or(rdl_u32 *p, rdl_u32 v) {
  return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL);
}
RDL_FN rdl_u32 rdl_fetch_and(rdl_u32 *p, rdl_u32 v) {
  return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL);
}
RDL_FN rdl_u32 rdl_cas(rdl_u32 *p, rdl_u32 expected, rdl_u32 v) {
  __atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}
RDL_FN rdl_u32 rdl_fetch_min(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old = rdl_load_relaxed(p);
  rdl_u32 seen;
  for (;;) {
    seen = rdl_cas(p, old, old < v ? old : v);
    if (seen == old) return old;
    old = seen;
  }
}

#if defined(__x86_64__)
#define RDL_X86 1
RDL_FN rdl_u64 rdl_clock(void) {
  return __builtin_ia32_rdtsc();
}
RDL_FN void rdl_relax(void) {
  __builtin_ia32_pause();
}
#else
RDL_FN rdl_u64 rdl_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (rdl_u64)t.tv_sec * 1000000000u + (rdl_u64)t.tv_nsec;
}
RDL_FN void rdl_relax(void) {}
#endif

#define RDL_MAY_WINDOW 1
RDL_FN rdl_u32 rdl_hear(const rdl_u32 *p) {
  return rdl_load_acquire(p);
}
RDL_FN void rdl_tell(rdl_u32 *p, rdl_u32 v) {
  rdl_store_release(p, v);
}

RDL_FN void rdl_prefetch(const void *p) {
  __builtin_prefetch(p);
}
RDL_FN void rdl_give_way(void) {
  sched_yield();
}
RDL_FN rdl_u32 rdl_lowest_bit(rdl_u32 bits) {
  return (rdl_u32)__builtin_ctz(bits);
}

/* Built-ins, because the text includes no <math.h>; the image is linked with libm. */
RDL_FN float rdl_sqrt(float x) {
  return __builtin_sqrtf(x);
}
RDL_FN float rdl_fabs(float x) {
  return __builtin_fabsf(x);
}
RDL_FN float rdl_floor(float x) {
  return __builtin_floorf(x);
}
RDL_FN float rdl_ceil(float x) {
  return __builtin_ceilf(x);
}
RDL_FN float rdl_sin(float x) {
  return __builtin_sinf(x);
}
RDL_FN float rdl_cos(float x) {
  return __builtin_cosf(x);
}
RDL_FN float rdl_exp(float x) {
  return __builtin_expf(x);
}
RDL_FN float rdl_log(float x) {
  return __builtin_logf(x);
}
RDL_FN float rdl_pow(float x, float y) {
  return __builtin_powf(x, y);
}
RDL_FN float rdl_fmin(float x, float y) {
  return __builtin_fminf(x, y);
}
RDL_FN float rdl_fmax(float x, float y) {
  return __builtin_fmaxf(x, y);
}

#endif

#if RDL_LANES > 1
#if defined(RDL_EMULATED)
/*
 * For tests: a block of warps as on CUDA, each of whose threads is one of the host. What they share
 * of a block is behind `rdl_here`, and rdl_launch makes them (launch.cl).
 */
#include <pthread.h>
#include <stdlib.h>

#define RDL_WARP 1
#define RDL_KERNEL_SHAPE
#define RDL_APART RDL_FN
#ifndef RDL_WARPS
#define RDL_WARPS 4u
#endif

typedef struct rdl_emulated_block {
  pthread_barrier_t warps[RDL_WARPS];
  pthread_barrier_t all;
  rdl_u32 told[RDL_WARPS][RDL_LANES]; /* by each lane, to the others of its warp */
  void *memory;                       /* that a block has on CUDA */
  rdl_u32 number;
  rdl_u32 width;
} rdl_emulated_block;

static __thread rdl_emulated_block *rdl_here;
static __thread rdl_u32 rdl_thread;

RDL_FN rdl_u32 rdl_thread_id(void) {
  return rdl_thread;
}
RDL_FN rdl_u32 rdl_block_id(void) {
  return rdl_here->number;
}
RDL_FN void rdl_warp_barrier(void) {
  (void)pthread_barrier_wait(&rdl_here->warps[rdl_thread / 32u]);
}
RDL_FN void rdl_block_barrier(void) {
  (void)pthread_barrier_wait(&rdl_here->all);
}
#define rdl_width rdl_here->width
RDL_FN void rdl_sleep_ns(rdl_u32 ns) {
  struct timespec pause = {0, (long)ns};
  (void)nanosleep(&pause, 0);
}
RDL_FN void rdl_raise_local(rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old = rdl_load_relaxed(p), seen;
  while (old < v && (seen = rdl_cas(p, old, v)) != old)
    old = seen;
}
RDL_FN rdl_u32 rdl_add_local(rdl_u32 *p, rdl_u32 v) {
  return rdl_fetch_add(p, v);
}
RDL_FN rdl_u32 rdl_exchange_local(rdl_u32 *p, rdl_u32 v) {
  return rdl_exchange(p, v);
}
/* What the lane `from` brings; they meet before each has read, and behind that. */
RDL_FN rdl_u32 rdl_shuffle(rdl_u32 v, rdl_u32 from) {
  rdl_u32 *told = rdl_here->told[rdl_thread / 32u];
  told[rdl_thread % 32u] = v;
  rdl_warp_barrier();
  v = told[from % 32u];
  rdl_warp_barrier();
  return v;
}
RDL_FN rdl_u32 rdl_shuffle_xor(rdl_u32 v, rdl_u32 bits) {
  return rdl_shuffle(v, rdl_thread % 32u ^ bits);
}
RDL_FN rdl_u32 rdl_shuffle_up(rdl_u32 v, rdl_u32 by) {
  rdl_u32 lane = rdl_thread % 32u;
  return rdl_shuffle(v, lane < by ? lane : lane - by);
}
RDL_FN rdl_u32 rdl_vote(rdl_u32 predicate) {
  rdl_u32 bits = 0, k;
  rdl_u32 *told = rdl_here->told[rdl_thread / 32u];
  told[rdl_thread % 32u] = predicate;
  rdl_warp_barrier();
  for (k = 0; k < 32u; k++)
    bits |= (told[k] ? 1u : 0u) << k;
  rdl_warp_barrier();
  return bits;
}
#elif !defined(__OPENCL_C_VERSION__) && !defined(__CUDACC__)
/* Such an image describes itself and runs nothing: see 0015. */
#define RDL_KERNEL_SHAPE
#define RDL_APART RDL_FN
RDL_FN rdl_u32 rdl_lane(void) {
  return 0u;
}
RDL_FN void rdl_barrier(void) {}
RDL_FN void rdl_raise_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  if (*p < v) *p = v;
}
RDL_FN rdl_u32 rdl_add_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old = *p;
  *p = old + v;
  return old;
}
RDL_FN rdl_u32 rdl_exchange_local(RDL_LOCAL rdl_u32 *p, rdl_u32 v) {
  rdl_u32 old = *p;
  *p = v;
  return old;
}
#endif
#else
#define RDL_KERNEL_SHAPE
#define RDL_APART RDL_FN
RDL_FN rdl_u32 rdl_lane(void) {
  return 0u;
}
#endif

#if defined(RDL_WARP)
/* Which part of the block's shared memory is the worker's. */
RDL_FN rdl_u32 rdl_part_of_group(void) {
  return rdl_thread_id() / 32u;
}
#if defined(RDL_GROUP_TASKS)
#define RDL_GROUPS      1
#define RDL_GROUP_LANES (32u * RDL_WARPS)
#if defined(__CUDACC__)
/* In a task the number of its lanes is a constant, which comes to it as a parameter without a
   value. Elsewhere, as in a function that tasks of both widths use, it is that of what runs. */
template <rdl_u32 Lanes> struct rdl_width_of {
  __device__ constexpr operator rdl_u32() const { return Lanes; }
};
struct rdl_width_now {
  __device__ operator rdl_u32() const { return rdl_width; }
};
static __device__ const rdl_width_now rdl_width_here = {};
#define RDL_KNOWS_WIDTH_(name) , rdl_width_of<RDL_WIDTH_##name> rdl_width_here
#define RDL_TELLS_WIDTH_(name) , rdl_width_of<RDL_WIDTH_##name>()
#define rdl_lanes()            ((rdl_u32)rdl_width_here)
#define rdl_lane()             (rdl_thread_id() & (rdl_lanes() - 1u))
#else
RDL_FN rdl_u32 rdl_lanes(void) {
  return rdl_width;
}
RDL_FN rdl_u32 rdl_lane(void) {
  return rdl_thread_id() & (rdl_width - 1u);
}
#endif
/* No lane goes on before all are here, and each then sees what the others have written. */
RDL_FN void rdl_barrier(void) {
  if (rdl_width == 32u)
    rdl_warp_barrier();
  else
    rdl_block_barrier();
}
#else
RDL_FN rdl_u32 rdl_lane(void) {
  return rdl_thread_id() % 32u;
}
RDL_FN void rdl_barrier(void) {
  rdl_warp_barrier();
}
#endif
#endif

#if !defined(RDL_KNOWS_WIDTH_)
#define RDL_KNOWS_WIDTH_(name)
#define RDL_TELLS_WIDTH_(name)
#endif
#if !defined(RDL_GROUPS)
#define RDL_GROUP_LANES RDL_LANES
RDL_FN rdl_u32 rdl_lanes(void) {
  return RDL_LANES;
}
#endif

/* A load that stands in the order of all read-modify-writes: behind those that this worker has
   made, before those that it will make. On x86 every load does, for a locked instruction waits for
   all stores before it. Elsewhere it is a read-modify-write itself; no addition of zero, of which
   LLVM makes a fence and a plain load. A loop-limited device has no loop to spare, and its loads
   and read-modify-writes are those of a processor: there fence and load are in order, too. */
#if defined(RDL_X86)
RDL_FN rdl_u32 rdl_load_ordered(RDL_GLOBAL rdl_u32 *p) {
  return rdl_load_acquire(p);
}
#elif defined(RDL_LOOP_TURNS)
RDL_FN rdl_u32 rdl_load_ordered(RDL_GLOBAL rdl_u32 *p) {
  return rdl_fetch_or(p, 0u);
}
#else
RDL_FN rdl_u32 rdl_load_ordered(RDL_GLOBAL rdl_u32 *p) {
  rdl_u32 v = rdl_load_relaxed(p);
  rdl_u32 seen;
  while ((seen = rdl_cas(p, v, v)) != v)
    v = seen;
  return v;
}
#endif

/* A release just before another one of this worker, or for the host, which sees nothing of a launch
   on CUDA, or behind a fence of this worker: a GPU waits at each one until everything that was
   written has arrived. */
#if defined(__CUDACC__)
#define rdl_store_beside_release rdl_store_relaxed
#else
#define rdl_store_beside_release rdl_store_release
#endif

/* ---- reduced orders, as the head of this file says ---- */

#if defined(__CUDACC__)
#define rdl_load_early rdl_load_relaxed
#define RDL_SEE_COPIES 1
#else
#define rdl_load_early        rdl_load_acquire
#define rdl_cas_release       rdl_cas
#define rdl_cas_acquire       rdl_cas
#define rdl_cas_covered       rdl_cas
#define rdl_fetch_add_covered rdl_fetch_add
RDL_FN void rdl_load4_relaxed(RDL_GLOBAL const rdl_u32 *p, rdl_u32 *v) {
  v[0] = rdl_load_relaxed(p);
  v[1] = rdl_load_relaxed(p + 1);
  v[2] = rdl_load_relaxed(p + 2);
  v[3] = rdl_load_relaxed(p + 3);
}
RDL_FN void rdl_store4_relaxed(RDL_GLOBAL rdl_u32 *p, rdl_u32 a, rdl_u32 b, rdl_u32 c, rdl_u32 d) {
  rdl_store_relaxed(p, a);
  rdl_store_relaxed(p + 1, b);
  rdl_store_relaxed(p + 2, c);
  rdl_store_relaxed(p + 3, d);
}
#endif

/* A 64-bit word that the host reads beside a flag stored later; no device needs an atomic for it.
 */
RDL_FN void rdl_store_relaxed64(RDL_GLOBAL rdl_u64 *p, rdl_u64 v) {
#if defined(__OPENCL_C_VERSION__) || defined(__CUDACC__)
  *(volatile RDL_GLOBAL rdl_u64 *)p = v;
#else
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
#endif
}

/*
 * Where a driver ends loops after so many turns and says nothing, RDL_LOOP_TURNS is that number, of
 * all loops of one kernel together. What differs there is in limited.cl; what a worker holds of the
 * pools stays in the heap, where a kernel need not save it.
 */
#if defined(RDL_LOOP_TURNS)
#define RDL_HELD RDL_GLOBAL
#else
#define RDL_HELD
#endif

/* Frames and results are moved as words whatever their types are: compilers that reason about types
   must not conclude that a word and, say, an address never share memory. */
#if defined(__GNUC__) || defined(__clang__)
typedef rdl_u32 __attribute__((may_alias)) rdl_word;
#else
typedef rdl_u32 rdl_word;
#endif

#endif
