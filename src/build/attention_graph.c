/*
 * Attention as MindSpore 2.10 writes it out (ops/function/nn_func.py,
 * _scaled_dot_product_attention), op by op, so that each rounds as the cell's
 * precision says. With r the fourth root of a head's features d:
 *
 *   s = (q / r) (k / r)' + masks     (N, heads, L, S)
 *   p = drop(softmax(s))             out = p v
 *
 * In float32 one fused op does it (attention.h).
 */
#include "families/attention.h"

#include <math.h>

#include "graph/graph.h"

/* What a graph is made of, for short. */
struct maker {
    struct cr_build *b;
    const struct cr_attention *o;
    int64_t batch, dim;  /* dim: of a head */
    bool batched, first; /* first: (N, L, E) */
};

static struct cr_val *graph_shape(struct cr_build *b, struct cr_val *x, int n,
                                  const int64_t *dims)
{
    struct cr_reshape *to = CR_NEW(cr_build_arena(b), struct cr_reshape);
    int64_t *dim = CR_NEWS(cr_build_arena(b), int64_t, n);
    int i;

    for (i = 0; i < n; i++)
        dim[i] = dims[i];
    to->shape = (struct cr_ints){ n, dim };
    return CR_EMIT(b, "reshape", to, x);
}

static struct cr_val *graph_turn(struct cr_build *b, struct cr_val *x,
                                 const int64_t *perm)
{
    struct cr_transpose *how = CR_NEW(cr_build_arena(b), struct cr_transpose);
    int64_t *axes = CR_NEWS(cr_build_arena(b), int64_t, 4);
    int i;

    for (i = 0; i < 4; i++)
        axes[i] = perm[i];
    how->input_perm = (struct cr_ints){ 4, axes };
    return CR_EMIT(b, "transpose", how, x);
}

static struct cr_val *graph_number(struct cr_build *b, double value)
{
    struct cr_constant *c = CR_NEW(cr_build_arena(b), struct cr_constant);
    double *v = CR_NEW(cr_build_arena(b), double);

    *v = value;
    c->value = (struct cr_reals){ 1, v };
    c->dtype = CR_FLOAT32;
    return cr_emit(b, "constant", c, 0, NULL);
}

/* Features from * e to (from + 1) * e of x. */
static struct cr_val *graph_third(struct cr_build *b, struct cr_val *x,
                                  int64_t from, int64_t e)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_slice *cut = CR_NEW(arena, struct cr_slice);
    const struct cr_spec *s = cr_val_spec(x);
    int64_t *begin = CR_NEWS(arena, int64_t, s->rank);
    int64_t *end = CR_NEWS(arena, int64_t, s->rank);
    int i, last = s->rank - 1;

    for (i = 0; i < last; i++)
        end[i] = s->dim[i];
    begin[last] = from * e;
    end[last] = (from + 1) * e;
    cut->begin = (struct cr_ints){ s->rank, begin };
    cut->end = (struct cr_ints){ s->rank, end };
    return CR_EMIT(b, "strided_slice", cut, x);
}

/* Rows of x as (N, heads, L, d), or (N, heads, d, L). */
static struct cr_val *graph_heads(const struct maker *m, struct cr_val *x,
                                  bool across)
{
    static const int64_t turns[2][2][4] = {
        { { 1, 2, 0, 3 }, { 1, 2, 3, 0 } }, /* from (L, N, heads, d) */
        { { 0, 2, 1, 3 }, { 0, 2, 3, 1 } },
    };
    int64_t rows = m->first ? cr_val_spec(x)->dim[1] : cr_val_spec(x)->dim[0];
    int64_t dim[] = { m->first ? m->batch : rows, m->first ? rows : m->batch,
                      m->o->num_heads, m->dim };

    return graph_turn(m->b, graph_shape(m->b, x, 4, dim),
                      turns[m->first][across]);
}

/* A mask as what is added to scores: a hidden key gets -infinity. */
static struct cr_val *graph_mask(struct cr_build *b, struct cr_val *mask)
{
    if (cr_val_spec(mask)->type == CR_REAL)
        return mask;
    return CR_EMIT(b, "where", NULL, mask, graph_number(b, -INFINITY),
                   graph_number(b, 0));
}

/* All masks together, or NULL. */
static struct cr_val *graph_masks(const struct maker *m,
                                  struct cr_val *const *in)
{
    struct cr_val *pad = in[CR_ATTN_PAD], *mask = in[CR_ATTN_MASK];

