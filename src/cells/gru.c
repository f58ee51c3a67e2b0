/* GRU: stacked gated recurrent units over a sequence. */
#include "families/rnn.h"

static const struct cr_opt gru_opts[] = {
    CR_RNN_OPTS,
    { 0 },
};

static const char *const gru_inputs[] = { "x", "hx", "seq_length", NULL };

static struct cr_val *gru_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_rnn_build(b, in, "gru", 3);
}

const struct cr_cell cr_cell_gru = {
    .about = {
        .name = "GRU",
        .summary = "GRU: gated recurrent units over a sequence, one or more "
                   "layers.",
        .detail = "Called with x; hx, the initial state h_0 (default: zeros); "
                  "and seq_length, the number of time steps of each sample "
                  "(int32; default: all). x is (time, batch, input_size), or "
                  "(batch, time, input_size) with batch_first; the output is "
                  "the same with hidden_size features, twice as many if "
                  "bidirectional; states are (layers * directions, batch, "
                  "hidden_size). Returns (output, h_n). Gates in the order "
                  "reset, update, new: n = tanh(W x + b + r (W h + b)), h = n "
                  "+ z (h - n). After the last time step of a sample the "
                  "output is 0 and its state does not change. Parameters of "
                  "each layer: weight_ih_l0, weight_hh_l0, bias_ih_l0, "
                  "bias_hh_l0, with the suffix _reverse for the reverse "
                  "direction.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [20, 8]}}\n"
                   "  cells: {rec: {GRU: {hidden_size: 16, "
                   "batch_first: true}}}\n"
                   "  construct: |\n"
                   "    y, _ = rec(x)\n"
                   "    return y[:, -1]\n",
        .opts = gru_opts,
        .size = sizeof(struct cr_rnn_cell),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = gru_inputs,
    .features = "input_size",
    .build = gru_build,
};
