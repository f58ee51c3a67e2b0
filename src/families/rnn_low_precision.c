/*
 * Recurrences in low precision: what rows of gates round
 * (kernels/rnn_low.inc), and gradients of weights.
 *
 *   level    low        rounded
 *   auto     PRODUCTS   the products, and what is made of nothing else
 *   O1       GATES      the products, and in and out of gates and tanh
 *   O2, O3   ALL        every result
 */
#include "families/rnn.h"

#include <string.h>

#include "base/compiler.h"
#include "graph/op_attrs.h"
#include "kernels/blas.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

struct cr_rnn_rounds cr_rnn_rounds(int low, bool biased)
{
    bool all = low == CR_RNN_ALL, gates = low == CR_RNN_GATES;
    /* without a bias in float32 the gates are float16 in level auto too */
    bool bare = low == CR_RNN_PRODUCTS && !biased;

    return (struct cr_rnn_rounds){
        .all = all,
        .sum = all || low == CR_RNN_PRODUCTS,
        .gate = all || gates || bare,
        .pair = all || bare,
        .state = all || gates,
    };
}

CR_CLONES static void low_sum(int64_t n, cr_real alpha, const cr_real *x,
                              cr_real *sum)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        sum[i] += alpha * x[i];
}

struct rounded {
    enum cr_type to;
    cr_real alpha;
    cr_real *part, *sum;
};

static void round_and_add(void *ctx, int64_t from, int64_t to)
{
    const struct rounded *r = ctx;

    cr_round_to_type(r->to, to - from, r->part + from, r->part + from);
    low_sum(to - from, r->alpha, r->part + from, r->sum + from);
}

void cr_rnn_rounded_sum(const struct cr_op_ctx *s, int w, int dtype,
                        int64_t steps, int64_t n, const cr_real *dy,
                        const cr_real *x, cr_real *room)
{
    int64_t m = s->in[w].dim[0], k = s->in[w].dim[1], t;
    struct rounded r = { .to = dtype == 0 ? CR_F16 : CR_BF16,
                         .alpha = (cr_real)s->alpha[w],
                         .part = room,
                         .sum = s->dx[w] };

    if (!s->accumulate[w])
        memset(r.sum, 0, (size_t)(m * k) * sizeof *r.sum);
    for (t = steps - 1; t >= 0; t--) {
        cr_gemm(CR_T, CR_N, m, k, n, dy + t * n * m, x + t * n * k, false,
                room);
        cr_parallel_for(m * k, 1, &r, round_and_add);
    }
}
