/* b of products of few rows, in the order in which they read it. */
#include "kernels/gemm.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#include <string.h>

#define FEW_ROWS 16
#define STRETCH 16 /* of k: a line of each row of b, one after the other */
#define LANES 16   /* of a row of pairs, which is filled up with zeros */

static int64_t up(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* One row takes as long as b comes from memory; with more of them, widening
 * what takes two bytes would show. */
static bool takes_two_bytes(const struct cr_gemm *g, enum cr_type type)
{
    return type != CR_REAL && (g->bf16 || g->m == 1);
}

size_t cr_gemm_turned(const struct cr_gemm *g)
{
    if (!cr_blas_own() || g->m >= (g->bf16 ? cr_gemm_bf16_few() : FEW_ROWS))
        return 0;
    return g->bf16 ? (size_t)((g->k + 1) / 2 * up(g->n)) * sizeof(uint32_t)
                   : (size_t)(g->k * g->n) *
                         (takes_two_bytes(g, g->low) ? 2 : sizeof(cr_real));
}

struct turn {
    const struct cr_gemm *g;
    cr_real *wide;
    uint16_t *low;
};

/* Where number (p, j) of two bytes is. */
static int64_t low_at(const struct cr_gemm *g, int64_t p, int64_t j)
{
    return g->bf16 ? 2 * (p / 2 * up(g->n) + j) + p % 2 : p * g->n + j;
}

static void turn_range(void *ctx, int64_t from, int64_t to)
{
    const struct turn *t = ctx;
    const struct cr_gemm *g = t->g;
    cr_real rounded[STRETCH];
    uint16_t bits[STRETCH];
    int64_t p, n, i, j;

    for (; from < to; from++) {
        p = from * STRETCH;
        n = g->k - p < STRETCH ? g->k - p : STRETCH;
        for (j = 0; j < g->n; j++) {
            const cr_real *b = g->b + j * g->k + p;

            if (!t->low) {
                if (g->low != CR_REAL)
                    cr_round_to_type(g->low, n, b, rounded);
                for (i = 0; i < n; i++)
                    t->wide[(p + i) * g->n + j] =
                        g->low != CR_REAL ? rounded[i] : b[i];
                continue;
            }
            cr_narrow(g->low, n, b, bits);
            for (i = 0; i < n; i++)
                t->low[low_at(g, p + i, j)] = bits[i];
        }
    }
}

void cr_gemm_turn(const struct cr_gemm *g, void *turned)
{
    bool low = takes_two_bytes(g, g->low);
    struct turn t = { .g = g,
                      .wide = low ? NULL : turned,
                      .low = low ? turned : NULL };

    if (g->bf16) /* between rows, and a last half of a pair */
        memset(turned, 0, cr_gemm_turned(g));
    cr_parallel_for((g->k + STRETCH - 1) / STRETCH,
                    (double)(STRETCH * g->n), &t, turn_range);
}

void cr_gemm_take_turned(struct cr_gemm *g, enum cr_type type,
                         const void *turned)
{
    g->b = turned;
    g->tb = CR_N;
    g->packed = g->bf16;
    g->b_low = takes_two_bytes(g, type) ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
}
