/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA graphs: one kernel node a task, the order of tasks as edges. A graph is built and
 * instantiated once, outside the clock; a round launches it and waits.
 */
#include "cuda.cuh"

#include <climits>
#include <vector>

/* More nodes tell no more of one, and take long to instantiate. */
enum { NODES = 4000, BRANCHES = 32 };

static uint32_t *device_cells;
static cudaStream_t stream;

/* ---- tasks ---- */

__global__ void run_indep(uint32_t *cells, uint32_t i) {
  cells[i] = 1;
}

__global__ void run_chain(uint32_t *cells, uint32_t i) {
  cells[i] = (i ? cells[i - 1] : 0) + 1;
}

__global__ void run_wavefront(uint32_t *cells, uint32_t i) {
  uint32_t up = i >= PEER_SIDE ? cells[i - PEER_SIDE] : 0;
  uint32_t left = i % PEER_SIDE ? cells[i - 1] : 0;
  cells[i] = i ? up + left : 1;
}

__global__ void run_fan(uint32_t *cells, uint32_t i) {
  cells[i] = cells[PEER_FAN_TASKS + i / PEER_FAN_WIDTH] + 1;
}

/* One warp. */
__global__ void run_join(uint32_t *cells, uint32_t round) {
  uint32_t sum = 0;
  for (uint32_t i = threadIdx.x; i < PEER_FAN_WIDTH; i += CUDA_WARP)
    sum += cells[round * PEER_FAN_WIDTH + i];
  for (int distance = CUDA_WARP / 2; distance; distance /= 2)
    sum += __shfl_down_sync(~0u, sum, distance);
  if (threadIdx.x == 0) cells[PEER_FAN_TASKS + round + 1] = sum;
}

__global__ void run_increment(uint32_t *cells) {
  cells[0]++;
}

/* ---- graphs ---- */

typedef void (*task)(uint32_t *cells, uint32_t i);
typedef std::vector<cudaGraphNode_t> nodes;

static cudaGraphNode_t add_node(cudaGraph_t graph, task run, int threads, uint32_t i,
                                const nodes &before) {
  cudaGraphNode_t node;
  void *arguments[] = {&device_cells, &i}; /* which are copied */
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)run;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3((unsigned)threads);
  kernel.kernelParams = arguments;
  CUDA_EXPECT(cudaGraphAddKernelNode(&node, graph, before.empty() ? nullptr : before.data(),
                                     before.size(), &kernel));
  return node;
}

/* Nothing orders these tasks; that each but the first BRANCHES has one before it is how a graph is
   told that it need not hold them all at once. */
static void build_indep(cudaGraph_t graph) {
  nodes last(BRANCHES);
  for (uint32_t i = 0; i < NODES; i++) {
    nodes before;
    if (i >= BRANCHES) before.push_back(last[i % BRANCHES]);
    last[i % BRANCHES] = add_node(graph, run_indep, 1, i, before);
  }
}

static void build_chain(cudaGraph_t graph) {
  nodes last;
  for (uint32_t i = 0; i < PEER_CHAIN; i++)
    last.assign(1, add_node(graph, run_chain, 1, i, last));
}

static void build_wavefront(cudaGraph_t graph) {
  nodes all;
  for (uint32_t i = 0; i < PEER_CELLS; i++) {
    nodes before;
    if (i >= PEER_SIDE) before.push_back(all[i - PEER_SIDE]);
    if (i % PEER_SIDE) before.push_back(all[i - 1]);
    all.push_back(add_node(graph, run_wavefront, 1, i, before));
  }
}

static void build_fan(cudaGraph_t graph) {
  nodes joined;
  for (uint32_t round = 0; round < PEER_FAN_ROUNDS; round++) {
    nodes tasks;
    for (uint32_t i = 0; i < PEER_FAN_WIDTH; i++)
      tasks.push_back(add_node(graph, run_fan, 1, round * PEER_FAN_WIDTH + i, joined));
    joined.assign(1, add_node(graph, run_join, CUDA_WARP, round, tasks));
  }
}

