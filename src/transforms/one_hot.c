/* OneHot: a class index becomes num_classes numbers. With smoothing_rate s = 0
 * they are 0 and 1, of the type of the label; else float64, 1 - s + s/K for the
 * class and s/K for the others, K = num_classes.
 *
 * In a column of a table each category becomes a number per string of the
 * training data, in their order, at the position of the category: 1 for its
 * string, else 0. With unknown: class a number for missing and unknown strings
 * comes first. A bin becomes a number per bin. */
#include "data/per_feature.h"

#include <math.h>
#include <string.h>

enum { UNKNOWN_CLASS, UNKNOWN_ZEROS, UNKNOWN_ERROR };

struct one_hot {
    int64_t num_classes;
    double smoothing_rate;
    int unknown;
    struct cr_strs fields;
};

static const struct cr_opt one_hot_opts[] = {
    CR_INT_OPTIONAL(struct one_hot, num_classes, 1, CR_DIM_MAX,
                    "Number of classes of a label. Default for categories of "
                    "a table: the number of their strings."),
    CR_REAL_DEFAULT(struct one_hot, smoothing_rate, 0, 0, 1,
                    "Label smoothing: fraction distributed evenly over all "
                    "classes."),
    CR_ENUM_DEFAULT(
        struct one_hot, unknown, UNKNOWN_CLASS, "class|zeros|error",
        "Action on missing values and strings that the training data do "
        "not contain. class: an additional first column. zeros: zeros in "
        "all columns. error: end with a message."),
    CR_FIELDS_OPT(struct one_hot),
    { 0 },
};

/* ---- categories of a table ---- */

struct one_hot_self {
    struct cr_per_feature of;
    const struct cr_features *in;
    int64_t *width;         /* columns of each feature */
};

static void one_hot_name(struct cr_transform_plan *p,
                         const struct cr_feature *f, int64_t i,
                         struct cr_feature *to)
{
    const char *word = cr_strf(p->arena, "bin %lld", (long long)i);

    if (f->kind == CR_FEATURE_CATEGORY)
        word = i > 0 ? f->category->vocab->token[i] : "unknown";
    *to = (struct cr_feature){
        .name = cr_strf(p->arena, "%s=%s", f->name, word),
        .kind = CR_FEATURE_FLAG
    };
}

static bool one_hot_categories(struct cr_transform_plan *p)
{
    const struct one_hot *o = p->opts;
    const struct cr_features *in = p->features;
    struct cr_features *out = CR_NEW(p->arena, struct cr_features);
    struct one_hot_self *self;
    int64_t k, i, width = 0;

    if (!cr_per_feature_plan(p, "OneHot", &o->fields, CR_CATEGORIES | CR_BINS,
                             sizeof *self) ||
        !cr_features_learn(p->config, p->column))
        return false;
    self = p->self;
    self->in = in;
    self->width = CR_NEWS(p->arena, int64_t, self->of.n);
    for (k = 0; k < in->n; k++) {
        const struct cr_feature *f = &in->v[k];
        bool category = f->kind == CR_FEATURE_CATEGORY;

        self->width[k] = !self->of.on[k] ? 1
                         : category ? f->category->vocab->n -
                                          (o->unknown != UNKNOWN_CLASS)
                                    : f->bins;
        width += self->width[k];
    }
    if (width < 1 || width > CR_DIM_MAX)
        return cr_error(p->diag, p->pos, CR_E_LIMIT,
                        "OneHot: column '%s' has no strings in the training "
                        "data, or too many",
                        p->column);
    out->v = CR_NEWS(p->arena, struct cr_feature, width);
    for (k = 0; k < in->n; k++)
        for (i = 0; i < self->width[k]; i++)
            if (!self->of.on[k])
                out->v[out->n++] = in->v[k];
            else
                one_hot_name(p, &in->v[k],
                             i + (in->v[k].kind == CR_FEATURE_CATEGORY &&
                                  o->unknown != UNKNOWN_CLASS),
                             &out->v[out->n++]);
    p->features = out;
    p->out.rank = 1;
    p->out.dim[0] = width;
    return true;
}

