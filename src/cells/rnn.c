/* RNN: stacked Elman layers over a sequence. */
#include "families/rnn.h"

static const struct cr_opt rnn_opts[] = {
    CR_RNN_OPTS,
    CR_RNN_NONLINEARITY,
    { 0 },
};

static const char *const rnn_inputs[] = { "x", "hx", "seq_length", NULL };

static struct cr_val *rnn_build(struct cr_build *b, struct cr_val *const *in)
{
    return cr_rnn_build(b, in, "rnn", 1);
}

const struct cr_cell cr_cell_rnn = {
    .about = {
        .name = "RNN",
        .summary = "RNN: an Elman recurrent network over a sequence, one or "
                   "more layers.",
        .detail = "Called with x; hx, the initial state h_0 (default: zeros); "
                  "and seq_length, the number of time steps of each sample "
                  "(int32; default: all). x is (time, batch, input_size), or "
                  "(batch, time, input_size) with batch_first; the output is "
                  "the same with hidden_size features, twice as many if "
                  "bidirectional; states are (layers * directions, batch, "
                  "hidden_size). Returns (output, h_n). h = tanh(W_ih x + b_ih "
                  "+ W_hh h + b_hh), or relu instead of tanh. After the last "
                  "time step of a sample the output is 0 and its state does "
                  "not change. Parameters of each layer: weight_ih_l0, "
                  "weight_hh_l0, bias_ih_l0, bias_hh_l0, with the suffix "
                  "_reverse for the reverse direction.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [20, 8]}}\n"
                   "  cells: {rec: {RNN: {hidden_size: 16, "
                   "batch_first: true}}}\n"
                   "  construct: |\n"
                   "    y, _ = rec(x)\n"
                   "    return y[:, -1]\n",
        .opts = rnn_opts,
        .size = sizeof(struct cr_rnn_cell),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = rnn_inputs,
    .features = "input_size",
    .build = rnn_build,
};
