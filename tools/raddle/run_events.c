/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/raddle/run_events.h"

#include <string.h>

#include "backends/common/reason.h"
#include "tools/raddle/command.h"

/* ---- what is asked for ---- */

rdl_status run_event_read(const value_place *place, const char *value, run_event *out,
                          rdl_reason *why) {
  static const char form[] = "event:";
  size_t length = strlen(form);
  *out = (run_event){*place, 0};
  if (strncmp(value, form, length) == 0 &&
      command_number(value + length, 1, UINT32_MAX, &out->target))
    return RDL_OK;
  return rdl__fail(
      RDL_INVALID, why,
      "%s is an event, and '%.200s' is none: give event:TARGET for a new one that fires "
      "at TARGET signals, at least 1",
      *place->field->path ? place->field->path : "VALUE", value);
}

/* ---- making ---- */

static size_t offset_of(const run_event *e, uint32_t k) {
  return e->place.field->offset + (e->place.first + k) * sizeof(rdl_event);
}

rdl_status run_event_make(const run_event *e, rdl_context *context, unsigned char *bytes) {
  rdl_status status = RDL_OK;
  for (uint32_t k = 0; k < e->place.count && !status; k++) {
    rdl_event event;
    status = rdl_event_create(context, e->target, RDL_EVENT_DEVICE, &event);
    memcpy(bytes + offset_of(e, k), &event, sizeof event);
  }
  return status;
}

/* ---- telling ---- */

/* The largest count that a wait without patience finds. */
static uint32_t count_of(rdl_context *context, rdl_event event) {
  uint32_t least = 0, most = UINT32_MAX;
  while (least < most) {
    uint32_t middle = least + (most - least) / 2 + 1;
    if (rdl_event_wait_count(context, event, middle, 0) == RDL_OK)
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

static uint32_t count_at(const run_event *e, uint32_t k, rdl_context *context,
                         const unsigned char *bytes) {
  rdl_event event;
  memcpy(&event, bytes + offset_of(e, k), sizeof event);
  return count_of(context, event);
}

void run_events_tell(const run_event *events, size_t count, rdl_context *context,
                     const unsigned char *bytes) {
  for (size_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < events[i].place.count; k++) {
      const run_event *e = &events[i];
      char element[16] = "";
      if (e->place.field->count)
        (void)snprintf(element, sizeof element, "[%u]", e->place.first + k);
      fprintf(stderr, "raddle run: event %s%s stands at %u of %u\n", e->place.field->path, element,
              count_at(e, k, context, bytes), e->target);
    }
}

/* All elements of an array have a place in it: those that are no event of this run are null. */
static void print_counts(const run_event *events, size_t count, const layout_field *field,
                         rdl_context *context, const unsigned char *bytes) {
  uint32_t elements = field->count ? field->count : 1;
  for (uint32_t k = 0; k < elements; k++) {
    const run_event *last = NULL; /* of several assignments to an element the last one counts */
    for (size_t i = 0; i < count; i++)
      if (events[i].place.field == field && k - events[i].place.first < events[i].place.count)
        last = &events[i];
    if (k) printf(", ");
    if (last)
      printf("%u", count_at(last, k - last->place.first, context, bytes));
    else
      printf("null");
  }
}

static bool is_first_of_field(const run_event *events, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (events[i].place.field == events[at].place.field) return false;
  return true;
}

void run_events_print_json(const run_event *events, size_t count, rdl_context *context,
                           const unsigned char *bytes) {
  printf("{");
  for (size_t i = 0; i < count; i++) {
    const layout_field *field = events[i].place.field;
    if (!is_first_of_field(events, i)) continue;
    if (i) printf(", ");
    command_print_json(stdout, field->path);
    printf(field->count ? ": [" : ": ");
    print_counts(events, count, field, context, bytes);
    if (field->count) printf("]");
  }
  printf("}");
}
