/* SPDX-License-Identifier: Apache-2.0 */
/* POR 2: what a device can do is told for each device, also for one that cannot be used. */
#include <string.h>

#include "conformance/harness.h"

#define MOST_ROWS 64u

static const rdl_capability *row_named(const rdl_capability *rows, size_t count, const char *name) {
  size_t k;
  for (k = 0; k < count; k++)
    if (strcmp(rows[k].name, name) == 0) return &rows[k];
  return NULL;
}

static void check_rows(const rdl_device_info *info, const rdl_capability *rows, size_t count) {
  const rdl_capability *usable = row_named(rows, count, "usable");
  size_t k;
  CHECK(usable);
  CHECK_EQ(info->usable, strcmp(usable->value, "yes") == 0);
  if (!info->usable) CHECK_CONTAINS(usable->value, "lacks");
  for (k = 0; k < count; k++) {
    CHECK(rows[k].name[0] && rows[k].value[0]);
    CHECK(rows[k].probed <= 1);
    CHECK(row_named(rows, count, rows[k].name) == &rows[k]);
  }
}

/* A number of bytes says so. */
static void check_units(const rdl_capability *rows, size_t count) {
  static const char *const names[] = {"global_memory", "max_allocation", "max_allocation_claimed",
                                      "local_memory"};
  size_t k;
  for (k = 0; k < sizeof names / sizeof names[0]; k++) {
    const rdl_capability *row = row_named(rows, count, names[k]);
    if (row && row->value[0] != 'n') CHECK_CONTAINS(row->value, " bytes");
  }
}

/* Nothing about a device that runs tasks is left open: each of these was tried, or needs no try.
 * Some a device may do without: memory that it shares with the host while it runs, a limit, a
 * clock. */
static void check_usable(const rdl_capability *rows, size_t count) {
  static const char *const needed[] = {"order", "resident_groups", "max_allocation"};
  static const char *const known[] = {"shared", "loop_budget", "clock"};
  size_t k;
  CHECK(!row_named(rows, count, "probes"));
  for (k = 0; k < sizeof known / sizeof known[0]; k++)
    CHECK(row_named(rows, count, known[k]));
  for (k = 0; k < sizeof needed / sizeof needed[0]; k++) {
    const rdl_capability *row = row_named(rows, count, needed[k]);
    CHECK(row);
    CHECK(strncmp(row->value, "none", 4) != 0);
  }
}

/* What a device says of the moment. */
static bool changes(const char *name) {
  static const char *const names[] = {"power",           "sm_clock",   "temperature",
                                      "pcie_generation", "pcie_lanes", "throttled"};
  size_t k;
  for (k = 0; k < sizeof names / sizeof names[0]; k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

static bool same_rows(const rdl_capability *rows, const rdl_capability *again, size_t count) {
  size_t k;
  for (k = 0; k < count; k++)
    if (changes(rows[k].name) ? strcmp(rows[k].name, again[k].name) != 0
                              : memcmp(&rows[k], &again[k], sizeof rows[k]) != 0)
      return false;
  return true;
}

void POR_2_capabilities(void) {
  static rdl_device_info infos[16];
  static rdl_capability rows[MOST_ROWS], again[MOST_ROWS];
  size_t devices = 0, count = 0, twice = 0, k;
  CHECK_OK(rdl_devices(infos, 16, &devices));
  for (k = 0; k < devices && k < 16; k++) {
    memset(rows, 0, sizeof rows);
    memset(again, 0, sizeof again);
    CHECK_OK(rdl_device_capabilities(infos[k].selector, 0, rows, MOST_ROWS, &count));
    CHECK(count > 5 && count <= MOST_ROWS);
    check_rows(&infos[k], rows, count);
    if (infos[k].usable) check_usable(rows, count);
    if (infos[k].usable) check_units(rows, count);
    CHECK_OK(rdl_device_capabilities(infos[k].selector, 0, again, MOST_ROWS, &twice));
    CHECK_EQ(count, twice);
    CHECK(same_rows(rows, again, count));
    memset(again, 0, sizeof again);
    CHECK_OK(rdl_device_capabilities(infos[k].selector, 0, again, 1, &twice));
    CHECK_EQ(count, twice);
    CHECK(memcmp(&rows[0], &again[0], sizeof rows[0]) == 0 && !again[1].name[0]);
  }
}