/* The column of feature k that is 1; -1: none. */
static int64_t one_hot_at(const struct one_hot *o, const struct cr_feature *f,
                          double x)
{

    if (f->kind != CR_FEATURE_CATEGORY)
        return x >= 0 ? (int64_t)x : -1;
    return cr_category_index(f->category, x) - (o->unknown != UNKNOWN_CLASS);
}

static bool one_hot_row(struct cr_sample *s)
{
    const struct one_hot *o = s->plan->opts;
    const struct one_hot_self *self = s->plan->self;
    double *x = cr_per_feature_x(s->plan, s->x, s->scratch), one = 1;
    enum cr_type type = s->plan->out.type;
    size_t size = cr_type_size(type);
    char *y = s->y;

    memset(y, 0, cr_bytes(&s->plan->out));
    for (int64_t k = 0; k < self->of.n; k++) {
        int64_t at = self->of.on[k] ? one_hot_at(o, &self->in->v[k], x[k]) : 0;

        if (!self->of.on[k])
            cr_convert(CR_F64, &x[k], type, y, 1);
        else if (at >= 0 && at < self->width[k])
            cr_convert(CR_F64, &one, type, y + (size_t)at * size, 1);
        else if (o->unknown == UNKNOWN_ERROR)
            return cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                            "OneHot: field '%s': the value is missing or not "
                            "in the training data",
                            self->in->v[k].name);
        y += (size_t)self->width[k] * size;
    }
    return true;
}

/* ---- labels ---- */

static bool one_hot_plan(struct cr_transform_plan *p)
{
    const struct one_hot *o = p->opts;
    enum cr_type t = p->in.type;

    if (p->features)
        return one_hot_categories(p);
    if (o->num_classes == CR_INT_NONE)
        return cr_error(p->diag, p->pos, CR_E_MISSING_KEY,
                        "argument 'num_classes' of OneHot is missing");
    if (t == CR_F16 || t == CR_BF16 || t == CR_F32 || t == CR_F64 ||
        t == CR_REAL || t == CR_STRING || p->in.rank > 1)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "OneHot: found %s %s, expected integer labels of shape "
                        "() or (n,)",
                        cr_type_name(t), cr_diag_format(p->arena, &p->in));
    p->out = p->in;
    p->out.dim[p->out.rank++] = o->num_classes;
    if (o->smoothing_rate != 0)
        p->out.type = CR_F64;
    if (!cr_spec_fits(&p->out))
        return cr_error(p->diag, p->pos, CR_E_LIMIT, "OneHot: %s is too large",
                        cr_diag_format(p->arena, &p->out));
    return true;
}

static bool one_hot_apply(struct cr_sample *s)
{
    const struct one_hot *o = s->plan->opts;
    int64_t i, c, n = cr_count(&s->plan->in), k = o->num_classes, label;
    size_t size = cr_type_size(s->plan->in.type);
    double share = o->smoothing_rate / (double)k, *y = s->y;

    if (s->plan->features)
        return one_hot_row(s);
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
        .summary = "One-hot encoding of labels and categories.",
        .detail = "Labels () or (n,) of an integer type become rows of "
                  "num_classes elements, of the same type, or float64 with "
                  "smoothing. In a column of a CSVDataset each category "
                  "becomes a row with an element for each string of its "
                  "training data, in the order of their names, or of their "
                  "values if all are numbers; checkpoints contain the strings. "
                  "Bins of Bucket are encoded too; numbers pass unchanged.",
        .example = "datapipe: {label: [{OneHot: {num_classes: 10}}]}\n"
                   "---\n"
                   "datapipe: {x: [FillMissing, Standardize, OneHot]}\n",
        .opts = one_hot_opts,
        .size = sizeof(struct one_hot),
    },
    .plan = one_hot_plan,
    .apply = one_hot_apply,
};
