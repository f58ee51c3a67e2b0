/*
 * Makes and checks everything a run needs before its first step. It continues
 * after errors, so that one run reports all of them.
 */
#include "train/print.h"
#include "train/print.h"
#include "train/step_plan.h"
#include "train/train.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked_math.h"

/* ---- Intervals */

struct cr_interval cr_train_interval(const struct cr_train *t,
                                     const struct cr_quantity *quantity)
{
    double value = quantity->value;

    switch (quantity->unit) {
    case CR_SECONDS:
        return (struct cr_interval){ .seconds = value };
    case CR_EPOCHS:
        value *= (double)t->per_epoch / (double)t->grad_accum;
        if (t->grad_accum > 1)
            return (struct cr_interval){ .steps =
                                             fmax(value, /* at least one
                                                            batch */
                                                  1 / (double)t->grad_accum),
                                         .within = true };
        break;
    case CR_SAMPLES:
        value /= (double)t->plans.batch * (double)t->grad_accum;
        break;
    case CR_PERCENT:
        value *= (double)t->total / 100;
        break;
    default:
        break;
    }
    return (struct cr_interval){ .steps = value > 1 ? value : 1 };
}

double cr_interval_ceil(double x)
{
    double whole = nearbyint(x);

    return fabs(x - whole) <= 1e-12 * fmax(1, fabs(whole)) ? whole : ceil(x);
}

/* Multiples of `steps` from `step` on and before the next one. */
int64_t cr_interval_times(const struct cr_interval *every, int64_t step,
                          int64_t *first)
{
    double from = cr_interval_ceil((double)step / every->steps);
    double to = cr_interval_ceil((double)(step + 1) / every->steps);

    if (from < 1)
        from = 1;
    *first = (int64_t)from;
    return to > from ? (int64_t)(to - from) : 0;
}

bool cr_interval_due(const struct cr_interval *every, int64_t step)
{
    int64_t first;

    if (every->within)
        return cr_interval_times(every, step, &first) > 0;
    return every->steps > 0 && step > 0 &&
           floor((double)step / every->steps) !=
               floor((double)(step - 1) / every->steps);
}

static bool prepare_amount(struct cr_train *t, const char *section,
                           const struct cr_quantity *quantity)
{
    const struct cr_node *node;

    if (quantity->value > 0)
        return true;
    node = cr_node_get(cr_section(t->config, section), "every");
    return cr_error(t->diag, node ? node->pos : CR_NOWHERE, CR_E_OUT_OF_RANGE,
                    "'%s.every': expected a value above 0", section);
}

/* ---- Sections */

static bool prepare_histograms(struct cr_train *t)
{
    const struct cr_quantity *every = &t->log.histograms;
    const struct cr_node *node =
        cr_node_get(cr_section(t->config, "log"), "histograms");

    return every->unit == CR_UNIT_NONE ||
           (every->value > 0 && every->unit != CR_SECONDS) ||
           cr_error(t->diag, node ? node->pos : CR_NOWHERE, CR_E_OUT_OF_RANGE,
                    "'log.histograms': expected off or a number of steps, "
                    "epochs, samples or percent above 0");
}

/* A fallback needs checkpoints that can be resumed. */
static bool prepare_nan(struct cr_train *t)
{
    const struct cr_node *node =
        cr_node_get(cr_section(t->config, "train"), "nan");

    if (t->train.nan != CR_NAN_FALLBACK ||
        !(t->flags.no_ckpt || t->checkpoint.weights_only))
        return true;
    return cr_error(
        t->diag, node ? node->pos : CR_NOWHERE, CR_E_CONFLICT,
        "'train.nan: fallback' needs checkpoints that can be resumed, but %s",
        t->flags.no_ckpt ? "--no-ckpt writes none"
                         : "'checkpoint.weights_only' saves only weights");
}

/* eval.use_ema has no effect without train.ema. */
static void prepare_means(struct cr_train *t)
{
    const struct cr_node *node = cr_node_find(t->config->root, "eval.use_ema");

    if (t->eval_opts.use_ema && !(t->train.ema.decay > 0))
        cr_warn(t->diag, node ? node->pos : CR_NOWHERE, CR_E_NO_MATCH,
                "'eval.use_ema' has no effect: set train.ema to keep averages; "
                "the raw parameters are evaluated");
}

static bool prepare_command(struct cr_train *t)
{
    const struct cr_node *node = cr_node_find(t->config->root,
                                              "run.exec_on_eval");

    return !t->run.exec_on_eval || !node ||
           cr_config_may(t->config, CR_RUN_COMMAND, t->run.exec_on_eval,
                         node->pos);
}

