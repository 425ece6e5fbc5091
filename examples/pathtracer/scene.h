/* SPDX-License-Identifier: Apache-2.0 */
/* What the picture shows. The structures are those of pathtracer.task.c. */
#ifndef PATHTRACER_SCENE_H
#define PATHTRACER_SCENE_H

#include <stdint.h>

enum { MATTE, MIRROR, GLASS, LAMP, FLOOR };

typedef struct object {
  float centre[3];
  float radius;
  float colour[3];
  float rough;
  uint32_t kind;
  uint32_t pad[7];
} object;

typedef struct view {
  float eye[3];
  float corner[3];
  float right[3];
  float down[3];
  uint32_t width;
  uint32_t objects;
  uint32_t samples;
  uint32_t seed;
} view;

#define PATH_BYTES 64u

#define SCENE_MOST 64u

/* Fills `objects`, which has room for SCENE_MOST, and returns how many there are. */
uint32_t scene_make(object *objects);

/* A camera for a picture of this size. */
view scene_view(uint32_t width, uint32_t height, uint32_t samples, uint32_t objects);

#endif
