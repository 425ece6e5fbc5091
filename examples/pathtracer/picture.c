/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bright light is pressed together so that it keeps its colour (Reinhard's curve with a white
 * point), then encoded as sRGB. */
static uint8_t develop(float light) {
  const float white = 4.0f;
  float x = light * (1.0f + light / (white * white)) / (1.0f + light);
  float y = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
  return (uint8_t)(y >= 1.0f ? 255.0f : 255.0f * y + 0.5f);
}

void picture_develop(uint8_t *out, const float *light, uint32_t pixels, uint32_t samples) {
  for (uint32_t k = 0; k < 3 * pixels; k++)
    out[k] = develop(1.5f * light[k] / (float)samples);
}

bool picture_write(const char *path, const uint8_t *picture, uint32_t width, uint32_t height) {
  png_image image = {
      .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
  if (png_image_write_to_file(&image, path, 0, picture, 0, NULL)) return true;
  fprintf(stderr, "cannot write %s: %s\n", path, image.message);
  return false;
}

/* NULL after saying why. The caller frees the pixels. */
static uint8_t *read_picture(const char *path, uint32_t width, uint32_t height) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  uint8_t *pixels = NULL;
  if (!png_image_begin_read_from_file(&image, path)) {
    fprintf(stderr, "cannot read %s: %s\n", path, image.message);
    return NULL;
  }
  image.format = PNG_FORMAT_RGB;
  if (image.width != width || image.height != height)
    fprintf(stderr, "%s has %u x %u pixels, not %u x %u\n", path, image.width, image.height, width,
            height);
  else
    pixels = malloc(PNG_IMAGE_SIZE(image));
  if (pixels && !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
    fprintf(stderr, "cannot read %s: %s\n", path, image.message);
    free(pixels);
    pixels = NULL;
  }
  png_image_free(&image);
  return pixels;
}

bool picture_is_like(const char *path, const uint8_t *picture, uint32_t width, uint32_t height,
                     int most_difference) {
  uint32_t channels = 3 * width * height;
  uint32_t differing = 0;
  int largest = 0;
  uint8_t *reference = read_picture(path, width, height);
  if (!reference) return false;
  for (uint32_t k = 0; k < channels; k++) {
    int difference = abs(picture[k] - reference[k]);
    differing += difference != 0;
    if (difference > largest) largest = difference;
  }
  free(reference);
  printf("compared with the reference: %u of %u channels differ, by %d at most\n", differing,
         channels, largest);
  return largest <= most_difference && differing <= channels / 1000;
}
