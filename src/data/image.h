/*
 * Images (height, width, channels) or (height, width) as transforms use them:
 * their sizes, and windows that may extend over the border. A crop, a padded
 * image and a crop of a padded image are all windows, so cropping never needs a
 * padded copy.
 */
#ifndef CR_DATA_IMAGE_H
#define CR_DATA_IMAGE_H

#include "data/transform.h"

struct cr_image {
    int64_t h, w, c;
    size_t pixel;           /* bytes of a pixel: c elements */
};

#define CR_IMAGE_SIDE 65536

/* Values beyond the border: a constant, the pixel at the border, or the
 * mirrored image without or with the pixel at the border. */
enum cr_border { CR_CONSTANT, CR_EDGE, CR_REFLECT, CR_SYMMETRIC };
#define CR_BORDERS "CONSTANT|EDGE|REFLECT|SYMMETRIC"

struct cr_margins {
    int64_t left, top, right, bottom;
};

/* Sets *to to the sizes of plan->in. False after reporting that it is not an
 * image. */
bool cr_image_of(const struct cr_transform_plan *plan, const char *name,
                 struct cr_image *to);
/* Reads margins: one number for all sides; two for left and right, top and
 * bottom; four for left, top, right, bottom. */
bool cr_image_margins(const struct cr_transform_plan *plan, const char *name,
                      const struct cr_ints *given, struct cr_margins *to);
/* Reads a fill value, one number or one per channel, as the bytes of a pixel;
 * default 0. */
bool cr_image_fill(const struct cr_transform_plan *plan, const char *name,
                   const struct cr_ints *given, const struct cr_image *image,
                   void **to);
/* Checks that the image is large enough to be mirrored by these margins. */
bool cr_image_mirrors(const struct cr_transform_plan *plan, const char *name,
                      const struct cr_image *image, const struct cr_margins *by,
                      enum cr_border border);
/* Reads height and width of an option with one or two numbers. */
bool cr_image_size(const struct cr_transform_plan *plan, const char *name,
                   const struct cr_ints *size, int64_t *h, int64_t *w);
/* Whether pixels of that type can be resized: uint8 and float32, and the
 * classes of a mask (int32) by NEAREST. False after reporting. */
bool cr_image_resizable(const struct cr_transform_plan *plan, const char *name,
                        bool nearest);
/* Sets plan->out to plan->in with another height and width. */
bool cr_image_resized(struct cr_transform_plan *plan, const char *name,
                      int64_t h, int64_t w);

/* Writes to y (h, w) the window of x whose first pixel is (top, left). fill is
 * one pixel, used with CR_CONSTANT only. */
void cr_image_window(const struct cr_image *image, const void *x, int64_t top,
                     int64_t left, int64_t h, int64_t w,
                     enum cr_border border, const void *fill, void *y);

#endif
