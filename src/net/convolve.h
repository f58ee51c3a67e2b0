/*
 * What the ops and the cells of convolution share: one set of options, one
 * geometry, for one to three spatial dimensions and for the transposed form.
 */
#ifndef CR_NET_CONVOLVE_H
#define CR_NET_CONVOLVE_H

#include "math/conv.h"
#include "net/cell.h"
#include "net/op.h"

enum {
    CR_PAD_SAME,
    CR_PAD_VALID,
    CR_PAD_PAD
};
#define CR_PAD_MODES "same|valid|pad"

/* Attr of conv2d, conv3d and conv2d_transpose. Lists have one value for all
 * spatial dimensions or one for each, and none means 1 (padding: 0); padding
 * has two for each, before and after. */
struct cr_convolve {
    struct cr_ints stride, padding, dilation, output_padding;
    int pad_mode;
    int64_t groups;
};

bool cr_convolve_plan(struct cr_plan *plan);
bool cr_convolve_prefers_last(const struct cr_plan *plan);
void cr_convolve_forward(const struct cr_step *step);
void cr_convolve_backward(const struct cr_step *step);

bool cr_deconvolve_plan(struct cr_plan *plan);
bool cr_deconvolve_prefers_last(const struct cr_plan *plan);
void cr_deconvolve_forward(const struct cr_step *step);
void cr_deconvolve_backward(const struct cr_step *step);

/* Options of the cells, and their build. */
struct cr_conv_cell {
    int64_t in_channels, out_channels, group;
    struct cr_ints kernel_size, stride, padding, dilation, output_padding;
    struct cr_obj weight_init, bias_init;
    int pad_mode;
    bool has_bias;
};

/* name: of the cell; rank: spatial dimensions; op: conv2d, conv3d or
 * conv2d_transpose. */
struct cr_val *cr_conv_cell_build(struct cr_build *b, struct cr_val *x,
                                  const char *name, int rank, const char *op);

#endif
