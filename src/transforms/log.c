/* Log: y = log(1 + x) for each feature, for amounts and counts. */
#include "data/per_feature.h"

#include <math.h>

struct log {
    struct cr_strs fields;
};

static const struct cr_opt log_opts[] = {
    CR_FIELDS_OPT(struct log),
    { 0 },
};

static bool log_plan(struct cr_transform_plan *p)
{
    const struct log *o = p->opts;

    return cr_per_feature_plan(p, "Log", &o->fields, CR_NUMBERS,
                               sizeof(struct cr_per_feature));
}

static bool log_apply(struct cr_sample *s)
{
    const struct cr_per_feature *self = s->plan->self;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch);

    for (int64_t i = 0; i < self->count; i++) {
        if (!self->on[i % self->n])
            continue;
        if (x[i] <= -1) {
            cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                     "Log: found %g in %s of column '%s', expected numbers "
                     "above -1", x[i],
                     cr_per_feature_name(s->plan, i % self->n),
                     s->plan->column);
            cr_hint(s->diag, "use Clip: {min: 0} before it");
            return false;
        }
        x[i] = log1p(x[i]);
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_log = {
    .about = {
        .name = "Log",
        .summary = "log(1 + x).",
        .detail = "For amounts and counts that span several orders of "
                  "magnitude. Values must be above -1.",
        .example = "datapipe: {x: [{Log: {fields: [fare]}}, Standardize]}\n",
        .opts = log_opts,
        .size = sizeof(struct log),
    },
    .plan = log_plan,
    .apply = log_apply,
};
