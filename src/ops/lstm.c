/* lstm (Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735; with
 * Gers' forget gate), gates in MindSpore's order i f g o:
 *   (i, f, g, o) = x + h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   c = s(f) c0 + s(i) tanh(g),   h = s(o) tanh(c) */
#include "families/rnn.h"

static void lstm_row(const struct cr_rnn_row *w)
{
    w->k->lstm(w);
}

static void lstm_back_row(const struct cr_rnn_row *w)
{
    w->k->lstm_backward(w);
}

static void lstm_low_row(const struct cr_rnn_row *w)
{
    w->k->low->lstm(w);
}

static void lstm_low_back_row(const struct cr_rnn_row *w)
{
    w->k->low->lstm_backward(w);
}

static const struct cr_rnn_kind lstm = {
    .gates = 4,
    .cell = true,
    .forward = lstm_row,
    .backward = lstm_back_row,
    .low_forward = lstm_low_row,
    .low_backward = lstm_low_back_row,
};

static bool lstm_plan(struct cr_op_plan *p)
{
    return cr_rnn_plan(p, &lstm);
}

static void lstm_forward(const struct cr_op_ctx *s)
{
    cr_rnn_forward(s, &lstm);
}

static void lstm_backward(const struct cr_op_ctx *s)
{
    cr_rnn_backward(s, &lstm);
}

const struct cr_op cr_op_lstm = {
    .about = { .name = "lstm",
               .summary = "The recurrent part of an LSTM layer.",
               .detail = "x is the input times weight_ih plus bias_ih: (L, N, "
                         "4 H). Returns a tuple: the states of all time steps "
                         "and the last states h and c.",
               .opts = cr_rnn_opts,
               .size = sizeof(struct cr_rnn) },
    CR_RNN_OP(6, 3),
    .signature = "x, weight_hh, bias_hh=None, h_0=None, seq_length=None, "
                 "c_0=None, batch_first=False, reverse=False",
    .plan = lstm_plan,
    .forward = lstm_forward,
    .backward = lstm_backward,
};
