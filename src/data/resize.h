/*
 * Resizing of images, bit-identical to OpenCV (cellrun-arithmetic(7), Images),
 * for Resize and for crops that are resized. The tables for a pair of sizes are
 * made once, in memory of the caller; running allocates nothing.
 */
#ifndef CR_DATA_RESIZE_H
#define CR_DATA_RESIZE_H

#include "num/spec.h"

enum cr_inter {
    CR_LINEAR,
    CR_NEAREST,
    CR_CUBIC,
    CR_AREA
};
#define CR_INTERS "LINEAR|NEAREST|CUBIC|AREA"

struct cr_resize_size {
    int64_t in_h, in_w, out_h, out_w, channels;
};

struct cr_resize;

/* Bytes needed for a resize of at most these sizes. */
size_t cr_resize_bytes(const struct cr_resize_size *size, enum cr_inter inter);
/* mem is aligned for any object. */
const struct cr_resize *cr_resize_make(void *mem,
                                       const struct cr_resize_size *size,
                                       enum cr_inter inter);
/* x and y are uint8 or float32; NEAREST takes any type. */
void cr_resize_run(const struct cr_resize *scale, enum cr_type type,
                   const void *x, void *y);

#endif
