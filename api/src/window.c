/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices whose memory is apart but for a window, small memory of the host's that a launch reaches
 * while it runs. The ring of messages and the outcomes lie in it, so host and launch talk as where
 * all memory is shared. The rest of the heap is as in mirror.c: what the host writes is noted, and
 * goes to the device before a launch.
 *
 * While a launch runs, what a message refers to must be there before it is read. It goes as
 * messages of its own, which the device puts into its memory in their order (RDL_SAY_WRITE); the
 * record of a root, and its first arguments, come with the message that starts it. Where that would
 * be too many messages the device is told to stop reading there (RDL_SAY_PAUSE), and the launch to
 * end: what was noted goes to the device before the next one, which reads on.
 *
 * What a launch has not read when it ends is taken back: the host's copy has it all, so it is noted
 * as written again, and what comes back from the device does not overwrite it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"

/* About as long as a launch takes to end and begin again. */
#define MOST_WRITES 32u

#define WRITE_BYTES (RDL_SAY_WORDS * 4u)

rdl_status rdl__window_create(rdl_context *cx, rdl_control *control, rdl_reason *why) {
  size_t messages = RDL__MESSAGES * sizeof(rdl_message);
  size_t posts = ((size_t)cx->options.roots + 1u) * sizeof(rdl_outcome);
  size_t shown = cx->options.checked ? cx->workers * sizeof(rdl_running) : 0u;
  void *memory = NULL;
  rdl_status status;
  if (!rdl__has_window(cx)) return RDL_OK;
  cx->said = calloc(RDL__MESSAGES, sizeof *cx->said);
  if (!cx->said) {
    snprintf(why->text, sizeof why->text, "opening a context: out of host memory");
    return RDL_OUT_OF_MEMORY;
  }
  status = cx->backend->allocate_window(cx->device, sizeof(rdl_window) + messages + posts + shown,
                                        &memory, why);
  if (status) return status;
  cx->window = memory;
  cx->messages = (rdl_message *)(void *)(cx->window + 1);
  cx->posts = (rdl_outcome *)(void *)(cx->messages + RDL__MESSAGES);
  control->window = rdl__address(cx, memory);
  control->posts = control->window + sizeof(rdl_window) + messages;
  if (shown) {
    cx->shown = (const rdl_running *)(const void *)(cx->posts + cx->options.roots + 1u);
    control->shown = control->posts + posts;
  }
  return RDL_OK;
}

/* ---- slots that are free ---- */

static void note_record(rdl_context *cx, uint32_t slot) {
  rdl__wrote(cx, &cx->records[slot], sizeof cx->records[slot]);
}

static void note_freed(rdl_context *cx) {
  uint32_t k;
  for (k = 0; k < cx->freed_count; k++)
    note_record(cx, cx->freed[2u * k]);
  cx->freed_count = 0;
}

static void put_freed(rdl_context *cx) {
  rdl_message message = {.kind = RDL_SAY_FREED, .count = cx->freed_count};
  if (!cx->freed_count) return;
  memcpy(message.words, cx->freed, sizeof cx->freed);
  rdl__put_message(cx, &message);
  cx->freed_count = 0;
}

/* Before the next message of any other kind, or with others. */
bool rdl__say_freed(rdl_context *cx, uint32_t slot) {
  if (!rdl__hears(cx)) return false;
  if (cx->freed_count == RDL_SAY_PAIRS) {
    if (!rdl__may_say(cx, 1u)) return false;
    put_freed(cx);
  }
  cx->freed[2u * cx->freed_count] = slot;
  cx->freed[2u * cx->freed_count + 1u] = cx->records[slot].generation;
  cx->freed_count++;
  return true;
}

/* The slot has a new root, which the device learns of at once. */
static void forget_freed(rdl_context *cx, uint32_t slot) {
  uint32_t k;
  for (k = 0; k < cx->freed_count; k++) {
    if (cx->freed[2u * k] != slot) continue;
    cx->freed_count--;
    cx->freed[2u * k] = cx->freed[2u * cx->freed_count];
    cx->freed[2u * k + 1u] = cx->freed[2u * cx->freed_count + 1u];
    return;
  }
}

/* ---- what has been written ---- */

/* Messages for all that is noted; more than MOST_WRITES when it is not to go by messages. */
static uint32_t count_writes(const rdl_context *cx) {
  uint32_t count = 0;
  size_t k;
  if (cx->written_lost) return MOST_WRITES + 1u;
  for (k = 0; k < cx->written_count && count <= MOST_WRITES; k++) {
    const rdl_transfer *w = &cx->written[k];
    size_t messages = (w->bytes + WRITE_BYTES - 1u) / WRITE_BYTES;
    if (w->offset % 4u || w->bytes % 4u || messages > MOST_WRITES) return MOST_WRITES + 1u;
    count += (uint32_t)messages;
  }
  return count;
}

static void put_write(rdl_context *cx, const rdl_transfer *w) {
  size_t from;
  for (from = 0; from < w->bytes; from += WRITE_BYTES) {
    size_t bytes = w->bytes - from < WRITE_BYTES ? w->bytes - from : WRITE_BYTES;
    size_t offset = w->offset + from;
    rdl_message message = {.kind = RDL_SAY_WRITE,
                           .count = (uint32_t)(bytes / 4u),
                           .address = rdl__address(cx, w->memory) + offset};
    memcpy(message.words, (unsigned char *)w->memory + offset, bytes);
    cx->said[cx->mailbox_tail & cx->control->mailbox.mask] =
        (rdl_transfer){w->memory, offset, bytes, NULL};
    rdl__put_message(cx, &message);
  }
}

