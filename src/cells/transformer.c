/* Transformer: an encoder of one sequence and a decoder of another, which
 * attends to the encoder's result. Vaswani et al., "Attention is all you need"
 * (2017). */
#include "build/transformer.h"

#include "base/str.h"

struct transformer {
    int64_t d_model, nhead, num_encoder_layers, num_decoder_layers,
        dim_feedforward;
    double dropout;
    const struct cr_node *activation, *custom_encoder, *custom_decoder;
    double layer_norm_eps;
    bool batch_first, norm_first;
};

static const struct cr_opt transformer_opts[] = {
    CR_INT_DEFAULT(struct transformer, d_model, 512, 1, CR_DIM_MAX,
                   "Features of each position."),
    CR_INT_DEFAULT(struct transformer, nhead, 8, 1, CR_DIM_MAX,
                   "Number of attention heads; must divide d_model."),
    CR_INT_DEFAULT(struct transformer, num_encoder_layers, 6, 1, 10000,
                   "Number of layers of the encoder."),
    CR_INT_DEFAULT(struct transformer, num_decoder_layers, 6, 1, 10000,
                   "Number of layers of the decoder."),
    CR_TRANSFORMER_FEED_OPTS(struct transformer),
    CR_NODE(struct transformer, custom_encoder,
            "Cell instead of the encoder, called with src, and with src_mask "
            "and src_key_padding_mask if they are given. Default: none."),
    CR_NODE(struct transformer, custom_decoder,
            "Cell instead of the decoder, called with tgt, memory and the "
            "masks of TransformerDecoder that are given. Default: none."),
    CR_TRANSFORMER_NORM_OPTS(struct transformer),
    { 0 },
};

enum {
    SRC,
    TGT,
    SRC_MASK,
    TGT_MASK,
    MEMORY_MASK,
    SRC_PAD,
    TGT_PAD,
    MEMORY_PAD
};

/* The text of a chain of layers: "Encoder", "encoder" or "Decoder", "decoder".
 */
static const char *transformer_chain(struct cr_build *b, const char *type,
                                     const char *option, int64_t num)
{
    const struct transformer *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);

    return cr_strf(
        arena,
        "{Transformer%s: {%s_layer: {Transformer%sLayer: {d_model: %lld, "
        "nhead: %lld, dim_feedforward: %lld, dropout: %.17g, activation: %s, "
        "layer_norm_eps: %.17g, batch_first: %s, norm_first: %s}}, num_layers: "
        "%lld, norm: {LayerNorm: {normalized_shape: [%lld], epsilon: "
        "%.17g}}}}",
        type, option, type, (long long)o->d_model, (long long)o->nhead,
        (long long)o->dim_feedforward, o->dropout,
        o->activation ? cr_node_flow(arena, o->activation) : "relu",
        o->layer_norm_eps, o->batch_first ? "true" : "false",
        o->norm_first ? "true" : "false", (long long)num, (long long)o->d_model,
        o->layer_norm_eps);
}

/* The encoder or the decoder. A custom cell gets no absent inputs at the end,
 * which it may not take. */
static struct cr_val *transformer_part(struct cr_build *b, const char *name,
                                       const struct cr_node *custom,
                                       const char *text, int n,
                                       struct cr_val *const *in)
{
    if (!custom || custom->kind == CR_NODE_NULL)
        return cr_subcell(b, name, text, NULL, n, in);
    while (!in[n - 1] && n > 1)
        n--;
    return cr_child(b, name, custom, n, in);
}

static bool transformer_fits(struct cr_build *b, const struct cr_val *x,
                             const char *name)
{
    const struct transformer *o = cr_opts(b);
    const struct cr_spec *s = cr_val_spec(x);

    return (s->rank > 0 && s->dim[s->rank - 1] == o->d_model) ||
           cr_fail(b, CR_E_SHAPE,
                   "%s: found %s, expected d_model %lld features", name,
                   cr_diag_format(cr_build_arena(b), s), (long long)o->d_model);
}

static struct cr_val *transformer_build(struct cr_build *b,
                                        struct cr_val *const *in)
{
    const struct transformer *o = cr_opts(b);
    struct cr_val *src[] = { in[SRC], in[SRC_MASK], in[SRC_PAD] };
    struct cr_val *tgt[] = { in[TGT],         NULL,        in[TGT_MASK],
                             in[MEMORY_MASK], in[TGT_PAD], in[MEMORY_PAD] };

    if (!transformer_fits(b, in[SRC], "src") ||
        !transformer_fits(b, in[TGT], "tgt"))
        return NULL;
    cr_xavier_subcells(b);
    tgt[1] = transformer_part(
        b, "encoder", o->custom_encoder,
        transformer_chain(b, "Encoder", "encoder", o->num_encoder_layers), 3,
        src);
    return tgt[1] ? transformer_part(b, "decoder", o->custom_decoder,
                                     transformer_chain(b, "Decoder", "decoder",
                                                       o->num_decoder_layers),
                                     6, tgt)
                  : NULL;
}

static const char *const transformer_inputs[] = { "src",
                                                  "tgt",
                                                  "src_mask",
                                                  "tgt_mask",
                                                  "memory_mask",
                                                  "src_key_padding_mask",
                                                  "tgt_key_padding_mask",
                                                  "memory_key_padding_mask",
                                                  NULL };

const struct cr_cell cr_cell_transformer = {
    .about = {
        .name = "Transformer",
        .summary = "Transformer: an encoder and a decoder.",
        .detail = "Called with src (S, N, d_model) and tgt (T, N, d_model), "
                  "with N first if batch_first, or without N; src_mask (S, S), "
                  "tgt_mask (T, T), memory_mask (T, S) and the key padding "
                  "masks (N, S), (N, T) and (N, S), as in MultiheadAttention; "
                  "the output has the shape of tgt. memory = encoder(src), "
                  "output = decoder(tgt, memory): TransformerEncoder and "
                  "TransformerDecoder, each with a LayerNorm at its end. No "
                  "mask is set by itself: tgt_mask=causal_mask(tgt) hides "
                  "later positions. All parameters with two or more dimensions "
                  "are initialised with XavierUniform, those of custom cells "
                  "too, as in MindSpore. Parameters: "
                  "encoder.layers.0.self_attn.in_proj_weight ..., "
                  "encoder.norm.gamma, "
                  "decoder.layers.0.multihead_attn.in_proj_weight ...",
        .example = "network:\n"
                   "  inputs: {x: {shape: [16, 32]}}\n"
                   "  cells:\n"
                   "    both:\n"
                   "      Transformer: {d_model: 32, nhead: 4, "
                   "num_encoder_layers: 1, num_decoder_layers: 1, "
                   "dim_feedforward: 64, batch_first: true}\n"
                   "  construct: |\n"
                   "    y = x[:, 10:]\n"
                   "    return both(x[:, :10], y, tgt_mask=causal_mask(y))\n",
        .opts = transformer_opts,
        .size = sizeof(struct transformer),
    },
    .min_inputs = 2,
    .max_inputs = 8,
    .inputs = transformer_inputs,
    .build = transformer_build,
};
