/* SPDX-License-Identifier: Apache-2.0 */
/* Awaits as a counter of lines would not tell them apart: on one line, and in a macro. */
#define BOTH(a, b)                                                                                 \
  RDL_AWAIT(a);                                                                                    \
  RDL_AWAIT(b)

struct leaf_args {
  uint n;
};
struct none {
  uint unused;
};
struct pair_state {
  rdl_future a, b;
  uint k, sum;
};

/* clang-format off */
RDL_TASK(leaf, uint, struct leaf_args, struct none) {
  RDL_BEGIN();
  RDL_YIELD(); RDL_YIELD();
  RDL_RETURN(args->n + 1);
  RDL_END();
}
/* clang-format on */

RDL_TASK(pair, uint, struct leaf_args, struct pair_state) {
  RDL_BEGIN();
  for (self->k = self->sum = 0; self->k < args->n; self->k++) {
    RDL_SPAWN(self->a, leaf, .n = self->k);
    RDL_SPAWN(self->b, leaf, .n = 1);
    BOTH(self->a, self->b);
    self->sum += RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b);
  }
  RDL_RETURN(self->sum);
  RDL_END();
}
