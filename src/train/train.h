/*
 * A training run: everything it needs, made and checked before its first step,
 * and the training loop. The commands train and resume drive it:
 *
 *   cr_train_prepare   config, data, network, plans; reports all problems
 *   cr_train_start     run directory; a checkpoint to resume from
 *   cr_train_loop      steps, evaluations, checkpoints, records
 *   cr_train_finish    summary, record.json; the exit status
 *
 * What a run does at a step is a function of the step and of its state alone,
 * not of the history of the process; this makes resuming exact.
 *
 * Called by the commands train, resume, check and lr-find. May use every room
 * of the engine; nothing of the engine knows it.
 *
 * Includes: base build ckpt conf console data graph kernels num plugin run
 *     rundir score tensorboard text.
 */
#ifndef CR_TRAIN_TRAIN_H
#define CR_TRAIN_TRAIN_H

#include "ckpt/checkpoint.h"
#include "conf/command_line.h"
#include "console/console.h"
#include "console/trend.h"
#include "rundir/rundir.h"
#include "score/eval.h"
#include "score/require.h"
#include "text/text.h"
#include "train/gradient.h"
#include "train/hook_recorder.h"
#include "train/optim.h"
#include "train/profile.h"
#include "train/section.h"
#include "train/state.h"

struct cr_tensorboard;
struct cr_train_outcomes;

/* Progress of cr_train_reopen through metrics.jsonl. */
struct cr_metrics_trim {
    int64_t step, eval_step;  /* of the checkpoint, for records of older
                                 versions, which have steps but no samples */
    int64_t n_read, n_legacy; /* records read; legacy records kept */
    int64_t n_unreadable;     /* lines that are not records */
};

/* Options of the command line that are not part of the config. */
struct cr_train_flags {
    enum cr_progress progress;
    bool dry_run, no_ckpt, force, eager;
    bool silent;       /* print no summary to standard output */
    bool exact;        /* with resume: a run of another length is another run */
    bool profile;      /* print a time profile at the end */
    bool check;        /* only prepare; parameters get no values */
    bool resume;       /* resume if the run directory has a checkpoint */
    bool allow_change; /* resume although the config differs */
    const char *run_dir;    /* NULL: below run.dir */
    const char *require;    /* NULL: nothing */
    const char *ckpt;       /* resume from this file */
    const struct cr_config_from *reread; /* source of log.every for USR2 */
};

/* How a run ended. */
enum cr_outcome {
    CR_RUNNING, /* the run continues */
    CR_OUTCOME_DONE,
    CR_OUTCOME_EARLY,
    CR_OUTCOME_SIGNAL, /* INT or TERM */
    CR_OUTCOME_TIME,   /* train.time_limit */
    CR_OUTCOME_STOP_AFTER, /* train.stop_after */
    CR_OUTCOME_USR1,   /* run.on_usr1: stop */
    CR_OUTCOME_DIVERGED,
    CR_OUTCOME_FAILED /* data or disk; reported to diag */
};

/* The best checkpoint so far. */
struct cr_best {
    const char *metric;     /* NULL: none yet */
    double value;
    int64_t step;
};

/* An interval in steps or seconds. */
struct cr_interval {
    double steps, seconds;  /* one of the two; else 0 */
    bool within; /* epochs end within steps of several batches: due before such
                    a step, not after it */
};

struct cr_train {
    struct cr_cli *cli;
    struct cr_train_flags flags;
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_config *config;

    struct cr_train_section train;
    struct cr_eval_section eval_opts;
    struct cr_checkpoint_section checkpoint;
    struct cr_log_section log;
    struct cr_run_section run;
    uint64_t seed;
    double time_limit;      /* seconds; 0: none */

    const char *name, *id, *yaml;
    struct cr_data_loader *loader, *eval_loader;
    struct cr_net *net;
    struct cr_optim_use optim;
    struct cr_plans plans;
    int n_columns;
    struct cr_metrics metrics;
    struct cr_eval *eval;   /* NULL: no data to evaluate on */
    struct cr_hook_recorder *recorder;    /* NULL: no hooks in training */
    struct cr_profile *profile;           /* NULL: no time profile, then */
    struct cr_profile clock;              /* times the phases only */
    struct cr_text_samples *text_samples; /* NULL: no texts are generated */
    struct cr_tensorboard *tensorboard;   /* NULL: without log.tensorboard */
    struct cr_train_outcomes *outcomes;   /* NULL: the run writes none */
    const struct cr_metric_use *best;    /* NULL: none */
    const struct cr_plateau_rule *plateau; /* NULL: none */
    bool best_max, early_max, plateau_max;
    struct cr_require *require;

