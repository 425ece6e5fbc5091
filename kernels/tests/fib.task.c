/* SPDX-License-Identifier: Apache-2.0 */
/* Small tasks that use the words of the dialect: the compile-only tests take an image with them. */
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
