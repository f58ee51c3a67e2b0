/* TransformerDecoder: a chain of TransformerDecoderLayers. Each has its own
 * parameters; all layers start from the same values, as in MindSpore and
 * PyTorch. */
#include "build/transformer.h"

struct decoder {
    const struct cr_node *decoder_layer;
    int64_t num_layers;
    const struct cr_node *norm;
};

static const struct cr_opt decoder_opts[] = {
    CR_NODE(struct decoder, decoder_layer,
            "The layer to repeat: {TransformerDecoderLayer: {d_model: 64, "
            "...}}."),
    CR_INT(struct decoder, num_layers, 1, 10000, "Number of layers."),
    CR_NODE(struct decoder, norm,
            "Cell after the last layer, such as LayerNorm. Default: none."),
    { 0 },
};

static bool decoder_check(struct cr_diag *diag, struct cr_pos pos,
                          const void *opts)
{
    const struct decoder *o = opts;

    return cr_transformer_stack_check(diag, pos, o->decoder_layer,
                                      "decoder_layer",
                                      "TransformerDecoderLayer", o->norm);
}

static struct cr_val *decoder_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    const struct decoder *o = cr_opts(b);

    return cr_transformer_stack_build(b, o->decoder_layer, o->num_layers,
                                      o->norm, 6, in);
}

static const char *const decoder_inputs[] = { "tgt",
                                              "memory",
                                              "tgt_mask",
                                              "memory_mask",
                                              "tgt_key_padding_mask",
                                              "memory_key_padding_mask",
                                              NULL };

const struct cr_cell cr_cell_transformer_decoder = {
    .about = {
        .name = "TransformerDecoder",
        .summary = "Transformer decoder: a stack of TransformerDecoderLayer.",
        .detail = "Called with tgt, memory and the masks of "
                  "TransformerDecoderLayer, which each layer receives; the "
                  "output has the shape of tgt. Each layer has its own "
                  "parameters, all initialised with the same values, as in "
                  "MindSpore and PyTorch. Parameters: "
                  "layers.0.self_attn.in_proj_weight ...",
        .example = "network:\n"
                   "  inputs: {x: {shape: [8, 16]}}\n"
                   "  cells:\n"
                   "    decoder:\n"
                   "      TransformerDecoder:\n"
                   "        decoder_layer: {TransformerDecoderLayer: "
                   "{d_model: 16, nhead: 4, dim_feedforward: 32, "
                   "batch_first: true}}\n"
                   "        num_layers: 2\n"
                   "        norm: {LayerNorm: {normalized_shape: [16]}}\n"
                   "  construct: return decoder(x[:, :3], x[:, 3:])\n",
        .opts = decoder_opts,
        .size = sizeof(struct decoder),
    },
    .min_inputs = 2,
    .max_inputs = 6,
    .inputs = decoder_inputs,
    .check = decoder_check,
    .build = decoder_build,
};
