/*
 * The training loop.
 *
 * Evaluations, checkpoints and the end of the run are handled between two
 * steps. They are functions of the step and the state (already evaluated?
 * saved?), so a resumed run does exactly what is still due.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "mpi/mpi.h"
#include "text/text.h"
#include "train/eval_command.h"
#include "train/gradient.h"
#include "train/hook_recorder.h"
#include "train/nonfinite.h"
#include "train/outcome_files.h"
#include "train/prepare.h"
#include "train/progress.h"
#include "train/ranks.h"
#include "train/save.h"
#include "train/train.h"
#include "train/unfreeze.h"

#define LOOP_FLUSH 1.0 /* seconds between flushes of records */

struct loop {
    struct cr_train *t;
    struct cr_run_progress progress;
    double now, flush_next;      /* cr_now, of process 0 */
    const struct cr_batch *batch; /* the last one */
    bool has_first; /* process 0 has all rows of the first one */
    double save_last, eval_last, log_last; /* times of the last ones, in
                                              seconds */
    double rate_from;                      /* start of the next record's rate:
                                              time */
    int64_t rate_samples;
    bool save_wanted;
    double grad_norm;
    bool partial_update; /* parameters may be updated only in part */
    bool grad_overflow;  /* the run diverges by an overflow of a scaled
                            gradient */
    struct cr_epoch_means means; /* of the epochs that ended in this step */
};

static void loop_at(const struct loop *l, enum cr_phase phase)
{
    struct cr_run_observers *o = &l->t->observers;

    cr_profile_at(o->profile ? o->profile : &o->clock, phase);
}

/* The time: with several processes it is that of the last time that they have
 * met, so that all of them take the same decisions. */
static double loop_clock(const struct loop *l)
{
    return cr_mpi_size() > 1 ? l->now : cr_now();
}

/* ---- Log */

static double loop_rate(struct loop *l)
{
    double seconds = l->now - l->rate_from;
    double rate =
        seconds > 0 ? (double)(l->t->state.samples - l->rate_samples) / seconds
                    : 0;

    l->rate_from = l->now;
    l->rate_samples = l->t->state.samples;
    return rate;
}

/* Index in its epoch of the last batch of the step just done. */
static int64_t loop_batch(const struct cr_train *t)
{
    return cr_state_batch_of(&t->state, t->state.step);
}

/* Writes the record of a step and prints the line of progress. Intervals of
 * steps count over the run for records, over the epoch for lines (as in
 * MindSpore's tutorial); an interval in seconds applies to both. */
static void loop_log(struct loop *l)
{
    struct cr_train *t = l->t;
    const struct cr_interval *every = &t->every.log;
    int64_t batch = loop_batch(t), step = t->state.step;
    bool opens = batch < t->length.grad_accum; /* first update of the epoch */
    bool timed = every->seconds > 0 &&
                 (step == 1 || l->now - l->log_last >= every->seconds);

    if (timed ||
        (every->steps > 0 && (step == 1 || cr_interval_due(every, step - 1)))) {
        cr_train_record(t, false, l->grad_norm, loop_rate(l));
        l->log_last = l->now;
    }
    cr_run_progress_lines(
        &l->progress, opens,
        timed || (every->steps > 0 &&
                  (opens || cr_interval_due(every, t->length.grad_accum > 1
                                                       ? step - 1
                                                       : batch))));
}

/* ---- Signals */

/* Rereads log.every from the source of the config. */
static void loop_reread(struct loop *l)
{
    struct cr_train *t = l->t;
    struct cr_diag diag = { .arena = t->arena };
    struct cr_log_section log;
    struct cr_config *config;

    cr_console_log(
        &t->console,
        "epoch %" PRId64 ", step %" PRId64 " of %" PRId64 ", loss %f, lr %g",
        cr_state_epoch(&t->state) + 1, t->state.step, t->length.total,
        t->last.loss, t->last.lr);
    if (t->flags.reread) {
        config = cr_config_load(t->arena, &diag, t->flags.reread);
        if (!config->load_failed && diag.errors == 0 &&
            cr_section_read(config, "log", &log) && log.every.value > 0)
            t->every.log = cr_run_interval(&t->length, &log.every);
        else
            cr_console_problems(&t->console, &diag);
    }
    cr_train_flush(t);
}

