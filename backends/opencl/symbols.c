/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/symbols.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"

/* The function pointer is filled by way of its bytes: ISO C has no cast from a data pointer. */
static int find(void *loader, const char *name, void *out_function, size_t size) {
  void *symbol = dlsym(loader, name);
  memcpy(out_function, &symbol, size < sizeof symbol ? size : sizeof symbol);
  return symbol != NULL;
}

int rdl__cl_load_symbols(const char *library, rdl_cl *out_symbols, rdl_reason *why) {
  const char *absent = NULL;
  void *loader = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  memset(out_symbols, 0, sizeof *out_symbols);
  if (!loader) {
    (void)rdl__fail(RDL_UNAVAILABLE, why,
                    "The OpenCL loader is not installed: %s. On Debian, apt install "
                    "ocl-icd-libopencl1 pocl-opencl-icd brings it and a device.",
                    dlerror());
    return 0;
  }
#define RDL_CL_SYMBOL(name)                                                                        \
  if (!find(loader, #name, &out_symbols->name, sizeof out_symbols->name)) absent = #name;
#include "backends/opencl/symbols.def"
#undef RDL_CL_SYMBOL
  if (!absent) return 1; /* the loader stays open: drivers do not like to be unloaded */
  (void)rdl__fail(RDL_UNAVAILABLE, why,
                  "The OpenCL loader %s is too old: it has no %s, which came with OpenCL 2.0.",
                  library, absent);
  (void)dlclose(loader);
  return 0;
}

void rdl__cl_read_drivers(const rdl_cl *cl) {
  char *list = getenv("OCL_ICD_FILENAMES");
  char *whole = list ? strdup(list) : NULL;
  cl_uint count = 0;
  (void)cl->clGetPlatformIDs(0, NULL, &count);
  if (whole) memcpy(list, whole, strlen(whole) + 1);
  free(whole);
}

static struct {
  rdl_cl symbols;
  rdl_reason why;
  int loaded;
} global;

static void load_once(void) {
  global.loaded = rdl__cl_load_symbols("libOpenCL.so.1", &global.symbols, &global.why);
  if (global.loaded) rdl__cl_read_drivers(&global.symbols);
}

const rdl_cl *rdl__cl_symbols(rdl_reason *why) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, load_once);
  if (global.loaded) return &global.symbols;
  (void)rdl__fail(RDL_UNAVAILABLE, why, "%s", global.why.text);
  return NULL;
}
