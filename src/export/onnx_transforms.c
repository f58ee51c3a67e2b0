/*
 * ONNX nodes of the fixed transforms of a datapipe, for --normalize: the last
 * ones of a column, back to the first that has no ONNX form.
 */
#include "export/onnx.h"

#include <math.h>
#include <string.h>

#include "data/data_loader.h"
#include "data/per_feature.h"

/* A transform: its option rows give the names, its plan the values. */
struct step {
    const struct cr_transform *transform;
    const struct cr_transform_plan *plan;
};

typedef const char *step_emit(struct cr_onnx *o, const struct step *s,
                              const char *x);

static const void *step_field(const struct step *s, const char *name)
{
    const struct cr_opt *row = s->transform->about.opts;

    while (strcmp(row->name, name) != 0)
        row++;
    return (const char *)s->plan->opts + row->at;
}

static double step_real(const struct step *s, const char *name)
{
    return *(const double *)step_field(s, name);
}

static const char *number(struct cr_onnx *o, double value)
{
    return cr_onnx_number(o, CR_F32, value);
}

/* The input of the step as that type. */
static const char *as(struct cr_onnx *o, const struct step *s, const char *x,
                      enum cr_type type)
{
    return cr_type_stored(s->plan->in.type) == type ? x
                                                    : cr_onnx_cast(o, x, type);
}

/* What was computed as that type, as the result of the step. */
static const char *result(struct cr_onnx *o, const struct step *s,
                          const char *x, enum cr_type type)
{
    return cr_type_stored(s->plan->out.type) == type
               ? x
               : cr_onnx_cast(o, x, s->plan->out.type);
}

static const char *rescale(struct cr_onnx *o, const struct step *s,
                           const char *x)
{
    x = CR_ONNX(o, "Mul", as(o, s, x, CR_F32),
                number(o, step_real(s, "rescale")));
    return step_real(s, "shift") == 0
               ? x
               : CR_ONNX(o, "Add", x, number(o, step_real(s, "shift")));
}

/* n numbers along the axis of the channels, counted from the last axis. */
static const char *channels(struct cr_onnx *o, int n, const double *v,
                            int after)
{
    struct cr_spec spec = { .type = CR_F32, .rank = 1 + after };
    float *to = CR_NEWS(o->arena, float, n);

    for (int i = 0; i < spec.rank; i++)
        spec.dim[i] = i == 0 ? n : 1;
    for (int i = 0; i < n; i++)
        to[i] = (float)v[i];
    return cr_onnx_tensor(o, cr_strf(o->arena, "%s/const", o->scope),
                          cr_onnx_type(CR_F32), &spec, to);
}

static const char *normalize(struct cr_onnx *o, const struct step *s,
                             const char *x)
{
    const struct cr_reals *mean = step_field(s, "mean");
    const struct cr_reals *std = step_field(s, "std");
    bool hwc = *(const bool *)step_field(s, "is_hwc");
    int after = hwc || s->plan->in.rank < 3 ? 0 : 2;

    x = CR_ONNX(o, "Sub", as(o, s, x, CR_F32),
                channels(o, mean->n, mean->v, after));
    return CR_ONNX(o, "Div", x, channels(o, std->n, std->v, after));
}

static const char *hwc2chw(struct cr_onnx *o, const struct step *s,
                           const char *x)
{
    return s->plan->in.rank < 3
               ? x
               : cr_onnx_transpose(o, x, 4, (const int64_t[]){ 0, 3, 1, 2 });
}

static const char *type_cast(struct cr_onnx *o, const struct step *s,
                             const char *x)
{
    return as(o, s, x, cr_type_stored(s->plan->out.type));
}

/* ---- Features: computed in double, as the transforms do */

/* Numbers per feature, as double. */
static const char *features(struct cr_onnx *o, int64_t n, const double *v)
{
    struct cr_spec spec = { .type = CR_F64, .rank = 1, .dim = { n } };

    return cr_onnx_tensor(o, cr_strf(o->arena, "%s/const", o->scope),
                          cr_onnx_type(CR_F64), &spec, v);
}

/* (x - sub) / div + add for each feature. */
static const char *feature_map(struct cr_onnx *o, const struct step *s,
                               const char *x, const double *sub,
                               const double *div, const double *add)
{
    const struct cr_per_feature *self = s->plan->self;

    x = as(o, s, x, CR_F64);
    x = CR_ONNX(o, "Sub", x, features(o, self->n, sub));
    x = CR_ONNX(o, "Div", x, features(o, self->n, div));
    if (add)
        x = CR_ONNX(o, "Add", x, features(o, self->n, add));
    return result(o, s, x, CR_F64);
}

static const char *standardize(struct cr_onnx *o, const struct step *s,
                               const char *x)
{
    const struct cr_per_feature *self = s->plan->self;
    const double *fitted = s->plan->fitted->value;
    double *sub = CR_NEWS(o->arena, double, self->n);
    double *div = CR_NEWS(o->arena, double, self->n);

    for (int64_t k = 0; k < self->n; k++) {
        sub[k] = self->on[k] ? fitted[k] : 0;
        div[k] = self->on[k] ? fitted[self->n + k] : 1;
    }
    return feature_map(o, s, x, sub, div, NULL);
}

