/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled images on disk. An entry is one file: the image, then its key and a checksum, then a
 * fixed tail. The image comes first so that a shared object can be loaded from the entry itself.
 *
 * The file's name is the hash of the key, but an entry is served only when the whole key that it
 * holds equals the one asked for and the checksum is right. A file or folder that another user owns
 * or could write to is not read. Whatever is wrong with an entry, it counts as absent; whatever
 * goes wrong while storing, the next run compiles again. So no call here fails.
 */
#ifndef RDL_COMMON_CACHE_H
#define RDL_COMMON_CACHE_H

#include <stddef.h>

#define RDL_CACHE_PATH 4096u

typedef struct rdl_cache {
  char folder[RDL_CACHE_PATH]; /* empty = no cache */
} rdl_cache;

/* All that an image depends on, beside the version and kernel hash of this library. */
typedef struct rdl_cache_key {
  const char *backend;
  const char *text_hash;
  const char *options;
  const char *device;
  const char *compiler; /* compiler or driver, with its version */
} rdl_cache_key;

typedef struct rdl_cache_entry {
  char path[RDL_CACHE_PATH]; /* of the entry */
  unsigned char *image;      /* to be freed with free() */
  size_t size;
} rdl_cache_entry;

/* NULL = $XDG_CACHE_HOME/raddle, else $HOME/.cache/raddle; "" = no cache. Makes nothing yet. */
void rdl__cache_open(rdl_cache *cache, const char *folder);

/* 1 and the entry, or 0. */
int rdl__cache_load(const rdl_cache *cache, const rdl_cache_key *key, rdl_cache_entry *out_entry);

/* Stores an image. 1 when it is there now; `out_path` (RDL_CACHE_PATH bytes, may be NULL) then
 * holds the entry's path. Makes the folder, with access for its owner only. */
int rdl__cache_store(const rdl_cache *cache, const rdl_cache_key *key, const void *image,
                     size_t size, char *out_path);

#endif
