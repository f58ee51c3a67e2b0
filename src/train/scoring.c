#include "train/scoring.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "train/train.h"

/* ---- Metrics that select or stop */

/* Whether larger values are better, for the decision `what` at `node`. */
static bool scoring_maximize(struct cr_train *t, const struct cr_node *node,
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
static const struct cr_metric_use *scoring_metric(struct cr_train *t,
                                                  const struct cr_node *node,
                                                  const char *what,
                                                  const char *name)
{
    const struct cr_metric_use *use =
        cr_metrics_find(&t->scoring.metrics, cr_score_bare(name));
    struct cr_pos pos = node ? node->pos : CR_NOWHERE;
    struct cr_buf known = { .arena = t->arena };
    const char **names;

    if (!t->scoring.loader) {
        cr_error(t->diag, pos, CR_E_CONFLICT,
                 "'%s' needs an evaluation, but 'dataset.eval' is missing",
                 what);
        return NULL;
    }
    if (use && cr_metric_single(use->metric))
        return use;
    names = CR_NEWS(t->arena, const char *, t->scoring.metrics.n + 1);
    for (int i = 0; i < t->scoring.metrics.n; i++) {
        names[i] = t->scoring.metrics.use[i].name;
        cr_buf_f(&known, " %s", names[i]);
    }
    cr_error(t->diag, pos, CR_E_NO_MATCH,
             use ? "metric '%s' is not a single number"
                 : "metric '%s' not found",
             cr_quote(t->arena, name, strlen(name)));
    if (!use && cr_closest_name(name, names))
        cr_hint(t->diag, "did you mean '%s'?", cr_closest_name(name, names));
    else if (!use && t->scoring.metrics.n > 0)
        cr_note(t->diag, "metrics:%s", cr_buf_text(&known));
    return NULL;
}

static const struct cr_node *scoring_node(const struct cr_train *t,
                                          const char *section, const char *sub,
                                          const char *key)
{
    return cr_node_get(cr_node_get(cr_section(t->config, section), sub), key);
}

bool cr_scoring_prepare_plateau(struct cr_train *t)
{
    const struct cr_lr *lr = &t->optim.lr;
    const struct cr_node *node = t->optim.opts->learning_rate.node;
    const struct cr_node *args =
        lr->schedule ? cr_node_get(node, lr->schedule->about.name) : NULL;
    const struct cr_node *monitor = cr_node_get(args, "monitor");
    const struct cr_metric_use *use;

    t->scoring.plateau = cr_lr_plateau(lr);
    if (!t->scoring.plateau)
        return true;
    t->optim.lr.plateau = &t->state.plateau;
    use = scoring_metric(t, monitor ? monitor : node, lr->schedule->about.name,
                         t->scoring.plateau->monitor);
    if (use)
        t->scoring.plateau_max =
            scoring_maximize(t, monitor ? monitor : node,
                             lr->schedule->about.name, t->scoring.plateau->mode,
                             use);
    return use != NULL;
}

/* Early stopping needs both keys; warns if one or both are missing. */
static void scoring_early(struct cr_train *t)
{
    const struct cr_node *early =
        cr_node_get(cr_section(t->config, "train"), "early_stop");
    bool patience = cr_node_get(early, "patience");

    if (!early || (patience && t->opts.train.early_stop.monitor) ||
        (patience && t->opts.train.early_stop.patience == 0))
        return;
    cr_warn(t->diag, early->pos, CR_E_MISSING_KEY,
            "'train.early_stop' has no effect: '%s' is not set",
            patience ? "monitor" : "patience");
    cr_hint(t->diag, "early_stop: {monitor: %s, patience: 5}",
            t->opts.train.early_stop.monitor ? t->opts.train.early_stop.monitor
                                        : "loss");
}

bool cr_scoring_prepare(struct cr_train *t)
{
    const struct cr_metric_use *early;
    bool ok = true;

    if (t->opts.checkpoint.best.metric) {
        t->scoring.best =
            scoring_metric(t, scoring_node(t, "checkpoint", "best", "metric"),
                           "checkpoint.best", t->opts.checkpoint.best.metric);
        ok = t->scoring.best != NULL;
    } else if (t->scoring.loader) {
        for (int i = 0; i < t->scoring.metrics.n; i++) {
            const struct cr_metric_use *use = &t->scoring.metrics.use[i];

            /* skip metrics without a direction: thresholds and auxiliary
             * values */
            if (!cr_metric_single(use->metric) || use->metric->cut ||
                use->metric->undirected)
                continue;
            if (!t->scoring.best || strcmp(t->scoring.best->name, "loss") == 0)
                t->scoring.best = use;
        }
    }
    scoring_early(t);
    if (t->scoring.best)
        t->scoring.best_max = scoring_maximize(
            t, scoring_node(t, "checkpoint", "best", "metric"),
            "checkpoint.best", t->opts.checkpoint.best.mode, t->scoring.best);
    if (t->opts.train.early_stop.monitor) {
        early =
            scoring_metric(t, scoring_node(t, "train", "early_stop", "monitor"),
                           "train.early_stop",
                           t->opts.train.early_stop.monitor);
        ok = early && ok;
        if (early && t->opts.train.early_stop.patience > 0)
            t->scoring.early_max = scoring_maximize(
                t, scoring_node(t, "train", "early_stop", "monitor"),
                "train.early_stop", t->opts.train.early_stop.mode, early);
    }
    return ok;
}

/* ---- After an evaluation */

static bool scoring_better(double value, double than, bool max)
{
    return max ? value > than : value < than;
}

static void scoring_plateau(struct cr_train *t)
{
    struct cr_state *s = &t->state;
    const struct cr_lr *lr = &t->optim.lr;
    const struct cr_score *score =
        cr_score_find(&s->eval, t->scoring.plateau->monitor);

    if (cr_plateau_step(t->scoring.plateau, t->scoring.plateau_max,
                        lr->schedule->at(lr->opts, &lr->run, 0), score->value,
                        &s->plateau))
        cr_console_log(&t->console,
                       "no improvement in %s: learning rate reduced to %g",
                       t->scoring.plateau->monitor, s->plateau.rate);
}

void cr_scoring_apply(struct cr_train *t, bool planned)
{
    struct cr_state *s = &t->state;
    const struct cr_score *score;

    if (s->step == 0) /* eval.first: before the first update */
        return;
    if (t->scoring.best) {
        score = cr_score_find(&s->eval, t->scoring.best->name);
        if (isfinite(score->value) &&
            (!s->best_metric ||
             strcmp(s->best_metric, t->scoring.best->name) != 0 ||
             scoring_better(score->value, s->best, t->scoring.best_max))) {
            s->best_metric = t->scoring.best->name;
            s->best_max = t->scoring.best_max;
            s->best = score->value;
            s->best_step = s->step;
        }
    }
    if (planned && t->opts.train.early_stop.monitor &&
        t->opts.train.early_stop.patience > 0) {
        double delta = t->opts.train.early_stop.min_delta;

        score = cr_score_find(&s->eval, t->opts.train.early_stop.monitor);
        if (isfinite(score->value) &&
            (!s->wait_has_best ||
             scoring_better(score->value,
                         s->wait_best + (t->scoring.early_max ? delta : -delta),
                         t->scoring.early_max))) {
            s->wait_best = score->value;
            s->wait_has_best = true;
            s->wait = 0;
        } else {
            s->wait++;
        }
        s->stopped_early = s->wait >= t->opts.train.early_stop.patience;
    }
    if (planned && t->scoring.plateau)
        scoring_plateau(t);
}

/* ---- --require */

/* Looks up a name in --require. */
static bool scoring_value(void *ctx, const char *name, double *to)
{
    const struct cr_train *t = ctx;
    const struct cr_metric_use *use;
    const struct cr_score *score;

    *to = NAN;
    if (!t->scoring.loader)
        return false;
    if (cr_starts(name, "best.")) {
        *to = t->state.best_metric ? t->state.best : (double)NAN;
        return t->scoring.best &&
               strcmp(name + strlen("best."), t->scoring.best->name) == 0;
    }
    use = cr_metrics_find(&t->scoring.metrics, cr_score_bare(name));
    score = cr_score_find(&t->state.eval, name);
    if (score)
        *to = score->value;
    return use && cr_metric_single(use->metric);
}

/* The metrics that --require can name. */
static const char *const *scoring_names(const struct cr_train *t)
{
    const char **names =
        CR_NEWS(t->arena, const char *, t->scoring.metrics.n + 1);

    for (int i = 0, n = 0; i < t->scoring.metrics.n; i++)
        if (cr_metric_single(t->scoring.metrics.use[i].metric))
            names[n++] = t->scoring.metrics.use[i].name;
    return names;
}

bool cr_scoring_require(struct cr_train *t)
{
    return cr_require_check(t->diag, t->scoring.require, true, scoring_value, t,
                            scoring_names(t));
}

void cr_scoring_check(struct cr_train *t)
{
    cr_require_check(t->diag, t->scoring.require, false, scoring_value, t,
                     NULL);
}
