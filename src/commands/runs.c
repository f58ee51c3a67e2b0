/* runs: lists, ranks, compares and shows runs. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/terms.h"
#include "rundir/run_column.h"
#include "rundir/run_names.h"
#include "rundir/run_status.h"
#include "rundir/run_where.h"
#include "runs/runs.h"

static const struct cr_opt runs_opts[] = {
    CR_STR_OPTIONAL(
        struct cr_runs_opts, sort,
        "Sort by this column, metrics with the best first; '-' before the "
        "name reverses the order. Default: oldest first.",
        .text = "COLUMN"),
    CR_STR_OPTIONAL(
        struct cr_runs_opts, cols,
        "Columns, separated by commas: metrics, keys of record.json and "
        "of the config.",
        .text = "NAMES"),
    CR_STR_OPTIONAL(struct cr_runs_opts, group_by,
                    "One row per group of runs with the same values of these "
                    "columns: mean and standard deviation of the metrics.",
                    .text = "NAMES"),
    CR_STR_OPTIONAL(struct cr_runs_opts, where,
                    "Only runs that satisfy this condition: "
                    "'eval.accuracy>0.9', 'status=completed and seed!=3'.",
                    .text = "EXPR"),
    CR_STR_OPTIONAL(struct cr_runs_opts, metric, "best: by this metric.",
                    .text = "NAME"),
    CR_STR_OPTIONAL(
        struct cr_runs_opts, dir,
        "Folder to search, two levels deep. Default: CELLRUN_RUNS, or "
        "`runs`.",
        .text = "DIR"),
    CR_BOOL_DEFAULT(struct cr_runs_opts, tsv, false,
                    "Separate columns by tabs."),
    CR_STR_OPTIONAL(struct cr_runs_opts, out,
                    "export: file to write. Default: standard output.",
                    .flag = 'o', .text = "FILE"),
    CR_BOOL_DEFAULT(struct cr_runs_opts, path, false,
                    "best: print only its directory."),
    CR_BOOL_DEFAULT(struct cr_runs_opts, dry_run, false,
                    "rm, gc: list what would be deleted, and delete nothing.",
                    .flag = 'n'),
    CR_BOOL_DEFAULT(struct cr_runs_opts, yes, false,
                    "rm, gc: delete without a question. Needed where "
                    "there is no terminal.",
                    .flag = 'y'),
    { 0 },
};

/* A missing folder is an error only if --dir names it: the default one is
 * created by the first run. */
static bool runs_find(struct cr_runs_job *job, const struct cr_runs_sub *sub)
{
    struct stat st;

    job->dir = job->o->dir ? job->o->dir : cr_runs_folder();
    if (job->o->dir && stat(job->dir, &st) != 0)
        return cr_error(job->cli->diag, cr_at_file(job->arena, job->dir),
                        CR_E_USAGE, "--dir: cannot open: %s", strerror(errno));
    if (sub->searches) {
        cr_runs_search(&job->found, job->dir);
        cr_runs_settle_status(&job->found);
    }
    return true;
}

struct cr_run *cr_runs_operand(struct cr_runs_job *job, int operand)
{
    struct cr_runs *one = CR_NEW(job->arena, struct cr_runs);

    *one = (struct cr_runs){ .arena = job->arena, .diag = job->cli->diag };
    return cr_runs_add_one(one, job->dir, job->cli->operands[operand],
                           job->cli->operand_pos[operand])
               ? one->run
               : NULL;
}

static bool runs_filter(struct cr_runs_job *job)
{
    int before = job->found.n;

    if (job->o->where && !cr_runs_where(&job->found, job->o->where))
        return false;
    job->filtered = before > 0 && job->found.n == 0;
    return true;
}

/* Whether the runs have the columns that the options name. False after
 * reporting. */
static bool runs_check(struct cr_runs_job *job)
{
    const char *sort = job->o->sort, *cols = job->o->cols;
    char *text = cols ? cr_strdup(job->arena, cols) : NULL, *save = NULL;
    bool ok = true;

    if (sort)
        ok = cr_runs_has(&job->found, "--sort", sort + (*sort == '-'));
    if (job->o->metric)
        ok = cr_runs_has(&job->found, "--metric", job->o->metric) && ok;
    for (char *p = text ? strtok_r(text, ",", &save) : NULL; p;
         p = strtok_r(NULL, ",", &save))
        ok = cr_runs_has(&job->found, "--cols", cr_run_trim(p)) && ok;
    return ok;
}

/* "ls, show or best" */
static const char *runs_sub_names(struct cr_arena *arena, const char **name)
{
    struct cr_buf all = { .arena = arena };

    for (int i = 0; cr_runs_subs[i]; i++) {
        name[i] = cr_runs_subs[i]->name;
        cr_buf_f(&all, "%s%s",
                 i == 0                ? ""
                 : cr_runs_subs[i + 1] ? ", "
                                       : " or ",
                 name[i]);
    }
    return cr_buf_text(&all);
}

