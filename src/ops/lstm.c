/* lstm (Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735; with
 * Gers' forget gate), gates in MindSpore's order i f g o:
 *   (i, f, g, o) = x + h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   c = s(f) c0 + s(i) tanh(g),   h = s(o) tanh(c) */
#include "base/attr.h"
#include "net/recur.h"

/* Short loops: a processor looks ahead over several of their rounds. */
CR_CLONES static void lstm_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *x = w->x, *c0 = w->c0;
    cr_real *gi = w->g, *gf = gi + n, *gg = gf + n, *go = gg + n;
    cr_real *h = w->h, *c = w->c;

    CR_SIMD
    for (k = 0; k < 2 * n; k++)
        gi[k] = cr_sigmoid(gi[k] + x[k]);
    CR_SIMD
    for (k = 0; k < n; k++)
        gg[k] = cr_tanh(gg[k] + x[2 * n + k]);
    CR_SIMD
    for (k = 0; k < n; k++)
        go[k] = cr_sigmoid(go[k] + x[3 * n + k]);
    CR_SIMD
    for (k = 0; k < n; k++) {
        c[k] = gf[k] * c0[k] + gi[k] * gg[k];
        h[k] = go[k] * cr_tanh(c[k]);
    }
}

CR_CLONES static void lstm_back_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *gi = w->g, *gf = gi + n, *gg = gf + n, *go = gg + n;
    const cr_real *c0 = w->c0, *c = w->c;
    cr_real *dh = w->dh, *dc = w->dc, *dg = w->dg;

    CR_SIMD
    for (k = 0; k < n; k++) {
        cr_real i = gi[k], f = gf[k], g = gg[k], o = go[k];
        cr_real t = cr_tanh(c[k]), d = dh[k];
        cr_real v = dc[k] + d * o * (1 - t * t);

        dg[k] = v * g * i * (1 - i);
        dg[n + k] = v * c0[k] * f * (1 - f);
        dg[2 * n + k] = v * i * (1 - g * g);
        dg[3 * n + k] = d * t * o * (1 - o);
        dc[k] = v * f;
        dh[k] = 0;
    }
}

static const struct cr_recur_kind lstm = {
    .gates = 4,
    .cell = true,
    .forward = lstm_row,
    .backward = lstm_back_row,
};

static bool lstm_plan(struct cr_plan *p)
{
    return cr_recur_plan(p, &lstm);
}

static void lstm_forward(const struct cr_step *s)
{
    cr_recur_forward(s, &lstm);
}

static void lstm_backward(const struct cr_step *s)
{
    cr_recur_backward(s, &lstm);
}

const struct cr_op cr_op_lstm = {
    .about = { .name = "lstm",
               .summary = "The recurrence of an LSTM layer.",
               .opts = cr_recur_opts,
               .size = sizeof(struct cr_recur) },
    CR_RECUR_OP(6, 3),
    .plan = lstm_plan,
    .forward = lstm_forward,
    .backward = lstm_backward,
};
