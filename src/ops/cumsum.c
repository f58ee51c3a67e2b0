/* cumsum: y_c = x_0 + ... + x_c along an axis;  dx_c = dy_c + ... + dy_n */
#include "families/axis.h"

#include "kernels/parallel_for.h"

struct cumsum {
    int64_t axis;
};

static const struct cr_opt cumsum_opts[] = {
    CR_INT(struct cumsum, axis, -CR_RANK_MAX, CR_RANK_MAX - 1, "Axis."),
    { 0 },
};

static bool cumsum_plan(struct cr_op_plan *p)
{
    int at;

    p->out[0] = p->in[0];
    return cr_axis_check(p, &p->in[0], ((const struct cumsum *)p->attr)->axis,
                         &at);
}

struct lines {
    struct cr_axis a;
    const cr_real *from;
    cr_real *to;
    bool add, back;
};

static void cumsum_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    int64_t line, c;

    for (line = from; line < to; line++) {
        int64_t at = cr_axis_line(&l->a, line);
        double sum = 0;

        for (c = 0; c < l->a.n; c++) {
            int64_t i = at + (l->back ? l->a.n - 1 - c : c) * l->a.inner;

            sum += (double)l->from[i];
            l->to[i] = (l->add ? l->to[i] : 0) + (cr_real)sum;
        }
    }
}

static void cumsum_lines(const struct cr_op_ctx *s, struct lines l)
{
    l.a = cr_axis_of(&s->in[0], ((const struct cumsum *)s->attr)->axis);
    cr_parallel_for(l.a.outer * l.a.inner, 1.5 * (double)l.a.n, &l,
                    cumsum_range);
}

static void cumsum_forward(const struct cr_op_ctx *s)
{
    cumsum_lines(s, (struct lines){ .from = s->x[0], .to = s->y[0] });
}

static void cumsum_backward(const struct cr_op_ctx *s)
{
    cumsum_lines(s, (struct lines){ .from = s->dy[0],
                                    .to = s->dx[0],
                                    .add = s->accumulate[0],
                                    .back = true });
}

const struct cr_op cr_op_cumsum = {
    .about = { .name = "cumsum",
               .summary = "Cumulative sum along an axis.",
               .opts = cumsum_opts,
               .size = sizeof(struct cumsum) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .plan = cumsum_plan,
    .forward = cumsum_forward,
    .algebra.linear = CR_X(0),
    .backward = cumsum_backward,
};
