/*
 * Class names and class weights of the training data. Losses use them
 * (build/loss.c) while a network is built; the functions are declared in
 * conf/config.h, because net and data do not include each other.
 *
 * With `weight: balanced` class c gets the weight n / (classes * count of c),
 * over all labels of the training split after the datapipe; train.limit has no
 * effect. The weights are stored with the statistics that transforms fit
 * (fit.c), so that checkpoints contain them and a network is built from a
 * checkpoint without the data.
 */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "data/data_loader_internal.h"

/* Counts the labels of each class; reads the label column only. */
static bool class_stats_count(struct cr_data_loader *p, struct cr_diag *diag,
                              int k, int64_t classes, int64_t *count)
{
    const struct cr_column_pipeline *c = p->op[k];
    int64_t each = cr_count(&c->out);
    char *scratch = cr_alloc(p->arena, 1, p->scratch_bytes + 64);
    int32_t *label = cr_alloc(p->arena, (size_t)each + 16, sizeof *label);

    for (int64_t i = 0; i < p->sampler.n; i++) {
        int64_t sample = p->sampler.pool ? p->sampler.pool[i] : i;
        struct cr_arena mem = { 0 };
        struct cr_spec spec;
        const void *x = cr_reader_get(p->reader, diag, &mem, sample, k,
                                      scratch + c->scratch_bytes, &spec);
        bool ok =
            x && cr_column_pipeline_run(c, diag, 0, sample, x, label, scratch);

        cr_arena_free(&mem);
        if (x && !ok)
            cr_sample_note(&p->set, diag, sample, k);
        if (!ok)
            return false;
        for (int64_t m = 0; m < each; m++)
            if (label[m] >= 0 && label[m] < classes)
                count[label[m]]++;
    }
    return true;
}

static bool class_stats_read(struct cr_config *config, struct cr_pos pos,
                             const char *column, int64_t classes,
                             int64_t *count)
{
    struct cr_data_loader_opts want = { .split = "train", .train = true };
    struct cr_data_loader *p = cr_data_loader_open(config, &want);
    bool ok = p != NULL;
    int k = 0;

    if (!p)
        return false;
    while (k < p->set.columns && strcmp(p->set.column[k].name, column) != 0)
        k++;
    if (k == p->set.columns || p->op[k]->out.type != CR_I32)
        ok = cr_error(config->diag, pos, CR_E_DTYPE,
                      "'balanced': column '%s' of int32 labels not found in "
                      "dataset.train",
                      column);
    ok = ok && cr_data_loader_load(p, config->diag) &&
         class_stats_count(p, config->diag, k, classes, count);
    cr_data_loader_close(p);
    return ok;
}

static void class_stats_weigh(struct cr_config *config, struct cr_pos pos,
                              int64_t classes, const int64_t *count, double *to)
{
    int64_t n = 0;

    for (int64_t c = 0; c < classes; c++)
        n += count[c];
    for (int64_t c = 0; c < classes; c++) {
        if (count[c] == 0)
            cr_warn(config->diag, pos, CR_E_DATA_RANGE,
                    "class %" PRId64
                    " has no training samples; its weight is set to 0",
                    c);
        to[c] = count[c] ? (double)n / ((double)classes * (double)count[c])
                         : 0;
    }
}

const double *cr_class_weights(struct cr_config *config, struct cr_pos pos,
                               const char *column, int64_t classes)
{
    const char *name = cr_strf(config->arena, "%s.balanced", column);
    struct cr_fitted *f = cr_fitted_find(config, name, classes);
    int64_t *count;

    if (!f) {
        cr_error(config->diag, pos, CR_E_CONFLICT,
                 "'balanced' is used with different class counts for column "
                 "'%s'",
                 column);
        return NULL;
    }
    if (f->ready)
        return f->value;
    if (!cr_node_get(cr_section(config, "dataset"), "train")) {
        cr_error(config->diag, pos, CR_E_MISSING_SECTION,
                 "'balanced' needs dataset.train to count the classes");
        return NULL;
    }
    count = CR_NEWS(config->arena, int64_t, classes);
    if (!class_stats_read(config, pos, column, classes, count))
        return NULL;
    class_stats_weigh(config, pos, classes, count, f->value);
    f->ready = true;
    return f->value;
}

const struct cr_strs *cr_config_classes(struct cr_config *config)
{
    const struct cr_strs *known = *cr_config_object(config, "class names");

    return known ? known : &config->classes;
}

int64_t cr_config_class(struct cr_config *config, const char *name)
{
    const struct cr_strs *known = cr_config_classes(config);

    for (int i = 0; i < known->n; i++)
        if (strcmp(known->v[i], name) == 0)
            return i;
    return -1;
}

void cr_data_loader_warn_class(const struct cr_data_loader *p, int64_t n,
                               const struct cr_node *node, const char *what)
{
    const struct cr_dataset *set = &p->set;
    const struct cr_sampler *o = &p->sampler;
    int k = cr_data_loader_labels(p);
    int32_t first = 0, label;

    /* images are often sorted by class, and only their data sets know it
     * without decoding the sample */
    if (set->varying_shapes == 0 || k < 0 || set->classes < 2 ||
        n >= set->count || set->column[k].spec.type != CR_I32 ||
        set->column[k].spec.rank > 0)
        return;
    n = n < o->n ? n : o->n;
    for (int64_t i = 0; i < n; i++) {
        if (!set->type->read((struct cr_dataset *)(uintptr_t)set,
                             p->config->diag, o->pool ? o->pool[i] : i, k,
                             &label))
            return;
        if (i == 0)
            first = label;
        else if (label != first)
            return;
    }
    if (n < 2 || first < 0 || first >= set->classes)
        return;
    cr_warn(p->config->diag, node ? node->pos : p->pos, CR_E_DATA_RANGE,
            "%s: all %" PRId64 " samples of dataset.%s are of class %s", what,
            n, p->want.split,
            set->class_names ? set->class_names[first]
                             : cr_strf(p->config->arena, "%" PRId32, first));
    cr_hint(p->config->diag, "the samples are sorted by class; use "
                             "dataset.split to hold out samples of every "
                             "class");
}

void cr_data_loader_name_classes(struct cr_config *config,
                                 const struct cr_dataset *set)
{
    struct cr_strs *names = CR_NEW(config->arena, struct cr_strs);
    const char **v;

    if (!set->class_names)
        return;
    v = CR_NEWS(config->arena, const char *, set->classes + 1);
    for (int64_t i = 0; i < set->classes; i++)
        v[i] = cr_strdup(config->arena, set->class_names[i]);
    names->v = v;
    names->n = (int)set->classes;
    *cr_config_object(config, "class names") = names;
}
