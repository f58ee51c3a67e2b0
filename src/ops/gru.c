/* gru (Cho et al., arXiv:1406.1078), gates in MindSpore's order r z n, where
 * the reset gate acts behind the product:
 *   u = h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   r = s(x_r + u_r),   z = s(x_z + u_z),   n = tanh(x_n + r u_n)
 *   h = n + z (h0 - n) */
#include "base/attr.h"
#include "net/recur.h"

/* left in g: r, z and u_n; in c: n */
CR_CLONES static void gru_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *x = w->x, *h0 = w->h0;
    cr_real *gr = w->g, *gz = gr + n, *gu = gz + n, *h = w->h, *c = w->c;

    CR_SIMD
    for (k = 0; k < 2 * n; k++)
        gr[k] = cr_sigmoid(gr[k] + x[k]);
    CR_SIMD
    for (k = 0; k < n; k++) {
        c[k] = cr_tanh(x[2 * n + k] + gr[k] * gu[k]);
        h[k] = c[k] + gz[k] * (h0[k] - c[k]);
    }
}

CR_CLONES static void gru_back_row(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *gr = w->g, *gz = gr + n, *gu = gz + n;
    const cr_real *c = w->c, *h0 = w->h0;
    cr_real *dh = w->dh, *dg = w->dg;

    CR_SIMD
    for (k = 0; k < n; k++) {
        cr_real r = gr[k], z = gz[k], v = c[k], d = dh[k];
        cr_real dn = d * (1 - z) * (1 - v * v);

        dg[k] = dn * gu[k] * r * (1 - r);
        dg[n + k] = d * (h0[k] - v) * z * (1 - z);
        dg[2 * n + k] = dn;
        dh[k] = d * z;
    }
}

CR_CLONES static void gru_turn(const struct cr_recur_row *w)
{
    int64_t n = w->n, k;
    const cr_real *r = w->g;
    cr_real *dg = w->dg + 2 * n;

    CR_SIMD
    for (k = 0; k < n; k++)
        dg[k] *= r[k];
}

static const struct cr_recur_kind gru = {
    .gates = 3,
    .keeps = true,
    .forward = gru_row,
    .backward = gru_back_row,
    .turn = gru_turn,
};

static bool gru_plan(struct cr_plan *p)
{
    return cr_recur_plan(p, &gru);
}

static void gru_forward(const struct cr_step *s)
{
    cr_recur_forward(s, &gru);
}

static void gru_backward(const struct cr_step *s)
{
    cr_recur_backward(s, &gru);
}

const struct cr_op cr_op_gru = {
    .about = { .name = "gru",
               .summary = "The recurrence of a GRU layer.",
               .opts = cr_recur_opts,
               .size = sizeof(struct cr_recur) },
    CR_RECUR_OP(5, 2),
    .plan = gru_plan,
    .forward = gru_forward,
    .backward = gru_backward,
};
