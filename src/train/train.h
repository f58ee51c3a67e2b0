/*
 * A training run: everything it needs, made and checked before its first
 * step, and the loop over it. The commands train and resume drive it:
 *
 *   cr_train_prepare   config, data, network, plans; reports all problems
 *   cr_train_start     run directory; a checkpoint to go on from
 *   cr_train_loop      steps, evaluations, checkpoints, records
 *   cr_train_finish    summary, record.json; the exit status
 *
 * What a run does at a step follows from the step and from its state alone,
 * never from how the process got there; that is what makes resuming exact.
 */
#ifndef CR_TRAIN_TRAIN_H
#define CR_TRAIN_TRAIN_H

#include "ckpt/checkpoint.h"
#include "conf/command_line.h"
#include "train/console.h"
#include "train/eval.h"
#include "train/generate.h"
#include "train/gradient.h"
#include "train/hook_recorder.h"
#include "train/optim.h"
#include "train/profile.h"
#include "train/require.h"
#include "train/rundir.h"
#include "train/section.h"
#include "train/state.h"

/* metrics.jsonl on the way of cr_train_reopen. */
struct cr_metrics_trim {
    int64_t step, eval_step; /* of the checkpoint, for records that have steps
                                alone: of older versions */
    int64_t n_read, n_legacy; /* records read; records of these that are kept */
    int64_t n_unreadable;     /* lines that are not records */
};

/* What the command line asks for besides the config. */
struct cr_train_flags {
    enum cr_progress progress;
    bool dry_run, no_ckpt, force, eager;
    bool silent;            /* no summary on standard output */
    bool exact;             /* with resume: a longer run is another one */
    bool profile;           /* what takes the time is told at the end */
    bool check;             /* prepare only: parameters get no values */
    bool resume;            /* go on if the run directory has a checkpoint */
    bool allow_change;      /* resume although the config is another one */
    const char *run_dir;    /* NULL: below run.dir */
    const char *require;    /* NULL: nothing */
    const char *ckpt;       /* go on from this file, and no other */
    const struct cr_config_from *reread; /* where USR2 finds log.every */
};

/* How a run ended. */
enum cr_outcome {
    CR_RUNNING, /* it goes on */
    CR_OUTCOME_DONE,
    CR_OUTCOME_EARLY,
    CR_OUTCOME_SIGNAL, /* INT or TERM */
    CR_OUTCOME_TIME,   /* train.time_limit */
    CR_OUTCOME_USR1,   /* run.on_usr1: stop */
    CR_OUTCOME_DIVERGED,
    CR_OUTCOME_FAILED /* data, disk: diag says what */
};

/* The best checkpoint that there is. */
struct cr_best {
    const char *metric;     /* NULL: none yet */
    double value;
    int64_t step;
};

/* How often something happens, in steps or seconds. */
struct cr_interval {
    double steps, seconds;  /* one of the two; else 0 */
    bool within;            /* epochs end within steps, of several batches:
                               it is time before such a step, not after it */
};

/* The loss over a run of any length: sums of `per` updates each. */
#define CR_TREND_MAX 64
struct cr_trend {
    double sum[CR_TREND_MAX];
    int n;                  /* sums, the last of which may have */
    int64_t per, in;        /* only `in` of its `per` updates; 0: all */
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
    struct cr_hook_recorder *recorder; /* NULL: nothing is watched */
    struct cr_profile *profile; /* NULL: nobody asks what takes the time */
    struct cr_text_samples *text_samples; /* NULL: no texts are drawn */
    const struct cr_metric_use *best;    /* NULL: none */
    const struct cr_plateau_rule *plateau; /* NULL: none */
    bool best_max, early_max, plateau_max;
    struct cr_require *require;

    int64_t per_epoch;      /* batches */
    int64_t grad_accum, total; /* batches of a step; steps of the run */
    int thawed;             /* entries of freeze.schedule that were done */
    struct cr_interval eval_every, save_every, log_every;

