/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance of two texts by tiles, each of which awaits its left and its upper neighbour. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/example.h"

static example_place place;
static uint32_t size = 2000;
static uint32_t tile = 50;

static const example_option options[] = {
    {"size", "N", "letters of each text", .number = &size, .least = 1, .most = 30000},
    {"tile", "N", "letters along a side of a tile", .number = &tile, .least = 1, .most = 30000},
    EXAMPLE_PLACE_OPTIONS(place),
};

/* Like the structures of the same names in wavefront.task.c. */
typedef struct table {
  rdl_ptr cells;
  rdl_ptr down;
  rdl_ptr across;
  uint32_t rows;
  uint32_t columns;
  uint32_t tile;
  uint32_t pad;
} table;

typedef struct problem {
  uint8_t *down;
  uint8_t *across;
  uint32_t *line; /* of the table: scratch */
  rdl_buffer *cells_buffer;
  rdl_buffer *down_buffer;
  rdl_buffer *across_buffer;
} problem;

/* Two long texts that have much in common: the second is the first with a tenth of it changed. */
static void make_texts(uint8_t *down, uint8_t *across) {
  uint32_t random = 1;
  for (uint32_t k = 0; k < size; k++) {
    random = random * 747796405u + 2891336453u;
    down[k] = (uint8_t) "ACGT"[random >> 30];
    across[k] = (random >> 16) % 10u ? down[k] : (uint8_t) "ACGT"[random >> 8 & 3u];
  }
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* The same without tiles, keeping one line of the table. */
static uint32_t distance_by_loop(const problem *p) {
  uint32_t *line = p->line;
  for (uint32_t column = 0; column <= size; column++)
    line[column] = column;
  for (uint32_t row = 1; row <= size; row++) {
    uint32_t corner = line[0];
    line[0] = row;
    for (uint32_t column = 1; column <= size; column++) {
      uint32_t change = corner + (p->down[row - 1] != p->across[column - 1]);
      corner = line[column];
      line[column] = least(change, least(line[column], line[column - 1]) + 1);
    }
  }
  return line[size];
}

/* The first line and the first column: what leaving out that many letters costs. */
static rdl_status fill_border(problem *p) {
  rdl_status status;
  size_t width = sizeof *p->line * ((size_t)size + 1);
  for (uint32_t k = 0; k <= size; k++)
    p->line[k] = k;
  status = rdl_buffer_write(p->cells_buffer, 0, p->line, width);
  for (uint32_t k = 1; k <= size && !status; k++)
    status = rdl_buffer_write(p->cells_buffer, k * width, &k, sizeof k);
  return status;
}

static rdl_status make_buffers(rdl_context *cx, problem *p) {
  size_t cells = ((size_t)size + 1) * ((size_t)size + 1);
  rdl_status status = rdl_buffer_create(cx, cells * sizeof(uint32_t), &p->cells_buffer);
  if (!status) status = rdl_buffer_create(cx, size, &p->down_buffer);
  if (!status) status = rdl_buffer_create(cx, size, &p->across_buffer);
  if (!status) status = rdl_buffer_write(p->down_buffer, 0, p->down, size);
  if (!status) status = rdl_buffer_write(p->across_buffer, 0, p->across, size);
  if (!status) status = fill_border(p);
  return status;
}

static rdl_status compute(rdl_context *cx, problem *p, uint32_t *out_value, double *out_seconds) {
  rdl_module *module = NULL;
  rdl_future answer;
  double start;
  rdl_status status = rdl_module_load(cx, example_task_file("wavefront.task.c"), &module);
  if (!status) status = make_buffers(cx, p);
  if (status) return status;
  table args = {.cells = rdl_buffer_address(p->cells_buffer),
                .down = rdl_buffer_address(p->down_buffer),
                .across = rdl_buffer_address(p->across_buffer),
                .rows = size,
                .columns = size,
                .tile = tile};
  start = example_seconds();
  status = rdl_spawn(module, "edit_distance", &args, sizeof args, NULL, &answer);
  if (!status) status = rdl_future_get(cx, answer, out_value, sizeof *out_value, RDL_FOREVER);
  *out_seconds = example_seconds() - start;
  return status;
}

/* Compares with the plain loop, prints both, and returns the exit code. */
static int report(const problem *p, uint32_t value, double seconds) {
  uint32_t tiles = (size + tile - 1) / tile;
  double start = example_seconds();
  uint32_t expected = distance_by_loop(p);
  double plain = example_seconds() - start;
  printf("distance = %u\n", value);
  printf("%u x %u tiles in %.1f ms; a plain loop on one thread: %.1f ms\n", tiles, tiles,
         1e3 * seconds, 1e3 * plain);
  if (value == expected) return EXAMPLE_OK;
  fprintf(stderr, "wavefront: wrong, the loop says %u\n", expected);
  return EXAMPLE_FAILED;
}

static int run(const char *program, problem *p) {
  rdl_context *cx = NULL;
  uint32_t value = 0;
  double seconds = 0;
  rdl_status status = example_open(&place, &cx);
  make_texts(p->down, p->across);
  if (!status) status = compute(cx, p, &value, &seconds);
  int code = status ? example_fail(program, cx, status) : report(p, value, seconds);
  rdl_context_close(cx);
  return code;
}

int main(int argc, char **argv) {
  int code = EXAMPLE_OK;
  if (!example_options(argc, argv, "Computes the edit distance of two texts, tile by tile.",
                       options, sizeof options / sizeof *options, &code))
    return code;
  if ((size - 1) / tile >= 512) {
    fprintf(stderr, "%s: more than 512 tiles in a line; make --tile larger\n", argv[0]);
    return EXAMPLE_USAGE;
  }
  problem p = {.down = malloc(size),
               .across = malloc(size),
               .line = malloc(((size_t)size + 1) * sizeof(uint32_t))};
  if (p.down && p.across && p.line) {
    code = run(argv[0], &p);
  } else {
    fprintf(stderr, "%s: out of memory\n", argv[0]);
    code = EXAMPLE_FAILED;
  }
  free(p.down);
  free(p.across);
  free(p.line);
  return code;
}
