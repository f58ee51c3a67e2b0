/* MultiheadAttention: scaled dot-product attention in several heads of E /
 * num_heads features each.
 *
 *   q, k, v = query, key, value times the thirds of in_proj_weight
 *   out = attention(q, k, v) out_proj.weight' + out_proj.bias
 *
 * If one tensor is query, key and value, a single matrix product computes all
 * three, and the op reads them from its result (cellrun-arithmetic(7),
 * Attention).
 *
 * MindSpore 2.10 composes the cell of tensor functions, with MatMulExt for
 * matrix products (ops/function/nn_func.py, _scaled_dot_product_attention).
 * Level O1 casts none of them. The other levels round after each function: so
 * the bias of a product is an op of its own, and the op attention gets a list
 * of its steps that round. In level auto these are the products alone, and the
 * sums of scores and masks if all masks have low precision. */
#include "families/attention.h"
#include "families/concat_stack.h"
#include "graph/amp.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include <math.h>

struct multihead_attention {
    int64_t embed_dim, num_heads;
    double dropout;
    bool has_bias, add_bias_kv, add_zero_attn;
    int64_t kdim, vdim;
    bool batch_first;
};

static const struct cr_opt multihead_attention_opts[] = {
    CR_INT(struct multihead_attention, embed_dim, 1, CR_DIM_MAX,
           "Features of the query and the output."),
    CR_INT(struct multihead_attention, num_heads, 1, CR_DIM_MAX,
           "Number of heads; must divide embed_dim."),
    CR_REAL_DEFAULT(struct multihead_attention, dropout, 0, 0, 1 - DBL_EPSILON,
                    "Probability that an attention weight is zeroed in "
                    "training."),
    CR_BOOL_DEFAULT(struct multihead_attention, has_bias, true,
                    "Add a bias to all projections."),
    CR_BOOL_DEFAULT(struct multihead_attention, add_bias_kv, false,
                    "Append a learned key and value to the keys and values."),
    CR_BOOL_DEFAULT(struct multihead_attention, add_zero_attn, false,
                    "Append a key and a value of zeros."),
    CR_INT_OPTIONAL(struct multihead_attention, kdim, 1, CR_DIM_MAX,
                    "Features of the key. Default: embed_dim."),
    CR_INT_OPTIONAL(struct multihead_attention, vdim, 1, CR_DIM_MAX,
                    "Features of the value. Default: embed_dim."),
    CR_BOOL_DEFAULT(struct multihead_attention, batch_first, false,
                    "Inputs are (N, L, E) instead of (L, N, E)."),
    { 0 },
};

struct call {
    bool need_weights, average_attn_weights;
};

static const struct cr_opt call_opts[] = {
    CR_BOOL_DEFAULT(struct call, need_weights, true,
                    "Also return the attention weights; otherwise a tuple with "
                    "the output alone."),
    CR_BOOL_DEFAULT(struct call, average_attn_weights, true,
                    "Average the attention weights over the heads."),
    { 0 },
};

static const struct cr_descriptor call_about = {
    .name = "MultiheadAttention",
    .opts = call_opts,
    .size = sizeof(struct call),
};

enum {
    QUERY,
    KEY,
    VALUE,
    PAD,
    MASK,
    INPUTS
};

/* State while the ops of a cell are emitted. */
struct emitter {
    struct cr_build *b;
    const struct multihead_attention *o;
    bool low;                  /* low precision */
    struct cr_val *in[INPUTS]; /* projected inputs, masks extended to appended
                                  keys */
};

static bool attn_width(struct cr_build *b, struct cr_val *x, const char *name,
                       const char *option, int64_t width)
{
    const struct cr_spec *s = cr_val_spec(x);

    if (s->rank != 2 && s->rank != 3)
        return cr_fail(b, CR_E_SHAPE,
                       "%s: found %s, expected (N, L, E) or (L, E)", name,
                       cr_diag_format(cr_build_arena(b), s));
    return s->dim[s->rank - 1] == width ||
           cr_fail(b, CR_E_SHAPE,
                   "%s: found %s with %lld features, expected "
                   "%s %lld",
                   name, cr_diag_format(cr_build_arena(b), s),
                   (long long)s->dim[s->rank - 1], option, (long long)width);
}

