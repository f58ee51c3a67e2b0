/* LSTMCell: one time step of an LSTM, for use in construct. */
#include "families/rnn.h"

static const struct cr_opt lstm_cell_opts[] = {
    CR_RNN_ONE_OPTS,
    { 0 },
};

static const char *const lstm_cell_inputs[] = { "x", "hx", NULL };

static struct cr_val *lstm_cell_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    return cr_rnn_build_one(b, in, "lstm", 4);
}

const struct cr_cell cr_cell_lstm_cell = {
    .about = {
        .name = "LSTMCell",
        .summary = "One time step of an LSTM.",
        .detail = "Called with x (batch, input_size) and hx, the pair (h, "
                  "c), each (batch, hidden_size); returns (h', c'). "
                  "Parameters: weight_ih, weight_hh, bias_ih, bias_hh.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [8]}, h: {shape: [4]}}\n"
                   "  cells: {step: {LSTMCell: [8, 4]}}\n"
                   "  construct: |\n"
                   "    h, c = step(x, (h, h))\n"
                   "    return h\n",
        .opts = lstm_cell_opts,
        .size = sizeof(struct cr_rnn_cell),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .inputs = lstm_cell_inputs,
    .tuples = 1 << 1,
    .build = lstm_cell_build,
};
