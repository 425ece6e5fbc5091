/* SPDX-License-Identifier: Apache-2.0 */
/* FUT 5 and 6: results come back whole, failures keep their first cause. */
#include <stdio.h>
#include <string.h>

#include "conformance/harness.h"

#define TASKS "fut.task.c"

static const uint32_t sizes[] = {1, 3, 8, 16, 17, 32, 100, 1025, 4096, 8192};
#define SIZES (sizeof sizes / sizeof sizes[0])

static rdl_future give(bed *b, uint32_t size, uint32_t seed) {
  char task[32];
  snprintf(task, sizeof task, "fut_give_%u", size);
  return START(b, task, .n = seed);
}

static void check_bytes(const unsigned char *bytes, uint32_t size, uint32_t seed) {
  uint32_t k;
  for (k = 0; k < size; k++)
    if (bytes[k] != (unsigned char)(seed + k))
      test_fail(__FILE__, __LINE__, "byte %u of a result of %u is %u, expected %u", k, size,
                bytes[k], (seed + k) & 255u);
}

/* ---- FUT 5 ---- */

void FUT_5_sizes(void) {
  bed b = bed_open(TASKS);
  static unsigned char bytes[8192 + 16];
  size_t k;
  for (k = 0; k < SIZES; k++) {
    rdl_future f = give(&b, sizes[k], 40 + (uint32_t)k);
    memset(bytes, 0xee, sizeof bytes);
    CHECK_OK(rdl_future_get(b.cx, f, bytes, sizes[k], PATIENCE_NS));
    check_bytes(bytes, sizes[k], 40 + (uint32_t)k);
    CHECK_EQ(0xee, bytes[sizes[k]]);
  }
  bed_close(&b);
}

/* A larger buffer is no mistake, and is only written as far as the result goes. */
void FUT_5_larger_buffer(void) {
  bed b = bed_open(TASKS);
  static unsigned char bytes[10000];
  size_t k, i;
  for (k = 0; k < SIZES; k++) {
    memset(bytes, 0xee, sizeof bytes);
    CHECK_OK(rdl_future_get(b.cx, give(&b, sizes[k], 7), bytes, sizeof bytes, PATIENCE_NS));
    check_bytes(bytes, sizes[k], 7);
    for (i = sizes[k]; i < sizeof bytes; i++)
      CHECK_EQ(0xee, bytes[i]);
  }
  bed_close(&b);
}

void FUT_5_device(void) {
  enum { READERS = 50 };
  bed b = bed_open(TASKS);
  rdl_future readers[READERS];
  uint32_t k;
  for (k = 0; k < READERS; k++)
    readers[k] = START(&b, "fut_read_results", .n = k);
  for (k = 0; k < READERS; k++)
    CHECK_EQ(0, get(&b, readers[k]));
  bed_close(&b);
}

/* Too small a buffer says so, and the result is still there. */
void FUT_5_too_small(void) {
  bed b = bed_open(TASKS);
  static unsigned char bytes[8192];
  rdl_future_result outcome = {.size = sizeof outcome};
  size_t k;
  for (k = 0; k < SIZES; k++) {
    rdl_future f = give(&b, sizes[k], 90);
    CHECK_OK(rdl_future_wait(b.cx, &f, 1, PATIENCE_NS));
    memset(bytes, 0, sizeof bytes);
    CHECK_STATUS(RDL_TOO_SMALL, rdl_future_get(b.cx, f, bytes, sizes[k] - 1, 0));
    CHECK_STATUS(RDL_TOO_SMALL, rdl_future_peek(b.cx, f, bytes, sizes[k] - 1));
    CHECK_EQ(0, bytes[0]);
    CHECK_OK(rdl_future_outcome(b.cx, f, 0, &outcome));
    CHECK_EQ(sizes[k], outcome.bytes);
    CHECK_OK(rdl_future_peek(b.cx, f, bytes, sizes[k]));
    check_bytes(bytes, sizes[k], 90);
    memset(bytes, 0, sizeof bytes);
    CHECK_OK(rdl_future_get(b.cx, f, bytes, sizes[k], 0));
    check_bytes(bytes, sizes[k], 90);
    CHECK_STATUS(RDL_STALE, rdl_future_get(b.cx, f, bytes, sizes[k], 0));
  }
  bed_close(&b);
}

