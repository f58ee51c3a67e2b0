/*
 * The recurrent cells: parameters, the product of all steps in front, and the
 * recurrence of each layer and direction.
 *
 * Parameters and their order are MindSpore's (nn/layer/rnns.py): first all
 * weight_ih_l0, weight_ih_l0_reverse, weight_ih_l1 ..., then all weight_hh,
 * bias_ih and bias_hh, each from U(-1/sqrt(hidden), 1/sqrt(hidden)).
 *
 * Low precision is that of MindSpore 2.10 on CPUs. Its LSTM is one function,
 * which rounds what goes in and comes out in O2 and O3 and is float32 in
 * auto; with lengths of samples, and in the other cells, every step is written
 * out and rounds function by function (kernels/rnn_low.inc). O1 speaks of
 * LSTMCell, GRUCell and RNNCell and finds nothing in the cells over sequences.
 * These take all they have in the type of x: float16 in level auto too if x is.
 */
#include "families/concat_stack.h"
#include "families/rnn.h"
#include "graph/amp.h"
#include "graph/op_attrs.h"

#include <string.h>

enum {
    WEIGHT_IH,
    WEIGHT_HH,
    BIAS_IH,
    BIAS_HH,
    PARTS
};

static const char *const part_name[PARTS] = { "weight_ih", "weight_hh",
                                              "bias_ih", "bias_hh" };

/* Of parameter `part`, `in` features wide; biases have none. */
static struct cr_val *part(struct cr_build *b, int which, const char *suffix,
                           int64_t gates, int64_t size, int64_t in)
{
    const char *name =
        cr_strf(cr_build_arena(b), "%s%s", part_name[which], suffix);
    struct cr_spec spec =
        which >= BIAS_IH ? CR_SPEC(gates * size) : CR_SPEC(gates * size, in);

    return cr_param(b, name, spec, NULL, CR_DEFAULT_INIT_UNIFORM, (double)size);
}

/* Whether the features are those that input_size says. */
static bool input_fits(struct cr_build *b, const struct cr_spec *x, int rank,
                       const char *shape)
{
    const struct cr_rnn_cell *o = cr_opts(b);
    int64_t size = x->rank > 0 ? x->dim[x->rank - 1] : 0;

    if (x->rank != rank)
        return cr_fail(b, CR_E_SHAPE, "expected an input %s, found %s", shape,
                       cr_diag_format(cr_build_arena(b), x));
    if (o->input_size != CR_INT_NONE && o->input_size != size)
        return cr_fail(b, CR_E_SHAPE, "input %s does not fit input_size %lld",
                       cr_diag_format(cr_build_arena(b), x),
                       (long long)o->input_size);
    return true;
}

static bool state_fits(struct cr_build *b, const struct cr_val *v,
                       const char *name, const struct cr_spec *want)
{
    if (!v || cr_spec_same(cr_val_spec(v), want))
        return true;
    return cr_fail(b, CR_E_SHAPE, "%s is %s, expected %s", name,
                   cr_diag_format(cr_build_arena(b), cr_val_spec(v)),
                   cr_diag_format(cr_build_arena(b), want));
}

/* hx as h and c; an lstm's is a pair. */
static bool states_read(struct cr_build *b, struct cr_val *hx, bool pair,
                        const struct cr_spec *want, struct cr_val **h,
                        struct cr_val **c)
{
    *h = *c = NULL;
    if (!hx)
        return true;
    if (pair && cr_tuple_size(hx) != 2)
        return cr_fail(b, CR_E_NETWORK, "hx: expected a pair (h, c), each %s",
                       cr_diag_format(cr_build_arena(b), want));
    *h = pair ? cr_member(hx, 0) : hx;
    *c = pair ? cr_member(hx, 1) : NULL;
    if (cr_tuple_size(*h) > 0 || (*c && cr_tuple_size(*c) > 0))
        return cr_fail(b, CR_E_NETWORK,
                       "hx: found a tuple, expected tensors as states");
    return state_fits(b, *h, pair ? "h of hx" : "hx", want) &&
           state_fits(b, *c, "c of hx", want);
}

