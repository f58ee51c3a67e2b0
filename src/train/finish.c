/*
 * The end of a run: the check of --require, the summary on standard output and
 * the exit status.
 */
#include <inttypes.h>
#include <string.h>

#include "base/signals.h"
#include "base/table.h"
#include "mpi/mpi.h"
#include "rundir/export.h"
#include "tensorboard/tensorboard.h"
#include "train/diagnose.h"
#include "train/nonfinite.h"
#include "train/prepare.h"
#include "train/run_record.h"
#include "train/save.h"
#include "train/train.h"

static int finish_exit(const struct cr_train *t, enum cr_outcome end)
{
    int problems = cr_diag_exit(t->diag);

    if (t->files.unsaved && problems == 0)
        problems = cr_code_exit(CR_E_SYSTEM);
    switch (end) {
    case CR_OUTCOME_SIGNAL:
        /* status 75 requires a checkpoint */
        return t->files.unsaved ? problems : 128 + cr_signals_stop();
    case CR_OUTCOME_TIME:
    case CR_OUTCOME_STOP_AFTER:
    case CR_OUTCOME_USR1:
        return t->files.unsaved ? problems : CR_STATUS_AGAIN;
    case CR_OUTCOME_DIVERGED:
        return cr_code_exit(CR_E_DIVERGED);
    default:
        return problems;
    }
}

/* ---- The summary */

static void finish_print_text(struct cr_train *t, enum cr_outcome end)
{
    struct cr_buf b = { .arena = t->arena };
    const struct cr_state *s = &t->state;

    cr_buf_f(&b, "status: %s\nepochs: %" PRId64 "\nsteps: %" PRId64 "\n",
             t->flags.dry_run ? "dry_run" : cr_train_status(end),
             cr_train_epochs_done(t), s->step);
    if (cr_mpi_size() > 1)
        cr_buf_f(&b, "ranks: %d\n", cr_mpi_size());
    if (cr_state_skipped(s) > 0)
        cr_buf_f(&b, "skipped: %" PRId64 "\n", cr_state_skipped(s));
    if (s->eval_step >= 0)
        cr_buf_score_lines(&b, &s->eval, "eval.");
    if (s->best_metric)
        cr_buf_f(&b, "best.%s: %.4f at epoch %" PRId64 "\n", s->best_metric,
                 s->best, cr_state_best_epoch(&t->state));
    if (t->dir.path) {
        cr_buf_f(&b, "run: %s\n", t->dir.path);
        if (cr_run_ckpt(&t->dir))
            cr_buf_f(&b, "ckpt: %s\n", cr_rundir_file(&t->dir,
                                                      cr_run_ckpt(&t->dir)));
    }
    fputs(cr_buf_text(&b), stdout);
    if (t->observers.profile && !t->history.old_record)
        cr_profile_print(t->observers.profile);
}

static void finish_print_json(struct cr_train *t, enum cr_outcome end)
{
    struct cr_buf b = { .arena = t->arena };
    const struct cr_state *s = &t->state;

    cr_buf_f(&b, "{\"status\":\"%s\",\"epochs\":%" PRId64 ",\"steps\":%" PRId64,
             t->flags.dry_run ? "dry_run" : cr_train_status(end),
             cr_train_epochs_done(t), s->step);
    if (cr_mpi_size() > 1)
        cr_buf_f(&b, ",\"ranks\":%d", cr_mpi_size());
    if (cr_train_may_skip(t))
        cr_buf_f(&b, ",\"skipped\":%" PRId64, cr_state_skipped(s));
    if (s->eval_step >= 0) {
        cr_buf_str(&b, ",\"eval\":{");
        cr_buf_scores(&b, &s->eval, true);
        cr_buf_char(&b, '}');
    }
    if (s->best_metric) {
        cr_buf_str(&b, ",\"best\":{");
        cr_buf_json(&b, s->best_metric);
        cr_buf_char(&b, ':');
        cr_buf_real(&b, s->best);
        cr_buf_f(&b, ",\"epoch\":%" PRId64 "}", cr_state_best_epoch(&t->state));
    }
    if (t->dir.path) {
        cr_buf_str(&b, ",\"run\":");
        cr_buf_json(&b, t->dir.path);
        if (cr_run_ckpt(&t->dir)) {
            cr_buf_str(&b, ",\"ckpt\":");
            cr_buf_json(&b, cr_rundir_file(&t->dir, cr_run_ckpt(&t->dir)));
        }
    }
    if (t->observers.profile && !t->history.old_record) {
        cr_buf_str(&b, ",\"profile\":");
        cr_profile_json(t->observers.profile, &b);
    }
    cr_buf_str(&b, "}\n");
    fputs(cr_buf_text(&b), stdout);
}

