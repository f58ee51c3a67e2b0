#include "train/optim.h"

#include <string.h>

#define NUMBERS_MAX 8 /* maximum per optimizer */

struct numbers {
    struct cr_arena *arena;
    struct cr_tensor *to;
    int n;
};

static void *add(struct numbers *all, const char *name, enum cr_type type,
                 int rank)
{
    struct cr_tensor *t = &all->to[all->n++];

    t->name = name;
    t->spec = (struct cr_spec){ .type = type, .rank = rank, .dim = { 1 } };
    t->data = cr_alloc(all->arena, 1, cr_type_size(type));
    return t->data;
}

static void add_real(struct numbers *all, const char *name, int rank,
                     double value)
{
    *(float *)add(all, name, CR_F32, rank) = (float)value;
}

static void add_count(struct numbers *all, const char *name, int rank,
                      int64_t value)
{
    *(int32_t *)add(all, name, CR_I32, rank) =
        value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* One multiplication per update, each rounded to float32, as in MindSpore.
 * Stops when rounding makes the product constant. */
static double power(double base, int64_t updates)
{
    float factor = (float)base, product = 1, before = 0;

    for (int64_t i = 0; i < updates && product != before; i++) {
        before = product;
        product *= factor;
    }
    return (double)product;
}

const struct cr_tensor *cr_optim_numbers(struct cr_arena *arena,
                                         struct cr_diag *diag,
                                         const struct cr_node *node,
                                         int64_t updates, double factor, int *n)
{
    struct numbers all = { .arena = arena };
    const struct cr_optim_common *opts;
    const struct cr_optim *optim;
    struct cr_obj obj;

    *n = 0;
    if (!cr_obj_read(arena, diag, CR_KIND_OPTIM, node, &obj))
        return NULL;
    optim = (const struct cr_optim *)obj.about;
    if (optim->inner) {
        obj = *optim->inner(obj.opts);
        optim = (const struct cr_optim *)obj.about;
    }
    opts = obj.opts;
    all.to = CR_NEWS(arena, struct cr_tensor, NUMBERS_MAX);
    if (optim->counter) {
        add_count(&all, optim->counter, 0, updates);
    } else {
        add_count(&all, "global_step", 1, updates);
        if (opts->learning_rate.is_number)
            add_real(&all, "learning_rate", 0,
                     opts->learning_rate.number * factor);
    }
    for (const struct cr_optim_number *k = optim->numbers; k && k->name; k++) {
        double option =
            *(const double *)(const void *)((const char *)opts + k->at);

        add_real(&all, k->name, k->rank,
                 k->power ? power(option, updates) : option);
    }
    *n = all.n;
    return all.to;
}
