/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of public functions: RDL_API exports one from the shared library, RDL_MUST_CHECK makes the
 * compiler warn when a caller drops what it returns. RDL_SIZED begins a structure that has a size.
 */
#ifndef RDL_EXPORT_H
#define RDL_EXPORT_H

#if defined(__GNUC__)
#define RDL_API        __attribute__((visibility("default")))
#define RDL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define RDL_API
#define RDL_MUST_CHECK
#endif

/* What a variable of `type` begins with: its size in the member `size`, and zeros. C++ before 20
 * has no designated initialisers, and warns of members that an initialiser leaves out. */
#ifdef __cplusplus
template <typename type> inline type rdl_sized() {
  type made = type();
  made.size = sizeof(type);
  return made;
}
#define RDL_SIZED(type) rdl_sized<type>()
#else
#define RDL_SIZED(type)                                                                            \
  { .size = sizeof(type) }
#endif

#endif