/* State number i of (layers * directions, N, H) as (1, N, H). */
static struct cr_val *state_at(struct cr_build *b, struct cr_val *all,
                               int64_t i)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_slice *cut;
    int64_t *at;

    if (!all || cr_val_spec(all)->dim[0] == 1)
        return all;
    cut = CR_NEW(arena, struct cr_slice);
    at = CR_NEWS(arena, int64_t, 2);
    at[0] = i;
    at[1] = i + 1;
    cut->begin = (struct cr_ints){ 1, at };
    cut->end = (struct cr_ints){ 1, at + 1 };
    return CR_EMIT(b, "strided_slice", cut, all);
}

/* Tensors along an axis, any number of them. */
static struct cr_val *join(struct cr_build *b, int64_t axis, int64_t n,
                           struct cr_val *const *vals)
{
    struct cr_concat *how = CR_NEW(cr_build_arena(b), struct cr_concat);
    struct cr_val *some[CR_OP_MAX], *v = vals[0];
    int64_t i = 1;

    how->axis = axis;
    while (i < n) {
        int k = 1;

        for (some[0] = v; k < CR_OP_MAX && i < n; i++, k++)
            some[k] = vals[i];
        v = cr_emit(b, "concat", how, k, some);
        if (!v)
            return NULL;
    }
    return v;
}

struct layers {
    struct cr_build *b;
    const char *op;
    int64_t count; /* layers * directions */
    struct cr_val **part[PARTS];
    struct cr_val *h0, *c0, *seq;
    struct cr_val **h, **c; /* the last states */
    bool follows;           /* level auto, and x is float16 */
};

static bool parts_make(struct layers *l, int64_t features, int gates)
{
    struct cr_build *b = l->b;
    const struct cr_rnn_cell *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    int64_t dirs = o->bidirectional ? 2 : 1, size = o->hidden_size, i;
    int which;

    for (which = 0; which < PARTS; which++) {
        l->part[which] = CR_NEWS(arena, struct cr_val *, l->count);
        for (i = 0; i < l->count && (which < BIAS_IH || o->has_bias); i++) {
            const char *suffix =
                cr_strf(arena, "_l%lld%s", (long long)(i / dirs),
                        i % dirs ? "_reverse" : "");
            int64_t in = which == WEIGHT_HH ? size
                         : i < dirs         ? features
                                            : size * dirs;

            l->part[which][i] = part(b, which, suffix, gates, size, in);
            if (!l->part[which][i])
                return false;
        }
    }
    return true;
}

/* A recurrence with the product before it. */
struct pass {
    const char *op;
    struct cr_rnn *how;
    bool lstm, one; /* one: a single step */
    bool follows;   /* level auto, and x is float16 */
    struct cr_val *x, *part[PARTS], *h0, *seq, *c0;
    struct cr_val *out[3]; /* y, and the last h and c */
};

static bool pass_emit(struct cr_build *b, struct pass *p, struct cr_val *bias)
{
    struct cr_val *in[6], *y;
    int i;

    in[CR_RNN_X] = p->x;
    in[CR_RNN_W] = p->part[WEIGHT_HH];
    in[CR_RNN_B] = bias;
    in[CR_RNN_H] = p->h0;
    in[CR_RNN_SEQ] = p->seq;
    in[CR_RNN_C] = p->c0;
    y = p->x ? cr_emit(b, p->op, p->how, p->lstm ? 6 : 5, in) : NULL;
    for (i = 0; y && i < 2 + p->lstm; i++)
        p->out[i] = cr_output(y, i);
    return y;
}

/* In float32: between inputs and results that are rounded, if `rounds`. */
static bool pass_whole(struct cr_build *b, struct pass *p, bool rounds)
{
    struct cr_precision was = cr_precision(b);
    struct cr_val *bias = p->part[BIAS_IH], *more = p->part[BIAS_HH];
    int i;

    if (rounds) {
        if (p->follows)
            cr_precision_full(b);
        if (bias)
            bias = CR_EMIT(b, "add", NULL, bias, more);
        more = NULL;
        cr_precision_set(b, was);
        bias = cr_rounded(b, bias);
        p->x = cr_rounded(b, p->x);
        for (i = WEIGHT_IH; i <= WEIGHT_HH; i++)
            p->part[i] = cr_rounded(b, p->part[i]);
        p->h0 = cr_rounded(b, p->h0);
        p->c0 = cr_rounded(b, p->c0);
    }
    cr_precision_full(b);
    p->x = CR_EMIT(b, "linear", NULL, p->x, p->part[WEIGHT_IH], bias);
    if (!pass_emit(b, p, more))
        return false;
    cr_precision_set(b, was);
    for (i = 0; i < 3 && rounds; i++)
        p->out[i] = cr_rounded(b, p->out[i]);
    return true;
}

