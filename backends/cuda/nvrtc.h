/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC, the compiler of the CUDA toolkit. Which one there is, and what it can do, is found here;
 * it compiles in raddle-cuda-helper (helper/main.c), for a compiler can neither be stopped nor
 * limited in time within this process.
 */
#ifndef RDL_CUDA_NVRTC_H
#define RDL_CUDA_NVRTC_H

#include <raddle/backend.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/cuda/api.h"

typedef struct rdl_nvrtc_symbols {
#define RDL_NVRTC_SYMBOL(name, parameters) rdl_nvrtc_result(*name) parameters;
#include "backends/cuda/nvrtc.def"
#undef RDL_NVRTC_SYMBOL
} rdl_nvrtc_symbols;

/* Opens the library and leaves it open. 0 = `why` says what is missing. */
int rdl__nvrtc_load(const char *library, rdl_nvrtc_symbols *out_symbols, rdl_reason *why);

#define RDL_NVRTC_PATH 4096u

typedef struct rdl_nvrtc {
  char path[RDL_NVRTC_PATH];
  int major, minor;
  int newest; /* architecture that it compiles for: 90 */
} rdl_nvrtc;

/* Finds one that suits a driver for CUDA `driver_version`. RDL_UNAVAILABLE: `why` says where it was
 * looked for and what to install. Any thread. */
rdl_status rdl__nvrtc_find(int driver_version, rdl_nvrtc *out_nvrtc, rdl_reason *why);

/* What the compiler made. */
typedef struct rdl_nvrtc_binary {
  char *bytes; /* to be freed; a zero behind them */
  size_t size;
} rdl_nvrtc_binary;

/* Compiles `text` with `options`, which have spaces between. RDL_COMPILE: with `*out_log` (to be
 * freed) the compiler's words, or NULL and `why` says how it ended otherwise. RDL_CLOSED: `stop`,
 * which may be NULL, became true. Blocks. Any thread. */
rdl_status rdl__nvrtc_compile(const rdl_nvrtc *nvrtc, const char *options, const char *text,
                              size_t length, const bool *stop, rdl_nvrtc_binary *out_binary,
                              char **out_log, rdl_reason *why);

#endif
