/* rnn (Elman): h = f(x + h0 W' + b), f = tanh or relu;  dx = dh f'(h) */
#include "base/attr.h"
#include "net/recur.h"

CR_CLONES static void rnn_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *x = w->x, *g = w->g;
    cr_real *h = w->h;

    if (w->act == CR_RECUR_TANH) {
        CR_SIMD
        for (k = 0; k < n; k++)
            h[k] = cr_tanh(x[k] + g[k]);
    } else {
        CR_SIMD
        for (k = 0; k < n; k++) {
            cr_real v = x[k] + g[k];

            h[k] = v < 0 ? 0 : v; /* NaN stays */
        }
    }
}

CR_CLONES static void rnn_back_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *h = w->h;
    cr_real *dh = w->dh, *dg = w->dg;

    if (w->act == CR_RECUR_TANH) {
        CR_SIMD
        for (k = 0; k < n; k++) {
            dg[k] = dh[k] * (1 - h[k] * h[k]);
            dh[k] = 0;
        }
    } else {
        CR_SIMD
        for (k = 0; k < n; k++) {
            dg[k] = h[k] > 0 ? dh[k] : 0;
            dh[k] = 0;
        }
    }
}

static const struct cr_recur_kind rnn = {
    .gates = 1,
    .forward = rnn_row,
    .backward = rnn_back_row,
};

static bool rnn_plan(struct cr_plan *p)
{
    return cr_recur_plan(p, &rnn);
}

static void rnn_forward(const struct cr_step *s)
{
    cr_recur_forward(s, &rnn);
}

static void rnn_backward(const struct cr_step *s)
{
    cr_recur_backward(s, &rnn);
}

const struct cr_op cr_op_rnn = {
    .about = { .name = "rnn",
               .summary = "The recurrence of a plain recurrent layer.",
               .opts = cr_recur_opts,
               .size = sizeof(struct cr_recur) },
    CR_RECUR_OP(5, 2),
    .plan = rnn_plan,
    .forward = rnn_forward,
    .backward = rnn_backward,
};
