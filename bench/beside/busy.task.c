/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps the device busy while others use it: short segments that spawn, suspend and are woken.
 */

struct busy_args {
  uint n;
};
struct busy_state {
  rdl_future a, b;
};
RDL_TASK(busy, uint, struct busy_args, struct busy_state) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->a, busy, .n = args->n - 1);
  RDL_SPAWN(self->b, busy, .n = args->n - 2);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}
