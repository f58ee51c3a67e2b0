#include "data/per_feature.h"

#include "base/str.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool names_none(struct cr_transform_plan *p, const char *op,
                       const char *name)
{
    const struct cr_features *f = p->features;
    const char **names = CR_NEWS(p->arena, const char *, f->n + 1);
    int i;

    for (i = 0; i < f->n; i++)
        names[i] = f->v[i].name;
    cr_error(p->diag, p->pos, CR_E_NO_MATCH,
             "%s: column '%s': field '%s' not found", op, p->column, name);
    if (cr_closest_name(name, names))
        cr_hint(p->diag, "did you mean '%s'?", cr_closest_name(name, names));
    return false;
}

static bool choose(struct cr_transform_plan *p, const char *op,
                   const struct cr_strs *fields, unsigned kinds,
                   struct cr_per_feature *to)
{
    const struct cr_features *f = p->features;
    int i, k;

    if (!f && fields->n > 0)
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "%s: found fields, expected a column of numbers of a "
                        "CSVDataset, whose fields have names", op);
    for (k = 0; k < to->n; k++)
        to->on[k] = fields->n == 0 && (!f || (kinds & 1u << f->v[k].kind));
    for (i = 0; i < fields->n; i++) {
        bool any = false;

        for (k = 0; k < f->n; k++) {
            if (strcmp(f->v[k].name, fields->v[i]) != 0 &&
                fnmatch(fields->v[i], f->v[k].name, 0) != 0)
                continue;
            if (!(kinds & 1u << f->v[k].kind))
                return cr_error(p->diag, p->pos, CR_E_DTYPE,
                                "%s: found the field '%s', which is a %s, "
                                "expected a %s", op, f->v[k].name,
                                f->v[k].kind == CR_FEATURE_NUMBER ? "number"
                                                                  : "category",
                                kinds & CR_NUMBERS ? "number" : "category");
            any = to->on[k] = true;
        }
        if (!any)
            return names_none(p, op, fields->v[i]);
    }
    return true;
}

bool cr_per_feature_plan(struct cr_transform_plan *p, const char *op,
                         const struct cr_strs *fields, unsigned kinds,
                         size_t size)
{
    struct cr_per_feature *self = cr_alloc(p->arena, 1, size);

    if (cr_count(&p->in) == 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: expected samples of numbers, but found %s", op,
                        cr_diag_format(p->arena, &p->in));
    p->self = self;
    self->count = cr_count(&p->in);
    self->n = p->in.rank > 0 ? p->in.dim[p->in.rank - 1] : 1;
    self->on = CR_NEWS(p->arena, bool, self->n);
    self->seen = CR_NEWS(p->arena, int64_t, self->n);
    self->value = CR_NEWS(p->arena, double *, self->n);
    self->x = CR_NEWS(p->arena, double, self->count);
    p->out = p->in;
    p->out.type = p->in.type == CR_F64 ? CR_F64 : CR_F32;
    p->scratch = (size_t)self->count * sizeof(double);
    return choose(p, op, fields, kinds, self);
}

const char *cr_per_feature_name(const struct cr_transform_plan *p, int64_t k)
{
    const struct cr_features *f = cr_features_find(p->config, p->column);
    const struct cr_per_feature *self = p->self;

    return f && f->n == self->n
               ? cr_strf(p->arena, "field '%s'", f->v[k].name)
               : cr_strf(p->arena, "feature %lld", (long long)k);
}

double *cr_per_feature_x(const struct cr_transform_plan *p, const void *x,
                         double *scratch)
{
    const struct cr_per_feature *self = p->self;

    scratch = scratch ? scratch : self->x;
    cr_convert(p->in.type, x, CR_F64, scratch, self->count);
    return scratch;
}

void cr_per_feature_put(struct cr_sample *s, const double *y)
{
    cr_convert(CR_F64, y, s->plan->out.type, s->y, cr_count(&s->plan->in));
}

/* The capacity is doubled when the number of values is a power of two. */
void cr_per_feature_add(const struct cr_transform_plan *p, const void *x)
{
    const struct cr_per_feature *self = p->self;
    const double *v = cr_per_feature_x(p, x, NULL);
    int64_t i, k, n;

    for (i = 0; i < self->count; i++) {
        k = i % self->n;
        if (!self->on[k] || isnan(v[i]))
            continue;
        n = self->seen[k]++;
        if ((n & (n - 1)) == 0) {
            size_t bytes = (size_t)(n > 0 ? 2 * n : 1) * sizeof(double);

            self->value[k] = realloc(self->value[k], bytes);
            if (!self->value[k])
                cr_out_of_memory(bytes);
        }
        self->value[k][n] = v[i];
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

const double *cr_per_feature_sorted(const struct cr_transform_plan *p,
                                    int64_t k)
{
    const struct cr_per_feature *self = p->self;

    qsort(self->value[k], (size_t)self->seen[k], sizeof(double), by_value);
    return self->value[k];
}

void cr_per_feature_drop(const struct cr_transform_plan *p)
{
    const struct cr_per_feature *self = p->self;

    for (int64_t k = 0; k < self->n; k++) {
        free(self->value[k]);
        self->value[k] = NULL;
        self->seen[k] = 0;
    }
}

bool cr_per_feature_none(const struct cr_transform_plan *p, int64_t k)
{
    cr_error(p->diag, p->pos, CR_E_DATA_EMPTY,
             "column '%s': all values of %s are missing in the training "
             "data",
             p->column, cr_per_feature_name(p, k));
    cr_hint(p->diag, "remove it from the fields of the column");
    return false;
}

double cr_quantile(const double *sorted, int64_t n, double q)
{
    double at = q * (double)(n - 1), low = floor(at);
    int64_t i = (int64_t)low;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - low) * (sorted[i + 1] - sorted[i]);
}
