/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with the headers that it wants included before itself. */
#ifndef RDL_TESTS_UNIT_H
#define RDL_TESTS_UNIT_H

/* The order matters to cmocka. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
