/*
 * What the ops and the cells of convolution share: one set of options, one
 * geometry, for one to three spatial dimensions and for the transposed form.
 */
#ifndef CR_FAMILIES_CONV_OPS_H
#define CR_FAMILIES_CONV_OPS_H

#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/conv.h"

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

/* Rows of the three ops' option tables, their inputs, and what their
 * descriptors have in common. */
#define CR_CONVOLVE_OPTS                                                     \
    CR_INTS_OPTIONAL(struct cr_convolve, stride, 1, 1 << 20,                 \
                     "Stride. Default: 1."),                                 \
        CR_ENUM_DEFAULT(struct cr_convolve, pad_mode, CR_PAD_VALID,          \
                        CR_PAD_MODES, "Padding of the input."),              \
        CR_INTS_OPTIONAL(struct cr_convolve, padding, 0, 1 << 20,            \
                         "Padding with pad_mode pad: one number, or before " \
                         "and after each dimension. Default: 0."),           \
        CR_INTS_OPTIONAL(struct cr_convolve, dilation, 1, 1 << 20,           \
                         "Dilation of the kernel. Default: 1."),             \
        CR_INT_DEFAULT(struct cr_convolve, groups, 1, 1, CR_DIM_MAX,         \
                       "Number of groups of channels.")

extern const char *const cr_convolve_inputs[];

#define CR_CONVOLVE_OP                                                     \
    .min_inputs = 2, .max_inputs = 3, .outputs = 1,                        \
    .inputs = cr_convolve_inputs, .saved_for_backward = CR_X(0) | CR_X(1)

bool cr_convolve_plan(struct cr_op_plan *plan);
extern const struct cr_op_kernels cr_convolve_kernels;
void cr_convolve_forward(const struct cr_op_ctx *ctx);
void cr_convolve_backward(const struct cr_op_ctx *ctx);

bool cr_deconvolve_plan(struct cr_op_plan *plan);
extern const struct cr_op_kernels cr_deconvolve_kernels;
void cr_deconvolve_forward(const struct cr_op_ctx *ctx);
void cr_deconvolve_backward(const struct cr_op_ctx *ctx);

/* Options of the cells, and their build. */
struct cr_conv_cell {
    int64_t in_channels, out_channels, group;
    struct cr_ints kernel_size, stride, padding, dilation, output_padding;
    struct cr_obj weight_init, bias_init;
    int pad_mode, data_format; /* of Conv2d alone; else 0, CR_NCHW */
    bool has_bias;
};

/* Rows of the cells' option tables; the texts about window and padding for the
 * dimensions of the cell, and rows to put before `dilation`, if any. */
#define CR_CONV_CELL_OPTS(window, zeros, sides, ...)                           \
    CR_INT_OPTIONAL(struct cr_conv_cell, in_channels, 1, CR_DIM_MAX,           \
                    "Input channels. Default: inferred from the input."),      \
        CR_INT(struct cr_conv_cell, out_channels, 1, CR_DIM_MAX,               \
               "Output channels."),                                            \
        CR_INTS(struct cr_conv_cell, kernel_size, 1, 1 << 20,                  \
                "Kernel size" window "."),                                     \
        CR_INTS_OPTIONAL(struct cr_conv_cell, stride, 1, 1 << 20,              \
                         "Stride. Default: 1."),                               \
        CR_ENUM_DEFAULT(struct cr_conv_cell, pad_mode, CR_PAD_SAME,            \
                        CR_PAD_MODES,                                          \
                        "Padding of the " zeros ". valid: no padding. "        \
                        "pad: padding as the option padding says."),           \
        CR_INTS_OPTIONAL(struct cr_conv_cell, padding, 0, 1 << 20,             \
                         "Padding at " sides ", with pad_mode pad. "           \
                         "Default: 0."),                                       \
        __VA_ARGS__ CR_INTS_OPTIONAL(struct cr_conv_cell, dilation, 1,         \
                                     1 << 20,                                  \
                                     "Dilation of the kernel. Default: 1."),   \
        CR_INT_DEFAULT(struct cr_conv_cell, group, 1, 1, CR_DIM_MAX,           \
                       "Number of groups; in_channels makes a depthwise "      \
                       "convolution."),                                        \
        CR_BOOL_DEFAULT(struct cr_conv_cell, has_bias, false, "Add a bias."),  \
        CR_OBJ_OPTIONAL(struct cr_conv_cell, weight_init, CR_KIND_INIT,        \
                        "Initial weight. Default: set by the section init."), \
        CR_OBJ_OPTIONAL(struct cr_conv_cell, bias_init, CR_KIND_INIT,          \
                        "Initial bias.")

/* name: of the cell; rank: spatial dimensions; op: conv2d or conv3d, or that
 * and _transpose. */
struct cr_val *cr_conv_cell_build(struct cr_build *b, struct cr_val *x,
                                  const char *name, int rank, const char *op);

#endif
