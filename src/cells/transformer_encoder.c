/* TransformerEncoder: a chain of TransformerEncoderLayers. Each has its own
 * parameters; all layers start from the same values, as in MindSpore and
 * PyTorch. */
#include "base/str.h"
#include "graph/cell.h"

#include <string.h>

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
    const struct cr_node *args;
    const char *type =
        o->encoder_layer ? cr_node_type(o->encoder_layer, &args) : NULL;

    if (!type || strcmp(type, "TransformerEncoderLayer") != 0)
        return cr_error(diag, o->encoder_layer ? o->encoder_layer->pos : pos,
                        o->encoder_layer ? CR_E_WRONG_TYPE : CR_E_MISSING_KEY,
                        "encoder_layer: expected {TransformerEncoderLayer: "
                        "{...}}");
    if (o->norm && o->norm->kind != CR_NODE_NULL &&
        !cr_node_type(o->norm, &args))
        return cr_error(diag, o->norm->pos, CR_E_WRONG_TYPE,
                        "norm: expected a cell such as {LayerNorm: {...}}");
    return true;
}

static struct cr_val *encoder_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    const struct encoder *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_val *x[] = { in[0], in[1], in[2] };
    int64_t i;

    for (i = 0; i < o->num_layers && x[0]; i++) {
        const char *name = cr_strf(arena, "layers.%lld", (long long)i);

        x[0] = i == 0
                   ? cr_child(b, name, o->encoder_layer, 3, x)
                   : cr_child_like(b, name, "layers.0", o->encoder_layer, 3, x);
    }
    if (o->norm && o->norm->kind != CR_NODE_NULL && x[0])
        return cr_child(b, "norm", o->norm, 1, x);
    return x[0];
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
