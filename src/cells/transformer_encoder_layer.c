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
#include "base/str.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include <string.h>

struct layer {
    int64_t d_model, nhead, dim_feedforward;
    double dropout;
    const struct cr_node *activation;
    double layer_norm_eps;
    bool batch_first, norm_first;
};

static const struct cr_opt layer_opts[] = {
    CR_INT(struct layer, d_model, 1, CR_DIM_MAX, "Features of each position."),
    CR_INT(struct layer, nhead, 1, CR_DIM_MAX,
           "Number of attention heads; "
           "must divide d_model."),
    CR_INT_DEFAULT(struct layer, dim_feedforward, 2048, 1, CR_DIM_MAX,
                   "Hidden size of the feed-forward network."),
    CR_REAL_DEFAULT(
        struct layer, dropout, 0.1, 0, 1 - DBL_EPSILON,
        "Probability of all dropouts, including that of the attention."),
    CR_NODE(struct layer, activation,
            "Activation of the feed-forward network: relu (the default), gelu, "
            "or a cell.",
            .choices = "relu|gelu"),
    CR_REAL_POS_DEFAULT(struct layer, layer_norm_eps, 1e-5, 1e30,
                        "Epsilon of both LayerNorms."),
    CR_BOOL_DEFAULT(struct layer, batch_first, false,
                    "The input is (N, L, d_model) instead of (L, N, d_model)."),
    CR_BOOL_DEFAULT(
        struct layer, norm_first, false,
        "Pre-norm: normalise the input of each branch instead of the residual "
        "sum."),
    { 0 },
};

enum {
    SRC,
    MASK,
    PAD
};

static struct cr_val *layer_part(struct cr_build *b, const char *name,
                                 struct cr_val *x, const char *text)
{
    return cr_subcell(b, name, text, NULL, 1, &x);
}

static struct cr_val *layer_drop(struct cr_build *b, const char *name,
                                 struct cr_val *x)
{
    const struct layer *o = cr_opts(b);

    return layer_part(
        b, name, x,
        cr_strf(cr_build_arena(b), "{Dropout: {p: %.17g}}", o->dropout));
}

static struct cr_val *layer_norm(struct cr_build *b, const char *name,
                                 struct cr_val *x)
{
    const struct layer *o = cr_opts(b);

    return layer_part(b, name, x,
                      cr_strf(cr_build_arena(b),
                              "{LayerNorm: {normalized_shape: [%lld], "
                              "epsilon: %.17g}}",
                              (long long)o->d_model, o->layer_norm_eps));
}

static struct cr_val *layer_dense(struct cr_build *b, const char *name,
                                  struct cr_val *x, int64_t out)
{
    return layer_part(b, name, x,
                      cr_strf(cr_build_arena(b),
                              "{Dense: {out_channels: %lld}}", (long long)out));
}

static struct cr_val *layer_attend(struct cr_build *b, struct cr_val *x,
                                   struct cr_val *const *in)
{
    const struct layer *o = cr_opts(b);
    struct cr_val *args[] = { x, x, x, in[PAD], in[MASK] };
    struct cr_val *y = cr_subcell(
        b, "self_attn",
        cr_strf(cr_build_arena(b),
                "{MultiheadAttention: {embed_dim: %lld, num_heads: %lld, "
                "dropout: %.17g, batch_first: %s}}",
                (long long)o->d_model, (long long)o->nhead, o->dropout,
                o->batch_first ? "true" : "false"),
        "{need_weights: false}", 5, args);

    return layer_drop(b, "dropout1", y ? cr_member(y, 0) : NULL);
}

static struct cr_val *layer_activate(struct cr_build *b, struct cr_val *x)
{
    const struct layer *o = cr_opts(b);
    const struct cr_node *f = o->activation;
    struct cr_gelu *exact = CR_NEW(cr_build_arena(b), struct cr_gelu);

    exact->approximate = CR_GELU_EXACT;
    if (!f || (f->kind == CR_NODE_STR && strcmp(f->text, "relu") == 0))
        return x ? CR_EMIT(b, "relu", NULL, x) : NULL;
    if (f->kind == CR_NODE_STR && strcmp(f->text, "gelu") == 0)
        return x ? CR_EMIT(b, "gelu", exact, x) : NULL;
    if (cr_node_type(f, &(const struct cr_node *){ NULL }))
        return x ? cr_child(b, "activation", f, 1, &x) : NULL;
    cr_fail(b, CR_E_WRONG_TYPE,
            "activation: found %s, expected relu, gelu or a cell",
            cr_node_what(cr_build_arena(b), f));
    return NULL;
}

static struct cr_val *layer_feed(struct cr_build *b, struct cr_val *x)
{
    const struct layer *o = cr_opts(b);

    x = layer_activate(b, layer_dense(b, "dense1", x, o->dim_feedforward));
    x = layer_dense(b, "dense2", layer_drop(b, "dropout", x), o->d_model);
    return layer_drop(b, "dropout2", x);
}

static struct cr_val *layer_add(struct cr_build *b, struct cr_val *x,
                                struct cr_val *y)
{
    return x && y ? CR_EMIT(b, "add", NULL, x, y) : NULL;
}

static struct cr_val *layer_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct layer *o = cr_opts(b);
    struct cr_val *x = in[SRC];

    if (o->norm_first) {
        x = layer_add(b, x, layer_attend(b, layer_norm(b, "norm1", x), in));
        return layer_add(b, x, layer_feed(b, layer_norm(b, "norm2", x)));
    }
    x = layer_norm(b, "norm1", layer_add(b, x, layer_attend(b, x, in)));
    return layer_norm(b, "norm2", layer_add(b, x, layer_feed(b, x)));
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
        .opts = layer_opts,
        .size = sizeof(struct layer),
    },
    .min_inputs = 1,
    .max_inputs = 3,
    .inputs = layer_inputs,
    .build = layer_build,
};
