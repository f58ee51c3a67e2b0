/*
 * Convolutions as matrix products: the windows of a chunk of output pixels are
 * copied into the rows of a matrix. Supports all of math/conv.h, for any shape,
 * layout and number type; tests compare the direct kernels with it.
 */
#ifndef CR_MATH_IM2COL_H
#define CR_MATH_IM2COL_H

#include "math/conv.h"

size_t cr_im2col_scratch(const struct cr_conv *c);
void cr_im2col_forward(const struct cr_conv *c, const cr_real *x,
                       const cr_real *w, const struct cr_conv_epilogue *end,
                       cr_real *y, void *scratch);
void cr_im2col_input(const struct cr_conv *c, const cr_real *dy,
                     const cr_real *w, const struct cr_conv_epilogue *end,
                     cr_real *dx, void *scratch);
void cr_im2col_weight(const struct cr_conv *c, const cr_real *x,
                      const cr_real *dy, cr_real alpha, bool add, cr_real *dw,
                      void *scratch);

#endif
