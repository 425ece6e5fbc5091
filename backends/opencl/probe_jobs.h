/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library asks its helper program to probe, as both read it.
 *
 * Verb "probe": the number of the first probe to run, and the rows of those before it as lines. The
 * answer is empty; what is found comes in notes, and those that are not lines of a table say which
 * probe begins.
 */
#ifndef RDL_OPENCL_PROBE_JOBS_H
#define RDL_OPENCL_PROBE_JOBS_H

#define RDL_PROBE_VERB   "probe"
#define RDL_PROBE_BEGINS "begins "

#endif
