/* SPDX-License-Identifier: Apache-2.0 */
/* Events that `raddle run` makes for a task: FIELD=event:TARGET. */
#ifndef RADDLE_RUN_EVENTS_H
#define RADDLE_RUN_EVENTS_H

#include <raddle/raddle.h>

#include "tools/raddle/values.h"

/* Those of one assignment: one for each element of its place. */
typedef struct run_event {
  value_place place;
  uint32_t target;
} run_event;

/* Reads "event:TARGET". RDL_INVALID: it is something else, and the text says what to give. */
rdl_status run_event_read(const value_place *place, const char *value, run_event *out,
                          rdl_reason *why);

/* Makes the events and stores their handles in `bytes`. They end with the context. Only tasks
 * signal them: who waits in vain is told of a deadlock. */
rdl_status run_event_make(const run_event *e, rdl_context *context, unsigned char *bytes);

/* Prints how often each was signalled so far, as notes on standard error, or as the members of one
 * object of JSON, by field, on standard output. Replaces rdl_error_text(). */
void run_events_tell(const run_event *events, size_t count, rdl_context *context,
                     const unsigned char *bytes);
void run_events_print_json(const run_event *events, size_t count, rdl_context *context,
                           const unsigned char *bytes);

#endif
