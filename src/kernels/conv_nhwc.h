/*
 * Direct convolution of channels-last tensors in two dimensions. conv_nhwc.inc
 * has the kernels, conv_nhwc.c prepares their arguments. Private to
 * src/kernels.
 *
 * The kernels multiply words of 32 bits. A word is a number in float32, or a
 * pair in bfloat16: of two channels in apply, of two columns in sums.
 */
#ifndef CR_KERNELS_CONV_NHWC_H
#define CR_KERNELS_CONV_NHWC_H

#include "kernels/conv.h"

/* Channels of the source lie in blocks of this many. */
#define CR_CONV_NHWC_BLOCK 16
/* Most parts of images that a thread sums over before it takes the next. */
#define CR_CONV_NHWC_TOGETHER 16

/* A source (n, h, w, channels) as a thread copies it, part by part: rows
 * from `lo_row` on, columns from `lo_col` on, zeros outside, channels in
 * blocks, and columns sorted by their remainder by `step_col`, so that those
 * an output row reads for one tap follow each other:
 *
 *   [block][row][column % step_col][column / step_col][16]
 *
 * A pair of columns lies where the first of them would.
 */
struct cr_conv_nhwc_source {
    const void *x;
    enum cr_type stored;      /* CR_REAL, or the type that takes two bytes */
    bool columns;             /* pairs are of columns */
    int64_t n, h, w, pixel;   /* pixel: channels of all groups */
    int64_t groups, channels; /* channels: of one group */
    int64_t words;            /* of a pixel, in the copy */
    int64_t lo_row, lo_col, step_row, step_col;
    int64_t quotients;    /* columns / step_col, rounded up */
    int64_t pitch, plane; /* numbers of a row, of a block */
    int64_t blocks;
    int64_t band, bands; /* output rows worked on at once */
    int64_t rows;        /* copied for a band */
};

/* A grid of outputs that have their taps in common: all of them, or in the
 * gradient of an input those of one remainder by the stride. */
struct cr_conv_nhwc_grid {
    int64_t rows, cols;
    int64_t y_at, y_row, y_col; /* where they lie in an image of y */
    int taps;
    const int64_t *tap; /* places in the copy */
    bool runs;          /* taps come in threes, column by column */
    /* [group][vectors][block][tap][channel][lane]; where runs and one vector
     * meet [...][block][run][channel][3][lane] */
    const cr_real *w;
    int64_t w_group;
};

/* An input gradient of few channels fills few lanes of a vector. There the
 * columns of the kernel are lanes, too: apply computes z (row, column of dy,
 * kernel column, channel), and each output is a sum over z (col2im):
 *
 *   dx[row][x][c] = sum over k in first[x] .. first[x + 1] - 1 of
 *                   z[row][at[k] + c]
 */
struct cr_conv_nhwc_fold {
    int64_t lanes; /* numbers of z per column of dy */
    int64_t z_row;
    const int64_t *first, *at;
};

struct cr_conv_nhwc_apply {
    struct cr_conv_nhwc_source s;
    size_t room;                          /* of a thread, for its copy and z */
    const struct cr_conv_nhwc_fold *fold; /* NULL: y is computed directly */
    int grids;
    const struct cr_conv_nhwc_grid *grid;
    int64_t cout; /* of one group, or lanes of z */
    int64_t y_image, rows, cols, pixel; /* of y: numbers, rows ... of an image,
                                         * numbers of a pixel */
    int64_t band;                       /* rows of y that are made at once */
    cr_real *y;
    struct cr_epilogue end;
};

/* Sums of x dy for every tap, channel and output channel, per chunk of the
 * batch and unit (group, vectors of output channels, block of channels):
 * [chunk][unit][tap][16][2 vectors]. */
struct cr_conv_nhwc_sums {
    struct cr_conv_nhwc_source s;
    size_t room; /* of a thread, for its copies */
    const void *dy;
    enum cr_type dy_stored;
    int64_t rows, cols, cout, dy_pixel, taps;
    const int64_t *tap;
    bool runs;
    int64_t chunks, units, unit; /* unit: numbers of one */
    cr_real alpha, *dw;          /* for what comes next */
    bool add;
    int64_t together; /* parts of images in work at once */
    cr_real *to;
};

typedef void cr_conv_nhwc_apply_part(const struct cr_conv_nhwc_apply *g,
                                     int task, int n_tasks);
typedef void cr_conv_nhwc_sums_part(const struct cr_conv_nhwc_sums *s, int task,
                                    int n_tasks);

cr_conv_nhwc_apply_part cr_conv_nhwc_apply_avx512, cr_conv_nhwc_apply_avx2,
    cr_conv_nhwc_apply_bf16, cr_conv_nhwc_apply_amx;
cr_conv_nhwc_sums_part cr_conv_nhwc_sums_avx512, cr_conv_nhwc_sums_avx2,
    cr_conv_nhwc_sums_bf16;
/* Adds up chunks into dw. */
cr_conv_nhwc_sums_part cr_conv_nhwc_reduce_avx512, cr_conv_nhwc_reduce_avx2;

#endif
