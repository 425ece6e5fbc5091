/* SPDX-License-Identifier: Apache-2.0 */
/* PoCL for the peers that use it: one device, one buffer of cells, any OpenCL error ends the peer.
 */
#ifndef BENCH_PEERS_OPENCL_H
#define BENCH_PEERS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include <stdint.h>

/* Expects that the call succeeds. */
#define CL_EXPECT(call) opencl_expect((call), #call)
void opencl_expect(cl_int code, const char *call);

struct opencl {
  cl_context context;
  cl_device_id device;
  cl_program program;
  cl_command_queue queue;
  cl_mem cells;
  size_t bytes; /* of the cells */
};

/* Skips the peer where PoCL is not installed. PoCL runs `workers` threads. The source is compiled
   with the sizes SIDE of the wavefront, and WIDTH and ROUNDS of the fan. */
struct opencl opencl_open(int workers, const char *source, size_t cell_count);
void opencl_close(struct opencl *cl);

cl_command_queue opencl_queue(const struct opencl *cl, cl_command_queue_properties properties);
cl_kernel opencl_kernel(const struct opencl *cl, const char *name);
void opencl_clear(const struct opencl *cl);

/* The first cells, for the caller to free. */
uint32_t *opencl_read(const struct opencl *cl, long count);

#endif
