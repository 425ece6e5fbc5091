/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are not the outcome of a call. The library prints nothing by itself: a program that
 * wants them sets a callback in rdl_context_options. */
#ifndef RDL_LOG_H
#define RDL_LOG_H

typedef enum rdl_log_level {
  RDL_LOG_DEBUG,   /* an image was made for the modules, and how long that took */
  RDL_LOG_INFO,    /* what was chosen when a context was opened: the device and its workers */
  RDL_LOG_WARNING, /* something was done in another way than asked, with the reason; a task that has
                      run one segment for longer than the option watchdog_ns */
  RDL_LOG_ERROR    /* a failure that no call can return, such as a deadlock that was broken */
} rdl_log_level;

/* Called from any thread, also from threads of the library, possibly from several at once. `text`
 * is one line without a newline and valid during the call only. MAY: copy the text, print, take
 * locks of the program's own. MUST NOT: call Raddle, block for long, or leave by longjmp or an
 * exception. */
typedef void (*rdl_log_fn)(void *user, rdl_log_level level, const char *text);

#endif
