/* FillMissing: replaces missing values, which are NaN.
 *
 * A feature gets the mean, the median or the mode (the smallest of several) of
 * its values in the training samples, or a constant. With indicator, a column
 * for each feature that has missing values in the training samples follows all
 * others: 1 where the value was missing, else 0. */
#include "data/per_feature.h"

#include <math.h>
#include <string.h>

enum { FILL_MEAN, FILL_MEDIAN, FILL_MODE, FILL_CONSTANT };

struct fill_missing {
    int strategy;
    const struct cr_node *value;
    bool indicator;
    struct cr_strs fields;
};

static const struct cr_opt fill_missing_opts[] = {
    CR_ENUM_DEFAULT(
        struct fill_missing, strategy, FILL_MEAN, "mean|median|mode|constant",
        "Replacement of a missing value. mean, median: of the training "
        "values of a number; categories pass unchanged, and OneHot and "
        "CategoryIndex treat them as unknown. mode: the most frequent "
        "training value, also of categories. constant: `value`."),
    CR_NODE(struct fill_missing, value,
            "With constant: a number, or a string for categories."),
    CR_BOOL_DEFAULT(struct fill_missing, indicator, false,
                    "Add a column for each feature with missing training "
                    "values: 1 where the value was missing, else 0."),
    CR_FIELDS_OPT(struct fill_missing),
    { 0 },
};

/* fitted->value: the replacement of each feature (of categories, an index in
 * the vocabulary), then for each feature whether it has an indicator: 1 or 0.
 */

struct fill_self {
    struct cr_per_feature of;
    bool *category;
    double constant;
    int64_t flags; /* number of indicators */
    int64_t *flag; /* the feature of each */
};

/* Looks `value` up in the categories; it must be in the training data. */
static bool fill_word(struct cr_transform_plan *p, const struct fill_missing *o,
                      struct fill_self *self)
{
    const char *text = o->value->text;
    int32_t code = -1;

    for (int k = 0; k < p->features->n; k++) {
        const struct cr_category *c = p->features->v[k].category;
        int64_t i;

        if (!self->of.on[k])
            continue;
        i = cr_vocab_find(c->vocab, text, strlen(text));
        if (i > 0 && code >= 0 && cr_category_at(c, (double)i) != code)
            return cr_error(p->diag, o->value->pos, CR_E_CONFLICT,
                            "FillMissing: value belongs to several "
                            "categories; set fields to one of them");
        if (i <= 0) {
            cr_error(p->diag, o->value->pos, CR_E_DATA_RANGE,
                     "FillMissing: value: found '%s', expected a string of "
                     "field '%s' in the training data",
                     text, p->features->v[k].name);
            cr_hint(p->diag,
                    "use default: %s under columns.%s of the data set to add "
                    "it",
                    text, p->column);
            return false;
        }
        code = (int32_t)cr_category_at(c, (double)i);
    }
    self->constant = code;
    return true;
}

static bool fill_constant(struct cr_transform_plan *p,
                          const struct fill_missing *o, struct fill_self *self)
{
    const struct cr_node *v = o->value;
    bool number = v && (v->kind == CR_NODE_INT || v->kind == CR_NODE_REAL);
    int64_t k, left = 0;

    if ((o->strategy == FILL_CONSTANT) != (v != NULL))
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "FillMissing: value requires strategy: constant, and "
                        "constant requires value");
    if (!v)
        return true;
    if (!number && v->kind != CR_NODE_STR)
        return cr_error(p->diag, v->pos, CR_E_WRONG_TYPE,
                        "FillMissing: value: found %s, expected a number or "
                        "a string",
                        cr_node_what(p->arena, v));
    self->constant = v->real;
    for (k = 0; k < self->of.n; k++) {
        if (self->category[k] == number)
            self->of.on[k] = false; /* of the other kind */
        left += self->of.on[k];
    }
    if (left == 0)
        return cr_error(p->diag, v->pos, CR_E_WRONG_TYPE,
                        "FillMissing: value: found %s, but the fields are "
                        "%s", cr_node_what(p->arena, v),
                        number ? "categories" : "numbers");
    return number || fill_word(p, o, self);
}

/* Whether the training data have missing values of a feature, as the features
 * of the stored samples record. */
static bool fill_lacks(const struct cr_transform_plan *p, const char *name)
{
    const struct cr_features *f = cr_features_find(p->config, p->column);

    for (int k = 0; k < f->n; k++)
        if (strcmp(f->v[k].name, name) == 0)
            return f->v[k].lacks;
    return false;
}

/* Finds the features with an indicator: from the fitted values, or before those
 * exist from the training data. */
static bool fill_flags(struct cr_transform_plan *p, struct fill_self *self)
{
    struct cr_features *out = CR_NEW(p->arena, struct cr_features);
    const struct cr_features *in = p->features;
    const struct cr_fitted *f = cr_fitted_find(p->config, p->place, p->fits);
    int k;

    if (!in)
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "FillMissing: indicator: expected a column of "
                        "numbers of a CSVDataset");
    out->v = CR_NEWS(p->arena, struct cr_feature, 2 * in->n);
    memcpy(out->v, in->v, (size_t)in->n * sizeof *out->v);
    out->n = in->n;
    self->flag = CR_NEWS(p->arena, int64_t, in->n);
    for (k = 0; k < in->n; k++) {
        bool has = f && f->ready ? f->value[in->n + k] != 0
                                 : fill_lacks(p, in->v[k].name);

        if (!has || !self->of.on[k])
            continue;
        self->flag[self->flags++] = k;
        out->v[out->n++] = (struct cr_feature){
            .name = cr_strf(p->arena, "%s missing", in->v[k].name),
            .kind = CR_FEATURE_FLAG
        };
    }
    if (self->flags == 0)
        return true;
    p->features = out;
    p->out.rank = 1;
    p->out.dim[0] = out->n;
    return true;
}