/* The product of x and its weight. Of a sequence in level auto the weight's
 * gradient is rounded step by step, as is that of the recurrence. */
static struct cr_val *product(struct cr_build *b, struct pass *p)
{
    struct cr_rnn_product *how;
    struct cr_val *w = p->part[WEIGHT_IH];

    if (!p->how->each_step)
        return CR_EMIT(b, "linear", NULL, p->x, w);
    how = CR_NEW(cr_build_arena(b), struct cr_rnn_product);
    how->dtype = p->how->dtype;
    return CR_EMIT(b, "linear_steps", how, p->x, w);
}

/* (N, L, ...) as (L, N, ...), and back. */
static struct cr_val *turned(struct cr_build *b, struct cr_val *x)
{
    struct cr_transpose *how = CR_NEW(cr_build_arena(b), struct cr_transpose);
    int64_t *perm = CR_NEWS(cr_build_arena(b), int64_t, 3);

    perm[0] = 1;
    perm[2] = 2;
    how->input_perm = (struct cr_ints){ 3, perm };
    return x ? CR_EMIT(b, "transpose", how, x) : NULL;
}

/* Step by step in low precision. */
static bool pass_steps(struct cr_build *b, struct pass *p)
{
    struct cr_precision was = cr_precision(b);
    struct cr_val *bias = p->part[BIAS_HH];
    bool batch_first = p->how->batch_first, products = false, ok;
    int i;

    p->how->dtype = was.type == CR_BF16;
    p->how->each_step = was.level == CR_LEVEL_AUTO && !p->one;
    for (i = WEIGHT_IH; i <= WEIGHT_HH && p->how->each_step; i++)
        p->part[i] = cr_rounded_each_step(b, p->part[i]);
    if (p->how->each_step && batch_first) {
        p->how->batch_first = false;
        p->x = turned(b, p->x);
    }
    p->x = product(b, p);
    if (bias && p->lstm)
        bias = join(b, 0, 2, p->part + BIAS_IH);
    else if (bias)
        p->x = CR_EMIT(b, "add", NULL, p->x, p->part[BIAS_IH]);
    p->part[WEIGHT_HH] = cr_rounded(b, p->part[WEIGHT_HH]);
    if (strcmp(p->op, "rnn") == 0 && !bias &&
        p->how->low == CR_RNN_PRODUCTS) { /* all is made of products */
        products = p->one; /* of sequences it is float32 */
        p->how->low = CR_RNN_ALL;
        p->h0 = cr_rounded(b, p->h0);
        cr_precision_full(b);
    }
    if (p->how->low != CR_RNN_ALL)
        cr_precision_full(b);
    ok = pass_emit(b, p, bias);
    if (ok && p->how->batch_first != batch_first)
        p->out[0] = turned(b, p->out[0]);
    cr_precision_set(b, was);
    for (i = 0; ok && products && i < 2; i++)
        p->out[i] = cr_rounded(b, p->out[i]); /* their type */
    return ok && p->out[0];
}

static bool pass_build(struct cr_build *b, struct pass *p)
{
    enum cr_level level = cr_precision(b).level;
    bool half = level == CR_LEVEL_O2 || level == CR_LEVEL_O3;

    if (level == CR_LEVEL_O0 || (level == CR_LEVEL_O1 && !p->one))
        return pass_whole(b, p, false);
    if (p->lstm && !p->one && !p->seq)
        return pass_whole(b, p, half);
    p->how->low = half                   ? CR_RNN_ALL
                  : level == CR_LEVEL_O1 ? CR_RNN_GATES
                                         : CR_RNN_PRODUCTS;
    return pass_steps(b, p);
}

/* Layer and direction number i of x. */
static struct cr_val *direction(struct layers *l, struct cr_val *x, int64_t i)
{
    const struct cr_rnn_cell *o = cr_opts(l->b);
    struct pass p = {
        .op = l->op, .lstm = l->c != NULL, .follows = l->follows, .x = x
    };
    int which;

