/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/reserved.h"

#include <stdlib.h>
#include <string.h>

/* OpenCL C 3.0, section 6: functions and types with short names; sorted for the search. */
static const char *const names[] = {
    "abs",       "abs_diff",    "acos",     "acosh",     "add_sat",     "all",        "any",
    "as_double", "as_float",    "as_int",   "as_uint",   "asin",        "asinh",      "atan",
    "atan2",     "atanh",       "barrier",  "bitselect", "bool",        "cbrt",       "ceil",
    "clamp",     "clz",         "copysign", "cos",       "cosh",        "cross",      "ctz",
    "degrees",   "distance",    "dot",      "double2",   "double4",     "erf",        "erfc",
    "exp",       "exp10",       "exp2",     "expm1",     "fabs",        "fdim",       "float2",
    "float3",    "float4",      "float8",   "floor",     "fma",         "fmax",       "fmin",
    "fmod",      "fract",       "frexp",    "hadd",      "half",        "hypot",      "ilogb",
    "image2d_t", "int2",        "int4",     "isequal",   "isfinite",    "isgreater",  "isinf",
    "isless",    "isnan",       "isnormal", "ldexp",     "length",      "lgamma",     "log",
    "log10",     "log1p",       "log2",     "logb",      "mad",         "mad24",      "mad_hi",
    "mad_sat",   "max",         "maxmag",   "mem_fence", "min",         "minmag",     "mix",
    "modf",      "mul24",       "mul_hi",   "nan",       "nextafter",   "normalize",  "pipe",
    "popcount",  "pow",         "pown",     "powr",      "prefetch",    "printf",     "radians",
    "remainder", "remquo",      "rhadd",    "rint",      "rootn",       "rotate",     "round",
    "rsqrt",     "sampler_t",   "select",   "shuffle",   "shuffle2",    "sign",       "signbit",
    "sin",       "sincos",      "sinh",     "sinpi",     "smoothstep",  "sqrt",       "step",
    "sub_sat",   "tan",         "tanh",     "tanpi",     "tgamma",      "trunc",      "uchar4",
    "uint2",     "uint4",       "upsample", "ushort2",   "vload2",      "vload4",     "vstore2",
    "vstore4",   "wait_group_events"};

static int compare(const void *key, const void *entry) {
  return strcmp(key, *(const char *const *)entry);
}

bool rdl__reserved_in_opencl(const char *name) {
  return bsearch(name, names, sizeof names / sizeof names[0], sizeof names[0], compare) != NULL;
}