    struct cr_state state;
    struct cr_metrics_trim trim;
    struct cr_rundir dir;
    struct cr_console console;
    const char *resumed;    /* the file we went on from; NULL: fresh */
    int64_t saved_step, saved_eval; /* what is in the newest file; -1 */
    const char *saved;      /* the newest file we wrote or went on from */
    const char *good;       /* the one train.nan may go back to; or NULL */
    const char *why, *fix;  /* with CR_OUTCOME_DIVERGED: what is not finite, and
                               what to do about it */
    bool partial_update;    /* parameters may be those of half a step */
    bool grad_overflow;     /* then: a gradient that was scaled */
    double overflow_scale;  /* the scale of the last one; 0: none yet */
    double loss, lr;        /* of the last step */
    double *aux;            /* means of what the loss returns beside it */
    const char *const *aux_names;
    int n_aux;
    struct cr_trend trend;  /* losses of this process */
    double started;         /* cr_now() when the command began */
    int64_t started_step;
    long long started_at;   /* the time of day then */
    const char *started_text; /* of a run resumed: when it first began */
    double seconds_before;  /* and what it has taken until now */
    struct cr_best kept;    /* what the best checkpoint is of */
    bool unsaved;           /* a checkpoint could not be written */
    const char *best_waits; /* the file that shall be best; NULL: it is */
    const struct cr_node *old_record; /* of a run that was over already */
};

/* ---- prepare.c */

bool cr_train_prepare(struct cr_train *t);
/* Warns about settings without effect. False after reporting predict.labels of
 * another length than the classes. */
bool cr_train_lint(struct cr_train *t);
/* The same about the samples, which are prepared: at the start of a run and in
 * check --data. False after reporting that they cannot be read. */
bool cr_train_lint_samples(struct cr_train *t);
/* What a run asks of its training data; how many steps it has, false after
 * reporting. */
struct cr_data_loader_opts
cr_train_loader_opts(const struct cr_train_section *train, uint64_t seed);
bool cr_train_total(struct cr_diag *diag, const struct cr_train_section *train,
                    int64_t per_epoch, int64_t *total);
/* Whether updates may be left out: by the scaler, or by train.nan. */
bool cr_train_may_skip(const struct cr_train *t);
/* cr_plans_need_gradients, of this run. */
bool cr_train_needs_gradients(const struct cr_train *t);
void cr_train_close(struct cr_train *t);
struct cr_interval cr_train_interval(const struct cr_train *t,
                                     const struct cr_quantity *amount);
/* The update before which an entry of freeze.schedule is due. */
int64_t cr_train_thaw_at(const struct cr_train *t,
                         const struct cr_unfreeze_rule *thaw);
/* Does the entries that are due at the present step, and plans again. */
bool cr_train_thaw(struct cr_train *t);
/* After the step has gone back: as cr_train_thaw had it then. */
bool cr_train_refreeze(struct cr_train *t);
/* Whether it is time after this step. */
bool cr_interval_due(const struct cr_interval *every, int64_t step);
/* The least integer that is not below x, which may be off by its rounding. */
double cr_interval_ceil(double x);
/* How often it is; the first of these times, counted from 1. More than once
 * where a step takes more batches than an epoch has. */
int64_t cr_interval_times(const struct cr_interval *every, int64_t step,
                          int64_t *first);

/* ---- run_start.c */

/* Where the run's files go: the flag, or RUNS/NAME/ID. */
const char *cr_train_folder(struct cr_train *t);
bool cr_train_start(struct cr_train *t);
/* Parameters, slots and state of a checkpoint; the rates follow. False after
 * reporting. */
bool cr_train_restore(struct cr_train *t, struct cr_tensor_file *file);
/* Removes checkpoints past the present step. False after reporting. */
bool cr_train_drop_newer_ckpts(struct cr_train *t);
/* metrics.jsonl with the records that the present state has, to be added to.
 * False after reporting. */
bool cr_train_reopen(struct cr_train *t);
/* A newest checkpoint of a run directory that can be read, damaged ones told
 * about and passed over; NULL, after reporting, if all are damaged. *none is
 * set when there is none at all. */
