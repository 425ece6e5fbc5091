/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/symbols.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/reason.h"
#include "backends/cuda/status.h"

/* With cuGetProcAddress_v2, which the names' versions are asked of. */
#define OLDEST_DRIVER 12000

typedef rdl_cu_result (*lookup)(const char *name, void **out_function, int version, uint64_t flags,
                                int *out_found);

/* Function pointers are filled by way of their bytes: ISO C has no cast from a data pointer. */
static int find(lookup look, const char *name, int version, void *out_function, size_t size) {
  void *symbol = NULL;
  int found = 0;
  if (look(name, &symbol, version, RDL_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) != 0)
    symbol = NULL;
  memcpy(out_function, &symbol, size < sizeof symbol ? size : sizeof symbol);
  return symbol != NULL;
}

static lookup find_lookup(void *driver) {
  void *symbol = dlsym(driver, "cuGetProcAddress_v2");
  lookup look;
  memcpy(&look, &symbol, sizeof look);
  return look;
}

static rdl_status too_old(const char *library, const char *absent, rdl_reason *why) {
  return rdl__fail(RDL_UNAVAILABLE, why,
                   "The NVIDIA driver (%.500s) is too old, for it has no %s: Raddle needs one for "
                   "CUDA %d.%d or newer. Update the driver.",
                   library, absent, OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10);
}

static rdl_status look_up(void *driver, const char *library, rdl_cu *out_symbols, rdl_reason *why) {
  const char *absent = NULL;
  lookup look = find_lookup(driver);
  if (!look) return too_old(library, "cuGetProcAddress_v2", why);
#define RDL_CU_SYMBOL(name, version, needed, parameters)                                           \
  if (!find(look, #name, version, &out_symbols->name, sizeof out_symbols->name) && (needed))       \
    absent = #name;
#include "backends/cuda/symbols.def"
#undef RDL_CU_SYMBOL
  return absent ? too_old(library, absent, why) : RDL_OK;
}

static rdl_status start(rdl_cu *cu, rdl_reason *why) {
  rdl_status status = RDL_CU(cu, NULL, why, cu->cuInit(0));
  if (status == RDL_OK) status = RDL_CU(cu, NULL, why, cu->cuDriverGetVersion(&cu->version));
  return status;
}

/* The driver stays open: it does not like to be unloaded. */
static rdl_status load(rdl_cu *cu, rdl_reason *why) {
  const char *named = getenv("RADDLE_CUDA_DRIVER");
  const char *library = named && *named ? named : "libcuda.so.1";
  void *driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  rdl_status status;
  if (!driver)
    return rdl__fail(RDL_UNAVAILABLE, why,
                     "The NVIDIA driver is not installed: %s. It comes with the driver of the GPU, "
                     "not with the CUDA toolkit.",
                     dlerror());
  status = look_up(driver, library, cu, why);
  return status == RDL_OK ? start(cu, why) : status;
}

static struct {
  rdl_cu symbols;
  rdl_reason why;
  int loaded;
} global;

static void load_once(void) {
  global.loaded = load(&global.symbols, &global.why) == RDL_OK;
}

const rdl_cu *rdl__cu_symbols(rdl_reason *why) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, load_once);
  if (global.loaded) return &global.symbols;
  (void)rdl__fail(RDL_UNAVAILABLE, why, "%s", global.why.text);
  return NULL;
}