    p.how = CR_NEW(cr_build_arena(l->b), struct cr_rnn);
    p.how->batch_first = o->batch_first;
    p.how->nonlinearity = o->nonlinearity;
    p.how->reverse = o->bidirectional && i % 2 == 1;
    for (which = 0; which < PARTS; which++)
        p.part[which] = l->part[which][i];
    p.h0 = state_at(l->b, l->h0, i);
    p.seq = l->seq;
    p.c0 = p.lstm ? state_at(l->b, l->c0, i) : NULL;
    if (!pass_build(l->b, &p))
        return NULL;
    l->h[i] = p.out[1];
    if (p.lstm)
        l->c[i] = p.out[2];
    return p.out[0];
}

static struct cr_val *between(struct cr_build *b, struct cr_val *y)
{
    const struct cr_rnn_cell *o = cr_opts(b);
    double *keep = CR_NEW(cr_build_arena(b), double);

    *keep = 1 - o->dropout;
    return y && o->dropout > 0 ? CR_EMIT(b, "dropout", keep, y) : y;
}

struct cr_val *cr_rnn_build(struct cr_build *b, struct cr_val *const *in,
                            const char *op, int gates)
{
    const struct cr_rnn_cell *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    bool lstm = strcmp(op, "lstm") == 0;
    int64_t dirs = o->bidirectional ? 2 : 1, i;
    struct layers l = { .b = b, .op = op, .count = o->num_layers * dirs };
    struct cr_val *v = in[0], *y[2];
    struct cr_spec states;

    if (!input_fits(b, x, 3,
                    o->batch_first ? "(batch, time, features)"
                                   : "(time, batch, features)"))
        return NULL;
    l.follows = cr_precision_follow(b, v);
    states = CR_SPEC(l.count, x->dim[!o->batch_first], o->hidden_size);
    if (!states_read(b, in[1], lstm, &states, &l.h0, &l.c0))
        return NULL;
    l.seq = in[2];
    if (l.seq &&
        (cr_val_spec(l.seq)->type != CR_I32 || cr_val_spec(l.seq)->rank != 1 ||
         cr_val_spec(l.seq)->dim[0] != states.dim[1])) {
        cr_fail(b, CR_E_SHAPE,
                "seq_length is %s %s, expected int32 (%lld,): the number of "
                "steps of each sample",
                cr_type_name(cr_val_spec(l.seq)->type),
                cr_diag_format(arena, cr_val_spec(l.seq)),
                (long long)states.dim[1]);
        return NULL;
    }
    l.h = CR_NEWS(arena, struct cr_val *, l.count);
    l.c = lstm ? CR_NEWS(arena, struct cr_val *, l.count) : NULL;
    if (!parts_make(&l, x->dim[2], gates))
        return NULL;
    for (i = 0; i < l.count; i += dirs) {
        y[0] = direction(&l, v, i);
        y[1] = dirs == 2 && y[0] ? direction(&l, v, i + 1) : NULL;
        if (!y[0] || (dirs == 2 && !y[1]))
            return NULL;
        v = join(b, 2, dirs, y);
        if (i + dirs < l.count)
            v = between(b, v);
    }
    y[0] = join(b, 0, l.count, l.h);
    if (!lstm)
        return CR_TUPLE(b, v, y[0]);
    y[1] = join(b, 0, l.count, l.c);
    y[0] = y[0] && y[1] ? CR_TUPLE(b, y[0], y[1]) : NULL;
    return CR_TUPLE(b, v, y[0]);
}

struct cr_val *cr_rnn_build_one(struct cr_build *b, struct cr_val *const *in,
                                const char *op, int gates)
{
    const struct cr_rnn_cell *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct pass p = {
        .op = op, .lstm = strcmp(op, "lstm") == 0, .one = true, .x = in[0]
    };
    struct cr_spec state;
    int which;

    if (!input_fits(b, x, 2, "(batch, features)"))
        return NULL;
    state = CR_SPEC(x->dim[0], o->hidden_size);
    if (!states_read(b, in[1], p.lstm, &state, &p.h0, &p.c0))
        return NULL;
    for (which = 0; which < (o->has_bias ? PARTS : BIAS_IH); which++) {
        p.part[which] = part(b, which, "", gates, o->hidden_size,
                             which == WEIGHT_HH ? o->hidden_size : x->dim[1]);
        if (!p.part[which])
            return NULL;
    }
    p.how = CR_NEW(cr_build_arena(b), struct cr_rnn);
    p.how->nonlinearity = o->nonlinearity;
    if (!pass_build(b, &p))
        return NULL;
    return p.lstm ? CR_TUPLE(b, p.out[0], p.out[2]) : p.out[0];
}
