/*
 * lr-find: learning-rate range test (Smith, "Cyclical Learning Rates for
 * Training Neural Networks", 2015, section 3.3). The network is trained for a
 * few steps with rising rates,
 *
 *   lr_i = min (max / min)^(i / (steps - 1))
 *
 * while the loss first stays, then falls, and finally diverges. It is smoothed
 * as by Gugger ("How Do You Find A Good Learning Rate", 2018):
 *
 *   a_i = b a_(i-1) + (1 - b) loss_i,   s_i = a_i / (1 - b^(i+1)),   b = 0.95
 *
 * The test ends when s exceeds four times its minimum and its first value, or
 * when a value is not finite. The suggested rate is the one at which s falls
 * most steeply over the logarithm of the rate, before its minimum, but at most
 * a tenth of the rate that ended the test. The first tenth of the steps is
 * ignored, because s averages few losses there.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/plot.h"
#include "chart/chart.h"
#include "console/work_progress.h"
#include "train/train.h"

#define SMOOTH 0.95
#define WORSE 4.0

struct lr_find {
    double min, max;
    int64_t steps;
    const char *out;
};

static const struct cr_opt lr_find_opts[] = {
    CR_REAL_POS_DEFAULT(struct lr_find, min, 1e-6, 1e6, "Initial learning "
                                                        "rate."),
    CR_REAL_POS_DEFAULT(struct lr_find, max, 10, 1e6, "Final learning rate."),
    CR_INT_DEFAULT(struct lr_find, steps, 100, 10, 1000000,
                   "Number of steps."),
    CR_STR_OPTIONAL(struct lr_find, out,
                    "File of the curve, as SVG. Default: print it.",
                    .flag = 'o', .text = "FILE"),
    { 0 },
};

struct curve {
    int64_t n; /* number of steps done */
    double *lr, *loss, *smooth;
    double mean, weight; /* of the smoothed loss: a_n, b^n */
    int64_t least;       /* step with the minimum of s */
    bool diverged;       /* at lr[n - 1], or at the step after it */
    struct cr_work_progress work;
};

static bool lr_find_step(void *ctx, double loss)
{
    struct curve *c = ctx;
    int64_t i = c->n++;

    c->mean = SMOOTH * c->mean + (1 - SMOOTH) * loss;
    c->weight *= SMOOTH;
    cr_work_step(&c->work, c->n, 0);
    c->loss[i] = loss;
    c->smooth[i] = c->mean / (1 - c->weight);
    if (c->smooth[i] < c->smooth[c->least])
        c->least = i;
    c->diverged = c->smooth[i] > c->smooth[0] &&
                  c->smooth[i] > WORSE * fmax(c->smooth[c->least], 0);
    return !c->diverged;
}

/* The step at which s falls most steeply; -1: it never falls. */
static int64_t lr_find_steepest(const struct curve *c, int64_t steps)
{
    int64_t first = steps / 10 > 1 ? steps / 10 : 1, found = -1;
    double most = 0;

    for (int64_t i = first; i < c->least; i++) {
        double slope = c->smooth[i + 1] - c->smooth[i - 1];

        if (slope < most) {
            most = slope;
            found = i;
        }
    }
    return found;
}

static int64_t lr_find_suggest(const struct curve *c, int64_t steepest)
{
    int64_t at = steepest, last = c->n - 1;

    while (c->diverged && at > 0 && c->lr[at] > c->lr[last] / 10)
        at--;
    return at;
}

/* ---- Output */

/* Losses for the plot, cut off at half as much above the first loss as the
 * minimum is below it, so that divergence does not flatten the rest. */
static const double *lr_find_shown(struct cr_arena *arena,
                                   const struct curve *c)
{
    double *y = CR_NEWS(arena, double, c->n + 1);
    double fall = c->n ? c->smooth[0] - c->smooth[c->least] : 0;

    for (int64_t i = 0; i < c->n; i++)
        y[i] = fall > 0 && c->smooth[i] > c->smooth[0] + fall / 2
                   ? c->smooth[0] + fall / 2
                   : c->smooth[i];
    return y;
}

