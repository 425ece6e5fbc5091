/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device can do, as a table of names and texts. The first word of a text is the answer, and
 * what follows is for people: "none (2 of 3 launches answered)". What was probed travels from one
 * process to another, and lies in the cache, as lines of name, tab and text.
 */
#ifndef RDL_COMMON_REPORT_H
#define RDL_COMMON_REPORT_H

#include <raddle/device.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/common/reason.h"

#define RDL_REPORT_ROWS 64u

typedef struct rdl_report {
  rdl_capability rows[RDL_REPORT_ROWS];
  size_t count;
} rdl_report;

/* Adds a row, or replaces the one of that name. What does not fit is cut, and whatever would end a
 * line becomes a space. A table that is full stays as it is. */
void rdl__report_add(rdl_report *report, uint32_t probed, const char *name, const char *format, ...)
    RDL_PRINTF_LIKE(4, 5);

/* The text of a row, or NULL. */
const char *rdl__report_find(const rdl_report *report, const char *name);

/* 1 when the row is there and its first word is `word`. */
int rdl__report_is(const rdl_report *report, const char *name, const char *word);

/* The number that a row begins with, or `otherwise`. */
uint64_t rdl__report_number(const rdl_report *report, const char *name, uint64_t otherwise);

/* A row as a line, with its end; the length. */
#define RDL_REPORT_LINE (sizeof(rdl_capability) + 2)
size_t rdl__report_line(const rdl_capability *row, char out_line[RDL_REPORT_LINE]);

/* Hands the rows on as a backend's `capabilities` does: up to `capacity` of them, behind the
 * `*count` that are there, and how many there are then. */
void rdl__report_copy(const rdl_report *report, rdl_capability *out, size_t capacity,
                      size_t *count);

/* Adds the rows that the lines of a text hold, as probed. Other lines are left out. */
void rdl__report_read(rdl_report *report, const char *text, size_t length);

#endif