static enum cr_outcome loop_signals(struct loop *l)
{
    struct cr_train *t = l->t;

    if (!cr_signals_any())
        return CR_RUNNING;
    if (cr_signals_hup())
        l->save_wanted = true;
    if (cr_signals_usr2())
        loop_reread(l);
    if (cr_signals_stop())
        return CR_OUTCOME_SIGNAL;
    if (cr_signals_usr1()) {
        l->save_wanted = true;
        if (t->opts.run.on_usr1 == CR_USR1_STOP)
            return CR_OUTCOME_USR1;
    }
    return CR_RUNNING;
}

/* ---- Evaluation */

static bool loop_eval_stop(void *ctx)
{
    struct loop *l = ctx;

    l->now = loop_clock(l);
    cr_train_sync(l->t->diag, true, &l->now);
    if (l->progress.t) /* not in a dry run */
        cr_run_progress_eval_batch(&l->progress);
    return cr_signals_end();
}

/* Epochs between two evaluations; at least one batch. */
static double loop_epochs(const struct cr_train *t)
{
    return fmax(t->opts.eval.every.value, 1 / (double)t->length.per_epoch);
}

/* Index of the epoch at whose end eval.every has passed `at` times. */
static int64_t loop_end(const struct cr_train *t, int64_t at)
{
    return (int64_t)cr_interval_ceil((double)at * loop_epochs(t)) - 1;
}

/* Number of epochs to evaluate that end between the last update and the next,
 * belong to the run and are not evaluated yet; *at: the first, as a multiple
 * of eval.every. */
static int64_t loop_ends(const struct cr_train *t, int64_t *at)
{
    const struct cr_state *s = &t->state;
    int64_t n = cr_interval_times(&t->every.eval, s->step, at);

    if (t->opts.train.steps == CR_INT_NONE)
        while (n > 0 && loop_end(t, *at + n - 1) >= t->opts.train.epochs)
            n--;
    for (; n > 0 && s->eval_step == s->step &&
           loop_end(t, *at) <= s->eval_epoch;
         n--)
        ++*at;
    return n;
}

static bool loop_eval_planned(const struct loop *l)
{
    const struct cr_train *t = l->t;
    int64_t at;

    if (t->every.eval.within)
        return loop_ends(t, &at) > 0;
    return cr_interval_due(&t->every.eval, t->state.step) ||
           (t->every.eval.seconds > 0 &&
            l->now - l->eval_last >= t->every.eval.seconds);
}

static bool loop_eval_due(const struct loop *l)
{
    const struct cr_train *t = l->t;
    const struct cr_state *s = &t->state;

    if (!t->scoring.eval)
        return false;
    if (s->eval_step >= s->step)
        return t->every.eval.within && loop_eval_planned(l);
    if (s->step == 0)
        return t->opts.eval.first || loop_eval_planned(l);
    return s->step >= t->length.total || s->step >= t->length.stop_after ||
           loop_eval_planned(l);
}

/* Applies the scores: best checkpoint, early stopping, plateau. */
static void loop_scored(struct loop *l, int64_t epoch, bool planned)
{
    struct cr_train *t = l->t;
    double from = l->now;

    t->state.eval_step = t->state.step;
    t->state.eval_epoch = epoch;
    cr_scoring_apply(t, planned);
    cr_train_record_eval(t);
    cr_run_progress_scores(&l->progress);
    if (t->opts.run.exec_on_eval)
        loop_at(l, CR_PHASE_COMMAND);
    cr_train_eval_command(t);
    loop_at(l, CR_PHASE_OTHER);
    l->now = loop_clock(l);
    l->rate_from += l->now - from;
}

/* An epoch that ends within the batches of the next update is evaluated with
 * the present parameters. */
static void loop_epochs_scored(struct loop *l, bool planned)
{
    struct cr_train *t = l->t;
    int64_t at, n = loop_ends(t, &at);

    if (t->state.eval_step < 0 && t->opts.eval.first)
        loop_scored(l, 0, false);
    for (; n-- > 0 && !t->state.stopped_early; at++)
        loop_scored(l, loop_end(t, at), planned);
}

