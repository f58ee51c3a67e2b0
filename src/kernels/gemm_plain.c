/* Products by the loop that explains them: the oracle of the tests. */
#include "kernels/gemm_library.h"

static void plain_part(const struct cr_gemm *g, int task, int n_tasks)
{
    int64_t a_row = g->ta == CR_N ? g->k : 1, a_p = g->ta == CR_N ? 1 : g->m;
    int64_t b_p = g->tb == CR_N ? g->n : 1, b_col = g->tb == CR_N ? 1 : g->k;
    int64_t i, j, p, from, to;

    cr_gemm_range(g->n, 1, task, n_tasks, &from, &to);
    for (i = 0; i < g->m; i++)
        for (j = from; j < to; j++) {
            cr_real *c = &g->c[i * g->n + j], sum = 0;

            for (p = 0; p < g->k; p++)
                sum += g->a[i * a_row + p * a_p] * g->b[p * b_p + j * b_col];
            sum = g->alpha * sum + (g->accumulate ? *c : 0);
            *c = cr_gemm_finished(g, i, j, sum);
        }
    cr_gemm_post_ops(g, 0, g->m, from, to);
}

static bool is_available(void)
{
    return true;
}

const struct cr_gemm_kernel cr_gemm_plain = {
    .head = { .name = "gemm_plain", .blas = "plain" },
    .name = "plain",
    .only_asked = true,
    .is_available = is_available,
    .part = plain_part,
    .sum = cr_sum_portable,
    .thread_scratch = &cr_gemm_portable_scratch,
};
