/* resume: continues a run; the result equals that of an uninterrupted one. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "model/model.h"
#include "mpi/mpi.h"
#include "report/report.h"
#include "train/flags.h"
#include "train/run_start.h"
#include "train/ranks.h"
#include "train/train.h"

struct resume {
    const char *run_dir, *time_limit, *log_every, *require;
    int progress;
    int64_t epochs, steps;
    bool allow_change, profile;
};

static const struct cr_opt resume_opts[] = {
    CR_INT_OPTIONAL(struct resume, epochs, 1, 1e9, "train.epochs."),
    CR_INT_OPTIONAL(struct resume, steps, 1, 1e15, "train.steps."),
    CR_STR_OPTIONAL(struct resume, time_limit, "train.time_limit.",
                    .text = "TIME"),
    CR_STR_OPTIONAL(struct resume, log_every, "log.every.", .text = "AMOUNT"),
    CR_BOOL_DEFAULT(struct resume, allow_change, false,
                    "Allow any change of the config."),
    CR_STR_OPTIONAL(struct resume, run_dir,
                    "Continue in this new run directory; required for a "
                    "checkpoint that is not in one.",
                    .flag = 'o', .text = "DIR"),
    CR_ENUM_DEFAULT(struct resume, progress, CR_PROGRESS_AUTO,
                    "auto|bar|plain|none",
                    "Form of the progress. bar: a table with a row for each "
                    "epoch, and a progress bar. plain: lines. auto: bar on a "
                    "terminal, else plain."),
    CR_STR_OPTIONAL(
        struct resume, require,
        "Exit with 6 if this condition is not met: 'eval.accuracy>=0.97'.",
        .text = "EXPR"),
    CR_BOOL_DEFAULT(
        struct resume, profile, false,
        "Print a time profile at the end: data, steps and each of their "
        "cells, evaluation, checkpoints."),
    { 0 },
};

/* Whether a setting may be changed: those that do not affect any step. */
static bool resume_allowed(struct cr_arena *arena, const char *set)
{
    const char *key = cr_strndup(arena, set + (*set == '~'),
                                 strcspn(set, "=") - (*set == '~'));

    return cr_config_is_free(key) && strcmp(key, "sweep") != 0;
}

static bool resume_sets(struct cr_cli *cli, const struct resume *o)
{
    bool ok = true;

    for (int i = 0; cli->sets[i] && !o->allow_change; i++)
        if (!resume_allowed(cli->arena, cli->sets[i])) {
            ok = cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                          "resume cannot change '%.*s'",
                          (int)strcspn(cli->sets[i], "="), cli->sets[i]);
            cr_note(cli->diag, "allowed: train.epochs, train.steps, "
                               "train.time_limit, train.stop_after, "
                               "train.shard, log, run, checkpoint; use "
                               "--allow-change for other keys");
        }
    cr_flag_int(cli, "--epochs", "train.epochs", o->epochs);
    cr_flag_int(cli, "--steps", "train.steps", o->steps);
    cr_flag_text(cli, "--time-limit", "train.time_limit", o->time_limit);
    cr_flag_text(cli, "--log-every", "log.every", o->log_every);
    return ok;
}

static bool resume_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Opens a run directory or a checkpoint; sets *ckpt if the operand is a
 * file. */
static struct cr_tensor_file *resume_open(struct cr_cli *cli, const char **ckpt)
{
    const char *name = cli->operands[0];
    struct cr_tensor_file *file;
    bool none = false;

    if (!resume_is_folder(name)) {
        file = cr_tensor_file_open(cli->arena, cli->diag, name);
        *ckpt = file ? cr_tensor_file_path(file) : NULL;
        return file;
    }
    file = cr_train_newest(cli->arena, cli->diag,
                           cr_path_join(cli->arena, name, "ckpt"), &none);
    if (none)
        cr_error(cli->diag, cr_at_file(cli->arena, name), CR_E_CKPT_MISSING,
                 "no checkpoint in this run directory");
    return file;
}

/* The name of the run: the prefix of its checkpoints. */
static void resume_name(struct cr_config *config, const char *path)
{
    const char *stem = cr_path_stem(config->arena, path);
    const char *dash = strrchr(stem, '-');

    config->name = dash && dash > stem
                       ? cr_strndup(config->arena, stem, (size_t)(dash - stem))
                       : stem;
}

