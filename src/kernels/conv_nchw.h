/*
 * Direct convolution of channels-first tensors with stride 1 and few channels,
 * vectorised along rows. conv_nchw.inc has the kernels.
 * Private to src/kernels.
 */
#ifndef CR_KERNELS_CONV_NCHW_H
#define CR_KERNELS_CONV_NCHW_H

#include "kernels/conv.h"

#define CR_CONV_NCHW_OUTS 8 /* most channels of a tile of outputs */
#define CR_CONV_NCHW_SUMS 4 /* ... and of a tile of sums */
#define CR_CONV_NCHW_TOGETHER 16

/* Planes (n, groups, channels, h, w), read as they lie or, where outputs look
 * over their edges, from a copy with zeros around. Outputs count rows and
 * columns from lo_row and lo_col on, which are row and column 0 of the copy;
 * where there is none they are not negative. */
struct cr_conv_nchw_source {
    const cr_real *x;
    int64_t n, groups, channels, h, w;
    int64_t lo_row, lo_col, rows, pitch;
    bool copied;
};

struct cr_conv_nchw_apply {
    struct cr_conv_nchw_source s;
    size_t room;              /* of a thread, for its copy */
    int64_t rows, cols, cout; /* of an image and group of y */
    int64_t bands;            /* in which threads share an image */
    int64_t taps;
    const int64_t *tap;     /* places in the source */
    const int64_t *tap_row; /* rows of the source, for output row 0 */
    const cr_real *w;       /* [group][outs][channel][tap][out] */
    cr_real *y;
    struct cr_epilogue end;
};

/* Sums in vectors, per chunk of the batch and unit (group, up to four output
 * channels, channel): [chunk][unit][tap][4][lane]. */
struct cr_conv_nchw_sums {
    struct cr_conv_nchw_source s;
    size_t room; /* of a thread, for its copies */
    const cr_real *dy;
    int64_t rows, cols, cout, kernel_rows, kernel_cols;
    const int64_t *tap;
    int64_t chunks, units, together;
    cr_real *to;
    cr_real alpha, *dw; /* for what comes next */
    bool add;
};

typedef void cr_conv_nchw_apply_part(const struct cr_conv_nchw_apply *g,
                                     int task, int n_tasks);
typedef void cr_conv_nchw_sums_part(const struct cr_conv_nchw_sums *s, int task,
                                    int n_tasks);

cr_conv_nchw_apply_part cr_conv_nchw_apply_avx512, cr_conv_nchw_apply_avx2;
cr_conv_nchw_sums_part cr_conv_nchw_sums_avx512, cr_conv_nchw_sums_avx2;
/* Adds up lanes and chunks into dw. */
cr_conv_nchw_sums_part cr_conv_nchw_reduce_avx512, cr_conv_nchw_reduce_avx2;

#endif