void FUT_5_unwanted(void) {
  bed b = bed_open(TASKS);
  rdl_future f;
  size_t k;
  for (k = 0; k < SIZES; k++)
    CHECK_OK(rdl_future_get(b.cx, give(&b, sizes[k], 1), NULL, 0, PATIENCE_NS));
  CHECK_OK(rdl_spawn(b.tasks, "fut_nothing", NULL, 0, NULL, &f));
  CHECK_OK(rdl_future_get(b.cx, f, NULL, 0, PATIENCE_NS));
  bed_close(&b);
}

void FUT_5_many(void) {
  enum { FUTURES = 500, STRIDE = 104 };
  bed b = bed_open(TASKS);
  static rdl_future futures[FUTURES];
  static unsigned char results[FUTURES][STRIDE];
  uint32_t k;
  for (k = 0; k < FUTURES; k++)
    futures[k] = give(&b, 100, k);
  CHECK_STATUS(RDL_TOO_SMALL,
               rdl_future_get_many(b.cx, futures, FUTURES, results, 99, PATIENCE_NS));
  CHECK_OK(rdl_future_get_many(b.cx, futures, FUTURES, results, STRIDE, PATIENCE_NS));
  for (k = 0; k < FUTURES; k++) {
    check_bytes(results[k], 100, k);
    CHECK_EQ(0, results[k][100]);
  }
  bed_close(&b);
}

/* A list with one handle twice takes nothing. */
void FUT_5_many_twice(void) {
  enum { FUTURES = 50 };
  bed b = bed_open(TASKS);
  rdl_future futures[FUTURES];
  uint32_t results[FUTURES], k, round;
  for (k = 0; k < FUTURES; k++)
    futures[k] = START(&b, "fut_leaf", .n = k);
  for (round = 0; round < 10; round++) {
    uint32_t second = 1u + chance(FUTURES - 1u);
    rdl_future kept = futures[second];
    futures[second] = futures[chance(second)];
    CHECK_STATUS(RDL_INVALID, rdl_future_get_many(b.cx, futures, FUTURES, results, 4, PATIENCE_NS));
    CHECK_CONTAINS(rdl_error_text(), "twice");
    CHECK_STATUS(RDL_INVALID, rdl_future_get_many(b.cx, futures, FUTURES, NULL, 0, PATIENCE_NS));
    futures[second] = kept;
  }
  CHECK_OK(rdl_future_get_many(b.cx, futures, FUTURES, results, 4, PATIENCE_NS));
  for (k = 0; k < FUTURES; k++)
    CHECK_EQ(k, results[k]);
  bed_close(&b);
}

/* A result that the host gives reaches the tasks that await it. */
void FUT_5_host_result(void) {
  bed b = bed_open(TASKS);
  rdl_future promise, parent;
  unsigned char given[16], taken[16];
  uint32_t k;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  parent = START(&b, "fut_wait", .f = promise);
  for (k = 0; k < sizeof given; k++)
    given[k] = (unsigned char)(k + 1);
  CHECK_OK(rdl_future_complete(b.cx, promise, given, sizeof given, 0));
  CHECK_STATUS(RDL_BUSY, rdl_future_complete(b.cx, promise, given, sizeof given, 0));
  CHECK_EQ(0x04030201u + 1u, get(&b, parent));
  CHECK_OK(rdl_future_get(b.cx, promise, taken, sizeof taken, PATIENCE_NS));
  CHECK(memcmp(given, taken, sizeof given) == 0);
  bed_close(&b);
}

/* ---- FUT 6 ---- */

void FUT_6_code(void) {
  static const uint32_t codes[] = {0, 1, 77, 0xffff, 0xfffffe, 0xffffff};
  bed b = bed_open(TASKS);
  char text[32];
  size_t k;
  for (k = 0; k < sizeof codes / sizeof codes[0]; k++) {
    uint32_t value = 5;
    rdl_future f = START(&b, "fut_fail", .n = codes[k]);
    CHECK_OK(rdl_future_wait(b.cx, &f, 1, PATIENCE_NS));
    CHECK_STATUS(RDL_FAILED, rdl_future_peek(b.cx, f, &value, sizeof value));
    CHECK_EQ(5, value);
    snprintf(text, sizeof text, "%u", codes[k]);
    CHECK_CONTAINS(rdl_error_text(), text);
    CHECK_CONTAINS(rdl_error_text(), "fut_fail");
    CHECK_END(&b, f, RDL_FAILED, codes[k]);
    CHECK_STATUS(RDL_STALE, rdl_future_get(b.cx, f, NULL, 0, 0));
  }
  bed_close(&b);
}

