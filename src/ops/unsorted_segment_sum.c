/* unsorted_segment_sum: y[j, ..] = the sum of x[i, ..] over all i with ids[i]
 * = j;  dx[i, ..] = dy[ids[i], ..]
 *
 * The shape of x starts with that of the indices: i runs over all of them. A
 * negative index belongs to no segment, and neither does a computed index that
 * is too large; indices from the data are checked before the batch. */
#include "families/data_movement.h"
#include "graph/op.h"

#include "kernels/parallel_for.h"

#include <string.h>

enum {
    X,
    I
};

#define WIDE 64 /* number of columns from which on columns are split, not
                   segments */

struct segments {
    int64_t num_segments;
};

static const struct cr_opt segments_opts[] = {
    CR_INT(struct segments, num_segments, 1, CR_DIM_MAX, "Number of segments."),
    { 0 },
};

static bool unsorted_segment_sum_plan(struct cr_op_plan *p)
{
    const struct segments *o = p->attr;
    const struct cr_spec *x = &p->in[X], *ids = &p->in[I];
    struct cr_spec *y = &p->out[0];
    int i;

    if (ids->type != CR_I32)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "segment_ids: found %s, expected int32",
                        cr_type_name(ids->type));
    if (ids->rank < 1 || ids->rank > x->rank ||
        memcmp(ids->dim, x->dim, (size_t)ids->rank * sizeof x->dim[0]) != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "segment_ids: found %s, expected the first dimensions "
                        "of input %s",
                        cr_diag_format(p->arena, ids),
                        cr_diag_format(p->arena, x));
    *y = (struct cr_spec){ .type = x->type, .rank = 1 };
    y->dim[0] = o->num_segments;
    for (i = ids->rank; i < x->rank; i++)
        y->dim[y->rank++] = x->dim[i];
    p->bound[I] = (struct cr_bound){ .set = true,
                                     .low = INT32_MIN,
                                     .high = o->num_segments };
    return true;
}

struct sums {
    const struct cr_op_ctx *s;
    const int32_t *ids;
    int64_t n, inner, segments;
};

static struct sums sums_open(const struct cr_op_ctx *s)
{
    struct sums w = { .s = s, .ids = s->x[I], .n = cr_count(&s->in[I]) };

    w.inner = w.n > 0 ? cr_count(&s->in[X]) / w.n : 0;
    w.segments = s->out[0].dim[0];
    return w;
}

/* Sums segments a..b-1, columns from..to-1, always in the order of x, all of
 * which each call reads. */
static void sum_part(const struct sums *w, int64_t a, int64_t b, int64_t from,
                     int64_t to)
{
    const cr_real *x = w->s->x[X];
    cr_real *y = w->s->y[0];
    int64_t i, k;

    for (i = 0; i < w->n; i++) {
        if (w->ids[i] < a || w->ids[i] >= b)
            continue;
        CR_SIMD
        for (k = from; k < to; k++)
            y[w->ids[i] * w->inner + k] += x[i * w->inner + k];
    }
}

static void sum_columns(void *ctx, int64_t from, int64_t to)
{
    const struct sums *w = ctx;

    sum_part(w, 0, w->segments, from, to);
}

static void sum_segments(void *ctx, int64_t from, int64_t to)
{
    const struct sums *w = ctx;

    sum_part(w, from, to, 0, w->inner);
}

static void unsorted_segment_sum_forward(const struct cr_op_ctx *s)
{
    struct sums w = sums_open(s);

    cr_data_move_zero(s->y[0], cr_bytes(&s->out[0]));
    if (w.inner >= WIDE)
        cr_parallel_for_static(w.inner, 16, 0.3 * (double)w.n, &w, sum_columns);
    else
        cr_parallel_for_static(
            w.segments, 1, (double)w.n * (double)w.inner / (double)w.segments,
            &w, sum_segments);
}

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct sums *w = ctx;
    const cr_real *dy = w->s->dy[0];
    cr_real *dx = w->s->dx[X];
    int64_t i, k;

    for (i = from; i < to; i++) {
        bool in = w->ids[i] >= 0 && w->ids[i] < w->segments;
        const cr_real *d = dy + (in ? w->ids[i] : 0) * w->inner;
        cr_real *to_row = dx + i * w->inner;

        for (k = 0; k < w->inner; k++)
            to_row[k] = (w->s->accumulate[X] ? to_row[k] : 0) + (in ? d[k] : 0);
    }
}

static void unsorted_segment_sum_backward(const struct cr_op_ctx *s)
{
    struct sums w = sums_open(s);

    if (s->dx[X])
        cr_parallel_for_coarse(w.n, 2 + 0.5 * (double)w.inner, &w, back_range);
}

static const char *const segments_inputs[] = { "input_x", "segment_ids", NULL };

const struct cr_op cr_op_unsorted_segment_sum = {
    .about = { .name = "unsorted_segment_sum",
               .summary = "Sums slices by the index of their segment.",
               .opts = segments_opts,
               .size = sizeof(struct segments) },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = segments_inputs,
    .saved_for_backward = CR_X(I),
    .int_inputs = CR_X(I),
    .plan = unsorted_segment_sum_plan,
    .forward = unsorted_segment_sum_forward,
    .algebra.linear = CR_X(0),
    .backward = unsorted_segment_sum_backward,
};
