#include "families/random.h"

const struct cr_opt cr_shape_opts[] = {
    CR_INTS_OPTIONAL(struct cr_shape_opt, shape, 1, CR_DIM_MAX,
                     "Shape; () for a scalar."),
    { 0 },
};

struct cr_draws cr_draws(const struct cr_op_ctx *s, const struct cr_spec *of)
{
    struct cr_draws d = { .rng = s->rng };

    d.rng.b = (uint64_t)s->update;
    if (of->rank > 0 && of->dim[0] == s->batch)
        d.first = (uint64_t)(s->first * (cr_count(of) / of->dim[0]));
    return d;
}

bool cr_shape_plan(struct cr_op_plan *p, const struct cr_ints *shape,
                   enum cr_type type)
{
    static const int64_t none = 0;

    if (shape->n > CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "found %d dimensions, expected at most %d", shape->n,
                        CR_RANK_MAX);
    p->out[0] = cr_spec_make(type, shape->n, shape->n > 0 ? shape->v : &none);
    return true;
}