static enum cr_outcome loop_eval(struct loop *l)
{
    struct cr_train *t = l->t;
    double from = l->now;
    bool planned = loop_eval_planned(l), stopped, ok;
    bool means = t->opts.eval.use_ema && t->opts.train.ema.decay > 0;

    loop_at(l, CR_PHASE_EVAL);
    cr_run_progress_eval_begin(&l->progress);
    if (means)
        cr_net_ema_swap(t->net);
    ok = cr_eval_run(t->scoring.eval, t->diag, loop_eval_stop, l, &stopped);
    if (means)
        cr_net_ema_swap(t->net);
    loop_at(l, CR_PHASE_OTHER);
    if (!ok)
        return CR_OUTCOME_FAILED;
    l->now = loop_clock(l);
    l->rate_from += l->now - from; /* evaluation time does not count */
    if (stopped)
        return loop_signals(l);
    t->state.eval = *cr_eval_scores(t->scoring.eval);
    l->eval_last = l->now;
    if (t->every.eval.within && planned)
        loop_epochs_scored(l, planned);
    else
        loop_scored(l, cr_state_epoch_of(&t->state, t->state.step), planned);
    cr_train_outcomes_keep(t);
    cr_run_progress_eval_end(&l->progress, !(t->every.eval.within && planned));
    return CR_RUNNING;
}

/* ---- Between steps */

static bool loop_save_due(const struct loop *l)
{
    const struct cr_train *t = l->t;
    const struct cr_state *s = &t->state;

    if (l->save_wanted)
        return true;
    if (t->opts.train.nan == CR_NAN_FALLBACK && s->nan.good_step < 0)
        return true; /* the initial state is a fallback, too */
    if (s->step == 0)
        return false;
    return s->step >= t->length.total ||
           cr_interval_due(&t->every.save, s->step) ||
           (t->every.save.seconds > 0 &&
            l->now - l->save_last >= t->every.save.seconds) ||
           (s->best_metric && s->best_step == s->step &&
            s->eval_step == s->step);
}

static bool loop_save(struct loop *l, enum cr_outcome *end)
{
    const struct cr_train *t = l->t;
    bool ok, planned = cr_interval_due(&t->every.save, t->state.step) ||
                       t->every.save.seconds > 0;

    loop_at(l, CR_PHASE_SAVE);
    ok = cr_train_save(l->t, end);
    cr_train_outcomes_write(l->t, false);
    loop_at(l, CR_PHASE_OTHER);
    cr_run_progress_saved(&l->progress, planned);
    return ok;
}

/* Ends the run, without writing, if another process has taken the lock, or
 * another folder has its name. */
static enum cr_outcome loop_lost(struct cr_train *t)
{
    t->dir.metrics.len = 0;
    cr_error(t->diag, cr_at_file(t->arena, t->dir.path), CR_E_SYSTEM,
             "another process has taken over this run directory");
    cr_train_fail_alone(t);
    return CR_OUTCOME_FAILED;
}

/* Does everything that is due between two steps. */
static enum cr_outcome loop_due(struct loop *l)
{
    struct cr_train *t = l->t;
    enum cr_outcome end;

    if (cr_run_lock_lost(&t->dir.lock))
        return loop_lost(t);
    end = loop_signals(l);
    if (end == CR_RUNNING && loop_eval_due(l))
        end = loop_eval(l);
    if (end == CR_RUNNING && t->state.stopped_early)
        end = CR_OUTCOME_EARLY;
    if (end == CR_RUNNING && t->state.step >= t->length.total)
        end = CR_OUTCOME_DONE;
    if (end == CR_RUNNING && t->state.step >= t->length.stop_after)
        end = CR_OUTCOME_STOP_AFTER;
    if (end == CR_RUNNING && t->length.time_limit > 0 &&
        l->now - t->history.started >= t->length.time_limit)
        end = CR_OUTCOME_TIME;
    if (end != CR_RUNNING || loop_save_due(l)) {
        if (cr_run_lock_lost_now(&t->dir.lock))
            return loop_lost(t);
        if (!loop_save(l, &end))
            return end;
        l->save_wanted = false;
        l->save_last = l->now;
    }
    if (end == CR_RUNNING)
        cr_run_progress_settle(&l->progress);
    return end;
}

/* ---- A step */