static bool prepare_sections(struct cr_train *t)
{
    static const char *const needed[] = { "dataset", "network", "loss",
                                          "optimizer" };
    struct cr_config *c = t->config;
    bool ok = cr_config_check(c);

    for (size_t i = 0; i < CR_LEN(needed); i++)
        if (!cr_section(c, needed[i]))
            ok = cr_error(t->diag, c->root->pos, CR_E_MISSING_SECTION,
                          "the section '%s' is missing", needed[i]);
    ok = cr_seed_read(c, &t->seed) && ok;
    ok = cr_section_read(c, "eval", &t->eval_opts) &&
         prepare_amount(t, "eval", &t->eval_opts.every) && ok;
    ok = cr_section_read(c, "checkpoint", &t->checkpoint) &&
         prepare_amount(t, "checkpoint", &t->checkpoint.every) && ok;
    ok = cr_section_read(c, "log", &t->log) &&
         prepare_amount(t, "log", &t->log.every) && ok;
    ok = prepare_histograms(t) && ok;
    ok = cr_section_read(c, "run", &t->run) && ok;
    ok = prepare_command(t) && ok;
    ok = cr_train_read(c, &t->train) &&
         cr_time_limit_read(c, &t->train, &t->time_limit) && ok;
    ok = prepare_nan(t) && ok;
    prepare_means(t);
    return cr_threads_start(c, t->cli->threads) && ok;
}

/* The run's name must be a single component of a path. */
static bool prepare_name(struct cr_train *t)
{
    const struct cr_node *node =
        cr_node_get(cr_section(t->config, "run"), "name");

    t->name = t->run.name ? t->run.name : t->config->name;
    if (*t->name && !strchr(t->name, '/') && *t->name != '.')
        return true;
    return cr_error(t->diag, node ? node->pos : CR_NOWHERE, CR_E_OUT_OF_RANGE,
                    "'run.name': found '%s', expected a name without '/' that "
                    "does not begin with a dot",
                    t->name);
}

/* ---- Data */

struct cr_data_loader_opts
cr_train_loader_opts(const struct cr_train_section *train, uint64_t seed)
{
    struct cr_data_loader_opts want = { .split = "train",
                                        .train = true,
                                        .seed = seed };

    if (train->overfit_batches != CR_INT_NONE)
        want.overfit_batches = train->overfit_batches;
    if (train->limit.unit == CR_PERCENT)
        want.limit_fraction = train->limit.value / 100;
    else if (train->limit.unit != CR_UNIT_NONE)
        want.limit = (int64_t)fmin(train->limit.value, 1e18);
    return want;
}

static bool prepare_data(struct cr_train *t)
{
    struct cr_data_loader_opts want = cr_train_loader_opts(&t->train, t->seed);
    bool ok = true;

    t->loader = cr_data_loader_open(t->config, &want);
    if (t->loader && t->train.limit.unit != CR_UNIT_NONE)
        cr_data_loader_warn_class(
            t->loader, cr_data_loader_samples(t->loader),
            cr_node_get(cr_section(t->config, "train"), "limit"),
            "train.limit");
    if (cr_data_loader_has(t->config, "eval")) {
        want = (struct cr_data_loader_opts){ .split = "eval",
                                             .seed = t->seed,
                                             .batch_size =
                                                 t->eval_opts.batch_size };
        t->eval_loader = cr_data_loader_open(t->config, &want);
        ok = t->eval_loader != NULL;
        if (ok)
            cr_eval_part(t->config, t->eval_loader, t->eval_opts.max_batches);
    }
    return t->loader && ok;
}

/* ---- Network and plans */

bool cr_train_may_skip(const struct cr_train *t)
{
    return t->optim.scale.on || t->train.nan == CR_NAN_SKIP;
}

bool cr_train_needs_gradients(const struct cr_train *t)
{
    return cr_plans_need_gradients(&t->train, &t->log, &t->optim);
}

static bool prepare_net(struct cr_train *t, const struct cr_column **columns)
{
    struct cr_net_opts want = { .seed = t->seed,
                                .loss = true,
                                .metrics = t->eval_loader && t->metrics.blocks,
                                .no_values = t->flags.check,
                                .loaded = t->flags.ckpt != NULL,
                                .print =
                                    cr_print_open(t->config, &t->console) };

    *columns = cr_data_loader_columns(t->loader, &t->n_columns);
    want.columns = *columns;
    want.n_columns = t->n_columns;
    want.batch = cr_data_loader_batch_size(t->loader);
    want.classes = cr_data_loader_dataset(t->loader)->classes;
    t->net = cr_net_build(t->config, &want);
    if (!t->net || !cr_optim_rule(t->config, t->net, false, &t->optim))
        return false;
    if (!cr_hook_recorder_observe(t->config, t->net, t, CR_IN_EVAL))
        return false;
    t->grad_accum = t->train.grad_accumulation;
    cr_net_grad_accum(t->net, t->grad_accum);
    t->aux_names = cr_net_aux(t->net, &t->n_aux);
    t->aux = CR_NEWS(t->arena, double, t->n_aux + 1);
    return true;
}

