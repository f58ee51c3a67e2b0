/* train: trains the network of a config. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "report/report.h"
#include "train/flags.h"
#include "train/ranks.h"
#include "train/train.h"

struct train {
    const char *name, *run_dir, *load, *time_limit, *limit, *log_every;
    const char *require;
    int resume, progress;
    int64_t epochs, steps, overfit_batches;
    bool dry_run, no_ckpt, force, eager, profile;
};

enum {
    RESUME_NEVER,
    RESUME_AUTO
};

static const struct cr_opt train_opts[] = {
    CR_STR_OPTIONAL(struct train, name, "Name of the run: run.name.",
                    .flag = 'n', .text = "NAME"),
    CR_STR_OPTIONAL(struct train, run_dir,
                    "The run directory. Default: RUNS/NAME/ID.",
                    .flag = 'o', .text = "DIR"),
    CR_STR_OPTIONAL(struct train, load, "Start from these weights: load.ckpt.",
                    .text = "CKPT"),
    CR_ENUM_DEFAULT(
        struct train, resume, RESUME_NEVER, "never|auto",
        "auto: continue if the run directory has a checkpoint, else start."),
    CR_INT_OPTIONAL(struct train, epochs, 1, 1e9, "train.epochs."),
    CR_INT_OPTIONAL(struct train, steps, 1, 1e15, "train.steps."),
    CR_STR_OPTIONAL(struct train, time_limit, "train.time_limit.",
                    .text = "TIME"),
    CR_INT_OPTIONAL(struct train, overfit_batches, 1, 1e9,
                    "train.overfit_batches."),
    CR_STR_OPTIONAL(struct train, limit, "train.limit.", .text = "AMOUNT"),
    CR_BOOL_DEFAULT(struct train, dry_run, false,
                    "Build everything and do one step, without writing files."),
    CR_ENUM_DEFAULT(struct train, progress, CR_PROGRESS_AUTO,
                    "auto|bar|plain|none",
                    "Form of the progress. bar: a table with a row for each "
                    "epoch, and a progress bar. plain: lines. auto: bar on a "
                    "terminal, else plain."),
    CR_STR_OPTIONAL(struct train, log_every, "log.every.", .text = "AMOUNT"),
    CR_BOOL_DEFAULT(struct train, no_ckpt, false, "Write no checkpoints."),
    CR_BOOL_DEFAULT(struct train, force, false,
                    "Start over: remove the run in the run directory."),
    CR_STR_OPTIONAL(
        struct train, require,
        "Exit with 6 if this condition is not met: 'eval.accuracy>=0.97'.",
        .text = "EXPR"),
    CR_BOOL_DEFAULT(struct train, eager, false,
                    "Run op by op, without fusion or pruning: slow, for "
                    "debugging."),
    CR_BOOL_DEFAULT(
        struct train, profile, false,
        "Print a time profile at the end: data, steps and each of their "
        "cells, evaluation, checkpoints. With --json it is the object "
        "'profile'; seconds of cells are per step."),
    { 0 },
};

/* An absolute path, valid from any directory. */
static const char *train_absolute(struct cr_arena *arena, const char *path)
{
    char *full = path ? realpath(path, NULL) : NULL, *cwd;
    const char *found = path;

    if (full) {
        found = cr_strdup(arena, full);
    } else if (path && (cwd = realpath(".", NULL)) != NULL) {
        found = cr_path_join(arena, cwd, path); /* may be a pattern such as
                                                   NAME.safetensors */
        free(cwd);
    }
    free(full);
    return found;
}

static void train_sets(struct cr_cli *cli, const struct train *o)
{
    cr_flag_text(cli, "--name", "run.name", o->name);
    cr_flag_text(cli, "--load", "load.ckpt",
                 train_absolute(cli->arena, o->load));
    cr_flag_int(cli, "--epochs", "train.epochs", o->epochs);
    cr_flag_int(cli, "--steps", "train.steps", o->steps);
    cr_flag_text(cli, "--time-limit", "train.time_limit", o->time_limit);
    cr_flag_int(cli, "--overfit-batches", "train.overfit_batches",
                o->overfit_batches);
    cr_flag_text(cli, "--limit", "train.limit", o->limit);
    cr_flag_text(cli, "--log-every", "log.every", o->log_every);
}

static int train_run(struct cr_cli *cli)
{
    const struct train *o = cr_cli_opts(cli);
    struct cr_train t = {
        .cli = cli, .arena = cli->arena, .diag = cli->diag,
        .history.started = cr_now()
    };
    struct cr_config_from from, reread;
    enum cr_outcome end;
    int status;

    cr_signals_start();
    train_sets(cli, o);
    from = (struct cr_config_from){
        .files = cli->operands,
        .sets = cli->sets,
        .set_args = cli->set_args,
        .resume_dir = o->resume == RESUME_AUTO ? o->run_dir : NULL
    };
    reread = from;
    reread.closed = true;
    t.flags = (struct cr_train_flags){
        .progress =
            cli->quiet ? CR_PROGRESS_NONE : (enum cr_progress)o->progress,
        .dry_run = o->dry_run,
        .no_ckpt = o->no_ckpt,
        .force = o->force,
        .eager = o->eager,
        .profile = o->profile,
        .resume = o->resume == RESUME_AUTO,
        .run_dir = o->run_dir,
        .require = o->require,
        .reread = strcmp(cli->operands[0], "-") == 0 ? NULL : &reread,
    };
    if (o->force && o->resume == RESUME_AUTO)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--force and --resume auto cannot be combined");
    if (o->dry_run && o->profile)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--dry-run does one step only and cannot be combined with "
                 "--profile");
    if (o->dry_run && o->require)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--dry-run trains for one step only and cannot be combined "
                 "with --require");
    t.config = cr_config_load(cli->arena, cli->diag, &from);
    if (!cr_train_start_all(&t)) {
        cr_train_close(&t);
        return cr_cli_errors(cli, "Nothing was run.");
    }
    end = o->dry_run ? cr_train_dry(&t) : cr_train_loop(&t);
    status = cr_train_end_all(&t, end);
    status = cr_report_of_train(&t, status);
    cr_train_close(&t);
    return status;
}

const struct cr_command cr_command_train = {
    .about = {
        .name = "train",
        .summary = "Train a network.",
        .detail =
            "Prints a summary to standard output, as `key: value` lines or "
            "with --json as one object. Config, records and checkpoints go "
            "to the run directory: -o DIR, else RUNS/NAME/ID. RUNS is "
            "CELLRUN_RUNS or `runs`, NAME is run.name or the name of the "
            "config, ID is a hash of the data, network and training "
            "settings, except the length of the run. Running the same config "
            "again finds the existing directory and exits with 2: use -o for "
            "another directory, --resume auto to continue, --force to start "
            "over.",
        .example = "cellrun train digits.yaml -o runs/digits\n"
                   "cellrun train digits.yaml -o runs/digits --resume auto\n"
                   "cellrun train digits.yaml optimizer.learning_rate=0.02 -q "
                   "--json --epochs 1\n",
        .opts = train_opts,
        .size = sizeof(struct train),
    },
    .usage = "FILE... [key=value...] [flags]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .shares = true,
    .run = train_run,
};
