/*
 * Rows of gates in low precision: MindSpore 2.10's steps
 * (nn/layer/rnn_cells.py), function by function, each of which computes in
 * float32 here and rounds what it gives.
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
#include "num/vec_math.h"

struct cr_rnn_rounds cr_rnn_rounds(const struct cr_rnn_row *row)
{
    int low = row->o->low;
    bool all = low == CR_RNN_ALL, gates = low == CR_RNN_GATES;
    /* without a bias in float32 the gates are float16 in level auto too */
    bool bare = low == CR_RNN_PRODUCTS && !row->biased;

    return (struct cr_rnn_rounds){
        .all = all,
        .sum = all || low == CR_RNN_PRODUCTS,
        .gate = all || gates || bare,
        .pair = all || bare,
        .state = all || gates,
    };
}

void cr_rnn_round(const struct cr_rnn_row *row, bool when, int64_t n,
                  cr_real *v)
{
    if (when)
        cr_round_to_type(row->o->dtype == 0 ? CR_F16 : CR_BF16, n, v, v);
}

CR_CLONES static void low_add(int64_t n, const cr_real *a, const cr_real *b,
                              cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

CR_CLONES static void low_mul(int64_t n, const cr_real *a, const cr_real *b,
                              cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

CR_CLONES static void low_tanh(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = cr_tanh(x[i]);
}

CR_CLONES static void low_sigmoid_backward(int64_t n, const cr_real *y,
                                           cr_real *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = d[i] * y[i] * (1 - y[i]);
}

CR_CLONES static void low_tanh_backward(int64_t n, const cr_real *y, cr_real *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        d[i] = d[i] * (1 - y[i] * y[i]);
}

CR_CLONES void cr_rnn_sigmoid(int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = cr_gate(x[i]);
}

void cr_rnn_add(const struct cr_rnn_row *row, bool when, int64_t n,
                const cr_real *a, const cr_real *b, cr_real *y)
{
    low_add(n, a, b, y);
    cr_rnn_round(row, when, n, y);
}

void cr_rnn_mul(const struct cr_rnn_row *row, bool when, int64_t n,
                const cr_real *a, const cr_real *b, cr_real *y)
{
    low_mul(n, a, b, y);
    cr_rnn_round(row, when, n, y);
}

void cr_rnn_tanh(const struct cr_rnn_row *row, bool when, int64_t n,
                 const cr_real *x, cr_real *y)
{
    low_tanh(n, x, y);
    cr_rnn_round(row, when, n, y);
}

void cr_rnn_sigmoid_backward(const struct cr_rnn_row *row, bool when, int64_t n,
                             const cr_real *y, cr_real *d)
{
    low_sigmoid_backward(n, y, d);
    cr_rnn_round(row, when, n, d);
}

void cr_rnn_tanh_backward(const struct cr_rnn_row *row, bool when, int64_t n,
                          const cr_real *y, cr_real *d)
{
    low_tanh_backward(n, y, d);
    cr_rnn_round(row, when, n, d);
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