/* Ends before the processes of mpirun have agreed on what they have read. */
static int resume_refuse(struct cr_cli *cli)
{
    (void)cr_mpi_agree(cli->diag, false);
    return cr_cli_errors(cli, "Nothing was run.");
}

static int resume_go(struct cr_train *t)
{
    if (!cr_train_start_all(t))
        return cr_cli_errors(t->cli, "Nothing was run.");
    return cr_report_of_train(t, cr_train_end_all(t, cr_train_loop(t)));
}

static int resume_run(struct cr_cli *cli)
{
    const struct resume *o = cr_cli_opts(cli);
    struct cr_train t = {
        .cli = cli, .arena = cli->arena, .diag = cli->diag,
        .history.started = cr_now()
    };
    struct cr_config_from reread = { 0 };
    const char *ckpt = NULL, *files[2] = { NULL };
    struct cr_model model = { 0 };
    struct cr_tensor_file *file;
    int status;

    cr_signals_start();
    if (!resume_sets(cli, o))
        return resume_refuse(cli);
    file = resume_open(cli, &ckpt);
    if (!file)
        return resume_refuse(cli);
    if (cr_tensor_file_is_train(file))
        cr_model_read(cli, file, NULL, &model);
    else
        cr_error(cli->diag, cr_at_file(cli->arena, cr_tensor_file_path(file)),
                 CR_E_CKPT_FORMAT,
                 "contains only weights and cannot be resumed");
    cr_tensor_file_close(file);
    if (cli->diag->errors > 0)
        return resume_refuse(cli);
    t.config = model.config;
    resume_name(t.config, cr_tensor_file_path(file));
    t.flags = (struct cr_train_flags){
        .progress =
            cli->quiet ? CR_PROGRESS_NONE : (enum cr_progress)o->progress,
        .resume = true,
        .allow_change = o->allow_change,
        .require = o->require,
        .profile = o->profile,
        .ckpt = ckpt,
        .run_dir = o->run_dir,
        .reread = &reread,
    };
    if (!t.flags.run_dir)
        t.flags.run_dir =
            ckpt ? cr_rundir_of(cli->arena, ckpt) : cli->operands[0];
    else if (!ckpt)
        t.flags.ckpt = cr_tensor_file_path(file);
    if (!t.flags.run_dir) {
        cr_error(cli->diag, cr_at_file(cli->arena, ckpt), CR_E_USAGE,
                 "the checkpoint is not in a run directory");
        cr_note(cli->diag, "-o DIR makes one");
        return resume_refuse(cli);
    }
    if (!o->run_dir && cr_config_foreign(t.config)) {
        cr_error(cli->diag, cr_at_file(cli->arena, t.flags.run_dir), CR_E_TRUST,
                 "no run of yours has made the checkpoint in this run "
                 "directory");
        cr_note(cli->diag, "a run directory is yours until it is copied or "
                           "unpacked, or chmod or touch changes config.yaml");
        cr_note(cli->diag, "use -o DIR to resume in a new one, --trust to "
                           "resume in this one");
        return resume_refuse(cli);
    }
    files[0] = cr_path_join(cli->arena, t.flags.run_dir, "resolved.yaml");
    reread.files = files;
    reread.closed = true;
    status = resume_go(&t);
    cr_train_close(&t);
    return status;
}

const struct cr_command cr_command_resume = {
    .about = {
        .name = "resume",
        .summary = "Resume a run.",
        .detail =
            "RUN is a run directory (its newest undamaged checkpoint is "
            "used) or a checkpoint. The config comes from the checkpoint; "
            "train.epochs, train.steps, train.time_limit, train.stop_after, "
            "train.shard, log, run and checkpoint may be changed. The "
            "resulting parameters are byte-identical to those of an "
            "uninterrupted run. If --allow-change changes the batch size, step "
            "numbers are recomputed; checkpoint names keep rising until the "
            "epoch ends, so the newest file has the highest name.",
        .example = "cellrun resume runs/digits --epochs 4\n",
        .opts = resume_opts,
        .size = sizeof(struct resume),
    },
    .usage = "RUN|CKPT [key=value...] [flags]",
    .min_operands = 1,
    .max_operands = 1,
    .takes_config = true,
    .shares = true,
    .run = resume_run,
};
