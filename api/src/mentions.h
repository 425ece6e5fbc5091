/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses what a compiler would refuse on some device, in words that nobody understands: tasks that
 * are not there, functions of the C library, variables at file level. */
#ifndef RDL_SRC_MENTIONS_H
#define RDL_SRC_MENTIONS_H

#include "api/src/image.h"

/* RDL_COMPILE: `why` begins with file:line:column and tells what to do. */
rdl_status rdl__check_mentions(const rdl__image_module *modules, size_t count, rdl_reason *why);

#endif
