/* Dropout2d: zeroes whole channels at random in training, x (N, C, H, W). */
#include "graph/cell.h"

struct dropout2d {
    double p;
};

static const struct cr_opt dropout2d_opts[] = {
    CR_REAL_DEFAULT(struct dropout2d, p, 0.5, 0, 1,
                    "Probability that a channel of a sample is zeroed."),
    { 0 },
};

static struct cr_val *dropout2d_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    int rank = cr_val_spec(in[0])->rank;

    if (rank != 4) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected (N, C, H, W)",
                cr_diag_format(cr_build_arena(b), cr_val_spec(in[0])));
        return NULL;
    }
    return CR_EMIT(b, "dropout_planes", cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_dropout2d = {
    .about = {
        .name = "Dropout2d",
        .summary = "Channel dropout: zeroes whole channels of (N, C, H, W) at "
                   "random in training.",
        .detail = "Input (N, C, H, W). Training zeroes each channel of each "
                  "sample with probability p and divides the other channels by "
                  "1 - p; prediction returns the input.",
        .example = "network: {drop: {Dropout2d: {p: 0.2}}, flatten: Flatten, "
                   "fc: {Dense: {out_channels: 10}}}\n",
        .opts = dropout2d_opts,
        .size = sizeof(struct dropout2d),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = dropout2d_build,
};
