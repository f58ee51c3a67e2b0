#include "families/reduction.h"

#include "families/axis.h"

#include <assert.h>
#include <string.h>

#define AXIS_DOC "Axes to reduce. Default: all."
#define KEEP_DOC "Keep reduced axes with length 1."

const struct cr_opt cr_reduce_attr_opts[] = {
    CR_INTS_OPTIONAL(struct cr_reduce_attr, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
                     AXIS_DOC),
    CR_BOOL_DEFAULT(struct cr_reduce_attr, keepdims, false, KEEP_DOC),
    { 0 },
};

const char *const cr_reduce_attr_renamed[] = { "dim", "axis", "keepdim",
                                               "keepdims", NULL };

/* Which dimensions of x are folded. */
static void folded_of(const struct cr_spec *x, const struct cr_ints *axis,
                      bool *folded)
{
    int i;

    for (i = 0; i < x->rank; i++)
        folded[i] = axis->n == 0;
    for (i = 0; i < axis->n; i++)
        folded[axis->v[i] < 0 ? axis->v[i] + x->rank : axis->v[i]] = true;
}

bool cr_reduction_plan(struct cr_op_plan *p, const struct cr_ints *axis,
                       bool keepdims)
{
    const struct cr_spec *x = &p->in[0];
    struct cr_spec *y = &p->out[0];
    bool folded[CR_RANK_MAX];
    int i, k;

    for (i = 0; i < axis->n; i++) {
        if (axis->v[i] < -x->rank || axis->v[i] >= x->rank)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "%s",
                            cr_axis_error(p->arena, x, x->rank, axis->v[i]));
        for (k = 0; k < i; k++)
            if ((axis->v[k] - axis->v[i]) % x->rank == 0)
                return cr_error(p->diag, p->pos, CR_E_SHAPE,
                                "axis: found %lld and %lld, which are the "
                                "same axis of input %s",
                                (long long)axis->v[k], (long long)axis->v[i],
                                cr_diag_format(p->arena, x));
    }
    folded_of(x, axis, folded);
    *y = (struct cr_spec){ .type = x->type == CR_REAL ? CR_REAL : CR_I32 };
    for (i = 0; i < x->rank; i++)
        if (!folded[i] || keepdims)
            y->dim[y->rank++] = folded[i] ? 1 : x->dim[i];
    return true;
}

bool cr_reduce_attr_plan(struct cr_op_plan *p)
{
    const struct cr_reduce_attr *o = p->attr;

    return cr_reduction_plan(p, &o->axis, o->keepdims);
}

const struct cr_ints *cr_reduce_attr_axis(const struct cr_op_ctx *s)
{
    return &((const struct cr_reduce_attr *)s->attr)->axis;
}

/* Channels may be last where all between them and the samples is folded: what
 * is left then has the same order in both layouts. */
static enum cr_channels_last reduce_attr_last(const struct cr_op_plan *p)
{
    const struct cr_reduce_attr *o = p->attr;
    bool folded[CR_RANK_MAX];
    struct cr_spec y;
    struct cr_op_plan again = *p;
    int i;

    again.out = &y;
    if (!cr_reduce_attr_plan(&again))
        return CR_LAST_NEVER;
    folded_of(&p->in[0], &o->axis, folded);
    for (i = 2; i < p->in[0].rank; i++)
        if (!folded[i])
            return CR_LAST_NEVER;
    return CR_LAST_TOO;
}

const struct cr_op_kernels cr_reduce_attr_kernels = {
    .last = reduce_attr_last,
};

void cr_reduction_walk(struct cr_tensor_iter *w, const struct cr_spec *x,
                       const struct cr_ints *axis)
{
    struct cr_spec y = *x, lies = cr_tensor_as_it_lies(x);
    bool folded[CR_RANK_MAX];
    int i;

    folded_of(x, axis, folded);
    for (i = 0; i < x->rank; i++)
        y.dim[i] = folded[i] ? 1 : x->dim[i];
    y = cr_tensor_as_it_lies(&y);
    cr_tensor_iter_init(w, lies.rank, lies.dim);
    cr_tensor_iter_add(w, &y);
}

/* ---- forward ---- */

struct reducing {
    const struct cr_op_ctx *s;
    const struct cr_reduction_desc *f;
    double n; /* elements for each result */
};

static const cr_real *real_source(void *ctx, int64_t n, const int64_t *off,
                                  const int64_t *inc, cr_real *room)
{
    const struct reducing *r = ctx;
    const cr_real *x = (const cr_real *)r->s->x[0] + off[0];
    int64_t i;

    (void)inc;
    if (!r->f->value)
        return x;
    for (i = 0; i < n; i++)
        room[i] = (cr_real)r->f->value(r->s->attr, (double)x[i]);
    return room;
}

