/* sweep: many runs of one config. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/thread_pool.h"
#include "ckpt/run_index.h"
#include "conf/environment.h"
#include "rundir/run_names.h"
#include "sweep/sweep.h"
#include "train/flags.h"
#include "train/section.h"

#define SWEEP_JOBS_MAX 4096

struct sweep {
    const char *dir, *points, *jobs;
    int64_t index, count;
    bool dry_run, print, slurm, retry_failed, fail_fast, status;
};

static const struct cr_opt sweep_opts[] = {
    CR_STR_DEFAULT(struct sweep, jobs, "1",
                   "Number of points that run at the same time. They share "
                   "the processors unless --threads, run.threads or "
                   "CELLRUN_THREADS is set. auto: measure for some seconds "
                   "which number of points and threads trains the most "
                   "samples per second; if the threads are set, as many "
                   "points as the processors then hold.",
                   .flag = 'j'),
    CR_STR_OPTIONAL(struct sweep, dir,
                    "Folder of the points. Default: RUNS/NAME.",
                    .text = "DIR"),
    CR_INT_OPTIONAL(struct sweep, count, 1, 1000000, "sweep.count."),
    CR_STR_OPTIONAL(struct sweep, points,
                    "Rows of this TSV file are the points: sweep.points with "
                    "the method list.",
                    .text = "FILE"),
    CR_BOOL_DEFAULT(struct sweep, dry_run, false,
                    "Print the table of points without running any."),
    CR_BOOL_DEFAULT(struct sweep, print, false,
                    "Print one command per point, for GNU parallel."),
    CR_INT_OPTIONAL(struct sweep, index, 0, 1000000,
                    "Run only this point, counted from 0; the exit status is "
                    "that of train."),
    CR_BOOL_DEFAULT(struct sweep, slurm, false,
                    "Print a job script that runs the points as an array of "
                    "Slurm."),
    CR_BOOL_DEFAULT(struct sweep, retry_failed, false,
                    "Run failed points again."),
    CR_BOOL_DEFAULT(struct sweep, fail_fast, false,
                    "Start no more points after one failed."),
    CR_BOOL_DEFAULT(struct sweep, status, false,
                    "Print the table and exit; on a terminal, keep it up to "
                    "date until all points are done."),
    { 0 },
};

static void sweep_sets(struct cr_cli *cli, const struct sweep *o)
{
    cr_flag_int(cli, "--count", "sweep.count", o->count);
    cr_flag_text(cli, "--points", "sweep.points", o->points);
    if (o->points)
        cr_flag_text(cli, "--points", "sweep.method", "list");
}

static bool sweep_flags_agree(struct cr_cli *cli, const struct sweep *o)
{
    int modes = o->dry_run + o->print + o->slurm + o->status +
                (o->index != CR_INT_NONE);

    return modes <= 1 ||
           cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "found %d of --dry-run, --print, --index, --slurm and "
                    "--status, expected at most one",
                    modes);
}

/* Methods that depend on results need a process that reads all points. */
static bool sweep_rungs_agree(struct cr_sweep *sweep, const struct sweep *o)
{
    const char *flag = o->print                  ? "--print"
                       : o->slurm                ? "--slurm"
                       : o->index != CR_INT_NONE ? "--index"
                                                 : NULL;

    if (!flag || (sweep->n_rungs == 0 && !sweep->method->suggest))
        return true;
    cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
             "%s cannot be used with the method %s, which decides by the "
             "results so far",
             flag, sweep->method->name);
    cr_hint(sweep->diag, "start `cellrun sweep` itself in each job: they share "
                         "the work");
    return false;
}

/* The number of --jobs; 0: auto. -1 after reporting. */
static int sweep_jobs(struct cr_cli *cli, const struct sweep *o)
{
    char *end;
    long n = strtol(o->jobs, &end, 10);

    if (strcmp(o->jobs, "auto") == 0)
        return 0;
    if (end > o->jobs && !*end && n >= 1 && n <= SWEEP_JOBS_MAX)
        return (int)n;
    cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
             "--jobs: found '%s', expected auto or a number from 1 to %d",
             cr_quote(cli->arena, o->jobs, strlen(o->jobs)), SWEEP_JOBS_MAX);
    return -1;
}

/* The folder of the points: the flag, or RUNS/NAME as train's. */
static const char *sweep_folder(struct cr_sweep *sweep,
                                struct cr_config *config, const char *dir)
{
    struct cr_run_section run = { 0 };

