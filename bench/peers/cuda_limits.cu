/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CUDA device allows: hand-overs, launches, atomics, and a scheduler that does nothing but
 * hand out. No runtime is faster than these, whatever it is made of.
 *
 * A figure is measured several times; its line has the median, the least and the most of them.
 */
#include "cuda.cuh"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

enum { EXIT_MISUSED = 2, MOST_REPEATS = 1000, CACHE_LINE = 32 /* of words: 128 bytes */ };

/* Turns after which a spinning thread gives up: each is a second or so of what it waits for. */
enum { SHARED_TURNS = 1 << 26, DEVICE_TURNS = 1 << 22 };

static struct {
  int repeats = 11;
  uint32_t fma = PEER_FMA;
  uint32_t warps = 0; /* 0 = a full block on each SM */
} options;

static cudaDeviceProp device;
static cudaStream_t stream;

typedef std::vector<double> values;

static double middle(values v) {
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

static double ninety_ninth(values v) {
  std::sort(v.begin(), v.end());
  return v[(v.size() - 1) * 99 / 100];
}

static void tell(const char *name, const values &v, const char *unit) {
  printf("%s %.5g %.5g %.5g %s\n", name, middle(v), *std::min_element(v.begin(), v.end()),
         *std::max_element(v.begin(), v.end()), unit);
  fflush(stdout);
}

static void expect(bool right, const char *what) {
  if (!right) peer_fail(what);
}

/* Waits for what was launched, and gives up on nothing: each kernel ends by itself. */
static void finish(void) {
  cuda_launched();
  CUDA_EXPECT(cudaStreamSynchronize(stream));
}

template <typename type> static std::vector<type> read_back(const type *memory, size_t count) {
  std::vector<type> copy(count);
  CUDA_EXPECT(cudaMemcpy(copy.data(), memory, count * sizeof(type), cudaMemcpyDeviceToHost));
  return copy;
}

/* Milliseconds that the device takes for what `launch` puts into the stream. */
template <typename function> static double device_ms(function launch) {
  cudaEvent_t before, after;
  float ms = 0;
  CUDA_EXPECT(cudaEventCreate(&before));
  CUDA_EXPECT(cudaEventCreate(&after));
  CUDA_EXPECT(cudaEventRecord(before, stream));
  launch();
  cuda_launched();
  CUDA_EXPECT(cudaEventRecord(after, stream));
  CUDA_EXPECT(cudaEventSynchronize(after));
  CUDA_EXPECT(cudaEventElapsedTime(&ms, before, after));
  CUDA_EXPECT(cudaEventDestroy(before));
  CUDA_EXPECT(cudaEventDestroy(after));
  return ms;
}

static unsigned sms(void) {
  return (unsigned)device.multiProcessorCount;
}

/* ---- hand-overs on the device ---- */

__device__ static uint32_t load_acquire(const uint32_t *word) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ static void store_release(uint32_t *word, uint32_t value) {
  asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

__device__ static uint32_t load_acquire_system(const uint32_t *word) {
  uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

__device__ static void store_release_system(uint32_t *word, uint32_t value) {
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

__device__ static uint32_t load_acquire_shared(uint32_t address) {
  uint32_t value;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

__device__ static void store_release_shared(uint32_t address, uint32_t value) {
  asm volatile("st.release.cta.shared.u32 [%0], %1;" : : "r"(address), "r"(value) : "memory");
}

struct handover {
  long long cycles;
  uint32_t turns; /* that were completed */
  uint32_t sm;
};

/* Two warps; each answers the number that it sees. */
__global__ void handover_in_block(uint32_t turns, handover *out) {
  __shared__ uint32_t flags[2 * CACHE_LINE];
  uint32_t mine = (uint32_t)__cvta_generic_to_shared(&flags[threadIdx.x / CUDA_WARP * CACHE_LINE]);
  uint32_t theirs =
      (uint32_t)__cvta_generic_to_shared(&flags[(1 - threadIdx.x / CUDA_WARP) * CACHE_LINE]);
  flags[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % CUDA_WARP) return;
  bool serves = threadIdx.x == 0;
  long long start = clock64();
  uint32_t done = 0, spins = 0;
  while (done < turns && spins < SHARED_TURNS) {
    if (serves) store_release_shared(theirs, done + 1);
    for (spins = 0; load_acquire_shared(mine) != done + 1 && spins < SHARED_TURNS; spins++) {
    }
    if (!serves) store_release_shared(theirs, done + 1);
    done += spins < SHARED_TURNS;
  }
  if (serves) *out = handover{clock64() - start, done, 0};
}

/* Block 0 and block `partner`, which the shared memory that they ask for keeps on two SMs. */
__global__ void handover_in_grid(uint32_t *flags, uint32_t turns, uint32_t partner, handover *out) {
  bool serves = blockIdx.x == 0;
  if (threadIdx.x || (!serves && blockIdx.x != partner)) return;
  uint32_t *mine = flags + (serves ? 0 : CACHE_LINE), *theirs = flags + (serves ? CACHE_LINE : 0);
  uint32_t done = 0, spins = 0, sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  long long start = clock64();
  while (done < turns && spins < DEVICE_TURNS) {
    if (serves) store_release(theirs, done + 1);
    for (spins = 0; load_acquire(mine) != done + 1 && spins < DEVICE_TURNS; spins++) {
    }
    if (!serves) store_release(theirs, done + 1);
    done += spins < DEVICE_TURNS;
  }
  out[serves ? 0 : 1] = handover{clock64() - start, done, sm};
}

static void handover_shared(const char *name) {
  const uint32_t turns = 10000;
  handover *out = cuda_cells<handover>(1);
  values v;
  for (int r = 0; r < options.repeats; r++) {
    handover_in_block<<<1, 2 * CUDA_WARP, 0, stream>>>(turns, out);
    finish();
    handover got = read_back(out, 1)[0];
    expect(got.turns == turns, "two warps of a block did not see each other's flags");
    v.push_back((double)got.cycles / (2.0 * turns));
  }
  tell(name, v, "cycles");
  CUDA_EXPECT(cudaFree(out));
}

/* The partner is another SM each time, for they are not all as near. */
static void handover_sms(const char *name) {
  const uint32_t turns = 10000;
  size_t whole_sm = device.sharedMemPerBlockOptin;
  handover *out = cuda_cells<handover>(2);
  values v;
  expect(sms() > 1, "the device has one SM");
  CUDA_EXPECT(cudaFuncSetAttribute((const void *)handover_in_grid,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)whole_sm));
  for (int r = 0; r < options.repeats; r++) {
    uint32_t *flags = cuda_cells<uint32_t>(2 * CACHE_LINE);
    uint32_t partner = 1 + (uint32_t)r * (sms() - 1) / (uint32_t)options.repeats;
    handover_in_grid<<<sms(), CUDA_WARP, whole_sm, stream>>>(flags, turns, partner, out);
    finish();
    std::vector<handover> got = read_back(out, 2);
    expect(got[0].turns == turns && got[1].turns == turns,
           "two SMs did not see each other's flags");
    expect(got[0].sm != got[1].sm, "two blocks came to lie on one SM");
    v.push_back((double)got[0].cycles / (2.0 * turns));
    CUDA_EXPECT(cudaFree(flags));
  }
  tell(name, v, "cycles");
  CUDA_EXPECT(cudaFree(out));
}

/* ---- host and device ---- */

/* Answers each number that the host writes into the first word in the second. */
__global__ void answer_mail(uint32_t *words, uint32_t turns) {
  for (uint32_t i = 1; i <= turns; i++) {
    uint32_t spins = 0;
    while (load_acquire_system(words) != i)
      if (++spins == DEVICE_TURNS) return;
    store_release_system(words + CACHE_LINE, i);
  }
}

/* Reading the clock each time would be part of what is measured. */
static bool answer_came(const uint32_t *word, uint32_t i, uint64_t start) {
  const uint64_t patience = UINT64_C(5000000000);
  do {
    for (int k = 0; k < 1000; k++)
      if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == i) return true;
  } while (peer_now() - start < patience);
  return false;
}

/* Nanoseconds of each round trip through memory of the host. */
static values mail_times(uint32_t *words, uint32_t *on_device, uint32_t turns) {
  values v;
  memset(words, 0, 2 * CACHE_LINE * sizeof *words);
  answer_mail<<<1, 1, 0, stream>>>(on_device, turns);
  cuda_launched();
  for (uint32_t i = 1; i <= turns; i++) {
    uint64_t start = peer_now();
    __atomic_store_n(words, i, __ATOMIC_RELEASE);
    expect(answer_came(words + CACHE_LINE, i, start), "a running kernel did not answer the host");
    v.push_back((double)(peer_now() - start));
  }
  finish();
  v.erase(v.begin()); /* which has the launch in it */
  return v;
}

static void mailbox(const char *) {
  uint32_t *words = nullptr, *on_device = nullptr;
  values half, most;
  CUDA_EXPECT(cudaHostAlloc(&words, 2 * CACHE_LINE * sizeof *words, cudaHostAllocMapped));
  CUDA_EXPECT(cudaHostGetDevicePointer(&on_device, words, 0));
  for (int r = 0; r < options.repeats; r++) {
    values times = mail_times(words, on_device, 10001);
    half.push_back(middle(times));
    most.push_back(ninety_ninth(times));
  }
  tell("mailbox", half, "ns");
  tell("mailbox_p99", most, "ns");
  CUDA_EXPECT(cudaFreeHost(words));
}

__global__ void do_nothing(void) {}

static void launch_sync(const char *) {
  values half, most;
  for (int r = -1; r < options.repeats; r++) { /* the first to warm up */
    values times;
    for (int i = 0; i < 1000; i++) {
      uint64_t start = peer_now();
      do_nothing<<<1, CUDA_WARP, 0, stream>>>();
      cuda_launched();
      CUDA_EXPECT(cudaStreamSynchronize(stream));
      times.push_back((double)(peer_now() - start) / 1000);
    }
    if (r >= 0) half.push_back(middle(times));
    if (r >= 0) most.push_back(ninety_ninth(times));
  }
  tell("launch_sync", half, "us");
  tell("launch_sync_p99", most, "us");
}

/* ---- between two kernels ---- */

__device__ static uint64_t global_ns(void) {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

struct span {
  uint64_t first;
  uint64_t last;
};

/* Each block takes so long, and says when it began and ended. */
__global__ void take_time(span *spans, uint64_t ns) {
  if (threadIdx.x == 0) {
    uint64_t first = global_ns(), last = first;
    for (uint32_t spins = 0; last - first < ns && spins < SHARED_TURNS; spins++)
      last = global_ns();
    spans[blockIdx.x].first = first;
  }
  __syncthreads();
  if (threadIdx.x == 0) spans[blockIdx.x].last = global_ns();
}

/* The smallest step of the clock that the gap is measured with. */
__global__ void find_step(uint64_t *out) {
  uint64_t least = UINT64_MAX, before = global_ns();
  for (int i = 0; i < 20000; i++) {
    uint64_t now = global_ns();
    if (now != before && now - before < least) least = now - before;
    before = now;
  }
  *out = least;
}

static void tell_step(void) {
  uint64_t *step = cuda_cells<uint64_t>(1);
  find_step<<<1, 1, 0, stream>>>(step);
  finish();
  tell("gap_clock", values{(double)read_back(step, 1)[0]}, "ns");
  CUDA_EXPECT(cudaFree(step));
}

/* From the last block's end to the first block's begin. */
static double gap_between(const span *before, const span *after, size_t blocks) {
  uint64_t last = 0, first = UINT64_MAX;
  for (size_t b = 0; b < blocks; b++) {
    last = std::max(last, before[b].last);
    first = std::min(first, after[b].first);
  }
  return (double)(int64_t)(first - last);
}

static void gap(const char *name) {
  enum { KERNELS = 20, THREADS = 1024 };
  int blocks_an_sm = 0;
  CUDA_EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_an_sm, take_time, THREADS, 0));
  size_t blocks = (size_t)blocks_an_sm * sms();
  span *spans = cuda_cells<span>(KERNELS * blocks);
  values v;
  for (int r = -1; r < options.repeats; r++) {
    values gaps;
    for (int k = 0; k < KERNELS; k++)
      take_time<<<(unsigned)blocks, THREADS, 0, stream>>>(spans + k * blocks, 200000);
    finish();
    std::vector<span> got = read_back(spans, KERNELS * blocks);
    for (int k = 2; k < KERNELS; k++) /* those that were queued in time */
      gaps.push_back(gap_between(&got[(k - 1) * blocks], &got[k * blocks], blocks));
    if (r >= 0) v.push_back(middle(gaps));
  }
  tell(name, v, "ns");
  tell_step();
  CUDA_EXPECT(cudaFree(spans));
}

/* ---- nodes of graphs ---- */

static cudaGraphExec_t graph_of(int nodes, int branches) {
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  std::vector<cudaGraphNode_t> last((size_t)branches);
  void *no_arguments[] = {nullptr};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)do_nothing;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(CUDA_WARP);
  kernel.kernelParams = no_arguments;
  CUDA_EXPECT(cudaGraphCreate(&graph, 0));
  for (int i = 0; i < nodes; i++) {
    cudaGraphNode_t before = i >= branches ? last[(size_t)(i % branches)] : nullptr;
    CUDA_EXPECT(cudaGraphAddKernelNode(&last[(size_t)(i % branches)], graph,
                                       before ? &before : nullptr, before ? 1 : 0, &kernel));
  }
  CUDA_EXPECT(cudaGraphInstantiate(&runnable, graph, 0));
  CUDA_EXPECT(cudaGraphDestroy(graph));
  return runnable;
}

static void graph_nodes(const char *name, int nodes, int branches) {
  cudaGraphExec_t runnable = graph_of(nodes, branches);
  values v;
  for (int r = -2; r < options.repeats; r++) {
    uint64_t start = peer_now();
    CUDA_EXPECT(cudaGraphLaunch(runnable, stream));
    CUDA_EXPECT(cudaStreamSynchronize(stream));
    if (r >= 0) v.push_back((double)(peer_now() - start) / 1000 / nodes);
  }
  tell(name, v, "us");
  CUDA_EXPECT(cudaGraphExecDestroy(runnable));
}

static void graph_node(const char *) {
  graph_nodes("graph_node_chained", 4000, 1);
  graph_nodes("graph_node_branches", 4000, 32);
  graph_nodes("graph_node_independent", 1000, 1000);
}

/* ---- a scheduler that can do nothing else ---- */

/*
 * A queue and its workers, one warp each, in every block; nothing leaves its block. `ready` counts
 * what may be taken: who brings it below zero has found nothing and puts it back. Places are handed
 * out by counters, and an empty one is 0.
 */
enum { TOY_PLACES = 16384, TOY_FIB = 18, TOY_INDEP = 100000, TOY_AT_ONCE = 1024 };

struct toy_queue {
  int ready;
  int left;     /* tasks that have not ended */
  uint32_t put; /* places used so far, */
  uint32_t taken;
  uint32_t records; /* of fib, used so far */
  uint32_t started; /* of the independent ones */
  uint32_t broken;  /* somebody gave up waiting */
  uint32_t places[TOY_PLACES];
};

struct toy_task {
  uint32_t n;
  uint32_t parent; /* 0 = none */
  uint32_t pending;
  uint32_t result;
  uint32_t children; /* two records from this on; 0 = not started */
};

__device__ static void toy_push(toy_queue *queue, uint32_t task) {
  uint32_t *place = &queue->places[atomicAdd(&queue->put, 1u) % TOY_PLACES];
  uint32_t spins = 0;
  __threadfence_block();
  while (atomicCAS(place, 0u, task))
    if (++spins == DEVICE_TURNS) {
      queue->broken = 1;
      return;
    }
  atomicAdd(&queue->ready, 1);
}

/* 0 = nothing is there. */
__device__ static uint32_t toy_take(toy_queue *queue) {
  uint32_t task = 0, spins = 0;
  if (*(volatile int *)&queue->ready <= 0) return 0;
  if (atomicSub(&queue->ready, 1) <= 0) {
    atomicAdd(&queue->ready, 1);
    return 0;
  }
  uint32_t *place = &queue->places[atomicAdd(&queue->taken, 1u) % TOY_PLACES];
  while (!(task = atomicExch(place, 0u)))
    if (++spins == DEVICE_TURNS) {
      queue->broken = 1;
      return 0;
    }
  __threadfence_block();
  return task;
}

__device__ static void toy_spawn_pair(toy_queue *queue, toy_task *tasks, uint32_t parent) {
  uint32_t n = tasks[parent].n, first = atomicAdd(&queue->records, 2u);
  tasks[first] = toy_task{n - 1, parent, 0, 0, 0};
  tasks[first + 1] = toy_task{n - 2, parent, 0, 0, 0};
  tasks[parent].pending = 2;
  tasks[parent].children = first;
  atomicAdd(&queue->left, 2);
  toy_push(queue, first);
  toy_push(queue, first + 1);
}

__device__ static void toy_run_fib(toy_queue *queue, toy_task *tasks, uint32_t at) {
  toy_task *task = &tasks[at];
  uint32_t children = task->children;
  if (!children && task->n >= 2) {
    toy_spawn_pair(queue, tasks, at);
    return;
  }
  task->result = children ? tasks[children].result + tasks[children + 1].result : task->n;
  __threadfence_block();
  if (task->parent && atomicSub(&tasks[task->parent].pending, 1u) == 1)
    toy_push(queue, task->parent);
  atomicSub(&queue->left, 1);
}

/* Each brings the next into the queue. */
__device__ static void toy_run_indep(toy_queue *queue, uint32_t *cells, uint32_t at) {
  cells[at] = 1;
  uint32_t next = atomicAdd(&queue->started, 1u) + 1;
  if (next <= TOY_INDEP) toy_push(queue, next);
  atomicSub(&queue->left, 1);
}

/* One of `tasks` and `cells` is NULL. */
__global__ void __launch_bounds__(CUDA_BLOCK_WARPS *CUDA_WARP)
    run_toy(toy_task *tasks, uint32_t tasks_a_block, uint32_t *cells, uint32_t *broken) {
  extern __shared__ toy_queue queues[];
  toy_queue *queue = &queues[0];
  for (uint32_t i = threadIdx.x; i < TOY_PLACES; i += blockDim.x)
    queue->places[i] = !tasks && i < TOY_AT_ONCE ? i + 1 : 0;
  if (tasks) tasks += (size_t)blockIdx.x * tasks_a_block;
  if (cells) cells += (size_t)blockIdx.x * (TOY_INDEP + 1);
  if (threadIdx.x == 0) {
    queue->taken = queue->broken = 0;
    queue->records = 2;
    queue->started = queue->put = tasks ? 1 : TOY_AT_ONCE;
    queue->ready = tasks ? 1 : TOY_AT_ONCE;
    queue->left = tasks ? 1 : TOY_INDEP;
    if (tasks) tasks[1] = toy_task{TOY_FIB, 0, 0, 0, 0};
  }
  __syncthreads();
  if (tasks && threadIdx.x == 0) queue->places[0] = 1;
  __syncthreads();
  if (threadIdx.x % CUDA_WARP) return;
  uint32_t idle = 0;
  while (*(volatile int *)&queue->left > 0 && !*(volatile uint32_t *)&queue->broken) {
    uint32_t task = toy_take(queue);
    if (++idle == SHARED_TURNS) queue->broken = 1;
    if (!task) continue;
    idle = 0;
    if (tasks)
      toy_run_fib(queue, tasks, task);
    else
      toy_run_indep(queue, cells, task);
  }
  if (queue->broken) *broken = 1;
}

static uint32_t fib_futures(uint32_t n) {
  return n < 2 ? 1 : 1 + fib_futures(n - 1) + fib_futures(n - 2);
}

static uint32_t fib_of(uint32_t n) {
  return n < 2 ? n : fib_of(n - 1) + fib_of(n - 2);
}

/* Millions of tasks a second, each time on all SMs. */
static values toy_rates(toy_task *tasks, uint32_t *cells, uint32_t tasks_a_block, double count) {
  uint32_t *broken = cuda_cells<uint32_t>(1);
  values v;
  for (int r = -1; r < options.repeats; r++) {
    double ms = device_ms([&] {
      run_toy<<<sms(), CUDA_BLOCK_WARPS * CUDA_WARP, sizeof(toy_queue), stream>>>(
          tasks, tasks_a_block, cells, broken);
    });
    expect(read_back(broken, 1)[0] == 0, "a worker of the toy scheduler waited in vain");
    if (r >= 0) v.push_back(count / ms / 1000);
  }
  CUDA_EXPECT(cudaFree(broken));
  return v;
}

static void toy_fib(void) {
  uint32_t futures = fib_futures(TOY_FIB), right = 0;
  toy_task *tasks = cuda_cells<toy_task>((size_t)sms() * (futures + 1));
  values v = toy_rates(tasks, nullptr, futures + 1, (double)futures * sms());
  std::vector<toy_task> got = read_back(tasks, (size_t)sms() * (futures + 1));
  for (size_t b = 0; b < sms(); b++)
    right += got[b * (futures + 1) + 1].result == fib_of(TOY_FIB);
  expect(right == sms(), "the toy scheduler got a wrong sum");
  tell("toy_fib", v, "Mtasks/s");
  CUDA_EXPECT(cudaFree(tasks));
}

static void toy_indep(void) {
  size_t count = (size_t)sms() * (TOY_INDEP + 1);
  uint32_t *cells = cuda_cells<uint32_t>(count);
  values v = toy_rates(nullptr, cells, 0, (double)TOY_INDEP * sms());
  std::vector<uint32_t> got = read_back(cells, count);
  size_t right = (size_t)std::count(got.begin(), got.end(), 1u);
  expect(right == (size_t)TOY_INDEP * sms(), "the toy scheduler lost a task");
  tell("toy_indep", v, "Mtasks/s");
  CUDA_EXPECT(cudaFree(cells));
}

static void toy(const char *) {
  CUDA_EXPECT(cudaFuncSetAttribute(
      (const void *)run_toy, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(toy_queue)));
  toy_indep();
  toy_fib();
}

/* ---- arithmetic ---- */

/* The tasks of the shape fma, by so many warps as workers would be: ns a task of one warp, and of
   all of them together. */
static void fma_tasks(const char *name) {
  uint32_t warps = options.warps ? options.warps : sms() * CUDA_BLOCK_WARPS;
  uint32_t *cells = cuda_cells<uint32_t>(PEER_FMA_TASKS);
  struct peer_round round = {};
  values one, all;
  round.n = (int)options.fma;
  for (int r = -1; r < options.repeats; r++) {
    double ns =
        1e6 * device_ms([&] { cuda_run_fma(cells, PEER_FMA_TASKS, options.fma, warps, stream); });
    uint32_t tasks_a_warp = (PEER_FMA_TASKS + warps - 1) / warps;
    if (r >= 0) one.push_back(ns / tasks_a_warp);
    if (r >= 0) all.push_back(ns / (double)PEER_FMA_TASKS);
  }
  std::vector<uint32_t> got = read_back(cells, PEER_FMA_TASKS);
  uint64_t sum = 0;
  for (uint32_t cell : got)
    sum += cell;
  peer_check_fma(&round, got.data());
  expect(round.ok, "a task of multiply-adds had a wrong result");
  tell(name, one, "ns");
  tell("fma_all", all, "ns");
  printf("fma_checksum %llu\n", (unsigned long long)sum);
  CUDA_EXPECT(cudaFree(cells));
}

/* ---- atomics ---- */

/* One lane of each warp; the results are used, so that they are fetched. */
__global__ void add_often(uint32_t *words, uint32_t stride, uint32_t turns) {
  uint32_t sum = 0;
  if (threadIdx.x % CUDA_WARP) return;
  for (uint32_t k = 0; k < turns; k++)
    sum += atomicAdd(&words[blockIdx.x * stride], 1u);
  if (sum == 0x12345) words[gridDim.x * CACHE_LINE] = sum;
}

static void atomic_rate(const char *name, uint32_t stride, uint32_t turns) {
  const unsigned blocks = 2 * sms(), warps = blocks * CUDA_BLOCK_WARPS;
  uint32_t *words = cuda_cells<uint32_t>((size_t)(blocks + 1) * CACHE_LINE);
  values v;
  for (int r = -1; r < options.repeats; r++) {
    double ms = device_ms([&] {
      add_often<<<blocks, CUDA_BLOCK_WARPS * CUDA_WARP, 0, stream>>>(words, stride, turns);
    });
    if (r >= 0) v.push_back((double)warps * turns / ms / 1e6);
  }
  uint32_t expected = (uint32_t)(options.repeats + 1) * turns * (stride ? CUDA_BLOCK_WARPS : warps);
  expect(read_back(words, 1)[0] == expected, "an atomic addition was lost");
  tell(name, v, "Gops/s");
  CUDA_EXPECT(cudaFree(words));
}

static void atomic(const char *) {
  atomic_rate("atomic_one_address", 0, 100);
  atomic_rate("atomic_one_a_block", CACHE_LINE, 1000);
}

/* ---- command line ---- */

static const struct figure {
  const char *name;
  void (*measure)(const char *name);
} figures[] = {
    {"handover_shared", handover_shared},
    {"handover_sms", handover_sms},
    {"mailbox", mailbox},
    {"launch_sync", launch_sync},
    {"gap", gap},
    {"graph_node", graph_node},
    {"toy", toy},
    {"fma", fma_tasks},
    {"atomic", atomic},
};

static int usage(void) {
  fprintf(stderr, "usage: peer-cuda-limits [FIGURE...] [--repeat R] [--fma N] [--warps W]\n"
                  "       peer-cuda-limits --list\n"
                  "All figures, each measured 11 times, unless some are named; the tasks of fma\n"
                  "have N multiply-adds (4096), and W warps run them (a full block an SM).\n");
  return EXIT_MISUSED;
}

static bool take_number(const char *text, long most, long *out) {
  char *end = nullptr;
  *out = text ? strtol(text, &end, 10) : 0;
  return text && end != text && !*end && *out >= 1 && *out <= most;
}

/* What an option's number goes to; false = there is no such option, or the number is wrong. */
static bool take_option(const char *option, const char *text) {
  long most = 0, number = 0;
  if (strcmp(option, "--repeat") == 0) most = MOST_REPEATS;
  if (strcmp(option, "--fma") == 0) most = PEER_MOST_FMA;
  if (strcmp(option, "--warps") == 0) most = 65536;
  if (!take_number(text, most, &number)) return false;
  if (strcmp(option, "--repeat") == 0) options.repeats = (int)number;
  if (strcmp(option, "--fma") == 0) options.fma = (uint32_t)number;
  if (strcmp(option, "--warps") == 0) options.warps = (uint32_t)number;
  return true;
}

static const figure *find_figure(const char *name) {
  for (const figure &f : figures)
    if (strcmp(f.name, name) == 0) return &f;
  return nullptr;
}

static int list_figures(void) {
  for (const figure &f : figures)
    printf("%s\n", f.name);
  return EXIT_SUCCESS;
}

/* Options of the peers' command line: `raddle bench` asks all programs that are called peer-NAME.
 */
static bool is_asked_as_peer(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--workers") == 0) return true;
  return false;
}

int main(int argc, char **argv) {
  std::vector<const figure *> wanted;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return list_figures();
  if (is_asked_as_peer(argc, argv)) peer_skip("this program measures figures, not shapes");
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') {
      if (!take_option(argv[i], i + 1 < argc ? argv[i + 1] : nullptr)) return usage();
      i++;
    } else {
      const figure *found = find_figure(argv[i]);
      if (!found) return usage();
      wanted.push_back(found);
    }
  }
  bool all = wanted.empty();
  for (const figure &f : figures)
    if (all) wanted.push_back(&f);
  device = cuda_open();
  CUDA_EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const figure *f : wanted)
    f->measure(f->name);
  CUDA_EXPECT(cudaStreamDestroy(stream));
  return EXIT_SUCCESS;
}
