/* cast: integers to the type that networks compute in. */
#include "net/op.h"

static bool cast_plan(struct cr_plan *p)
{
    p->out[0] = p->in[0];
    p->out[0].type = CR_REAL;
    return true;
}

static void cast_forward(const struct cr_step *s)
{
    cr_convert(s->in[0].type, s->x[0], CR_REAL, s->y[0], cr_count(&s->in[0]));
}

const struct cr_op cr_op_cast = {
    .about = { .name = "cast",
               .summary = "Integers become float32; no gradient." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .integers = CR_X(0),
    .plan = cast_plan,
    .forward = cast_forward,
};
