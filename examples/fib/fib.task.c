/* SPDX-License-Identifier: Apache-2.0 */
/* Fibonacci numbers the slow way: every call is a task. */
struct fib_args {
  uint n;
};
struct fib_state {
  rdl_future a, b;
};

RDL_TASK(fib, uint, struct fib_args, struct fib_state) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->a, fib, .n = args->n - 1);
  RDL_SPAWN(self->b, fib, .n = args->n - 2);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}
