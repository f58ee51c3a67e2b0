/* gru (Cho et al., arXiv:1406.1078), gates in MindSpore's order r z n, with
 * the reset gate applied after the matrix product:
 *   u = h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   r = s(x_r + u_r),   z = s(x_z + u_z),   n = tanh(x_n + r u_n)
 *   h = n + z (h0 - n) */
#include "families/rnn.h"

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

static void gru_low_row(const struct cr_rnn_row *w)
{
    w->k->low->gru(w);
}

static void gru_low_back_row(const struct cr_rnn_row *w)
{
    w->k->low->gru_backward(w);
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
