#include "train/lr_curve.h"

#include "base/str.h"
#include "train/prepare.h"
#include "train/train.h"

/* Batches per epoch, from the headers of the data; 0 after reporting an
 * error. */
static int64_t lr_curves_batches(struct cr_config *config, struct cr_diag *diag,
                                 const struct cr_train_section *train)
{
    struct cr_diag *own = config->diag;
    struct cr_data_loader_opts want;
    struct cr_data_loader *loader;
    uint64_t seed = 0;
    int64_t n = 0;

    if (!cr_section(config, "dataset")) {
        cr_error(
            diag, config->root->pos, CR_E_MISSING_SECTION,
            "unknown length of an epoch: the section 'dataset' is missing");
        return 0;
    }
    config->diag = diag;
    if (cr_seed_read(config, &seed)) {
        want = cr_train_loader_opts(train, seed);
        loader = cr_data_loader_open(config, &want);
        n = loader ? cr_data_loader_batches(loader) : 0;
        if (loader)
            cr_data_loader_close(loader);
    }
    config->diag = own;
    return n;
}

static bool lr_curves_span(struct cr_config *config, struct cr_optim_use *use,
                           const struct cr_train_section *train,
                           struct cr_run_steps *run)
{
    struct cr_diag quiet = { .arena = config->arena };
    bool free;
    int64_t batches;

    run->total = train->steps != CR_INT_NONE ? train->steps : 0;
    free = run->total > 0 && cr_optim_bind(&quiet, use, run);
    batches = lr_curves_batches(config, free ? &quiet : config->diag, train);
    if (batches == 0) {
        if (!free)
            cr_note(config->diag,
                    "learning rates in epochs or percent need the data set; or "
                    "use steps instead of epochs");
        return free;
    }
    run->per_epoch = (double)batches / (double)train->grad_accumulation;
    return cr_train_total(config, train, batches, &run->total) &&
           cr_optim_bind(config->diag, use, run);
}

static void lr_curves_curve(struct cr_arena *arena, struct cr_lr_curves *to,
                            const char *name, const struct cr_lr *lr)
{
    double *y = CR_NEWS(arena, double, to->n);

    for (int64_t i = 0; i < to->n; i++)
        y[i] = cr_lr_at(lr, i * to->stride);
    if (cr_lr_plateau(lr))
        name = cr_strf(arena, "%s (before evaluations reduce it)", name);
    to->curve[to->n_curves++] = (struct cr_plot_curve){ name, y };
}

bool cr_lr_curves_read(struct cr_config *config, struct cr_lr_curves *to)
{
    struct cr_arena *arena = config->arena;
    struct cr_train_section train = { 0 };
    struct cr_optim_use use;
    bool ok = cr_optim_read(config, &use);

    *to = (struct cr_lr_curves){ .stride = 1 };
    ok = cr_train_read(config, &train) && ok;
    if (!ok || !lr_curves_span(config, &use, &train, &to->run))
        return false;
    to->stride = (to->run.total + CR_LR_CURVE_MAX - 1) / CR_LR_CURVE_MAX;
    to->n = (to->run.total + to->stride - 1) / to->stride;
    to->curve = CR_NEWS(arena, struct cr_plot_curve, use.n_groups + 1);
    lr_curves_curve(arena, to, "learning_rate", &use.lr);
    for (int g = 0; g < use.n_groups; g++)
        if (use.group[g].has_lr)
            lr_curves_curve(arena, to,
                            cr_strf(arena, "learning_rate of %s",
                                    cr_patterns_text(use.group[g].patterns)),
                            &use.group[g].lr);
    return true;
}
