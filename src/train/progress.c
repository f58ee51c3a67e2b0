#include "train/progress.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"

#define FORWARD_SHARE (1.0 / 3) /* of a step: the backward pass takes about
                                   twice as long as the forward pass */

/* The time at which the process was not suspended. */
static double progress_now(void)
{
    return cr_now() - cr_signals_suspended();
}

/* Seconds since the last call. */
static double progress_lap(struct cr_run_progress *p)
{
    double now = progress_now(), lap = now - p->marked;

    p->marked = now;
    return lap;
}

/* ---- The remaining time */

/* How often an interval is due after the steps from `from` to `to`, and once
 * more at `to`, where the run ends. */
static double progress_count(const struct cr_interval *every, int64_t from,
                             int64_t to)
{
    double last;

    if (from > to)
        return 0;
    if (every->steps <= 0)
        return 1;
    last = cr_interval_ceil((double)to / every->steps);
    return fmin(last - cr_interval_ceil((double)from / every->steps) + 1,
                (double)(to - from + 1));
}

static double progress_left(const struct cr_run_progress *p)
{
    struct cr_train *t = p->t;
    const struct cr_state *s = &t->state;
    struct cr_eta_work work = { .steps = (double)(t->length.total - s->step) };
    double left;

    if (t->scoring.eval) {
        int64_t batches = cr_data_loader_batches(t->scoring.loader);
        double samples;

        if (t->opts.eval.max_batches > 0 && t->opts.eval.max_batches < batches)
            batches = t->opts.eval.max_batches;
        samples =
            (double)(batches * cr_data_loader_batch_size(t->scoring.loader));
        work.job[CR_ETA_EVAL].count = progress_count(
            &t->every.eval, s->step + (s->eval_step >= s->step),
            t->length.total);
        work.job[CR_ETA_EVAL].interval = t->every.eval.seconds;
        work.job[CR_ETA_EVAL].guess =
            FORWARD_SHARE * samples /
            (double)(t->plans.batch * t->length.grad_accum);
    }
    if (!t->flags.no_ckpt) {
        work.job[CR_ETA_SAVE].count = progress_count(
            &t->every.save, s->step + (t->files.step >= s->step),
            t->length.total);
        work.job[CR_ETA_SAVE].interval = t->every.save.seconds;
    }
    left = cr_eta_left(&p->eta, &work) - (progress_now() - p->marked);
    if (t->length.time_limit > 0)
        left =
            fmin(left, t->length.time_limit - (cr_now() - t->history.started));
    return isnan(left) ? left : fmax(left, 0);
}

/* ---- The bar */

static int64_t progress_epochs(const struct cr_train *t)
{
    const struct cr_run_length *run = &t->length;

    return (run->total * run->grad_accum + run->per_epoch - 1) / run->per_epoch;
}

/* Draws the bar: batches of the epoch, or of an evaluation. */
static void progress_bar(struct cr_run_progress *p, bool evaluating)
{
    struct cr_train *t = p->t;
    const struct cr_state *s = &t->state;
    const struct cr_trend *trend = &t->last.trend;
    double loss[CR_TREND_MAX], step = cr_eta_step_seconds(&p->eta);
    struct cr_arena mem = { 0 };
    int64_t epochs = progress_epochs(t);
    const char *epoch =
        cr_strf(&mem, "%*" PRId64 "/%" PRId64,
                snprintf(NULL, 0, "%" PRId64, epochs),
                cr_state_epoch_of(s, s->step) + 1, epochs);
    struct cr_bar bar = {
        .label = cr_strf(&mem, "%s %s", evaluating ? "evaluating" : "epoch",
                         epoch),
        .short_label = evaluating ? "eval" : epoch,
        .at = evaluating ? p->eval_batches : cr_state_batch_of(s, s->step) + 1,
        .of = t->length.per_epoch,
        .loss = t->last.loss,
        .rate = step > 0
                    ? (double)(t->plans.batch * t->length.grad_accum) / step
                    : 0,
        .left = progress_left(p),
        .trend = loss,
        .n_trend = trend->n,
    };

    for (int i = 0; i < trend->n; i++)
        loss[i] = cr_trend_mean(trend, i, i + 1);
    if (evaluating) {
        bar.of = cr_data_loader_batches(t->scoring.loader);
        if (t->opts.eval.max_batches > 0 && t->opts.eval.max_batches < bar.of)
            bar.of = t->opts.eval.max_batches;
    }
    cr_console_bar(&t->console, cr_now(), &bar);
    cr_arena_free(&mem);
}