    if (dir || !cr_section_read(config, "run", &run))
        return dir ? dir : ".";
    if (!run.dir)
        run.dir = cr_runs_folder();
    return cr_path_join(sweep->arena, run.dir,
                        run.name ? run.name : config->name);
}

/* Reads the config with the assignments of all points, and the section. */
static bool sweep_open(struct cr_sweep *sweep, const struct sweep *o)
{
    struct cr_config_from from = { .files = sweep->cli->operands };
    struct cr_config *config;
    const struct cr_node *best;
    int errors;

    if (strcmp(sweep->cli->operands[0], "-") == 0)
        return cr_error(sweep->diag, CR_NOWHERE, CR_E_USAGE,
                        "sweep reads its config once for each point: found "
                        "standard input, expected a file");
    cr_sweep_split_sets(sweep);
    errors = sweep->diag->errors;
    from.sets = sweep->fixed;
    from.set_args = sweep->fixed_args;
    config = cr_config_load(sweep->arena, sweep->diag, &from);
    if (config->load_failed || !cr_config_check(config) ||
        !cr_section_read(config, "sweep", &sweep->opts) ||
        !cr_sweep_read_space(sweep) || errors > 0)
        return false;
    sweep->config = config;
    sweep->dir = sweep_folder(sweep, config, o->dir);
    sweep->method = cr_sweep_methods[sweep->opts.method];
    sweep->epochs = cr_sweep_length(config, "train.epochs");
    sweep->steps = cr_sweep_length(config, "train.steps");
    sweep->metric = sweep->opts.metric.name;
    best = cr_node_find(config->root, "checkpoint.best.metric");
    if (!sweep->metric && best && best->kind == CR_NODE_STR)
        sweep->metric = cr_strf(sweep->arena, "eval.%s",
                                cr_run_bare(best->text));
    sweep->retry_failed = o->retry_failed;
    return cr_sweep_points(sweep);
}

/* Creates a folder and those above it. */
static bool sweep_make_folder(struct cr_sweep *sweep, const char *path)
{
    const char *above = cr_path_dir(sweep->arena, path);

    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    if (errno == ENOENT && strcmp(above, path) != 0 &&
        sweep_make_folder(sweep, above) && mkdir(path, 0777) == 0)
        return true;
    return cr_error(sweep->diag, cr_at_file(sweep->arena, path), CR_E_SYSTEM,
                    "cannot create the folder: %s", strerror(errno));
}

/* Whether the folder of the points can be read, or does not exist yet. */
static bool sweep_can_read(struct cr_sweep *sweep)
{
    struct stat st;
    int why = stat(sweep->dir, &st) != 0 ? errno : 0;

    if (why == ENOENT)
        return true;
    if (!why && !S_ISDIR(st.st_mode))
        why = ENOTDIR;
    if (!why && access(sweep->dir, R_OK | X_OK) != 0)
        why = errno;
    return !why ||
           cr_error(sweep->diag, cr_at_file(sweep->arena, sweep->dir),
                    CR_E_SYSTEM, "cannot read the folder: %s", strerror(why));
}

static void sweep_show(struct cr_sweep *sweep)
{
    if (sweep->cli->json)
        cr_sweep_print_json(sweep, stdout);
    else
        cr_sweep_print_table(sweep, stdout);
}

/* Prints the table; on a terminal again each second while points remain. */
static void sweep_watch(struct cr_sweep *sweep)
{
    bool live = isatty(STDOUT_FILENO) && !sweep->cli->json;
    bool remain;

    do {
        if (!cr_sweep_more_points(sweep))
            break;
        cr_sweep_refresh_all(sweep);
        if (live)
            fputs("\033[H\033[J", stdout);
        sweep_show(sweep);
        fflush(stdout);
        remain = sweep->method->suggest && cr_sweep_wants_points(sweep);
        for (int64_t i = 0; i < sweep->n; i++)
            remain |= sweep->point[i].state != CR_POINT_DONE &&
                      sweep->point[i].state != CR_POINT_STOPPED &&
                      sweep->point[i].state != CR_POINT_FAILED;
        if (live && remain)
            sleep(1);
    } while (live && remain);
}

/* The threads of a run, if the command line, the config or the environment sets
 * them; 0: they do not. */