/* Rows from * E to (from + 1) * E of a parameter. */
static struct cr_val *attn_third(struct cr_build *b, struct cr_val *all,
                                 int64_t from, int64_t e)
{
    struct cr_slice *cut = CR_NEW(cr_build_arena(b), struct cr_slice);
    int64_t *at = CR_NEWS(cr_build_arena(b), int64_t, 2);

    at[0] = from * e;
    at[1] = (from + 1) * e;
    cut->begin = (struct cr_ints){ 1, at };
    cut->end = (struct cr_ints){ 1, at + 1 };
    return all ? CR_EMIT(b, "strided_slice", cut, all) : NULL;
}

static struct cr_val *attn_linear(struct emitter *m, struct cr_val *x,
                                  struct cr_val *w, struct cr_val *bias)
{
    if (!m->low || !bias)
        return CR_EMIT(m->b, "linear", NULL, x, w, bias);
    return CR_EMIT(m->b, "add", NULL, CR_EMIT(m->b, "linear", NULL, x, w),
                   bias);
}

/* Projects queries, keys and values; into one tensor if possible. */
static void attn_project(struct emitter *m, struct cr_val *const *in)
{
    static const char *const names[] = { "q_proj_weight", "k_proj_weight",
                                         "v_proj_weight" };
    const struct multihead_attention *o = m->o;
    int64_t e = o->embed_dim, dim[] = { e, o->kdim, o->vdim };
    bool same = o->kdim == e && o->vdim == e;
    struct cr_val *w = NULL, *each[3] = { NULL }, *bias = NULL;
    int i;

    if (same)
        w = cr_param(m->b, "in_proj_weight", CR_SPEC(3 * e, e), NULL,
                     CR_DEFAULT_INIT_XAVIER, 0);
    for (i = 0; i < 3 && !same; i++)
        each[i] = cr_param(m->b, names[i], CR_SPEC(e, dim[i]), NULL,
                           CR_DEFAULT_INIT_XAVIER, 0);
    if (o->has_bias)
        bias = cr_param(m->b, "in_proj_bias", CR_SPEC(3 * e), NULL,
                        CR_DEFAULT_INIT_ZERO, 0);
    if (same && in[KEY] == in[QUERY] && in[VALUE] == in[QUERY] &&
        !o->add_bias_kv && !o->add_zero_attn) {
        m->in[QUERY] = attn_linear(m, in[QUERY], w, bias);
        return;
    }
    for (i = 0; i < 3; i++)
        m->in[i] =
            attn_linear(m, in[i], same ? attn_third(m->b, w, i, e) : each[i],
                        attn_third(m->b, bias, i, e));
}

static struct cr_val *attn_join(struct cr_build *b, int64_t axis,
                                struct cr_val *x, struct cr_val *y)
{
    struct cr_concat *how = CR_NEW(cr_build_arena(b), struct cr_concat);

    how->axis = axis;
    return CR_EMIT(b, "concat", how, x, y);
}

static struct cr_val *attn_zeros(struct cr_build *b, struct cr_spec shape)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_constant *c = CR_NEW(arena, struct cr_constant);
    int64_t *dim = CR_NEWS(arena, int64_t, CR_RANK_MAX);
    int i;

    for (i = 0; i < shape.rank; i++)
        dim[i] = shape.dim[i];
    c->value = (struct cr_reals){ 1, CR_NEW(arena, double) };
    c->shape = (struct cr_ints){ shape.rank, dim };
    c->dtype = shape.type == CR_REAL ? CR_FLOAT32 : CR_DTYPE_BOOL;
    return cr_emit(b, "constant", c, 0, NULL);
}