/* ---- Rows */

static const char *progress_number(struct cr_arena *arena, double x)
{
    double size = fabs(x);

    if (isnan(x))
        return "";
    return cr_strf(arena,
                   size < 1000 && (size >= 1e-3 || size == 0) ? "%.4f"
                                                              : "%.4g",
                   x);
}

/* The epoch of a row: "3/10", or "2.25/10" within the third one. */
static const char *progress_epoch_text(const struct cr_run_progress *p,
                                       struct cr_arena *arena)
{
    const struct cr_train *t = p->t;
    const struct cr_state *s = &t->state;
    double at = (double)(s->step * s->grad_accum) / (double)s->per_epoch;

    if (p->ended >= 0)
        return cr_strf(arena, "%" PRId64 "/%" PRId64, p->ended + 1,
                       progress_epochs(t));
    return cr_strf(arena, "%.*f/%" PRId64, s->step > 0 ? 2 : 0, at,
                   progress_epochs(t));
}

/* Characters of the longest such text: "10/10", "10.00/10". */
static int progress_epoch_width(const struct cr_train *t)
{
    int digits = snprintf(NULL, 0, "%" PRId64, progress_epochs(t));
    bool within = t->scoring.eval && (t->every.eval.seconds > 0 ||
                              fmod(t->every.eval.steps *
                                   (double)t->length.grad_accum,
                                   (double)t->length.per_epoch) != 0);

    return 2 * digits + 1 + (within ? 3 : 0);
}

/* The ranks of the cells; of the metrics the one that selects the best
 * checkpoint comes first, then loss. */
enum {
    RANK_EPOCH,
    RANK_LOSS,
    RANK_BEST_METRIC,
    RANK_BEST,
    RANK_EVAL_LOSS,
    RANK_TIME,
    RANK_RATE,
    RANK_METRIC,
    RANK_LR = 100
};

static int progress_metrics(const struct cr_run_progress *p,
                            struct cr_arena *arena, struct cr_row_cell *cell,
                            int cap)
{
    const struct cr_train *t = p->t;
    const struct cr_scores *scores = cr_eval_scores(t->scoring.eval);
    int n = 0;

    for (int i = 0; i < scores->n && n < cap; i++) {
        const struct cr_score *score = &scores->v[i];
        bool loss = strcmp(score->name, "loss") == 0;

        if (!score->single)
            continue;
        cell[n++] = (struct cr_row_cell){
            .name = loss ? "eval.loss" : score->name,
            .text = p->new_scores ? progress_number(arena, score->value) : "",
            .rank = t->scoring.best &&
                    strcmp(t->scoring.best->name, score->name) == 0
                        ? RANK_BEST_METRIC
                    : loss ? RANK_EVAL_LOSS
                           : RANK_METRIC + i,
            .right = true,
        };
    }
    return n;
}