static const struct cr_runs_sub *runs_sub(struct cr_cli *cli, const char *name)
{
    const char *names[32] = { 0 }, *all = runs_sub_names(cli->arena, names);
    struct stat st;

    for (int i = 0; cr_runs_subs[i]; i++)
        if (strcmp(cr_runs_subs[i]->name, name) == 0)
            return cr_runs_subs[i];
    cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
             "runs: found '%s', expected %s",
             cr_quote(cli->arena, name, strlen(name)), all);
    if (cr_term_subcommand(name, names))
        cr_hint(cli->diag, "did you mean '%s'?",
                cr_term_subcommand(name, names));
    else if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        cr_hint(cli->diag, "did you mean --dir %s?",
                cr_quote(cli->arena, name, strlen(name)));
    return NULL;
}

static bool runs_usage(struct cr_cli *cli, const struct cr_runs_sub *sub)
{
    int n = cli->n_operands > 0 ? cli->n_operands - 1 : 0;
    bool many = sub->max >= 0 && n > sub->max;

    if (n >= sub->min && !many)
        return true;
    cr_error(cli->diag, cli->operand_pos[many ? sub->max + 1 : 0], CR_E_USAGE,
             "runs %s: found %d run%s, expected %d%s", sub->name, n,
             n == 1 ? "" : "s", sub->min, sub->max < 0 ? " or more" : "");
    if (sub->max == 0)
        cr_hint(
            cli->diag, "use --dir %s for another folder of runs",
            cr_quote(cli->arena, cli->operands[1], strlen(cli->operands[1])));
    return false;
}

static int runs_run(struct cr_cli *cli)
{
    struct cr_runs_job job = { .cli = cli,
                               .arena = cli->arena,
                               .o = cr_cli_opts(cli),
                               .found = { .arena = cli->arena,
                                          .diag = cli->diag } };
    const char *name = cli->n_operands > 0 ? cli->operands[0] : "ls";
    const struct cr_runs_sub *sub = runs_sub(cli, name);

    if (!sub || !runs_usage(cli, sub) || !runs_find(&job, sub) ||
        !runs_check(&job) || !runs_filter(&job))
        return 0;
    cr_runs_sort(&job);
    sub->run(&job);
    return 0;
}

const struct cr_command cr_command_runs = {
    .about = {
        .name = "runs",
        .summary = "List, show, rank, compare and delete runs.",
        .detail =
            "ls, the default, prints a table: status, the settings that "
            "differ, and the metrics of the last evaluation; a run whose "
            "process is gone is interrupted. best prints the "
            "run with the best value of a metric; --ckpt accepts its path. "
            "show prints all of a record, checkpoints, size and command. diff "
            "prints the tree of settings and results that differ, the values "
            "of the first run after -, those of the second after +. export "
            "prints the records of metrics.jsonl as CSV, or with --tsv "
            "separated by tabs. A run is given by its directory, a path below "
            "the folder of runs or the beginning of its id. "
            "Columns are metrics (eval.accuracy, or accuracy; "
            "best.accuracy), keys of record.json (status, epochs, steps, "
            "seconds, started), variables of the config (vars.width) and keys "
            "of the config (optimizer.learning_rate). A column that no run "
            "has is an error. "
            "rm deletes the runs that are named, or that satisfy --where: all "
            "files that a run writes, and the directory unless it has other "
            "entries, which stay. gc deletes what no command needs: of runs "
            "that are completed or early_stopped the checkpoints that are "
            "neither best nor last (without last.safetensors, the newest one "
            "stays), temporary files and locks of processes that were "
            "killed, folders of runs that never started, and what a killed rm "
            "left. Both list what they would delete, with sizes, and ask. "
            "Running runs are never changed, and symbolic links are not "
            "followed.",
        .example = "cellrun runs --sort eval.accuracy --tsv\n"
                   "cellrun runs best --metric eval.accuracy --path\n"
                   "cellrun runs export runs/digits -o digits.csv\n"
                   "cellrun runs ls --where 'status=completed and "
                   "accuracy>0.9' --cols run,accuracy\n"
                   "cellrun runs diff runs/digits runs/wine\n"
                   "cellrun runs rm --where 'status=failed' --dry-run\n",
        .opts = runs_opts,
        .size = sizeof(struct cr_runs_opts),
    },
    .usage = "[ls] | show RUN | best | diff RUN RUN | rm RUN... | rm "
             "--where EXPR | gc | "
             "export RUN... [-o FILE]",
    .min_operands = 0,
    .max_operands = -1,
    .run = runs_run,
};
