/* SPDX-License-Identifier: Apache-2.0 */
/* Renders a picture: a task a bundle of pixels, an await a bounce. Writes a PNG file. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/example.h"
#include "picture.h"
#include "scene.h"

static example_place place;
static const char *out_path = "pathtracer.png";
static const char *reference = NULL;
static uint32_t size = 480;
static uint32_t spp = 32;

static const example_option options[] = {
    {"size", "N", "width in pixels; height is 3/4", .number = &size, .least = 4, .most = 4000},
    {"spp", "N", "paths a pixel", .number = &spp, .least = 1, .most = 65536},
    {"out", "FILE", "where the PNG goes", .text = &out_path},
    {"compare", "FILE", "fail if the picture is not like this one", .text = &reference},
    EXAMPLE_PLACE_OPTIONS(place),
};

/* Like the structure of the same name in pathtracer.task.c. */
typedef struct bundle_args {
  rdl_ptr view;
  rdl_ptr objects;
  rdl_ptr paths;
  rdl_ptr picture;
  rdl_event done;
  uint32_t pixel;
  uint32_t pixels;
} bundle_args;

typedef struct job {
  rdl_context *cx;
  rdl_module *module;
  rdl_buffer *view;
  rdl_buffer *objects;
  rdl_buffer *paths;
  rdl_buffer *picture;
  rdl_event done;
  uint32_t height;
  uint32_t pixels;
  uint32_t lanes;
  uint32_t bundles;
  bundle_args *args; /* one a bundle */
  float *light;
  uint8_t *developed;
} job;

static rdl_status make_buffers(job *j) {
  object objects[SCENE_MOST];
  uint32_t count = scene_make(objects);
  view v = scene_view(size, j->height, spp, count);
  size_t paths = (size_t)j->bundles * j->lanes * PATH_BYTES;
  rdl_status status = rdl_buffer_create(j->cx, sizeof v, &j->view);
  if (!status) status = rdl_buffer_create(j->cx, sizeof objects, &j->objects);
  if (!status) status = rdl_buffer_create(j->cx, paths, &j->paths);
  if (!status) status = rdl_buffer_create(j->cx, 3 * sizeof(float) * j->pixels, &j->picture);
  if (!status) status = rdl_buffer_write(j->view, 0, &v, sizeof v);
  if (!status) status = rdl_buffer_write(j->objects, 0, objects, sizeof objects);
  return status;
}

static rdl_status prepare(job *j) {
  rdl_context_info info = {.size = sizeof info};
  rdl_status status = rdl_context_describe(j->cx, &info);
  if (status) return status;
  j->lanes = info.lanes;
  j->bundles = (j->pixels + j->lanes - 1) / j->lanes;
  status = rdl_module_load(j->cx, example_task_file("pathtracer.task.c"), &j->module);
  if (!status) status = rdl_event_create(j->cx, j->bundles, RDL_EVENT_DEVICE, &j->done);
  if (!status) status = make_buffers(j);
  return status;
}

/* All bundles as one batch under one handle. */
static rdl_status spawn_all(job *j, rdl_future *out_batch) {
  for (uint32_t k = 0; k < j->bundles; k++)
    j->args[k] = (bundle_args){.view = rdl_buffer_address(j->view),
                               .objects = rdl_buffer_address(j->objects),
                               .paths = rdl_buffer_address(j->paths),
                               .picture = rdl_buffer_address(j->picture),
                               .done = j->done,
                               .pixel = k * j->lanes,
                               .pixels = j->pixels};
  return rdl_spawn_many(j->module, "bundle", j->args, sizeof *j->args, sizeof *j->args, j->bundles,
                        NULL, NULL, out_batch);
}

/* Every bundle signals the event, so its count tells how far the picture is. When a bundle fails
 * the count is never reached: the batch is asked, too. */
static void show_progress(job *j, rdl_future batch) {
  uint64_t tenth_second = 100000000u;
  for (uint32_t percent = 1; percent <= 100; percent++) {
    uint32_t count = (uint32_t)((uint64_t)j->bundles * percent / 100);
    while (rdl_event_wait_count(j->cx, j->done, count, tenth_second))
      if (rdl_future_wait(j->cx, &batch, 1, 0) != RDL_TIMEOUT) return;
    fprintf(stderr, "\rrendering: %u %%%s", percent, percent == 100 ? "\n" : "");
  }
}

static rdl_status render(job *j, double *out_seconds) {
  rdl_future batch;
  rdl_status status = prepare(j);
  double start = example_seconds();
  if (!status) status = spawn_all(j, &batch);
  if (status) return status;
  if (isatty(STDERR_FILENO)) show_progress(j, batch);
  status = rdl_future_get(j->cx, batch, NULL, 0, RDL_FOREVER);
  *out_seconds = example_seconds() - start;
  if (!status) status = rdl_buffer_read(j->picture, 0, j->light, 3 * sizeof(float) * j->pixels);
  return status;
}

/* Writes and compares the picture; returns the exit code. */
static int finish(const job *j, double seconds) {
  double paths = (double)j->pixels * spp;
  picture_develop(j->developed, j->light, j->pixels, spp);
  if (!picture_write(out_path, j->developed, size, j->height)) return EXAMPLE_FAILED;
  printf("%s: %u x %u, %u paths a pixel, %.2f s, %.2f million paths a second\n", out_path, size,
         j->height, spp, seconds, 1e-6 * paths / seconds);
  if (!reference || picture_is_like(reference, j->developed, size, j->height, 2)) return EXAMPLE_OK;
  fprintf(stderr, "pathtracer: the picture is not like %s\n", reference);
  return EXAMPLE_FAILED;
}

static int run(const char *program, job *j) {
  double seconds = 0;
  rdl_status status = example_open(&place, &j->cx);
  if (!status) status = render(j, &seconds);
  int code = status ? example_fail(program, j->cx, status) : finish(j, seconds);
  rdl_context_close(j->cx);
  return code;
}

int main(int argc, char **argv) {
  job j = {0};
  int code = EXAMPLE_OK;
  if (!example_options(argc, argv, "Renders a picture by following paths of light.", options,
                       sizeof options / sizeof *options, &code))
    return code;
  j.height = size * 3 / 4;
  j.pixels = size * j.height;
  j.args = calloc(j.pixels, sizeof *j.args);
  j.light = calloc(j.pixels, 3 * sizeof *j.light);
  j.developed = calloc(j.pixels, 3);
  if (j.args && j.light && j.developed) {
    code = run(argv[0], &j);
  } else {
    fprintf(stderr, "%s: out of memory\n", argv[0]);
    code = EXAMPLE_FAILED;
  }
  free(j.args);
  free(j.light);
  free(j.developed);
  return code;
}
