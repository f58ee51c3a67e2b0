/*
 * Depthwise convolutions of channels-last tensors: each channel is a group, so
 * an output is a sum over the taps of the kernel alone, and vectors are filled
 * with channels. Forward and the gradient of the input are one kernel over
 * lists of taps. conv_depthwise.inc has it, conv_depthwise.c prepares its
 * arguments. It waits for memory more than for arithmetic, so a row of numbers
 * that take two bytes is widened once for all taps. Private to src/kernels.
 */
#ifndef CR_KERNELS_CONV_DEPTHWISE_H
#define CR_KERNELS_CONV_DEPTHWISE_H

#include "kernels/conv.h"

/* One axis. Place q of the result sees, through tap k, this place of the source
 * if the division has no remainder and the place is one of `from`:
 *
 *   (multiply q + add + step k) / divide
 *
 * multiply is the stride in the forward pass, divide in the gradient of the
 * input; the other one is 1. */
struct cr_depthwise_axis {
    int64_t taps, multiply, add, step, divide;
    int64_t from, to; /* places of the source and of the result */
};

/* Tap k of an axis, and the place that a class's first place sees through it */
struct cr_depthwise_tap {
    int64_t k, place;
};

/* Places first, first + divide, ... of the result see the same n taps. All of
 * what they see is there for those of numbers lo to hi - 1, of `places`. */
struct cr_depthwise_class {
    const struct cr_depthwise_tap *taps;
    int64_t n, first, places, lo, hi;
};

/* Images, rows of which are widened where they take two bytes per number. */
struct cr_depthwise_source {
    const void *x;
    enum cr_type stored; /* CR_REAL, or the type that takes two bytes */
    int64_t row;         /* numbers of a row */
    int64_t kept;        /* rows that a thread keeps widened */
};

struct cr_depthwise_apply {
    struct cr_depthwise_source x;
    struct cr_depthwise_axis rows, cols;
    const struct cr_depthwise_class *classes; /* cols.divide of columns */
    int64_t n, channels;
    const cr_real *w; /* [tap][channels, in whole vectors] */
    void *y;
    struct cr_epilogue end;
    enum cr_type y_stored, mask_stored; /* as that of a source */
    size_t room;                        /* of a thread */
};

/* Sums over the images of a chunk of the batch, a unit for each group of
 * channels: [chunk][tap][channels, in whole vectors] */
struct cr_depthwise_sums {
    struct cr_depthwise_source x, dy;
    struct cr_depthwise_axis rows, cols; /* as in the forward pass */
    const struct cr_depthwise_class *classes;
    int64_t n, channels, chunks, group;
    cr_real *to;
    size_t room;
};

typedef void cr_depthwise_apply_part(const struct cr_depthwise_apply *a,
                                     int task, int n_tasks);
typedef void cr_depthwise_sums_part(const struct cr_depthwise_sums *s, int task,
                                    int n_tasks);

cr_depthwise_apply_part cr_depthwise_apply_avx512, cr_depthwise_apply_avx2;
cr_depthwise_sums_part cr_depthwise_sums_avx512, cr_depthwise_sums_avx2;

#endif
