/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raddle: async/await for accelerators. This header includes all of the user's interface.
 *
 * Conventions. A call that can fail returns rdl_status, 0 = success, and tells more through
 * rdl_error_text(). Results go to the last parameters, named out_..., which are set on success only
 * (pointers to NULL on failure), but for the (buffer, size) pair of a call that copies out. Option
 * structures start with their size. Time limits are in nanoseconds. A call that "does not block"
 * may wait for a lock, or for queue space when thousands of messages are unread. Every call on a
 * context may also give RDL_CLOSED (it is being closed), RDL_DEVICE_LOST or RDL_OUT_OF_MEMORY. The
 * library never aborts, exits or prints.
 */
#ifndef RADDLE_H
#define RADDLE_H

#include <raddle/buffer.h>
#include <raddle/context.h>
#include <raddle/device.h>
#include <raddle/dump.h>
#include <raddle/error.h>
#include <raddle/event.h>
#include <raddle/future.h>
#include <raddle/handle.h>
#include <raddle/import.h>
#include <raddle/log.h>
#include <raddle/module.h>
#include <raddle/prebuilt.h>
#include <raddle/stats.h>
#include <raddle/status.h>
#include <raddle/version.h>

#endif