    int64_t per_epoch;      /* batches */
    int64_t grad_accum, total; /* batches per step; steps of the run */
    int n_unfrozen;         /* entries of freeze.schedule already applied */
    struct cr_interval eval_every, save_every, log_every;
    int64_t stop_after;     /* step after which the run stops; INT64_MAX:
                               none */

    struct cr_state state;
    struct cr_metrics_trim trim;
    struct cr_rundir dir;
    struct cr_console console;
    const char *resumed; /* file the run was resumed from; NULL: a new run */
    int64_t saved_step, saved_eval; /* steps of the newest file; -1: none */
    const char *saved; /* newest file written or resumed from */
    const char *good;  /* file train.nan may fall back to; or NULL */
    const char *why, *fix;  /* with CR_OUTCOME_DIVERGED: what is not finite,
                               and a suggested fix */
    bool partial_update;    /* parameters may be updated only in part */
    bool grad_overflow;     /* the cause is an overflow of a scaled gradient */
    double overflow_scale;  /* loss scale of the last overflow; 0: none yet */
    double loss, lr;        /* of the last step */
    double *aux;            /* means of the auxiliary values of the loss */
    const char *const *aux_names;
    int n_aux;
    struct cr_trend trend;  /* losses of this process */
    double started;         /* cr_now() when the command began */
    int64_t started_step;
    long long started_at;   /* the time of day then */
    const struct cr_node *vars; /* of the config, for the record; or NULL */
    const char *started_text; /* of a resumed run: when it was first started */
    double seconds_before;  /* of a resumed run: seconds of earlier processes */
    struct cr_best kept;    /* the best checkpoint that is saved */
    bool unsaved;           /* a checkpoint could not be written */
    const char *best_waits; /* file still to be linked as best; NULL: none */
    const struct cr_node *old_record; /* of a run that had already ended */
};

/* ---- prepare.c */

bool cr_train_prepare(struct cr_train *t);
/* Warns about settings without effect. False after reporting that the length
 * of predict.labels is not the number of classes. */
bool cr_train_lint(struct cr_train *t);
/* Warns about the samples, which must be prepared; used at the start of a run
 * and in check --data. False after reporting that they cannot be read. */
bool cr_train_lint_samples(struct cr_train *t);
/* Options of a run's training data; the number of its steps, false after
 * reporting. */
struct cr_data_loader_opts
cr_train_loader_opts(const struct cr_train_section *train, uint64_t seed);
bool cr_train_total(struct cr_diag *diag, const struct cr_train_section *train,
                    int64_t per_epoch, int64_t *total);
/* Whether updates may be skipped, by the loss scaler or by train.nan. */
bool cr_train_may_skip(const struct cr_train *t);
/* cr_plans_need_gradients of this run. */
bool cr_train_needs_gradients(const struct cr_train *t);
void cr_train_close(struct cr_train *t);
struct cr_interval cr_train_interval(const struct cr_train *t,
                                     const struct cr_quantity *quantity);
/* The update before which an entry of freeze.schedule is due. */
int64_t cr_train_unfreeze_step(const struct cr_train *t,
                               const struct cr_unfreeze_rule *rule);
/* Applies the entries of freeze.schedule that are due at the current step and
 * plans again. */
bool cr_train_unfreeze(struct cr_train *t);
/* After a fallback to an earlier step: freezes again what cr_train_unfreeze had
 * not unfrozen then. */
bool cr_train_refreeze(struct cr_train *t);
/* Whether the interval is due after this step. */
bool cr_interval_due(const struct cr_interval *every, int64_t step);
/* The smallest integer that is at least x, up to rounding errors of x. */
double cr_interval_ceil(double x);
/* How many times the interval is due after this step, and the number of the
 * first of these times, from 1. More than once if a step takes more batches
 * than an epoch has. */
int64_t cr_interval_times(const struct cr_interval *every, int64_t step,
                          int64_t *first);

/* ---- run_start.c */

/* The run directory: the flag, or RUNS/NAME/ID. */
const char *cr_train_folder(struct cr_train *t);
bool cr_train_start(struct cr_train *t);
/* Restores parameters, slots, state and learning rates from a checkpoint.
 * False after reporting. */
bool cr_train_restore(struct cr_train *t, struct cr_tensor_file *file);
/* Removes checkpoints of later steps. False after reporting. */
bool cr_train_drop_newer_ckpts(struct cr_train *t);
/* Opens metrics.jsonl for appending, with only the records that belong to the
 * current state. False after reporting. */
bool cr_train_reopen(struct cr_train *t);
/* Opens the newest undamaged checkpoint of a run directory; damaged ones are
 * reported and skipped. NULL, after reporting, if all are damaged. *none is
 * set if there is no checkpoint at all. */
struct cr_tensor_file *cr_train_newest(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const char *ckpt_dir, bool *none);

