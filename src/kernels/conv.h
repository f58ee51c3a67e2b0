/*
 * Convolutions over up to three dimensions, and their gradients.
 *
 *   y[n][o][q] = sum over c, k of w[o][c][k] x[n][c][stride q + dilation k -
 *                before]                       x outside of its dims is 0
 *
 * x (n, ci, in), w (co, ci / group, kernel), y (n, co, out). Output channels
 * of a group depend on the input channels of the same group. The forward pass
 * of a transposed convolution is cr_conv_input, so it takes an epilogue too.
 *
 * How it is computed is a list of kernels in order of preference (conv.c): ours
 * for channels last, among them Winograd's, and planar ones for plain tensors
 * of few channels (AVX-512 and AVX2, float, up to two dimensions), and im2col
 * with a product, which accepts everything. CELLRUN_BLAS=onednn takes oneDNN's
 * primitives, which want channels last, too; other libraries take im2col alone.
 *
 * Numbers of low precision are float32 in memory, or take two bytes each where
 * the kernel reads them so. bfloat16 is multiplied as such with channels last,
 * where the processor has AVX512-BF16 (conv_nhwc_bf16.c).
 *
 * Outputs are split over threads; a gradient of weights is summed over chunks
 * of the batch that depend on the shapes alone: the bytes do not depend on the
 * number of threads.
 */
#ifndef CR_KERNELS_CONV_H
#define CR_KERNELS_CONV_H

#include "kernels/blas.h"
#include "kernels/kernel.h"
#include "num/spec.h"

#include <stddef.h>

struct cr_conv {
    int64_t n, group, ci, co;
    /* depth, height, width; missing dimensions are 1 */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad_before[3];
    enum cr_layout x, y; /* of x and dx, of y and dy; w is row-major */
    enum cr_type low;    /* CR_F16, CR_BF16: of what takes two bytes */
    bool bf16;           /* all numbers that are multiplied are bfloat16 */
    bool x_low, dy_low;  /* x, dy lie in two bytes per number */
    bool to_low, mask_low; /* so do y of forward or dx of input; the mask */
    bool in_pairs, in_tiles; /* as in the kernel's row */
};

/* One way to compute all three. Private to src/kernels and its tests; the
 * functions below call those of the kernel that is chosen for c. */
struct cr_conv_kernel {
    struct cr_kernel head; /* .accepts is given the struct cr_conv */
    unsigned takes;        /* as cr_conv_takes */
    bool low_x, low_dy;    /* as cr_conv_low_x, cr_conv_low_dy */
    bool low_to;           /* as cr_conv_low_to */
    bool in_pairs;         /* multiplies pairs of bfloat16 */
    bool in_tiles;         /* by AMX */
    /* Bytes of `scratch` of the functions below, and those that they ask
     * cr_thread_scratch for, at most. */
    size_t (*scratch)(const struct cr_conv *c);
    size_t (*thread_scratch)(const struct cr_conv *c);
    /* Bytes of w in the form that forward reads, and what makes it; NULL:
     * forward reads w as it lies. */
    size_t (*packed)(const struct cr_conv *c);
    void (*pack)(const struct cr_conv *c, const cr_real *w, cr_real *packed);
    /* packed may be NULL. */
    void (*forward)(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch);
    void (*input)(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch);
    void (*weight)(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch);
};

extern const struct cr_conv_kernel cr_conv_grouped, cr_conv_nhwc_amx,
    cr_conv_nhwc_bf16, cr_conv_pointwise,
    cr_conv_winograd, cr_conv_nhwc, cr_conv_nchw, cr_conv_depth, cr_conv_im2col;
extern const struct cr_conv_kernel cr_conv_onednn; /* float only */

/* Parts of an epilogue (enum cr_end) that the kernel takes: after forward and
 * input, and alpha with weight. The kernel of fewer images may be another one:
 * a map follows each. */
unsigned cr_conv_takes(const struct cr_conv *c);
/* Whether the source may lie in two bytes per number, x of forward and weight
 * and dy of input; and whether dy of weight may. */
bool cr_conv_low_x(const struct cr_conv *c);
bool cr_conv_low_dy(const struct cr_conv *c);
/* Whether the result of forward and input may, and their masks. */
bool cr_conv_low_to(const struct cr_conv *c);
/* Bytes of `scratch` of the three functions below. */
size_t cr_conv_scratch(const struct cr_conv *c);
/* Bytes that they ask cr_thread_scratch for, at most. */
size_t cr_conv_thread_scratch(const struct cr_conv *c);
/* Whether the direct kernels support it with channels last. */
bool cr_conv_prefers_last(const struct cr_conv *c);

/* Name of the kernel that is chosen. */
const char *cr_conv_kernel_name(const struct cr_conv *c);
/* A weight that does not change can be packed once. Bytes of the result; 0:
 * there is nothing to pack. */
size_t cr_conv_packed(const struct cr_conv *c);
void cr_conv_pack(const struct cr_conv *c, const cr_real *w, cr_real *packed);

/* y = convolution of x; packed: w as cr_conv_pack makes it, or NULL */
void cr_conv_forward(const struct cr_conv *c, const cr_real *x,
                     const cr_real *w, const cr_real *packed,
                     const struct cr_epilogue *end, cr_real *y, void *scratch);
/* dx = gradient of the input, the adjoint, from dy */
void cr_conv_input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                   const struct cr_epilogue *end, cr_real *dx, void *scratch);
/* dw = alpha (gradient) + (add ? dw : 0) */
void cr_conv_weight(const struct cr_conv *c, const cr_real *x,
                    const cr_real *dy, cr_real alpha, bool add, cr_real *dw,
                    void *scratch);
/* db = alpha (sums of dy by channel) + (add ? db : 0); dy (n, channels,
 * space) */
void cr_conv_bias(int64_t n, int64_t channels, int64_t space,
                  enum cr_layout layout, const cr_real *dy, cr_real alpha,
                  bool add, cr_real *db);

#endif
