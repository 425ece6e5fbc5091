/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the MEM cases. */

struct mem_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

struct mem_three_args {
  rdl_ptr a;
  rdl_ptr b;
  rdl_ptr into;
  uint n;
  uint pad;
};

struct mem_turns {
  uint left;
};

/* Adds k to n words, and gives the sum of what was there. */
RDL_TASK(mem_add, uint, struct mem_args, RDL_NONE) {
  RDL_GLOBAL uint *words = RDL_AT(uint, args->at);
  uint i, sum = 0;
  RDL_BEGIN();
  for (i = 0; i < args->n; i++) {
    sum += words[i];
    words[i] += args->k;
  }
  RDL_RETURN(sum);
  RDL_END();
}

/* Gives the sum of n words, and writes nothing. */
RDL_TASK(mem_sum, uint, struct mem_args, RDL_NONE) {
  RDL_GLOBAL const uint *words = RDL_AT(const uint, args->at);
  uint i, sum = 0;
  RDL_BEGIN();
  for (i = 0; i < args->n; i++)
    sum += words[i];
  RDL_RETURN(sum);
  RDL_END();
}

/* into = a + b, of n words. */
RDL_TASK(mem_three, RDL_NONE, struct mem_three_args, RDL_NONE) {
  uint i;
  RDL_BEGIN();
  for (i = 0; i < args->n; i++)
    RDL_AT(uint, args->into)[i] = RDL_AT(const uint, args->a)[i] + RDL_AT(const uint, args->b)[i];
  RDL_END();
}

/* Counts the word up k times, with a suspension after each. */
RDL_TASK(mem_count, RDL_NONE, struct mem_args, struct mem_turns) {
  RDL_BEGIN();
  for (self->left = args->k; self->left; self->left--) {
    rdl_atomic_add(RDL_AT(uint, args->at), 1u);
    RDL_YIELD();
  }
  RDL_END();
}

/* Runs until the word is not 0. */
RDL_TASK(mem_busy, RDL_NONE, struct mem_args, RDL_NONE) {
  RDL_BEGIN();
  while (!rdl_atomic_load(RDL_AT(uint, args->at)))
    RDL_YIELD();
  RDL_END();
}

/* The same in one segment. Says in the second word that it has begun. */
RDL_TASK(mem_hold, RDL_NONE, struct mem_args, RDL_NONE) {
  RDL_BEGIN();
  rdl_atomic_store(RDL_AT(uint, args->at) + 1, 1u);
  while (!rdl_atomic_load(RDL_AT(uint, args->at))) {
  }
  RDL_END();
}
