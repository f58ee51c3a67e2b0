/*
 * Grouped convolutions of channels-last tensors whose groups have few channels,
 * depthwise ones among them: vectors are filled with channels of the result,
 * those of several groups. All that a lane is made of are channels of its own
 * group, so the lanes of the source are permuted in registers, once for each
 * channel of a group (a depthwise convolution needs no permutation). Forward
 * and the gradient of the input are one kernel over lists of taps.
 * Channels of a vector lie far from those of the next pixel, so a thread copies
 * the rows that it reads, in vectors that are adjacent, with borders of zeros,
 * and as floats where numbers take two bytes. A depthwise convolution reads
 * floats where they lie. conv_grouped.inc has the kernels, conv_grouped.c
 * prepares their arguments. Private to src/kernels.
 */
#ifndef CR_KERNELS_CONV_GROUPED_H
#define CR_KERNELS_CONV_GROUPED_H

#include "kernels/conv.h"

#define CR_GROUPED_LANES 16 /* of the longest vector */

/* One axis. Place q of the result sees, through tap k, this place of the source
 * if the division has no remainder and the place is one of `from`:
 *
 *   (multiply q + add + step k) / divide
 *
 * multiply is the stride in the forward pass, divide in the gradient of the
 * input; the other one is 1. */
struct cr_grouped_axis {
    int64_t taps, multiply, add, step, divide;
    int64_t from, to; /* places of the source and of the result */
};

/* Tap k of an axis, and the place that a class's first place sees through it */
struct cr_grouped_tap {
    int64_t k, place;
};

/* Places first, first + divide, ... of the result see the same n taps. All of
 * what they see is there for those of numbers lo to hi - 1, of `places`. */
struct cr_grouped_class {
    const struct cr_grouped_tap *taps;
    int64_t n, first, places, lo, hi;
    int near; /* from tap to tap to the next place, 1, or the one before, -1,
                 as from place to place of the result; or 0 */
};

/* What each lane of a block of the result has from a vector of the block's
 * channels of the source: number lane[i] where there[i] is -1, nothing where it
 * is 0. */
struct cr_grouped_term {
    int64_t vector;
    int32_t lane[CR_GROUPED_LANES], there[CR_GROUPED_LANES];
};

/* Blocks of whole groups: `to` channels of the result, a vector or less, and
 * the `from` channels of the source that these groups have. */
struct cr_grouped_blocks {
    int64_t n, from, to;
    const struct cr_grouped_term *terms;
    int64_t n_terms;
    bool permuted; /* or each lane is its own */
};

/* Images, and the copy of rows that a thread keeps: [vector][place][lane]. */
struct cr_grouped_source {
    const void *x;
    enum cr_type stored; /* CR_REAL, or the type that takes two bytes */
    int64_t channels, places;
    int64_t block, vectors; /* channels and vectors of a block */
    int64_t border;         /* places of zeros before and after a row */
    int64_t kept;           /* rows; 0: it is read where it lies */
};

struct cr_grouped_apply {
    struct cr_grouped_source x;
    struct cr_grouped_axis rows, cols;
    const struct cr_grouped_class *classes; /* cols.divide of columns */
    struct cr_grouped_blocks blocks;
    int64_t together;    /* blocks of a unit */
    int64_t n, channels; /* of the result */
    const cr_real *w;    /* [tap][block][term][lane] */
    void *y;
    struct cr_epilogue end;
    enum cr_type y_stored, mask_stored; /* as that of a source */
    size_t room;                        /* of a thread */
};

/* Sums over the images of a chunk of the batch, a unit for each few blocks:
 * [chunk][tap][block][term][lane] */
struct cr_grouped_sums {
    struct cr_grouped_source x, dy;
    struct cr_grouped_axis rows, cols; /* as in the forward pass */
    const struct cr_grouped_class *classes;
    struct cr_grouped_blocks blocks;
    int64_t n, chunks, together; /* blocks of a unit */
    cr_real *to;
    size_t room;
};

typedef void cr_grouped_apply_part(const struct cr_grouped_apply *a, int task,
                                   int n_tasks);
typedef void cr_grouped_sums_part(const struct cr_grouped_sums *s, int task,
                                  int n_tasks);

cr_grouped_apply_part cr_grouped_apply_avx512, cr_grouped_apply_avx2;
cr_grouped_sums_part cr_grouped_sums_avx512, cr_grouped_sums_avx2;

#endif
