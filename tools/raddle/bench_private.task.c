/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of `raddle bench` that are private: an image has shared memory for them, which costs
   other shapes some. */

struct cell_args {
  rdl_ptr cell;
};
RDL_TASK_PRIVATE(bench_private_cell, RDL_NONE, struct cell_args, RDL_NONE) {
  RDL_BEGIN();
  *RDL_AT(uint, args->cell) = 1;
  RDL_END();
}

struct fib_args {
  uint n;
};
struct fib_state {
  rdl_future a, b;
};
RDL_TASK_PRIVATE(bench_private_fib, uint, struct fib_args, struct fib_state) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->a, bench_private_fib, .n = args->n - 1);
  RDL_SPAWN(self->b, bench_private_fib, .n = args->n - 2);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}

/* Large branches may be taken by any worker, small ones stay with theirs. */
#define BENCH_CUT 12u
RDL_TASK(bench_cut_fib, uint, struct fib_args, struct fib_state) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  if (args->n <= BENCH_CUT) {
    RDL_SPAWN(self->a, bench_private_fib, .n = args->n - 1);
    RDL_SPAWN(self->b, bench_private_fib, .n = args->n - 2);
  } else {
    RDL_SPAWN(self->a, bench_cut_fib, .n = args->n - 1);
    RDL_SPAWN(self->b, bench_cut_fib, .n = args->n - 2);
  }
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}

/* As bench_fma. */
struct fma_args {
  rdl_ptr cell;
  uint count;
  float start;
  float factor;
  float summand;
};
RDL_TASK_PRIVATE(bench_private_fma, RDL_NONE, struct fma_args, RDL_NONE) {
  float x, factor, summand;
  uint k, count;
  RDL_BEGIN();
  x = args->start;
  factor = args->factor;
  summand = args->summand;
  count = args->count;
  for (k = 0; k < count; k += 8u) {
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
    x = x * factor + summand;
  }
  *RDL_AT(uint, args->cell) = (uint)x;
  RDL_END();
}
