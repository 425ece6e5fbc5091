/* SPDX-License-Identifier: Apache-2.0 */
/* From text to something that can be called: cache, compiler, dlopen. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/compile_log.h"
#include "backends/common/file.h"
#include "backends/common/join.h"
#include "backends/common/reason.h"
#include "backends/host/device.h"

/* ---- a folder for one compilation ---- */

struct workshop {
  char folder[RDL_CACHE_PATH / 2];
  char source[RDL_CACHE_PATH];
  char object[RDL_CACHE_PATH];
};

static rdl_status open_workshop(struct workshop *shop, rdl_reason *why) {
  const char *base = getenv("TMPDIR");
  int length;
  if (!base || base[0] != '/') base = "/tmp";
  length = snprintf(shop->folder, sizeof shop->folder, "%s/raddle-XXXXXX", base);
  if (length < 0 || (size_t)length >= sizeof shop->folder || !mkdtemp(shop->folder)) {
    shop->folder[0] = 0;
    return rdl__fail(RDL_IO, why,
                     "The compiler needs a folder for its files, and none can be made in %.500s. "
                     "Set TMPDIR to a folder that can be written to.",
                     base);
  }
  (void)snprintf(shop->source, sizeof shop->source, "%s/image.c", shop->folder);
  (void)snprintf(shop->object, sizeof shop->object, "%s/image.so", shop->folder);
  return RDL_OK;
}

static void close_workshop(struct workshop *shop) {
  if (!shop->folder[0]) return;
  (void)unlink(shop->source);
  (void)unlink(shop->object);
  (void)rmdir(shop->folder);
}

static rdl_status write_source(const struct workshop *shop, const rdl_joined *joined,
                               rdl_reason *why) {
  FILE *file = fopen(shop->source, "wxe");
  int whole = file && fwrite(joined->text, 1, joined->length, file) == joined->length;
  if (file && fclose(file) != 0) whole = 0;
  if (whole) return RDL_OK;
  return rdl__fail(RDL_IO, why, "%.500s could not be written. Is the disk full?", shop->source);
}

/* ---- load ---- */

/* A data pointer becomes a function pointer by way of its bytes: ISO C has no cast for that. */
static rdl_host_entry *find_entry(void *library) {
  void *symbol = dlsym(library, "rdl_launch");
  rdl_host_entry *entry = NULL;
  memcpy(&entry, &symbol, sizeof entry);
  return entry;
}

static rdl_status load_library(const char *path, rdl_backend_image *image, rdl_reason *why) {
  image->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!image->library)
    return rdl__fail(RDL_COMPILE, why, "The compiled tasks cannot be loaded: %s.", dlerror());
  image->entry = find_entry(image->library);
  if (image->entry) return RDL_OK;
  (void)dlclose(image->library);
  return rdl__fail(RDL_COMPILE, why, "The compiled tasks have no entry rdl_launch.");
}

/* ---- build ---- */

static rdl_cache_key key_of(const rdl_backend_device *device, const rdl_image_text *text) {
  return (rdl_cache_key){.backend = "host",
                         .text_hash = text->hash,
                         .options = device->compiler.key,
                         .device = device->name,
                         .compiler = device->compiler.version};
}

static rdl_status compile(const rdl_backend_device *device, const struct workshop *shop,
                          const rdl_joined *joined, rdl_reason *why) {
  char *log = NULL;
  rdl_status status = write_source(shop, joined, why);
  if (status == RDL_OK)
    status =
        rdl__host_compile(&device->compiler, shop->source, shop->object, device->stop, &log, why);
  if (status == RDL_COMPILE && (!why || !why->text[0]))
    status = rdl__compile_log(log ? log : "", joined, why);
  free(log);
  return status;
}

/* The library is loaded from the cache where it has been stored, because a debugger wants a file
 * that stays. A cache on a file system without execution is passed over. */
static rdl_status store_and_load(const rdl_backend_device *device, const rdl_image_text *text,
                                 const struct workshop *shop, rdl_backend_image *image,
                                 rdl_reason *why) {
  rdl_cache_key key = key_of(device, text);
  char path[RDL_CACHE_PATH];
  size_t size = 0;
  void *bytes = device->cache.folder[0] ? rdl__file_read(shop->object, &size) : NULL;
  int stored = bytes && rdl__cache_store(&device->cache, &key, bytes, size, path);
  free(bytes);
  if (stored && load_library(path, image, why) == RDL_OK) return RDL_OK;
  return load_library(shop->object, image, why);
}

static rdl_status build_new(const rdl_backend_device *device, const rdl_image_text *text,
                            rdl_backend_image *image, rdl_reason *why) {
  struct workshop shop;
  rdl_joined joined;
  rdl_status status = rdl__join(text, &joined, why);
  if (status != RDL_OK) return status;
  status = open_workshop(&shop, why);
  if (status == RDL_OK) status = compile(device, &shop, &joined, why);
  if (status == RDL_OK) status = store_and_load(device, text, &shop, image, why);
  close_workshop(&shop);
  rdl__join_free(&joined);
  return status;
}

static int load_cached(const rdl_backend_device *device, const rdl_image_text *text,
                       rdl_backend_image *image) {
  rdl_cache_key key = key_of(device, text);
  rdl_cache_entry entry;
  if (!rdl__cache_load(&device->cache, &key, &entry)) return 0;
  free(entry.image);
  return load_library(entry.path, image, NULL) == RDL_OK;
}

rdl_status rdl__host_build(rdl_backend_device *device, const rdl_image_text *text,
                           rdl_backend_image **out_image, rdl_reason *why) {
  rdl_status status = RDL_OK;
  rdl_backend_image *image = calloc(1, sizeof *image);
  if (!image) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for an image.");
  if (text->prebuilt && !device->loop_turns && device->lanes == 1)
    image->entry = text->prebuilt;
  else if (!device->compiler.command[0])
    status = rdl__fail(RDL_UNAVAILABLE, why, "%s", device->compiler.missing);
  else if (!load_cached(device, text, image))
    status = build_new(device, text, image, why);
  if (status == RDL_OK)
    *out_image = image;
  else
    free(image);
  return status;
}

void rdl__host_discard(rdl_backend_device *device, rdl_backend_image *image) {
  (void)device;
  if (!image) return;
  if (image->library) (void)dlclose(image->library);
  free(image);
}