static bool prepare_steps(struct cr_train *t)
{
    struct cr_exec_opts want = cr_plans_train(cr_train_needs_gradients(t),
                                              t->flags.eager || t->run.eager);

    if (!cr_plans_make(&t->plans, t->net, &want, t->loader))
        return false;
    if (t->profile)
        cr_profile_start(&t->plans);
    return true;
}

static bool prepare_plans(struct cr_train *t, const struct cr_column *columns)
{
    struct cr_eval_opts eval = { .loader = t->eval_loader,
                                 .metrics = &t->metrics,
                                 .columns = columns,
                                 .n_columns = t->n_columns,
                                 .outcomes = cr_train_outcomes_open(t),
                                 .eager = t->flags.eager };

    if (!prepare_steps(t))
        return false;
    if (!t->eval_loader)
        return true;
    eval.max_batches = t->eval_opts.max_batches;
    t->eval = cr_eval_open(t->config, t->net, &eval);
    return t->eval != NULL;
}

/* ---- Unfreezing */

int64_t cr_train_unfreeze_step(const struct cr_train *t,
                               const struct cr_unfreeze_rule *rule)
{
    return (int64_t)fmin(ceil(cr_train_interval(t, &rule->at).steps), 1e18);
}

static bool prepare_again(struct cr_train *t)
{
    if (t->profile)
        cr_profile_add(t->profile, &t->plans);
    cr_plans_free(&t->plans);
    cr_hook_recorder_forget(t->recorder);
    return prepare_steps(t);
}

bool cr_train_unfreeze(struct cr_train *t)
{
    int n, i, before = t->n_unfrozen;
    const struct cr_unfreeze_rule *rules = cr_net_unfreeze_rules(t->net, &n);

    for (i = t->n_unfrozen;
         i < n && cr_train_unfreeze_step(t, &rules[i]) <= t->state.step; i++)
        cr_net_unfreeze(t->net, i);
    t->n_unfrozen = i;
    if (i == before)
        return true;
    return prepare_again(t);
}

bool cr_train_refreeze(struct cr_train *t)
{
    if (t->n_unfrozen == 0)
        return true;
    cr_net_freeze_again(t->net);
    t->n_unfrozen = 0;
    return prepare_again(t) && cr_train_unfreeze(t);
}

/* Unfreeze rules must be in order, and in units that determine their step. */
static bool prepare_unfreeze(struct cr_train *t)
{
    int n, i;
    const struct cr_unfreeze_rule *rules = cr_net_unfreeze_rules(t->net, &n);
    bool ok = true;

    for (i = 0; i < n; i++)
        if (rules[i].at.unit == CR_SECONDS)
            ok = cr_error(t->diag, rules[i].pos, CR_E_OUT_OF_RANGE,
                          "'at': found a time, expected steps, epochs, samples "
                          "or percent: a resumed run would differ");
        else if (i > 0 && cr_train_unfreeze_step(t, &rules[i]) <
                              cr_train_unfreeze_step(t, &rules[i - 1]))
            ok = cr_error(t->diag, rules[i].pos, CR_E_OUT_OF_RANGE,
                          "this entry of 'freeze.schedule' is due before the "
                          "previous one; order entries by 'at'");
    return ok;
}

/* ---- Metrics that select or stop */

/* Whether larger values are better, for the decision `what` at `node`. */
static bool prepare_maximize(struct cr_train *t, const struct cr_node *node,
                             const char *what, int mode,
                             const struct cr_metric_use *use)
{
    if (mode == CR_MODE_AUTO && use->metric->undirected)
        cr_warn(t->diag, node ? node->pos : CR_NOWHERE, CR_E_MISSING_KEY,
                "%s: assuming that smaller values of '%s' are better; set mode "
                "to min or max",
                what, use->name);
    return mode == CR_MODE_AUTO ? cr_metric_maximize(use) : mode == CR_MODE_MAX;
}

/* Finds a metric for the key `what` at `node`; NULL after reporting an
 * error. */
