/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored comes back, and whatever was changed behind the cache's back does not. */
#include "backends/common/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/unit.h"

static char root[] = "/tmp/raddle-cache-test-XXXXXX";
static rdl_cache cache;
static char path[RDL_CACHE_PATH];
static const char image[] = "not really an image";
static const rdl_cache_key key = {"host", "abc", "-O2", "a device", "a compiler 1.0"};

static void remove_tree(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s/*", root);
  assert_int_equal(system(command),
                   0); /* NOLINT(bugprone-command-processor): a test's own folder */
}

/* An empty place with one entry in it. */
static int set_up(void **state) {
  char folder[128];
  (void)state;
  remove_tree();
  (void)snprintf(folder, sizeof folder, "%s/deep/er", root);
  rdl__cache_open(&cache, folder);
  return !rdl__cache_store(&cache, &key, image, sizeof image, path);
}

static int found(const rdl_cache_key *asked) {
  rdl_cache_entry entry;
  if (!rdl__cache_load(&cache, asked, &entry)) return 0;
  assert_int_equal(entry.size, sizeof image);
  assert_memory_equal(entry.image, image, sizeof image);
  free(entry.image);
  return 1;
}

static void an_entry_comes_back(void **state) {
  rdl_cache_entry entry;
  struct stat info;
  (void)state;
  assert_true(rdl__cache_load(&cache, &key, &entry));
  assert_string_equal(entry.path, path);
  free(entry.image);
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  assert_int_equal(stat(cache.folder, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
}

static void the_image_comes_first_in_its_file(void **state) {
  char start[sizeof image];
  FILE *file = fopen(path, "rb");
  (void)state;
  assert_non_null(file);
  assert_int_equal(fread(start, 1, sizeof start, file), sizeof start);
  fclose(file);
  assert_memory_equal(start, image, sizeof image);
}

static void another_key_finds_nothing(void **state) {
  (void)state;
  for (int part = 0; part < 5; part++) {
    rdl_cache_key other = key;
    const char **parts[] = {&other.backend, &other.text_hash, &other.options, &other.device,
                            &other.compiler};
    *parts[part] = "something else";
    assert_false(found(&other));
  }
  assert_true(found(&key));
}

/* As if the hash of another key gave this file's name. */
static void an_entry_of_another_key_is_not_served(void **state) {
  char other_path[RDL_CACHE_PATH];
  rdl_cache_key other = key;
  (void)state;
  other.options = "-O3";
  assert_true(rdl__cache_store(&cache, &other, image, sizeof image, other_path));
  assert_int_equal(rename(other_path, path), 0);
  assert_false(found(&key));
}

static void every_torn_file_is_refused(void **state) {
  struct stat info;
  (void)state;
  assert_int_equal(stat(path, &info), 0);
  for (off_t size = info.st_size - 1; size >= 0; size--) {
    assert_int_equal(truncate(path, size), 0);
    assert_false(found(&key));
  }
}

static void every_flipped_byte_is_noticed(void **state) {
  struct stat info;
  int file = open(path, O_RDWR);
  (void)state;
  assert_true(file >= 0);
  assert_int_equal(fstat(file, &info), 0);
  for (off_t at = 0; at < info.st_size; at++) {
    unsigned char byte;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    assert_false(found(&key));
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
  }
  close(file);
  assert_true(found(&key));
}

static void what_others_can_write_is_not_read(void **state) {
  (void)state;
  assert_int_equal(chmod(path, 0620), 0);
  assert_false(found(&key));
  assert_int_equal(chmod(path, 0602), 0);
  assert_false(found(&key));
  assert_int_equal(chmod(path, 0600), 0);
  assert_true(found(&key));
  assert_int_equal(chmod(cache.folder, 0770), 0);
  assert_false(found(&key));
  assert_false(rdl__cache_store(&cache, &key, image, sizeof image, NULL));
  assert_int_equal(chmod(cache.folder, 0707), 0);
  assert_false(found(&key));
  assert_int_equal(chmod(cache.folder, 0755), 0);
  assert_true(found(&key));
}

static void what_others_own_is_not_read(void **state) {
  (void)state;
  if (geteuid() != 0) skip(); /* only root can give a file away */
  assert_int_equal(chown(path, 1, 1), 0);
  assert_false(found(&key));
  assert_int_equal(chown(path, 0, 0), 0);
  assert_true(found(&key));
  assert_int_equal(chown(cache.folder, 1, 1), 0);
  assert_false(found(&key));
}

static void only_plain_files_are_read(void **state) {
  char elsewhere[RDL_CACHE_PATH + 8];
  (void)state;
  (void)snprintf(elsewhere, sizeof elsewhere, "%s.moved", path);
  assert_int_equal(rename(path, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, path), 0);
  assert_false(found(&key));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_false(found(&key));
}

static void storing_again_replaces_a_bad_entry(void **state) {
  (void)state;
  assert_int_equal(truncate(path, 3), 0);
  assert_false(found(&key));
  assert_true(rdl__cache_store(&cache, &key, image, sizeof image, NULL));
  assert_true(found(&key));
}

static void without_a_folder_nothing_is_kept(void **state) {
  rdl_cache none;
  rdl_cache_entry entry;
  (void)state;
  rdl__cache_open(&none, "");
  assert_false(rdl__cache_store(&none, &key, image, sizeof image, NULL));
  assert_false(rdl__cache_load(&none, &key, &entry));
}

static void the_folder_follows_the_environment(void **state) {
  rdl_cache where;
  (void)state;
  assert_int_equal(setenv("HOME", "/home/someone", 1), 0);
  assert_int_equal(setenv("XDG_CACHE_HOME", "/x", 1), 0);
  rdl__cache_open(&where, NULL);
  assert_string_equal(where.folder, "/x/raddle");
  assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
  rdl__cache_open(&where, NULL);
  assert_string_equal(where.folder, "/home/someone/.cache/raddle");
  assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
  assert_int_equal(unsetenv("HOME"), 0);
  rdl__cache_open(&where, NULL);
  assert_string_equal(where.folder, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(an_entry_comes_back, set_up),
      cmocka_unit_test_setup(the_image_comes_first_in_its_file, set_up),
      cmocka_unit_test_setup(another_key_finds_nothing, set_up),
      cmocka_unit_test_setup(an_entry_of_another_key_is_not_served, set_up),
      cmocka_unit_test_setup(every_torn_file_is_refused, set_up),
      cmocka_unit_test_setup(every_flipped_byte_is_noticed, set_up),
      cmocka_unit_test_setup(what_others_can_write_is_not_read, set_up),
      cmocka_unit_test_setup(what_others_own_is_not_read, set_up),
      cmocka_unit_test_setup(only_plain_files_are_read, set_up),
      cmocka_unit_test_setup(storing_again_replaces_a_bad_entry, set_up),
      cmocka_unit_test(without_a_folder_nothing_is_kept),
      cmocka_unit_test(the_folder_follows_the_environment),
  };
  int failed;
  if (!mkdtemp(root)) return 1;
  failed = cmocka_run_group_tests_name("cache", tests, NULL, NULL);
  remove_tree();
  (void)rmdir(root);
  return failed;
}
