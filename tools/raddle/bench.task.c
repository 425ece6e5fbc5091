/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of `raddle bench`. */

struct cell_args {
  rdl_ptr cell;
};
RDL_TASK(bench_cell, RDL_NONE, struct cell_args, RDL_NONE) {
  RDL_BEGIN();
  *RDL_AT(uint, args->cell) = 1;
  RDL_END();
}

struct plus_args {
  uint value;
};
RDL_TASK(bench_plus, uint, struct plus_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->value + 1);
  RDL_END();
}

/* The handles of all links stand in a table that is complete when the gate opens. */
struct chain_args {
  rdl_event gate;
  rdl_ptr before; /* where the handle of the link before stands; 0 for the first */
};
RDL_TASK(bench_chain, uint, struct chain_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->gate);
  if (!args->before) RDL_RETURN(1);
  RDL_AWAIT(*RDL_AT(const rdl_future, args->before));
  RDL_RETURN(RDL_RESULT(uint, *RDL_AT(const rdl_future, args->before)) + 1);
  RDL_END();
}

/* Cell (0, 0) is 1; every other one is the sum of the upper and the left one. */
struct wave_args {
  rdl_event gate;
  rdl_ptr up; /* 0 at the edge */
  rdl_ptr left;
};
RDL_TASK(bench_wave, uint, struct wave_args, RDL_NONE) {
  uint sum = 0;
  RDL_BEGIN();
  RDL_AWAIT_EVENT(args->gate);
  if (args->up) RDL_AWAIT(*RDL_AT(const rdl_future, args->up));
  if (args->left) RDL_AWAIT(*RDL_AT(const rdl_future, args->left));
  sum = args->up || args->left ? 0 : 1;
  if (args->up) sum += RDL_RESULT(uint, *RDL_AT(const rdl_future, args->up));
  if (args->left) sum += RDL_RESULT(uint, *RDL_AT(const rdl_future, args->left));
  RDL_RETURN(sum);
  RDL_END();
}

struct fib_args {
  uint n;
};
struct fib_state {
  rdl_future a, b;
};
RDL_TASK(bench_fib, uint, struct fib_args, struct fib_state) {
  RDL_BEGIN();
  if (args->n < 2) RDL_RETURN(args->n);
  RDL_SPAWN(self->a, bench_fib, .n = args->n - 1);
  RDL_SPAWN(self->b, bench_fib, .n = args->n - 2);
  RDL_AWAIT(self->a);
  RDL_AWAIT(self->b);
  RDL_RETURN(RDL_RESULT(uint, self->a) + RDL_RESULT(uint, self->b));
  RDL_END();
}

/*
 * A node of an unbalanced tree, which is known by its path, a number hashed from that of its
 * parent. Above level `full` every node has children; below, its path tells whether it has. Its
 * result is the number of nodes that begin with it.
 */
#define TREE_CHILDREN 4u

struct tree_args {
  rdl_u64 path;
  uint level;
  uint full;
};
struct tree_state {
  rdl_future children[TREE_CHILDREN];
};

RDL_FN rdl_u64 tree_child(rdl_u64 path, uint which) {
  path += (rdl_u64)(which + 1u) * 0x9e3779b97f4a7c15UL;
  path = (path ^ (path >> 30)) * 0xbf58476d1ce4e5b9UL;
  path = (path ^ (path >> 27)) * 0x94d049bb133111ebUL;
  return path ^ (path >> 31);
}

RDL_TASK(bench_tree, uint, struct tree_args, struct tree_state) {
  uint k, nodes;
  RDL_BEGIN();
  if (args->level >= args->full && (uint)args->path >= 1069446856u) RDL_RETURN(1);
  for (k = 0; k < TREE_CHILDREN; k++)
    RDL_SPAWN(self->children[k], bench_tree, .path = tree_child(args->path, k),
              .level = args->level + 1, .full = args->full);
  RDL_SPAWNS(3); /* with the one above as many as there are children */
  RDL_AWAIT_CHILDREN();
  nodes = 1;
  for (k = 0; k < TREE_CHILDREN; k++)
    nodes += RDL_RESULT(uint, self->children[k]);
  RDL_RETURN(nodes);
  RDL_END();
}

struct player_args {
  rdl_event mine;
  rdl_event theirs;
  uint turns;
  uint serves; /* this one begins */
};
struct player_state {
  uint turn;
};
RDL_TASK(bench_player, uint, struct player_args, struct player_state) {
  RDL_BEGIN();
  while (self->turn < args->turns) {
    self->turn++;
    if (args->serves) RDL_SIGNAL(args->theirs, 1);
    RDL_AWAIT_COUNT(args->mine, self->turn);
    if (!args->serves) RDL_SIGNAL(args->theirs, 1);
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

struct yield_args {
  uint turns;
};
struct yield_state {
  uint turn;
};
RDL_TASK(bench_yield, uint, struct yield_args, struct yield_state) {
  RDL_BEGIN();
  while (self->turn < args->turns) {
    self->turn++;
    RDL_YIELD();
  }
  RDL_RETURN(self->turn);
  RDL_END();
}

/*
 * So many multiply-adds, each of which needs the one before, eight in a turn of the loop. The
 * values given are such that the sum counts them, whether a device rounds once or twice. The peers
 * have the same loop.
 */
struct fma_args {
  rdl_ptr cell;
  uint count;
  float start;
  float factor;
  float summand;
};
RDL_TASK(bench_fma, RDL_NONE, struct fma_args, RDL_NONE) {
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

struct fan_args {
  rdl_ptr handles; /* room for `width` */
  uint rounds;
  uint width;
};
struct fan_state {
  uint round;
  uint spawned;
  uint sum;
};
RDL_TASK(bench_fan, uint, struct fan_args, struct fan_state) {
  uint outcome, value, sum, k;
  RDL_BEGIN();
  for (; self->round < args->rounds; self->round++) {
    self->spawned = 0;
    while (self->spawned < args->width) {
      rdl_future child;
      RDL_TRY_SPAWN(outcome, child, bench_plus, self->sum);
      if (outcome == RDL_FULL) {
        RDL_AWAIT_ROOM();
        continue;
      }
      RDL_AT(rdl_future, args->handles)[self->spawned] = child;
      self->spawned++;
    }
    RDL_AWAIT_CHILDREN();
    sum = 0;
    for (k = 0; k < args->width; k++) {
      RDL_TAKE(value, uint, RDL_AT(const rdl_future, args->handles)[k]);
      sum += value;
    }
    self->sum = sum;
  }
  RDL_RETURN(self->sum);
  RDL_END();
}
