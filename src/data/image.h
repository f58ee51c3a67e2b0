/*
 * Images (height, width, channels) or (height, width) as transforms see them:
 * their sizes, and a window of one that may reach over its borders. A crop, a
 * padded image and a crop of a padded image are all such windows, so nothing
 * is ever padded for the sake of being cropped.
 */
#ifndef CR_DATA_IMAGE_H
#define CR_DATA_IMAGE_H

#include "data/transform.h"

struct cr_image {
    int64_t h, w, c;
    size_t pixel;           /* bytes of one: c elements */
};

#define CR_IMAGE_SIDE 65536

/* What lies beyond the border: a value, the border's pixel again, or the
 * image mirrored, the pixel at the border excluded or included. */
enum cr_border { CR_CONSTANT, CR_EDGE, CR_REFLECT, CR_SYMMETRIC };
#define CR_BORDERS "CONSTANT|EDGE|REFLECT|SYMMETRIC"

struct cr_margins {
    int64_t left, top, right, bottom;
};

/* The sizes of plan->in; reports what is no image. */
bool cr_image_of(const struct cr_transform_plan *plan, const char *name,
                 struct cr_image *to);
/* One number is for all sides, two are left and right, top and bottom; four
 * are left, top, right, bottom. */
bool cr_image_margins(const struct cr_transform_plan *plan, const char *name,
                      const struct cr_ints *given, struct cr_margins *to);
/* One number, or one for each channel, as the bytes of a pixel; none is 0. */
bool cr_image_fill(const struct cr_transform_plan *plan, const char *name,
                   const struct cr_ints *given, const struct cr_image *image,
                   void **to);
/* Whether the image is large enough to be mirrored so far. */
bool cr_image_mirrors(const struct cr_transform_plan *plan, const char *name,
                      const struct cr_image *image, const struct cr_margins *by,
                      enum cr_border border);
/* Height and width of an option that takes one number or two. */
bool cr_image_size(const struct cr_transform_plan *plan, const char *name,
                   const struct cr_ints *size, int64_t *h, int64_t *w);
/* plan->out becomes plan->in with another height and width. */
bool cr_image_resized(struct cr_transform_plan *plan, const char *name,
                      int64_t h, int64_t w);

/* y (h, w) becomes the window of x whose first pixel is (top, left). fill is
 * one pixel, used with CR_CONSTANT only. */
void cr_image_window(const struct cr_image *image, const void *x, int64_t top,
                     int64_t left, int64_t h, int64_t w,
                     enum cr_border border, const void *fill, void *y);

#endif