/* Ends the run: the step is recorded, but not applied. */
static enum cr_outcome loop_diverged(struct loop *l, struct cr_exec *exec,
                                     enum cr_gradient bad)
{
    struct cr_train *t = l->t;

    l->grad_overflow = t->optim.scale.on && bad != CR_GRADIENT_BAD_LOSS;
    cr_train_record(t, true, l->grad_norm, 0);

    t->fault.why = cr_train_why(t, t->arena, exec, bad);
    t->fault.fix = cr_train_fix(t, exec);
    return CR_OUTCOME_DIVERGED;
}

static void loop_why(const struct loop *l)
{
    struct cr_train *t = l->t;

    cr_error(t->diag, CR_NOWHERE, CR_E_DIVERGED, "%s", t->fault.why);
    if (l->grad_overflow)
        cr_train_loss_scale_note(t);
    else if (t->fault.fix)
        cr_hint(t->diag, "%s", t->fault.fix);
}

/* The loss scaler skips the update and lowers the scale. */
static enum cr_outcome loop_rescale(struct loop *l, struct cr_exec *exec,
                                    enum cr_gradient bad)
{
    struct cr_train *t = l->t;
    const struct cr_loss_scale_opts *use = &t->optim.scale;
    struct cr_loss_scale *s = &t->state.scale;
    double scale = s->value;

    cr_loss_scale_adjust(&use->rule, s, false);
    if (s->n_overflow >= use->give_up_after) {
        loop_diverged(l, exec, bad);
        t->fault.why = cr_strf(t->arena,
                         "%" PRId64 " consecutive updates were skipped, the "
                         "last with loss scale %g: %s",
                         s->n_overflow, scale, t->fault.why);
        return CR_OUTCOME_DIVERGED;
    }
    cr_net_skipped(t->net, cr_state_skipped(&t->state));
    if (s->skipped == 1)
        cr_console_log(&t->console,
                       "%s is not finite at step %" PRId64
                       " with loss scale %g: update skipped; further ones are "
                       "only recorded in metrics.jsonl",
                       cr_gradient_text(bad), t->state.step + 1, scale);
    cr_train_record_overflow(t, scale);
    return CR_RUNNING;
}

/* Handles a loss or gradient that is not finite; nothing was updated. */
static enum cr_outcome loop_bad(struct loop *l, struct cr_exec *exec,
                                enum cr_gradient bad)
{
    struct cr_train *t = l->t;

    cr_data_loader_gather(t->loader, l->batch); /* to find the cause */
    if (bad != CR_GRADIENT_BAD_LOSS)
        t->fault.overflow_scale =
            cr_gradient_scale(&t->optim.scale, &t->state.scale);
    switch (cr_gradient_action(&t->optim.scale, t->opts.train.nan, bad)) {
    case CR_ACTION_RESCALE:
        return loop_rescale(l, exec, bad);
    case CR_ACTION_SKIP:
        if (cr_train_nan_skip(t, exec, bad))
            return CR_RUNNING;
        t->fault.fix = cr_train_fix(t, exec);
        return CR_OUTCOME_DIVERGED;
    default:
        return loop_diverged(l, exec, bad);
    }
}

/* Clips separate gradients and applies the update. */
static enum cr_outcome loop_update(struct loop *l, struct cr_exec *exec,
                                   double scale)
{
    struct cr_train *t = l->t;
    enum cr_gradient bad = cr_gradient_apply(
        exec, &t->opts.train, scale, t->last.lr, cr_state_updates(&t->state),
        cr_train_records_norm(t) ? &l->grad_norm : NULL);

    if (bad != CR_GRADIENT_FINITE)
        return loop_bad(l, exec, bad);
    if (t->optim.scale.on)
        cr_loss_scale_adjust(&t->optim.scale.rule, &t->state.scale, true);
    t->state.nan.consecutive = 0;
    return CR_RUNNING;
}

static const struct cr_batch *loop_next(struct cr_train *t)
{
    int errors = t->diag->errors;
    const struct cr_batch *batch = cr_data_loader_next(t->loader, t->diag);

    if (!batch && t->diag->errors == errors)
        batch =
            cr_data_loader_next(t->loader, t->diag); /* end of epoch */
    return batch;
}