static void lr_find_number(struct cr_buf *b, const char *key, double value)
{
    cr_buf_f(b, "%s: ", key);
    if (isfinite(value))
        cr_buf_f(b, "%.4g\n", value);
    else
        cr_buf_str(b, "none\n");
}

static void lr_find_json(struct cr_buf *b, const struct curve *c,
                         double steepest, double diverged, double suggestion)
{
    cr_buf_str(b, "{\"suggestion\":");
    cr_buf_real(b, suggestion);
    cr_buf_str(b, ",\"steepest\":");
    cr_buf_real(b, steepest);
    cr_buf_str(b, ",\"lowest\":");
    cr_buf_real(b, c->n ? c->lr[c->least] : (double)NAN);
    cr_buf_str(b, ",\"diverged\":");
    cr_buf_real(b, diverged);
    cr_buf_f(b, ",\"steps\":%" PRId64 ",\"points\":[", c->n);
    for (int64_t i = 0; i < c->n; i++) {
        cr_buf_str(b, i ? ",[" : "[");
        cr_buf_real(b, c->lr[i]);
        cr_buf_char(b, ',');
        cr_buf_real(b, c->loss[i]);
        cr_buf_char(b, ',');
        cr_buf_real(b, c->smooth[i]);
        cr_buf_char(b, ']');
    }
    cr_buf_str(b, "]}\n");
}

static bool lr_find_write(struct cr_cli *cli, const struct curve *c,
                          const double *shown, int64_t at)
{
    const struct lr_find *o = cr_cli_opts(cli);
    struct cr_chart chart = { .arena = cli->arena,
                              .title = "Learning-rate range test",
                              .x = { .label = "learning rate",
                                     .scale = CR_SCALE_LOG },
                              .y = { .label = "loss, smoothed" },
                              .has_mark = at >= 0,
                              .mark = at >= 0 ? c->lr[at] : 0,
                              .file = true };
    struct cr_chart_curve curve = { .n = c->n, .x = c->lr, .y = shown };
    struct cr_buf svg = { .arena = cli->arena };

    cr_chart_curves(&svg, &chart, &curve, 1);
    return cr_write_file(cli->diag, o->out, cr_buf_text(&svg), svg.len);
}

static void lr_find_report(struct cr_cli *cli, const struct curve *c)
{
    const struct lr_find *o = cr_cli_opts(cli);
    struct cr_buf b = { .arena = cli->arena };
    int64_t steep = lr_find_steepest(c, o->steps);
    int64_t at = lr_find_suggest(c, steep);
    struct cr_plot_curve smooth = { "loss, smoothed, by learning rate",
                                    lr_find_shown(cli->arena, c) };
    struct cr_plot_axis rule = { "lr", o->min, c->n ? c->lr[c->n - 1] : o->max,
                                 true };
    struct cr_plot plot = { .arena = cli->arena,
                            .n = c->n,
                            .n_curves = 1,
                            .curve = &smooth,
                            .n_rules = 1,
                            .rule = &rule,
                            .mark = at };
    double steepest = steep >= 0 ? c->lr[steep] : (double)NAN;
    double suggestion = at >= 0 ? c->lr[at] : (double)NAN;
    double diverged = c->diverged ? c->lr[c->n - 1] : (double)NAN;

    if (o->out && !lr_find_write(cli, c, smooth.y, at))
        return;
    if (cli->json) {
        lr_find_json(&b, c, steepest, diverged, suggestion);
    } else {
        if (!o->out && !cli->quiet && c->n > 1)
            cr_buf_str(
                &b, cr_plot_text(&plot, cr_plot_columns(), cr_plot_braille()));
        cr_buf_f(&b, "steps: %" PRId64 "\n", c->n);
        lr_find_number(&b, "steepest", steepest);
        lr_find_number(&b, "lowest", c->n ? c->lr[c->least] : (double)NAN);
        lr_find_number(&b, "diverged", diverged);
        lr_find_number(&b, "suggestion", suggestion);
    }
    fputs(cr_buf_text(&b),
          o->out && strcmp(o->out, "-") == 0 ? stderr : stdout);
}

