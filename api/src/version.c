/* SPDX-License-Identifier: Apache-2.0 */
/* What this build of the library is. */
#include <raddle/version.h>

#include "backends/common/kernel_text.h"

#define TEXT_OF(number)             #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *rdl_version(void) {
  return DOTTED(RDL_VERSION_MAJOR, RDL_VERSION_MINOR, RDL_VERSION_PATCH);
}

const char *rdl_kernel_hash(void) {
  return rdl__kernel_hash;
}
