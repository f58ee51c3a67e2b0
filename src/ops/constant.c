/* constant: values given in the script; a single one fills the shape */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

static const struct cr_opt constant_opts[] = {
    CR_REALS(struct cr_constant, value, -INFINITY, INFINITY,
             "One value for all elements, or each value in row-major order."),
    CR_INTS_OPTIONAL(struct cr_constant, shape, 1, CR_DIM_MAX,
                     "Shape. Default: a scalar."),
    CR_ENUM_DEFAULT(struct cr_constant, dtype, 0, CR_DTYPES,
                    "Type of the elements."),
    { 0 },
};

static bool constant_plan(struct cr_op_plan *p)
{
    static const int64_t none = 0;
    const struct cr_constant *o = p->attr;

    if (o->shape.n > CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "shape: found too many dimensions, expected at most "
                        "%d",
                        CR_RANK_MAX);
    p->out[0] = cr_spec_make(cr_dtype_type(o->dtype), o->shape.n,
                             o->shape.n > 0 ? o->shape.v : &none);
    if (!cr_spec_fits(&p->out[0]) ||
        (o->value.n != 1 && o->value.n != cr_count(&p->out[0])))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "values: found %d, "
                        "expected as many as %s "
                        "has",
                        o->value.n, cr_diag_format(p->arena, &p->out[0]));
    return true;
}

static void constant_forward(const struct cr_op_ctx *s)
{
    const struct cr_constant *o = s->attr;

    if (o->value.n == 1)
        cr_data_move_fill(&s->out[0], o->value.v[0], s->y[0]);
    else
        cr_convert(CR_F64, o->value.v, s->out[0].type, s->y[0], o->value.n);
}

static bool constant_scalar(const void *attr, double *value)
{
    const struct cr_constant *o = attr;

    *value = o->value.v[0];
    return o->value.n == 1;
}

const struct cr_op cr_op_constant = {
    .about = { .name = "constant",
               .internal = true,
               .summary = "A constant tensor.",
               .opts = constant_opts,
               .size = sizeof(struct cr_constant) },
    .outputs = 1,
    .algebra.scalar = constant_scalar,
    .plan = constant_plan,
    .forward = constant_forward,
};
