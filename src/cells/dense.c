/* Dense: a linear layer on the last axis. */
#include "graph/cell.h"

struct dense {
    int64_t in_channels, out_channels;
    struct cr_obj weight_init, bias_init;
    bool has_bias;
    const char *activation;
};

static const struct cr_opt dense_opts[] = {
    CR_INT_OPTIONAL(struct dense, in_channels, 1, CR_DIM_MAX,
                    "Input features. Default: inferred from the input."),
    CR_INT(struct dense, out_channels, 1, CR_DIM_MAX, "Output features."),
    CR_OBJ_OPTIONAL(struct dense, weight_init, CR_KIND_INIT,
                    "Initial weight. Default: set by the section init."),
    CR_OBJ_OPTIONAL(struct dense, bias_init, CR_KIND_INIT, "Initial bias."),
    CR_BOOL_DEFAULT(struct dense, has_bias, true, "Add a bias."),
    CR_STR_OPTIONAL(struct dense, activation,
                    "Activation applied to the output, by its lower-case name, "
                    "such as relu."),
    { 0 },
};

static struct cr_val *dense_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct dense *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    int64_t channels = x->rank > 0 ? x->dim[x->rank - 1] : 0;
    struct cr_val *w, *bias = NULL, *y;

    if (x->rank < 2) {
        cr_fail(b, CR_E_SHAPE,
                "Dense: found input %s, expected (batch, ..., features)",
                cr_diag_format(cr_build_arena(b), x));
        return NULL;
    }
    if (o->in_channels != CR_INT_NONE && o->in_channels != channels) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s, expected in_channels %lld as its last "
                "dimension",
                cr_diag_format(cr_build_arena(b), x),
                (long long)o->in_channels);
        return NULL;
    }
    w = cr_param(b, "weight", CR_SPEC(o->out_channels, channels),
                 &o->weight_init, CR_DEFAULT_INIT_WEIGHT, 0);
    if (o->has_bias) {
        bias = cr_param(b, "bias", CR_SPEC(o->out_channels), &o->bias_init,
                        CR_DEFAULT_INIT_FAN_IN, (double)channels);
        if (!bias)
            return NULL;
    }
    y = CR_EMIT(b, "linear", NULL, in[0], w, bias);
    return o->activation ? cr_activation(b, o->activation, y) : y;
}

const struct cr_cell cr_cell_dense = {
    .about = {
        .name = "Dense",
        .summary = "Fully connected layer: a linear layer y = x W' + b.",
        .detail = "Input (batch, ..., in_channels), output (batch, ..., "
                  "out_channels). Parameters: weight (out_channels, "
                  "in_channels), bias (out_channels).",
        .example = "network: [Flatten, {Dense: {in_channels: 784, "
                   "out_channels: 10}}]\n",
        .opts = dense_opts,
        .size = sizeof(struct dense),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .features = "in_channels",
    .build = dense_build,
};