/* Totals of the batches of one step. */
struct seen {
    int64_t samples, cursor;
    double loss;
    struct cr_loss_sum epoch; /* of the epoch of the last batch */
    enum cr_gradient bad; /* reason of the first batch that was not finite; a
                             loss takes precedence */
};

/* Chooses the plan for a batch, and checks that its indices are valid. */
static bool loop_feed(struct cr_train *t, const struct cr_batch *batch,
                      struct cr_exec **of)
{
    struct cr_exec *exec = *of = cr_plans_for(&t->plans, batch);

    for (int i = 0; i < t->n_columns; i++)
        cr_exec_feed(exec, i, batch->data[i]);
    if (cr_exec_check(exec, t->diag, batch->samples))
        return true;
    cr_data_loader_note(t->loader, t->diag);
    return false;
}

/* Runs batch k of a step: forward and backward pass, accumulation of the
 * gradients. */
static enum cr_outcome loop_batch_step(struct loop *l, struct cr_exec **of,
                                       int64_t k, double scale,
                                       struct seen *seen)
{
    struct cr_train *t = l->t;
    const struct cr_batch *batch;
    int64_t place = t->state.step * t->length.grad_accum + k + 1;
    enum cr_gradient bad;
    struct cr_exec *exec;

    loop_at(l, CR_PHASE_DATA);
    l->batch = batch = loop_next(t);
    loop_at(l, CR_PHASE_STEP);
    if (!cr_train_sync(l->t->diag, batch && loop_feed(t, batch, of), &l->now))
        return CR_OUTCOME_FAILED;
    exec = *of;
    if (!l->has_first) /* labels, of other processes too */
        cr_data_loader_gather(t->loader, batch);
    l->has_first = true;
    cr_train_outcomes_batch(t, batch);
    if (t->observers.recorder && k == 0) {
        loop_at(l, CR_PHASE_WATCH);
        if (!cr_mpi_agree(t->diag, cr_hook_recorder_step(t->observers.recorder,
                                                         batch)))
            return CR_OUTCOME_FAILED;
        loop_at(l, CR_PHASE_STEP);
    }
    bad = cr_gradient_compute(exec, t->diag, place, scale, t->last.lr, false,
                              &t->last.loss);
    if (bad == CR_GRADIENT_NO_FORWARD)
        cr_data_loader_note(t->loader, t->diag);
    /* Updates are part of the backward pass unless gradients are separate. */
    l->partial_update =
        bad == CR_GRADIENT_NO_BACKWARD && !cr_train_needs_gradients(t);
    if (bad == CR_GRADIENT_NO_FORWARD || bad == CR_GRADIENT_NO_BACKWARD)
        return CR_OUTCOME_FAILED;
    if (bad != CR_GRADIENT_FINITE && seen->bad != CR_GRADIENT_BAD_LOSS)
        seen->bad = bad;
    if (bad == CR_GRADIENT_FINITE && t->length.grad_accum > 1)
        cr_exec_accumulate(exec);
    if (bad != CR_GRADIENT_FINITE &&
        cr_gradient_action(&t->optim.scale, t->opts.train.nan, bad) ==
            CR_ACTION_DIVERGE)
        return loop_bad(l, exec, bad);
    seen->loss += t->last.loss;
    for (int i = 0; i < t->last.n_aux; i++)
        t->last.aux[i] +=
            cr_exec_aux_mean(exec, i) / (double)t->length.grad_accum;
    cr_epoch_loss_add(&l->means, t, &seen->epoch, place, batch->n);
    seen->samples += batch->n;
    seen->cursor += batch->n;
    if (place % t->length.per_epoch == 0)
        seen->cursor = 0;
    return CR_RUNNING;
}

/* Runs the batches of a step, and its update. */
static enum cr_outcome loop_batches(struct loop *l, struct seen *seen)
{
    struct cr_train *t = l->t;
    double scale = cr_gradient_scale(&t->optim.scale, &t->state.scale);
    struct cr_exec *exec = NULL;
    enum cr_outcome end = CR_RUNNING;

