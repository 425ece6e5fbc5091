/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command to its end, with a time limit, and catches what it writes.
 *
 * The program that uses Raddle keeps its signal handlers, its children and its streams: nothing
 * here sets a handler, waits for a child that is not its own, or raises SIGPIPE. The command gets
 * none of the program's open files and none of its blocked or ignored signals, and messages are in
 * English. It has a process group of its own, so that it ends together with what it has started.
 */
#ifndef RDL_COMMON_PROCESS_H
#define RDL_COMMON_PROCESS_H

#include <raddle/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rdl_ending {
  RDL_ENDED_BY_ITSELF, /* `code` is its exit status */
  RDL_ENDED_BY_SIGNAL, /* `code` is the signal's number */
  RDL_ENDED_BY_LIMIT,  /* it was killed when the time was over */
  RDL_ENDED_SOMEHOW    /* the program ignores SIGCHLD, or waited for it elsewhere: its output has to
                          speak for itself */
} rdl_ending;

/* What is kept of a stream, which is read to its end whatever its length. */
typedef struct rdl_stream {
  size_t most;       /* bytes kept, at least 64 KiB */
  uint32_t keep_end; /* of a longer one: 1 = the last bytes, no fewer than half of `most`; 0 = the
                        first ones */
  char *bytes;       /* out: a zero behind them; NULL = nothing came */
  size_t size;       /* out */
  size_t room;       /* of `bytes` */
} rdl_stream;

typedef struct rdl_process {
  char *const *command; /* ends in NULL; command[0] is a path */
  const void *input;    /* what it reads; nothing when `input_size` is 0 */
  size_t input_size;
  uint64_t limit_ns;
  const bool *stop; /* set by another thread: it is killed. May be NULL */
  rdl_stream output;
  rdl_stream errors; /* `most` of 0: goes where the output goes */
  rdl_ending ending; /* out */
  int code;          /* out */
} rdl_process;

/* Blocks until the command has ended. RDL_OK: it ran, well or badly. RDL_CLOSED: it was stopped.
 * Otherwise than with RDL_OK nothing has to be freed. Any thread. */
rdl_status rdl__process_run(rdl_process *process, rdl_reason *why);

/* Frees what was caught. */
void rdl__process_free(rdl_process *process);

/* "SIGSEGV", or "signal 42". */
typedef struct rdl_signal_name {
  char text[24];
} rdl_signal_name;
rdl_signal_name rdl__process_signal(int number);

#endif
