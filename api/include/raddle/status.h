/* SPDX-License-Identifier: Apache-2.0 */
/* What a call came to. Everything that can fail returns an rdl_status; zero is success. The numbers
 * are part of the interface: a new code goes to the end of the list. */
#ifndef RDL_STATUS_H
#define RDL_STATUS_H

#include <raddle/export.h>

/* X(code, text): the text says in one line what happened, without naming a call. */
#define RDL_STATUS_LIST(X)                                                                         \
  X(OK, "success")                                                                                 \
  X(INVALID, "an argument or handle is not valid here")                                            \
  X(STALE, "the handle refers to something that no longer exists")                                 \
  X(NOT_FOUND, "nothing has this name")                                                            \
  X(UNAVAILABLE, "the device or its driver is not present on this machine")                        \
  X(UNSUPPORTED, "the device cannot do this")                                                      \
  X(COMPILE, "the device code did not compile")                                                    \
  X(TOO_SMALL, "the buffer is too small for the result")                                           \
  X(AGAIN, "there is no room at the moment; try again later")                                      \
  X(TIMEOUT, "the time limit passed first")                                                        \
  X(BUSY, "still in use")                                                                          \
  X(CANCELLED, "cancelled")                                                                        \
  X(FAILED, "the task, or one that it awaited, failed")                                            \
  X(DEADLOCK, "futures wait for each other, or for what nobody can signal")                        \
  X(OUT_OF_SLOTS, "no future slot is left, and nothing that runs can free one")                    \
  X(OUT_OF_MEMORY, "out of memory")                                                                \
  X(LOOP_BUDGET, "the device cut a loop off: a segment took too many turns")                       \
  X(PERMISSION, "this belongs to somebody else, or the system does not allow it")                  \
  X(CLOSED, "the context is closed or closing")                                                    \
  X(IO, "a file could not be read or written")                                                     \
  X(DEVICE_LOST, "the device stopped answering; open a new context")                               \
  X(INTERNAL, "an error inside Raddle; please report it")

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rdl_status {
#define RDL_STATUS_CODE(code, text) RDL_##code,
  RDL_STATUS_LIST(RDL_STATUS_CODE)
#undef RDL_STATUS_CODE
} rdl_status;

/* Name of the code as it is written in C, "RDL_TIMEOUT", or "unknown" for a number that is no code.
 * The text is constant. Any thread may call it. */
RDL_API const char *rdl_status_name(rdl_status status);

/* What the code means, in one line without a full stop; never NULL. The text is constant. Any
 * thread may call it. */
RDL_API const char *rdl_status_text(rdl_status status);

#ifdef __cplusplus
}
#endif

#endif
