/* SPDX-License-Identifier: Apache-2.0 */
#include "api/src/reserved.h"

#include <stdlib.h>
#include <string.h>

/* OpenCL C 3.0, section 6: functions and types with short names; sorted for the search. */
static const char *const names[] = {
    "abs",       "abs_diff",   "acos",      "acosh",     "add_sat",
    "all",       "any",        "as_double", "as_float",  "as_int",
    "as_uint",   "asin",       "asinh",     "atan",      "atan2",
    "atanh",     "barrier",    "bitselect", "bool",      "cbrt",
    "ceil",      "clamp",      "clz",       "copysign",  "cos",
    "cosh",      "cross",      "ctz",       "degrees",   "distance",
    "dot",       "double2",    "double4",   "erf",       "erfc",
    "exp",       "exp10",      "exp2",      "expm1",     "fabs",
    "fdim",      "float2",     "float3",    "float4",    "float8",
    "floor",     "fma",        "fmax",      "fmin",      "fmod",
    "fract",     "frexp",      "hadd",      "half",      "hypot",
    "ilogb",     "image2d_t",  "int2",      "int4",      "isequal",
    "isfinite",  "isgreater",  "isinf",     "isless",    "isnan",
    "isnormal",  "ldexp",      "length",    "lgamma",    "log",
    "log10",     "log1p",      "log2",      "logb",      "mad",
    "mad24",     "mad_hi",     "mad_sat",   "max",       "maxmag",
    "mem_fence", "min",        "minmag",    "mix",       "modf",
    "mul24",     "mul_hi",     "nan",       "nextafter", "normalize",
    "pipe",      "popcount",   "pow",       "pown",      "powr",
    "prefetch",  "printf",     "radians",   "remainder", "remquo",
    "rhadd",     "rint",       "rootn",     "rotate",    "round",
    "rsqrt",     "sampler_t",  "select",    "shuffle",   "shuffle2",
    "sign",      "signbit",    "sin",       "sincos",    "sinh",
    "sinpi",     "smoothstep", "sqrt",      "step",      "sub_sat",
    "tan",       "tanh",       "tanpi",     "tgamma",    "trunc",
    "uchar4",    "uint2",      "uint4",     "upsample",  "ushort2",
    "vload2",    "vload4",     "vstore2",   "vstore4",   "wait_group_events"};

static int compare(const void *key, const void *entry) {
  return strcmp(key, *(const char *const *)entry);
}

bool rdl__reserved_in_opencl(const char *name) {
  return bsearch(name, names, sizeof names / sizeof names[0], sizeof names[0], compare) != NULL;
}

/* What people reach for first. The functions that OpenCL C has under the same name (sqrt, and also
 * in double precision) are not here: a file for such devices alone may call them. */

#define PRINT                                                                                      \
  "a task cannot print; write what you want to see into its result or into a buffer, and print "   \
  "it "                                                                                            \
  "on the host"
#define MEMORY                                                                                     \
  "memory comes from the host: pass the address of an rdl_buffer in the arguments (RDL_AT), keep " \
  "what is small in the state, or use RDL_SCRATCH"
#define COPY  "copy, fill and compare with a loop, or assign whole structures"
#define FILES "files are the host's: read and write them there, and pass a buffer"
#define END   "a task ends with RDL_FAIL(code), and the host is told the code"
#define SLEEP "a task waits with RDL_SLEEP(ns)"
#define TIME  "measure on the host; to wait, use RDL_SLEEP(ns)"
#define RANDOM                                                                                     \
  "compute random numbers from a seed in the arguments, and keep what must survive an await in "   \
  "the state"
#define MATHS(name) "write rdl_" name ", which is the same on all devices"

typedef struct library_function {
  const char *name;
  const char *instead;
} library_function;

/* Sorted for the search. */
static const library_function functions[] = {{"abort", END},
                                             {"assert", END},
                                             {"calloc", MEMORY},
                                             {"ceilf", MATHS("ceil")},
                                             {"clock", TIME},
                                             {"cosf", MATHS("cos")},
                                             {"exit", END},
                                             {"expf", MATHS("exp")},
                                             {"fabsf", MATHS("fabs")},
                                             {"fclose", FILES},
                                             {"floorf", MATHS("floor")},
                                             {"fmaxf", MATHS("fmax")},
                                             {"fminf", MATHS("fmin")},
                                             {"fopen", FILES},
                                             {"fprintf", PRINT},
                                             {"fread", FILES},
                                             {"free", MEMORY},
                                             {"fwrite", FILES},
                                             {"logf", MATHS("log")},
                                             {"malloc", MEMORY},
                                             {"memcmp", COPY},
                                             {"memcpy", COPY},
                                             {"memmove", COPY},
                                             {"memset", COPY},
                                             {"nanosleep", SLEEP},
                                             {"powf", MATHS("pow")},
                                             {"printf", PRINT},
                                             {"putchar", PRINT},
                                             {"puts", PRINT},
                                             {"rand", RANDOM},
                                             {"realloc", MEMORY},
                                             {"sinf", MATHS("sin")},
                                             {"sleep", SLEEP},
                                             {"snprintf", PRINT},
                                             {"sprintf", PRINT},
                                             {"sqrtf", MATHS("sqrt")},
                                             {"srand", RANDOM},
                                             {"strcmp", COPY},
                                             {"strcpy", COPY},
                                             {"strlen", COPY},
                                             {"time", TIME},
                                             {"usleep", SLEEP}};

static int compare_function(const void *key, const void *entry) {
  return strcmp(key, ((const library_function *)entry)->name);
}

const char *rdl__instead_of(const char *name) {
  const library_function *found = bsearch(name, functions, sizeof functions / sizeof functions[0],
                                          sizeof functions[0], compare_function);
  return found ? found->instead : NULL;
}