static bool fill_plan(struct cr_transform_plan *p)
{
    const struct fill_missing *o = p->opts;
    struct fill_self *self;
    unsigned kinds = CR_NUMBERS | CR_CATEGORIES;
    int64_t k;

    if (!cr_per_feature_plan(p, "FillMissing", &o->fields, kinds,
                             sizeof *self))
        return false;
    self = p->self;
    self->category = CR_NEWS(p->arena, bool, self->of.n);
    for (k = 0; p->features && k < self->of.n; k++) {
        self->category[k] = p->features->v[k].kind == CR_FEATURE_CATEGORY;
        if (!self->category[k] || o->strategy >= FILL_MODE)
            continue;
        if (self->of.on[k] && o->fields.n > 0)
            return cr_error(p->diag, p->pos, CR_E_DTYPE,
                            "FillMissing: found the category '%s', expected "
                            "numbers for mean and median; mode takes both",
                            p->features->v[k].name);
        self->of.on[k] = false;
    }
    p->fits = 2 * self->of.n;
    if (p->features && !cr_features_learn(p->config, p->column))
        return false;
    return fill_constant(p, o, self) && (!o->indicator || fill_flags(p, self));
}

/* Of categories the indices in the vocabulary are stored, since codes are valid
 * for one run only. */
static void fill_fit(const struct cr_transform_plan *p, const void *x)
{
    const struct fill_missing *o = p->opts;
    struct fill_self *self = p->self;
    struct cr_per_feature *of = &self->of;
    const double *v = cr_per_feature_x(p, x, NULL);
    int64_t i, k;

    for (i = 0; i < of->count; i++)
        if (isnan(v[i]) && of->on[i % of->n] && p->features)
            p->fitted->value[of->n + i % of->n] = 1;
    if (o->strategy == FILL_MEDIAN || o->strategy == FILL_MODE) {
        cr_per_feature_add(p, x);
        return;
    }
    for (i = 0; i < of->count && o->strategy == FILL_MEAN; i++) {
        k = i % of->n;
        if (isnan(v[i]) || !of->on[k])
            continue;
        p->fitted->value[k] += v[i];
        of->seen[k]++;
    }
}

/* The most frequent value, the smallest of several; of categories the index in
 * the vocabulary. */
static double fill_mode(const struct cr_transform_plan *p, int64_t k)
{
    const struct fill_self *self = p->self;
    const struct cr_features *f = cr_features_find(p->config, p->column);
    const double *v = cr_per_feature_sorted(p, k);
    int64_t i, from = 0, best = 0, n = self->of.seen[k];
    double found = 0;

    for (i = 1; i <= n; i++) {
        double at;

        if (i < n && v[i] == v[from])
            continue;
        at = self->category[k]
                 ? (double)cr_category_index(f->v[k].category, v[from])
                 : v[from];
        if (i - from > best || (i - from == best && at < found)) {
            best = i - from;
            found = at;
        }
        from = i;
    }
    return found;
}

static bool fill_end(const struct cr_transform_plan *p)
{
    const struct fill_missing *o = p->opts;
    const struct fill_self *self = p->self;
    double *value = p->fitted->value;
    bool ok = p->fitted->seen > 0;

    for (int64_t k = 0; k < self->of.n && ok; k++) {
        int64_t n = self->of.seen[k];

        if (!self->of.on[k] || o->strategy == FILL_CONSTANT)
            continue;
        ok = n > 0 || cr_per_feature_none(p, k);
        if (!ok)
            break;
        if (o->strategy == FILL_MEAN)
            value[k] /= (double)n;
        else if (o->strategy == FILL_MEDIAN)
            value[k] = cr_quantile(cr_per_feature_sorted(p, k), n, 0.5);
        else
            value[k] = fill_mode(p, k);
    }
    cr_per_feature_drop(p);
    return ok;
}

static bool fill_apply(struct cr_sample *s)
{
    const struct cr_transform_plan *p = s->plan;
    const struct fill_missing *o = p->opts;
    const struct fill_self *self = p->self;
    const double *value = p->fitted->value;
    double *x = cr_per_feature_x(p, s->x, s->scratch);
    size_t size = cr_type_size(p->out.type);
    int64_t i, k;

    for (i = 0; i < self->flags; i++) {
        double flag = isnan(x[self->flag[i]]);

        cr_convert(CR_F64, &flag, p->out.type,
                   (char *)s->y + (size_t)(self->of.n + i) * size, 1);
    }
    for (i = 0; i < self->of.count; i++) {
        k = i % self->of.n;
        if (!self->of.on[k] || !isnan(x[i]))
            continue;
        if (o->strategy == FILL_CONSTANT)
            x[i] = self->constant;
        else
            x[i] = self->category[k]
                       ? cr_category_at(p->features->v[k].category, value[k])
                       : value[k];
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_fill_missing = {
    .about = {
        .name = "FillMissing",
        .summary = "Imputation of missing values.",
        .detail = "Missing are fields of a CSVDataset that are empty, NA, "
                  "N/A, NaN, null, none, ? or -. The replacement of each "
                  "feature is computed from the training data; checkpoints "
                  "contain it.",
        .example = "datapipe:\n"
                   "  x: [{FillMissing: {strategy: median, indicator: true}}, "
                   "Standardize, OneHot]\n",
        .opts = fill_missing_opts,
        .size = sizeof(struct fill_missing),
    },
    .plan = fill_plan,
    .apply = fill_apply,
    .fit = fill_fit,
    .fit_end = fill_end,
    .fills = true,
};