static int sweep_threads(const struct cr_sweep *sweep)
{
    const struct cr_node *node = cr_node_find(sweep->config->root,
                                              "run.threads");
    int64_t n = 0;

    if (sweep->cli->threads > 0)
        return sweep->cli->threads;
    if (node && node->kind == CR_NODE_INT)
        n = node->integer;
    else if (!cr_env_number("CELLRUN_THREADS", &n))
        n = 0;
    return n > 0 && n < INT_MAX ? (int)n : 0;
}

static int sweep_local(struct cr_sweep *sweep, const struct sweep *o)
{
    struct cr_sweep_run run = { .jobs = sweep_jobs(sweep->cli, o),
                                .threads = sweep->cli->threads,
                                .threads_set = sweep_threads(sweep),
                                .fail_fast = o->fail_fast };
    int status, stop = 0;

    if (!sweep_make_folder(sweep, sweep->dir))
        return 1;
    if (run.jobs == 0)
        stop = cr_sweep_auto_jobs(sweep, &run);
    if (stop)
        return 128 + stop;
    if (run.threads == 0 && run.threads_set == 0 && run.jobs > 1) {
        run.threads = cr_cpu_count() / run.jobs;
        if (run.threads < 1)
            run.threads = 1;
    }
    status = cr_sweep_run(sweep, &run);
    printf("%s/%s\n", sweep->dir, CR_SWEEP_TABLE);
    return status;
}

static int sweep_main(struct cr_cli *cli)
{
    const struct sweep *o = cr_cli_opts(cli);
    struct cr_sweep sweep = { .cli = cli,
                              .arena = cli->arena,
                              .diag = cli->diag };

    sweep_sets(cli, o);
    if (!sweep_flags_agree(cli, o) || sweep_jobs(cli, o) < 0 ||
        !sweep_open(&sweep, o))
        return cr_cli_errors(cli, "Nothing was run.");
    if (o->count != CR_INT_NONE && !sweep.counted)
        cr_warn(cli->diag, CR_NOWHERE, CR_E_CONFLICT,
                "--count has no effect: the method %s takes all points",
                sweep.method->name);
    if (!sweep_can_read(&sweep))
        return cr_cli_errors(cli, "Nothing was run.");
    if (o->status) {
        sweep_watch(&sweep);
        return 0;
    }
    if (o->index == CR_INT_NONE) {
        cr_sweep_refresh_all(&sweep);
        if (!cr_sweep_check(&sweep))
            return cr_cli_errors(cli, "Nothing was run.");
    }
    if (o->dry_run) {
        sweep_show(&sweep);
        return 0;
    }
    if (!sweep_rungs_agree(&sweep, o))
        return cr_cli_errors(cli, "Nothing was run.");
    if (o->print || o->slurm) {
        (o->print ? cr_sweep_print_commands : cr_sweep_print_slurm)(&sweep);
        return 0;
    }
    if (o->index != CR_INT_NONE)
        return sweep_make_folder(&sweep, sweep.dir)
                   ? cr_sweep_exec(&sweep, o->index)
                   : 1;
    return sweep_local(&sweep, o);
}

const struct cr_command cr_command_sweep = {
    .about = {
        .name = "sweep",
        .summary = "Train a network with many settings.",
        .detail =
            "Assignments with several values between commas, or range(a,b) "
            "for a to b-1, and the section sweep of the config name the "
            "points. Each point is a run in DIR/ID. Complete points are "
            "skipped, interrupted ones continue, failed ones stay failed "
            "unless --retry-failed is set; so the same command can be "
            "killed and repeated, and started several times, on several "
            "machines that share the folder or under mpirun. "
            "DIR/sweep.tsv has a row for each point. A list as a single value "
            "is written [32,32]. The methods halving and asha stop points "
            "at rungs, which are lengths of training: min, min * eta and so "
            "on. The best points of a rung continue from their checkpoints, "
            "exactly as if they had not stopped: at least one with halving, "
            "none of fewer than eta with asha. The method tpe chooses each "
            "point by the results so far. --status needs the same arguments "
            "as the sweep. runs best --dir DIR prints the best point. The "
            "exit status is 7 if points failed.",
        .example =
            "cellrun sweep digits.yaml optimizer.learning_rate=0.1,0.03 "
            "'seed=range(1,4)' --jobs 2\n"
            "cellrun sweep digits.yaml seed=1,2,3 --status\n",
        .opts = sweep_opts,
        .size = sizeof(struct sweep),
    },
    .usage = "FILE... [key=value,value...] [flags]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = sweep_main,
};
