/* SPDX-License-Identifier: Apache-2.0 */
/* What the CUDA programs share. Each of their kernels ends by itself, whatever goes wrong. */
#ifndef BENCH_PEERS_CUDA_CUH
#define BENCH_PEERS_CUDA_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "peer.h"

/* Ends the program when a call fails; the text names the call. */
#define CUDA_EXPECT(call) cuda_expect((call), #call)

inline void cuda_expect(cudaError_t code, const char *call) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "failed: %s: %s\n", call, cudaGetErrorString(code));
  exit(EXIT_FAILURE);
}

/* After a launch, which itself returns nothing. */
inline void cuda_launched(void) {
  CUDA_EXPECT(cudaGetLastError());
}

/* Takes the first device. A machine without one skips. */
inline cudaDeviceProp cuda_open(void) {
  int devices = 0;
  cudaDeviceProp device;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1)
    peer_skip("there is no CUDA device, or its driver is older than this program's CUDA");
  CUDA_EXPECT(cudaSetDevice(0));
  CUDA_EXPECT(cudaGetDeviceProperties(&device, 0));
  CUDA_EXPECT(cudaFree(nullptr)); /* starts the driver */
  return device;
}

/* Memory of the device, zeroed. */
template <typename type> type *cuda_cells(size_t count) {
  type *cells = nullptr;
  CUDA_EXPECT(cudaMalloc(&cells, count * sizeof *cells));
  CUDA_EXPECT(cudaMemset(cells, 0, count * sizeof *cells));
  CUDA_EXPECT(cudaDeviceSynchronize());
  return cells;
}

enum { CUDA_WARP = 32, CUDA_BLOCK_WARPS = 32 };

/*
 * The work of a task of the shape fma: `count` multiply-adds, each of which needs the one before,
 * eight in a turn of the loop. With factor and summand 1 the value counts them, exactly so up to
 * 2^24. The tasks of `raddle bench` have the same loop.
 */
__device__ inline float cuda_fma(uint32_t count, float factor, float summand) {
  float x = 0;
  asm volatile("" : "+f"(x)); /* no task's value is known before it runs, nor another's */
  for (uint32_t k = 0; k < count; k += 8) {
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
  }
  return x;
}

/* Task i of `tasks` belongs to warp i modulo the number of warps, which runs its own one after the
   other: no queue, no scheduler. */
__global__ void cuda_fma_tasks(uint32_t *cells, uint32_t tasks, uint32_t count, float factor,
                               float summand, uint32_t warps) {
  uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / CUDA_WARP;
  if (warp >= warps) return;
  for (uint32_t i = warp; i < tasks; i += warps) {
    float x = cuda_fma(count, factor, summand);
    if (threadIdx.x % CUDA_WARP == 0) cells[i] = (uint32_t)x;
  }
}

/* Starts so many warps, in as few blocks as hold them. */
inline void cuda_run_fma(uint32_t *cells, uint32_t tasks, uint32_t count, uint32_t warps,
                         cudaStream_t stream) {
  uint32_t blocks = (warps + CUDA_BLOCK_WARPS - 1) / CUDA_BLOCK_WARPS;
  cuda_fma_tasks<<<blocks, CUDA_BLOCK_WARPS * CUDA_WARP, 0, stream>>>(cells, tasks, count, 1.0f,
                                                                      1.0f, warps);
  cuda_launched();
}

#endif
