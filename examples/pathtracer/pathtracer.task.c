/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path tracer. A path starts at the camera and bounces off surfaces until it leaves for the sky
 * or is given up, so paths differ much in length. One task follows a bundle of paths, one a lane,
 * and awaits every bounce.
 */

/* ---- vectors; the names stay clear of the ones that OpenCL C has built in ---- */

struct vec {
  float x, y, z;
};

RDL_FN struct vec vec_of(float x, float y, float z) {
  struct vec v;
  v.x = x;
  v.y = y;
  v.z = z;
  return v;
}

RDL_FN struct vec vec_add(struct vec a, struct vec b) {
  return vec_of(a.x + b.x, a.y + b.y, a.z + b.z);
}

RDL_FN struct vec vec_sub(struct vec a, struct vec b) {
  return vec_of(a.x - b.x, a.y - b.y, a.z - b.z);
}

RDL_FN struct vec vec_mul(struct vec a, struct vec b) {
  return vec_of(a.x * b.x, a.y * b.y, a.z * b.z);
}

RDL_FN struct vec vec_scale(struct vec a, float s) {
  return vec_of(a.x * s, a.y * s, a.z * s);
}

/* a + s * b */
RDL_FN struct vec vec_towards(struct vec a, float s, struct vec b) {
  return vec_of(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

RDL_FN float vec_dot(struct vec a, struct vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

RDL_FN struct vec vec_unit(struct vec a) {
  return vec_scale(a, 1.0f / rdl_sqrt(vec_dot(a, a)));
}

RDL_FN struct vec vec_mirror(struct vec d, struct vec normal) {
  return vec_towards(d, -2.0f * vec_dot(d, normal), normal);
}

/* ---- what lies in memory: 16 words each, the same on the host ---- */

#define MATTE  0u
#define MIRROR 1u
#define GLASS  2u
#define LAMP   3u
#define FLOOR  4u /* endless, at the height of its centre; all others are spheres */

struct object {
  float centre[3];
  float radius;
  float colour[3];
  float rough; /* mirrors: 0 = polished */
  uint kind;
  uint pad[7];
};

#define MOST_BOUNCES 12u
#define ENDED        0xffffffffu

struct view {
  float eye[3];
  float corner[3]; /* the picture's upper left corner, seen from the eye */
  float right[3];  /* one pixel further */
  float down[3];
  uint width;
  uint objects; /* the last one is the lamp */
  uint samples;
  uint seed;
};

/* One path on its way: ray, share of the light it still carries, light gathered so far. */
struct path {
  float origin[3];
  float direction[3];
  float weight[3];
  float light[3];
  uint random;
  uint sees_lamp; /* the last bounce did not ask for the lamp's light itself */
  uint blurred;   /* it has met a matte surface */
  uint depth;     /* bounces so far; ENDED */
};

RDL_FN struct vec vec_load(RDL_GLOBAL const float *from) {
  return vec_of(from[0], from[1], from[2]);
}

RDL_FN void vec_store(RDL_GLOBAL float *to, struct vec v) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
}

/* ---- random numbers: the PCG hash, so that every sample of every pixel has a row of its own ----
 */

RDL_FN uint pcg_hash(uint v) {
  uint state = v * 747796405u + 2891336453u;
  uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}

/* From 0 up to, but not including, 1. */
RDL_FN float random_part(uint *random) {
  *random = pcg_hash(*random);
  return (float)(*random >> 8) * (1.0f / 16777216.0f);
}

/* A point on the unit sphere, by trying points of the cube around it. */
RDL_FN struct vec random_direction(uint *random) {
  struct vec v;
  float square;
  do {
    v.x = 2.0f * random_part(random) - 1.0f;
    v.y = 2.0f * random_part(random) - 1.0f;
    v.z = 2.0f * random_part(random) - 1.0f;
    square = vec_dot(v, v);
  } while (square > 1.0f || square < 1e-4f);
  return vec_scale(v, 1.0f / rdl_sqrt(square));
}

/* ---- the scene ---- */

#define NEAREST 1e-3f
#define FAR     1e30f
#define NOTHING 0xffffffffu

struct scene {
  RDL_GLOBAL const struct object *objects;
  uint count;
};

RDL_FN float meet_floor(float height, struct vec from, struct vec along) {
  float distance = (height - from.y) / along.y;
  return distance > NEAREST && distance < FAR ? distance : FAR;
}

/* Where the ray meets object `k`, or FAR. */
RDL_FN float meet(struct scene scene, uint k, struct vec from, struct vec along) {
  struct vec centre = vec_load(scene.objects[k].centre);
  struct vec to_centre = vec_sub(centre, from);
  float radius = scene.objects[k].radius;
  float middle = vec_dot(to_centre, along);
  struct vec off = vec_towards(to_centre, -middle, along);
  float half_square = radius * radius - vec_dot(off, off);
  float half_chord;
  if (scene.objects[k].kind == FLOOR) return meet_floor(centre.y, from, along);
  if (half_square < 0.0f) return FAR;
  half_chord = rdl_sqrt(half_square);
  if (middle - half_chord > NEAREST) return middle - half_chord;
  return middle + half_chord > NEAREST ? middle + half_chord : FAR;
}

RDL_FN struct vec outward_normal(struct scene scene, uint k, struct vec point) {
  if (scene.objects[k].kind == FLOOR) return vec_of(0.0f, 1.0f, 0.0f);
  return vec_unit(vec_sub(point, vec_load(scene.objects[k].centre)));
}

/* The nearest object on the way, or NOTHING. */
RDL_FN uint find_hit(struct scene scene, struct vec from, struct vec along, float *distance) {
  uint k, found = NOTHING;
  *distance = FAR;
  for (k = 0; k < scene.count; k++) {
    float d = meet(scene, k, from, along);
    if (d < *distance) {
      *distance = d;
      found = k;
    }
  }
  return found;
}

/* Is anything before `k` in between? The lamp is the last object and casts no shadow. */
RDL_FN uint is_hidden(struct scene scene, struct vec from, struct vec along, float limit) {
  uint k;
  for (k = 0; k + 1u < scene.count; k++)
    if (meet(scene, k, from, along) < limit) return 1;
  return 0;
}

/* Warm at the horizon, blue above. */
RDL_FN struct vec sky(struct vec along) {
  float up = along.y > 0.0f ? along.y : 0.0f;
  float below = (1.0f - up) * (1.0f - up);
  float share = below * below;
  struct vec horizon = vec_of(0.86f, 0.68f, 0.52f);
  struct vec zenith = vec_of(0.10f, 0.25f, 0.62f);
  return vec_add(vec_scale(horizon, share), vec_scale(zenith, 1.0f - share));
}

/* Far away the floor dissolves into the sky behind it, by chance. */
RDL_FN uint is_hazy(float distance, uint *random) {
  float depth = distance * (1.0f / 45.0f);
  return random_part(random) * (1.0f + depth * depth) > 1.0f;
}

/* ---- surfaces: each turns the path into its next direction ---- */

RDL_FN struct vec surface_colour(struct scene scene, uint k, struct vec point) {
  struct vec colour = vec_load(scene.objects[k].colour);
  if (scene.objects[k].kind == FLOOR) {
    int cell = (int)rdl_floor(point.x * 0.8f) + (int)rdl_floor(point.z * 0.8f);
    if (cell & 1) colour = vec_scale(colour, 0.45f);
  }
  return colour;
}

/* Light that comes straight from the lamp: one random point of the half that faces `point`. */
RDL_FN struct vec lamp_light(struct scene scene, struct vec point, struct vec normal,
                             uint *random) {
  uint lamp = scene.count - 1u;
  float radius = scene.objects[lamp].radius;
  struct vec centre = vec_load(scene.objects[lamp].centre);
  struct vec outward = random_direction(random);
  struct vec to_lamp;
  float square, distance, here, there;
  if (vec_dot(outward, vec_sub(point, centre)) < 0.0f) outward = vec_scale(outward, -1.0f);
  to_lamp = vec_sub(vec_towards(centre, radius, outward), point);
  square = vec_dot(to_lamp, to_lamp);
  distance = rdl_sqrt(square);
  to_lamp = vec_scale(to_lamp, 1.0f / distance);
  here = vec_dot(normal, to_lamp);
  there = -vec_dot(outward, to_lamp);
  if (here <= 0.0f || there <= 0.0f) return vec_of(0.0f, 0.0f, 0.0f);
  if (is_hidden(scene, point, to_lamp, distance)) return vec_of(0.0f, 0.0f, 0.0f);
  return vec_scale(vec_load(scene.objects[lamp].colour),
                   2.0f * radius * radius * here * there / square);
}

/* Reflects or refracts, by chance, in the shares that the angle gives (Schlick's approximation). */
RDL_FN struct vec through_glass(struct vec along, struct vec normal, uint inside, uint *random) {
  float ratio = inside ? 1.5f : 1.0f / 1.5f;
  float cosine = -vec_dot(along, normal);
  float square = 1.0f - ratio * ratio * (1.0f - cosine * cosine);
  float outside_cosine, flat, reflected;
  if (square <= 0.0f) return vec_mirror(along, normal);
  outside_cosine = inside ? rdl_sqrt(square) : cosine;
  flat = 1.0f - outside_cosine;
  reflected = 0.04f + 0.96f * flat * flat * flat * flat * flat;
  if (random_part(random) < reflected) return vec_mirror(along, normal);
  return vec_unit(vec_towards(vec_scale(along, ratio), ratio * cosine - rdl_sqrt(square), normal));
}

/* ---- one bounce of one path ---- */

/* Paths that carry little are given up by chance; those that go on carry more instead. */
RDL_FN uint goes_on(struct vec *weight, uint depth, uint *random) {
  float most = rdl_fmax(weight->x, rdl_fmax(weight->y, weight->z));
  if (depth >= MOST_BOUNCES || most <= 0.0f) return 0;
  if (depth < 3u || most >= 1.0f) return 1;
  if (random_part(random) >= most) return 0;
  *weight = vec_scale(*weight, 1.0f / most);
  return 1;
}

/* The lamp, seen by way of a matte surface and then a mirror, is rare and very bright: its light is
   limited, or single pixels would sparkle. */
#define BRIGHTEST 3.0f

RDL_FN void add_light(RDL_GLOBAL struct path *path, struct vec weight, struct vec light) {
  struct vec share = vec_mul(weight, light);
  float most = rdl_fmax(share.x, rdl_fmax(share.y, share.z));
  if (path->blurred && most > BRIGHTEST) share = vec_scale(share, BRIGHTEST / most);
  vec_store(path->light, vec_add(vec_load(path->light), share));
}

/* The path has met object `k` at `point`. Sets its next direction, weight and flags. */
RDL_FN void scatter(struct scene scene, RDL_GLOBAL struct path *path, uint k, struct vec point) {
  struct vec along = vec_load(path->direction);
  struct vec weight = vec_load(path->weight);
  struct vec normal = outward_normal(scene, k, point);
  uint inside = vec_dot(normal, along) > 0.0f;
  uint kind = scene.objects[k].kind;
  uint random = path->random;
  if (inside) normal = vec_scale(normal, -1.0f);
  weight = vec_mul(weight, surface_colour(scene, k, point));
  path->sees_lamp = kind == MIRROR || kind == GLASS;
  if (kind == MIRROR) {
    float rough = scene.objects[k].rough;
    along = vec_unit(vec_towards(vec_mirror(along, normal), rough, random_direction(&random)));
    if (vec_dot(along, normal) <= 0.0f) weight = vec_of(0.0f, 0.0f, 0.0f);
  } else if (kind == GLASS) {
    along = through_glass(along, normal, inside, &random);
  } else {
    add_light(path, weight, lamp_light(scene, point, normal, &random));
    along = vec_unit(vec_towards(normal, 0.999f, random_direction(&random)));
    path->blurred = 1;
  }
  path->depth = goes_on(&weight, path->depth + 1u, &random) ? path->depth + 1u : ENDED;
  path->random = random;
  vec_store(path->origin, point);
  vec_store(path->direction, along);
  vec_store(path->weight, weight);
}

RDL_FN void follow(struct scene scene, RDL_GLOBAL struct path *path) {
  struct vec from = vec_load(path->origin);
  struct vec along = vec_load(path->direction);
  float distance;
  uint random = path->random;
  uint k = find_hit(scene, from, along, &distance);
  if (k != NOTHING && scene.objects[k].kind == FLOOR && is_hazy(distance, &random)) k = NOTHING;
  path->random = random;
  if (k == NOTHING) {
    add_light(path, vec_load(path->weight), sky(along));
    path->depth = ENDED;
  } else if (scene.objects[k].kind == LAMP) {
    if (path->sees_lamp) add_light(path, vec_load(path->weight), vec_load(scene.objects[k].colour));
    path->depth = ENDED;
  } else {
    scatter(scene, path, k, vec_towards(from, distance, along));
  }
}

/* Starts the path of one sample: through a random point of the pixel. */
RDL_FN void begin_path(RDL_GLOBAL const struct view *view, RDL_GLOBAL struct path *path, uint pixel,
                       uint sample) {
  uint random = pcg_hash(pixel * view->samples + sample + pcg_hash(view->seed));
  float column = (float)(pixel % view->width) + random_part(&random);
  float row = (float)(pixel / view->width) + random_part(&random);
  struct vec along = vec_load(view->corner);
  along = vec_towards(along, column, vec_load(view->right));
  along = vec_towards(along, row, vec_load(view->down));
  vec_store(path->origin, vec_load(view->eye));
  vec_store(path->direction, vec_unit(along));
  vec_store(path->weight, vec_of(1.0f, 1.0f, 1.0f));
  vec_store(path->light, vec_of(0.0f, 0.0f, 0.0f));
  path->random = random;
  path->sees_lamp = 1;
  path->blurred = 0;
  path->depth = 0;
}

/* ---- tasks ---- */

/* One bounce of each path of a bundle that is still on its way; returns how many still are. */
struct bounce_args {
  rdl_ptr view;
  rdl_ptr objects;
  rdl_ptr paths;
};

RDL_TASK(bounce, uint, struct bounce_args, RDL_NONE) {
  RDL_GLOBAL struct path *path = RDL_AT(struct path, args->paths) + rdl_lane();
  struct scene scene;
  RDL_BEGIN();
  scene.objects = RDL_AT(const struct object, args->objects);
  scene.count = RDL_AT(const struct view, args->view)->objects;
  if (path->depth != ENDED) follow(scene, path);
  RDL_RETURN(rdl_reduce_add_u32(path->depth != ENDED));
  RDL_END();
}

/* A row of pixels, one a lane, from `pixel` on: all samples of each. `picture` gets their light. */
struct bundle_args {
  rdl_ptr view;
  rdl_ptr objects;
  rdl_ptr paths;   /* of the whole picture, one a pixel; the last bundle may pass its end */
  rdl_ptr picture; /* three floats a pixel */
  rdl_event done;
  uint pixel;
  uint pixels; /* of the picture */
};

struct bundle_state {
  rdl_future bounce;
  uint sample;
  uint alive;
};

/* What a lane has gathered for its pixel. The paths themselves lie in memory, where the bounces,
   which are other tasks, find them. */
struct bundle_lane_state {
  struct vec light;
};

RDL_TASK_LANES(bundle, RDL_NONE, struct bundle_args, struct bundle_state,
               struct bundle_lane_state) {
  RDL_GLOBAL const struct view *view = RDL_AT(const struct view, args->view);
  uint pixel = args->pixel + rdl_lane();
  RDL_GLOBAL struct path *path = RDL_AT(struct path, args->paths) + pixel;
  RDL_BEGIN();
  for (self->sample = 0; self->sample < view->samples; self->sample++) {
    begin_path(view, path, pixel, self->sample);
    do {
      RDL_SPAWN(self->bounce, bounce, .view = args->view, .objects = args->objects,
                .paths = args->paths + args->pixel * sizeof(struct path));
      RDL_AWAIT(self->bounce);
      RDL_TAKE(self->alive, uint, self->bounce);
    } while (self->alive);
    mine->light = vec_add(mine->light, vec_load(path->light));
  }
  if (pixel < args->pixels) vec_store(RDL_AT(float, args->picture) + 3u * pixel, mine->light);
  RDL_SIGNAL(args->done, 1);
  RDL_END();
}
