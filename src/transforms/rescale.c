/* Rescale: y = x rescale + shift, in float32 with one rounding, as measured on
 * MindSpore 2.10. With shift 0 that is the product. */
#include "data/transform.h"

struct rescale {
    double rescale, shift;
};

static const struct cr_opt rescale_opts[] = {
    CR_REAL(struct rescale, rescale, -1e30, 1e30, "Factor."),
    CR_REAL(struct rescale, shift, -1e30, 1e30, "Number to add after scaling."),
    { 0 },
};

static bool rescale_plan(struct cr_transform_plan *p)
{
    if (p->in.type == CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "Rescale: found text, expected numbers");
    p->out = p->in;
    p->out.type = CR_F32;
    return true;
}

static double rescale_value(const struct cr_transform_plan *p, double x,
                            int64_t c)
{
    const struct rescale *o = p->opts;
    float a = (float)o->rescale, b = (float)o->shift, v = (float)x;

    (void)c;
    return b == 0 ? v * a : fmaf(v, a, b);
}

static bool rescale_apply(struct cr_sample *s)
{
    int64_t i, n = cr_count(&s->plan->in);
    float *y = s->y;

    cr_convert(s->plan->in.type, s->x, CR_F32, y, n);
    for (i = 0; i < n; i++)
        y[i] = (float)rescale_value(s->plan, y[i], 0);
    return true;
}

const struct cr_transform cr_transform_rescale = {
    .about = {
        .name = "Rescale",
        .summary = "x * rescale + shift, as float32.",
        .detail = "Numbers of any type and shape; the result is float32, "
                  "rounded once.",
        .example = "datapipe: {image: [{Rescale: {rescale: $(1/255), "
                   "shift: 0.0}}]}\n",
        .opts = rescale_opts,
        .size = sizeof(struct rescale),
    },
    .plan = rescale_plan,
    .apply = rescale_apply,
    .value = rescale_value,
};
