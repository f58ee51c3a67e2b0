/* What the layers of Transformer encoders and decoders share, and the chains
 * of these layers. */
#ifndef CR_BUILD_TRANSFORMER_H
#define CR_BUILD_TRANSFORMER_H

#include "graph/cell.h"

struct cr_transformer_layer {
    int64_t d_model, nhead, dim_feedforward;
    double dropout;
    const struct cr_node *activation;
    double layer_norm_eps;
    bool batch_first, norm_first;
};
extern const struct cr_opt cr_transformer_layer_opts[];

/* The rows of layers after d_model, nhead and before custom cells, for struct
 * `type`. */
#define CR_TRANSFORMER_FEED_OPTS(type)                                         \
    CR_INT_DEFAULT(type, dim_feedforward, 2048, 1, CR_DIM_MAX,                 \
                   "Hidden size of the feed-forward network."),                \
        CR_REAL_DEFAULT(                                                       \
            type, dropout, 0.1, 0, 1 - DBL_EPSILON,                            \
            "Probability of all dropouts, including that of the attention."),  \
        CR_NODE(type, activation,                                              \
                "Activation of the feed-forward network: relu (the default), " \
                "gelu, or a cell.",                                            \
                .choices = "relu|gelu")
#define CR_TRANSFORMER_NORM_OPTS(type)                                  \
    CR_REAL_POS_DEFAULT(type, layer_norm_eps, 1e-5, 1e30,               \
                        "Epsilon of the LayerNorms."),                  \
        CR_BOOL_DEFAULT(type, batch_first, false,                       \
                        "Inputs are (N, L, d_model) instead of (L, N, " \
                        "d_model)."),                                   \
        CR_BOOL_DEFAULT(type, norm_first, false,                        \
                        "Pre-norm: normalise the input of each branch " \
                        "instead of the residual sum.")

/* For the build of a cell whose options are a struct cr_transformer_layer. */

/* The subcell `name`, MultiheadAttention, with x for queries and `to` for keys
 * and values, then the subcell `drop`, Dropout. */
struct cr_val *cr_transformer_attend(struct cr_build *b, const char *name,
                                     const char *drop, struct cr_val *x,
                                     struct cr_val *to, struct cr_val *pad,
                                     struct cr_val *mask);
/* drop(dense2(dropout(activation(dense1(x))))) */
struct cr_val *cr_transformer_feed(struct cr_build *b, const char *drop,
                                   struct cr_val *x);
struct cr_val *cr_transformer_norm(struct cr_build *b, const char *name,
                                   struct cr_val *x);
struct cr_val *cr_transformer_add(struct cr_build *b, struct cr_val *x,
                                  struct cr_val *y);

/* For TransformerEncoder and TransformerDecoder. Whether the layer is one of
 * type `type`, and norm a cell or absent. option: the name of `layer`. */
bool cr_transformer_stack_check(struct cr_diag *diag, struct cr_pos pos,
                                const struct cr_node *layer, const char *option,
                                const char *type, const struct cr_node *norm);
/* Puts in[0] through `num` layers, which all take in[1..n-1], and norm. */
struct cr_val *cr_transformer_stack_build(struct cr_build *b,
                                          const struct cr_node *layer,
                                          int64_t num,
                                          const struct cr_node *norm, int n,
                                          struct cr_val *const *in);

#endif
