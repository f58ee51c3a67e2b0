/*
 * Matrix products, and the sums that go with them.
 *
 * A product is described, not called: several independent ones share one
 * parallel region. Outputs are split over threads, sums never, so the result
 * does not depend on the number of threads. All matrices are row-major.
 */
#ifndef CR_MATH_BLAS_H
#define CR_MATH_BLAS_H

#include "math/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cr_trans {
    CR_N,
    CR_T
};

/* Activations that a product can apply to what it writes. */
enum cr_act {
    CR_ACT_NONE,
    CR_ACT_RELU
};

/* c = act(alpha op(a) op(b) + (add ? c : 0) + bias), then 0 where mask <= 0.
 * op(a) is m x k, op(b) k x n, c m x n. */
struct cr_gemm {
    enum cr_trans ta, tb;
    int64_t m, n, k;
    const cr_real *a, *b;
    cr_real alpha;
    bool accumulate;
    cr_real *c;
    const cr_real *bias; /* n values, added to every row; NULL: none */
    enum cr_act act;
    const cr_real *mask; /* m x n: the ReLU's output; NULL: none */
    /* Only where cr_gemm_low: both sides are rounded to bfloat16 while they
     * are read (which changes none that is such a number), and multiplied by
     * the processor's instructions for that. Sums are float32. */
    bool bf16;
    /* With low: the product and its bias are rounded to bfloat16 before the
     * rest, c = act(alpha round(op(a) op(b) + bias) + (add ? c : 0)). */
    bool round;
};

/* Whether products can be `low`: the processor multiplies bfloat16. */
bool cr_gemm_low(void);

/* Bytes that products ask cr_thread_scratch for, at most. */
size_t cr_gemm_thread_scratch(void);

/* All of them, in one parallel region; they must not depend on each other. */
void cr_gemms(const struct cr_gemm *g, int count);

/* One plain product, c = op(a) op(b) + (add ? c : 0): what it is, and the same
 * computed. */
struct cr_gemm cr_product(enum cr_trans ta, enum cr_trans tb, int64_t m,
                          int64_t n, int64_t k, const cr_real *a,
                          const cr_real *b, bool add, cr_real *c);
void cr_gemm(enum cr_trans ta, enum cr_trans tb, int64_t m, int64_t n,
             int64_t k, const cr_real *a, const cr_real *b, bool add,
             cr_real *c);

/* to[j] = alpha sum_i x[i][j] + (add ? to[j] : 0)   x (n, cols) */
void cr_sum_rows(int64_t n, int64_t cols, const cr_real *x, cr_real alpha,
                 bool add, cr_real *to);

/* What computes products here: "own avx512", "own avx2", "own generic",
 * "oneDNN", "OpenBLAS" or "plain". */
const char *cr_blas_name(void);
/* Whether our own kernels do, which give the same bytes for any number of
 * threads; libraries do not promise that. */
bool cr_blas_own(void);
/* Replaces it from here on by what CELLRUN_BLAS calls so (own: that of
 * cr_isa), for comparisons in one process; false, and nothing done, where it
 * is not available. Not while another thread computes. */
bool cr_blas_force(const char *name);

#endif
