/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the POR cases: arithmetic on every type an argument may have, and memory. Everything
 * here is exact on every device: no rounding that a compiler might merge away. */

struct por_args {
  rdl_ptr at;
  rdl_future f;
  rdl_future g;
  rdl_event e;
  rdl_event d;
  uint n;
  uint k;
};

/* All types that arguments may hold, in an order that needs padding. */
struct por_types {
  uchar a;
  ulong b;
  ushort c;
  uint d;
  rdl_i8 e;
  rdl_i64 f;
  rdl_i16 g;
  rdl_i32 h;
  float i;
  double j;
  uchar k[5];
  uint l[3];
  rdl_ptr m;
  rdl_future n;
  uchar o;
};

struct por_one {
  rdl_future f;
  uint k;
  uint sum;
};

struct por_pair {
  rdl_future f[2];
};

RDL_FN uint por_mix(uint x, uint y) {
  x ^= y + 0x9e3779b9u + (x << 6) + (x >> 2);
  return x * 0x85ebca6bu;
}

/* The sum of all members, each by its value. */
RDL_TASK(por_sum_types, ulong, struct por_types, RDL_NONE) {
  ulong sum;
  uint k;
  RDL_BEGIN();
  sum = args->a + args->b + args->c + args->d;
  sum +=
      (ulong)(rdl_i64)args->e + (ulong)args->f + (ulong)(rdl_i64)args->g + (ulong)(rdl_i64)args->h;
  sum += (ulong)args->i + (ulong)args->j;
  for (k = 0; k < 5; k++)
    sum += args->k[k];
  for (k = 0; k < 3; k++)
    sum += args->l[k];
  sum += args->m + args->n.index + args->n.generation + args->o;
  RDL_RETURN(sum);
  RDL_END();
}

RDL_TASK(por_integers, uint, struct por_args, RDL_NONE) {
  uint k, h;
  ulong w;
  rdl_i32 s;
  RDL_BEGIN();
  h = args->n;
  w = ((ulong)args->n << 32) | args->k;
  for (k = 0; k < 1000; k++) {
    h = por_mix(h, k);
    w = w * 6364136223846793005UL + 1442695040888963407UL;
    s = (rdl_i32)(h & 0xffffu) - 32768;
    h += (uint)(w >> 33) + (uint)(s / 7) + (uint)(s % 5) + (h >> (k & 31u));
  }
  RDL_RETURN(h);
  RDL_END();
}

/* Whole numbers below 2^24 in floats: exact. */
RDL_TASK(por_floats, uint, struct por_args, RDL_NONE) {
  uint k;
  float x, y;
  RDL_BEGIN();
  x = 0.0f;
  y = (float)(args->n % 100000u);
  for (k = 1; k <= 100; k++) {
    x += (float)(k * (args->n % 100u));
    y = y > 1000.0f ? y - 999.0f : y + 17.0f;
  }
  RDL_RETURN((uint)x + (uint)(y * 4.0f));
  RDL_END();
}

RDL_TASK(por_tree, uint, struct por_args, struct por_pair) {
  RDL_BEGIN();
  if (args->k == 0) RDL_RETURN(por_mix(args->n, 1));
  RDL_SPAWN(self->f[0], por_tree, .n = 2 * args->n, .k = args->k - 1);
  RDL_SPAWN(self->f[1], por_tree, .n = 2 * args->n + 1, .k = args->k - 1);
  RDL_AWAIT_ALL(self->f, 2);
  RDL_RETURN(por_mix(RDL_RESULT(uint, self->f[0]), RDL_RESULT(uint, self->f[1])));
  RDL_END();
}

/* Word n of k words, from its neighbours in the half that was written before. */
RDL_TASK(por_stencil, RDL_NONE, struct por_args, RDL_NONE) {
  RDL_GLOBAL const uint *from;
  RDL_BEGIN();
  from = RDL_AT(uint, args->at);
  RDL_AT(uint, args->at)
  [args->k + args->n] = por_mix(from[args->n], from[(args->n + 1) % args->k] ^
                                                   from[(args->n + args->k - 1) % args->k]);
  RDL_END();
}

/* Awaits of every kind in nested statements. */
RDL_TASK(por_control, uint, struct por_args, struct por_one) {
  uint outcome;
  RDL_BEGIN();
  self->sum = 1;
  for (self->k = 0; self->k < 20; self->k++) {
    if (self->k % 3 == 0) {
      RDL_SPAWN(self->f, por_integers, .n = self->k);
      RDL_AWAIT(self->f);
      RDL_YIELD();
      self->sum = por_mix(self->sum, RDL_RESULT(uint, self->f));
      RDL_DROP(self->f);
    } else if (self->k % 3 == 1) {
      do {
        RDL_YIELD();
        self->sum++;
      } while (self->sum % 4 != 0);
    } else {
      RDL_SPAWN(self->f, por_floats, .n = self->sum % 1000u);
      RDL_AWAIT_CATCH(outcome, self->f);
      self->sum = por_mix(self->sum, outcome + RDL_RESULT(uint, self->f));
    }
  }
  RDL_RETURN(self->sum);
  RDL_END();
}