    *seen = (struct seen){ .cursor = t->state.cursor,
                           .epoch = t->state.epoch_loss };
    l->means.n = 0;
    for (int i = 0; i < t->last.n_aux; i++)
        t->last.aux[i] = 0;
    l->grad_norm = (double)NAN; /* unknown as yet */
    t->last.lr = cr_optim_lr(&t->optim, t->net, cr_state_updates(&t->state));
    for (int64_t k = 0; k < t->length.grad_accum && end == CR_RUNNING; k++)
        end = loop_batch_step(l, &exec, k, scale, seen);
    if (end != CR_RUNNING)
        return end;
    t->last.loss = seen->loss / (double)t->length.grad_accum;
    if (seen->bad != CR_GRADIENT_FINITE)
        return loop_bad(l, exec, seen->bad);
    if (!cr_train_needs_gradients(t))
        return CR_RUNNING;
    loop_at(l, CR_PHASE_UPDATE);
    return loop_update(l, exec, scale * (double)t->length.grad_accum);
}

/* Undoes a step that is not completed: restores the moving statistics, which
 * its forward passes have updated already. */
static enum cr_outcome loop_step(struct loop *l, struct seen *seen)
{
    enum cr_outcome end;

    cr_net_statistics_save(l->t->net);
    end = loop_batches(l, seen);
    if (end != CR_RUNNING)
        cr_net_statistics_restore(l->t->net);
    return end;
}

/* The decay rate rises with the updates, as in mindcv's EMA. */
static void loop_mean(struct cr_train *t, int64_t updates)
{
    cr_net_ema_update(t->net,
                      t->opts.train.ema.decay *
                          (1 - exp(-(double)updates / 2000)));
}

/* Advances the state after a step; `before`: number of updates before it. */
static void loop_advance(struct cr_train *t, const struct seen *seen,
                         int64_t before)
{
    struct cr_state *s = &t->state;

    s->step++;
    cr_net_statistics_average(t->net);
    if (t->opts.train.ema.decay > 0 && cr_state_updates(s) > before)
        loop_mean(t, cr_state_updates(s));
    if (isfinite(t->last.loss))
        cr_trend_add(&t->last.trend, t->last.loss);
    s->samples += seen->samples;
    s->cursor = seen->cursor;
    s->epoch_loss = seen->epoch;
}

/* Reports the epochs that ended in the step just done. */
static void loop_ended(struct loop *l)
{
    const struct cr_epoch_means *ended = &l->means;
    int64_t epoch = cr_state_epoch(&l->t->state) - ended->n;

    for (int i = 0; i < ended->n; i++)
        cr_run_progress_epoch(&l->progress, epoch + i, ended->mean[i],
                              i + 1 == ended->n && loop_eval_due(l));
}

/* Logs the step just done, and the epochs that ended in it: first if the step
 * has batches of the next epoch, too. */
static void loop_report(struct loop *l)
{
    bool crossed = cr_state_in_epoch(&l->t->state) != 0;

    cr_run_progress_step(&l->progress);
    if (crossed)
        loop_ended(l);
    loop_log(l);
    if (!crossed)
        loop_ended(l);
    cr_run_progress_draw(&l->progress);
}

/* Does what is due, runs one step, logs it. */
static enum cr_outcome loop_iteration(struct loop *l)
{
    struct cr_train *t = l->t;
    struct seen seen;
    int64_t updates = cr_state_updates(&t->state);
    enum cr_outcome end = loop_due(l);

    if (end != CR_RUNNING)
        return end;
    if (!cr_train_unfreeze(t))
        return CR_OUTCOME_FAILED;
    end = loop_step(l, &seen);
    loop_at(l, CR_PHASE_OTHER);
    if (end == CR_OUTCOME_FAILED && t->state.step > 0 && !l->partial_update)
        loop_save(l, &end); /* saves what was trained so far */
    if (end != CR_RUNNING)
        return end;
    loop_advance(t, &seen, updates);
    l->now = loop_clock(l);
    loop_report(l);
    if (t->observers.profile)
        t->observers.profile->steps++;
    if (t->observers.text_samples) {
        bool ok;

        loop_at(l, CR_PHASE_TEXT);
        ok = cr_mpi_rank() > 0 ||
             cr_text_samples_step(t->observers.text_samples);
        loop_at(l, CR_PHASE_OTHER);
        if (!cr_mpi_agree(t->diag, ok))
            return CR_OUTCOME_FAILED;
    }
    if (l->now >= l->flush_next) {
        cr_train_flush(t);
        l->flush_next = l->now + LOOP_FLUSH;
    }
    return CR_RUNNING;
}