/* (1, 1, E) as (1, E) */
static struct cr_val *attn_row(struct cr_build *b, struct cr_val *x)
{
    struct cr_reshape *to = CR_NEW(cr_build_arena(b), struct cr_reshape);
    int64_t *dim = CR_NEWS(cr_build_arena(b), int64_t, 2);

    dim[0] = 1;
    dim[1] = -1;
    to->shape = (struct cr_ints){ 2, dim };
    return CR_EMIT(b, "reshape", to, x);
}

/* Appends a key and a value, and extends the masks so that all may attend to
 * them. `key` and `value` are (1, 1, E), or NULL for zeros. */
static void attn_append(struct emitter *m, struct cr_val *key,
                        struct cr_val *value)
{
    struct cr_val *more[] = { key, value };
    struct cr_spec s = *cr_val_spec(m->in[KEY]);
    int axis = s.rank == 3 && m->o->batch_first ? 1 : 0, i;

    s.dim[axis] = 1;
    for (i = 0; i < 2; i++) {
        struct cr_val *zeros = attn_zeros(m->b, s);

        /* 0 + (1, 1, E) broadcasts it over the batch */
        if (more[i])
            zeros = CR_EMIT(m->b, "add", NULL, zeros,
                            s.rank == 3 ? more[i] : attn_row(m->b, more[i]));
        m->in[KEY + i] = attn_join(m->b, axis, m->in[KEY + i], zeros);
    }
    for (i = PAD; i <= MASK; i++)
        if (m->in[i]) {
            s = *cr_val_spec(m->in[i]);
            if (s.rank > 0)
                s.dim[s.rank - 1] = 1;
            m->in[i] = attn_join(m->b, -1, m->in[i], attn_zeros(m->b, s));
        }
}

/* Tells the op which of its steps round. */
static void attn_rounds(const struct emitter *m, struct cr_attention *attr)
{
    const struct cr_val *pad = m->in[PAD], *mask = m->in[MASK];

    attr->low = cr_precision(m->b).type;
    attr->low_all = cr_precision(m->b).level != CR_LEVEL_AUTO;
    attr->low_sums =
        attr->low_all || ((pad || mask) && (!pad || cr_is_low(pad)) &&
                          (!mask || cr_is_low(mask)));
}

/* Emits the attention, and its weights if attr->need_weights. */
static struct cr_val *attn_attend(struct emitter *m, struct cr_attention *attr,
                                  struct cr_val **weights)
{
    struct cr_precision precision = cr_precision(m->b);
    struct cr_val *in[INPUTS], *y;
    int i;

    if (m->low) {
        attn_rounds(m, attr);
        if (!attr->low_all) /* inputs are not cast */
            cr_precision_full(m->b);
    }
    for (i = 0; i < INPUTS; i++)
        in[i] = m->in[i] || i == QUERY ? m->in[i] : CR_ABSENT;
    y = cr_emit(m->b, "attention", attr, INPUTS, in);
    *weights = attr->need_weights ? cr_output(y, 1) : NULL;
    cr_precision_set(m->b, precision);
    return m->low && !attr->low_all ? cr_rounded(m->b, y) : y;
}

static struct cr_val *multihead_attention_build(struct cr_build *b,
                                                struct cr_val *const *in)
{
    const struct call *call = cr_call_opts(b);
    struct multihead_attention o =
        *(const struct multihead_attention *)cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_attention *attr = CR_NEW(arena, struct cr_attention);
    struct emitter m = { .b = b, .o = &o };
    struct cr_val *y, *w, *bias, *p;
    enum cr_level level = cr_precision(b).level;
    int64_t e = o.embed_dim;

