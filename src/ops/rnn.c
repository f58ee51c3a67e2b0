/* rnn (Elman): h = f(x + h0 W' + b), f = tanh or relu;  dx = dh f'(h) */
#include "families/rnn.h"

static void rnn_row(const struct cr_rnn_row *w)
{
    w->k->rnn(w);
}

static void rnn_back_row(const struct cr_rnn_row *w)
{
    w->k->rnn_backward(w);
}

static void rnn_low_row(const struct cr_rnn_row *w)
{
    w->k->low->rnn(w);
}

static void rnn_low_back_row(const struct cr_rnn_row *w)
{
    w->k->low->rnn_backward(w);
}

static const struct cr_rnn_kind rnn = {
    .gates = 1,
    .forward = rnn_row,
    .backward = rnn_back_row,
    .low_forward = rnn_low_row,
    .low_backward = rnn_low_back_row,
};

static bool rnn_plan(struct cr_op_plan *p)
{
    return cr_rnn_plan(p, &rnn);
}

static void rnn_forward(const struct cr_op_ctx *s)
{
    cr_rnn_forward(s, &rnn);
}

static void rnn_backward(const struct cr_op_ctx *s)
{
    cr_rnn_backward(s, &rnn);
}

const struct cr_op cr_op_rnn = {
    .about = { .name = "rnn",
               .summary = "The recurrent part of an RNN layer.",
               .detail = "x is the input times weight_ih plus bias_ih: (L, N, "
                         "H). Returns a tuple: the states of all time steps "
                         "and the last state.",
               .opts = cr_rnn_opts,
               .size = sizeof(struct cr_rnn) },
    CR_RNN_OP(5, 2),
    .signature = "x, weight_hh, bias_hh=None, h_0=None, seq_length=None, "
                 "batch_first=False, reverse=False, nonlinearity='tanh'",
    .plan = rnn_plan,
    .forward = rnn_forward,
    .backward = rnn_backward,
};
