/* PadEnd: gives each dimension a size, by padding or truncating its end. */
#include "data/transform.h"

#include <string.h>

struct pad_end {
    struct cr_ints pad_shape;
    double pad_value;
};

static const struct cr_opt pad_end_opts[] = {
    CR_INTS(struct pad_end, pad_shape, 1, CR_DIM_MAX,
            "Size of each dimension of the result."),
    CR_REAL_DEFAULT(struct pad_end, pad_value, 0, -1e30, 1e30,
                    "Value of the added elements."),
    { 0 },
};

static bool pad_end_plan(struct cr_transform_plan *p)
{
    const struct pad_end *o = p->opts;
    int i;

    if (p->in.type == CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "PadEnd: found %s, expected numbers",
                        p->in.rank ? "tokens (use Lookup to replace them by "
                                     "indices)"
                                   : "text");
    if (o->pad_shape.n != p->in.rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "PadEnd: pad_shape has %d sizes, but the input %s "
                        "has %d",
                        o->pad_shape.n, cr_diag_format(p->arena, &p->in),
                        p->in.rank);
    p->out = p->in;
    for (i = 0; i < p->in.rank; i++)
        p->out.dim[i] = o->pad_shape.v[i];
    if (!cr_spec_fits(&p->out))
        return cr_error(p->diag, p->pos, CR_E_LIMIT, "PadEnd: %s is too large",
                        cr_diag_format(p->arena, &p->out));
    return true;
}

/* The same for a list of varying length. */
static bool pad_end_list(struct cr_sample *s)
{
    const struct pad_end *o = s->plan->opts;
    const struct cr_ragged *x = s->x;
    size_t size = cr_type_size(s->plan->in.type);
    int64_t i, n = s->plan->out.dim[0], have = x->n < n ? x->n : n;
    char value[8];

    if (have > 0)
        memcpy(s->y, x->v, (size_t)have * size);
    cr_convert(CR_F64, &o->pad_value, s->plan->in.type, value, 1);
    for (i = have; i < n; i++)
        memcpy((char *)s->y + (size_t)i * size, value, size);
    return true;
}

static bool pad_end_apply(struct cr_sample *s)
{
    const struct cr_spec *in = &s->plan->in, *out = &s->plan->out;
    const struct pad_end *o = s->plan->opts;
    size_t size = cr_type_size(in->type);
    int64_t i, n = cr_count(out);
    char value[8];

    if (cr_is_ragged(in))
        return pad_end_list(s);
    cr_convert(CR_F64, &o->pad_value, in->type, value, 1);
    for (i = 0; i < n; i++) {
        int64_t rest = i, at = 0, step = 1;
        bool inside = true;
        int d;

        for (d = in->rank - 1; d >= 0; d--) {
            int64_t k = rest % out->dim[d];

            rest /= out->dim[d];
            inside = inside && k < in->dim[d];
            at += k * step;
            step *= in->dim[d];
        }
        memcpy((char *)s->y + (size_t)i * size,
               inside ? (const char *)s->x + (size_t)at * size : value, size);
    }
    return true;
}

const struct cr_transform cr_transform_pad_end = {
    .about = {
        .name = "PadEnd",
        .summary = "Pads or truncates every dimension to a given size.",
        .detail = "Numbers of any type, including lists of varying length; "
                  "pad_shape has a size for each dimension. Longer dimensions "
                  "are truncated at their end.",
        .example = "datapipe: {x: [{PadEnd: {pad_shape: [16], pad_value: "
                   "0}}]}\n",
        .opts = pad_end_opts,
        .size = sizeof(struct pad_end),
    },
    .plan = pad_end_plan,
    .apply = pad_end_apply,
    .ragged = true,
};
