/* TransformerDecoderLayer: self-attention, attention to the encoder's output
 * and a feed-forward network, each with a residual connection, and a LayerNorm
 * after each sum or, with norm_first, before each branch.
 *
 *   a(x) = dropout1(self_attn(x, x, x))
 *   m(x) = dropout2(multihead_attn(x, memory, memory))
 *   f(x) = dropout3(dense2(dropout(activation(dense1(x)))))
 *   x = norm1(x + a(x)); x = norm2(x + m(x)); x = norm3(x + f(x))
 *   norm_first:
 *   x = x + a(norm1(x)); x = x + m(norm2(x)); x = x + f(norm3(x))
 *
 * Vaswani et al., "Attention is all you need" (2017). */
#include "build/transformer.h"

enum {
    TGT,
    MEMORY,
    MASK,
    MEMORY_MASK,
    PAD,
    MEMORY_PAD
};

/* Branch `which` for x. */
static struct cr_val *layer_branch(struct cr_build *b, int which,
                                   struct cr_val *x, struct cr_val *const *in)
{
    if (which == 0)
        return cr_transformer_attend(b, "self_attn", "dropout1", x, x, in[PAD],
                                     in[MASK]);
    if (which == 1)
        return cr_transformer_attend(b, "multihead_attn", "dropout2", x,
                                     in[MEMORY], in[MEMORY_PAD],
                                     in[MEMORY_MASK]);
    return cr_transformer_feed(b, "dropout3", x);
}

static struct cr_val *layer_build(struct cr_build *b, struct cr_val *const *in)
{
    static const char *const norm[] = { "norm1", "norm2", "norm3" };
    const struct cr_transformer_layer *o = cr_opts(b);
    struct cr_val *x = in[TGT], *y;
    int i;

    for (i = 0; i < 3; i++) {
        y = o->norm_first ? cr_transformer_norm(b, norm[i], x) : x;
        x = cr_transformer_add(b, x, layer_branch(b, i, y, in));
        x = o->norm_first ? x : cr_transformer_norm(b, norm[i], x);
    }
    return x;
}

static const char *const layer_inputs[] = { "tgt",
                                            "memory",
                                            "tgt_mask",
                                            "memory_mask",
                                            "tgt_key_padding_mask",
                                            "memory_key_padding_mask",
                                            NULL };

const struct cr_cell cr_cell_transformer_decoder_layer = {
    .about = {
        .name = "TransformerDecoderLayer",
        .summary = "Self-attention, attention to the output of an encoder, "
                   "then a feed-forward network at each position.",
        .detail = "Called with tgt (T, N, d_model) and memory (S, N, d_model), "
                  "with N first if batch_first, or without N; tgt_mask (T, T) "
                  "or (N nhead, T, T), memory_mask (T, S), "
                  "tgt_key_padding_mask (N, T) and memory_key_padding_mask (N, "
                  "S), as in MultiheadAttention; the output has the shape of "
                  "tgt. x = norm1(x + dropout1(self_attn(x))); x = norm2(x + "
                  "dropout2(multihead_attn(x, memory, memory))); x = norm3(x + "
                  "dropout3(dense2(dropout(activation(dense1(x)))))). With "
                  "norm_first the norms are the first cells of the branches. "
                  "Parameters: those of its cells, self_attn.in_proj_weight, "
                  "multihead_attn.in_proj_weight, dense1.weight (PyTorch: "
                  "linear1), norm1.gamma ...",
        .example = "network:\n"
                   "  inputs: {x: {shape: [16, 32]}}\n"
                   "  cells:\n"
                   "    layer: {TransformerDecoderLayer: {d_model: 32, nhead: "
                   "4, dim_feedforward: 64, batch_first: true}}\n"
                   "  construct: |\n"
                   "    y = x[:, 10:]\n"
                   "    return layer(y, x[:, :10], causal_mask(y))\n",
        .opts = cr_transformer_layer_opts,
        .size = sizeof(struct cr_transformer_layer),
    },
    .min_inputs = 2,
    .max_inputs = 6,
    .inputs = layer_inputs,
    .build = layer_build,
};
