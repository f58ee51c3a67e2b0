/*
 * Matrix products, and sums of rows.
 *
 * cr_gemms runs several independent products in one parallel region. Threads
 * share the outputs, never a sum, so results do not depend on the number of
 * threads. All matrices are row-major and dense.
 */
#ifndef CR_KERNELS_BLAS_H
#define CR_KERNELS_BLAS_H

#include "kernels/epilogue.h"
#include "num/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an operand is transposed. */
enum cr_trans {
    CR_N,
    CR_T
};

/* What a matrix of low precision is. */
enum cr_low {
    CR_LOW_NONE,      /* float32 as it is */
    CR_LOW_ROUNDED,   /* float32, to be rounded when read: operands only */
    CR_LOW_TWO_BYTES  /* two bytes per number */
};

/* c = map(act(alpha op(a) op(b) + (accumulate ? c : 0) + bias)), then 0 where
 * mask <= 0. op(a) is m x k, op(b) k x n, c m x n. */
struct cr_gemm {
    enum cr_trans ta, tb;
    int64_t m, n, k;
    const cr_real *a, *b;
    cr_real alpha;
    bool accumulate;
    cr_real *c;
    const cr_real *bias; /* n values, added to each row; NULL: none */
    enum cr_act act;
    cr_map *map;         /* after act, without mask; NULL: none */
    enum cr_act map_is;  /* the same in registers, or CR_ACT_NONE */
    const void *map_attr;
    cr_real *map_to;     /* its result, as c is stored, and c is what it got;
                            NULL: c */
    /* Without mask: late_bias (n values) is added to each row before map;
     * without map, c = drop(c) + add (m x n). NULL: none. */
    const cr_real *late_bias;
    const struct cr_drop *drop;
    const cr_real *add;
    /* Instead of all these, c = map_grad(c) at `seen` (m x n), x and y of it;
     * and map_to = map(seen) unless NULL. NULL: none */
    cr_map_grad *map_grad;
    const cr_real *seen;
    const cr_real *mask; /* m x n, the output of a ReLU; NULL: none */
    /* Low precision: CR_F16 or CR_BF16, and what has it. A c in two bytes is
     * rounded to them and cannot accumulate. */
    enum cr_type low;
    enum cr_low a_low, b_low, c_low, mask_low; /* mask_low: that of `seen` */
    enum cr_low add_low;
    /* Round product and bias,
     * c = act(alpha round(op(a) op(b) + bias) + (accumulate ? c : 0)),
     * and what map, late_bias, drop, add and map_grad make of it, each time. */
    bool round;
    /* With ta = CR_T, sums of the rows of op(a), the bias's gradient where the
     * product is the weight's: sums[i] = sums_alpha sum_p op(a)[i][p] +
     * (sums_accumulate ? sums[i] : 0), m of them. NULL: none. */
    cr_real *sums, sums_alpha;
    bool sums_accumulate;
    /* Multiply with AVX512-BF16 or AMX-BF16, which round both operands to
     * bfloat16 while reading; sums are float32. Requires cr_gemm_has_bf16, and
     * that a_low and b_low are not CR_LOW_ROUNDED. */
    bool bf16;
    /* b is what cr_gemm_pack made of it, or with bf16 cr_gemm_turn; tb does not
     * count then. Else not with low precision. */
    bool packed;
};

/* Whether products can have bf16, and whether they should: by
 * kernels/choices.def, float32 products of converted operands are slower. */
bool cr_gemm_has_bf16(void);
bool cr_gemm_low(void);

/* Bytes that products ask cr_thread_scratch for, at most. */
size_t cr_gemm_thread_scratch(void);

/* Runs all products in one parallel region; they must be independent. */
void cr_gemms(const struct cr_gemm *g, int count);

/* The product c = op(a) op(b) + (add ? c : 0) as a struct; cr_gemm runs it. */
struct cr_gemm cr_product(enum cr_trans ta, enum cr_trans tb, int64_t m,
                          int64_t n, int64_t k, const cr_real *a,
                          const cr_real *b, bool add, cr_real *c);
void cr_gemm(enum cr_trans ta, enum cr_trans tb, int64_t m, int64_t n,
             int64_t k, const cr_real *a, const cr_real *b, bool add,
             cr_real *c);

/* A b that many products share, such as those of all steps of a recurrence, can
 * be packed once. Numbers that it takes per row of k: n, rounded up to whole
 * vectors; 0: the chosen kernel knows no packed b. */
int64_t cr_gemm_packed_n(int64_t n);
void cr_gemm_pack(enum cr_trans tb, int64_t n, int64_t k, const cr_real *b,
                  cr_real *packed);

/* A b (n x k, with tb = CR_T) that never changes, for products of few rows: to
 * transpose it would take longer than to multiply. The bytes of a copy in the
 * order in which they read it; 0: they need none. g needs m, n, k, low and
 * bf16, and cr_gemm_turn b, whose numbers it rounds to that type. */
size_t cr_gemm_turned(const struct cr_gemm *g);
void cr_gemm_turn(const struct cr_gemm *g, void *turned);
/* g reads that copy, of numbers of that type (CR_REAL: float32). */
void cr_gemm_take_turned(struct cr_gemm *g, enum cr_type type,
                         const void *turned);

/* to[j] = alpha sum_i x[i][j] + (add ? to[j] : 0)   x (n, cols) of cr_real, or
 * of CR_F16 or CR_BF16 in two bytes */
void cr_sum_rows(int64_t n, int64_t cols, enum cr_type stored, const void *x,
                 cr_real alpha, bool add, cr_real *to);

/* Name of the implementation of products: "own avx512", "own avx2", "own
 * generic", "oneDNN", "OpenBLAS" or "plain". */
const char *cr_blas_name(void);
/* The same as the name of a kernel: "gemm_avx512", "gemm_onednn", ... */
const char *cr_gemm_kernel_name(void);
/* Its name in CELLRUN_BLAS: "own", "onednn", "openblas" or "plain". */
const char *cr_blas(void);
/* Whether it is one of cellrun's own kernels, which give the same bytes for any
 * number of threads; libraries do not guarantee that. */
bool cr_blas_own(void);
/* Selects an implementation by its name in CELLRUN_BLAS (own: by cr_isa) or as
 * a kernel, for comparisons within one process; false and no change if it is
 * not available. Must not be called while another thread computes. */
bool cr_blas_force(const char *name);

#endif
