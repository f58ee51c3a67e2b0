/*
 * Makes and checks everything a run needs before its first step. It continues
 * after errors, so that one run reports all of them.
 */
#include "mpi/mpi.h"
#include "text/text.h"
#include "train/hook_recorder.h"
#include "train/lint.h"
#include "train/outcome_files.h"
#include "train/prepare.h"
#include "train/print.h"
#include "train/ranks.h"
#include "train/save.h"
#include "train/step_plan.h"
#include "train/train.h"
#include "train/unfreeze.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked_math.h"

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
    const struct cr_quantity *every = &t->opts.log.histograms;
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

    if (t->opts.train.nan != CR_NAN_FALLBACK ||
        !(t->flags.no_ckpt || t->opts.checkpoint.weights_only))
        return true;
    return cr_error(
        t->diag, node ? node->pos : CR_NOWHERE, CR_E_CONFLICT,
        "'train.nan: fallback' needs checkpoints that can be resumed, but %s",
        t->flags.no_ckpt ? "--no-ckpt writes none"
                         : "'checkpoint.weights_only' saves only weights");
}

/* A run resumes from the numbers that it has computed with. */
static bool prepare_dtype(struct cr_train *t)
{
    const struct cr_node *node =
        cr_node_find(t->config->root, "checkpoint.dtype");

    return !t->opts.checkpoint.dtype || t->opts.checkpoint.weights_only ||
           cr_error(t->diag, node ? node->pos : CR_NOWHERE, CR_E_CONFLICT,
                    "'checkpoint.dtype' needs 'checkpoint.weights_only: true': "
                    "a run cannot be resumed from rounded weights");
}

/* eval.use_ema has no effect without train.ema. */
static void prepare_means(struct cr_train *t)
{
    const struct cr_node *node = cr_node_find(t->config->root, "eval.use_ema");

    if (t->opts.eval.use_ema && !(t->opts.train.ema.decay > 0))
        cr_warn(t->diag, node ? node->pos : CR_NOWHERE, CR_E_NO_MATCH,
                "'eval.use_ema' has no effect: set train.ema to keep averages; "
                "the raw parameters are evaluated");
}

