/* softmax along an axis: y_c = exp(x_c - m) / sum_j exp(x_j - m),  m = max x
 * backward: dx_c = y_c (dy_c - sum_j dy_j y_j) */
#include "math/each.h"
#include "net/attr.h"
#include "net/op.h"

const struct cr_opt cr_softmax_opts[] = {
    CR_INT_OR(struct cr_softmax, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
              "The axis that sums to 1."),
    { 0 },
};

static int softmax_axis(const struct cr_spec *x, const void *attr)
{
    int64_t axis = ((const struct cr_softmax *)attr)->axis;

    return (int)(axis < 0 ? axis + x->rank : axis);
}

static bool softmax_plan(struct cr_plan *p)
{
    int axis = softmax_axis(&p->in[0], p->attr);

    if (axis < 0 || axis >= p->in[0].rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s has no axis %lld",
                        cr_show(p->arena, &p->in[0]),
                        (long long)((const struct cr_softmax *)p->attr)->axis);
    p->out[0] = p->in[0];
    return true;
}

/* A row is one choice of all indices but the axis: element c of row r lies
 * at (r / inner * classes + c) * inner + r % inner. */
struct rows {
    const struct cr_step *s;
    int64_t classes, inner;
};

static struct rows softmax_rows(const struct cr_step *s)
{
    int i, axis = softmax_axis(&s->in[0], s->attr);
    struct rows r = { s, s->in[0].dim[axis], 1 };

    for (i = axis + 1; i < s->in[0].rank; i++)
        r.inner *= s->in[0].dim[i];
    return r;
}

static void softmax_range(void *ctx, int64_t from, int64_t to)
{
    const struct rows *r = ctx;
    int64_t row, c;

    for (row = from; row < to; row++) {
        int64_t at = row / r->inner * r->classes * r->inner + row % r->inner;
        const cr_real *x = (const cr_real *)r->s->x[0] + at;
        cr_real *y = (cr_real *)r->s->y[0] + at, top = x[0], sum = 0;

        for (c = 1; c < r->classes; c++)
            if (x[c * r->inner] > top)
                top = x[c * r->inner];
        for (c = 0; c < r->classes; c++)
            sum += y[c * r->inner] = cr_exp(x[c * r->inner] - top);
        for (c = 0; c < r->classes; c++)
            y[c * r->inner] /= sum;
    }
}

static void softmax_forward(const struct cr_step *s)
{
    struct rows r = softmax_rows(s);

    cr_each(cr_count(&s->in[0]) / r.classes, 6 * (double)r.classes, &r,
            softmax_range);
}

static void softmax_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct rows *r = ctx;
    int64_t row, c;

    for (row = from; row < to; row++) {
        int64_t at = row / r->inner * r->classes * r->inner + row % r->inner;
        const cr_real *y = (const cr_real *)r->s->y[0] + at;
        const cr_real *dy = (const cr_real *)r->s->dy[0] + at;
        cr_real *dx = (cr_real *)r->s->dx[0] + at, dot = 0;

        for (c = 0; c < r->classes; c++)
            dot += dy[c * r->inner] * y[c * r->inner];
        for (c = 0; c < r->classes; c++) {
            int64_t i = c * r->inner;
            cr_real d = y[i] * (dy[i] - dot);

            dx[i] = r->s->add[0] ? dx[i] + d : d;
        }
    }
}

static void softmax_backward(const struct cr_step *s)
{
    struct rows r = softmax_rows(s);

    cr_each(cr_count(&s->in[0]) / r.classes, 2 * (double)r.classes, &r,
            softmax_back_range);
}

const struct cr_op cr_op_softmax = {
    .about = { .name = "softmax",
               .summary = "Exponentials along an axis, divided by their sum.",
               .opts = cr_softmax_opts,
               .size = sizeof(struct cr_softmax) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .reads = CR_Y(0),
    .plan = softmax_plan,
    .forward = softmax_forward,
    .backward = softmax_backward,
};
