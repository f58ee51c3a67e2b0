/* gather: y[.., i, ..] = x[.., indices[i], ..] along an axis, which is
 * replaced by the axes of the indices; negative indices count from the end.
 * dx[.., j, ..] = the sum of dy over all i with indices[i] = j.
 * Indices from the data are checked before the batch; computed indices out of
 * range give 0. Of a table that is rounded, the slices that are read are, and
 * so are their gradients. */
#include "families/axis.h"
#include "families/data_movement.h"
#include "families/low.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#include <string.h>

enum {
    X,
    I
};

static const struct cr_opt gather_opts[] = {
    CR_INT_DEFAULT(struct cr_gather, axis, 0, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis of the input to index."),
    { 0 },
};

static bool gather_plan(struct cr_op_plan *p)
{
    const struct cr_gather *o = p->attr;
    const struct cr_spec *x = &p->in[X], *index = &p->in[I];
    struct cr_spec *y = &p->out[0];
    int i, axis;

    if (!cr_axis_check(p, x, o->axis, &axis))
        return false;
    if (index->type != CR_I32)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "indices: found %s, expected int32",
                        cr_type_name(index->type));
    if (x->rank - 1 + index->rank > CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input and indices: found %s and %s, whose result has "
                        "too many dimensions",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, index));
    *y = (struct cr_spec){ .type = x->type };
    for (i = 0; i < axis; i++)
        y->dim[y->rank++] = x->dim[i];
    for (i = 0; i < index->rank; i++)
        y->dim[y->rank++] = index->dim[i];
    for (i = axis + 1; i < x->rank; i++)
        y->dim[y->rank++] = x->dim[i];
    p->bound[I] =
        (struct cr_bound){ .set = o->negative != CR_INDEX_ZERO,
                           .computed = o->negative == CR_INDEX_ERROR,
                           .low =
                               o->negative == CR_INDEX_WRAP ? -x->dim[axis] : 0,
                           .high = x->dim[axis] };
    return true;
}

struct rows {
    const struct cr_op_ctx *s;
    struct cr_axis a;
    int64_t n; /* number of indices */
    int64_t wrap; /* added to negative indices */
    size_t size;
};

static struct rows rows_open(const struct cr_op_ctx *s)
{
    const struct cr_gather *o = s->attr;
    struct rows r = { .s = s,
                      .a = cr_axis_of(&s->in[X], o->axis),
                      .n = cr_count(&s->in[I]),
                      .size = cr_type_size(s->in[X].type) };

    r.wrap = o->negative == CR_INDEX_WRAP ? r.a.n : 0;
    return r;
}

/* The row that index i selects; -1: out of range. */
static int64_t row_of(const struct rows *r, int64_t i)
{
    int64_t at = ((const int32_t *)r->s->x[I])[i];

    at = at < 0 ? at + r->wrap : at;
    return at >= 0 && at < r->a.n ? at : -1;
}

static void gather_range(void *ctx, int64_t from, int64_t to)
{
    const struct rows *r = ctx;
    size_t bytes = (size_t)r->a.inner * r->size;
    bool rounds = r->s->rounds & CR_X(X);
    const char *x = r->s->x[X];
    char *y = r->s->y[0];
    int64_t i;

    for (i = from; i < to; i++) {
        int64_t at = row_of(r, i % r->n);
        const void *row = x + (size_t)(i / r->n * r->a.n + at) * bytes;
        void *to_row = y + (size_t)i * bytes;

        if (at < 0)
            memset(to_row, 0, bytes);
        else if (rounds)
            cr_round_to_type(r->s->low, r->a.inner, row, to_row);
        else
            memcpy(to_row, row, bytes);
    }
}

static void gather_forward(const struct cr_op_ctx *s)
{
    struct rows r = rows_open(s);

    cr_parallel_for(r.a.outer * r.n, 3 + 0.4 * (double)r.a.inner, &r,
                    gather_range);
}

/* Handles columns from..to-1 of outer * inner: each element of dx is written
 * by one thread. Each call reads all indices. */
static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct rows *r = ctx;
    const cr_real *dy = r->s->dy[0];
    cr_real *dx = r->s->dx[X];
    int64_t i, k, n, inner = r->a.inner;

    for (; from < to; from += n) {
        int64_t outer = from / inner, at = from % inner;

        n = inner - at < to - from ? inner - at : to - from;
        for (i = 0; i < r->n; i++) {
            int64_t row = row_of(r, i);
            const cr_real *d = dy + (outer * r->n + i) * inner + at;
            cr_real *sum = dx + (outer * r->a.n + row) * inner + at;

            if (row < 0)
                continue;
            CR_SIMD
            for (k = 0; k < n; k++)
                sum[k] += d[k];
        }
        for (i = 0; i < r->n && cr_low_rounds_dx(r->s, X); i++) {
            int64_t row = row_of(r, i);
            cr_real *sum = dx + (outer * r->a.n + row) * inner + at;

            if (row >= 0) /* once more where indices are equal: it rests */
                cr_round_to_type(r->s->low, n, sum, sum);
        }
    }
}

static void gather_backward(const struct cr_op_ctx *s)
{
    struct rows r = rows_open(s);

    if (!s->accumulate[X])
        cr_data_move_zero(s->dx[X], cr_bytes(&s->in[X]));
    cr_parallel_for_static(r.a.outer * r.a.inner, 16, (double)r.n, &r,
                           back_range);
}

static const char *const gather_inputs[] = { "input_params", "input_indices",
                                             NULL };

static bool gather_takes_rows(const void *attr)
{
    const struct cr_gather *o = attr;

    return o->axis == 0;
}

static bool gather_rows_apart(const void *attr, const struct cr_spec *x, int in,
                              int out)
{
    (void)out;
    return in != cr_axis_place(((const struct cr_gather *)attr)->axis, x->rank);
}

const struct cr_op cr_op_gather = {
    .about = { .name = "gather",
               .summary = "Gathers slices along an axis by their indices.",
               .opts = gather_opts,
               .size = sizeof(struct cr_gather) },
    .rows = CR_ROWS_EACH,
    .rows_apart = gather_rows_apart,
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = gather_inputs,
    .saved_for_backward = CR_X(I),
    .int_inputs = CR_X(X) | CR_X(I),
    .exact = true,
    .plan = gather_plan,
    .forward = gather_forward,
    .algebra.linear = CR_X(0),
    .algebra.takes_rows = gather_takes_rows,
    .backward = gather_backward,
};