/* Prints the row of the epoch that has ended, else of the present step. */
static void progress_row(struct cr_run_progress *p)
{
    struct cr_train *t = p->t;
    struct cr_state *s = &t->state;
    struct cr_row_cell cell[CR_CONSOLE_CELLS];
    struct cr_arena mem = { 0 };
    double now = progress_now(), loss, rate;
    bool best = p->new_scores && s->best_metric && s->best_step == s->step;
    int n = 0;

    loss = p->ended >= 0 ? p->ended_loss : cr_loss_mean(&s->epoch_loss);
    rate = p->row_steps > 0
               ? (double)(s->samples - p->row_samples) / p->row_steps
               : 0;
    cell[n++] = (struct cr_row_cell){ .name = "epoch",
                                      .text = progress_epoch_text(p, &mem),
                                      .min = progress_epoch_width(t),
                                      .rank = RANK_EPOCH,
                                      .right = true };
    cell[n++] = (struct cr_row_cell){ .name = "loss",
                                      .text = progress_number(&mem, loss),
                                      .rank = RANK_LOSS,
                                      .right = true };
    if (t->scoring.eval)
        n += progress_metrics(p, &mem, cell + n, CR_CONSOLE_CELLS - 6);
    cell[n++] = (struct cr_row_cell){
        .name = "samples/s",
        .text = rate > 0 ? cr_strf(&mem, "%.*f", rate < 10, rate) : "",
        .rank = RANK_RATE,
        .right = true,
    };
    cell[n++] = (struct cr_row_cell){
        .name = "lr",
        .text = s->step > 0 ? cr_strf(&mem, "%.3g", t->last.lr) : "",
        .rank = RANK_LR,
        .repeats = t->last.lr == p->row_lr,
        .right = true,
    };
    cell[n++] =
        (struct cr_row_cell){ .name = "time",
                              .text = cr_duration(&mem, now - p->row_began),
                              .rank = RANK_TIME,
                              .right = true };
    if (t->scoring.best)
        cell[n++] = (struct cr_row_cell){ .name = "",
                                          .text = best ? "best" : "",
                                          .min = (int)strlen("best"),
                                          .rank = RANK_BEST,
                                          .green = true };
    cr_console_row(&t->console, cell, n);
    cr_arena_free(&mem);
    if (p->ended >= 0 && cr_state_in_epoch(s) == 0)
        s->epoch_loss = (struct cr_loss_sum){ 0 }; /* it is reported */
    p->ended = -1;
    p->new_scores = false;
    p->row_began = now;
    p->row_steps = 0;
    p->row_samples = s->samples;
    p->row_step = s->step;
    p->row_lr = s->step > 0 ? t->last.lr : (double)NAN;
}

/* ---- Lines of the log, as in MindSpore's tutorial */

void cr_run_progress_lines(struct cr_run_progress *p, bool opens, bool loss)
{
    struct cr_train *t = p->t;
    const struct cr_state *s = &t->state;

    if (opens)
        cr_console_detail(&t->console,
                          "Epoch %" PRId64 "\n-------------------------------",
                          cr_state_epoch_of(s, s->step) + 1);
    if (loss)
        cr_console_detail(&t->console, "loss: %7f  [%3" PRId64 "/%3" PRId64 "]",
                          t->last.loss, cr_state_batch_of(s, s->step),
                          t->length.per_epoch);
}

void cr_run_progress_scores(struct cr_run_progress *p)
{
    struct cr_train *t = p->t;
    const struct cr_scores *scores = &t->state.eval;
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    for (int i = 0; i < scores->n; i++) {
        const struct cr_score *s = &scores->v[i];

        if (!s->single)
            continue;
        cr_buf_str(&b, b.len ? ", " : "");
        if (strcmp(s->name, "accuracy") == 0)
            cr_buf_f(&b, "Accuracy: %.1f%%", 100 * s->value);
        else if (strcmp(s->name, "loss") == 0)
            cr_buf_f(&b, "Avg loss: %8f", s->value);
        else
            cr_buf_f(&b, "%s: %.4f", s->name, s->value);
    }
    if (b.len)
        cr_console_detail(&t->console, "Test: \n %s \n", cr_buf_text(&b));
    cr_arena_free(&mem);
}

/* ---- The mean loss of an epoch */

