/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <math.h>
#include <string.h>

static object make(uint32_t kind, float x, float y, float z, float radius, float red, float green,
                   float blue) {
  return (object){
      .centre = {x, y, z}, .radius = radius, .colour = {red, green, blue}, .kind = kind};
}

static float next_part(uint32_t *random) {
  *random = *random * 747796405u + 2891336453u;
  return (float)(*random >> 8) / 16777216.0f;
}

/* Does a small ball at (x, z) touch one of the objects there are? All stand on the floor. */
static int is_taken(const object *objects, uint32_t count, float x, float z, float radius) {
  for (uint32_t k = 0; k < count; k++) {
    float dx = x - objects[k].centre[0];
    float dz = z - objects[k].centre[2];
    float apart = 2.0f * sqrtf(radius * objects[k].radius) + 0.05f;
    if (objects[k].kind != FLOOR && dx * dx + dz * dz < apart * apart) return 1;
  }
  return 0;
}

/* Small balls, strewn in front of and between the large ones. */
static uint32_t strew(object *objects, uint32_t count, uint32_t limit) {
  static const float colours[][3] = {{0.90f, 0.35f, 0.22f}, {0.95f, 0.68f, 0.20f},
                                     {0.18f, 0.55f, 0.52f}, {0.24f, 0.36f, 0.72f},
                                     {0.86f, 0.83f, 0.76f}, {0.62f, 0.20f, 0.34f}};
  uint32_t random = 4;
  for (uint32_t tries = 0; tries < 400 && count < limit; tries++) {
    float x = 8.4f * next_part(&random) - 4.2f;
    float z = 6.0f * next_part(&random) - 3.2f;
    float radius = 0.13f + 0.16f * next_part(&random);
    float luck = next_part(&random);
    const float *c = colours[(uint32_t)(6.0f * next_part(&random)) % 6u];
    if (is_taken(objects, count, x, z, radius)) continue;
    object *ball = &objects[count++];
    *ball = make(MATTE, x, radius, z, radius, c[0], c[1], c[2]);
    if (luck > 0.85f) *ball = make(GLASS, x, radius, z, radius, 0.98f, 0.99f, 1.0f);
    if (luck < 0.18f) *ball = make(MIRROR, x, radius, z, radius, 0.9f, 0.9f, 0.9f);
  }
  return count;
}

uint32_t scene_make(object *objects) {
  uint32_t n = 0;
  memset(objects, 0, SCENE_MOST * sizeof *objects);
  objects[n++] = make(FLOOR, 0.0f, 0.0f, 0.0f, 0.0f, 0.70f, 0.64f, 0.57f);
  objects[n++] = make(GLASS, 0.15f, 1.0f, 0.6f, 1.0f, 0.98f, 0.995f, 0.99f);
  objects[n++] = make(MIRROR, -2.25f, 1.1f, -0.9f, 1.1f, 0.94f, 0.94f, 0.95f);
  objects[n++] = make(MIRROR, 2.45f, 1.0f, -0.6f, 1.0f, 0.95f, 0.70f, 0.38f);
  objects[n - 1].rough = 0.18f;
  objects[n++] = make(MATTE, 0.35f, 1.25f, -2.8f, 1.25f, 0.80f, 0.26f, 0.18f);
  n = strew(objects, n, 30);
  objects[n++] = make(LAMP, -7.0f, 7.5f, 1.5f, 1.5f, 62.0f, 52.0f, 38.0f);
  return n;
}

static void cross_product(float *out, const float *a, const float *b) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static void make_unit(float *v) {
  float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int k = 0; k < 3; k++)
    v[k] /= length;
}

view scene_view(uint32_t width, uint32_t height, uint32_t samples, uint32_t objects) {
  static const float eye[3] = {0.9f, 2.15f, 7.2f};
  static const float target[3] = {0.05f, 0.85f, -0.4f};
  static const float up[3] = {0.0f, 1.0f, 0.0f};
  const float half_height = 0.36f; /* of the picture, one unit before the eye */
  view v = {.width = width, .objects = objects, .samples = samples, .seed = 1};
  float forward[3];
  float pixel = 2.0f * half_height / (float)height;
  for (int k = 0; k < 3; k++)
    forward[k] = target[k] - eye[k];
  make_unit(forward);
  cross_product(v.right, forward, up);
  make_unit(v.right);
  cross_product(v.down, forward, v.right);
  for (int k = 0; k < 3; k++) {
    v.eye[k] = eye[k];
    v.right[k] *= pixel;
    v.down[k] *= pixel;
    v.corner[k] = forward[k] - 0.5f * (float)width * v.right[k] - 0.5f * (float)height * v.down[k];
  }
  return v;
}
