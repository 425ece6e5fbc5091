/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/helper/verbs.h"

void rdl__cl_before_probe(const char *name) {
  (void)name;
}