    if (pad) {
        const struct cr_spec *s = cr_val_spec(pad);
        int64_t dim[] = { m->batch, 1, 1, s->dim[s->rank - 1] };

        pad = graph_shape(m->b, graph_mask(m->b, pad), 4, dim);
    }
    if (mask) {
        const struct cr_spec *s = cr_val_spec(mask);
        int64_t dim[] = { m->batch, m->o->num_heads, s->dim[s->rank - 2],
                          s->dim[s->rank - 1] };

        mask = graph_mask(m->b, mask);
        if (s->rank == 3)
            mask = graph_shape(m->b, mask, 4, dim);
    }
    return pad && mask ? CR_EMIT(m->b, "add", NULL, mask, pad)
           : pad       ? pad
                       : mask;
}

/* The weights as the cell returns them. */
static struct cr_val *graph_weights(const struct maker *m, struct cr_val *p)
{
    struct cr_reduce_attr *over =
        CR_NEW(cr_build_arena(m->b), struct cr_reduce_attr);
    int64_t *axis = CR_NEW(cr_build_arena(m->b), int64_t);

    if (p && m->o->average_attn_weights) {
        *axis = 1;
        over->axis = (struct cr_ints){ 1, axis };
        p = CR_EMIT(m->b, "div", NULL, CR_EMIT(m->b, "sum", over, p),
                    graph_number(m->b, (double)m->o->num_heads));
    }
    if (!p || m->batched)
        return p;
    return graph_shape(m->b, p, cr_val_spec(p)->rank - 1,
                       cr_val_spec(p)->dim + 1);
}

/* Whether the inputs fit, told as the fused op tells it. */
static bool graph_fits(struct cr_build *b, const struct cr_attention *o,
                       struct cr_val *const *in)
{
    struct cr_opnode node = { .op = cr_op_find("attention"),
                              .attr = o,
                              .pos = b->pos,
                              .n_in = CR_ATTN_INPUTS };
    struct cr_spec specs[CR_ATTN_INPUTS], out;
    struct cr_op_plan plan;
    int i;

    for (i = 0; i < CR_ATTN_INPUTS; i++)
        specs[i] = in[i] ? in[i]->spec : (struct cr_spec){ .rank = -1 };
    if (cr_op_infer(b->net->arena, b->net->diag, &node, true, specs, &plan,
                    &out))
        return true;
    cr_build_where(b, b->cell->about.name);
    return false;
}

struct cr_val *cr_attention_graph(struct cr_build *b,
                                  const struct cr_attention *o,
                                  struct cr_val *const *in,
                                  struct cr_val **weights)
{
    struct cr_val *q = in[CR_ATTN_Q], *k = in[CR_ATTN_K], *v = in[CR_ATTN_V];
    const struct cr_spec *s;
    struct cr_softmax *last = CR_NEW(cr_build_arena(b), struct cr_softmax);
    double *keep = CR_NEW(cr_build_arena(b), double);
    struct maker m = { .b = b, .o = o };
    struct cr_val *root, *mask, *p, *y;
    int64_t dim[3], e;

    if (!q || (k && !v) || !graph_fits(b, o, in))
        return NULL;
    s = cr_val_spec(q);
    m.batched = s->rank == 3;
    m.first = m.batched && o->batch_first;
    m.batch = m.batched ? s->dim[!o->batch_first] : 1;
    e = s->dim[s->rank - 1] / (k ? 1 : 3);
    m.dim = e / o->num_heads;
    dim[0] = s->dim[0];
    dim[1] = m.batched ? s->dim[1] : e;
    dim[2] = e;
    if (!k) {
        k = graph_third(b, q, 1, e);
        v = graph_third(b, q, 2, e);
        q = graph_third(b, q, 0, e);
    }
    if (!q || !k || !v)
        return NULL;
    root = CR_EMIT(b, "sqrt", NULL,
                   CR_EMIT(b, "sqrt", NULL, graph_number(b, (double)m.dim)));
    q = CR_EMIT(b, "div", NULL, graph_heads(&m, q, false), root);
    k = CR_EMIT(b, "div", NULL, graph_heads(&m, k, true), root);
    p = CR_EMIT(b, "matmul", NULL, q, k);
    mask = graph_masks(&m, in);
    if (mask)
        p = CR_EMIT(b, "add", NULL, p, mask);
    last->axis = -1;
    p = CR_EMIT(b, "softmax", last, p);
    *keep = 1 - o->dropout;
    if (o->dropout > 0)
        p = CR_EMIT(b, "dropout", keep, p);
    y = CR_EMIT(b, "matmul", NULL, p, graph_heads(&m, v, false));
    y = graph_turn(b, y,
                   m.first ? (const int64_t[]){ 0, 2, 1, 3 }
                           : (const int64_t[]){ 2, 0, 1, 3 });
    if (weights)
        *weights = graph_weights(&m, p);
    return graph_shape(b, y, m.batched ? 3 : 2, dim);
}
