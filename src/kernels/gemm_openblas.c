/*
 * Products by OpenBLAS. It misjudges processors newer than itself, and must be
 * told what to take before its constructor runs.
 */
#include <limits.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "kernels/gemm_library.h"

#ifdef CR_DOUBLE
#define CBLAS_GEMM "cblas_dgemm"
#else
#define CBLAS_GEMM "cblas_sgemm"
#endif

enum {
    CBLAS_ROWS = 101,
    CBLAS_N = 111,
    CBLAS_T = 112
};

/* Set when the kernel is chosen. */
static void (*cblas)(int order, int ta, int tb, int m, int n, int k,
                     cr_real alpha, const cr_real *a, int lda, const cr_real *b,
                     int ldb, cr_real beta, cr_real *c, int ldc);

static bool is_available(void)
{
    enum cr_isa isa = cr_isa();
    void *handle;

    if (isa != CR_ISA_GENERIC)
        setenv("OPENBLAS_CORETYPE",
               isa == CR_ISA_AVX512 ? "SkylakeX" : "Haswell", 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    handle = cr_gemm_library_open("libopenblas.so.0");
    return handle && cr_gemm_library_find(handle, CBLAS_GEMM, &cblas);
}

static void openblas_part(const struct cr_gemm *g, int task, int n_tasks)
{
    struct cr_gemm_piece s = cr_gemm_piece(g, task, n_tasks);

    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->k == 0) {
        cr_gemm_portable_part(g, task, n_tasks);
        return;
    }
    if (s.m == 0 || s.n == 0)
        return;
    cblas(CBLAS_ROWS, g->ta == CR_N ? CBLAS_N : CBLAS_T,
                  g->tb == CR_N ? CBLAS_N : CBLAS_T, (int)s.m, (int)s.n,
                  (int)g->k, g->alpha, s.a, (int)(g->ta == CR_N ? g->k : g->m),
                  s.b, (int)(g->tb == CR_N ? g->n : g->k),
                  g->accumulate ? 1 : 0, s.c, (int)g->n);
    cr_gemm_finish(g, &s);
}

const struct cr_gemm_kernel cr_gemm_openblas = {
    .head = { .name = "gemm_openblas", .blas = "openblas" },
    .name = "OpenBLAS",
    .only_asked = sizeof(cr_real) != sizeof(float),
    .is_available = is_available,
    .part = openblas_part,
    .sum = cr_sum_portable,
    .thread_scratch = &cr_gemm_portable_scratch, /* k = 0 is left to it */
};
