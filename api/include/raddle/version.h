/* SPDX-License-Identifier: Apache-2.0 */
/* Version of the headers a program was compiled with, and of the library it runs with. The numbers
 * below are the only place where the version is written. */
#ifndef RDL_VERSION_H
#define RDL_VERSION_H

#include <raddle/export.h>

#define RDL_VERSION_MAJOR 0
#define RDL_VERSION_MINOR 1
#define RDL_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library as text, "0.1.0". The text is constant. Any thread may call it. */
RDL_API const char *rdl_version(void);

/* SHA-256 of the device code inside the library, as 64 hexadecimal digits. Two libraries with the
 * same hash run the same scheduler. The text is constant. Any thread may call it. */
RDL_API const char *rdl_kernel_hash(void);

#ifdef __cplusplus
}
#endif

#endif
