/* SPDX-License-Identifier: Apache-2.0 */
/* What the futures of a context do: for the question why nothing goes on. */
#ifndef RDL_DUMP_H
#define RDL_DUMP_H

#include <raddle/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes one line of a dump: `length` bytes with the newline, and a zero byte behind them. They are
 * valid during the call only. MAY call Raddle. */
typedef void (*rdl_write_fn)(void *user, const char *line, size_t length);

/* Writes a line for each live future: its handle, its task with file and line, whether it is ready,
 * runs (and on which worker), waits or has returned; what it waits for, for how long about, and
 * what is left until its deadline; and by which task it was spawned. Of many that do the same a
 * few are shown, with their number, so that some hundred lines are the most. Futures that are done
 * are only counted.
 * The running launch is asked to end, so that all is seen at rest. When a segment does not end, a
 * quantum and a tenth of a second later what is seen while the others run on is written; the first
 * line says so, and that a line may not fit another.
 * Any thread; `write` is called by this one, before the call returns. RDL_INVALID; RDL_CLOSED the
 * context was closed meanwhile; RDL_OUT_OF_MEMORY for the text: nothing was written. */
RDL_API RDL_MUST_CHECK rdl_status rdl_context_dump(rdl_context *context, rdl_write_fn write,
                                                   void *user);

#ifdef __cplusplus
}
#endif

#endif
