/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of eight bits a channel, three channels a pixel, as PNG files. */
#ifndef PATHTRACER_PICTURE_H
#define PATHTRACER_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Turns summed light (three floats a pixel) into what a screen shows. */
void picture_develop(uint8_t *out, const float *light, uint32_t pixels, uint32_t samples);

/* Both print what went wrong. */
bool picture_write(const char *path, const uint8_t *picture, uint32_t width, uint32_t height);

/* Compares with a file, prints how much the two differ, and returns whether they are alike: at most
 * one channel in a thousand may differ, and none by more than `most_difference`. */
bool picture_is_like(const char *path, const uint8_t *picture, uint32_t width, uint32_t height,
                     int most_difference);

#endif
