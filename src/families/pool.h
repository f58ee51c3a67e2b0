/*
 * What pooling cells and ops share: their options, and the windows that these
 * give for an input.
 */
#ifndef CR_FAMILIES_POOL_H
#define CR_FAMILIES_POOL_H

#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/pool.h"

enum {
    CR_POOL_VALID,
    CR_POOL_SAME,
    CR_POOL_PAD
};

/* Lists hold one number for all dimensions or one for each; an empty one
 * stands for 1 (padding: 0). */
struct cr_pool_opts {
    struct cr_ints kernel_size, stride, padding, dilation;
    int pad_mode, data_format;
    bool return_indices, ceil_mode, count_include_pad;
    int64_t divisor_override;
    int64_t dims;               /* ops: pooled dimensions; 0: all but two */
    struct cr_ints output_size; /* adaptive: instead of the others; 0: keeps
                                   the size */
};
extern const struct cr_opt cr_pool_opts[]; /* of the ops */

/* The rows of the cells, in MindSpore's order. */
extern const struct cr_opt cr_max_pool_opts[], cr_max_pool2d_opts[],
    cr_avg_pool1d_opts[], cr_avg_pool2d_opts[], cr_avg_pool3d_opts[];

/* AdaptiveAvgPool2d, 3d and AdaptiveMaxPool2d, 3d. Those of one dimension take
 * a lone int64_t, output_size. */
struct cr_adaptive_opts {
    struct cr_ints output_size; /* CR_INT_NONE keeps the size */
    bool return_indices;
    int data_format;
};

/* Whether a mean is over the padding, too: in MindSpore that of `same` only
 * over three dimensions. */
bool cr_pool_counts_pad(const struct cr_pool_opts *opts);
/* An op's plan: sets out[0], reports what does not fit. */
bool cr_pool_plan(struct cr_op_plan *plan, struct cr_pool *pool);
/* The same for a step, whose plan has said that it fits. */
struct cr_pool cr_pool_of(const struct cr_op_ctx *ctx);

/* The cells' build and check. dims: 1 to 3, of cr_adaptive_build 2 or 3. */
struct cr_val *cr_max_pool_build(struct cr_build *b, struct cr_val *x,
                                 int dims);
struct cr_val *cr_avg_pool_build(struct cr_build *b, struct cr_val *x,
                                 int dims);
struct cr_val *cr_adaptive_build(struct cr_build *b, struct cr_val *x, int dims,
                                 bool largest);
struct cr_val *cr_adaptive1d_build(struct cr_build *b, struct cr_val *x,
                                   bool largest);
bool cr_max_pool_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts);
bool cr_avg_pool_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts);

#endif
