#include "build/transformer.h"

#include "base/str.h"
#include "graph/op_attrs.h"

#include <string.h>

const struct cr_opt cr_transformer_layer_opts[] = {
    CR_INT(struct cr_transformer_layer, d_model, 1, CR_DIM_MAX,
           "Features of each position."),
    CR_INT(struct cr_transformer_layer, nhead, 1, CR_DIM_MAX,
           "Number of attention heads; must divide d_model."),
    CR_TRANSFORMER_FEED_OPTS(struct cr_transformer_layer),
    CR_TRANSFORMER_NORM_OPTS(struct cr_transformer_layer),
    { 0 },
};

static struct cr_val *layer_part(struct cr_build *b, const char *name,
                                 struct cr_val *x, const char *text)
{
    return cr_subcell(b, name, text, NULL, 1, &x);
}

static struct cr_val *layer_drop(struct cr_build *b, const char *name,
                                 struct cr_val *x)
{
    const struct cr_transformer_layer *o = cr_opts(b);

    return layer_part(
        b, name, x,
        cr_strf(cr_build_arena(b), "{Dropout: {p: %.17g}}", o->dropout));
}

struct cr_val *cr_transformer_norm(struct cr_build *b, const char *name,
                                   struct cr_val *x)
{
    const struct cr_transformer_layer *o = cr_opts(b);

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

struct cr_val *cr_transformer_attend(struct cr_build *b, const char *name,
                                     const char *drop, struct cr_val *x,
                                     struct cr_val *to, struct cr_val *pad,
                                     struct cr_val *mask)
{
    const struct cr_transformer_layer *o = cr_opts(b);
    struct cr_val *args[] = { x, to, to, pad, mask };
    struct cr_val *y = cr_subcell(
        b, name,
        cr_strf(cr_build_arena(b),
                "{MultiheadAttention: {embed_dim: %lld, num_heads: %lld, "
                "dropout: %.17g, batch_first: %s}}",
                (long long)o->d_model, (long long)o->nhead, o->dropout,
                o->batch_first ? "true" : "false"),
        "{need_weights: false}", 5, args);

    return layer_drop(b, drop, y ? cr_member(y, 0) : NULL);
}

static struct cr_val *layer_activate(struct cr_build *b, struct cr_val *x)
{
    const struct cr_transformer_layer *o = cr_opts(b);
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

struct cr_val *cr_transformer_feed(struct cr_build *b, const char *drop,
                                   struct cr_val *x)
{
    const struct cr_transformer_layer *o = cr_opts(b);

    x = layer_activate(b, layer_dense(b, "dense1", x, o->dim_feedforward));
    x = layer_dense(b, "dense2", layer_drop(b, "dropout", x), o->d_model);
    return layer_drop(b, drop, x);
}

struct cr_val *cr_transformer_add(struct cr_build *b, struct cr_val *x,
                                  struct cr_val *y)
{
    return x && y ? CR_EMIT(b, "add", NULL, x, y) : NULL;
}

/* ---- chains ---- */

static bool is_set(const struct cr_node *node)
{
    return node && node->kind != CR_NODE_NULL;
}

bool cr_transformer_stack_check(struct cr_diag *diag, struct cr_pos pos,
                                const struct cr_node *layer, const char *option,
                                const char *type, const struct cr_node *norm)
{
    const struct cr_node *args;
    const char *found = layer ? cr_node_type(layer, &args) : NULL;

    if (!found || strcmp(found, type) != 0)
        return cr_error(diag, layer ? layer->pos : pos,
                        layer ? CR_E_WRONG_TYPE : CR_E_MISSING_KEY,
                        "%s: expected {%s: {...}}", option, type);
    if (is_set(norm) && !cr_node_type(norm, &args))
        return cr_error(diag, norm->pos, CR_E_WRONG_TYPE,
                        "norm: expected a cell such as {LayerNorm: {...}}");
    return true;
}

struct cr_val *cr_transformer_stack_build(struct cr_build *b,
                                          const struct cr_node *layer,
                                          int64_t num,
                                          const struct cr_node *norm, int n,
                                          struct cr_val *const *in)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_val **x = CR_NEWS(arena, struct cr_val *, n);
    int64_t i;

    memcpy(x, in, (size_t)n * sizeof *x);
    for (i = 0; i < num && x[0]; i++) {
        const char *name = cr_strf(arena, "layers.%lld", (long long)i);

        x[0] = i == 0 ? cr_child(b, name, layer, n, x)
                      : cr_child_like(b, name, "layers.0", layer, n, x);
    }
    return is_set(norm) && x[0] ? cr_child(b, "norm", norm, 1, x) : x[0];
}
