#include "families/channel_norm.h"

bool cr_channel_norm_check(struct cr_op_plan *p, int more)
{
    const struct cr_spec *x = &p->in[0];
    int i;

    if (x->rank < 2)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected (N, C, ...)",
                        cr_diag_format(p->arena, x));
    for (i = 1; i < more; i++)
        if (p->in[i].rank != 1 || p->in[i].dim[0] != x->dim[1])
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "input: found %s with %lld channels, expected as "
                            "many as the %s values for them",
                            cr_diag_format(p->arena, x), (long long)x->dim[1],
                            cr_diag_format(p->arena, &p->in[i]));
    if (p->n_in > more && p->in[more].rank >= 0 &&
        !cr_spec_same(x, &p->in[more]))
        return cr_error(p->diag, p->pos, CR_E_SHAPE, "%s cannot be added to %s",
                        cr_diag_format(p->arena, &p->in[more]),
                        cr_diag_format(p->arena, x));
    return true;
}

bool cr_channel_norm_accepts(const struct cr_op_ctx *s, unsigned of,
                             unsigned parts)
{
    /* x gives the mask only of what forward computed from nothing else, and
     * has not rounded; and the gradient of a map so alone */
    if ((parts & CR_END_MASK_X) && ((parts & CR_END_ADD) || s->low != CR_REAL))
        return false;
    if ((parts & CR_END_MAP) && ((parts & CR_END_ADD) || (s->rounds & CR_Y(0))))
        return false;
    return of == CR_Y(0) &&
           !(parts & ~(unsigned)(CR_END_ADD | CR_END_ACT | CR_END_MAP |
                                 CR_END_BACKWARD | CR_END_MASK_X));
}

struct cr_channel_mask cr_channel_norm_mask(const struct cr_op_ctx *s,
                                            const cr_real *scale,
                                            const cr_real *shift)
{
    if (s->end.act == CR_ACT_RELU && s->y[0])
        return (struct cr_channel_mask){ .y = s->y[0] };
    if (s->end.act != CR_ACT_RELU && !s->end_grad)
        return (struct cr_channel_mask){ .y = NULL };
    return (struct cr_channel_mask){ .scale = scale,
                                     .shift = shift,
                                     .map = s->end.map,
                                     .grad = s->end_grad,
                                     .attr = s->end.attr };
}
