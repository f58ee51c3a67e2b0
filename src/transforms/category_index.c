/* CategoryIndex: the index of a category of the training data, from 1 on in
 * their order; 0 for missing values and unknown strings. */
#include "data/per_feature.h"

#include <string.h>

enum { UNKNOWN_CLASS, UNKNOWN_ERROR };

struct category_index {
    int unknown;
    struct cr_strs fields;
};

static const struct cr_opt category_index_opts[] = {
    CR_ENUM_DEFAULT(
        struct category_index, unknown, UNKNOWN_CLASS, "class|error",
        "Action on missing values and strings that the training data do "
        "not contain. class: index 0. error: end with a message."),
    CR_FIELDS_OPT(struct category_index),
    { 0 },
};

static bool category_index_plan(struct cr_transform_plan *p)
{
    const struct category_index *o = p->opts;
    const struct cr_per_feature *self;
    struct cr_features *out;
    bool all = true;
    int64_t k;

    if (!p->features)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "CategoryIndex: found %s %s, expected categories of "
                        "a CSVDataset",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    if (!cr_per_feature_plan(p, "CategoryIndex", &o->fields, CR_CATEGORIES,
                             sizeof *self) ||
        !cr_features_learn(p->config, p->column))
        return false;
    self = p->self;
    out = CR_NEW(p->arena, struct cr_features);
    out->n = p->features->n;
    out->v = CR_NEWS(p->arena, struct cr_feature, out->n);
    memcpy(out->v, p->features->v, (size_t)out->n * sizeof *out->v);
    for (k = 0; k < out->n; k++) {
        if (self->on[k]) {
            out->v[k].kind = CR_FEATURE_BIN;
            out->v[k].bins = out->v[k].category->vocab->n;
        }
        all = all && out->v[k].kind == CR_FEATURE_BIN;
    }
    p->features = out;
    if (all)
        p->out.type = CR_I32;
    return true;
}

static bool category_index_apply(struct cr_sample *s)
{
    const struct category_index *o = s->plan->opts;
    const struct cr_per_feature *self = s->plan->self;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch);

    for (int64_t i = 0; i < self->count; i++) {
        const struct cr_feature *f = &s->plan->features->v[i % self->n];

        if (!self->on[i % self->n])
            continue;
        x[i] = (double)cr_category_index(f->category, x[i]);
        if (x[i] == 0 && o->unknown == UNKNOWN_ERROR)
            return cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                            "CategoryIndex: field '%s': the value is missing "
                            "or not in the training data",
                            f->name);
    }
    cr_per_feature_put(s, x);
    return true;
}

const struct cr_transform cr_transform_category_index = {
    .about = {
        .name = "CategoryIndex",
        .summary = "Indices of categories, for an Embedding.",
        .detail = "Categories of the training data get the indices from 1 on "
                  "in the order of their names, or of their values if all are "
                  "numbers; 0 is unknown. The result is int32 if all fields "
                  "are categories. $vocab.COLUMN.size is the number of "
                  "indices, 0 included, of a column with one category; with "
                  "several it is $vocab.COLUMN.FIELD.size. Checkpoints "
                  "contain the categories.",
        .example = "datapipe: {colour: [CategoryIndex]}\n",
        .opts = category_index_opts,
        .size = sizeof(struct category_index),
    },
    .plan = category_index_plan,
    .apply = category_index_apply,
};
