/*
 * What the ops and the cells of convolution share: one set of options, one
 * geometry, for one to three spatial dimensions and for the transposed form.
 */
#ifndef CR_NET_CONV_OPS_H
#define CR_NET_CONV_OPS_H

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

/* Rows of the three ops' option tables, their inputs, and what their
 * descriptors have in common. */
#define CR_CONVOLVE_OPTS                                                     \
    CR_INTS_OPTIONAL(struct cr_convolve, stride, 1, 1 << 20,                 \
                     "Step of the window; 1 if not given."),                 \
        CR_ENUM_DEFAULT(struct cr_convolve, pad_mode, CR_PAD_VALID,          \
                        CR_PAD_MODES, "Zeros around the input."),            \
        CR_INTS_OPTIONAL(struct cr_convolve, padding, 0, 1 << 20,            \
                         "For pad_mode pad: one number or before and after " \
                         "each dimension."),                                 \
        CR_INTS_OPTIONAL(struct cr_convolve, dilation, 1, 1 << 20,           \
                         "Step between the kernel's elements; 1 if not "     \
                         "given."),                                          \
        CR_INT_DEFAULT(struct cr_convolve, groups, 1, 1, CR_DIM_MAX,         \
                       "Groups of channels that see only each other.")

extern const char *const cr_convolve_inputs[];

#define CR_CONVOLVE_OP                                                     \
    .min_inputs = 2, .max_inputs = 3, .outputs = 1,                        \
    .inputs = cr_convolve_inputs, .saved_for_backward = CR_X(0) | CR_X(1), \
    .scales = CR_X(1) | CR_X(2), .masks = CR_X(0), .fuses_act = true,      \
    .layouts = CR_LAYOUT_LAST, .amp = CR_AMP_WHITE | CR_AMP_LOW

bool cr_convolve_plan(struct cr_op_plan *plan);
bool cr_convolve_prefers_last(const struct cr_op_plan *plan);
void cr_convolve_forward(const struct cr_op_ctx *ctx);
void cr_convolve_backward(const struct cr_op_ctx *ctx);

bool cr_deconvolve_plan(struct cr_op_plan *plan);
bool cr_deconvolve_prefers_last(const struct cr_op_plan *plan);
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

/* Rows of the cells' option tables; what windows and padding are, said for
 * the cell's dimensions, and rows that stand before `dilation`, if any. */
#define CR_CONV_CELL_OPTS(window, zeros, sides, ...)                          \
    CR_INT_OPTIONAL(struct cr_conv_cell, in_channels, 1, CR_DIM_MAX,          \
                    "Channels that come in; taken from the input if not "     \
                    "given."),                                                \
        CR_INT(struct cr_conv_cell, out_channels, 1, CR_DIM_MAX,              \
               "Channels that go out."),                                      \
        CR_INTS(struct cr_conv_cell, kernel_size, 1, 1 << 20,                 \
                "Size of the window" window "."),                             \
        CR_INTS_OPTIONAL(struct cr_conv_cell, stride, 1, 1 << 20,             \
                         "Step of the window; 1 if not given."),              \
        CR_ENUM_DEFAULT(struct cr_conv_cell, pad_mode, CR_PAD_SAME,           \
                        CR_PAD_MODES,                                         \
                        "Zeros around the " zeros ", valid has none, "        \
                        "pad as `padding` says."),                            \
        CR_INTS_OPTIONAL(struct cr_conv_cell, padding, 0, 1 << 20,            \
                         "Zeros at " sides ", for pad_mode pad; 0 if not "    \
                         "given."),                                           \
        __VA_ARGS__ CR_INTS_OPTIONAL(                                         \
            struct cr_conv_cell, dilation, 1, 1 << 20,                        \
            "Step between the kernel's elements; 1 if not given."),           \
        CR_INT_DEFAULT(struct cr_conv_cell, group, 1, 1, CR_DIM_MAX,          \
                       "Groups of channels that see only each other; "        \
                       "in_channels for a depthwise convolution."),           \
        CR_BOOL_DEFAULT(struct cr_conv_cell, has_bias, false,                 \
                        "Add a learned offset to each channel."),             \
        CR_OBJ_OPTIONAL(struct cr_conv_cell, weight_init, CR_KIND_INIT,       \
                        "How the weight begins; the scheme of `init` if not " \
                        "given."),                                            \
        CR_OBJ_OPTIONAL(struct cr_conv_cell, bias_init, CR_KIND_INIT,         \
                        "How the bias begins.")

/* name: of the cell; rank: spatial dimensions; op: conv2d, conv3d or
 * conv2d_transpose. */
struct cr_val *cr_conv_cell_build(struct cr_build *b, struct cr_val *x,
                                  const char *name, int rank, const char *op);

#endif
