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
 * of the engine; nothing of the engine knows it. Knows nothing of sweeps and
 * of pages about runs.
 *
 * Includes: base build ckpt conf console data graph kernels mpi num plugin run
 *     rundir score tensorboard text.
 */
#ifndef CR_TRAIN_TRAIN_H
#define CR_TRAIN_TRAIN_H

#include "conf/command_line.h"
#include "console/console.h"
#include "rundir/rundir.h"
#include "run/plans.h"
#include "train/interval.h"
#include "train/optim.h"
#include "train/opts.h"
#include "train/profile.h"
#include "train/results.h"
#include "train/scoring.h"
#include "train/state.h"

struct cr_hook_recorder;
struct cr_tensorboard;
struct cr_text_samples;

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

/* Observers of a run: none of them changes it. */
struct cr_run_observers {
    struct cr_hook_recorder *recorder;    /* NULL: no hooks in training */
    struct cr_text_samples *text_samples; /* NULL: no texts are generated */
    struct cr_tensorboard *tensorboard;   /* NULL: without log.tensorboard */
    struct cr_profile *profile;           /* NULL: no time profile, then */
    struct cr_profile clock;              /* times the phases only */
};

struct cr_train {
    struct cr_cli *cli;
    struct cr_train_flags flags;
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_config *config;

    /* made by cr_train_prepare */
    struct cr_train_opts opts;
    struct cr_run_length length;
    struct cr_run_intervals every;
    const char *name, *id, *yaml;
    struct cr_data_loader *loader;
    int n_columns;
    struct cr_net *net;
    struct cr_optim_use optim;
    struct cr_plans plans;
    struct cr_run_scoring scoring;
    struct cr_run_observers observers;

    /* as far as the run has come */
    struct cr_state state;
    int n_unfrozen; /* entries of freeze.schedule already applied */
    struct cr_step_result last;
    struct cr_run_fault fault;
    struct cr_run_history history;
    struct cr_run_files files;
    struct cr_rundir dir;
    struct cr_console console;
};

bool cr_train_prepare(struct cr_train *t);
bool cr_train_start(struct cr_train *t);
/* Trains until the run ends; does nothing for a run that had already ended. */
enum cr_outcome cr_train_loop(struct cr_train *t);
/* Does N updates without evaluations, records and files. `each` gets the loss
 * of every update that is not skipped, and returns false to stop. */
enum cr_outcome cr_train_steps(struct cr_train *t, int64_t n,
                               bool (*each)(void *ctx, double loss), void *ctx);
/* Does one step and one batch of evaluation, without files. */
enum cr_outcome cr_train_dry(struct cr_train *t);
int cr_train_finish(struct cr_train *t, enum cr_outcome end);
void cr_train_close(struct cr_train *t);

#endif
