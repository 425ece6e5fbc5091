/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <raddle/version.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/common/kernel_text.h"
#include "backends/common/sha256.h"

/* The last bytes of an entry. Numbers are in the byte order of the machine: an entry from another
 * one has another key anyway. */
struct tail {
  uint64_t image_size;
  uint64_t key_size;
  unsigned char checksum[RDL_SHA256_SIZE]; /* of image and key */
  char magic[16];
};

static const char magic[16] = "raddle image 1\n";

#define LARGEST_ENTRY ((off_t)1 << 30)

/* ---- key ---- */

/* Every part stands behind its length, so that no two keys give the same text. */
static int put_part(char **to, size_t *room, const char *name, const char *value) {
  int put = snprintf(*to, *room, "%s %zu %s\n", name, strlen(value), value);
  if (put < 0 || (size_t)put >= *room) return 0;
  *to += put;
  *room -= (size_t)put;
  return 1;
}

/* The key as text, to be freed; NULL without memory. */
static char *key_text(const rdl_cache_key *key) {
  const char *parts[][2] = {{"raddle", rdl_version()},  {"kernels", rdl__kernel_hash},
                            {"backend", key->backend},  {"text", key->text_hash},
                            {"options", key->options},  {"device", key->device},
                            {"compiler", key->compiler}};
  const size_t count = sizeof parts / sizeof parts[0];
  size_t room = 1;
  char *text, *to;
  for (size_t i = 0; i < count; i++)
    room += strlen(parts[i][0]) + strlen(parts[i][1]) + 24;
  text = to = malloc(room);
  if (!text) return NULL;
  for (size_t i = 0; i < count; i++)
    if (!put_part(&to, &room, parts[i][0], parts[i][1])) break;
  return text;
}

#define ENTRY_NAME (RDL_SHA256_HEX + 4)

static void entry_name(const char *key, char out_name[ENTRY_NAME]) {
  unsigned char digest[RDL_SHA256_SIZE];
  rdl_sha256 hash;
  rdl__sha256_init(&hash);
  rdl__sha256_add(&hash, key, strlen(key));
  rdl__sha256_end(&hash, digest);
  rdl__sha256_hex(digest, out_name);
  memcpy(out_name + RDL_SHA256_HEX - 1, ".bin", 5);
}

/* ---- folder ---- */

void rdl__cache_open(rdl_cache *cache, const char *folder) {
  const char *base = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int length = 0;
  if (folder)
    length = snprintf(cache->folder, sizeof cache->folder, "%s", folder);
  else if (base && base[0] == '/')
    length = snprintf(cache->folder, sizeof cache->folder, "%s/raddle", base);
  else if (home && home[0] == '/')
    length = snprintf(cache->folder, sizeof cache->folder, "%s/.cache/raddle", home);
  if (length <= 0 || (size_t)length >= sizeof cache->folder) cache->folder[0] = 0;
}

/* Only its owner can have put something there. */
static int is_ours(const struct stat *info) {
  return info->st_uid == geteuid() && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor of the folder, or -1 when it is missing or not ours alone. */
static int open_folder(const rdl_cache *cache) {
  struct stat info;
  int folder;
  if (!cache->folder[0]) return -1;
  folder = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  if (fstat(folder, &info) == 0 && is_ours(&info)) return folder;
  close(folder);
  return -1;
}

static int make_folder(const rdl_cache *cache) {
  char path[RDL_CACHE_PATH];
  if (!cache->folder[0]) return -1;
  memcpy(path, cache->folder, sizeof path);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) return -1;
    *slash = '/';
  }
  if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) return -1;
  return open_folder(cache);
}

static int full_path(const rdl_cache *cache, const char *name, char out_path[RDL_CACHE_PATH]) {
  int length = snprintf(out_path, RDL_CACHE_PATH, "%s/%s", cache->folder, name);
  return length > 0 && (size_t)length < RDL_CACHE_PATH;
}

/* ---- load ---- */

