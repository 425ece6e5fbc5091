/* SPDX-License-Identifier: Apache-2.0 */
/* x * x + y * y, each product by a task of its own. */
struct square_args {
  uint n;
};

RDL_TASK(square, uint, struct square_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n * args->n);
  RDL_END();
}

struct squares_args {
  uint x, y;
};
struct squares_state {
  rdl_future a, b;
};

RDL_TASK(squares, uint, struct squares_args, struct squares_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->a, square, .n = args->x);
  RDL_SPAWN(self->b, square, .n = args->y);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}