static bool prepare_command(struct cr_train *t)
{
    const struct cr_node *node = cr_node_find(t->config->root,
                                              "run.exec_on_eval");

    return !t->opts.run.exec_on_eval || !node ||
           cr_config_may(t->config, CR_RUN_COMMAND, t->opts.run.exec_on_eval,
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
    ok = cr_seed_read(c, &t->opts.seed) && ok;
    ok = cr_section_read(c, "eval", &t->opts.eval) &&
         prepare_amount(t, "eval", &t->opts.eval.every) && ok;
    ok = cr_section_read(c, "checkpoint", &t->opts.checkpoint) &&
         prepare_amount(t, "checkpoint", &t->opts.checkpoint.every) && ok;
    ok = cr_section_read(c, "log", &t->opts.log) &&
         prepare_amount(t, "log", &t->opts.log.every) && ok;
    ok = prepare_histograms(t) && ok;
    ok = cr_section_read(c, "run", &t->opts.run) && ok;
    ok = prepare_command(t) && ok;
    ok = cr_train_read(c, &t->opts.train) &&
         cr_time_limit_read(c, &t->opts.train, &t->length.time_limit) && ok;
    ok = prepare_nan(t) && ok;
    ok = prepare_dtype(t) && ok;
    prepare_means(t);
    return cr_threads_start(c, t->cli->threads) && ok;
}

/* The run's name must be a single component of a path. */
static bool prepare_name(struct cr_train *t)
{
    const struct cr_node *node =
        cr_node_get(cr_section(t->config, "run"), "name");

    t->name = t->opts.run.name ? t->opts.run.name : t->config->name;
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
    struct cr_data_loader_opts want =
        cr_train_loader_opts(&t->opts.train, t->opts.seed);
    bool ok = true;

    t->loader = cr_data_loader_open(t->config, &want);
    if (t->loader && t->opts.train.limit.unit != CR_UNIT_NONE)
        cr_data_loader_warn_class(
            t->loader, cr_data_loader_samples(t->loader),
            cr_node_get(cr_section(t->config, "train"), "limit"),
            "train.limit");
    if (cr_data_loader_has(t->config, "eval")) {
        want = (struct cr_data_loader_opts){ .split = "eval",
                                             .seed = t->opts.seed,
                                             .batch_size =
                                                 t->opts.eval.batch_size };
        t->scoring.loader = cr_data_loader_open(t->config, &want);
        ok = t->scoring.loader != NULL;
        if (ok)
            cr_eval_part(t->config, t->scoring.loader,
                         t->opts.eval.max_batches);
    }
    return t->loader && ok;
}

/* ---- Network and plans */

bool cr_train_may_skip(const struct cr_train *t)
{
    return t->optim.scale.on || t->opts.train.nan == CR_NAN_SKIP;
}

/* Refuses to share out the state of an optimizer whose update of an element
 * depends on the whole parameter. */
static bool prepare_shard(struct cr_train *t)
{
    const struct cr_node *node = cr_node_find(t->config->root, "train.shard");

    if (t->opts.train.shard == CR_SHARD_GRADIENTS &&
        cr_train_needs_gradients(t))
        return cr_error(t->diag, node->pos, CR_E_CONFLICT,
                        "'train.shard': found gradients with a setting that "
                        "needs all of them at once, such as clip, "
                        "grad_accumulation, grad_noise, log.grad_norm or a "
                        "loss scale; expected optimizer");
    if (t->opts.train.shard == CR_SHARD_NONE || !t->optim.optim->reduce)
        return true;
    return cr_error(t->diag, node->pos, CR_E_CONFLICT,
                    "'train.shard': %s needs norms of whole parameters, "
                    "expected an optimizer that updates each element by itself",
                    t->optim.optim->about.name);
}

bool cr_train_needs_gradients(const struct cr_train *t)
{
    return cr_plans_need_gradients(&t->opts.train, &t->opts.log, &t->optim);
}

static bool prepare_net(struct cr_train *t, const struct cr_column **columns)
{
    struct cr_net_opts want = { .seed = t->opts.seed,
                                .loss = true,
                                .metrics = t->scoring.loader &&
                                           t->scoring.metrics.blocks,
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
    if (!t->net)
        return false;
    cr_plans_processes(t->net, &t->opts.train);
    cr_net_shard(t->net, t->opts.train.shard != CR_SHARD_NONE,
                 t->opts.train.shard == CR_SHARD_GRADIENTS);
    if (!cr_optim_rule(t->config, t->net, false, &t->optim) ||
        !prepare_shard(t) ||
        !cr_hook_recorder_observe(t->config, t->net, t, CR_IN_EVAL))
        return false;
    t->length.grad_accum = t->opts.train.grad_accumulation;
    cr_net_grad_accum(t->net, t->length.grad_accum);
    t->last.aux_names = cr_net_aux(t->net, &t->last.n_aux);
    t->last.aux = CR_NEWS(t->arena, double, t->last.n_aux + 1);
    return true;
}

static bool prepare_steps(struct cr_train *t)
{
    struct cr_exec_opts want = cr_plans_train(cr_train_needs_gradients(t),
                                              t->flags.eager ||
                                              t->opts.run.eager);

    want.private_gradients = cr_plans_private_gradients(&t->opts.train);
    want.accumulates = t->opts.train.grad_accumulation > 1;
    if (!cr_plans_make(&t->plans, t->net, &want, t->loader))
        return false;
    cr_plans_share(&t->plans, t->loader, NULL, t->n_columns, -1);
    if (t->observers.profile)
        cr_profile_start(&t->plans);
    return true;
}

bool cr_train_replan(struct cr_train *t)
{
    if (t->observers.profile)
        cr_profile_add(t->observers.profile, &t->plans);
    cr_plans_free(&t->plans);
    cr_hook_recorder_forget(t->observers.recorder);
    return prepare_steps(t);
}

static bool prepare_plans(struct cr_train *t, const struct cr_column *columns)
{
    struct cr_eval_opts eval = { .loader = t->scoring.loader,
                                 .metrics = &t->scoring.metrics,
                                 .columns = columns,
                                 .n_columns = t->n_columns,
                                 .outcomes = cr_train_outcomes_open(t),
                                 .eager = t->flags.eager };

    if (!prepare_steps(t))
        return false;
    if (!t->scoring.loader)
        return true;
    eval.max_batches = t->opts.eval.max_batches;
    t->scoring.eval = cr_eval_open(t->config, t->net, &eval);
    return t->scoring.eval != NULL;
}

/* ---- The whole run */

/* Sets the lengths of the run, which schedules refer to. */
static bool prepare_span(struct cr_train *t)
{
    struct cr_run_steps run = { .per_epoch = (double)t->length.per_epoch /
                                             (double)t->length.grad_accum,
                                .total = t->length.total };

    return cr_optim_bind(t->diag, &t->optim, &run);
}

bool cr_train_total(struct cr_config *config,
                    const struct cr_train_section *train, int64_t per_epoch,
                    int64_t *total)
{
    const struct cr_node *section = cr_section(config, "train");
    const struct cr_node *epochs = cr_node_get(section, "epochs");
    const struct cr_node *updates = cr_node_get(section, "grad_accumulation");

    if (train->steps != CR_INT_NONE)
        *total = train->steps;
    else if (!cr_checked_mul(total, train->epochs, per_epoch))
        return cr_error(config->diag, epochs ? epochs->pos : CR_NOWHERE,
                        CR_E_OUT_OF_RANGE, "'train.epochs': too many steps");
    else if ((*total /= train->grad_accumulation) == 0)
        return cr_error(config->diag, updates ? updates->pos : CR_NOWHERE,
                        CR_E_OUT_OF_RANGE,
                        "'train.grad_accumulation' is %" PRId64
                        ", but the run has fewer batches",
                        train->grad_accumulation);
    return true;
}

int64_t cr_train_epochs_done(const struct cr_train *t)
{
    const struct cr_state *s = &t->state;
    int64_t whole = cr_state_epoch(s), most = t->opts.train.epochs, ended = 0;

    if (s->step > 0) /* before the batch that ends the next step */
        ended = ((s->step + 1) * s->grad_accum - 1) / s->per_epoch;
    if (t->opts.train.steps != CR_INT_NONE || most < whole)
        most = whole + (cr_state_in_epoch(s) > 0);
    return ended < most ? ended : most;
}

/* The last step of train.stop_after; INT64_MAX: the run continues to its
 * end. */
static int64_t prepare_stop_after(const struct cr_train *t)
{
    const struct cr_quantity *stop = &t->opts.train.stop_after;
    struct cr_interval steps;

    if (stop->unit == CR_UNIT_NONE)
        return INT64_MAX;
    steps = cr_run_interval(&t->length, stop);
    return steps.steps < 1 ? 1 : steps.steps < 0x1p53 ? (int64_t)steps.steps
                                                      : INT64_MAX;
}

static bool prepare_lengths(struct cr_train *t)
{
    t->length.batch = t->plans.batch;
    t->length.per_epoch = cr_data_loader_batches(t->loader);
    assert(t->length.per_epoch > 0);
    if (!cr_train_total(t->config, &t->opts.train, t->length.per_epoch,
                        &t->length.total))
        return false;
    t->every.eval = cr_run_interval(&t->length, &t->opts.eval.every);
    t->every.save = cr_run_interval(&t->length, &t->opts.checkpoint.every);
    t->every.log = cr_run_interval(&t->length, &t->opts.log.every);
    t->length.stop_after = prepare_stop_after(t);
    return true;
}

/* What each process reads on its own. */
static bool prepare_reading(struct cr_train *t,
                            const struct cr_column **columns)
{
    bool ok = prepare_sections(t);

    if (t->flags.profile) {
        t->observers.profile = CR_NEW(t->arena, struct cr_profile);
        t->observers.profile->parts.arena = t->arena;
    }
    ok = prepare_name(t) && ok;
    t->scoring.require = cr_require_read(t->diag, t->flags.require);
    ok = (t->scoring.require || !t->flags.require) && ok;
    if (!cr_section(t->config, "dataset"))
        return false;
    ok = prepare_data(t) && ok;
    if (!t->loader)
        return false;
    *columns = cr_data_loader_columns(t->loader, &t->n_columns);
    ok = cr_metrics_read(t->config,
                         cr_label_classifies(t->config, *columns, t->n_columns),
                         &t->scoring.metrics) &&
         ok;
    ok = cr_scoring_prepare(t) && ok;
    ok = cr_scoring_require(t) && ok;
    if (cr_section(t->config, "network") && cr_section(t->config, "loss") &&
        cr_section(t->config, "optimizer"))
        ok = prepare_net(t, columns) && cr_scoring_prepare_plateau(t) && ok;
    return ok && t->diag->errors == 0;
}

static bool prepare_planning(struct cr_train *t,
                             const struct cr_column *columns)
{
    t->id = cr_config_id(t->config);
    t->yaml = cr_config_yaml(t->config, false, false);
    if (!prepare_plans(t, columns) || !prepare_lengths(t) || !prepare_span(t) ||
        !cr_train_unfreeze_check(t))
        return false;
    return cr_train_lint(t) &&
           cr_hook_recorder_open(t, &t->observers.recorder) &&
           cr_text_samples_read(t, &t->observers.text_samples);
}

/* Processes that train another network, or on other data, would send sums that
 * do not belong together. */
static bool prepare_same(struct cr_train *t)
{
    struct cr_arena *arena = t->arena;
    const char *length =
        t->opts.train.steps == CR_INT_NONE
            ? cr_strf(arena, "epochs %" PRId64, t->opts.train.epochs)
            : cr_strf(arena, "steps %" PRId64, t->opts.train.steps);
    const struct cr_train_part part[] = {
        { "config", cr_strf(arena, "%s, %s", cr_config_id(t->config), length) },
        { "data", cr_train_data(arena, t->loader) },
        { "eval data", cr_train_data(arena, t->scoring.loader) },
    };

    return cr_train_same(t->diag, part, CR_LEN(part));
}

bool cr_train_prepare(struct cr_train *t)
{
    const struct cr_column *columns = NULL;

    if (!cr_mpi_agree(t->diag, !t->config->load_failed &&
                                   prepare_reading(t, &columns)) ||
        !prepare_same(t))
        return false;
    /* now the processes of mpirun have the same network, and make plans
     * together */
    if (t->net)
        cr_net_share(t->net);
    return cr_mpi_agree(t->diag, prepare_planning(t, columns));
}

void cr_train_close(struct cr_train *t)
{
    cr_eval_close(t->scoring.eval);
    cr_train_outcomes_close(t);
    cr_hook_recorder_forget(t->observers.recorder);
    cr_text_samples_close(t->observers.text_samples);
    cr_plans_free(&t->plans);
    if (t->loader)
        cr_data_loader_close(t->loader);
    if (t->scoring.loader)
        cr_data_loader_close(t->scoring.loader);
    cr_train_close_records(t);
    cr_rundir_close(&t->dir);
}
