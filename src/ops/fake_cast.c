/* fake_cast: y = x rounded to float16 or bfloat16;  dx = dy rounded likewise,
 * as the gradient of MindSpore's cast: a gradient has the type of its value. */
#include "families/data_movement.h"
#include "families/pointwise.h"
#include "graph/op_attrs.h"
#include "num/low_precision.h"

static const struct cr_opt half_opts[] = {
    CR_ENUM_DEFAULT(struct cr_fake_cast, type, 0, CR_LOW_TYPES,
                    "Type to round to."),
    CR_BOOL_DEFAULT(struct cr_fake_cast, predict, false,
                    "Round in prediction only."),
    CR_BOOL_DEFAULT(struct cr_fake_cast, sum, false,
                    "The gradient is a sum, and is not rounded."),
    { 0 },
};

static bool half_plan(struct cr_op_plan *p)
{
    const struct cr_fake_cast *o = p->attr;

    p->out[0] = p->in[0];
    p->same = o->predict && p->training;
    return true;
}

static void half_map(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    cr_round_to_type(cr_fake_cast_type(attr), n, x, y);
}

static void half_map_grad(const void *attr, int64_t n, const cr_real *x,
                          const cr_real *y, const cr_real *dy, cr_real *d)
{
    (void)x, (void)y;
    cr_round_to_type(cr_fake_cast_type(attr), n, dy, d);
}

static bool half_idle(const struct cr_op_ctx *s)
{
    return ((const struct cr_fake_cast *)s->attr)->predict && s->training;
}

static void half_forward(const struct cr_op_ctx *s)
{
    if (half_idle(s))
        cr_view_forward(s);
    else
        cr_pointwise(s, 0.5, half_map);
}

static void half_backward(const struct cr_op_ctx *s)
{
    if (half_idle(s) || ((const struct cr_fake_cast *)s->attr)->sum)
        cr_view_backward(s);
    else
        cr_pointwise_backward(s, 0.5, half_map_grad);
}

const struct cr_op cr_op_fake_cast = {
    .about = { .name = "fake_cast",
               .summary = "Rounds to float16 or bfloat16, stored as float32.",
               .opts = half_opts,
               .size = sizeof(struct cr_fake_cast) },
    .rows = CR_ROWS_ALIGN,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .algebra = { .kind = CR_ELEMENTWISE },
    .low = CR_X(0) | CR_Y(0),
    .plan = half_plan,
    .forward = half_forward,
    .bprop = "return again(dy)",
    .backward = half_backward,
};