/* ---- loop.c */

/* Trains until the run ends; does nothing for a run that had already ended. */
enum cr_outcome cr_train_loop(struct cr_train *t);
/* Does N updates without evaluations, records and files. `each` gets the loss
 * of every update that is not skipped, and returns false to stop. */
enum cr_outcome cr_train_steps(struct cr_train *t, int64_t n,
                               bool (*each)(void *ctx, double loss), void *ctx);
/* Does one step and one batch of evaluation, without files. */
enum cr_outcome cr_train_dry(struct cr_train *t);

/* ---- nonfinite.c: the policy train.nan */

/* Skips the update of the current step. False, with t->why, if too many
 * consecutive updates were skipped. */
bool cr_train_nan_skip(struct cr_train *t, struct cr_exec *exec,
                       enum cr_gradient bad);
/* What is not finite at the current step and where it occurred first; and a
 * suggested fix (`exec` NULL: a parameter is not finite after a step). */
const char *cr_train_why(struct cr_train *t, struct cr_arena *arena,
                         struct cr_exec *exec, enum cr_gradient bad);
const char *cr_train_fix(struct cr_train *t, struct cr_exec *exec);
/* Falls back to the last good checkpoint, for the reason t->why. False if the
 * policy is another one or gives up. */
bool cr_train_nan_fallback(struct cr_train *t);

/* ---- eval_command.c */

/* Runs run.exec_on_eval, if set, after an evaluation. */
void cr_train_eval_command(struct cr_train *t);

/* ---- save.c: checkpoints and records */

/* The path of the checkpoint of a step. */
const char *cr_train_ckpt_name(const struct cr_train *t, int64_t step);
/* Saves the current state. False if the run must end because of it: then *end
 * is set, and t->why if it has diverged. */
bool cr_train_save(struct cr_train *t, enum cr_outcome *end);
/* Notes that the best state is in a file. */
void cr_train_keep_best(struct cr_train *t);
/* Writes a record of the step just done, or with `ahead` of the current one. */
void cr_train_record(struct cr_train *t, bool ahead, double grad_norm,
                     double rate);
/* Writes a record of the current step, whose update is skipped at that loss
 * scale. */
void cr_train_record_overflow(struct cr_train *t, double scale);
void cr_train_record_eval(struct cr_train *t);
/* Writes another record of the step just done, or with `ahead` of the next
 * one; `members` begin with a comma. */
void cr_train_record_more(struct cr_train *t, const char *split, bool ahead,
                          const char *members);
/* Writes a record of a text generated after the current step. */
void cr_train_record_text(struct cr_train *t, const char *text, size_t n);
/* Writes buffered records and log lines. */
void cr_train_flush(struct cr_train *t);
/* The same at the end of the run; reports lost lines. */
void cr_train_close_records(struct cr_train *t);

/* ---- outcome_files.c: what evaluations found for each sample */

/* Where the evaluation puts its outcomes; NULL for runs that write none. */
struct cr_outcomes **cr_train_outcomes_open(struct cr_train *t);
void cr_train_outcomes_close(struct cr_train *t);
/* Keeps the outcomes of the evaluation just done if it is the best, or if there
 * is no best. */
void cr_train_outcomes_keep(struct cr_train *t);
/* Notes the samples of the first batch. */
void cr_train_outcomes_batch(struct cr_train *t, const struct cr_batch *batch);
/* Writes eval.npz and samples.json if there is something new, and it is the end
 * of the run or some time has passed. */
void cr_train_outcomes_write(struct cr_train *t, bool end);

/* ---- run_record.c */

/* Writes record.json; with `end` CR_RUNNING for a run that continues. False
 * after reporting. */
bool cr_train_write_record(struct cr_train *t, enum cr_outcome end, int status);
/* Takes the numbers of a run that had already ended from its record. */
enum cr_outcome cr_train_load_record(struct cr_train *t);
/* "completed", "diverged" ... */
const char *cr_train_status(enum cr_outcome end);
/* The checkpoint that represents the run, relative to its directory; NULL:
 * none. */
const char *cr_train_ckpt(const struct cr_train *t);
/* From 1. */
int64_t cr_train_best_epoch(const struct cr_train *t);

/* ---- diagnose.c: symptoms of a run that did not learn */

/* Warns about each symptom, at the end of a run. */
void cr_train_diagnose(struct cr_train *t);

/* ---- finish.c */

/* Adds a note to a message about a loss or gradient that is not finite: the
 * loss scale may be the cause. */
void cr_train_loss_scale_note(struct cr_train *t);
/* Looks up a name in --require. */
bool cr_train_value(void *ctx, const char *name, double *to);
int cr_train_finish(struct cr_train *t, enum cr_outcome end);

#endif