static const struct cr_metric_use *prepare_metric(struct cr_train *t,
                                                  const struct cr_node *node,
                                                  const char *what,
                                                  const char *name)
{
    const struct cr_metric_use *use =
        cr_metrics_find(&t->metrics, cr_score_bare(name));
    struct cr_pos pos = node ? node->pos : CR_NOWHERE;
    struct cr_buf known = { .arena = t->arena };
    const char **names;

    if (!t->eval_loader) {
        cr_error(t->diag, pos, CR_E_CONFLICT,
                 "'%s' needs an evaluation, but 'dataset.eval' is missing",
                 what);
        return NULL;
    }
    if (use && cr_metric_single(use->metric))
        return use;
    names = CR_NEWS(t->arena, const char *, t->metrics.n + 1);
    for (int i = 0; i < t->metrics.n; i++) {
        names[i] = t->metrics.use[i].name;
        cr_buf_f(&known, " %s", names[i]);
    }
    cr_error(t->diag, pos, CR_E_NO_MATCH,
             use ? "metric '%s' is not a single number"
                 : "metric '%s' not found",
             cr_quote(t->arena, name, strlen(name)));
    if (!use && cr_closest_name(name, names))
        cr_hint(t->diag, "did you mean '%s'?", cr_closest_name(name, names));
    else if (!use && t->metrics.n > 0)
        cr_note(t->diag, "metrics:%s", cr_buf_text(&known));
    return NULL;
}

static const struct cr_node *prepare_node(const struct cr_train *t,
                                          const char *section, const char *sub,
                                          const char *key)
{
    return cr_node_get(cr_node_get(cr_section(t->config, section), sub), key);
}

static bool prepare_plateau(struct cr_train *t)
{
    const struct cr_lr *lr = &t->optim.lr;
    const struct cr_node *node = t->optim.opts->learning_rate.node;
    const struct cr_node *args =
        lr->schedule ? cr_node_get(node, lr->schedule->about.name) : NULL;
    const struct cr_node *monitor = cr_node_get(args, "monitor");
    const struct cr_metric_use *use;

    t->plateau = cr_lr_plateau(lr);
    if (!t->plateau)
        return true;
    t->optim.lr.plateau = &t->state.plateau;
    use = prepare_metric(t, monitor ? monitor : node, lr->schedule->about.name,
                         t->plateau->monitor);
    if (use)
        t->plateau_max =
            prepare_maximize(t, monitor ? monitor : node,
                             lr->schedule->about.name, t->plateau->mode, use);
    return use != NULL;
}

/* Early stopping needs both keys; warns if one or both are missing. */
static void prepare_early(struct cr_train *t)
{
    const struct cr_node *early =
        cr_node_get(cr_section(t->config, "train"), "early_stop");
    bool patience = cr_node_get(early, "patience");

    if (!early || (patience && t->train.early_stop.monitor) ||
        (patience && t->train.early_stop.patience == 0))
        return;
    cr_warn(t->diag, early->pos, CR_E_MISSING_KEY,
            "'train.early_stop' has no effect: '%s' is not set",
            patience ? "monitor" : "patience");
    cr_hint(t->diag, "early_stop: {monitor: %s, patience: 5}",
            t->train.early_stop.monitor ? t->train.early_stop.monitor
                                        : "loss");
}

static bool prepare_deciders(struct cr_train *t)
{
    const struct cr_metric_use *early;
    bool ok = true;

    if (t->checkpoint.best.metric) {
        t->best =
            prepare_metric(t, prepare_node(t, "checkpoint", "best", "metric"),
                           "checkpoint.best", t->checkpoint.best.metric);
        ok = t->best != NULL;
    } else if (t->eval_loader) {
        for (int i = 0; i < t->metrics.n; i++) {
            const struct cr_metric_use *use = &t->metrics.use[i];

            /* skip metrics without a direction: thresholds and auxiliary
             * values */
            if (!cr_metric_single(use->metric) || use->metric->cut ||
                use->metric->undirected)
                continue;
            if (!t->best || strcmp(t->best->name, "loss") == 0)
                t->best = use;
        }
    }
    prepare_early(t);
    if (t->best)
        t->best_max = prepare_maximize(
            t, prepare_node(t, "checkpoint", "best", "metric"),
            "checkpoint.best", t->checkpoint.best.mode, t->best);
    if (t->train.early_stop.monitor) {
        early =
            prepare_metric(t, prepare_node(t, "train", "early_stop", "monitor"),
                           "train.early_stop", t->train.early_stop.monitor);
        ok = early && ok;
        if (early && t->train.early_stop.patience > 0)
            t->early_max = prepare_maximize(
                t, prepare_node(t, "train", "early_stop", "monitor"),
                "train.early_stop", t->train.early_stop.mode, early);
    }
    return ok;
}