/* What does not fit is told as the largest that does, and never as another code. */
void FUT_6_large_code(void) {
  static const uint32_t codes[] = {0x1000000u, 0x1000001u, 0x80000000u, UINT32_MAX};
  bed b = bed_open(TASKS);
  size_t k;
  for (k = 0; k < sizeof codes / sizeof codes[0]; k++) {
    CHECK_END(&b, START(&b, "fut_fail", .n = codes[k]), RDL_FAILED, 0xffffff);
    CHECK_CONTAINS(rdl_error_text(), "16777215 or one above it");
  }
  CHECK_END(&b, START(&b, "fut_fail_wide", .n = 1), RDL_FAILED, 0xffffff);
  CHECK_END(&b, START(&b, "fut_fail_chain", .n = UINT32_MAX, .k = 0), RDL_FAILED, 0xffffff);
  bed_close(&b);
}

void FUT_6_chain(void) {
  bed b = bed_open(TASKS);
  CHECK_END(&b, START(&b, "fut_fail_chain", .n = 321, .k = 4), RDL_FAILED, 321);
  bed_settle(&b);
  CHECK_EQ(5, bed_stats(&b).failed);
  CHECK_EQ(0, bed_stats(&b).cancelled);
  bed_close(&b);
}

void FUT_6_first_cause(void) {
  bed b = bed_open(TASKS);
  uint32_t k;
  for (k = 0; k < 50; k++)
    CHECK_END(&b, START(&b, "fut_fail_twice", .n = 50), RDL_FAILED, 50);
  CHECK_END(&b, START(&b, "fut_fail_after_catch", .n = 50), RDL_FAILED, 150);
  CHECK_EQ(5, RUN(&b, "fut_fail_unseen", .n = 50));
  bed_close(&b);
}

void FUT_6_many_awaiters(void) {
  enum { AWAITERS = 300 };
  bed b = bed_open(TASKS);
  rdl_future awaiters[AWAITERS];
  rdl_future promise;
  uint32_t k;
  CHECK_OK(rdl_future_create(b.cx, &promise));
  for (k = 0; k < AWAITERS; k++)
    awaiters[k] = START(&b, k % 2 ? "fut_wait" : "fut_any", .f = promise, .g = promise);
  CHECK_OK(rdl_future_complete(b.cx, promise, NULL, 0, 0xabcdef));
  for (k = 0; k < AWAITERS; k++)
    CHECK_END(&b, awaiters[k], RDL_FAILED, 0xabcdef);
  CHECK_END(&b, promise, RDL_FAILED, 0xabcdef);
  bed_close(&b);
}

/* A batch fails with the failure of its member; all others have run. */
void FUT_6_batch(void) {
  enum { MEMBERS = 1000 };
  bed b = bed_open(TASKS);
  memory m = memory_new(&b, 1);
  rdl_future batch =
      start_many(&b, "fut_fail_one", MEMBERS, (task_args){.at = m.at, .k = MEMBERS / 2});
  CHECK_END(&b, batch, RDL_FAILED, 9);
  CHECK_CONTAINS(rdl_error_text(), "a member of a batch of fut_fail_one");
  CHECK_EQ(MEMBERS, word_at(&m, 0));
  bed_close(&b);
}

void FUT_6_get_many(void) {
  bed b = bed_open(TASKS);
  rdl_future futures[4];
  uint32_t results[4] = {0};
  futures[0] = START(&b, "fut_leaf", .n = 1);
  futures[1] = START(&b, "fut_fail", .n = 10);
  futures[2] = START(&b, "fut_fail", .n = 11);
  futures[3] = START(&b, "fut_leaf", .n = 4);
  CHECK_STATUS(RDL_FAILED, rdl_future_get_many(b.cx, futures, 4, results, 4, PATIENCE_NS));
  CHECK_CONTAINS(rdl_error_text(), "10");
  CHECK_EQ(1, results[0]);
  CHECK_EQ(4, results[3]);
  CHECK_STATUS(RDL_STALE, rdl_future_get(b.cx, futures[2], NULL, 0, 0));
  bed_close(&b);
}
