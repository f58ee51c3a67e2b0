/* Products by oneDNN. */
#include "kernels/gemm_library.h"

#ifndef CR_DOUBLE

/* Set when the kernel is chosen. */
static struct {
    int (*sgemm)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                 const float *a, int64_t lda, const float *b, int64_t ldb,
                 float beta, float *c, int64_t ldc);
    void (*omp_threads)(int n);
} library;

static bool is_available(void)
{
    void *handle = cr_gemm_library_open("libdnnl.so.2");

    if (!handle)
        handle = cr_gemm_library_open("libdnnl.so.3");
    if (!handle ||
        !cr_gemm_library_find(handle, "dnnl_sgemm", &library.sgemm))
        return false;
    (void)cr_gemm_library_find(handle, "omp_set_num_threads",
                               &library.omp_threads);
    return true;
}

/* OpenMP's threads would spin against the pool's: each caller is set to stay
 * alone, which OpenMP remembers per thread. */
static void onednn_part(const struct cr_gemm *g, int task, int n_tasks)
{
    static _Thread_local bool alone;
    struct cr_gemm_piece s = cr_gemm_piece(g, task, n_tasks);

    if (!alone && library.omp_threads)
        library.omp_threads(1);
    alone = true;
    if (g->k == 0) {
        cr_gemm_portable_part(g, task, n_tasks);
        return;
    }
    if (s.m == 0 || s.n == 0)
        return;
    library.sgemm(g->ta == CR_N ? 'N' : 'T', g->tb == CR_N ? 'N' : 'T', s.m,
                   s.n, g->k, g->alpha, s.a, g->ta == CR_N ? g->k : g->m, s.b,
                   g->tb == CR_N ? g->n : g->k, g->accumulate ? 1 : 0, s.c,
                   g->n);
    cr_gemm_finish(g, &s);
}

const struct cr_gemm_kernel cr_gemm_onednn = {
    .name = "oneDNN",
    .kernel = "gemm_onednn",
    .asked = "onednn",
    .is_available = is_available,
    .part = onednn_part,
    .sum = cr_sum_portable,
    .thread_scratch = &cr_gemm_portable_scratch, /* k = 0 is left to it */
};

#endif
