/* SPDX-License-Identifier: Apache-2.0 */
/* What standin_driver.c and the tests that load it share: `standin_state` is its symbol. */
#ifndef RDL_CUDA_TESTS_STANDIN_H
#define RDL_CUDA_TESTS_STANDIN_H

#define STANDIN_DEVICES 2 /* the second one is too old for Raddle */
#define STANDIN_UNITS   4
#define STANDIN_SHARED  50000u /* bytes that a block of an image takes */

#define STANDIN_BUS    "0000:%02x:00.0" /* where a device is, by its number */
#define STANDIN_BUS_ID 32

typedef struct standin {
  /* set by tests */
  int fail_in;      /* the driver's n-th call from now on fails, if it may; 0 = none */
  int fails_with;   /* this code */
  int architecture; /* of the first device: 90 */
  int runs;         /* launches do not end while this is set */
  int blocks;       /* that fit on a multiprocessor */
  int no_ranges;    /* it is not told where memory begins, and how long it is */
  int traps;        /* the next launches with purpose 0 end with this code, and all calls then */
  void (*acts)(unsigned char *heap, unsigned purpose); /* what a launch does; NULL: see below */
  int heals; /* a primary context that is made anew knows no error of the one before */

  /* counted here */
  int failed;                    /* 1 = the call that had to fail has */
  int retained[STANDIN_DEVICES]; /* counts of the primary context that are held */
  int made;                      /* primary contexts */
  int counted;                   /* calls that retain or release one */
  int memories, pages, registered, streams, modules, contexts_pushed;
  int misuse; /* calls that no program may make */
  int copies; /* that were queued */
  int moves;  /* kernels that moved pieces */
  int loaded; /* functions */
  int launches;
  unsigned grid, block, shared, purpose;
} standin;

/* The same of standin_nvml.c: `standin_nvml_state`. */
typedef struct standin_nvml {
  int fails;                  /* it does not start, with this code */
  int starts;                 /* that have not ended */
  unsigned long long reasons; /* why the first device is slow */
} standin_nvml;

#endif
