/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: a batch of private tasks that neither wait nor spawn needs no records at all. Its members
 * are taken, some at a time, by whatever worker has nothing else to do, and each lane runs one.
 * There is one row at a time; a batch that finds it taken is run as a tree, or as private futures.
 */
#if defined(RDL_PRIVATE)

#define RDL_ROWS_UP   12u /* the lanes take members of the row next */
#define RDL_ROWS_DOWN 13u /* they have */

RDL_FN rdl_u32 rdl_row_is_open(rdl_cx *rdl) {
  rdl_row *row = &rdl->control->row;
  rdl_u32 next = rdl_load_relaxed(&row->next);
  return next < RDL_ROW_CLOSED && next < rdl_load_relaxed(&row->count);
}

/* ---- the lanes ---- */

/* So many are taken, from `*from` on; 0 = there are none. What the row says is read behind that:
   the word was released behind it all, and it stays until these are done. */
RDL_FN rdl_u32 rdl_row_take(rdl_row *row, rdl_u32 *from) {
  rdl_u32 chunk = rdl_load_relaxed(&row->chunk), count;
  if (rdl_load_relaxed(&row->next) >= rdl_load_relaxed(&row->count)) return 0; /* also closed */
  *from = rdl_fetch_add(&row->next, chunk);
  count = rdl_load_relaxed(&row->count);
  if (*from >= count) return 0;
  return rdl_least(chunk, count - *from);
}

RDL_FN void rdl_row_members(rdl_px *rdl, rdl_row *row, rdl_u32 from, rdl_u32 count) {
  rdl_u32 task = rdl_load_relaxed(&row->task), stride = rdl_load_relaxed(&row->stride), k;
  const rdl_u8 *at = (const rdl_u8 *)row->address + (rdl_u64)from * stride;
  for (k = rdl_warp_lane(); k < count; k += RDL_LANES) {
    rdl->cause = rdl->misuse = rdl->told = 0;
    rdl_run_row(rdl, task, (const rdl_word *)(at + (rdl_u64)k * stride));
    rdl->counts.segments++;
    if (!rdl->cause) rdl->cause = rdl->misuse;
    if (rdl->told) rdl->cause = RDL_S_CANCELLED;
    rdl_private_count_end(rdl, rdl->cause);
    if (rdl->cause) (void)rdl_cas(&row->failure, 0u, rdl->cause);
  }
}

/* In all lanes, until none is left or it is time to look elsewhere. */
RDL_FN void rdl_row_loop(rdl_row *row, rdl_privates *set, rdl_u32 context,
                         const rdl_record *records) {
  rdl_px px = {};
  rdl_u32 since = rdl_cycles(), taken = 0, from = 0, count;
  px.set = set;
  px.context = context;
  do {
    count = 0;
    if (rdl_warp_lane() == 0u) count = rdl_row_take(row, &from);
    count = rdl_shuffle(count, 0u);
    from = rdl_shuffle(from, 0u);
    if (!count) break;
    px.host_wait = &records[rdl_load_relaxed(&row->owner)].wait;
    rdl_row_members(&px, row, from, count);
    rdl_warp_barrier();
    if (rdl_warp_lane() == 0u) rdl_fetch_add(&row->done, count);
    taken += count;
  } while (!rdl_vote(rdl_cycles() - since > RDL_PRIVATE_CYCLES));
  rdl_private_count(&px);
  if (rdl_warp_lane() != 0u) return;
  px.counts.spawned = taken;
  set->counts = px.counts;
}

/* ---- the leader ---- */

/* The lanes leave a chunk to each worker four times. */
RDL_FN rdl_u32 rdl_row_chunk(rdl_cx *rdl, rdl_u32 count) {
  rdl_u32 chunk = count / (4u * rdl->control->workers) / RDL_LANES * RDL_LANES;
  return chunk < RDL_LANES ? RDL_LANES : rdl_least(chunk, 1024u);
}

RDL_FN rdl_u32 rdl_has_row(rdl_cx *rdl) {
  return rdl_load_relaxed(&rdl->control->row.owner) == rdl->slot;
}

/* The batch that runs gets the row, if nobody has it. */
RDL_OUTLINE rdl_u32 rdl_row_open(rdl_cx *rdl, const struct rdl_batch_args *args) {
  rdl_row *row = &rdl->control->row;
  if (rdl->resume || rdl->status || rdl->shown || !rdl_is_row_task(args->task & RDL_TASK_MASK))
    return 0;
  if (rdl_cas(&row->owner, 0u, rdl->slot) != 0u) return 0;
  rdl_store_relaxed(&row->count, args->count);
  rdl_store_relaxed(&row->chunk, rdl_row_chunk(rdl, args->count));
  rdl_store_relaxed(&row->task, args->task & RDL_TASK_MASK);
  rdl_store_relaxed(&row->stride, args->stride);
  row->address = args->address;
  rdl_store_relaxed(&row->failure, 0u);
  rdl_store_relaxed(&row->done, 0u);
  rdl_store_release(&row->next, 0u);
  rdl_store_relaxed(&rdl->control->hungry, 0u); /* who is without work looks here */
  rdl->counters.segments++;
  return 1;
}

/* It was told to end: what nobody has taken is left out. */
RDL_FN void rdl_row_cut(rdl_cx *rdl) {
  rdl_row *row = &rdl->control->row;
  rdl_u32 count = rdl_load_relaxed(&row->count);
  rdl_u32 next = rdl_exchange(&row->next, RDL_ROW_CLOSED);
  if (next < count) rdl_fetch_add(&row->done, count - next);
}

/* The lanes have taken members for the batch that runs. Returns how it goes on. */
RDL_OUTLINE rdl_u32 rdl_row_ran(rdl_cx *rdl) {
  rdl_row *row = &rdl->control->row;
  if (rdl->status || rdl_cancel_requested(rdl)) rdl_row_cut(rdl);
  if (rdl_load_acquire(&row->done) < rdl_load_relaxed(&row->count)) {
    if (rdl->status) rdl_store_relaxed(&rdl->self->cause, rdl->status); /* it is told once */
    return rdl_private_later(rdl);
  }
  rdl->cause = rdl->status ? rdl->status : rdl_load_relaxed(&row->failure);
  if (rdl_cancel_requested(rdl) && rdl_deliver_cancel(rdl)) rdl->cause = rdl->status;
  rdl_store_relaxed(&row->next, RDL_ROW_CLOSED);
  rdl_store_release(&row->owner, 0u);
  return RDL_ENDED;
}

#endif
