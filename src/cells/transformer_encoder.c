/* TransformerEncoder: a chain of TransformerEncoderLayers. Each has its own
 * parameters; all layers start from the same values, as in MindSpore and
 * PyTorch. */
#include "build/transformer.h"

struct encoder {
    const struct cr_node *encoder_layer;
    int64_t num_layers;
    const struct cr_node *norm;
};

static const struct cr_opt encoder_opts[] = {
    CR_NODE(struct encoder, encoder_layer,
            "The layer to repeat: {TransformerEncoderLayer: {d_model: 64, "
            "...}}."),
    CR_INT(struct encoder, num_layers, 1, 10000, "Number of layers."),
    CR_NODE(struct encoder, norm,
            "Cell after the last layer, such as LayerNorm. Default: none."),
    { 0 },
};

static bool encoder_check(struct cr_diag *diag, struct cr_pos pos,
                          const void *opts)
{
    const struct encoder *o = opts;

    return cr_transformer_stack_check(diag, pos, o->encoder_layer,
                                      "encoder_layer",
                                      "TransformerEncoderLayer", o->norm);
}

static struct cr_val *encoder_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    const struct encoder *o = cr_opts(b);

    return cr_transformer_stack_build(b, o->encoder_layer, o->num_layers,
                                      o->norm, 3, in);
}

static const char *const encoder_inputs[] = { "src", "src_mask",
                                              "src_key_padding_mask", NULL };

const struct cr_cell cr_cell_transformer_encoder = {
    .about = {
        .name = "TransformerEncoder",
        .summary = "Transformer encoder: a stack of TransformerEncoderLayer.",
        .detail = "Called with src, src_mask and src_key_padding_mask, which "
                  "each layer receives; the output has the shape of src. Each "
                  "layer has its own parameters, all initialised with the same "
                  "values, as in MindSpore and PyTorch. Parameters: "
                  "layers.0.self_attn.in_proj_weight ...",
        .example = "network:\n"
                   "  inputs: {x: {shape: [8, 16]}}\n"
                   "  cells:\n"
                   "    encoder:\n"
                   "      TransformerEncoder:\n"
                   "        encoder_layer: {TransformerEncoderLayer: "
                   "{d_model: 16, nhead: 4, dim_feedforward: 32, "
                   "batch_first: true}}\n"
                   "        num_layers: 2\n"
                   "        norm: {LayerNorm: {normalized_shape: [16]}}\n"
                   "  construct: return encoder(x)\n",
        .opts = encoder_opts,
        .size = sizeof(struct encoder),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = encoder_inputs,
    .check = encoder_check,
    .build = encoder_build,
};
