/*
 * cellrun's kernels for matrix products, one function per instruction set.
 *
 * A call computes task `part` of `parts`; together they compute each output
 * exactly once. An output is one chain of multiply-adds over blocks of k,
 * independent of tiles and number of tasks, so its bytes depend on the product
 * and the instruction set only.
 */
#ifndef CR_KERNELS_GEMM_H
#define CR_KERNELS_GEMM_H

#include "kernels/blas.h"
#include "kernels/kernel.h"

#include <stddef.h>

typedef void cr_gemm_part(const struct cr_gemm *g, int task, int n_tasks);
/* The same for cr_sum_rows: of cols columns of rows of ld numbers, which are
 * cr_real or take two bytes. */
typedef void cr_sum_part(int64_t n, int64_t cols, enum cr_type stored,
                         const void *x, int64_t ld, cr_real alpha, bool add,
                         cr_real *to);
/* Packs rows p..p_end-1 of op(b), k x n, for products with .packed. */
typedef void cr_pack_part(enum cr_trans tb, int64_t n, int64_t k,
                          const cr_real *b, int64_t p, int64_t p_end,
                          cr_real *packed);

/* One way to compute products. One of them computes all of a process: of the
 * first that is available. .blas "own": one of cellrun's own. */
struct cr_gemm_kernel {
    struct cr_kernel head;
    const char *name;           /* as cr_blas_name gives it */
    bool only_asked;            /* never chosen unless CELLRUN_BLAS names it */
    bool (*is_available)(void); /* on this processor; opens its library */
    cr_gemm_part *part;
    cr_sum_part *sum;
    cr_pack_part *pack; /* NULL: knows no packed b */
    int lanes;          /* a packed b has a multiple of them */
    const size_t *thread_scratch; /* what they ask cr_thread_scratch for */
    bool low;           /* knows the members of struct cr_gemm for it */
    bool sums;          /* and .sums */
    bool (*has_bf16)(void); /* whether cr_gemm_bf16 goes with it; NULL: not */
};

/* x86-64, float only; vectors of 16 bytes */
extern const struct cr_gemm_kernel cr_gemm_avx512, cr_gemm_avx2,
    cr_gemm_portable;
extern const struct cr_gemm_kernel cr_gemm_onednn; /* float only */
extern const struct cr_gemm_kernel cr_gemm_openblas, cr_gemm_plain;

/* For kernels that leave some products to it. */
cr_gemm_part cr_gemm_portable_part;
cr_sum_part cr_sum_portable;
extern const size_t cr_gemm_portable_scratch;

/* For products with bf16, if the processor has AVX512-BF16; another kernel
 * computes the rest. Of its two ways to multiply, the one with AMX is
 * always faster than float32. */
extern const struct cr_gemm_kernel cr_gemm_bf16_kernel;
cr_gemm_part cr_gemm_bf16;
extern const size_t cr_gemm_bf16_scratch;
bool cr_gemm_bf16_available(void);
/* It reads a packed b in fewer rows than these. */
int64_t cr_gemm_bf16_few(void);
bool cr_gemm_bf16_has_amx(void);
/* Whether it may use AMX, for comparisons within one process; returns whether
 * it does from now on. */
bool cr_gemm_bf16_amx(bool use);

/* What is left of the formula for rows i..i_end-1 and columns j..j_end-1 of c:
 * a map, a gradient's, or dropout and the addend. Each kernel calls it for what
 * its task has computed. */
bool cr_gemm_has_post_ops(const struct cr_gemm *g);
void cr_gemm_post_ops(const struct cr_gemm *g, int64_t i, int64_t i_end,
                      int64_t j, int64_t j_end);

/* Splits 0..n-1 over parts, at multiples of `step`. */
void cr_gemm_range(int64_t n, int64_t step, int part, int parts, int64_t *from,
                   int64_t *to);

#endif
