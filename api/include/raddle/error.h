/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, in words. */
#ifndef RDL_ERROR_H
#define RDL_ERROR_H

#include <raddle/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The last failure of a Raddle call on this thread: what failed, why, and what to do. Never NULL;
 * empty before the first failure; a call that succeeds leaves it alone. Valid until the thread's
 * next failing call. Any thread may call it. */
RDL_API const char *rdl_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
