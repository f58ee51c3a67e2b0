#include "math/blas.h"

#include "base/par.h"

#include <stddef.h>

/* Plain loops: the oracle, and what runs where nothing else does. */
static cr_real plain_at(const struct cr_gemm *g, int64_t i, int64_t j)
{
    cr_real sum = 0;
    int64_t p;

    for (p = 0; p < g->k; p++)
        sum += g->a[g->ta == CR_N ? i * g->k + p : p * g->m + i] *
               g->b[g->tb == CR_N ? p * g->n + j : j * g->k + p];
    return sum;
}

struct job {
    const struct cr_gemm *g;
    int count;
};

static void plain_part(void *ctx, int part, int parts)
{
    const struct job *job = ctx;
    int q;

    for (q = 0; q < job->count; q++) {
        const struct cr_gemm *g = &job->g[q];
        int64_t i, j, from = g->n * part / parts, to = g->n * (part + 1) / parts;

        for (i = 0; i < g->m; i++)
            for (j = from; j < to; j++) {
                int64_t at = i * g->n + j;
                cr_real v = g->alpha * plain_at(g, i, j);

                if (g->add)
                    v += g->c[at];
                if (g->bias)
                    v += g->bias[j];
                if (g->act == CR_ACT_RELU && v < 0)
                    v = 0;
                if (g->mask && g->mask[at] <= 0)
                    v = 0;
                g->c[at] = v;
            }
    }
}

void cr_gemms(const struct cr_gemm *g, int count)
{
    struct job job = { g, count };

    cr_par(plain_part, &job, cr_par_threads());
}

void cr_sum_rows(int64_t n, int64_t cols, const cr_real *x, cr_real alpha,
                 bool add, cr_real *to)
{
    int64_t i, j;

    for (j = 0; j < cols; j++) {
        cr_real sum = 0;

        for (i = 0; i < n; i++)
            sum += x[i * cols + j];
        to[j] = alpha * sum + (add ? to[j] : 0);
    }
}

const char *cr_blas_name(void)
{
    return "plain";
}
