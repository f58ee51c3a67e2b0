/*
 * For kernels of products that know only products, such as those of libraries.
 * Private to src/kernels.
 */
#ifndef CR_KERNELS_GEMM_LIBRARY_H
#define CR_KERNELS_GEMM_LIBRARY_H

#include "kernels/gemm.h"

/* Opens a shared library; NULL: it is not installed, or the address space is
 * limited. */
void *cr_gemm_library_open(const char *name);
/* Sets *function, a pointer to a function; false: there is none. */
bool cr_gemm_library_find(void *handle, const char *name, void *function);

/* What follows a product at element (i, j): bias, activation, mask. */
cr_real cr_gemm_finished(const struct cr_gemm *g, int64_t i, int64_t j,
                         cr_real y);

/* The rectangle of c that a part computes, and where its operands begin. */
struct cr_gemm_piece {
    int64_t i, j, m, n;
    const cr_real *a, *b;
    cr_real *c;
};

struct cr_gemm_piece cr_gemm_piece(const struct cr_gemm *g, int task,
                                   int n_tasks);
/* What follows the product, for all its elements. */
void cr_gemm_finish(const struct cr_gemm *g, const struct cr_gemm_piece *s);

#endif