/* ---- The end */

/* Prints what a run that ended early has saved, and the command that
 * continues it. A run that diverged would do so again with the same
 * settings. */
static void finish_hint(struct cr_train *t, enum cr_outcome end)
{
    const char *dir = t->dir.path ? cr_escape(t->arena, t->dir.path) : "";

    if (end == CR_OUTCOME_DONE || end == CR_OUTCOME_EARLY || t->files.unsaved ||
        !t->dir.path)
        return;
    if (t->flags.no_ckpt) {
        cr_console_log(&t->console, "nothing is saved: --no-ckpt is set");
        return;
    }
    if (!t->files.newest)
        return;
    cr_console_log(&t->console, "saved: %s (after step %" PRId64 " of %" PRId64
                                ")",
                   cr_escape(t->arena, t->files.newest), t->files.step,
                   t->length.total);
    if (t->opts.checkpoint.weights_only)
        cr_console_log(&t->console,
                       "it has only weights: use it with train --load");
    else if (end == CR_OUTCOME_DIVERGED)
        cr_console_log(&t->console,
                       "to continue with other settings: cellrun resume %s "
                       "--allow-change KEY=VALUE",
                       dir);
    else
        cr_console_log(&t->console, "to continue: cellrun resume %s", dir);
}

/* Warns if every update of the run was skipped. */
static void finish_idle(struct cr_train *t)
{
    const struct cr_state *s = &t->state;

    if (s->step == 0 || cr_state_updates(s) > 0 || t->flags.dry_run)
        return;
    cr_warn(t->diag, CR_NOWHERE, CR_E_DIVERGED,
            "the network was not trained: all %" PRId64
            " updates were skipped because the loss or gradient was not finite",
            s->step);
    if (s->scale.skipped == s->step)
        cr_train_loss_scale_note(t);
}

int cr_train_finish(struct cr_train *t, enum cr_outcome end)
{
    int status;

    if (t->history.old_record)
        end = cr_train_load_record(t);
    if (end != CR_OUTCOME_DIVERGED && end != CR_OUTCOME_FAILED)
        finish_idle(t);
    if ((end == CR_OUTCOME_DONE || end == CR_OUTCOME_EARLY) &&
        !t->history.old_record &&
        !t->flags.dry_run)
        cr_train_diagnose(t);
    if (end == CR_OUTCOME_DONE || end == CR_OUTCOME_EARLY)
        cr_scoring_check(t);
    cr_console_problems(&t->console, t->diag);
    finish_hint(t, end);
    cr_tensorboard_end(t->observers.tensorboard, end == CR_OUTCOME_DONE ||
                                           end == CR_OUTCOME_EARLY);
    cr_train_close_records(t);
    if (t->opts.log.csv && t->dir.path && !t->history.old_record &&
        !cr_run_lock_lost_now(&t->dir.lock))
        cr_run_export_csv(t->arena, t->diag, t->dir.path);
    status = finish_exit(t, end);
    if (!t->history.old_record && t->dir.lock.path &&
        !cr_run_lock_lost_now(&t->dir.lock) &&
        !cr_train_write_record(t, end, status) && status == 0)
        status = cr_diag_exit(t->diag);
    cr_console_problems(&t->console, t->diag);
    if (t->flags.silent)
        return status;
    if (t->cli->json)
        finish_print_json(t, end);
    else
        finish_print_text(t, end);
    return status;
}