struct cr_tensor_file *cr_train_newest(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const char *ckpt_dir, bool *none);

/* ---- loop.c */

/* Does nothing for a run that was over already. */
enum cr_outcome cr_train_loop(struct cr_train *t);
/* N updates and no more: no evaluation, no record, no file. `each` is told the
 * loss of every update, not of one that is left out; false: that was the last.
 */
enum cr_outcome cr_train_steps(struct cr_train *t, int64_t n,
                               bool (*each)(void *ctx, double loss), void *ctx);
/* Builds all and does one step and one batch of evaluation; no files. */
enum cr_outcome cr_train_dry(struct cr_train *t);

/* ---- nonfinite.c: the policy train.nan */

/* Leaves the update of the step under way out. False when so many were in a
 * row that it gives up: t->why says so. */
bool cr_train_nan_skip(struct cr_train *t, struct cr_exec *exec,
                       enum cr_gradient bad);
/* What is not finite at the step under way, and where it began; what to do
 * about it (`exec` NULL: a parameter is not finite after a step). */
const char *cr_train_why(struct cr_train *t, struct cr_arena *arena,
                         struct cr_exec *exec, enum cr_gradient bad);
const char *cr_train_fix(struct cr_train *t, struct cr_exec *exec);
/* For the reason t->why: back to the last good checkpoint. False when the
 * policy is another one or gives up. */
bool cr_train_nan_fallback(struct cr_train *t);

/* ---- eval_command.c */

/* Runs run.exec_on_eval, if there is such, after an evaluation. */
void cr_train_eval_command(struct cr_train *t);

/* ---- save.c: checkpoints and records */

/* The file of the checkpoint of a step. */
const char *cr_train_ckpt_name(const struct cr_train *t, int64_t step);
/* Saves the present state. False when the run must end for it: *end, with
 * t->why if it has diverged. */
bool cr_train_save(struct cr_train *t, enum cr_outcome *end);
/* The best of the state is in a file. */
void cr_train_keep_best(struct cr_train *t);
/* Of the step just done, or with `ahead` of the one under way. */
void cr_train_record(struct cr_train *t, bool ahead, double grad_norm,
                     double rate);
/* Of the step under way, whose update is left out at that scale. */
void cr_train_record_overflow(struct cr_train *t, double scale);
void cr_train_record_eval(struct cr_train *t);
/* Another record of the step just done, or with `ahead` of the one that comes
 * next; `members` begin with a comma. */
void cr_train_record_more(struct cr_train *t, const char *split, bool ahead,
                          const char *members);
/* A text that was drawn behind the present step. */
void cr_train_record_text(struct cr_train *t, const char *text, size_t n);
/* Writes the records and log lines that wait. */
void cr_train_flush(struct cr_train *t);
/* The same at the end of the run; reports the lines that are lost. */
void cr_train_close_records(struct cr_train *t);

/* ---- run_record.c */

/* Writes record.json; `end` CR_RUNNING: of a run at work. */
bool cr_train_write_record(struct cr_train *t, enum cr_outcome end, int status);
/* A run that was over when we came: its numbers from its record. */
enum cr_outcome cr_train_load_record(struct cr_train *t);
/* "completed", "diverged" ... */
const char *cr_train_status(enum cr_outcome end);
/* The file that stands for the run, within its directory; NULL: none. */
const char *cr_train_ckpt(const struct cr_train *t);
/* From 1. */
int64_t cr_train_best_epoch(const struct cr_train *t);

/* ---- diagnose.c: signs that a run has not learnt */

void cr_trend_add(struct cr_trend *trend, double loss);
/* At the end of a run: a warning for each sign. */
void cr_train_diagnose(struct cr_train *t);

/* ---- finish.c */

/* To a message of an update that is not finite: the scale may be why. */
void cr_train_loss_scale_note(struct cr_train *t);
/* Looks up what --require may name. */
bool cr_train_value(void *ctx, const char *name, double *to);
int cr_train_finish(struct cr_train *t, enum cr_outcome end);

#endif
