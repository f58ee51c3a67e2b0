/* lstm (Hochreiter and Schmidhuber 1997, doi:10.1162/neco.1997.9.8.1735; with
 * Gers' forget gate), gates in MindSpore's order i f g o:
 *   (i, f, g, o) = x + h0 W' + b, s(v) = 1 / (1 + exp(-v))
 *   c = s(f) c0 + s(i) tanh(g),   h = s(o) tanh(c) */
#include "families/rnn.h"

#include <string.h>

static void lstm_row(const struct cr_rnn_row *w)
{
    w->k->lstm(w);
}

static void lstm_back_row(const struct cr_rnn_row *w)
{
    w->k->lstm_backward(w);
}

/* ---- Low precision: families/rnn_low_precision.c. Saves s(i), s(f), s(o)
 * unrounded and tanh(g) rounded in g. */

/* Computes the rounded gates i, f and o into scratch. */
static void lstm_low_gates(const struct cr_rnn_row *w)
{
    int64_t n = w->n;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);

    memcpy(w->room, w->g, (size_t)(4 * n) * sizeof *w->room);
    cr_rnn_round(w, r.gate, 2 * n, w->room);
    cr_rnn_round(w, r.gate, n, w->room + 3 * n);
}

/* Computes tanh(c) into the third row of scratch. */
static void lstm_low_state(const struct cr_rnn_row *w)
{
    int64_t n = w->n;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);
    cr_real *t = w->room + 2 * n;

    memcpy(t, w->c, (size_t)n * sizeof *t);
    cr_rnn_round(w, r.state, n, t);
    cr_rnn_tanh(w, r.state, n, t, t);
}

static void lstm_low_row(const struct cr_rnn_row *w)
{
    int64_t n = w->n, all = 4 * n;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);
    cr_real *g = w->g, *i = w->room, *f = i + n, *t = f + n, *o = t + n;

    cr_rnn_round(w, true, all, g);
    cr_rnn_add(w, r.sum, all, w->x, g, g);
    if (w->b) {
        cr_rnn_add(w, r.all, all, g, w->b, g);
        cr_rnn_add(w, r.all, all, g, w->b + all, g);
    }
    cr_rnn_round(w, r.gate, all, g);
    cr_rnn_sigmoid(2 * n, g, g);
    cr_rnn_tanh(w, r.gate, n, g + 2 * n, g + 2 * n);
    cr_rnn_sigmoid(n, g + 3 * n, g + 3 * n);
    lstm_low_gates(w);
    cr_rnn_mul(w, r.all, n, f, w->c0, f);
    cr_rnn_mul(w, r.pair, n, i, g + 2 * n, i);
    cr_rnn_add(w, r.all, n, f, i, w->c);
    lstm_low_state(w);
    cr_rnn_mul(w, r.all, n, o, t, w->h);
}

static void lstm_low_back_row(const struct cr_rnn_row *w)
{
    int64_t n = w->n, all = 4 * n;
    struct cr_rnn_rounds r = cr_rnn_rounds(w);
    const cr_real *i = w->room, *f = i + n, *t = f + n, *o = t + n, *g = w->g;
    cr_real *dg = w->dg, *dt = w->dx, *dc = dt + n, *pair = dc + n;

    lstm_low_gates(w);
    lstm_low_state(w);
    cr_rnn_mul(w, r.state, n, w->dh, o, dt);
    cr_rnn_tanh_backward(w, r.state, n, t, dt);
    cr_rnn_add(w, r.all, n, w->dc, dt, dc);
    memcpy(pair, dc, (size_t)n * sizeof *pair);
    cr_rnn_round(w, r.pair, n, pair);
    cr_rnn_mul(w, r.gate, n, pair, g + 2 * n, dg);
    cr_rnn_mul(w, r.gate, n, dc, w->c0, dg + n);
    cr_rnn_mul(w, r.gate, n, pair, i, dg + 2 * n);
    cr_rnn_mul(w, r.gate, n, w->dh, t, dg + 3 * n);
    cr_rnn_sigmoid_backward(w, r.gate, 2 * n, g, dg);
    cr_rnn_tanh_backward(w, r.gate, n, g + 2 * n, dg + 2 * n);
    cr_rnn_sigmoid_backward(w, r.gate, n, g + 3 * n, dg + 3 * n);
    cr_rnn_mul(w, r.all, n, dc, f, w->dc);
    memset(w->dh, 0, (size_t)n * sizeof *w->dh);
    memcpy(w->dx, dg, (size_t)all * sizeof *dg); /* x is the result of a matrix
                                                    product */
    cr_rnn_round(w, true, all, w->dx);
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
