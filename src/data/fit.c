/*
 * Fits transforms to the training samples before the first batch (Standardize):
 * one pass over the samples for each such transform, in stored order, so that
 * the fitted values depend only on the data and the split.
 */
#include "data/data_loader_internal.h"

#include "base/str.h"
#include "data/features.h"

#include <string.h>

static bool unfitted(const struct cr_data_loader *p)
{
    for (int k = 0; k < p->set.columns; k++)
        if (cr_column_pipeline_unfitted(p->op[k]) >= 0)
            return true;
    return false;
}

/* Checks that all samples have one shape: features of images of several sizes
 * do not correspond. */
static bool one_shape(struct cr_data_loader *p, struct cr_diag *diag, int k,
                      int op, int64_t sample, const struct cr_spec *spec)
{
    const struct cr_column_pipeline *c = p->op[k];

    return cr_spec_same(spec, &c->in) ||
           cr_error(diag, cr_sample_pos(&p->set, diag->arena, sample, k),
                    CR_E_DATA_FORMAT,
                    "%s is fitted on samples of one shape, but this one is %s "
                    "and the first is %s",
                    c->op[op]->about.name, cr_diag_format(diag->arena, spec),
                    cr_diag_format(diag->arena, &c->in));
}

static bool fit_op(struct cr_data_loader *p, struct cr_diag *diag, int k,
                   int op, char *scratch)
{
    const struct cr_column_pipeline *c = p->op[k];
    bool ok = true;
    int64_t i;

    for (i = 0; i < p->sampler.n && ok; i++) {
        int64_t sample = p->sampler.pool ? p->sampler.pool[i] : i;
        struct cr_arena mem = { 0 };
        struct cr_spec spec;
        const void *x = cr_reader_get(p->reader, diag, &mem, sample, k,
                                      scratch + c->scratch_bytes, &spec);

        ok = x && one_shape(p, diag, k, op, sample, &spec) &&
             cr_column_pipeline_fit(c, diag, op, sample, x, scratch);

        cr_arena_free(&mem);
        if (x && !ok)
            cr_sample_note(&p->set, diag, sample, k);
    }
    return cr_column_pipeline_fit_end(c, op, ok);
}

static bool fit(struct cr_data_loader *p, struct cr_diag *diag)
{
    char *scratch = cr_alloc(p->arena, 1, p->scratch_bytes + 64);
    int k, op;

    for (k = 0; k < p->set.columns; k++)
        while ((op = cr_column_pipeline_unfitted(p->op[k])) >= 0)
            if (!fit_op(p, diag, k, op, scratch))
                return false;
    return true;
}

/* Fits with a data loader of the training data, if this one has other data. */
static bool fit_elsewhere(struct cr_data_loader *p, struct cr_diag *diag)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = p->want.seed };
    struct cr_diag *own = p->config->diag;
    struct cr_data_loader *train;
    bool ok;

    p->config->diag = diag;
    train = cr_data_loader_open(p->config, &want);
    p->config->diag = own;
    ok = train && cr_data_loader_prepare(train, diag);
    cr_data_loader_close(train);
    return ok;
}

bool cr_data_loader_prepare(struct cr_data_loader *p, struct cr_diag *diag)
{
    if (p->prepared)
        return true;
    /* fitted values of a checkpoint may have been read after the data loader
     * was planned */
    for (int k = 0; k < p->set.columns; k++)
        for (int i = 0; i < p->op[k]->n; i++)
            if (p->op[k]->plan[i].fitted)
                cr_fitted_find(p->config, p->op[k]->plan[i].fitted->name,
                               p->op[k]->plan[i].fitted->n);
    if (!cr_data_loader_load(p, diag))
        return false;
    if (unfitted(p) &&
        !(p->want.train ? fit(p, diag) : fit_elsewhere(p, diag)))
        return false;
    p->prepared = true;
    return true;
}

bool cr_data_loader_texts(struct cr_data_loader *p, struct cr_diag *diag,
                          const char *column,
                          bool (*each)(void *ctx, const char *text, size_t len),
                          void *ctx)
{
    int64_t i;
    int k;

    for (k = 0; k < p->set.columns; k++)
        if (strcmp(p->set.column[k].name, column) == 0)
            break;
    if (k == p->set.columns || p->set.column[k].spec.type != CR_STRING)
        return cr_error(diag, p->pos, CR_E_DTYPE,
                        "dataset.%s: text column '%s' not found", p->want.split,
                        column);
    for (i = 0; i < p->sampler.n; i++) {
        int64_t sample = p->sampler.pool ? p->sampler.pool[i] : i;
        struct cr_arena mem = { 0 };
        struct cr_ragged text;
        bool read = p->set.type->text(&p->set, diag, sample, k, &mem, &text);
        bool ok = read && each(ctx, text.v, (size_t)text.n);

        cr_arena_free(&mem);
        if (read && !ok)
            cr_sample_note(&p->set, diag, sample, k);
        if (!ok)
            return false;
    }
    return true;
}

static struct cr_node *fitted_list(struct cr_arena *arena,
                                   const struct cr_fitted *f)
{
    struct cr_node *list = CR_NEW(arena, struct cr_node), **last = &list->child;

    list->kind = CR_NODE_LIST;
    list->key = f->name;
    for (int64_t m = 0; m < f->n; m++) {
        struct cr_node *number = CR_NEW(arena, struct cr_node);

        number->kind = CR_NODE_REAL;
        number->real = f->value[m];
        number->text = cr_real_text(arena, f->value[m]);
        *last = number;
        last = &number->next;
    }
    return list;
}

/* The class weights of `weight: balanced`, if a loss has requested them. */
static const struct cr_fitted *
fitted_class_weights(const struct cr_data_loader *p, struct cr_arena *arena,
                     int k)
{
    return *cr_config_object(
        p->config, cr_strf(arena, "fitted %s.balanced", p->set.column[k].name));
}

const struct cr_node *cr_data_loader_fitted(const struct cr_data_loader *p,
                                            struct cr_arena *arena)
{
    struct cr_node *map = CR_NEW(arena, struct cr_node), **end = &map->child;

    map->kind = CR_NODE_MAP;
    for (int k = 0; k < p->set.columns; k++) {
        const struct cr_features *of =
            p->op[k]->tabular ? cr_features_find(p->config, p->op[k]->name)
                            : NULL;

        if (of) {
            *end = cr_features_list(arena, p->op[k]->name, of);
            end = &(*end)->next;
        }
        for (int i = 0; i <= p->op[k]->n; i++) {
            const struct cr_fitted *f = i < p->op[k]->n
                                            ? p->op[k]->plan[i].fitted
                                            : fitted_class_weights(p, arena, k);

            if (!f || !f->ready || f->n == 0)
                continue;
            *end = fitted_list(arena, f);
            end = &(*end)->next;
        }
    }
    return map->child ? map : NULL;
}
