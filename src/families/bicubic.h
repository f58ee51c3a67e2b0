/*
 * Bicubic interpolation of planes to another size, for Upsample.
 */
#ifndef CR_FAMILIES_BICUBIC_H
#define CR_FAMILIES_BICUBIC_H

#include "graph/op.h"

struct cr_bicubic {
    int64_t h, w; /* output size */
    bool align;   /* the first and last elements keep their places */
};

/* Takes (N, C, H, W). */
extern const struct cr_op cr_bicubic_op;

#endif