void cr_epoch_loss_add(struct cr_epoch_means *ended, struct cr_train *t,
                       struct cr_loss_sum *epoch, int64_t batch,
                       int64_t samples)
{
    if ((batch - 1) % t->length.per_epoch == 0)
        *epoch = (struct cr_loss_sum){ 0 };
    if (isfinite(t->last.loss)) {
        epoch->sum += t->last.loss * (double)samples;
        epoch->samples += samples;
    }
    if (batch % t->length.per_epoch != 0)
        return;
    if (ended->n == ended->cap) {
        int cap = 2 * ended->cap + 1;

        ended->mean = cr_grow(t->arena, ended->mean, (size_t)ended->n,
                              (size_t)cap, sizeof *ended->mean);
        ended->cap = cap;
    }
    ended->mean[ended->n++] = cr_loss_mean(epoch);
}

/* ---- The course of a run */

void cr_run_progress_begin(struct cr_run_progress *p, struct cr_train *t)
{
    const struct cr_state *s = &t->state;
    struct cr_eta eta = p->eta; /* durations do not depend on the state */
    double now = progress_now();

    *p = (struct cr_run_progress){ .t = t,
                                   .eta = eta,
                                   .marked = now,
                                   .row_began = now,
                                   .row_samples = s->samples,
                                   .row_step = -1,
                                   .row_lr = (double)NAN,
                                   .ended = -1 };
    /* The evaluation at the end of an epoch was interrupted. */
    if (s->epoch_loss.samples > 0 && cr_state_in_epoch(s) == 0) {
        p->ended = cr_state_epoch(s) - 1;
        p->ended_loss = cr_loss_mean(&s->epoch_loss);
    }
}

void cr_run_progress_step(struct cr_run_progress *p)
{
    double seconds = progress_lap(p);

    cr_eta_step(&p->eta, seconds);
    p->row_steps += seconds;
}

void cr_run_progress_draw(struct cr_run_progress *p)
{
    if (cr_console_bar_due(&p->t->console, cr_now()))
        progress_bar(p, false);
}

void cr_run_progress_epoch(struct cr_run_progress *p, int64_t epoch,
                           double loss, bool later)
{
    cr_console_detail(&p->t->console, "mean loss of epoch %" PRId64 ": %f",
                      epoch + 1, loss);
    p->ended = epoch;
    p->ended_loss = loss;
    if (!later)
        progress_row(p);
}

void cr_run_progress_eval_begin(struct cr_run_progress *p)
{
    p->row_steps += progress_lap(p);
    p->eval_batches = 0;
}

void cr_run_progress_eval_batch(struct cr_run_progress *p)
{
    p->eval_batches++;
    if (cr_console_bar_due(&p->t->console, cr_now()))
        progress_bar(p, true);
}

void cr_run_progress_eval_end(struct cr_run_progress *p, bool row)
{
    p->evaluated += progress_lap(p);
    p->new_scores = true;
    if (row || p->ended >= 0)
        progress_row(p);
}

void cr_run_progress_saved(struct cr_run_progress *p, bool planned)
{
    if (planned || p->evaluated == 0)
        cr_eta_job(&p->eta, CR_ETA_SAVE, progress_lap(p));
    else
        p->evaluated += progress_lap(p);
}

void cr_run_progress_settle(struct cr_run_progress *p)
{
    if (p->evaluated > 0)
        cr_eta_job(&p->eta, CR_ETA_EVAL, p->evaluated);
    p->evaluated = 0;
    if (p->ended >= 0)
        progress_row(p);
}

void cr_run_progress_end(struct cr_run_progress *p, enum cr_outcome end)
{
    const struct cr_state *s = &p->t->state;
    bool finished = end == CR_OUTCOME_DONE || end == CR_OUTCOME_EARLY;

    if (p->ended >= 0 || (finished && p->row_step < s->step &&
                          cr_state_in_epoch(s) != 0 && s->step > 0))
        progress_row(p);
    cr_console_clear(&p->t->console);
}