/* ---- The command */

/* Replaces the rates of the config by those of the test, for all parameters. */
static void lr_find_rates(struct cr_train *t, const struct lr_find *o,
                          struct curve *c)
{
    double *lr = CR_NEWS(t->arena, double, o->steps);

    for (int64_t i = 0; i < o->steps; i++)
        lr[i] =
            o->min * pow(o->max / o->min, (double)i / (double)(o->steps - 1));
    t->optim.lr = (struct cr_lr){ .n = o->steps, .values = lr };
    for (int g = 0; g < t->optim.n_groups; g++)
        t->optim.group[g].has_lr = false;
    *c = (struct curve){ .lr = lr, .weight = 1 };
    c->loss = CR_NEWS(t->arena, double, o->steps);
    c->smooth = CR_NEWS(t->arena, double, o->steps);
}

static bool lr_find_train(struct cr_cli *cli, struct cr_train *t)
{
    const struct lr_find *o = cr_cli_opts(cli);
    struct curve c;
    enum cr_outcome end;

    if (t->config->load_failed || !cr_train_prepare(t) || !cr_train_start(t))
        return false;
    lr_find_rates(t, o, &c);
    cr_work_begin(&c.work, cli, "lr-find", o->steps);
    end = cr_train_steps(t, o->steps, lr_find_step, &c);
    cr_work_clear(&c.work);
    if (end == CR_OUTCOME_DIVERGED) {
        /* the step that failed has no loss to plot */
        c.loss[c.n] = c.smooth[c.n] = NAN;
        c.n++;
        c.diverged = true;
    }
    if (end != CR_OUTCOME_FAILED)
        lr_find_report(cli, &c);
    return true;
}

static int lr_find_run(struct cr_cli *cli)
{
    const struct lr_find *o = cr_cli_opts(cli);
    struct cr_train t = {
        .cli = cli, .arena = cli->arena, .diag = cli->diag,
        .history.started = cr_now()
    };
    bool ran = false;

    t.flags = (struct cr_train_flags){ .progress = CR_PROGRESS_NONE,
                                       .dry_run = true };
    if (o->min >= o->max)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--min must be less than --max");
    if (cr_cli_ending(cli, "-o", o->out, ".svg"))
        cr_cli_not_json(cli, "-o", o->out);
    t.config = cr_cli_config(cli);
    if (cli->diag->errors == 0)
        ran = lr_find_train(cli, &t);
    cr_train_close(&t);
    return ran ? cr_diag_exit(cli->diag)
               : cr_cli_errors(cli, "Nothing was run.");
}

const struct cr_command cr_command_lr_find = {
    .about = {
        .name = "lr-find",
        .summary = "Learning-rate range test: suggest a learning rate.",
        .detail =
            "Learning-rate range test (Smith 2015): trains for a few steps "
            "while the rate rises geometrically from --min to --max, the "
            "same for all groups, and stops when the smoothed loss exceeds "
            "four times its minimum and its first value. Reports `steepest` "
            "(fastest descent), `lowest` (minimum loss) and `diverged` "
            "(where it stopped), and suggests `steepest`, or a tenth of "
            "`diverged` if that is smaller; nothing if the loss never falls. "
            "Writes only the file of -o.",
        .example = "cellrun lr-find digits.yaml\n"
                   "cellrun lr-find digits.yaml --min 1e-5 --max 1 --steps "
                   "200 -o lr.svg\n",
        .opts = lr_find_opts,
        .size = sizeof(struct lr_find),
    },
    .usage = "FILE... [key=value...] [--min LR] [--max LR] [--steps N] "
             "[-o FILE]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = lr_find_run,
};