static void whole_source(void *ctx, int64_t n, const int64_t *off, double *room)
{
    const struct reducing *r = ctx;
    enum cr_type type = r->s->in[0].type;
    const char *x = r->s->x[0];
    int64_t i;

    cr_convert(type, x + (size_t)off[0] * cr_type_size(type), CR_F64, room, n);
    for (i = 0; i < n && r->f->value; i++)
        room[i] = r->f->value(r->s->attr, room[i]);
}

static void result_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    const struct reducing *r = ctx;
    enum cr_type type = r->s->out[0].type;
    int64_t i;

    for (i = 0; i < n; i++) {
        double v =
            r->f->finish ? r->f->finish(r->s->attr, sum[i], r->n) : sum[i];

        if (type == CR_REAL)
            ((cr_real *)r->s->y[0])[at + i] = (cr_real)v;
        else if (type == CR_BOOL)
            ((unsigned char *)r->s->y[0])[at + i] = v != 0;
        else
            ((int32_t *)r->s->y[0])[at + i] =
                (int32_t)fmin(fmax(v, INT32_MIN), INT32_MAX);
    }
}

/* Elements of the input for each of the result. */
static double count_of(const struct cr_op_ctx *s)
{
    return (double)cr_count(&s->in[0]) / (double)cr_count(&s->out[0]);
}

void cr_reduction(const struct cr_op_ctx *s, const struct cr_ints *axis,
                  const struct cr_reduction_desc *f)
{
    struct reducing r = { s, f, count_of(s) };
    struct cr_tensor_iter w;
    bool real = s->in[0].type == CR_REAL;

    cr_reduction_walk(&w, &s->in[0], axis);
    cr_tensor_iter_merge(&w);
    cr_reduce(&(struct cr_reduce){ .walk = &w,
                                   .kept = 1,
                                   .reducer = f->reducer,
                                   .cost = f->cost,
                                   .ctx = &r,
                                   .load = real ? real_source : NULL,
                                   .load_int = real ? NULL : whole_source,
                                   .store = result_sink });
}

/* ---- backward ---- */

struct sums {
    const struct cr_op_ctx *s;
    const cr_real *y;
    cr_reduction_values *values;
    cr_real *to;
};

static const cr_real *values_source(void *ctx, int64_t n, const int64_t *off,
                                    const int64_t *inc, cr_real *room)
{
    const struct sums *c = ctx;

    c->values(c->s->attr, n, (const cr_real *)c->s->x[0] + off[0],
              c->y ? c->y + off[1] : NULL, inc[1], room);
    return room;
}

static void values_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    const struct sums *c = ctx;
    int64_t i;

    for (i = 0; i < n; i++)
        c->to[at + i] = (cr_real)sum[i];
}

void cr_reduction_sums(const struct cr_op_ctx *s, const struct cr_ints *axis,
                       const struct cr_reducer *fold, double cost,
                       const cr_real *y, cr_reduction_values *values,
                       cr_real *to)
{
    struct sums c = { s, y, values, to };
    struct cr_tensor_iter w;

    cr_reduction_walk(&w, &s->in[0], axis);
    cr_tensor_iter_merge(&w);
    cr_reduce(&(struct cr_reduce){ .walk = &w,
                                   .kept = 1,
                                   .reducer = fold,
                                   .cost = cost,
                                   .ctx = &c,
                                   .load = values_source,
                                   .store = values_sink });
}

struct back {
    const struct cr_op_ctx *s;
    const cr_real *c;
    double n;
    cr_reduction_loop *loop;
};

static void back_run(void *ctx, int64_t n, const int64_t *off,
                     const int64_t *inc)
{
    const struct back *b = ctx;
    const struct cr_op_ctx *s = b->s;
    cr_real *dx = (cr_real *)s->dx[0] + off[0], d[CR_ITER_RUN_MAX];
    int64_t i;

    b->loop(s->attr, n, b->n,
            s->x[0] ? (const cr_real *)s->x[0] + off[0] : NULL,
            s->y[0] ? (const cr_real *)s->y[0] + off[1] : NULL,
            (const cr_real *)s->dy[0] + off[1], b->c ? b->c + off[1] : NULL,
            inc[1], s->accumulate[0] ? d : dx);
    if (!s->accumulate[0])
        return;
    CR_SIMD
    for (i = 0; i < n; i++)
        dx[i] += d[i];
}

void cr_reduction_backward(const struct cr_op_ctx *s,
                           const struct cr_ints *axis, double cost,
                           const cr_real *c, cr_reduction_loop *loop)
{
    struct back b = { s, c, count_of(s), loop };
    struct cr_tensor_iter w;

    cr_reduction_walk(&w, &s->in[0], axis);
    cr_tensor_iter_merge(&w);
    cr_tensor_iter_parallel(&w, cost, &b, back_run);
}