/* Initialises clocks and data from a state, which may come from a file. */
static void loop_begin(struct loop *l)
{
    struct cr_train *t = l->t;

    l->now = cr_now();
    cr_train_sync(t->diag, true, &l->now);
    l->rate_from = l->now;
    l->rate_samples = t->state.samples;
    cr_run_progress_begin(&l->progress, t);
    t->history.started_step = t->state.step;
    if (t->optim.scale.on && t->state.scale.value <= 0)
        t->state.scale.value = t->optim.scale.rule.start;
    cr_net_skipped(t->net, cr_state_skipped(&t->state));
    cr_data_loader_seek(t->loader, cr_state_epoch(&t->state),
                        cr_state_in_epoch(&t->state));
}

static enum cr_outcome loop_run(struct loop *l)
{
    struct cr_train *t = l->t;
    enum cr_outcome end;

    for (;;) {
        while ((end = loop_iteration(l)) == CR_RUNNING)
            ;
        if (end == CR_OUTCOME_DIVERGED && cr_run_lock_lost_now(&t->dir.lock))
            end = loop_lost(t);
        if (end != CR_OUTCOME_DIVERGED || !cr_train_nan_fallback(t))
            break;
        loop_begin(l);
    }
    if (end == CR_OUTCOME_DIVERGED)
        loop_why(l);
    return end;
}

enum cr_outcome cr_train_loop(struct cr_train *t)
{
    struct loop l = { .t = t };
    enum cr_outcome end;

    if (t->history.old_record)
        return CR_OUTCOME_DONE;
    loop_at(&l, CR_PHASE_OTHER);
    loop_begin(&l);
    l.save_last = l.eval_last = l.log_last = l.now;
    l.flush_next = l.now + LOOP_FLUSH;
    end = loop_run(&l);
    loop_at(&l, CR_PHASE_SAVE);
    cr_train_outcomes_write(t, true);
    loop_at(&l, CR_PHASE_OTHER);
    cr_run_progress_end(&l.progress, end);
    cr_train_flush(t);
    loop_at(&l, CR_PHASE_OTHER);
    if (t->observers.profile)
        cr_profile_add(t->observers.profile, &t->plans);
    return end;
}

enum cr_outcome cr_train_steps(struct cr_train *t, int64_t n,
                               bool (*each)(void *ctx, double loss), void *ctx)
{
    struct loop l = { .t = t };
    enum cr_outcome end = CR_RUNNING;
    struct seen seen;

    t->state.per_epoch = t->length.per_epoch;
    t->state.grad_accum = t->length.grad_accum;
    loop_begin(&l);
    while (end == CR_RUNNING && cr_state_updates(&t->state) < n) {
        int64_t before = cr_state_updates(&t->state);

        end = loop_step(&l, &seen);
        if (end != CR_RUNNING)
            break;
        loop_advance(t, &seen, before);
        if (cr_state_updates(&t->state) > before && !each(ctx, t->last.loss))
            end = CR_OUTCOME_DONE;
    }
    return end == CR_RUNNING ? CR_OUTCOME_DONE : end;
}

enum cr_outcome cr_train_dry(struct cr_train *t)
{
    struct loop l = { .t = t };
    struct seen seen;
    enum cr_outcome end;
    bool stopped;

    t->state.scale.value = t->optim.scale.rule.start;
    t->state.per_epoch = t->length.per_epoch;
    t->state.grad_accum = t->length.grad_accum;
    cr_data_loader_seek(t->loader, 0, 0);
    end = loop_step(&l, &seen);
    if (end == CR_OUTCOME_DIVERGED)
        loop_why(&l);
    if (end == CR_RUNNING)
        loop_advance(t, &seen, 0);
    if (end == CR_RUNNING && t->scoring.eval &&
        !cr_eval_run(t->scoring.eval, t->diag, loop_eval_stop, &l, &stopped))
        end = CR_OUTCOME_FAILED;
    return end == CR_RUNNING ? CR_OUTCOME_DONE : end;
}