/* ---- The whole run */

/* Sets the lengths of the run, which schedules refer to. */
static bool prepare_span(struct cr_train *t)
{
    struct cr_run_steps run = { .per_epoch = (double)t->per_epoch /
                                             (double)t->grad_accum,
                                .total = t->total };

    return cr_optim_bind(t->diag, &t->optim, &run);
}

bool cr_train_total(struct cr_diag *diag, const struct cr_train_section *train,
                    int64_t per_epoch, int64_t *total)
{
    if (train->steps != CR_INT_NONE)
        *total = train->steps;
    else if (!cr_checked_mul(total, train->epochs, per_epoch))
        return cr_error(diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                        "'train.epochs': too many steps");
    else if ((*total /= train->grad_accumulation) == 0)
        return cr_error(diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                        "'train.grad_accumulation' is %" PRId64
                        ", but the run has fewer batches",
                        train->grad_accumulation);
    return true;
}

/* The last step of train.stop_after; INT64_MAX: the run continues to its
 * end. */
static int64_t prepare_stop_after(const struct cr_train *t)
{
    const struct cr_quantity *stop = &t->train.stop_after;
    struct cr_interval steps;

    if (stop->unit == CR_UNIT_NONE)
        return INT64_MAX;
    steps = cr_train_interval(t, stop);
    return steps.steps < 1 ? 1 : steps.steps < 0x1p53 ? (int64_t)steps.steps
                                                      : INT64_MAX;
}

static bool prepare_lengths(struct cr_train *t)
{
    t->per_epoch = cr_data_loader_batches(t->loader);
    assert(t->per_epoch > 0);
    if (!cr_train_total(t->diag, &t->train, t->per_epoch, &t->total))
        return false;
    t->eval_every = cr_train_interval(t, &t->eval_opts.every);
    t->save_every = cr_train_interval(t, &t->checkpoint.every);
    t->log_every = cr_train_interval(t, &t->log.every);
    t->stop_after = prepare_stop_after(t);
    return true;
}

/* The metrics that --require can name. */
static const char *const *prepare_metric_names(const struct cr_train *t)
{
    const char **names = CR_NEWS(t->arena, const char *, t->metrics.n + 1);

    for (int i = 0, n = 0; i < t->metrics.n; i++)
        if (cr_metric_single(t->metrics.use[i].metric))
            names[n++] = t->metrics.use[i].name;
    return names;
}

bool cr_train_prepare(struct cr_train *t)
{
    const struct cr_column *columns = NULL;
    bool ok = prepare_sections(t);

    if (t->flags.profile) {
        t->profile = CR_NEW(t->arena, struct cr_profile);
        t->profile->parts.arena = t->arena;
    }
    ok = prepare_name(t) && ok;
    t->require = cr_require_read(t->diag, t->flags.require);
    ok = (t->require || !t->flags.require) && ok;
    if (!cr_section(t->config, "dataset"))
        return false;
    ok = prepare_data(t) && ok;
    if (!t->loader)
        return false;
    columns = cr_data_loader_columns(t->loader, &t->n_columns);
    ok = cr_metrics_read(t->config,
                         cr_label_classifies(t->config, columns, t->n_columns),
                         &t->metrics) &&
         ok;
    ok = prepare_deciders(t) && ok;
    ok = cr_require_check(t->diag, t->require, true, cr_train_value, t,
                          prepare_metric_names(t)) &&
         ok;
    if (cr_section(t->config, "network") && cr_section(t->config, "loss") &&
        cr_section(t->config, "optimizer"))
        ok = prepare_net(t, &columns) && prepare_plateau(t) && ok;
    if (!ok || t->diag->errors > 0)
        return false;
    t->id = cr_config_id(t->config);
    t->yaml = cr_config_yaml(t->config, false, false);
    if (!prepare_plans(t, columns) || !prepare_lengths(t) || !prepare_span(t) ||
        !prepare_unfreeze(t))
        return false;
    return cr_train_lint(t) && cr_hook_recorder_open(t, &t->recorder) &&
           cr_text_samples_read(t, &t->text_samples);
}

void cr_train_close(struct cr_train *t)
{
    cr_eval_close(t->eval);
    cr_train_outcomes_close(t);
    cr_hook_recorder_forget(t->recorder);
    cr_text_samples_close(t->text_samples);
    cr_plans_free(&t->plans);
    if (t->loader)
        cr_data_loader_close(t->loader);
    if (t->eval_loader)
        cr_data_loader_close(t->eval_loader);
    cr_train_close_records(t);
    cr_rundir_close(&t->dir);
}
