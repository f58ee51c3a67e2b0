/* RNNCell: one time step of an RNN, for use in construct. */
#include "families/rnn.h"

static const struct cr_opt rnn_cell_opts[] = {
    CR_RNN_ONE_OPTS,
    CR_RNN_NONLINEARITY,
    { 0 },
};

static const char *const rnn_cell_inputs[] = { "x", "hx", NULL };

static struct cr_val *rnn_cell_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    return cr_rnn_build_one(b, in, "rnn", 1);
}

const struct cr_cell cr_cell_rnn_cell = {
    .about = {
        .name = "RNNCell",
        .summary = "One time step of an RNN.",
        .detail = "Called with x (batch, input_size) and hx, the state h "
                  "(batch, hidden_size); returns the next state. Parameters: "
                  "weight_ih, weight_hh, bias_ih, bias_hh.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [8]}, h: {shape: [4]}}\n"
                   "  cells: {step: {RNNCell: [8, 4]}}\n"
                   "  construct: |\n"
                   "    h = step(x, h)\n"
                   "    return h\n",
        .opts = rnn_cell_opts,
        .size = sizeof(struct cr_rnn_cell),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .inputs = rnn_cell_inputs,
    .build = rnn_cell_build,
};