static unsigned char *read_whole(int file, size_t size) {
  unsigned char *bytes = malloc(size);
  size_t done = 0;
  while (bytes && done < size) {
    ssize_t got = read(file, bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
  if (done == size) return bytes;
  free(bytes);
  return NULL;
}

static void checksum_of(const void *image, size_t size, const char *key,
                        unsigned char out_digest[RDL_SHA256_SIZE]) {
  rdl_sha256 hash;
  rdl__sha256_init(&hash);
  rdl__sha256_add(&hash, image, size);
  rdl__sha256_add(&hash, key, strlen(key));
  rdl__sha256_end(&hash, out_digest);
}

/* The size of the image in a whole and fitting entry, or 0. */
static size_t check_entry(const unsigned char *bytes, size_t size, const char *key) {
  unsigned char digest[RDL_SHA256_SIZE];
  struct tail tail;
  size_t key_size = strlen(key);
  size_t image_size;
  if (size <= sizeof tail + key_size) return 0;
  image_size = size - sizeof tail - key_size;
  memcpy(&tail, bytes + size - sizeof tail, sizeof tail);
  if (memcmp(tail.magic, magic, sizeof magic) != 0) return 0;
  if (tail.key_size != key_size || tail.image_size != image_size) return 0;
  if (memcmp(bytes + image_size, key, key_size) != 0) return 0;
  checksum_of(bytes, image_size, key, digest);
  return memcmp(digest, tail.checksum, sizeof digest) == 0 ? image_size : 0;
}

static int load(int folder, const char *name, const char *key, rdl_cache_entry *out) {
  struct stat info;
  /* Without O_NONBLOCK a FIFO in the entry's place would hold us for ever. */
  int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return 0;
  out->image = NULL;
  out->size = 0;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && is_ours(&info) && info.st_size > 0 &&
      info.st_size <= LARGEST_ENTRY) {
    out->image = read_whole(file, (size_t)info.st_size);
    if (out->image) out->size = check_entry(out->image, (size_t)info.st_size, key);
  }
  close(file);
  if (out->size) return 1;
  free(out->image);
  out->image = NULL;
  return 0;
}

int rdl__cache_load(const rdl_cache *cache, const rdl_cache_key *key, rdl_cache_entry *out_entry) {
  char name[ENTRY_NAME];
  int folder = open_folder(cache);
  char *text;
  int found = 0;
  if (folder < 0) return 0;
  text = key_text(key);
  if (text) {
    entry_name(text, name);
    found = full_path(cache, name, out_entry->path) && load(folder, name, text, out_entry);
  }
  free(text);
  close(folder);
  return found;
}

/* ---- store ---- */

static int write_whole(int file, const void *bytes, size_t size) {
  const char *from = bytes;
  while (size) {
    ssize_t put = write(file, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    from += put;
    size -= (size_t)put;
  }
  return 1;
}

static int write_entry(int file, const char *key, const void *image, size_t size) {
  struct tail tail = {.image_size = size, .key_size = strlen(key)};
  memcpy(tail.magic, magic, sizeof magic);
  checksum_of(image, size, key, tail.checksum);
  return write_whole(file, image, size) && write_whole(file, key, strlen(key)) &&
         write_whole(file, &tail, sizeof tail);
}

/* The entry appears under its name whole or not at all. It is not synced to the disk: after a crash
 * of the machine its checksum may be wrong, and it is compiled again. */
static int store(int folder, const char *name, const char *key, const void *image, size_t size) {
  static atomic_uint serial;
  char temporary[64];
  int file, whole;
  (void)snprintf(temporary, sizeof temporary, ".new-%ld-%u", (long)getpid(),
                 atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed));
  file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                S_IRUSR | S_IWUSR);
  if (file < 0) return 0;
  whole = write_entry(file, key, image, size);
  if (close(file) != 0) whole = 0;
  if (whole && renameat(folder, temporary, folder, name) == 0) return 1;
  (void)unlinkat(folder, temporary, 0);
  return 0;
}

int rdl__cache_store(const rdl_cache *cache, const rdl_cache_key *key, const void *image,
                     size_t size, char *out_path) {
  char path[RDL_CACHE_PATH];
  char name[ENTRY_NAME];
  int folder, stored = 0;
  char *text;
  if (!size) return 0;
  folder = make_folder(cache);
  if (folder < 0) return 0;
  text = key_text(key);
  if (text) {
    entry_name(text, name);
    stored = full_path(cache, name, path) && store(folder, name, text, image, size);
    if (stored && out_path) memcpy(out_path, path, sizeof path);
  }
  free(text);
  close(folder);
  return stored;
}