static const char *min_max(struct cr_onnx *o, const struct step *s,
                           const char *x)
{
    const struct cr_per_feature *self = s->plan->self;
    const double *min = s->plan->fitted->value, *max = min + self->n;
    double low = step_real(s, "low"), high = step_real(s, "high");
    double *sub = CR_NEWS(o->arena, double, self->n);
    double *div = CR_NEWS(o->arena, double, self->n);
    double *add = CR_NEWS(o->arena, double, self->n);

    for (int64_t k = 0; k < self->n; k++) {
        sub[k] = self->on[k] ? min[k] : 0;
        div[k] = !self->on[k] ? 1
                 : (max[k] > min[k] ? max[k] - min[k] : 1) / (high - low);
        add[k] = self->on[k] ? low : 0;
    }
    return feature_map(o, s, x, sub, div, add);
}

static const char *clip(struct cr_onnx *o, const struct step *s, const char *x)
{
    const struct cr_per_feature *self = s->plan->self;
    const struct cr_reals *quantiles = step_field(s, "quantiles");
    const double *fitted = quantiles->n > 0 ? s->plan->fitted->value : NULL;
    double *low = CR_NEWS(o->arena, double, self->n);
    double *high = CR_NEWS(o->arena, double, self->n);

    for (int64_t k = 0; k < self->n; k++) {
        low[k] = fitted ? fitted[k] : step_real(s, "min");
        high[k] = fitted ? fitted[self->n + k] : step_real(s, "max");
        if (!self->on[k] || isnan(low[k]))
            low[k] = -(double)INFINITY;
        if (!self->on[k] || isnan(high[k]))
            high[k] = (double)INFINITY;
    }
    x = as(o, s, x, CR_F64);
    x = CR_ONNX(o, "Max", x, features(o, self->n, low));
    x = CR_ONNX(o, "Min", x, features(o, self->n, high));
    return result(o, s, x, CR_F64);
}

static const struct {
    const char *name;
    step_emit *emit;
    bool fitted; /* it needs values fitted to the training data */
} steps[] = {
    { "Clip", clip, false },         { "HWC2CHW", hwc2chw, false },
    { "MinMax", min_max, true },     { "Normalize", normalize, false },
    { "Rescale", rescale, false },   { "Standardize", standardize, true },
    { "TypeCast", type_cast, false },
};

/* The row of `steps` for a transform; -1: it has no ONNX form. */
static int step_find(const struct step *s)
{
    for (size_t i = 0; i < CR_LEN(steps); i++)
        if (strcmp(steps[i].name, s->transform->about.name) == 0)
            return (s->plan->fits > 0 || steps[i].fitted) &&
                           (!s->plan->fitted || !s->plan->fitted->ready)
                       ? -1
                       : (int)i;
    return -1;
}

/* The column as the data set stores it; NULL: not in the checkpoint. */
static const struct cr_column *column_stored(struct cr_onnx *o,
                                             const char *name)
{
    const struct cr_state *s = &o->e->model.state;

    for (int i = 0; i < s->n_columns; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return &s->columns[i];
    cr_error(o->e->diag, CR_NOWHERE, CR_E_CKPT_FORMAT,
             "--normalize: the checkpoint does not contain the type of column "
             "'%s' in the data set",
             name);
    return NULL;
}

const char *cr_onnx_transforms(struct cr_onnx *o, int i,
                               struct cr_column *stored)
{
    const struct cr_inference_val *v = &o->graph->vals[o->graph->inputs[i]];
    const struct cr_column *column = column_stored(o, v->name);
    struct cr_column_pipeline *pipeline;
    struct cr_spec out;
    struct step s = { 0 };
    int n = 0, from;
    const char *x = v->name;

    if (!column)
        return NULL;
    pipeline = cr_column_pipeline_plan(o->e->model.config, column->name,
                                       &column->spec, NULL, false, &out);
    if (!pipeline)
        return NULL;
    while (cr_column_pipeline_step(pipeline, n, &s.transform))
        n++;
    for (from = n; from > 0; from--) {
        s.plan = cr_column_pipeline_step(pipeline, from - 1, &s.transform);
        if (step_find(&s) < 0)
            break;
    }
    stored->spec = column->spec;
    if (from > 0)
        stored->spec =
            cr_column_pipeline_step(pipeline, from - 1, &s.transform)->out;
    if (stored->spec.type == CR_STRING ||
        (stored->spec.rank > 0 && stored->spec.dim[0] < 0)) {
        cr_error(o->e->diag, CR_NOWHERE, CR_E_NETWORK,
                 "--normalize: column '%s': %s is the last transform, and has "
                 "no ONNX form",
                 v->name, s.transform ? s.transform->about.name : "none");
        return NULL;
    }
    if (from > 0 && from == n)
        cr_warn(o->e->diag,
                cr_column_pipeline_step(pipeline, n - 1, &s.transform)->pos,
                CR_E_NETWORK,
                "'--normalize' has no effect on column '%s': %s has no ONNX "
                "form",
                v->name, s.transform->about.name);
    out = stored->spec;
    for (; from < n; from++) {
        s.plan = cr_column_pipeline_step(pipeline, from, &s.transform);
        x = steps[step_find(&s)].emit(o, &s, x);
        out = s.plan->out;
    }
    return cr_onnx_type(out.type) == cr_onnx_type(v->spec.type)
               ? x
               : cr_onnx_cast(o, x, v->spec.type);
}
