/* gru (Cho et al., arXiv:1406.1078), gates in MindSpore's order r z n, with
 * the reset gate applied after the matrix product:
 *   u = h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   r = s(x_r + u_r),   z = s(x_z + u_z),   n = tanh(x_n + r u_n)
 *   h = n + z (h0 - n) */
#include "families/rnn.h"

#include <string.h>

static void gru_row(const struct cr_rnn_row *w)
{
    w->k->gru(w);
}

static void gru_back_row(const struct cr_rnn_row *w)
{
    w->k->gru_backward(w);
}

static void gru_turn(const struct cr_rnn_row *w)
{
    w->k->gru_to_product(w);
}

/* ---- Low precision: families/rnn_low_precision.c. Saves s(r) and s(z)
 * unrounded and u_n in g, n rounded in c. */

/* Computes the rounded gates r and z into scratch. */
static void gru_low_gates(const struct cr_rnn_row *w)
{
    memcpy(w->room, w->g, (size_t)(2 * w->n) * sizeof *w->room);
    cr_rnn_round(w, cr_rnn_rounds(w).gate, 2 * w->n, w->room);
}

/* y = h0 - n */
static void gru_low_apart(const struct cr_rnn_row *w, cr_real *y)
{
    int64_t k;

    for (k = 0; k < w->n; k++)
        y[k] = w->h0[k] - w->c[k];
    cr_rnn_round(w, cr_rnn_rounds(w).all, w->n, y);
}

static void gru_low_row(const struct cr_rnn_row *w)
{
    int64_t n = w->n;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);
    cr_real *g = w->g, *reset = w->room, *z = reset + n, *v = z + n;

    cr_rnn_round(w, true, 3 * n, g);
    if (w->b)
        cr_rnn_add(w, r.all, 3 * n, g, w->b, g);
    memcpy(w->room, w->x, (size_t)(3 * n) * sizeof *w->room);
    cr_rnn_round(w, r.gate, 3 * n, g);
    cr_rnn_round(w, r.gate, 3 * n, w->room);
    cr_rnn_add(w, r.gate, 2 * n, w->room, g, g);
    cr_rnn_sigmoid(2 * n, g, g);
    gru_low_gates(w);
    cr_rnn_mul(w, r.pair, n, reset, g + 2 * n, reset);
    cr_rnn_add(w, r.gate, n, v, reset, v);
    cr_rnn_tanh(w, r.gate, n, v, w->c);
    gru_low_apart(w, v);
    cr_rnn_mul(w, r.all, n, z, v, v);
    cr_rnn_add(w, r.all, n, w->c, v, w->h);
}

static void gru_low_back_row(const struct cr_rnn_row *w)
{
    int64_t n = w->n, k;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);
    const cr_real *reset = w->room, *z = reset + n, *g = w->g;
    cr_real *v = w->room + 2 * n, *dg = w->dg, *dn = w->dx + 2 * n;

    gru_low_gates(w);
    gru_low_apart(w, v);
    cr_rnn_mul(w, r.gate, n, w->dh, v, dg + n);
    cr_rnn_mul(w, r.all, n, w->dh, z, v);
    for (k = 0; k < n; k++)
        dn[k] = w->dh[k] - v[k];
    cr_rnn_round(w, r.gate, n, dn);
    cr_rnn_tanh_backward(w, r.gate, n, w->c, dn);
    memcpy(w->dh, v, (size_t)n * sizeof *v);
    cr_rnn_mul(w, r.gate, n, dn, g + 2 * n, dg);
    cr_rnn_mul(w, r.gate, n, dn, reset, dg + 2 * n);
    cr_rnn_sigmoid_backward(w, r.gate, 2 * n, g, dg);
    memcpy(w->dx, dg, (size_t)(2 * n) * sizeof *dg);
}

static const struct cr_rnn_kind gru = {
    .gates = 3,
    .saves_cell = true,
    .forward = gru_row,
    .backward = gru_back_row,
    .to_product_grad = gru_turn,
    .low_forward = gru_low_row,
    .low_backward = gru_low_back_row,
};

static bool gru_plan(struct cr_op_plan *p)
{
    return cr_rnn_plan(p, &gru);
}

static void gru_forward(const struct cr_op_ctx *s)
{
    cr_rnn_forward(s, &gru);
}

static void gru_backward(const struct cr_op_ctx *s)
{
    cr_rnn_backward(s, &gru);
}

const struct cr_op cr_op_gru = {
    .about = { .name = "gru",
               .summary = "The recurrent part of a GRU layer.",
               .detail = "x is the input times weight_ih plus bias_ih: (L, N, "
                         "3 H). Returns a tuple: the states of all time steps "
                         "and the last state.",
               .opts = cr_rnn_opts,
               .size = sizeof(struct cr_rnn) },
    CR_RNN_OP(5, 2),
    .signature = "x, weight_hh, bias_hh=None, h_0=None, seq_length=None, "
                 "batch_first=False, reverse=False",
    .plan = gru_plan,
    .forward = gru_forward,
    .backward = gru_backward,
};
