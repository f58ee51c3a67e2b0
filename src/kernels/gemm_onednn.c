/* Products by oneDNN. */
#include "kernels/gemm_library.h"
#include "kernels/onednn.h"

#ifndef CR_DOUBLE

/* Set when the kernel is chosen. */
static int (*sgemm)(char ta, char tb, int64_t m, int64_t n, int64_t k,
                    float alpha, const float *a, int64_t lda, const float *b,
                    int64_t ldb, float beta, float *c, int64_t ldc);

static bool is_available(void)
{
    void *library = cr_onednn_open();

    return library && cr_gemm_library_find(library, "dnnl_sgemm", &sgemm);
}

static void onednn_part(const struct cr_gemm *g, int task, int n_tasks)
{
    struct cr_gemm_piece s = cr_gemm_piece(g, task, n_tasks);

    cr_onednn_alone();
    if (g->k == 0) {
        cr_gemm_portable_part(g, task, n_tasks);
        return;
    }
    if (s.m == 0 || s.n == 0)
        return;
    sgemm(g->ta == CR_N ? 'N' : 'T', g->tb == CR_N ? 'N' : 'T', s.m, s.n, g->k,
          g->alpha, s.a, g->ta == CR_N ? g->k : g->m, s.b,
          g->tb == CR_N ? g->n : g->k, g->accumulate ? 1 : 0, s.c, g->n);
    cr_gemm_finish(g, &s);
}

const struct cr_gemm_kernel cr_gemm_onednn = {
    .head = { .name = "gemm_onednn", .blas = "onednn" },
    .name = "oneDNN",
    .is_available = is_available,
    .part = onednn_part,
    .sum = cr_sum_portable,
    .thread_scratch = &cr_gemm_portable_scratch, /* k = 0 is left to it */
};

#endif
