/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler said, in the words and the order that help its user. */
#ifndef RDL_COMMON_COMPILE_LOG_H
#define RDL_COMMON_COMPILE_LOG_H

#include <raddle/backend.h>

#include "backends/common/join.h"

/* Fills `why` with the first error as `file:line:column: error: message`, and behind it the log
 * from there on as far as it fits. When the first error lies in Raddle's own text and the log then
 * names a place in a user's file, that place goes before it, with the error's message. Names of
 * pieces are left as they are. Where a compiler did not follow the line marks and speaks of its own
 * input ("<kernel>:812:3"), the piece and its line are put in, here and in what follows. A compiler
 * that gives no column leaves it out. Returns RDL_COMPILE. */
rdl_status rdl__compile_log(const char *log, const rdl_joined *joined, rdl_reason *why);

#endif
