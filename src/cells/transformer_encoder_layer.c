/* TransformerEncoderLayer: self-attention and a feed-forward network, each
 * with a residual connection, and a LayerNorm after each sum or, with
 * norm_first, before each branch.
 *
 *   a(x) = dropout1(self_attn(x, x, x))
 *   f(x) = dropout2(dense2(dropout(activation(dense1(x)))))
 *   x = norm1(x + a(x)); x = norm2(x + f(x))    norm_first:
 *   x = x + a(norm1(x)); x = x + f(norm2(x))
 *
 * Vaswani et al., "Attention is all you need" (2017). */
#include "build/transformer.h"

enum {
    SRC,
    MASK,
    PAD
};

static struct cr_val *layer_attend(struct cr_build *b, struct cr_val *x,
                                   struct cr_val *const *in)
{
    return cr_transformer_attend(b, "self_attn", "dropout1", x, x, in[PAD],
                                 in[MASK]);
}

static struct cr_val *layer_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct cr_transformer_layer *o = cr_opts(b);
    struct cr_val *x = in[SRC];

    if (o->norm_first) {
        x = cr_transformer_add(
            b, x, layer_attend(b, cr_transformer_norm(b, "norm1", x), in));
        return cr_transformer_add(
            b, x,
            cr_transformer_feed(b, "dropout2",
                                cr_transformer_norm(b, "norm2", x)));
    }
    x = cr_transformer_norm(b, "norm1",
                            cr_transformer_add(b, x, layer_attend(b, x, in)));
    return cr_transformer_norm(
        b, "norm2",
        cr_transformer_add(b, x, cr_transformer_feed(b, "dropout2", x)));
}

static const char *const layer_inputs[] = { "src", "src_mask",
                                            "src_key_padding_mask", NULL };

const struct cr_cell cr_cell_transformer_encoder_layer = {
    .about = {
        .name = "TransformerEncoderLayer",
        .summary = "Self-attention, then a feed-forward network at each "
                   "position.",
        .detail = "Called with src (L, N, d_model), with N first if "
                  "batch_first, src_mask (L, L) or (N nhead, L, L) and "
                  "src_key_padding_mask (N, L), as in MultiheadAttention; the "
                  "output has the shape of src. x = norm1(x + "
                  "dropout1(self_attn(x))); x = norm2(x + "
                  "dropout2(dense2(dropout(activation(dense1(x)))))). With "
                  "norm_first the norms are the first cells of the branches. "
                  "Parameters: those of its cells, self_attn.in_proj_weight, "
                  "dense1.weight (PyTorch: linear1), norm1.gamma ...",
        .example = "network:\n"
                   "  inputs: {x: {shape: [16, 32]}}\n"
                   "  cells:\n"
                   "    layer: {TransformerEncoderLayer: {d_model: 32, nhead: "
                   "4, dim_feedforward: 64, batch_first: true}}\n"
                   "  construct: return layer(x, causal_mask(x))\n",
        .opts = cr_transformer_layer_opts,
        .size = sizeof(struct cr_transformer_layer),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = layer_inputs,
    .build = layer_build,
};