static void put_writes(rdl_context *cx) {
  size_t k;
  put_freed(cx);
  for (k = 0; k < cx->written_count; k++)
    put_write(cx, &cx->written[k]);
  cx->written_count = 0;
}

/* What is said behind it is read by the next launch, and that begins with what is noted. */
static void put_pause(rdl_context *cx) {
  rdl_message message = {.kind = RDL_SAY_PAUSE};
  note_freed(cx);
  rdl__put_message(cx, &message);
  cx->paused = true;
  rdl__ask_workers(cx);
}

bool rdl__say_written(rdl_context *cx) {
  uint32_t writes;
  if (!rdl__hears(cx)) return true;
  writes = count_writes(cx);
  if (!rdl__may_say(cx, (writes > MOST_WRITES ? 0u : writes) + 2u)) return false;
  if (writes > MOST_WRITES)
    put_pause(cx);
  else
    put_writes(cx);
  return true;
}

bool rdl__say_root(rdl_context *cx, uint32_t slot, uint32_t kind) {
  const rdl_record *record = &cx->records[slot];
  const rdl__root *root = &cx->roots[slot];
  uint32_t frame = cx->root_frames + slot * cx->root_stride;
  unsigned char *args = cx->heap + (uint64_t)frame * RDL_UNIT;
  rdl_message message = {.kind = kind,
                         .slot = slot,
                         .generation = root->generation,
                         .value = record->task,
                         .address = record->frame | (uint64_t)record->result[0] << 32};
  if (!rdl__hears(cx)) return false;
  forget_freed(cx, slot);
  if (record->frame == frame) /* and not a gate's */
    message.count = root->args_words < RDL_SAY_WORDS ? root->args_words : RDL_SAY_WORDS;
  memcpy(message.words, args, 4u * (size_t)message.count);
  rdl__wrote(cx, args + 4u * (size_t)message.count,
             4u * (size_t)(root->args_words - message.count));
  return rdl__try_say(cx, &message);
}

/* ---- a launch has ended ---- */

static void take_back(rdl_context *cx, rdl_message *message, const rdl_transfer *said) {
  uint32_t k;
  switch (message->kind) {
  case RDL_SAY_START:
  case RDL_SAY_MAKE:
    rdl__root_note(cx, message->slot);
    message->kind = message->kind == RDL_SAY_START ? RDL_SAY_ROOT : RDL_SAY_NOTHING;
    message->address = (message->address & UINT32_MAX) * RDL_UNIT;
    break;
  case RDL_SAY_WRITE:
    rdl__note_written(cx, said->memory, (unsigned char *)said->memory + said->offset, said->bytes);
    message->kind = RDL_SAY_NOTHING;
    break;
  case RDL_SAY_FREED:
    for (k = 0; k < message->count; k++)
      note_record(cx, message->words[2u * k]);
    message->kind = RDL_SAY_NOTHING;
    break;
  case RDL_SAY_PAUSE:
    message->kind = RDL_SAY_NOTHING;
    break;
  default:
    break;
  }
}

void rdl__unsay(rdl_context *cx) {
  uint32_t mask = cx->control->mailbox.mask, at;
  if (!cx->window) return;
  note_freed(cx);
  for (at = rdl__heard(cx); at != cx->mailbox_tail; at++)
    take_back(cx, &cx->messages[at & mask], &cx->said[at & mask]);
  cx->paused = false;
}

/* ---- large results ---- */

static bool is_apart(const rdl_context *cx, rdl_future future) {
  uint32_t slot = future.index & RDL_MAX_SLOTS;
  const rdl_outcome *post = &cx->posts[slot];
  return cx->roots[slot].result_size > RDL_INLINE_SIZE && !post->cause && post->result[0];
}

static rdl_transfer result_at(const rdl_context *cx, rdl_future future) {
  uint32_t slot = future.index & RDL_MAX_SLOTS;
  size_t offset = (size_t)cx->posts[slot].result[0] * RDL_UNIT;
  return (rdl_transfer){cx->heap, offset, cx->roots[slot].result_size, cx->heap + offset};
}

rdl_status rdl__fetch_results(rdl_context *cx, const rdl_future *futures, size_t count) {
  rdl_transfer one, *all = &one;
  rdl_reason why = {""};
  rdl_status status;
  size_t wanted = 0, k;
  if (!cx->window) return RDL_OK;
  for (k = 0; k < count; k++)
    wanted += is_apart(cx, futures[k]);
  if (!wanted) return RDL_OK;
  if (wanted > 1u) all = malloc(wanted * sizeof *all);
  if (!all) return rdl__error(RDL_OUT_OF_MEMORY, "%zu results: out of host memory", wanted);
  wanted = 0;
  for (k = 0; k < count; k++)
    if (is_apart(cx, futures[k])) all[wanted++] = result_at(cx, futures[k]);
  status = cx->backend->read(cx->device, all, wanted, &why);
  if (all != &one) free(all);
  return rdl__device_error(cx, status, &why);
}
