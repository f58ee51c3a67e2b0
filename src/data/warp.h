/*
 * Affine maps of images, as OpenCV's warpAffine: each pixel of the result is
 * the nearest one of the image, or with uint8 the linear interpolation of
 * four.
 */
#ifndef CR_DATA_WARP_H
#define CR_DATA_WARP_H

#include "data/image.h"

enum cr_warp_by { CR_WARP_NEAREST, CR_WARP_LINEAR };
#define CR_WARPS "NEAREST|LINEAR"

/* Whether pixels of that type can be interpolated. False after reporting. */
bool cr_warp_check(const struct cr_transform_plan *plan, const char *name,
                   enum cr_warp_by by);

/* Writes to y the image x moved by (u, v) = (a[0] x + a[1] y + a[2], a[3] x +
 * a[4] y + a[5]), with the pixel `fill` where x has none. y is not x. */
void cr_warp(const struct cr_image *image, const void *x, const double a[6],
             enum cr_warp_by by, const void *fill, void *y);

/* The map that rotates counter-clockwise about (x, y), in degrees. */
void cr_warp_rotation(double degrees, double x, double y, double a[6]);

/* The map of RandomAffine: shear by two angles, scale and clockwise rotation
 * about the centre of the image, and translation, computed in float32. */
struct cr_affine {
    float degrees, scale, shear[2], translate[2];
};

void cr_warp_affine(const struct cr_image *image, const struct cr_affine *of,
                    double a[6]);

#endif
