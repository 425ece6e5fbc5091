/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edit distance of two texts. The table of partial answers is cut into tiles; a tile can be filled
 * when its left and its upper neighbour are, so the work runs through the table as a diagonal wave.
 */

/* The table has rows + 1 lines of columns + 1 numbers, and its first line and column are filled. */
struct table {
  rdl_ptr cells;
  rdl_ptr down;   /* the text along the rows, a byte a letter */
  rdl_ptr across; /* the text along the columns */
  uint rows;
  uint columns;
  uint tile; /* rows and columns of a tile */
  uint pad;
};

RDL_FN uint smaller(uint a, uint b) {
  return a < b ? a : b;
}

/* One cell: the cheapest of leaving out a letter, adding one, and going on with a match or change.
 */
RDL_FN void fill_cell(const struct table *t, uint row, uint column) {
  RDL_GLOBAL uint *above = RDL_AT(uint, t->cells) + (row - 1) * (t->columns + 1) + column;
  RDL_GLOBAL uint *here = above + t->columns + 1;
  uint change = RDL_AT(uchar, t->down)[row - 1] != RDL_AT(uchar, t->across)[column - 1];
  *here = smaller(above[-1] + change, smaller(*above, here[-1]) + 1);
}

/* ---- one tile ---- */

struct tile_args {
  struct table table;
  rdl_future left, above; /* all zero at the border */
  uint row, column;
};

RDL_TASK(tile, RDL_NONE, struct tile_args, RDL_NONE) {
  uint row, column, last_row, last_column;
  RDL_BEGIN();
  if (args->left.index) RDL_AWAIT(args->left);
  if (args->above.index) RDL_AWAIT(args->above);
  last_row = smaller(args->row + args->table.tile - 1, args->table.rows);
  last_column = smaller(args->column + args->table.tile - 1, args->table.columns);
  for (row = args->row; row <= last_row; row++)
    for (column = args->column; column <= last_column; column++)
      fill_cell(&args->table, row, column);
  RDL_END();
}

/* ---- the whole table ---- */

#define MOST_TILES 512 /* in a line */

struct edit_distance_args {
  struct table table;
};

/* `line` holds, of each column, the lowest tile so far; `left` the tile before. */
struct edit_distance_state {
  rdl_future line[MOST_TILES];
  rdl_future left;
  uint row, column;
};

RDL_TASK(edit_distance, uint, struct edit_distance_args, struct edit_distance_state) {
  uint outcome, k;
  rdl_future made;
  RDL_BEGIN();
  if ((args->table.columns - 1) / args->table.tile >= MOST_TILES) RDL_FAIL(1);
  for (self->row = 1; self->row <= args->table.rows; self->row += args->table.tile) {
    self->left.index = self->left.generation = 0;
    for (self->column = 1; self->column <= args->table.columns;) {
      k = (self->column - 1) / args->table.tile;
      RDL_TRY_SPAWN(outcome, made, tile, .table = args->table, .left = self->left,
                    .above = self->line[k], .row = self->row, .column = self->column);
      if (outcome == RDL_FULL) {
        RDL_AWAIT_ROOM();
      } else {
        self->line[k] = self->left = made;
        self->column += args->table.tile;
      }
    }
  }
  RDL_AWAIT_CHILDREN();
  RDL_RETURN(
      RDL_AT(uint, args->table.cells)[(args->table.rows + 1) * (args->table.columns + 1) - 1]);
  RDL_END();
}
