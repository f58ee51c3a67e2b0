/* OneHot: a class becomes a row of num_classes numbers.
 * smoothing 0: integers 0 and 1 of the label's type; else float64, the class
 * 1 - s + s/K, the others s/K. */
#include "data/transform.h"

#include <string.h>

struct one_hot {
    int64_t num_classes;
    double smoothing_rate;
};

static const struct cr_opt one_hot_opts[] = {
    CR_INT(struct one_hot, num_classes, 1, CR_DIM_MAX, "Number of classes."),
    CR_REAL_OR(struct one_hot, smoothing_rate, 0, 0, 1,
               "Share spread evenly over all classes."),
    { 0 },
};

static bool one_hot_plan(struct cr_tplan *p)
{
    const struct one_hot *o = p->opts;
    enum cr_type t = p->in.type;

    if (t == CR_F16 || t == CR_BF16 || t == CR_F32 || t == CR_F64 ||
        t == CR_REAL || t == CR_STRING || p->in.rank > 1)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "OneHot takes integer labels, () or (n,), not %s %s",
                        cr_type_name(t), cr_show(p->arena, &p->in));
    p->out = p->in;
    p->out.dim[p->out.rank++] = o->num_classes;
    if (o->smoothing_rate != 0)
        p->out.type = CR_F64;
    if (!cr_spec_fits(&p->out))
        return cr_error(p->diag, p->pos, CR_E_LIMIT,
                        "OneHot: %s is too large",
                        cr_show(p->arena, &p->out));
    return true;
}

static bool one_hot_apply(struct cr_sample *s)
{
    const struct one_hot *o = s->plan->opts;
    int64_t i, c, n = cr_count(&s->plan->in), k = o->num_classes, label;
    size_t size = cr_type_size(s->plan->in.type);
    double share = o->smoothing_rate / (double)k, *y = s->y;

    memset(s->y, 0, cr_bytes(&s->plan->out));
    for (i = 0; i < n; i++) {
        cr_convert(s->plan->in.type, (const char *)s->x + (size_t)i * size,
                   CR_I64, &label, 1);
        if (label < 0 || label >= k)
            return cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                            "label %lld of sample %lld is outside of 0 to "
                            "%lld",
                            (long long)label, (long long)s->index,
                            (long long)k - 1);
        if (o->smoothing_rate == 0) {
            int64_t one = 1;

            cr_convert(CR_I64, &one, s->plan->out.type,
                       (char *)s->y + (size_t)(i * k + label) * size, 1);
            continue;
        }
        for (c = 0; c < k; c++)
            y[i * k + c] =
                share + (c == label ? 1 - o->smoothing_rate : 0);
    }
    return true;
}

const struct cr_transform cr_transform_one_hot = {
    .about = {
        .name = "OneHot",
        .summary = "A row of zeros with a one at the label.",
        .detail = "Labels () or (n,) of an integer type; the result has "
                  "num_classes more elements per label, of the same type, "
                  "or float64 with smoothing.",
        .example = "datapipe: {label: [{OneHot: {num_classes: 10}}]}\n",
        .opts = one_hot_opts,
        .size = sizeof(struct one_hot),
    },
    .plan = one_hot_plan,
    .apply = one_hot_apply,
};