    o.kdim = o.kdim == CR_INT_NONE ? e : o.kdim;
    o.vdim = o.vdim == CR_INT_NONE ? e : o.vdim;
    if (e % o.num_heads != 0) {
        cr_fail(b, CR_E_OUT_OF_RANGE,
                "embed_dim: found %lld, expected a multiple of num_heads %lld",
                (long long)e, (long long)o.num_heads);
        return NULL;
    }
    if (!attn_width(b, in[QUERY], "query", "embed_dim", e) ||
        !attn_width(b, in[KEY], "key", "kdim", o.kdim) ||
        !attn_width(b, in[VALUE], "value", "vdim", o.vdim))
        return NULL;
    m.low = level != CR_LEVEL_O0 && level != CR_LEVEL_O1;
    if (!m.low)
        cr_precision_full(b);
    attn_project(&m, in);
    m.in[PAD] = in[PAD];
    m.in[MASK] = in[MASK];
    w = cr_param(b, "out_proj.weight", CR_SPEC(e, e), NULL,
                 CR_DEFAULT_INIT_WEIGHT, 0);
    bias = o.has_bias ? cr_param(b, "out_proj.bias", CR_SPEC(e), NULL,
                                 CR_DEFAULT_INIT_FAN_IN, (double)e)
                      : NULL;
    if (o.add_bias_kv) {
        p = cr_param(b, "bias_k", CR_SPEC(1, 1, e), NULL,
                     CR_DEFAULT_INIT_XAVIER_NORMAL, 0);
        attn_append(&m, p,
                    cr_param(b, "bias_v", CR_SPEC(1, 1, e), NULL,
                             CR_DEFAULT_INIT_XAVIER_NORMAL, 0));
    }
    if (o.add_zero_attn)
        attn_append(&m, NULL, NULL);
    attr->num_heads = o.num_heads;
    attr->batch_first = o.batch_first;
    attr->average_attn_weights = call->average_attn_weights;
    attr->dropout = o.dropout;
    attr->need_weights = call->need_weights;
    y = attn_attend(&m, attr, &p);
    y = attn_linear(&m, y, w, bias);
    return call->need_weights ? CR_TUPLE(b, y, p) : CR_TUPLE(b, y);
}

static const char *const multihead_attention_inputs[] = {
    "query", "key", "value", "key_padding_mask", "attn_mask", NULL
};

const struct cr_cell cr_cell_multihead_attention = {
    .about = {
        .name = "MultiheadAttention",
        .summary = "Multi-head scaled dot-product attention.",
        .detail = "Called with query (L, N, E), key (S, N, kdim) and value (S, "
                  "N, vdim), with N first if batch_first, or without N; "
                  "key_padding_mask (N, S); attn_mask (L, S) or (N num_heads, "
                  "L, S). Bool masks exclude keys where they are true, float "
                  "masks are added to the scores; a bool key_padding_mask next "
                  "to a float attn_mask excludes keys too (MindSpore 2.10 adds "
                  "1 to their scores). Returns (output, weights): "
                  "(L, N, E), and (N, L, S), or (N, num_heads, L, S) with "
                  "average_attn_weights=False in the call; with "
                  "need_weights=False a tuple of the output alone. A query "
                  "whose keys are all excluded gives NaN. Parameters: "
                  "in_proj_weight (3 E, E), or q_proj_weight, k_proj_weight, "
                  "v_proj_weight if kdim or vdim differs from embed_dim; "
                  "in_proj_bias (3 E), out_proj.weight (E, E), out_proj.bias "
                  "(E), and bias_k, bias_v (1, 1, E) with add_bias_kv.",
        .example = "network:\n"
                   "  inputs: {x: {shape: [16, 32]}}\n"
                   "  cells: {attn: {MultiheadAttention: {embed_dim: 32, "
                   "num_heads: 4, batch_first: true}}}\n"
                   "  construct: |\n"
                   "    y, _ = attn(x, x, x, attn_mask=causal_mask(x))\n"
                   "    return y\n",
        .opts = multihead_attention_opts,
        .size = sizeof(struct multihead_attention),
    },
    .min_inputs = 3,
    .max_inputs = 5,
    .inputs = multihead_attention_inputs,
    .call = &call_about,
    .build = multihead_attention_build,
};
