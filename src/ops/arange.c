/* arange: start, start + step ... below end. Three integers give an int32
 * tensor. */
#include "graph/op.h"

struct arange {
    double start, end, step;
};

static const struct cr_opt arange_opts[] = {
    CR_REAL(struct arange, start, -DBL_MAX, DBL_MAX,
            "First number; if it is the only argument it is the end, and the "
            "first number is 0."),
    CR_REAL_OPTIONAL(struct arange, end, -DBL_MAX, DBL_MAX,
                     "End, which is not included."),
    CR_REAL_DEFAULT(struct arange, step, 1, -DBL_MAX, DBL_MAX,
                    "Difference of consecutive numbers."),
    { 0 },
};

static struct arange arange_of(const void *attr)
{
    struct arange o = *(const struct arange *)attr;

    if (isnan(o.end)) {
        o.end = o.start;
        o.start = 0;
    }
    return o;
}

static bool whole(double v)
{
    return v == floor(v) && fabs(v) <= INT32_MAX;
}

static bool arange_plan(struct cr_op_plan *p)
{
    struct arange o = arange_of(p->attr);
    double n = ceil((o.end - o.start) / o.step);

    if (!(n >= 1 && n <= (double)CR_DIM_MAX))
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE,
            "arange: found start %g, end %g and step %g, which give "
            "no numbers, or too many",
            o.start, o.end, o.step);
    p->out[0] = CR_SPEC((int64_t)n);
    if (whole(o.start) && whole(o.end) && whole(o.step))
        p->out[0].type = CR_I32;
    return true;
}

static void arange_forward(const struct cr_op_ctx *s)
{
    struct arange o = arange_of(s->attr);
    int64_t i, n = s->out[0].dim[0];

    for (i = 0; i < n; i++)
        if (s->out[0].type == CR_I32)
            ((int32_t *)s->y[0])[i] = (int32_t)(o.start + (double)i * o.step);
        else
            ((cr_real *)s->y[0])[i] = (cr_real)(o.start + (double)i * o.step);
}

const struct cr_op cr_op_arange = {
    .about = { .name = "arange",
               .summary = "Numbers from start up to, not including, end.",
               .opts = arange_opts,
               .size = sizeof(struct arange) },
    .outputs = 1,
    .plan = arange_plan,
    .forward = arange_forward,
};
