/*
 * Changes of the colours of uint8 images, in place, as MindSpore and OpenCV
 * compute them: brightness, contrast, saturation and sharpness by a factor f
 * (1: no change, 0: black, grey, grey, smooth), and maps of the values of each
 * channel. n is a number of pixels, c of channels.
 */
#ifndef CR_DATA_ENHANCE_H
#define CR_DATA_ENHANCE_H

#include "data/image.h"

/* Sets *to to the sizes of an image of uint8 with that number of channels; 0:
 * any. False after reporting. */
bool cr_image_of_bytes(const struct cr_transform_plan *plan, const char *name,
                       int64_t channels, struct cr_image *to);

/* Grey of an RGB pixel, as Pillow rounds .299, .587 and .114 (BT.601). */
unsigned char cr_enhance_gray601(const unsigned char *rgb);
unsigned char cr_enhance_byte(float v);

/* RGB */
/* That grey in all channels. */
void cr_enhance_grayscale(unsigned char *x, int64_t n);
void cr_enhance_brightness(unsigned char *x, int64_t n, float f);
void cr_enhance_contrast(unsigned char *x, int64_t n, float f);
void cr_enhance_saturation(unsigned char *x, int64_t n, float f);

/* y = f x + (1 - f) s, s: x smoothed by (1 1 1; 1 5 1; 1 1 1) / 13, and equal
 * to x at the border. y is not x. */
void cr_enhance_sharpness(const struct cr_image *image, const unsigned char *x,
                          float f, unsigned char *y);

/* Stretches each channel to 0..255, after removing cutoff percent of its
 * smallest and largest values and those of `ignore`, if any. */
void cr_enhance_auto_contrast(unsigned char *x, int64_t n, int64_t c,
                              int64_t cutoff, const struct cr_ints *ignore);
/* Histogram equalisation of each channel. */
void cr_enhance_equalize(unsigned char *x, int64_t n, int64_t c);
/* Keeps the highest bits. */
void cr_enhance_posterize(unsigned char *x, int64_t n, int64_t c, int bits);
/* 255 - x if low <= x <= high. */
void cr_enhance_solarize(unsigned char *x, int64_t n, int64_t c, double low,
                         double high);

#endif