/* The words about lanes: with one lane or many the same sums. */
RDL_TASK(por_lanes, uint, struct por_args, RDL_NONE) {
  uint k, sum, most, before;
  RDL_SCRATCH(uint, words, 16);
  RDL_BEGIN();
  sum = 0;
  most = 0;
  for (k = rdl_lane(); k < 16; k += rdl_lanes())
    words[k] = k * args->n;
  rdl_sync();
  for (k = rdl_lane(); k < 16; k += rdl_lanes()) {
    sum += words[k];
    most = words[k] > most ? words[k] : most;
  }
  sum = rdl_reduce_add_u32(sum);
  most = rdl_reduce_max_u32(most);
  before = rdl_broadcast_u32(rdl_scan_add_u32(5), 0);
  if (before != 0 || (rdl_ballot(1) & 1u) != 1u) RDL_FAIL(1);
  if (rdl_reduce_min_u32(7) != 7 || rdl_lane() >= rdl_lanes()) RDL_FAIL(2);
  if (rdl_reduce_min_f32(2.5f) != 2.5f || rdl_reduce_max_f32(-2.5f) != -2.5f) RDL_FAIL(3);
  if (rdl_reduce_add_f32(0.5f) != 0.5f * (float)rdl_lanes()) RDL_FAIL(4);
  if (rdl_broadcast_f32(0.25f + rdl_scan_add_f32(0.5f), 0) != 0.25f) RDL_FAIL(5);
  RDL_RETURN(sum + most);
  RDL_END();
}

/* Members of every type as the state of a lane: each is counted up in every round. */
RDL_TASK_LANES(por_lane_types, uint, struct por_args, struct por_one, struct por_types) {
  uint k;
  RDL_BEGIN();
  for (self->k = 0; self->k < args->k; self->k++) {
    mine->a++;
    mine->b += 1ul << 40;
    mine->c += 300;
    mine->d += args->n;
    mine->e--;
    mine->f -= (rdl_i64)1 << 40;
    mine->g -= 300;
    mine->h -= 70000;
    mine->i += 0.5f;
    mine->j += 0.25;
    RDL_SPAWN(self->f, por_floats, .n = self->k);
    for (k = 0; k < 5; k++)
      mine->k[k] += (uchar)k;
    for (k = 0; k < 3; k++)
      mine->l[k] += k << 20;
    RDL_AWAIT(self->f);
    mine->m += 1ul << 50;
    mine->n = self->f;
    mine->o += 2;
    RDL_YIELD();
    if (rdl_ballot(mine->n.index != self->f.index)) RDL_FAIL(1);
  }
  k = args->k;
  if (rdl_ballot(mine->a != k || mine->b != (ulong)k << 40 || mine->c != 300 * k)) RDL_FAIL(2);
  if (rdl_ballot(mine->d != args->n * k || mine->e != -(int)k)) RDL_FAIL(3);
  if (rdl_ballot(mine->f != -((rdl_i64)k << 40) || mine->g != -300 * (int)k)) RDL_FAIL(4);
  if (rdl_ballot(mine->h != -70000 * (int)k || mine->i != 0.5f * (float)k)) RDL_FAIL(5);
  if (rdl_ballot(mine->j != 0.25 * (double)k || mine->k[4] != 4 * k || mine->k[0])) RDL_FAIL(6);
  if (rdl_ballot(mine->l[2] != k << 21 || mine->m != (ulong)k << 50 || mine->o != 2 * k))
    RDL_FAIL(7);
  RDL_RETURN(k);
  RDL_END();
}

/* The atomics, each with what it gives back. */
RDL_TASK(por_atomics, uint, struct por_args, RDL_NONE) {
  RDL_GLOBAL uint *p;
  RDL_BEGIN();
  p = RDL_AT(uint, args->at);
  rdl_atomic_store(p, 10);
  if (rdl_atomic_add(p, 5) != 10 || rdl_atomic_load(p) != 15) RDL_FAIL(1);
  if (rdl_atomic_min(p, 7) != 15 || rdl_atomic_load(p) != 7) RDL_FAIL(2);
  if (rdl_atomic_max(p, 9) != 7 || rdl_atomic_load(p) != 9) RDL_FAIL(3);
  if (rdl_atomic_or(p, 6) != 9 || rdl_atomic_load(p) != 15) RDL_FAIL(4);
  if (rdl_atomic_exchange(p, 3) != 15 || rdl_atomic_load(p) != 3) RDL_FAIL(5);
  if (rdl_atomic_cas(p, 4, 8) != 3 || rdl_atomic_load(p) != 3) RDL_FAIL(6);
  if (rdl_atomic_cas(p, 3, 8) != 3 || rdl_atomic_load(p) != 8) RDL_FAIL(7);
  RDL_RETURN(8);
  RDL_END();
}
