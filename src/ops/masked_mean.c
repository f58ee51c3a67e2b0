/* masked_mean: y = sum x m / sum m along axes, 0 if the mask is false
 * everywhere; dx = dy m / sum m. The mask has the input's leading dimensions,
 * each possibly 1. */
#include "families/broadcast.h"
#include "families/data_movement.h"
#include "families/reduction.h"

enum {
    V,
    MASK
};

static bool masked_mean_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[V], *mask = &p->in[MASK];
    bool fits = mask->rank <= x->rank;
    int i;

    for (i = 0; i < mask->rank && fits; i++)
        fits = mask->dim[i] == 1 || mask->dim[i] == x->dim[i];
    if (!fits)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "mask: found %s for input %s, expected its first "
                        "dimensions",
                        cr_diag_format(p->arena, mask),
                        cr_diag_format(p->arena, x));
    if (!cr_reduce_attr_plan(p))
        return false;
    p->saved = sizeof(cr_real) * (size_t)cr_count(&p->out[0]);
    return true;
}

struct masked {
    const struct cr_op_ctx *s;
    cr_real *to;
    const cr_real *divisor; /* NULL: sums are not divided */
};

/* Operands: x, y, mask. */
static struct cr_tensor_iter masked_walk(const struct cr_op_ctx *s)
{
    struct cr_spec mask = s->in[MASK];
    struct cr_tensor_iter w;

    while (mask.rank < s->in[V].rank)
        mask.dim[mask.rank++] = 1;
    cr_reduction_walk(&w, &s->in[V], cr_reduce_attr_axis(s));
    cr_tensor_iter_add(&w, &mask);
    cr_tensor_iter_merge(&w);
    return w;
}

/* The mask of a run of elements, as bytes. */
static const unsigned char *mask_of(const struct cr_op_ctx *s, int64_t n,
                                    const int64_t *off, const int64_t *inc,
                                    unsigned char *buf)
{
    return cr_elements(CR_BOOL, s->in[MASK].type, s->x[MASK], off[2],
                       inc[2] ? n : 1, buf);
}

static const cr_real *count_source(void *ctx, int64_t n, const int64_t *off,
                                   const int64_t *inc, cr_real *buf)
{
    const struct masked *c = ctx;
    unsigned char bytes[CR_ITER_RUN_MAX];
    const unsigned char *m = mask_of(c->s, n, off, inc, bytes);
    int64_t i;

    for (i = 0; i < n; i++)
        buf[i] = m[i * inc[2]] ? 1 : 0;
    return buf;
}

static const cr_real *sum_source(void *ctx, int64_t n, const int64_t *off,
                                 const int64_t *inc, cr_real *buf)
{
    const struct masked *c = ctx;
    const cr_real *x = (const cr_real *)c->s->x[V] + off[0];
    unsigned char bytes[CR_ITER_RUN_MAX];
    const unsigned char *m = mask_of(c->s, n, off, inc, bytes);
    int64_t i;

    for (i = 0; i < n; i++)
        buf[i] = m[i * inc[2]] ? x[i] : 0;
    return buf;
}

static void masked_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    const struct masked *c = ctx;
    int64_t i;

    for (i = 0; i < n; i++)
        c->to[at + i] = (cr_real)(!c->divisor ? sum[i]
                                  : c->divisor[at + i] > 0
                                      ? sum[i] / (double)c->divisor[at + i]
                                      : 0);
}

static void masked_reduce(const struct cr_tensor_iter *w, struct masked *c,
                          cr_reduce_load *source)
{
    cr_reduce(&(struct cr_reduce){ .walk = w,
                                   .kept = 1,
                                   .reducer = &cr_reducer_sum,
                                   .cost = 1.5,
                                   .ctx = c,
                                   .load = source,
                                   .store = masked_sink });
}

static void masked_mean_forward(const struct cr_op_ctx *s)
{
    struct cr_tensor_iter w = masked_walk(s);

    masked_reduce(&w, &(struct masked){ .s = s, .to = s->saved }, count_source);
    masked_reduce(
        &w, &(struct masked){ .s = s, .to = s->y[0], .divisor = s->saved },
        sum_source);
}

static void back_run(void *ctx, int64_t n, const int64_t *off,
                     const int64_t *inc)
{
    const struct cr_op_ctx *s = ctx;
    const cr_real *g = (const cr_real *)s->dy[0] + off[1];
    const cr_real *count = (const cr_real *)s->saved + off[1];
    cr_real *dx = (cr_real *)s->dx[V] + off[0];
    unsigned char bytes[CR_ITER_RUN_MAX];
    const unsigned char *m = mask_of(s, n, off, inc, bytes);
    int64_t i;

    for (i = 0; i < n; i++) {
        int64_t j = i * inc[1];
        cr_real d = m[i * inc[2]] ? g[j] / count[j] : 0;

        dx[i] = s->accumulate[V] ? dx[i] + d : d;
    }
}

static void masked_mean_backward(const struct cr_op_ctx *s)
{
    struct cr_tensor_iter w = masked_walk(s);

    if (s->dx[V])
        cr_tensor_iter_parallel(&w, 1.5, (void *)(uintptr_t)s, back_run);
    if (s->dx[MASK] && !s->accumulate[MASK]) /* the mask is not
                                                differentiable */
        cr_data_move_zero(s->dx[MASK], cr_bytes(&s->in[MASK]));
}

static const char *const masked_mean_inputs[] = { "v", "mask", NULL };

const struct cr_op cr_op_masked_mean = {
    .about = { .name = "masked_mean",
               .summary = "Mean along axes of the elements where a mask is "
                          "true.",
               .opts = cr_reduce_attr_opts,
               .size = sizeof(struct cr_reduce_attr),
               .renamed = cr_reduce_attr_renamed },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = masked_mean_inputs,
    .saved_for_backward = CR_X(MASK),
    .int_inputs = CR_X(MASK),
    .plan = masked_mean_plan,
    .forward = masked_mean_forward,
    .bprop = "axes = None if len(axis) == 0 else axis\n"
             "m = cast(b != 0, float32)\n"
             "for i in range(a.ndim - b.ndim):\n"
             "    m = expand_dims(m, -1)\n"
             "m = m * ones_like(a)\n"
             "n = sum(m, axes, keepdims=True)\n"
             "return m * reshape(dy, n.shape) / where(n == 0, 1.0, n), None",
    .backward = masked_mean_backward,
};
