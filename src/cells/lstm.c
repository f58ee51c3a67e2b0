/* LSTM: stacked long short-term memory over a sequence. */
#include "families/rnn.h"

static const struct cr_opt lstm_opts[] = {
    CR_RNN_OPTS,
    { 0 },
};

static const char *const lstm_inputs[] = { "x", "hx", "seq_length", NULL };

static struct cr_val *lstm_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_rnn_build(b, in, "lstm", 4);
}

const struct cr_cell cr_cell_lstm = {
    .about = {
        .name = "LSTM",
        .summary = "LSTM: long short-term memory over a sequence, one or more "
                   "layers.",
        .detail = "Called with x; hx, the pair (h_0, c_0) (default: zeros); "
                  "and seq_length, the number of time steps of each sample "
                  "(int32; default: all). x is (time, batch, input_size), or "
                  "(batch, time, input_size) with batch_first; the output is "
                  "the same with hidden_size features, twice as many if "
                  "bidirectional; states are (layers * directions, batch, "
                  "hidden_size). Returns (output, (h_n, c_n)). Gates in the "
                  "order input, forget, cell, output: c = f c + i g, h = o "
                  "tanh(c). After the last time step of a sample the output is "
                  "0 and its state does not change. Parameters of each layer: "
                  "weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, with "
                  "the suffix _reverse for the reverse direction.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [20, 8]}}\n"
                   "  cells: {rec: {LSTM: {hidden_size: 16, "
                   "batch_first: true}}}\n"
                   "  construct: |\n"
                   "    y, (h, c) = rec(x)\n"
                   "    return h[-1]\n",
        .opts = lstm_opts,
        .size = sizeof(struct cr_rnn_cell),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = lstm_inputs,
    .tuples = 1 << 1,
    .features = "input_size",
    .build = lstm_build,
};
