/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of public functions: RDL_API exports one from the shared library, RDL_MUST_CHECK makes the
 * compiler warn when a caller drops what it returns. */
#ifndef RDL_EXPORT_H
#define RDL_EXPORT_H

#if defined(__GNUC__)
#define RDL_API        __attribute__((visibility("default")))
#define RDL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define RDL_API
#define RDL_MUST_CHECK
#endif

#endif