/* A process runs one shape, so there is one graph, which the end of the process frees. */
static cudaGraphExec_t built(void (*build)(cudaGraph_t graph)) {
  static cudaGraphExec_t runnable;
  cudaGraph_t graph;
  if (runnable) return runnable;
  CUDA_EXPECT(cudaGraphCreate(&graph, 0));
  build(graph);
  CUDA_EXPECT(cudaGraphInstantiate(&runnable, graph, 0));
  CUDA_EXPECT(cudaGraphDestroy(graph));
  CUDA_EXPECT(cudaGraphUpload(runnable, stream));
  CUDA_EXPECT(cudaStreamSynchronize(stream));
  return runnable;
}

/* ---- rounds ---- */

static void clear(void) {
  CUDA_EXPECT(cudaMemset(device_cells, 0, PEER_INDEP * sizeof(uint32_t)));
  CUDA_EXPECT(cudaDeviceSynchronize());
}

/* The caller frees it. */
static uint32_t *read_cells(long count) {
  uint32_t *cells = peer_cells(count);
  CUDA_EXPECT(
      cudaMemcpy(cells, device_cells, (size_t)count * sizeof *cells, cudaMemcpyDeviceToHost));
  return cells;
}

static uint32_t *run_graph(struct peer_round *round, void (*build)(cudaGraph_t graph), long cells) {
  cudaGraphExec_t runnable = built(build);
  clear();
  uint64_t start = peer_now();
  CUDA_EXPECT(cudaGraphLaunch(runnable, stream));
  CUDA_EXPECT(cudaStreamSynchronize(stream));
  round->ns = peer_now() - start;
  return read_cells(cells);
}

static void indep(struct peer_round *round) {
  uint32_t *cells = run_graph(round, build_indep, NODES);
  long right = 0;
  for (long i = 0; i < NODES; i++)
    right += cells[i] == 1;
  round->futures = NODES;
  round->ok = right == NODES;
  free(cells);
}

static void chain(struct peer_round *round) {
  uint32_t *cells = run_graph(round, build_chain, PEER_CHAIN);
  peer_check_chain(round, cells);
  free(cells);
}

static void wavefront(struct peer_round *round) {
  uint32_t *cells = run_graph(round, build_wavefront, PEER_CELLS);
  peer_check_wavefront(round, cells);
  free(cells);
}

static void fan(struct peer_round *round) {
  uint32_t *cells = run_graph(round, build_fan, PEER_FAN_CELLS);
  peer_check_fan(round, cells);
  free(cells);
}

static void roundtrip(struct peer_round *round) {
  clear();
  uint64_t start = peer_now();
  for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
    run_increment<<<1, 1, 0, stream>>>(device_cells);
    cuda_launched();
    CUDA_EXPECT(cudaStreamSynchronize(stream));
  }
  round->ns = peer_now() - start;
  uint32_t *cells = read_cells(1);
  peer_check_roundtrip(round, cells[0]);
  free(cells);
}

/* No graph: one kernel with a warp for each worker. */
static void arithmetic(struct peer_round *round) {
  clear();
  uint64_t start = peer_now();
  cuda_run_fma(device_cells, PEER_FMA_TASKS, (uint32_t)round->n, (uint32_t)round->workers, stream);
  CUDA_EXPECT(cudaStreamSynchronize(stream));
  round->ns = peer_now() - start;
  uint32_t *cells = read_cells(PEER_FMA_TASKS);
  peer_check_fma(round, cells);
  free(cells);
}

static void open_device(int) {
  cuda_open();
  device_cells = cuda_cells<uint32_t>(PEER_INDEP); /* the largest shape */
  CUDA_EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

static void close_device(void) {
  CUDA_EXPECT(cudaStreamDestroy(stream));
  CUDA_EXPECT(cudaFree(device_cells));
}

static const char fixed[] = "the nodes of a graph are fixed before it runs";

static const struct peer_shape shapes[] = {
    {.name = "indep", .run = indep},
    {.name = "chain", .run = chain},
    {.name = "wavefront", .run = wavefront},
    {.name = "fib", .run = nullptr, .why_not = fixed},
    {.name = "tree", .run = nullptr, .why_not = fixed},
    {.name = "pingpong", .run = nullptr, .why_not = "a node cannot wait for another while it runs"},
    {.name = "fan", .run = fan},
    {.name = "roundtrip", .run = roundtrip},
    {.name = "fma", .run = arithmetic, PEER_SIZED_FMA},
    {.name = nullptr},
};

int main(int argc, char **argv) {
  static const struct peer peer = {
      .name = "cuda-graph", .shapes = shapes, .open = open_device, .close = close_device};
  return peer_main(argc, argv, &peer);
}
